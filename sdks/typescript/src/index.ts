/** Hooks for AI agents: the client of `hook serve`, and workers. */

export {HookClient, HookClient as A3sClient} from "./client.js";
export type {HookClientOptions, HookClientOptions as A3sClientOptions} from "./client.js";
export type {ReconnectOptions} from "./connection.js";
export type {HookContext, HostMethod, LogLevel} from "./context.js";
export {HookConnectionError, HookError, HookRegistrationError, HookValueError} from "./errors.js";
export type {FailedRequest} from "./errors.js";
export type * from "./events/a3s.js";
export type * from "./events/native.js";
export type {
  AuditEntry, AuditLevel, HookExecutionResponse, HookRun, Processed, Progress, RegisteredHook, RequestOptions,
} from "./execution.js";
export type {HostAsked, HostService, HostServices} from "./host.js";
export type {GrpcOptions} from "./link/grpc.js";
export type {NatsOptions} from "./link/nats.js";
export type {Fired} from "./outcome.js";
export type {
  A3sHandler, HookConfig, HookMatcher, HookOptions, NativeHandler, OnlyNativeEventName,
} from "./registration.js";
export type {HookResponse, ModifiedData, NativeOutput, Vocabulary} from "./responses.js";
export type {TemporaryHook} from "./temporary.js";
export {Worker, worker} from "./worker.js";
export type {ServeOptions} from "./worker.js";
