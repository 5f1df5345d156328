/** The client of a hook server: handlers that it calls, and requests that it answers. */

import type {HostMethod} from "./context.js";
import {HookError, textOf} from "./errors.js";
import type {HookRegistrationError} from "./errors.js";
import type {A3sEventName} from "./events/a3s.js";
import type {AskInput, NativeEventName} from "./events/events.js";
import type {
  AuditEntry, AuditLevel, Bridged, HookExecutionResponse, HookFinished, HookStarted, RegisteredHook,
} from "./events/native.js";
import {currentRunToken} from "./host.js";
import type {Approval, Approve, HostService, HostServices} from "./host.js";
import {prepare} from "./json.js";
import type {OutgoingMessage} from "./json.js";
import type {ReconnectOptions} from "./connection.js";
import {find} from "./link/find.js";
import {isObject} from "./messages.js";
import type {IncomingMessage} from "./messages.js";
import {Fired} from "./outcome.js";
import {readRegistration} from "./registration.js";
import type {A3sHandler, AnyHandler, HookOptions, NativeHandler, OnlyA3sEventName, OnlyNativeEventName} from "./registration.js";
import {shown} from "./responses.js";
import type {Vocabulary} from "./responses.js";
import {Session} from "./session.js";
import {untilEnded, untilLate} from "./signals.js";
import {asyncDispose} from "./temporary.js";
import type {TemporaryHook} from "./temporary.js";
import type {TriggerHost, TriggerLink} from "./triggers/running.js";
import type {TriggerOptions} from "./triggers/options.js";

/** How long a server has to confirm that handlers are gone, when a client is closed. */
const CLOSE_TIMEOUT_MS = 5_000;

/** How many problems are remembered that were reported. */
const MAX_REPORTED = 1024;

const DECISIONS: readonly unknown[] = ["proceed", "ask", "retry", "block", "stop"] satisfies Fired["decision"][];

/** Where the server is, and who is told of what. Everything is optional. */
export interface HookClientOptions {
  /**
   * How to reach the server. Without it: the socket that is named, else the project's own server. Without any, a client
   * that asks and has registered no handler starts a private one (`command`), which ends with it, and the first outcome
   * warns of it; one that has been at the project's server waits for that to come back.
   */
  transport?: "socket" | "stdio";
  /** The socket's path; without it the variable `HOOK_SOCKET`. */
  socket?: string;
  /** The project's folder; without it the nearest one with hooks, from the working directory upwards. */
  project?: string;
  /**
   * The server to start, with its arguments. Without it `serve --stdio` of the engine: that which `HOOK_BINARY` names, that of
   * the package `hook-engine` of this version, or `hook` in PATH.
   */
  command?: readonly string[];
  /** Asks the user what hooks want to have confirmed: called by `executeTool` and `agentTurn`. Without it `ask` is a refusal. */
  approve?: Approve;
  /** What hooks may ask of this client while they handle its requests. */
  hostServices?: HostServices;
  /** The pauses between tries to come back; `false`: never, a lost connection ends what hangs on it. */
  reconnect?: ReconnectOptions | false;
  /** How long to wait for a server's greeting, in milliseconds; 30000 without it. */
  helloTimeoutMs?: number;
  /**
   * Told of problems that belong to no call, and of what a server writes to standard error that this client has
   * started. Without it they go to standard error.
   */
  onProblem?: (problem: string) => void;
  /** Told of handlers that the server refuses. Without it, `onProblem` is. */
  onRegistrationError?: (error: HookRegistrationError) => void;
}

/** How a request is made. */
export interface RequestOptions {
  /** Answer this many milliseconds after acceptance at the latest. */
  deadlineMs?: number;
  /** An id of one's own, for `cancel`; no two requests in flight may share one. */
  correlationId?: string;
  /** Ends the hooks of the request, which rejects at once with the HookError `cancelled`, whatever they had decided. */
  signal?: AbortSignal;
  /** Whether each hook's output, or its input, is in the response. */
  streams?: boolean;
  inputs?: boolean;
}

/** Progress of the client's own requests. */
export type Progress = HookStarted | HookFinished;

