/**
 * Requests and answers of libraries in the form of OpenAI's chat completions, which the server translates for hooks. What
 * hooks do not see goes as a mark of where it was, and is put back from there: nothing is lost on the way.
 */

import {isObject} from "../messages.js";
import {HookRefusal} from "./shared.js";

/** A message in that form. */
export interface ChatMessage {
  role: string;
  content: string | ChatPart[] | null;
  /** The index of the library's message. */
  hook_sdk?: number;
}

/** A part of a message: text, or the mark of another one. */
export interface ChatPart {
  type: string;
  text?: string;
  /** The index of the library's part. */
  at?: number;
}

/** A request in that form. */
export interface ChatRequest {
  model?: string;
  messages: ChatMessage[];
  tools?: {type: "function"; function: {name: string}}[];
  tool_choice?: unknown;
  temperature?: number;
  top_p?: number;
  top_k?: number;
  max_completion_tokens?: number;
}

/** A call of a tool in a response. */
export interface ChatToolCall {
  id: string;
  name: string;
  /** JSON. */
  arguments: string;
}

/** The parts of a message's content that hooks see, and marks of the others. */
export function toParts(content: string | readonly unknown[]): string | ChatPart[] {
  if (typeof content === "string") return content;
  return content.map((part, at) => (isText(part) ? {type: "text", text: part.text, at} : {type: "original", at}));
}

/** The content that hooks left: parts of the original where they stand, texts as they are now. */
export function fromParts(parts: readonly ChatPart[], original: readonly unknown[]): unknown[] {
  return parts.map(({type, text, at}) => {
    const before = at === undefined ? undefined : original[at];
    if (type !== "text") return before;
    return isText(before) ? (before.text === text ? before : {...before, text}) : {type: "text", text};
  }).filter((part) => part !== undefined);
}

function isText(part: unknown): part is {type: "text"; text: string} {
  return isObject(part) && part["type"] === "text" && typeof part["text"] === "string";
}

/** The text of a message. */
export function textOfMessage({content}: {content?: unknown}): string {
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.filter(isText).map(({text}) => text).join("") : "";
}

/** Reads a `tool_choice`: its mode, and the names of the tools that may be called, if not all. */
export function readToolChoice(choice: unknown): {mode: "auto" | "required" | "none"; names?: string[]} {
  if (choice === "none" || choice === "required") return {mode: choice};
  if (!isObject(choice)) return {mode: "auto"};
  const nameOf = (tool: unknown) => (isObject(tool) && isObject(tool["function"]) ? String(tool["function"]["name"]) : undefined);
  const name = nameOf(choice);
  if (name !== undefined) return {mode: "required", names: [name]};
  const allowed = isObject(choice["allowed_tools"]) ? choice["allowed_tools"] : choice;
  const tools = Array.isArray(allowed["tools"]) ? allowed["tools"] : [];
  return {mode: allowed["mode"] === "required" ? "required" : "auto", names: tools.map(nameOf).filter((it) => it !== undefined)};
}

/**
 * Returns the check of an answer's calls of tools: hooks leave those that `given` allows.
 *
 * @throws HookRefusal for a call of another one, from that check.
 */
export function withholding(sent: ChatRequest, given: ChatRequest): (tool: string) => void {
  if (JSON.stringify(sent.tool_choice) === JSON.stringify(given.tool_choice)) return () => {};
  const {mode, names} = readToolChoice(given.tool_choice);
  return (tool) => {
    if (mode === "none" || names?.includes(tool) === false) throw new HookRefusal("blocked", `the model calls the tool ${tool}, which hooks withhold`);
  };
}

/** A complete response in that form. */
export function toCompletion(text: string, calls: readonly ChatToolCall[], finish: string, usage?: {input?: number; output?: number}): object {
  const tool_calls = calls.map(({id, name, arguments: given}) => ({id, type: "function", function: {name, arguments: given}}));
  return {
    id: "hook-sdk", object: "chat.completion", created: 0, model: "",
    choices: [{
      index: 0, finish_reason: finish,
      message: {role: "assistant", content: text === "" && calls.length > 0 ? null : text, ...(calls.length > 0 && {tool_calls})},
    }],
    ...(usage && {usage: toUsage(usage)}),
  };
}

/** Counts of tokens in that form. */
export function toUsage({input = 0, output = 0}: {input?: number; output?: number}): object {
  return {prompt_tokens: input, completion_tokens: output, total_tokens: input + output};
}

/** The text and the calls of a complete response. */
export function readCompletion(response: Record<string, unknown>): {text: string; calls: ChatToolCall[]; finish: string} {
  const choice: unknown = Array.isArray(response["choices"]) ? response["choices"][0] : undefined;
  const message = isObject(choice) && isObject(choice["message"]) ? choice["message"] : {};
  const calls = Array.isArray(message["tool_calls"]) ? message["tool_calls"].filter(isObject) : [];
  return {
    text: textOfMessage(message),
    calls: calls.map(({id, function: called}) => {
      const {name, arguments: given} = isObject(called) ? called : {};
      return {id: String(id), name: String(name), arguments: String(given)};
    }),
    finish: isObject(choice) && typeof choice["finish_reason"] === "string" ? choice["finish_reason"] : "stop",
  };
}
