/** Hooks in agents of the Vercel AI SDK: `hook-sdk/ai`. */

import {inspect} from "node:util";

import * as ai from "ai";
import {asSchema, wrapLanguageModel} from "ai";
import type {LanguageModelMiddleware, PrepareStepFunction, ToolSet} from "ai";

import {HookValueError} from "../errors.js";
import {snapshot} from "../json.js";
import {isObject} from "../messages.js";
import type {Scope} from "../triggers/scope.js";
import {loneMiddleware, middlewareOf} from "./language-model.js";
import type {Model, StreamOptions} from "./language-model.js";
import {refusingTools, toolsOf} from "./language-tools.js";
import type {ToolLibrary} from "./language-tools.js";
import {HookRefusal, Run} from "./shared.js";
import type {IntegrationOptions} from "./shared.js";

export {HookRefusal};

/** Options for an agent of the AI SDK. */
export type AiOptions = StreamOptions;

/** The parts of an agent that hooks are put around: its model, its tools, and what chooses others of them. */
export interface AiAgent<T extends ToolSet> {
  model: Model;
  tools?: T;
  prepareStep?: PrepareStepFunction<T> | undefined;
  /** The function of a `ToolLoopAgent`. */
  prepareCall?: ((call: any) => any) | undefined;
  experimental_onStepStart?: ((step: any) => unknown) | undefined;
}

/** An agent with hooks. */
export interface HookedAgent<T extends ToolSet> {
  model: Model;
  tools: T;
  prepareStep: (step: any) => Promise<any>;
  prepareCall: (call: any) => Promise<any>;
  experimental_onStepStart: (step: any) => any;
}

/** The remedy for a part of an agent that stands beside `withHooks`, where hooks do not see it. */
const REMEDY = "give it to `withHooks`, and nothing in its place beside that";

/** The models, tools and functions that hooks were put around. */
const ORIGINALS = new WeakMap<object, object>();

/**
 * The model and the tools of an agent, with hooks around them: `generateText({...withHooks(client, {model, tools}), prompt})`.
 * Made for each run, but for a `ToolLoopAgent`, of which each call is a run of its own. Once a hook has had the agent stop,
 * nothing of its run is called any more: the model's answer is the reason, and after that a `HookRefusal`. A run with a model
 * or a tool that stands beside it fails with one, too, before the model is called.
 *
 * @throws HookValueError where `model` is a name.
 */
export function withHooks<T extends ToolSet = {}>(scope: Scope, agent: AiAgent<T>, options: AiOptions = {}): HookedAgent<T> {
  const {client} = "client" in scope ? scope : {client: scope};
  let wasPrepared = false;
  const hooked = (given: AiAgent<T>): Omit<HookedAgent<T>, "prepareCall" | "experimental_onStepStart"> => {
    const run = newRun(scope, options);
    const middleware = refusingTools(middlewareOf(run, options), REMEDY);
    const prepareStep = given.prepareStep && originalOf(given.prepareStep);
    return {
      model: hookedModel(given.model, middleware),
      tools: hookedTools(run, given.tools),
      prepareStep: keepOriginal(async (step) => {
        wasPrepared = true;
        if (step.model !== undefined && !ORIGINALS.has(Object(step.model))) throw new HookRefusal("blocked", `the model of this agent has no hooks: ${REMEDY}`);
        const prepared = await prepareStep?.(step);
        return prepared?.model === undefined ? prepared : {...prepared, model: hookedModel(prepared.model as Model, middleware)};
      }, prepareStep ?? nothing),
    };
  };
  return {
    ...agent,
    ...hooked(agent),
    prepareCall: async (call) => {
      const prepared = (await agent.prepareCall?.(call)) ?? call;
      return {...prepared, ...hooked({...call, ...prepared})};
    },
    experimental_onStepStart: (step: unknown) => {
      // Another function is called instead of that above. What this one throws the AI SDK swallows.
      if (!wasPrepared) client.report(`hooks do not see what \`prepareStep\` chooses: ${REMEDY}`);
      return agent.experimental_onStepStart?.(step);
    },
  };
}

