// Triggers against a server that says what a test wants: one outcome each, and no error is permission.

import assert from "node:assert/strict";
import {test} from "node:test";

import {HookConnectionError, HookError, agentTurn, callModel, executeTool, session} from "hook-sdk";

import {withClient} from "./with.mjs";

const CALL = {tool_name: "write_file", tool_input: {path: "a"}};
const ran = (llmContent) => ({outcome: "ran", ran: true, result: {llmContent}, warnings: []});

/** Begins something, and gives the server's side of it. */
async function begun(server, begin) {
  const connecting = server.connection();
  const outcome = begin();
  outcome.catch?.(() => {});
  const connection = await connecting;
  const {triggerId, ...message} = await connection.next("hook-trigger");
  let calls = 0;
  const ask = (method, params) => {
    const hostCallId = `${triggerId}-${++calls}`;
    connection.send({type: "hook-host-call", hostCallId, triggerId, method, params});
    return connection.next("hook-host-result", (message) => message.hostCallId === hostCallId);
  };
  const end = (result) => connection.send({type: "hook-trigger-result", triggerId, ...(result.error ? result : {result})});
  return {outcome, connection, triggerId, message, ask, end};
}

const never = () => new Promise(() => {});

/** A tool that runs until it is cancelled. */
function endless() {
  const state = {};
  state.started = new Promise((resolve) => (state.begin = resolve));
  state.aborted = new Promise((resolve) => (state.abort = resolve));
  state.run = (input, {signal}) => new Promise(() => {
    signal.addEventListener("abort", () => state.abort(signal.reason));
    state.begin(input);
  });
  return state;
}

test("a tool runs with the arguments that hooks left, and its value comes back", () => withClient(async ({server, client}) => {
  const value = {rows: [1, 2]};
  const inputs = [];
  const {outcome, message, ask, end} = await begun(server, () => executeTool(client, CALL, (input) => (inputs.push(input), value), {
    session: {session_id: "s"}, deadlineMs: 500,
  }));
  assert.deepEqual(message, {type: "hook-trigger", trigger: "tool", call: CALL, session: {session_id: "s"}, deadlineMs: 500});
  const {result} = await ask("tool.run", {tool_input: {path: "b"}});
  assert.deepEqual([inputs, result], [[{path: "b"}], {llmContent: '{"rows":[1,2]}'}]);
  end(ran('{"rows":[1,2]}'));
  assert.deepEqual(await outcome, {...ran('{"rows":[1,2]}'), value});
}));

test("a result that hooks changed has no value of the tool's own", () => withClient(async ({server, client}) => {
  const {outcome, ask, end} = await begun(server, () => executeTool(client, CALL, () => "done"));
  await ask("tool.run", {tool_input: {}});
  end(ran("done\n\nmind the gap"));
  assert.equal("value" in (await outcome), false);
}));

for (const [what, metadata, isKept] of [["left", {b: 2, a: 1}, true], ["changed", {a: 1, b: 3}, false]]) {
  test(`a result whose metadata hooks ${what} has ${isKept ? "the tool's" : "no"} value`, () => withClient(async ({server, client}) => {
    const {outcome, ask, end} = await begun(server, () => executeTool(client, CALL, () => ({llmContent: "done", metadata: {a: 1, b: 2}})));
    await ask("tool.run", {tool_input: {}});
    end({...ran("done"), result: {llmContent: "done", metadata}});
    assert.equal("value" in (await outcome), isKept);
  }));
}

