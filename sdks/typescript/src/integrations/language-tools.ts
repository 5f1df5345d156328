/** The tools of an agent with hooks around them, in the form of the AI SDK, which Mastra has as well. */

import type {LanguageModelMiddleware} from "ai";

import {executeTool} from "../triggers/tool.js";
import type {Model} from "./language-model.js";
import {HookRefusal, textOfContent} from "./shared.js";
import type {Run} from "./shared.js";

/** The part of a tool that hooks need. */
export interface LanguageTool {
  execute?: ((input: never, options: never) => unknown) | undefined;
  toModelOutput?: ((given: never) => unknown) | undefined;
  providerOptions?: object | undefined;
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
    const foreign = tools?.find((tool) => tool.type === "function" && !isMarked(tool.providerOptions));
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
  /**
   * Resolves with arguments that hooks have changed, as the tool is to be called with them, and as its schema takes them if the
   * tool sees to that itself; without any where no schema checks them.
   */
  validated(tool: T, given: unknown): Promise<{value: unknown; taken?: unknown} | undefined>;
  /** Returns the tool's result that `toModelOutput` is given. */
  outputOf(given: never): unknown;
  /** Takes the options of a call that hooks let run, before it does. */
  onCall?(options: object): void;
}

/** Tools with hooks around them, which are marked. A tool without `execute` has none, which is reported to `onProblem`. */
export function toolsOf<T extends LanguageTool>(run: Run, tools: Record<string, T>, library: ToolLibrary<T>): Record<string, T> {
  return Object.fromEntries(Object.entries(tools).map(([name, tool]) => {
    const hooked = hookedTool(run, name, tool, library);
    return [name, {...hooked, providerOptions: marked(tool.providerOptions)}];
  }));
}

function hookedTool<T extends LanguageTool>(run: Run, name: string, tool: T, {validated, outputOf, onCall}: ToolLibrary<T>): T {
  const {execute, toModelOutput} = tool;
  if (!execute) {
    run.client.report(`hooks are not asked about the tool ${name}: it has no \`execute\``);
    return tool;
  }
  const changed = new Set<unknown>();
  return {
    ...tool,
    execute: async (input: unknown, options: {toolCallId: string; abortSignal?: AbortSignal}) => {
      const given = input as Record<string, unknown>;
      const call = {tool_name: name, tool_input: given, tool_call_id: options.toolCallId};
      const outcome = await executeTool(run.scope, call, async (left, {signal}) => {
        const isSame = JSON.stringify(left) === JSON.stringify(given);
        const checked = isSame ? {value: given} : await validated(tool, left);
        if (checked) run.reportLost(name, given, left, checked.taken ?? checked.value);
        else run.client.report(`hooks change arguments of the tool ${name}, whose schema checks none: give \`jsonSchema\` a \`validate\``);
        const own = {...options, abortSignal: signal};
        onCall?.(own);
        return last(await execute((checked ? checked.value : left) as never, own as never));
      }, {...(options.abortSignal && {signal: options.abortSignal})});
      const taken = run.take(outcome);
      if ("value" in taken) return taken.value;
      const text = textOfContent(taken.result.llmContent);
      if (taken.result.error !== undefined) throw new Error(text);
      changed.add(text);
      return text;
    },
    ...(toModelOutput && {
      toModelOutput: (given: never) => {
        const output = outputOf(given);
        return changed.has(output) ? {type: "text", value: output} : toModelOutput(given);
      },
    }),
  };
}

/** Resolves with a tool's result, which is the last value of one that yields its progress. */
async function last(returned: unknown): Promise<unknown> {
  if (typeof returned !== "object" || returned === null || !(Symbol.asyncIterator in returned)) return returned;
  let value: unknown;
  for await (value of returned as AsyncIterable<unknown>);
  return value;
}
