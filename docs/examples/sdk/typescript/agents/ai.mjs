#!/usr/bin/env node
// An agent of the Vercel AI SDK.

import {createInterface} from "node:readline/promises";

import {jsonSchema, stepCountIs, streamText, tool} from "ai";
import {MockLanguageModelV3, convertArrayToReadableStream} from "ai/test";
import {HookClient, agentTurn, session} from "hook-sdk";
import {withHooks} from "hook-sdk/ai";

import {PROMPT, TOOLS, nextStep} from "./script.mjs";

// The library's hello world: a model (here a scripted one) and tools.
const model = new MockLanguageModelV3({doStream: async ({prompt}) => {
  const step = nextStep(prompt);
  const calls = "calls" in step ? step.calls : [];
  const texts = "text" in step ? step.text.split(/(?<= )/) : [];
  return {stream: convertArrayToReadableStream([
    {type: "stream-start", warnings: []},
    {type: "text-start", id: "1"},
    ...texts.map((delta) => (/** @type {const} */ ({type: "text-delta", id: "1", delta}))),
    {type: "text-end", id: "1"},
    ...calls.map(([toolName, input], index) => (/** @type {const} */ ({type: "tool-call", toolCallId: `call-${index}`, toolName, input: JSON.stringify(input)}))),
    {type: "finish", finishReason: {unified: calls.length > 0 ? "tool-calls" : "stop", raw: undefined}, usage: /** @type {any} */ ({inputTokens: {}, outputTokens: {}})},
  ])};
}});
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
