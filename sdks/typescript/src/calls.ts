/** Calls of handlers: running them, their answers, and what they ask their host for. */

import {AsyncLocalStorage} from "node:async_hooks";

import type {HookContext, HostMethod, LogLevel} from "./context.js";
import {HookError, HookValueError, placeOf, textOf} from "./errors.js";
import {prepare} from "./json.js";
import type {Prepared} from "./json.js";
import {errorOf, readCall} from "./messages.js";
import type {CallMessage, IncomingMessage} from "./messages.js";
import type {AnyHandler, Registration} from "./registration.js";
import {onlyId} from "./requests.js";
import {readAnswer} from "./responses.js";
import type {Vocabulary} from "./responses.js";

interface Running {
  readonly context: HookContext;
  readonly abort: AbortController;
  readonly until: number;
}

interface HostCall {
  readonly callId: string;
  resolve(result: unknown): void;
  reject(error: HookError): void;
}

/** The call in which code runs, so that `executeTool` need not be told of it. */
const current = new AsyncLocalStorage<Running>();

/** The calls of one connection. */
export class Calls {
  readonly #send: (prepared: Prepared) => void;
  readonly #problem: (text: string) => void;
  readonly #running = new Map<string, Running>();
  readonly #hostCalls = new Map<string, HostCall>();
  #nextHostCall = 1;
  #idle: (() => void)[] = [];

  /** `send` takes what is to be sent, now or when there is a connection again; it does not throw. */
  constructor(send: (prepared: Prepared) => void, problem: (text: string) => void) {
    this.#send = send;
    this.#problem = problem;
  }

