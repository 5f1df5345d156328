import assert from "node:assert/strict";
import {test} from "node:test";

import {HookConnectionError, HookError, agentTurn, callModel, executeTool} from "hook-sdk";

import {Lines} from "../dist/lines.js";
import {Queue} from "./server.mjs";
import {withClient} from "./with.mjs";

const response = (request, more = {}) => ({
  type: "hook-execution-response", correlationId: request.correlationId, success: true,
  processed: {decision: "block", reason: "no"}, ...more,
});

/** The next request that the server gets. */
async function asked(connection) {
  return connection.next("hook-execution-request");
}

test("another agent's format is asked with a deadline, and answered as that agent reads it", () => withClient(async ({server, client}) => {
  const bridged = client.bridge("claude", "PreToolUse", {a: 1}, {deadlineMs: 7});
  const connection = await server.connection();
  const {correlationId, ...said} = await connection.next("hook-bridge");
  assert.deepEqual(said, {type: "hook-bridge", agent: "claude", event: "PreToolUse", said: '{"a":1}', deadlineMs: 7});
  connection.send({type: "hook-bridged", correlationId, stdout: "{}", exitCode: 0});
  assert.deepEqual(await bridged, {stdout: "{}", stderr: "", exitCode: 0, warnings: []});
}));

test("fire gives what is to be done, request the whole response", () => withClient(async ({server, client}) => {
  const fired = client.fire("BeforeTool", {tool_name: "write_file", tool_input: {path: "a"}}, {deadlineMs: 2000});
  const connection = await server.connection();
  const request = await asked(connection);
  assert.deepEqual([request.eventName, request.input, request.deadlineMs], ["BeforeTool", {tool_name: "write_file", tool_input: {path: "a"}}, 2000]);
  connection.send(response(request, {output: {finalOutput: {decision: "deny"}}, warnings: ["w"]}));
  assert.deepEqual({...await fired}, {decision: "block", reason: "no", finalOutput: {decision: "deny"}, warnings: ["w"]});
  const whole = client.request("SessionEnd", {reason: "exit"}, {correlationId: "mine"});
  const second = await asked(connection);
  assert.equal(second.correlationId, "mine");
  await assert.rejects(client.request("SessionEnd", {reason: "exit"}, {correlationId: "mine"}), {code: "duplicate_id"});
  connection.send(response(second, {hooks: []}));
  assert.deepEqual((await whole).hooks, []);
  const error = {code: "planning_failed", message: "no bash"};
  const decided = client.fire("SessionEnd", {reason: "exit"});
  connection.send(response(await asked(connection), {error}));
  assert.deepEqual({...await decided}, {decision: "block", reason: "no", error, warnings: []});
  const failed = client.fire("SessionEnd", {reason: "exit"});
  connection.send(response(await asked(connection), {processed: undefined, error}));
  await assert.rejects(failed, {name: "HookError", code: "planning_failed", message: "SessionEnd: no bash"});
}));

test("no answer is an error, and never `proceed`", () => withClient(async ({server, client, problems}) => {
  const fire = () => client.fire("SessionEnd", {reason: "exit"});
  let fired = fire();
  const connection = await server.connection();
  for (const [line, code] of [
    ["Segmentation fault", "invalid_message"],
    [JSON.stringify({type: "hook-execution-response", correlationId: [1]}), "invalid_message"],
    [({correlationId}) => `{"type":"hook-execution-response","correlationId":"${correlationId}","x":NaN}`, "invalid_message"],
    [({correlationId}) => JSON.stringify({type: "hook-execution-response", correlationId}), "invalid_message"],
  ]) {
    const request = await asked(connection);
    connection.raw(`${typeof line === "string" ? line : line(request)}\n`);
    await assert.rejects(fired, (error) => error instanceof HookError && error.code === code);
    fired = fire();
  }
  // A broken line that is clearly something else fails no request.
  const request = await asked(connection);
  connection.raw('{"type":"hook-started","x":NaN}\n');
  connection.send(response({correlationId: "nobody's"}));
  connection.raw(`${JSON.stringify(response(request, {x: "\u2028"}))}\n`);
  assert.equal((await fired).decision, "block");
  assert.match(await problems.next((problem) => problem.includes("nothing waits")), /nothing waits/);
  fired = fire();
  await asked(connection);
  connection.raw('{"type":"hook-execution-resp');
  connection.drop();
  await assert.rejects(fired, (error) => {
    assert.deepEqual([error.code, error.request.eventName], ["connection_lost", "SessionEnd"]);
    return true;
  });
}));

