import assert from "node:assert/strict";
import {test} from "node:test";

import {HookError, HookValueError} from "hook-sdk";

import {toolCall, withClient} from "./with.mjs";

/** Registers a handler, and gives what calls it. */
async function called({server, client}, handler, event = "PreToolUse") {
  const id = client.registerHook(event, handler);
  await client.ready(id);
  const connection = await server.connection();
  return {connection, id, call: (input = toolCall("ls")) => connection.call(id, event, input)};
}

const nested = (levels) => {
  let value = {};
  for (let level = 1; level < levels; level++) value = {value};
  return value;
};

test("a handler that throws is an error answer, and the next call is served", () => withClient(async (all) => {
  let count = 0;
  const {call} = await called(all, () => {
    if (count++ === 0) throw new TypeError("no path");
    return {action: "continue"};
  });
  assert.equal((await call()).error, "TypeError: no path (calls.test.mjs:25)");
  assert.match(await all.problems.next(), /failed on PreToolUse: TypeError: no path/);
  assert.equal((await call()).action, "continue");
}));

test("anything can be thrown", () => withClient(async (all) => {
  const thrown = [undefined, null, "text", Symbol("s"), {toString() { throw new Error("worse"); }}];
  const {call} = await called(all, () => { throw thrown.shift(); });
  while (thrown.length > 0) assert.equal(typeof (await call()).error, "string");
}));

test("what has no JSON form is an error at once, for answers and for who asks", () => withClient(async (all) => {
  const loop = [];
  loop.push(loop);
  let shared = [];
  for (let level = 0; level < 60; level++) shared = [shared, shared];
  const values = [NaN, Infinity, -Infinity, loop, 1n, () => {}, Symbol("s"), "x".repeat(5 << 20), nested(200), shared];
  const left = [...values];
  const {call} = await called(all, () => ({action: "continue", modified: {args: {value: left.shift()}}}));
  for (const value of values) {
    assert.match((await call()).error, /the answer cannot be sent/);
    await assert.rejects(all.client.fire("SessionEnd", {reason: "exit", value}), HookValueError);
  }
}));

test("what nests a hundred levels is sent", () => withClient(async (all) => {
  // The answer itself, `modified` and `args` are three of them.
  const deep = [nested(96), nested(98)];
  const {call} = await called(all, () => ({action: "continue", modified: {args: {value: deep.shift()}}}));
  assert.equal((await call()).action, "continue");
  assert.match((await call()).error, /100 levels/);
}));

test("a returned value that is no answer is an error, but a block stays a block", () => withClient(async (all) => {
  const returned = [
    ["text", /an answer is an object/], [[], /an array/], [{}, /without an `action`/], [{action: "deny"}, /"deny"/],
    [{action: "retry", delay: -1}, /delay/], [{action: "continue", modified: 1}, /modified/],
  ];
  const left = returned.map(([value]) => value);
  const {call} = await called(all, () => (left.length > 0 ? left.shift() : {action: "block", reason: 7, modifed: NaN, modified: NaN}));
  for (const [, why] of returned) assert.match((await call()).error, why);
  const {action, reason} = await call();
  assert.deepEqual([action, reason], ["block", "7"]);
  assert.match(await all.problems.next((problem) => problem.includes("modifed")), /no field/);
}));

test("a call that is cancelled is not answered", () => withClient(async (all) => {
  let answer;
  const reasons = [];
  const {connection, id, call} = await called(all, (event, context) => {
    if (event.args.command === "ls") return {action: "continue"};
    context.signal.addEventListener("abort", () => reasons.push(context.signal.reason.code));
    return new Promise((resolve) => (answer = resolve));
  });
  connection.send({type: "hook-call", callId: "slow", hookId: id, eventName: "PreToolUse", input: toolCall("sleep")});
  connection.send({type: "hook-call-cancelled", callId: "slow"});
  await call();
  assert.deepEqual(reasons, ["cancelled"]);
  answer({action: "block", reason: "too late"});
  await call();
  // Who wrote the handler sees that it was too slow.
  assert.match(await all.problems.next(), /^the answer of hook h-1 to PreToolUse was dropped: nobody waited for it/);
  const answers = [];
  connection.said.next((message) => message.callId === "slow" && answers.push(message));
  await call();
  assert.deepEqual(answers, []);
}));

