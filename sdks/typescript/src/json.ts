/** Messages as lines of JSON: what may be said, and how it is written. */

import {HookValueError} from "./errors.js";

/** How many bytes a line to the server may have. A longer one would end the session there. */
export const MAX_LINE = 4 * 2 ** 20;

/** How many arrays and objects a line may nest, the message itself included. */
export const MAX_DEPTH = 100;

/** A message and its line, which is known to be one that the server reads. */
export interface Prepared {
  readonly message: OutgoingMessage;
  /** Ends with a line end. */
  readonly line: string;
}

/** Any message to the server. */
export interface OutgoingMessage {
  type: string;
  [field: string]: unknown;
}

/**
 * Writes a message.
 *
 * @throws {@link HookValueError} for what JSON cannot hold (NaN, an infinity, a function, a bigint), for
 * what nests deeper than {@link MAX_DEPTH} (circles included), and for more than {@link MAX_LINE} bytes.
 */
export function prepare(message: OutgoingMessage): Prepared {
  let line: string;
  try {
    new Check().value(message, "", 1);
    line = `${JSON.stringify(message)}\n`;
  } catch (error) {
    // A getter or a toJSON of the caller's may throw anything.
    if (error instanceof HookValueError) throw error;
    throw new HookValueError(`the message cannot be written as JSON: ${String(error)}`);
  }
  const bytes = Buffer.byteLength(line);
  if (bytes > MAX_LINE) throw tooLarge();
  return {message, line};
}

/**
 * Looks at a value before it is written: JSON.stringify would write `null` for a NaN, leave out
 * functions in silence, and work for ever on arrays that share their parts many times over.
 */
class Check {
  #bytes = 0;

  value(value: unknown, name: string, depth: number): void {
    value = withToJson(value, name);
    switch (typeof value) {
      case "number":
        if (!Number.isFinite(value)) throw new HookValueError(`${named(name)} is ${value}, which JSON cannot hold`);
        return this.#count(1);
      case "string":
        return this.#count(value.length + 2);
      case "boolean":
      case "undefined":
        return this.#count(1);
      case "object":
        return value === null ? this.#count(4) : this.#object(value, name, depth);
      default:
        throw new HookValueError(`${named(name)} is a ${typeof value}, which JSON cannot hold`);
    }
  }

  #object(value: object, name: string, depth: number): void {
    if (depth > MAX_DEPTH) {
      throw new HookValueError(`the value nests more than ${MAX_DEPTH} levels deep, or contains itself`);
    }
    this.#count(2);
    if (Array.isArray(value)) {
      for (const item of value) this.value(item, name, depth + 1);
      return;
    }
    for (const key of Object.keys(value)) {
      const field = (value as Record<string, unknown>)[key];
      if (field === undefined) continue;
      this.#count(key.length + 3);
      this.value(field, key, depth + 1);
    }
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    // At least one byte each: what is counted is never more than what would be written.
    if (this.#bytes > 2 * MAX_LINE) throw tooLarge();
  }
}

function withToJson(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) return value;
  const toJson = (value as {toJSON?: unknown}).toJSON;
  return typeof toJson === "function" ? toJson.call(value, name) : value;
}

function named(name: string): string {
  return name === "" ? "the value" : `\`${name.slice(0, 100)}\``;
}

function tooLarge(): HookValueError {
  return new HookValueError(`the message has more than ${MAX_LINE} bytes, as many as a line may have`);
}
