// What a module is given when it is loaded (`pi`), and what it registers with it.

import { AsyncLocalStorage } from "node:async_hooks";

import { saying } from "./absent.mjs";
import { nearest, reasonOf, stackOf } from "./faults.mjs";
import { Array, Error, JSON, Map, Math, Number, Object, Promise, RangeError, Set, String, TypeError, append } from "./intrinsics.mjs";

/** The events there are. */
export const EVENTS = [
  "session_start",
  "session_before_switch",
  "session_switch",
  "session_before_branch",
  "session_branch",
  "session_before_compact",
  "session.compacting",
  "session_compact",
  "session_before_tree",
  "session_tree",
  "session_shutdown",
  "context",
  "before_agent_start",
  "agent_start",
  "agent_end",
  "turn_start",
  "turn_end",
  "auto_compaction_start",
  "auto_compaction_end",
  "auto_retry_start",
  "auto_retry_end",
  "ttsr_triggered",
  "todo_reminder",
  "tool_call",
  "tool_result",
];

const KNOWN = new Set(EVENTS);

/** What a program has that is given no time: as long as its call, whatever that is. In milliseconds. */
const A_DAY = 24 * 60 * 60 * 1_000;

/** How many handlers, commands and renderers one module may register. */
const MAX_REGISTERED = 256;

/** The call on whose behalf code runs. */
export const current = new AsyncLocalStorage();

/** What one module has registered. */
export class Registered {
  handlers = [];
  commands = [];
  renderers = new Map();

  constructor(module) {
    this.module = module;
  }

  get count() {
    return this.handlers.length + this.commands.length;
  }
}

function expectText(what, value) {
  if (typeof value !== "string" || value.trim() === "") {
    throw new TypeError(`${what} must be a text that is not blank, and is ${shown(value)}`);
  }
}

function expectFunction(what, value) {
  if (typeof value !== "function") {
    throw new TypeError(`${what} must be a function, and is ${shown(value)}`);
  }
}

function shown(value) {
  return typeof value === "string" ? JSON.stringify(value.slice(0, 80)) : typeof value;
}

/** `pi` of one module. */
export function apiOf(registered, wire, state) {
  const path = registered.module.path;
  const room = () => {
    if (state.isSettled.has(path)) {
      throw new Error("handlers and commands are registered while the module is loaded, not later");
    }
    if (registered.count + registered.renderers.size >= MAX_REGISTERED) {
      throw new RangeError(`a module may register ${MAX_REGISTERED} handlers, commands and renderers`);
    }
  };
  const ready = (what) => {
    if (!state.isReady) {
      throw new Error(`${what} is possible only once all modules are loaded: call it in a handler`);
    }
  };
  const say = (level) => (...parts) => wire.log(level, `${registered.module.label}: ${text(parts)}`);
  return saying("pi", {
    on(event, handler) {
      if (!KNOWN.has(event)) {
        const meant = nearest(event, EVENTS);
        const hint = meant === undefined ? `there are ${EVENTS.join(", ")}` : `did you mean \`${meant}\`?`;
        throw new TypeError(`there is no event ${shown(event)}; ${hint}`);
      }
      expectFunction(`the handler of ${event}`, handler);
      room();
      append(registered.handlers, { event, handler });
    },
    sendMessage(message, options) {
      ready("sendMessage");
      inBackground(wire, registered.module, "session.sendMessage", { ...sending(options), message });
    },
    appendEntry(customType, data) {
      ready("appendEntry");
      expectText("customType", customType);
      inBackground(wire, registered.module, "session.appendEntry", { customType, data });
    },
    registerCommand(name, command) {
      expectText("the name of a command", name);
      expectFunction(`the handler of the command ${name}`, command?.handler);
      room();
      const { description, handler } = command;
      const said = typeof description === "string" ? description : undefined;
      append(registered.commands, { name, description: said, handler });
    },
    registerMessageRenderer(customType, renderer) {
      expectText("customType", customType);
      expectFunction(`the renderer of ${customType}`, renderer);
      room();
      // The first is the one that counts, as among modules.
      if (!registered.renderers.has(customType)) registered.renderers.set(customType, renderer);
    },
    exec: (command, args, options) => exec(wire, command, args ?? [], options ?? {}),
    logger: {
      error: say("error"),
      warn: say("warn"),
      info: say("info"),
      log: say("info"),
      debug: say("debug"),
    },
  });
}

function text(parts) {
  return parts
    .map((part) => {
      if (typeof part === "string") return part;
      if (part instanceof Error) return stackOf(part);
      try {
        return JSON.stringify(part) ?? String(part);
      } catch {
        return reasonOf(part);
      }
    })
    .join(" ");
}

function sending(options) {
  return { triggerTurn: options?.triggerTurn, deliverAs: options?.deliverAs };
}

/** Asks the host for something that the caller does not wait for; the handler's answer does. */
export function inBackground(wire, module, method, params) {
  const call = current.getStore();
  if (!call || call.isOver) {
    wire.log("warn", `${module.label}: ${method}: no event is being handled, so nobody is asked`);
    return;
  }
  const asked = wire.ask(call.id, method, params).catch((error) => {
    wire.log("warn", `${module.label}: ${method}: ${error.message}`);
  });
  call.pending.add(asked);
  void asked.then(() => call.pending.delete(asked));
}

/** Asks the host for something, on behalf of what is being handled. */
export function ask(wire, method, params) {
  const call = current.getStore();
  if (!call || call.isOver) {
    return Promise.reject(new Error(`${method}: no event is being handled, so nobody is asked`));
  }
  return wire.ask(call.id, method, params);
}

/** A time limit as pi reads it: what is no number above zero is none. */
function milliseconds(timeout) {
  const given = Number(timeout);
  return given > 0 ? Math.min(Math.ceil(given), A_DAY) : A_DAY;
}

/** What a program comes to that its caller has taken back. */
function endedBySignal() {
  return { stdout: "", stderr: "", code: 143, killed: true };
}

async function exec(wire, command, args, options) {
  expectText("the program", command);
  if (!Array.isArray(args)) throw new TypeError(`the arguments of ${command} must be a list`);
  const { signal, cwd, env } = options;
  if (signal?.aborted) return endedBySignal();
  const timeout = milliseconds(options.timeout);
  const given = { command, args: args.map((it) => String(it)), cwd, timeout };
  if (env) {
    given.env = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, String(value)]));
  }
  const running = ask(wire, "exec", given);
  if (!signal) return await running;
  running.catch(() => {});
  const call = current.getStore();
  const stopped = new Promise((done) => {
    signal.addEventListener(
      "abort",
      () => {
        if (call && running.hostCallId) wire.cancel(call.id, running.hostCallId);
        done(endedBySignal());
      },
      { once: true },
    );
  });
  return await Promise.race([running, stopped]);
}