type NativeHook<E extends NativeEventName> = NativeHandler<E> | HookOptions<NativeHandler<E>, "native">;
type A3sHook<E extends A3sEventName> = A3sHandler<E> | HookOptions<A3sHandler<E>, "a3s">;
/** A handler that names its vocabulary. */
type Named<H, V extends Vocabulary> = HookOptions<H, V> & {vocabulary: V};
type During<T> = (hookId: string) => T | Promise<T>;

/** The services with the one that asks the user. Nothing but `true` is a yes; `report` is told of what is no answer at all. */
function withApproval(services: HostServices, approve: Approve | undefined, report: (problem: string) => void): HostServices {
  if (!approve) return services;
  const asked: HostService = async (question, context) => {
    const answer = await approve(question as unknown as Approval, context);
    if (answer === true) return true;
    if (isObject(answer) && typeof answer.refused === "string") return {refused: answer.refused};
    if (answer !== false) report(`\`approve\` returned ${shown(answer)}, which refuses: its answers are true, false and {refused: "why"}`);
    return false;
  };
  return {...services, "user.approve": asked};
}

/**
 * A client. Making one connects to nothing: the first thing that it is asked to do does. Handlers and
 * subscriptions survive a lost connection; requests in flight do not.
 */
export class HookClient {
  /** Told of problems that belong to no call. */
  onProblem: (problem: string) => void;
  /** Told of handlers that the server refuses. */
  onRegistrationError: ((error: HookRegistrationError) => void) | undefined;
  /** The vocabulary of names that the engine and A3S both have. */
  protected readonly shared: Vocabulary = "native";
  readonly #session: Session;
  readonly #progress = new Set<(progress: Progress) => void>();
  #onAudit: (entry: AuditEntry) => void = (entry) => console.error(JSON.stringify(entry));
  /** Aborted when the client is closed, or a guard of it was refused. */
  readonly #over = new AbortController();
  #refusedGuard: HookRegistrationError | undefined;
  #nextRequest = 0;
  /** How often each problem was reported that may be so at each event. */
  readonly #reported = new Map<string, number>();
  #closed: Promise<void> | undefined;

