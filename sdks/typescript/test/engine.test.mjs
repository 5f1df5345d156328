// Against the engine itself: HOOK_BINARY names the `hook` command.

import assert from "node:assert/strict";
import {spawn, spawnSync} from "node:child_process";
import {once} from "node:events";
import {cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync} from "node:fs";
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

/** A client, or `undefined` where the server takes no registrations yet. */
async function registering(t, socket) {
  const client = new A3sClient({socket, onProblem: () => {}});
  try {
    await client.ready(client.registerHook("PostCompact", () => {}));
    return client;
  } catch (error) {
    await client.close();
    if (error.code !== "invalid_request") throw error;
    console.error("SKIPPED registered hooks: this `hook serve` takes none");
    t.skip("this `hook serve` takes no registrations");
    return undefined;
  }
}

engine("a registered guard decides on another client's requests, over a loss, until it is closed", {}, async (project, t) => {
  await project.serve(async (socket) => {
    const guard = await registering(t, socket);
    if (!guard) return;
    const agent = new A3sClient({socket, hostServices: {"ui.confirm": ({title}) => title === "Really?"}});
    const id = guard.registerHook("PreToolUse", {
      matcher: {tool: "Bash"}, config: {failBehavior: "block"},
      handler: async (event, context) => {
        const {command} = event.args;
        if (command === "sudo") return {action: "block", reason: `not in ${event.context.workingDirectory !== ""}`};
        if (command === "throw") throw new Error("broken");
        if (command === "ask") return {action: "block", reason: `confirmed: ${await context.confirm({title: "Really?", message: "m"})}`};
        return {action: "continue", modified: {args: {command: "ls -l"}}};
      },
    });
    await guard.ready(id);
    assert.deepEqual((await guard.listHooks()).find(({hookId}) => hookId === id).own, true);
    assert.equal((await agent.fire("BeforeTool", shell("sudo"))).reason, "not in true");
    assert.match((await agent.fire("BeforeTool", shell("throw"))).reason, /broken/);
    assert.equal((await agent.fire("BeforeTool", shell("ask"))).reason, "confirmed: true");
    const changed = await agent.fire("BeforeTool", shell("ls"));
    assert.deepEqual([changed.decision, changed.modified.tool_input], ["proceed", {command: "ls -l"}]);
    await guard.unregisterHook(id);
    assert.equal((await agent.fire("BeforeTool", shell("sudo"))).decision, "proceed");
    await guard.close();
    await agent.close();
  });
});
