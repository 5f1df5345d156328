/** Bytes into lines. Not by node:readline, which also ends lines at U+2028 and U+2029. */

/** How many bytes a line from the server may have. A server that sends more without a line end is broken. */
export const MAX_LINE_READ = 256 * 2 ** 20;

/** Collects chunks, and gives each line without its end. */
export class Lines {
  #parts: Buffer[] = [];
  #length = 0;

  /** Whether there are bytes of a line that has no end yet. */
  get isInsideLine(): boolean {
    return this.#length > 0;
  }

  /** Takes a chunk. `false` when the line that has begun is too long; nothing more is to be read then. */
  take(chunk: Buffer, each: (line: string) => void): boolean {
    let start = 0;
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, start)) {
      this.#parts.push(chunk.subarray(start, at));
      const line = Buffer.concat(this.#parts).toString();
      this.#parts = [];
      this.#length = 0;
      start = at + 1;
      if (line.trim() !== "") each(line);
    }
    if (start < chunk.length) {
      this.#parts.push(chunk.subarray(start));
      this.#length += chunk.length - start;
    }
    return this.#length <= MAX_LINE_READ;
  }
}
