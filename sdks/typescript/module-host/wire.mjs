// Messages to and from the engine: one JSON object a line.

import { writeSync } from "node:fs";
import { Socket } from "node:net";

/** How long a line may be, in bytes. */
const MAX_LINE = 4 * 1024 * 1024;

/** How long a text in the log may be, in characters. */
const MAX_LOG = 16 * 1024;

/** JSON of a value, which is what it seems to be: no number in it is silently `null`. */
export function toJson(value) {
  return JSON.stringify(value, (name, inner) => {
    if (typeof inner === "number" && !Number.isFinite(inner)) {
      throw new TypeError(`${name ? `\`${name}\`` : "it"} is ${inner}, which JSON has no word for`);
    }
    return inner;
  });
}

export class Wire {
  onMessage = () => {};
  onEnd = () => {};
  #in;
  #out;
  #calls = 0;
  #waiting = new Map();

  constructor(input, output) {
    this.#in = input;
    this.#out = output;
  }

  listen() {
    const socket = new Socket({ fd: this.#in, readable: true, writable: false });
    let parts = [];
    socket.on("data", (bytes) => {
      let start = 0;
      for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
        parts.push(bytes.subarray(start, end));
        start = end + 1;
        const line = Buffer.concat(parts).toString("utf8");
        parts = [];
        if (line.trim() !== "") this.#take(JSON.parse(line));
      }
      if (start < bytes.length) parts.push(bytes.subarray(start));
    });
    socket.on("end", () => this.onEnd());
    socket.on("error", () => this.onEnd());
  }

  #take(message) {
    if (message.type !== "hook-host-result") return this.onMessage(message);
    const waiting = this.#waiting.get(message.hostCallId);
    this.#waiting.delete(message.hostCallId);
    if (!waiting) return;
    if (message.error) {
      const error = new Error(message.error.message);
      error.code = message.error.code;
      waiting.reject(error);
    } else {
      waiting.resolve(message.result);
    }
  }

  /** Says something; throws where it is no JSON, or too long for a line. */
  say(message) {
    let rest = Buffer.from(`${toJson(message)}\n`);
    if (rest.length > MAX_LINE) {
      throw new RangeError(`it is ${rest.length} bytes long, and may be ${MAX_LINE}`);
    }
    while (rest.length > 0) {
      try {
        rest = rest.subarray(writeSync(this.#out, rest));
      } catch (error) {
        if (error.code === "EPIPE") process.exit(0);
        if (error.code !== "EAGAIN") throw error;
      }
    }
  }

  log(level, text) {
    const message = String(text);
    this.say({ type: "hook-log", level, message: message.slice(0, MAX_LOG) });
  }

  /** Asks something of the host, for a call. */
  ask(callId, method, params) {
    const hostCallId = String(++this.#calls);
    const asked = new Promise((resolve, reject) => {
      this.#waiting.set(hostCallId, { resolve, reject });
      try {
        this.say({ type: "hook-host-call", hostCallId, callId, method, params });
      } catch (error) {
        this.#waiting.delete(hostCallId);
        reject(error);
      }
    });
    return Object.assign(asked, { hostCallId });
  }

  /** What was asked is not wanted any more. */
  cancel(callId, hostCallId) {
    void this.ask(callId, "cancel", { hostCallId }).catch(() => {});
  }
}