test("a server that turns a client away leaves nobody waiting", () => withClient(async ({server, client, problems}) => {
  const fired = client.fire("SessionEnd", {reason: "exit"});
  const connection = await server.connection();
  await asked(connection);
  connection.send({type: "hook-refused", message: "no more"});
  await assert.rejects(fired, {code: "refused"});
  assert.match(await problems.next(), /no more/);
}));

test("a line that never ends is not read for ever, and others are lines by their line ends alone", () => {
  const chunk = Buffer.alloc(16 << 20, "x");
  const endless = new Lines();
  let count = 0;
  while (endless.take(chunk, () => assert.fail("there is no end"))) count++;
  assert.equal(count, 16);
  const read = [];
  const lines = new Lines();
  for (const part of ["a\nb", "c\n\n \n\u2028d\r", "\n", "e"]) lines.take(Buffer.from(part), (line) => read.push(line));
  assert.deepEqual(read, ["a", "bc", "\u2028d\r"]);
  assert.equal(lines.isInsideLine, true);
});

test("an aborted request ends its hooks, and rejects with `cancelled`, whenever it is aborted", () => withClient(async ({server, client, problems}) => {
  const end = {reason: "exit"};
  const cancelled = (error) => {
    assert.ok(error instanceof HookError);
    assert.deepEqual([error.code, error.request.eventName, error.cause.name], ["cancelled", "SessionEnd", "AbortError"]);
    return true;
  };
  // Before it is asked, and while the client connects.
  await assert.rejects(client.fire("SessionEnd", end, {signal: AbortSignal.abort()}), cancelled);
  const early = new AbortController();
  const connecting = client.fire("SessionEnd", end, {signal: early.signal});
  early.abort();
  await assert.rejects(connecting, cancelled);
  const connection = await server.connection();
  // While its hooks run: also where these have decided, and when the server says nothing more.
  for (const answer of [
    (request) => response(request, {success: false, processed: undefined, error: {code: "cancelled", message: "ended"}}),
    (request) => response(request, {success: false, error: {code: "cancelled", message: "ended"}}),
    (request) => response(request, {processed: {decision: "proceed"}}),
    undefined,
  ]) {
    for (const method of ["fire", "request"]) {
      const abort = new AbortController();
      const fired = client[method]("SessionEnd", end, {signal: abort.signal, correlationId: `${method}-${String(answer)}`});
      const request = await asked(connection);
      abort.abort();
      const [cancel] = await Promise.all([connection.next("hook-cancel"), assert.rejects(fired, cancelled)]);
      assert.equal(cancel.correlationId, request.correlationId);
      // What still comes is the answer of no other request.
      await assert.rejects(client.request("SessionEnd", end, {correlationId: request.correlationId}), {code: "duplicate_id"});
      if (answer) connection.send(answer(request));
    }
  }
  // A signal that is aborted behind the answer means nothing.
  const late = new AbortController();
  const answered = client.fire("SessionEnd", end, {signal: late.signal});
  connection.send(response(await asked(connection)));
  assert.equal((await answered).decision, "block");
  late.abort();
  let said = false;
  problems.next().then(() => (said = true));
  await client.listHooks();
  assert.equal(said, false);
}));

