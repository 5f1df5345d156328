/** Signals: those by which a program is told to end, and those by which it gives something up. */

import {HookConnectionError} from "./errors.js";

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/** The longest time of a timer, in milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** How long after a deadline, which the server keeps, its answer may come. */
const LATE_MS = 2_000;

/** Resolves at the first of these signals, or when that is aborted. The program does not end by itself until then. */
export async function untilEnded(over: AbortSignal): Promise<void> {
  let end = () => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  const alive = setInterval(() => {}, MAX_TIMER_MS);
  for (const signal of SIGNALS) process.on(signal, end);
  over.addEventListener("abort", end);
  if (over.aborted) end();
  try {
    await ended;
  } finally {
    over.removeEventListener("abort", end);
    for (const signal of SIGNALS) process.off(signal, end);
    clearInterval(alive);
  }
}

/** What becomes of a promise, or the error that `abort` makes where the signal is aborted before. */
export async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined, abort: () => Error): Promise<T> {
  if (!signal) return promise;
  let listener = () => {};
  const aborted = new Promise<never>((_, reject) => (listener = () => reject(abort())));
  signal.addEventListener("abort", listener, {once: true});
  if (signal.aborted) listener();
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", listener);
  }
}

/**
 * What becomes of a call with a deadline that the server keeps. Its signal is aborted as well where the server is so late
 * that it must be stuck.
 *
 * @throws HookConnectionError `no_answer` in that case; what the call throws.
 */
export async function untilLate<T>(
  what: string, {deadlineMs, signal}: {deadlineMs?: number; signal?: AbortSignal}, call: (signal?: AbortSignal) => Promise<T>,
): Promise<T> {
  if (deadlineMs === undefined) return call(signal);
  const late = new AbortController();
  const error = new HookConnectionError("no_answer", `${what}: the server did not answer within ${deadlineMs} ms`);
  // What has arrived while this program was busy is read first.
  const timer = setTimeout(() => setImmediate(() => late.abort(error)), Math.min(deadlineMs + LATE_MS, MAX_TIMER_MS));
  try {
    return await call(signal ? AbortSignal.any([signal, late.signal]) : late.signal);
  } catch (thrown) {
    throw late.signal.aborted && !signal?.aborted ? error : thrown;
  } finally {
    clearTimeout(timer);
  }
}
