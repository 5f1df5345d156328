/** Events in the engine's own format, with those that a project declares. */

import type {NativeAnswer, NativeBase, NativeInputs, NativeOutputs} from "./native.js";

/**
 * The fields of events that a project declares (docs/reference/events.md), which only the project knows:
 *
 * ```ts
 * declare module "hook-sdk" {
 *   interface DeclaredEvents { DeployFinished: {environment: string} }
 * }
 * ```
 */
export interface DeclaredEvents {}

/** The name of an event. */
export type NativeEventName = keyof NativeInputs | keyof DeclaredEvents;

/** The input of an event's handler. An agent may add fields. */
export type NativeEvent<E extends NativeEventName = NativeEventName> =
  E extends keyof NativeInputs ? NativeInputs[E] : E extends keyof DeclaredEvents ? NativeBase & DeclaredEvents[E] : never;

/** The answer of an event's handler. */
export type Answered<E extends NativeEventName = NativeEventName> =
  E extends keyof NativeOutputs ? NativeOutputs[E] : NativeAnswer<{hookEventName?: E; additionalContext?: string}>;

/** The fields that the engine adds unless the agent gives them. */
type Added = keyof NativeBase | "hook_event_name" | "kind" | "files" | "filesComplete" | "stop_hook_active";

/** Payloads of models, which an agent has in the form of its SDK. */
interface InSdkForm {
  llm_request: object;
  llm_response: object;
}

/** The input of an event as an agent gives it. */
export type AskInput<E extends NativeEventName> = Given<NativeEvent<E>>;
type Given<T> = {[F in keyof T as F extends Added ? F : never]?: T[F]}
  & {[F in keyof T as F extends Added ? never : F]: F extends keyof InSdkForm ? InSdkForm[F] : T[F]}
  & {sdk?: string; idempotencyKey?: string};
