/** Hooks in agents of the Vercel AI SDK: `hook-sdk/ai`. */

import {asSchema} from "ai";
import type {LanguageModelMiddleware, ToolSet} from "ai";
import {wrapLanguageModel} from "ai";

import {HookError} from "../errors.js";
import {callModel} from "../triggers/model.js";
import type {ModelOutcome} from "../triggers/model.js";
import {ModelContext} from "../triggers/scope.js";
import type {Scope} from "../triggers/scope.js";
import {executeTool} from "../triggers/tool.js";
import {fromParts, readCompletion, readToolChoice, toCompletion, toParts, toUsage} from "./chat.js";
import type {ChatRequest, ChatToolCall} from "./chat.js";
import {HookRefusal, Run, textOfContent} from "./shared.js";
import type {IntegrationOptions} from "./shared.js";

export {HookRefusal};

type Wrap<K extends "wrapGenerate" | "wrapStream"> = NonNullable<LanguageModelMiddleware[K]>;
type Model = Parameters<Wrap<"wrapGenerate">>[0]["model"];
type CallOptions = Parameters<Wrap<"wrapGenerate">>[0]["params"];
type GenerateResult = Awaited<ReturnType<Wrap<"wrapGenerate">>>;
type StreamResult = Awaited<ReturnType<Wrap<"wrapStream">>>;
type StreamPart = StreamResult["stream"] extends ReadableStream<infer P> ? P : never;
type FinishReason = GenerateResult["finishReason"];

/** Options for an agent of the AI SDK. */
export interface AiOptions extends IntegrationOptions {
  /**
   * The parts of a stream that hooks see: `each` chunk before it is shown (the default), or only the `complete` answer,
   * after it was shown. With `each`, raw chunks of the provider are left out, since hooks cannot change them.
   */
  chunks?: "each" | "complete";
}

/**
 * The model and the tools of an agent, with hooks around them: `generateText({...withHooks(client, {model, tools}), prompt})`.
 * Made for each run: once a hook has had the agent stop, nothing of it is called any more.
 */
export function withHooks<T extends ToolSet = {}>(
  scope: Scope, agent: {model: Model; tools?: T}, options: AiOptions = {},
): {model: Model; tools: T} {
  const run = newRun(scope, options);
  return {
    model: wrapLanguageModel({model: agent.model as never, middleware: middlewareOf(run, options)}) as Model,
    tools: toolsOf(run, agent.tools ?? ({} as T)),
  };
}

/** Hooks around the calls of a model, for `wrapLanguageModel`. */
export function hookMiddleware(scope: Scope, options: AiOptions = {}): LanguageModelMiddleware {
  return middlewareOf(newRun(scope, options), options);
}

/** Tools with hooks around them. A tool without `execute` has none, which is reported to `onProblem`. */
export function hookTools<T extends ToolSet>(scope: Scope, tools: T, options: IntegrationOptions = {}): T {
  return toolsOf(newRun(scope, options), tools);
}

function newRun(scope: Scope, options: IntegrationOptions): Run {
  // Of its own, what hooks say for the model's next request is kept for that.
  const own = "client" in scope ? scope : {client: scope, context: new ModelContext(), session: {}, signal: new AbortController().signal};
  return new Run(own, options, "ai", [5, 6, 7]);
}

function toolsOf<T extends ToolSet>(run: Run, tools: T): T {
  const wrapped = Object.entries(tools).map(([name, tool]) => {
    const {execute, toModelOutput} = tool;
    if (!execute) {
      run.client.onProblem(`hooks are not asked about the tool ${name}: it has no \`execute\``);
      return [name, tool];
    }
    const changed = new Set<string>();
    const hooked: typeof tool = {
      ...tool,
      execute: async (input: unknown, options: {toolCallId: string; abortSignal?: AbortSignal}) => {
        run.check();
        const given = input as Record<string, unknown>;
        const call = {tool_name: name, tool_input: given, tool_call_id: options.toolCallId};
        const outcome = await executeTool(run.scope, call, async (left, {signal}) => {
          const checked = JSON.stringify(left) === JSON.stringify(given) ? given : await validated(tool.inputSchema, left);
          return last(await execute(checked as never, {...options, abortSignal: signal} as never));
        }, {...(options.abortSignal && {signal: options.abortSignal})});
        const taken = run.take(outcome);
        if ("value" in taken) return taken.value;
        if (taken.result.error !== undefined) throw new Error(textOfContent(taken.result.llmContent));
        changed.add(options.toolCallId);
        return textOfContent(taken.result.llmContent);
      },
      ...(toModelOutput && {
        toModelOutput: (given: {toolCallId: string; output: unknown}) => (
          changed.has(given.toolCallId) ? {type: "text", value: String(given.output)} : toModelOutput(given as never)
        ),
      }),
    } as typeof tool;
    return [name, hooked];
  });
  return Object.fromEntries(wrapped) as T;
}

