// Agents of the Vercel AI SDK, with a scripted model and hooks of the engine itself.

import assert from "node:assert/strict";

import {ToolLoopAgent, generateText, jsonSchema, stepCountIs, streamText, tool, wrapLanguageModel} from "ai";
import {MockLanguageModelV3, convertArrayToReadableStream} from "ai/test";
import {agentTurn, callModel, executeTool} from "hook-sdk";
import {HookRefusal, hookMiddleware, hookTools, withHooks} from "hook-sdk/ai";
import {z} from "zod";

import {
  ADD_END, MISSPELT, NO_SECRET, REDACT_REQUEST, REDACT_RESPONSE, REDACT_SECRET, TOOL_HOOKS, WITHHELD, WITHHOLDING, agent, losing,
} from "./agents.mjs";

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

agent("arguments that hooks add and the schema drops are reported, once, also inside of others", TOOL_HOOKS, async (client, {problems}) => {
  for (let n = 0; n < 2; n++) assert.deepEqual((await called(client, "misspelt", {city: "Rome"})).ran, [{city: "Rome"}]);
  assert.deepEqual(problems.splice(0), [MISSPELT]);
  const inputSchema = z.object({city: z.string(), at: z.object({}).optional()});
  assert.deepEqual((await called(client, "misspelt", {city: "Rome"}, {inputSchema})).ran, [{city: "Rome", at: {}}]);
  assert.deepEqual(problems.splice(0), [`${MISSPELT}.zipp`]);
  // What the model has given is the schema's to take as it likes.
  const renaming = z.object({city: z.string(), citty: z.string(), at: z.object({zipp: z.number()})}).transform(({city}) => ({city}));
  assert.deepEqual((await called(client, "misspelt", {city: "Rome", citty: "Paris", at: {zipp: 2}}, {inputSchema: renaming})).ran.length, 1);
  assert.deepEqual(problems, []);
});

agent("a warning that each answer has is said at the first time, and at the tenth", {
  BeforeModel: [{hooks: [{type: "command", name: "broken", command: "exit 7"}]}],
}, async (client, {problems}) => {
  for (let n = 1; n <= 11; n++) {
    const model = new MockLanguageModelV3({doGenerate: [says("done")]});
    await generateText({...withHooks(client, {model}), prompt: "p"});
    assert.equal(problems.length, n < 10 ? 1 : 2);
  }
  assert.match(problems[0], /broken/);
  assert.equal(problems[1], `${problems[0]} (10 times by now)`);
});

agent("changed arguments that no schema checks are reported, once", TOOL_HOOKS, async (client, {problems}) => {
  for (let n = 0; n < 2; n++) {
    const {ran} = await called(client, "mistyped", {city: "Rome"}, {inputSchema: jsonSchema({type: "object"})});
    assert.deepEqual(ran, [{city: 7}]);
  }
  assert.deepEqual(problems, ["hooks change arguments of the tool mistyped, whose schema checks none: give `jsonSchema` a `validate`"]);
});

agent("hooks add context to a result, also where the tool has a form of its own for the model", TOOL_HOOKS, async (client) => {
  const expected = {type: "text", value: '{"weather":"sunny in Rome"}\n\nmind the gap'};
  assert.deepEqual((await called(client, "commented", {city: "Rome"})).output, expected);
  const toModelOutput = ({toolCallId, output}) => ({type: "text", value: `${toolCallId}: ${output.weather}`});
  assert.equal((await called(client, "commented", {city: "Rome"}, {toModelOutput})).output.value, "c-1: sunny in Rome\n\nmind the gap");
  assert.equal((await called(client, "free", {city: "Rome"}, {toModelOutput})).output.value, "c-1: sunny in Rome");
  const image = {type: "file-data", data: "AAAA", mediaType: "image/png"};
  const ofParts = () => ({type: "content", value: [{type: "text", text: "seen"}, image]});
  assert.deepEqual((await called(client, "commented", {city: "Rome"}, {toModelOutput: ofParts})).output, {
    type: "content", value: [{type: "text", text: "seen"}, image, {type: "text", text: "mind the gap"}],
  });
});

