#!/usr/bin/env node
// The same kind of guard as a worker: settings name it, and the engine runs it.

import {worker} from "hook-sdk";

worker.on("BeforeTool", {matcher: "run_shell_command", config: {failBehavior: "block"}}, (event) => {
  if (String(event.tool_input.command).startsWith("sudo ")) return {decision: "deny", reason: "not as root"};
});

worker.serve();
