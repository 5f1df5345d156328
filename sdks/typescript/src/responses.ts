/** What handlers answer. */

import {textOf} from "./errors.js";
import {isObject} from "./messages.js";

/** What a handler changes. On PreToolUse `args` replaces the tool's arguments as a whole. */
export interface ModifiedData {
  args?: Record<string, unknown>;
  messages?: unknown[];
  [field: string]: unknown;
}

/** An answer in the words of A3S; the engine understands it from native handlers, too. */
export type HookResponse =
  /** Go on, with changes or without. */
  | {action: "continue"; modified?: ModifiedData}
  /** Stop it; the agent gets the reason. */
  | {action: "block"; reason: string}
  /** Do it again after `delay` milliseconds. */
  | {action: "retry"; delay?: number; reason?: string}
  /** Hooks of later priorities do not start, guards excepted. */
  | {action: "skip"};

/** Which words a handler is told and answers in. */
export type Vocabulary = "a3s" | "native";

/** An answer as fields of a hook-answer, and what is odd about it; or why it is none. */
export type Answer = {fields: Record<string, unknown>; oddities: string[]} | {error: string};

const KNOWN = new Set(["action", "reason", "delay", "modified"]);

/**
 * Reads what a handler returned. Nothing (`undefined`) means: go on. A block stays one whatever else
 * is wrong with the answer; of any other answer that is wrong, it is an error to the server.
 */
export function readAnswer(vocabulary: Vocabulary, returned: unknown): Answer {
  if (returned === undefined || returned === null) {
    return {fields: vocabulary === "a3s" ? {action: "continue"} : {output: {}}, oddities: []};
  }
  if (!isObject(returned)) return {error: `the handler returned ${kindOf(returned)}; an answer is an object`};
  if (returned["action"] === undefined) {
    if (vocabulary === "native") return {fields: {output: returned}, oddities: []};
    return {error: "the handler returned an object without an `action`: continue, block, retry or skip"};
  }
  return readAction(returned);
}

function readAction(returned: Record<string, unknown>): Answer {
  const {action, reason, delay, modified} = returned;
  const oddities = Object.keys(returned)
    .filter((name) => !KNOWN.has(name))
    .map((name) => `\`${name.slice(0, 100)}\` is no field of an answer`);
  const withReason = reason === undefined || reason === null ? {} : {reason: textOf(reason)};
  if (modified != null && action !== "continue") oddities.push(`\`modified\` counts with \`continue\` only`);
  switch (action) {
    case "block":
      return {fields: {action, ...withReason}, oddities};
    case "skip":
      return {fields: {action, ...withReason}, oddities};
    case "retry": {
      if (delay === undefined || delay === null) return {fields: {action, ...withReason}, oddities};
      if (typeof delay !== "number" || !Number.isFinite(delay) || delay < 0) {
        return {error: "the `delay` of a retry is milliseconds, a number from 0"};
      }
      return {fields: {action, delay: Math.ceil(delay), ...withReason}, oddities};
    }
    case "continue":
      if (modified === undefined || modified === null) return {fields: {action, ...withReason}, oddities};
      if (!isObject(modified)) return {error: "`modified` is no object"};
      return {fields: {action, modified, ...withReason}, oddities};
    default:
      return {error: `\`action\` is ${shown(action)}; it is one of continue, block, retry and skip`};
  }
}

/** A value as people are told of it. */
export function shown(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value.slice(0, 100)) : kindOf(value);
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return "an array";
  return value === undefined || value === null ? "nothing" : `${typeof value === "object" ? "an" : "a"} ${typeof value}`;
}
