/** Where a project's own server listens: as the engine itself decides it. */

import {createHash} from "node:crypto";
import {closeSync, lstatSync, openSync, readSync, realpathSync, statSync} from "node:fs";
import {homedir} from "node:os";
import {dirname, isAbsolute, join} from "node:path";

/** The project of a folder: itself, or the nearest one around it that has hooks. */
export function nearestProject(folder: string): string {
  if (exists(join(folder, ".hooks/settings.json"))) return folder;
  const real = realpathSync(folder);
  const home = realOrSame(homedir());
  const owners = new Set([process.getuid?.(), statSync(real).uid]);
  for (let inner = real; inner !== home && !isRepository(inner); ) {
    const outer = dirname(inner);
    // What another owner has is neither the user's nor the project's.
    if (outer === inner || (process.getuid && !owners.has(statSync(outer).uid))) break;
    if (exists(join(outer, ".hooks/settings.json"))) return outer;
    inner = outer;
  }
  return folder;
}

/** The socket of a project's own server; `undefined` where the project is not there. */
export function socketOf(project: string, environment: NodeJS.ProcessEnv = process.env): string | undefined {
  const absolute = (name: string) => {
    const value = environment[name];
    return value && isAbsolute(value) ? value : undefined;
  };
  const runtime = absolute("XDG_RUNTIME_DIR");
  const home = absolute("HOME");
  const state = absolute("XDG_STATE_HOME") ?? (home && join(home, ".local/state"));
  const place = runtime ? join(runtime, "hook") : state && join(state, "hook/run");
  if (!place) return undefined;
  try {
    // As bytes: a path need not be Unicode.
    const real = realpathSync.native(project, {encoding: "buffer"});
    return join(place, `${createHash("sha256").update(real).digest("hex").slice(0, 16)}.sock`);
  } catch {
    return undefined;
  }
}

/** Whether something is at a path. */
export function exists(path: string): boolean {
  try {
    return lstatSync(path, {throwIfNoEntry: false}) !== undefined;
  } catch (error) {
    // A file stands where a folder would be. What cannot be looked at for another reason may be there.
    return (error as NodeJS.ErrnoException).code !== "ENOTDIR";
  }
}

function realOrSame(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** The root of a repository has a `.git`: a folder with a HEAD, or the file of a worktree or submodule. */
function isRepository(folder: string): boolean {
  const git = join(folder, ".git");
  try {
    if (exists(join(git, "HEAD"))) return !lstatSync(join(git, "HEAD")).isDirectory();
    if (!statSync(git).isFile()) return false;
    const file = openSync(git, "r");
    try {
      const begin = Buffer.alloc(8);
      return readSync(file, begin, 0, 8, 0) === 8 && begin.toString() === "gitdir: ";
    } finally {
      closeSync(file);
    }
  } catch {
    return false;
  }
}
