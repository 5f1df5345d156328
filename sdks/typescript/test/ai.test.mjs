// Agents of the Vercel AI SDK, with a scripted model and hooks of the engine itself.

import assert from "node:assert/strict";

import {generateText, stepCountIs, streamText, tool} from "ai";
import {MockLanguageModelV3, convertArrayToReadableStream} from "ai/test";
import {agentTurn} from "hook-sdk";
import {withHooks} from "hook-sdk/ai";
import {z} from "zod";

import {REDACT_REQUEST, REDACT_RESPONSE, TOOL_HOOKS, agent} from "./agents.mjs";

const usage = {inputTokens: {total: 3}, outputTokens: {total: 4}};
const finish = (unified) => ({unified, raw: undefined});
const says = (text) => ({content: [{type: "text", text}], finishReason: finish("stop"), usage, warnings: []});
const calls = (toolName, input) => ({
  content: [{type: "tool-call", toolCallId: "c-1", toolName, input: JSON.stringify(input)}],
  finishReason: finish("tool-calls"), usage, warnings: [],
});

/** Runs an agent whose model calls a tool, and then says the end; gives what the model got for the call. */
async function called(client, toolName, input, more = {}) {
  const model = new MockLanguageModelV3({doGenerate: [calls(toolName, input), says("done")]});
  const ran = [];
  const execute = async (given) => {
    ran.push(given);
    return {weather: `sunny in ${given.city}`};
  };
  const tools = {[toolName]: tool({inputSchema: z.object({city: z.string()}), execute, ...more})};
  const result = await generateText({...withHooks(client, {model, tools}), prompt: "p", stopWhen: stepCountIs(5)});
  const [, second] = model.doGenerateCalls;
  return {ran, text: result.text, models: model.doGenerateCalls.length, output: second?.prompt.at(-1).content[0].output};
}

const weather = {type: "json", value: {weather: "sunny in Rome"}};

agent("a tool runs, and its value reaches the model as it is", TOOL_HOOKS, async (client, {problems}) => {
  assert.deepEqual(await called(client, "free", {city: "Rome"}), {ran: [{city: "Rome"}], text: "done", models: 2, output: weather});
  assert.deepEqual(problems, []);
});

agent("a refused tool does not run, and the model is told why", TOOL_HOOKS, async (client) => {
  const {ran, output, text} = await called(client, "denied", {city: "Rome"});
  assert.deepEqual([ran, output, text], [[], {type: "error-text", value: "not that one"}, "done"]);
});

agent("a tool that hooks ask about runs when the user wants it", TOOL_HOOKS, async (client, {asked}) => {
  assert.deepEqual((await called(client, "asked", {city: "Rome"})).output, weather);
  const refused = await called(client, "asked", {city: "nowhere"});
  assert.deepEqual([refused.ran, refused.output.value], [[], "not confirmed: sure?"]);
  assert.deepEqual(asked, ["sure?", "sure?"]);
});

agent("a tool runs with the arguments that hooks left", TOOL_HOOKS, async (client) => {
  assert.deepEqual((await called(client, "rewritten", {city: "Rome"})).ran, [{city: "Oslo"}]);
});

agent("arguments that the tool's schema does not take are the tool's error", TOOL_HOOKS, async (client) => {
  const {ran, output} = await called(client, "mistyped", {city: "Rome"});
  assert.deepEqual([ran, output.type], [[], "error-text"]);
  assert.match(output.value, /^hooks changed the arguments to what the tool does not take/);
});

agent("hooks add context to a result, also where the tool has a form of its own for the model", TOOL_HOOKS, async (client) => {
  const expected = {type: "text", value: '{"weather":"sunny in Rome"}\n\nmind the gap'};
  assert.deepEqual((await called(client, "commented", {city: "Rome"})).output, expected);
  const toModelOutput = ({output}) => ({type: "text", value: `so ${output.weather}`});
  assert.deepEqual((await called(client, "commented", {city: "Rome"}, {toModelOutput})).output, expected);
  assert.deepEqual((await called(client, "free", {city: "Rome"}, {toModelOutput})).output.value, "so sunny in Rome");
});

agent("a reason replaces a result", TOOL_HOOKS, async (client) => {
  const {ran, output} = await called(client, "replaced", {city: "Rome"});
  assert.deepEqual([ran.length, output], [1, {type: "error-text", value: "secret inside"}]);
});

agent("a stop ends the agent: the model is not called again", TOOL_HOOKS, async (client) => {
  const {ran, models, text} = await called(client, "stopping", {city: "Rome"});
  assert.deepEqual([ran, models, text], [[], 1, "enough"]);
});

agent("what a tool throws is what it has thrown", TOOL_HOOKS, async (client) => {
  const execute = () => {
    throw new RangeError("disk full");
  };
  assert.deepEqual((await called(client, "free", {city: "Rome"}, {execute})).output, {type: "error-text", value: "disk full"});
});