test("calls are answered as they are ready, and each once", () => withClient(async (all) => {
  let release;
  const {connection, id} = await called(all, (event) => (
    event.args.command === "slow" ? new Promise((resolve) => (release = () => resolve({action: "skip"}))) : {action: "continue"}
  ));
  const slow = connection.call(id, "PreToolUse", toolCall("slow"));
  assert.equal((await connection.call(id, "PreToolUse", toolCall("ls"))).action, "continue");
  release();
  assert.equal((await slow).action, "skip");
}));

test("one bad line from the server ends nothing but itself", () => withClient(async (all) => {
  const {connection, call, id} = await called(all, () => ({action: "continue"}));
  const bad = [
    "Segmentation fault", "[1]", "{}", '{"type":7}', "\u2028", "NaN", `${"[".repeat(200_000)}`, '{"type":"hook-call","callId":["x"]}',
    '{"type":"hook-host-result","hostCallId":"none","result":1}', '{"type":"later","x":1}', '{"type":"hook-call-cancelled","callId":"none"}',
  ];
  for (const line of bad) connection.raw(`${line}\n`);
  assert.equal((await call()).action, "continue");
  connection.raw('{"type":"hook-call","callId":"half","hookId":"' + id + '","input":{"x":NaN}}\n');
  assert.match((await connection.answer("half")).error, /no message/);
  connection.send({type: "hook-call", callId: "no-input", hookId: id, eventName: "PreToolUse", input: 1});
  assert.match((await connection.answer("no-input")).error, /input/);
}));

test("a handler asks its host, also by executeTool, which knows its call", () => withClient(async (all) => {
  const {connection, id} = await called(all, async (event, context) => {
    await Promise.resolve();
    const output = await all.client.executeTool(event.sessionId, "Bash", {command: "true"});
    const confirmed = await context.confirm({title: "Allow?", message: "really", timeout: 30000});
    context.log("info", "asked");
    const failed = await context.hostCall("ui.input", {}).catch((error) => error);
    assert.ok(failed instanceof HookError);
    return {action: "block", reason: `${output} ${confirmed} ${failed.code}`};
  });
  const answer = connection.call(id, "PreToolUse", toolCall("ls"));
  const result = async (fields) => {
    const asked = await connection.next("hook-host-call");
    connection.send({type: "hook-host-result", hostCallId: asked.hostCallId, ...fields});
    return [asked.callId, asked.method, asked.params];
  };
  assert.deepEqual(await result({result: "done"}), ["1", "tool.execute", {sessionId: "s-1", tool: "Bash", args: {command: "true"}}]);
  assert.deepEqual(await result({result: true}), ["1", "ui.confirm", {title: "Allow?", message: "really", timeout: 30000}]);
  assert.deepEqual((await connection.next("hook-log")).message, "asked");
  await result({error: {code: "unsupported", message: "no such service"}});
  assert.equal((await answer).reason, "done true unsupported");
}));

test("outside of a call nothing can be asked of a host", () => withClient(async (all) => {
  await assert.rejects(all.client.executeTool("s", "Bash"), {code: "no_call"});
  let context;
  const {call} = await called(all, (_, given) => void (context = given));
  await call();
  await assert.rejects(context.hostCall("ui.notify"), {code: "no_call"});
}));

test("a host call of a cancelled call is rejected", () => withClient(async (all) => {
  let rejected;
  const outcome = new Promise((resolve) => (rejected = resolve));
  const {connection, id} = await called(all, (_, context) => context.hostCall("ui.confirm").catch(rejected));
  connection.send({type: "hook-call", callId: "c", hookId: id, eventName: "PreToolUse", input: {}});
  await connection.next("hook-host-call");
  connection.send({type: "hook-call-cancelled", callId: "c"});
  assert.equal((await outcome).code, "cancelled");
}));
