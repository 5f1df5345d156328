/** Signals: those by which a program is told to end, and those by which it gives something up. */

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/** How often the timer that keeps a program alive wakes it, in milliseconds: as rarely as there can be. */
const RARELY_MS = 2 ** 31 - 1;

/** Resolves at the first of these signals, or when that is aborted. The program does not end by itself until then. */
export async function untilEnded(over: AbortSignal): Promise<void> {
  let end = () => {};
  const ended = new Promise<void>((resolve) => (end = resolve));
  const alive = setInterval(() => {}, RARELY_MS);
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
