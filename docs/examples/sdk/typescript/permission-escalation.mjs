#!/usr/bin/env node
// Asks the user before tools that change things.

import {HookClient} from "hook-sdk";

const client = new HookClient();

client.registerHook("PermissionRequest", {
  matcher: {kind: ["shell", "file_write"]},
  config: {failBehavior: "block"},
  handler: async (event, context) => {
    // Where there is nobody to ask, the answer is no.
    const confirmed = await context.confirm({
      title: `Allow ${event.tool_name}?`,
      message: `The agent wants to execute: ${JSON.stringify(event.tool_input)}`,
      timeout: 30000,
    });
    if (!confirmed) return {decision: "deny", reason: "User denied permission"};
  },
});

await client.run(); // Until Ctrl-C or SIGTERM.
