/** Where a project's own server listens: as the engine itself decides it. */

import {createHash} from "node:crypto";
import {lstatSync, opendirSync, realpathSync, statSync} from "node:fs";
import {dirname, isAbsolute, join} from "node:path";

/** The folders of `.hooks` in which hooks are found without settings. */
const FOLDERS = ["modules", "rules", "pre", "post"];

/** The project of a folder: itself, or the nearest one around it that has hooks in `.hooks`. */
export function nearestProject(folder: string, environment: NodeJS.ProcessEnv = process.env): string {
  if (hasHooks(folder)) return folder;
  const real = realpathSync(folder);
  const {HOME} = environment;
  const home = HOME && isAbsolute(HOME) ? realOrSame(HOME) : undefined;
  const owners = new Set([process.geteuid?.(), statSync(real).uid]);
  for (let inner = real; inner !== home; ) {
    const outer = dirname(inner);
    // What another owner has is neither the user's nor the project's.
    if (outer === inner || (process.geteuid && !owners.has(statSync(outer).uid))) break;
    if (hasHooks(outer)) return outer;
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
    return lstatSync(path, {throwIfNoEntry: false}) !== undefined || isBrokenLink(dirname(path));
  } catch (error) {
    // A file stands where a folder would be. What cannot be looked at for another reason may be there.
    return (error as NodeJS.ErrnoException).code !== "ENOTDIR";
  }
}

/** Whether there are settings or hook files. What cannot be read counts, as it does for the engine. */
function hasHooks(project: string): boolean {
  const hooks = join(project, ".hooks");
  return ["settings.json", "packs.lock"].some((name) => exists(join(hooks, name))) || FOLDERS.some((folder) => hasEntries(join(hooks, folder)));
}

function hasEntries(folder: string): boolean {
  try {
    const entries = opendirSync(folder);
    try {
      return entries.readSync() !== null;
    } finally {
      entries.closeSync();
    }
  } catch (error) {
    return !["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "");
  }
}

/** A link that leads nowhere: something was meant to be there. */
function isBrokenLink(path: string): boolean {
  return lstatSync(path, {throwIfNoEntry: false})?.isSymbolicLink() === true && !statSync(path, {throwIfNoEntry: false});
}

function realOrSame(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
