/** Whether an asker hears what it is answered: it subscribes to that, and the broker may refuse it. */

import type {Msg, NatsConnection} from "nats";

/** How long after the broker has refused it is tried again. */
const AGAIN_MS = 5_000;

export class Hearing {
  /** Under what is answered. */
  readonly subject: string;
  /** How often the broker has refused it: who asked before the last time may have lost its answer. */
  refusals = 0;
  readonly #heard: (message: Msg) => void;
  #refusedAt: number | undefined;

  constructor(subject: string, heard: (message: Msg) => void) {
    this.subject = subject;
    this.#heard = heard;
  }

  /** Subscribes. What is asked afterwards is heard, as far as is known. */
  begin(connection: NatsConnection): void {
    this.#refusedAt = undefined;
    connection.subscribe(this.subject, {
      callback: (error, message) => {
        if (!error) this.#heard(message);
      },
    });
  }

  /** The broker refuses it. */
  refused(): void {
    this.#refusedAt = performance.now();
    this.refusals++;
  }

  /** Whether answers can be heard, as far as is known; tries it again where the broker has refused it a while ago. */
  isPossible(connection: NatsConnection): boolean {
    if (this.#refusedAt === undefined) return true;
    if (performance.now() - this.#refusedAt < AGAIN_MS) return false;
    this.begin(connection);
    return true;
  }
}