test("a deadline ends what a stuck server leaves without an answer", () => withClient(async ({server, client}) => {
  const deadline = {deadlineMs: 1};
  const call = {tool_name: "a", tool_input: {}};
  const never = () => assert.fail("hooks did not decide");
  const late = (error) => error instanceof HookConnectionError && error.code === "no_answer" && /within 1 ms/.test(error.message);
  // One that does not read what it is told: the connection stands.
  const all = Promise.all([
    assert.rejects(client.fire("BeforeTool", call, deadline), late),
    assert.rejects(client.bridge("claude", "PreToolUse", {}, deadline), late),
    ...[executeTool(client, call, never, deadline), callModel(client, "openai-chat", {}, never, deadline).finish(), agentTurn(client, "p", deadline)]
      .map(async (outcome) => assert.ok(late((await outcome).error))),
  ]);
  const connection = await server.connection();
  await all;
  // The server is told.
  await Promise.all([connection.next("hook-cancel"), connection.next("hook-trigger-cancel")]);
  // A caller's own abort is that.
  const signal = AbortSignal.timeout(1);
  await assert.rejects(client.fire("BeforeTool", call, {...deadline, signal}), (error) => error.code === "cancelled" && error.cause === signal.reason);
}));

test("a tool runs with what hooks changed, and without what they removed", () => withClient(async ({server, client}) => {
  await client.connect();
  const connection = await server.connection();
  const original = {command: "ls", sudo: true};
  for (const [modified, expected] of [
    [undefined, original],
    [{}, original],
    [{tool_input: {command: "ls -l"}}, {command: "ls -l", sudo: true}],
    [{tool_input: {command: "ls -l"}, toolInputReplaces: true}, {command: "ls -l"}],
    [{tool_input: {}, toolInputReplaces: true}, {}],
    [{tool_input: {x: 1}, toolInputReplaces: false}, {...original, x: 1}],
  ]) {
    const fired = client.fire("BeforeTool", {tool_name: "run_shell_command", tool_input: original});
    connection.send(response(await asked(connection), {processed: {decision: "proceed", ...(modified && {modified})}}));
    assert.deepEqual((await fired).toolInput(original), expected);
    assert.deepEqual(original, {command: "ls", sudo: true});
  }
  const fired = client.fire("BeforeTool", {tool_name: "run_shell_command", tool_input: original});
  connection.send(response(await asked(connection), {processed: {decision: "proceed", modified: {tool_input: "ls"}}}));
  const outcome = await fired;
  assert.throws(() => outcome.toolInput(original), {code: "invalid_message"});
}));

test("a client that is closed ends the hooks of its requests, which have no answer", () => withClient(async ({server, client, problems}) => {
  const fired = client.fire("SessionEnd", {reason: "exit"});
  const connection = await server.connection();
  const request = await asked(connection);
  const cancelled = connection.next("hook-cancel").then(({correlationId}) => {
    assert.equal(correlationId, request.correlationId);
    // The answer that a server gives all the same is none.
    connection.send(response(request, {success: false, error: {code: "cancelled", message: "the caller asked for it"}}));
  });
  await Promise.all([client.close(), cancelled, assert.rejects(fired, (error) => {
    assert.ok(error instanceof HookConnectionError);
    assert.deepEqual([error.code, error.request.eventName], ["closed", "SessionEnd"]);
    return true;
  })]);
  let said = false;
  problems.next().then(() => (said = true));
  await assert.rejects(client.fire("SessionEnd", {reason: "exit"}), {code: "closed"});
  assert.equal(said, false);
}));

test("a client is told of its hooks, and of settings read again", () => withClient(async ({server, client}) => {
  const heard = [];
  const end = client.subscribe(({type}) => heard.push(type));
  const connection = await server.connection();
  await connection.next("hook-subscribe");
  connection.send({type: "hook-started", correlationId: "c", eventName: "SessionEnd", hook: {}});
  assert.equal((await client.reload()).totalHooks, 2);
  end();
  connection.send({type: "hook-finished", correlationId: "c", eventName: "SessionEnd", hook: {}});
  await client.reload();
  assert.deepEqual(heard, ["hook-started"]);
}));

let service;

