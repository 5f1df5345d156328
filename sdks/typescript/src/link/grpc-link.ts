/** One stream of HookService, with the calls beside it. */

import type {ClientDuplexStream, ClientReadableStream, ClientUnaryCall, Metadata, ServiceError} from "@grpc/grpc-js";

import {HookConnectionError, HookError, textOf} from "../errors.js";
import type {OutgoingMessage, Prepared} from "../json.js";
import {isObject, readMessage} from "../messages.js";
import type {Hello, IncomingMessage} from "../messages.js";
import {
  bytesOf, fromHookEvent, fromRegisteredHook, fromServiceError, toHookResponse, toRegisterRequest,
} from "./grpc-messages.js";
import type {BusClient, Fields, HookClientStub} from "./grpc-messages.js";
import type {Link, LinkListener} from "./link.js";

/** How long what was asked has to be answered after the client has ended. */
const END_TIMEOUT_MS = 10_000;

/** The status of a call that its client took back. */
const CANCELLED = 1;

/** Of how many requests progress is told, the last ones. */
const MAX_OWN = 1024;

/** What a link is made of. */
export interface GrpcParts {
  hooks: HookClientStub;
  bus: BusClient;
  metadata: Metadata;
  listener: LinkListener;
}

/** A connection over gRPC. */
export class GrpcLink implements Link {
  readonly hello: Hello;
  readonly #parts: GrpcParts;
  #stream!: ClientDuplexStream<Fields, Fields>;
  #isOver = false;
  /** Calls that are not answered: the hook of each, and whether the server gave it an id. */
  readonly #calls = new Map<string, {hookId: string; isNamed: boolean}>();
  #nextCall = 1;
  readonly #requests = new Map<string, ClientUnaryCall>();
  readonly #own = new Set<string>();
  readonly #pending = new Set<Promise<void>>();
  /** Registrations take effect in their order. */
  #queue: Promise<void> = Promise.resolve();
  #bus: ClientReadableStream<{json?: Uint8Array}> | undefined;
  #follows = {own: false, all: false};

  constructor(parts: GrpcParts) {
    this.#parts = parts;
    this.hello = {type: "hook-hello", protocol: 1};
  }

