// The scenarios of tests/triggers, which Rust and Python play as well, through this package's functions.

import assert from "node:assert/strict";
import {existsSync, readFileSync, readdirSync, writeFileSync} from "node:fs";
import {join} from "node:path";
import {describe} from "node:test";
import {fileURLToPath} from "node:url";

import {HookClient, agentTurn, callModel, endTurn, executeTool, session} from "hook-sdk";

import {engine} from "./project.mjs";

const FOLDER = fileURLToPath(new URL("../../../tests/triggers/", import.meta.url));
const FILES = existsSync(FOLDER) ? readdirSync(FOLDER).filter((name) => name.endsWith(".jsonl")) : [];
if (FILES.length === 0) console.error(`SKIPPED the scenarios of triggers: ${FOLDER} has none`);

for (const file of FILES) describe(file, {concurrency: 4}, () => {
  for (const line of readFileSync(join(FOLDER, file), "utf8").split("\n").filter(Boolean)) {
    const scenario = JSON.parse(line);
    engine(scenario.name, scenario.hooks.hooks, async (project) => {
      for (const [name, text] of Object.entries(scenario.files ?? {})) writeFileSync(join(project.folder, name), text);
      writeFileSync(join(project.folder, "settings.json"), JSON.stringify(scenario.hooks));
      await project.serve(async (socket) => play(scenario, socket));
    });
  }
});

/** Plays a scenario, which may be of several steps. */
async function play(scenario, socket) {
  const now = {};
  const approve = ({reason}) => (now.seen.asked.push(reason), now.step.approves);
  const client = new HookClient({socket, ...(scenario.approves !== undefined && {approve}), onProblem: () => {}});
  try {
    await playOver(client, scenario, now);
  } finally {
    await client.close();
  }
}

async function playOver(client, scenario, now) {
  const open = new Map();
  for (const step of scenario.steps ?? [scenario]) {
    const seen = {ran: [], called: [], shown: [], asked: []};
    Object.assign(now, {step, seen});
    const result = await run(client, step, seen, open);
    for (const [field, expected] of Object.entries(step.expect.result)) holds(result[field], expected, `${field} of ${JSON.stringify(result)}`);
    for (const field of ["ran", "called", "shown", "asked"]) {
      if (step.expect[field]) assert.deepEqual(seen[field], step.expect[field], field);
    }
  }
}

/** Every listed field is equal, and `null` is a field that is not there. */
function holds(given, expected, what) {
  if (expected === null) return assert.equal(given ?? undefined, undefined, what);
  if (typeof expected !== "object" || Array.isArray(expected)) return assert.deepEqual(given, expected, what);
  for (const [field, value] of Object.entries(expected)) holds(given?.[field], value, what);
}

const lifecycle = ({outcome, reason, ...rest}) => ({
  ...rest, ...(outcome === "stopped" && {stop: reason}), ...(outcome === "refused" && {refused: reason}),
});

async function run(client, {trigger, call, session: fields = {}, tool = [], model = []}, seen, open) {
  const next = (answers) => (answers.length > 1 ? answers.shift() : answers[0]);
  const begun = () => session(client, {...fields, ...(trigger === "session-start" && call)});
  switch (trigger) {
    case "tool":
      return executeTool(client, call, (input) => {
        seen.ran.push(input);
        const answer = next(tool);
        if (answer.throws !== undefined) throw new Error(answer.throws);
        return answer;
      }, {session: fields});
    case "model": {
      const {sdk, request, ...options} = call;
      const answer = callModel(client, sdk, request, (given) => {
        seen.called.push(given);
        return chunks(next(model));
      }, {...options, session: fields});
      const iterate = async () => {
        for await (const {chunk, complete} of answer) seen.shown.push(chunk ?? {complete});
      };
      await iterate().catch(() => {});
      return answer.finish();
    }
    case "prompt": {
      const turn = await agentTurn(client, call, {session: fields});
      open.set(fields.session_id, turn);
      return {...turn, prompt: turn.outcome === "proceed" ? turn.prompt : undefined};
    }
    case "turn-end": {
      const turn = open.get(fields.session_id);
      open.delete(fields.session_id);
      return turn ? turn.end(call.prompt_response) : endTurn(client, call, {session: fields});
    }
    case "session-start":
      return lifecycle(await begun());
    case "session-end":
      return lifecycle(await (await begun()).end(call.reason));
    case "pre-compress":
      return lifecycle(await (await begun()).compress(call));
    case "notification":
      return lifecycle(await (await begun()).notify(call));
    default:
      throw new Error(`there is no trigger ${trigger}`);
  }
}

async function* chunks(answer) {
  for (const chunk of Array.isArray(answer) ? answer : [answer]) {
    if (chunk.throws !== undefined) throw new Error(chunk.throws);
    yield chunk;
  }
}
