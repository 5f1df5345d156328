/** A handler that holds for a while. */

// Node 20 has had the symbol from its fourth minor version on.
/** `Symbol.asyncDispose`. */
export const asyncDispose: typeof Symbol.asyncDispose = Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose");

/** A handler that is in force until it is disposed of; once is enough. */
export interface TemporaryHook extends AsyncDisposable {
  readonly hookId: string;
  dispose(): Promise<void>;
}