const guarded = {type: "error-text", value: "secret inside"};
agent("hooks see all of a result that the model or the display gets, whatever form it has", {AfterTool: [NO_SECRET]}, async (client) => {
  const input = {city: "Rome"};
  let reads = 0;
  for (const more of [
    {execute: () => ({llmContent: "harmless", secret: "1234"})},
    {execute: () => ({llmContent: "harmless", metadata: "1234"})},
    {execute: () => ({note: "harmless"}), toModelOutput: () => ({type: "text", value: "1234"})},
    {execute: () => ({note: "harmless"}), toModelOutput: () => ({type: "content", value: [{type: "text", text: "1234"}]})},
    {execute: () => ({note: "harmless"}), toModelOutput: () => ({type: "json", value: {secret: "1234"}})},
    {execute: () => ({note: "1234"}), toModelOutput: () => ({type: "text", value: "harmless"})},
  ]) assert.deepEqual((await called(client, "free", input, more)).output, guarded);
  // A form that is another one each time: the model gets what hooks have seen.
  const {output} = await called(client, "free", input, {toModelOutput: () => ({type: "text", value: reads++ === 0 ? "harmless" : "1234"})});
  assert.deepEqual(output, {type: "text", value: "harmless"});
  const execute = () => {
    throw {message: "harmless", secret: "1234"};
  };
  assert.deepEqual((await called(client, "free", input, {execute})).output, guarded);
});

agent("what a tool changes of its result while hooks look at it does not reach the model", {}, async (client) => {
  const log = ["one"];
  await client.ready(client.registerHook("AfterTool", {handler: () => void log.push("two")}));
  const {output} = await called(client, "free", {city: "Rome"}, {execute: () => log});
  assert.deepEqual([log, output.value], [["one", "two"], ["one"]]);
});

const made = z.array(z.string());
class Paths {
  #paths;
  constructor(paths) {
    this.#paths = paths;
  }
  get all() {
    return this.#paths;
  }
}
for (const [what, paths, read] of [
  ["a set", made.transform((it) => new Set(it)), (it) => [...it]],
  ["a map", made.transform((it) => new Map(it.map((path) => [path, 1]))), (it) => [...it.keys()]],
  ["an expression", made.transform((it) => new RegExp(it[0])), (it) => [it.source]],
  ["an object of a class", made.transform((it) => new Paths(it)), (it) => it.all],
]) {
  const inputSchema = z.object({paths, city: z.string()});
  const run = async (client, name, path) => {
    const ran = [];
    const execute = (input) => ran.push([read(input.paths), input.city]);
    const {output} = await called(client, name, {paths: [path], city: "Rome"}, {inputSchema, execute});
    return {ran, output};
  };
  agent(`hooks see the model's arguments where the schema makes ${what} of them, and may change those`, {
    BeforeTool: [...TOOL_HOOKS.BeforeTool, NO_SECRET],
  }, async (client) => {
    assert.deepEqual(await run(client, "free", "1234"), {ran: [], output: guarded});
    assert.deepEqual((await run(client, "free", "a")).ran, [[["a"], "Rome"]]);
    assert.deepEqual((await run(client, "rewritten", "a")).ran, [[["a"], "Oslo"]]);
  });
}

agent("hooks see arguments that the program has changed since, and no later change reaches the tool", {BeforeTool: [NO_SECRET]}, async (client) => {
  const inputSchema = z.object({city: z.string()});
  const run = async (...changes) => {
    const ran = [];
    const given = {};
    const model = new MockLanguageModelV3({doGenerate: [calls("free", {city: "Rome"}), says("done")]});
    const tools = {free: tool({inputSchema, execute: ({city}) => ran.push(city), onInputAvailable: ({input}) => void Object.assign(given, {input})})};
    const change = ({toolCall}) => void Object.assign(toolCall.input, changes[0]);
    await client.ready(client.registerHook("BeforeTool", {id: "later", handler: () => void Object.assign(given.input, changes[1])}));
    await generateText({...withHooks(client, {model, tools}), prompt: "p", stopWhen: stepCountIs(2), experimental_onToolCallStart: change});
    await client.unregisterHook("later");
    return ran;
  };
  assert.deepEqual(await run({city: "1234"}), []);
  assert.deepEqual(await run({}, {city: "1234"}), ["Rome"]);
});

