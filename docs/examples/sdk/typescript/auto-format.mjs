#!/usr/bin/env node
// Formats each file that was written, by a tool of the agent.

import {A3sClient} from "hook-sdk";

const client = new A3sClient();

/** @type {Record<string, string>} */
const FORMATTERS = {
  rs: "rustfmt",
  py: "black",
  ts: "prettier --write",
  js: "prettier --write",
  go: "gofmt -w",
};

client.registerHook("PostToolUse", {
  matcher: {tool: "Write"},
  handler: async (event) => {
    if (!event.result.success) return {action: "continue"};
    const filePath = String(event.args.file_path);
    const formatter = FORMATTERS[filePath.split(".").pop() ?? ""];
    if (formatter) {
      // In single quotes the shell takes any name as it is.
      const quoted = `'${filePath.replaceAll("'", `'\\''`)}'`;
      await client.executeTool(event.sessionId, "Bash", {command: `${formatter} ${quoted}`, timeout: 10000});
    }
    return {action: "continue"};
  },
});

await client.run(); // Until Ctrl-C or SIGTERM.
