/** Hooks in agents of LangChain.js: `hook-sdk/langchain`. */

import {AIMessage, HumanMessage, SystemMessage, ToolMessage, coerceMessageLikeToMessage} from "@langchain/core/messages";
import type {BaseMessage} from "@langchain/core/messages";
import {ToolInvocationError, createMiddleware} from "langchain";

import {HookError} from "../errors.js";
import {snapshot} from "../json.js";
import {agentTurn, endTurn} from "../triggers/agent.js";
import {callModel} from "../triggers/model.js";
import type {ModelOutcome} from "../triggers/model.js";
import type {TriggerOptions} from "../triggers/options.js";
import type {Scope} from "../triggers/scope.js";
import {runTool} from "../triggers/tool.js";
import type {Returned, ToolResult} from "../triggers/tool.js";
import {fromParts, readCompletion, readToolChoice, textOfMessage, toCompletion, toParts, withholding} from "./chat.js";
import type {ChatRequest} from "./chat.js";
import {HookRefusal, Run, ownScope, promptOf} from "./shared.js";
import type {IntegrationOptions} from "./shared.js";

export {HookRefusal};

/** The field of a message with a hook's reason to stop the agent. */
const STOPPED = "hook_stopped";

/** The field of a message with why hooks could not be asked about the prompt. */
const FAILED = "hook_failed";

/** What stands in a thread for a prompt that hooks refused. */
const REFUSED = "(a prompt that hooks refused)";

/** The field of a message with hooks' text for the model's next request. */
const CONTEXT = "hook_context";

/**
 * Hooks around the prompt, the model, the tools and the end of an agent: `createAgent({model, tools, middleware: [hookMiddleware(client)]})`.
 */
