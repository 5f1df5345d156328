/** What the hooks of an event came to. */

import {HookError} from "./errors.js";
import type {HookExecutionResponse, HookOutput, Processed} from "./events/native.js";
import {isObject} from "./messages.js";

/** What `fire` gives: what is to be done, with what the user is to be told. */
export interface Fired extends Processed {
  /** What failed in the engine, where `decision` says what that is to mean. */
  error?: {code: string; message: string; details?: unknown};
  finalOutput?: HookOutput;
  /** For the user: settings that cannot be read, hooks that are not trusted or failed. */
  warnings: string[];
}

export class Fired {
  constructor(processed: Processed, {error, output, warnings = []}: HookExecutionResponse) {
    const finalOutput = output?.finalOutput;
    Object.assign(this, processed, error && {error}, finalOutput && {finalOutput}, {warnings});
  }

  /**
   * The arguments that the tool is to run with: the original ones, as hooks changed them.
   *
   * @throws HookError `invalid_message` for a change that is none.
   */
  toolInput(original: Record<string, unknown>): Record<string, unknown> {
    const changed = this.modified?.["tool_input"];
    if (changed === undefined || changed === null) return {...original};
    if (!isObject(changed)) throw new HookError("invalid_message", "the changed arguments are no object");
    return this.modified?.["toolInputReplaces"] === true ? {...changed} : {...original, ...changed};
  }
}
