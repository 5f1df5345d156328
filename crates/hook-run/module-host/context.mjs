// What a handler is given beside its event: the user, the session, the model (`ctx`).

import { saying } from "./absent.mjs";
import { ask, inBackground } from "./api.mjs";
import { Array, Map, Object, Promise, Set, String } from "./intrinsics.mjs";
import { plain } from "./theme.mjs";

/** What the host says of the session; nothing where it has none to speak of. */
export async function snapshot(wire, callId, hasUI) {
  const nothing = () => undefined;
  const asked = wire.ask(callId, "session.get", {}).catch(nothing);
  const editorText = hasUI ? await wire.ask(callId, "ui.getEditorText", {}).catch(nothing) : "";
  const session = await asked;
  return {
    session: typeof session === "object" && session !== null ? session : {},
    editorText: typeof editorText === "string" ? editorText : "",
  };
}

/** `ctx` of a handler. */
export function contextOf({ wire, module, hasUI, input, cwd, seen }) {
  // What the event says of it the host need not say again.
  const told = { sessionId: input.session_id, sessionFile: input.transcript_path || undefined };
  const session = { ...told, ...seen.session };
  return saying("ctx", {
    ui: uiOf(wire, module, hasUI, seen),
    hasUI,
    cwd,
    sessionManager: managerOf(session, cwd),
    model: session.model,
    isIdle: () => session.isIdle ?? true,
    abort: () => inBackground(wire, module, "session.abort", {}),
    hasQueuedMessages: () => session.hasQueuedMessages ?? false,
  });
}

/** `ctx` of a command. */
export function commandContextOf(given) {
  const { wire } = given;
  return Object.assign(contextOf(given), {
    waitForIdle: async () => void (await ask(wire, "session.waitForIdle", {})),
    newSession: async (options) => {
      const { parentSession, setup } = options ?? {};
      const written = [];
      await setup?.(setupOf(written));
      return cancelled(await ask(wire, "session.new", { parentSession, setup: written }));
    },
    branch: async (entryId) => cancelled(await ask(wire, "session.branch", { entryId })),
    navigateTree: async (targetId, options) => {
      const { summarize = false } = options ?? {};
      return cancelled(await ask(wire, "session.navigateTree", { targetId, summarize }));
    },
  });
}

function cancelled(result) {
  return { cancelled: result?.cancelled === true };
}

/** What is written into a session that is only being made. */
function setupOf(written) {
  return {
    appendMessage: (message) => void written.push({ message }),
    appendCustomEntry: (customType, data) => void written.push({ customType, data }),
    appendCustomMessageEntry: (customType, content, display, details) =>
      void written.push({ message: { role: "custom", customType, content, display, details } }),
  };
}

/** Where nobody sees it, each gives what is said here. */
function uiOf(wire, module, hasUI, seen) {
  const asked = (method, params, without, read) =>
    hasUI ? ask(wire, method, params).then(read) : Promise.resolve(without);
  const text = (result) => (typeof result === "string" ? result : undefined);
  const shown = (method, params) => {
    if (hasUI) inBackground(wire, module, method, params);
  };
  return saying("ctx.ui", {
    select: (title, options) => asked("ui.select", { title, options }, undefined, text),
    confirm: (title, message) =>
      asked("ui.confirm", { title, message }, false, (result) => result === true),
    input: (title, placeholder) => asked("ui.input", { title, placeholder }, undefined, text),
    editor: (title, prefill) => asked("ui.editor", { title, prefill }, undefined, text),
    notify: (message, type = "info") => shown("ui.notify", { message, type }),
    setStatus: (key, value) => shown("ui.setStatus", { key, text: value }),
    setEditorText: (value) => {
      seen.editorText = String(value);
      shown("ui.setEditorText", { text: seen.editorText });
    },
    getEditorText: () => (hasUI ? seen.editorText : ""),
    custom: async (factory) => (hasUI ? showing(wire, factory) : undefined),
    theme: plain,
  });
}

/** How wide a component is drawn: the host does not say how wide its display is. */
const WIDTH = 80;

/** Shows a component until it is done: the host displays its lines and says what the user types. */
async function showing(wire, factory) {
  let finish;
  let ended;
  const finished = new Promise((resolve) => (finish = resolve));
  const done = (value) => {
    ended ??= { value };
    finish(ended);
  };
  const tui = { requestRender: () => {}, terminal: { columns: WIDTH, rows: 24 } };
  // Some agents give keybindings before the last argument.
  const given = factory.length > 3 ? [tui, plain, {}, done] : [tui, plain, done];
  const component = await factory(...given);
  try {
    while (ended === undefined) {
      const typed = ask(wire, "ui.custom", { lines: component.render(WIDTH) });
      const next = await Promise.race([finished, typed.then((text) => ({ text }))]);
      if (ended !== undefined) break;
      // The host has no such display, or the user closed it.
      if (typeof next.text !== "string") return undefined;
      component.handleInput?.(next.text);
    }
    return ended.value;
  } finally {
    component.dispose?.();
  }
}

/** The session as it was when its event came. */
function managerOf(session, cwd) {
  const entries = Array.isArray(session.entries) ? session.entries : [];
  const entry = (id) => entries.find((it) => it?.id === id);
  const leaf = session.leafId ?? entries.at(-1)?.id ?? null;
  return {
    getCwd: () => session.cwd ?? cwd,
    getSessionId: () => session.sessionId,
    getSessionFile: () => session.sessionFile,
    getSessionDir: () => session.sessionDir,
    getSessionName: () => session.sessionName,
    getHeader: () => session.header ?? null,
    getEntries: () => [...entries],
    getEntry: entry,
    getLeafId: () => leaf,
    getLeafEntry: () => (leaf === null ? undefined : entry(leaf)),
    getLabel: (id) => entries.findLast((it) => it?.type === "label" && it.targetId === id)?.label,
    getBranch: (from = leaf) => {
      const branch = [];
      const known = new Set();
      for (let at = entry(from); at && !known.has(at.id); at = entry(at.parentId)) {
        known.add(at.id);
        branch.unshift(at);
      }
      return branch;
    },
    getTree: () => treeOf(entries),
  };
}

function treeOf(entries) {
  const nodes = new Map(entries.map((entry) => [entry?.id, { entry, children: [] }]));
  const roots = [];
  for (const node of nodes.values()) {
    const parent = nodes.get(node.entry?.parentId);
    (parent && parent !== node ? parent.children : roots).push(node);
  }
  return roots;
}
