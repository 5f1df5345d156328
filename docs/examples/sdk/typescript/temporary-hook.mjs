#!/usr/bin/env node
// A hook that is in force while a function runs, and not longer.

import {HookClient} from "hook-sdk";

const client = new HookClient();
const call = {tool_name: "run_shell_command", tool_input: {command: "ls"}};

const noShell = {
  matcher: {kind: "shell"},
  handler: () => /** @type {const} */ ({decision: "deny", reason: "no shell while this runs"}),
};

await client.temporaryHook("BeforeTool", noShell, async () => {
  console.log("inside:", (await client.fire("BeforeTool", call)).decision);
});
console.log("outside:", (await client.fire("BeforeTool", call)).decision);
await client.close();
