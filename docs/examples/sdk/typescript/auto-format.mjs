#!/usr/bin/env node
// Formats each file that was written, by a tool of the agent.

import {HookClient} from "hook-sdk";

const client = new HookClient();

/** @type {Record<string, string>} */
const FORMATTERS = {
  rs: "rustfmt",
  py: "black",
  ts: "prettier --write",
  js: "prettier --write",
  go: "gofmt -w",
};

client.registerHook("AfterTool", {
  matcher: {kind: "file_write"},
  handler: async (event) => {
    if (event.is_error) return;
    const filePath = String(event.tool_input.file_path);
    const formatter = FORMATTERS[filePath.split(".").pop() ?? ""];
    if (formatter) {
      // In single quotes the shell takes any name as it is.
      const quoted = `'${filePath.replaceAll("'", `'\\''`)}'`;
      await client.executeTool(event.session_id, "run_shell_command", {command: `${formatter} ${quoted}`, timeout: 10000});
    }
  },
});

await client.run(); // Until Ctrl-C or SIGTERM.
