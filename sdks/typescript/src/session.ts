/** One client's conversation with its server, over as many connections as it takes. */

import {Calls} from "./calls.js";
import {Connection} from "./connection.js";
import type {ConnectionListener, ReconnectOptions} from "./connection.js";
import {HookConnectionError, HookError, HookRegistrationError, textOf} from "./errors.js";
import {HostCalls} from "./host.js";
import type {HostServices} from "./host.js";
import {prepare} from "./json.js";
import type {OutgoingMessage, Prepared} from "./json.js";
import type {Connect, Link} from "./link/link.js";
import {Outbox} from "./outbox.js";
import {PROTOCOL, errorOf, isObject} from "./messages.js";
import type {IncomingMessage} from "./messages.js";
import {Pulse, SILENT_S} from "./pulse.js";
import {Registrations, registerMessage} from "./registrations.js";
import type {Entry} from "./registrations.js";
import {Questions, Replies} from "./requests.js";
import {Triggers} from "./triggers/running.js";

/** Who is told of what. */
export interface SessionListener {
  problem(text: string): void;
  /** `isGuard`: its failure blocks. */
  refused(error: HookRegistrationError, isGuard: boolean): void;
  /** Progress and audit messages, which answer nothing. */
  news(message: IncomingMessage): void;
}

/** What a session begins with. */
export interface SessionOptions {
  connect: Connect;
  hostServices: HostServices;
  reconnect: ReconnectOptions | false;
  helloTimeoutMs: number;
}

/** The conversation: registrations, calls, questions and answers. */
export class Session {
  readonly registrations = new Registrations();
  readonly calls: Calls;
  readonly requests = new Questions("correlationId");
  readonly replies = new Replies();
  readonly triggers: Triggers;
  /** What is said again on each new connection, such as hook-subscribe, by its type. */
  readonly standing = new Map<string, OutgoingMessage>();
  readonly #connection: Connection;
  readonly #hosted: HostCalls;
  readonly #listener: SessionListener;
  readonly #unregistering = new Map<string, (() => void)[]>();
  readonly #outbox = new Outbox();
  #pulse: Pulse | undefined;
  /** Whether the server knows all handlers of before, so that new ones can be told. */
  #isInStep = false;
  /** Whether the server kept this client's handlers and calls over a loss. */
  #isBack = false;
  #closing: string | undefined;
  /** Whether this program has asked, so that a private server is of use to it. */
  asks = false;
  /** What the next response warns of. */
  #warning: string | undefined;

