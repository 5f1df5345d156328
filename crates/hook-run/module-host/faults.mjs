// What went wrong, in words: also where what was thrown is no error, or one that cannot be read.

import { spawnSync } from "node:child_process";
import { pathToFileURL } from "node:url";

import { Error, Math, String, SyntaxError, process } from "./intrinsics.mjs";

/** How a module's text in an error is cut, in characters. */
const MAX_REASON = 8 * 1024;

const UNREADABLE = "what it threw cannot be read";

function read(what) {
  try {
    return String(what()).slice(0, MAX_REASON);
  } catch {
    return UNREADABLE;
  }
}

/** Why, for those who asked. */
export function reasonOf(error) {
  return read(() => (error instanceof Error ? error.message || error.name : error));
}

/** Why and where, for the log. */
export function stackOf(error) {
  return read(() => error?.stack ?? error);
}

/** How long Node may take to say where a module is no JavaScript, in milliseconds. */
const CHECK = 3_000;

/**
 * Where in a module something went wrong that was thrown while it was loaded, before a message: `PATH:LINE:COLUMN: `.
 * It was loaded from `file`, which may be a copy.
 */
export function placeOf(error, { file, path }) {
  try {
    if (!(error instanceof Error)) return "";
    // What stands in no stack Node itself says, without running anything of it.
    const checks = error instanceof SyntaxError && !pointIn(String(error.stack), file);
    const check = () => spawnSync(process.execPath, ["--check", file], { encoding: "utf8", timeout: CHECK }).stderr;
    const point = pointIn(String(checks ? check() : error.stack), file);
    return point ? `${path}:${point.line}:${point.column}: ` : "";
  } catch {
    return "";
  }
}

/** The first line and column in a file that a stack, or what Node says of a syntax error, names. */
function pointIn(text, path) {
  const names = [pathToFileURL(path).href, path];
  for (let index = 0; index < names.length; index++) {
    const at = text.indexOf(`${names[index]}:`);
    if (at < 0) continue;
    const rest = text.slice(at + names[index].length + 1);
    const [, line, column] = /^(\d+)(?::(\d+))?/.exec(rest) ?? [];
    if (line === undefined) continue;
    // Below the line there are marks.
    const marks = rest.split("\n")[2] ?? "";
    return { line, column: column ?? Math.max(marks.indexOf("^") + 1, 1) };
  }
  return undefined;
}

/** The name that was meant, if one is near. */
export function nearest(name, names) {
  const given = String(name);
  let best;
  let least = Math.max(1, Math.floor(given.length / 3)) + 1;
  for (let index = 0; index < names.length && given.length < 100; index++) {
    const distance = distanceOf(given, names[index]);
    if (distance < least) {
      least = distance;
      best = names[index];
    }
  }
  return best;
}

/** How many characters are other ones, or too many, or missing. */
function distanceOf(one, other) {
  let row = [];
  for (let column = 0; column <= other.length; column++) row[column] = column;
  for (let line = 1; line <= one.length; line++) {
    const next = [line];
    for (let column = 1; column <= other.length; column++) {
      const change = row[column - 1] + (one[line - 1] === other[column - 1] ? 0 : 1);
      next[column] = Math.min(change, row[column] + 1, next[column - 1] + 1);
    }
    row = next;
  }
  return row[other.length];
}
