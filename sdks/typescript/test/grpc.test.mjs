import assert from "node:assert/strict";
import {test} from "node:test";

import {A3sClient} from "hook-sdk";

import {GrpcServer} from "./grpc-server.mjs";
import {Queue} from "./server.mjs";

async function withGrpc(run, options = {}) {
  const server = await GrpcServer.start();
  const problems = new Queue();
  const client = new A3sClient({
    transport: "grpc", grpc: {address: server.address, token: "bearer"}, reconnect: {initialMs: 1, maxMs: 10},
    onProblem: (problem) => problems.push(problem), ...options,
  });
  try {
    await run({server, client, problems});
  } finally {
    await client.close();
    server.close();
  }
}

const json = (value) => Buffer.from(JSON.stringify(value));

test("handlers are registered, called and taken away over gRPC", () => withGrpc(async ({server, client}) => {
  const handler = async (event, context) => {
    if (event.args.command === "ask") {
      const confirmed = await context.confirm({title: "t", message: "m"});
      return {action: "block", reason: `${confirmed} for ${event.sessionId} at ${event.timestamp}`};
    }
    if (event.args.command === "throw") throw new Error("broken");
    if (event.args.command === "retry") return {action: "retry", delay: 5};
    return {action: "continue", modified: {args: {command: "ls -l"}}};
  };
  const id = client.registerHook("PreToolUse", {
    matcher: {tool: "Bash", pathPattern: "*.env"}, handler, config: {priority: 7, timeout: 300, failBehavior: "block"},
  });
  await client.ready(id);
  const {metadata, said, stream} = await server.streams.next();
  assert.equal(metadata.authorization, "Bearer bearer");
  assert.equal(metadata["hook-client-token"], undefined);
  const registered = await server.called.next();
  assert.equal(registered.metadata["hook-client-id"], metadata["hook-client-id"]);
  assert.deepEqual(registered.request, {
    event_type: "PreToolUse", hook_id: id, vocabulary: "a3s", matcher: {tool: "Bash", path_pattern: "*.env"},
    config: {priority: 7, timeout_ms: 300, async: false, fail_behavior: "block"},
  });
  const call = async (callId, command) => {
    stream.write({
      hook_id: id, event_type: "PreToolUse", session_id: "s-1", timestamp: 17, call_id: callId, deadline_ms: 100,
      payload: json({tool: "Bash", args: {command}}), metadata: json({a: 1}),
    });
    return said.next();
  };
  const changed = await call("1", "ls");
  assert.deepEqual([changed.call_id, changed.hook_id, changed.action], ["1", id, "CONTINUE"]);
  assert.deepEqual(JSON.parse(changed.modified), {args: {command: "ls -l"}});
  assert.deepEqual(await call("2", "throw"), {call_id: "2", hook_id: id, error: "Error: broken (grpc.test.mjs:32)"});
  assert.equal((await call("3", "retry")).retry_delay_ms, 5);
  const asked = await call("4", "ask");
  const hostCall = JSON.parse(asked.host_call);
  assert.deepEqual([hostCall.type, hostCall.method], ["hook-host-call", "ui.confirm"]);
  stream.write({host_result: json({type: "hook-host-result", hostCallId: hostCall.hostCallId, result: true})});
  const blocked = await said.next();
  assert.deepEqual([blocked.action, blocked.reason], ["BLOCK", "true for s-1 at 17"]);
  // A server of the design's first version names no calls.
  assert.deepEqual(Object.keys(await call("", "ls")).includes("call_id"), false);
  stream.write({hook_id: id, event_type: "PreToolUse", call_id: "5", payload: Buffer.from("no JSON")});
  assert.match((await said.next()).error, /no message/);
  assert.deepEqual((await client.listHooks()).map(({hookId, own, matcher}) => [hookId, own, matcher]), [[id, true, {tool: "Bash", pathPattern: "*.env"}]]);
  assert.equal(await client.unregisterHook(id), true);
  assert.equal(server.hooks.size, 0);
}));

test("a cancelled call aborts its signal", () => withGrpc(async ({server, client}) => {
  let aborted;
  const wasAborted = new Promise((resolve) => (aborted = resolve));
  let called;
  const wasCalled = new Promise((resolve) => (called = resolve));
  const id = client.registerHook("PreToolUse", (_, {signal}) => {
    signal.addEventListener("abort", aborted);
    called();
    return new Promise(() => {});
  });
  await client.ready(id);
  const {stream} = await server.streams.next();
  stream.write({hook_id: id, event_type: "PreToolUse", call_id: "1", payload: json({})});
  await wasCalled;
  stream.write({hook_id: id, call_id: "1", cancelled: true});
  await wasAborted;
}));

