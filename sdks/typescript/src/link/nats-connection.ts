/** A connection to a broker that is kept: made again and again until it is there, and again when it is lost. */

import {connect as connectTcp, type Socket} from "node:net";
import {setTimeout as sleep} from "node:timers/promises";

import type {ConnectionOptions, NatsConnection} from "nats";

import {textOf} from "../errors.js";

/** How long is waited between two rounds of attempts, at least and at most. */
const PATIENCE_MS = [100, 2_000] as const;

/** How long each step of one attempt may take. */
const STEP_MS = 5_000;

/** One of the servers of a broker. */
export interface BrokerServer {
  url: string;
  /** What the library is told of it alone: without `tls` it may be talked to in plain text. */
  options: ConnectionOptions;
}

/** Who is told of what happens on a connection. */
export interface ConnectionListener {
  /** It is there, again perhaps; what it subscribes to is heard before anything that is asked. */
  opened(connection: NatsConnection): void;
  /** The broker does not let one publish under a subject, or subscribe to it. */
  denied(operation: string, subject: string): void;
}

/** How a connection is. */
export type ConnectionState =
  | {kind: "up"; connection: NatsConnection}
  /** `isRefused`: the broker does not want this client, or is not the one that it should be. */
  | {kind: "away"; why: string; isRefused: boolean};

/**
 * The library is told to connect to one named server, once. It would go on by itself, and could then
 * neither be ended while it connects, nor held to the servers that were named.
 */
export class KeptConnection {
  state: ConnectionState = {kind: "away", why: "it is being made", isRefused: false};
  /** When the connection came back, if it was lost. */
  cameBack = -Infinity;
  readonly #nats: typeof import("nats");
  readonly #servers: BrokerServer[];
  readonly #listener: ConnectionListener;
  readonly #ended = new AbortController();
  readonly #kept: Promise<void>;
  #waiting: (() => void)[] = [];

  constructor(nats: typeof import("nats"), servers: BrokerServer[], listener: ConnectionListener) {
    this.#nats = nats;
    this.#servers = servers;
    this.#listener = listener;
    this.#kept = this.#keep();
  }

  /** Resolves when the state is another one. */
  changed(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Ends it. Resolves when nothing is left of it. */
  async close(): Promise<void> {
    this.#ended.abort();
    if (this.state.kind === "up") await this.state.connection.close();
    await this.#kept;
  }

  get #isEnded(): boolean {
    return this.#ended.signal.aborted;
  }

  async #keep(): Promise<void> {
    let wait: number = PATIENCE_MS[0];
    for (let wasUp = false; !this.#isEnded;) {
      const connection = await this.#connect();
      if (connection && !this.#isEnded) {
        if (wasUp) this.cameBack = performance.now();
        wasUp = true;
        wait = PATIENCE_MS[0];
        await this.#use(connection);
      }
      await connection?.close();
      await sleep(wait * (0.5 + Math.random() / 2), undefined, {signal: this.#ended.signal}).catch(() => {});
      wait = Math.min(2 * wait, PATIENCE_MS[1]);
    }
  }

  /** A connection to the first server that takes one. */
  async #connect(): Promise<NatsConnection | undefined> {
    const errors: unknown[] = [];
    for (const {url, options} of this.#servers) {
      try {
        await greeted(url, this.#ended.signal);
        const connection = await this.#nats.connect({
          ...options, servers: url, name: "hook-asker", timeout: STEP_MS, reconnect: false, ignoreClusterUpdates: true,
        });
        keepErrorsHeard(connection);
        return connection;
      } catch (error) {
        if (this.#isEnded) return undefined;
        errors.push(error);
      }
    }
    this.#become({kind: "away", why: textOf(errors.at(-1)), isRefused: errors.every((error) => isRefusal(this.#nats, error))});
    return undefined;
  }

  /** Until it is lost, or ended. */
  async #use(connection: NatsConnection): Promise<void> {
    this.#listener.opened(connection);
    this.#become({kind: "up", connection});
    void this.#hearDenials(connection);
    await connection.closed();
    this.#become({kind: "away", why: "the connection is lost", isRefused: false});
  }

  async #hearDenials(connection: NatsConnection): Promise<void> {
    for await (const {permissionContext} of connection.status()) {
      if (permissionContext) this.#listener.denied(permissionContext.operation, permissionContext.subject);
    }
  }

  #become(state: ConnectionState): void {
    this.state = state;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/**
 * Resolves when a server greets. What the library begins cannot be ended before that, and one that takes
 * connections and says nothing would keep the process alive.
 */
function greeted(server: string, signal: AbortSignal): Promise<void> {
  const {hostname, port} = new URL(server);
  const within = AbortSignal.any([signal, AbortSignal.timeout(STEP_MS)]);
  return new Promise((resolve, reject) => {
    const socket = connectTcp({host: hostname.replace(/^\[|\]$/g, ""), port: Number(port) || 4222, signal: within});
    socket.once("error", (error) => reject(within.aborted ? new Error("no answer") : error));
    socket.once("close", () => reject(new Error("it ended the connection")));
    socket.once("data", () => {
      resolve();
      socket.destroy();
    });
  });
}

/**
 * The library stops listening for errors of a socket that it still writes to when its server goes away, and an error
 * that nobody hears ends the process. This one is heard for as long as it lives.
 */
function keepErrorsHeard(connection: NatsConnection): void {
  const {protocol} = connection as {protocol?: {transport?: {socket?: Socket}}};
  const socket = protocol?.transport?.socket;
  if (socket === undefined) return;
  const heard = () => {}; // What it means for the connection the library knows from elsewhere.
  const removeAll = socket.removeAllListeners.bind(socket);
  socket.removeAllListeners = (event) => removeAll(event).on("error", heard);
  socket.on("error", heard);
}

/** What node says of certificates, and of servers that do not speak TLS. */
const OF_TRUST = /^(ERR_TLS_|ERR_SSL_|CERT_|CRL_|SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_|HOSTNAME_|INVALID_|PATH_LENGTH_)/;

/** Whether to try again is of no use. */
function isRefusal({ErrorCode}: typeof import("nats"), error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const ofNats: string[] = [
    ErrorCode.AuthorizationViolation, ErrorCode.AuthenticationExpired, ErrorCode.AccountExpired,
    ErrorCode.BadAuthentication, ErrorCode.BadCreds, ErrorCode.Tls, ErrorCode.ServerOptionNotAvailable,
  ];
  return ofNats.includes(code) || OF_TRUST.test(code);
}