for (const [what, returned, expected] of [
  ["nothing", undefined, {result: {llmContent: ""}}],
  ["a text", "x", {result: {llmContent: "x"}}],
  ["a result", {llmContent: [{text: "x"}], exitCode: 3}, {result: {llmContent: [{text: "x"}], exitCode: 3}}],
  ["what only looks like a result", {llmContent: "x", note: "y"}, {result: {llmContent: '{"llmContent":"x","note":"y"}'}}],
  ["a result of which the server would not read all", {llmContent: "x", metadata: "y"}, {result: {llmContent: '{"llmContent":"x","metadata":"y"}'}}],
  ["a number", 7, {result: {llmContent: "7"}}],
  ["a function", () => {}, {error: {code: "invalid_value", message: "`value` is a function, which JSON cannot hold"}}],
  ["a NaN", {a: NaN}, {error: {code: "invalid_value", message: "`a` is NaN, which JSON cannot hold"}}],
]) {
  test(`a tool that returns ${what}`, () => withClient(async ({server, client}) => {
    const {ask} = await begun(server, () => executeTool(client, CALL, () => returned));
    const {type, hostCallId, ...answer} = await ask("tool.run", {tool_input: {}});
    assert.deepEqual(answer, expected);
  }));
}

test("a tool that throws is an error of the tool's, and no problem of the client's", () => withClient(async ({server, client, problems}) => {
  const {ask, end, outcome} = await begun(server, () => executeTool(client, CALL, () => {
    throw new RangeError("disk full");
  }));
  assert.deepEqual((await ask("tool.run", {tool_input: {}})).error, {code: "failed", message: "disk full"});
  end({...ran("disk full"), result: {llmContent: "disk full", error: "disk full"}});
  assert.equal((await outcome).result.error, "disk full");
  problems.push("none before");
  assert.equal(await problems.next(), "none before");
}));

test("what a tool throws has its members, if it is no error", () => withClient(async ({server, client}) => {
  const {ask} = await begun(server, () => executeTool(client, CALL, () => Promise.reject({code: 1, note: "y"})));
  assert.equal((await ask("tool.run", {tool_input: {}})).error.message, '{"code":1,"note":"y"}');
}));

for (const [what, result, code] of [
  ["an error", {error: {code: "shutting_down", message: "later"}}, "shutting_down"],
  ["a cancel of the server's", {error: {code: "cancelled", message: "gone"}}, "cancelled"],
  ["an outcome of a later server", {outcome: "postponed", result: {llmContent: ""}}, "invalid_message"],
  ["no outcome", {result: {llmContent: ""}}, "invalid_message"],
  ["no content", {outcome: "ran", result: {}}, "invalid_message"],
]) {
  test(`${what} of a tool call is a refusal`, () => withClient(async ({server, client}) => {
    const {outcome, end} = await begun(server, () => executeTool(client, CALL, never));
    end(result);
    const {outcome: kind, ran, error, reason, result: {llmContent}} = await outcome;
    assert.deepEqual([kind, ran, error.code, llmContent], ["blocked", false, code, reason]);
  }));
}

test("a server that does not know triggers is a refusal", () => withClient(async ({server, client}) => {
  const {outcome, connection} = await begun(server, () => executeTool(client, CALL, never));
  const error = {code: "invalid_request", message: "field `type`: found hook-trigger"};
  connection.send({type: "hook-execution-response", correlationId: "made-up", success: false, error});
  assert.deepEqual([(await outcome).outcome, (await outcome).error.code], ["blocked", "invalid_request"]);
}));

test("odd messages of a server change nothing about a call", () => withClient(async ({server, client}) => {
  const {outcome, ask, end, connection, triggerId} = await begun(server, () => executeTool(client, CALL, () => "done"));
  for (const message of [
    {type: "hook-host-call", hostCallId: "1"},
    {type: "hook-host-call", hostCallId: "2", triggerId: "t-99", method: "tool.run", params: {tool_input: {}}},
    {type: "hook-host-call", hostCallId: "3", triggerId, method: "tool.run", params: {tool_input: 7}},
    {type: "hook-host-call", hostCallId: "4", triggerId, method: "tool.run", params: []},
    {type: "hook-host-call", hostCallId: "5", triggerId, method: "model.call", params: {request: {}}},
    {type: "hook-host-call", hostCallId: "6", triggerId, method: "constructor"},
  ]) {
    connection.send(message);
    assert.ok((await connection.next("hook-host-result", ({hostCallId}) => hostCallId === message.hostCallId)).error);
  }
  for (const message of [
    {type: "hook-trigger-chunk"}, {type: "hook-trigger-chunk", triggerId, chunk: 5}, {type: "hook-host-call-cancelled"},
    {type: "hook-trigger-result"}, {type: "hook-trigger-result", triggerId: "t-99", result: ran("other")},
  ]) connection.send(message);
  await ask("tool.run", {tool_input: {}});
  end(ran("done"));
  assert.deepEqual(await outcome, {...ran("done"), value: "done"});
}));