test("a host answers what the hooks of its requests ask", () => withClient(async ({server, client}) => {
  await client.connect();
  const connection = await server.connection();
  const hello = await connection.next("hook-hello");
  assert.deepEqual([hello.protocol, hello.hostServices], [1, ["ui.confirm", "tool.execute", "bad", "nothing", "nested"]]);
  service = () => client.fire("SessionEnd", {reason: "exit"});
  const ask = async (method, params = {}) => {
    connection.send({type: "hook-host-call", hostCallId: method, correlationId: "c-1", hookId: "h", runToken: "inside", method, params});
    const {result, error} = await connection.next("hook-host-result", ({hostCallId}) => hostCallId === method);
    return error ? error.code : result;
  };
  assert.equal(await ask("ui.confirm", {title: "t"}), "t in c-1");
  assert.equal(await ask("tool.execute"), "denied");
  assert.equal(await ask("bad"), "invalid_value");
  assert.equal(await ask("nothing"), null);
  assert.equal(await ask("toString"), "unsupported");
  // What a service asks is known to come from inside of the hook.
  const result = ask("nested");
  const nested = await asked(connection);
  assert.equal(nested.runToken, "inside");
  connection.send(response(nested));
  assert.equal((await result).decision, "block");
}, {hostServices: {
  "ui.confirm": async ({title}, {correlationId}) => `${title} in ${correlationId}`,
  "tool.execute": () => { throw new HookError("denied", "not here"); },
  bad: () => NaN,
  nothing: () => {},
  nested: () => service(),
}}));

test("a host is told that nobody waits for its answer any more", () => {
  const asked = new Queue();
  const aborted = new Queue();
  const confirm = ({title}, {signal}) => new Promise((resolve) => {
    signal.addEventListener("abort", () => {
      aborted.push([title, signal.reason.code]);
      resolve(true); // Too late.
    });
    asked.push({title, resolve});
  });
  return withClient(async ({server, client, problems}) => {
    await client.connect();
    const connection = await server.connection();
    const ask = async (hostCallId) => {
      connection.send({type: "hook-host-call", hostCallId, correlationId: "c-1", hookId: "h", method: "ui.confirm", params: {title: hostCallId}});
      return asked.next();
    };
    await ask("1");
    const second = await ask("2");
    connection.send({type: "hook-host-call-cancelled", hostCallId: "1"});
    connection.send({type: "hook-host-call-cancelled", hostCallId: "of an answered one"});
    assert.deepEqual(await aborted.next(), ["1", "cancelled"]);
    second.resolve(false);
    // The other is answered, and it alone.
    assert.deepEqual(await connection.next("hook-host-result"), {type: "hook-host-result", hostCallId: "2", result: false});
    await ask("3");
    connection.drop();
    assert.deepEqual(await aborted.next(), ["3", "cancelled"]);
    assert.match(await problems.next(), /hook server/);
    await client.connect();
    const again = await server.connection();
    again.send({type: "hook-host-call", hostCallId: "1", method: "ui.confirm", params: {title: "anew"}});
    await asked.next();
    await client.close();
    assert.deepEqual(await aborted.next(), ["anew", "cancelled"]);
  }, {hostServices: {"ui.confirm": confirm}});
});

test("a reply that nothing waits for is said", () => withClient(async ({server, client, problems}) => {
  await client.connect();
  const connection = await server.connection();
  connection.send({type: "hook-reloaded", success: true, totalHooks: 0, warnings: []});
  assert.match(await problems.next(), /sent a hook-reloaded that nothing waits for/);
}));

test("a service that breaks is said, and answers", () => withClient(async ({server, client, problems}) => {
  await client.connect();
  const connection = await server.connection();
  connection.send({type: "hook-host-call", hostCallId: "1", method: "bad", params: {}});
  assert.equal((await connection.next("hook-host-result")).error.code, "failed");
  assert.match(await problems.next(), /the host service bad failed: TypeError: out of order/);
}, {hostServices: {bad: () => { throw new TypeError("out of order"); }}}));
