// MCP clients, with a server of the real SDK and hooks of the engine itself.

import assert from "node:assert/strict";

import {Client} from "@modelcontextprotocol/sdk/client/index.js";
import {InMemoryTaskStore} from "@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js";
import {InMemoryTransport} from "@modelcontextprotocol/sdk/inMemory.js";
import {Server} from "@modelcontextprotocol/sdk/server/index.js";
import {McpServer} from "@modelcontextprotocol/sdk/server/mcp.js";
import {CallToolRequestSchema, CompatibilityCallToolResultSchema, ErrorCode, McpError} from "@modelcontextprotocol/sdk/types.js";
import {agentTurn} from "hook-sdk";
import {hookTransport} from "hook-sdk/mcp";
import {z} from "zod";

import {MISSPELT, NO_SECRET, TOOL_HOOKS, agent, losing} from "./agents.mjs";

/** A client of a server with these tools, whose calls are asked about. */
async function connected(hooks, tools, other = undefined) {
  const ran = [];
  const server = new McpServer({name: "weather", version: "1"});
  for (const name of tools) {
    const outputSchema = {city: z.string()};
    server.registerTool(name, {inputSchema: {city: z.any()}, ...(name === "commented" && {outputSchema})}, async ({city}, {signal}) => {
      ran.push(city);
      if (city === "slow") return new Promise((resolve) => signal.addEventListener("abort", () => resolve(ran.push("cancelled"))));
      if (city === "broken") throw new Error("disk full");
      other?.();
      return {content: [{type: "text", text: `sunny in ${city}`}], ...(name === "commented" && {structuredContent: {city}})};
    });
  }
  const [near, far] = InMemoryTransport.createLinkedPair();
  await server.connect(far);
  const client = new Client({name: "agent", version: "1"});
  await client.connect(hookTransport(hooks, near, {server_name: "weather", server_uri: "memory:"}));
  return {client, server, ran, call: (name, city = "Rome", options = undefined) => client.callTool({name, arguments: {city}}, undefined, options)};
}

const text = (text) => ({type: "text", text});

agent("every call of a tool is asked about, whatever the client asks otherwise", TOOL_HOOKS, async (hooks, {asked}) => {
  const {client, ran, call} = await connected(hooks, ["free", "denied", "asked", "rewritten", "commented", "replaced"]);
  assert.equal((await client.listTools()).tools.length, 6);
  assert.deepEqual(await call("free"), {content: [text("sunny in Rome")]});
  assert.deepEqual(await call("denied"), {content: [text("not that one")], isError: true});
  assert.deepEqual(await call("asked"), {content: [text("sunny in Rome")]});
  assert.deepEqual(await call("asked", "nowhere"), {content: [text("not confirmed: sure?")], isError: true});
  assert.deepEqual(await call("rewritten"), {content: [text("sunny in Oslo")]});
  assert.deepEqual(await call("commented"), {
    content: [text("sunny in Rome"), text("mind the gap")], structuredContent: {city: "Rome"}, isError: false,
  });
  assert.deepEqual(await call("replaced"), {content: [text("secret inside")], isError: true});
  assert.deepEqual(ran, ["Rome", "Rome", "Oslo", "Rome", "Rome"]);
  assert.deepEqual(asked, ["sure?", "sure?"]);
  await client.close();
});

agent("a guard of MCP servers sees which server it is", {BeforeTool: [{matcher: {kind: "mcp"}, hooks: [
  {type: "command", command: `grep -q '"server_name":"weather"' && echo '{"decision": "block", "reason": "not that server"}'`},
]}]}, async (hooks) => {
  const {client, call} = await connected(hooks, ["free"]);
  assert.deepEqual(await call("free"), {content: [text("not that server")], isError: true});
  await client.close();
});

agent("a stop refuses all calls from then on, is told from another error, and ends a turn", {
  ...TOOL_HOOKS, AfterAgent: [{hooks: [{type: "command", command: `echo '{"decision": "block", "reason": "do the rest"}'`}]}],
}, async (hooks) => {
  for (const scope of [hooks, await agentTurn(hooks, "p")]) {
    const {client, ran, call} = await connected(scope, ["free", "stopping"]);
    const stopped = {_meta: {"hook/stopped": "enough"}, content: [text("enough")], isError: true};
    for (const name of ["stopping", "free"]) assert.deepEqual(await call(name), stopped);
    assert.deepEqual(ran, []);
    await client.close();
    if (scope !== hooks) assert.equal((await scope.end("r")).outcome, "stopped");
  }
});

agent("arguments that hooks add and the schema drops are reported, once, if the client has listed the tools", TOOL_HOOKS, async (hooks, {problems}) => {
  const {client, ran, call} = await connected(hooks, ["misspelt"]);
  await call("misspelt");
  assert.deepEqual(problems, []);
  await client.listTools();
  for (let n = 0; n < 2; n++) await call("misspelt");
  assert.deepEqual([ran, problems], [["Rome", "Rome", "Rome"], [MISSPELT]]);
  await client.close();
});

