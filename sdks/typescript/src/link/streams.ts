/** A connection over two byte streams: a socket, or the pipes of a child. */

import type {Readable, Writable} from "node:stream";

import {HookConnectionError, HookError} from "../errors.js";
import type {Prepared} from "../json.js";
import {Lines} from "../lines.js";
import {PROTOCOL, readMessage} from "../messages.js";
import type {Hello, IncomingMessage} from "../messages.js";
import type {ConnectOptions, Link, LinkListener} from "./link.js";

/** How many bytes may wait for a server that does not read. */
const MAX_WAITING = 64 * 2 ** 20;

/** How long a server has to end after its client has. */
const END_TIMEOUT_MS = 10_000;

/** The streams, and what is done about their end. */
export interface Ends {
  reader: Readable;
  writer: Writable;
  /** What else may fail, such as a child that cannot be started. */
  source: {on(event: "error", listener: (error: Error) => void): unknown};
  /** Resolves when everything of it has ended, with how, for people; `""` where there is nothing to say. */
  ended: Promise<string>;
  /** Ends it by force. */
  destroy(): void;
}

/** Waits for the greeting. The listener is told of what comes after it. */
export function greeted(ends: Ends, listener: LinkListener, options: ConnectOptions): Promise<Link> {
  return new Promise((resolve, reject) => new StreamLink(ends, listener).greet(options, resolve, reject));
}

class StreamLink implements Link {
  hello!: Hello;
  notice?: string;
  readonly #ends: Ends;
  readonly #listener: LinkListener;
  readonly #lines = new Lines();
  #state: "greeting" | "open" | "over" = "greeting";
  #refuse: (why: string, code?: string, cause?: Error) => void = () => {};
  #accept: () => void = () => {};

  constructor(ends: Ends, listener: LinkListener) {
    this.#ends = ends;
    this.#listener = listener;
  }

  greet({helloTimeoutMs, signal}: ConnectOptions, resolve: (link: Link) => void, reject: (error: Error) => void): void {
    const late = setTimeout(() => this.#refuse(`the hook server did not greet within ${helloTimeoutMs} ms`), helloTimeoutMs);
    const aborted = () => this.#refuse("the client is closed", "closed");
    signal.addEventListener("abort", aborted, {once: true});
    this.#refuse = (why, code = "no_server", cause) => {
      if (this.#state !== "greeting") return;
      clearTimeout(late);
      signal.removeEventListener("abort", aborted);
      this.#state = "over";
      this.#ends.destroy();
      // With the reason of its end, where it has one, such as a child's exit code.
      void this.#ends.ended.then((how) => reject(new HookConnectionError(code, `${why}${how}`, {cause})));
    };
    this.#accept = () => {
      clearTimeout(late);
      signal.removeEventListener("abort", aborted);
      this.#state = "open";
      resolve(this);
    };
    if (signal.aborted) aborted();
    const {source, reader, writer} = this.#ends;
    const failed = (error: Error) => this.#over(`the hook server is gone: ${error.message}`, error);
    for (const stream of new Set([source, reader, writer])) stream.on("error", failed);
    reader.on("data", (chunk: Buffer) => {
      if (this.#state === "over") return;
      if (!this.#lines.take(chunk, (line) => this.#take(line))) {
        this.drop("the hook server sent a line without an end");
      }
    });
    reader.on("end", () => {
      this.#over(`the hook server ended ${this.#lines.isInsideLine ? "in the middle of a line" : "the connection"}`);
    });
    reader.on("close", () => this.#over("the connection to the hook server is closed"));
  }

  send({line}: Prepared): void {
    if (this.#state !== "open") throw new HookConnectionError("connection_lost", "the connection to the hook server is lost");
    const {writer} = this.#ends;
    if (writer.writableLength > MAX_WAITING) {
      throw new HookError("overloaded", `the hook server does not read: ${writer.writableLength} bytes wait for it`);
    }
    writer.write(line);
  }

  async drained(): Promise<void> {
    const {writer} = this.#ends;
    if (!writer.writableNeedDrain || this.#state === "over") return;
    await new Promise<void>((resolve) => {
      const done = () => {
        writer.off("drain", done).off("close", done);
        resolve();
      };
      writer.on("drain", done).on("close", done);
    });
  }

  drop(why: string): void {
    this.#over(why);
    this.#ends.destroy();
  }

  async end(): Promise<void> {
    this.#ends.writer.end();
    const late = setTimeout(() => this.#ends.destroy(), END_TIMEOUT_MS);
    await this.#ends.ended;
    clearTimeout(late);
  }

  #take(line: string): void {
    if (this.#state === "over") return;
    let message: IncomingMessage;
    try {
      message = readMessage(line);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      if (this.#state === "greeting") return this.#refuse("this is no hook server");
      return this.#listener.broken(line, why);
    }
    if (this.#state === "open") return this.#listener.message(message);
    if (message.type === "hook-refused") {
      return this.#refuse(`the hook server refused: ${String(message["message"] ?? "it gave no reason")}`, "refused");
    }
    if (message.type !== "hook-hello") return this.#refuse("this is no hook server");
    if (message["protocol"] !== PROTOCOL) {
      return this.#refuse(`the hook server speaks protocol ${String(message["protocol"])}, this is ${PROTOCOL}`, "refused");
    }
    this.hello = message as Hello;
    this.#accept();
  }

  #over(why: string, cause?: Error): void {
    if (this.#state === "over") return;
    if (this.#state === "greeting") return this.#refuse(`there is no hook server (${why})`, undefined, cause);
    this.#state = "over";
    // One that only closed its sending side would keep the connection half open.
    this.#ends.writer.end();
    this.#listener.ended(why);
  }
}