test("a result that cannot be read is a refusal", () => withClient(async ({server, client}) => {
  const {outcome, connection, triggerId} = await begun(server, () => executeTool(client, CALL, never));
  connection.raw(`{"type": "hook-trigger-result", "triggerId": "${triggerId}", "result": {"outcome": "ran"\n`);
  assert.deepEqual([(await outcome).outcome, (await outcome).error.code], ["blocked", "invalid_message"]);
}));

test("no server is a refusal", () => withClient(async ({server, client}) => {
  await server.stop();
  const {outcome, error, ran} = await executeTool(client, CALL, never);
  assert.deepEqual([outcome, error instanceof HookConnectionError, ran], ["blocked", true, false]);
  await server.listen();
}));

test("a server that is lost while the tool runs is a refusal, and the tool is cancelled", () => withClient(async ({server, client}) => {
  const tool = endless();
  const {outcome, ask, connection} = await begun(server, () => executeTool(client, CALL, tool.run));
  void ask("tool.run", {tool_input: {}});
  await tool.started;
  connection.drop();
  const {outcome: kind, ran, error, result} = await outcome;
  assert.deepEqual([kind, ran, error.code], ["blocked", true, "connection_lost"]);
  assert.match(result.error, /could not be asked about its result, and it may have done its work/);
  assert.equal((await tool.aborted).code, "cancelled");
}));

test("a call that is cancelled before it begins reaches no server", () => withClient(async ({client}) => {
  await assert.rejects(executeTool(client, CALL, never, {signal: AbortSignal.abort()}), {code: "cancelled"});
}));

test("a call that is cancelled while hooks decide is cancelled at the server", () => withClient(async ({server, client}) => {
  const abort = new AbortController();
  const {outcome, connection, triggerId, ask, end} = await begun(server, () => executeTool(client, CALL, never, {signal: abort.signal}));
  abort.abort();
  await assert.rejects(outcome, {code: "cancelled"});
  assert.deepEqual(await connection.next("hook-trigger-cancel"), {type: "hook-trigger-cancel", triggerId});
  // A tool that is asked for after that does not run, and the late result is nobody's.
  assert.equal((await ask("tool.run", {tool_input: {}})).error.code, "unsupported");
  end(ran("late"));
}));

test("a call that is cancelled while the tool runs cancels the tool", () => withClient(async ({server, client}) => {
  const abort = new AbortController();
  const tool = endless();
  const {outcome, ask, connection} = await begun(server, () => executeTool(client, CALL, tool.run, {signal: abort.signal}));
  void ask("tool.run", {tool_input: {}});
  await tool.started;
  abort.abort();
  await assert.rejects(outcome, {code: "cancelled"});
  await tool.aborted;
  await connection.next("hook-trigger-cancel");
}));

test("a call that is cancelled while the user is asked takes the question back", async () => {
  let aborted;
  const isAborted = new Promise((resolve) => (aborted = resolve));
  await withClient(async ({server, client}) => {
    const abort = new AbortController();
    const {outcome, ask, connection} = await begun(server, () => executeTool(client, CALL, never, {signal: abort.signal}));
    void ask("user.approve", {eventName: "BeforeTool", subject: "a", reason: "sure?"});
    await connection.next("hook-hello");
    while (!aborted.isAsked) await new Promise((resolve) => setImmediate(resolve));
    abort.abort();
    await assert.rejects(outcome, {code: "cancelled"});
    await isAborted;
  }, {approve: (question, {signal}) => {
    aborted.isAsked = true;
    signal.addEventListener("abort", aborted);
    return never();
  }});
});

