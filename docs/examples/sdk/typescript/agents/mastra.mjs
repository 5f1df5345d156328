#!/usr/bin/env node
// An agent of Mastra.

import {createInterface} from "node:readline/promises";

import {Agent} from "@mastra/core/agent";
import {createTool} from "@mastra/core/tools";
import {HookClient, agentTurn, session} from "hook-sdk";
import {withHooks} from "hook-sdk/mastra";
import {z} from "zod";

import {model} from "./ai-model.mjs";
import {PROMPT, TOOLS} from "./script.mjs";

// The library's hello world: a model (here a scripted one) and tools.
const inputSchema = z.record(z.string(), z.string());
const tools = Object.fromEntries(Object.entries(TOOLS).map(([id, execute]) => [id, createTool({id, description: id, inputSchema, execute: async (input) => execute(input)})]));

// The hooks.
const terminal = createInterface({input: process.stdin, output: process.stdout});
const client = new HookClient({approve: async ({subject, reason}) => (await terminal.question(`${subject}: ${reason}? [y/N] `)) === "y"});
const work = await session(client);
/** @type {any[]} */
const messages = [];
for (let prompt = PROMPT; prompt !== "";) {
  const turn = await agentTurn(work, prompt);
  prompt = "";
  if (turn.outcome !== "proceed") break;
  messages.push({role: "user", content: turn.prompt});
  const agent = new Agent(withHooks(turn, {id: "tidy", name: "tidy", instructions: "Tidy up.", model, tools}));
  const result = await agent.stream(messages);
  for await (const {type, payload} of /** @type {AsyncIterable<any>} */ (result.fullStream)) {
    if (type === "text-delta") process.stdout.write(payload.text);
    if (type === "tool-result") console.log(`${payload.toolName}: ${payload.result}`);
    if (type === "tool-error") console.log(`${payload.toolName}: ${payload.error.message}`);
  }
  console.log();
  messages.push(...(await result.response).messages ?? []);
  const end = await turn.end(await result.text);
  if (end.outcome === "continue") prompt = end.prompt;
}
await work.end();
await client.close();
terminal.close();
