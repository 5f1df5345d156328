/** Hooks for AI agents: the client of `hook serve`, and workers. */

export {A3sClient, HookClient} from "./client.js";
export type {HookClientOptions, HookClientOptions as A3sClientOptions, Progress, RequestOptions} from "./client.js";
export type {ReconnectOptions} from "./connection.js";
export type {HookContext, HostMethod, LogLevel} from "./context.js";
export {HookConnectionError, HookError, HookRegistrationError, HookValueError} from "./errors.js";
export type {FailedRequest} from "./errors.js";
export type * from "./events/a3s.js";
export type * from "./events/events.js";
export type * from "./events/native.js";
export type {Approval, Approve, Approved, HostAsked, HostService, HostServices} from "./host.js";
export type {Fired} from "./outcome.js";
export type {
  A3sHandler, HookOptions, NativeHandler, OnlyA3sEventName, OnlyNativeEventName,
} from "./registration.js";
export type {HookResponse, ModifiedData, Vocabulary} from "./responses.js";
export type {TemporaryHook} from "./temporary.js";
export {agentTurn, endTurn, session} from "./triggers/agent.js";
export type {AgentSession, AgentTurn, LifecycleOutcome, PromptOutcome, SessionOptions, TurnEnd} from "./triggers/agent.js";
export {callModel} from "./triggers/model.js";
export type {CallModel, ModelAnswer, ModelOptions, ModelOutcome, ModelPart, ModelSdk} from "./triggers/model.js";
export type {SessionFields, TriggerOptions} from "./triggers/options.js";
export type {Advice, InnerScope, Outcome, Scope} from "./triggers/scope.js";
export {executeTool} from "./triggers/tool.js";
export type {RunTool, ToolCallInput, ToolOutcome, ToolResult} from "./triggers/tool.js";
export {Worker, worker} from "./worker.js";
export type {ServeOptions} from "./worker.js";