test("a call that is cancelled after its tool ran gives no result", () => withClient(async ({server, client}) => {
  const abort = new AbortController();
  const {outcome, ask, end, connection} = await begun(server, () => executeTool(client, CALL, () => "done", {signal: abort.signal}));
  assert.deepEqual((await ask("tool.run", {tool_input: {}})).result, {llmContent: "done"});
  abort.abort();
  await assert.rejects(outcome, {code: "cancelled"});
  await connection.next("hook-trigger-cancel");
  end(ran("done"));
}));

test("a tool that the server waits for no more is cancelled", () => withClient(async ({server, client}) => {
  const tool = endless();
  const {outcome, ask, connection, end, triggerId} = await begun(server, () => executeTool(client, CALL, tool.run));
  void ask("tool.run", {tool_input: {}});
  await tool.started;
  connection.send({type: "hook-host-call-cancelled", hostCallId: `${triggerId}-1`});
  await tool.aborted;
  end({error: {code: "deadline_exceeded", message: "too late"}});
  assert.deepEqual([(await outcome).outcome, (await outcome).ran], ["blocked", true]);
}));

test("a client that is closed refuses what runs", () => withClient(async ({server, client}) => {
  const tool = endless();
  const {outcome, ask, connection} = await begun(server, () => executeTool(client, CALL, tool.run));
  void ask("tool.run", {tool_input: {}});
  await tool.started;
  const cancelled = connection.next("hook-trigger-cancel");
  await client.close();
  await cancelled;
  await tool.aborted;
  assert.equal((await outcome).error.code, "closed");
}));

test("nothing but `true` approves", async () => {
  for (const [answer, result, problem = "none"] of [
    [true, true], [false, false], [{refused: "no"}, {refused: "no"}], ["yes", false, '"yes"'], [1, false, "a number"], [undefined, false, "nothing"],
  ]) {
    await withClient(async ({server, client, problems}) => {
      const {ask, connection} = await begun(server, () => executeTool(client, CALL, never));
      assert.deepEqual((await connection.next("hook-hello")).hostServices, ["user.approve"]);
      assert.deepEqual((await ask("user.approve", {eventName: "BeforeTool", subject: "a", reason: "sure?"})).result, result);
      problems.push("`approve` returned none");
      assert.equal((await problems.next()).split(",")[0], `\`approve\` returned ${problem}`);
    }, {approve: () => answer});
  }
});

async function* stream(...chunks) {
  for (const chunk of chunks) yield chunk;
}

const taken = async (answer) => {
  const parts = [];
  for await (const part of answer) parts.push(part);
  return parts;
};

test("a stream that no hook inspects is shown as it comes", () => withClient(async ({server, client}) => {
  const {outcome: answer, message, ask, end, connection} = await begun(server, () => (
    callModel(client, "genai", {model: "m"}, (request) => stream({request}, {n: 2}))
  ));
  assert.deepEqual(message.call, {sdk: "genai", request: {model: "m"}, chunks: "complete"});
  const asked = ask("model.call", {request: {model: "n"}, inspected: false});
  const parts = taken(answer);
  assert.deepEqual((await connection.next("hook-trigger-chunk")).chunk, {request: {model: "n"}});
  assert.deepEqual((await asked).result, {});
  end({outcome: "called", called: true, response: {text: "x"}});
  assert.deepEqual(await parts, [{chunk: {request: {model: "n"}}}, {chunk: {n: 2}}]);
  assert.deepEqual(await answer.finish(), {outcome: "called", called: true, response: {text: "x"}, warnings: []});
}));

test("of a stream that hooks inspect only what they left is shown", () => withClient(async ({server, client}) => {
  const {outcome: answer, ask, end, connection, triggerId} = await begun(server, () => callModel(client, "genai", {}, () => stream({n: 1}, {n: 2})));
  await ask("model.call", {request: {}, inspected: true});
  connection.send({type: "hook-trigger-chunk", triggerId, chunk: {n: "*"}});
  connection.send({type: "hook-trigger-chunk", triggerId, complete: {all: "***"}});
  end({outcome: "blocked", called: true, reason: "secret"});
  assert.deepEqual(await taken(answer), [{chunk: {n: "*"}}, {complete: {all: "***"}}]);
  assert.equal((await answer.finish()).outcome, "blocked");
}));

