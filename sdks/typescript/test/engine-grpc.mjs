// Over gRPC against the engine itself, in a build that has it: with the feature `remote`. `npm test` does not find this
// file, since most builds have no gRPC: `cargo test -p hook-cli --features remote --test sdks` runs it.

import assert from "node:assert/strict";
import {spawn} from "node:child_process";
import {once} from "node:events";
import {readFileSync} from "node:fs";
import {createConnection, createServer} from "node:net";
import {join} from "node:path";
import {createInterface} from "node:readline";

import {A3sClient} from "hook-sdk";

import {engine, hook} from "./project.mjs";

const shell = (command) => ({tool_name: "run_shell_command", tool_input: {command}});

/** A server over gRPC, for as long as a test. */
async function withServer(project, kind, during) {
  const place = kind === "unix" ? `unix:${join(project.folder, "g")}` : "127.0.0.1:0";
  const tokenFile = join(project.folder, "token");
  const args = ["serve", "--grpc", place, "--settings", "settings.json", "--grpc-token-file", tokenFile];
  const server = spawn(hook, args, {cwd: project.folder, env: project.environment, stdio: ["ignore", "ignore", "pipe"]});
  const ended = once(server, "close");
  try {
    const said = [];
    // Of the file with the token it speaks after the place.
    const last = kind === "unix" ? "listening for gRPC on" : tokenFile;
    const lines = createInterface({input: server.stderr});
    await new Promise((resolve, reject) => {
      lines.on("line", (line) => {
        said.push(line);
        if (line.includes(last)) resolve();
      });
      lines.on("close", () => reject(new Error(`the server has ended: ${said.join("\n")}`)));
    });
    const address = said.find((line) => line.includes("listening for gRPC on")).split(" ").at(-1);
    const token = kind === "unix" ? undefined : readFileSync(tokenFile, "utf8").trim();
    await during({address, token});
  } finally {
    server.kill();
    await ended;
  }
}

const client = ({address, token}, options = {}) =>
  new A3sClient({transport: "grpc", grpc: {address, token}, onProblem: () => {}, ...options});

/** Something in front of a server, whose connections can be lost. */
async function withProxy(project, address, during) {
  const isUnix = address.startsWith("unix:");
  const path = join(project.folder, "proxy");
  const connect = () => {
    if (isUnix) return createConnection(address.slice("unix:".length));
    const [host, port] = address.split(":");
    return createConnection(Number(port), host);
  };
  const pairs = new Set();
  const proxy = createServer((near) => {
    const pair = [near, connect()];
    pairs.add(pair);
    for (const [one, other] of [pair, [...pair].reverse()]) {
      one.on("error", () => {}).pipe(other);
      one.on("close", () => other.destroy());
    }
  });
  await once(isUnix ? proxy.listen(path) : proxy.listen(0, "127.0.0.1"), "listening");
  const lose = () => {
    for (const pair of pairs) for (const stream of pair) stream.destroy();
    pairs.clear();
  };
  try {
    await during(isUnix ? `unix:${path}` : `127.0.0.1:${proxy.address().port}`, lose);
  } finally {
    lose();
    proxy.close();
    await once(proxy, "close");
  }
}

for (const kind of ["unix", "tcp"]) {
  engine(`over gRPC (${kind}) a guard decides on what another client asks`, {}, async (project) => {
    await withServer(project, kind, async (server) => {
      const guard = client(server);
      const agent = client(server);
      const id = guard.registerHook("PreToolUse", {
        matcher: {tool: "Bash"}, config: {failBehavior: "block", timeout: 20_000},
        handler: (event) => event.args.command === "sudo"
          ? {action: "block", reason: `not by ${event.tool}`}
          : {action: "continue", modified: {args: {command: "ls -l"}}},
      });
      await guard.ready(id);
      assert.equal((await agent.fire("BeforeTool", shell("sudo"))).reason, "not by Bash");
      const changed = await agent.fire("BeforeTool", shell("ls"));
      assert.deepEqual([changed.decision, changed.modified?.tool_input], ["proceed", {command: "ls -l"}]);
      assert.deepEqual((await guard.listHooks()).map(({own}) => own), [true]);
      assert.deepEqual((await agent.listHooks()).map(({own}) => own), [false]);
      await guard.unregisterHook(id);
      assert.equal((await agent.fire("BeforeTool", shell("sudo"))).decision, "proceed");
      await guard.close();
      await agent.close();
    });
  });

  engine(`over gRPC (${kind}) who comes back with the token gets the hooks and the calls that wait back`, {}, async (project) => {
    await withServer(project, kind, (server) => withProxy(project, server.address, async (address, lose) => {
      const guard = client({...server, address}, {reconnect: {initialMs: 1}});
      const agent = client(server);
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
      assert.deepEqual((await guard.listHooks()).map(({hookId, own}) => [hookId, own]), [[id, true]]);
      await guard.close();
      await agent.close();
    }));
  });
}

engine("over TCP nobody is served without the token", {}, async (project) => {
  await withServer(project, "tcp", async ({address}) => {
    for (const token of [undefined, "not-the-token"]) {
      const stranger = client({address, token});
      await assert.rejects(stranger.fire("BeforeTool", shell("ls")));
      await stranger.close();
    }
  });
});