/** Returns the model with hooks. */
function hookedModel(given: Model | string, middleware: LanguageModelMiddleware): Model {
  if (typeof given === "string") {
    throw new HookValueError(`hooks cannot be put around the name ${JSON.stringify(given)}: \`model\` is a model object, such as \`gateway(${JSON.stringify(given)})\` of \`ai\``);
  }
  const model = originalOf(given);
  return keepOriginal(wrapLanguageModel({model: model as never, middleware}) as Model, model);
}

function hookedTools<T extends ToolSet>(run: Run, given: T | undefined): T {
  const originals = Object.entries(given ?? {}).map(([name, tool]) => [name, originalOf(tool)] as const);
  const tools = toolsOf(run, Object.fromEntries(originals.map(([name, tool]) => [name, keepingRaw(tool)])), LIBRARY);
  for (const [name, tool] of originals) {
    keepOriginal(tools[name]!, tool);
  }
  return tools as T;
}

function originalOf<V extends object>(value: V): V {
  return (ORIGINALS.get(value) as V | undefined) ?? value;
}

function keepOriginal<V extends object>(hooked: V, original: object): V {
  if (hooked !== original) ORIGINALS.set(hooked, original);
  return hooked;
}

function nothing(): undefined {}

/**
 * Hooks around the calls of a model, for `wrapLanguageModel`. Given a client, each call stands alone, since it may be of any
 * conversation: what hooks say for the next request is reported to `onProblem`. Given a turn or a session, that has it.
 */
export function hookMiddleware(scope: Scope, options: AiOptions = {}): LanguageModelMiddleware {
  return "client" in scope ? middlewareOf(newRun(scope, options), options) : loneMiddleware(scope, options, newRun);
}

/** Tools with hooks around them. A tool without `execute` has none, which is reported to `onProblem`. */
export function hookTools<T extends ToolSet>(scope: Scope, tools: T, options: IntegrationOptions = {}): T {
  return hookedTools(newRun(scope, options), tools);
}

function newRun(scope: Scope, options: IntegrationOptions): Run {
  return Run.ofItsOwn(scope, options, "ai", [5, 6, 7]);
}

/** The arguments of models, by what schemas made of them; `made` is that, written. */
const RAW = new WeakMap<object, {raw: Record<string, unknown>; made: string}>();

const ALL = {depth: null, maxArrayLength: null, maxStringLength: null, customInspect: false};

/** A tool whose schema keeps what the model has given: a schema may make what hooks cannot see. */
function keepingRaw<T extends ToolSet[string]>(tool: T): T {
  const schema = asSchema(tool.inputSchema);
  const {validate} = schema;
  if (!validate || !tool.execute) return tool;
  const inputSchema = Object.create(schema, {validate: {value: async (given: unknown) => {
    const {copy: raw} = snapshot(given);
    const result = await validate(given);
    if (result.success && isObject(result.value) && isObject(raw)) RAW.set(result.value, {raw, made: inspect(result.value, ALL)});
    return result;
  }}}) as typeof schema;
  return {...tool, inputSchema};
}

/** Version 5 gives `toModelOutput` the output alone. */
const IS_OUTPUT_ALONE = !("ToolLoopAgent" in ai);

const LIBRARY: ToolLibrary<ToolSet[string]> = {
  rawOf(given) {
    const known = RAW.get(given);
    return known?.made === inspect(given, ALL) ? known.raw : undefined;
  },
  async validated({inputSchema}, given) {
    const result = await asSchema(inputSchema).validate?.(given);
    if (!result || result.success) return result;
    throw new Error(`hooks changed the arguments to what the tool does not take: ${result.error.message}`);
  },
  outputFor: (output, call) => (IS_OUTPUT_ALONE ? output : {...call, output}),
  keyOf: (given) => (IS_OUTPUT_ALONE || !isObject(given) ? given : [given["toolCallId"], given["output"]]),
};
