// MCP clients, with a server of the real SDK and hooks of the engine itself.

import assert from "node:assert/strict";

import {Client} from "@modelcontextprotocol/sdk/client/index.js";
import {InMemoryTransport} from "@modelcontextprotocol/sdk/inMemory.js";
import {McpServer} from "@modelcontextprotocol/sdk/server/mcp.js";
import {agentTurn} from "hook-sdk";
import {hookTransport} from "hook-sdk/mcp";
import {z} from "zod";

import {MISSPELT, TOOL_HOOKS, agent, losing} from "./agents.mjs";

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
