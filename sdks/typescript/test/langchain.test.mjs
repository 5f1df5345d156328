// Agents of LangChain, with a scripted model and hooks of the engine itself.

import assert from "node:assert/strict";

import {AIMessage, HumanMessage, SystemMessage, ToolMessage} from "@langchain/core/messages";
import {Command, MemorySaver, interrupt} from "@langchain/langgraph";
import {HookClient, agentTurn} from "hook-sdk";
import {hookMiddleware} from "hook-sdk/langchain";
import {FakeToolCallingModel, createAgent, createMiddleware, providerStrategy, tool, toolStrategy} from "langchain";
import {z} from "zod";

import {
  MISSPELT, NO_SECRET, REDACT_REQUEST, REDACT_RESPONSE, TOOL_HOOKS, WITHHELD, WITHHOLDING, agent, losing,
} from "./agents.mjs";

/** A model that gives these messages, and keeps what it got. */
function scripted(...answers) {
  const got = [];
  const model = new (class extends FakeToolCallingModel {
    async _generate(messages) {
      got.push(messages);
      const message = answers.shift();
      return {generations: [{text: message.text, message}]};
    }
    bindTools(tools, options) {
      got.tools = tools.map(({name}) => name);
      got.options = options;
      return this;
    }
  })({});
  return {model, got};
}

const calls = (name, args) => new AIMessage({content: "", tool_calls: [{id: "c-1", name, args}]});
const says = (text) => new AIMessage(text);

/** Runs an agent whose model calls a tool, and then says the end; gives what the model got for the call. */
async function called(client, name, city, middleware = [hookMiddleware(client)]) {
  const {model, got} = scripted(calls(name, {city}), says("done"));
  const ran = [];
  const tools = [tool(({city}) => {
    ran.push(city);
    if (city === "broken") throw new RangeError("disk full");
    return `sunny in ${city}`;
  }, {name, description: "d", schema: z.object({city: z.string()})})];
  const {messages} = await createAgent({model, tools, middleware}).invoke({messages: [new HumanMessage("p")]});
  const answer = messages.find((message) => message.getType() === "tool");
  return {ran, models: got.length, text: messages.at(-1).text, tool: answer && [answer.text, answer.status ?? "success"]};
}

agent("tools of an agent, in all that hooks may do about them", TOOL_HOOKS, async (client, {asked}) => {
  const done = {text: "done", models: 2};
  assert.deepEqual(await called(client, "free", "Rome"), {ran: ["Rome"], tool: ["sunny in Rome", "success"], ...done});
  assert.deepEqual(await called(client, "denied", "Rome"), {ran: [], tool: ["not that one", "error"], ...done});
  assert.deepEqual(await called(client, "asked", "Rome"), {ran: ["Rome"], tool: ["sunny in Rome", "success"], ...done});
  assert.deepEqual(await called(client, "asked", "nowhere"), {ran: [], tool: ["not confirmed: sure?", "error"], ...done});
  assert.deepEqual(await called(client, "rewritten", "Rome"), {ran: ["Oslo"], tool: ["sunny in Oslo", "success"], ...done});
  assert.deepEqual(await called(client, "commented", "Rome"), {ran: ["Rome"], tool: ["sunny in Rome\n\nmind the gap", "success"], ...done});
  assert.deepEqual(await called(client, "replaced", "Rome"), {ran: ["Rome"], tool: ["secret inside", "error"], ...done});
  assert.deepEqual(asked, ["sure?", "sure?"]);
});

agent("arguments that hooks add and the schema drops are reported, once", TOOL_HOOKS, async (client, {problems}) => {
  for (let n = 0; n < 2; n++) assert.deepEqual((await called(client, "misspelt", "Rome")).ran, ["Rome"]);
  assert.deepEqual(problems, [MISSPELT]);
});

