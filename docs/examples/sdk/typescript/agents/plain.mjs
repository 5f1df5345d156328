#!/usr/bin/env node
// An agent without a library: its own loop of a model, in the form of OpenAI's chat, and tools.

import {createInterface} from "node:readline/promises";

import {HookClient, agentTurn, callModel, executeTool, session} from "hook-sdk";

import {PROMPT, TOOLS, nextStep} from "./script.mjs";

/**
 * Stands for `openai.chat.completions.create({...request, stream: true})`.
 *
 * @param {object} request
 * @returns {AsyncGenerator<any>}
 */
async function* model(request) {
  const step = nextStep(request);
  const calls = "calls" in step ? step.calls : [];
  const tool_calls = calls.map(([name, args], index) => (
    {index, id: `call-${index}`, type: "function", function: {name, arguments: JSON.stringify(args)}}
  ));
  if (calls.length > 0) yield {choices: [{index: 0, delta: {role: "assistant", tool_calls}}]};
  if ("text" in step) for (const content of step.text.split(/(?<= )/)) yield {choices: [{index: 0, delta: {role: "assistant", content}}]};
  yield {choices: [{index: 0, delta: {}, finish_reason: calls.length > 0 ? "tool_calls" : "stop"}]};
}

const terminal = createInterface({input: process.stdin, output: process.stdout});
const client = new HookClient({approve: async ({subject, reason}) => (await terminal.question(`${subject}: ${reason}? [y/N] `)) === "y"});
const work = await session(client);
/** @type {any[]} */
const messages = [];
for (let prompt = PROMPT; prompt !== "";) {
  const turn = await agentTurn(work, prompt);
  prompt = "";
  if (turn.outcome !== "proceed") {
    console.log(turn.reason);
    break;
  }
  messages.push({role: "user", content: turn.prompt});
  for (let isDone = false; !isDone;) {
    const answer = callModel(turn, "openai-chat", {model: "m", messages}, model, {chunks: "each"});
    for await (const {chunk, complete} of answer) {
      process.stdout.write(complete ? /** @type {any} */ (complete).choices[0].message.content : chunk.choices[0]?.delta.content ?? "");
    }
    const outcome = await answer.finish();
    if (!outcome.response) throw outcome.error ?? new Error(outcome.outcome);
    const [{message}] = /** @type {any} */ (outcome.response).choices;
    messages.push(message);
    for (const {id, function: {name, arguments: args}} of message.tool_calls ?? []) {
      const call = {tool_name: name, tool_input: JSON.parse(args), tool_call_id: id};
      const {outcome, result} = await executeTool(turn, call, (input) => /** @type {any} */ (TOOLS)[name](input));
      console.log(`${name}: ${result.llmContent}`);
      messages.push({role: "tool", tool_call_id: id, content: result.llmContent});
      isDone ||= outcome === "stopped";
    }
    isDone ||= !message.tool_calls;
  }
  console.log();
  const end = await turn.end(messages.at(-1).content ?? "");
  if (end.outcome === "continue") prompt = end.prompt;
}
await work.end();
await client.close();
terminal.close();
