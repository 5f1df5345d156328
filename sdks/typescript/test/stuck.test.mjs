// Servers that answer nothing any more and keep their connections, in a time that tests make pass.

import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {join} from "node:path";
import {test} from "node:test";

import {HookClient, executeTool} from "hook-sdk";

import {engine, hook} from "./project.mjs";
import {withClient} from "./with.mjs";

const CALL = {tool_name: "write_file", tool_input: {path: "a"}};
const LOOK_MS = 10_000;
const ran = (llmContent) => ({outcome: "ran", ran: true, result: {llmContent}, warnings: []});

/** Looks that find nothing, after which a server is given up. */
async function pass(t, looks) {
  for (; looks > 0; looks--) {
    t.mock.timers.tick(LOOK_MS);
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  }
}

test("a stuck server is given up: what waits fails, the tool is cancelled, and the next call has another connection", (t) => {
  t.mock.timers.enable({apis: ["setInterval"]});
  return withClient(async ({server, client, problems}) => {
    let begun;
    const isBegun = new Promise((resolve) => (begun = resolve));
    let aborted;
    const isAborted = new Promise((resolve) => (aborted = resolve));
    const outcome = executeTool(client, CALL, (_, {signal}) => new Promise(() => (signal.addEventListener("abort", aborted), begun())));
    const connection = await server.connection();
    const {triggerId} = await connection.next("hook-trigger");
    connection.send({type: "hook-host-call", hostCallId: "1", triggerId, method: "tool.run", params: {tool_input: {}}});
    await isBegun;
    server.isStuck = true;
    const others = [client.fire("SessionEnd", {reason: "exit"}), client.bridge("claude", "Stop", {}), client.reload()];
    const refused = others.map((other) => assert.rejects(other, {name: "HookConnectionError", code: "no_answer"}));
    await connection.next("hook-execution-request");
    await connection.next("hook-bridge");
    await pass(t, 1);
    await connection.next("hook-list");
    await pass(t, 3);
    const {outcome: kind, ran: wasRun, error} = await outcome;
    assert.deepEqual([kind, wasRun, error.code], ["blocked", true, "no_answer"]);
    await Promise.all([...refused, isAborted, connection.ended]);
    assert.match(await problems.next(), /is stuck: it has not answered for 30 seconds/);
    server.isStuck = false;
    const next = executeTool(client, CALL, () => "done");
    const second = await server.connection();
    const again = await second.next("hook-trigger");
    second.send({type: "hook-trigger-result", triggerId: again.triggerId, result: ran("done")});
    assert.equal((await next).outcome, "ran");
  });
});

test("a server that answers is waited for, however long its hooks run", (t) => {
  t.mock.timers.enable({apis: ["setInterval"]});
  return withClient(async ({server, client}) => {
    const outcome = executeTool(client, CALL, () => "done");
    const connection = await server.connection();
    const {triggerId} = await connection.next("hook-trigger");
    for (let n = 0; n < 20; n++) {
      await pass(t, 1);
      await connection.next("hook-list");
      await client.listHooks(); // Answered after that.
      await connection.next("hook-list");
    }
    connection.send({type: "hook-trigger-result", triggerId, result: ran("done")});
    assert.equal((await outcome).outcome, "ran");
    // Nothing waits, and nothing is asked.
    await pass(t, 5);
    connection.said.push({type: "end"});
    assert.equal((await connection.said.next()).type, "end");
  });
});

engine("an engine that is frozen while a tool runs is ended, and the next call has another one", {
  BeforeTool: [{matcher: "denied", hooks: [{type: "command", command: "echo 'not that one' >&2; exit 2"}]}],
}, async (project, t) => {
  t.mock.timers.enable({apis: ["setInterval"]});
  const serve = `echo $$ > pid; exec '${hook}' serve --stdio --settings settings.json`;
  const client = new HookClient({transport: "stdio", command: ["sh", "-c", serve], project: project.folder, onProblem: () => {}});
  try {
    let frozen;
    const isFrozen = new Promise((resolve) => (frozen = resolve));
    const outcome = executeTool(client, CALL, () => {
      const pid = readFileSync(join(project.folder, "pid"), "utf8").trim();
      process.kill(Number(pid), "SIGSTOP");
      while (!/\) T /.test(readFileSync(`/proc/${pid}/stat`, "utf8")));
      frozen();
      return "done";
    });
    await isFrozen;
    await pass(t, 4);
    const {outcome: kind, ran, error} = await outcome;
    assert.deepEqual([kind, ran, error.code], ["blocked", true, "no_answer"]);
    const refused = await executeTool(client, {...CALL, tool_name: "denied"}, () => assert.fail("the tool ran"));
    assert.deepEqual([refused.outcome, refused.reason], ["blocked", "not that one"]);
  } finally {
    await client.close();
  }
});
