// What went wrong, in words: also where what was thrown is no error, or one that cannot be read.

import { Error, String } from "./intrinsics.mjs";

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
