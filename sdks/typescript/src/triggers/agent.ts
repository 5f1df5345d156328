/** Sessions and turns of an agent. */

import {randomUUID} from "node:crypto";

import type {HookClient} from "../client.js";
import type {HookError} from "../errors.js";
import {asyncDispose} from "../temporary.js";
import {ModelContext, decided, stopStateOf, within} from "./scope.js";
import type {SessionFields, TriggerOptions} from "./options.js";
import type {Advice, InnerScope, Outcome, Scope, StopState} from "./scope.js";

type Fields = Record<string, unknown>;

/** The outcome of a prompt. */
export type PromptOutcome = Outcome & Advice & (
  /** The agent works on `prompt`, which has what hooks added. */
  | {outcome: "proceed"; prompt: string; message?: Fields}
  | {outcome: "refused"; reason: string}
  | {outcome: "stopped"; reason: string}
);

/** The outcome of a turn. */
export type TurnEnd = Outcome & Advice & {clearContext?: boolean} & (
  | {outcome: "done"}
  /** The agent goes on with this prompt, in another turn. */
  | {outcome: "continue"; prompt: string}
  /** A hook wants the agent to go on once more than it may: the turn is over. */
  | {outcome: "limit-reached"; reason: string; continuations: number}
  | {outcome: "stopped"; reason: string}
);

/** The outcome of any other event. */
export type LifecycleOutcome = Outcome & Advice & (
  /** `compaction` is a hook's, to be used instead of the agent's own. */
  | {outcome: "done"; compaction?: Fields}
  | {outcome: "refused"; reason: string}
  /** The agent is to stop. */
  | {outcome: "stopped"; reason: string}
);

const NO_HOST = () => ({services: {}});

/** A part of an agent's work; what runs in it is cancelled when it ends. */
class Part implements InnerScope {
  readonly client: HookClient;
  readonly context: ModelContext;
  readonly session: SessionFields;
  readonly signal: AbortSignal;
  readonly #over = new AbortController();
  /** Of what is around it: events of it go on after it has ended. */
  protected readonly outer: TriggerOptions;

