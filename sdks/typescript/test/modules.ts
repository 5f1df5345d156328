// What the types of modules say: compiled by `npm run check`, never run.

import type {
  HookAPI, HookCommandContext, HookContext, HookEventName, HookEvents, HookFactory, HookUIContext,
} from "hook-sdk/hooks";

const factory: HookFactory = (pi: HookAPI): void => {
  pi.on("session_before_switch", (event, ctx: HookContext) => {
    const reason: "new" | "resume" | "fork" = event.reason;
    const ui: HookUIContext = ctx.ui;
    ui.setStatus("switch", reason);
    return { cancel: !ctx.isIdle() };
  });
  pi.on("session_before_branch", () => ({ cancel: false, skipConversationRestore: true }));
  pi.on("session_before_compact", () => ({ compaction: { summary: "s", firstKeptEntryId: "e", tokensBefore: 5 } }));
  pi.on("session.compacting", (event) => ({ context: [`${event.messages.length}`], preserveData: {} }));
  pi.on("session_before_tree", (event) =>
    event.preparation.userWantsSummary ? { summary: { summary: "s" } } : undefined);
  pi.on("before_agent_start", async (event) => ({ message: { customType: "note", content: event.prompt, display: true } }));
  pi.on("turn_end", (event) => void event.turnIndex);
  // @ts-expect-error there is no such event
  pi.on("tool_cal", () => undefined);
  // @ts-expect-error a reason is a text
  pi.on("tool_call", () => ({ block: true, reason: 5 }));
  // @ts-expect-error no handler of that event may answer so
  pi.on("tool_call", () => "no");
  pi.registerCommand("status", {
    handler: async (args: string, ctx: HookCommandContext) => {
      const { stdout, code, killed } = await pi.exec("git", ["status", args], { timeout: 5_000, cwd: ctx.cwd });
      pi.sendMessage({ customType: "status", content: stdout, display: !killed, details: { code } }, { triggerTurn: true });
      pi.appendEntry("status", { code });
    },
  });
  pi.registerMessageRenderer<{ code: number }>("status", (message, { expanded }, theme) => [
    theme.fg("accent", `${message.details?.code}`), expanded ? String(message.content) : "",
  ]);
};
export default factory;

/** Whether two types are the same, in both directions. */
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
/** Compiles only for what is true. */
function holds<T extends true>(): T | void {}

// The events of the interface that this one is: none is missing, none is one too many.
const events = [
  "session_start", "session_before_switch", "session_switch", "session_before_branch", "session_branch", "session_before_compact",
  "session.compacting", "session_compact", "session_before_tree", "session_tree", "session_shutdown", "context",
  "before_agent_start", "agent_start", "agent_end", "turn_start", "turn_end", "auto_compaction_start", "auto_compaction_end",
  "auto_retry_start", "auto_retry_end", "ttsr_triggered", "todo_reminder", "tool_call", "tool_result",
] as const;
holds<Same<(typeof events)[number], HookEventName>>();
holds<Same<HookEventName, keyof HookEvents>>();
// Each is told by its own name.
holds<Same<{ [E in HookEventName]: HookEvents[E][0]["type"] }, { [E in HookEventName]: E }>>();

// What a module is given, name by name.
holds<Same<keyof HookAPI, "on" | "sendMessage" | "appendEntry" | "registerCommand" | "registerMessageRenderer" | "exec" | "logger">>();
holds<Same<
  keyof HookUIContext,
  | "select" | "confirm" | "input" | "editor" | "notify" | "setStatus" | "custom" | "setEditorText" | "getEditorText" | "theme"
>>();
holds<Same<
  keyof HookContext,
  "ui" | "hasUI" | "cwd" | "sessionManager" | "model" | "isIdle" | "abort" | "hasQueuedMessages"
>>();
holds<Same<
  Exclude<keyof HookCommandContext, keyof HookContext>, "waitForIdle" | "newSession" | "branch" | "navigateTree"
>>();
