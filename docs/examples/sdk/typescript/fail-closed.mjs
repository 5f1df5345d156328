#!/usr/bin/env node
// A guard that blocks where it cannot decide: when it throws, is too slow, or is gone.

import {A3sClient} from "hook-sdk";

const client = new A3sClient();

client.registerHook("PreToolUse", {
  matcher: {tool: "Bash"},
  config: {
    priority: 10, // Lower is earlier.
    timeout: 3000, // Milliseconds.
    async: false, // Wait for the answer.
    failBehavior: "block",
  },
  handler: async (event) => {
    if (typeof event.args.command !== "string") throw new TypeError("there is no command"); // Blocks.
    if (event.args.command.startsWith("sudo ")) return {action: "block", reason: "not as root"};
    return {action: "continue"};
  },
});

await client.run(); // Until Ctrl-C or SIGTERM.
