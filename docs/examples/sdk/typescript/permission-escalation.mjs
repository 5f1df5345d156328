#!/usr/bin/env node
// Asks the user before tools that change things.

import {A3sClient} from "hook-sdk";

const client = new A3sClient();

const SENSITIVE = ["Bash", "Write", "Edit"];

client.registerHook("PermissionRequest", {
  config: {failBehavior: "block"},
  handler: async (event, context) => {
    if (!SENSITIVE.includes(event.tool)) return {action: "continue"};
    // Where there is nobody to ask, the answer is no.
    const confirmed = await context.confirm({
      title: `Allow ${event.tool}?`,
      message: `The agent wants to execute: ${JSON.stringify(event.args)}`,
      timeout: 30000,
    });
    return confirmed ? {action: "continue"} : {action: "block", reason: "User denied permission"};
  },
});

await client.run(); // Until Ctrl-C or SIGTERM.
