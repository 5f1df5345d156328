#!/usr/bin/env node
// Shows hooks a model's response in the form of its SDK, and lays what they changed onto it.

import {HookClient} from "hook-sdk";

/**
 * A response of OpenAI's chat completions with the text that hooks left. What they changed comes in the
 * stable form (docs/model-sdks.md), with only the fields that they gave; the rest stays as it is.
 *
 * @param {any} response
 * @param {{modified?: any}} fired
 */
function laidOnto(response, {modified}) {
  const {candidates, text} = modified?.llm_response ?? {};
  // `candidates` count before `text`, which is all text of the first of them.
  const content = candidates?.[0]?.content?.parts?.join("") ?? text;
  if (content === undefined) return response;
  const [choice, ...others] = response.choices;
  return {...response, choices: [{...choice, message: {...choice.message, content}}, ...others]};
}

const message = {role: "assistant", content: "my key is 1234"};
const request = {model: "m", messages: [{role: "user", content: "what is your key?"}]};
const response = {id: "r", choices: [{index: 0, message, finish_reason: "stop"}]};

const client = new HookClient();
const fired = await client.fire("AfterModel", {sdk: "openai-chat", llm_request: request, llm_response: response});
if (fired.decision === "proceed") console.log(laidOnto(response, fired).choices[0].message);
else console.log(`${fired.decision}: ${fired.reason}`);
await client.close();
