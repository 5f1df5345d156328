/** What a client offers to the hooks of its own requests: questions to its user, tools to run. */

import {AsyncLocalStorage} from "node:async_hooks";

import {HookError, HookValueError, textOf} from "./errors.js";
import {prepare} from "./json.js";
import type {Prepared} from "./json.js";
import {isObject} from "./messages.js";
import type {IncomingMessage} from "./messages.js";

/**
 * One service. What it returns is the result, nothing is `null`; what it throws is an error to the hook, with
 * the code of a HookError, else `failed`.
 */
export type HostService = (params: Record<string, unknown>, asked: HostAsked) => unknown;

/** Who asks. */
export interface HostAsked {
  /** The request of this client that the hook was called for. */
  correlationId: string;
  /** The hook. */
  hookId: string;
  /** Aborted when nobody waits for the result any more: a question to the user is to be taken back then. */
  signal: AbortSignal;
}

/** Services by method, such as `ui.confirm`. */
export type HostServices = Record<string, HostService>;

/** Asks the user whether what hooks want to have confirmed may be done. */
export type Approve = (question: Approval, asked: HostAsked) => Approved | Promise<Approved>;

/** A question to the user. */
export interface Approval {
  /** The event whose hooks ask, such as `BeforeTool`. */
  eventName: string;
  /** The tool's name, or the prompt. */
  subject: string;
  /** The tool's arguments, as hooks left them. */
  input?: Record<string, unknown>;
  /** Why hooks ask. */
  reason: string;
}

/** `true` for yes; anything else is a no, with its reason in `refused`. */
export type Approved = boolean | {refused: string};

/** The token by which the server knows that a request comes from inside of a hook. */
const runToken = new AsyncLocalStorage<string | undefined>();

/** That of the service in which this code runs; else that of the program, which may be a hook itself. */
export function currentRunToken(): string | undefined {
  return runToken.getStore() ?? (process.env["HOOK_RUN_TOKEN"] || undefined);
}

/** How many services run at once. */
const MAX_SERVED = 256;

/** What hooks ask of one client. */
export class HostCalls {
  readonly #services: HostServices;
  readonly #send: (prepared: Prepared) => void;
  readonly #problem: (text: string) => void;
  readonly #open = new Map<string, {abort: AbortController; triggerId: unknown}>();

  constructor(services: HostServices, send: (prepared: Prepared) => void, problem: (text: string) => void) {
    this.#services = services;
    this.#send = send;
    this.#problem = problem;
  }

  /** The methods that are offered. */
  get offered(): string[] {
    return Object.keys(this.#services);
  }

  /**
   * Does what a hook-host-call asks for, and answers it: once, and not if nobody waits for that any more. `own` are the
   * services of the trigger that asks, which the client has begun itself: the server bounds how many there are.
   */
  async serve(call: IncomingMessage, own: HostServices = {}): Promise<void> {
    const id = String(call["hostCallId"]);
    const {method, triggerId} = call;
    const services = typeof method === "string" && Object.hasOwn(own, method) ? own : this.#services;
    if (services === this.#services && this.#open.size >= MAX_SERVED) {
      const message = `${MAX_SERVED} host calls are under way already`;
      return this.#send(result(call, {error: {code: "limit_exceeded", message}}));
    }
    const abort = new AbortController();
    this.#open.set(id, {abort, triggerId});
    const answer = await this.#answer(call, services, abort.signal);
    if (this.#open.get(id)?.abort !== abort) return;
    this.#open.delete(id);
    this.#send(answer);
  }

  /** Nobody waits for that any more. */
  cancel(id: string, why = "the hook does not wait for it any more"): void {
    const open = this.#open.get(id);
    this.#open.delete(id);
    open?.abort.abort(new HookError("cancelled", why));
  }

  /** Nobody waits for what a trigger asked for. */
  cancelOf(triggerId: string, why: string): void {
    for (const [id, open] of [...this.#open]) if (open.triggerId === triggerId) this.cancel(id, why);
  }

  /** Nobody waits for anything any more. */
  cancelAll(why: string): void {
    for (const id of [...this.#open.keys()]) this.cancel(id, why);
  }

  /** A message that is always one that can be sent. */
  async #answer(call: IncomingMessage, services: HostServices, signal: AbortSignal): Promise<Prepared> {
    const {method, params} = call;
    const service = typeof method === "string" && Object.hasOwn(services, method) ? services[method] : undefined;
    if (!service) return result(call, {error: {code: "unsupported", message: String(method).slice(0, 100)}});
    try {
      const asked = {correlationId: String(call["correlationId"] ?? ""), hookId: String(call["hookId"] ?? ""), signal};
      const token = typeof call["runToken"] === "string" ? call["runToken"] : undefined;
      const given = await runToken.run(token, async () => service(isObject(params) ? params : {}, asked));
      return result(call, {result: given ?? null});
    } catch (thrown) {
      const why = textOf(thrown).slice(0, 16_384);
      const code = thrown instanceof HookError ? thrown.code : "failed";
      // What it says by a HookError is its answer.
      const isFault = !(thrown instanceof HookError) || thrown instanceof HookValueError;
      if (isFault && !signal.aborted) this.#problem(`the host service ${String(method)} failed: ${why}`);
      return result(call, {error: {code, message: why}});
    }
  }
}

function result({hostCallId}: IncomingMessage, fields: object): Prepared {
  return prepare({type: "hook-host-result", hostCallId, ...fields});
}
