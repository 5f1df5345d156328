/**
 * The engine's own events (docs/reference/events.md): what a request says in `input`, and what
 * a native handler is told, which has the base fields as well. Times are milliseconds.
 */

import type {TokenUsage} from "./a3s.js";

type Fields = Record<string, unknown>;

/** What the engine adds to every input, unless the request said it. */
export interface NativeBase {
  session_id: string;
  transcript_path: string;
  cwd: string;
  hook_event_name: string;
  /** ISO 8601, UTC. */
  timestamp: string;
  /** What the tool does, of an event about one. */
  kind?: "shell" | "file_read" | "file_write" | "web" | "mcp" | "agent" | "other";
  /** The files that the tool's arguments name: absolute, links resolved. */
  files?: {path: string; access: "read" | "write"}[];
  /** `false` where `files` has not all of them. */
  filesComplete?: boolean;
}

interface Tool {
  tool_name: string;
  tool_input: Fields;
  tool_call_id?: string;
}

/** The fields of each event. An agent may say more; hooks are told all of it. */
export interface NativeInputs {
  BeforeTool: Tool & {mcp_context?: {server_name: string; server_uri?: string}; recent_tools?: string[]; token_usage?: TokenUsage};
  AfterTool: Tool & {
    tool_response: unknown; mcp_context?: {server_name: string; server_uri?: string};
    duration_ms?: number; exit_code?: number; is_error?: boolean;
  };
  ToolError: Tool & {error: string; exit_code?: number};
  ToolBatch: {calls: unknown[]};
  PermissionRequest: Tool & {suggestions?: unknown[]};
  PermissionGranted: {tool_name: string; tool_input: Fields; by: string};
  PermissionDenied: {tool_name: string; tool_input: Fields; by: string; reason?: string};
  BeforeAgent: {prompt: string; images?: unknown[]};
  AgentStart: Fields;
  AfterAgent: {prompt: string; prompt_response: string; stop_hook_active: boolean; messages?: unknown[]};
  TurnStart: {turn_index: number; turn_timestamp?: number};
  TurnEnd: {turn_index: number; message: unknown; tool_results: unknown[]; turn_timestamp?: number};
  TurnFailed: {error: string; error_details?: unknown};
  Interrupt: Fields;
  PromptExpansion: {command_name: string; prompt: string; command_args?: string};
  Command: {command_name: string; arguments: string};
  SubagentStart: {agent_id: string; agent_type: string; task?: string};
  SubagentStop: {agent_id: string; agent_type: string; task?: string; prompt_response?: string; stop_hook_active?: boolean};
  Notification: {message: string; notification_type?: string; details?: Fields; level?: string};
  TodoReminder: {todos: unknown[]; attempt: number; max_attempts: number};
  RuleTriggered: {rules: unknown[]};
  BeforeModel: {llm_request: Fields; messages?: unknown[]; prompt?: string; system_prompt?: string; tools?: unknown[]};
  AfterModel: {
    llm_request: Fields; llm_response: Fields; prompt?: string; tool_calls?: unknown[];
    usage?: TokenUsage; duration_ms?: number;
  };
  BeforeToolSelection: {llm_request: Fields; available_tools?: unknown[]};
  AutoRetryStart: {attempt: number; max_attempts: number; delay_ms: number; error: string};
  AutoRetryEnd: {success: boolean; attempt: number};
  SessionStart: {source: "startup" | "resume" | "clear" | "compress"; model?: string; system_prompt?: string};
  SessionEnd: {
    reason: "exit" | "clear" | "logout" | "prompt_input_exit" | "other";
    total_tokens?: number; total_tool_calls?: number; duration_ms?: number;
  };
  BeforeSessionSwitch: {reason: "new" | "resume" | "fork"; target?: string};
  SessionSwitch: {reason: "new" | "resume" | "fork"; previous?: string};
  BeforeSessionBranch: {entry_id: string};
  SessionBranch: {entry_id: string; previous?: string};
  BeforeSessionTree: {preparation: Fields};
  SessionTree: {new_leaf_id: string; old_leaf_id: string; summary_entry?: unknown};
  PreCompress: {
    trigger: "manual" | "auto"; messages?: unknown[]; preparation?: Fields; custom_instructions?: string;
    used_tokens?: number; max_tokens?: number;
  };
  Compacting: {messages: unknown[]};
  PostCompress: {trigger: "manual" | "auto"; summary?: string; message_count_before?: number; message_count_after?: number};
  ContextWarning: {used_tokens: number; max_tokens: number; threshold: number};
  AutoCompactionStart: {reason: "threshold" | "overflow" | "idle" | "incomplete"};
  AutoCompactionEnd: {aborted: boolean; will_retry: boolean; result?: unknown};
}

/** The name of an event of the engine's. */
export type NativeEventName = keyof NativeInputs;

/** What a native handler of an event is told; of a declared event any fields. */
export type NativeEvent<E extends string = string> = NativeBase &
  (E extends NativeEventName ? NativeInputs[E] : Fields) & Fields;