agent("arguments that hooks cannot see are refused", TOOL_HOOKS, async (client) => {
  const ran = [];
  const {free} = hookTools(client, {free: tool({inputSchema: z.object({}), execute: (input) => ran.push(input)})});
  await assert.rejects(free.execute({paths: new Set(["a"])}, {toolCallId: "c-1", messages: []}), /hooks cannot see the arguments of free/);
  await free.execute({paths: ["a"]}, {toolCallId: "c-1", messages: []});
  assert.deepEqual(ran, [{paths: ["a"]}]);
});

for (const [how, hooks] of WITHHOLDING) {
  agent(`a tool that hooks withhold does not run where the model calls it all the same: ${how}`, hooks, async (client) => {
    const ran = [];
    const here = {execute: () => ran.push("free")};
    // Also one that runs elsewhere, and one that is not offered.
    for (const [run, own, activeTools] of [generateText, streamText].flatMap((run) => [[run, here], [run, {}], [run, here, ["other"]]])) {
      const parts = [{type: "stream-start", warnings: []}, ...calls("free", {}).content, {type: "finish", finishReason: finish("tool-calls"), usage}];
      const model = new MockLanguageModelV3({doGenerate: [calls("free", {}), says("never")], doStream: [{stream: convertArrayToReadableStream(parts)}]});
      const made = (more) => tool({inputSchema: z.object({}), onInputAvailable: () => void ran.push("input"), ...more});
      const hooked = withHooks(client, {model, tools: {free: made(own), other: made(here)}});
      let failure;
      const given = {...hooked, activeTools, prompt: "p", stopWhen: stepCountIs(3), onError: ({error}) => void (failure = error)};
      await Promise.resolve(run(given)).then(({text}) => text).catch((error) => (failure ??= error));
      assert.deepEqual([failure?.code, failure?.message, ran], [WITHHELD.code, WITHHELD.message, []]);
    }
  });
}

agent("a reason replaces a result", TOOL_HOOKS, async (client) => {
  const {ran, output} = await called(client, "replaced", {city: "Rome"});
  assert.deepEqual([ran.length, output], [1, {type: "error-text", value: "secret inside"}]);
});

agent("a stop ends the agent: the model is not called again", TOOL_HOOKS, async (client) => {
  const {ran, models, text} = await called(client, "stopping", {city: "Rome"});
  assert.deepEqual([ran, models, text], [[], 1, "enough"]);
});

agent("a tool of the same answer does not run after a stop, also where the user has approved it since", TOOL_HOOKS, async (client, {asked, until}) => {
  const model = new MockLanguageModelV3({doGenerate: [
    {...calls("stopping", {}), content: [...calls("stopping", {}).content, ...calls("asked", {}).content.map((call) => ({...call, toolCallId: "c-2"}))]},
    says("never"),
  ]});
  const ran = [];
  const made = (name) => tool({inputSchema: z.object({}), execute: () => ran.push(name)});
  let stopped;
  until.approval = new Promise((resolve) => (stopped = resolve));
  const {text} = await generateText({
    ...withHooks(client, {model, tools: {stopping: made("stopping"), asked: made("asked")}}), prompt: "p", stopWhen: stepCountIs(5),
    experimental_onToolCallFinish: ({toolCall}) => toolCall.toolName === "stopping" && stopped(),
  });
  assert.deepEqual([asked, ran, text, model.doGenerateCalls.length], [["sure?"], [], "enough", 1]);
});

const stopping = (ran) => ({stopping: tool({inputSchema: z.object({}), execute: () => ran.push("stopping")})});

