#!/usr/bin/env node
// Blocks dangerous shell commands.

import {A3sClient} from "hook-sdk";

const client = new A3sClient();

const DANGEROUS = [/rm\s+-rf\s+\//, /mkfs\./, /dd\s+if=.*of=\/dev/, />\s*\/dev\/sd/, /:\(\)\{ :\|:& \};:/];

client.registerHook("PreToolUse", {
  matcher: {tool: "Bash"},
  config: {failBehavior: "block"},
  handler: async (event) => {
    const command = String(event.args.command);
    for (const pattern of DANGEROUS) {
      if (pattern.test(command)) return {action: "block", reason: `Blocked dangerous command matching ${pattern}`};
    }
    return {action: "continue"};
  },
});

await client.run(); // Until Ctrl-C or SIGTERM.
