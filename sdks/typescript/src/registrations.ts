/** The handlers of a client, and what the server knows of them. */

import {HookError, HookRegistrationError} from "./errors.js";
import type {OutgoingMessage} from "./json.js";
import type {Registration} from "./registration.js";

/** How many refusals are remembered for `ready`. */
const MAX_REFUSALS = 256;

/** How many handlers are kept after they were taken away. */
const MAX_RETIRED = 256;

/** One handler. */
export interface Entry {
  readonly id: string;
  readonly registration: Registration;
  /** Whether the server was ever told, on this connection or one before. */
  wasSent: boolean;
  /** Whether the server has confirmed it, on this connection. */
  isThere: boolean;
}

interface Waiter {
  resolve(): void;
  reject(error: HookError): void;
}

/** All handlers of a client by their ids. */
export class Registrations {
  readonly #entries = new Map<string, Entry>();
  readonly #waiters = new Map<string, Waiter[]>();
  readonly #refusals = new Map<string, HookRegistrationError>();
  /** Taken away; requests that were in flight then still call them. */
  readonly #retired = new Map<string, Entry>();
  #next = 1;
  /** Whether a handler was ever added. */
  wasUsed = false;

  get size(): number {
    return this.#entries.size;
  }

  all(): Entry[] {
    return [...this.#entries.values()];
  }

  get(id: string): Entry | undefined {
    return this.#entries.get(id);
  }

  /** The handler that a call is for, which may have been taken away while its request was in flight. */
  called(id: string): Entry | undefined {
    return this.#entries.get(id) ?? this.#retired.get(id);
  }

  /** An entry that is not in force yet. Throws `duplicate_id`. */
  make(registration: Registration): Entry {
    let {id} = registration;
    if (id === undefined) {
      do id = `h-${this.#next++}`;
      while (this.#entries.has(id));
    }
    if (this.#entries.has(id)) throw new HookError("duplicate_id", `there is a hook ${id} already`);
    return {id, registration, wasSent: false, isThere: false};
  }

  add(entry: Entry): void {
    this.wasUsed = true;
    this.#refusals.delete(entry.id);
    this.#entries.set(entry.id, entry);
  }

  /** Takes a handler away. `false` when there is none. */
  remove(id: string): boolean {
    this.#settle(id, new HookError("unregistered", `hook ${id} was unregistered`));
    const entry = this.#entries.get(id);
    if (!entry) return false;
    this.#entries.delete(id);
    this.#retired.set(id, entry);
    const [oldest] = this.#retired.keys();
    if (this.#retired.size > MAX_RETIRED && oldest !== undefined) this.#retired.delete(oldest);
    return true;
  }

  /** Forgets handlers that were taken away: no call of before comes any more. */
  forgetRetired(): void {
    this.#retired.clear();
  }

  confirmed(id: string): void {
    const entry = this.#entries.get(id);
    if (!entry) return;
    entry.isThere = true;
    this.#settle(id);
  }

  /** The server does not take it: it is gone. `undefined` when it was already. */
  refused(id: string, error: {code: string; message: string; details?: unknown}): HookRegistrationError | undefined {
    const entry = this.#entries.get(id);
    if (!entry) return undefined;
    this.#entries.delete(id);
    const refusal = new HookRegistrationError(id, entry.registration.eventName, error.code, error.message, error.details);
    this.#refusals.set(id, refusal);
    const [oldest] = this.#refusals.keys();
    if (this.#refusals.size > MAX_REFUSALS && oldest !== undefined) this.#refusals.delete(oldest);
    this.#settle(id, refusal);
    return refusal;
  }

  /** The oldest that the server was told of and has not answered. */
  oldestUnanswered(): Entry | undefined {
    return this.all().find((entry) => entry.wasSent && !entry.isThere);
  }

  /** Resolves when the handler is in force. */
  ready(id: string): Promise<void> {
    const refusal = this.#refusals.get(id);
    if (refusal) return Promise.reject(refusal);
    const entry = this.#entries.get(id);
    if (!entry) return Promise.reject(new HookError("no_hook", `there is no hook ${id}`));
    if (entry.isThere) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#waiters.set(id, [...(this.#waiters.get(id) ?? []), {resolve, reject}]);
    });
  }

  /** Who waits is told that it will take longer. The handlers stay, to be registered again. */
  disconnected(error: HookError): void {
    for (const entry of this.#entries.values()) {
      entry.isThere = false;
      this.#settle(entry.id, error);
    }
  }

  #settle(id: string, error?: HookError): void {
    const waiters = this.#waiters.get(id) ?? [];
    this.#waiters.delete(id);
    for (const {resolve, reject} of waiters) {
      if (error) reject(error);
      else resolve();
    }
  }
}

/** The message that registers a handler. */
export function registerMessage({id, registration}: Entry): OutgoingMessage {
  const {eventName, vocabulary, matcher, config} = registration;
  return {
    type: "hook-register", hookId: id, eventName, vocabulary,
    ...(matcher !== undefined && {matcher}),
    ...(config !== undefined && {config}),
  };
}
