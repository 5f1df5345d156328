// Against the engine itself.

import assert from "node:assert/strict";
import {spawn} from "node:child_process";
import {once} from "node:events";
import {mkdirSync, writeFileSync} from "node:fs";
import {createConnection, createServer} from "node:net";
import {dirname, join} from "node:path";
import {createInterface} from "node:readline";

import {A3sClient, HookClient} from "hook-sdk";

import {nearestProject, socketOf} from "../dist/link/place.js";
import {engine, hook} from "./project.mjs";

const shell = (command) => ({tool_name: "run_shell_command", tool_input: {command}});

engine("requests are answered by a server of one's own, and by one on a socket", {
  BeforeTool: [{matcher: "write_file", hooks: [{type: "command", name: "guard", command: "echo no >&2; exit 2"}]}],
}, async (project) => {
  const call = {tool_name: "write_file", tool_input: {path: "a"}};
  const check = async (client) => {
    const progress = [];
    client.subscribe(({type}) => progress.push(type));
    const fired = await client.fire("BeforeTool", call);
    assert.deepEqual([fired.decision, fired.reason], ["block", "no"]);
    assert.deepEqual(progress, ["hook-started", "hook-finished"]);
    assert.equal((await client.reload()).totalHooks, 1);
    await client.close();
  };
  const command = [hook, "serve", "--stdio", "--settings", "settings.json"];
  await check(new A3sClient({transport: "stdio", command, project: project.folder}));
  await project.serve((socket) => check(new A3sClient({socket})));
});

engine("from a subfolder the project's own server is found, as the engine finds it", {}, async (project) => {
  const cwd = process.cwd();
  const places = ["HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME"];
  const before = {...process.env};
  for (const name of places) delete process.env[name];
  process.env.HOME = project.environment.HOME;
  const cases = [["modules/quiet.mjs", true], ["settings.json", true], ["pre/x", true], ["post/x", true], ["other/x", false], ["modules/", false]];
  for (const [index, [made, isProject]] of cases.entries()) {
    const outer = join(project.folder, `p${index}`);
    const there = join(outer, "project");
    const inner = join(there, "src/deep");
    mkdirSync(inner, {recursive: true});
    mkdirSync(join(outer, ".hooks"));
    writeFileSync(join(outer, ".hooks/settings.json"), "{}");
    const path = join(there, ".hooks", made);
    mkdirSync(dirname(path), {recursive: true});
    if (made.endsWith("/")) mkdirSync(path, {recursive: true});
    else writeFileSync(path, "{}");
    const server = spawn(hook, ["serve", "--socket"], {cwd: inner, env: project.environment, stdio: ["ignore", "ignore", "pipe"]});
    const ended = once(server, "close");
    try {
      const listens = await new Promise((resolve, reject) => {
        const lines = createInterface({input: server.stderr});
        lines.on("line", (line) => line.includes("listening on") && resolve(line));
        lines.on("close", () => reject(new Error("the server has ended")));
      });
      const expected = socketOf(isProject ? there : outer, project.environment);
      assert.ok(listens.includes(expected), `${made}: ${listens}`);
      process.chdir(inner);
      assert.equal(socketOf(nearestProject(inner, project.environment), project.environment), expected, made);
      const client = new A3sClient({transport: "socket"});
      await client.ready(client.registerHook("PreToolUse", () => ({action: "block", reason: "found"})));
      const asker = new A3sClient({socket: expected});
      assert.equal((await asker.fire("BeforeTool", shell("ls"))).reason, "found");
      await Promise.all([client.close(), asker.close()]);
    } finally {
      process.chdir(cwd);
      server.kill();
      await ended;
    }
  }
  Object.assign(process.env, before);
});

/** A socket in front of a server's, whose connections can be lost. */
async function withProxy(socket, during) {
  const path = `${socket}-proxy`;
  const pairs = new Set();
  const proxy = createServer((near) => {
    const pair = [near, createConnection(socket)];
    pairs.add(pair);
    for (const [one, other] of [pair, [...pair].reverse()]) {
      one.on("error", () => {}).pipe(other);
      one.on("close", () => other.destroy());
    }
  });
  await once(proxy.listen(path), "listening");
  const lose = () => {
    for (const pair of pairs) for (const stream of pair) stream.destroy();
    pairs.clear();
  };
  try {
    await during(path, lose);
  } finally {
    lose();
    proxy.close();
    await once(proxy, "close");
  }
}

