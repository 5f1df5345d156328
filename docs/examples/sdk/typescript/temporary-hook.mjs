#!/usr/bin/env node
// A hook that is in force while a function runs, and not longer.

import {A3sClient} from "hook-sdk";

const client = new A3sClient();
const call = {tool_name: "run_shell_command", tool_input: {command: "ls"}};

const noShell = {
  matcher: {tool: "Bash"},
  handler: () => /** @type {const} */ ({action: "block", reason: "no shell while this runs"}),
};

await client.temporaryHook("PreToolUse", noShell, async () => {
  console.log("inside:", (await client.fire("BeforeTool", call)).decision);
});
console.log("outside:", (await client.fire("BeforeTool", call)).decision);
await client.close();