  /**
   * Runs the handler that a hook-call is for, and answers. `find` gives the handler, or why there is none, or nothing for
   * a call that was answered before. A call that runs already is not run again.
   */
  take(message: IncomingMessage, find: (call: CallMessage) => Pick<Registration, "handler" | "vocabulary"> | string | undefined): void {
    let call: CallMessage;
    try {
      call = readCall(message);
    } catch (error) {
      const why = `the call cannot be read: ${textOf(error)}`;
      this.#problem(why);
      if (typeof message["callId"] === "string") this.refuse(message["callId"], why);
      return;
    }
    const found = find(call);
    if (typeof found === "string") return this.refuse(call.callId, found);
    if (!found || this.#running.has(call.callId)) return;
    const abort = new AbortController();
    const until = call.deadlineMs === undefined ? Infinity : performance.now() + call.deadlineMs;
    const running: Running = {context: this.#context(call, abort.signal), abort, until};
    this.#running.set(call.callId, running);
    void this.#answered(call, running, found.handler, found.vocabulary);
  }

  /** Refuses the call that a line which is no message may have been. `false` where it is of none. */
  refuseBroken(line: string, why: string): boolean {
    const callId = /"type"\s*:\s*"hook-call"/.test(line) ? onlyId(line, "callId") : undefined;
    if (callId !== undefined) this.refuse(callId, why);
    return callId !== undefined;
  }

  /** Answers a call that no handler is for. */
  refuse(callId: string, why: string): void {
    this.#send(prepare({type: "hook-answer", callId, error: why}));
  }

  /** Nobody waits for the answer any more. The handler is left alone. */
  cancel(callId: string, why = "the call was cancelled"): void {
    this.#end(callId, why)?.abort.abort(new HookError("cancelled", why));
  }

  /** Answers all calls that run, and cancels them. */
  refuseAll(why: string): void {
    for (const callId of this.#running.keys()) this.refuse(callId, why);
    this.cancelAll(why);
  }

  /** Cancels all calls. */
  cancelAll(why: string): void {
    for (const callId of [...this.#running.keys()]) this.cancel(callId, why);
  }

  /** Takes a hook-host-result. */
  hostResult(message: IncomingMessage): void {
    const id = String(message["hostCallId"]);
    const hostCall = this.#hostCalls.get(id);
    if (!hostCall) return; // Its call was cancelled meanwhile.
    this.#hostCalls.delete(id);
    if (message["error"] == null) return hostCall.resolve(message["result"] ?? null);
    const {code, message: text, details} = errorOf(message);
    hostCall.reject(new HookError(code, text, {details}));
  }

  /** How many milliseconds the calls that run have at most. */
  remainingMs(): number {
    const until = [...this.#running.values()].map((running) => running.until - performance.now());
    return Math.max(0, ...until);
  }

  /** Resolves when no call runs. */
  async settled(): Promise<void> {
    if (this.#running.size > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /**
   * Asks the host of the call in which this code runs.
   *
   * @throws {@link HookError} `no_call` outside of a handler, and after its call has ended.
   */
  async hostCallOfCurrent(method: HostMethod, params: Record<string, unknown>): Promise<unknown> {
    const running = current.getStore();
    if (!running) throw new HookError("no_call", `${method} asks the host of an event, so only a handler can call it`);
    return running.context.hostCall(method, params);
  }

  async #answered(call: CallMessage, running: Running, handler: AnyHandler, vocabulary: Vocabulary): Promise<void> {
    let line: Prepared;
    const isWaitedFor = () => this.#running.get(call.callId) === running;
    try {
      const run = async () => handler(call.input as never, running.context);
      const returned: unknown = await current.run(running, run);
      if (!isWaitedFor()) return this.#late(call, returned);
      const answer = readAnswer(vocabulary, returned);
      if ("error" in answer) {
        line = this.#failed(call, answer.error);
      } else {
        for (const oddity of answer.oddities) this.#problem(`the answer of hook ${call.hookId} to ${call.eventName}: ${oddity}`);
        line = prepare({type: "hook-answer", callId: call.callId, ...answer.fields});
      }
    } catch (thrown) {
      // It has done as it was told.
      if (running.context.signal.aborted && isAbort(thrown, running.context.signal)) return;
      const why = thrown instanceof HookValueError ? `the answer cannot be sent: ${thrown.message}` : textOf(thrown) + placeOf(thrown);
      line = this.#failed(call, why);
    }
    // After a cancel there is nobody to answer.
    if (!isWaitedFor()) return;
    this.#send(line);
    this.#end(call.callId, "the handler has answered");
  }

  #end(callId: string, why: string): Running | undefined {
    const running = this.#running.get(callId);
    this.#running.delete(callId);
    for (const [id, hostCall] of this.#hostCalls) {
      if (hostCall.callId !== callId) continue;
      this.#hostCalls.delete(id);
      hostCall.reject(new HookError("cancelled", why));
    }
    if (this.#running.size === 0) for (const resolve of this.#idle.splice(0)) resolve();
    return running;
  }

  /** An answer came when nobody waited for it any more. That a handler has nothing to say then is no news. */
  #late(call: CallMessage, returned: unknown): void {
    if (returned === undefined || returned === null) return;
    this.#problem(`the answer of hook ${call.hookId} to ${call.eventName} was dropped: nobody waited for it any more`);
  }

  #failed(call: CallMessage, error: string): Prepared {
    this.#problem(`hook ${call.hookId} failed on ${call.eventName}: ${error}`);
    return prepare({type: "hook-answer", callId: call.callId, error: error.slice(0, 16_384)});
  }

  #context(call: CallMessage, signal: AbortSignal): HookContext {
    const {callId, hookId, eventName, deadlineMs} = call;
    const hostCall = (method: HostMethod, params: Record<string, unknown> = {}) => this.#hostCall(callId, method, params);
    return {
      callId, hookId, eventName, signal,
      ...(deadlineMs !== undefined && {deadlineMs}),
      hostCall,
      confirm: async (question) => (await hostCall("ui.confirm", question)) === true,
      log: (level: LogLevel, message: string) => this.#send(prepare({type: "hook-log", level, message: String(message)})),
    };
  }

  async #hostCall(callId: string, method: string, params: Record<string, unknown>): Promise<unknown> {
    if (!this.#running.has(callId)) throw new HookError("no_call", `the call that ${method} belongs to has ended`);
    const hostCallId = String(this.#nextHostCall++);
    const line = prepare({type: "hook-host-call", hostCallId, callId, method, params});
    return new Promise((resolve, reject) => {
      this.#hostCalls.set(hostCallId, {callId, resolve, reject});
      this.#send(line);
    });
  }
}

/** Whether a handler threw because its signal was aborted. */
function isAbort(thrown: unknown, signal: AbortSignal): boolean {
  return thrown === signal.reason || (thrown instanceof Error && thrown.name === "AbortError")
    || (thrown instanceof HookError && thrown.code === "cancelled");
}
