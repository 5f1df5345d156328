/** The common part of the integrations of libraries. */

import {readFileSync} from "node:fs";
import {createRequire} from "node:module";
import {join} from "node:path";

import type {HookClient} from "../client.js";
import {HookError} from "../errors.js";
import {isObject} from "../messages.js";
import {ModelContext, stopStateOf} from "../triggers/scope.js";
import type {InnerScope, Scope} from "../triggers/scope.js";
import type {ToolOutcome, ToolResult} from "../triggers/tool.js";

/** Options of every integration. */
export interface IntegrationOptions {
  /** Takes hooks' texts for the user; without it `onProblem` of the client does. */
  onMessage?: (text: string) => void;
}

/** A hook refused, or has the agent stop: `blocked` or `stopped`. */
export class HookRefusal extends HookError {}

/** One run of an agent, until hooks stop it. */
export class Run {
  readonly scope: Scope;
  readonly client: HookClient;
  readonly #onMessage: (text: string) => void;
  /** Why hooks could not be asked about a tool; no model is called from then on. */
  failure: HookError | undefined;
  /** The stopped agent's answer was given: what comes now is another run. */
  isOver = false;
  /** The reason of a refused call of the model is its answer; else the call throws. */
  answersRefusals = true;

  constructor(scope: Scope, options: IntegrationOptions, library: string, majors: readonly number[]) {
    this.scope = scope;
    this.client = "client" in scope ? scope.client : scope;
    this.#onMessage = options.onMessage ?? ((text) => this.client.onProblem(text));
    warnOfVersion(library, majors, (text) => this.client.onProblem(text));
  }

  /** A run with a scope of its own, which keeps what hooks say for the model's next request, and their reason to stop the agent. */
  static ofItsOwn(scope: Scope, options: IntegrationOptions, library: string, majors: readonly number[]): Run {
    return new Run(ownScope(scope), options, library, majors);
  }

  /** A hook's reason to stop the agent; no model and no tool is called from then on. */
  get stopped(): string | undefined {
    return "client" in this.scope ? this.scope.stopState?.reason : undefined;
  }

  /** Tells the user what hooks have to say. */
  tell(outcome: {warnings: string[]; forUser?: string; messageForUser?: string}): void {
    this.client.report(...outcome.warnings);
    const text = outcome.forUser ?? outcome.messageForUser;
    if (text !== undefined) this.#onMessage(text);
  }

  /** Reports arguments that hooks have added, and that the tool does not get: `taken` is what its schema made of those that hooks left. */
  reportLost(tool: string, given: unknown, left: unknown, taken: unknown): void {
    const lost = lostNames(given, left, taken).join(", ");
    if (lost !== "") this.client.report(`hooks add arguments to the tool ${tool} that its schema does not have: ${lost}`);
  }

  /**
   * Returns the answer of an agent that a hook has stopped.
   *
   * @throws HookRefusal `stopped` where the agent had it: it is not the answer to another prompt; `failure`.
   */
  lastAnswer(): string | undefined {
    if (this.failure) throw this.failure;
    if (this.isOver) throw new HookRefusal("stopped", `hooks have stopped this agent (${this.stopped}): each run needs its own hooks`);
    this.isOver = this.stopped !== undefined;
    return this.stopped;
  }

  /**
   * Returns the model's content for a tool call: the tool's own return value, or the result that hooks left.
   *
   * @throws HookRefusal with the text for the model where it was refused, or the agent is to stop; what the tool threw.
   */
  take<T>(outcome: ToolOutcome<T>): {value: T} | {result: ToolResult} {
    this.tell(outcome);
    this.failure ??= outcome.error;
    if (outcome.outcome === "ran") {
      if ("thrown" in outcome) throw outcome.thrown;
      return "value" in outcome ? {value: outcome.value as T} : {result: outcome.result};
    }
    throw new HookRefusal(outcome.outcome === "stopped" ? "stopped" : "blocked", textOfContent(outcome.result.llmContent));
  }
}

/** A scope that ends where hooks have the agent stop, in another one. */
export function ownScope(scope: Scope): InnerScope {
  const around = "client" in scope ? scope : {client: scope, context: new ModelContext(), session: {}, signal: new AbortController().signal};
  const {client, context, session, signal} = around;
  return {client, context, session, signal, stopState: stopStateOf(scope)};
}

/** The paths of members that are in `left`, but neither in `given` nor in `taken`. */
function lostNames(given: unknown, left: unknown, taken: unknown): string[] {
  if (!isObject(left) || !isObject(taken)) return [];
  const before = isObject(given) ? given : {};
  return Object.entries(left).flatMap(([name, value]) => {
    if (Object.hasOwn(taken, name)) return lostNames(before[name], value, taken[name]).map((inner) => `${name}.${inner}`);
    return Object.hasOwn(before, name) ? [] : [name];
  });
}

/** The text of a tool's content. */
export function textOfContent(content: ToolResult["llmContent"]): string {
  if (typeof content === "string") return content;
  return content.map((part) => (typeof (part as {text?: unknown})?.text === "string" ? (part as {text: string}).text : JSON.stringify(part))).join("\n");
}

/** The prompt that hooks left, behind the message that a hook puts before it. */
export function promptOf({prompt, message}: {prompt: string; message?: Record<string, unknown>}): string {
  const content = message?.["content"];
  return content === undefined ? prompt : `${textOfContent(typeof content === "string" ? content : [content].flat())}\n\n${prompt}`;
}

const checked = new Set<string>();

/** Warns once of a version of a library that this package was not tested with. */
export function warnOfVersion(library: string, majors: readonly number[], warn: (text: string) => void): void {
  if (checked.size === checked.add(library).size) return;
  const version = versionOf(library);
  if (version === undefined || majors.includes(Number.parseInt(version, 10))) return;
  warn(`${library} ${version} was not tested with this version of hook-sdk, but major versions ${majors.join(" and ")}`);
}

/** Returns the version of a package, as the program has it. Not every package exports its package.json. */
function versionOf(library: string): string | undefined {
  const folders = [join(process.cwd(), "index.js"), import.meta.url].flatMap((from) => createRequire(from).resolve.paths(library) ?? []);
  for (const folder of folders) {
    try {
      return (JSON.parse(readFileSync(join(folder, library, "package.json"), "utf8")) as {version: string}).version;
    } catch {} // It is not in this folder.
  }
  return undefined;
}