  constructor(options: SessionOptions, listener: SessionListener) {
    this.#listener = listener;
    this.#hosted = new HostCalls(options.hostServices, (prepared) => this.#send(prepared), (text) => listener.problem(text));
    this.triggers = new Triggers((triggerId, why) => this.#hosted.cancelOf(triggerId, why));
    this.calls = new Calls((prepared) => this.#answer(prepared), (text) => listener.problem(text));
    const heard: ConnectionListener = {
      opened: (link) => this.#opened(link),
      lost: (why) => this.#lost(why),
      message: (message) => this.#take(message),
      broken: (line, why) => this.#broken(line, why),
      problem: (text) => listener.problem(text),
      mayBePrivate: () => this.asks && !this.registrations.wasUsed,
      isNeeded: () => this.registrations.size > 0 || this.standing.size > 0,
      unreachable: (error, isNew) => {
        this.registrations.disconnected(error);
        if (isNew) listener.problem(error.message);
      },
    };
    this.#connection = new Connection(options.connect, heard, options);
  }

  /** The link, made where there is none. */
  use(): Promise<Link> {
    return this.#connection.use();
  }

  /** Sends a message that is said again on each new connection. */
  stand(message: OutgoingMessage): void {
    const prepared = prepare(message);
    this.standing.set(message.type, message);
    if (this.#connection.link) this.#send(prepared);
    else this.#connection.begin();
  }

  /** Registers a handler, now or as soon as there is a connection. */
  register(entry: Entry): void {
    prepare(registerMessage(entry)); // What cannot be sent is an error here.
    this.registrations.add(entry);
    if (!this.#connection.link) return this.#connection.begin();
    if (this.#isInStep) this.#announce(entry); // Else it is told with those of before.
  }

  /** What the next response is to warn of, once. */
  takeWarning(): string | undefined {
    const warning = this.#warning;
    this.#warning = undefined;
    return warning;
  }

  /** Resolves when a handler is in force; connects where there is no connection. */
  ready(id: string): Promise<void> {
    const ready = this.registrations.ready(id);
    if (this.registrations.get(id)) this.#connection.begin();
    return ready;
  }

  /** Takes a handler away. Resolves when the server has, or has no connection to know it by. */
  async unregister(id: string): Promise<boolean> {
    const wasSent = this.registrations.get(id)?.wasSent ?? false;
    if (!this.registrations.remove(id)) return false;
    // Without a connection it is settled when there is one again.
    if (!wasSent || !this.#isInStep || !this.#connection.link) return true;
    const done = new Promise<void>((resolve) => {
      this.#unregistering.set(id, [...(this.#unregistering.get(id) ?? []), resolve]);
    });
    this.#send(prepare({type: "hook-unregister", hookId: id}));
    await done;
    return true;
  }

  /** Sends what has no reply, where there is a connection. */
  tell(message: OutgoingMessage): void {
    if (this.#connection.link) this.#send(prepare(message));
  }

  /** Ends it: handlers are unregistered, calls refused, and what is asked is ended, without an answer. */
  async close(timeoutMs: number): Promise<void> {
    this.#pulse?.end();
    if (this.#connection.link) {
      this.calls.refuseAll("the client is closed");
      const gone = Promise.all(this.registrations.all().map(({id}) => this.unregister(id)));
      let timer: NodeJS.Timeout | undefined;
      await Promise.race([gone, new Promise((resolve) => (timer = setTimeout(resolve, timeoutMs)))]);
      clearTimeout(timer);
    }
    this.calls.cancelAll("the client is closed");
    this.#closing = "the client is closed";
    this.#hosted.cancelAll(this.#closing);
    this.standing.clear();
    for (const questions of [this.requests, this.triggers]) questions.cancelAll();
    await this.#connection.close();
    // Last, so that a program that awaits them after `close` hears of it first there.
    this.#failAll(new HookConnectionError("closed", this.#closing));
    for (const {id} of this.registrations.all()) this.registrations.remove(id);
  }

  #send(prepared: Prepared): void {
    try {
      this.#connection.link?.send(prepared);
    } catch (error) {
      this.#listener.problem(`${prepared.message.type} was not sent: ${textOf(error)}`);
    }
  }

  /** Sends what a handler says, or keeps it for the connection that is to come. */
  #answer(prepared: Prepared): void {
    if (this.#connection.link && this.#isInStep) {
      this.#send(prepared);
      return this.#outbox.sent(prepared);
    }
    try {
      this.#outbox.keep(prepared);
    } catch (error) {
      this.#listener.problem(`a ${prepared.message.type} was dropped: ${textOf(error)}`);
    }
  }

  /** Has the server register a handler. */
  #announce(entry: Entry): void {
    const notice = this.#connection.link?.notice;
    if (notice !== undefined) {
      const message = `nobody else asks the private server of this client: ${notice}`;
      return this.#refused(entry.id, {code: "no_server", message});
    }
    entry.wasSent = true;
    this.#send(prepare(registerMessage(entry)));
  }

  #opened(link: Link): void {
    this.#warning = link.notice;
    const list = prepare({type: "hook-list"}); // It is answered at once, and changes nothing.
    this.#pulse = new Pulse(
      () => this.#isWaiting(),
      () => void this.replies.next("hook-hooks", "hook-list", () => link.send(list)).catch(() => {}),
      () => {
        const why = `the hook server is stuck: it has not answered for ${SILENT_S} seconds`;
        this.#failAll(new HookConnectionError("no_answer", why));
        link.drop(why);
      },
    );
    const offered = typeof link.hello["clientToken"] === "string" ? link.hello["clientToken"] : undefined;
    const before = this.#connection.clientToken;
    const hostServices = this.#hosted.offered;
    const hello = {type: "hook-hello", protocol: PROTOCOL, ...(hostServices.length > 0 && {hostServices})};
    if (before !== undefined) this.#send(prepare({...hello, clientToken: before}));
    else if (hostServices.length > 0) this.#send(prepare(hello));
    for (const message of this.standing.values()) this.#send(prepare(message));
    if (before === undefined) {
      this.#connection.clientToken = offered;
      return this.#inStep(new Set());
    }
    this.#isBack = false;
    // What the server still has of this client says whether it took the token.
    this.replies.next("hook-hooks", "hook-list", () => link.send(list)).then(
      (message) => {
        if (this.#connection.link !== link) return;
        const own = ownIds(message);
        if (own.size > 0) this.#isBack = true;
        this.#connection.clientToken = this.#isBack ? before : offered;
        this.#inStep(own);
      },
      (error: unknown) => {
        if (this.#connection.link !== link) return;
        this.#listener.problem(`the server's hooks cannot be listed: ${textOf(error)}`);
        this.#connection.clientToken = offered;
        this.#inStep(new Set());
      },
    );
  }

  /** Whether the server owes an answer. */
  #isWaiting(): boolean {
    const asked = [this.requests, this.replies, this.triggers].some(({areWaiting}) => areWaiting);
    return asked || this.#unregistering.size > 0 || this.registrations.oldestUnanswered() !== undefined;
  }

  /** Makes the server's handlers those of this client; `own` are those that it has. */
  #inStep(own: Set<string>): void {
    const unsure = this.#outbox.takeAll();
    this.#isInStep = true;
    if (this.#isBack) {
      for (const prepared of unsure) this.#answer(prepared);
    } else {
      this.calls.cancelAll("the connection was lost, and the server did not wait for it");
      this.registrations.forgetRetired();
    }
    for (const id of own) {
      // Of before the loss, and replaced or taken away during it.
      if (!this.registrations.get(id)?.wasSent) this.#send(prepare({type: "hook-unregister", hookId: id}));
    }
    for (const entry of this.registrations.all()) {
      if (entry.wasSent && own.has(entry.id)) {
        this.registrations.confirmed(entry.id);
        continue;
      }
      this.#announce(entry);
    }
    this.#isBack = false;
  }

  #lost(why: string): void {
    this.#pulse?.end();
    this.#isInStep = false;
    const error = new HookConnectionError("connection_lost", this.#closing ?? why);
    this.registrations.disconnected(error);
    if (this.#closing === undefined) this.#failAll(error);
    for (const waiting of this.#unregistering.values()) for (const resolve of waiting) resolve();
    this.#unregistering.clear();
    this.#hosted.cancelAll(why);
    if (this.#connection.clientToken === undefined) {
      this.#outbox.takeAll();
      this.calls.cancelAll(why);
    }
    if (this.#closing === undefined) this.#listener.problem(why);
  }

  #take(message: IncomingMessage): void {
    this.#pulse?.beat();
    const id = String(message["hookId"]);
    switch (message.type) {
      case "hook-bridged":
      case "hook-execution-response":
        if (this.#closing !== undefined) return; // It was ended by this client's end.
        if (!this.requests.take(message)) this.#takeUnknown(message);
        return;
      case "hook-call":
        return this.#call(message);
      case "hook-call-cancelled":
        return this.calls.cancel(String(message["callId"]));
      case "hook-host-result":
        return this.calls.hostResult(message);
      case "hook-host-call":
        void this.#hosted.serve(message, this.triggers.servicesOf(message));
        return;
      case "hook-trigger-chunk":
        return this.triggers.takeChunk(message);
      case "hook-trigger-result":
        if (!this.triggers.take(message)) this.#listener.problem("the server sent the result of a trigger that nothing waits for");
        return;
      case "hook-host-call-cancelled":
        return this.#hosted.cancel(String(message["hostCallId"]));
      case "hook-registered":
        return this.registrations.confirmed(id);
      case "hook-unregistered":
        return this.#unregistered(id);
      case "hook-error":
        return this.#error(message);
      case "hook-resumed":
        this.#isBack = true;
        return;
      case "hook-hooks":
      case "hook-reloaded":
        if (!this.replies.take(message)) this.#listener.problem(`the server sent a ${message.type} that nothing waits for`);
        return;
      case "hook-lagged":
        return this.#listener.problem(`news was lost: ${String(message["missed"])} messages`);
      case "hook-refused":
        return this.#refusedAll(`the server refused: ${String(message["message"])}`);
      default:
        return this.#listener.news(message);
    }
  }

  #call(message: IncomingMessage): void {
    this.calls.take(message, ({callId, hookId}) => {
      const before = this.#outbox.answerTo(callId);
      // It came again after a loss; what is not known to have arrived is sent when the client is back in step.
      if (before && this.#isInStep) this.#answer(before);
      if (before) return undefined;
      return this.registrations.called(hookId)?.registration ?? `this client has no hook ${hookId}`;
    });
  }

  #unregistered(id: string): void {
    const [resolve, ...others] = this.#unregistering.get(id) ?? [];
    if (others.length > 0) this.#unregistering.set(id, others);
    else this.#unregistering.delete(id);
    resolve?.();
  }

  #error(message: IncomingMessage): void {
    const {request, hookId, hostCallId} = message;
    const error = errorOf(message);
    if (request === "hook-register") return this.#refused(String(hookId), error);
    if (request === "hook-unregister") return this.#unregistered(String(hookId));
    if (typeof message["triggerId"] === "string" && this.triggers.fail(message["triggerId"], error)) return;
    if (request === "hook-host-call" && hostCallId !== undefined) return this.calls.hostResult(message);
    // The token is not taken any more: the handlers are registered again.
    if (request === "hook-hello" && error.code === "unknown_token") return;
    const failed = new HookError(error.code, error.message, {details: error.details});
    if (typeof request === "string" && this.replies.fail(failed, request)) return;
    this.#listener.problem(`the server refused ${String(request)}: ${error.message}`);
  }

  /** A response that no request waits for: an older server's answer to a message that it does not know. */
  #takeUnknown(message: IncomingMessage): void {
    const error = errorOf(message);
    if (error.code === "invalid_request") {
      const entry = this.registrations.oldestUnanswered();
      if (entry) return this.#refused(entry.id, error);
      if (this.replies.fail(new HookError(error.code, error.message, {details: error.details}))) return;
      if (this.triggers.failOldest(error)) return;
    }
    this.#listener.problem(`the server answered a request that nothing waits for: ${error.message}`);
  }

  /** The server serves this client no more: what was asked is not answered. */
  #refusedAll(why: string): void {
    this.#failAll(new HookConnectionError("refused", why));
    this.#listener.problem(why);
  }

  #failAll(error: HookError): void {
    for (const asked of [this.requests, this.replies, this.triggers]) asked.failAll(error);
  }

