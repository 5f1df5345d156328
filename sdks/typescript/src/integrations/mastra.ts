/** Hooks in agents of Mastra: `hook-sdk/mastra`. */

import {AsyncLocalStorage} from "node:async_hooks";
import {randomUUID} from "node:crypto";

import type {LanguageModelMiddleware} from "ai";

import type {HookClient} from "../client.js";
import {HookValueError} from "../errors.js";
import {agentTurn} from "../triggers/agent.js";
import type {Scope} from "../triggers/scope.js";
import {loneMiddleware, middlewareOf} from "./language-model.js";
import type {Model, StreamOptions} from "./language-model.js";
import {isMarked, marked, refusingTools, toolsOf} from "./language-tools.js";
import type {LanguageTool, ToolLibrary} from "./language-tools.js";
import {HookRefusal, Run, promptOf} from "./shared.js";

export {HookRefusal};

/** Options for an agent of Mastra. */
export type MastraOptions = StreamOptions;

/** The models that hooks were put around, by the calls of theirs that ask them. */
const ORIGINALS = new WeakMap<Model["doGenerate"], Model>();

/** The functions of agents with hooks that Mastra calls before a tool. */
const OWN_HOOKS = new WeakSet<object>();

/** What a call of a model is made in, whose hooks were asked. */
const ASKED = new AsyncLocalStorage<object>();

/** A message, as Mastra keeps it. */
interface Message {
  id: string;
  role: string;
  type?: string;
  content: {parts: {type: string; text?: string}[]};
}

/** The messages of a run, of which some are of its memory. */
interface MessageList {
  _agentNetworkAppend?: boolean;
  get: {remembered: {db(): Message[]}};
}

/** The part of a processor's arguments that hooks need. */
interface Step {
  /** The same object during one run of an agent. */
  state: Record<string, unknown>;
  abort(reason: string): never;
  abortSignal?: AbortSignal;
}

/** The memory of an agent, which says what model writes the titles of its threads. */
interface Memory {
  getMergedThreadConfig(config: unknown): {generateTitle?: boolean | {model?: unknown}};
}

/** A voice of an agent, to which Mastra gives the agent's own tools. */
interface Voice {
  addTools(tools: object): void;
}

/** A tool, as processors get it. */
interface StepTool extends LanguageTool {
  parameters?: {validate?(given: unknown): {value?: unknown} | Promise<{value?: unknown}>};
}

/** A call of a tool, as Mastra's own hooks see it. */
interface Call {
  toolName: string;
  context?: unknown;
}

/** Another agent that an agent may call. One that runs elsewhere has no hooks of Mastra's. */
type Other = {getConfiguredToolHooks?(): Config["hooks"]} | undefined;
type Others = Record<string, Other>;

/** The part of an agent's configuration that hooks change. */
interface Config {
  model?: unknown;
  memory?: Memory | ((context: unknown) => Memory | undefined | Promise<Memory | undefined>);
  inputProcessors?: unknown;
  agents?: Others | ((context: never) => Others | Promise<Others>);
  voice?: Voice | ((context: never) => unknown);
  hooks?: {beforeToolCall?: (call: never) => unknown};
}

/**
 * The configuration of an agent, with hooks around its prompts, model and tools: `new Agent(withHooks(client, {…}))`. Given
 * a turn, it leaves the prompt to that.
 *
 * @throws HookValueError for a model of the first version, which only `generateLegacy` takes.
 */
export function withHooks<C extends object>(scope: Scope, config: C, options: MastraOptions = {}): C {
  const {model, memory, agents, voice, inputProcessors: before = [], hooks}: Config = config;
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
  OWN_HOOKS.add(beforeToolCall);
  const guarded = (it: unknown) => guardedModel(scope, it, options, asked);
  const client = "client" in scope ? scope.client : scope;
  return {
    ...config, inputProcessors, hooks: {...hooks, beforeToolCall},
    ...(model !== undefined && {model: guarded(model)}), ...(memory && {memory: guardedMemory(memory, guarded)}),
    ...(typeof voice === "object" && {voice: withoutTools(voice, client)}), ...(agents && {agents: reported(agents, client)}),
  };
}

/**
 * A model whose calls hooks are asked about, each by itself: for what calls a model of its own beside the agent, such as
 * `structuredOutput`. A refused call throws a `HookRefusal`.
 *
 * @throws HookValueError for a model of the first version.
 */
export function hookModel<M extends object>(scope: Scope, model: M, options: MastraOptions = {}): M {
  return guardedModel(scope, model, options, {}) as M;
}

/** The model of a configuration, in any form that Mastra takes. It asks hooks about calls that are not made in steps of the agent. */
function guardedModel(scope: Scope, given: unknown, options: MastraOptions, asked: object): unknown {
  const guarded = (it: unknown) => guardedModel(scope, it, options, asked);
  if (Array.isArray(given)) return given.map((it: {model: unknown}) => ({...it, model: guarded(it.model)}));
  if (isModel(given)) return guardOf(scope, originalOf(given), options, asked);
  return async (context: {mastra?: {listGateways(): Record<string, unknown> | undefined}}) => {
    if (typeof given !== "function") return guarded(await routed(given, Object.values(context.mastra?.listGateways() ?? {})));
    const chosen = guarded(await given(context));
    return typeof chosen === "function" ? chosen(context) as unknown : chosen;
  };
}