engine("a registered guard decides on another client's requests, until it is taken away", {}, async (project) => {
  await project.serve(async (socket) => {
    const guard = new A3sClient({socket, onProblem: () => {}});
    const agent = new A3sClient({socket, hostServices: {
      "ui.confirm": ({title}) => title === "Really?",
      "tool.execute": ({tool, args}) => `${tool} ${args.command}`,
    }});
    const id = guard.registerHook("PreToolUse", {
      matcher: {tool: "Bash"}, config: {failBehavior: "block", priority: 10, timeout: 20_000},
      handler: async (event, context) => {
        switch (event.args.command) {
          case "sudo": return {action: "block", reason: `not by ${event.tool}`};
          case "throw": throw new Error("broken");
          case "none": return {action: "allow"};
          case "NaN": return {action: "continue", modified: {args: {value: NaN}}};
          case "ask": return {action: "block", reason: `${await context.confirm({title: "Really?", message: "m"})}`};
          case "run": return {action: "block", reason: await guard.executeTool(event.sessionId, "Bash", {command: "ls"})};
          default: return {action: "continue", modified: {args: {command: "ls -l"}}};
        }
      },
    });
    await guard.ready(id);
    const reason = async (command) => (await agent.fire("BeforeTool", shell(command))).reason;
    assert.equal(await reason("sudo"), "not by Bash");
    assert.match(await reason("throw"), /Error: broken/);
    assert.match(await reason("none"), /one of continue, block, retry and skip/);
    assert.match(await reason("NaN"), /NaN/);
    assert.equal(await reason("ask"), "true");
    assert.equal(await reason("run"), "run_shell_command ls");
    const changed = await agent.fire("BeforeTool", shell("ls"));
    assert.deepEqual([changed.decision, changed.modified?.tool_input], ["proceed", {command: "ls -l"}], JSON.stringify(changed));
    const listed = (await guard.listHooks()).find(({hookId}) => hookId === id);
    assert.deepEqual([listed.own, listed.eventName, listed.vocabulary], [true, "PreToolUse", "a3s"]);
    assert.deepEqual((await agent.listHooks()).map(({own}) => own), [false]);
    await guard.unregisterHook(id);
    assert.equal((await agent.fire("BeforeTool", shell("sudo"))).decision, "proceed");
    await assert.rejects(guard.ready(guard.registerHook("NoSuchEvent", () => {})), {code: "unsupported_event"});
    const many = Array.from({length: 11}, () => guard.registerHook("PostCompact", () => {}));
    const outcomes = await Promise.allSettled(many.map((id) => guard.ready(id)));
    assert.deepEqual(outcomes.map(({reason}) => reason?.code), [...Array(10).fill(undefined), "limit_exceeded"]);
    await guard.close();
    assert.deepEqual(await agent.listHooks(), []);
    await agent.close();
  });
});

engine("a matcher or a configuration that means nothing is refused", {}, (project) => project.serve(async (socket) => {
  const client = new HookClient({socket, onProblem: () => {}});
  for (const wrong of [
    {matcher: 7}, {matcher: {path_pattern: "*"}}, {matcher: {tool: []}}, {matcher: {commandPattern: ["a"]}},
    {config: 7}, {config: {failBehaviour: "block"}}, {config: {timeout: 0}}, {config: {priority: 1.5}}, {config: {failBehavior: "ask"}},
  ]) {
    const id = client.registerHook("BeforeTool", {...wrong, handler: () => {}});
    await assert.rejects(client.ready(id), {name: "HookRegistrationError"}, JSON.stringify(wrong));
  }
  assert.deepEqual(await client.listHooks(), []);
  await client.close();
}));

engine("a client that was lost gets its hooks and the calls that wait for it back", {}, async (project) => {
  await project.serve((socket) => withProxy(socket, async (path, lose) => {
    const guard = new A3sClient({socket: path, reconnect: {initialMs: 1}, onProblem: () => {}});
    const agent = new A3sClient({socket});
    let called;
    let release;
    let count = 0;
    const wasCalled = new Promise((resolve) => (called = resolve));
    const id = guard.registerHook("PreToolUse", {
      config: {failBehavior: "block", timeout: 60_000},
      handler: () => {
        count++;
        called();
        return new Promise((resolve) => (release = resolve));
      },
    });
    await guard.ready(id);
    const fired = agent.fire("BeforeTool", shell("ls"));
    await wasCalled;
    lose();
    release({action: "block", reason: "answered while away"});
    assert.equal((await fired).reason, "answered while away");
    assert.equal(count, 1);
    const {own} = (await guard.listHooks()).find(({hookId}) => hookId === id);
    assert.equal(own, true);
    await guard.close();
    await agent.close();
  }));
});
