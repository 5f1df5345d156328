// Versions of libraries that the integrations were not tested with.

import assert from "node:assert/strict";
import {spawnSync} from "node:child_process";
import {mkdirSync, mkdtempSync, rmSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {test} from "node:test";

/** The problems of a program in a folder with that version of a library, which makes two integrations of it. */
function problems(library, version) {
  const folder = mkdtempSync(join(tmpdir(), "hook-versions-"));
  try {
    mkdirSync(join(folder, "node_modules", library), {recursive: true});
    writeFileSync(join(folder, "node_modules", library, "package.json"), JSON.stringify({name: library, version}));
    const script = `
      import {warnOfVersion} from ${JSON.stringify(new URL("../dist/integrations/shared.js", import.meta.url).href)};
      const problems = [];
      for (let n = 0; n < 2; n++) warnOfVersion(${JSON.stringify(library)}, [5, 6], (problem) => problems.push(problem));
      console.log(JSON.stringify(problems));
    `;
    return JSON.parse(spawnSync("node", ["--input-type=module", "-e", script], {cwd: folder, encoding: "utf8"}).stdout);
  } finally {
    rmSync(folder, {recursive: true});
  }
}

test("another major version of a library is one warning", () => {
  assert.deepEqual(problems("ai", "6.1.0"), []);
  assert.deepEqual(problems("ai", "9.0.0-beta.1"), ["ai 9.0.0-beta.1 was not tested with this version of hook-sdk, but major versions 5 and 6"]);
  assert.deepEqual(problems("@scope/library", "1.0.0").length, 1);
});
