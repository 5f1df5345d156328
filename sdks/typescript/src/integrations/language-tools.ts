/** The tools of an agent with hooks around them, in the form of the AI SDK, which Mastra has as well. */

import type {LanguageModelMiddleware} from "ai";

import {snapshot} from "../json.js";
import {isObject} from "../messages.js";
import {runTool} from "../triggers/tool.js";
import type {Returned, ToolResult} from "../triggers/tool.js";
import {textOfMessage} from "./chat.js";
import type {Model} from "./language-model.js";
import {HookRefusal, textOfContent} from "./shared.js";
import type {Run} from "./shared.js";

/** The part of a tool that hooks need. */
export interface LanguageTool {
  execute?: ((input: never, options: never) => unknown) | undefined;
  toModelOutput?: ((given: never) => unknown) | undefined;
  providerOptions?: object | undefined;
  /** That of a tool of the provider's begins with `provider`; its `args` go to the model instead of `providerOptions`. */
  type?: string | undefined;
  args?: object | undefined;
}

/** The mark of what has hooks, in objects that libraries hand on or copy. */
const HOOKED = Symbol("hook-sdk");

/** Returns a copy with the mark. */
export function marked<V extends object>(value: V | undefined): V {
  return {...value, [HOOKED]: true} as V;
}

/** Returns `true` for what has the mark. */
export function isMarked(value: unknown): boolean {
  return Object(value)[HOOKED] === true;
}

/** The middleware of an agent's model, which refuses a call that offers tools without hooks. `remedy` is what to do about them. */
export function refusingTools({wrapGenerate, wrapStream, ...more}: LanguageModelMiddleware, remedy: string): LanguageModelMiddleware {
  const check = ({tools}: Parameters<Model["doGenerate"]>[0]) => {
    const foreign = tools?.find((tool) => !isMarked(tool.type === "function" ? tool.providerOptions : tool.args));
    if (foreign) throw new HookRefusal("blocked", `the tool ${foreign.name} has no hooks: ${remedy}`);
  };
  return {
    ...more,
    wrapGenerate: async (call) => (check(call.params), wrapGenerate!(call)),
    wrapStream: async (call) => (check(call.params), wrapStream!(call)),
  };
}

/** The differences of a library. */
export interface ToolLibrary<T> {
  /** Returns the model's own arguments, of which the schema has made those that the tool is given, if that is known, and they are that still. */
  rawOf?(given: object): Record<string, unknown> | undefined;
  /**
   * Resolves with arguments that hooks have changed, as the tool is to be called with them, and as its schema takes them if the
   * tool sees to that itself; without any where no schema checks them.
   */
  validated(tool: T, given: unknown): Promise<{value: unknown; taken?: unknown} | undefined>;
  /** Returns what `toModelOutput` is given for a call's output; nothing where the library does not ask it. */
  outputFor(output: unknown, call: {toolCallId: string; input: unknown}): unknown;
  /** Returns the part of that by which a call's output is found again: libraries copy it. */
  keyOf(given: unknown): unknown;
  /** Takes the options of a call that hooks let run, before it does. */
  onCall?(options: object): void;
}

/** Tools with hooks around them, which are marked. A tool without `execute` has none, which is reported to `onProblem`. */
export function toolsOf<T extends LanguageTool>(run: Run, tools: Record<string, T>, library: ToolLibrary<T>): Record<string, T> {
  return Object.fromEntries(Object.entries(tools).map(([name, tool]) => {
    const hooked = hookedTool(run, name, tool, library);
    return [name, {...hooked, ...(tool.type?.startsWith("provider") ? {args: marked(tool.args)} : {providerOptions: marked(tool.providerOptions)})}];
  }));
}

/** The number of outputs of a tool whose form for the model is kept. */
const MAX_OUTPUTS = 1000;

