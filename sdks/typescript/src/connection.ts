/** Keeps a client connected: connects when it is needed, and comes back after a loss. */

import {HookConnectionError, HookError, textOf} from "./errors.js";
import type {Connect, Link, LinkListener} from "./link/link.js";

/** How long to wait before the next try: `initialMs`, doubled after each failure up to `maxMs`. */
export interface ReconnectOptions {
  /** 100 without it. */
  initialMs?: number;
  /** 5000 without it. */
  maxMs?: number;
}

/** What a connection tells of itself, beside what a link tells. */
export interface ConnectionListener extends Omit<LinkListener, "ended"> {
  /** There is a link; what is sent now comes before anything else. */
  opened(link: Link): void;
  /** The link is lost. */
  lost(why: string): void;
  /** Whether it is to come back by itself: something waits for the server's calls. */
  isNeeded(): boolean;
  /** A try to connect failed that nobody waits for. `isNew`: the one before failed otherwise, or did not. */
  unreachable(error: HookError, isNew: boolean): void;
}

/** One client's connection, which may be many links one after the other. */
export class Connection {
  readonly #connect: Connect;
  readonly #listener: ConnectionListener;
  readonly #reconnect: Required<ReconnectOptions> | false;
  readonly #helloTimeoutMs: number;
  #link: Link | undefined;
  #attempt: Promise<Link> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #delay: number;
  readonly #closing = new AbortController();
  /** Why the last try failed. */
  #failure: string | undefined;

  /** What the server gave this client, to come back with. */
  clientToken: string | undefined;

  constructor(connect: Connect, listener: ConnectionListener, options: {reconnect: ReconnectOptions | false; helloTimeoutMs: number}) {
    this.#connect = connect;
    this.#listener = listener;
    this.#helloTimeoutMs = options.helloTimeoutMs;
    const {reconnect} = options;
    this.#reconnect = reconnect && {initialMs: reconnect.initialMs ?? 100, maxMs: reconnect.maxMs ?? 5_000};
    this.#delay = this.#reconnect ? this.#reconnect.initialMs : 0;
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  /** The link there is at present. */
  get link(): Link | undefined {
    return this.#link;
  }

  /**
   * The link, made where there is none. It does not wait for later tries than the next.
   *
   * @throws HookConnectionError where there is no server, or the client is closed.
   */
  async use(): Promise<Link> {
    if (this.#isClosed) throw new HookConnectionError("closed", "the client is closed");
    if (this.#link) return this.#link;
    this.#attempt ??= this.#try().finally(() => (this.#attempt = undefined));
    return this.#attempt;
  }

  /** Connects in the background, and tells of a failure by `unreachable`. */
  begin(): void {
    if (this.#link || this.#attempt || this.#timer || this.#isClosed) return;
    this.use().catch((error: unknown) => {
      if (this.#isClosed) return;
      const why = textOf(error);
      const isNew = this.#failure !== why;
      this.#failure = why;
      this.#listener.unreachable(error instanceof HookError ? error : new HookConnectionError("no_server", why), isNew);
    });
  }

  /** Ends it; nothing is left of it afterwards. */
  async close(): Promise<void> {
    this.#closing.abort();
    clearTimeout(this.#timer);
    const link = this.#link ?? (await this.#attempt?.catch(() => undefined));
    await link?.end();
  }

  async #try(): Promise<Link> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    let link: Link | undefined;
    let end: string | undefined;
    const listener: LinkListener = {
      message: (message) => this.#listener.message(message),
      broken: (line, why) => this.#listener.broken(line, why),
      problem: (text) => this.#listener.problem(text),
      mayBePrivate: () => this.#listener.mayBePrivate(),
      ended: (why) => {
        end = why;
        if (link) this.#lost(why);
      },
    };
    try {
      link = await this.#connect(listener, {clientToken: this.clientToken, helloTimeoutMs: this.#helloTimeoutMs, signal: this.#closing.signal});
    } catch (error) {
      this.#again();
      if (error instanceof HookError) throw error;
      throw new HookConnectionError("no_server", `the hook server cannot be reached: ${textOf(error)}`, {cause: error});
    }
    if (end !== undefined) {
      this.#again();
      throw new HookConnectionError("connection_lost", end);
    }
    this.#link = link;
    this.#failure = undefined;
    if (this.#reconnect) this.#delay = this.#reconnect.initialMs;
    if (!this.#isClosed) this.#listener.opened(link);
    return link;
  }

  #lost(why: string): void {
    this.#link = undefined;
    this.#listener.lost(why);
    this.#again();
  }

  #again(): void {
    if (this.#isClosed || !this.#reconnect || this.#timer || !this.#listener.isNeeded()) return;
    const delay = this.#delay;
    this.#delay = Math.min(2 * delay, this.#reconnect.maxMs);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.begin();
    }, delay);
  }
}
