#!/usr/bin/env node
// Keeps API keys out of .env files.

import {A3sClient} from "hook-sdk";

const client = new A3sClient();

client.registerHook("PreToolUse", {
  matcher: {tool: "Write", pathPattern: "*.env"},
  handler: async (event) => {
    if (String(event.args.content).includes("API_KEY=")) {
      return {action: "block", reason: "Cannot write API keys to .env files"};
    }
    return {action: "continue"};
  },
});

await client.run(); // Until Ctrl-C or SIGTERM.
