// What becomes of a client when the project's own server goes, comes back, or never was.

import assert from "node:assert/strict";
import {spawn} from "node:child_process";
import {once} from "node:events";
import {mkdirSync, symlinkSync, writeFileSync} from "node:fs";
import {createServer} from "node:net";
import {dirname, join} from "node:path";
import {createInterface} from "node:readline";

import {generateText} from "ai";
import {MockLanguageModelV3} from "ai/test";
import {HookClient, HookConnectionError} from "hook-sdk";
import {withHooks} from "hook-sdk/ai";

import {socketOf} from "../dist/link/place.js";
import {engine, hook} from "./project.mjs";

const CALL = {tool_name: "run_shell_command", tool_input: {command: "ls"}};
const fires = (client) => client.fire("BeforeTool", CALL);
const guard = {
  matcher: {kind: "shell"}, config: {failBehavior: "block"}, handler: () => ({decision: "deny", reason: "guarded"}),
};

/** A test in a project without hooks, whose own server may run, and where a private one could be started. */
const shared = (name, during) => engine(name, {}, async (project) => {
  const folder = join(project.folder, "project");
  mkdirSync(join(folder, ".hooks"), {recursive: true});
  writeFileSync(join(folder, ".hooks/settings.json"), "{}");
  mkdirSync(join(project.folder, "bin"));
  symlinkSync(hook, join(project.folder, "bin/hook"));
  const before = {...process.env};
  // The names of sockets are short.
  const own = {HOME: join(project.folder, "home"), XDG_RUNTIME_DIR: join(project.folder, "run"), PATH: `${project.folder}/bin:${before.PATH}`};
  Object.assign(process.env, own);
  for (const name of ["HOOK_SOCKET", "XDG_STATE_HOME", "XDG_CONFIG_HOME"]) delete process.env[name];
  const problems = [];
  const clients = [];
  const client = (more = {}) => {
    clients.push(new HookClient({...more, project: folder, reconnect: {initialMs: 10, maxMs: 50}, onProblem: (problem) => problems.push(problem)}));
    return clients.at(-1);
  };
  try {
    await during({folder, client, problems, project});
  } finally {
    await Promise.all(clients.map((each) => each.close()));
    for (const name of Object.keys(own)) delete process.env[name];
    Object.assign(process.env, before);
  }
});

/** The project's own server; gives what ends it. */
async function served(folder) {
  const server = spawn(hook, ["serve", "--socket", "--project", folder], {stdio: ["ignore", "ignore", "pipe"]});
  const ended = once(server, "close");
  await new Promise((resolve, reject) => {
    createInterface({input: server.stderr}).on("line", (line) => line.includes("listening on") && resolve());
    ended.then(() => reject(new Error("the server has ended")));
  });
  return async (signal) => {
    server.kill(signal);
    await ended;
  };
}

for (const signal of ["SIGKILL", "SIGTERM"]) {
  shared(`a client that was at a shared server waits for that, ended by ${signal}`, async ({folder, client, problems}) => {
    let end = await served(folder);
    const [guards, asker] = [client(), client()];
    const id = guards.registerHook("BeforeTool", guard);
    await guards.ready(id);
    assert.equal((await fires(asker)).reason, "guarded");
    await end(signal);
    for (let count = 0; count < 3; count++) await assert.rejects(fires(asker), HookConnectionError);
    end = await served(folder);
    // The guard blocks before its client is back, and is asked then.
    assert.equal((await fires(asker)).decision, "block");
    while (!(await guards.ready(id).then(() => true, () => false)));
    const {reason, warnings} = await fires(asker);
    assert.deepEqual([reason, warnings], ["guarded", []]);
    await end("SIGTERM");
    assert.ok(!problems.some((problem) => problem.includes("private")), problems.join("\n"));
  });
}

