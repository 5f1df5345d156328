/** Hooks in agents of Mastra: `hook-sdk/mastra`. */

import {agentTurn} from "../triggers/agent.js";
import type {Scope} from "../triggers/scope.js";
import {middlewareOf} from "./language-model.js";
import type {Model, StreamOptions} from "./language-model.js";
import {toolsOf} from "./language-tools.js";
import type {LanguageTool, ToolLibrary} from "./language-tools.js";
import {HookRefusal, Run, promptOf} from "./shared.js";

export {HookRefusal};

/** Options for an agent of Mastra. */
export type MastraOptions = StreamOptions;

/** The `supportedUrls` of models and the `providerOptions` of tools with hooks: Mastra copies both, and keeps these. */
const HOOKED = new WeakSet<object>();

function marked<V extends object>(value: V | undefined): V {
  const own = {...value} as V;
  HOOKED.add(own);
  return own;
}

/** A message, as Mastra keeps it. */
interface Message {
  role: string;
  content: {parts: {type: string; text?: string}[]};
}

/** The part of a processor's arguments that hooks need. */
interface Step {
  /** The same object during one run of an agent. */
  state: Record<string, unknown>;
  abort(reason: string): never;
  abortSignal?: AbortSignal;
}

interface StepTool extends LanguageTool {
  providerOptions?: object;
}

/** A call of a tool, as Mastra's own hooks see it. */
interface Call {
  toolName: string;
  context?: unknown;
}

/** The part of an agent's configuration that hooks change. */
interface Config {
  inputProcessors?: unknown;
  hooks?: {beforeToolCall?: (call: never) => unknown};
}

/**
 * The configuration of an agent, with hooks around its prompts, model and tools: `new Agent(withHooks(client, {…}))`. Given
 * a turn, it leaves the prompt to that.
 */
export function withHooks<C extends object>(scope: Scope, config: C, options: MastraOptions = {}): C {
  const {inputProcessors: before = [], hooks}: Config = config;
  const asked = new WeakSet<object>();
  const processor = processorOf(scope, options, asked);
  const inputProcessors = typeof before === "function"
    ? async (context: unknown) => [...((await before(context)) as unknown[]), processor]
    : [...(before as unknown[]), processor];
  const beforeToolCall = (call: Call) => {
    // Mastra goes on with an earlier run, or with other processors, past those of the agent.
    if (!asked.has(Object(call.context) as object)) throw new HookRefusal("blocked", `hooks were not asked about this call of ${call.toolName}`);
    return hooks?.beforeToolCall?.(call as never);
  };
  return {...config, inputProcessors, hooks: {...hooks, beforeToolCall}};
}

function processorOf(scope: Scope, options: MastraOptions, asked: WeakSet<object>) {
  const runOf = ({state}: Step) => (state["hooks"] ??= Run.ofItsOwn(scope, options, "@mastra/core", [1])) as Run;
  // A tool of Mastra checks its arguments itself, and says to the model what is wrong with them.
  const library: ToolLibrary<LanguageTool> = {
    validated: async (_, value) => ({value}), outputOf: (output) => output, onCall: (given) => void asked.add(given),
  };
  return {
    id: "hooks",
    async processInput(input: Step & {messages: Message[]}) {
      const run = runOf(input);
      const {messages} = input;
      const at = messages.findLastIndex(({role}) => role === "user");
      const parts = messages[at]?.content.parts;
      if (!parts || "prompt" in scope) return messages;
      const texts = parts.filter(({type}) => type === "text");
      const prompt = texts.map(({text = ""}) => text).join("\n");
      const turn = await agentTurn(run.scope, prompt, {...(input.abortSignal && {signal: input.abortSignal})});
      run.tell(turn);
      if (turn.error) throw turn.error;
      if (turn.outcome !== "proceed") return input.abort(turn.reason);
      const given = promptOf(turn);
      if (given === prompt) return messages;
      const {content: {parts: _, ...content}, ...message} = messages[at]!;
      const left = [{type: "text", text: given}, ...parts.filter((part) => !texts.includes(part))];
      return messages.with(at, {...message, content: {...content, parts: left}});
    },
    async processInputStep(step: Step & {model: Model; tools?: Record<string, StepTool>; structuredOutput?: {model?: unknown}}) {
      const run = runOf(step);
      if (run.stopped !== undefined) return step.abort(run.stopped);
      if (step.structuredOutput?.model) throw new HookRefusal("blocked", "the model of `structuredOutput` has no hooks: leave it to the agent's own");
      const tools = Object.entries(toolsOf<StepTool>(run, step.tools ?? {}, library)).map(([name, tool]) => [name, {...tool, providerOptions: marked(tool.providerOptions)}]);
      return {
        model: hookedModel(run, step.model, marked(await step.model.supportedUrls), options),
        ...(step.tools && {tools: Object.fromEntries(tools) as Record<string, StepTool>}),
      };
    },
    processLLMRequest({model}: {model: Model}) {
      if (!HOOKED.has(model.supportedUrls)) throw new HookRefusal("blocked", `the model ${model.modelId} of this step has no hooks: \`prepareStep\` must choose none`);
    },
  };
}

function hookedModel(run: Run, model: Model, supportedUrls: Record<string, RegExp[]>, options: MastraOptions): Model {
  const {wrapGenerate, wrapStream} = middlewareOf(run, options);
  const {specificationVersion, provider, modelId} = model;
  const calls = (params: Parameters<Model["doGenerate"]>[0]) => {
    const foreign = params.tools?.find((tool) => tool.type === "function" && !HOOKED.has(Object(tool.providerOptions) as object));
    if (foreign) throw new HookRefusal("blocked", `the tool ${foreign.name} of this step has no hooks: \`prepareStep\` must bring none`);
    return {model, params, doGenerate: () => model.doGenerate(params), doStream: () => model.doStream(params)};
  };
  return {
    specificationVersion, provider, modelId, supportedUrls,
    doGenerate: async (params) => wrapGenerate!(calls(params)),
    doStream: async (params) => wrapStream!(calls(params)),
  };
}