function hookedTool<T extends LanguageTool>(run: Run, name: string, tool: T, library: ToolLibrary<T>): T {
  const {execute, toModelOutput} = tool;
  if (!execute) {
    run.client.report(`hooks are not asked about the tool ${name}: it has no \`execute\``);
    return tool;
  }
  /** What the model gets of the last outputs. */
  const outputs = new Map<string, unknown>();
  const keyOf = (given: unknown) => JSON.stringify([library.keyOf(given)]);
  const keep = (argument: unknown, forModel: unknown) => {
    if (outputs.size === MAX_OUTPUTS) outputs.delete(outputs.keys().next().value!);
    outputs.set(keyOf(argument), forModel);
  };
  return {
    ...tool,
    execute: async (input: object, options: {toolCallId: string; abortSignal?: AbortSignal}) => {
      const raw = library.rawOf?.(input);
      if (!raw && !isPlain(input)) throw new HookRefusal("blocked", `hooks cannot see the arguments of ${name}, which JSON does not hold`);
      const given = raw ?? (input as Record<string, unknown>);
      const before = JSON.stringify(given);
      const called = {toolCallId: options.toolCallId, input};
      let isFirst = true;
      const outcome = await runTool(run.scope, {tool_name: name, tool_input: given, tool_call_id: options.toolCallId}, async (left, {signal}) => {
        const isSame = JSON.stringify(left) === before;
        // Arguments of a first run may be the tool's own afterwards.
        const checked = isSame && (!raw || (isFirst && library.rawOf!(input) === raw)) ? {value: raw ? input : left} : await library.validated(tool, left);
        isFirst = false;
        if (checked && !isSame) run.reportLost(name, given, left, checked.taken ?? checked.value);
        if (!checked) run.client.report(`hooks change arguments of the tool ${name}, whose schema checks none: give \`jsonSchema\` a \`validate\``);
        const own = {...options, abortSignal: signal};
        library.onCall?.(own);
        const output = await last(await execute((checked ? checked.value : left) as never, own as never));
        const argument = toModelOutput && library.outputFor(output, called);
        if (argument === undefined) return shown(output);
        const {copy: forModel} = snapshot(await toModelOutput!(argument as never));
        const returned = shown(output, forModel);
        keep(argument, forModel);
        return returned;
      }, {...(options.abortSignal && {signal: options.abortSignal})});
      const taken = run.take(outcome);
      if ("value" in taken) return taken.value;
      const {llmContent, error} = taken.result;
      if (error !== undefined) throw new Error(textOfContent(llmContent));
      const isParts = toModelOutput !== undefined && typeof llmContent !== "string";
      const text = isParts ? textOfMessage({content: llmContent}) : textOfContent(llmContent);
      if (toModelOutput) keep(library.outputFor(text, called), isParts ? {type: "content", value: llmContent.map(toPart)} : {type: "text", value: text});
      return text;
    },
    // An output of an earlier run is none of these: hooks have seen it then.
    ...(toModelOutput && {toModelOutput: (given: never) => outputs.get(keyOf(given)) ?? toModelOutput(given)}),
  };
}

/** Returns a tool's output, and what the model gets of it, as they are now: the tool may go on to change them. */
function shown(output: unknown, forModel?: unknown): Returned<unknown> {
  const {copy: value, text} = snapshot(output);
  if (forModel === undefined) return {value, result: {llmContent: text}};
  const llmContent = contentOf(forModel);
  return {value, result: {llmContent, ...(text !== llmContent && {returnDisplay: text})}};
}

/** The content of what `toModelOutput` returns. */
function contentOf(forModel: unknown): ToolResult["llmContent"] {
  const {type, value} = Object(forModel) as {type?: unknown; value?: unknown};
  if (type === "content" && Array.isArray(value)) return value;
  return ["text", "error-text", "json", "error-json"].includes(String(type)) ? snapshot(value).text : snapshot(forModel).text;
}

/** A part that hooks left. */
function toPart(part: unknown): unknown {
  return isObject(part) && typeof part["type"] === "string" ? part : {type: "text", text: textOfContent([part])};
}

/** Returns `true` for what JSON holds as it is. */
function isPlain(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return typeof value !== "bigint" && typeof value !== "function";
  if (Array.isArray(value)) return value.every(isPlain);
  const prototype = Object.getPrototypeOf(value) as unknown;
  return (prototype === null || Object.getPrototypeOf(prototype) === null) && Object.values(value).every(isPlain);
}

/** Resolves with a tool's result, which is the last value of one that yields its progress. */
async function last(returned: unknown): Promise<unknown> {
  if (typeof returned !== "object" || returned === null || !(Symbol.asyncIterator in returned)) return returned;
  let value: unknown;
  for await (value of returned as AsyncIterable<unknown>);
  return value;
}
