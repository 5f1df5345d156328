/** What a handler is registered with, and how that is checked before anything is sent. */

import {HookError} from "./errors.js";
import type {A3sEventName, A3sEvents} from "./events/a3s.js";
import {isA3sEvent} from "./events/a3s.js";
import type {Answered, NativeEvent, NativeEventName} from "./events/events.js";
import {MATCHER_FIELDS} from "./events/native.js";
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

/**
 * Checks what `registerHook` and `worker.on` were given.
 *
 * @throws {@link HookError} `invalid_hook`, for what the server could not understand: a field that is
 * not known could be a misspelt restriction, and is not passed over.
 */
export function readRegistration(
  eventName: string,
  given: AnyHandler | HookOptions<AnyHandler>,
  shared: Vocabulary,
): Registration {
  if (typeof eventName !== "string" || eventName === "") throw invalid("an event has a name");
  const options: HookOptions<AnyHandler> = typeof given === "function" ? {handler: given} : given;
  if (!isObject(options)) throw invalid("a hook is a function, or an object with a `handler`");
  only(options, ["handler", "matcher", "config", "id", "vocabulary"], "a hook");
  const {handler, matcher, config, id, vocabulary} = options;
  if (typeof handler !== "function") throw invalid("`handler` is a function");
  if (id !== undefined && (typeof id !== "string" || id === "")) throw invalid("`id` is a text");
  if (vocabulary !== undefined && vocabulary !== "a3s" && vocabulary !== "native") {
    throw invalid('`vocabulary` is "a3s" or "native"');
  }
  checkMatcher(matcher);
  checkConfig(config);
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

/** The fields of a matcher that are one text. */
const PATTERNS = new Set<string>(["toolPattern", "commandPattern"]);

function checkMatcher(matcher: unknown): void {
  if (matcher === undefined || typeof matcher === "string") return;
  if (!isObject(matcher)) throw invalid("`matcher` is a text or an object");
  only(matcher, MATCHER_FIELDS, "a matcher");
  for (const name of MATCHER_FIELDS) {
    const value = matcher[name];
    if (PATTERNS.has(name)) {
      if (value !== undefined && typeof value !== "string") throw invalid(`\`${name}\` is a text`);
      continue;
    }
    const isTexts = Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === "string");
    if (value !== undefined && typeof value !== "string" && !isTexts) {
      throw invalid(`\`${name}\` is a text, or an array of texts`);
    }
  }
}

function checkConfig(config: unknown): void {
  if (config === undefined) return;
  if (!isObject(config)) throw invalid("`config` is an object");
  only(config, ["priority", "timeout", "async", "failBehavior"], "a config");
  const {priority, timeout, async: isAsync, failBehavior} = config;
  if (priority !== undefined && !Number.isSafeInteger(priority)) throw invalid("`priority` is a whole number");
  if (timeout !== undefined && (!Number.isSafeInteger(timeout) || Number(timeout) <= 0)) {
    throw invalid("`timeout` is a whole number of milliseconds above 0");
  }
  if (isAsync !== undefined && typeof isAsync !== "boolean") throw invalid("`async` is true or false");
  if (failBehavior !== undefined && failBehavior !== "continue" && failBehavior !== "block") {
    throw invalid('`failBehavior` is "continue" or "block"');
  }
}

function only(value: object, known: readonly string[], what: string): void {
  for (const name of Object.keys(value)) {
    if (!known.includes(name)) {
      throw invalid(`\`${name.slice(0, 100)}\` is no field of ${what}; there are ${known.join(", ")}`);
    }
  }
}

function invalid(why: string): HookError {
  return new HookError("invalid_hook", why);
}
