// The Claude Agent SDK with the real Claude Code, a scripted model of its API, and hooks of the engine itself. It is too
// large to be installed for each run (libraries.mjs).

import assert from "node:assert/strict";
import {once} from "node:events";
import {mkdtempSync, rmSync} from "node:fs";
import {createServer} from "node:http";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {text} from "node:stream/consumers";
import {test} from "node:test";

import {HookClient} from "hook-sdk";
import {claudeHooks} from "hook-sdk/claude-agent-sdk";

import {TOOL_HOOKS, agent} from "./agents.mjs";
import {library} from "./libraries.mjs";

const NAME = "@anthropic-ai/claude-agent-sdk";
const installed = library(NAME);

/** A model that calls a tool, and then says the end; what it got is in `got`. */
async function scripted(calls) {
  const got = [];
  const server = createServer(async (request, response) => {
    const body = JSON.parse((await text(request)) || "{}");
    if (!request.url.startsWith("/v1/messages") || request.url.includes("count_tokens")) return response.writeHead(404).end("{}");
    // Other calls are for titles and such.
    const isAgent = body.tools?.length > 0;
    if (isAgent) got.push(body.messages);
    const call = isAgent ? calls.shift() : undefined;
    const content = call ? {type: "tool_use", id: `toolu_${got.length}`, name: call[0], input: {}} : {type: "text", text: ""};
    const delta = call ? {type: "input_json_delta", partial_json: JSON.stringify(call[1])} : {type: "text_delta", text: "done"};
    const message = {id: "msg_1", type: "message", role: "assistant", model: "m", content: [], stop_reason: null, usage: {input_tokens: 1, output_tokens: 1}};
    response.writeHead(200, {"content-type": "text/event-stream"});
    for (const event of [
      {type: "message_start", message}, {type: "content_block_start", index: 0, content_block: content},
      {type: "content_block_delta", index: 0, delta}, {type: "content_block_stop", index: 0},
      {type: "message_delta", delta: {stop_reason: call ? "tool_use" : "end_turn"}, usage: {output_tokens: 1}}, {type: "message_stop"},
    ]) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    response.end();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {got, url: `http://127.0.0.1:${server.address().port}`, server};
}

/** Runs an agent whose model calls Bash; gives what the model got for each call. */
async function run(client, commands) {
  const {query} = await installed(NAME);
  const home = mkdtempSync(join(tmpdir(), "hook-claude-"));
  const model = await scripted(commands.map((command) => ["Bash", {command, description: "d"}]));
  try {
    const env = {
      PATH: process.env.PATH, HOME: home, ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: "none", IS_SANDBOX: "1",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", CLAUDE_CODE_MAX_RETRIES: "0", DISABLE_AUTOUPDATER: "1",
    };
    let result;
    const options = {hooks: claudeHooks(client), permissionMode: "bypassPermissions", allowDangerouslySkipPermissions: true, env, settingSources: [], persistSession: false};
    for await (const message of query({prompt: "p", options})) if (message.type === "result") result = message;
    const last = model.got.at(-1) ?? [];
    const results = last.flatMap(({content}) => (Array.isArray(content) ? content : [])).filter(({type}) => type === "tool_result");
    return {result, results: results.map(({content, is_error}) => [typeof content === "string" ? content : content[0].text, is_error === true]), models: model.got.length};
  } finally {
    model.server.close();
    rmSync(home, {recursive: true, force: true});
  }
}

const bash = (answer, command) => ({hooks: [{
  type: "command", failBehavior: "block",
  command: `input=$(cat); case "$input" in *'${command}'*) echo '${JSON.stringify(answer)}';; esac`,
}]});

if (installed) {
  agent("an agent of the Claude Agent SDK asks about its tools", {
    BeforeTool: [
      bash({decision: "deny", reason: "not that one"}, "echo denied"),
      bash({hookSpecificOutput: {tool_input: {command: "echo rewritten"}}}, "echo original"),
    ],
    AfterTool: [bash({decision: "block", reason: "secret inside"}, "echo secret")],
  }, async (client) => {
    const {results, result} = await run(client, ["echo denied", "echo original", "echo free"]);
    assert.equal(result.subtype, "success");
    assert.deepEqual(results.map(([said]) => said.trim().split(": ").pop()), ["not that one", "rewritten", "free"]);
    assert.equal(results[0][1], true);
  });

  agent("a stop ends an agent of the Claude Agent SDK, whatever AfterAgent would say", {
    BeforeTool: [bash({continue: false, stopReason: "enough"}, "echo stopping")],
    AfterAgent: [bash({decision: "block", reason: "do the rest"}, "")],
  }, async (client) => {
    const {result, models} = await run(client, ["echo stopping", "echo never"]);
    assert.deepEqual([models, result.terminal_reason], [1, "hook_stopped"]);
  });

  agent("without an answer of the hooks the agent of the Claude Agent SDK runs no tool", TOOL_HOOKS, async (client) => {
    await client.close();
    const {results, models} = await run(client, ["echo ran"]);
    assert.deepEqual([results.filter(([said]) => said === "ran"), models <= 1], [[], true]);
  });
}

test("what cannot be asked is refused in the words of each event", async () => {
  const client = new HookClient({onProblem: () => {}});
  await client.close();
  const hooks = claudeHooks(client);
  const ask = (event) => hooks[event][0].hooks[0]({hook_event_name: event}, undefined, {signal: new AbortController().signal});
  assert.equal((await ask("PreToolUse")).hookSpecificOutput.permissionDecision, "deny");
  assert.equal((await ask("PermissionRequest")).hookSpecificOutput.decision.behavior, "deny");
  assert.equal((await ask("UserPromptSubmit")).decision, "block");
  for (const event of ["PreToolUse", "PostToolUse", "Stop"]) assert.equal((await ask(event)).continue, false);
});
