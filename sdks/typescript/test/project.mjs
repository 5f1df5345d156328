// Projects with a server of the engine itself: HOOK_BINARY names the `hook` command.

import {spawn, spawnSync} from "node:child_process";
import {EventEmitter, once} from "node:events";
import {cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {createInterface} from "node:readline";
import {test} from "node:test";
import {fileURLToPath} from "node:url";

export const EXAMPLES = fileURLToPath(new URL("../../../docs/examples/sdk/typescript/", import.meta.url));

export const hook = process.env.HOOK_BINARY;
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
    cpSync(join(EXAMPLES, name), join(this.folder, name));
  }

  /** Runs an example with a server on that socket, and ends it after the test as a service is; gives how it ended. */
  async play(name, socket, during, environment = {}) {
    this.example(name);
    const program = spawn("node", [name], {
      cwd: this.folder, env: {...this.environment, ...environment, HOOK_SOCKET: socket}, stdio: ["ignore", "pipe", "pipe"],
    });
    const said = {stdout: "", stderr: ""};
    const heard = new EventEmitter();
    for (const stream of ["stdout", "stderr"]) {
      program[stream].on("data", (chunk) => {
        said[stream] += chunk;
        heard.emit("more");
      });
    }
    const ended = once(program, "close");
    ended.then(() => heard.emit("more"));
    /** Waits until it has said something like this. */
    const says = async (stream, pattern) => {
      while (!pattern.test(said[stream])) {
        if (program.exitCode !== null || program.signalCode !== null) throw new Error(`it ended: ${JSON.stringify(said)}`);
        await once(heard, "more");
      }
    };
    try {
      await during({said, says, ended});
    } finally {
      program.kill();
      await ended;
    }
    return ended;
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

/** A test of the engine, in a project with these hooks. */
export const engine = (name, hooks, during) => test(name, {skip}, async (t) => {
  const project = new Project(hooks);
  try {
    await during(project, t);
  } finally {
    project.remove();
  }
});