/** Returns `true` for a prompt that came by `sendMessage` or a channel, also while the agent runs. */
function isSent({role, type}: Message): boolean {
  return role === "signal" && type === "user";
}

function isModel(given: unknown): given is Model {
  return typeof given === "object" && given !== null && "specificationVersion" in given;
}

function originalOf(model: Model): Model {
  return ORIGINALS.get(model.doGenerate) ?? model;
}

/** Resolves with the model that Mastra has for a name, or for a name with an address. */
async function routed(name: unknown, gateways: unknown[]): Promise<unknown> {
  // @ts-ignore It is too large to be installed for each build.
  const {ModelRouterLanguageModel} = await import("@mastra/core/llm");
  return new ModelRouterLanguageModel(name, gateways) as unknown;
}

function guardOf(scope: Scope, model: Model, options: MastraOptions, asked: object): Model {
  if ((model.specificationVersion as string) === "v1") {
    throw new HookValueError(`hooks cannot be put around the model ${model.modelId}, which is of the first version`);
  }
  const {wrapGenerate, wrapStream} = loneMiddleware(scope, options, (...alone) => Object.assign(newRun(...alone), {answersRefusals: false}));
  const calls = callsOf(model, {
    wrapGenerate: (call) => (ASKED.getStore() === asked ? call.doGenerate() : wrapGenerate!(call)),
    wrapStream: (call) => (ASKED.getStore() === asked ? call.doStream() : wrapStream!(call)),
  });
  ORIGINALS.set(calls.doGenerate, model);
  return withOwn(model, calls);
}

/** The memory of a configuration, whose titles are written by models that ask hooks: the same for the same one. */
function guardedMemory(
  memory: NonNullable<Config["memory"]>, guarded: (model: unknown) => unknown, known = new WeakMap<Memory, Memory>(),
): Config["memory"] {
  if (typeof memory === "function") {
    return async (context) => {
      const chosen = await memory(context);
      return chosen && guardedMemory(chosen, guarded, known) as Memory;
    };
  }
  const own = known.get(memory) ?? withOwn(memory, {
    getMergedThreadConfig(given: unknown) {
      const {generateTitle: title, ...config} = memory.getMergedThreadConfig(given);
      return {...config, generateTitle: typeof title === "object" && title?.model ? {...title, model: guarded(title.model)} : title};
    },
  });
  known.set(memory, own);
  return own;
}

/** The other agents of a configuration. One without hooks is reported. */
function reported(agents: NonNullable<Config["agents"]>, client: HookClient): Config["agents"] {
  const look = (found: Others) => {
    for (const [name, other] of Object.entries(found ?? {})) {
      if (!other?.getConfiguredToolHooks || OWN_HOOKS.has(Object(other.getConfiguredToolHooks()?.beforeToolCall) as object)) continue;
      client.report(`hooks do not see what the agent ${name} does: it needs a \`withHooks\` of its own`);
    }
    return found;
  };
  if (typeof agents !== "function") return look(agents);
  return (context) => {
    const found = agents(context);
    return found instanceof Promise ? found.then(look) : look(found);
  };
}

/** A voice that gets no tools: it would call them by itself, past hooks. */
function withoutTools(voice: Voice, client: HookClient): Voice {
  return withOwn(voice, {
    addTools(tools) {
      if (Object.keys(tools ?? {}).length > 0) client.report("the voice of an agent gets no tools: hooks would not be asked about them");
    },
  });
}

/** An object with some members of its own. It stays of its class, of which Mastra asks, and has its private fields. */
function withOwn<T extends object>(original: T, own: Partial<T>): T {
  return new Proxy(original, {
    get(_, name) {
      if (Object.hasOwn(own, name)) return own[name as keyof T];
      const value = Reflect.get(original, name) as unknown;
      return typeof value === "function" && name !== "constructor" ? value.bind(original) as unknown : value;
    },
  });
}

/** The calls of a model with a middleware around them. */
function callsOf(model: Model, {wrapGenerate, wrapStream}: Pick<LanguageModelMiddleware, "wrapGenerate" | "wrapStream">): Pick<Model, "doGenerate" | "doStream"> {
  type Params = Parameters<Model["doGenerate"]>[0];
  const call = (params: Params) => ({model, params, doGenerate: () => model.doGenerate(params), doStream: () => model.doStream(params)});
  return {doGenerate: async (params) => wrapGenerate!(call(params)), doStream: async (params) => wrapStream!(call(params))};
}

function newRun(scope: Scope, options: MastraOptions): Run {
  return Run.ofItsOwn(scope, options, "@mastra/core", [1]);
}

