/** The requests of one asker of a fleet: each is sent, asked once more where an engine was lost, or failed here. */

import {randomUUID} from "node:crypto";
import {setTimeout as sleep} from "node:timers/promises";

import type {ConnectionOptions, Msg, NatsConnection} from "nats";

import {HookError, textOf} from "../errors.js";
import type {OutgoingMessage, Prepared} from "../json.js";
import {PROTOCOL, isObject} from "../messages.js";
import type {Hello, IncomingMessage} from "../messages.js";
import type {Link, LinkListener} from "./link.js";

const ATTEMPTS = 2;

/** How long an attempt may be without a word of an engine, at most. */
const SILENCE_MS = 5_000;

/** How long is waited before a fleet without room is asked again, at least and at most. */
const BUSY_MS = [20, 500] as const;

/** How long after the connection came back nobody being there may mean that they are not back yet. */
const COMING_BACK_MS = 5_000;

/** How much room is left for what the broker's protocol adds to a message. */
const OVERHEAD = 1_024;

/** What a link is made of. */
export interface NatsParts {
  nats: typeof import("nats");
  connection: ConnectionOptions;
  inbox: string;
  url: string;
  subject: string;
  failBehavior: "block" | "continue";
  deadlineMs: number;
  listener: LinkListener;
}

/** No engine answers. */
class Failed extends Error {
  constructor(readonly code: string, message: string) {
    super(message);
  }
}

/** A way to a fleet. It begins to connect; requests wait for the broker until their deadlines. */
export class NatsLink implements Link {
  readonly hello: Hello = {type: "hook-hello", protocol: PROTOCOL};
  readonly #parts: NatsParts;
  readonly #replies: string;
  readonly #asking = new Map<string, Asking>();
  readonly #tasks = new Map<string, {task: Promise<void>; abort: AbortController}>();
  readonly #connected: Promise<NatsConnection | undefined>;
  readonly #ended = new AbortController();

  constructor(parts: NatsParts) {
    this.#parts = parts;
    this.#replies = `${parts.inbox}.${randomUUID().replaceAll("-", "")}`;
    this.#connected = this.#connect();
  }

  send({message}: Prepared): void {
    switch (message.type) {
      case "hook-execution-request":
        return this.#begin(message);
      case "hook-cancel":
        return this.#tasks.get(String(message["correlationId"]))?.abort.abort();
      case "hook-hello":
        return;
      default:
        throw new HookError("unsupported", `a fleet has no ${message.type}; connect to an engine for it`);
    }
  }

