// A command that goes on in a new session: `/handoff`.

import type { HookAPI } from "@oh-my-pi/pi-coding-agent/hooks";

export default function (pi: HookAPI): void {
  pi.registerCommand("handoff", {
    description: "Create a new session with setup message",
    handler: async (_args, ctx) => {
      await ctx.waitForIdle();
      await ctx.newSession({
        parentSession: ctx.sessionManager.getSessionFile(),
        setup: async (session) => {
          session.appendMessage({
            role: "user",
            content: [{ type: "text", text: "Continue from prior session summary." }],
            timestamp: Date.now(),
          });
        },
      });
    },
  });
}
