// The engine that comes with the package: which binary a client starts for itself.

import assert from "node:assert/strict";
import {spawnSync} from "node:child_process";
import {chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {test} from "node:test";
import {fileURLToPath} from "node:url";

const PACKAGE = fileURLToPath(new URL("..", import.meta.url));
const {version} = JSON.parse(readFileSync(join(PACKAGE, "package.json"), "utf8"));

/** What a program in a folder of its own is told, where these engines say their names and end. */
function started({engine, isMissing = false, inPath = true, binary}) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "hook-engine-")));
  try {
    const program = (path, name) => {
      mkdirSync(join(path, ".."), {recursive: true});
      writeFileSync(path, `#!/bin/sh\necho "this is ${name}" >&2; exit 7\n`);
      chmodSync(path, 0o755);
      return path;
    };
    // A copy by links, so that packages are looked for here.
    const sdk = join(folder, "node_modules/hook-sdk");
    mkdirSync(sdk, {recursive: true});
    spawnSync("cp", ["-r", join(PACKAGE, "dist"), join(PACKAGE, "package.json"), sdk]);
    if (engine) {
      mkdirSync(join(folder, "node_modules/hook-engine"));
      writeFileSync(join(folder, "node_modules/hook-engine/package.json"), JSON.stringify({name: "hook-engine", version: engine}));
      if (!isMissing) program(join(folder, `node_modules/@hook-engine/${process.platform}-${process.arch}/bin/hook`), "the package's");
    }
    if (inPath) program(join(folder, "bin/hook"), "in PATH");
    const named = binary === "missing" ? join(folder, "missing") : binary && program(join(folder, "own"), "named");
    const script = `
      import {HookClient} from "hook-sdk";
      const client = new HookClient({transport: "stdio", onProblem: () => {}});
      await client.connect().catch((error) => console.log(error.message));
    `;
    const {stdout} = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
      cwd: folder, encoding: "utf8", env: {PATH: `${folder}/bin:/usr/bin:/bin`, HOME: folder, ...(named && {HOOK_BINARY: named})},
    });
    return stdout;
  } finally {
    rmSync(folder, {recursive: true});
  }
}

test("the engine of the package of the same version is started", () => {
  assert.match(started({engine: version}), /this is the package's/);
});

test("HOOK_BINARY wins, and is said if it cannot be run", () => {
  assert.match(started({engine: version, binary: true}), /this is named/);
  assert.match(started({engine: version, binary: "missing"}), /missing` cannot be run: .*ENOENT; HOOK_BINARY names it/);
});

test("without the package, or with another version, it is that in PATH", () => {
  assert.match(started({}), /this is in PATH/);
  assert.match(started({engine: "9.9.9"}), /this is in PATH/);
});

test("without any engine the error says how to get one", () => {
  const why = /`hook` cannot be run: .*; install the engine \(`npm install hook-engine@[0-9.]+`\), or name its binary by HOOK_BINARY; /;
  for (const [options, reason] of [
    [{}, /the package hook-engine is not installed, and/],
    [{engine: "9.9.9"}, /hook-engine has the version 9\.9\.9, and this is/],
    [{engine: version, isMissing: true}, /hook-engine has no binary for /],
  ]) {
    const said = started({...options, inPath: false});
    assert.match(said, why);
    assert.match(said, reason);
  }
});
