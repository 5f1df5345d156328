#!/usr/bin/env node
// Gives every shell command a timeout, which is laid over its arguments.

import {HookClient} from "hook-sdk";

const client = new HookClient();

client.registerHook("BeforeTool", {
  matcher: {kind: "shell"},
  handler: async () => ({hookSpecificOutput: {tool_input: {timeout: 30000}}}),
});

await client.run(); // Until Ctrl-C or SIGTERM.
