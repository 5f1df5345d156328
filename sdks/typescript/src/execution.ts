/** What a request is answered: docs/reference/answers.md and messages.md. */

/** Runs of one hook. Later engines may say more. */
export interface HookRun {
  name: string;
  type: string;
  source: string;
  success: boolean;
  /** Milliseconds, as `queued`. */
  duration?: number;
  queued?: number;
  exitCode?: number;
  warnings?: string[];
  error?: string;
  [field: string]: unknown;
}

/** What an agent is to do. */
export interface Processed {
  decision: "proceed" | "ask" | "retry" | "block" | "stop";
  reason?: string;
  /** Milliseconds. */
  retryAfterMs?: number;
  granted?: boolean;
  shouldStop?: boolean;
  stopReason?: string;
  systemMessage?: string;
  modelMessage?: string;
  suppressOutput?: boolean;
  additionalContext?: string;
  /** The changes of all hooks; of a tool's arguments `toolInput` of what `fire` gives makes what is to run. */
  modified?: {tool_input?: Record<string, unknown>; toolInputReplaces?: boolean; [field: string]: unknown};
}

/** The whole response. */
export interface HookExecutionResponse {
  type: "hook-execution-response";
  correlationId: string;
  eventName?: string;
  success: boolean;
  processed?: Processed;
  output?: {finalOutput?: Record<string, unknown>; allOutputs?: Record<string, unknown>[]; [field: string]: unknown};
  hooks?: HookRun[];
  notStarted?: {name: string; type: string; source: string; endedBy: string}[];
  error?: {code: string; message: string; details?: unknown};
  warnings?: string[];
}

/** The answer in an agent's own format. */
export interface Bridged {
  stdout: string;
  stderr: string;
  exitCode: number;
  /** For the agent's user. */
  warnings: string[];
}

/** How a request is made. */
export interface RequestOptions {
  /** Answer this many milliseconds after acceptance at the latest. */
  deadlineMs?: number;
  /** An id of one's own, for `cancel`; no two requests in flight may share one. */
  correlationId?: string;
  /** Ends the hooks of the request, which rejects at once with the HookError `cancelled`, whatever they had decided. */
  signal?: AbortSignal;
  /** Whether each hook's output, or its input, is in the response. */
  streams?: boolean;
  inputs?: boolean;
}

/** A handler that is registered, as the server lists it. */
export interface RegisteredHook {
  hookId: string;
  eventName: string;
  vocabulary?: string;
  matcher?: unknown;
  config?: Record<string, unknown>;
  /** Whether this client has registered it. */
  own?: boolean;
}

/** Progress of the client's own requests. */
export interface Progress {
  type: "hook-started" | "hook-finished";
  correlationId: string;
  eventName: string;
  hook: HookRun & {timeout?: number};
}

/** An entry of the audit. */
export interface AuditEntry {
  /** ISO 8601, UTC. */
  at: string;
  kind: string;
  correlationId?: string;
  /** The agent's session, the agent where it asked in its own words, and the tool. */
  session?: string;
  agent?: string;
  tool?: string;
  /** Who asked over a fleet: the public key of a user of its broker. */
  asker?: string;
  eventName?: string;
  hook?: string;
  reason?: string;
  changes?: unknown[];
  [field: string]: unknown;
}

/** What an audit tells of. */
export type AuditLevel = "off" | "info" | "decisions" | "verbose";
