// Messages to and from the engine: one JSON object a line.

import { Socket } from "node:net";

import {
  Buffer, Error, JSON, Map, Number, Object, Promise, RangeError, Set, String, TypeError, append, emit, leave, writeSync,
} from "./intrinsics.mjs";
import { stackOf } from "./faults.mjs";

/** How long a line may be, in bytes. */
const MAX_LINE = 4 * 1024 * 1024;

/** How long a text in the log may be, in characters. */
const MAX_LOG = 16 * 1024;

/** How much may be asked at once on behalf of one call; the engine takes 16 at a time. */
const AT_ONCE = 12;

/** How much more of one call may wait for its turn. */
const MAX_WAITING = 1_024;

/** JSON of a value, which is what it seems to be: no number in it is silently `null`. */
export function toJson(value) {
  return JSON.stringify(value, (name, inner) => {
    if (typeof inner === "number" && !Number.isFinite(inner)) {
      throw new TypeError(`${name ? `\`${name}\`` : "it"} is ${inner}, which JSON has no word for`);
    }
    return inner;
  });
}

/** What one call asks of its host: so much at once, and the rest in its order. */
class Turns {
  running = new Set();
  waiting = new Map();
}

export class Wire {
  onMessage = () => {};
  onEnd = () => {};
  #in;
  #out;
  #calls = 0;
  #asked = new Map();
  #turns = new Map();

  constructor(input, output) {
    this.#in = input;
    this.#out = output;
  }

  listen() {
    const socket = new Socket({ fd: this.#in, readable: true, writable: false });
    Object.defineProperty(socket, "emit", { value: emit });
    let parts = [];
    socket.on("data", (bytes) => {
      let start = 0;
      for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
        append(parts, bytes.subarray(start, end));
        const line = Buffer.concat(parts).toString("utf8");
        parts = [];
        start = end + 1;
        if (line.trim() !== "") this.#take(JSON.parse(line));
      }
      if (start < bytes.length) append(parts, bytes.subarray(start));
    });
    socket.on("end", () => this.onEnd());
    socket.on("error", () => this.onEnd());
  }

  #take(message) {
    if (message.type !== "hook-host-result") return this.onMessage(message);
    const asked = this.#asked.get(message.hostCallId);
    if (!asked) return;
    this.#forget(message.hostCallId);
    if (message.error) {
      const error = new Error(message.error.message);
      error.code = message.error.code;
      asked.reject(error);
    } else {
      asked.resolve(message.result);
    }
  }

  /** Says something; throws where it is no JSON, or too long for a line. */
  say(message) {
    const line = Buffer.from(`${toJson(message)}\n`);
    if (line.length > MAX_LINE) {
      throw new RangeError(`it is ${line.length} bytes long, and may be ${MAX_LINE}`);
    }
    for (let at = 0; at < line.length; ) {
      try {
        at += writeSync(this.#out, line, at);
      } catch (error) {
        // Nobody hears it, and nobody is to wait for it.
        if (error.code !== "EAGAIN") leave(error.code === "EPIPE" ? 0 : 1);
      }
    }
  }

  log(level, text) {
    const message = String(text);
    this.say({ type: "hook-log", level, message: message.slice(0, MAX_LOG) });
  }

  /** Says what failed when nobody waited for it. */
  logFault(error) {
    this.log("error", `after it was called: ${stackOf(error)}`);
  }

  /** Asks something of the host, for a call, once it has its turn. */
  ask(callId, method, params) {
    const hostCallId = String(++this.#calls);
    const asked = new Promise((resolve, reject) => {
      const message = { type: "hook-host-call", hostCallId, callId, method, params };
      const turns = this.#turns.get(callId) ?? new Turns();
      this.#turns.set(callId, turns);
      this.#asked.set(hostCallId, { resolve, reject, callId });
      if (turns.running.size < AT_ONCE) {
        this.#send(hostCallId, turns, message);
      } else if (turns.waiting.size < MAX_WAITING) {
        turns.waiting.set(hostCallId, message);
      } else {
        this.#asked.delete(hostCallId);
        reject(new RangeError(`${AT_ONCE + MAX_WAITING} things are asked at once already; it was not asked`));
      }
    });
    return Object.assign(asked, { hostCallId });
  }

  #send(hostCallId, turns, message) {
    turns.running.add(hostCallId);
    try {
      this.say(message);
    } catch (error) {
      const { reject } = this.#asked.get(hostCallId);
      this.#forget(hostCallId);
      reject(error);
    }
  }

  /** It is settled; the next one has its turn. */
  #forget(hostCallId) {
    const { callId } = this.#asked.get(hostCallId);
    this.#asked.delete(hostCallId);
    const turns = this.#turns.get(callId);
    if (!turns) return;
    turns.running.delete(hostCallId);
    if (turns.running.size === 0 && turns.waiting.size === 0) {
      this.#turns.delete(callId);
      return;
    }
    if (turns.waiting.size === 0) return;
    const next = turns.waiting.keys().next().value;
    const message = turns.waiting.get(next);
    turns.waiting.delete(next);
    this.#send(next, turns, message);
  }

  /** What was asked is not wanted any more. */
  cancel(callId, hostCallId) {
    const asked = this.#asked.get(hostCallId);
    if (!asked) return;
    if (this.#turns.get(callId)?.waiting.delete(hostCallId)) {
      this.#asked.delete(hostCallId);
      return;
    }
    // Beside the others: it is what makes room for them.
    const id = String(++this.#calls);
    const known = { resolve: () => {}, reject: () => {} };
    this.#asked.set(id, known);
    this.say({ type: "hook-host-call", hostCallId: id, callId, method: "cancel", params: { hostCallId } });
    // Nothing is said of what was taken back.
    this.#forget(hostCallId);
  }

  /** The call is over: what it still asks is asked by nobody. */
  over(callId) {
    const turns = this.#turns.get(callId);
    this.#turns.delete(callId);
    if (!turns) return;
    for (const id of turns.running) this.#asked.delete(id);
    for (const id of turns.waiting.keys()) this.#asked.delete(id);
  }
}
