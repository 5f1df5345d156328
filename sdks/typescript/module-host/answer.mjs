// Calls handlers and commands, and says what they return.

import { apiOf, current, Registered } from "./api.mjs";
import { commandContextOf, contextOf, snapshot } from "./context.mjs";
import { loadAll } from "./load.mjs";
import { pieces, theme } from "./theme.mjs";
import { toJson } from "./wire.mjs";

/** How many hooks a worker may say it has. */
const MAX_HOOKS = 256;

/** How many snapshots of sessions are kept for the other handlers of their events. */
const MAX_SNAPSHOTS = 16;

/** How a module's text in an error is cut, in characters. */
const MAX_REASON = 8 * 1024;

export class Host {
  #wire;
  #given;
  #targets = new Map();
  #renderers = new Map();
  #snapshots = new Map();
  #calls = new Map();
  #state = { isReady: false, isSettled: new Set() };

  constructor(wire, given) {
    this.#wire = wire;
    this.#given = given;
  }

  /** Loads all modules, and says that it is ready, and what there is. */
  async load() {
    const modules = this.#given.modules;
    const all = new Map(modules.map((module) => [module.path, new Registered(module)]));
    const outcomes = await loadAll(modules, this.#given, (module) =>
      apiOf(all.get(module.path), this.#wire, this.#state),
    );
    const hooks = [];
    const told = modules.map((module) => {
      this.#state.isSettled.add(module.path);
      const registered = all.get(module.path);
      let error = outcomes.get(module.path);
      if (!error && hooks.length + registered.count > MAX_HOOKS) {
        error = new RangeError(
          `Failed to load hook: all modules together may register ${MAX_HOOKS} handlers and commands`,
        );
      }
      if (error) {
        this.#wire.log("error", `${module.path}: ${error.message}`);
        return { path: module.path, error: String(error.message).slice(0, MAX_REASON) };
      }
      return this.#register(registered, hooks);
    });
    this.#state.isReady = true;
    this.#wire.say({ type: "hook-worker", protocol: 1, hooks, modules: told });
  }

  #register(registered, hooks) {
    const { module } = registered;
    const add = (words, target, hook) => {
      let hookId = `${module.label} ${words}`;
      for (let other = 2; this.#targets.has(hookId); other++) {
        hookId = `${module.label} ${words} ${other}`;
      }
      this.#targets.set(hookId, { module, ...target });
      hooks.push({ hookId, module: module.path, ...hook });
    };
    for (const { event, handler } of registered.handlers) {
      // Before a tool, a handler that cannot answer is one that throws.
      const config = event === "tool_call" ? { failBehavior: "block" } : {};
      add(event, { event, handler }, { eventName: event, vocabulary: "omp", config });
    }
    const commands = [];
    for (const [name, { description, handler }] of registered.commands) {
      commands.push({ name, description });
      add(`command ${name}`, { command: name, handler }, { eventName: "Command", matcher: name });
    }
    for (const [customType, renderer] of registered.renderers) {
      // The first that was loaded is the one that counts.
      if (!this.#renderers.has(customType)) this.#renderers.set(customType, { module, renderer });
    }
    return {
      path: module.path,
      events: registered.handlers.map(({ event }) => event),
      commands,
      renderers: [...registered.renderers.keys()],
    };
  }

  /** Takes a message of the engine. */
  take(message) {
    switch (message.type) {
      case "hook-call":
        void this.#answer(message);
        break;
      case "hook-call-cancelled": {
        const call = this.#calls.get(message.callId);
        if (call) call.isOver = true;
        break;
      }
      case "hook-close":
        process.exit(0);
    }
  }

  async #answer(message) {
    const { callId, hookId } = message;
    const call = { id: callId, pending: new Set(), isOver: false };
    this.#calls.set(callId, call);
    let said;
    try {
      said = await current.run(call, () => this.#said(message));
      // What a handler has said to its host on the way is not lost with its call.
      while (call.pending.size > 0) await Promise.all(call.pending);
    } catch (error) {
      const thrown = reasonOf(error);
      this.#wire.log("error", `${hookId}: ${error?.stack ?? thrown}`);
      const isToolCall = this.#targets.get(hookId)?.event === "tool_call";
      said = isToolCall ? { output: { block: true, reason: thrown } } : { error: thrown };
    }
    this.#calls.delete(callId);
    if (call.isOver) return;
    call.isOver = true;
    try {
      this.#wire.say({ type: "hook-answer", callId, ...said });
    } catch (error) {
      this.#wire.say({ type: "hook-answer", callId, error: `its answer: ${reasonOf(error)}` });
    }
  }

  async #said(message) {
    if (message.eventName === "render_message") return await this.#rendered(message.input);
    const target = this.#targets.get(message.hookId);
    if (!target) throw new Error("there is no such handler");
    const hasUI = message.hasUI === true;
    const cwd = message.input.cwd ?? this.#given.project;
    const seen = await this.#snapshot(message, hasUI);
    const given = { wire: this.#wire, module: target.module, hasUI, input: message.input, cwd, seen };
    if (target.command !== undefined) {
      if (message.input.command_name !== target.command) return {};
      const result = await target.handler(message.input.arguments ?? "", commandContextOf(given));
      // No other command of that name is run: the first that was loaded is the one.
      const output = { skipRemaining: true };
      if (typeof result === "string") output.hookSpecificOutput = { text: result };
      return { output };
    }
    const result = await target.handler(message.input, contextOf(given));
    if (result === undefined || result === null) return {};
    if (typeof result !== "object" || Array.isArray(result)) {
      const what = Array.isArray(result) ? "an array" : `a ${typeof result}`;
      throw new TypeError(`it returned ${what}, and may return an object or nothing`);
    }
    return { output: JSON.parse(toJson(result)) };
  }

  /** What the session is; asked once for all handlers of an event. */
  #snapshot({ callId, correlationId }, hasUI) {
    const key = correlationId && `${correlationId} ${hasUI}`;
    const known = key && this.#snapshots.get(key);
    if (known && known.until > Date.now()) return known.seen;
    const seen = snapshot(this.#wire, callId, hasUI);
    if (key) {
      this.#snapshots.set(key, { seen, until: Date.now() + 1_000 });
      if (this.#snapshots.size > MAX_SNAPSHOTS) {
        this.#snapshots.delete(this.#snapshots.keys().next().value);
      }
    }
    return seen;
  }

  /** A message of a module's own kind, as lines of styled text. */
  async #rendered({ customType, message, options = {}, width = 80 }) {
    const found = this.#renderers.get(customType);
    if (!found) return {};
    const made = await found.renderer(message, options, theme);
    if (made === undefined || made === null) return {};
    const lines =
      typeof made === "string" ? made.split("\n") : Array.isArray(made) ? made : made.render(width);
    return { output: { lines: lines.map((line) => pieces(String(line))) } };
  }
}

function reasonOf(error) {
  const text = error instanceof Error ? error.message || error.name : String(error);
  return text.slice(0, MAX_REASON);
}
