import assert from "node:assert/strict";
import {spawn} from "node:child_process";
import {once} from "node:events";
import {createInterface} from "node:readline";
import {test} from "node:test";

import {Worker} from "hook-sdk";

/** Starts a program as the engine would, with what it says as messages. */
function started(program) {
  const script = `import {worker} from "hook-sdk";\n${program}`;
  const child = spawn("node", ["--input-type=module", "-e", script], {cwd: new URL("..", import.meta.url), stdio: ["pipe", "pipe", "pipe"]});
  const lines = createInterface({input: child.stdout})[Symbol.asyncIterator]();
  let stderr = "";
  child.stderr.on("data", (chunk) => (stderr += chunk));
  const ended = once(child, "close");
  return {
    send: (message) => child.stdin.write(typeof message === "string" ? `${message}\n` : `${JSON.stringify(message)}\n`),
    next: async () => JSON.parse((await lines.next()).value),
    call: (callId, input, more = {}) => child.stdin.write(`${JSON.stringify({type: "hook-call", callId, hookId: "BeforeTool-1", eventName: "BeforeTool", input, deadlineMs: 5000, ...more})}\n`),
    end: async () => {
      child.stdin.end();
      return ended;
    },
    ended,
    stderr: () => stderr,
  };
}

const GUARD = `
worker.on("BeforeTool", {matcher: {tool: "run_shell_command"}, config: {failBehavior: "block"}}, async (event, context) => {
  console.log("looking at", event.tool_input.command);
  process.stdout.write("and more\\n");
  if (event.tool_input.command === "throw") throw new Error("broken");
  if (event.tool_input.command === "never") return new Promise(() => setInterval(() => {}, 1000));
  if (event.tool_input.command === "ask") return {decision: await context.confirm({title: "t", message: "m"}) ? "allow" : "deny"};
  if (event.tool_input.command.includes("rm -rf")) return {decision: "deny", reason: "no"};
});
console.log("printed before serve");
worker.serve();
`;

test("a worker declares its hooks, answers calls, and ends with exit code 0", async () => {
  const guard = started(GUARD);
  assert.deepEqual(await guard.next(), {
    type: "hook-worker", protocol: 1,
    hooks: [{hookId: "BeforeTool-1", eventName: "BeforeTool", vocabulary: "native", matcher: {tool: "run_shell_command"}, config: {failBehavior: "block"}}],
  });
  guard.call("1", {tool_input: {command: "rm -rf x"}});
  assert.deepEqual(await guard.next(), {type: "hook-answer", callId: "1", output: {decision: "deny", reason: "no"}});
  guard.call("2", {tool_input: {command: "throw"}});
  assert.deepEqual(await guard.next(), {type: "hook-answer", callId: "2", error: "Error: broken ([eval1]:6)"});
  guard.send("no JSON");
  guard.send('{"type":"hook-call","callId":"3","input":NaN}');
  assert.match((await guard.next()).error, /no message/);
  guard.call("4", {tool_input: {command: "ls"}}, {hookId: "settings-entry"});
  assert.deepEqual(await guard.next(), {type: "hook-answer", callId: "4", output: {}});
  guard.call("5", {}, {hookId: "other", eventName: "AfterTool"});
  assert.match((await guard.next()).error, /not exactly one handler for AfterTool/);
  guard.call("6", {tool_input: {command: "ask"}});
  const asked = await guard.next();
  assert.deepEqual([asked.type, asked.callId, asked.method], ["hook-host-call", "6", "ui.confirm"]);
  guard.send({type: "hook-host-result", hostCallId: asked.hostCallId, result: true});
  assert.deepEqual(await guard.next(), {type: "hook-answer", callId: "6", output: {decision: "allow"}});
  assert.deepEqual(await guard.end(), [0, null]);
  assert.match(guard.stderr(), /printed before serve\n[^]*looking at rm -rf x\nand more/);
});

test("at the end a worker finishes what its deadlines leave it, and leaves the rest behind", async () => {
  const guard = started(GUARD);
  await guard.next();
  guard.call("1", {tool_input: {command: "never"}}, {deadlineMs: 1});
  guard.call("2", {tool_input: {command: "rm -rf x"}});
  assert.deepEqual(await guard.end(), [0, null]);
  assert.equal((await guard.next()).callId, "2");
  const closed = started(GUARD);
  await closed.next();
  closed.call("1", {tool_input: {command: "never"}});
  closed.send({type: "hook-close", reason: "shutdown"});
  assert.deepEqual(await closed.ended, [0, null]);
});

test("a worker of a settings entry that names the event declares nothing", async () => {
  const guard = started(`
    worker.on("BeforeTool", () => ({decision: "ask"}));
    worker.on("PreToolUse", () => ({action: "skip"}));
    worker.serve({declare: false});
  `);
  assert.deepEqual(await guard.next(), {type: "hook-worker", protocol: 1});
  guard.call("1", {}, {hookId: "anything"});
  assert.deepEqual((await guard.next()).output, {decision: "ask"});
  assert.deepEqual(await guard.end(), [0, null]);
});

test("events are told in the words that their names belong to", () => {
  const worker = new Worker();
  assert.equal(worker.on("PreToolUse", () => {}), "PreToolUse-1");
  worker.on("SessionStart", {id: "mine"}, () => {});
  assert.throws(() => worker.on("SessionStart", {id: "mine"}, () => {}), {code: "duplicate_id"});
  assert.throws(() => worker.on("SessionStart", {priority: 1}, () => {}), {code: "invalid_hook"});
});