export function hookMiddleware(scope: Scope, options: IntegrationOptions = {}) {
  const run = new Run(scope, options, "langchain", [1]);
  /** The scopes of answers whose tools run at the same time: where hooks stop the agent at one, no other begins. */
  const scopes = new WeakMap<BaseMessage, Scope>();
  return createMiddleware({
    name: "HookMiddleware",
    beforeAgent: {
      canJumpTo: ["end"],
      hook: async ({messages}, runtime) => {
        const prompt = messages.findLast((message) => message.getType() === "human");
        const asked = prompt ? textOfMessage(prompt) : "";
        const turn = await agentTurn(run.scope, asked, optionsOf(runtime));
        run.tell(turn);
        if (turn.outcome !== "proceed") {
          // The next turn's model must not read the prompt in the thread. Some providers want one before an answer.
          const refused = prompt ? [new HumanMessage({content: REFUSED, ...(prompt.id !== undefined && {id: prompt.id})})] : [];
          const {code, message} = turn.error ?? {};
          return {messages: [...refused, withKwargs(answerWith(turn.reason, true), {[FAILED]: turn.error && {code, message}})], jumpTo: "end" as const};
        }
        const given = promptOf(turn);
        if (given === asked) return;
        return {messages: [prompt ? withText(prompt, given) : new HumanMessage(given.trimStart())]};
      },
    },
    wrapModelCall: async (request, handler) => {
      const stopped = stopOf(request.messages);
      if (stopped !== undefined) return answerWith(stopped, true);
      for (const tool of request.tools) {
        if (isOfProvider(tool)) run.client.report(`the model's provider runs ${nameOf(tool) || String(tool.type)} itself: hooks do not see it`);
      }
      const chat = toRequest(request.systemMessage, request.messages, request.tools, request.toolChoice);
      let made: {returned: AIMessage | Structured; text: string} | undefined;
      const answer = callModel(run.scope, "openai-chat", chat, async (given) => {
        const left = given as unknown as ChatRequest;
        const allow = withholding(chat, left);
        const returned = await handler({...request, ...fromRequest(left, chat, request)}) as AIMessage | Structured;
        const [message, ...more] = AIMessage.isInstance(returned) ? [returned] : returned.messages ?? [];
        if (!AIMessage.isInstance(message)) throw new HookError("unsupported", "another middleware gave no message, which hooks cannot see");
        for (const {id, name} of message.tool_calls ?? []) if (!isAnswered(id, more)) allow(name);
        made = {returned, text: [message, ...more].map((it) => it.text).join("\n")};
        return completionOf(message, made.text);
      }, {...optionsOf(request.runtime), context: contextOf(request.messages)});
      const outcome = await answer.finish();
      run.tell(outcome);
      if (outcome.error) throw outcome.error;
      if (outcome.outcome === "interrupted") throw outcome.cause ?? new HookError("interrupted", "the model's answer broke off");
      const {text, calls} = readCompletion(outcome.response ?? {});
      const isLeft = outcome.outcome === "called" && text === made?.text;
      if (made && AIMessage.isInstance(made.returned)) {
        const {returned} = made;
        // LangChain keeps it, and asks the model for another one.
        const isFailedTry = request.responseFormat !== undefined && returned.tool_calls?.some(({name}) => !request.tools.some((tool) => nameOf(tool) === name));
        if (isFailedTry && !isLeft) throw refusalOf(outcome);
        if (outcome.outcome === "called") return withKwargs(isLeft ? returned : withText(returned, text), {[CONTEXT]: outcome.forNextRequest});
      } else if (made && outcome.outcome === "called") {
        if (!isLeft) throw refusalOf(outcome);
        const {messages, ...more} = made.returned as Structured;
        return {...more, messages: messages.with(-1, withKwargs(messages.at(-1)!, {[CONTEXT]: outcome.forNextRequest}))} as unknown as AIMessage;
      }
      if (outcome.outcome === "stopped") return answerWith(outcome.reason, true);
      const tool_calls = calls.map(({id, name, arguments: args}) => ({id, name, args: JSON.parse(args) as Record<string, unknown>, type: "tool_call" as const}));
      return new AIMessage({content: text, tool_calls});
    },
    wrapToolCall: async (request, handler) => {
      const {id = "", name, args} = request.toolCall;
      const call = {tool_name: name, tool_input: args, tool_call_id: id};
      const answer = request.state.messages.findLast((message) => message.getType() === "ai");
      const scope = (answer && scopes.get(answer)) ?? ownScope(run.scope);
      if (answer) scopes.set(answer, scope);
      let signal: unknown;
      let command: object | undefined;
      const outcome = await runTool(scope, call, async (input) => {
        command = signal = undefined;
        run.reportLost(name, args, input, await takenBy(request.tool, input));
        const returned = await Promise.resolve(handler({...request, toolCall: {...request.toolCall, args: input}})).catch((thrown: unknown) => {
          if (isSignal(thrown)) signal = thrown;
          throw thrown;
        });
        if (!ToolMessage.isInstance(returned)) command = returned;
        return shown(returned);
      }, optionsOf(request.runtime));
      run.tell(outcome);
      if (outcome.error) throw outcome.error;
      if (signal !== undefined) throw signal;
      if (outcome.outcome === "ran" && "thrown" in outcome) throw errorOf(outcome.thrown, outcome.result.error, request.toolCall);
      if (outcome.outcome === "ran" && outcome.value) return outcome.value;
      const {llmContent, error} = outcome.result;
      const isStop = outcome.outcome === "stopped";
      const message = new ToolMessage({
        content: llmContent as string, tool_call_id: id, name, status: error !== undefined || isStop ? "error" : "success",
        ...(isStop && {additional_kwargs: {[STOPPED]: outcome.reason}}),
      });
      if (outcome.outcome !== "ran" || !command) return message;
      if (!isAnswered(id, messagesIn(command))) {
        run.client.report(`the tool ${name} returned no answer that hooks could change`);
      }
      return withAnswer(command, message) as typeof message;
    },
    afterAgent: {
      canJumpTo: ["model"],
      hook: async ({messages}, runtime) => {
        const answer = messages.at(-1);
        const failed = answer?.additional_kwargs[FAILED] as {code: string; message: string} | undefined;
        if (failed) throw new HookError(failed.code, failed.message); // Not before: of what throws there, nothing would be in the thread.
        if (!answer || answer.additional_kwargs[STOPPED] !== undefined) return;
        const prompt = messages.findLast((message) => message.getType() === "human");
        const turn = {prompt: prompt ? textOfMessage(prompt) : "", prompt_response: textOfMessage(answer)};
        const end = await endTurn(run.scope, turn, optionsOf(runtime));
        run.tell(end);
        if (end.error) throw end.error;
        if (end.outcome === "continue") {
          return {messages: [withKwargs(new HumanMessage(end.prompt), {[CONTEXT]: end.forModel})], jumpTo: "model" as const};
        }
        return end.forModel === undefined ? undefined : {messages: [withKwargs(answer, {[CONTEXT]: end.forModel})]};
      },
    },
  });
}

