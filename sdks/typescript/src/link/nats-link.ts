/** The requests of one asker of a fleet: each is sent, asked once more where an engine was lost, or failed here. */

import {randomUUID} from "node:crypto";
import {setTimeout as sleep} from "node:timers/promises";

import type {Msg, NatsConnection} from "nats";

import {HookError, textOf} from "../errors.js";
import type {OutgoingMessage, Prepared} from "../json.js";
import {PROTOCOL, VERSION, isObject} from "../messages.js";
import type {Hello, IncomingMessage} from "../messages.js";
import {contradiction} from "./consistent.js";
import {Hearing} from "./hearing.js";
import type {Link, LinkListener} from "./link.js";
import {KeptConnection} from "./nats-connection.js";
import type {BrokerServer} from "./nats-connection.js";
import {Places} from "./places.js";

const ATTEMPTS = 2;

/** How many requests are at the fleet at once; others wait. */
const IN_FLIGHT = 1_024;

/** How long an attempt may be without a word of an engine, at least and at most. */
const SILENCE_MS = [60, 5_000] as const;

/** How long is waited before a fleet without room is asked again, at least and at most. */
const BUSY_MS = [20, 500] as const;

/** How long after the connection came back nobody being there may mean that they are not back yet. */
const COMING_BACK_MS = 5_000;

/** How much room is left for what the broker's protocol adds to a message. */
const OVERHEAD = 1_024;

/** What a link is made of. */
export interface NatsParts {
  nats: typeof import("nats");
  servers: BrokerServer[];
  inbox: string;
  url: string;
  subject: string;
  failBehavior: "block" | "continue";
  deadlineMs: number;
  connectTimeoutMs: number;
  expectSettings: string | undefined;
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
  readonly #places = new Places(IN_FLIGHT);
  readonly #connection: KeptConnection;
  readonly #hearing: Hearing;

