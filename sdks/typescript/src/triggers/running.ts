/** The triggers of one client that the server runs: what they ask for, and what they come to. */

import {HookError} from "../errors.js";
import type {HostServices} from "../host.js";
import {prepare} from "../json.js";
import type {OutgoingMessage} from "../json.js";
import type {Link} from "../link/link.js";
import {errorOf, isObject} from "../messages.js";
import type {IncomingMessage} from "../messages.js";
import {Questions} from "../requests.js";

/** A trigger that the server runs. */
export interface TriggerHost {
  /** Services for the server while it runs, such as `tool.run`. */
  readonly services: HostServices;
  /** Takes a part of the model's answer for the display. */
  chunk?(message: IncomingMessage): void;
}

/** The connection on which a trigger runs. */
export interface TriggerLink {
  /** @throws HookConnectionError where the connection is lost. */
  send(message: OutgoingMessage): void;
  /** Resolves when the server has read most of what was sent. */
  drained(): Promise<void>;
}

/** Triggers by their ids. */
export class Triggers extends Questions {
  readonly #hosts = new Map<string, TriggerHost>();
  readonly #cancelCalls: (triggerId: string, why: string) => void;
  #next = 1;

  /** `cancelCalls` cancels the host calls of a trigger. */
  constructor(cancelCalls: (triggerId: string, why: string) => void) {
    super("triggerId");
    this.#cancelCalls = cancelCalls;
  }

  /**
   * Runs a trigger at the server; resolves with its result. An abort of the signal cancels it there, and its host calls here.
   *
   * @throws HookError with the server's code, `cancelled` for an abort; HookConnectionError where the server is lost.
   */
  async run(
    use: () => Promise<Link>, message: {trigger: string; [field: string]: unknown}, begin: (link: TriggerLink) => TriggerHost, signal?: AbortSignal,
  ): Promise<Record<string, unknown>> {
    const triggerId = `t-${this.#next++}`;
    const answer = await this.ask(triggerId, message.trigger, use, (link) => {
      const send = (outgoing: OutgoingMessage) => link.send(prepare({...outgoing, triggerId}));
      this.#hosts.set(triggerId, begin({send, drained: () => link.drained()}));
      return {
        send: () => send({type: "hook-trigger", ...message}),
        cancel() {
          try {
            send({type: "hook-trigger-cancel"});
          } catch {} // The server is gone, and with it the trigger.
        },
        ended: () => {
          this.#hosts.delete(triggerId);
          this.#cancelCalls(triggerId, "the trigger has ended");
        },
      };
    }, signal);
    if (answer["error"] != null) {
      const {code, message, details} = errorOf(answer);
      throw new HookError(code, message, {details});
    }
    if (!isObject(answer["result"])) throw new HookError("invalid_message", "the server's result of a trigger is none");
    return answer["result"];
  }

  /** Returns the services of the trigger of a hook-host-call. */
  servicesOf({triggerId}: IncomingMessage): HostServices | undefined {
    return this.#hosts.get(String(triggerId))?.services;
  }

  /** Takes a hook-trigger-chunk. What comes for a trigger that has ended is dropped. */
  takeChunk(message: IncomingMessage): void {
    this.#hosts.get(String(message["triggerId"]))?.chunk?.(message);
  }
}
