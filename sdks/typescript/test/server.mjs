// A small server for tests: it speaks the lines of `hook serve` on a socket, and does what a test says.

import {mkdtempSync, rmSync} from "node:fs";
import {createServer} from "node:net";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {createInterface} from "node:readline";

/** Values that come one by one, and may be waited for. */
export class Queue {
  #values = [];
  #waiting = [];

  push(value) {
    this.#values.push(value);
    this.#serve();
  }

  /** The next value that fits; those before it stay. */
  next(fits = () => true) {
    return new Promise((resolve) => {
      this.#waiting.push({fits, resolve});
      this.#serve();
    });
  }

  #serve() {
    for (const waiter of [...this.#waiting]) {
      const at = this.#values.findIndex(waiter.fits);
      if (at < 0) continue;
      const [value] = this.#values.splice(at, 1);
      this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
      waiter.resolve(value);
    }
  }
}

/** What a client of before has: its hooks come back with its token. */
class Client {
  constructor(token) {
    this.token = token;
    this.hooks = new Map();
  }
}

/** One connection. What the client says is in `said`, but for what the server answers by itself. */
export class Connection {
  said = new Queue();
  #calls = 0;

  constructor(server, socket) {
    this.server = server;
    this.socket = socket;
    this.client = new Client(`token-${server.nextToken++}`);
    server.clients.set(this.client.token, this.client);
    socket.on("error", () => {});
    this.ended = new Promise((resolve) => socket.on("close", resolve));
    this.send({type: "hook-hello", engine: "hook", version: "0", protocol: 1, clientToken: this.client.token, ...server.hello});
    createInterface({input: socket}).on("error", () => {}).on("line", (line) => this.#take(JSON.parse(line)));
  }

  send(message) {
    this.raw(`${JSON.stringify(message)}\n`);
  }

  raw(text) {
    this.socket.write(text);
  }

  /** Calls a hook; gives its answer. */
  async call(hookId, eventName, input, more = {}) {
    const callId = String(++this.#calls);
    this.send({type: "hook-call", callId, hookId, eventName, input, deadlineMs: 5000, ...more});
    return this.answer(callId);
  }

  answer(callId) {
    return this.next("hook-answer", (message) => message.callId === callId);
  }

  /** The next message of a type. */
  next(type, fits = () => true) {
    return this.said.next((message) => message.type === type && fits(message));
  }

  /** Loses the connection. */
  drop() {
    this.socket.destroy();
  }

  #take(message) {
    const {type, hookId} = message;
    const {refuses} = this.server;
    if (type === "hook-hello" && message.clientToken !== undefined && this.server.hasGrace) {
      const before = this.server.clients.get(message.clientToken);
      if (before) this.client = before;
      const hookIds = [...this.client.hooks.keys()];
      if (before && hookIds.length > 0) this.send({type: "hook-resumed", clientToken: before.token, hookIds});
      else this.send({type: "hook-error", request: type, error: {code: "unknown_token", message: "register again"}});
    }
    this.said.push(message);
    if (this.server.isStuck) return;
    if (this.server.isOld && type.startsWith("hook-re")) {
      const error = {code: "invalid_request", message: "field `type`: found hook-register"};
      return this.send({type: "hook-execution-response", correlationId: "made-up", success: false, error});
    }
    if (refuses(message)) return this.send({type: "hook-error", request: type, hookId, eventName: message.eventName, error: refuses(message)});
    if (type === "hook-register") {
      this.client.hooks.set(hookId, message);
      this.send({type: "hook-registered", hookId});
    } else if (type === "hook-unregister") {
      this.client.hooks.delete(hookId);
      this.send({type: "hook-unregistered", hookId});
    } else if (type === "hook-list") {
      const hooks = [...this.client.hooks.values()].map(({type: _, ...hook}) => ({...hook, own: true}));
      this.send({type: "hook-hooks", hooks: [...hooks, {hookId: "other", eventName: "BeforeTool", own: false}]});
    } else if (type === "hook-reload") {
      this.send({type: "hook-reloaded", success: true, totalHooks: 2, warnings: []});
    }
  }
}

/** A server on a socket of its own. */
export class ScriptedServer {
  clients = new Map();
  nextToken = 1;
  /** Whether clients that come back are known. */
  hasGrace = true;
  /** Whether it is one that knows neither registrations nor hook-reload. */
  isOld = false;
  /** Whether it answers nothing, and keeps its connections. */
  isStuck = false;
  /** More fields of the greeting. */
  hello = {};
  refuses = () => undefined;
  #connections = new Queue();
  #all = [];
  #folder = mkdtempSync(join(tmpdir(), "hook-sdk-"));

  constructor() {
    this.socket = join(this.#folder, "s");
  }

  static async start() {
    const server = new ScriptedServer();
    await server.listen();
    return server;
  }

  listen() {
    this.listener = createServer((socket) => {
      const connection = new Connection(this, socket);
      this.#all.push(connection);
      this.#connections.push(connection);
    });
    return new Promise((resolve) => this.listener.listen(this.socket, resolve));
  }

  /** The next client that connects. */
  connection() {
    return this.#connections.next();
  }

  /** Ends, with all connections; it can listen again. */
  async stop() {
    for (const connection of this.#all.splice(0)) connection.drop();
    await new Promise((resolve) => this.listener.close(resolve));
  }

  async close() {
    await this.stop();
    rmSync(this.#folder, {recursive: true, force: true});
  }
}
