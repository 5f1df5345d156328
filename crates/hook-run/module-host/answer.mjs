// Calls handlers and commands, and says what they return.

import { apiOf, current, Registered } from "./api.mjs";
import { commandContextOf, contextOf, snapshot } from "./context.mjs";
import { reasonOf, stackOf } from "./faults.mjs";
import { Array, Buffer, Error, Map, Promise, Set, String, append, each, leave, now } from "./intrinsics.mjs";
import { loadAll } from "./load.mjs";
import { plainObject } from "./plain.mjs";
import { pieces, theme } from "./theme.mjs";

/** How many hooks a worker may say it has. */
const MAX_HOOKS = 256;

/** How long an id may be, in bytes. */
const MAX_ID = 256;

/** What a handler is called: of a long path its end. */
function idOf(label, words) {
  let shown = label;
  while (shown !== "" && Buffer.byteLength(`…${shown} ${words}`) > MAX_ID) shown = shown.slice(1);
  return shown === label ? `${label} ${words}` : `…${shown} ${words}`;
}

/** Those for which there is no room, the greediest first: one takes nothing from the others. */
function tooMany(all) {
  const left = new Set();
  for (;;) {
    let count = 0;
    let most;
    each(all, (registered) => {
      if (left.has(registered)) return;
      count += registered.count;
      if (registered.count >= (most?.count ?? 0)) most = registered;
    });
    if (count <= MAX_HOOKS) return left;
    left.add(most);
  }
}

export class Host {
  #wire;
  #given;
  #targets = new Map();
  #renderers = new Map();
  #calls = new Map();
  #state = { isReady: false, isSettled: new Set() };

  constructor(wire, given) {
    this.#wire = wire;
    this.#given = given;
  }

  /** Loads all modules, and says that it is ready, and what there is. */
  async load() {
    const all = new Map();
    each(this.#given.modules, (module) => all.set(module.path, new Registered(module)));
    const outcomes = await loadAll(this.#given.modules, this.#given, (module) =>
      apiOf(all.get(module.path), this.#wire, this.#state),
    );
    const loaded = [];
    all.forEach((registered, path) => {
      this.#state.isSettled.add(path);
      if (!outcomes.get(path)) append(loaded, registered);
    });
    const left = tooMany(loaded);
    const hooks = [];
    const told = [];
    all.forEach((registered, path) => {
      const error = left.has(registered)
        ? `Failed to load hook: it registers ${registered.count} handlers and commands, and all modules together may register ${MAX_HOOKS}`
        : outcomes.get(path) && reasonOf(outcomes.get(path));
      if (error) this.#wire.log("error", `${path}: ${error}`);
      append(told, error ? { path, error } : this.#register(registered, hooks));
    });
    this.#state.isReady = true;
    this.#wire.say({ type: "hook-worker", protocol: 1, hooks, modules: told });
  }

  #register(registered, hooks) {
    const { module } = registered;
    const add = (words, target, hook) => {
      let hookId = idOf(module.label, words);
      for (let other = 2; this.#targets.has(hookId); other++) {
        hookId = idOf(module.label, `${words} ${other}`);
      }
      this.#targets.set(hookId, { module, ...target });
      append(hooks, { hookId, module: module.path, ...hook });
    };
    const events = [];
    each(registered.handlers, ({ event, handler }) => {
      append(events, event);
      // Before a tool, a handler that cannot answer is one that throws.
      const config = event === "tool_call" ? { failBehavior: "block" } : {};
      add(event, { event, handler }, { eventName: event, vocabulary: "omp", config });
    });
    const commands = [];
    each(registered.commands, ({ name, description, handler }) => {
      append(commands, { name, description });
      add(`command ${name}`, { command: name, handler }, { eventName: "Command", matcher: name });
    });
    const renderers = [];
    registered.renderers.forEach((renderer, customType) => {
      append(renderers, customType);
      // The first that was loaded is the one that counts.
      if (!this.#renderers.has(customType)) this.#renderers.set(customType, { module, renderer });
    });
    return { path: module.path, events, commands, renderers };
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
        this.#wire.over(message.callId);
        break;
      }
      case "hook-close":
        leave(0);
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
      this.#wire.log("error", `${hookId}: ${stackOf(error)}`);
      const isToolCall = this.#targets.get(hookId)?.event === "tool_call";
      said = isToolCall ? { output: { block: true, reason: thrown } } : { error: thrown };
    }
    this.#calls.delete(callId);
    this.#wire.over(callId);
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
    const seen = await snapshot(this.#wire, message.callId, hasUI);
    const given = { wire: this.#wire, module: target.module, hasUI, input: message.input, cwd, seen };
    if (target.command !== undefined) {
      if (message.input.command_name !== target.command) return {};
      const result = await target.handler(message.input.arguments ?? "", commandContextOf(given));
      return typeof result === "string" ? { output: { hookSpecificOutput: { text: result } } } : {};
    }
    const result = await target.handler(message.input, contextOf(given));
    if (result === undefined || result === null) return {};
    return { output: plainObject(result) };
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
