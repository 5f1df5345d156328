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
    for (const {path, access} of event.files ?? []) {
      const formatter = FORMATTERS[path.split(".").pop() ?? ""];
      if (!formatter || access !== "write") continue;
      // In single quotes the shell takes any name as it is.
      const quoted = `'${path.replaceAll("'", `'\\''`)}'`;
      await client.executeTool(event.session_id, "run_shell_command", {command: `${formatter} ${quoted}`, timeout: 10000});
    }
  },
});

await client.run(); // Until Ctrl-C or SIGTERM.