/** The arguments that hooks have changed, as the tool's schema takes them. */
async function validated(schema: Parameters<typeof asSchema>[0], given: unknown): Promise<unknown> {
  const result = await asSchema(schema).validate?.(given);
  if (result === undefined) return given;
  if (result.success) return result.value;
  throw new Error(`hooks changed the arguments to what the tool does not take: ${result.error.message}`);
}

/** Resolves with a tool's result, which is the last value of one that yields its progress. */
async function last(returned: unknown): Promise<unknown> {
  if (typeof returned !== "object" || returned === null || !(Symbol.asyncIterator in returned)) return returned;
  let value: unknown;
  for await (value of returned as AsyncIterable<unknown>);
  return value;
}

function middlewareOf(run: Run, {chunks = "each"}: AiOptions): LanguageModelMiddleware {
  return {
    specificationVersion: "v3",
    wrapGenerate: async ({model, params}) => {
      if (run.stopped !== undefined) return synthetic(model, run.stopped);
      let result: GenerateResult | undefined;
      const request = toRequest(model, params);
      const answer = callModel(run.scope, "openai-chat", request, async (given, {signal}) => {
        result = await model.doGenerate({...fromRequest(given as unknown as ChatRequest, request, params), abortSignal: signal});
        return toCompletion(...completionOf(result));
      }, params.abortSignal && {signal: params.abortSignal});
      const outcome = await answer.finish();
      const response = settled(run, outcome);
      if (outcome.outcome !== "called" || !result) return synthetic(model, response);
      return withText(result, readCompletion(response).text);
    },
    wrapStream: async ({model, params}) => {
      if (run.stopped !== undefined) return {stream: ReadableStream.from(syntheticParts(model, run.stopped))};
      return streamed(run, model, params, chunks);
    },
  };
}

/**
 * The response to go on with. A refusal has one, which says why and calls no tool.
 *
 * @throws what the call threw; HookError where hooks could not be asked.
 */
function settled(run: Run, outcome: ModelOutcome): Record<string, unknown> {
  run.tell(outcome);
  if (outcome.outcome === "stopped") run.stopped = outcome.reason;
  if (outcome.error) throw outcome.error;
  if (outcome.outcome === "interrupted") throw outcome.cause ?? new HookError("interrupted", "the model's answer broke off");
  if (outcome.response) return outcome.response;
  throw new HookRefusal(outcome.outcome, "reason" in outcome ? outcome.reason : "hooks left no response");
}

