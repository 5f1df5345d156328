import assert from "node:assert/strict";
import {spawn, spawnSync} from "node:child_process";
import {once} from "node:events";
import {chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from "node:fs";
import {createServer, connect as connectTcp} from "node:net";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {createInterface} from "node:readline";
import {test} from "node:test";
import {setTimeout as sleep} from "node:timers/promises";

import {A3sClient} from "hook-sdk";
import {connect} from "nats";

const PROGRAM = process.env.NATS_SERVER ?? "nats-server";

async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const {port} = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A nats-server; undefined, with a word about it, where there is none. */
async function startBroker(settings = "", port = undefined) {
  port ??= await freePort();
  const folder = mkdtempSync(join(tmpdir(), "hook-nats-"));
  writeFileSync(join(folder, "broker.conf"), settings);
  const env = {...process.env, PATH: `${process.env.PATH}:/usr/sbin`};
  const child = spawn(PROGRAM, ["-a", "127.0.0.1", "-p", String(port), "-c", join(folder, "broker.conf")], {env, stdio: "ignore"});
  const failed = await Promise.race([
    new Promise((resolve) => child.once("error", () => resolve(true))), listens(port).then(() => false),
  ]);
  if (failed) return undefined;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const stop = async () => {
    child.kill("SIGKILL");
    await ended;
    rmSync(folder, {recursive: true});
  };
  return {url: `nats://127.0.0.1:${port}`, port, stop};
}

async function listens(port) {
  for (let tries = 0; tries < 1000; tries++) {
    const isThere = await new Promise((resolve) => {
      const socket = connectTcp(port, "127.0.0.1", () => resolve(true));
      socket.once("error", () => resolve(false));
      socket.once("connect", () => socket.destroy());
    });
    if (isThere) return;
    await sleep(10);
  }
}

/** Runs a test with a broker, an engine that hands each request to `serve`, and a client. */
async function withFleet(context, serve, run, {settings, nats} = {}) {
  const broker = await startBroker(settings);
  if (!broker) return context.skip("SKIPPED NATS: there is no nats-server");
  const engine = serve && await connect({servers: broker.url});
  const seen = [];
  engine?.subscribe("hooks.request.*", {
    queue: "engines",
    callback: (_, message) => {
      const request = message.json();
      seen.push(request);
      void serve(message, request);
    },
  });
  await engine?.flush();
  const client = new A3sClient({transport: "nats", nats: {url: broker.url, ...nats}, onProblem: () => {}});
  try {
    await run({client, seen, broker});
  } finally {
    await client.close();
    await engine?.close();
    await broker.stop();
  }
}

const deny = (message, {correlationId, eventName}) => message.respond(JSON.stringify({
  type: "hook-execution-response", correlationId, eventName, success: true, protocol: 1, output: {},
  processed: {decision: "block", reason: "as the fleet says"},
}));

const TOOL = {tool_name: "edit", tool_input: {}, idempotencyKey: "forged"};

test("an engine of the fleet answers", (context) => withFleet(context, deny, async ({client, seen}) => {
  const fired = await client.fire("BeforeTool", TOOL);
  assert.deepEqual([fired.decision, fired.reason], ["block", "as the fleet says"]);
  assert.equal(seen[0].protocol, 1);
  assert.equal(seen[0].version, JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version);
  assert.ok(seen[0].deadlineMs <= 60_000);
  assert.notEqual(seen[0].input.idempotencyKey, "forged");
}));

test("nobody is no consent", (context) => withFleet(context, undefined, async ({client, broker}) => {
  const answer = await client.request("BeforeTool", TOOL);
  assert.equal(answer.error.code, "no_handler");
  assert.equal(answer.processed.decision, "block");
  const open = new A3sClient({transport: "nats", nats: {url: broker.url, failBehavior: "continue"}});
  assert.equal((await open.request("BeforeTool", TOOL)).processed, undefined);
  await open.close();
}));

test("a broker that comes later is waited for", async (context) => {
  const port = await freePort();
  const client = new A3sClient({transport: "nats", nats: {url: `nats://127.0.0.1:${port}`}});
  const late = await client.request("BeforeTool", TOOL, {deadlineMs: 200});
  assert.equal(late.error.code, "deadline_exceeded");
  assert.equal(late.processed.decision, "block");
  const asked = client.request("BeforeTool", TOOL);
  const broker = await startBroker("", port);
  if (!broker) {
    await Promise.all([assert.rejects(asked, {code: "closed"}), client.close()]);
    return context.skip("SKIPPED NATS: there is no nats-server");
  }
  assert.equal((await asked).error.code, "no_handler");
  await client.close();
  await broker.stop();
});

test("an engine that is lost is followed by another", (context) => {
  let attempts = 0;
  const late = (message, request) => ++attempts === 2 && deny(message, request);
  return withFleet(context, late, async ({client, seen, broker}) => {
    const listener = await connect({servers: broker.url});
    const cancels = listener.subscribe("hooks.cancel", {max: 1});
    await listener.flush();
    const fired = await client.fire("BeforeTool", TOOL, {deadlineMs: 20_000});
    assert.equal(fired.reason, "as the fleet says");
    // The one that fell silent may have it still.
    for await (const message of cancels) assert.equal(message.json().type, "hook-cancel");
    await listener.close();
    assert.equal(seen.length, 2);
    const [first, second] = seen;
    assert.equal(first.correlationId, second.correlationId);
    assert.equal(first.input.idempotencyKey, second.input.idempotencyKey);
    assert.ok(second.deadlineMs <= 15_000);
  });
});

/** The tools about which an engine was asked until now: what is asked here comes after them. */
async function toolsAsked(client, seen) {
  await client.request("Notification", {message: "the last"});
  return seen.filter(({eventName}) => eventName === "BeforeTool").map(({input}) => input.tool_name);
}

/** Answers nothing but what comes last. */
const silent = (message, request) => request.eventName === "Notification" && deny(message, request);

test("silence is asked again once", (context) => withFleet(context, silent, async ({client, seen}) => {
  const answer = await client.request("BeforeTool", TOOL, {deadlineMs: 20_000});
  assert.deepEqual([answer.error.code, answer.processed.decision], ["unanswered", "block"]);
  assert.match(answer.error.message, /said anything for 5000 ms; it was asked again/);
  assert.deepEqual(await toolsAsked(client, seen), ["edit", "edit"]);
}));

test("what has little time is asked once", (context) => withFleet(context, silent, async ({client, seen}) => {
  // An engine says after 20 ms, and no sooner, that it is at work.
  for (let round = 0; ; round++) {
    const answer = await client.request("BeforeTool", {...TOOL, tool_name: `edit_${round}`}, {deadlineMs: 40});
    assert.deepEqual([answer.error.code, answer.processed.decision], ["deadline_exceeded", "block"]);
    // On a machine that has no time for it, it may not have been sent.
    if (!answer.error.message.includes("no engine had answered it")) continue;
    const asked = await toolsAsked(client, seen);
    assert.equal(asked.filter((name) => name === `edit_${round}`).length, 1);
    return;
  }
}));

test("an engine that has a request keeps it, whoever is busy", (context) => {
  const working = async (message, request) => {
    if (request.eventName === "BeforeTool") {
      message.respond('{"type":"hook-working"}');
      message.respond('{"type":"hook-busy"}');
    }
    deny(message, request);
  };
  return withFleet(context, working, async ({client, seen}) => {
    assert.equal((await client.fire("BeforeTool", TOOL)).reason, "as the fleet says");
    assert.deepEqual(await toolsAsked(client, seen), ["edit"]);
  });
});

/** A broker that hands each request to `asked`, with how to answer it, and to refuse to let the asker hear. */
async function scriptedBroker(asked) {
  const server = createServer((socket) => {
    let text = "", subscribed = [];
    socket.on("error", () => {});
    socket.write('INFO {"server_id":"x","version":"2.9.0","proto":1,"headers":true,"max_payload":1048576}\r\n');
    socket.on("data", (chunk) => {
      text += chunk;
      for (let end; (end = text.indexOf("\r\n")) >= 0;) {
        const [verb, ...words] = text.slice(0, end).split(" ");
        const length = verb === "PUB" ? Number(words.at(-1)) : 0;
        if (verb === "PUB" && text.length < end + 2 + length + 2) return;
        const payload = text.slice(end + 2, end + 2 + length);
        text = text.slice(end + 2 + (verb === "PUB" ? length + 2 : 0));
        if (verb === "PING") socket.write("PONG\r\n");
        if (verb === "SUB") subscribed = words;
        if (verb === "PUB" && words.length === 3) {
          const said = (line) => `MSG ${words[1]} ${subscribed.at(-1)} ${line.length}\r\n${line}\r\n`;
          const refusal = `-ERR 'Permissions Violation for Subscription to "${subscribed[0]}"'\r\n`;
          asked(socket, JSON.parse(payload), said, refusal);
        }
      }
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

test("a refusal that is over is none", async () => {
  let asked = 0;
  const server = await scriptedBroker((socket, request, said, refusal) => {
    if (++asked === 1) return socket.end(said('{"type":"hook-busy"}') + refusal);
    let answer;
    deny({respond: (line) => (answer = line)}, request);
    socket.write(said('{"type":"hook-working"}') + said(answer));
  });
  const client = new A3sClient({transport: "nats", nats: {url: `nats://127.0.0.1:${server.address().port}`}, onProblem: () => {}});
  const fired = await client.fire("BeforeTool", TOOL, {deadlineMs: 20_000});
  await client.close();
  server.close();
  assert.deepEqual([fired.reason, asked], ["as the fleet says", 2]);
});

test("one that may not hear is told so at once", async (context) => {
  const broker = await startBroker(`authorization { users = [
    { user: a, password: a, permissions: { publish: ">", subscribe: "other.>" } },
    { user: all, password: all },
  ] }
  no_auth_user: a`);
  if (!broker) return context.skip("SKIPPED NATS: there is no nats-server");
  const engine = await connect({servers: broker.url, user: "all", pass: "all"});
  engine.subscribe("hooks.request.*", {queue: "engines", callback: (_, message) => deny(message, message.json())});
  await engine.flush();
  const client = new A3sClient({transport: "nats", nats: {url: broker.url}, onProblem: () => {}});
  for (let round = 0; round < 2; round++) {
    const answer = await client.request("BeforeTool", TOOL);
    assert.equal(answer.error.code, "unanswered");
    assert.match(answer.error.message, /does not let this client hear/);
    assert.equal(answer.processed.decision, "block");
  }
  await client.close();
  await engine.close();
  await broker.stop();
});

test("work and want of room are waited for", (context) => {
  let asked = 0;
  const slow = async (message, request) => {
    if (++asked < 3) return message.respond('{"type":"hook-busy"}');
    // Longer than an engine may be silent.
    for (let beat = 0; beat < 12; beat++) {
      await sleep(500);
      message.respond('{"type":"hook-working"}');
    }
    deny(message, request);
  };
  return withFleet(context, slow, async ({client, seen}) => {
    assert.equal((await client.fire("BeforeTool", TOOL, {deadlineMs: 20_000})).reason, "as the fleet says");
    assert.equal(seen.length, 3);
  });
});

for (const said of ["nonsense", "[]", '{"type":"hook-hello"}', '{"type":"hook-hello","protocol":2}']) {
  test(`what is no response blocks: ${said}`, (context) => withFleet(context, (message) => message.respond(said), async ({client}) => {
    const answer = await client.request("BeforeTool", TOOL);
    assert.equal(answer.error.code, "unanswered");
    assert.match(answer.error.message, /no response/);
    assert.equal(answer.processed.decision, "block");
  }));
}

/** The output of hooks of which one answered that. */
function answered(answer) {
  return {allOutputs: [{decision: "allow"}, answer]};
}

for (const said of [
  {success: true},
  {success: true, processed: {decision: "fine"}},
  {success: true, processed: {decision: "proceed", shouldStop: true}},
  {success: true, processed: {decision: "proceed"}, hooks: [{decision: "block"}]},
  {eventName: undefined, success: false, error: {code: "unanswered", message: "no event is named"}},
  {eventName: undefined, success: true, processed: {decision: "proceed"}},
  {eventName: "AfterTool", success: true, processed: {decision: "proceed"}},
  {success: true, error: {code: "lost"}, processed: {decision: "proceed"}},
  {success: false, processed: {decision: "proceed"}},
  {success: true, processed: {decision: "proceed"}, output: answered({decision: "deny"})},
  {success: true, processed: {decision: "ask"}, output: answered({decision: "block"})},
  {success: true, processed: {decision: "proceed"}, output: answered({decision: "ask"})},
  {success: true, processed: {decision: "proceed"}, output: answered({hookSpecificOutput: {permissionDecision: "deny"}})},
  {success: true, processed: {decision: "block"}, output: answered({continue: false})},
  {success: true, processed: {decision: "ask"}, output: answered({decision: "retry"})},
  {success: true, processed: {decision: "proceed"}, output: answered({hookSpecificOutput: {permissionDecision: "retry"}})},
]) {
  const strange = (message, {correlationId, eventName}) =>
    message.respond(JSON.stringify({type: "hook-execution-response", correlationId, eventName, output: {}, ...said}));
  test(`a response that contradicts itself blocks: ${JSON.stringify(said)}`, (context) => withFleet(context, strange, async ({client}) => {
    const answer = await client.request("BeforeTool", TOOL);
    assert.equal(answer.error.code, "unanswered");
    assert.equal(answer.processed.decision, "block");
  }));
}

for (const event of ["PreCompress", "BeforeSessionSwitch", "BeforeSessionBranch", "BeforeSessionTree"]) {
  const cancelled = (message, {correlationId, eventName}) => message.respond(JSON.stringify({
    type: "hook-execution-response", correlationId, eventName, success: true, processed: {decision: "ask"},
    output: answered({hookSpecificOutput: {cancel: true}}),
  }));
  test(`a response that does not heed a cancel blocks: ${event}`, (context) => withFleet(context, cancelled, async ({client}) => {
    const answer = await client.request(event, {});
    assert.equal(answer.error.code, "unanswered");
    assert.match(answer.error.message, /wants block/);
    assert.equal(answer.processed.decision, "block");
  }));
}

for (const [asked, eventName, output] of [
  ["before_tool", "BeforeTool", answered({decision: "allow"})],
  ["Deployed", "Deployed", answered({decision: "deny"})],
  ["TurnEnd", "TurnEnd", answered({decision: "deny"})],
  ["AfterTool", "AfterTool", answered({decision: "retry", hookSpecificOutput: {cancel: true}})],
  ["PreCompress", "PreCompress", answered({decision: "retry", hookSpecificOutput: {cancel: "true"}})],
]) {
  const consistent = (message, {correlationId}) => message.respond(JSON.stringify({
    type: "hook-execution-response", correlationId, eventName, success: true, output, processed: {decision: "proceed"},
  }));
  test(`it is no contradiction: ${asked} and ${JSON.stringify(output)}`, (context) => withFleet(context, consistent, async ({client}) => {
    const answer = await client.request(asked, TOOL);
    assert.deepEqual([answer.success, answer.processed.decision], [true, "proceed"]);
  }));
}

test("what is too large is refused", (context) => withFleet(context, deny, async ({client, seen}) => {
  const answer = await client.request("BeforeTool", {tool_name: "edit", tool_input: {text: "x".repeat(70_000)}});
  assert.equal(answer.error.code, "invalid_request");
  assert.match(answer.error.message, /room for 65536/);
  assert.equal(answer.processed.decision, "block");
  assert.equal(seen.length, 0);
}, {settings: "max_payload: 64KB\n"}));

test("who waits no more ends the hooks", (context) => {
  let reply;
  const begun = new Promise((resolve) => (reply = resolve));
  return withFleet(context, (message) => reply(message.reply), async ({client, broker}) => {
    const listener = await connect({servers: broker.url});
    const cancels = listener.subscribe("hooks.cancel", {max: 1});
    await listener.flush();
    const end = new AbortController();
    const asked = client.request("BeforeTool", TOOL, {signal: end.signal});
    const subject = await begun;
    end.abort();
    await assert.rejects(asked, {code: "cancelled"});
    for await (const message of cancels) assert.deepEqual(message.json(), {type: "hook-cancel", reply: subject});
    await listener.close();
  });
});

test("who closes in mid-request ends the hooks", (context) => {
  let reply;
  const begun = new Promise((resolve) => (reply = resolve));
  return withFleet(context, (message) => reply(message.reply), async ({client, broker}) => {
    const listener = await connect({servers: broker.url});
    const cancels = listener.subscribe("hooks.cancel", {max: 1});
    await listener.flush();
    const asked = client.request("BeforeTool", TOOL);
    const subject = await begun;
    await Promise.all([client.close(), assert.rejects(asked, {code: "closed"})]);
    for await (const message of cancels) assert.deepEqual(message.json(), {type: "hook-cancel", reply: subject});
    await listener.close();
  });
});

test("of many requests some wait for the others, until they are over", (context) => {
  const held = [];
  let full;
  const isFull = new Promise((resolve) => (full = resolve));
  const hold = (message, request) => {
    if (request.eventName !== "BeforeTool") return deny(message, request);
    if (held.push([message, request]) === 1024) full();
  };
  return withFleet(context, hold, async ({client, seen}) => {
    const asked = Array.from({length: 1024}, () => client.request("BeforeTool", TOOL));
    await isFull;
    const late = await client.request("Notification", {message: "late"}, {deadlineMs: 100});
    assert.deepEqual([late.error.code, late.processed.decision], ["deadline_exceeded", "block"]);
    const end = new AbortController();
    const cancelled = client.request("Notification", {message: "cancelled"}, {signal: end.signal});
    const next = client.request("Notification", {message: "next"});
    end.abort();
    await assert.rejects(cancelled, {code: "cancelled"});
    deny(...held.pop());
    assert.equal((await next).processed.reason, "as the fleet says");
    for (const one of held) deny(...one);
    await Promise.all(asked);
    assert.deepEqual(seen.filter((it) => it.eventName === "Notification").map((it) => it.input.message), ["next"]);
  });
});

/** Runs a program that closes its client at the word `close`, and must then end by itself. */
async function closes(url, meanwhile) {
  const program = `
    import {A3sClient} from "hook-sdk";
    const client = new A3sClient({transport: "nats", nats: {url: ${JSON.stringify(url)}}, onProblem: () => {}});
    const first = await client.request("BeforeTool", {tool_name: "edit", tool_input: {}}, {deadlineMs: 1000});
    console.log(first.error.code);
    process.stdin.once("data", async () => {
      process.stdin.destroy();
      const asked = client.request("BeforeTool", {tool_name: "edit", tool_input: {}});
      await client.close();
      console.log(await asked.catch((error) => error.code));
    });
  `;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], {stdio: ["pipe", "pipe", "inherit"], timeout: 60_000});
  const ended = new Promise((resolve) => child.once("exit", (code, signal) => resolve(code ?? signal)));
  const said = [];
  for await (const word of createInterface({input: child.stdout})) {
    if (said.push(word) === 1) {
      await meanwhile?.();
      child.stdin.write("close\n");
    }
  }
  assert.equal(await ended, 0);
  return said;
}

test("a client that is closed while it connects lets its program end", async () => {
  const port = await freePort();
  assert.deepEqual(await closes(`nats://127.0.0.1:${port}`), ["deadline_exceeded", "closed"]);
});

test("a client that is closed before the broker greets lets its program end", async () => {
  const silent = createServer(() => {}).listen(0, "127.0.0.1");
  await once(silent, "listening");
  const said = await closes(`nats://127.0.0.1:${silent.address().port}`);
  silent.close();
  assert.deepEqual(said, ["deadline_exceeded", "closed"]);
});

test("a client that is closed while its broker is away lets its program end", async (context) => {
  const broker = await startBroker();
  if (!broker) return context.skip("SKIPPED NATS: there is no nats-server");
  assert.deepEqual(await closes(broker.url, broker.stop), ["no_handler", "closed"]);
});

test("a client outlives its broker", async (context) => {
  const broker = await startBroker();
  if (!broker) return context.skip("SKIPPED NATS: there is no nats-server");
  const client = new A3sClient({transport: "nats", nats: {url: broker.url}, onProblem: () => {}});
  assert.equal((await client.request("BeforeTool", TOOL)).error.code, "no_handler");
  await broker.stop();
  const away = await client.request("BeforeTool", TOOL, {deadlineMs: 200});
  assert.equal(away.error.code, "deadline_exceeded");
  const asked = client.fire("BeforeTool", TOOL);
  const again = await startBroker("", broker.port);
  const engine = await connect({servers: again.url});
  engine.subscribe("hooks.request.*", {callback: (_, message) => void deny(message, message.json())});
  // Engines come back one by one: that nobody is there yet is no answer.
  assert.equal((await asked).reason, "as the fleet says");
  await client.close();
  await engine.close();
  await again.stop();
});

/** The settings of a broker that speaks TLS, and who says that it is it; undefined where openssl is not there. */
function certificates(folder) {
  const created = "req -x509 -nodes -newkey ec -pkeyopt ec_paramgen_curve:P-256";
  for (const one of [
    `${created} -subj /CN=authority -keyout authority.key -out authority.pem`,
    `${created} -subj /CN=broker -keyout broker.key -out broker.pem -CA authority.pem -CAkey authority.key`
      + " -addext subjectAltName=IP:127.0.0.1 -addext basicConstraints=critical,CA:FALSE",
  ]) {
    const {error, status} = spawnSync("openssl", one.split(" "), {cwd: folder, stdio: "ignore"});
    if (error) return undefined;
    assert.equal(status, 0, one);
  }
  const file = join(folder, "broker");
  return {authority: join(folder, "authority.pem"), settings: `tls { cert_file: "${file}.pem", key_file: "${file}.key" }\n`};
}

test("a broker that was named with tls:// is held to it, also when it comes back", async (context) => {
  const folder = mkdtempSync(join(tmpdir(), "hook-nats-"));
  const made = certificates(folder);
  if (!made) return context.skip("SKIPPED TLS: there is no openssl");
  const broker = await startBroker(made.settings);
  if (!broker) return context.skip("SKIPPED NATS: there is no nats-server");
  const url = `tls://127.0.0.1:${broker.port}`;
  const client = new A3sClient({transport: "nats", nats: {url, certificateAuthority: made.authority}, onProblem: () => {}});
  const stranger = new A3sClient({transport: "nats", nats: {url}, onProblem: () => {}});
  assert.equal((await client.request("BeforeTool", TOOL)).error.code, "no_handler");
  // Nobody that is believed says that it is the broker.
  assert.match((await stranger.request("BeforeTool", TOOL)).error.message, /refuses the connection/);
  await stranger.close();
  await broker.stop();
  const plain = await startBroker("", broker.port);
  const refused = await client.request("BeforeTool", TOOL);
  assert.match(refused.error.message, /refuses the connection/);
  assert.deepEqual([refused.error.code, refused.processed.decision], ["unanswered", "block"]);
  await client.close();
  await plain.stop();
  rmSync(folder, {recursive: true});
});

test("nothing is said to a server without TLS that was named with tls://", async () => {
  let heard = "";
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", (chunk) => (heard += chunk));
    socket.write('INFO {"server_id":"x","version":"2.9.0","max_payload":1048576}\r\n');
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = new A3sClient({transport: "nats", nats: {url: `tls://127.0.0.1:${server.address().port}`}, onProblem: () => {}});
  const answer = await client.request("BeforeTool", TOOL);
  await client.close();
  server.close();
  assert.deepEqual([answer.error.code, answer.processed.decision, heard], ["unanswered", "block", ""]);
});

test("a fleet takes no handlers", (context) => withFleet(context, undefined, async ({client}) => {
  await assert.rejects(client.reload(), {code: "unsupported"});
}));

test("brokers are named safely", async () => {
  const folder = mkdtempSync(join(tmpdir(), "hook-nats-"));
  for (const url of ["nats://192.0.2.1", "broker.example", "ftp://x", "tls://a:b@broker.example", "", "tls://"]) {
    assert.throws(() => new A3sClient({transport: "nats", nats: {url}}), {code: "invalid_option"}, url);
  }
  assert.throws(() => new A3sClient({transport: "nats"}), {code: "invalid_option"});
  assert.throws(() => new A3sClient({transport: "nats", nats: {url: "localhost", subject: "a.>"}}), {code: "invalid_option"});
  const credentials = join(folder, "agent.nk");
  writeFileSync(credentials, "SUxxx");
  chmodSync(credentials, 0o644);
  const client = new A3sClient({transport: "nats", nats: {url: "localhost", credentials}, onProblem: () => {}});
  await assert.rejects(client.connect(), /chmod 600/);
  await client.close();
  rmSync(folder, {recursive: true});
});
