// The examples of docs/examples/sdk/typescript, as programs, each played with the engine itself.

import assert from "node:assert/strict";
import {once} from "node:events";
import {readdirSync} from "node:fs";
import {createServer} from "node:http";
import {after, test} from "node:test";

import {A3sClient} from "hook-sdk";

import {engine, EXAMPLES} from "./project.mjs";

const played = new Set();

/** Plays an example with a server of those hooks, and an agent that asks it. */
function example(name, during, {hooks = {}, hostServices, environment} = {}) {
  played.add(name);
  engine(`${name}.mjs`, hooks, (project) => project.serve(async (socket) => {
    const agent = new A3sClient({socket, hostServices});
    const registrations = [];
    const heard = new Promise((resolve) => agent.setHookAuditLevel("info", (entry) => {
      if (entry.kind === "registered") resolve(registrations.push(entry));
    }));
    await agent.connect();
    try {
      const end = await project.play(`${name}.mjs`, socket, async ({said, says, ended}) => {
        const registered = () => Promise.race([heard, ended.then(() => assert.fail(said.stderr))]);
        await during({agent, registered, said, says, ended});
      }, environment);
      assert.deepEqual(end, [0, null]);
      // It has taken its hook back, so that the server does not wait for it.
      assert.deepEqual(await agent.listHooks(), []);
    } finally {
      await agent.close();
    }
  }));
}

/** An example that guards: what an agent is told of each call. */
function guard(name, event, calls, options) {
  example(name, async ({agent, registered}) => {
    await registered();
    for (const [input, decision, reason, modified] of calls) {
      const fired = await agent.fire(event, input);
      const {tool_input} = input;
      assert.deepEqual([fired.decision, fired.toolInput(tool_input)], [decision, modified ?? tool_input], JSON.stringify(fired));
      if (reason) assert.match(fired.reason, reason);
    }
  }, options);
}

const shell = (command) => ({tool_name: "run_shell_command", tool_input: {command}});
const write = (file_path, content) => ({tool_name: "write_file", tool_input: {file_path, content}});
const written = (file_path, is_error) => ({...write(file_path, "x"), tool_response: {llmContent: ""}, is_error});

guard("security-policy", "BeforeTool", [
  [shell("ls"), "proceed"],
  [shell(["rm", "-rf", "/"]), "block", /^Blocked dangerous command/],
  [shell("sudo rm  -rf /"), "block", /^Blocked dangerous command matching \/rm\\s\+-rf\\s\+\\\/\/$/],
  [shell("dd if=x of=/dev/sda"), "block", /^Blocked dangerous command/],
  [{...shell("rm -rf /"), tool_name: "Bash"}, "block", /^Blocked dangerous command/],
  [{...shell("rm -rf /"), tool_name: "Read"}, "proceed"],
  [write("a", "rm -rf /"), "proceed"],
]);

guard("env-guard", "BeforeTool", [
  [write("a.env", "API_KEY=1"), "block", /^Cannot write API keys to .env files$/],
  [write("a.env", "A=1"), "proceed"],
  [write("a.txt", "API_KEY=1"), "proceed"],
]);

guard("bash-timeout", "BeforeTool", [
  [shell("ls"), "proceed", undefined, {command: "ls", timeout: 30000}],
  [write("a", "b"), "proceed"],
]);

guard("fail-closed", "BeforeTool", [
  [shell("ls"), "proceed"],
  [shell("sudo ls"), "block", /^not as root$/],
  [{tool_name: "run_shell_command", tool_input: {}}, "block", /TypeError: there is no command/],
]);

const answers = [true, false];
guard("permission-escalation", "PermissionRequest", [
  [{tool_name: "read_file", tool_input: {}}, "proceed"],
  [shell("ls"), "proceed"],
  [write("a", "b"), "block", /^User denied permission$/],
], {hostServices: {"ui.confirm": () => answers.shift()}});

