/** A model call with its hooks, whose answer may be a stream. */

import {HookError, textOf} from "../errors.js";
import {isObject} from "../messages.js";
import {untilAborted} from "../signals.js";
import {decided, stopStateOf, within} from "./scope.js";
import type {TriggerOptions} from "./options.js";
import type {Outcome, Scope} from "./scope.js";
import type {TriggerLink} from "./running.js";

/** The SDK in whose form requests and responses are (docs/model-sdks.md). */
export type ModelSdk = "genai" | "openai-chat" | "openai-responses" | "anthropic" | "stable";

type Fields = Record<string, unknown>;

/** Options of a model call. */
export interface ModelOptions extends TriggerOptions {
  /** `each`: hooks see each chunk that shows text before it is displayed; without it only the complete answer. */
  chunks?: "complete" | "each";
  /** Hooks' texts for the model: of events before this call. */
  context?: string;
  available_tools?: unknown[];
  messages?: unknown[];
  prompt?: string;
  system_prompt?: string;
}

/** Calls the model with the request as hooks left it. A call without streaming returns its response. */
export type CallModel<C extends object> =
  (request: Fields, context: {signal: AbortSignal}) => C | AsyncIterable<C> | Promise<C | AsyncIterable<C>>;

/** A part of the answer for the display: a chunk, or a whole response instead of the call or of the rest of the stream. */
export type ModelPart<C extends object = Fields> = {chunk: C; complete?: undefined} | {chunk?: undefined; complete: Fields};

interface ModelOutcomeFields extends Outcome {
  /** The complete response to go on with, without streaming, in the SDK's form. */
  response?: Fields;
  /** Why no tool is allowed, where a hook blocked their selection. */
  toolsWithheld?: string;
  /** Hooks' text for the model that was not in this request. In a session or a turn the next one has it; else pass it as `context`. */
  forNextRequest?: string;
  forUser?: string;
  suppressOutput?: boolean;
}

/** The outcome of a model call. */
export type ModelOutcome =
  | (ModelOutcomeFields & {outcome: "called"; response: Fields})
  /** A hook answered; the model was not called. */
  | (ModelOutcomeFields & {outcome: "answered"; response: Fields})
  | (ModelOutcomeFields & {outcome: "blocked"; reason: string; called: boolean})
  /** The agent is to stop. */
  | (ModelOutcomeFields & {outcome: "stopped"; reason: string; called: boolean})
  /** The stream broke off, or its chunks made no response. `cause` is what the call threw. */
  | (ModelOutcomeFields & {outcome: "interrupted"; cause?: unknown});

/** The number of parts that may wait for the display; then the model's stream is not read. */
const MAX_WAITING = 64;

/** An answer that arrives: its parts for the display, then what it came to. */
export interface ModelAnswer<C extends object = Fields> extends AsyncIterable<ModelPart<C>> {
  /**
   * Resolves with the outcome once the stream has ended. Parts that were not read are dropped.
   *
   * @throws HookError `cancelled` where the signal was aborted, or the iteration was left early; nothing else.
   */
  finish(): Promise<ModelOutcome>;
}

/**
 * Calls a model with its hooks: they may change the request, answer themselves, withhold tools, see and change the answer.
 * It begins at once. Once hooks have had the agent stop in a turn, its further calls are `stopped`. Iterating over the answer throws where the call has thrown or the server is lost.
 */