agent("a task is refused, and the result of one that is there: hooks would not see it", {AfterTool: [NO_SECRET]}, async (hooks) => {
  const taskStore = new InMemoryTaskStore();
  const server = new McpServer({name: "weather", version: "1"}, {capabilities: {tasks: {requests: {tools: {call: {}}}}}, taskStore});
  const created = [];
  server.experimental.tasks.registerToolTask("slow", {inputSchema: {}, execution: {taskSupport: "required"}}, {
    async createTask() {
      const task = await taskStore.createTask({ttl: 60_000}, created.length, {method: "tools/call"});
      created.push(task.taskId);
      await taskStore.storeTaskResult(task.taskId, "completed", {content: [text("1234")]});
      return {task};
    },
    getTask: (_, {taskId}) => taskStore.getTask(taskId),
    getTaskResult: (_, {taskId}) => taskStore.getTaskResult(taskId),
  });
  const connect = async (transport) => {
    const [near, far] = InMemoryTransport.createLinkedPair();
    await server.connect(far);
    const client = new Client({name: "agent", version: "1"});
    await client.connect(transport(near));
    await client.listTools();
    return client;
  };
  const call = async (client) => {
    const all = [];
    for await (const {type, error} of client.experimental.tasks.callToolStream({name: "slow", arguments: {}})) all.push(error?.message ?? type);
    return all;
  };
  const plain = await connect((near) => near);
  assert.deepEqual((await call(plain)).at(-1), "result");
  await plain.close();
  const client = await connect((near) => hookTransport(hooks, near, {server_name: "weather"}));
  const refused = /hooks would not see the result of a task/;
  assert.match((await call(client)).join(), refused);
  await assert.rejects(client.experimental.tasks.getTaskResult(created[0]), refused);
  assert.equal(created.length, 1);
  await client.close();
  taskStore.cleanup();
});

const responding = (matcher, response) => ({matcher, hooks: [
  {type: "command", command: `cat >/dev/null; echo '${JSON.stringify({hookSpecificOutput: {tool_response: response}})}'`, failBehavior: "block"},
]});
agent("hooks see all of a server's answer, and may change it", {AfterTool: [
  NO_SECRET, responding("emptied", {llmContent: [text("clean")]}), responding("cleaned", {llmContent: [text("harmless")], metadata: {structuredContent: {a: "clean"}}}),
  responding("copied", {llmContent: [text("clean")], metadata: {structuredContent: {a: "harmless"}, toolResult: "harmless"}}),
]}, async (hooks) => {
  const server = new Server({name: "weather", version: "1"}, {capabilities: {tools: {}}});
  let answer;
  server.setRequestHandler(CallToolRequestSchema, () => answer());
  const [near, far] = InMemoryTransport.createLinkedPair();
  await server.connect(far);
  const client = new Client({name: "agent", version: "1"});
  await client.connect(hookTransport(hooks, near, {server_name: "weather"}));
  const call = (name) => client.callTool({name, arguments: {}}, CompatibilityCallToolResultSchema);
  const guarded = {content: [text("secret inside")], isError: true};
  for (const result of [
    {toolResult: "1234"}, {content: [], structuredContent: {a: "1234"}}, {content: [text("harmless")], _meta: {a: "1234"}},
  ]) {
    answer = () => result;
    assert.deepEqual(await call("free"), guarded);
  }
  answer = () => {
    throw new McpError(ErrorCode.InternalError, "harmless", {a: "1234"});
  };
  assert.deepEqual(await call("free"), guarded);
  for (const content of [[], [text("harmless")]]) {
    const result = {content, structuredContent: {a: "harmless"}, toolResult: "harmless"};
    answer = () => result;
    assert.deepEqual(await call("free"), result);
    for (const name of ["emptied", "copied"]) assert.deepEqual(await call(name), {content: [text("clean")], isError: false});
    assert.deepEqual(await call("cleaned"), {content: [text("harmless")], structuredContent: {a: "clean"}, isError: false});
  }
  await client.close();
});

agent("a tool's own error, and one of the protocol, are what they were", TOOL_HOOKS, async (hooks) => {
  const {client, call} = await connected(hooks, ["free"]);
  assert.deepEqual(await call("free", "broken"), {content: [text("disk full")], isError: true});
  assert.match((await call("missing")).content[0].text, /missing not found/);
  await client.close();
});

agent("a call that the client cancels is cancelled at the server", TOOL_HOOKS, async (hooks) => {
  const {client, ran, call} = await connected(hooks, ["free"]);
  const abort = new AbortController();
  const slow = call("free", "slow", {signal: abort.signal});
  while (!ran.includes("slow")) await new Promise((resolve) => setImmediate(resolve));
  abort.abort();
  await assert.rejects(slow);
  while (!ran.includes("cancelled")) await new Promise((resolve) => setImmediate(resolve));
  await client.close();
});

agent("without an answer of the hooks no tool is called", TOOL_HOOKS, async (hooks) => {
  const {client, ran, call} = await connected(hooks, ["free"]);
  await hooks.close();
  const {content, isError} = await call("free");
  assert.deepEqual([ran, isError], [[], true]);
  assert.match(content[0].text, /could not be asked/);
  await client.close();
});

losing("a result that hooks could not be asked about is refused, and the model is told that the tool ran", async (hooks, kill) => {
  const {client, call} = await connected(hooks, ["free"], kill);
  const {content, isError} = await call("free");
  assert.equal(isError, true);
  assert.match(content[0].text, /about its result, and it may have done its work/);
  await client.close();
});
