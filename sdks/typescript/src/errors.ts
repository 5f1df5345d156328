/** What can go wrong, as a small tree: every error of this package is a {@link HookError}. */

/** The request that an error is about. */
export interface FailedRequest {
  eventName: string;
  correlationId: string;
}

/**
 * Something that could not be done. `code` tells programs which: a code of the server's
 * (`invalid_request`, `limit_exceeded`, …), or one of this package's, named at each subclass.
 */
export class HookError extends Error {
  /** For programs; stable. */
  readonly code: string;
  /** What the server said beside its message. */
  readonly details?: unknown;
  /** The request that failed, where there is one. */
  readonly request?: FailedRequest;

  constructor(code: string, message: string, more: {details?: unknown; request?: FailedRequest; cause?: unknown} = {}) {
    super(message, more.cause === undefined ? undefined : {cause: more.cause});
    this.name = new.target.name;
    this.code = code;
    if (more.details !== undefined) this.details = more.details;
    if (more.request !== undefined) this.request = more.request;
  }
}

/**
 * There is no server, or no longer: `no_server`, `connection_lost`, `refused`, `no_answer`, `closed`. What was
 * asked may have been done; it is not asked again.
 */
export class HookConnectionError extends HookError {}

/** The server refused a handler. `code` is the server's: `limit_exceeded`, `invalid_request`, `duplicate_id`, …. */
export class HookRegistrationError extends HookError {
  readonly hookId: string;
  readonly eventName: string;

  constructor(hookId: string, eventName: string, code: string, message: string, details?: unknown) {
    super(code, `hook ${hookId} for ${eventName} is not registered: ${message}`, {details});
    this.hookId = hookId;
    this.eventName = eventName;
  }
}

/** A value that has no JSON form, nests too deep or is too large (`invalid_value`). Nothing was sent. */
export class HookValueError extends HookError {
  constructor(message: string) {
    super("invalid_value", message);
  }
}

const PACKAGE = new URL(".", import.meta.url).href;

/** Where a handler threw something, as ` (file:line)`: neither in this package nor in Node. Never throws itself. */
export function placeOf(thrown: unknown): string {
  try {
    if (!(thrown instanceof Error) || thrown instanceof HookError) return "";
    for (const line of (thrown.stack ?? "").split("\n")) {
      const [, file, number] = /^\s+at .*?\(?(file:\/\/[^()]+|\/[^()]+):(\d+):\d+\)?$/.exec(line) ?? [];
      if (file !== undefined && !file.startsWith(PACKAGE)) return ` (${file.split("/").pop()}:${number})`;
    }
    return "";
  } catch {
    return "";
  }
}

/** What was thrown, as a text for people. Never throws itself. */
export function textOf(thrown: unknown): string {
  try {
    if (thrown instanceof HookError) return thrown.message;
    if (thrown instanceof Error) return `${thrown.name}: ${thrown.message}`;
    return String(thrown);
  } catch {
    return "something that has no text was thrown";
  }
}