  async end(): Promise<void> {
    this.#ended.abort();
    for (const {abort} of this.#tasks.values()) abort.abort();
    await Promise.allSettled(Array.from(this.#tasks.values(), ({task}) => task));
    const connection = await Promise.race([this.#connected, Promise.resolve(undefined)]);
    if (connection) await connection.close();
    else void this.#connected.then((late) => late?.close());
  }

  /** When the connection came back, if it was lost. */
  cameBack = -Infinity;
  isUp = false;
  why = "it is being made";

  async #connect(): Promise<NatsConnection | undefined> {
    const {nats, connection: options, listener} = this.#parts;
    let connection: NatsConnection;
    try {
      connection = await nats.connect(options);
    } catch (error) {
      this.why = textOf(error);
      listener.ended(`the broker at ${this.#parts.url} refuses the connection: ${this.why}`);
      return undefined;
    }
    if (this.#ended.signal.aborted) {
      await connection.close();
      return undefined;
    }
    connection.subscribe(`${this.#replies}.*`, {
      callback: (_, message) => this.#asking.get(message.subject)?.said(message),
    });
    this.isUp = true;
    void this.#watch(connection);
    return connection;
  }

  async #watch(connection: NatsConnection): Promise<void> {
    for await (const {type, permissionContext} of connection.status()) {
      if (type === "disconnect") {
        this.isUp = false;
        this.why = "the connection is lost";
      } else if (type === "reconnect") {
        this.isUp = true;
        this.cameBack = Date.now();
      } else if (permissionContext?.operation === "publish") {
        for (const asking of this.#asking.values()) {
          if (asking.subject === permissionContext.subject) asking.said("denied");
        }
      }
    }
    if (!this.#ended.signal.aborted) this.#parts.listener.ended("the broker has ended the connection");
  }

  #begin(message: OutgoingMessage): void {
    const id = String(message["correlationId"]);
    const abort = new AbortController();
    const task = this.#request(message, abort.signal).finally(() => this.#tasks.delete(id));
    this.#tasks.set(id, {task, abort});
  }

  async #request(message: OutgoingMessage, signal: AbortSignal): Promise<void> {
    const {listener} = this.#parts;
    const reply = `${this.#replies}.${randomUUID().replaceAll("-", "")}`;
    const asking = new Asking(this, this.#parts, this.#connected, message, reply, signal);
    this.#asking.set(reply, asking);
    try {
      listener.message(await asking.answer());
    } catch (error) {
      const failed = signal.aborted
        ? new Failed("cancelled", "the request was cancelled")
        : error instanceof Failed ? error : new Failed("unanswered", textOf(error));
      listener.message(this.#failure(String(message["correlationId"]), failed));
    } finally {
      this.#asking.delete(reply);
      if (asking.isOpen) await this.#cancel(reply);
    }
  }

  /** Tells engines that nobody waits any more; one that does not hear of it ends in time. */
  async #cancel(reply: string): Promise<void> {
    const connection = this.isUp ? await this.#connected : undefined;
    try {
      connection?.publish(`${this.#parts.subject}.cancel`, JSON.stringify({type: "hook-cancel", reply}));
    } catch {
      // The connection has just ended.
    }
  }

  #failure(correlationId: string, {code, message}: Failed): IncomingMessage {
    const reason = `hooks could not run, and one of them may be a guard: ${message}`;
    return {
      type: "hook-execution-response", correlationId, success: false, error: {code, message},
      ...(this.#parts.failBehavior === "block" && {processed: {decision: "block", reason}}),
    };
  }
}

/** One request that is asked. */
class Asking {
  readonly subject: string;
  /** Whether an engine may be at work on it. */
  isOpen = false;
  readonly #link: NatsLink;
  readonly #parts: NatsParts;
  readonly #connected: Promise<NatsConnection | undefined>;
  readonly #message: OutgoingMessage;
  readonly #reply: string;
  readonly #signal: AbortSignal;
  readonly #deadline: number;
  readonly #silenceMs: number;
  readonly #said: (Msg | "denied")[] = [];
  #wake: () => void = () => {};
  #waitMs: number = BUSY_MS[0];

  constructor(
    link: NatsLink, parts: NatsParts, connected: Promise<NatsConnection | undefined>, message: OutgoingMessage,
    reply: string, signal: AbortSignal,
  ) {
    this.#link = link;
    this.#parts = parts;
    this.#connected = connected;
    this.#reply = reply;
    this.#signal = signal;
    const event = String(message["eventName"]);
    const token = event.length <= 64 && /^[A-Za-z0-9_-]+$/.test(event) ? event : "_";
    this.subject = `${parts.subject}.request.${token}`;
    const deadlineMs = typeof message["deadlineMs"] === "number" ? message["deadlineMs"] : parts.deadlineMs;
    this.#deadline = performance.now() + deadlineMs;
    this.#silenceMs = Math.min(deadlineMs / ATTEMPTS, SILENCE_MS);
    const input = isObject(message["input"]) ? message["input"] : {};
    // The same on both attempts; what is there may be another's.
    this.#message = {...message, input: {...input, idempotencyKey: randomUUID()}, protocol: PROTOCOL};
    signal.addEventListener("abort", () => this.#wake(), {once: true});
  }

  /** Something was said to it. */
  said(what: Msg | "denied"): void {
    this.#said.push(what);
    this.#wake();
  }

  /** The response. Throws where there is none. */
  async answer(): Promise<IncomingMessage> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const answer = await this.#attempt();
      if (answer) return answer;
    }
    const each = `no engine said anything for ${Math.round(this.#silenceMs)} ms each time`;
    throw new Failed("unanswered", `the fleet was asked ${ATTEMPTS} times, and ${each}`);
  }

  async #attempt(): Promise<IncomingMessage | undefined> {
    for (;;) {
      await this.#send();
      let silentAt = performance.now() + this.#silenceMs;
      for (;;) {
        const what = await this.#next(Math.min(silentAt, this.#deadline));
        if (what === undefined) {
          if (performance.now() >= this.#deadline) throw this.#tooLate("no engine had answered it");
          return undefined;
        }
        const read = this.#read(what);
        if (read === "working") silentAt = performance.now() + this.#silenceMs;
        else if (read === "not taken") break;
        else {
          this.isOpen = false;
          return read;
        }
      }
      this.isOpen = false;
      const pause = this.#waitMs * (0.5 + Math.random() / 2);
      await sleep(Math.max(Math.min(pause, this.#deadline - performance.now()), 0), undefined, {signal: this.#signal});
      this.#waitMs = Math.min(2 * this.#waitMs, BUSY_MS[1]);
      if (performance.now() >= this.#deadline) throw this.#tooLate("no engine had room for it");
    }
  }

  /** What is said next; nothing where that is not by then. */
  async #next(until: number): Promise<Msg | "denied" | undefined> {
    if (this.#said.length === 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.max(until - performance.now(), 0));
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
        if (this.#signal.aborted) this.#wake();
      });
    }
    this.#signal.throwIfAborted();
    return this.#said.shift();
  }

  async #send(): Promise<void> {
    const connection = await this.#up();
    // Clocks differ: what travels is what is left.
    const deadlineMs = Math.floor(this.#deadline - performance.now());
    if (deadlineMs <= 0) throw this.#tooLate("it could not be sent");
    const line = Buffer.from(JSON.stringify({...this.#message, deadlineMs}));
    const limit = connection.info?.max_payload ?? 2 ** 20;
    if (line.length > limit - Math.min(OVERHEAD, limit / 16)) {
      const room = `a message of the broker has room for ${limit}; send less, or raise \`max_payload\` of the broker`;
      throw new Failed("invalid_request", `the request has ${line.length} bytes, and ${room}`);
    }
    this.isOpen = true;
    connection.publish(this.subject, line, {reply: this.#reply});
  }

  async #up(): Promise<NatsConnection> {
    for (;;) {
      this.#signal.throwIfAborted();
      const left = this.#deadline - performance.now();
      if (left <= 0) {
        const {url} = this.#parts;
        const message = `the request's deadline passed before there was a connection to ${url} (${this.#link.why})`;
        throw new Failed("deadline_exceeded", message);
      }
      const pause = sleep(Math.min(left, 20), undefined, {ref: true});
      const connection = await Promise.race([this.#connected, pause.then(() => "not yet" as const)]);
      if (connection === undefined) {
        throw new Failed("unanswered", `${this.#parts.url} refuses the connection: ${this.#link.why}`);
      }
      if (connection !== "not yet" && this.#link.isUp) return connection;
      await pause;
    }
  }

  #read(what: Msg | "denied"): IncomingMessage | "working" | "not taken" {
    const {url} = this.#parts;
    if (what === "denied") {
      this.isOpen = false;
      throw new Failed("unanswered", `${url} does not let this client ask under ${this.subject}`);
    }
    if (what.headers?.code === 503 && what.data.length === 0) {
      this.isOpen = false;
      if (Date.now() - this.#link.cameBack < COMING_BACK_MS) return "not taken";
      const how = "start an engine with `hook serve --nats`";
      throw new Failed("no_handler", `nobody serves ${this.subject} at ${url}; ${how}`);
    }
    let said: unknown;
    try {
      said = JSON.parse(what.string());
    } catch {
      throw new Failed("unanswered", "what was answered is no response: it is no JSON");
    }
    const fields = isObject(said) ? said : {};
    switch (fields["type"]) {
      case "hook-working":
        return "working";
      case "hook-busy":
        return "not taken";
      case "hook-too-large": {
        this.isOpen = false;
        const room = `a message of the broker has room for ${String(fields["maxPayload"])}`;
        throw new Failed("unanswered", `the response has ${String(fields["bytes"])} bytes, and ${room}`);
      }
    }
    if (fields["type"] !== "hook-execution-response" || fields["correlationId"] !== this.#message["correlationId"]) {
      throw new Failed("unanswered", `what was answered is no response: its type is ${String(fields["type"]).slice(0, 100)}`);
    }
    if ((fields["protocol"] ?? PROTOCOL) !== PROTOCOL) {
      throw new Failed("unanswered", "what was answered is of another protocol");
    }
    return fields as unknown as IncomingMessage;
  }

  #tooLate(what: string): Failed {
    return new Failed("deadline_exceeded", `the request's deadline passed and ${what}`);
  }
}
