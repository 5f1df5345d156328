// Many calls at once, whose server is killed and started again under them.

import assert from "node:assert/strict";
import {spawn} from "node:child_process";
import {once} from "node:events";
import {join} from "node:path";

import {HookClient, executeTool} from "hook-sdk";

import {engine, hook} from "./project.mjs";

const COUNT = 2000;

async function started(project, socket) {
  const args = ["serve", "--socket", socket, "--settings", "settings.json"];
  const server = spawn(hook, args, {cwd: project.folder, env: project.environment, stdio: ["ignore", "ignore", "pipe"]});
  let said = "";
  while (!said.includes("listening on")) said += (await once(server.stderr, "data"))[0];
  server.stderr.resume();
  return server;
}

engine(`${COUNT} calls at once, and a server that is killed and started again under them`, {}, async (project) => {
  const socket = join(project.folder, "s");
  let server = await started(project, socket);
  const guard = new HookClient({socket, onProblem: () => {}, reconnect: {initialMs: 5, maxMs: 50}});
  const client = new HookClient({socket, onProblem: () => {}});
  const running = new Set();
  const ran = [];
  try {
    const id = guard.registerHook("BeforeTool", {config: {failBehavior: "block"}, handler: ({tool_input: {n}}) => (
      n % 2 ? {decision: "deny", reason: `not ${n}`} : undefined
    )});
    await guard.ready(id);
    const call = (n) => executeTool(client, {tool_name: "a", tool_input: {n}}, async (input, {signal}) => {
      running.add(n);
      ran.push(input.n);
      // Some take until they are cancelled.
      if (n % 100 === 0 && wave === 1) await new Promise((resolve) => signal.addEventListener("abort", resolve));
      running.delete(n);
      return `ran ${n}`;
    });
    let wave = 1;
    const first = Array.from({length: COUNT}, (_, n) => call(n));
    while (ran.length < COUNT / 8) await new Promise((resolve) => setImmediate(resolve));
    const killed = once(server, "close");
    server.kill("SIGKILL");
    await killed;
    server = await started(project, socket);
    const outcomes = await Promise.all(first);
    outcomes.forEach((outcome, n) => {
      if (outcome.outcome === "ran") return assert.deepEqual([n % 2, outcome.value], [0, `ran ${n}`]);
      assert.equal(outcome.outcome, "blocked", n);
      assert.ok(outcome.error instanceof Error || outcome.reason === `not ${n}` || /guard|hook|client/.test(outcome.reason), JSON.stringify(outcome));
    });
    assert.ok(outcomes.some(({error}) => error?.code === "connection_lost"));
    assert.deepEqual([...running], []);

    // Before the guard is there again, its absence blocks.
    wave = 2;
    while (!(await guard.ready(id).then(() => true, () => false)));
    const second = await Promise.all(Array.from({length: COUNT}, (_, n) => call(n)));
    assert.ok(second.every(({outcome}, n) => (n % 2 === 0) === (outcome === "ran")), [...new Set(second.map(({reason}) => reason))].slice(0, 5).join("\n"));
    assert.ok(ran.every((n) => n % 2 === 0), "no guard was passed");
    assert.deepEqual([...running], []);
  } finally {
    await client.close();
    await guard.close();
    server.kill();
    await once(server, "close");
  }
});
