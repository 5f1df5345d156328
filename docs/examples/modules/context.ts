// Leaves messages out of the model's context that are there for debugging only.

import type { HookAPI } from "@oh-my-pi/pi-coding-agent/hooks";

export default function (pi: HookAPI): void {
  pi.on("context", async (event) => {
    const isForDebugging = (message: (typeof event.messages)[number]): boolean =>
      message.role === "custom" && message.customType === "debug-only";
    return { messages: event.messages.filter((message) => !isForDebugging(message)) };
  });
}