agent("a stop ends one run of a ToolLoopAgent, and not the agent", TOOL_HOOKS, async (client) => {
  for (const more of [{}, {prepareCall: ({options, ...call}) => call}]) {
    const model = new MockLanguageModelV3({doGenerate: [calls("stopping", {}), says("next"), calls("stopping", {})]});
    const ran = [];
    const one = new ToolLoopAgent(withHooks(client, {model, tools: stopping(ran), ...more}));
    for (const expected of ["enough", "next", "enough"]) assert.equal((await one.generate({prompt: "p"})).text, expected);
    assert.deepEqual([ran, model.doGenerateCalls.length], [[], 3]);
  }
});

agent("another run with the hooks of one that was stopped fails, and has not its answer", TOOL_HOOKS, async (client) => {
  const parts = calls("stopping", {}).content;
  const model = new MockLanguageModelV3({
    doGenerate: [calls("stopping", {})],
    doStream: [{stream: convertArrayToReadableStream([...parts, {type: "finish", finishReason: finish("tool-calls"), usage}])}],
  });
  let failure;
  const streamed = (given) => streamText({...given, onError: ({error}) => void (failure = error)});
  for (const run of [generateText, streamed]) {
    const given = {...withHooks(client, {model, tools: stopping([])}), prompt: "p", stopWhen: stepCountIs(5)};
    assert.equal(await (await run(given)).text, "enough");
    await assert.rejects(async () => (await run(given)).text, (error) => (failure ?? error) instanceof HookRefusal);
  }
});

agent("hooks see a model that a step or a call chooses", {BeforeModel: [REDACT_REQUEST], ...TOOL_HOOKS}, async (client, {problems}) => {
  const other = () => new MockLanguageModelV3({modelId: "other", doGenerate: [calls("denied", {}), says("done")]});
  const ran = [];
  const tools = {denied: tool({inputSchema: z.object({}), execute: () => ran.push("denied")})};
  const base = {model: new MockLanguageModelV3(), tools};
  const stopWhen = stepCountIs(5);
  for (const run of [
    (model) => generateText({...withHooks(client, {...base, prepareStep: () => ({model})}), prompt: "key 1234", stopWhen}),
    (model) => new ToolLoopAgent(withHooks(client, {...base, prepareStep: () => ({model})})).generate({prompt: "key 1234"}),
    (model) => new ToolLoopAgent({...withHooks(client, base), prepareStep: () => ({model})}).generate({prompt: "key 1234"}),
    (model) => new ToolLoopAgent(withHooks(client, {...base, prepareCall: (call) => ({...call, model, tools})})).generate({prompt: "key 1234"}),
  ]) {
    const model = other();
    assert.equal((await run(model)).text, "done");
    const seen = JSON.stringify(model.doGenerateCalls.map(({prompt}) => prompt));
    assert.match(seen, /key \*\*\*\*.*not that one/);
    assert.doesNotMatch(seen, /\b1234\b/);
  }
  assert.deepEqual([ran, problems], [[], []]);
});

