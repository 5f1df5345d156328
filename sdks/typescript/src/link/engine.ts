/** The engine's binary, for a program that starts a server of its own. */

import {existsSync, readFileSync} from "node:fs";
import {createRequire} from "node:module";

import {VERSION} from "../messages.js";

/** The engine's program, and the advice if it cannot be run. */
export interface Engine {
  program: string;
  remedy: string;
}

/**
 * `HOOK_BINARY`; else the binary of the package `hook-engine`, if that has this package's version; else `hook` in PATH.
 * `resolve` gives the file of a module, or throws.
 */
export function findEngine(environment: NodeJS.ProcessEnv = process.env, resolve: (name: string) => string = resolveHere): Engine {
  const named = environment["HOOK_BINARY"];
  if (named) return {program: named, remedy: "HOOK_BINARY names it"};
  const found = packaged(resolve);
  if (found.program !== undefined) return {program: found.program, remedy: "it is that of the package hook-engine: install it again"};
  const remedy = `install the engine (\`npm install hook-engine@${VERSION}\`), or name its binary by HOOK_BINARY; `
    + `${found.why}, and \`hook\` was looked for in PATH`;
  return {program: "hook", remedy};
}

function packaged(resolve: (name: string) => string): {program: string; why?: undefined} | {program?: undefined; why: string} {
  let manifest: string;
  try {
    manifest = resolve("hook-engine/package.json");
  } catch {
    return {why: "the package hook-engine is not installed"};
  }
  const {version} = JSON.parse(readFileSync(manifest, "utf8")) as {version?: unknown};
  if (version !== VERSION) return {why: `the package hook-engine has the version ${String(version)}, and this is ${VERSION}`};
  const file = `bin/hook${process.platform === "win32" ? ".exe" : ""}`;
  const system = `@hook-engine/${process.platform}-${process.arch}`;
  const isMusl = process.platform === "linux" && existsSync(`/lib/ld-musl-${process.arch === "x64" ? "x86_64" : "aarch64"}.so.1`);
  // Those of musl run everywhere.
  for (const name of isMusl ? [`${system}-musl`] : [system, `${system}-musl`]) {
    try {
      return {program: createRequire(manifest).resolve(`${name}/${file}`)};
    } catch {} // The next one.
  }
  return {why: `the package hook-engine has no binary for ${process.platform}-${process.arch}`};
}

function resolveHere(name: string): string {
  return createRequire(import.meta.url).resolve(name);
}
