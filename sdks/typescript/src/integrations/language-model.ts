/** The model of an agent with hooks around its calls, in the form of the AI SDK, which Mastra has as well. */

import type {LanguageModelMiddleware} from "ai";

import type {HookClient} from "../client.js";
import {HookError} from "../errors.js";
import {callModel} from "../triggers/model.js";
import type {ModelOutcome} from "../triggers/model.js";
import {ModelContext, isCancelled} from "../triggers/scope.js";
import type {Scope} from "../triggers/scope.js";
import {fromParts, readCompletion, readToolChoice, toCompletion, toParts, toUsage, withholding} from "./chat.js";
import type {ChatRequest, ChatToolCall} from "./chat.js";
import {HookRefusal} from "./shared.js";
import type {IntegrationOptions, Run} from "./shared.js";

type Wrap<K extends "wrapGenerate" | "wrapStream"> = NonNullable<LanguageModelMiddleware[K]>;
/** A model of the AI SDK. */
export type Model = Parameters<Wrap<"wrapGenerate">>[0]["model"];
type CallOptions = Parameters<Wrap<"wrapGenerate">>[0]["params"];
type GenerateResult = Awaited<ReturnType<Wrap<"wrapGenerate">>>;
type StreamResult = Awaited<ReturnType<Wrap<"wrapStream">>>;
type StreamPart = StreamResult["stream"] extends ReadableStream<infer P> ? P : never;
type FinishReason = GenerateResult["finishReason"];

/** Options for the streams of a model. */
export interface StreamOptions extends IntegrationOptions {
  /**
   * The parts of a stream that hooks see: `each` chunk before it is shown (the default), or only the `complete` answer,
   * after it was shown. With `each`, raw chunks of the provider are left out, since hooks cannot change them.
   */
  chunks?: "each" | "complete";
}

/** A middleware with hooks around a model's calls. */
export function middlewareOf(run: Run, {chunks = "each"}: StreamOptions): LanguageModelMiddleware {
  return {
    specificationVersion: "v3",
    wrapGenerate: async ({model, params}) => {
      const last = run.lastAnswer();
      if (last !== undefined) return synthetic(model, last, last);
      let result: GenerateResult | undefined;
      const request = toRequest(model, params);
      const answer = callModel(run.scope, "openai-chat", request, async (given, {signal}) => {
        const left = given as unknown as ChatRequest;
        const allow = withholding(request, left);
        result = await model.doGenerate({...fromRequest(left, request, params), abortSignal: signal});
        for (const part of result.content) if (part.type === "tool-call") allow(part.toolName);
        return toCompletion(...completionOf(result));
      }, params.abortSignal && {signal: params.abortSignal});
      const outcome = await answer.finish().catch((error: unknown) => {
        throw ownReason(error, params);
      });
      const response = settled(run, outcome);
      if (outcome.outcome !== "called" || !result) return synthetic(model, response, stopOf(outcome));
      return withText(result, readCompletion(response).text);
    },
    wrapStream: async ({model, params}) => {
      const last = run.lastAnswer();
      if (last !== undefined) return {stream: ReadableStream.from(syntheticParts(model, last, last))};
      return streamed(run, model, params, chunks);
    },
  };
}

/**
 * A middleware whose calls stand alone, each a run of its own, since they may be of any conversation. What hooks say for
 * the next request is reported to `onProblem`.
 */
export function loneMiddleware(scope: Scope, options: StreamOptions, newRun: (scope: Scope, options: StreamOptions) => Run): LanguageModelMiddleware {
  const {client, session} = "client" in scope ? scope : {client: scope, session: {}};
  const alone = () => middlewareOf(newRun({client, session, context: new UnkeptContext(client), signal: new AbortController().signal}, options), options);
  return {
    specificationVersion: "v3",
    wrapGenerate: (call) => alone().wrapGenerate!(call),
    wrapStream: (call) => alone().wrapStream!(call),
  };
}

/** Reports what it is given. */
class UnkeptContext extends ModelContext {
  constructor(readonly client: HookClient) {
    super();
  }

  override add(text: unknown): void {
    if (text) this.client.onProblem(`no next request has what hooks say to the model, since this call stands alone: ${String(text)}`);
  }
}

/**
 * The response to go on with. A refusal has one, which says why and calls no tool; `shown` are the parts of a stream.
 *
 * @throws what the call threw; HookError where hooks could not be asked.
 */
function settled(run: Run, outcome: ModelOutcome): Record<string, unknown> {
  run.tell(outcome);
  if (outcome.outcome === "stopped") run.isOver = true; // Nothing of the answer is left.
  if (outcome.error) throw outcome.error;
  if (outcome.outcome === "interrupted") throw outcome.cause ?? new HookError("interrupted", "the model's answer broke off");
  if (outcome.response && (run.answersRefusals || !("reason" in outcome))) return outcome.response;
  throw new HookRefusal(outcome.outcome, "reason" in outcome ? outcome.reason : "hooks left no response");
}

/** The error of a call, which is the abort's own reason where the caller has aborted it. */
function ownReason(error: unknown, {abortSignal}: CallOptions): unknown {
  return abortSignal?.aborted && error instanceof HookError && isCancelled(error) ? abortSignal.reason : error;
}