/** What LangChain makes of an answer with a `responseFormat`. */
interface Structured {
  structuredResponse: unknown;
  /** The model's, and those that LangChain adds. */
  messages: BaseMessage[];
}

/** Returns the refusal of an answer of which LangChain has made more than its message: nothing of that can be changed. */
function refusalOf(outcome: ModelOutcome): HookRefusal {
  return new HookRefusal(outcome.outcome === "stopped" ? "stopped" : "blocked", "reason" in outcome ? outcome.reason : "hooks changed a structured answer");
}

/** Returns `true` if there is an answer to a call of a tool. */
function isAnswered(id: string | undefined, messages: BaseMessage[]): boolean {
  return messages.some((message) => ToolMessage.isInstance(message) && message.tool_call_id === id);
}

/** Returns `true` for what is thrown to leave the graph, such as an interrupt: it is no error, and not the hooks' to change. */
function isSignal(thrown: unknown): boolean {
  return typeof thrown === "object" && thrown !== null && "is_bubble_up" in thrown && thrown.is_bubble_up === true;
}

/**
 * Returns a tool's error as one that its model gets, in the words of an agent without middleware. Any other error that leaves a
 * middleware ends the agent.
 */
function errorOf(thrown: unknown, error: string | undefined, call: ConstructorParameters<typeof ToolInvocationError>[1]): Error {
  if (ToolInvocationError.isInstance(thrown)) return thrown as Error;
  const {name} = thrown instanceof Error ? thrown : new Error();
  const text = thrown instanceof Error ? Error.prototype.toString.call(thrown) : error;
  return Object.assign(new ToolInvocationError(thrown, call), {message: `${text}\n Please fix your mistakes.`, name, cause: thrown});
}

/** Resolves with arguments as the schema of a tool takes them, where that says so. */
async function takenBy(tool: unknown, given: unknown): Promise<unknown> {
  const {"~standard": schema} = Object((tool as {schema?: unknown} | undefined)?.schema) as {"~standard"?: {validate(given: unknown): unknown}};
  return ((await schema?.validate(given)) as {value?: unknown} | undefined)?.value;
}

function optionsOf(runtime: {signal?: AbortSignal; configurable?: {thread_id?: string}}): TriggerOptions {
  const session_id = runtime.configurable?.thread_id;
  return {...(runtime.signal && {signal: runtime.signal}), ...(session_id !== undefined && {session: {session_id}})};
}