agent("a tool of the same answer does not run after a stop, also where the user has approved it since", TOOL_HOOKS, async (client, {asked, until}) => {
  const {model, got} = scripted(new AIMessage({content: "", tool_calls: ["stopping", "asked"].map((name) => ({id: name, name, args: {}}))}));
  const ran = [];
  const tools = ["stopping", "asked"].map((name) => tool(() => ran.push(name), {name, description: "d", schema: z.object({})}));
  let stopped;
  until.approval = new Promise((resolve) => (stopped = resolve));
  const around = createMiddleware({name: "around", wrapToolCall: async (request, handler) => {
    const answer = await handler(request);
    if (request.toolCall.name === "stopping") stopped();
    return answer;
  }});
  const {messages} = await createAgent({model, tools, middleware: [around, hookMiddleware(client)]}).invoke({messages: [new HumanMessage("p")]});
  assert.deepEqual([asked, ran, messages.at(-1).text, got.length], [["sure?"], [], "enough", 1]);
});

agent("a stop ends the agent: the model is not called again", TOOL_HOOKS, async (client) => {
  assert.deepEqual(await called(client, "stopping", "Rome"), {ran: [], tool: ["enough", "error"], models: 1, text: "enough"});
  const turn = await agentTurn(client, "p");
  await called(turn, "stopping", "Rome");
  assert.equal((await turn.end("r")).outcome, "stopped");
});

agent("arguments that the tool's schema does not take are said to the model as the library does", TOOL_HOOKS, async (client) => {
  const {ran, tool: [text, status], models} = await called(client, "mistyped", "Rome");
  assert.deepEqual([ran, status, models], [[], "error", 2]);
  assert.match(text, /did not match expected schema/);
});

agent("what a tool throws reaches the model as without hooks, and other middleware as it was thrown", TOOL_HOOKS, async (client) => {
  const plain = await called(client, "free", "broken", []);
  assert.match(plain.tool[0], /RangeError: disk full/);
  assert.deepEqual(await called(client, "free", "broken"), plain);
  const seen = [];
  const around = createMiddleware({name: "around", wrapToolCall: (request, handler) => handler(request).catch((error) => {
    seen.push(error.name);
    return handler(request);
  })});
  const retried = await called(client, "free", "broken", [around, hookMiddleware(client)]);
  assert.deepEqual([retried.ran, retried.tool, seen], [["broken", "broken"], plain.tool, ["RangeError"]]);
});

for (const [how, hooks] of WITHHOLDING) {
  agent(`a tool that hooks withhold does not run where the model calls it all the same: ${how}`, hooks, async (client) => {
    const ran = [];
    const tools = ["free", "other"].map((name) => tool(() => ran.push(name), {name, description: "d", schema: z.object({})}));
    // Also one that is not offered.
    const around = createMiddleware({name: "around", wrapModelCall: (request, handler) => handler({...request, tools: tools.slice(1)})});
    for (const outer of [[], [around]]) {
      const {model, got} = scripted(calls("free", {}), says("never"));
      const made = createAgent({model, tools, middleware: [...outer, hookMiddleware(client)]});
      await assert.rejects(made.invoke({messages: [new HumanMessage("p")]}), {name: "HookRefusal", message: WITHHELD.message});
      assert.deepEqual([ran, got.length], [[], 1]);
    }
  });
}

/** Runs an agent whose model calls a tool that returns this; gives the texts that the model got for the call. */
async function returning(client, name, run) {
  const {model, got} = scripted(calls(name, {}), says("done"));
  const tools = [tool(run, {name, description: "d", schema: z.object({}), responseFormat: "content"})];
  await createAgent({model, tools, middleware: [hookMiddleware(client)]}).invoke({messages: [new HumanMessage("p")]});
  return got[1].slice(2).map(({text}) => text);
}

