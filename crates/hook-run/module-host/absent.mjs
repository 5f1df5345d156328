// What agents give their modules that this host does not: that is said, where one is used, instead of
// `undefined is not a function`.

import { Error, Object } from "./intrinsics.mjs";

const NAMES = {
  pi: [
    "events", "getActiveTools", "getAllTools", "getCommands", "getFlag", "getSessionName", "getThinkingLevel", "pi",
    "registerFlag", "registerProvider", "registerShortcut", "registerTool", "sendUserMessage", "setActiveTools", "setLabel",
    "setModel", "setSessionName", "setThinkingLevel", "typebox", "unregisterProvider", "z", "zod",
  ],
  ctx: [
    "compact", "fork", "getContextUsage", "getSystemPrompt", "hasPendingMessages", "modelRegistry", "reload", "shutdown",
    "switchSession",
  ],
  "ctx.ui": [
    "addAutocompleteProvider", "getAllThemes", "getEditorComponent", "getTheme", "getToolsExpanded", "onTerminalInput",
    "pasteToEditor", "setEditorComponent", "setFooter", "setHeader", "setHiddenThinkingLabel", "setTheme", "setTitle",
    "setToolsExpanded", "setWidget", "setWorkingIndicator", "setWorkingMessage", "setWorkingVisible",
  ],
};

const absent = (owner) => {
  const all = {};
  for (const name of NAMES[owner]) {
    const get = () => {
      throw new Error(`\`${owner}.${name}\` is not offered by this host`);
    };
    Object.defineProperty(all, name, { get });
  }
  return Object.freeze(all);
};

// Made before any module is loaded, for each of them the same.
const ALL = { pi: absent("pi"), ctx: absent("ctx"), "ctx.ui": absent("ctx.ui") };

/** An object of what there is, which says so of what there is not. */
export function saying(owner, offered) {
  return Object.setPrototypeOf(offered, ALL[owner]);
}
