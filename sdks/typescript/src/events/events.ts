/** Events in the engine's own words, with those that a project declares. */

import type {NativeAnswer, NativeBase, NativeInputs, NativeOutputs} from "./native.js";

/**
 * What handlers read of the events that a project declares (docs/reference/events.md), which only the project knows:
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

/** What a handler of an event reads. An agent may say more. */
export type NativeEvent<E extends NativeEventName = NativeEventName> =
  E extends keyof NativeInputs ? NativeInputs[E] : E extends keyof DeclaredEvents ? NativeBase & DeclaredEvents[E] : never;

/** What a handler of an event may answer. */
export type Answered<E extends NativeEventName = NativeEventName> =
  E extends keyof NativeOutputs ? NativeOutputs[E] : NativeAnswer<{hookEventName?: E; additionalContext?: string}>;

/** What the engine adds by itself, unless the agent says it. */
type Added = keyof NativeBase | "hook_event_name" | "kind" | "files" | "filesComplete" | "stop_hook_active";

/** Payloads of models, which an agent has in the form of its SDK. */
interface InSdkForm {
  llm_request: object;
  llm_response: object;
}

/** What an agent says of an event. */
export type AskInput<E extends NativeEventName> = Given<NativeEvent<E>>;
type Given<T> = {[F in keyof T as F extends Added ? F : never]?: T[F]}
  & {[F in keyof T as F extends Added ? never : F]: F extends keyof InSdkForm ? InSdkForm[F] : T[F]}
  & {sdk?: string; idempotencyKey?: string};
