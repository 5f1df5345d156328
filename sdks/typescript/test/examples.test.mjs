// The examples of docs/examples/sdk/typescript, as programs, each played through.

import assert from "node:assert/strict";
import {spawn} from "node:child_process";
import {once} from "node:events";
import {cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync} from "node:fs";
import {createServer} from "node:http";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {after, test} from "node:test";
import {fileURLToPath} from "node:url";

import {ScriptedServer} from "./server.mjs";
import {toolCall} from "./with.mjs";

const EXAMPLES = fileURLToPath(new URL("../../../docs/examples/sdk/typescript/", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "hook-sdk-"));
cpSync(EXAMPLES, folder, {recursive: true});
mkdirSync(join(folder, "node_modules"));
symlinkSync(fileURLToPath(new URL("..", import.meta.url)), join(folder, "node_modules/hook-sdk"));
after(() => rmSync(folder, {recursive: true}));

const base = (eventType, fields) => ({eventType, sessionId: "s-1", timestamp: 1, metadata: {}, ...fields});
const write = (fields, eventType = "PreToolUse") => base(eventType, {tool: "Write", ...fields});

/** Runs an example with a server; gives what it registers first. */
async function play(name, during, environment = {}) {
  const server = await ScriptedServer.start();
  const program = spawn("node", [join(folder, `${name}.mjs`)], {
    cwd: folder, env: {...process.env, ...environment, HOOK_SOCKET: server.socket}, stdio: ["ignore", "pipe", "pipe"],
  });
  const said = {stdout: "", stderr: ""};
  for (const stream of ["stdout", "stderr"]) program[stream].on("data", (chunk) => (said[stream] += chunk));
  const ended = once(program, "close");
  try {
    const connection = await Promise.race([server.connection(), ended.then(() => assert.fail(said.stderr))]);
    await during({connection, server, said, ended, program});
  } finally {
    program.kill();
    await ended;
    await server.close();
  }
}

/** What an example answers to calls of the one hook that it registers. */
async function answers(connection, ...inputs) {
  const {hookId, eventName} = await connection.next("hook-register");
  const said = [];
  for (const input of inputs) {
    const {type, callId, ...answer} = await connection.call(hookId, eventName, input);
    said.push(answer);
  }
  return said;
}

const played = new Set();
const example = (name, during, environment) => {
  played.add(name);
  test(`${name}.mjs`, () => play(name, during, environment));
};

example("security-policy", async ({connection}) => {
  const [ls, rm, dd] = await answers(connection, toolCall("ls"), toolCall("sudo rm  -rf /"), toolCall("dd if=x of=/dev/sda"));
  assert.deepEqual(ls, {action: "continue"});
  assert.equal(rm.reason, String.raw`Blocked dangerous command matching /rm\s+-rf\s+\//`);
  assert.equal(dd.action, "block");
});

example("env-guard", async ({connection}) => {
  const [key, none] = await answers(connection, write({args: {content: "API_KEY=1"}}), write({args: {content: "A=1"}}));
  assert.deepEqual([key.reason, none.action], ["Cannot write API keys to .env files", "continue"]);
});

example("bash-timeout", async ({connection}) => {
  const [ls] = await answers(connection, toolCall("ls"));
  assert.deepEqual(ls, {action: "continue", modified: {args: {command: "ls", timeout: 30000}}});
});

example("auto-format", async ({connection}) => {
  const event = (success, file_path) => write({args: {file_path}, result: {success, output: ""}}, "PostToolUse");
  const commands = [];
  const served = (async () => {
    const {hostCallId, method, params} = await connection.next("hook-host-call");
    commands.push([method, params]);
    connection.send({type: "hook-host-result", hostCallId, result: {}});
  })();
  const said = await answers(connection, event(false, "a.rs"), event(true, "a.txt"), event(true, "it's; rm.rs"));
  await served;
  assert.deepEqual(said, Array(3).fill({action: "continue"}));
  const command = String.raw`rustfmt 'it'\''s; rm.rs'`;
  assert.deepEqual(commands, [["tool.execute", {sessionId: "s-1", tool: "Bash", args: {command, timeout: 10000}}]]);
});

