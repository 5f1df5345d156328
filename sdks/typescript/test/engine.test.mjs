// Against the engine itself: HOOK_BINARY names the `hook` command.

import assert from "node:assert/strict";
import {spawn, spawnSync} from "node:child_process";
import {once} from "node:events";
import {cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync} from "node:fs";
import {createConnection, createServer} from "node:net";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {createInterface} from "node:readline";
import {test} from "node:test";
import {fileURLToPath} from "node:url";

import {A3sClient} from "hook-sdk";

const hook = process.env.HOOK_BINARY;
const skip = hook ? false : "HOOK_BINARY does not name the `hook` command";
if (skip) console.error(`SKIPPED the tests against the engine: ${skip}`);

/** A project with a private home, whose settings are named. */
class Project {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "hook-sdk-")));
  environment = {PATH: process.env.PATH, HOME: join(this.folder, "home")};

  constructor(hooks) {
    mkdirSync(join(this.folder, "node_modules"), {recursive: true});
    mkdirSync(this.environment.HOME);
    symlinkSync(fileURLToPath(new URL("..", import.meta.url)), join(this.folder, "node_modules/hook-sdk"));
    writeFileSync(join(this.folder, "settings.json"), JSON.stringify({hooks}));
  }

  example(name) {
    const from = new URL(`../../../docs/examples/sdk/typescript/${name}`, import.meta.url);
    cpSync(fileURLToPath(from), join(this.folder, name));
  }

  run(...args) {
    return spawnSync(hook, args, {cwd: this.folder, env: this.environment, encoding: "utf8"});
  }

  /** A server on a socket, which is ended after the test. */
  async serve(during) {
    const socket = join(this.folder, "run/s");
    const args = ["serve", "--socket", socket, "--settings", "settings.json"];
    const server = spawn(hook, args, {cwd: this.folder, env: this.environment, stdio: ["ignore", "ignore", "pipe"]});
    const ended = once(server, "close");
    try {
      const lines = createInterface({input: server.stderr});
      await new Promise((resolve, reject) => {
        lines.on("line", (line) => line.includes("listening on") && resolve());
        lines.on("close", () => reject(new Error("the server has ended")));
      });
      await during(socket);
    } finally {
      server.kill();
      await ended;
    }
  }

  remove() {
    rmSync(this.folder, {recursive: true});
  }
}

const engine = (name, hooks, during) => test(name, {skip}, async (t) => {
  const project = new Project(hooks);
  try {
    await during(project, t);
  } finally {
    project.remove();
  }
});

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

engine("the worker of the examples guards tool calls", {
  BeforeTool: [{matcher: "run_shell_command", hooks: [{type: "worker", command: "node worker-guard.mjs", name: "guard", failBehavior: "block"}]}],
}, (project) => {
  project.example("worker-guard.mjs");
  const fire = (command) => project.run("fire", "BeforeTool", "--settings", "settings.json", "--json", "--input", JSON.stringify(shell(command)));
  const refused = fire("sudo ls");
  const {processed, hooks} = JSON.parse(refused.stdout);
  assert.deepEqual([processed.decision, processed.reason, hooks[0].type], ["block", "not as root", "worker"], refused.stdout + refused.stderr);
  assert.equal(JSON.parse(fire("ls").stdout).processed.decision, "proceed");
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
    assert.equal(await reason("run"), "Bash ls");
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

for (const [name, call, expected] of [
  ["security-policy", ["BeforeTool", shell("rm -rf /")], /Blocked dangerous command/],
  ["env-guard", ["BeforeTool", {tool_name: "write_file", tool_input: {file_path: "a.env", content: "API_KEY=1"}}], /API keys/],
  ["fail-closed", ["BeforeTool", shell("sudo ls")], /not as root/],
  ["permission-escalation", ["PermissionRequest", shell("ls")], /User denied permission/],
]) {
  engine(`the example ${name} blocks`, {}, async (project) => {
    project.example(`${name}.mjs`);
    await project.serve(async (socket) => {
      const agent = new A3sClient({socket});
      const registered = new Promise((resolve) => agent.setHookAuditLevel("info", ({kind}) => kind === "registered" && resolve()));
      await agent.connect();
      const program = spawn("node", [`${name}.mjs`], {cwd: project.folder, env: {...project.environment, HOOK_SOCKET: socket}, stdio: "inherit"});
      try {
        await registered;
        const fired = await agent.fire(...call);
        assert.equal(fired.decision, "block", JSON.stringify(fired));
        assert.match(fired.reason, expected);
      } finally {
        program.kill();
        await once(program, "close");
        await agent.close();
      }
    });
  });
}

engine("the examples list-and-unregister and temporary-hook run to their end", {}, async (project) => {
  for (const name of ["list-and-unregister.mjs", "temporary-hook.mjs"]) project.example(name);
  await project.serve(async (socket) => {
    const run = async (name) => {
      const program = spawn("node", [name], {cwd: project.folder, env: {...project.environment, HOOK_SOCKET: socket}, stdio: ["ignore", "pipe", "inherit"]});
      let said = "";
      program.stdout.on("data", (chunk) => (said += chunk));
      assert.deepEqual(await once(program, "close"), [0, null]);
      return said;
    };
    assert.equal(await run("list-and-unregister.mjs"), "h-1 PreToolUse mine\ntaken back: true\nstill there: 0\n");
    assert.equal(await run("temporary-hook.mjs"), "inside: block\noutside: proceed\n");
  });
});
