// The scripted model as one of the AI SDK, for its agent and for that of Mastra.

import {MockLanguageModelV3, convertArrayToReadableStream} from "ai/test";

import {nextStep} from "./script.mjs";

export const model = new MockLanguageModelV3({doStream: async ({prompt}) => {
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
