import assert from "node:assert/strict";
import {execFileSync} from "node:child_process";
import {createHash} from "node:crypto";
import {mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {test} from "node:test";

import {A3sClient, HookConnectionError} from "hook-sdk";

import {nearestProject, socketOf} from "../dist/link/place.js";
import {toolCall, withClient} from "./with.mjs";

test("after a loss the client says its token first, and gets its handlers and waiting calls back", () => withClient(async (all) => {
  const {server, client, problems} = all;
  let release;
  const id = client.registerHook("PreToolUse", () => new Promise((resolve) => (release = resolve)));
  await client.ready(id);
  const first = await server.connection();
  first.send({type: "hook-call", callId: "before", hookId: id, eventName: "PreToolUse", input: toolCall("ls")});
  await client.listHooks(); // By then the call has come.
  first.drop();
  release({action: "block", reason: "answered while away"});
  const second = await server.connection();
  assert.equal((await second.said.next()).clientToken, "token-1");
  assert.equal((await second.answer("before")).reason, "answered while away");
  assert.match(await problems.next(), /hook server/);
  await client.ready(id);
  let again = false;
  second.next("hook-register").then(() => (again = true));
  await client.listHooks();
  assert.equal(again, false, "a handler that the server kept is not registered again");
  // The token holds for the next time, too.
  second.drop();
  assert.equal((await (await server.connection()).said.next()).clientToken, "token-1");
}));

test("a server that did not wait is told of the handlers again, and calls of before are cancelled", () => withClient(async (all) => {
  const {server, client} = all;
  server.hasGrace = false;
  let aborted;
  const wasAborted = new Promise((resolve) => (aborted = resolve));
  const id = client.registerHook("PreToolUse", (event, context) => {
    if (event.args.command === "ls") return {action: "skip"};
    context.signal.addEventListener("abort", aborted);
    return new Promise(() => {});
  });
  await client.ready(id);
  const first = await server.connection();
  first.send({type: "hook-call", callId: "1", hookId: id, eventName: "PreToolUse", input: toolCall("sleep")});
  await client.listHooks();
  const gone = client.registerHook("PreToolUse", () => {});
  await client.ready(gone);
  first.drop();
  await wasAborted;
  const second = await server.connection();
  await second.next("hook-register", ({hookId}) => hookId === id);
  await client.ready(id);
  assert.equal((await second.call(id, "PreToolUse", toolCall("ls"))).action, "skip");
  second.drop();
  // The token of the greeting that was not taken up is of use no more.
  assert.equal((await (await server.connection()).said.next()).clientToken, "token-2");
}));

test("what is registered and taken away while there is no server is so afterwards", () => withClient(async (all) => {
  const {server, client} = all;
  const stays = client.registerHook("PreToolUse", () => {});
  const goes = client.registerHook("PreToolUse", () => {});
  const replaced = client.registerHook("PreToolUse", {id: "replaced", handler: () => ({action: "continue"})});
  await Promise.all([stays, goes, replaced].map((id) => client.ready(id)));
  await server.stop();
  await client.unregisterHook(goes);
  await client.unregisterHook(replaced);
  client.registerHook("PostToolUse", {id: "replaced", handler: () => ({action: "skip"})});
  const added = client.registerHook("PreToolUse", () => {});
  await server.listen();
  const hooks = async () => (await client.listHooks()).filter(({own}) => own).map(({hookId, eventName}) => [hookId, eventName]).sort();
  for (const id of [stays, added, "replaced"]) {
    // Each failed try to connect tells who waits.
    while (!(await client.ready(id).then(() => true, (error) => assert.ok(error instanceof HookConnectionError))));
  }
  assert.deepEqual(await hooks(), [[stays, "PreToolUse"], [added, "PreToolUse"], ["replaced", "PostToolUse"]].sort());
}));

test("without a server nobody waits for ever", () => withClient(async ({server, client, problems}) => {
  await server.stop();
  const id = client.registerHook("PreToolUse", () => {});
  await assert.rejects(client.ready(id), HookConnectionError);
  await assert.rejects(client.fire("SessionEnd", {reason: "exit"}), {code: "no_server"});
  await assert.rejects(client.connect(), HookConnectionError);
  // Whoever waits is told again, people are not.
  await assert.rejects(client.ready(id), HookConnectionError);
  await assert.rejects(client.ready(id), HookConnectionError);
  assert.match(await problems.next(), /ENOENT/);
  let again = false;
  problems.next().then(() => (again = true));
  await assert.rejects(client.ready(id), HookConnectionError);
  assert.equal(again, false);
  await server.listen();
  await server.connection(); // It comes by itself, for the handler's sake.
}));

test("without reconnection a handler can still be waited for", () => withClient(async ({server, client}) => {
  await server.stop();
  const id = client.registerHook("PreToolUse", () => {});
  await assert.rejects(client.ready(id), HookConnectionError);
  await assert.rejects(client.ready(id), HookConnectionError);
  await server.listen();
  await client.ready(id);
}, {reconnect: false}));

test("subscriptions and the audit come back", () => withClient(async ({server, client}) => {
  const entries = [];
  let heard;
  const wasHeard = new Promise((resolve) => (heard = resolve));
  client.setHookAuditLevel("verbose", (entry) => {
    entries.push(entry);
    if (entries.length === 2) heard();
  });
  client.subscribe(() => { throw new Error("the listener's own"); });
  assert.throws(() => client.setHookAuditLevel("loud"), {code: "invalid_level"});
  const first = await server.connection();
  assert.equal((await first.next("hook-audit")).level, "verbose");
  await first.next("hook-subscribe");
  first.send({type: "hook-audit", at: "2026", kind: "registered", hook: "guard"});
  first.send({type: "hook-started", correlationId: "c", eventName: "BeforeTool", hook: {}});
  await client.listHooks();
  first.drop();
  const second = await server.connection();
  await Promise.all([second.next("hook-audit"), second.next("hook-subscribe")]);
  second.send({type: "hook-audit", at: "2027", kind: "blocked"});
  await wasHeard;
  assert.deepEqual(entries, [{at: "2026", kind: "registered", hook: "guard"}, {at: "2027", kind: "blocked"}]);
}));

test("a server that is none is an error", async () => {
  const evil = (script) => new A3sClient({transport: "stdio", command: ["node", "-e", script], helloTimeoutMs: 60_000, onProblem: () => {}});
  for (const [script, code, why] of [
    ["console.log('Welcome!')", "no_server", /no hook server/],
    ["process.exit(7)", "no_server", /exit code 7/],
    [`console.log('{"type":"hook-hello","protocol":9}')`, "refused", /protocol 9, this is 1/],
    [`console.log('{"type":"hook-refused","message":"64 clients already"}')`, "refused", /64 clients already/],
  ]) {
    const client = evil(script);
    await assert.rejects(client.connect(), (error) => {
      assert.ok(error instanceof HookConnectionError);
      assert.equal(error.code, code);
      assert.match(error.message, why);
      return true;
    });
    await client.close();
  }
  const silent = new A3sClient({transport: "stdio", command: ["node", "-e", "process.stdin.resume()"], helloTimeoutMs: 1});
  await assert.rejects(silent.connect(), /did not greet within 1 ms/);
  await silent.close();
  const never = new A3sClient({transport: "stdio", command: ["node", "-e", "process.stdin.resume()"], reconnect: false});
  const connecting = never.connect();
  await Promise.all([assert.rejects(connecting, {code: "closed"}), never.close()]);
  const none = new A3sClient({transport: "stdio", command: ["/no/such/program"]});
  await assert.rejects(none.connect(), /cannot be run/);
  await none.close();
});

test("a server's place is that of the project's real path", () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "hook-sdk-")));
  try {
    const inner = join(folder, "src/deep");
    mkdirSync(inner, {recursive: true});
    mkdirSync(join(folder, ".hooks"));
    writeFileSync(join(folder, ".hooks/settings.json"), "{}");
    assert.equal(nearestProject(inner), folder);
    // The root of a repository ends nothing, as for the engine.
    writeFileSync(join(folder, "src/.git"), "gitdir: elsewhere");
    assert.equal(nearestProject(inner), folder);
    // Rules and packs are hooks, too.
    mkdirSync(join(folder, "src/.hooks/rules"), {recursive: true});
    writeFileSync(join(folder, "src/.hooks/rules/team.toml"), "");
    assert.equal(nearestProject(inner), join(folder, "src"));
    mkdirSync(join(inner, ".hooks"));
    writeFileSync(join(inner, ".hooks/packs.lock"), "{}");
    assert.equal(nearestProject(inner), inner);
    const name = `${createHash("sha256").update(folder).digest("hex").slice(0, 16)}.sock`;
    assert.equal(socketOf(`${folder}/src/..`, {XDG_RUNTIME_DIR: "/run/user/1"}), `/run/user/1/hook/${name}`);
    assert.equal(socketOf(folder, {XDG_RUNTIME_DIR: "relative", XDG_STATE_HOME: "/state"}), `/state/hook/run/${name}`);
    assert.equal(socketOf(folder, {HOME: "/home/me"}), `/home/me/.local/state/hook/run/${name}`);
    assert.equal(socketOf(folder, {}), undefined);
    assert.equal(socketOf(join(folder, "none"), {HOME: "/home/me"}), undefined);
  } finally {
    rmSync(folder, {recursive: true});
  }
});

test("importing the package does nothing, and a client that was not used leaves nothing", () => {
  const script = 'import {A3sClient} from "hook-sdk"; new A3sClient(); console.log("free")';
  const said = execFileSync("node", ["--input-type=module", "-e", script], {cwd: new URL("..", import.meta.url), encoding: "utf8"});
  assert.equal(said, "free\n");
});
