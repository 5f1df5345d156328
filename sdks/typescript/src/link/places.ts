/** Places of which there are so many; who finds none waits, in order. */
export class Places {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(count: number) {
    this.#free = count;
  }

  /** Takes one. `false` where there is none for so many milliseconds, or until it is aborted: the turn is given up. */
  async take(ms: number, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false;
    if (this.#free > 0) {
      this.#free--;
      return true;
    }
    return new Promise((resolve) => {
      const end = (isTaken: boolean) => {
        clearTimeout(timer);
        signal.removeEventListener("abort", giveUp);
        this.#waiting.delete(takeOver);
        resolve(isTaken);
      };
      const takeOver = () => end(true);
      const giveUp = () => end(false);
      const timer = setTimeout(giveUp, Math.max(ms, 0));
      signal.addEventListener("abort", giveUp, {once: true});
      this.#waiting.add(takeOver);
    });
  }

  /** Gives one back: to who waits longest, if anybody does. */
  give(): void {
    const [first] = this.#waiting;
    if (first) first();
    else this.#free++;
  }
}