const bodies = [];
const metrics = createServer((request, response) => {
  request.on("data", (chunk) => bodies.push(JSON.parse(chunk))).on("end", () => response.end());
});
await once(metrics.listen(0, "127.0.0.1"), "listening");
after(() => metrics.close());
const generated = (usage) => base("GenerateEnd", {model: "large", response: {text: "a", usage}});

example("generation-metrics", async ({connection}) => {
  const [said] = await answers(connection, generated({total_tokens: 7}));
  assert.deepEqual(said, {action: "continue"});
  assert.deepEqual(bodies, [{session: "s-1", usage: {total_tokens: 7}}]);
}, {METRICS_URL: `http://127.0.0.1:${metrics.address().port}/`});

example("cost-tracking", async ({connection, said, program}) => {
  await answers(connection, generated(undefined), generated({total_tokens: 600_000}), generated({total_tokens: 100_000}));
  while (!said.stderr.includes("\n")) await once(program.stderr, "data");
  assert.equal(said.stderr, "Session cost exceeded $10: $10.50 (700000 tokens)\n");
});

example("fail-closed", async ({connection}) => {
  const [none, sudo] = await answers(connection, toolCall(undefined), toolCall("sudo ls"));
  assert.equal(none.error, "TypeError: there is no command");
  assert.deepEqual(sudo, {action: "block", reason: "not as root"});
});

example("permission-escalation", async ({connection}) => {
  const confirm = async (result) => {
    const {hostCallId} = await connection.next("hook-host-call");
    connection.send({type: "hook-host-result", hostCallId, result});
  };
  const asked = (tool) => base("PermissionRequest", {tool, args: {}});
  const served = confirm(true).then(() => confirm(false));
  const said = await answers(connection, asked("Read"), asked("Bash"), asked("Edit"));
  await served;
  assert.deepEqual(said, [{action: "continue"}, {action: "continue"}, {action: "block", reason: "User denied permission"}]);
});

example("audit-log", async ({connection, said, program}) => {
  assert.equal((await connection.next("hook-audit")).level, "verbose");
  connection.send({type: "hook-audit", at: "2026", kind: "blocked", eventName: "BeforeTool", hook: "guard", reason: "no"});
  while (!said.stdout.includes("\n")) await once(program.stdout, "data");
  assert.equal(said.stdout, "blocked BeforeTool guard no\n");
});

example("list-and-unregister", async ({said, ended}) => {
  assert.deepEqual(await ended, [0, null]);
  assert.equal(said.stdout, "h-1 PreToolUse mine\nother BeforeTool another client's\ntaken back: true\nstill there: 0\n");
});

example("temporary-hook", async ({connection, server, said, ended}) => {
  for (let count = 0; count < 2; count++) {
    const {correlationId} = await connection.next("hook-execution-request");
    const isBlocked = [...server.clients.values()].some(({hooks}) => hooks.size > 0);
    const processed = {decision: isBlocked ? "block" : "proceed"};
    connection.send({type: "hook-execution-response", correlationId, success: true, processed});
  }
  assert.deepEqual(await ended, [0, null]);
  assert.equal(said.stdout, "inside: block\noutside: proceed\n");
});

example("model-call", async ({connection, said, ended}) => {
  const {correlationId, eventName, input} = await connection.next("hook-execution-request");
  assert.deepEqual([eventName, input.sdk], ["AfterModel", "openai-chat"]);
  const modified = {llm_response: {candidates: [{content: {parts: ["*", "**"]}}]}};
  connection.send({type: "hook-execution-response", correlationId, success: true, processed: {decision: "proceed", modified}});
  assert.deepEqual(await ended, [0, null]);
  assert.equal(said.stdout, "{ role: 'assistant', content: '***' }\n");
});

test("every example is played: the worker with the real engine, the agent by the tests of the whole repository", () => {
  played.add("worker-guard").add("agent");
  const files = readdirSync(EXAMPLES).filter((name) => name.endsWith(".mjs"));
  assert.deepEqual(files.sort(), [...played].map((name) => `${name}.mjs`).sort());
});