  /** @throws HookError `invalid_option`. */
  constructor(options: HookClientOptions = {}) {
    this.onProblem = options.onProblem ?? ((problem) => console.error(`hook-sdk: ${problem}`));
    this.onRegistrationError = options.onRegistrationError;
    const {transport, hostServices = {}} = options;
    if (transport !== undefined && transport !== "socket" && transport !== "stdio") {
      throw new HookError("invalid_option", '`transport` is "socket" or "stdio"');
    }
    const session = {
      connect: find(options),
      hostServices: withApproval({...hostServices}, options.approve, (problem) => this.report(problem)),
      reconnect: options.reconnect ?? {},
      helloTimeoutMs: options.helloTimeoutMs ?? 30_000,
    };
    this.#session = new Session(session, {
      problem: (text) => this.#problem(text),
      refused: (error, isGuard) => this.#refused(error, isGuard),
      news: (message) => this.#news(message),
    });
  }

  /**
   * Connects now, and not at the first use.
   *
   * @throws HookConnectionError where there is no server.
   */
  async connect(): Promise<void> {
    await this.#session.use();
  }

  /**
   * Registers a handler and gives its id at once; `ready(id)` tells when it is in force. Events that only A3S has are told
   * in its words, all others in the engine's own.
   *
   * @throws HookError `invalid_hook` for what no server could understand, `duplicate_id` for an id in use;
   * HookValueError for a matcher that cannot be sent.
   */
  registerHook<E extends OnlyA3sEventName>(event: E, hook: A3sHook<E>): string;
  registerHook<E extends A3sEventName>(event: E, hook: Named<A3sHandler<E>, "a3s">): string;
  registerHook<E extends NativeEventName>(event: E, hook: NativeHook<E>): string;
  registerHook(event: string, hook: AnyHandler | HookOptions<AnyHandler>): string {
    if (this.#closed) throw new HookError("closed", "the client is closed");
    const entry = this.#session.registrations.make(readRegistration(event, hook, this.shared));
    this.#session.register(entry);
    return entry.id;
  }

  /**
   * Resolves when the handler is in force.
   *
   * @throws HookRegistrationError where the server refused it; HookConnectionError where there is no
   * connection at present (it is registered when there is one: ask again); HookError `unregistered`, `no_hook`.
   */
  ready(hookId: string): Promise<void> {
    return this.#session.ready(hookId);
  }

  /**
   * Takes a handler away: no request from now on calls it, those in flight may. Resolves when the server has; with
   * `false` where there is none of that id.
   */
  unregisterHook(hookId: string): Promise<boolean> {
    return this.#session.unregister(hookId);
  }

  /** All handlers of all clients of the server; this client's have `own: true`. */
  async listHooks(): Promise<RegisteredHook[]> {
    const message = await this.#ask({type: "hook-list"}, "hook-hooks");
    if (!Array.isArray(message["hooks"])) throw new HookError("invalid_message", "the server's list of hooks is none");
    return message["hooks"] as RegisteredHook[];
  }

  /**
   * A handler for a while: `await using hook = await client.temporaryHook(…)`, or with a function, for as
   * long as that runs. It is in force from the beginning, and gone at the end, however it ends.
   *
   * @throws what `registerHook` and `ready` do, and what the function throws.
   */
  temporaryHook<E extends OnlyA3sEventName, T = TemporaryHook>(event: E, hook: A3sHook<E>, during?: During<T>): Promise<NoInfer<T>>;
  temporaryHook<E extends A3sEventName, T = TemporaryHook>(event: E, hook: Named<A3sHandler<E>, "a3s">, during?: During<T>): Promise<NoInfer<T>>;
  temporaryHook<E extends NativeEventName, T = TemporaryHook>(event: E, hook: NativeHook<E>, during?: During<T>): Promise<NoInfer<T>>;
  async temporaryHook(event: string, hook: AnyHandler | HookOptions<AnyHandler>, during?: During<any>): Promise<any> {
    const id = this.registerHook(event as never, hook as never);
    const dispose = async () => void (await this.unregisterHook(id));
    let isKept = false;
    try {
      await this.ready(id);
      isKept = !during;
      return during ? await during(id) : {hookId: id, dispose, [asyncDispose]: dispose} satisfies TemporaryHook;
    } finally {
      if (!isKept) await dispose();
    }
  }

  /**
   * Asks for the audit: what hooks were registered, what they decided and changed. Each entry goes to the
   * listener; without one, to the listener of before, at first standard error as a line of JSON.
   */
  setHookAuditLevel(level: AuditLevel, listener?: (entry: AuditEntry) => void): void {
    if (!["off", "info", "decisions", "verbose"].includes(level)) {
      throw new HookError("invalid_level", '`level` is "off", "info", "decisions" or "verbose"');
    }
    if (listener) this.#onAudit = listener;
    if (level !== "off") return this.#session.stand({type: "hook-audit", level});
    this.#session.standing.delete("hook-audit");
    this.#session.tell({type: "hook-audit", level});
  }

  /**
   * Runs a tool of the agent whose event is being handled; its own hooks run, too. Inside of a handler only.
   *
   * @throws HookError `no_call` outside of a handler, `unsupported` where the agent runs no tools for hooks.
   */
  executeTool(sessionId: string, tool: string, args: Record<string, unknown> = {}): Promise<unknown> {
    return this.hostCall("tool.execute", {sessionId, tool, args});
  }

  /** Asks the host of the event that is being handled, as `context.hostCall` does. Inside of a handler only. */
  hostCall(method: HostMethod, params: Record<string, unknown> = {}): Promise<unknown> {
    return this.#session.calls.hostCallOfCurrent(method, params);
  }

  /**
   * Runs the hooks of a native or declared event, and gives what is to be done.
   *
   * @throws HookError where there is no answer, or the request failed and no hook decided; that is never to be taken
   * for `proceed`.
   */
  async fire<E extends NativeEventName>(event: E, input: AskInput<E>, options?: RequestOptions): Promise<Fired> {
    const response = await this.request(event, input, options);
    const {processed, error, correlationId} = response;
    if (processed === undefined && error) {
      const request = {eventName: event, correlationId};
      throw new HookError(error.code, `${event}: ${error.message}`, {details: error.details, request});
    }
    if (!processed || !DECISIONS.includes(processed.decision)) {
      throw new HookError("invalid_message", `the answer to ${event} has no decision that is known`);
    }
    return new Fired(processed, response);
  }

  /** The whole response to a native or declared event. Throws as `fire` does. */
  async request<E extends NativeEventName>(
    event: E, input: AskInput<E>, options: RequestOptions = {},
  ): Promise<HookExecutionResponse> {
    const {deadlineMs, streams, inputs} = options;
    // The server gives requests from inside of a hook places of their own.
    const runToken = currentRunToken();
    const type = "hook-execution-request";
    const response = await this.#exchange({type, eventName: event, input, deadlineMs, streams, inputs, runToken}, event, options);
    const warning = this.#takeWarning();
    return warning === undefined ? response : {...response, warnings: [warning, ...(response.warnings ?? [])]};
  }

  /**
   * Asks about an event in another agent's own format, such as `claude`: gives what that agent would read of a hook.
   *
   * @throws HookError where there is no answer, as `fire` does.
   */
  async bridge(agent: string, event: string, input: object, options: RequestOptions = {}): Promise<Bridged> {
    const message = {type: "hook-bridge", agent, event, said: JSON.stringify(input), deadlineMs: options.deadlineMs};
    const reply: Partial<Bridged> & Pick<HookExecutionResponse, "error"> = await this.#exchange(message, event, options);
    const {error, stdout, stderr = "", exitCode, warnings = []} = reply;
    if (typeof stdout === "string" && typeof exitCode === "number") return {stdout, stderr, exitCode, warnings};
    throw new HookError(error?.code ?? "invalid_message", `${event}: ${error?.message ?? "the server's answer is none"}`);
  }

  /** Sends a request, and waits for what answers it. */
  #exchange(message: OutgoingMessage, event: string, {correlationId, ...options}: RequestOptions): Promise<HookExecutionResponse> {
    const id = correlationId ?? `client-${this.#nextRequest++}`;
    const session = this.#session;
    return untilLate(event, options, async (signal) => {
      const line = prepare({...message, correlationId: id});
      session.asks = true;
      return (await session.requests.ask(id, event, () => session.use(), (link) => (
        {send: () => link.send(line), cancel: () => this.cancel(id)}
      ), signal)) as unknown as HookExecutionResponse;
    });
  }

  /**
   * Runs a trigger at the server, which calls the services of the host that `begin` makes; gives its result. `executeTool`,
   * `callModel`, `agentTurn` and `session` are made of it.
   *
   * @throws HookError where there is no result, which is never permission; `cancelled` where the signal is aborted.
   */
  async trigger(
    trigger: string, call: Record<string, unknown>, begin: (link: TriggerLink) => TriggerHost, options: TriggerOptions = {},
  ): Promise<Record<string, unknown>> {
    const {session, deadlineMs} = options;
    this.#session.asks = true;
    const message = {trigger, call, session, deadlineMs, runToken: currentRunToken()};
    const result = await untilLate(trigger, options, (signal) => this.#session.triggers.run(() => this.#session.use(), message, begin, signal));
    const warning = this.#takeWarning();
    if (warning === undefined) return result;
    return {...result, warnings: [warning, ...(Array.isArray(result["warnings"]) ? result["warnings"] : [])]};
  }

  /**
   * Reports to `onProblem` what may be so at each event, such as the warnings of outcomes: a text at the first time, at the
   * tenth, the hundredth and so on.
   */
  report(...problems: readonly string[]): void {
    for (const problem of problems) {
      const times = (this.#reported.get(problem) ?? 0) + 1;
      this.#reported.delete(problem); // It is the youngest now.
      this.#reported.set(problem, times);
      const [oldest] = this.#reported.keys();
      if (this.#reported.size > MAX_REPORTED && oldest !== undefined) this.#reported.delete(oldest);
      if (/^10*$/.test(String(times))) this.#problem(times === 1 ? problem : `${problem} (${times} times by now)`);
    }
  }

  /** Ends the hooks of a request by its id. It is answered all the same, with the error `cancelled`. */
  cancel(correlationId: string): void {
    this.#session.tell({type: "hook-cancel", correlationId});
  }

  /** Makes the server read its settings again, and with them what is trusted. */
  async reload(): Promise<{success: boolean; totalHooks: number; warnings: string[]}> {
    return (await this.#ask({type: "hook-reload"}, "hook-reloaded")) as never;
  }

  /** Tells of each start and end of the hooks of this client's requests. What it gives back ends that. */
  subscribe(listener: (progress: Progress) => void): () => void {
    this.#session.asks = true;
    this.#session.stand({type: "hook-subscribe"});
    this.#progress.add(listener);
    return () => void this.#progress.delete(listener);
  }

  /**
   * Ends the client: its handlers are gone, the hooks of what is still requested are ended, and a server that was
   * started for it has ended. Whoever waits for a request gets no answer, but the error `closed`: wait for what is
   * to be answered first. A second call waits for the first.
   */
  close(): Promise<void> {
    this.#over.abort();
    return (this.#closed ??= this.#session.close(CLOSE_TIMEOUT_MS));
  }

  /**
   * For a program that does nothing else: serves until SIGINT (Ctrl-C), SIGTERM, or `close`, and closes the client, so
   * that the server forgets its handlers and does not wait for it to come back. Nothing but this listens for
   * signals: a program that ends otherwise calls `close` itself. A second signal ends the program at once.
   *
   * @throws HookRegistrationError where the server refuses a guard (`failBehavior: "block"`).
   */
  async run(): Promise<void> {
    await untilEnded(this.#over.signal);
    await this.close();
    if (this.#refusedGuard) throw this.#refusedGuard;
  }

  /** `close`, for `await using`. */
  [asyncDispose](): Promise<void> {
    return this.close();
  }

  async #ask(message: {type: string}, reply: string): Promise<IncomingMessage> {
    const link = await this.#session.use();
    return this.#session.replies.next(reply, message.type, () => link.send(prepare(message)));
  }

  #news(message: IncomingMessage): void {
    if (message.type === "hook-started" || message.type === "hook-finished") {
      for (const listener of this.#progress) this.#call("subscribe", listener, message as unknown as Progress);
    } else if (message.type === "hook-audit") {
      const {type: _, ...entry} = message;
      this.#call("setHookAuditLevel", this.#onAudit, entry as unknown as AuditEntry);
    }
    // Others are of later servers.
  }

  #call<T>(name: string, listener: (value: T) => void, value: T): void {
    try {
      listener(value);
    } catch (error) {
      this.#problem(`the callback given to ${name} failed: ${textOf(error)}`);
    }
  }

  #refused(error: HookRegistrationError, isGuard: boolean): void {
    if (isGuard) {
      this.#refusedGuard ??= error;
      this.#over.abort();
    }
    if (this.onRegistrationError) this.#call("onRegistrationError", this.onRegistrationError, error);
    else this.#problem(error.message);
  }

  #takeWarning(): string | undefined {
    const warning = this.#session.takeWarning();
    if (warning !== undefined) this.#reported.set(warning, 1); // `onProblem` was told when the server started.
    return warning;
  }

  #problem(text: string): void {
    try {
      this.onProblem(text);
    } catch {} // What the callback throws is not the client's.
  }
}

/** The same client, for which a name that the engine and A3S both have is A3S's event. */
export class A3sClient extends HookClient {
  protected override readonly shared = "a3s";

  override registerHook<E extends A3sEventName>(event: E, hook: A3sHook<E>): string;
  override registerHook<E extends NativeEventName>(event: E, hook: Named<NativeHandler<E>, "native">): string;
  override registerHook<E extends OnlyNativeEventName>(event: E, hook: NativeHook<E>): string;
  override registerHook(event: string, hook: AnyHandler | HookOptions<AnyHandler>): string {
    return super.registerHook(event as never, hook as never);
  }

  override temporaryHook<E extends A3sEventName, T = TemporaryHook>(event: E, hook: A3sHook<E>, during?: During<T>): Promise<NoInfer<T>>;
  override temporaryHook<E extends NativeEventName, T = TemporaryHook>(event: E, hook: Named<NativeHandler<E>, "native">, during?: During<T>): Promise<NoInfer<T>>;
  override temporaryHook<E extends OnlyNativeEventName, T = TemporaryHook>(event: E, hook: NativeHook<E>, during?: During<T>): Promise<NoInfer<T>>;
  override temporaryHook(event: string, hook: AnyHandler | HookOptions<AnyHandler>, during?: During<any>): Promise<any> {
    return super.temporaryHook(event as never, hook as never, during);
  }
}
