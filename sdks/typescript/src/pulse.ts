/** Whether a server still answers: one that is stuck keeps its connection, and would be waited for for ever. */

/** The time between two looks, in milliseconds. */
const LOOK_MS = 10_000;

/** The number of looks in a row that find nothing of a server, which was asked at the first, until it is given up. */
const MAX_SILENT = 4;

/** What is silent for longer than this has no pulse, in seconds. */
export const SILENT_S = ((MAX_SILENT - 1) * LOOK_MS) / 1000;

/**
 * Looks at one connection while something waits for its server. A server that says nothing is asked for what it answers at
 * once, however long hooks run. Looks are counted, and not time, in which this program may have been asleep or busy.
 */
export class Pulse {
  #silent = 0;
  readonly #timer: NodeJS.Timeout;

  /** `ask` sends the question; `givenUp` is told once that nothing came. */
  constructor(isWaiting: () => boolean, ask: () => void, givenUp: () => void) {
    const look = () => {
      this.#silent = isWaiting() ? this.#silent + 1 : 0;
      if (this.#silent === 1) ask();
      if (this.#silent < MAX_SILENT) return;
      this.end();
      givenUp();
    };
    // What has arrived while this program was busy is read first.
    this.#timer = setInterval(() => setImmediate(look), LOOK_MS);
    this.#timer.unref();
  }

  /** Something came from the server. */
  beat(): void {
    this.#silent = 0;
  }

  /** Ends the looking. */
  end(): void {
    clearInterval(this.#timer);
  }
}