/** Ends the run with a reason. Mastra logs the stack of that as of a failure, so it has only a line. */
function abort(step: Step, reason: string): never {
  try {
    return step.abort(reason);
  } catch (tripwire) {
    throw Object.assign(tripwire as Error, {stack: `hooks: ${reason}`});
  }
}

function processorOf(scope: Scope, options: MastraOptions, asked: WeakSet<object>) {
  const runOf = ({state}: Step) => (state["hooks"] ??= newRun(scope, options)) as Run;
  // A tool of Mastra checks its arguments itself, and says to the model what is wrong with them.
  const library: ToolLibrary<StepTool> = {
    validated: async ({parameters}, value) => ({value, taken: (await parameters?.validate?.(value))?.value}),
    outputFor: (output) => output ?? undefined, keyOf: (output) => output, onCall: (given) => void asked.add(given),
  };
  /** The ids of messages that hooks were asked about, or a turn of its own; those of others come while the agent runs. */
  const seen = new WeakMap<Run, Set<string>>();
  /** Asks about the prompt in a message, or about none; resolves with the messages that hooks left. */
  const ask = async (run: Run, input: Step, messages: Message[], at: number): Promise<Message[]> => {
    const parts = messages[at]?.content.parts ?? [];
    const texts = parts.filter(({type}) => type === "text");
    const prompt = texts.map(({text = ""}) => text).join("\n");
    const turn = await agentTurn(run.scope, prompt, {...(input.abortSignal && {signal: input.abortSignal})});
    run.tell(turn);
    if (turn.error) throw turn.error;
    if (turn.outcome !== "proceed") return abort(input, turn.reason);
    const given = promptOf(turn);
    if (given === prompt) return messages;
    const left = [{type: "text", text: at < 0 ? given.trimStart() : given}, ...parts.filter((part) => !texts.includes(part))];
    if (at < 0) return [...messages, {id: randomUUID(), role: "user", createdAt: new Date(), content: {format: 2, parts: left}} as Message];
    const {content: {parts: _, ...content}, ...message} = messages[at]!;
    return messages.with(at, {...message, content: {...content, parts: left}});
  };
  return {
    id: "hooks",
    async processInput(input: Step & {messages: Message[]; messageList?: MessageList}) {
      const run = runOf(input);
      const {messages} = input;
      if (input.messageList?._agentNetworkAppend) {
        const why = "`network` runs tools and workflows past hooks: `generate` and `stream` ask them";
        run.client.report(why); // Its stream ends with a status alone.
        throw new HookRefusal("blocked", why);
      }
      const at = messages.findLastIndex((message) => message.role === "user" || isSent(message));
      seen.set(run, new Set(messages.filter((message, n) => n === at || !isSent(message)).map(({id}) => id)));
      return "prompt" in scope ? messages : ask(run, input, messages, at);
    },
    async processInputStep(step: Step & {
      model: Model; tools?: Record<string, StepTool>; structuredOutput?: {model?: unknown}; messages: Message[]; messageList: MessageList;
    }) {
      const run = runOf(step);
      if (run.stopped !== undefined) return abort(step, run.stopped);
      const own = step.structuredOutput?.model;
      if (own && !(isModel(own) && ORIGINALS.has(own.doGenerate))) {
        throw new HookRefusal("blocked", "the model of `structuredOutput` has no hooks: leave it to the agent's own, or give it `hookModel(client, model)`");
      }
      const known = seen.get(run) ?? new Set(step.messages.map(({id}) => id)); // A run that goes on was asked about them before.
      seen.set(run, known);
      let {messages} = step;
      for (const [at, {id}] of messages.entries()) {
        if (!isSent(messages[at]!) || known.has(id) || step.messageList.get.remembered.db().some((it) => it.id === id)) continue;
        known.add(id);
        messages = await ask(run, step, messages, at);
      }
      return {
        ...(messages !== step.messages && {messages}),
        // Mastra copies a model, and keeps its `supportedUrls`.
        model: hookedModel(run, step.model, marked(await step.model.supportedUrls), options, asked),
        ...(step.tools && {tools: toolsOf(run, step.tools, library)}),
      };
    },
    processLLMRequest({model}: {model: Model}) {
      if (!isMarked(model.supportedUrls)) throw new HookRefusal("blocked", `the model ${model.modelId} of this step has no hooks: \`prepareStep\` must choose none`);
    },
  };
}

function hookedModel(run: Run, model: Model, supportedUrls: Record<string, RegExp[]>, options: MastraOptions, asked: object): Model {
  const {specificationVersion, provider, modelId} = model;
  const own = {specificationVersion, provider, modelId, supportedUrls};
  const original: Model = {...own, ...callsOf(model, {
    wrapGenerate: async ({doGenerate}) => ASKED.run(asked, doGenerate),
    wrapStream: async ({doStream}) => ASKED.run(asked, doStream),
  })};
  return {...own, ...callsOf(original, refusingTools(middlewareOf(run, options), "`prepareStep` must bring none"))};
}
