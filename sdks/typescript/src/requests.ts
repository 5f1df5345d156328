/** What was asked and is not answered yet. */

import {HookError} from "./errors.js";
import type {Link} from "./link/link.js";
import type {IncomingMessage} from "./messages.js";
import {untilAborted} from "./signals.js";

/** How many questions are remembered that nobody waits for any more. */
const MAX_GIVEN_UP = 4096;

/** How a question is asked. */
export interface Question {
  /** What it throws is thrown, and nothing waits then. */
  send(): void;
  /** Tells the server that nobody waits any more. */
  cancel(): void;
  /** Called when it is answered, or nobody waits any more. */
  ended?(): void;
}

interface Waiting extends Question {
  readonly what: string;
  resolve(answer: IncomingMessage): void;
  reject(error: HookError): void;
}

type Failure = Pick<HookError, "code" | "message" | "details">;

/** Questions that are answered by their ids: requests, or triggers. */
export class Questions {
  readonly #field: "correlationId" | "triggerId";
  readonly #waiting = new Map<string, Waiting>();
  /** Nobody waits for these any more; they are answered all the same. */
  readonly #givenUp = new Set<string>();

  constructor(field: "correlationId" | "triggerId") {
    this.#field = field;
  }

  /** Whether any waits for its answer. */
  get areWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  /** Whether a question of that id waits, or was given up and may still be answered. */
  has(id: string): boolean {
    return this.#waiting.has(id) || this.#givenUp.has(id);
  }

  /**
   * Asks over the link that `use` makes, and waits for the answer. `what` is its event or trigger, for people.
   *
   * @throws HookError `cancelled` at once where the signal is aborted, `duplicate_id`; what `use` throws, and what fails it.
   */
  async ask(
    id: string, what: string, use: () => Promise<Link>, begin: (link: Link) => Question, signal?: AbortSignal,
  ): Promise<IncomingMessage> {
    const cancelled = () => new HookError("cancelled", `${what}: the request was cancelled`, {...this.#about(id, what), cause: signal?.reason});
    if (signal?.aborted) throw cancelled();
    const link = await untilAborted(use(), signal, cancelled);
    if (signal?.aborted) throw cancelled();
    if (this.has(id)) throw new HookError("duplicate_id", `a request ${id} is in flight`);
    const question = begin(link);
    const answer = new Promise<IncomingMessage>((resolve, reject) => {
      this.#waiting.set(id, {...question, what, resolve, reject});
      try {
        question.send();
      } catch (error) {
        this.#end(id);
        reject(error);
      }
    });
    return untilAborted(answer, signal, () => {
      if (this.#end(id)) {
        this.#givenUp.add(id);
        const [oldest] = this.#givenUp;
        if (this.#givenUp.size > MAX_GIVEN_UP && oldest !== undefined) this.#givenUp.delete(oldest);
        question.cancel();
      }
      return cancelled();
    });
  }

  /** Takes an answer. `false` when nothing waits for it. */
  take(message: IncomingMessage): boolean {
    const id = String(message[this.#field]);
    const waiting = this.#end(id);
    waiting?.resolve(message);
    return waiting !== undefined || this.#givenUp.delete(id);
  }

  /** Fails one, with an error of its own. `false` when there is none of that id. */
  fail(id: string, {code, message, details}: Failure, Kind: typeof HookError = HookError): boolean {
    const waiting = this.#end(id);
    waiting?.reject(new Kind(code, message, {...this.#about(id, waiting.what), details}));
    return waiting !== undefined;
  }

  /** Fails the oldest: the server does not know what it was sent. `false` when there is none. */
  failOldest(failure: Failure): boolean {
    const [oldest] = this.#waiting.keys();
    return oldest !== undefined && this.fail(oldest, failure);
  }

  /**
   * Fails what a line that is no message may have answered: the question whose id is in it; else all, since no answer must be
   * taken for another, and none may wait for ever. `false` when there is none.
   */
  failBroken(line: string, failure: Failure): boolean {
    const id = onlyId(line, this.#field);
    const failed = id !== undefined && this.#waiting.has(id) ? [id] : [...this.#waiting.keys()];
    for (const each of failed) this.fail(each, failure);
    return failed.length > 0;
  }

  /** Fails all. */
  failAll(error: HookError): void {
    this.#givenUp.clear();
    for (const id of [...this.#waiting.keys()]) this.fail(id, error, error.constructor as typeof HookError);
  }

  /** Tells the server that nobody waits for any of them. */
  cancelAll(): void {
    for (const {cancel} of this.#waiting.values()) cancel();
  }

  #end(id: string): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    waiting?.ended?.();
    return waiting;
  }

  #about(id: string, what: string): Pick<HookError, "request"> {
    return this.#field === "correlationId" ? {request: {eventName: what, correlationId: id}} : {};
  }
}

/** Questions whose answers are told by their type and order. */
export class Replies {
  #waiting: {resolve(reply: IncomingMessage): void; reject(error: HookError): void; type: string; request: string}[] = [];

  /** Whether any waits for its answer. */
  get areWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** Sends a message of the type `request`, and waits for the next message of a type, which answers it. */
  next(type: string, request: string, send: () => void): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      send();
      this.#waiting.push({resolve, reject, type, request});
    });
  }

  /** Takes a reply. `false` when nothing waits for one of its type. */
  take(message: IncomingMessage): boolean {
    const waiting = this.#oldest(({type}) => type === message.type);
    waiting?.resolve(message);
    return waiting !== undefined;
  }

  /** Fails the oldest that asked by a message of a type, or waits for one of it; or any. `false` when nothing did. */
  fail(error: HookError, asked?: string): boolean {
    const waiting = this.#oldest(({type, request}) => asked === undefined || asked === request || asked === type);
    waiting?.reject(error);
    return waiting !== undefined;
  }

  /** Fails all. */
  failAll(error: HookError): void {
    while (this.fail(error));
  }

  #oldest(fits: (waiting: {type: string; request: string}) => boolean) {
    const oldest = this.#waiting.find(fits);
    this.#waiting = this.#waiting.filter((waiting) => waiting !== oldest);
    return oldest;
  }
}

/** The id that a line which is no message names, if it names one. */
export function onlyId(line: string, name: "correlationId" | "callId" | "triggerId"): string | undefined {
  const written = line.matchAll(new RegExp(`"${name}"\\s*:\\s*"((?:[^"\\\\]|\\\\.)*)"`, "g"));
  const ids = new Set(Array.from(written, ([, id]) => id));
  return ids.size === 1 ? [...ids][0] : undefined;
}
