#!/usr/bin/env node
// An agent of the Vercel AI SDK.

import {createInterface} from "node:readline/promises";

import {jsonSchema, stepCountIs, streamText, tool} from "ai";
import {HookClient, agentTurn, session} from "hook-sdk";
import {withHooks} from "hook-sdk/ai";

import {model} from "./ai-model.mjs";
import {PROMPT, TOOLS} from "./script.mjs";

// The library's hello world: a model (here a scripted one) and tools.
const inputSchema = jsonSchema({type: "object"});
const tools = Object.fromEntries(Object.entries(TOOLS).map(([name, execute]) => [name, tool({inputSchema, execute})]));

// The hooks.
const terminal = createInterface({input: process.stdin, output: process.stdout});
const client = new HookClient({approve: async ({subject, reason}) => (await terminal.question(`${subject}: ${reason}? [y/N] `)) === "y"});
const work = await session(client);
/** @type {import("ai").ModelMessage[]} */
const messages = [];
for (let prompt = PROMPT; prompt !== "";) {
  const turn = await agentTurn(work, prompt);
  prompt = "";
  if (turn.outcome !== "proceed") break;
  messages.push({role: "user", content: turn.prompt});
  const result = streamText({...withHooks(turn, {model, tools}), messages, stopWhen: stepCountIs(5)});
  for await (const part of result.fullStream) {
    if (part.type === "text-delta") process.stdout.write(part.text);
    if (part.type === "tool-result") console.log(`${part.toolName}: ${part.output}`);
    if (part.type === "tool-error") console.log(`${part.toolName}: ${/** @type {Error} */ (part.error).message}`);
  }
  console.log();
  messages.push(...(await result.response).messages);
  const end = await turn.end(await result.text);
  if (end.outcome === "continue") prompt = end.prompt;
}
await work.end();
await client.close();
terminal.close();
