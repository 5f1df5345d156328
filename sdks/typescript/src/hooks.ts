/**
 * What a module is written with: `export default function (pi: HookAPI): void { … }`. Types alone; the module
 * host gives a module its `pi`.
 */

/** A text in a message or a tool's result. */
export interface TextContent {
  type: "text";
  text: string;
}

/** A picture in a message or a tool's result. */
export interface ImageContent {
  type: "image";
  /** Base64. */
  data: string;
  mimeType: string;
}

export type Content = TextContent | ImageContent;

export interface UserMessage {
  role: "user";
  content: string | Content[];
  /** Milliseconds since 1970. */
  timestamp?: number;
}

export interface AssistantMessage {
  role: "assistant";
  content: (TextContent | {type: string; [field: string]: unknown})[];
  timestamp?: number;
  [field: string]: unknown;
}

export interface ToolResultMessage {
  role: "toolResult";
  toolCallId: string;
  toolName: string;
  content: Content[];
  details?: unknown;
  isError?: boolean;
  timestamp?: number;
}

/** A message that a module sent. */
export interface CustomMessage<T = unknown> {
  role: "custom";
  customType: string;
  content: string | Content[];
  display?: boolean;
  details?: T;
  timestamp?: number;
}

export type Message = UserMessage | AssistantMessage | ToolResultMessage | CustomMessage;

/** What a module sends: a message of a type of its own. */
export interface HookMessage<T = unknown> {
  customType: string;
  content: string | Content[];
  /** Whether the user sees it. */
  display?: boolean;
  details?: T;
}

/** One entry of a session. */
export interface SessionEntry {
  id: string;
  type: string;
  parentId?: string | null;
  timestamp?: string;
  [field: string]: unknown;
}

/** What a compaction comes to. */
export interface CompactionResult {
  summary: string;
  firstKeptEntryId: string;
  tokensBefore: number;
  details?: unknown;
}

/** What is said of every event beside its own fields. */
interface Base {
  session_id?: string;
  transcript_path?: string;
  cwd?: string;
}

export interface SessionStartEvent extends Base {
  type: "session_start";
}
export interface SessionBeforeSwitchEvent extends Base {
  type: "session_before_switch";
  reason: "new" | "resume" | "fork";
  targetSessionFile?: string;
}
export interface SessionSwitchEvent extends Base {
  type: "session_switch";
  reason: "new" | "resume" | "fork";
  previousSessionFile?: string;
}
export interface SessionBeforeBranchEvent extends Base {
  type: "session_before_branch";
  entryId: string;
}
export interface SessionBranchEvent extends Base {
  type: "session_branch";
  previousSessionFile?: string;
}
export interface SessionBeforeCompactEvent extends Base {
  type: "session_before_compact";
  preparation?: Record<string, unknown>;
  branchEntries?: SessionEntry[];
  customInstructions?: string;
}
export interface SessionCompactingEvent extends Base {
  type: "session.compacting";
  sessionId?: string;
  messages: Message[];
}
export interface SessionCompactEvent extends Base {
  type: "session_compact";
  compactionEntry?: SessionEntry;
  fromExtension?: boolean;
}
export interface SessionBeforeTreeEvent extends Base {
  type: "session_before_tree";
  preparation: {targetId?: string; oldLeafId?: string | null; userWantsSummary?: boolean; [field: string]: unknown};
}
export interface SessionTreeEvent extends Base {
  type: "session_tree";
  newLeafId: string | null;
  oldLeafId: string | null;
  summaryEntry?: SessionEntry;
}
export interface SessionShutdownEvent extends Base {
  type: "session_shutdown";
}
export interface ContextEvent extends Base {
  type: "context";
  messages: Message[];
}
export interface BeforeAgentStartEvent extends Base {
  type: "before_agent_start";
  prompt: string;
  images?: ImageContent[];
}
export interface AgentStartEvent extends Base {
  type: "agent_start";
}
export interface AgentEndEvent extends Base {
  type: "agent_end";
  messages: Message[];
}
export interface TurnStartEvent extends Base {
  type: "turn_start";
  turnIndex: number;
  timestamp?: number;
}
export interface TurnEndEvent extends Base {
  type: "turn_end";
  turnIndex: number;
  message?: Message;
  toolResults?: ToolResultMessage[];
}
export interface AutoCompactionStartEvent extends Base {
  type: "auto_compaction_start";
  reason: "threshold" | "overflow" | "idle" | "incomplete";
}
export interface AutoCompactionEndEvent extends Base {
  type: "auto_compaction_end";
  result?: CompactionResult;
  aborted: boolean;
  willRetry: boolean;
}
export interface AutoRetryStartEvent extends Base {
  type: "auto_retry_start";
  attempt: number;
  maxAttempts: number;
  delayMs: number;
  errorMessage?: string;
}
export interface AutoRetryEndEvent extends Base {
  type: "auto_retry_end";
  success: boolean;
  attempt: number;
  finalError?: string;
}
export interface TtsrTriggeredEvent extends Base {
  type: "ttsr_triggered";
  rules: unknown[];
}
export interface TodoReminderEvent extends Base {
  type: "todo_reminder";
  todos: unknown[];
  attempt: number;
  maxAttempts: number;
}
export interface ToolCallEvent extends Base {
  type: "tool_call";
  toolName: string;
  toolCallId: string;
  input: Record<string, unknown>;
}
export interface ToolResultEvent extends Base {
  type: "tool_result";
  toolName: string;
  toolCallId: string;
  input: Record<string, unknown>;
  content: Content[];
  details?: unknown;
  isError: boolean;
}