agent("a tool that is run elsewhere is said to be unasked", TOOL_HOOKS, async (client, {problems}) => {
  withHooks(client, {model: new MockLanguageModelV3(), tools: {there: tool({inputSchema: z.object({})})}});
  assert.match(problems.join(), /not asked about the tool there/);
});

agent("the model gets the request that hooks left, not the secret", {BeforeModel: [REDACT_REQUEST]}, async (client) => {
  const model = new MockLanguageModelV3({doGenerate: [says("done")]});
  const image = new Uint8Array([1, 2, 3]);
  const messages = [
    {role: "user", content: [{type: "text", text: "my key is 1234"}, {type: "file", data: image, mediaType: "image/png"}]},
    {role: "assistant", content: [{type: "text", text: "hm 5"}, {type: "tool-call", toolCallId: "a", toolName: "t", input: {city: "Rome"}}]},
    {role: "tool", content: [{type: "tool-result", toolCallId: "a", toolName: "t", output: {type: "text", value: "sunny"}}]},
  ];
  const options = {temperature: 0.5, maxOutputTokens: 7, providerOptions: {own: {a: 1}}};
  const {text} = await generateText({...withHooks(client, {model}), system: "be 1st", messages, ...options});
  assert.equal(text, "done");
  const [{prompt, temperature, maxOutputTokens, providerOptions}] = model.doGenerateCalls;
  assert.deepEqual([temperature, maxOutputTokens, providerOptions], [0.5, 7, {own: {a: 1}}]);
  assert.ok(!JSON.stringify(prompt).includes("1234"));
  assert.deepEqual(prompt.map(({role, content}) => [role, typeof content === "string" ? content : content.map((it) => it.text ?? it.type)]), [
    ["system", "be *st"], ["user", ["my key is ****", "file"]], ["assistant", ["hm *", "tool-call"]], ["tool", ["tool-result"]],
  ]);
  assert.deepEqual(prompt[1].content[1].data, image);
  assert.deepEqual(prompt[2].content[1].input, {city: "Rome"});
});

agent("a response is what hooks left of it", {AfterModel: [REDACT_RESPONSE]}, async (client) => {
  const model = new MockLanguageModelV3({doGenerate: [says("the key is 1234")]});
  const {text, usage: {totalTokens, inputTokens}} = await generateText({...withHooks(client, {model}), prompt: "p"});
  assert.deepEqual([text, inputTokens], ["the key is ****", 3], totalTokens);
});

const blocked = (event, answer, command) => ({
  [event]: [{hooks: [{type: "command", command: command ?? `cat >/dev/null; echo '${JSON.stringify(answer)}'`, failBehavior: "block"}]}],
});

for (const [what, hooks, expected, count] of [
  ["a hook's own answer", blocked("BeforeModel", {hookSpecificOutput: {llm_response: {text: "from a hook"}}}), "from a hook", 0],
  ["a refused call", blocked("BeforeModel", {decision: "block", reason: "not here"}), "not here", 0],
  ["a stop", blocked("BeforeModel", {continue: false, stopReason: "enough"}), "enough", 0],
  ["a refused answer", blocked("AfterModel", {decision: "block", reason: "not that"}), "not that", 1],
]) {
  agent(`${what} ends the agent with a text`, hooks, async (client) => {
    const model = new MockLanguageModelV3({doGenerate: [says("the key is 1234")]});
    const {text} = await generateText({...withHooks(client, {model}), prompt: "p"});
    assert.deepEqual([text, model.doGenerateCalls.length], [expected, count]);
  });
  agent(`${what} in a stream`, hooks, async (client) => {
    const model = streaming("the key ", "is 1234");
    const {textStream} = streamText({...withHooks(client, {model}), prompt: "p", onError: () => {}});
    const shown = [];
    for await (const text of textStream) shown.push(text);
    assert.deepEqual([shown.join(""), model.doStreamCalls.length], [expected, count]);
  });
}

agent("hooks narrow the tools", blocked("BeforeToolSelection", {hookSpecificOutput: {toolConfig: {mode: "ANY", allowedFunctionNames: ["a"]}}}), async (client) => {
  const model = new MockLanguageModelV3({doGenerate: [says("done")]});
  const tools = {a: tool({inputSchema: z.object({}), execute: () => 1}), b: tool({inputSchema: z.object({}), execute: () => 2})};
  await generateText({...withHooks(client, {model, tools}), prompt: "p"});
  const [{tools: allowed, toolChoice}] = model.doGenerateCalls;
  assert.deepEqual([allowed.map(({name}) => name), toolChoice.type], [["a"], "required"]);
});

