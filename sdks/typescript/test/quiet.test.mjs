// What nobody can catch on standard error is not written there, but told to `onProblem`.

import assert from "node:assert/strict";
import {spawnSync} from "node:child_process";
import {mkdtempSync, readFileSync, rmSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {test} from "node:test";

/** Runs a program with the package; gives what it printed, which is JSON. It writes nothing to standard error. */
function quiet(program, ...args) {
  const script = `import {HookClient} from "hook-sdk"; const problems = []; const onProblem = (text) => problems.push(text); ${program}`;
  const {status, stdout, stderr} = spawnSync("node", ["--input-type=module", "-e", script, "--", ...args], {
    cwd: new URL("..", import.meta.url), encoding: "utf8",
  });
  assert.deepEqual([status, stderr], [0, ""], stdout);
  return JSON.parse(stdout);
}

const SERVER = `
  process.stderr.write("careful\\n" + "x".repeat(100_000) + "\\n");
  console.log(JSON.stringify({type: "hook-hello", protocol: 1}));
  require("node:readline").createInterface({input: process.stdin}).on("line", (line) => {
    const {correlationId} = JSON.parse(line);
    console.log(JSON.stringify({type: "hook-execution-response", correlationId, processed: {decision: "proceed"}}));
  }).on("close", () => process.stderr.write("without an end"));
`;

test("standard error of a server that was started is told", () => {
  const [first, long, last] = quiet(`
    const client = new HookClient({transport: "stdio", command: ["node", "-e", process.argv[1]], onProblem});
    await client.fire("SessionEnd", {reason: "exit"});
    await client.close();
    console.log(JSON.stringify(problems));
  `, SERVER);
  assert.equal(first, "the hook server says: careful");
  assert.ok(long.length < 20_000);
  assert.equal(last, "the hook server says: without an end");
});

test("a server that cannot serve says why in the error, too", () => {
  const {problems, message} = quiet(`
    const command = ["node", "-e", "console.error('no such project'); process.exit(7)"];
    const client = new HookClient({transport: "stdio", command, onProblem});
    const message = await client.connect().catch((error) => error.message);
    await client.close();
    console.log(JSON.stringify({problems, message}));
  `);
  assert.deepEqual(problems, ["the hook server says: no such project"]);
  assert.match(message, /ended with exit code 7; it wrote last: no such project/);
});
