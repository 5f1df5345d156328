#!/usr/bin/env node
// A client for `hook serve`, standard library only: copy it into your agent.
//
//   const hooks = await HookClient.overStdio(["hook", "serve", "--stdio"]);
//   const answer = await hooks.fire("BeforeTool", {tool_name: "write_file", tool_input: {}});
//   if (answer.decision !== "proceed") ...  // block, stop, or ask the user
//   await hooks.close();
//
// Run as a program it shows what the hooks of the example project say to a few tool calls:
//
//   hook_client.mjs --hook PATH/TO/hook        starts a server of its own
//   hook_client.mjs --socket PATH              asks a server that runs

import {spawn} from "node:child_process";
import {realpathSync} from "node:fs";
import {createConnection} from "node:net";
import {createInterface} from "node:readline";
import {fileURLToPath} from "node:url";
import {parseArgs} from "node:util";

/** The server is gone, or refused. */
export class HookError extends Error {}

/** One connection. Any number of requests may be under way; answers come as they are ready. */
export class HookClient {
  #writer;
  #end;
  #waiting = new Map();
  #reloads = [];
  #next = 0;
  #gone;

  /** Starts a server, which ends with this client. */
  static overStdio([command, ...args]) {
    const server = spawn(command, args, {stdio: ["pipe", "pipe", "inherit"]});
    const ended = new Promise((resolve) => server.on("close", (...how) => resolve(how)));
    return HookClient.#greeted(server.stdout, server.stdin, server, async () => {
      server.stdin.end();
      const [code, signal] = await ended;
      const how = signal ? `by ${signal}` : `with exit code ${code}`;
      return `: \`${command}\` ended ${how}; what it wrote to stderr says why`;
    });
  }

  /** Connects to a server that runs. */
  static overSocket(path) {
    const socket = createConnection(path);
    const ended = new Promise((resolve) => socket.on("close", resolve));
    return HookClient.#greeted(socket, socket, socket, async () => {
      socket.end();
      await ended;
      return "";
    });
  }

  static #greeted(reader, writer, source, end) {
    return new Promise((resolve, reject) => {
      const client = new HookClient();
      client.#writer = writer;
      client.#end = end;
      const failed = (error) => {
        client.#fail(new HookError(`the hook server is gone: ${error.message}`));
        reject(client.#gone);
      };
      source.on("error", failed);
      writer.on("error", failed);
      const lines = createInterface({input: reader, crlfDelay: Infinity});
      let greeted = false;
      lines.on("line", (line) => {
        let message = {};
        try {
          message = JSON.parse(line);
        } catch {
          if (greeted) return;
        }
        if (greeted) return client.#receive(message);
        greeted = true;
        if (message.type !== "hook-hello") {
          reject(new HookError(message.message ?? "there is no hook server"));
        } else if (message.protocol !== 1) {
          reject(new HookError(`the server speaks protocol ${message.protocol}, this is 1`));
        } else {
          return resolve(client);
        }
        end();
      });
      lines.on("error", failed);
      lines.on("close", async () => {
        if (!greeted) return reject(new HookError(`there is no hook server${await end()}`));
        failed(new Error("it ended before it answered"));
      });
    });
  }

  /**
   * Runs the hooks of an event and gives the processed result: `decision` is proceed, ask, block
   * or stop. Infrastructure that fails is no reason to stop an agent, so that is `proceed` with
   * `error` beside it, unless a hook was to block on failure.
   */
  async fire(event, payload, options) {
    const response = await this.request(event, payload, options);
    const result = response.processed ?? {decision: "proceed"};
    if (response.error) result.error = response.error;
    result.finalOutput = response.output?.finalOutput;
    return result;
  }

  /**
   * The whole response. An id of your own (`correlationId`) is for `cancel`; no two requests that
   * are under way may share one.
   */
  request(event, input, {deadlineMs, correlationId = `client-${this.#next++}`} = {}) {
    return new Promise((resolve, reject) => {
      if (this.#gone) return reject(this.#gone);
      if (this.#waiting.has(correlationId)) {
        return reject(new HookError(`a request ${correlationId} is under way`));
      }
      this.#waiting.set(correlationId, {resolve, reject});
      const type = "hook-execution-request";
      this.#send({type, eventName: event, input, correlationId, deadlineMs});
    });
  }

  /** Ends the hooks of a request. It is answered all the same, with the error `cancelled`. */
  cancel(correlationId) {
    if (!this.#gone) this.#send({type: "hook-cancel", correlationId});
  }

  /**
   * Has the server read its settings anew, and with them what is trusted. Gives its reply:
   * `success`, `totalHooks`, and in `warnings` what is wrong with the settings.
   */
  reload() {
    return new Promise((resolve, reject) => {
      if (this.#gone) return reject(this.#gone);
      // Replies come in the order of the questions.
      this.#reloads.push({resolve, reject});
      this.#send({type: "hook-reload"});
    });
  }

  /** Ends the connection once everything is answered. */
  async close() {
    await this.#end();
  }

  #send(message) {
    this.#writer.write(JSON.stringify(message) + "\n");
  }

  #receive(message) {
    if (message.type === "hook-reloaded") return this.#reloads.shift()?.resolve(message);
    if (message.type !== "hook-execution-response") return;
    this.#waiting.get(message.correlationId)?.resolve(message);
    this.#waiting.delete(message.correlationId);
  }

  #fail(error) {
    this.#gone ??= error;
    for (const {reject} of [...this.#waiting.values(), ...this.#reloads]) reject(this.#gone);
    this.#waiting.clear();
    this.#reloads = [];
  }
}

const USAGE = `usage: hook_client.mjs [-h] [--hook HOOK] [--socket SOCKET]

A client for \`hook serve\`, standard library only: copy it into your agent.

options:
  -h, --help       show this help message and exit
  --hook HOOK      the hook command
  --socket SOCKET  the socket of a server that runs`;

const CALLS = [
  ["read_file", {file_path: "README.md"}],
  ["run_shell_command", {command: "sudo rm -rf /"}],
  ["write_file", {file_path: "./notes//a/../plan.txt", content: "x"}],
  ["write_file", {file_path: "/etc/motd", content: "x"}],
];

async function main() {
  const example = fileURLToPath(new URL("../agent-session", import.meta.url));
  const {values} = parseArgs({
    options: {
      hook: {type: "string", default: "hook"},
      socket: {type: "string"},
      help: {type: "boolean", short: "h"},
    },
  });
  if (values.help) return console.log(USAGE);
  const serve = [values.hook, "serve", "--stdio", "--project", example];
  serve.push("--settings", `${example}/.hooks/settings.json`);
  const hooks = values.socket
    ? await HookClient.overSocket(values.socket)
    : await HookClient.overStdio(serve);
  for (const [tool_name, tool_input] of CALLS) {
    const answer = await hooks.fire("BeforeTool", {tool_name, tool_input});
    console.log(`${tool_name}: ${answer.decision}` + (answer.reason ? ` (${answer.reason})` : ""));
  }
  await hooks.close();
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  main().catch((error) => {
    console.error(`hook_client: ${error.message}`);
    process.exitCode = 1;
  });
}
