/** The events of A3S, as handlers are told of them. Fields that the agent does not know are left out. */

/** A tool's arguments, by the tool's own names. */
export type ToolArgs = Record<string, unknown>;

/** Tokens of a model call. */
export interface TokenUsage {
  prompt_tokens?: number;
  completion_tokens?: number;
  total_tokens?: number;
}

/** A tool call that a model asked for. */
export interface ToolCall {
  id?: string;
  name: string;
  /** An object, but for tools whose input is a text. */
  args: unknown;
}

/** A model, with the settings of the call. */
export interface ModelConfig {
  name: string;
  temperature?: number;
  maxOutputTokens?: number;
  topP?: number;
  topK?: number;
  [setting: string]: unknown;
}

/** What every event has. */
export interface HookEvent {
  eventType: A3sEventName;
  sessionId: string;
  /** Milliseconds since 1970. */
  timestamp: number;
  metadata: Record<string, unknown>;
}

/** A tool is about to run. */
export interface PreToolUseEvent extends HookEvent {
  eventType: "PreToolUse";
  tool: string;
  args: ToolArgs;
  context: {workingDirectory: string; recentTools?: string[]; tokenUsage?: TokenUsage};
}

/** A tool ran. */
export interface PostToolUseEvent extends HookEvent {
  eventType: "PostToolUse";
  tool: string;
  args: ToolArgs;
  /** `duration` in milliseconds. */
  result: {success: boolean; output: string; exitCode?: number; duration?: number};
}

/** A tool failed. */
export interface ToolErrorEvent extends HookEvent {
  eventType: "ToolError";
  tool: string;
  args: ToolArgs;
  error: string;
  exitCode?: number;
}

/** The user is about to be asked whether a tool may run. */
export interface PermissionRequestEvent extends HookEvent {
  eventType: "PermissionRequest";
  tool: string;
  args: ToolArgs;
}

/** A permission was granted. */
export interface PermissionGrantedEvent extends HookEvent {
  eventType: "PermissionGranted";
  tool: string;
  args: ToolArgs;
  by: string;
}

/** A permission was denied. */
export interface PermissionDeniedEvent extends HookEvent {
  eventType: "PermissionDenied";
  tool: string;
  args: ToolArgs;
  by: string;
  reason?: string;
}

/** The model is about to be called. */
export interface GenerateStartEvent extends HookEvent {
  eventType: "GenerateStart";
  prompt?: string;
  systemPrompt?: string;
  model?: ModelConfig;
  /** The names of the tools that the model may call. */
  tools?: string[];
}

/** The model answered. */
export interface GenerateEndEvent extends HookEvent {
  eventType: "GenerateEnd";
  prompt?: string;
  model?: ModelConfig;
  /** `duration` in milliseconds. */
  response: {text?: string; toolCalls?: ToolCall[]; usage?: TokenUsage; duration?: number};
}

/** A session begins. */
export interface SessionStartEvent extends HookEvent {
  eventType: "SessionStart";
  source: string;
  model?: string;
  systemPrompt?: string;
}

/** A session ends. `duration` in milliseconds. */
export interface SessionEndEvent extends HookEvent {
  eventType: "SessionEnd";
  reason: string;
  totalTokens?: number;
  totalToolCalls?: number;
  duration?: number;
}

/** The conversation is about to be compressed. */
export interface PreCompactEvent extends HookEvent {
  eventType: "PreCompact";
  trigger: string;
  /** The conversation, in the agent's own form. */
  messages?: unknown[];
  usedTokens?: number;
  maxTokens?: number;
}

/** The conversation was compressed. */
export interface PostCompactEvent extends HookEvent {
  eventType: "PostCompact";
  trigger: string;
  summary?: string;
  messageCountBefore?: number;
  messageCountAfter?: number;
}

/** The use of the context passed a threshold, which is a part of 1. */
export interface ContextWarningEvent extends HookEvent {
  eventType: "ContextWarning";
  usedTokens: number;
  maxTokens: number;
  threshold: number;
}

/** Each event of A3S by its name. */
export interface A3sEvents {
  PreToolUse: PreToolUseEvent;
  PostToolUse: PostToolUseEvent;
  ToolError: ToolErrorEvent;
  PermissionRequest: PermissionRequestEvent;
  PermissionGranted: PermissionGrantedEvent;
  PermissionDenied: PermissionDeniedEvent;
  GenerateStart: GenerateStartEvent;
  GenerateEnd: GenerateEndEvent;
  SessionStart: SessionStartEvent;
  SessionEnd: SessionEndEvent;
  PreCompact: PreCompactEvent;
  PostCompact: PostCompactEvent;
  ContextWarning: ContextWarningEvent;
}

/** The name of an event of A3S. */
export type A3sEventName = keyof A3sEvents;

/** The same, as the design calls it. */
export type HookEventType = A3sEventName;

const NAMES: Record<A3sEventName, true> = {
  PreToolUse: true, PostToolUse: true, ToolError: true,
  PermissionRequest: true, PermissionGranted: true, PermissionDenied: true,
  GenerateStart: true, GenerateEnd: true, SessionStart: true, SessionEnd: true,
  PreCompact: true, PostCompact: true, ContextWarning: true,
};

/** Whether A3S has an event of that name. Some of them are native names, too. */
export function isA3sEvent(name: string): name is A3sEventName {
  return Object.hasOwn(NAMES, name);
}
