// The agents of docs/examples/sdk/typescript/agents, as programs of a folder whose hooks are trusted.

import assert from "node:assert/strict";
import {spawn} from "node:child_process";
import {cpSync, mkdirSync, readdirSync, symlinkSync} from "node:fs";
import {dirname, join} from "node:path";
import {fileURLToPath} from "node:url";
import {test} from "node:test";

import {folderOf} from "./libraries.mjs";
import {EXAMPLES, engine, hook} from "./project.mjs";

const FOLDER = join(EXAMPLES, "agents");
const SDK = fileURLToPath(new URL("..", import.meta.url));
const PLAYED = {ai: undefined, langchain: undefined, mastra: "@mastra/core", plain: undefined};

for (const [name, library] of Object.entries(PLAYED)) {
  const installed = library && folderOf(library);
  if (library && !installed) continue;
  engine(`${name}.mjs`, {}, async ({folder, environment}) => {
    const project = join(folder, "project");
    cpSync(FOLDER, project, {recursive: true});
    const packages = join(project, "node_modules");
    mkdirSync(packages);
    for (const library of readdirSync(join(SDK, "node_modules"))) symlinkSync(join(SDK, "node_modules", library), join(packages, library));
    symlinkSync(SDK, join(packages, "hook-sdk"));
    if (installed) {
      mkdirSync(dirname(join(packages, library)), {recursive: true});
      symlinkSync(installed, join(packages, library));
    }
    const run = async (program, args, answer) => {
      const child = spawn(program, args, {cwd: project, env: {...environment, HOOK_BINARY: hook}, stdio: ["pipe", "pipe", "pipe"]});
      let said = "";
      let problems = "";
      child.stdout.on("data", (chunk) => {
        said += chunk;
        if (answer !== undefined && said.includes("[y/N]")) child.stdin.end(`${answer}\n`);
      });
      child.stderr.on("data", (chunk) => (problems += chunk));
      const [code] = await new Promise((resolve) => child.on("close", (...end) => resolve(end)));
      assert.equal(code, 0, said + problems);
      return said;
    };
    await run(hook, ["trust", "--yes"]);
    for (const [answer, mail] of [["y", "sent to ada@example.org"], ["n", "not confirmed: a mail to ada@example.org"]]) {
      const said = await run("node", [`${name}.mjs`], answer);
      // LangChain's agent prints at its end.
      const lines = said.replace(/send_mail: a mail to .*\[y\/N\] /, "").split("\n").filter((line) => line !== "" && !line.startsWith("the model got"));
      assert.deepEqual(new Set(lines), new Set([
        "delete_file: files are not deleted here", `send_mail: ${mail}`, "write_file: wrote drafts/a.txt",
        "Tell the user about each file.", "Done. Your key was ****.", "There is drafts/a.txt.",
      ]), said);
      assert.deepEqual(said.match(/the model got the key: \w+/g), Array(3).fill("the model got the key: false"));
      assert.ok(said.includes("send_mail: a mail to ada@example.org? [y/N]"));
    }
  });
}

test("every agent is played", () => {
  const agents = readdirSync(FOLDER).filter((file) => file.endsWith(".mjs") && !/^(ai-model|script)\.mjs$/.test(file));
  assert.deepEqual(agents.sort(), Object.keys(PLAYED).map((name) => `${name}.mjs`));
});