test("a model whose answer breaks off is interrupted, and the reader is told", () => withClient(async ({server, client}) => {
  const {outcome: answer, ask, end} = await begun(server, () => callModel(client, "genai", {}, async function* () {
    yield {n: 1};
    throw new Error("connection lost");
  }));
  const {error} = await ask("model.call", {request: {}, inspected: false});
  assert.equal(error.message, "connection lost");
  end({outcome: "interrupted", called: true});
  const parts = [];
  await assert.rejects(async () => {
    for await (const part of answer) parts.push(part);
  }, {message: "connection lost"});
  assert.deepEqual(parts, [{chunk: {n: 1}}]);
  assert.equal((await answer.finish()).cause.message, "connection lost");
}));

test("a server that is lost in the middle of a stream blocks, and the model is cancelled", () => withClient(async ({server, client}) => {
  let cancelled;
  const isCancelled = new Promise((resolve) => (cancelled = resolve));
  const {outcome: answer, ask, connection} = await begun(server, () => callModel(client, "genai", {}, async function* (request, {signal}) {
    signal.addEventListener("abort", cancelled);
    yield {n: 1};
    await never();
  }));
  void ask("model.call", {request: {}, inspected: false});
  await connection.next("hook-trigger-chunk");
  connection.drop();
  await isCancelled;
  await assert.rejects(taken(answer), {code: "connection_lost"});
  const {outcome, called, error} = await answer.finish();
  assert.deepEqual([outcome, called, error.code], ["blocked", true, "connection_lost"]);
}));

test("a reader that leaves cancels the model", () => withClient(async ({server, client}) => {
  let returned;
  const isReturned = new Promise((resolve) => (returned = resolve));
  const {outcome: answer, ask, connection} = await begun(server, () => callModel(client, "genai", {}, async function* () {
    try {
      for (;;) yield {n: 1};
    } finally {
      returned();
    }
  }));
  void ask("model.call", {request: {}, inspected: false});
  for await (const part of answer) {
    assert.deepEqual(part, {chunk: {n: 1}});
    break;
  }
  await isReturned;
  await connection.next("hook-trigger-cancel");
  await assert.rejects(answer.finish(), {code: "cancelled"});
}));

test("a reader that leaves while it waits, or before it has read, cancels the model at once", async () => {
  for (const isWaiting of [true, false]) {
    await withClient(async ({server, client}) => {
      let cancelled;
      const isCancelled = new Promise((resolve) => (cancelled = resolve));
      const {outcome: answer, ask, connection} = await begun(server, () => callModel(client, "genai", {}, async function* (request, {signal}) {
        signal.addEventListener("abort", cancelled);
        yield {n: 1};
        await never();
      }));
      void ask("model.call", {request: {}, inspected: true});
      await connection.next("hook-trigger-chunk");
      const parts = answer[Symbol.asyncIterator]();
      const part = isWaiting ? parts.next() : Promise.reject(new HookError("cancelled", "it was not read"));
      const refused = assert.rejects(part, {code: "cancelled"});
      await parts.return();
      await Promise.all([isCancelled, refused, connection.next("hook-trigger-cancel")]);
      await assert.rejects(answer.finish(), {code: "cancelled"});
    });
  }
});

test("what hooks say to the model stays for the next request until a model has answered", () => withClient(async ({server, client}) => {
  const {outcome, end, connection} = await begun(server, () => session(client));
  end({forModel: "mind the gap"});
  const work = await outcome;
  const results = [
    {outcome: "interrupted"}, {outcome: "blocked", called: false, reason: "no"}, {error: {code: "overloaded", message: "no"}}, undefined,
    {outcome: "called", response: {}}, {outcome: "called", response: {}},
  ];
  const contexts = [];
  for (const result of results) {
    const abort = new AbortController();
    const answer = callModel(work, "genai", {}, () => ({}), {signal: abort.signal});
    const {triggerId, call} = await connection.next("hook-trigger");
    contexts.push(call.context);
    if (result && result.outcome !== "blocked") {
      connection.send({type: "hook-host-call", hostCallId: triggerId, triggerId, method: "model.call", params: {request: {}, inspected: true}});
      await connection.next("hook-host-result", ({hostCallId}) => hostCallId === triggerId);
    }
    if (result) connection.send({type: "hook-trigger-result", triggerId, ...(result.error ? result : {result})});
    else abort.abort();
    await answer.finish().catch(({code}) => assert.equal(code, "cancelled"));
  }
  assert.deepEqual(contexts, [...Array(5).fill("mind the gap"), undefined]);
}));