agent("hooks see the messages of a command, and may change them", {AfterTool: [...TOOL_HOOKS.AfterTool, NO_SECRET]}, async (client, {problems}) => {
  const answer = (content) => new ToolMessage({content, tool_call_id: "c-1"});
  const said = {role: "user", content: "more"};
  const commands = (...messages) => [new Command({update: {messages}}), new Command({update: [["messages", messages]]})];
  for (const command of commands(answer("1234"))) assert.deepEqual(await returning(client, "free", () => command), ["secret inside"]);
  for (const command of commands(answer("sunny"), {role: "user", content: "1234"})) assert.deepEqual(await returning(client, "free", () => command), ["secret inside"]);
  for (const command of commands(answer("sunny"), said)) {
    assert.deepEqual(await returning(client, "free", () => command), ["sunny", "more"]);
    assert.deepEqual((await returning(client, "commented", () => command)).map((text) => text.replaceAll("\n", "")), ["sunnymoremind the gap"]);
  }
  for (const command of commands(answer("sunny"))) assert.deepEqual(await returning(client, "commented", () => command), ["sunny\n\nmind the gap"]);
  assert.deepEqual(problems, []);
  await returning(client, "commented", () => new Command({update: {}}));
  assert.deepEqual(problems, ["the tool commented returned no answer that hooks could change"]);
});

agent("what a tool changes of its result while hooks look at it does not reach the model", {}, async (client) => {
  const parts = [{type: "text", text: "one"}];
  await client.ready(client.registerHook("AfterTool", {handler: () => void parts.push({type: "text", text: "two"})}));
  const made = new ToolMessage({content: parts, tool_call_id: "c-1"});
  assert.deepEqual(await returning(client, "free", () => made), ["one"]);
  assert.equal(parts.length, 2);
  assert.deepEqual(await returning(client, "free", () => new Command({update: {messages: [made]}})), ["onetwo"]);
  assert.equal(parts.length, 3);
});

agent("the model gets what hooks have seen of what a tool throws", {}, async (client) => {
  const strange = Object.assign(new Error("harmless"), {toString: () => "1234"});
  const [text] = await returning(client, "free", () => Promise.reject(strange));
  assert.match(text, /^Error: harmless/);
});

agent("a refused prompt is not in the thread for the next turn, also where hooks could not be asked", {BeforeAgent: [NO_SECRET]}, async (client) => {
  const {model, got} = scripted(says("a"), says("b"));
  const checkpointer = new MemorySaver();
  const run = async (scope, content) => createAgent({model, tools: [], middleware: [hookMiddleware(scope)], checkpointer})
    .invoke({messages: [new HumanMessage({content})]}, {configurable: {thread_id: "t"}});
  const refused = await run(client, [{type: "text", text: "key 1234"}, {type: "image_url", image_url: {url: "data:1234"}}]);
  assert.deepEqual(refused.messages.map(({text}) => text), ["(a prompt that hooks refused)", "secret inside"]);
  const closed = new HookClient({socket: "/nowhere/s", onProblem: () => {}});
  await closed.close();
  await assert.rejects(run(closed, "key 1234"), {code: "closed"});
  await run(client, "hello");
  assert.equal(got.length, 1);
  assert.equal(got[0].at(-1).text, "hello");
  assert.doesNotMatch(JSON.stringify(got[0]), /\b1234\b/);
});

agent("an interrupt of a tool is the graph's, and no error for hooks to change", TOOL_HOOKS, async (client) => {
  const {model, got} = scripted(calls("commented", {}), says("done"));
  const tools = [tool(() => interrupt("which city?"), {name: "commented", description: "d", schema: z.object({})})];
  const made = createAgent({model, tools, checkpointer: new MemorySaver(), middleware: [hookMiddleware(client)]});
  const config = {configurable: {thread_id: "t"}};
  const {__interrupt__: [{value}]} = await made.invoke({messages: [new HumanMessage("p")]}, config);
  const {messages} = await made.invoke(new Command({resume: "Rome"}), config);
  assert.deepEqual([value, messages.at(-2).text, got.length], ["which city?", "Rome\n\nmind the gap", 2]);
});

/** Runs an agent without tools; gives its last text and what the model got. */
async function run(client, answers, messages = [new HumanMessage("p")], more = {}) {
  const {model, got} = scripted(...answers);
  const result = await createAgent({model, tools: [], middleware: [hookMiddleware(client)], ...more}).invoke({messages});
  return {text: result.messages.at(-1).text, got, messages: result.messages};
}

