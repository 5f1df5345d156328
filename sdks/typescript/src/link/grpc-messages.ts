/** The messages of proto/*.proto, and the JSON messages that they stand for. */

import type {ClientDuplexStream, ClientReadableStream, ClientUnaryCall, Metadata, ServiceError} from "@grpc/grpc-js";

import {HookError} from "../errors.js";
import type {OutgoingMessage} from "../json.js";
import {isObject} from "../messages.js";
import type {IncomingMessage} from "../messages.js";

type Reply<T> = (error: ServiceError | null, reply?: T) => void;

/** Fields as proto-loader gives them: what is not set is absent. */
export type Fields = Record<string, unknown>;

/** The calls of HookService. */
export interface HookClientStub {
  RegisterHook(request: Fields, metadata: Metadata, reply: Reply<Fields>): ClientUnaryCall;
  UnregisterHook(request: Fields, metadata: Metadata, reply: Reply<Fields>): ClientUnaryCall;
  ListHooks(request: Fields, metadata: Metadata, reply: Reply<Fields>): ClientUnaryCall;
  HookStream(metadata: Metadata): ClientDuplexStream<Fields, Fields>;
  close(): void;
}

/** The calls of HookBus. */
export interface BusClient {
  Request(request: {json: Buffer}, metadata: Metadata, reply: Reply<{json?: Uint8Array}>): ClientUnaryCall;
  Follow(request: object, metadata: Metadata): ClientReadableStream<{json?: Uint8Array}>;
  close(): void;
}

/**
 * A hook-register as a RegisterHookRequest.
 *
 * @throws HookError `unsupported` for what the request has no field for.
 */
export function toRegisterRequest(message: OutgoingMessage): Fields {
  const {hookId, eventName, vocabulary, matcher, config} = message;
  const request: Fields = {hook_id: hookId, event_type: eventName, vocabulary};
  if (matcher !== undefined) request["matcher"] = toMatcher(matcher);
  if (isObject(config)) {
    const {priority, timeout, async: isAsync, failBehavior} = config;
    if (priority === 0) throw unsupported("priority 0 means the default there; another number near it will do");
    request["config"] = {priority: priority ?? 0, timeout_ms: timeout ?? 0, async: isAsync ?? false, fail_behavior: failBehavior ?? ""};
  }
  return request;
}

function toMatcher(matcher: unknown): Fields {
  if (typeof matcher === "string") throw unsupported("a matcher is an object there");
  const {kind, tool, toolPattern, pathPattern, commandPattern} = matcher as Fields;
  if (kind !== undefined) throw unsupported("a matcher has no `kind` there");
  if (toolPattern !== undefined) throw unsupported("a matcher has no `toolPattern` there");
  for (const value of [tool, pathPattern]) if (Array.isArray(value)) throw unsupported("a matcher takes one text there, no array");
  return {
    ...(tool !== undefined && {tool}),
    ...(pathPattern !== undefined && {path_pattern: pathPattern}),
    ...(commandPattern !== undefined && {command_pattern: commandPattern}),
  };
}

/** A RegisteredHook as in hook-hooks. */
export function fromRegisteredHook(hook: Fields): Fields {
  const matcher = isObject(hook["matcher"]) ? hook["matcher"] : undefined;
  const config = isObject(hook["config"]) ? hook["config"] : undefined;
  return {
    hookId: hook["hook_id"] ?? "",
    eventName: hook["event_type"] ?? "",
    ...(hook["vocabulary"] !== undefined && {vocabulary: hook["vocabulary"]}),
    ...(matcher && {matcher: {
      ...(matcher["tool"] !== undefined && {tool: matcher["tool"]}),
      ...(matcher["path_pattern"] !== undefined && {pathPattern: matcher["path_pattern"]}),
      ...(matcher["command_pattern"] !== undefined && {commandPattern: matcher["command_pattern"]}),
    }}),
    ...(config && {config: {
      ...(config["priority"] !== undefined && {priority: config["priority"]}),
      ...(config["timeout_ms"] !== undefined && {timeout: config["timeout_ms"]}),
      async: config["async"] ?? false,
      ...(config["fail_behavior"] !== undefined && {failBehavior: config["fail_behavior"]}),
    }}),
    own: hook["own"] ?? false,
  };
}

/** A HookEvent as the message it stands for. Throws an Error for a payload that is no JSON object. */
export function fromHookEvent(event: Fields, callId: string): IncomingMessage {
  if (bytesOf(event["host_result"])) return {type: "hook-host-result", ...objectIn(event["host_result"])};
  if (event["cancelled"] === true) return {type: "hook-call-cancelled", callId};
  const payload = objectIn(event["payload"]);
  const isOurs = payload["hook_event_name"] !== undefined;
  const metadata = bytesOf(event["metadata"]) ? objectIn(event["metadata"]) : {};
  // The design has these beside the payload; a native payload has its own.
  const beside = isOurs ? {} : {
    eventType: event["event_type"], sessionId: event["session_id"] ?? "", timestamp: event["timestamp"] ?? 0, metadata,
  };
  const deadlineMs = event["deadline_ms"];
  return {
    type: "hook-call", callId, hookId: event["hook_id"] ?? "", eventName: event["event_type"] ?? "",
    input: {...beside, ...payload},
    ...(typeof deadlineMs === "number" && deadlineMs > 0 && {deadlineMs}),
  };
}

/** A hook-answer as a HookResponse, but for the ids. */
export function toHookResponse(answer: OutgoingMessage): Fields {
  const {action, reason, delay, modified, output, error} = answer;
  if (error !== undefined) return {error};
  if (output !== undefined) return {output: Buffer.from(JSON.stringify(output))};
  return {
    action: String(action).toUpperCase(),
    ...(reason !== undefined && {reason}),
    ...(delay !== undefined && {retry_delay_ms: delay}),
    ...(modified !== undefined && {modified: Buffer.from(JSON.stringify(modified))}),
  };
}

/** Codes of gRPC by their numbers, in our words where we have one. */
const CODES: Record<number, string> = {
  1: "cancelled", 3: "invalid_request", 4: "deadline_exceeded", 5: "not_found", 6: "duplicate_id", 7: "refused",
  8: "limit_exceeded", 12: "unsupported", 14: "connection_lost", 16: "refused",
};

/** A failed call as an error of ours. */
export function fromServiceError(error: ServiceError): HookError {
  return new HookError(CODES[error.code] ?? "internal_error", error.details || error.message, {cause: error});
}

/** The bytes of a field, as text. `undefined` where it has none. */
export function bytesOf(value: unknown): string | undefined {
  if (!(value instanceof Uint8Array) || value.length === 0) return undefined;
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString();
}

function objectIn(bytes: unknown): Fields {
  const value: unknown = JSON.parse(bytesOf(bytes) ?? "{}");
  if (!isObject(value)) throw new Error("its JSON is no object");
  return value;
}

function unsupported(why: string): HookError {
  return new HookError("unsupported", `over gRPC it cannot be said: ${why}`);
}