test("a model is read no faster than its reader", () => withClient(async ({server, client}) => {
  let read = 0;
  const {outcome: answer, ask, end} = await begun(server, () => callModel(client, "genai", {}, async function* () {
    for (; read < 500; read++) yield {n: read};
  }));
  const asked = ask("model.call", {request: {}, inspected: false});
  const parts = answer[Symbol.asyncIterator]();
  await parts.next();
  // What is ready has run.
  for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
  assert.ok(read < 100, `${read} were read`);
  const finished = answer.finish(); // Nobody takes the rest.
  await asked;
  end({outcome: "called", response: {}});
  assert.equal((await finished).outcome, "called");
  assert.equal(read, 500);
}));

test("a call without streaming is a stream of one", () => withClient(async ({server, client}) => {
  const {outcome: answer, ask, connection} = await begun(server, () => callModel(client, "openai-chat", {}, async () => ({choices: []})));
  void answer;
  const [{chunk}] = await Promise.all([connection.next("hook-trigger-chunk"), ask("model.call", {request: {}, inspected: true})]);
  assert.deepEqual(chunk, {choices: []});
}));

test("a called model without a response is a refusal", () => withClient(async ({server, client}) => {
  const {outcome: answer, end} = await begun(server, () => callModel(client, "genai", {}, never));
  end({outcome: "called"});
  assert.deepEqual([(await answer.finish()).outcome, (await answer.finish()).error.code], ["blocked", "invalid_message"]);
}));

test("a turn goes on as hooks say, and takes along what runs in it", () => withClient(async ({server, client}) => {
  const {outcome, message, end, connection} = await begun(server, () => agentTurn(client, "p", {session: {session_id: "s"}}));
  assert.deepEqual([message.trigger, message.call, message.session], ["prompt", {prompt: "p"}, {session_id: "s"}]);
  end({outcome: "proceed", prompt: "p\n\nmind the gap"});
  const turn = await outcome;
  assert.equal(turn.prompt, "p\n\nmind the gap");
  const tool = executeTool(turn, CALL, never);
  const {session: inside} = await connection.next("hook-trigger");
  assert.deepEqual(inside, {session_id: "s"});
  const ended = turn.end("r");
  await assert.rejects(tool, {code: "cancelled"});
  const {triggerId, call} = await connection.next("hook-trigger", ({trigger}) => trigger === "turn-end");
  assert.deepEqual(call, {prompt: "p", prompt_response: "r"});
  connection.send({type: "hook-trigger-result", triggerId, result: {outcome: "continue", prompt: "the rest"}});
  assert.deepEqual(await ended, {outcome: "continue", prompt: "the rest", warnings: []});
}));

