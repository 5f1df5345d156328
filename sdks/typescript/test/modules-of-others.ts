// Each name under which modules import the types leads to the same ones: compiled by `npm run check`, never run.

import type { HookAPI as Earlier, HookContext as EarlierContext } from "@mariozechner/pi-coding-agent";
import type { HookAPI as EarlierHooks, HookEvents as EarlierEvents } from "@mariozechner/pi-coding-agent/hooks";
import type { HookAPI as Omp, HookContext as OmpContext } from "@oh-my-pi/pi-coding-agent";
import type { HookAPI as OmpHooks, HookEvents as OmpEvents } from "@oh-my-pi/pi-coding-agent/hooks";
import type { HookAPI, HookContext, HookEvents, HookFactory } from "hook-sdk/hooks";

const earlier = (pi: Earlier): void => pi.on("tool_call", (event, ctx: EarlierContext) =>
  (ctx.hasUI || event.toolName !== "bash" ? undefined : { block: true, reason: "no" }));
const earlierHooks = (pi: EarlierHooks): void => pi.on("context", (event) => ({ messages: event.messages.slice(1) }));
const omp = (pi: Omp): void => pi.registerCommand("x", { handler: (_args, ctx: OmpContext) => ctx.cwd });
const ompHooks = async (pi: OmpHooks): Promise<void> => pi.on("session_shutdown", () => void pi.logger.info("bye"));
export const factories: HookFactory[] = [earlier, earlierHooks, omp, ompHooks];

// None of them is `any`, and a handler is held to its event.
(pi: Earlier | EarlierHooks | Omp | OmpHooks): void => {
  // @ts-expect-error there is no such event
  pi.on("tool_cal", () => undefined);
};
export const same: [EarlierEvents, OmpEvents, HookAPI, HookContext] extends [HookEvents, HookEvents, Omp, EarlierContext] ? true : never = true;