test("refusals have their codes, and what gRPC cannot say is refused", () => withGrpc(async ({server, client, problems}) => {
  server.refuses = (method) => method === "RegisterHook" && [8, "10 are enough"];
  await assert.rejects(client.ready(client.registerHook("PreToolUse", () => {})), {code: "limit_exceeded"});
  for (const hook of [{matcher: "Bash"}, {matcher: {tool: ["a", "b"]}}, {matcher: {toolPattern: "a"}}, {config: {priority: 0}}]) {
    await assert.rejects(client.ready(client.registerHook("PreToolUse", {handler: () => {}, ...hook})), {code: "unsupported"});
  }
  await assert.rejects(client.reload(), {code: "unsupported"});
  client.setHookAuditLevel("info");
  assert.match(await problems.next((problem) => problem.includes("hook-audit")), /no such message/);
  assert.throws(() => new A3sClient({transport: "grpc", hostServices: {"ui.confirm": () => true}}), {code: "unsupported"});
}));

test("requests go over the bus, and so does progress", () => withGrpc(async ({server, client}) => {
  const progress = new Queue();
  client.subscribe((message) => progress.push(message));
  client.follow((line) => progress.push(line));
  const follow = await server.follows.next();
  assert.equal((await client.fire("SessionEnd", {reason: "exit"})).decision, "ask");
  const {correlationId} = JSON.parse((await server.called.next()).request.json);
  const started = {type: "hook-started", correlationId, eventName: "SessionEnd", hook: {}};
  follow.write({json: json({at: 1, request: 0, message: {...started, correlationId: "another client's"}})});
  follow.write({json: json({at: 2, request: 0, message: started})});
  assert.deepEqual((await progress.next()).at, 1);
  assert.deepEqual((await progress.next()).at, 2);
  assert.deepEqual(await progress.next(), started);
  server.answer = () => [1];
  await assert.rejects(client.fire("SessionEnd", {reason: "exit"}), {code: "invalid_message"});
  server.refuses = () => [16, "no token"];
  await assert.rejects(client.fire("SessionEnd", {reason: "exit"}), {code: "refused"});
}));

test("a request that is aborted or cancelled is ended, as over a socket", () => withGrpc(async ({server, client}) => {
  server.answer = () => new Promise(() => {});
  const end = new AbortController();
  const fired = client.request("SessionEnd", {reason: "exit"}, {signal: end.signal});
  const {cancelled} = await server.called.next();
  end.abort();
  await Promise.all([assert.rejects(fired, {name: "HookError", code: "cancelled"}), cancelled]);
  const decided = client.fire("SessionEnd", {reason: "exit"}, {correlationId: "c"});
  await server.called.next();
  client.cancel("c");
  await assert.rejects(decided, {code: "cancelled"});
}));

test("a client that is closed ends the hooks of its requests, which have no answer", () => withGrpc(async ({server, client}) => {
  server.answer = () => new Promise(() => {});
  const fired = client.fire("SessionEnd", {reason: "exit"});
  const {cancelled} = await server.called.next();
  await Promise.all([client.close(), cancelled, assert.rejects(fired, {code: "closed"})]);
}));

test("after a loss the client gives its token back, and keeps what the server kept", () => withGrpc(async ({server, client}) => {
  const id = client.registerHook("PreToolUse", () => ({action: "skip"}));
  await client.ready(id);
  const first = await server.streams.next();
  first.stream.emit("error", {code: 14, details: "restarting"});
  const {metadata, stream, said} = await server.streams.next();
  assert.equal(metadata["hook-client-token"], "the-token");
  stream.write({hook_id: id, event_type: "PreToolUse", call_id: "1", payload: json({})});
  assert.equal((await said.next()).action, "SKIP");
  const methods = [];
  for (let count = 0; count < 2; count++) methods.push((await server.called.next()).method);
  assert.deepEqual(methods, ["RegisterHook", "ListHooks"]);
}));

test("a stream that the server refuses is an error", () => withGrpc(async ({server, client}) => {
  server.refuses = () => [16, "a token is needed"];
  await assert.rejects(client.connect(), (error) => {
    assert.equal(error.code, "refused");
    assert.match(error.message, /a token is needed/);
    return true;
  });
}));

test("no gRPC server is an error", async () => {
  const server = await GrpcServer.start();
  server.close();
  for (const [grpc, code] of [[{address: server.address}, "no_server"], [{}, "no_address"], [{address: server.address, tokenFile: "/none"}, "no_server"]]) {
    const client = new A3sClient({transport: "grpc", grpc, reconnect: false});
    await assert.rejects(client.connect(), {code});
    await client.close();
  }
});