agent("the model gets the request that hooks left, not the secret", {BeforeModel: [REDACT_REQUEST]}, async (client) => {
  const image = {type: "image_url", image_url: {url: "data:1"}};
  const messages = [new HumanMessage({content: [{type: "text", text: "my key is 1234"}, image], id: "h"}), says("hm 5"), new HumanMessage("6?")];
  const {got, text} = await run(client, [says("done")], messages, {systemPrompt: "be 1st"});
  assert.equal(text, "done");
  assert.deepEqual(got[0].map(({content}) => (Array.isArray(content) ? content.map((it) => it.text ?? it) : content)), [
    ["be *st"], ["my key is ****", image], "hm *", "*?",
  ].map((it, at) => (at === 0 ? (Array.isArray(got[0][0].content) ? it : it[0]) : it)));
  assert.equal(got[0][1].id, "h");
  assert.doesNotMatch(JSON.stringify(got[0]), /\b1234\b/);
});

agent("a response is what hooks left of it", {AfterModel: [REDACT_RESPONSE]}, async (client) => {
  const {text, messages} = await run(client, [new AIMessage({content: "the key is 1234", id: "a", response_metadata: {model: "m"}})]);
  assert.equal(text, "the key is ****");
  assert.deepEqual([messages.at(-1).id, messages.at(-1).response_metadata.model], ["a", "m"]);
});

/** Runs an agent whose answer is structured, in each way of LangChain; gives what it came to. */
async function structured(client, how, ...answers) {
  const city = z.object({city: z.string()});
  const responseFormat = how === "native" ? providerStrategy(city) : toolStrategy(city);
  const {model, got} = scripted(...answers.map((answer) => (how === "native" ? says(JSON.stringify(answer)) : new AIMessage({
    id: "a", content: JSON.stringify(answer), tool_calls: [{id: "c-1", name: responseFormat[0].name, args: answer}],
  }))));
  const made = createAgent({model, tools: [], responseFormat, middleware: [hookMiddleware(client)]});
  const {structuredResponse, messages} = await made.invoke({messages: [new HumanMessage("p")]}).catch((error) => ({messages: [{text: String(error)}]}));
  return {structuredResponse, text: messages.at(-1).text, models: got.length};
}

agent("hooks see a structured answer, and may refuse it", {AfterModel: [NO_SECRET]}, async (client) => {
  for (const how of ["native", "tool"]) {
    const {structuredResponse, models} = await structured(client, how, {city: "Rome"});
    assert.deepEqual([structuredResponse, models], [{city: "Rome"}, 1]);
    assert.deepEqual(await structured(client, how, {city: "1234"}), {structuredResponse: undefined, text: "secret inside", models: 1});
  }
  // Of an answer that does not fit, LangChain has the model try again.
  assert.deepEqual((await structured(client, "tool", {town: "Rome"}, {city: "Oslo"})).structuredResponse, {city: "Oslo"});
  assert.deepEqual(await structured(client, "tool", {town: "1234"}, {city: "Oslo"}), {
    structuredResponse: undefined, text: "HookRefusal: secret inside", models: 1,
  });
});

agent("a structured answer that hooks change fails the agent", {AfterModel: [REDACT_RESPONSE]}, async (client) => {
  for (const [how, answer] of [["native", {city: "1234"}], ["tool", {city: "1234"}], ["tool", {town: "1234"}]]) {
    const {structuredResponse, text} = await structured(client, how, answer);
    assert.deepEqual([structuredResponse, text], [undefined, "HookRefusal: hooks changed a structured answer"]);
  }
});

agent("a tool that the provider runs is reported", {}, async (client, {problems}) => {
  const {model} = scripted(says("done"));
  await createAgent({model, tools: [{type: "web_search"}], middleware: [hookMiddleware(client)]}).invoke({messages: [new HumanMessage("p")]});
  assert.deepEqual(problems, ["the model's provider runs web_search itself: hooks do not see it"]);
});

const blocked = (event, answer) => ({[event]: [{hooks: [
  {type: "command", command: `cat >/dev/null; echo '${JSON.stringify(answer)}'`, failBehavior: "block"},
]}]});