  #refused(id: string, error: {code: string; message: string; details?: unknown}): void {
    const isGuard = this.registrations.get(id)?.registration.config?.failBehavior === "block";
    const refusal = this.registrations.refused(id, error);
    if (refusal) this.#listener.refused(refusal, isGuard);
  }

  #broken(line: string, why: string): void {
    const problem = `the server sent a line that is no message: ${why}`;
    this.#listener.problem(problem);
    if (this.calls.refuseBroken(line, problem)) return;
    const error = new HookError("invalid_message", problem);
    const type = /"type"\s*:\s*"([a-z-]+)"/.exec(line)?.[1] ?? "";
    // What says that it is something else answers no request.
    if (["", "hook-execution-response", "hook-bridged"].includes(type)) return void (this.requests.failBroken(line, error) || this.replies.fail(error));
    if (/^hook-(trigger|host-call)/.test(type)) this.triggers.failBroken(line, error);
    else this.replies.fail(error, type);
  }
}

/** The handlers that the server has of this client. */
function ownIds(message: IncomingMessage): Set<string> {
  const hooks: unknown[] = Array.isArray(message["hooks"]) ? message["hooks"] : [];
  const own = hooks.filter((hook) => isObject(hook) && hook["own"] === true);
  return new Set(own.map((hook) => String((hook as Record<string, unknown>)["hookId"])));
}
