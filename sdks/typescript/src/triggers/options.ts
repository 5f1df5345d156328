/** The options of triggers. */

/** The session that a trigger belongs to; the server takes its own for what is missing. */
export interface SessionFields {
  session_id?: string;
  cwd?: string;
  transcript_path?: string;
  /** The number of times in a row that hooks may have a turn go on. */
  maxContinuations?: number;
}

/** Options of a trigger. */
export interface TriggerOptions {
  session?: SessionFields;
  /** The result is there after so many milliseconds at the latest. */
  deadlineMs?: number;
  /** Cancels the trigger with all that it runs: it rejects with the HookError `cancelled`. */
  signal?: AbortSignal;
}