/** Returns what a tool's handler gave, and what the model gets of it, as they are now: the tool may go on to change them. */
function shown<C extends object>(given: ToolMessage | C): Returned<ToolMessage | C> {
  if (!ToolMessage.isInstance(given)) {
    const messages = messagesIn(given).map((message) => withContent(message, snapshot(message.content).copy as never, true));
    const [only, ...more] = messages.filter((message) => message.getType() !== "remove");
    const llmContent = more.length > 0 ? [only, ...more].map((message) => ({type: "text", text: message!.text})) : only?.content ?? "";
    return {value: messages.length > 0 ? withMessages(given, messages) : given, result: {llmContent: llmContent as ToolResult["llmContent"]}};
  }
  const message = withContent(given, snapshot(given.content).copy as never, true);
  const {content, status} = message;
  return {value: message, result: {llmContent: content as ToolResult["llmContent"], ...(status === "error" && {error: message.text})}};
}

/** The messages of a command. */
function messagesIn(command: object): BaseMessage[] {
  return updatesOf(command).filter(([name]) => name === "messages").flatMap(([, messages]) => [messages].flat().map((it) => coerceMessageLikeToMessage(it as never)));
}

function updatesOf(command: object): [string, unknown][] {
  const {update} = command as {update?: unknown};
  return Array.isArray(update) ? (update as [string, unknown][]) : Object.entries(Object(update) as object);
}

/** A command with other messages. */
function withMessages<C extends object>(command: C, messages: BaseMessage[]): C {
  const update = [...updatesOf(command).filter(([name]) => name !== "messages"), ["messages", messages]];
  return Object.assign(copyOf(command), {update: Array.isArray((command as {update?: unknown}).update) ? update : Object.fromEntries(update) as object});
}

/** A command whose answer to a call is the one that hooks left, in which all texts of its messages are. */
function withAnswer<C extends object>(command: C, answer: ToolMessage): C {
  const given = messagesIn(command);
  if (given.length === 0) return command;
  const messages = given.filter((message) => message.getType() === "remove" || ToolMessage.isInstance(message));
  return withMessages(command, messages.map((message) => (
    !ToolMessage.isInstance(message) ? message : message.tool_call_id === answer.tool_call_id ? answer : withContent(message, "")
  )));
}

/** Returns an answer with a hook's text. */
function answerWith(text: string, isStop: boolean): AIMessage {
  return new AIMessage({content: text, ...(isStop && {additional_kwargs: {[STOPPED]: text}})});
}

/** Returns the reason to stop the agent that a tool call of this turn had. */
function stopOf(messages: BaseMessage[]): string | undefined {
  const turn = messages.slice(messages.findLastIndex((message) => message.getType() === "human") + 1);
  const stop = turn.find((message) => message.additional_kwargs[STOPPED] !== undefined);
  return stop && String(stop.additional_kwargs[STOPPED]);
}

/** Hooks' texts for the model since it was called last. */
function contextOf(messages: BaseMessage[]): string | undefined {
  const since = messages.slice(Math.max(0, messages.findLastIndex((message) => message.getType() === "ai")));
  const texts = since.map((message) => message.additional_kwargs[CONTEXT]).filter((text) => typeof text === "string");
  return texts.length > 0 ? texts.join("\n\n") : undefined;
}

/** A message with more of what the library keeps beside its content. */
function withKwargs<M extends BaseMessage>(message: M, more: Record<string, unknown>): M {
  if (Object.values(more).every((value) => value === undefined)) return message;
  const additional_kwargs = {...message.additional_kwargs, ...more};
  return Object.assign(copyOf(message), {additional_kwargs, lc_kwargs: {...message.lc_kwargs, additional_kwargs}});
}

/** A copy of an object, of its own class. */
function copyOf<M extends object>(message: M): M {
  return Object.assign(Object.create(Object.getPrototypeOf(message) as object), message) as M;
}

const ROLES: Record<string, string> = {human: "user", ai: "assistant", system: "system", developer: "developer", tool: "tool"};

