// What a module gets that imports the package of its types at run time. Types have no values; a name that
// is imported without `import type` is there all the same, where nothing takes it out.

/** Whether an event is about a tool of that name. */
export function isToolCallEventType(name, event) {
  return event?.toolName === name;
}

export const isToolResultEventType = isToolCallEventType;
export const isBashToolResult = (event) => event?.toolName === "bash";
export const isReadToolResult = (event) => event?.toolName === "read";
export const isEditToolResult = (event) => event?.toolName === "edit";
export const isWriteToolResult = (event) => event?.toolName === "write";
export const isGrepToolResult = (event) => event?.toolName === "grep";
export const isFindToolResult = (event) => event?.toolName === "find";
export const isLsToolResult = (event) => event?.toolName === "ls";

export const TextContent = undefined;
export const ImageContent = undefined;
export const Content = undefined;
export const UserMessage = undefined;
export const AssistantMessage = undefined;
export const ToolResultMessage = undefined;
export const CustomMessage = undefined;
export const Message = undefined;
export const HookMessage = undefined;
export const SessionEntry = undefined;
export const CompactionResult = undefined;
export const SessionStartEvent = undefined;
export const SessionBeforeSwitchEvent = undefined;
export const SessionSwitchEvent = undefined;
export const SessionBeforeBranchEvent = undefined;
export const SessionBranchEvent = undefined;
export const SessionBeforeCompactEvent = undefined;
export const SessionCompactingEvent = undefined;
export const SessionCompactEvent = undefined;
export const SessionBeforeTreeEvent = undefined;
export const SessionTreeEvent = undefined;
export const SessionShutdownEvent = undefined;
export const ContextEvent = undefined;
export const BeforeAgentStartEvent = undefined;
export const AgentStartEvent = undefined;
export const AgentEndEvent = undefined;
export const TurnStartEvent = undefined;
export const TurnEndEvent = undefined;
export const AutoCompactionStartEvent = undefined;
export const AutoCompactionEndEvent = undefined;
export const AutoRetryStartEvent = undefined;
export const AutoRetryEndEvent = undefined;
export const TtsrTriggeredEvent = undefined;
export const TodoReminderEvent = undefined;
export const ToolCallEvent = undefined;
export const ToolResultEvent = undefined;
export const CancelResult = undefined;
export const SessionBeforeBranchResult = undefined;
export const SessionBeforeCompactResult = undefined;
export const SessionCompactingResult = undefined;
export const SessionBeforeTreeResult = undefined;
export const ContextResult = undefined;
export const BeforeAgentStartResult = undefined;
export const ToolCallResult = undefined;
export const ToolResultResult = undefined;
export const HookEvents = undefined;
export const HookEventName = undefined;
export const HookEvent = undefined;
export const HookHandler = undefined;
export const Theme = undefined;
export const HookUIContext = undefined;
export const ReadonlySessionManager = undefined;
export const SetupSessionManager = undefined;
export const HookContext = undefined;
export const HookCommandContext = undefined;
export const HookCommand = undefined;
export const HookMessageRenderer = undefined;
export const ExecOptions = undefined;
export const ExecResult = undefined;
export const Logger = undefined;
export const HookAPI = undefined;
export const HookFactory = undefined;
