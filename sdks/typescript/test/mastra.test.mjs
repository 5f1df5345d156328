// Agents of Mastra, with a scripted model and hooks of the engine itself.

import assert from "node:assert/strict";
import {spawnSync} from "node:child_process";
import {mkdtempSync, rmSync, writeFileSync} from "node:fs";
import {createServer} from "node:http";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {test} from "node:test";
import {fileURLToPath} from "node:url";

import {MockLanguageModelV3, convertArrayToReadableStream} from "ai/test";
import {agentTurn} from "hook-sdk";
import {hookModel, withHooks} from "hook-sdk/mastra";
import {z} from "zod";

import {
  MISSPELT, NO_SECRET, REDACT_REQUEST, REDACT_RESPONSE, TOOL_HOOKS, WITHHELD, WITHHOLDING, agent, losing,
} from "./agents.mjs";
import {folderOf, library} from "./libraries.mjs";

const mastra = library("@mastra/core");
if (mastra) {
  const {Agent} = await mastra("@mastra/core/agent");
  const {createTool} = await mastra("@mastra/core/tools");
  const {Mastra} = await mastra("@mastra/core/mastra");
  const {InMemoryStore} = await mastra("@mastra/core/storage");
  const {MockMemory} = await mastra("@mastra/core/memory");
  const {MastraVoice} = await mastra("@mastra/core/voice");
  const {ModelRouterLanguageModel} = await mastra("@mastra/core/llm");

  const {noopLogger} = await mastra("@mastra/core/logger");

  const usage = {inputTokens: {total: 3}, outputTokens: {total: 4}};
  const finish = (unified) => ({unified, raw: undefined});
  const says = (text) => ({content: [{type: "text", text}], finishReason: finish("stop"), usage, warnings: []});
  const calls = (toolName, input) => ({
    content: [{type: "tool-call", toolCallId: "c-1", toolName, input: JSON.stringify(input)}],
    finishReason: finish("tool-calls"), usage, warnings: [],
  });
  const streams = (...deltas) => ({stream: convertArrayToReadableStream([
    {type: "stream-start", warnings: []}, {type: "text-start", id: "1"},
    ...deltas.map((delta) => ({type: "text-delta", id: "1", delta})),
    {type: "text-end", id: "1"}, {type: "finish", finishReason: finish("stop"), usage},
  ])});
  const made = (scope, model, tools = {}, more = {}) => new Agent(withHooks(scope, {
    id: "a", name: "a", instructions: "be kind", model, tools, ...more,
  }));

  const promptsOf = ({doGenerateCalls, doStreamCalls}) => [...doGenerateCalls, ...doStreamCalls].map(({prompt}) => JSON.stringify(prompt));
  const blocked = (event, answer) => ({
    [event]: [{hooks: [{type: "command", command: `cat >/dev/null; echo '${JSON.stringify(answer)}'`, failBehavior: "block"}]}],
  });

  /** Runs an agent whose model calls a tool, and then says the end; gives what the model got for the call. */
  const called = async (client, name, input, more = {}) => {
    const model = new MockLanguageModelV3({doGenerate: [calls(name, input), says("done")]});
    const ran = [];
    const execute = async (given) => {
      ran.push(given);
      return {weather: `sunny in ${given.city}`};
    };
    const tool = createTool({id: name, description: "d", inputSchema: z.object({city: z.string()}), execute, ...more});
    const result = await made(client, model, {[name]: tool}).generate("p");
    const [, second] = model.doGenerateCalls;
    const output = second?.prompt.at(-1).content[0].output;
    return {ran, text: result.text, tripwire: result.tripwire?.reason, models: model.doGenerateCalls.length, output};
  };

  const weather = {type: "json", value: {weather: "sunny in Rome"}};

  agent("Mastra: a tool runs, and its value reaches the model as it is", TOOL_HOOKS, async (client, {problems}) => {
    const {ran, text, models, output} = await called(client, "free", {city: "Rome"});
    assert.deepEqual([ran, text, models, output], [[{city: "Rome"}], "done", 2, weather]);
    assert.deepEqual(problems, []);
  });

  agent("Mastra: a refused tool does not run, and the model is told why", TOOL_HOOKS, async (client) => {
    const {ran, output, text} = await called(client, "denied", {city: "Rome"});
    assert.deepEqual([ran, text], [[], "done"]);
    assert.match(JSON.stringify(output), /not that one/);
  });

  agent("Mastra: a tool that hooks ask about runs when the user wants it", TOOL_HOOKS, async (client, {asked}) => {
    assert.deepEqual((await called(client, "asked", {city: "Rome"})).output, weather);
    const refused = await called(client, "asked", {city: "nowhere"});
    assert.deepEqual(refused.ran, []);
    assert.match(JSON.stringify(refused.output), /not confirmed: sure\?/);
    assert.deepEqual(asked, ["sure?", "sure?"]);
  });

  agent("Mastra: a tool runs with the arguments that hooks left, if its schema takes them", TOOL_HOOKS, async (client) => {
    assert.deepEqual((await called(client, "rewritten", {city: "Rome"})).ran, [{city: "Oslo"}]);
    const {ran, output} = await called(client, "mistyped", {city: "Rome"});
    assert.deepEqual(ran, []);
    assert.match(JSON.stringify(output), /expected string/);
  });

  agent("Mastra: arguments that hooks add and the schema drops are reported, once", TOOL_HOOKS, async (client, {problems}) => {
    for (let n = 0; n < 2; n++) assert.deepEqual((await called(client, "misspelt", {city: "Rome"})).ran, [{city: "Rome"}]);
    assert.deepEqual(problems, [MISSPELT]);
  });

  agent("Mastra: hooks add context to a result, also where the tool has a form of its own for the model", TOOL_HOOKS, async (client) => {
    const expected = {type: "text", value: '{"weather":"sunny in Rome"}\n\nmind the gap'};
    assert.deepEqual((await called(client, "commented", {city: "Rome"})).output, expected);
    const toModelOutput = (output) => ({type: "text", value: `so ${output.weather}`});
    assert.equal((await called(client, "commented", {city: "Rome"}, {toModelOutput})).output.value, "so sunny in Rome\n\nmind the gap");
    assert.deepEqual((await called(client, "free", {city: "Rome"}, {toModelOutput})).output.value, "so sunny in Rome");
  });

  agent("Mastra: hooks see all of a result that the model or the display gets, whatever form it has", {AfterTool: [NO_SECRET]}, async (client) => {
    let reads = 0;
    for (const more of [
      {execute: async () => ({llmContent: "harmless", secret: "1234"})},
      {execute: async () => ({note: "harmless"}), toModelOutput: () => ({type: "text", value: "1234"})},
      {execute: async () => ({note: "1234"}), toModelOutput: () => ({type: "text", value: "harmless"})},
      {execute: async () => Promise.reject(Object.assign(new Error("1234"), {name: "Own"}))},
    ]) {
      const {output} = await called(client, "free", {city: "Rome"}, more);
      assert.match(JSON.stringify(output), /secret inside/);
      assert.doesNotMatch(JSON.stringify(output), /\b1234\b|harmless/);
    }
    const {output} = await called(client, "free", {city: "Rome"}, {toModelOutput: () => ({type: "text", value: reads++ === 0 ? "harmless" : "1234"})});
    assert.deepEqual(output, {type: "text", value: "harmless"});
  });

  agent("Mastra: what a tool changes of its result while hooks look at it does not reach the model", {}, async (client) => {
    const log = ["one"];
    await client.ready(client.registerHook("AfterTool", {handler: () => void log.push("two")}));
    const {output} = await called(client, "free", {city: "Rome"}, {execute: async () => log});
    assert.deepEqual([log, output.value], [["one", "two"], ["one"]]);
  });

  for (const [how, hooks] of WITHHOLDING) {
    agent(`Mastra: a tool that hooks withhold does not run where the model calls it all the same: ${how}`, hooks, async (client) => {
      const parts = [{type: "stream-start", warnings: []}, ...calls("free", {}).content, {type: "finish", finishReason: finish("tool-calls"), usage}];
      const model = new MockLanguageModelV3({doGenerate: [calls("free", {})], doStream: [{stream: convertArrayToReadableStream(parts)}]});
      const ran = [];
      const toolOf = (id) => createTool({id, description: "d", inputSchema: z.object({}), execute: () => ran.push(id)});
      const one = made(client, model, {free: toolOf("free"), other: toolOf("other")});
      await assert.rejects(one.generate("p"), ({message}) => message === WITHHELD.message);
      const streamed = await one.stream("p");
      await streamed.consumeStream();
      assert.deepEqual([streamed.error?.message, ran, model.doGenerateCalls.length, model.doStreamCalls.length], [WITHHELD.message, [], 1, 1]);
    });
  }

  agent("Mastra: a reason replaces a result", TOOL_HOOKS, async (client) => {
    const {ran, output} = await called(client, "replaced", {city: "Rome"});
    assert.equal(ran.length, 1);
    assert.match(JSON.stringify(output), /secret inside/);
    assert.doesNotMatch(JSON.stringify(output), /sunny/);
  });

  agent("Mastra: a stop ends the run and not the agent", TOOL_HOOKS, async (client) => {
    const model = new MockLanguageModelV3({doGenerate: [calls("stopping", {city: "Rome"}), says("next")]});
    const ran = [];
    const tool = createTool({id: "stopping", description: "d", inputSchema: z.object({city: z.string()}), execute: (given) => ran.push(given)});
    const one = made(client, model, {stopping: tool});
    const first = await one.generate("p");
    assert.deepEqual([ran, model.doGenerateCalls.length, first.tripwire?.reason], [[], 1, "enough"]);
    assert.equal((await one.generate("p")).text, "next");
  });

  agent("Mastra: a tool that waits for Mastra's approval is asked about, or refused after a restart", TOOL_HOOKS, async (client) => {
    for (const [name, isRestarted, expected] of [["free", false, 1], ["denied", false, 0], ["free", true, 0]]) {
      const parts = [
        {type: "stream-start", warnings: []},
        {type: "tool-call", toolCallId: "c-1", toolName: name, input: '{"city":"Rome"}'},
        {type: "finish", finishReason: finish("tool-calls"), usage},
      ];
      const model = new MockLanguageModelV3({doStream: [{stream: convertArrayToReadableStream(parts)}, streams("done")]});
      const ran = [];
      const tool = createTool({id: name, description: "d", inputSchema: z.object({city: z.string()}), requireApproval: true, execute: (given) => ran.push(given)});
      const storage = new InMemoryStore();
      const started = () => new Mastra({agents: {a: made(client, model, {[name]: tool})}, storage, logger: false}).getAgent("a");
      const one = started();
      const first = await one.stream("p");
      await first.consumeStream();
      assert.deepEqual(ran, []);
      const second = await (isRestarted ? started() : one).approveToolCall({runId: first.runId, toolCallId: "c-1"});
      await second.consumeStream();
      assert.equal(ran.length, expected, name);
      if (isRestarted) assert.match(JSON.stringify(model.doStreamCalls[1].prompt), /hooks were not asked about this call of free/);
    }
  });

  agent("Mastra: an agent's own processors and hooks stay, and a run with other ones calls no tool", TOOL_HOOKS, async (client) => {
    const seen = [];
    const own = {id: "own", processInput: ({messages}) => (seen.push("processor"), messages)};
    for (const inputProcessors of [[own], async () => [own]]) {
      const model = new MockLanguageModelV3({doGenerate: [calls("free", {}), calls("free", {}), says("done")]});
      const ran = [];
      const tool = createTool({id: "free", description: "d", execute: () => ran.push("free")});
      const one = made(client, model, {free: tool}, {inputProcessors, hooks: {beforeToolCall: () => void seen.push("hook")}});
      await one.generate("p", {maxSteps: 1});
      assert.deepEqual([ran, seen.splice(0)], [["free"], ["processor", "hook"]]);
      await one.generate("p", {maxSteps: 1, inputProcessors: [own]});
      assert.deepEqual([ran, seen.splice(0)], [["free"], ["processor"]]);
    }
  });

  agent("Mastra: the model gets the request that hooks left, not the secret", {BeforeModel: [REDACT_REQUEST]}, async (client) => {
    const model = new MockLanguageModelV3({doGenerate: [says("done")], doStream: [streams("do", "ne")]});
    const one = made(client, model);
    assert.equal((await one.generate("my key is 1234")).text, "done");
    assert.equal(await (await one.stream("my key is 1234")).text, "done");
    for (const {prompt} of [...model.doGenerateCalls, ...model.doStreamCalls]) {
      assert.doesNotMatch(JSON.stringify(prompt), /\b1234\b/);
      assert.match(JSON.stringify(prompt), /my key is \*\*\*\*/);
      assert.match(JSON.stringify(prompt), /be kind/);
    }
  });

  agent("Mastra: an answer is what hooks left of it, each chunk of a stream", {AfterModel: [REDACT_RESPONSE]}, async (client) => {
    const model = new MockLanguageModelV3({doGenerate: [says("the key is 1234")], doStream: [streams("the key ", "is 1234")]});
    const one = made(client, model);
    assert.equal((await one.generate("p")).text, "the key is ****");
    const shown = [];
    for await (const chunk of (await one.stream("p")).textStream) shown.push(chunk);
    assert.deepEqual(shown, ["the key ", "is ****"]);
  });

  for (const [what, hooks, expected, count] of [
    ["a hook's own answer", blocked("BeforeModel", {hookSpecificOutput: {llm_response: {text: "from a hook"}}}), "from a hook", 0],
    ["a refused call", blocked("BeforeModel", {decision: "block", reason: "not here"}), "not here", 0],
    ["a stop", blocked("BeforeModel", {continue: false, stopReason: "enough"}), "enough", 0],
    ["a refused answer", blocked("AfterModel", {decision: "block", reason: "not that"}), "not that", 1],
  ]) {
    agent(`Mastra: ${what} ends the run with a text`, hooks, async (client) => {
      const model = new MockLanguageModelV3({doGenerate: [says("the key is 1234")]});
      const {text} = await made(client, model).generate("p");
      assert.deepEqual([text, model.doGenerateCalls.length], [expected, count]);
    });
  }

  for (const [chunks, deltas, text] of [["complete", ["plan"], "plan"], ["complete", [], "not that"], ["each", [], "not that"]]) {
    const command = `grep -q '"chunk":true' && echo '{}' || echo '{"decision": "block", "reason": "not that"}'`;
    const refusing = {AfterModel: [{hooks: [{type: "command", command, failBehavior: "block"}]}]};
    agent(`Mastra: of a refused answer no tool runs: ${chunks}, ${deltas.length} texts`, refusing, async (client) => {
      const stream = convertArrayToReadableStream([
        {type: "stream-start", warnings: []},
        ...deltas.flatMap((delta) => [{type: "text-start", id: "1"}, {type: "text-delta", id: "1", delta}, {type: "text-end", id: "1"}]),
        {type: "tool-call", toolCallId: "c-1", toolName: "free", input: "{}"}, {type: "finish", finishReason: finish("tool-calls"), usage},
      ]);
      const model = new MockLanguageModelV3({doStream: [{stream}, streams("done")]});
      const ran = [];
      const free = createTool({id: "free", description: "d", execute: () => ran.push("free")});
      const config = {id: "a", name: "a", instructions: "be kind", model, tools: {free}};
      const result = await new Agent(withHooks(client, config, {chunks})).stream("p");
      let shown = "";
      for await (const {type, payload} of result.fullStream) if (type === "text-delta") shown += payload.text;
      assert.deepEqual([ran, shown, model.doStreamCalls.length], [[], text, 1]);
    });
  }

  agent("Mastra: a model that a step or a structured output brings along is refused, before it is called", TOOL_HOOKS, async (client) => {
    const other = new MockLanguageModelV3({modelId: "other", doGenerate: [says("never")], doStream: [streams('{"a": "never"}')]});
    const model = new MockLanguageModelV3({doGenerate: [says('{"a": "own"}')]});
    const one = made(client, model);
    const schema = z.object({a: z.string()});
    await assert.rejects(one.generate("p", {prepareStep: () => ({model: other})}), /the model other of this step has no hooks/);
    await assert.rejects(one.generate("p", {structuredOutput: {schema, model: other}}), /the model of `structuredOutput` has no hooks/);
    assert.deepEqual([other.doGenerateCalls.length, other.doStreamCalls.length, model.doGenerateCalls.length], [0, 0, 0]);
    const {object} = await one.generate("p", {prepareStep: ({model}) => ({model}), structuredOutput: {schema}});
    assert.deepEqual(object, {a: "own"});
    const structuring = new MockLanguageModelV3({doGenerate: [says('{"a": "other"}')], doStream: [streams('{"a": "other"}')]});
    const plain = new MockLanguageModelV3({doGenerate: [says("my key is 1234")]});
    const asked = await made(client, plain).generate("p", {structuredOutput: {schema, model: hookModel(client, structuring)}});
    assert.deepEqual(asked.object, {a: "other"});
    assert.deepEqual([plain, structuring].map((it) => promptsOf(it).length), [1, 1]);
  });

  /** Runs an agent whose threads get titles; gives the title of its thread, and what Mastra logs of those that failed. */
  const titled = async (scope, model, generateTitle, options) => {
    const memory = new MockMemory({options: {generateTitle}});
    const errors = [];
    const logger = {...noopLogger, error: (_, {error} = {}) => errors.push(error?.message)};
    const {a} = new Mastra({agents: {a: made(scope, model, {}, {memory: generateTitle === true ? memory : async () => memory})}, logger}).listAgents();
    const pending = [];
    const result = await a.generate("my key is 1234", {
      memory: {thread: "t", resource: "r", options}, serverless: {waitUntil: (it) => pending.push(it)},
    });
    assert.deepEqual([result.text, pending.length], ["done", 1]);
    await pending[0];
    return {title: (await memory.getThreadById({threadId: "t"})).title, errors};
  };

  agent("Mastra: the model's call for a title is seen by hooks", {BeforeModel: [REDACT_REQUEST]}, async (client) => {
    // It may be made after its turn has ended.
    const turn = await agentTurn(client, "p");
    await turn.end("done");
    for (const titles of [() => true, (it) => ({model: it}), (it) => ({model: () => it}), (it) => ({model: it && hookModel(turn, it)})]) {
      const [model, other] = [[says("done"), says("a title")], [says("another")]].map((doGenerate) => new MockLanguageModelV3({doGenerate}));
      const {title, errors} = await titled(client, model, titles(other));
      assert.deepEqual([title, errors], [titles() === true ? "a title" : "another", []]);
      const prompts = [...promptsOf(model), ...promptsOf(other)];
      assert.equal(prompts.length, 2);
      for (const prompt of prompts) assert.match(prompt, /my key is \*\*\*\*/);
    }
  });

  const noTitles = `grep -q "short title" && echo '{"decision": "block", "reason": "no titles"}' || echo '{}'`;
  agent("Mastra: a refused title is none", {BeforeModel: [{hooks: [{type: "command", command: noTitles, failBehavior: "block"}]}]}, async (client) => {
    const model = new MockLanguageModelV3({doGenerate: [says("done"), says("a title")]});
    const {title, errors} = await titled(client, model, true);
    assert.deepEqual([title, errors, model.doGenerateCalls.length], ["", ["no titles"], 1]);
  });

  agent("Mastra: hooks are asked about a run without a user's message", blocked("BeforeAgent", {decision: "block", reason: "not today"}), async (client) => {
    const model = new MockLanguageModelV3({doGenerate: [says("done")]});
    for (const messages of [[], [{role: "assistant", content: "so far"}], [{role: "system", content: "go on"}]]) {
      const {tripwire} = await made(client, model).generate(messages);
      assert.deepEqual([tripwire?.reason, model.doGenerateCalls.length], ["not today", 0]);
    }
  });

  agent("Mastra: what hooks add to a run without a user's message is one", blocked("BeforeAgent", {hookSpecificOutput: {additionalContext: "mind the gap"}}), async (client) => {
    const model = new MockLanguageModelV3({doGenerate: [says("done")]});
    assert.equal((await made(client, model).generate([{role: "assistant", content: "so far"}])).text, "done");
    const last = model.doGenerateCalls[0].prompt.at(-1);
    assert.deepEqual([last.role, last.content.map(({text}) => text)], ["user", ["mind the gap"]]);
  });

  agent("Mastra: a network is refused, which would run tools past hooks", TOOL_HOOKS, async (client, {problems}) => {
    const choice = {primitiveId: "free", primitiveType: "tool", prompt: "{}", selectionReason: "it fits"};
    const model = new MockLanguageModelV3({doGenerate: [says(JSON.stringify(choice))]});
    const ran = [];
    const free = createTool({id: "free", description: "d", inputSchema: z.object({}), execute: () => ran.push("free")});
    const one = made(client, model, {free}, {memory: new MockMemory()});
    const network = await one.network("p", {maxSteps: 1, memory: {thread: "t", resource: "r"}});
    for await (const _ of network);
    assert.deepEqual([await network.status, ran, model.doGenerateCalls.length], ["failed", [], 0]);
    assert.match(problems.join(), /`network` runs tools and workflows past hooks/);
  });

  agent("Mastra: a run with other processors has its model asked all the same", {BeforeModel: [REDACT_REQUEST]}, async (client) => {
    const model = new MockLanguageModelV3({doGenerate: [says("done")], doStream: [streams("do", "ne")]});
    const one = made(client, model);
    const inputProcessors = [{id: "own", processInput: ({messages}) => messages}];
    assert.equal((await one.generate("my key is 1234", {inputProcessors})).text, "done");
    assert.equal(await (await one.stream("my key is 1234", {inputProcessors})).text, "done");
    for (const prompt of promptsOf(model)) assert.match(prompt, /my key is \*\*\*\*/);
  });

  agent("Mastra: models are named, chosen, listed, and asked about once", {BeforeModel: [REDACT_REQUEST]}, async (client) => {
    const requests = [];
    const provider = createServer(async (request, response) => {
      let body = "";
      for await (const chunk of request) body += chunk;
      requests.push({body, header: request.headers["x-own"]});
      const chunk = (delta, finish_reason = null) => `data: ${JSON.stringify({id: "1", object: "chat.completion.chunk", created: 1, model: "m", choices: [{index: 0, delta, finish_reason}]})}\n\n`;
      response.end(`${chunk({role: "assistant", content: "done"})}${chunk({}, "stop")}data: [DONE]\n\n`);
    });
    await new Promise((resolve) => provider.listen(0, "127.0.0.1", resolve));
    try {
      const named = {id: "own/m", url: `http://127.0.0.1:${provider.address().port}/v1`, apiKey: "k", headers: {"x-own": "yes"}};
      for (const model of [named, () => named, async () => [{model: named}], [{model: named, maxRetries: 0}], new ModelRouterLanguageModel(named)]) {
        const result = await made(client, model).stream("my key is 1234");
        assert.equal(await result.text, "done");
      }
      assert.equal(requests.length, 5);
      for (const {body, header} of requests) {
        assert.match(body, /my key is \*\*\*\*/);
        assert.equal(header, "yes");
      }
    } finally {
      provider.close();
    }
  });

  agent("Mastra: a model of the first version is refused", {}, async (client) => {
    const model = {...new MockLanguageModelV3(), specificationVersion: "v1"};
    assert.throws(() => made(client, model), {code: "invalid_value", message: /of the first version/});
  });

  agent("Mastra: tools that a step brings along are refused, others stay", TOOL_HOOKS, async (client) => {
    for (const [chosen, name, error] of [["other", "other"], ["free", "free"], [undefined, "free"], ["kept", "free"]].map((it) => [...it, it[0] && it[0] !== "kept"])) {
      const parts = () => convertArrayToReadableStream([
        {type: "stream-start", warnings: []}, {type: "tool-call", toolCallId: "c-1", toolName: name, input: "{}"}, {type: "finish", finishReason: finish("tool-calls"), usage},
      ]);
      const model = new MockLanguageModelV3({doGenerate: [calls(name, {}), says("done")], doStream: [{stream: parts()}, streams("done")]});
      const ran = [];
      const toolOf = (id, what) => createTool({id, description: "d", inputSchema: z.object({}), execute: () => ran.push(what)});
      const one = made(client, model, {free: toolOf("free", "own"), there: createTool({id: "there", description: "d", inputSchema: z.object({})})});
      const prepareStep = ({tools}) => (chosen === undefined ? {} : {tools: chosen === "kept" ? {...tools} : {...tools, [chosen]: toolOf(chosen, "foreign")}});
      const run = one.generate("p", {prepareStep});
      if (error) await assert.rejects(run, new RegExp(`the tool ${name} has no hooks`));
      else assert.equal((await run).text, "done");
      await (await one.stream("p", {prepareStep})).consumeStream();
      assert.deepEqual([ran, model.doGenerateCalls.length, model.doStreamCalls.length], error ? [[], 0, 0] : [["own", "own"], 2, 2]);
    }
  });

  for (const [what, hooks] of [["a tool's", TOOL_HOOKS], ["the model's", blocked("BeforeModel", {continue: false, stopReason: "enough"})]]) {
    agent(`Mastra: ${what} stop ends the turn, whatever AfterAgent would say`, {
      ...hooks, ...blocked("AfterAgent", {decision: "block", reason: "do the rest"}),
    }, async (client) => {
      const model = new MockLanguageModelV3({doGenerate: [calls("stopping", {})]});
      const stopping = createTool({id: "stopping", description: "d", execute: () => 1});
      const turn = await agentTurn(client, "p");
      const {text, tripwire, providerMetadata} = await made(turn, model, {stopping}).generate(turn.prompt);
      assert.equal(tripwire?.reason ?? providerMetadata.hook.stopped, "enough");
      const end = await turn.end(text);
      assert.deepEqual([end.outcome, end.reason], ["stopped", "enough"]);
    });
  }

  const refusing = {...TOOL_HOOKS, BeforeAgent: [{hooks: [{type: "command", command: `if grep -q '"prompt":"no"'; then echo 'not today' >&2; exit 2; fi`, failBehavior: "block"}]}]};
  losing("Mastra: an engine that is lost while a tool runs fails the run", async (client, kill) => {
    const model = new MockLanguageModelV3({doGenerate: [calls("free", {})]});
    const free = createTool({id: "free", description: "d", execute: kill});
    await assert.rejects(made(client, model, {free}).generate("p"), /the hook server/);
    assert.equal(model.doGenerateCalls.length, 1);
  });

  agent("Mastra: a stop or a refused prompt is one line in Mastra's log, not a stack", refusing, async (client, _, t) => {
    const model = new MockLanguageModelV3({doGenerate: [calls("stopping", {})]});
    const logged = t.mock.method(console, "error", () => {}).mock;
    for (const prompt of ["stop", "no"]) {
      await made(client, model, {stopping: createTool({id: "stopping", description: "d", execute: () => 1})}).generate(prompt);
    }
    assert.deepEqual(logged.calls.map(({arguments: [line]}) => line.split(": ").slice(-2).join(": ")), ["hooks: enough", "hooks: not today"]);
  });

  agent("Mastra: an agent goes on as hooks say, and the user is told at which limit it ends", blocked("AfterAgent", {decision: "block", reason: "do the rest"}), async (client, {problems}) => {
    const model = new MockLanguageModelV3({doGenerate: [says("half"), says("all")]});
    const session = {session_id: "s", maxContinuations: 1};
    const outcomes = [];
    for (let prompt = "p"; prompt !== undefined;) {
      const turn = await agentTurn(client, prompt, {session});
      const end = await turn.end((await made(turn, model).generate(turn.prompt)).text);
      outcomes.push(end.outcome);
      prompt = end.prompt;
    }
    assert.deepEqual([outcomes, problems], [["continue", "limit-reached"], ["hooks had the agent go on 1 times: do the rest"]]);
    assert.match(promptsOf(model)[1], /do the rest/);
  });

  agent("Mastra: a refused prompt reaches no model", blocked("BeforeAgent", {decision: "block", reason: "not today"}), async (client) => {
    const model = new MockLanguageModelV3({doGenerate: [says("done")]});
    const {tripwire} = await made(client, model).generate("p");
    assert.deepEqual([tripwire?.reason, model.doGenerateCalls.length], ["not today", 0]);
  });

  agent("Mastra: hooks add to a prompt, once in a turn", blocked("BeforeAgent", {hookSpecificOutput: {additionalContext: "mind the gap"}}), async (client) => {
    const model = new MockLanguageModelV3({doGenerate: [says("done"), says("done")]});
    await made(client, model).generate("p");
    const turn = await agentTurn(client, "p");
    await made(turn, model).generate(turn.prompt);
    for (const {prompt} of model.doGenerateCalls) assert.equal(JSON.stringify(prompt).match(/mind the gap/g)?.length, 1, JSON.stringify(prompt));
  });

  const before = {customType: "note", content: "mind the gap", display: true};
  agent("Mastra: a hook's message is before the prompt", blocked("BeforeAgent", {hookSpecificOutput: {message: before}}), async (client) => {
    const model = new MockLanguageModelV3({doGenerate: [says("done")]});
    await made(client, model).generate("p");
    assert.deepEqual(model.doGenerateCalls[0].prompt.at(-1).content.map(({text}) => text), ["mind the gap\n\np"]);
  });

  const guarding = {BeforeAgent: [NO_SECRET, ...blocked("BeforeAgent", {hookSpecificOutput: {additionalContext: "mind the gap"}}).BeforeAgent]};
  agent("Mastra: hooks are asked about a prompt that is sent to a thread, also while the agent runs", guarding, async (client) => {
    for (const text of ["my key is 1234", "go on"]) {
      for (const isRunning of [false, true]) {
        const send = () => one.sendMessage(text, {threadId: "t", resourceId: "r"});
        const streamed = [{type: "tool-call", toolCallId: "c-1", toolName: "free", input: "{}"}, {type: "finish", finishReason: finish("tool-calls"), usage}];
        const model = new MockLanguageModelV3({doStream: [...(isRunning ? [{stream: convertArrayToReadableStream(streamed)}] : []), streams("done")]});
        const free = createTool({id: "free", description: "d", inputSchema: z.object({}), execute: async () => (send(), "sunny")});
        const agents = {a: made(client, model, {free}, {memory: new MockMemory()})};
        const one = new Mastra({agents, storage: new InMemoryStore(), logger: false}).getAgent("a");
        const subscription = await one.subscribeToThread({threadId: "t", resourceId: "r"});
        if (isRunning) void one.stream("p", {memory: {thread: "t", resource: "r"}}).then((run) => run.consumeStream());
        else send();
        for await (const {type} of subscription.stream) if (type === "finish" || type === "tripwire") break;
        const prompts = promptsOf(model).map((prompt) => [prompt.includes(text), prompt.match(/mind the gap/g)?.length]);
        const first = isRunning ? [[false, 1]] : [];
        assert.deepEqual(prompts, text === "go on" ? [...first, [true, first.length + 1]] : first);
      }
    }
  });

  agent("Mastra: hooks are asked about each prompt of several that were sent", {BeforeAgent: [NO_SECRET]}, async (client) => {
    const sent = (id, text) => ({id, role: "signal", type: "user", createdAt: new Date(), content: {
      format: 2, parts: [{type: "text", text}], metadata: {signal: {id, type: "user", tagName: "user", createdAt: "2026-01-01T00:00:00Z"}},
    }});
    const model = new MockLanguageModelV3({doGenerate: [says("done")]});
    const {tripwire} = await made(client, model).generate([sent("1", "my key is 1234"), sent("2", "go on")]);
    assert.deepEqual([tripwire?.reason, model.doGenerateCalls.length], ["secret inside", 0]);
  });

  agent("Mastra: a tool of the provider that runs here is asked about", TOOL_HOOKS, async (client) => {
    for (const [name, expected] of [["free", ["free"]], ["denied", []]]) {
      const model = new MockLanguageModelV3({doGenerate: [calls(name, {}), says("done")]});
      const ran = [];
      const tool = {type: "provider-defined", id: `own.${name}`, name, args: {}, inputSchema: z.object({}), execute: () => ran.push(name)};
      assert.equal((await made(client, model, {[name]: tool}).generate("p")).text, "done");
      assert.deepEqual(ran, expected);
    }
  });

  agent("Mastra: a voice, which would call tools past hooks, gets none", TOOL_HOOKS, async (client, {problems}) => {
    const given = [];
    const voice = new (class extends MastraVoice {
      addTools = (tools) => given.push(tools);
    })();
    const free = createTool({id: "free", description: "d", execute: () => 1});
    const one = made(client, new MockLanguageModelV3(), {free}, {voice});
    assert.ok((await one.getVoice()) instanceof MastraVoice);
    assert.deepEqual([given, problems], [[], ["the voice of an agent gets no tools: hooks would not be asked about them"]]);
  });

  agent("Mastra: another agent without hooks is reported", TOOL_HOOKS, async (client, {problems}) => {
    const model = new MockLanguageModelV3();
    const agents = {hooked: made(client, model), plain: new Agent({id: "b", name: "b", description: "d", instructions: "be kind", model})};
    for (const own of [agents, () => agents, async () => agents]) await made(client, model, {}, {agents: own}).listAgents();
    assert.deepEqual(problems, ["hooks do not see what the agent plain does: it needs a `withHooks` of its own"]);
  });

  agent("Mastra: without an answer of the hooks neither the model nor a tool is called", TOOL_HOOKS, async (client) => {
    await client.close();
    const model = new MockLanguageModelV3({doGenerate: [calls("free", {city: "Rome"})]});
    await assert.rejects(made(client, model).generate("p"), /could not be asked|closed/);
    assert.equal(model.doGenerateCalls.length, 0);
  });

  test("Mastra: its types pass through, also in the example", () => {
    const sdk = fileURLToPath(new URL("..", import.meta.url));
    const folder = mkdtempSync(join(tmpdir(), "hook-mastra-"));
    try {
      const paths = {
        "hook-sdk": [join(sdk, "dist/index.d.ts")], "hook-sdk/*": [join(sdk, "dist/integrations/*.d.ts")],
        "ai/test": [join(sdk, "node_modules/ai/dist/test/index.d.ts")], zod: [join(sdk, "node_modules/zod/index.d.cts")],
        "@mastra/core/*": [join(folderOf("@mastra/core"), "dist/*/index.d.ts")],
      };
      writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({
        extends: join(sdk, "tsconfig.check.json"),
        compilerOptions: {rootDir: "/", typeRoots: [join(sdk, "node_modules/@types")], paths},
        files: [join(sdk, "test/mastra-types.mts"), join(sdk, "../../docs/examples/sdk/typescript/agents/mastra.mjs")],
        include: [],
      }));
      const {status, stdout} = spawnSync(join(sdk, "node_modules/.bin/tsc"), ["-p", folder], {encoding: "utf8"});
      assert.equal(status, 0, stdout);
    } finally {
      rmSync(folder, {recursive: true});
    }
  });
}
