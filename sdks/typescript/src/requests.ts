/** What was asked and is not answered yet. */

import {HookError} from "./errors.js";
import type {IncomingMessage} from "./messages.js";

/** How many requests are remembered that nobody waits for any more. */
const MAX_GIVEN_UP = 4096;

interface Waiting<T> {
  resolve(value: T): void;
  reject(error: HookError): void;
}

/** Answers that are told by an id, or by their type and order. */
export class Replies {
  readonly #requests = new Map<string, Waiting<IncomingMessage> & {eventName: string}>();
  /** Nobody waits for these any more; they are answered all the same. */
  readonly #givenUp = new Set<string>();
  readonly #control: (Waiting<IncomingMessage> & {type: string; request: string})[] = [];

  /** Sends a request, and waits for the response. What `send` throws is thrown, and nothing waits. */
  request(correlationId: string, eventName: string, send: () => void): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      this.#requests.set(correlationId, {resolve, reject, eventName});
      try {
        send();
      } catch (error) {
        this.#requests.delete(correlationId);
        reject(error);
      }
    });
  }

  /** Whether a request of that id is in flight, or was given up and may still be answered. */
  hasRequest(correlationId: string): boolean {
    return this.#requests.has(correlationId) || this.#givenUp.has(correlationId);
  }

  /** Waits for a request no more. */
  giveUp(correlationId: string): void {
    if (!this.#requests.delete(correlationId)) return;
    this.#givenUp.add(correlationId);
    const [oldest] = this.#givenUp;
    if (this.#givenUp.size > MAX_GIVEN_UP && oldest !== undefined) this.#givenUp.delete(oldest);
  }

  /** The ids of the requests that are in flight. */
  requests(): string[] {
    return [...this.#requests.keys()];
  }

  /** Sends a message of the type `request`, and waits for the next message of a type, which answers it. */
  next(type: string, request: string, send: () => void): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const waiting = {resolve, reject, type, request};
      this.#control.push(waiting);
      try {
        send();
      } catch (error) {
        this.#control.splice(this.#control.indexOf(waiting), 1);
        reject(error);
      }
    });
  }

  /** Takes a response. `false` when nothing waits for it. */
  takeResponse(message: IncomingMessage): boolean {
    const id = String(message["correlationId"]);
    const waiting = this.#requests.get(id);
    this.#requests.delete(id);
    waiting?.resolve(message);
    return waiting !== undefined || this.#givenUp.delete(id);
  }

  /** Takes a reply. `false` when nothing waits for one of its type. */
  takeReply(message: IncomingMessage): boolean {
    const at = this.#control.findIndex(({type}) => type === message.type);
    if (at < 0) return false;
    this.#control.splice(at, 1)[0]!.resolve(message);
    return true;
  }

  /** Fails the oldest that asked by a message of a type, or by any. `false` when nothing did. */
  failReply(request: string | undefined, error: HookError): boolean {
    const at = request === undefined ? 0 : this.#control.findIndex((waiting) => waiting.request === request);
    const failed = at < 0 ? [] : this.#control.splice(at, 1);
    failed[0]?.reject(error);
    return failed.length > 0;
  }

  /** Fails one request. */
  failRequest(correlationId: string, error: HookError): void {
    this.#givenUp.delete(correlationId);
    this.#requests.get(correlationId)?.reject(withRequest(error, correlationId, this.#requests.get(correlationId)!.eventName));
    this.#requests.delete(correlationId);
  }

  /**
   * Fails what a line that is no message may have answered: the request whose id is in it; else all
   * requests, since no answer must be taken for another, and none may wait for ever; else, where nothing was
   * requested, the oldest other reply. A line that says it is something else fails no request.
   */
  failBroken(line: string, error: HookError): void {
    const type = /"type"\s*:\s*"([a-z-]+)"/.exec(line)?.[1];
    if (type !== undefined && type !== "hook-execution-response" && type !== "hook-bridged") {
      const asked = this.#control.find((waiting) => waiting.type === type);
      if (asked) this.failReply(asked.request, error);
      return;
    }
    const id = onlyId(line, "correlationId");
    const known = id !== undefined && this.#requests.has(id) ? [id] : [...this.#requests.keys()];
    if (known.length === 0) this.failReply(undefined, error);
    for (const failed of known) this.failRequest(failed, error);
  }

  /** Fails everything. */
  failAll(error: HookError): void {
    this.#givenUp.clear();
    for (const id of [...this.#requests.keys()]) this.failRequest(id, error);
    for (const {reject} of this.#control.splice(0)) reject(error);
  }
}

/** The id that a line which is no message names, if it names one. */
export function onlyId(line: string, name: "correlationId" | "callId" | "triggerId"): string | undefined {
  const written = line.matchAll(new RegExp(`"${name}"\\s*:\\s*"((?:[^"\\\\]|\\\\.)*)"`, "g"));
  const ids = new Set(Array.from(written, ([, id]) => id));
  return ids.size === 1 ? [...ids][0] : undefined;
}

/** The same error, about that request. */
function withRequest(error: HookError, correlationId: string, eventName: string): HookError {
  const Kind = error.constructor as typeof HookError;
  return new Kind(error.code, error.message, {details: error.details, request: {eventName, correlationId}, cause: error});
}