async function streamed(run: Run, model: Model, params: CallOptions, chunks: "each" | "complete"): Promise<StreamResult> {
  const request = toRequest(model, params);
  const parts: StreamPart[] = [];
  const own = new WeakSet<object>();
  let result: StreamResult | undefined;
  const answer = callModel<ChatChunk>(run.scope, "openai-chat", request, async function* (given, {signal}) {
    result = await model.doStream({...fromRequest(given as unknown as ChatRequest, request, params), abortSignal: signal});
    const calls = {count: 0};
    for await (const part of result.stream) {
      if (part.type === "error") throw part.error;
      const chunk = toChunk(part, parts.push(part) - 1, calls);
      own.add(chunk);
      yield chunk;
    }
  }, {chunks, ...(params.abortSignal && {signal: params.abortSignal})});
  const open = new Set<string>();
  async function* shown(): AsyncGenerator<StreamPart> {
    let isReplaced = false;
    for await (const {chunk, complete} of answer) {
      if (complete) {
        isReplaced = true;
        for (const id of open) yield {type: "text-end", id};
        yield* syntheticParts(model, complete);
        continue;
      }
      const part = parts[chunk.hook_sdk ?? -1];
      // What the provider has sent has what hooks have taken away.
      if (!part || isReplaced || (part.type === "raw" && !own.has(chunk))) continue;
      if (part.type === "text-start") open.add(part.id);
      if (part.type === "text-end") open.delete(part.id);
      yield part.type === "text-delta" ? {...part, delta: chunk.choices[0]?.delta.content ?? ""} : part;
    }
    const outcome = await answer.finish();
    settled(run, outcome);
    const isRefused = (outcome.outcome === "blocked" || outcome.outcome === "stopped") && !isReplaced;
    if (isRefused) throw new HookRefusal(outcome.outcome, outcome.reason);
  }
  const iterator = shown();
  const first = await iterator.next(); // A call that fails at once is an error of the call's.
  async function* all(): AsyncGenerator<StreamPart> {
    try {
      if (!first.done) yield first.value;
      yield* iterator;
    } catch (error) {
      yield {type: "error", error};
    }
  }
  return {...result, stream: ReadableStream.from(all())};
}

/** A chunk in the form of OpenAI, with the index of its part. */
interface ChatChunk {
  object: "chat.completion.chunk";
  choices: {index: number; delta: {content?: string; tool_calls?: object[]}; finish_reason?: string}[];
  usage?: object;
  hook_sdk?: number;
}

function toChunk(part: StreamPart, hook_sdk: number, calls: {count: number}): ChatChunk {
  const chunk = (choices: ChatChunk["choices"], more: object = {}): ChatChunk => ({object: "chat.completion.chunk", choices, hook_sdk, ...more});
  switch (part.type) {
    case "text-delta":
      return chunk([{index: 0, delta: {content: part.delta}}]);
    case "tool-call": {
      const call = {index: calls.count++, id: part.toolCallId, type: "function", function: {name: part.toolName, arguments: part.input}};
      return chunk([{index: 0, delta: {tool_calls: [call]}}]);
    }
    case "finish":
      return chunk([{index: 0, delta: {}, finish_reason: toFinish(part.finishReason)}], {usage: usageOf(part.usage)});
    default:
      return chunk([]);
  }
}

function toRequest(model: Model, params: CallOptions): ChatRequest {
  const {prompt, tools = [], toolChoice, temperature, topP, topK, maxOutputTokens} = params;
  return {
    model: model.modelId,
    messages: prompt.map(({role, content}, hook_sdk) => ({role, content: toParts(content), hook_sdk})),
    ...(tools.length > 0 && {
      tools: tools.map(({name}) => ({type: "function", function: {name}})),
      tool_choice: toolChoice?.type === "tool" ? {type: "function", function: {name: toolChoice.toolName}} : toolChoice?.type ?? "auto",
    }),
    ...(temperature !== undefined && {temperature}),
    ...(topP !== undefined && {top_p: topP}),
    ...(topK !== undefined && {top_k: topK}),
    ...(maxOutputTokens !== undefined && {max_completion_tokens: maxOutputTokens}),
  };
}

/** The call with what hooks have changed of it; everything else is as it was. */
function fromRequest(given: ChatRequest, sent: ChatRequest, params: CallOptions): CallOptions {
  if (JSON.stringify(given) === JSON.stringify(sent)) return params;
  const prompt = given.messages.map(({role, content, hook_sdk}) => {
    const original = hook_sdk === undefined ? undefined : params.prompt[hook_sdk];
    const isSystem = role === "system" || role === "developer";
    const texts = typeof content === "string" ? [{type: "text", text: content}] : content ?? [];
    if (original) {
      if (typeof original.content === "string") return {...original, content: texts.map(({text = ""}) => text).join("")};
      return {...original, content: fromParts(texts, original.content)};
    }
    if (isSystem) return {role: "system", content: texts.map(({text = ""}) => text).join("")};
    return {role: role === "assistant" ? role : "user", content: fromParts(texts, [])};
  }) as CallOptions["prompt"];
  const changed: CallOptions = {...params, prompt};
  for (const [name, field] of [["temperature", "temperature"], ["topP", "top_p"], ["topK", "top_k"], ["maxOutputTokens", "max_completion_tokens"]] as const) {
    if (given[field] !== sent[field]) changed[name] = given[field];
  }
  if (params.tools && JSON.stringify(given.tool_choice) !== JSON.stringify(sent.tool_choice)) {
    const {mode, names} = readToolChoice(given.tool_choice);
    changed.toolChoice = {type: mode};
    if (names) changed.tools = params.tools.filter(({name}) => names.includes(name));
  }
  return changed;
}