  /** Waits until the server has taken the stream. */
  greeted(stream: ClientDuplexStream<Fields, Fields>, timeoutMs: number, signal: AbortSignal): Promise<Link> {
    this.#stream = stream;
    return new Promise((resolve, reject) => {
      let isGreeted = false;
      const ended = (why: string, code = "no_server") => {
        clearTimeout(late);
        signal.removeEventListener("abort", aborted);
        if (this.#isOver) return;
        this.#isOver = true;
        this.#close();
        if (isGreeted) this.#parts.listener.ended(why);
        else reject(new HookConnectionError(code, `there is no hook server (${why})`));
      };
      const aborted = () => ended("the client is closed", "closed");
      signal.addEventListener("abort", aborted, {once: true});
      const late = setTimeout(() => ended(`it did not take the stream within ${timeoutMs} ms`), timeoutMs);
      if (signal.aborted) aborted();
      stream.on("metadata", (metadata: Metadata) => {
        clearTimeout(late);
        signal.removeEventListener("abort", aborted);
        const [clientToken] = metadata.get("hook-client-token");
        (this as {hello: Hello}).hello = {...this.hello, ...(clientToken !== undefined && {clientToken: String(clientToken)})};
        isGreeted = true;
        resolve(this);
      });
      stream.on("data", (event: Fields) => this.#takeEvent(event));
      stream.on("error", (error: ServiceError) => {
        const {code, message} = fromServiceError(error);
        ended(`the hook server is gone: ${message}`, code === "refused" ? code : "no_server");
      });
      stream.on("end", () => ended("the hook server ended the stream"));
    });
  }

  send({message, line}: Prepared): void {
    if (this.#isOver) throw new HookConnectionError("connection_lost", "the connection to the hook server is lost");
    switch (message.type) {
      case "hook-hello":
        return; // The stream's metadata have said it.
      case "hook-register":
        return this.#register(message);
      case "hook-unregister":
        return this.#inTurn(message, "UnregisterHook", {hook_id: message["hookId"]}, () => (
          {type: "hook-unregistered", hookId: message["hookId"]}
        ));
      case "hook-list":
        return this.#inTurn(message, "ListHooks", {}, ({hooks}) => (
          {type: "hook-hooks", hooks: (Array.isArray(hooks) ? hooks : []).map(fromRegisteredHook)}
        ));
      case "hook-answer":
        return this.#say(String(message["callId"]), toHookResponse(message), true);
      case "hook-host-call":
        return this.#say(String(message["callId"]), {host_call: Buffer.from(line.trimEnd())}, false);
      case "hook-execution-request":
        return this.#request(String(message["correlationId"]), String(message["eventName"]), line);
      case "hook-cancel":
        this.#requests.get(String(message["correlationId"]))?.cancel();
        return;
      case "hook-subscribe":
        this.#follows.own = true;
        return this.#follow();
      case "hook-tail":
        this.#follows.all = true;
        return this.#follow();
      default:
        return this.#fail(message, new HookError("unsupported", "gRPC has no such message"));
    }
  }

  async end(): Promise<void> {
    const answered = Promise.allSettled([this.#queue, ...this.#pending]);
    const isClosed = new Promise<void>((resolve) => this.#stream.on("close", resolve).on("end", resolve).on("error", () => resolve()));
    this.#stream.end();
    const settled = this.#isOver ? answered : Promise.all([answered, isClosed]);
    let late: NodeJS.Timeout | undefined;
    await Promise.race([settled, new Promise((resolve) => (late = setTimeout(resolve, END_TIMEOUT_MS)))]);
    clearTimeout(late);
    this.#isOver = true;
    this.#close();
  }

  #close(): void {
    this.#stream.cancel();
    this.#bus?.cancel();
    this.#parts.hooks.close();
    this.#parts.bus.close();
  }

  #takeEvent(event: Fields): void {
    const {listener} = this.#parts;
    const hookId = String(event["hook_id"] ?? "");
    const isNamed = typeof event["call_id"] === "string" && event["call_id"] !== "";
    const callId = isNamed ? String(event["call_id"]) : `unnamed-${this.#nextCall++}`;
    let message: IncomingMessage;
    try {
      message = fromHookEvent(event, callId);
    } catch (error) {
      this.#calls.set(callId, {hookId, isNamed});
      return listener.broken(`{"type":"hook-call","callId":${JSON.stringify(callId)}}`, textOf(error));
    }
    if (message.type === "hook-call") this.#calls.set(callId, {hookId, isNamed});
    if (message.type === "hook-call-cancelled") this.#calls.delete(callId);
    listener.message(message);
  }

  #say(callId: string, fields: Fields, isLast: boolean): void {
    // A call that came before a loss is known by its id alone.
    const call = this.#calls.get(callId) ?? {hookId: "", isNamed: true};
    if (isLast) this.#calls.delete(callId);
    this.#stream.write({hook_id: call.hookId, ...(call.isNamed && {call_id: callId}), ...fields});
  }

  #register(message: OutgoingMessage): void {
    let request: Fields;
    try {
      request = toRegisterRequest(message);
    } catch (error) {
      return this.#fail(message, error as HookError);
    }
    this.#inTurn(message, "RegisterHook", request, (reply) => ({type: "hook-registered", hookId: reply["hook_id"] ?? message["hookId"]}));
  }

  #inTurn(
    message: OutgoingMessage, method: "RegisterHook" | "UnregisterHook" | "ListHooks", request: Fields,
    read: (reply: Fields) => IncomingMessage,
  ): void {
    const {hooks, metadata, listener} = this.#parts;
    const call = () => new Promise<void>((resolve) => {
      if (this.#isOver) return resolve();
      hooks[method](request, metadata, (error, reply = {}) => {
        if (!this.#isOver) {
          if (error) this.#fail(message, fromServiceError(error));
          else listener.message(read(reply));
        }
        resolve();
      });
    });
    this.#queue = this.#queue.then(call);
  }

  #request(correlationId: string, eventName: string, line: string): void {
    const {bus, metadata, listener} = this.#parts;
    this.#own.add(correlationId);
    const [oldest] = this.#own;
    if (this.#own.size > MAX_OWN && oldest !== undefined) this.#own.delete(oldest);
    const answered = new Promise<void>((resolve) => {
      const call = bus.Request({json: Buffer.from(line.trimEnd())}, metadata, (error, reply) => {
        this.#requests.delete(correlationId);
        if (error?.code === CANCELLED) {
          // As over a socket: a request that was cancelled is answered all the same.
          const why = {code: "cancelled", message: "the request was cancelled"};
          listener.message({type: "hook-execution-response", correlationId, eventName, success: false, error: why});
        } else if (error) {
          listener.failed(correlationId, fromServiceError(error));
        } else {
          try {
            listener.message(readMessage(bytesOf(reply?.json) ?? ""));
          } catch (problem) {
            const why = `the answer to ${eventName} is no message: ${textOf(problem)}`;
            listener.failed(correlationId, new HookError("invalid_message", why));
          }
        }
        resolve();
      });
      this.#requests.set(correlationId, call);
    });
    this.#pending.add(answered);
    void answered.then(() => this.#pending.delete(answered));
  }

  /** Follows the bus, once for all who asked. */
  #follow(): void {
    if (this.#bus) return;
    const {bus, metadata, listener} = this.#parts;
    this.#bus = bus.Follow({}, metadata);
    this.#bus.on("data", (message: {json?: Uint8Array}) => {
      const line = bytesOf(message.json) ?? "";
      let read: IncomingMessage;
      try {
        read = readMessage(line);
      } catch (error) {
        return listener.broken('{"type":"hook-recording"}', textOf(error));
      }
      if (this.#follows.all) listener.message(read);
      const inner = read["message"];
      if (!this.#follows.own || !isObject(inner) || !this.#own.has(String(inner["correlationId"]))) return;
      if (inner["type"] === "hook-started" || inner["type"] === "hook-finished") listener.message(inner as unknown as IncomingMessage);
    });
    this.#bus.on("error", (error: ServiceError) => {
      if (!this.#isOver) this.#fail({type: "hook-tail"}, fromServiceError(error));
    });
  }

  /** Tells of a message that was not taken as the server does over a socket. */
  #fail(message: OutgoingMessage, {code, message: text}: HookError): void {
    const {hookId, eventName, hostCallId} = message;
    this.#parts.listener.message({
      type: "hook-error", request: message.type,
      ...(hookId !== undefined && {hookId}), ...(eventName !== undefined && {eventName}),
      ...(hostCallId !== undefined && {hostCallId}), error: {code, message: text},
    });
  }
}