agent("a model or a tool that stands beside the hooks is refused before anything is called, and `prepareStep` is reported", {}, async (client, {problems}) => {
  const ran = [];
  const made = (more = {}) => new MockLanguageModelV3({...more, doGenerate: [calls("free", {}), says("done")]});
  const base = () => ({model: made(), tools: {free: tool({inputSchema: z.object({}), execute: () => ran.push("free")})}});
  const run = (given) => generateText({...given, prompt: "p", stopWhen: stepCountIs(5)});
  const other = made({modelId: "other"});
  const own = base();
  for (const [refusal, run_] of [
    [/^the model of this agent has no hooks/, () => run({...withHooks(client, own), model: other})],
    [/^the model of this agent has no hooks/, () => run({...withHooks(client, own), model: own.model})],
    [/^the model of this agent has no hooks/, () => run({...withHooks(client, own), model: made()})],
    [/^the model of this agent has no hooks/, () => run({...withHooks(client, own), model: "openai/gpt-5"})],
    [/^the model of this agent has no hooks/, () => new ToolLoopAgent({...withHooks(client, own), prepareCall: (call) => ({...call, model: other})}).generate({prompt: "p"})],
    [/^the tool free has no hooks: give it to `withHooks`/, () => run({...withHooks(client, own), tools: own.tools})],
    [/^the tool free has no hooks/, () => run({...withHooks(client, {...own, prepareStep: () => ({model: other})}), tools: own.tools})],
    [/^the tool free has no hooks/, () => new ToolLoopAgent({...withHooks(client, own), prepareCall: (call) => ({...call, tools: own.tools})}).generate({prompt: "p"})],
  ]) {
    await assert.rejects(run_, (error) => error instanceof HookRefusal && refusal.test(error.message));
    assert.deepEqual([ran, other.doGenerateCalls.length, own.model.doGenerateCalls.length, problems], [[], 0, 0, []]);
  }
  const ofProvider = {type: "provider", id: "own.free", args: {}, inputSchema: z.object({}), execute: () => ran.push("free")};
  await assert.rejects(run({...withHooks(client, own), tools: {free: ofProvider}}), /^HookRefusal: the tool free has no hooks/);
  assert.deepEqual([ran, own.model.doGenerateCalls.length], [[], 0]);
  for (const given of [
    withHooks(client, {...base(), tools: {free: ofProvider}}),
    {...withHooks(client, {model: base().model}), tools: hookTools(client, base().tools)},
    withHooks(client, {...base(), model: wrapLanguageModel({model: base().model, middleware: {}})}),
    {model: wrapLanguageModel({model: base().model, middleware: hookMiddleware(client)}), tools: base().tools},
  ]) assert.equal((await run(given)).text, "done");
  assert.deepEqual([ran.splice(0).length, problems], [4, []]);
  assert.equal((await run({...withHooks(client, base()), prepareStep: () => ({model: other})})).text, "done");
  assert.deepEqual(problems, ["hooks do not see what `prepareStep` chooses: give it to `withHooks`, and nothing in its place beside that"]);
});

agent("a model's name is refused with what to give instead", {}, async (client) => {
  assert.throws(() => withHooks(client, {model: "openai/gpt-5"}), /`model` is a model object, such as `gateway\("openai\/gpt-5"\)`/);
  const named = withHooks(client, {model: new MockLanguageModelV3(), prepareStep: () => ({model: "openai/gpt-5"})});
  await assert.rejects(generateText({...named, prompt: "p"}), /`model` is a model object/);
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
  assert.doesNotMatch(JSON.stringify(prompt), /\b1234\b/);
  assert.deepEqual(prompt.map(({role, content}) => [role, typeof content === "string" ? content : content.map((it) => it.text ?? it.type)]), [
    ["system", "be *st"], ["user", ["my key is ****", "file"]], ["assistant", ["hm *", "tool-call"]], ["tool", ["tool-result"]],
  ]);
  assert.deepEqual(prompt[1].content[1].data, image);
  assert.deepEqual(prompt[2].content[1].input, {city: "Rome"});
});

