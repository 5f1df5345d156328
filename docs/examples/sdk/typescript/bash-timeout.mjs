#!/usr/bin/env node
// Gives every shell command a timeout: `modified.args` replaces the arguments.

import {A3sClient} from "hook-sdk";

const client = new A3sClient();

client.registerHook("PreToolUse", {
  matcher: {tool: "Bash"},
  handler: async (event) => ({
    action: "continue",
    modified: {args: {...event.args, timeout: 30000}},
  }),
});

await client.run(); // Until Ctrl-C or SIGTERM.