export function callModel<C extends object>(
  scope: Scope, sdk: ModelSdk | undefined, request: object, call: CallModel<C>, options: ModelOptions = {},
): ModelAnswer<C> {
  const {chunks = "complete", context: given, available_tools, messages, prompt, system_prompt, ...rest} = options;
  const left = new AbortController();
  const signal = rest.signal ? AbortSignal.any([rest.signal, left.signal]) : left.signal;
  const [client, all] = within(scope, {...rest, signal});
  const parts = new Parts<ModelPart<C>>();
  let called = false;
  let cause: unknown;
  const read = async (link: TriggerLink, params: Fields, signal: AbortSignal) => {
    if (!isObject(params["request"])) throw new HookError("invalid_message", "the model's request is no object");
    called = true;
    const isInspected = params["inspected"] !== false;
    try {
      for await (const chunk of stream(call, params["request"], signal)) {
        link.send({type: "hook-trigger-chunk", chunk});
        if (!isInspected) parts.push({chunk});
        await Promise.all([link.drained(), untilAborted(parts.room(), signal, () => signal.reason as Error)]);
      }
    } catch (thrown) {
      if (!signal.aborted) cause = thrown;
      throw new HookError("failed", thrown instanceof Error ? thrown.message : textOf(thrown));
    }
    return {};
  };
  const kept = "client" in scope ? scope.context : undefined;
  const own = kept?.take(); // It is kept for another request where no model has answered to it.
  const context = [own, given].filter((text) => text !== undefined).join("\n\n") || undefined;
  const fields = {sdk, request, context, available_tools, messages, prompt, system_prompt, chunks};
  const stop = stopStateOf(scope);
  const begun = stop.reason !== undefined ? Promise.resolve({outcome: "stopped", reason: stop.reason, called}) : client.trigger("model", fields, (link) => ({
    services: {"model.call": (params, {signal}) => read(link, params, signal)},
    chunk: ({chunk, complete}) => {
      if (isObject(complete)) parts.push({complete});
      else if (isObject(chunk)) parts.push({chunk: chunk as C});
    },
  }), all);
  const refusal = (error: HookError): ModelOutcome => {
    const reason = `the hooks of the model could not be asked: ${error.message}`;
    return {outcome: "blocked", reason, called, warnings: [], error};
  };
  const outcomes = ["called", "answered", "blocked", "stopped", "interrupted"];
  const outcome = decided<ModelOutcome>(begun, outcomes, refusal).then((given) => {
    if ((given.outcome === "called" || given.outcome === "answered") && !isObject(given.response)) {
      given = refusal(new HookError("invalid_message", `${given["outcome"]}, and there is no response`));
    }
    if (given.outcome === "stopped") stop.reason ??= given.reason;
    if (!called || given.error || given.outcome === "interrupted") kept?.add(own);
    kept?.add(given.forNextRequest);
    if (given.outcome === "interrupted" && cause !== undefined) given.cause = cause;
    const failed = given.error ?? (given.outcome === "interrupted" ? cause ?? new HookError("interrupted", "the model's answer broke off") : undefined);
    parts.end(failed);
    return given;
  }, (error: unknown) => {
    kept?.add(own);
    parts.end(error);
    throw error;
  });
  outcome.catch(() => {}); // `finish` rejects with it.
  return {
    [Symbol.asyncIterator]() {
      const each = parts.each();
      return {
        next: () => each.next(),
        // A generator's own waits for the part that is awaited, which may never come.
        return: () => {
          left.abort();
          return each.return(undefined);
        },
      };
    },
    finish() {
      parts.drop();
      return outcome;
    },
  };
}

/** The chunks of a call. An abort of the signal ends it at once, and returns the call's own iterator. */
async function* stream<C extends object>(call: CallModel<C>, request: Fields, signal: AbortSignal): AsyncGenerator<C> {
  const aborted = () => signal.reason as Error;
  const answer = await untilAborted((async () => call(request, {signal}))(), signal, aborted);
  if (!(Symbol.asyncIterator in answer)) return void (yield answer);
  const chunks = answer[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await untilAborted(chunks.next(), signal, aborted);
      if (next.done) return;
      yield next.value;
    }
  } finally {
    // Not awaited: a stream that hangs is ended by its signal.
    Promise.resolve(chunks.return?.()).catch(() => {});
  }
}

/** Parts that come one by one, for one reader. */
class Parts<P> {
  readonly #parts: P[] = [];
  #end: {error: unknown} | undefined;
  #isDropped = false;
  #changed!: Promise<void>;
  #change!: () => void;

  constructor() {
    this.#renew();
  }

  push(part: P): void {
    if (!this.#isDropped) this.#parts.push(part);
    this.#change();
  }

  end(error: unknown): void {
    this.#end ??= {error};
    this.#change();
  }

  /** Drops all parts, from now on. */
  drop(): void {
    this.#isDropped = true;
    this.#parts.length = 0;
    this.#change();
  }

  /** Resolves when few enough wait. */
  async room(): Promise<void> {
    while (this.#parts.length >= MAX_WAITING && !this.#end) await this.#changed;
  }

  async *each(): AsyncGenerator<P> {
    for (;;) {
      while (this.#parts.length > 0) {
        yield this.#parts.shift()!;
        this.#change();
      }
      if (this.#end?.error !== undefined) throw this.#end.error;
      if (this.#end || this.#isDropped) return;
      await this.#changed;
    }
  }

  #renew(): void {
    this.#changed = new Promise((resolve) => {
      this.#change = () => {
        this.#renew();
        resolve();
      };
    });
  }
}
