#!/usr/bin/env node
// Blocks dangerous shell commands.

import {HookClient} from "hook-sdk";

const client = new HookClient();

const DANGEROUS = [/rm\s+-rf\s+\//, /mkfs\./, /dd\s+if=.*of=\/dev/, />\s*\/dev\/sd/, /:\(\)\{ :\|:& \};:/];

client.registerHook("BeforeTool", {
  matcher: {kind: "shell"},
  config: {failBehavior: "block"},
  handler: async (event) => {
    const command = String(event.tool_input.command);
    for (const pattern of DANGEROUS) {
      if (pattern.test(command)) return {decision: "deny", reason: `Blocked dangerous command matching ${pattern}`};
    }
  },
});

await client.run(); // Until Ctrl-C or SIGTERM.