  constructor(parts: NatsParts) {
    this.#parts = parts;
    this.#replies = `${parts.inbox}.${randomUUID().replaceAll("-", "")}`;
    this.#hearing = new Hearing(`${this.#replies}.*`, (message) => this.#asking.get(message.subject)?.said(message));
    this.#connection = new KeptConnection(parts.nats, parts.servers, {
      opened: (connection) => this.#hearing.begin(connection),
      denied: (operation, subject) => {
        if (operation === "publish") {
          for (const asking of this.#asking.values()) if (asking.subject === subject) asking.denied();
        } else if (subject === this.#hearing.subject) {
          this.#hearing.refused();
          for (const asking of this.#asking.values()) asking.look();
        }
      },
    });
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
    for (const {abort} of this.#tasks.values()) abort.abort();
    await Promise.allSettled(Array.from(this.#tasks.values(), ({task}) => task));
    await this.#connection.close();
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
    const asking = new Asking(this.#parts, this.#connection, this.#hearing, message, reply, signal);
    this.#asking.set(reply, asking);
    const isPlaced = await this.#places.take(asking.leftMs, signal);
    try {
      if (!isPlaced) throw asking.tooLate(`${IN_FLIGHT} requests of this client were at the fleet`);
      listener.message(await asking.answer());
    } catch (error) {
      const failed = signal.aborted
        ? new Failed("cancelled", "the request was cancelled")
        : error instanceof Failed ? error : new Failed("unanswered", textOf(error));
      listener.message(this.#failure(String(message["correlationId"]), failed));
    } finally {
      this.#asking.delete(reply);
      if (asking.isOpen || asking.isLeft) this.#cancel(reply);
      if (isPlaced) this.#places.give();
    }
  }

  /** Tells engines that nobody waits any more; one that does not hear of it ends in time. */
  #cancel(reply: string): void {
    const {state} = this.#connection;
    if (state.kind !== "up" || state.connection.isClosed()) return;
    state.connection.publish(`${this.#parts.subject}.cancel`, JSON.stringify({type: "hook-cancel", reply}));
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
  /** Whether one fell silent that may have it still. */
  isLeft = false;
  readonly #parts: NatsParts;
  readonly #connection: KeptConnection;
  readonly #message: OutgoingMessage;
  readonly #reply: string;
  readonly #signal: AbortSignal;
  readonly #deadline: number;
  readonly #silenceMs: number;
  readonly #hearing: Hearing;
  /** What `refusals` of that was when it was sent. */
  #refusals = 0;
  /** Whether the broker does not let it be asked. */
  #isDenied = false;
  readonly #said: Msg[] = [];
  #wake: () => void = () => {};
  #waitMs: number = BUSY_MS[0];
  /** The settings of an engine that does not answer it, and until when it is asked on. */
  #others: {settings: string; until: number} | undefined;

  constructor(
    parts: NatsParts, connection: KeptConnection, hearing: Hearing,
    message: OutgoingMessage, reply: string, signal: AbortSignal,
  ) {
    this.#parts = parts;
    this.#hearing = hearing;
    this.#connection = connection;
    this.#reply = reply;
    this.#signal = signal;
    const event = String(message["eventName"]);
    const token = event.length <= 64 && /^[A-Za-z0-9_-]+$/.test(event) ? event : "_";
    this.subject = `${parts.subject}.request.${token}`;
    const deadlineMs = typeof message["deadlineMs"] === "number" ? message["deadlineMs"] : parts.deadlineMs;
    this.#deadline = performance.now() + deadlineMs;
    this.#silenceMs = Math.min(Math.max(deadlineMs / ATTEMPTS, SILENCE_MS[0]), SILENCE_MS[1]);
    const input = isObject(message["input"]) ? message["input"] : {};
    // The same on both attempts; what is there may be another's.
    this.#message = {
      ...message, input: {...input, idempotencyKey: randomUUID()}, protocol: PROTOCOL, version: VERSION,
      ...(parts.expectSettings !== undefined && {expectSettings: parts.expectSettings}),
    };
    signal.addEventListener("abort", () => this.#wake(), {once: true});
  }

  /** How much time it has. */
  get leftMs(): number {
    return this.#deadline - performance.now();
  }

  /** Something was said to it. */
  said(what: Msg): void {
    this.#said.push(what);
    this.#wake();
  }

  /** The broker does not let its subject be asked about. */
  denied(): void {
    // What is said of others is not about one that has not been sent.
    if (!this.isOpen) return;
    this.#isDenied = true;
    this.#wake();
  }

  /** There is something to look at. */
  look(): void {
    this.#wake();
  }

  /** The response. Throws where there is none. */
  async answer(): Promise<IncomingMessage> {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const answer = await this.#attempt();
      if (answer) return answer;
      this.isLeft = true;
    }
    const first = `no engine of the fleet at ${this.#parts.url} said anything for ${Math.round(this.#silenceMs)} ms`;
    throw new Failed("unanswered", `${first}; it was asked again, and none said anything for as long`);
  }

  /** Sends it until an engine takes it. The response; nothing where nobody says anything any more. */
  async #attempt(): Promise<IncomingMessage | undefined> {
    for (;;) {
      await this.#send();
      const heard = await this.#hear();
      if (heard !== "not taken") return heard;
    }
  }

  /** Hears what is said to it, also while it waits to be sent again. */
  async #hear(): Promise<IncomingMessage | "not taken" | undefined> {
    let silentAt = performance.now() + this.#silenceMs;
    let isAtWork = false;
    let sendAt: number | undefined;
    for (;;) {
      const what = await this.#next(Math.min(sendAt ?? silentAt, this.#deadline), sendAt === undefined);
      if (what === undefined) {
        const isWaiting = sendAt !== undefined;
        if (performance.now() < this.#deadline) return isWaiting ? "not taken" : undefined;
        if (isWaiting && this.#others) throw this.#othersOnly(this.#others.settings);
        throw this.tooLate(isWaiting ? "no engine had room for it" : "no engine had answered it");
      }
      const read = this.#read(what);
      if (read === "working") {
        isAtWork = this.isOpen = true;
        sendAt = undefined;
        silentAt = performance.now() + this.#silenceMs;
      } else if (read === "other settings") {
        if (isAtWork) continue;
        this.isOpen = false;
        if (this.#others && performance.now() >= this.#others.until) throw this.#othersOnly(this.#others.settings);
        sendAt ??= this.#later();
      } else if (read === "not taken") {
        // It is late, or of another engine, where one has the request.
        if (isAtWork) continue;
        this.isOpen = false;
        sendAt ??= this.#later();
      } else {
        this.isOpen = false;
        return read;
      }
    }
  }

  /** When it is sent again that no engine had room for: later each time. */
  #later(): number {
    const pause = this.#waitMs * (0.5 + Math.random() / 2);
    this.#waitMs = Math.min(2 * this.#waitMs, BUSY_MS[1]);
    return performance.now() + pause;
  }

  /** What is said next; nothing where that is not by then. Throws where it is sent, and cannot be answered. */
  async #next(until: number, isSent: boolean): Promise<Msg | undefined> {
    for (;;) {
      this.#signal.throwIfAborted();
      const what = this.#said.shift();
      if (what !== undefined) return what;
      if (isSent) this.#refuse();
      const left = until - performance.now();
      if (left <= 0) return undefined;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  /** Throws where the broker refuses to let it be asked, or answered. */
  #refuse(): void {
    if (this.#isDenied) {
      this.isOpen = false;
      throw new Failed("unanswered", `${this.#parts.url} does not let this client ask under ${this.subject}`);
    }
    if (this.#hearing.refusals !== this.#refusals) throw this.#unheard();
  }

  async #send(): Promise<void> {
    const connection = await this.#up();
    if (!this.#hearing.isPossible(connection)) throw this.#unheard();
    // Clocks differ: what travels is what is left.
    const deadlineMs = Math.floor(this.leftMs);
    if (deadlineMs <= 0) throw this.tooLate("it could not be sent");
    const line = Buffer.from(JSON.stringify({...this.#message, deadlineMs}));
    const limit = connection.info?.max_payload ?? 2 ** 20;
    if (line.length > limit - Math.min(OVERHEAD, limit / 16)) {
      const room = `a message of the broker has room for ${limit}; send less, or raise \`max_payload\` of the broker`;
      throw new Failed("invalid_request", `the request has ${line.length} bytes, and ${room}`);
    }
    this.isOpen = true;
    this.#refusals = this.#hearing.refusals;
    connection.publish(this.subject, line, {reply: this.#reply});
  }

  async #up(): Promise<NatsConnection> {
    const {url, connectTimeoutMs} = this.#parts;
    const connectedBy = performance.now() + connectTimeoutMs;
    for (;;) {
      this.#signal.throwIfAborted();
      const {state} = this.#connection;
      // One that has just closed says so in a moment.
      if (state.kind === "up" && !state.connection.isClosed()) return state.connection;
      const why = state.kind === "up" ? "the connection is lost" : state.why;
      if (state.kind === "away" && state.isRefused) {
        throw new Failed("unanswered", `${url} refuses the connection: ${why}`);
      }
      const left = this.leftMs;
      if (left <= 0) {
        const message = `the request's deadline passed before there was a connection to ${url} (${why})`;
        throw new Failed("deadline_exceeded", message);
      }
      const patience = connectedBy - performance.now();
      if (patience <= 0) {
        throw new Failed("unanswered", `there was no connection to ${url} within ${connectTimeoutMs} ms (${why})`);
      }
      await this.#waitFor(this.#connection.changed(), Math.min(left, patience));
    }
  }

  /** Until that is, or so much time has passed, or nobody waits any more. */
  async #waitFor(what: Promise<void>, ms: number): Promise<void> {
    const over = new AbortController();
    const signal = AbortSignal.any([this.#signal, over.signal]);
    await Promise.race([what, sleep(ms, undefined, {signal}).catch(() => {})]);
    over.abort();
  }

  #read(what: Msg): IncomingMessage | "working" | "not taken" | "other settings" {
    if (what.headers?.code === 503 && what.data.length === 0) {
      if (performance.now() - this.#connection.cameBack < COMING_BACK_MS) return "not taken";
      this.isOpen = false;
      const how = "start an engine with `hook serve --nats`";
      throw new Failed("no_handler", `nobody serves ${this.subject} at ${this.#parts.url}; ${how}`);
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
      case "hook-other-settings": {
        const settings = String(fields["settingsHash"] ?? "not known").slice(0, 100);
        this.#others = {settings, until: this.#others?.until ?? performance.now() + this.#silenceMs};
        return "other settings";
      }
      case "hook-too-large": {
        this.isOpen = false;
        const room = `a message of the broker has room for ${String(fields["maxPayload"])}`;
        throw new Failed("unanswered", `the response has ${String(fields["bytes"])} bytes, and ${room}`);
      }
    }
    const protocol = fields["protocol"] ?? PROTOCOL;
    if (protocol !== PROTOCOL) {
      const here = `here is protocol ${PROTOCOL}; use one version of hook for askers and engines`;
      const theirs = String(protocol).slice(0, 100);
      throw new Failed("unanswered", `what was answered is no response: it speaks protocol ${theirs}, and ${here}`);
    }
    if (fields["type"] !== "hook-execution-response" || fields["correlationId"] !== this.#message["correlationId"]) {
      throw new Failed("unanswered", `what was answered is no response: its type is ${String(fields["type"]).slice(0, 100)}`);
    }
    this.#checkSettings(fields["engine"]);
    if (fields["success"] !== true && !(isObject(fields["processed"]) && fields["eventName"])) {
      // It does not say what that means for the event, and so it is the asker's to say.
      const {code = "unanswered", message = ""} = isObject(fields["error"]) ? fields["error"] : {};
      throw new Failed(String(code), String(message));
    }
    const wrong = contradiction(fields, String(this.#message["eventName"]));
    if (wrong !== undefined) throw new Failed("unanswered", `what was answered is no response: ${wrong}`);
    return fields as unknown as IncomingMessage;
  }

  /** Throws where the engine has other settings than are expected: one of an earlier version answers. */
  #checkSettings(engine: unknown): void {
    const expected = this.#parts.expectSettings;
    const found = isObject(engine) ? engine["settingsHash"] : undefined;
    if (expected === undefined || found === expected) return;
    this.isOpen = false;
    const what = `an engine has answered whose settings are ${String(found).slice(0, 100)}, and ${expected} was expected`;
    throw new Failed("unanswered", `${what}; its answer does not count`);
  }

  #othersOnly(settings: string): Failed {
    const what = `no engine with the expected settings (${String(this.#parts.expectSettings)}) answers`;
    return new Failed("unanswered", `${what}; there is one with ${settings}`);
  }

  #unheard(): Failed {
    const what = `does not let this client hear what it is answered: no subscription to "${this.#hearing.subject}"`;
    return new Failed("unanswered", `${this.#parts.url} ${what}`);
  }

  /** It ends, since its time is over. */
  tooLate(what: string): Failed {
    return new Failed("deadline_exceeded", `the request's deadline passed and ${what}`);
  }
}
