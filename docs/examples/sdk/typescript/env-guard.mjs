#!/usr/bin/env node
// Keeps API keys out of .env files.

import {HookClient} from "hook-sdk";

const client = new HookClient();

client.registerHook("BeforeTool", {
  matcher: {kind: "file_write", pathPattern: "*.env"},
  config: {failBehavior: "block"},
  handler: async (event) => {
    // Whatever the tool calls the text that it writes.
    if (JSON.stringify(event.tool_input).includes("API_KEY=")) {
      return {decision: "deny", reason: "Cannot write API keys to .env files"};
    }
  },
});

await client.run(); // Until Ctrl-C or SIGTERM.