function toRequest(system: SystemMessage | undefined, messages: BaseMessage[], tools: readonly unknown[], toolChoice: unknown): ChatRequest {
  const all = system && system.text !== "" ? [{role: "system", content: toParts(system.content as never), hook_sdk: -1}] : [];
  return {
    messages: [...all, ...messages.map((message, hook_sdk) => (
      {role: ROLES[message.getType()] ?? "user", content: toParts(message.content as never), hook_sdk}
    ))],
    ...(tools.length > 0 && {tools: tools.map((tool) => ({type: "function", function: {name: nameOf(tool)}})), tool_choice: toolChoice ?? "auto"}),
  };
}

function isOfProvider(tool: object): tool is {type: unknown} {
  return !("invoke" in tool) && "type" in tool && tool.type !== "function";
}

function nameOf(tool: unknown): string {
  const {name, function: called} = tool as {name?: unknown; function?: {name?: unknown}};
  return String(name ?? called?.name ?? "");
}

interface Changed {
  systemMessage?: SystemMessage;
  messages?: BaseMessage[];
  tools?: never;
  toolChoice?: never;
}

/** Returns what hooks have changed of a request. */
function fromRequest(
  given: ChatRequest, sent: ChatRequest,
  {systemMessage, messages, tools}: {systemMessage: SystemMessage; messages: BaseMessage[]; tools: readonly unknown[]},
): Changed {
  if (JSON.stringify(given) === JSON.stringify(sent)) return {};
  const isOfSystem = ({hook_sdk}: {hook_sdk?: number}) => hook_sdk === -1;
  const system = given.messages.find(isOfSystem);
  const changed: Changed = {
    systemMessage: system ? withContent(systemMessage, system.content) : new SystemMessage(""),
    messages: given.messages.filter((message) => !isOfSystem(message)).map((message) => {
      const original = message.hook_sdk === undefined ? undefined : messages[message.hook_sdk];
      if (original) return withContent(original, message.content);
      const text = textOfMessage(message);
      return message.role === "user" ? new HumanMessage(text) : message.role === "assistant" ? new AIMessage(text) : new SystemMessage(text);
    }),
  };
  if (tools.length > 0 && JSON.stringify(given.tool_choice) !== JSON.stringify(sent.tool_choice)) {
    const {mode, names} = readToolChoice(given.tool_choice);
    Object.assign(changed, {toolChoice: mode, ...(names && {tools: tools.filter((tool) => names.includes(nameOf(tool)))})});
  }
  return changed;
}

/** A message with the content that hooks left. */
function withContent<M extends BaseMessage>(message: M, content: ChatRequest["messages"][number]["content"], isWhole = false): M {
  if (content === null) return message;
  if (isWhole) return Object.assign(copyOf(message), {content, lc_kwargs: {...message.lc_kwargs, content}});
  const original = message.content;
  const left = typeof content === "string" ? content : fromParts(content, typeof original === "string" ? [] : original);
  if (JSON.stringify(left) === JSON.stringify(original)) return message;
  // It keeps its id and all else, and is also written from `lc_kwargs`.
  return Object.assign(copyOf(message), {content: left, lc_kwargs: {...message.lc_kwargs, content: left}});
}

/** A message with another text: in the first of its parts that have one. */
function withText<M extends BaseMessage>(message: M, text: string): M {
  if (typeof message.content === "string") return withContent(message, text);
  const parts = toParts(message.content as never) as {type: string; text?: string; at?: number}[];
  const first = parts.find(({type}) => type === "text") ?? {type: "text"};
  return withContent(message, [...(parts.includes(first) ? [] : [{...first, text}]), ...parts.flatMap((part) => (
    part === first ? [{...part, text}] : part.type === "text" ? [] : [part]
  ))]);
}

function completionOf(message: AIMessage, text: string): object {
  const calls = (message.tool_calls ?? []).map(({id = "", name, args}) => ({id, name, arguments: JSON.stringify(args)}));
  const {input_tokens, output_tokens} = message.usage_metadata ?? {};
  return toCompletion(text, calls, calls.length > 0 ? "tool_calls" : "stop", {input: input_tokens, output: output_tokens});
}
