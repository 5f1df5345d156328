#!/usr/bin/env node
// A client for `hook serve`, standard library only: copy it into your agent.
//
//   const hooks = await HookClient.overStdio(["hook", "serve", "--stdio"]);
//   const answer = await hooks.fire("BeforeTool", {tool_name: "write_file", tool_input: {}});
//   if (answer.decision !== "proceed") ...  // block, stop, or ask the user
//   await hooks.close();
//
// No answer is never taken for `proceed`: every call that cannot be answered rejects with HookError.
//
// Run as a program it shows what the hooks of the example project answer to a few tool calls:
//
//   hook_client.mjs --hook PATH/TO/hook        starts a server of its own
//   hook_client.mjs --socket PATH              asks a server that is running

import {spawn} from "node:child_process";
import {realpathSync} from "node:fs";
import {createConnection} from "node:net";
import {fileURLToPath} from "node:url";
import {parseArgs} from "node:util";

const MAX_LINE = 64 * 2 ** 20; // What the server reads as one line, in bytes.
const MAX_ANSWER = 256 * 2 ** 20; // A server that sends more without a line end is broken.

/** There is no answer: the server is gone, refused, or sent something that is no message. */
export class HookError extends Error {}

/** One connection. Any number of requests may be in flight; answers come as they are ready. */
export class HookClient {
  /** Called with a text for problems that belong to no call. */
  onProblem = (problem) => console.error(`hook_client: ${problem}`);
  #writer;
  #end;
  #waiting = new Map();
  #reloads = [];
  #next = 0;
  #progress;
  #gone;