const run = [];
example("auto-format", async ({agent, registered}) => {
  await registered();
  for (const input of [written("a.rs", true), written("a.txt", false), written("it's; rm.rs", false)]) {
    assert.equal((await agent.fire("AfterTool", input)).decision, "proceed");
  }
  const [[shell, {command, timeout}], ...more] = run;
  assert.deepEqual([shell, timeout, more], ["run_shell_command", 10000, []]);
  assert.match(command, /^rustfmt '\/.*\/it'\\''s; rm\.rs'$/);
}, {hostServices: {"tool.execute": ({tool, args}) => void run.push([tool, args])}});

/** A call as the SDK of OpenAI gives it. */
const generated = (usage) => ({
  sdk: "openai-chat",
  llm_request: {model: "large", messages: [{role: "user", content: "b"}]},
  llm_response: {
    object: "chat.completion",
    choices: [{index: 0, message: {role: "assistant", content: "a"}, finish_reason: "stop"}],
    usage,
  },
});

example("cost-tracking", async ({agent, registered, said, says}) => {
  await registered();
  for (const usage of [undefined, {total_tokens: 600_000}, {total_tokens: 100_000}]) {
    assert.equal((await agent.fire("AfterModel", generated(usage))).decision, "proceed");
  }
  await says("stderr", /\n/);
  assert.equal(said.stderr, "Session cost exceeded $10: $10.50 (700000 tokens)\n");
});

const metrics = createServer((request, response) => {
  let body = "";
  request.on("data", (chunk) => (body += chunk)).on("end", () => {
    response.end();
    metrics.emit("posted", JSON.parse(body));
  });
});
await once(metrics.listen(0, "127.0.0.1"), "listening");
after(() => metrics.close());

example("generation-metrics", async ({agent, registered}) => {
  await registered();
  const posted = once(metrics, "posted");
  const fired = await agent.fire("AfterModel", {...generated({prompt_tokens: 2, completion_tokens: 5, total_tokens: 7}), session_id: "s-1"});
  assert.equal(fired.decision, "proceed");
  assert.deepEqual(await posted, [{session: "s-1", usage: {prompt_tokens: 2, completion_tokens: 5, total_tokens: 7}}]);
}, {environment: {METRICS_URL: `http://127.0.0.1:${metrics.address().port}/`}});

const refuse = {type: "command", name: "guard", command: "echo no >&2; exit 2"};
example("audit-log", async ({agent, says}) => {
  // Until it listens.
  for (let listens = false; !listens;) {
    await agent.fire("BeforeTool", shell("ls"));
    listens = await Promise.race([says("stdout", /^blocked BeforeTool guard no$/m).then(() => true), new Promise((go) => setImmediate(go))]);
  }
}, {hooks: {BeforeTool: [{hooks: [refuse]}]}});

const ends = (name, stdout, options) => example(name, async ({said, ended}) => {
  assert.deepEqual([await ended, said], [[0, null], {stdout, stderr: ""}]);
}, options);

ends("list-and-unregister", "h-1 BeforeTool mine\ntaken back: true\nstill there: 0\n");
ends("temporary-hook", "inside: block\noutside: proceed\n");

const changed = JSON.stringify({hookSpecificOutput: {llm_response: {candidates: [{content: {parts: ["*", "**"]}}]}}});
ends("model-call", "{ role: 'assistant', content: '***' }\n", {
  hooks: {AfterModel: [{hooks: [{type: "command", command: `echo '${changed}'`}]}]},
});

played.add("worker-guard");
engine("worker-guard.mjs", {
  BeforeTool: [{matcher: "run_shell_command", hooks: [{type: "worker", command: "node worker-guard.mjs", name: "guard", failBehavior: "block"}]}],
}, (project) => {
  project.example("worker-guard.mjs");
  const fire = (command) => project.run("fire", "BeforeTool", "--settings", "settings.json", "--json", "--input", JSON.stringify(shell(command)));
  const refused = fire("sudo ls");
  const {processed, hooks} = JSON.parse(refused.stdout);
  assert.deepEqual([processed.decision, processed.reason, hooks[0].type], ["block", "not as root", "worker"], refused.stdout + refused.stderr);
  assert.equal(JSON.parse(fire("ls").stdout).processed.decision, "proceed");
});

test("every example is played, the agent by the tests of the whole repository", () => {
  const files = readdirSync(EXAMPLES).filter((name) => name.endsWith(".mjs"));
  assert.deepEqual(files.sort(), [...played, "agent"].map((name) => `${name}.mjs`).sort());
});
