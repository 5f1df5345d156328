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

// Every event is there once.
const names: Record<HookEventName, keyof HookEvents> = {} as never;
void names;