  /** Starts a server, which ends with this client. */
  static overStdio([command, ...args], options) {
    const server = spawn(command, args, {stdio: ["pipe", "pipe", "inherit"]});
    const ended = new Promise((resolve) => server.on("close", (...how) => resolve(how)));
    return HookClient.#greeted(server.stdout, server.stdin, server, options, async () => {
      server.stdin.end();
      const late = setTimeout(() => server.kill("SIGKILL"), 10_000);
      const [code, signal] = await ended;
      clearTimeout(late);
      const how = signal ? `by ${signal}` : `with exit code ${code}`;
      return `: \`${command}\` ended ${how}; what it wrote to stderr says why`;
    });
  }

  /** Connects to a server that is running. */
  static overSocket(path, options) {
    const socket = createConnection(path);
    const ended = new Promise((resolve) => socket.on("close", resolve));
    return HookClient.#greeted(socket, socket, socket, options, async () => {
      socket.end();
      const late = setTimeout(() => socket.destroy(), 10_000);
      await ended;
      clearTimeout(late);
      return "";
    });
  }

  static #greeted(reader, writer, source, {helloTimeoutMs = 30_000} = {}, end) {
    return new Promise((resolve, reject) => {
      const client = new HookClient();
      client.#writer = writer;
      client.#end = end;
      const refuse = (why) => {
        clearTimeout(late);
        client.#fail(why);
        reject(client.#gone);
      };
      const late = setTimeout(() => {
        refuse(`the hook server did not greet within ${helloTimeoutMs} ms`);
        end();
      }, helloTimeoutMs);
      const failed = (error) => refuse(`the hook server is gone: ${error.message}`);
      for (const stream of new Set([source, reader, writer])) stream.on("error", failed);
      let greeted = false;
      const take = (line) => {
        if (greeted) return client.#take(line);
        greeted = true;
        clearTimeout(late);
        let hello = {};
        try {
          hello = readMessage(line);
        } catch {} // It is told below.
        if (hello.type === "hook-hello" && hello.protocol === 1) return resolve(client);
        if (hello.type !== "hook-hello") refuse(hello.message ?? "this is no hook server");
        else refuse(`the server speaks protocol ${hello.protocol}, this is 1`);
        end();
      };
      // Not by node:readline, which also ends lines at U+2028 and U+2029.
      let parts = [];
      let length = 0;
      reader.on("data", (chunk) => {
        let start = 0;
        for (let at; (at = chunk.indexOf(10, start)) >= 0; start = at + 1) {
          const line = Buffer.concat([...parts, chunk.subarray(start, at)]);
          [parts, length] = [[], 0];
          take(line);
        }
        parts.push(chunk.subarray(start));
        length += chunk.length - start;
        if (length > MAX_ANSWER) {
          failed(new Error("it sent a line without an end"));
          reader.destroy();
          end();
        }
      });
      reader.on("end", async () => {
        if (!greeted) return refuse(`there is no hook server${await end()}`);
        client.#fail(`the hook server ended ${length ? "in the middle of a line" : "before it answered"}`);
      });
    });
  }

  /**
   * Runs the hooks of an event and gives the processed result: `decision` is proceed, ask, retry,
   * block or stop; `warnings` are for the user. An event that failed in the server has `error`, and is
   * `proceed` only where no hook blocks on failure.
   */
  async fire(event, payload, options) {
    const {processed, error, output, warnings = []} = await this.request(event, payload, options);
    const result = processed ?? (error && {decision: "proceed"});
    if (typeof result?.decision !== "string") {
      throw new HookError(`the answer to ${event} has no decision`);
    }
    return {...result, ...(error && {error}), finalOutput: output?.finalOutput, warnings};
  }

  /**
   * The whole response. An id of your own (`correlationId`) is for `cancel`; no two requests in
   * flight may share one.
   */
  async request(event, input, {deadlineMs, correlationId = `client-${this.#next++}`} = {}) {
    // If this process is a hook itself: see protocol.md, section 6.
    const runToken = process.env.HOOK_RUN_TOKEN || undefined;
    const type = "hook-execution-request";
    const line = encode({type, eventName: event, input, correlationId, deadlineMs, runToken});
    if (this.#gone) throw this.#gone;
    if (this.#waiting.has(correlationId)) {
      throw new HookError(`a request ${correlationId} is in flight`);
    }
    return new Promise((resolve, reject) => {
      this.#waiting.set(correlationId, {resolve, reject});
      this.#writer.write(line);
    });
  }

  /** Calls `callback` with each hook-started and hook-finished message of this client's requests. */
  subscribe(callback) {
    this.#progress = callback;
    if (!this.#gone) this.#writer.write(encode({type: "hook-subscribe"}));
  }

  /** Ends the hooks of a request. It is answered all the same, with the error `cancelled`. */
  cancel(correlationId) {
    if (!this.#gone) this.#writer.write(encode({type: "hook-cancel", correlationId}));
  }

  /**
   * Makes the server read its settings again, and with them what is trusted. Gives its reply:
   * `success`, `totalHooks`, and in `warnings` what is wrong with the settings.
   */
  async reload() {
    if (this.#gone) throw this.#gone;
    return new Promise((resolve, reject) => {
      // Replies come in the order of the questions.
      this.#reloads.push({resolve, reject});
      this.#writer.write(encode({type: "hook-reload"}));
    });
  }

  /** Ends the connection once everything is answered. */
  async close() {
    await this.#end();
  }

  #take(line) {
    let message;
    try {
      message = readMessage(line);
    } catch (error) {
      return this.#takeBroken(line, `the server sent a line that is no message: ${error.message}`);
    }
    switch (message.type) {
      case "hook-execution-response": {
        const call = this.#waiting.get(message.correlationId);
        this.#waiting.delete(message.correlationId);
        if (call) call.resolve(message);
        else this.#tell("the server answered a request that nothing waits for");
        break;
      }
      case "hook-reloaded":
        this.#reloads.shift()?.resolve(message);
        break;
      case "hook-started":
      case "hook-finished":
        try {
          this.#progress?.(message);
        } catch (error) {
          this.#tell(`the callback given to subscribe failed: ${error}`);
        }
        break;
      case "hook-lagged":
        this.#tell(`progress was lost: ${message.missed} messages`);
        break;
      case "hook-refused":
        this.#fail(`the server refused: ${message.message}`);
    }
  }

  /**
   * Fails the call that the line answers, or where that cannot be known, all of them: none waits
   * for ever, and the next call is not affected.
   */
  #takeBroken(line, problem) {
    this.#tell(problem);
    const written = line.toString().matchAll(/"correlationId":"((?:[^"\\]|\\.)*)"/g);
    const ids = new Set([...written].map(([, id]) => id));
    const [id] = ids;
    const known = ids.size === 1 && this.#waiting.has(id) ? [id] : [...this.#waiting.keys()];
    const failed = known.map((id) => this.#waiting.get(id));
    for (const id of known) this.#waiting.delete(id);
    for (const {reject} of failed.length ? failed : this.#reloads.splice(0)) {
      reject(new HookError(problem));
    }
  }

  #tell(problem) {
    try {
      this.onProblem(problem);
    } catch {} // What the callback throws is not the client's.
  }

  #fail(why) {
    this.#gone ??= new HookError(why);
    for (const {reject} of [...this.#waiting.values(), ...this.#reloads]) reject(this.#gone);
    this.#waiting.clear();
    this.#reloads = [];
  }
}

/** One line of the server's. Throws for anything that is no message. */
function readMessage(line) {
  const message = JSON.parse(line.toString());
  if (typeof message?.type !== "string") throw new HookError("it has no type");
  if (typeof (message.correlationId ?? "") !== "string") throw new HookError("its id is no text");
  return message;
}

/** One line for the server. Throws for what has no JSON form, or is longer than the server reads. */
function encode(message) {
  let line;
  try {
    line = JSON.stringify(message, (key, value) => {
      // JSON.stringify would write null.
      if (typeof value === "number" && !Number.isFinite(value)) {
        throw new HookError(`${key || "a value"} is ${value}, which JSON cannot hold`);
      }
      return value;
    }) + "\n";
  } catch (error) {
    if (error instanceof HookError) throw error;
    throw new HookError(`the message cannot be written as JSON: ${error.message}`);
  }
  const length = Buffer.byteLength(line);
  if (length > MAX_LINE) {
    throw new HookError(`the message has ${length} bytes, the server reads ${MAX_LINE}`);
  }
  return line;
}

const USAGE = `usage: hook_client.mjs [-h] [--hook HOOK] [--socket SOCKET]

A client for \`hook serve\`, standard library only: copy it into your agent.

options:
  -h, --help       show this help message and exit
  --hook HOOK      the hook command
  --socket SOCKET  the socket of a server that is running`;

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
