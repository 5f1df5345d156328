/** What a handler is registered with, and how that is checked before anything is sent. */

import {HookError} from "./errors.js";
import type {A3sEventName, A3sEvents} from "./events/a3s.js";
import {isA3sEvent} from "./events/a3s.js";
import type {Answered, NativeEvent, NativeEventName} from "./events/events.js";
import type {HookConfig, HookMatcher} from "./events/native.js";
import type {HookContext} from "./context.js";
import {isObject} from "./messages.js";
import type {HookResponse, Vocabulary} from "./responses.js";

type Returned<T> = T | void | undefined | Promise<T | void | undefined>;

/** A handler in the words of A3S. What it throws is an error to the server, and `failBehavior` decides. */
export type A3sHandler<E extends A3sEventName = A3sEventName> =
  (event: A3sEvents[E], context: HookContext) => Returned<HookResponse>;

/** A handler in the engine's own words. */
export type NativeHandler<E extends NativeEventName = NativeEventName> =
  (event: NativeEvent<E>, context: HookContext) => Returned<Answered<E> | HookResponse>;

/** A handler with all that it is registered with. */
export interface HookOptions<H, V extends Vocabulary = Vocabulary> {
  handler: H;
  /** A string is a pattern for what the event's matchers are compared with. Without one: everything. */
  matcher?: string | HookMatcher;
  config?: HookConfig;
  /** An id of one's own, unique in this client; one is made without it. */
  id?: string;
  /** Needed only for names that the engine and A3S both have, such as SessionStart: the engine's, but for an `A3sClient`. */
  vocabulary?: V;
}

/** Native events whose names mean nothing in A3S. */
export type OnlyNativeEventName = Exclude<NativeEventName, A3sEventName>;

/** Events that only A3S has. */
export type OnlyA3sEventName = Exclude<A3sEventName, NativeEventName>;

/** Any handler, as it is kept. */
export type AnyHandler = (event: never, context: HookContext) => unknown;

/** A handler to be registered, checked. */
export interface Registration {
  readonly eventName: string;
  readonly vocabulary: Vocabulary;
  readonly matcher?: string | HookMatcher;
  readonly config?: HookConfig;
  readonly id?: string;
  readonly handler: AnyHandler;
}

const FIELDS: readonly string[] = ["handler", "matcher", "config", "id", "vocabulary"] satisfies (keyof HookOptions<never>)[];

/**
 * Checks what `registerHook` and `worker.on` were given. The server checks matchers and configs.
 *
 * @throws {@link HookError} `invalid_hook`: a field that is not known could be a misspelt restriction, and is not passed over.
 */
export function readRegistration(
  eventName: string,
  given: AnyHandler | HookOptions<AnyHandler>,
  shared: Vocabulary,
): Registration {
  if (typeof eventName !== "string" || eventName === "") throw invalid("an event has a name");
  const options: HookOptions<AnyHandler> = typeof given === "function" ? {handler: given} : given;
  if (!isObject(options)) throw invalid("a hook is a function, or an object with a `handler`");
  const unknown = Object.keys(options).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined) throw invalid(`\`${unknown.slice(0, 100)}\` is no field of a hook; there are ${FIELDS.join(", ")}`);
  const {handler, matcher, config, id, vocabulary} = options;
  if (typeof handler !== "function") throw invalid("`handler` is a function");
  if (id !== undefined && (typeof id !== "string" || id === "")) throw invalid("`id` is a text");
  if (vocabulary !== undefined && vocabulary !== "a3s" && vocabulary !== "native") {
    throw invalid('`vocabulary` is "a3s" or "native"');
  }
  return {
    eventName,
    vocabulary: vocabulary ?? vocabularyOf(eventName, shared),
    ...(matcher !== undefined && {matcher}),
    ...(config !== undefined && {config}),
    ...(id !== undefined && {id}),
    handler,
  };
}

/** Names that both vocabularies have. */
const SHARED = new Set<string>([
  "ToolError", "PermissionRequest", "PermissionGranted", "PermissionDenied",
  "SessionStart", "SessionEnd", "ContextWarning",
]);

function vocabularyOf(eventName: string, shared: Vocabulary): Vocabulary {
  if (SHARED.has(eventName)) return shared;
  return isA3sEvent(eventName) ? "a3s" : "native";
}

function invalid(why: string): HookError {
  return new HookError("invalid_hook", why);
}