agent("a response is what hooks left of it", {AfterModel: [REDACT_RESPONSE]}, async (client) => {
  const response = {id: "r", body: {text: "the key is 1234"}};
  const model = new MockLanguageModelV3({doGenerate: [{...says("the key is 1234"), response}]});
  const started = [];
  const given = withHooks(client, {model, experimental_onStepStart: ({stepNumber}) => void started.push(stepNumber)});
  const result = await generateText({...given, prompt: "p"});
  const {text, usage: {totalTokens, inputTokens}} = result;
  assert.deepEqual([result.response.id, result.response.body, started], ["r", undefined, [0]]);
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

agent("what hooks say after an answer is in no other conversation of a middleware", blocked("AfterModel", {systemMessage: "be brief"}), async (client, {problems}) => {
  for (const isTurn of [false, true]) {
    const base = new MockLanguageModelV3({doGenerate: [says("a"), says("b")]});
    const scope = isTurn ? await agentTurn(client, "p") : client;
    const model = wrapLanguageModel({model: base, middleware: hookMiddleware(scope)});
    for (const prompt of ["one", "two"]) await generateText({model, prompt});
    assert.deepEqual(base.doGenerateCalls.map(({prompt}) => JSON.stringify(prompt).includes("be brief")), [false, isTurn]);
    assert.deepEqual(problems.splice(0).filter((it) => /no next request has .*: \[System\] be brief$/.test(it)).length, isTurn ? 0 : 2);
  }
});

agent("a stop ends one call of a middleware", blocked("BeforeModel", {continue: false, stopReason: "enough"}), async (client) => {
  const model = wrapLanguageModel({model: new MockLanguageModelV3(), middleware: hookMiddleware(client)});
  for (const prompt of ["one", "two"]) assert.equal((await generateText({model, prompt})).text, "enough");
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

/** A stream of an answer that calls a tool, then one that says the end. */
function streamingCall(...texts) {
  const answers = [[...texts.map((delta) => ({type: "text-delta", id: "1", delta})), calls("free", {}).content[0]], [{type: "text-delta", id: "1", delta: "done"}]];
  return new MockLanguageModelV3({doStream: answers.map((parts) => {
    const isText = parts[0].type === "text-delta";
    const start = isText ? [{type: "text-start", id: "1"}] : [];
    const end = isText ? [{type: "text-end", id: "1"}] : [];
    const tools = parts.filter(({type}) => type === "tool-call");
    const last = {type: "finish", finishReason: finish(tools.length > 0 ? "tool-calls" : "stop"), usage};
    return {stream: convertArrayToReadableStream([{type: "stream-start", warnings: []}, ...start, ...parts.filter((it) => !tools.includes(it)), ...end, ...tools, last])};
  })});
}

/** Runs an agent whose streamed answer calls a tool; gives what ran, what was shown, and the error. */
async function streamedCall(client, texts, chunks) {
  const model = streamingCall(...texts);
  const ran = [];
  const tools = {free: tool({inputSchema: z.object({}), execute: () => ran.push("free"), onInputAvailable: () => void ran.push("input")})};
  const result = streamText({...withHooks(client, {model, tools}, {chunks}), prompt: "p", stopWhen: stepCountIs(3), onError: () => {}});
  const all = await parts(result);
  const text = all.map((part) => (part.type === "text-delta" ? part.text : "")).join("");
  return {ran, text, error: all.find(({type}) => type === "error")?.error.message, prompts: model.doStreamCalls.map(({prompt}) => JSON.stringify(prompt))};
}

const refusesWhole = `grep -q '"chunk":true' && echo '{}' || echo '{"decision": "block", "reason": "not that"}'`;
for (const [chunks, texts, text, error] of [
  ["complete", ["plan"], "plan", "not that"], ["complete", [], "not that", undefined],
  ["each", ["plan"], "plan", "not that"], ["each", [], "not that", undefined],
]) {
  agent(`of a refused answer no tool runs: ${chunks}, ${texts.length} texts`, blocked("AfterModel", {}, refusesWhole), async (client) => {
    const {ran, prompts, ...shown} = await streamedCall(client, texts, chunks);
    assert.deepEqual([ran, prompts.length, shown], [[], 1, {text, error}]);
  });
}

for (const chunks of ["each", "complete"]) {
  agent(`a whole answer that hooks change after it was shown fails the run: ${chunks}`, {AfterModel: [REDACT_SECRET]}, async (client) => {
    const {ran, text, error, prompts} = await streamedCall(client, ["the SEC", "RET"], chunks);
    assert.deepEqual([ran, text, prompts.length], [[], "the SECRET", 1]);
    assert.match(error, /changed the whole answer after it was shown/);
  });
  agent(`what hooks add to the end of a whole answer is shown, and in the history: ${chunks}`, {AfterModel: [ADD_END]}, async (client) => {
    const {ran, text, error, prompts} = await streamedCall(client, ["the ", "plan"], chunks);
    assert.deepEqual([ran, text, error], [["input", "free"], "the plan (end)done (end)", undefined]);
    assert.match(prompts[1], / \(end\)/);
  });
}

agent("each chunk of a stream is rewritten before it is shown", {AfterModel: [REDACT_RESPONSE]}, async (client) => {
  const model = streaming("the key ", "is 1234");
  const all = await parts(streamText({...withHooks(client, {model}), prompt: "p", includeRawChunks: true}));
  assert.deepEqual(all.filter(({type}) => type === "text-delta").map(({text}) => text), ["the key ", "is ****"]);
  assert.doesNotMatch(JSON.stringify(all), /\b1234\b/);
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
  const run = generateText({...withHooks(client, {model}), prompt: "p", abortSignal: abort.signal});
  await assert.rejects(run, (error) => error === abort.signal.reason && error.name === "AbortError");
});

agent("a stream that its reader cuts off cancels its model, also while a part is awaited", {}, async (client) => {
  for (const reads of [0, 1, 3]) {
    let aborted;
    const isAborted = new Promise((resolve) => (aborted = resolve));
    const model = new MockLanguageModelV3({doStream: async ({abortSignal}) => {
      abortSignal.addEventListener("abort", aborted);
      return {stream: new ReadableStream({start(controller) {
        controller.enqueue({type: "stream-start", warnings: []});
        controller.enqueue({type: "text-start", id: "1"});
      }})};
    }});
    const {stream} = await withHooks(client, {model}).model.doStream({prompt: [{role: "user", content: [{type: "text", text: "p"}]}]});
    const reader = stream.getReader();
    const read = Array.from({length: reads}, () => reader.read());
    if (reads < 3) await Promise.all(read);
    await reader.cancel();
    await isAborted;
    await Promise.all(read);
  }
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

for (const [what, hooks, calledFirst] of [["a tool's", TOOL_HOOKS, 1], ["the model's", blocked("BeforeModel", {continue: false, stopReason: "enough"}), 0]]) {
  agent(`${what} stop ends the turn, whatever AfterAgent would say, and is told from an answer`, {
    ...hooks, ...blocked("AfterAgent", {decision: "block", reason: "do the rest"}),
  }, async (client) => {
    const answer = calls("stopping", {});
    const parts = [{type: "stream-start", warnings: []}, ...answer.content, {type: "finish", finishReason: answer.finishReason, usage}];
    for (const [run, called] of [[generateText, "doGenerateCalls"], [streamText, "doStreamCalls"]]) {
      const model = new MockLanguageModelV3({doGenerate: [answer], doStream: [{stream: convertArrayToReadableStream(parts)}]});
      const ran = [];
      const turn = await agentTurn(client, "p", {session: {session_id: "s"}});
      const result = await run({...withHooks(turn, {model, tools: stopping(ran)}), prompt: turn.prompt, stopWhen: stepCountIs(5)});
      assert.deepEqual([await result.text, await result.providerMetadata], ["enough", {hook: {stopped: "enough"}}]);
      const end = await turn.end(await result.text);
      assert.deepEqual([end.outcome, end.reason, ran, model[called].length], ["stopped", "enough", [], calledFirst]);
      // Nothing is called in it any more.
      assert.equal((await executeTool(turn, {tool_name: "free", tool_input: {}}, () => ran.push("free"))).outcome, "stopped");
      assert.equal((await callModel(turn, "openai-chat", {messages: []}, () => ran.push("model")).finish()).outcome, "stopped");
      assert.deepEqual(ran, []);
    }
  });
}

for (const run of [generateText, streamText]) {
  losing(`an engine that is lost while a tool runs fails the run: ${run.name}`, async (client, kill) => {
    const parts = [...calls("free", {}).content, {type: "finish", finishReason: finish("tool-calls"), usage}];
    const model = new MockLanguageModelV3({doGenerate: [calls("free", {})], doStream: [{stream: convertArrayToReadableStream(parts)}]});
    const tools = {free: tool({inputSchema: z.object({}), execute: kill})};
    let failure;
    const given = {...withHooks(client, {model, tools}), prompt: "p", stopWhen: stepCountIs(5), onError: ({error}) => void (failure = error)};
    await Promise.resolve(run(given)).then(({text}) => text).catch((error) => (failure = error));
    assert.equal(failure?.code, "connection_lost");
    assert.equal(model.doGenerateCalls.length + model.doStreamCalls.length, 1);
  });
}
