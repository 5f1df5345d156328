#!/usr/bin/env node
// Blocks dangerous shell commands.

import {HookClient} from "hook-sdk";

const client = new HookClient();

const DANGEROUS = [/rm\s+-rf\s+\//, /mkfs\./, /dd\s+if=.*of=\/dev/, />\s*\/dev\/sd/, /:\(\)\{ :\|:& \};:/];

client.registerHook("BeforeTool", {
  matcher: {kind: "shell"},
  config: {failBehavior: "block"},
  handler: async (event) => {
    const {command: given} = event.tool_input;
    const command = Array.isArray(given) ? given.join(" ") : given; // Some agents send words.
    if (typeof command !== "string") throw new Error("no command"); // A failure of this guard blocks.
    for (const pattern of DANGEROUS) {
      if (pattern.test(command)) return {decision: "deny", reason: `Blocked dangerous command matching ${pattern}`};
    }
  },
});

await client.run(); // Until Ctrl-C or SIGTERM.