export interface CancelResult {
  cancel?: boolean;
}
export interface SessionBeforeBranchResult extends CancelResult {
  skipConversationRestore?: boolean;
}
export interface SessionBeforeCompactResult extends CancelResult {
  /** Used in the place of the agent's own. */
  compaction?: CompactionResult;
}
export interface SessionCompactingResult {
  /** Lines that the summary's prompt gets as well. */
  context?: string[];
  /** In the place of the summary's prompt. */
  prompt?: string;
  preserveData?: Record<string, unknown>;
}
export interface SessionBeforeTreeResult extends CancelResult {
  /** Used where the user wants a summary. */
  summary?: {summary: string; details?: unknown};
}
export interface ContextResult {
  /** In the place of the messages, for this call of the model. */
  messages?: Message[];
}
export interface BeforeAgentStartResult {
  message?: HookMessage;
}
export interface ToolCallResult {
  block?: boolean;
  /** Why, for the model; with `block`. */
  reason?: string;
}
export interface ToolResultResult {
  content?: Content[];
  details?: unknown;
  /** It is not applied. */
  isError?: boolean;
}

/** Every event, with what a handler of it is told and what it may return. */
export interface HookEvents {
  session_start: [SessionStartEvent, void];
  session_before_switch: [SessionBeforeSwitchEvent, CancelResult];
  session_switch: [SessionSwitchEvent, void];
  session_before_branch: [SessionBeforeBranchEvent, SessionBeforeBranchResult];
  session_branch: [SessionBranchEvent, void];
  session_before_compact: [SessionBeforeCompactEvent, SessionBeforeCompactResult];
  "session.compacting": [SessionCompactingEvent, SessionCompactingResult];
  session_compact: [SessionCompactEvent, void];
  session_before_tree: [SessionBeforeTreeEvent, SessionBeforeTreeResult];
  session_tree: [SessionTreeEvent, void];
  session_shutdown: [SessionShutdownEvent, void];
  context: [ContextEvent, ContextResult];
  before_agent_start: [BeforeAgentStartEvent, BeforeAgentStartResult];
  agent_start: [AgentStartEvent, void];
  agent_end: [AgentEndEvent, void];
  turn_start: [TurnStartEvent, void];
  turn_end: [TurnEndEvent, void];
  auto_compaction_start: [AutoCompactionStartEvent, void];
  auto_compaction_end: [AutoCompactionEndEvent, void];
  auto_retry_start: [AutoRetryStartEvent, void];
  auto_retry_end: [AutoRetryEndEvent, void];
  ttsr_triggered: [TtsrTriggeredEvent, void];
  todo_reminder: [TodoReminderEvent, void];
  tool_call: [ToolCallEvent, ToolCallResult];
  tool_result: [ToolResultEvent, ToolResultResult];
}

export type HookEventName = keyof HookEvents;
export type HookEvent = HookEvents[HookEventName][0];

/** What a handler may return: a result or nothing. */
type Returned<R> = R | void | undefined;

/** What is called when an event comes. */
export type HookHandler<E = HookEvent, R = unknown> = (
  event: E,
  ctx: HookContext,
) => Returned<R> | Promise<Returned<R>>;

/** A style of a text; what it gives is a text as well. */
export interface Theme {
  fg(color: string, text: string): string;
  bg(color: string, text: string): string;
  bold(text: string): string;
  dim(text: string): string;
  italic(text: string): string;
  underline(text: string): string;
  inverse(text: string): string;
  strikethrough(text: string): string;
}

