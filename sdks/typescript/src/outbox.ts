/** What handlers say: sent, or kept for the connection that is to come. */

import {HookError} from "./errors.js";
import type {Prepared} from "./json.js";

/** How many messages are kept, and how many characters of them. */
const MAX_KEPT = 1024;
const MAX_KEPT_LENGTH = 8 * 2 ** 20;

/** How many answers are remembered after they were sent: as many as calls are in flight on a connection. */
const MAX_SENT = 64;

/** Messages in their order, and the last answers that were sent. */
export class Outbox {
  #kept: Prepared[] = [];
  #length = 0;
  readonly #sent = new Map<string, Prepared>();

  /**
   * Keeps a message for later.
   *
   * @throws {@link HookError} `overloaded` when too much waits already.
   */
  keep(prepared: Prepared): void {
    if (this.#kept.length >= MAX_KEPT || this.#length + prepared.line.length > MAX_KEPT_LENGTH) {
      throw new HookError("overloaded", "too much waits for a connection");
    }
    this.#kept.push(prepared);
    this.#length += prepared.line.length;
  }

  /**
   * Remembers an answer that was sent: whether it arrived is not known before the connection has outlived it,
   * and the server drops a second one.
   */
  sent(prepared: Prepared): void {
    if (prepared.message.type !== "hook-answer") return;
    this.#sent.set(String(prepared.message["callId"]), prepared);
    let length = 0;
    for (const {line} of this.#sent.values()) length += line.length;
    for (const [callId, {line}] of this.#sent) {
      if (this.#sent.size <= MAX_SENT && length <= MAX_KEPT_LENGTH) break;
      length -= line.length;
      this.#sent.delete(callId);
    }
  }

  /** The answer that a call was given before. */
  answerTo(callId: string): Prepared | undefined {
    return this.#sent.get(callId);
  }

  /** Everything that a server may not have got, and forgets it. */
  takeAll(): Prepared[] {
    const all = [...this.#sent.values(), ...this.#kept];
    this.#sent.clear();
    this.#kept = [];
    this.#length = 0;
    return all;
  }
}