function stopOf(outcome: ModelOutcome): string | undefined {
  return outcome.outcome === "stopped" ? outcome.reason : undefined;
}

/** Whether a part may have something run here, or end the answer: it waits, with all after it, for what hooks say to the whole. */
function isHeldBack(part: StreamPart): boolean {
  if (part.type === "tool-input-start" || part.type === "tool-call") return part.providerExecuted !== true;
  return part.type === "tool-approval-request" || part.type === "finish";
}

async function streamed(run: Run, model: Model, params: CallOptions, chunks: "each" | "complete"): Promise<StreamResult> {
  const request = toRequest(model, params);
  const parts: StreamPart[] = [];
  const own = new WeakSet<object>();
  let result: StreamResult | undefined;
  const cut = new AbortController();
  const signal = AbortSignal.any([cut.signal, ...(params.abortSignal ? [params.abortSignal] : [])]);
  const answer = callModel<ChatChunk>(run.scope, "openai-chat", request, async function* (given, {signal}) {
    const left = given as unknown as ChatRequest;
    const allow = withholding(request, left);
    result = await model.doStream({...fromRequest(left, request, params), abortSignal: signal});
    const calls = {count: 0};
    for await (const part of result.stream) {
      if (part.type === "error") throw part.error;
      if (part.type === "tool-input-start" || part.type === "tool-call") allow(part.toolName);
      const chunk = toChunk(part, parts.push(part) - 1, calls);
      own.add(chunk);
      yield chunk;
    }
  }, {chunks, signal});
  const open = new Set<string>();
  function* instead(response: Record<string, unknown>, stopped?: string): Generator<StreamPart> {
    for (const id of open) yield {type: "text-end", id};
    yield* syntheticParts(model, response, stopped);
  }
  async function* shown(): AsyncGenerator<StreamPart> {
    const held: StreamPart[] = [];
    let text = "";
    let replacement: Record<string, unknown> | undefined;
    for await (const {chunk, complete} of answer) {
      if (complete) {
        replacement = complete;
        continue;
      }
      const part = parts[chunk.hook_sdk ?? -1];
      // What the provider has sent has what hooks have taken away.
      if (!part || replacement || (part.type === "raw" && !own.has(chunk))) continue;
      const left = part.type === "text-delta" ? {...part, delta: chunk.choices[0]?.delta.content ?? ""} : part;
      if (left.type === "text-delta") text += left.delta;
      if (held.length > 0 || isHeldBack(left)) {
        held.push(left);
        continue;
      }
      if (left.type === "text-start") open.add(left.id);
      if (left.type === "text-end") open.delete(left.id);
      yield left;
    }
    const outcome = await answer.finish();
    const response = settled(run, outcome);
    if (replacement) return yield* instead(replacement, stopOf(outcome));
    if (outcome.outcome === "blocked" || outcome.outcome === "stopped") {
      if (text !== "") throw new HookRefusal(outcome.outcome, outcome.reason);
      return yield* instead(response, stopOf(outcome));
    }
    const {text: whole} = readCompletion(response);
    // The agent's history is made of what was shown, and cannot be changed any more.
    if (!whole.startsWith(text)) throw new HookRefusal("blocked", "hooks changed the whole answer after it was shown");
    if (whole !== text) yield* textParts(whole.slice(text.length));
    yield* held;
  }
  const iterator = shown();
  const first = await iterator.next().catch((error: unknown) => {
    throw ownReason(error, params); // A call that fails at once is an error of the call's.
  });
  async function* all(): AsyncGenerator<StreamPart> {
    try {
      if (!first.done) yield first.value;
      yield* iterator;
    } catch (error) {
      yield {type: "error", error: ownReason(error, params)};
    }
  }
  const left = all();
  return {...result, stream: new ReadableStream<StreamPart>({
    async pull(controller) {
      const {done, value} = await left.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (why) => cut.abort(why), // Also while a part is awaited, which may never come.
  }, {highWaterMark: 0})};
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
  // The provider's own form has what hooks have taken away.
  return {...result, content, ...(result.response && {response: {...result.response, body: undefined}})};
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

/**
 * An answer of a hook's, or the reason of a refusal, as the model would give it. A hook's reason to stop the agent is beside it,
 * where a provider says what only it knows: the text alone may be a model's.
 */
function synthetic(model: Model, response: Record<string, unknown> | string, stopped?: string): GenerateResult {
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
    ...(stopped !== undefined && {providerMetadata: {hook: {stopped}}}),
  };
}

function* syntheticParts(model: Model, response: Record<string, unknown> | string, stopped?: string): Generator<StreamPart> {
  const {content, finishReason, usage, providerMetadata} = synthetic(model, response, stopped);
  yield {type: "stream-start", warnings: []};
  for (const part of content) {
    if (part.type === "text") yield* textParts(part.text);
    else yield part as StreamPart;
  }
  yield {type: "finish", finishReason, usage, ...(providerMetadata && {providerMetadata})};
}

function* textParts(delta: string): Generator<StreamPart> {
  yield {type: "text-start", id: "hook"};
  yield {type: "text-delta", id: "hook", delta};
  yield {type: "text-end", id: "hook"};
}