for (const [what, hooks, expected, count] of [
  ["a hook's own answer", blocked("BeforeModel", {hookSpecificOutput: {llm_response: {text: "from a hook"}}}), "from a hook", 0],
  ["a refused call", blocked("BeforeModel", {decision: "block", reason: "not here"}), "not here", 0],
  ["a stop", blocked("BeforeModel", {continue: false, stopReason: "enough"}), "enough", 0],
  ["a refused answer", blocked("AfterModel", {decision: "block", reason: "not that"}), "not that", 1],
  ["a refused prompt", blocked("BeforeAgent", {decision: "block", reason: "no such prompt"}), "no such prompt", 0],
]) {
  agent(`${what} ends the agent with a text`, hooks, async (client) => {
    const {text, got} = await run(client, [says("the key is 1234")]);
    assert.deepEqual([text, got.length], [expected, count]);
  });
}

agent("BeforeAgent is asked about the last prompt, also where it is not the last message", blocked("BeforeAgent", {decision: "block", reason: "not today"}), async (client) => {
  const answered = [new HumanMessage("p"), calls("t", {}), new ToolMessage({content: "1", tool_call_id: "c-1"})];
  for (const messages of [answered, [new HumanMessage("p"), new SystemMessage("s")], [new SystemMessage("s")]]) {
    const {text, got} = await run(client, [says("never")], messages);
    assert.deepEqual([text, got.length], ["not today", 0]);
  }
});

const before = {customType: "note", content: [{type: "text", text: "mind the gap"}], display: true};
agent("a hook's message is before the prompt", blocked("BeforeAgent", {hookSpecificOutput: {message: before}}), async (client) => {
  const {got} = await run(client, [says("done")], [new HumanMessage("p"), new SystemMessage("s")]);
  assert.deepEqual(got[0].map(({text}) => text), ["mind the gap\n\np", "s"]);
  assert.deepEqual((await run(client, [says("done")], [])).got[0].map(({text}) => text), ["mind the gap\n\n"]);
});

agent("an agent goes on as hooks say, and gets their context", {
  ...blocked("BeforeAgent", {hookSpecificOutput: {additionalContext: "mind the gap"}}),
  AfterAgent: [{hooks: [{type: "command", command: `grep -q '"stop_hook_active":true' && echo '{}' || echo '{"decision": "block", "reason": "do the rest"}'`}]}],
}, async (client) => {
  const {got, text} = await run(client, [says("half"), says("all")]);
  assert.deepEqual(got.map((messages) => messages.map(({text}) => text)), [["p\n\nmind the gap"], ["p\n\nmind the gap", "half", "do the rest"]]);
  assert.equal(text, "all");
});

agent("what hooks say after an answer is in the next request", blocked("AfterModel", {systemMessage: "be brief"}), async (client) => {
  const {got} = await run(client, [says("again")], [new HumanMessage("p"), says("before"), new HumanMessage("q")]);
  assert.equal(got[0].length, 3);
  const first = await run(client, [says("one")]);
  const second = await run(client, [says("two")], [...first.messages, new HumanMessage("q")]);
  assert.deepEqual(second.got[0].map(({text}) => text), ["p", "one", "q", "[System] be brief"]);
});

agent("without an answer of the hooks nothing is called", TOOL_HOOKS, async (client) => {
  await client.close();
  const {model, got} = scripted(says("done"));
  await assert.rejects(createAgent({model, tools: [], middleware: [hookMiddleware(client)]}).invoke({messages: [new HumanMessage("p")]}), {code: "closed"});
  assert.equal(got.length, 0);
});

losing("an engine that is lost while a tool runs fails the agent", async (client, kill) => {
  const {model, got} = scripted(calls("free", {}));
  const tools = [tool(kill, {name: "free", description: "d", schema: z.object({})})];
  const invoked = createAgent({model, tools, middleware: [hookMiddleware(client)]}).invoke({messages: [new HumanMessage("p")]});
  await assert.rejects(invoked, /the hook server/);
  assert.equal(got.length, 1);
});
