/** One connection to a server, whatever carries it. What is on top knows messages only. */

import type {Prepared} from "../json.js";
import type {Hello, IncomingMessage} from "../messages.js";

/** What a connection tells of. Nothing is told after `ended`. */
export interface LinkListener {
  message(message: IncomingMessage): void;
  /** A line that is no message; nothing else is wrong with the connection. */
  broken(line: string, why: string): void;
  /** For people: what belongs to no message. */
  problem(text: string): void;
  /** Whether a private server will do, which other programs neither ask nor guard. */
  mayBePrivate(): boolean;
  /** The connection is over. Told once. */
  ended(why: string): void;
}

/** A connection that was greeted. */
export interface Link {
  readonly hello: Hello;
  /** Set for a private server that was started for want of a shared one: what that means. */
  notice?: string;
  /**
   * Sends a message, in the order of the calls.
   *
   * @throws HookError `overloaded` where the server does not read; nothing was sent then.
   */
  send(prepared: Prepared): void;
  /** Resolves when the server has read most of what was sent, or the connection is over. */
  drained(): Promise<void>;
  /** Ends it by force: its server is stuck. The listener is told why. */
  drop(why: string): void;
  /** Ends it once everything is answered. Resolves when nothing is left of it. */
  end(): Promise<void>;
}

/** What a client that comes back has, and how long it waits for a greeting. */
export interface ConnectOptions {
  /** What the server gave this client on a connection before. */
  clientToken?: string;
  helloTimeoutMs: number;
  /** Aborted when the client is closed before the greeting. */
  signal: AbortSignal;
}

/**
 * Makes a connection.
 *
 * @throws HookConnectionError where there is no server, or one that cannot be talked to. Nothing is left
 * behind then, and the listener is told nothing.
 */
export type Connect = (listener: LinkListener, options: ConnectOptions) => Promise<Link>;
