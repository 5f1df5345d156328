/** What the server says, one object a line: docs/reference/messages.md. */

/** The version of this package, as in its package.json. */
export const VERSION = "0.1.0";

/** The version of the messages that this package speaks. */
export const PROTOCOL = 1;

/** A message of the server's: its type, and fields that are not known to be anything yet. */
export interface IncomingMessage {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** What a server says first. */
export interface Hello extends IncomingMessage {
  readonly type: "hook-hello";
  readonly protocol: number;
}

/** A call of a handler. */
export interface CallMessage {
  callId: string;
  hookId: string;
  eventName: string;
  input: Record<string, unknown>;
  /** Milliseconds. */
  deadlineMs?: number;
}

/** Reads one line. Throws an Error that says what is wrong with anything that is no message. */
export function readMessage(line: string): IncomingMessage {
  const message: unknown = JSON.parse(line);
  if (!isObject(message)) throw new Error("it is no object");
  if (typeof message["type"] !== "string") throw new Error("it has no type");
  for (const id of ["correlationId", "hookId", "callId", "hostCallId", "triggerId"]) {
    if (message[id] != null && typeof message[id] !== "string") throw new Error(`its ${id} is no text`);
  }
  return message as unknown as IncomingMessage;
}

/** The fields of a hook-call. Throws an Error that says what is missing. */
export function readCall(message: IncomingMessage): CallMessage {
  const {callId, hookId, eventName, input, deadlineMs} = message;
  if (typeof callId !== "string") throw new Error("it has no callId");
  if (typeof hookId !== "string") throw new Error("it has no hookId");
  if (typeof eventName !== "string") throw new Error("it has no eventName");
  if (!isObject(input)) throw new Error("its input is no object");
  return {callId, hookId, eventName, input, ...(typeof deadlineMs === "number" && {deadlineMs})};
}

/** Whether a value is an object of fields. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The `error` of a message: its code and message, whatever is missing. */
export function errorOf(message: IncomingMessage): {code: string; message: string; details?: unknown} {
  const error = isObject(message["error"]) ? message["error"] : {};
  return {
    code: typeof error["code"] === "string" ? error["code"] : "unknown",
    message: typeof error["message"] === "string" ? error["message"] : "the server gave no reason",
    ...(error["details"] !== undefined && {details: error["details"]}),
  };
}