shared("a private server is for a program that asks, and is said", async ({client, problems}) => {
  const asker = client();
  for (const method of ["connect", "listHooks", "reload"]) {
    await assert.rejects(asker[method](), /`hook serve --socket`/);
  }
  const outcome = await fires(asker);
  assert.equal(outcome.decision, "proceed");
  const said = problems.filter((problem) => problem.includes("a private one was started"));
  assert.deepEqual([said.length, outcome.warnings], [1, said]);
  assert.deepEqual((await fires(asker)).warnings, []);
  // Nobody else would ask a hook there.
  await assert.rejects(asker.ready(asker.registerHook("BeforeTool", guard)), /nobody else asks the private server/);
});

shared("a private server that cannot be started is not said to have been", async ({client, problems}) => {
  await assert.rejects(fires(client({command: ["/nowhere/hook"]})), /cannot be run/);
  assert.deepEqual(problems, []);
});

shared("an agent's library says once that a private server was started", async ({client, problems}) => {
  const content = [{type: "text", text: "done"}];
  const model = new MockLanguageModelV3({doGenerate: async () => ({content, finishReason: {unified: "stop"}, usage: {inputTokens: {}, outputTokens: {}}, warnings: []})});
  const given = withHooks(client(), {model});
  for (let run = 0; run < 2; run++) assert.equal((await generateText({...given, prompt: "p"})).text, "done");
  assert.deepEqual(problems.map((problem) => problem.includes("a private one was started")), [true], problems.join("\n"));
});

shared("a program that registers waits for the shared server", async ({folder, client, problems}) => {
  const guards = client();
  const id = guards.registerHook("BeforeTool", guard);
  await assert.rejects(guards.ready(id), /`hook serve --socket`/);
  // Also where it asks as well.
  await assert.rejects(fires(guards), /`hook serve --socket`/);
  const end = await served(folder);
  while (!(await guards.ready(id).then(() => true, () => false)));
  assert.equal((await fires(guards)).reason, "guarded");
  await guards.close();
  await end("SIGTERM");
  assert.ok(!problems.some((problem) => problem.includes("private")), problems.join("\n"));
});

shared("a socket that does not greet is no missing server", async ({folder, client}) => {
  const place = socketOf(folder);
  mkdirSync(dirname(place), {recursive: true});
  const server = createServer((socket) => socket.end()).listen(place);
  await once(server, "listening");
  try {
    await assert.rejects(fires(client()), /ended the connection/);
  } finally {
    server.close();
  }
});

shared("a program whose guard is refused ends with that", async ({folder, project}) => {
  const end = await served(folder);
  const program = (config) => {
    writeFileSync(join(project.folder, "refused.mjs"), `
      import {HookClient} from "hook-sdk";
      const client = new HookClient({project: ${JSON.stringify(folder)}});
      client.registerHook("BeforeTool", {matcher: {kind: "shel"}, config: ${config}, handler: () => {}});
      client.registerHook("BeforeTool", {id: "other", handler: () => console.log("asked")});
      await client.run();
      console.log("ended in order");
    `);
    const started = spawn("node", ["refused.mjs"], {cwd: project.folder, stdio: ["ignore", "pipe", "pipe"]});
    const said = {stdout: "", stderr: ""};
    for (const stream of ["stdout", "stderr"]) started[stream].on("data", (chunk) => (said[stream] += chunk));
    return {started, said, ended: once(started, "close")};
  };
  const refused = program('{failBehavior: "block"}');
  assert.deepEqual(await refused.ended, [1, null]);
  assert.match(refused.said.stderr, /HookRegistrationError.*matcher\.kind/s);
  assert.equal(refused.said.stdout, "");
  // It has taken its other hook back.
  const asker = new HookClient({project: folder});
  assert.deepEqual(await asker.listHooks(), []);
  // Of another hook it is only said.
  const {started, said, ended} = program("{}");
  while ((await asker.listHooks()).length === 0);
  await fires(asker);
  started.kill();
  assert.deepEqual(await ended, [0, null]);
  assert.equal(said.stdout, "asked\nended in order\n");
  assert.match(said.stderr, /matcher\.kind/);
  await asker.close();
  await end("SIGTERM");
});
