/** What a handler may do besides answering. */

/** What a handler may ask for by name. A host need not have any of them, but for `exec`, which is the engine's own. */
export type HostMethod =
  | "ui.select" | "ui.confirm" | "ui.input" | "ui.editor" | "ui.custom" | "ui.notify" | "ui.setStatus"
  | "ui.setEditorText" | "ui.getEditorText" | "session.sendMessage" | "session.appendEntry"
  | "session.get" | "model.ask" | "mcp.call" | "tool.execute" | "exec" | (string & {});

/** How important a line of a handler's log is. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** One call of a handler. */
export interface HookContext {
  readonly callId: string;
  readonly hookId: string;
  readonly eventName: string;
  /** How long the handler has, in milliseconds from the start of the call; absent without a limit. */
  readonly deadlineMs?: number;
  /**
   * Aborted when nobody waits for the answer any more: the call was cancelled, timed out, or the
   * connection is lost for good. The handler is not stopped; what it answers then is dropped.
   */
  readonly signal: AbortSignal;

  /**
   * Asks whoever asked for the event. The time a question to the user takes does not count as the
   * handler's.
   *
   * @throws HookError with the host's code, `unsupported` where it has no such service, `cancelled` when
   * the call ends before it is answered; HookValueError for params that have no JSON form.
   */
  hostCall(method: HostMethod, params?: Record<string, unknown>): Promise<unknown>;

  /** Asks the user a question that is answered by yes or no: `ui.confirm`. `timeout` in milliseconds. */
  confirm(question: {title: string; message: string; timeout?: number}): Promise<boolean>;

  /** Writes a line to the server's log. */
  log(level: LogLevel, message: string): void;
}
