/** A tool call with its hooks. */

import {isDeepStrictEqual} from "node:util";

import {HookError, HookValueError, textOf} from "../errors.js";
import {snapshot} from "../json.js";
import {isObject} from "../messages.js";
import {decided, stopStateOf, within} from "./scope.js";
import type {TriggerOptions} from "./options.js";
import type {Outcome, Scope} from "./scope.js";

/** A model's call of a tool. */
export interface ToolCallInput {
  tool_name: string;
  tool_input: Record<string, unknown>;
  tool_call_id?: string;
  mcp_context?: {server_name: string; server_uri?: string};
  recent_tools?: string[];
  token_usage?: {prompt_tokens?: number; completion_tokens?: number; total_tokens?: number};
  /** The lasting permissions that the user is offered, in the agent's own form. */
  suggestions?: unknown[];
}

/** The result of a tool, for the model, the display and hooks. */
export interface ToolResult {
  /** For the model: a text, or parts as its SDK has them. */
  llmContent: string | unknown[];
  /** For the user, if that is something else. */
  returnDisplay?: string;
  /** Why the tool failed, if it did. */
  error?: string;
  exitCode?: number;
  metadata?: Record<string, unknown>;
}

interface ToolOutcomeFields extends Outcome {
  /** The result for the model. */
  result: ToolResult;
  messageForUser?: string;
  /** The result is not to be displayed. */
  suppressDisplay?: boolean;
}

/** The outcome of a tool call. The model gets `result` in any case. */
export type ToolOutcome<T = unknown> =
  /** The tool ran. `value` is what it returned, or `thrown` what it threw, where hooks left that as it is. */
  | (ToolOutcomeFields & {outcome: "ran"; value?: T; thrown?: unknown})
  /** The call was refused. `ran` is true where the server was lost, or its time was over, while the tool ran. */
  | (ToolOutcomeFields & {outcome: "blocked"; reason: string; ran: boolean})
  /** The tool ran, and a hook's reason stands in for its result. */
  | (ToolOutcomeFields & {outcome: "replaced"; reason: string})
  /** The agent is to stop. */
  | (ToolOutcomeFields & {outcome: "stopped"; reason: string; ran: boolean});

/**
 * A tool: it gets the arguments as hooks left them. What it returns is a {@link ToolResult}, a text, or any value,
 * which the model gets as JSON; what it throws is its error. Its `signal` is aborted when the call is cancelled.
 */
export type RunTool<T> = (input: Record<string, unknown>, context: {signal: AbortSignal}) => T | Promise<T>;

/**
 * Calls a tool with its hooks: they may refuse the call, have the user confirm it (the client's `approve`),
 * change the arguments, have the tool run again, and change or replace its result. Once hooks have had the agent stop in a
 * turn, its further calls are `stopped`, and nobody is asked.
 *
 * @throws HookError `cancelled` where the signal is aborted; nothing else. Without an answer of the hooks the outcome is
 * `blocked`, with the `error`.
 */
export function executeTool<T>(
  scope: Scope, call: ToolCallInput, run: RunTool<T>, options: TriggerOptions = {},
): Promise<ToolOutcome<T>> {
  return runTool(scope, call, async (input, context) => {
    const value = await run(input, context);
    return {value, result: isToolResult(value) ? value : {llmContent: snapshot(value).text}};
  }, options);
}

/** What a tool returned: for the library of an agent, and for its model, which gets no more than that. */
export interface Returned<T> {
  value: T;
  result: ToolResult;
}

/** Calls a tool as `executeTool` does, where a library says itself what its model gets of what the tool returns. */
export async function runTool<T>(
  scope: Scope, call: ToolCallInput, run: (input: Record<string, unknown>, context: {signal: AbortSignal}) => Promise<Returned<T>>,
  options: TriggerOptions = {},
): Promise<ToolOutcome<T>> {
  const [client, all] = within(scope, options);
  const stop = stopStateOf(scope);
  let last: Returned<T> | {result: ToolResult; thrown: unknown} | undefined;
  let ran = false;
  const services = {
    "tool.run": async (params: Record<string, unknown>, {signal}: {signal: AbortSignal}) => {
      last = undefined;
      const input = params["tool_input"];
      if (!isObject(input)) throw new HookError("invalid_message", "the tool's arguments are no object");
      if (stop.reason !== undefined) throw new HookError("stopped", stop.reason); // By another call, while this one waited.
      ran = true;
      let returned: Returned<T>;
      try {
        returned = await run(input, {signal});
      } catch (thrown) {
        const error = errorText(thrown);
        last = {thrown, result: {llmContent: error, error}};
        throw thrown instanceof HookValueError ? thrown : new HookError("failed", error);
      }
      const {copy: result} = snapshot(returned.result); // What has no JSON form is the tool's error.
      last = {...returned, result};
      return result;
    },
  };
  const refusal = (error: HookError): ToolOutcome<T> => {
    const lost = `the hooks of ${call.tool_name} could not be asked`;
    const reason = ran ? `${lost} about its result, and it may have done its work: ${error.message}` : `${lost}: ${error.message}`;
    return {outcome: "blocked", reason, ran, result: {llmContent: reason, error: reason}, warnings: [], error};
  };
  const stopped = (reason: string): ToolOutcome<T> => (
    {outcome: "stopped", reason, ran: false, result: {llmContent: reason, error: reason}, warnings: []}
  );
  if (stop.reason !== undefined) return stopped(stop.reason);
  const begun = client.trigger("tool", {...call}, () => ({services}), all).then((given) => {
    const {llmContent} = isObject(given["result"]) ? given["result"] : {};
    if (typeof llmContent === "string" || Array.isArray(llmContent)) return given;
    throw new HookError("invalid_message", "the server's result of a tool has no content");
  });
  const outcome = await decided<ToolOutcome<T>>(begun, ["ran", "blocked", "replaced", "stopped"], refusal);
  if (outcome.outcome === "stopped") stop.reason ??= outcome.reason;
  if (outcome.outcome === "ran" && !ran && stop.reason !== undefined) return stopped(stop.reason);
  if (outcome.outcome !== "ran" || !last || !isSame(outcome.result, last.result)) return outcome;
  return Object.assign(outcome, "thrown" in last ? {thrown: last.thrown} : {value: last.value});
}

const FIELDS: Record<string, (value: unknown) => boolean> = {
  llmContent: (value) => typeof value === "string" || Array.isArray(value),
  returnDisplay: (value) => typeof value === "string",
  error: (value) => typeof value === "string",
  exitCode: Number.isSafeInteger,
  metadata: isObject,
};

/** Returns `true` for a result, of which hooks see all. Anything else is a value that only looks like one, such as data from outside. */
function isToolResult(value: unknown): value is ToolResult {
  if (!isObject(value) || value["llmContent"] === undefined) return false;
  return Object.entries(value).every(([name, field]) => field === undefined || (Object.hasOwn(FIELDS, name) && FIELDS[name]!(field)));
}

/** The text that a model gets of what was thrown. */
function errorText(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message;
  if (typeof thrown !== "object") return textOf(thrown);
  try {
    return JSON.stringify(thrown) ?? textOf(thrown);
  } catch {
    return textOf(thrown);
  }
}

/** Returns `true` if hooks left what the tool returned. */
function isSame(given: ToolResult, returned: ToolResult): boolean {
  return (["llmContent", "error", "returnDisplay", "metadata"] as const).every((name) => isDeepStrictEqual(given[name] ?? null, returned[name] ?? null));
}
