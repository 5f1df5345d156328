// What is kept has bounds: the classes themselves, since a server would have to be flooded.

import assert from "node:assert/strict";
import {test} from "node:test";

import {Calls} from "../dist/calls.js";
import {Outbox} from "../dist/outbox.js";
import {Questions} from "../dist/requests.js";

const answer = (callId, line = "") => ({message: {type: "hook-answer", callId}, line});

test("messages for a connection that is to come are kept up to a number and a length", () => {
  const many = new Outbox();
  for (let n = 0; n < 1024; n++) many.keep(answer(`${n}`));
  assert.throws(() => many.keep(answer("more")), {code: "overloaded"});
  assert.equal(many.takeAll().length, 1024);
  const long = new Outbox();
  long.keep(answer("1", "x".repeat(8 << 20)));
  assert.throws(() => long.keep(answer("2", "x")), {code: "overloaded"});
});

test("answers that were sent are remembered up to a number and a length, the last ones", () => {
  const box = new Outbox();
  for (let n = 0; n < 65; n++) box.sent(answer(`${n}`));
  assert.deepEqual([box.answerTo("0"), box.answerTo("64")?.message.callId], [undefined, "64"]);
  box.sent(answer("long", "x".repeat(9 << 20)));
  assert.equal(box.takeAll().length, 0);
});

test("requests that were given up are remembered up to a number, the last ones", async () => {
  const requests = new Questions("correlationId");
  for (let n = 0; n <= 4096; n++) {
    const abort = new AbortController();
    const asked = requests.ask(`${n}`, "SessionEnd", async () => {}, () => ({send() {}, cancel() {}}), abort.signal);
    await new Promise(setImmediate);
    abort.abort();
    await assert.rejects(asked, {code: "cancelled"});
  }
  assert.deepEqual([requests.has("0"), requests.has("1"), requests.has("4096")], [false, true, true]);
});

test("calls have as long as the latest of their deadlines", () => {
  const calls = new Calls(() => {}, () => {});
  assert.equal(calls.remainingMs(), 0);
  const call = (callId, deadlineMs) => (
    calls.take({type: "hook-call", callId, hookId: "h", eventName: "BeforeTool", input: {}, deadlineMs}, () => ({handler: () => new Promise(() => {}), vocabulary: "native"}))
  );
  call("1", 1000);
  call("2", 60_000);
  assert.ok(calls.remainingMs() <= 60_000 && calls.remainingMs() > 1000);
  call("3", undefined);
  assert.equal(calls.remainingMs(), Infinity);
});