agent("what hooks say after an answer is in the next request", blocked("AfterModel", {systemMessage: "be brief"}), async (client) => {
  const model = new MockLanguageModelV3({doGenerate: [calls("a", {}), says("done")]});
  const tools = {a: tool({inputSchema: z.object({}), execute: () => 1})};
  await generateText({...withHooks(client, {model, tools}), prompt: "p", stopWhen: stepCountIs(3)});
  assert.deepEqual(model.doGenerateCalls.map(({prompt}) => prompt.map(({role}) => role)), [["user"], ["user", "assistant", "tool", "user"]]);
  assert.equal(model.doGenerateCalls[1].prompt.at(-1).content[0].text, "[System] be brief");
});

function streaming(...texts) {
  return new MockLanguageModelV3({doStream: async () => ({
    stream: convertArrayToReadableStream([
      {type: "stream-start", warnings: []},
      {type: "text-start", id: "1"},
      ...texts.map((delta) => (delta instanceof Error ? {type: "error", error: delta} : {type: "text-delta", id: "1", delta})),
      {type: "text-end", id: "1"},
      {type: "raw", rawValue: {secret: "1234"}},
      {type: "finish", finishReason: finish("stop"), usage},
    ]),
  })});
}

const parts = async (result) => {
  const all = [];
  for await (const part of result.fullStream) all.push(part);
  return all;
};

agent("each chunk of a stream is rewritten before it is shown", {AfterModel: [REDACT_RESPONSE]}, async (client) => {
  const model = streaming("the key ", "is 1234");
  const all = await parts(streamText({...withHooks(client, {model}), prompt: "p", includeRawChunks: true}));
  assert.deepEqual(all.filter(({type}) => type === "text-delta").map(({text}) => text), ["the key ", "is ****"]);
  assert.ok(!JSON.stringify(all).includes("1234"));
  assert.equal(all.find(({type}) => type === "finish").totalUsage.inputTokens, 3);
});

agent("a stream of which hooks see only the whole passes as it is", {}, async (client) => {
  const model = streaming("the key ", "is 1234");
  const all = await parts(streamText({...withHooks(client, {model}, {chunks: "complete"}), prompt: "p", includeRawChunks: true}));
  assert.deepEqual(all.filter(({type}) => type === "text-delta").map(({text}) => text), ["the key ", "is 1234"]);
  assert.deepEqual(all.find(({type}) => type === "raw").rawValue, {secret: "1234"});
});

agent("a stream that is cut off is an error after what was shown", {}, async (client) => {
  const model = streaming("the key ", new Error("connection lost"));
  const all = await parts(streamText({...withHooks(client, {model}), prompt: "p", onError: () => {}}));
  assert.equal(all.find(({type}) => type === "text-delta").text, "the key ");
  assert.equal(all.find(({type}) => type === "error").error.message, "connection lost");
});

agent("a call that fails at once is the call's own error", {}, async (client) => {
  const failure = new Error("no route");
  const failing = new MockLanguageModelV3({doGenerate: async () => Promise.reject(failure), doStream: async () => Promise.reject(failure)});
  await assert.rejects(generateText({...withHooks(client, {model: failing}), prompt: "p", maxRetries: 0}), failure);
  const all = await parts(streamText({...withHooks(client, {model: failing}), prompt: "p", maxRetries: 0, onError: () => {}}));
  assert.equal(all.find(({type}) => type === "error").error, failure);
});

agent("an aborted agent cancels its model", {}, async (client) => {
  const abort = new AbortController();
  const model = new MockLanguageModelV3({doGenerate: ({abortSignal}) => new Promise((_, reject) => {
    abortSignal.addEventListener("abort", () => reject(abortSignal.reason));
    abort.abort();
  })});
  await assert.rejects(generateText({...withHooks(client, {model}), prompt: "p", abortSignal: abort.signal}));
});

agent("an agent in a turn, which goes on as hooks say", {
  ...blocked("BeforeAgent", {hookSpecificOutput: {additionalContext: "mind the gap"}}),
  AfterAgent: [{hooks: [{type: "command", command: `grep -q '"stop_hook_active":true' && echo '{}' || echo '{"decision": "block", "reason": "do the rest"}'`}]}],
}, async (client) => {
  const model = new MockLanguageModelV3({doGenerate: [says("half"), says("all")]});
  const prompts = [];
  for (let prompt = "p"; prompt !== undefined;) {
    const turn = await agentTurn(client, prompt, {session: {session_id: "s"}});
    const {text} = await generateText({...withHooks(turn, {model}), prompt: turn.prompt});
    prompts.push(turn.prompt);
    const end = await turn.end(text);
    prompt = end.outcome === "continue" ? end.prompt : undefined;
  }
  assert.deepEqual(prompts, ["p\n\nmind the gap", "do the rest\n\nmind the gap"]);
});
