/** The triggers of one client that the server runs: what they ask for, and what they come to. */

import {HookConnectionError, HookError} from "../errors.js";
import type {HostServices} from "../host.js";
import {prepare} from "../json.js";
import type {OutgoingMessage} from "../json.js";
import type {Link} from "../link/link.js";
import {errorOf, isObject} from "../messages.js";
import type {IncomingMessage} from "../messages.js";
import {onlyId} from "../requests.js";

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

interface Running {
  readonly host: TriggerHost;
  /** Absent after it was cancelled here. */
  waiting?: {resolve(result: Record<string, unknown>): void; reject(error: HookError): void};
}

/** Triggers by their ids. */
export class Triggers {
  readonly #running = new Map<string, Running>();
  readonly #cancelCalls: (triggerId: string, why: string) => void;
  #next = 1;

  /** `cancelCalls` cancels the host calls of a trigger. */
  constructor(cancelCalls: (triggerId: string, why: string) => void) {
    this.#cancelCalls = cancelCalls;
  }

  /** The ids of those that run. */
  ids(): string[] {
    return [...this.#running.keys()];
  }

  /**
   * Runs a trigger at the server; resolves with its result. An abort of the signal cancels it there, and its host calls here.
   *
   * @throws HookError with the server's code, `cancelled` for an abort; HookConnectionError where the server is lost.
   */
  run(
    link: Link, message: Record<string, unknown>, begin: (link: TriggerLink) => TriggerHost, signal?: AbortSignal,
  ): Promise<Record<string, unknown>> {
    const triggerId = `t-${this.#next++}`;
    const send = (outgoing: OutgoingMessage) => link.send(prepare({...outgoing, triggerId}));
    return new Promise((resolve, reject) => {
      const running: Running = {host: begin({send, drained: () => link.drained()})};
      const aborted = () => {
        if (!running.waiting) return;
        delete running.waiting;
        this.#cancelCalls(triggerId, "the trigger was cancelled");
        try {
          send({type: "hook-trigger-cancel"});
        } catch {} // The server is gone, and with it the trigger.
        reject(new HookError("cancelled", `${String(message["trigger"])}: the trigger was cancelled`, {cause: signal?.reason}));
      };
      const ended = () => signal?.removeEventListener("abort", aborted);
      running.waiting = {
        resolve: (result) => (ended(), resolve(result)),
        reject: (error) => (ended(), reject(error)),
      };
      this.#running.set(triggerId, running);
      try {
        send({type: "hook-trigger", ...message});
        signal?.addEventListener("abort", aborted, {once: true});
      } catch (error) {
        this.#running.delete(triggerId);
        reject(error);
      }
    });
  }

  /** Returns the services of the trigger of a hook-host-call. */
  servicesOf({triggerId}: IncomingMessage): HostServices | undefined {
    const running = this.#running.get(String(triggerId));
    return running?.waiting && running.host.services;
  }

  /** Takes a hook-trigger-chunk. What comes for a trigger that has ended is dropped. */
  takeChunk(message: IncomingMessage): void {
    const running = this.#running.get(String(message["triggerId"]));
    if (running?.waiting) running.host.chunk?.(message);
  }

  /** Takes a hook-trigger-result. `false` when no trigger waits for it. */
  takeResult(message: IncomingMessage): boolean {
    const id = String(message["triggerId"]);
    if (message["error"] != null) return this.fail(id, errorOf(message));
    const {result} = message;
    if (!isObject(result)) return this.fail(id, {code: "invalid_message", message: "the server's result of a trigger is none"});
    const running = this.#end(id);
    running?.waiting?.resolve(result);
    return running !== undefined;
  }

  /** Fails one. `false` when there is none of that id. */
  fail(id: string, {code, message, details}: {code: string; message: string; details?: unknown}): boolean {
    const running = this.#end(id);
    running?.waiting?.reject(new HookError(code, message, {details}));
    return running !== undefined;
  }

  /** Fails the oldest: the server does not know what it was sent. `false` when there is none. */
  failOldest(error: {code: string; message: string}): boolean {
    const [oldest] = this.#running.keys();
    return oldest !== undefined && this.fail(oldest, error);
  }

  /** Fails what a line that is no message may have been for: the trigger that it names, else all. */
  failBroken(line: string, {code, message}: HookError): void {
    if (!/"type"\s*:\s*"hook-(trigger|host-call)/.test(line)) return;
    const id = onlyId(line, "triggerId");
    for (const failed of id !== undefined && this.#running.has(id) ? [id] : this.ids()) this.fail(failed, {code, message});
  }

  /** Fails all: the connection is lost. */
  failAll(error: HookConnectionError): void {
    for (const id of this.ids()) this.#end(id)?.waiting?.reject(error);
  }

  #end(id: string): Running | undefined {
    const running = this.#running.get(id);
    this.#running.delete(id);
    if (running) this.#cancelCalls(id, "the trigger has ended");
    return running;
  }
}
