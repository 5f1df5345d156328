#!/usr/bin/env node
// An agent that asks the hooks of docs/examples/agent-session before it runs a tool.
//
//   node agent.mjs --hook PATH/TO/hook      starts a server of its own
//   node agent.mjs --socket PATH            asks one that runs

import {fileURLToPath} from "node:url";
import {parseArgs} from "node:util";

// Where the package is not installed, it is the one that was built in this repository.
const {HookClient, HookError} = await import("hook-sdk").catch(
  () => import("../../../../sdks/typescript/dist/index.js"),
);

/** @type {[string, Record<string, unknown>][]} */
const CALLS = [
  ["read_file", {file_path: "README.md"}],
  ["run_shell_command", {command: "sudo rm -rf /"}],
  ["write_file", {file_path: "./notes//a/../plan.txt", content: "x"}],
  ["write_file", {file_path: "/etc/motd", content: "x"}],
];

const {values: {hook = "hook", socket}} = parseArgs({options: {hook: {type: "string"}, socket: {type: "string"}}});
const project = fileURLToPath(new URL("../../agent-session", import.meta.url));
const command = [hook, "serve", "--stdio", "--project", project, "--settings", `${project}/.hooks/settings.json`];
const client = new HookClient(socket ? {socket} : {transport: "stdio", command});
try {
  for (const [tool, given] of CALLS) {
    const outcome = await client.fire("BeforeTool", {tool_name: tool, tool_input: given});
    const {decision, reason, warnings} = outcome;
    for (const warning of warnings) console.error(`agent: ${warning}`);
    console.log(`${tool}: ${decision}${reason ? ` (${reason})` : ""}`);
    if (decision === "proceed") {
      const args = outcome.toolInput(given);
      void args; // Here the tool would run with them.
    }
  }
} catch (error) {
  if (!(error instanceof HookError)) throw error;
  console.error(`agent: ${error.message}`); // No answer is no permission.
  process.exitCode = 1;
} finally {
  await client.close();
}
