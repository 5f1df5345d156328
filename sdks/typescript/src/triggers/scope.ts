/** The scope of triggers, which is a client, a session or a turn, and the parts that all outcomes have. */

import type {HookClient} from "../client.js";
import {HookError, textOf} from "../errors.js";
import type {SessionFields, TriggerOptions} from "./options.js";

/** Hooks' texts for the model that were in no request yet. */
export class ModelContext {
  #texts: string[] = [];

  /** Keeps a text for the next request. */
  add(text: unknown): void {
    if (typeof text === "string" && text !== "") this.#texts.push(text);
  }

  /** All texts, which are in a request from now on. */
  take(): string | undefined {
    const texts = this.#texts.splice(0);
    return texts.length > 0 ? texts.join("\n\n") : undefined;
  }
}

/** A client, a session or a turn. */
export type Scope = HookClient | InnerScope;

/** A part of an agent's work: what runs in it is cancelled when it ends. */
export interface InnerScope {
  readonly client: HookClient;
  /** Hooks' texts for the model, which its next request gets. */
  readonly context: ModelContext;
  readonly session: SessionFields;
  readonly signal: AbortSignal;
  /** Of a turn, or one run of an agent, which end where hooks have the agent stop. */
  readonly stopState?: StopState;
}

/** A hook's reason to stop the agent. Once there is one, no tool and no model is called any more. */
export interface StopState {
  reason?: string;
}

/** Returns the state of a scope, or one of its own where nothing of that scope ends with the agent. */
export function stopStateOf(scope: Scope): StopState {
  return ("client" in scope ? scope.stopState : undefined) ?? {};
}

/** Texts of hooks beside their decision. */
export interface Advice {
  /** For the model's next request, which has it where that is made in the same session or turn. */
  forModel?: string;
  /** For the user. */
  forUser?: string;
  /** Nothing of it is to be displayed. */
  suppressOutput?: boolean;
}

/** The fields of every outcome. */
export interface Outcome {
  /** For the agent's user: hooks that failed, are not trusted, or were not understood. */
  warnings: string[];
  /** Why there is no answer of the hooks; the outcome is a refusal then. */
  error?: HookError;
}

/** Returns the client of a scope, and the options with its session and signal. */
export function within(scope: Scope, options: TriggerOptions): [HookClient, TriggerOptions] {
  const isInner = "client" in scope;
  const signals = [options.signal, isInner ? scope.signal : undefined].filter((signal) => signal !== undefined);
  // Each trigger has a signal of its own: many listeners of one are a leak to Node.
  const own = signals.length > 0 && {signal: AbortSignal.any(signals)};
  if (!isInner) return [scope, {...options, ...own}];
  return [scope.client, {...options, ...own, session: {...scope.session, ...options.session}}];
}

/**
 * Resolves with the outcome of a trigger: the server's result if its `outcome` is one of those. Anything else, and every
 * error, is a refusal; only a cancelled trigger throws.
 */
export async function decided<T extends Outcome>(
  result: Promise<Record<string, unknown>>, outcomes: readonly string[], refusal: (error: HookError) => T,
): Promise<T> {
  try {
    const given = await result;
    if (!outcomes.includes(String(given["outcome"]))) {
      throw new HookError("invalid_message", `the server's outcome is ${String(given["outcome"]).slice(0, 100)}`);
    }
    return withWarnings(given) as unknown as T;
  } catch (thrown) {
    const error = thrown instanceof HookError ? thrown : new HookError("failed", textOf(thrown), {cause: thrown});
    if (isCancelled(error)) throw error;
    return refusal(error);
  }
}

/** Returns `true` if the caller has cancelled it, and not the server. */
export function isCancelled(error: HookError): boolean {
  return error.code === "cancelled" && "cause" in error;
}

/** The result with its warnings, which may be missing. */
export function withWarnings(given: Record<string, unknown>): Record<string, unknown> {
  return {...given, warnings: Array.isArray(given["warnings"]) ? given["warnings"].map(String) : []};
}