for (const [what, begin] of [
  ["a tool", (turn) => executeTool(turn, CALL, never)], ["a model", (turn) => callModel(turn, "genai", {}, never).finish()],
]) {
  test(`a stop of ${what} ends the turn: nothing is called in it any more, and its end is not asked about`, () => withClient(async ({server, client}) => {
    const {outcome, end, connection} = await begun(server, () => agentTurn(client, "p"));
    end({outcome: "proceed", prompt: "p"});
    const turn = await outcome;
    const stopped = begin(turn);
    const waiting = executeTool(turn, CALL, never);
    const [{triggerId}, other] = [await connection.next("hook-trigger"), await connection.next("hook-trigger")];
    const result = {llmContent: "enough", error: "enough"};
    connection.send({type: "hook-trigger-result", triggerId, result: {outcome: "stopped", reason: "enough", ran: false, result}});
    assert.equal((await stopped).outcome, "stopped");
    // What hooks allow after that does not run.
    connection.send({type: "hook-host-call", hostCallId: "1", triggerId: other.triggerId, method: "tool.run", params: {tool_input: {}}});
    assert.equal((await connection.next("hook-host-result")).error.code, "stopped");
    connection.send({type: "hook-trigger-result", triggerId: other.triggerId, result: {outcome: "ran", result}});
    for (const call of [() => waiting, () => executeTool(turn, CALL, never), () => callModel(turn, "genai", {}, never).finish(), () => turn.end("r")]) {
      const {outcome, reason} = await call();
      assert.deepEqual([outcome, reason], ["stopped", "enough"]);
    }
    connection.said.push({type: "end"});
    assert.equal((await connection.said.next()).type, "end"); // The server was asked nothing more.
  }));
}

test("in a turn whose prompt was refused nothing is called, and its end is not asked about", () => withClient(async ({server, client}) => {
  const {outcome, end, connection} = await begun(server, () => agentTurn(client, "p"));
  end({outcome: "refused", reason: "not today"});
  const turn = await outcome;
  assert.equal(turn.outcome, "refused");
  for (const call of [() => executeTool(turn, CALL, never), () => callModel(turn, "genai", {}, never).finish(), () => turn.end("r")]) {
    const {outcome, reason} = await call();
    assert.deepEqual([outcome, reason], ["stopped", "not today"]);
  }
  connection.said.push({type: "end"});
  assert.equal((await connection.said.next()).type, "end");
}));

test("many calls in a turn, which its end cancels, are no leak to Node", () => withClient(async ({server, client}) => {
  const warnings = [];
  const warned = (warning) => warnings.push(warning);
  process.on("warning", warned);
  const {outcome, end, connection} = await begun(server, () => agentTurn(client, "p"));
  end({outcome: "proceed", prompt: "p"});
  const turn = await outcome;
  const tools = Array.from({length: 30}, () => executeTool(turn, CALL, never));
  for (const tool of tools) tool.catch(() => {});
  for (const _ of tools) await connection.next("hook-trigger");
  await turn[Symbol.asyncDispose]();
  for (const tool of tools) await assert.rejects(tool, {code: "cancelled"});
  await new Promise((resolve) => setImmediate(resolve));
  process.off("warning", warned);
  assert.deepEqual(warnings, []);
}));

test("a turn whose server is lost ends, and a prompt is refused", () => withClient(async ({server, client}) => {
  const {outcome, end, connection} = await begun(server, () => agentTurn(client, "p"));
  end({outcome: "proceed", prompt: "p"});
  const turn = await outcome;
  await server.stop();
  await connection.ended;
  assert.equal((await turn.end("r")).outcome, "stopped");
  const refused = await agentTurn(client, "p");
  assert.deepEqual([refused.outcome, refused.error instanceof HookError], ["refused", true]);
  await server.listen();
}));

test("a session ends once, and cancels what runs in it", () => withClient(async ({server, client}) => {
  const {outcome, message, end, connection} = await begun(server, () => session(client, {session_id: "s", source: "resume"}));
  assert.deepEqual([message.trigger, message.call, message.session], ["session-start", {source: "resume"}, {session_id: "s"}]);
  end({forModel: "mind the gap"});
  let tool;
  const done = (async () => {
    const work = await outcome;
    assert.deepEqual([work.outcome, work.forModel], ["done", "mind the gap"]);
    tool = executeTool(work, CALL, never);
    tool.catch(() => {});
    await connection.next("hook-trigger");
    await work[Symbol.asyncDispose](); // Of `await using`, which Node 20 has not.
    await work.end();
  })();
  const {triggerId, call} = await connection.next("hook-trigger", ({trigger}) => trigger === "session-end");
  assert.deepEqual(call, {reason: "exit"});
  await assert.rejects(tool, {code: "cancelled"});
  connection.send({type: "hook-trigger-result", triggerId, result: {}});
  await done;
}));
