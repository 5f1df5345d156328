import assert from "node:assert/strict";
import {spawn} from "node:child_process";
import {once} from "node:events";
import {test} from "node:test";

import {A3sClient, HookClient, HookError, HookRegistrationError} from "hook-sdk";

import {toolCall, withClient} from "./with.mjs";

test("an option that is not known is refused", () => {
  assert.throws(() => new A3sClient({transport: "http"}), {code: "invalid_option"});
});

test("a handler is registered as the design has it, and its answers reach the server", () => withClient(async ({server, client}) => {
  const id = client.registerHook("PreToolUse", {
    matcher: {tool: "Bash", commandPattern: "rm"},
    handler: async (event) => {
      if (event.args.command.includes("rm -rf /")) return {action: "block", reason: "dangerous"};
      if (event.args.command === "later") return {action: "retry", delay: 10.2};
      if (event.args.command === "skip") return {action: "skip"};
      return {action: "continue", modified: {args: {...event.args, timeout: 30000}}};
    },
    config: {priority: 10, timeout: 3000, async: false, failBehavior: "block"},
  });
  assert.equal(typeof id, "string");
  const connection = await server.connection();
  assert.deepEqual(await connection.next("hook-register"), {
    type: "hook-register", hookId: id, eventName: "PreToolUse", vocabulary: "a3s",
    matcher: {tool: "Bash", commandPattern: "rm"},
    config: {priority: 10, timeout: 3000, async: false, failBehavior: "block"},
  });
  await client.ready(id);
  const said = async (command) => {
    const {type, callId, ...answer} = await connection.call(id, "PreToolUse", toolCall(command));
    return answer;
  };
  assert.deepEqual(await said("rm -rf /"), {action: "block", reason: "dangerous"});
  assert.deepEqual(await said("later"), {action: "retry", delay: 11});
  assert.deepEqual(await said("skip"), {action: "skip"});
  assert.deepEqual(await said("ls"), {action: "continue", modified: {args: {command: "ls", timeout: 30000}}});
}));

test("a name that A3S has as well is the engine's, but for its client", async () => {
  for (const [Client, expected] of [[HookClient, "native"], [A3sClient, "a3s"]]) {
    await withClient(async ({server, client}) => {
      client.registerHook("SessionStart", () => {});
      assert.equal((await (await server.connection()).next("hook-register")).vocabulary, expected);
    }, {}, Client);
  }
});

test("names that only we have are native, and shared ones can be", () => withClient(async ({server, client}) => {
  client.registerHook("BeforeTool", () => ({decision: "deny", reason: "no"}));
  client.registerHook("SessionStart", {vocabulary: "native", handler: () => {}});
  client.registerHook("SessionStart", () => {});
  client.registerHook("DeployFinished", () => {});
  const connection = await server.connection();
  const registered = [];
  for (let count = 0; count < 4; count++) registered.push(await connection.next("hook-register"));
  assert.deepEqual(registered.map(({eventName, vocabulary}) => [eventName, vocabulary]), [
    ["BeforeTool", "native"], ["SessionStart", "native"], ["SessionStart", "a3s"], ["DeployFinished", "native"],
  ]);
  const [first, second, third] = registered;
  assert.deepEqual((await connection.call(first.hookId, "BeforeTool", {})).output, {decision: "deny", reason: "no"});
  assert.deepEqual((await connection.call(second.hookId, "SessionStart", {})).output, {});
  assert.equal((await connection.call(third.hookId, "SessionStart", {})).action, "continue");
}));

test("a refused registration reaches the caller, and no other", () => withClient(async ({server, client, problems}) => {
  server.refuses = ({hookId}) => hookId === "bad" && {code: "limit_exceeded", message: "10 are enough", details: {limit: 10}};
  client.registerHook("PreToolUse", {id: "bad", handler: () => {}});
  const good = client.registerHook("PreToolUse", () => {});
  await assert.rejects(client.ready("bad"), (error) => {
    assert.ok(error instanceof HookRegistrationError && error instanceof HookError);
    assert.deepEqual([error.code, error.hookId, error.eventName], ["limit_exceeded", "bad", "PreToolUse"]);
    assert.deepEqual(error.details, {limit: 10});
    return true;
  });
  await client.ready(good);
  assert.match(await problems.next(), /hook bad for PreToolUse is not registered: 10 are enough/);
  // It is remembered for who asks later, and the id is free again.
  await assert.rejects(client.ready("bad"), HookRegistrationError);
  server.refuses = () => undefined;
  client.onRegistrationError = () => assert.fail("nothing is refused");
  client.registerHook("PreToolUse", {id: "bad", handler: () => {}});
  await client.ready("bad");
}));

test("onRegistrationError is told of refusals", async () => {
  let told;
  const refusal = new Promise((resolve) => (told = resolve));
  await withClient(async ({server, client}) => {
    server.refuses = ({type}) => type === "hook-register" && {code: "invalid_request", message: "no"};
    const id = client.registerHook("PreToolUse", () => {});
    assert.equal((await refusal).hookId, id);
  }, {onRegistrationError: (error) => told(error)});
});

