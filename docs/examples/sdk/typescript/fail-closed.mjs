#!/usr/bin/env node
// A guard that blocks where it cannot decide: when it throws, is too slow, or is gone.

import {HookClient} from "hook-sdk";

const client = new HookClient();

client.registerHook("BeforeTool", {
  matcher: {kind: "shell"},
  config: {
    priority: 10, // Lower is earlier.
    timeout: 3000, // Milliseconds.
    async: false, // Wait for the answer.
    failBehavior: "block",
  },
  handler: async (event) => {
    const {command} = event.tool_input;
    if (typeof command !== "string") throw new TypeError("there is no command"); // Blocks.
    if (command.startsWith("sudo ")) return {decision: "deny", reason: "not as root"};
  },
});

await client.run(); // Until Ctrl-C or SIGTERM.