/** The user, where there is one. Each says what it gives without. */
export interface HookUIContext {
  /** Without a user, and where nothing is chosen: `undefined`. */
  select(title: string, options: string[]): Promise<string | undefined>;
  /** Without a user: `false`. */
  confirm(title: string, message: string): Promise<boolean>;
  /** Without a user: `undefined`. */
  input(title: string, placeholder?: string): Promise<string | undefined>;
  /** Without a user: `undefined`. */
  editor(title: string, prefill?: string): Promise<string | undefined>;
  notify(message: string, type?: "info" | "warning" | "error"): void;
  /** A text of the status line, by its key; without one it is taken away. */
  setStatus(key: string, text?: string): void;
  setEditorText(text: string): void;
  /** The editor's text when the event came. Without a user: `""`. */
  getEditorText(): string;
  /**
   * Shows a component, `(tui, theme, done) => ({render(width), handleInput?(typed), dispose?()})`, until it calls `done`:
   * the user sees its lines as plain text. Without a user, and where the host shows none: `undefined`.
   */
  custom<T>(factory: unknown): Promise<T | undefined>;
  readonly theme: Theme;
}

/** The session as it was when the event came. */
export interface ReadonlySessionManager {
  getCwd(): string;
  getSessionId(): string | undefined;
  getSessionFile(): string | undefined;
  getSessionDir(): string | undefined;
  getSessionName(): string | undefined;
  getHeader(): Record<string, unknown> | null;
  getEntries(): SessionEntry[];
  getEntry(id: string): SessionEntry | undefined;
  getLeafId(): string | null;
  getLeafEntry(): SessionEntry | undefined;
  getLabel(id: string): string | undefined;
  /** From the root to that entry, else to the leaf. */
  getBranch(fromId?: string): SessionEntry[];
  getTree(): {entry: SessionEntry; children: unknown[]}[];
}

/** A session that is being made. */
export interface SetupSessionManager {
  appendMessage(message: Message): void;
  appendCustomEntry(customType: string, data?: unknown): void;
  appendCustomMessageEntry(customType: string, content: string | Content[], display: boolean, details?: unknown): void;
}

/** What a handler is given beside its event. */
export interface HookContext {
  readonly ui: HookUIContext;
  /** Whether there is a user who can be asked. */
  readonly hasUI: boolean;
  readonly cwd: string;
  readonly sessionManager: ReadonlySessionManager;
  readonly model: unknown;
  isIdle(): boolean;
  abort(): void;
  hasQueuedMessages(): boolean;
}

/** What a command is given beside its arguments. */
export interface HookCommandContext extends HookContext {
  waitForIdle(): Promise<void>;
  newSession(options?: {
    parentSession?: string;
    setup?: (session: SetupSessionManager) => void | Promise<void>;
  }): Promise<{cancelled: boolean}>;
  branch(entryId: string): Promise<{cancelled: boolean}>;
  navigateTree(targetId: string, options?: {summarize?: boolean}): Promise<{cancelled: boolean}>;
}

/** A command that the user can run. */
export interface HookCommand {
  description?: string;
  /** A text that it returns is shown. */
  handler: (args: string, ctx: HookCommandContext) => unknown;
}

/** What gives a message lines: a text, lines, or something that renders itself. */
export type HookMessageRenderer<T = unknown> = (
  message: HookMessage<T>,
  options: {expanded?: boolean},
  theme: Theme,
) => string | string[] | {render(width: number): string[]} | undefined;

export interface ExecOptions {
  /** Ends the program. */
  signal?: AbortSignal;
  /** Milliseconds. Without it the program may run as long as the call that it is for. */
  timeout?: number;
  cwd?: string;
  env?: Record<string, string>;
}

export interface ExecResult {
  stdout: string;
  stderr: string;
  code: number;
  /** Whether it was ended, since its time was up or it was not wanted any more. */
  killed: boolean;
}

export interface Logger {
  error(...parts: unknown[]): void;
  warn(...parts: unknown[]): void;
  info(...parts: unknown[]): void;
  log(...parts: unknown[]): void;
  debug(...parts: unknown[]): void;
}

/** What a module is given when it is loaded. */
export interface HookAPI {
  /** Has a handler called for an event; several of one event are called in the order in which they were given. */
  on<E extends HookEventName>(event: E, handler: HookHandler<HookEvents[E][0], HookEvents[E][1]>): void;
  /** Sends a message to the session. Throws before all modules are loaded. */
  sendMessage<T = unknown>(
    message: HookMessage<T>,
    options?: {triggerTurn?: boolean; deliverAs?: "steer" | "followUp" | "nextTurn"},
  ): void;
  /** Keeps something in the session that the model does not see. Throws before all modules are loaded. */
  appendEntry<T = unknown>(customType: string, data?: T): void;
  registerCommand(name: string, command: HookCommand): void;
  registerMessageRenderer<T = unknown>(customType: string, renderer: HookMessageRenderer<T>): void;
  /** Runs a program to its end, on behalf of the event that is handled. One that fails is no error. */
  exec(command: string, args?: string[], options?: ExecOptions): Promise<ExecResult>;
  readonly logger: Logger;
}

/** What a module exports by default. */
export type HookFactory = (pi: HookAPI) => void | Promise<void>;