test("a server that knows no registration refuses it, and nobody waits", () => withClient(async ({server, client}) => {
  server.isOld = true;
  server.hello = {clientToken: undefined};
  await assert.rejects(client.ready(client.registerHook("PreToolUse", () => {})), {code: "invalid_request"});
  await assert.rejects(client.reload(), {code: "invalid_request"});
}));

test("what no server could understand is refused at once", () => withClient(async ({client}) => {
  const wrong = [
    {handler: 1}, {handler: () => {}, matchers: {}}, {handler: () => {}, id: ""}, {handler: () => {}, vocabulary: "claude"}, null, "text",
  ];
  for (const hook of wrong) {
    assert.throws(() => client.registerHook("PreToolUse", hook), {code: "invalid_hook"}, JSON.stringify(hook));
  }
  client.registerHook("PreToolUse", {id: "one", handler: () => {}});
  assert.throws(() => client.registerHook("PreToolUse", {id: "one", handler: () => {}}), {code: "duplicate_id"});
}));

test("handlers are taken away and listed", () => withClient(async ({server, client}) => {
  const id = client.registerHook("PreToolUse", () => {});
  await client.ready(id);
  const listed = await client.listHooks();
  assert.deepEqual(listed.map(({hookId, own}) => [hookId, own]), [[id, true], ["other", false]]);
  assert.equal(await client.unregisterHook(id), true);
  assert.equal(await client.unregisterHook(id), false);
  assert.deepEqual((await client.listHooks()).map(({hookId}) => hookId), ["other"]);
  await assert.rejects(client.ready(id), {code: "no_hook"});
  // A request that was in flight keeps its plan.
  const connection = await server.connection();
  assert.equal((await connection.call(id, "PreToolUse", {})).action, "continue");
  assert.match((await connection.call("other", "PreToolUse", {})).error, /no hook other/);
}));

test("a temporary hook is gone afterwards, whatever happens", () => withClient(async ({server, client}) => {
  const hooks = () => [...server.clients.values()].flatMap(({hooks}) => [...hooks.keys()]);
  const result = await client.temporaryHook("PreToolUse", () => {}, async (id) => {
    assert.deepEqual(hooks(), [id]);
    return 42;
  });
  assert.equal(result, 42);
  assert.deepEqual(hooks(), []);
  await assert.rejects(client.temporaryHook("PreToolUse", () => {}, () => Promise.reject(new Error("x"))), /x/);
  assert.deepEqual(hooks(), []);
  const hook = await client.temporaryHook("PreToolUse", () => {});
  assert.deepEqual(hooks(), [hook.hookId]);
  await hook[Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]();
  assert.deepEqual(hooks(), []);
  server.refuses = () => ({code: "limit_exceeded", message: "no"});
  await assert.rejects(client.temporaryHook("PreToolUse", () => {}, () => assert.fail("not in force")), {code: "limit_exceeded"});
}));

for (const signal of ["SIGINT", "SIGTERM"]) {
  test(`a program that serves takes its handlers away at ${signal}`, () => withClient(async ({server}) => {
    const program = `
      import {A3sClient} from "hook-sdk";
      const client = new A3sClient({socket: ${JSON.stringify(server.socket)}});
      client.registerHook("PreToolUse", () => {});
      await client.run();
      console.log("closed");
    `;
    const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
      cwd: new URL("..", import.meta.url), stdio: ["ignore", "pipe", "pipe"],
    });
    child.stderr.resume();
    let said = "";
    child.stdout.on("data", (chunk) => (said += chunk));
    const ended = once(child, "close");
    const connection = await server.connection();
    const {hookId} = await connection.next("hook-register");
    child.kill(signal);
    const unregistered = connection.next("hook-unregister");
    assert.deepEqual(await ended, [0, null]);
    assert.deepEqual([(await unregistered).hookId, said], [hookId, "closed\n"]);
  }));
}

test("only a client that runs listens for signals, until it is closed", () => withClient(async ({client}) => {
  const listening = () => ["SIGINT", "SIGTERM"].map((signal) => process.listenerCount(signal));
  const before = listening();
  await client.ready(client.registerHook("PreToolUse", () => {}));
  assert.deepEqual(listening(), before);
  const running = client.run();
  assert.deepEqual(listening(), before.map((count) => count + 1));
  await client.close();
  await running;
  assert.deepEqual(listening(), before);
  await client.run();
}));

test("a closed client has taken its handlers away", () => withClient(async ({server, client}) => {
  const id = client.registerHook("PreToolUse", () => new Promise(() => {}));
  await client.ready(id);
  const connection = await server.connection();
  const answer = connection.call(id, "PreToolUse", toolCall("ls"));
  await client.listHooks(); // By then the call has come.
  await client.close();
  assert.match((await answer).error, /closed/);
  assert.equal((await connection.next("hook-unregister")).hookId, id);
  await connection.ended;
  assert.throws(() => client.registerHook("PreToolUse", () => {}), {code: "closed"});
  await assert.rejects(client.listHooks(), {code: "closed"});
}));
