/** A worker: a hook that the engine starts, and that stays. It speaks over its own standard input and output. */

import type {Readable, Writable} from "node:stream";

import {Calls} from "./calls.js";
import type {HostMethod} from "./context.js";
import {HookError, textOf} from "./errors.js";
import type {A3sEventName} from "./events/a3s.js";
import type {NativeEventName} from "./events/events.js";
import {prepare} from "./json.js";
import type {Prepared} from "./json.js";
import {Lines} from "./lines.js";
import {PROTOCOL, errorOf, readMessage} from "./messages.js";
import type {IncomingMessage} from "./messages.js";
import {readRegistration} from "./registration.js";
import type {A3sHandler, AnyHandler, HookOptions, NativeHandler, OnlyA3sEventName, Registration} from "./registration.js";
import {stdoutIntoStderr} from "./stdout.js";

/** How long handlers have to finish at the end, in milliseconds, whatever their deadlines say. */
const FINISH_TIMEOUT_MS = 10_000;

/** How a worker is served. */
export interface ServeOptions {
  /**
   * `false` where the settings entry names the event, as in `"hooks": {"BeforeTool": […]}`: the handlers are
   * not declared then, and the one for an event answers it. Their matchers and configs do not count.
   */
  declare?: boolean;
  /** Instead of the process's own standard streams; the process is not ended then. */
  input?: Readable;
  output?: Writable;
}

/** Handlers, and their conversation with the engine. */
export class Worker {
  readonly #hooks = new Map<string, Registration>();
  #next = 1;
  #calls: Calls | undefined;
  readonly #isOfProcess: boolean;

  /** `isOfProcess`: it will be served over the process's own streams, so that standard output is the engine's. */
  constructor(isOfProcess = false) {
    this.#isOfProcess = isOfProcess;
  }

  /**
   * Adds a handler, before `serve`; gives its id. With the `worker` of the process, what the program prints
   * goes to standard error from now on: standard output belongs to the engine.
   *
   * @throws HookError `invalid_hook`, `duplicate_id`.
   */
  on<E extends OnlyA3sEventName>(event: E, handler: A3sHandler<E>): string;
  on<E extends OnlyA3sEventName>(event: E, options: Partial<HookOptions<never, "a3s">>, handler: A3sHandler<E>): string;
  on<E extends A3sEventName>(event: E, options: Partial<HookOptions<never, "a3s">> & {vocabulary: "a3s"}, handler: A3sHandler<E>): string;
  on<E extends NativeEventName>(event: E, handler: NativeHandler<E>): string;
  on<E extends NativeEventName>(
    event: E, options: Partial<HookOptions<never, "native">>, handler: NativeHandler<E>,
  ): string;
  on(event: string, options: object | AnyHandler, handler?: AnyHandler): string {
    if (this.#isOfProcess) stdoutIntoStderr();
    const given = handler === undefined ? (options as AnyHandler) : {...options, handler};
    const registration = readRegistration(event, given, "native");
    const id = registration.id ?? `${event}-${this.#next++}`;
    if (this.#hooks.has(id)) throw new HookError("duplicate_id", `there is a hook ${id} already`);
    this.#hooks.set(id, registration);
    return id;
  }

  /** Runs a tool of the agent whose event is being handled. Inside of a handler only; throws as `hostCall` of a context. */
  executeTool(sessionId: string, tool: string, args: Record<string, unknown> = {}): Promise<unknown> {
    return this.hostCall("tool.execute", {sessionId, tool, args});
  }

  /** Asks the host of the event that is being handled. Inside of a handler only. */
  async hostCall(method: HostMethod, params: Record<string, unknown> = {}): Promise<unknown> {
    if (!this.#calls) throw new HookError("no_call", "the worker is not served yet");
    return this.#calls.hostCallOfCurrent(method, params);
  }

  /**
   * Serves calls until the engine ends the worker, and ends the process with exit code 0 then. Handlers that
   * are at work have their time to finish; those that go on after it are left behind.
   *
   * Over other streams (`input`, `output`) it only resolves.
   */
  async serve(options: ServeOptions = {}): Promise<void> {
    if (this.#calls) throw new HookError("served", "the worker is served already");
    const isProcess = options.input === undefined && options.output === undefined;
    const wire = isProcess ? stdoutIntoStderr() : undefined;
    const output = options.output;
    const write = (line: string) => void (wire ? wire(line) : output?.write(line));
    const problem = (text: string) => console.error(`hook-sdk: ${text}`);
    const calls = new Calls((prepared: Prepared) => write(prepared.line), problem);
    this.#calls = calls;
    // An engine that is gone wants no answers; its end of our input says so as well.
    (output ?? process.stdout).on("error", () => {});
    write(prepare({type: "hook-worker", protocol: PROTOCOL, ...this.#declared(options.declare ?? true)}).line);
    await this.#listen(options.input ?? process.stdin, calls, problem);
    const remaining = Math.min(calls.remainingMs(), FINISH_TIMEOUT_MS);
    let late: NodeJS.Timeout | undefined;
    await Promise.race([calls.settled(), new Promise((resolve) => (late = setTimeout(resolve, remaining)))]);
    clearTimeout(late);
    calls.cancelAll("the worker has ended");
    if (wire) wire("", () => process.exit(0));
  }

  #declared(declares: boolean): object {
    if (!declares) return {};
    const hooks = [...this.#hooks].map(([hookId, {eventName, vocabulary, matcher, config}]) => ({
      hookId, eventName, vocabulary,
      ...(matcher !== undefined && {matcher}),
      ...(config !== undefined && {config}),
    }));
    return {hooks};
  }

  /** Takes lines until the engine closes, or says so. */
  #listen(input: Readable, calls: Calls, problem: (text: string) => void): Promise<void> {
    return new Promise((resolve) => {
      const lines = new Lines();
      const take = (line: string) => {
        let message: IncomingMessage;
        try {
          message = readMessage(line);
        } catch (error) {
          const why = `the engine sent a line that is no message: ${textOf(error)}`;
          problem(why);
          return void calls.refuseBroken(line, why);
        }
        if (message.type === "hook-close") {
          calls.cancelAll("the engine ends");
          return resolve();
        }
        this.#take(message, calls, problem);
      };
      input.on("data", (chunk: Buffer) => {
        if (lines.take(chunk, take)) return;
        problem("the engine sent a line without an end");
        resolve();
      });
      input.on("end", resolve);
      input.on("error", resolve);
      input.on("close", resolve);
    });
  }

  #take(message: IncomingMessage, calls: Calls, problem: (text: string) => void): void {
    switch (message.type) {
      case "hook-call":
        return calls.take(message, ({hookId, eventName}) => (
          this.#hooks.get(hookId) ?? this.#onlyOneFor(eventName) ?? `this worker has not exactly one handler for ${eventName}`
        ));
      case "hook-call-cancelled":
        return calls.cancel(String(message["callId"]));
      case "hook-host-result":
        return calls.hostResult(message);
      case "hook-error": {
        if (message["hostCallId"] !== undefined) return calls.hostResult(message);
        const {message: text} = errorOf(message);
        return problem(`the engine refused ${String(message["hookId"] ?? message["request"])}: ${text}`);
      }
      default: // Of later engines.
    }
  }

  /** The handler of an event that a settings entry names: its id is the entry's, and not known here. */
  #onlyOneFor(eventName: string): Registration | undefined {
    const [hook, ...others] = [...this.#hooks.values()].filter((hook) => hook.eventName === eventName);
    return others.length === 0 ? hook : undefined;
  }
}

/** The worker of this process. */
export const worker = new Worker(true);