function completionOf({content, finishReason, usage}: GenerateResult): Parameters<typeof toCompletion> {
  const text = content.map((part) => (part.type === "text" ? part.text : "")).join("");
  const calls = content.flatMap((part): ChatToolCall[] => (
    part.type === "tool-call" ? [{id: part.toolCallId, name: part.toolName, arguments: part.input}] : []
  ));
  return [text, calls, toFinish(finishReason), countsOf(usage)];
}

/** The result with the text that hooks left. */
function withText(result: GenerateResult, text: string): GenerateResult {
  const texts = result.content.filter((part) => part.type === "text");
  if (texts.map((part) => part.text).join("") === text) return result;
  const [first] = texts;
  const content = result.content.flatMap((part): GenerateResult["content"] => (
    part.type !== "text" ? [part] : part === first && text !== "" ? [{...part, text}] : []
  ));
  if (!first && text !== "") content.unshift({type: "text", text});
  return {...result, content};
}

// Version 2 of the specification (AI SDK 5) has a text where version 3 has an object, and numbers where it has objects.
const FINISH: Record<string, string> = {stop: "stop", length: "length", "content-filter": "content_filter", "tool-calls": "tool_calls"};

function toFinish(reason: FinishReason | string): string {
  const unified = typeof reason === "string" ? reason : reason.unified;
  return FINISH[unified] ?? "stop";
}

function fromFinish(model: Model, finish: string): FinishReason {
  const unified = Object.keys(FINISH).find((it) => FINISH[it] === finish) ?? "stop";
  return ((model.specificationVersion as string) === "v2" ? unified : {unified, raw: undefined}) as FinishReason;
}

function countsOf(usage: GenerateResult["usage"]): {input?: number; output?: number} {
  const count = (tokens: unknown) => (typeof tokens === "number" ? tokens : (tokens as {total?: number} | undefined)?.total);
  return {input: count(usage.inputTokens), output: count(usage.outputTokens)};
}

function usageOf(usage: GenerateResult["usage"]): object {
  return toUsage(countsOf(usage));
}

/** An answer of a hook's, or the reason of a refusal, as the model would give it. */
function synthetic(model: Model, response: Record<string, unknown> | string): GenerateResult {
  const {text, calls, finish} = typeof response === "string" ? {text: response, calls: [], finish: "stop"} : readCompletion(response);
  const none = {total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0, text: 0, reasoning: 0};
  const usage = (model.specificationVersion as string) === "v2" ? {inputTokens: 0, outputTokens: 0, totalTokens: 0} : {inputTokens: none, outputTokens: none};
  return {
    content: [
      ...(text === "" ? [] : [{type: "text" as const, text}]),
      ...calls.map(({id, name, arguments: input}) => ({type: "tool-call" as const, toolCallId: id, toolName: name, input})),
    ],
    finishReason: fromFinish(model, finish),
    usage: usage as GenerateResult["usage"],
    warnings: [],
  };
}

function* syntheticParts(model: Model, response: Record<string, unknown> | string): Generator<StreamPart> {
  const {content, finishReason, usage} = synthetic(model, response);
  yield {type: "stream-start", warnings: []};
  for (const part of content) {
    if (part.type !== "text") {
      yield part as StreamPart;
      continue;
    }
    yield {type: "text-start", id: "hook"};
    yield {type: "text-delta", id: "hook", delta: part.text};
    yield {type: "text-end", id: "hook"};
  }
  yield {type: "finish", finishReason, usage};
}
