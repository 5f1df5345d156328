/** A handler that holds for a while. */

// Node 20 has had the symbol from its fourth minor version on.
/** `Symbol.asyncDispose`. */
export const asyncDispose: typeof Symbol.asyncDispose = Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose");

/** A handler that is in force until it is disposed of. */
export class TemporaryHook {
  readonly hookId: string;
  readonly #remove: () => Promise<unknown>;

  constructor(hookId: string, remove: () => Promise<unknown>) {
    this.hookId = hookId;
    this.#remove = remove;
  }

  /** Takes the handler away. Once is enough. */
  async dispose(): Promise<void> {
    await this.#remove();
  }

  /** For `await using`. */
  [asyncDispose](): Promise<void> {
    return this.dispose();
  }
}
