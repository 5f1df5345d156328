// What a tool call costs with its hooks, beside the same guard in a library's own way. By turns: one round of each after the
// other, so that the machine's moods reach all of them.
//
//   HOOK_BINARY=… node bench/turns.mjs [ROUNDS]

import {spawn} from "node:child_process";
import {once} from "node:events";
import {mkdtempSync, rmSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {text} from "node:stream/consumers";
import {fileURLToPath} from "node:url";

import {AIMessage, HumanMessage, ToolMessage} from "@langchain/core/messages";
import {HookClient, executeTool} from "hook-sdk";
import {claudeHooks} from "hook-sdk/claude-agent-sdk";
import {hookMiddleware} from "hook-sdk/langchain";
import {FakeToolCallingModel, createAgent, createMiddleware, tool} from "langchain";

const ROUNDS = Number(process.argv[2] ?? 20);
const CALLS = 20;
const GUARD = `read input; case "$input" in *'rm -rf'*) echo no >&2; exit 2;; esac`;
const CALL = {tool_name: "run_shell_command", tool_input: {command: "ls"}};
const folder = mkdtempSync(join(tmpdir(), "hook-bench-"));

/** A client of a server of its own, with these hooks. */
async function asker(hooks) {
  const settings = join(folder, `${Math.random()}.json`);
  writeFileSync(settings, JSON.stringify({hooks}));
  const command = [process.env.HOOK_BINARY ?? "hook", "serve", "--stdio", "--settings", settings];
  const client = new HookClient({transport: "stdio", command, onProblem: () => {}});
  await client.connect();
  return client;
}

const refuses = ({tool_input}) => (String(tool_input.command).includes("rm -rf") ? {decision: "deny", reason: "no"} : undefined);
const one = (hook) => ({BeforeTool: [{hooks: [{failBehavior: "block", ...hook}]}]});
const worker = join(folder, "worker.mjs");
writeFileSync(worker, `
  import {worker} from ${JSON.stringify(fileURLToPath(new URL("../dist/index.js", import.meta.url)))};
  worker.on("BeforeTool", ${refuses});
  worker.serve({declare: false});
`);

/** An agent of LangChain whose model calls the tool so often, one after the other. */
async function agent(middleware) {
  let left = 0;
  const model = new (class extends FakeToolCallingModel {
    async _generate() {
      const message = left-- > 0 ? new AIMessage({content: "", tool_calls: [{id: `${left}`, name: CALL.tool_name, args: CALL.tool_input}]}) : new AIMessage("done");
      return {generations: [{text: "", message}]};
    }
    bindTools() {
      return this;
    }
  })({});
  const tools = [tool(() => "ran", {name: CALL.tool_name, description: "d", schema: {type: "object", properties: {}}})];
  const made = createAgent({model, tools, middleware});
  return async () => {
    left = CALLS;
    await made.invoke({messages: [new HumanMessage("p")]}, {recursionLimit: 1000});
  };
}

/** The same guard by a process that the agent starts itself: why it refuses. */
async function refusedBy(args) {
  const child = spawn("sh", ["-c", GUARD], {stdio: ["pipe", "ignore", "pipe"]});
  child.stdin.end(`${JSON.stringify(args)}\n`);
  const [why, [code]] = await Promise.all([text(child.stderr), once(child, "close")]);
  return code === 2 ? why : undefined;
}

const subprocess = createMiddleware({
  name: "Subprocess",
  wrapToolCall: async (request, handler) => {
    const why = await refusedBy(request.toolCall.args);
    return why === undefined ? handler(request) : new ToolMessage({content: why, tool_call_id: request.toolCall.id ?? ""});
  },
});

/** A callback of the Claude Agent SDK, called as the SDK does: with an id for each call, since hooks are asked once about one. */
const CLAUDE = {hook_event_name: "PreToolUse", session_id: "s", transcript_path: "", cwd: "/", tool_name: "Bash", tool_input: {command: "ls"}};
let claudeCalls = 0;
const callback = (client) => {
  const [{hooks: [ask]}] = claudeHooks(client).PreToolUse;
  return calls(client, () => {
    const tool_use_id = `call-${claudeCalls++}`;
    return ask({...CLAUDE, tool_use_id}, tool_use_id, {signal: new AbortController().signal});
  });
};

const calls = (client, call) => async () => {
  for (let n = 0; n < CALLS; n++) await call(client);
};
const execute = (client) => executeTool(client, CALL, () => "ran");
const bare = await asker({});
const process_ = await asker(one({type: "command", command: GUARD}));
const socketed = async () => {
  const socket = join(folder, "s");
  const server = spawn(process.env.HOOK_BINARY ?? "hook", ["serve", "--socket", socket, "--settings", join(folder, "none.json")], {stdio: ["ignore", "ignore", "pipe"]});
  writeFileSync(join(folder, "none.json"), "{}");
  while (!String((await once(server.stderr, "data"))[0]).includes("listening"));
  server.stderr.resume();
  const client = new HookClient({socket, onProblem: () => {}});
  await client.ready(client.registerHook("BeforeTool", {config: {failBehavior: "block"}, handler: refuses}));
  return {client, server};
};
const {client: registered, server} = await socketed();
const working = await asker(one({type: "worker", command: `node ${worker}`}));
const inChain = await asker(one({type: "command", command: GUARD}));
const workerInChain = await asker(one({type: "worker", command: `node ${worker}`}));

const variants = {
  "`fire`, no hook": calls(bare, (client) => client.fire("BeforeTool", CALL)),
  "`executeTool`, no hook": calls(bare, execute),
  "`executeTool`, one handler in this process": calls(registered, execute),
  "`executeTool`, one worker": calls(working, execute),
  "`executeTool`, one process": calls(process_, execute),
  "Claude Agent SDK, callback of `claudeHooks`, one worker": callback(working),
  "Claude Agent SDK, callback of `claudeHooks`, one process": callback(process_),
  "Claude Agent SDK, callback that calls one process": calls(undefined, () => refusedBy(CLAUDE.tool_input)),
  "LangChain, no guard": await agent([]),
  "LangChain, `hookMiddleware`, one worker": await agent([hookMiddleware(workerInChain)]),
  "LangChain, `hookMiddleware`, one process": await agent([hookMiddleware(inChain)]),
  "LangChain, middleware that calls one process": await agent([subprocess]),
};
const times = Object.fromEntries(Object.keys(variants).map((name) => [name, []]));
for (let round = -2; round < ROUNDS; round++) {
  for (const [name, run] of Object.entries(variants)) {
    const start = performance.now();
    await run();
    if (round >= 0) times[name].push((performance.now() - start) / CALLS);
  }
}
console.log("| a tool call | ms, median | 10th to 90th percentile |\n| --- | --- | --- |");
for (const [name, all] of Object.entries(times)) {
  all.sort((a, b) => a - b);
  const at = (part) => all[Math.min(all.length - 1, Math.floor(part * all.length))].toFixed(2);
  console.log(`| ${name} | ${at(0.5)} | ${at(0.1)} to ${at(0.9)} |`);
}
for (const client of [bare, process_, registered, working, inChain, workerInChain]) await client.close();
server.kill();
rmSync(folder, {recursive: true});