  constructor(scope: Scope, options: TriggerOptions) {
    [this.client, this.outer] = within(scope, options);
    this.session = this.outer.session ?? {};
    this.context = "client" in scope ? scope.context : new ModelContext();
    const {signal} = this.outer;
    this.signal = signal ? AbortSignal.any([signal, this.#over.signal]) : this.#over.signal;
  }

  /** Cancels what runs in it. */
  protected leave(why: string): void {
    this.#over.abort(new Error(why));
  }

  /** Fires an event of it. */
  protected fire<T extends Outcome>(
    trigger: string, input: object, outcomes: readonly string[], refusal: (error: HookError) => T, read: (given: Fields) => Fields,
  ): Promise<T> {
    return decided(this.client.trigger(trigger, {...input}, NO_HOST, this.outer).then(read), outcomes, refusal);
  }
}

class Turn extends Part {
  readonly #prompt: string;
  readonly #around: StopState;
  readonly stopState: StopState = {};
  prompt!: string;

  constructor(scope: Scope, prompt: string, options: TriggerOptions) {
    super(scope, options);
    this.#prompt = prompt;
    this.#around = stopStateOf(scope);
  }

  async begin(input: {prompt: string}): Promise<AgentTurn> {
    const refusal = (error: HookError): PromptOutcome => (
      {outcome: "refused", reason: `the hooks could not be asked about the prompt: ${error.message}`, warnings: [], error}
    );
    const outcome = await this.fire("prompt", input, ["proceed", "refused", "stopped"], refusal, (given) => (
      given["outcome"] === "proceed" && typeof given["prompt"] !== "string" ? {outcome: "proceed without a prompt"} : given
    ));
    if (outcome.outcome === "stopped") this.#around.reason = outcome.reason;
    if (outcome.outcome !== "proceed") this.stopState.reason = outcome.reason;
    return Object.assign(this, outcome) as AgentTurn;
  }

  async end(response: string, more: {messages?: unknown[]} = {}): Promise<TurnEnd> {
    this.leave("the turn has ended");
    const {reason} = this.stopState;
    if (reason !== undefined) return {outcome: "stopped", reason, warnings: []};
    const end = await endTurn(this.client, {...more, prompt: this.#prompt, prompt_response: response}, this.outer);
    this.context.add(end.forModel);
    return end;
  }

  async [asyncDispose](): Promise<void> {
    this.leave("the turn was left");
  }
}

/** A turn: `executeTool` and `callModel` take it instead of the client, and what they run is cancelled when it is left. */
export type AgentTurn = PromptOutcome & InnerScope & AsyncDisposable & {
  /** Ends the turn with the agent's answer; hooks may have it go on. They are not asked where they have refused the prompt, or had the agent stop. */
  end(response: string, more?: {messages?: unknown[]}): Promise<TurnEnd>;
};

/**
 * Begins a turn with the user's prompt, or with that of a turn that goes on. The server counts how often in a row. In a
 * turn whose prompt was refused all calls are `stopped`.
 *
 * @throws HookError `cancelled` where the signal is aborted; nothing else.
 */
export function agentTurn(
  scope: Scope, prompt: string | {prompt: string; images?: unknown[]}, options: TriggerOptions = {},
): Promise<AgentTurn> {
  const input = typeof prompt === "string" ? {prompt} : prompt;
  return new Turn(scope, input.prompt, options).begin(input);
}

/** Ends a turn that was begun elsewhere, as `end` of a turn does. `onProblem` is told of hooks that had the agent go on too often. */
export async function endTurn(
  scope: Scope, turn: {prompt: string; prompt_response: string; messages?: unknown[]}, options: TriggerOptions = {},
): Promise<TurnEnd> {
  const [client, all] = within(scope, options);
  const fired = client.trigger("turn-end", {...turn}, NO_HOST, all);
  const end = await decided(fired, ["done", "continue", "limit-reached", "stopped"], (error): TurnEnd => (
    {outcome: "stopped", reason: `the hooks could not be asked about the turn's end: ${error.message}`, warnings: [], error}
  ));
  if (end.outcome === "limit-reached") client.onProblem(`hooks had the agent go on ${end.continuations} times: ${end.reason}`);
  return end;
}

/** Options of a session: its beginning, and the deadline and signal of its events. */
export interface SessionOptions extends SessionFields, Omit<TriggerOptions, "session"> {
  /** `startup` without it. */
  source?: "startup" | "resume" | "clear" | "compress";
  model?: string;
  system_prompt?: string;
}

class Session extends Part {
  #end: Promise<LifecycleOutcome> | undefined;

  async begin(input: object): Promise<AgentSession> {
    return Object.assign(this, await this.#lifecycle("session-start", input)) as unknown as AgentSession;
  }

  compress(input: {trigger: "manual" | "auto"; messages?: unknown[]; used_tokens?: number; max_tokens?: number}): Promise<LifecycleOutcome> {
    return this.#lifecycle("pre-compress", input);
  }

  notify(input: {message: string; notification_type?: string; level?: string; details?: Fields}): Promise<LifecycleOutcome> {
    return this.#lifecycle("notification", input);
  }

  end(reason: "exit" | "clear" | "logout" | "prompt_input_exit" | "other" = "exit"): Promise<LifecycleOutcome> {
    this.leave("the session has ended");
    return (this.#end ??= this.#lifecycle("session-end", {reason}));
  }

  async [asyncDispose](): Promise<void> {
    await this.end();
  }

  async #lifecycle(trigger: string, input: object): Promise<LifecycleOutcome> {
    const refusal = (error: HookError): LifecycleOutcome => (
      {outcome: "refused", reason: `the hooks could not be asked (${trigger}): ${error.message}`, warnings: [], error}
    );
    const outcome = await this.fire(trigger, input, ["done", "refused", "stopped"], refusal, ({stop, refused, ...given}) => {
      if (typeof stop === "string") return {...given, outcome: "stopped", reason: stop};
      if (typeof refused === "string") return {...given, outcome: "refused", reason: refused};
      return {...given, outcome: stop == null && refused == null ? "done" : "neither a text nor nothing"};
    });
    this.context.add(outcome.forModel);
    return outcome;
  }
}

/** A session: what runs in it has its id, and is cancelled when it ends. `await using` ends it. */
export type AgentSession = LifecycleOutcome & InnerScope & AsyncDisposable & {
  /** Asks before the conversation is compressed. */
  compress: Session["compress"];
  /** Tells hooks of a notification to the user. */
  notify: Session["notify"];
  /** Ends the session; once. */
  end: Session["end"];
};

/**
 * Begins a session of an agent.
 *
 * @throws HookError `cancelled` where the signal is aborted; nothing else.
 */
export function session(scope: Scope, options: SessionOptions = {}): Promise<AgentSession> {
  const {session_id = randomUUID(), cwd, transcript_path, maxContinuations, deadlineMs, signal, source = "startup", ...input} = options;
  const fields = {session_id, cwd, transcript_path, maxContinuations};
  return new Session(scope, {deadlineMs, signal, session: fields}).begin({source, ...input});
}
