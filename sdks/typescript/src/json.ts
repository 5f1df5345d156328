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
    line = `${JSON.stringify(message, checked())}\n`;
  } catch (error) {
    // A getter or a toJSON of the caller's may throw anything.
    if (error instanceof HookValueError) throw error;
    throw new HookValueError(`the message cannot be written as JSON: ${String(error)}`);
  }
  if (Buffer.byteLength(line) > MAX_LINE) throw tooLarge();
  return {message, line};
}

/**
 * A copy of a value, in which nothing changes any more, and the text of it for a model: a text itself, else JSON. What JSON holds
 * otherwise than a copy does, such as a class with a form of its own, is copied by way of JSON.
 *
 * @throws {@link HookValueError} as `prepare` does.
 */
export function snapshot<T>(value: T): {copy: T; text: string} {
  if (value === undefined || value === null) return {copy: value, text: ""};
  if (typeof value === "string") return {copy: value, text: value};
  prepare({type: "value", value});
  const text = JSON.stringify(value) ?? "null";
  try {
    const copy = structuredClone(value);
    if (JSON.stringify(copy) === text) return {copy, text};
  } catch {} // It has parts that cannot be copied.
  return {copy: JSON.parse(text) as T, text};
}

/**
 * Looks at each value before it is written: JSON.stringify alone would write `null` for a NaN, leave out functions in
 * silence, and work for ever on arrays that share their parts many times over.
 */
function checked(): (this: object, name: string, value: unknown) => unknown {
  const depths = new Map<object, number>();
  // At least, with a comma: never more than what would be written. The message itself has neither that nor a name.
  let bytes = -4;
  return function (name, value) {
    bytes += Array.isArray(this) ? 2 : name.length + 5;
    switch (typeof value) {
      case "number":
        if (!Number.isFinite(value)) throw new HookValueError(`${named(name)} is ${value}, which JSON cannot hold`);
        break;
      case "string":
        bytes += value.length + 1;
        break;
      case "object": {
        if (value === null) break;
        const depth = (depths.get(this) ?? 0) + 1;
        if (depth > MAX_DEPTH) throw new HookValueError(`the value nests more than ${MAX_DEPTH} levels deep, or contains itself`);
        depths.set(value, depth);
        break;
      }
      case "undefined":
        if (!Array.isArray(this)) bytes -= name.length + 5;
        break;
      case "boolean":
        break;
      default:
        throw new HookValueError(`${named(name)} is a ${typeof value}, which JSON cannot hold`);
    }
    if (bytes > MAX_LINE) throw tooLarge();
    return value;
  };
}

function named(name: string): string {
  return name === "" ? "the value" : `\`${name.slice(0, 100)}\``;
}

function tooLarge(): HookValueError {
  return new HookValueError(`the message has more than ${MAX_LINE} bytes, as many as a line may have`);
}
