/** A server of one's own, which ends with its client. */

import {spawn} from "node:child_process";

import {Lines} from "../lines.js";
import type {Connect} from "./link.js";
import {greeted} from "./streams.js";

/** How much of a line on standard error is told. */
const MAX_PROBLEM = 16_384;

/** How long the streams of a server that was killed are read on, in milliseconds. */
const KEPT_OPEN_MS = 500;

/**
 * Starts a server by a command and its arguments, in a folder. What it writes to standard error is a problem. `remedy` says
 * what to do if the program cannot be run.
 */
export function overChild(command: readonly string[], cwd: string, remedy?: string): Connect {
  return (listener, options) => {
    const [program = "hook", ...args] = command;
    const server = spawn(program, args, {
      // In a group of its own, so that Ctrl-C reaches it through this program alone.
      cwd, stdio: ["pipe", "pipe", "pipe"], detached: true, windowsHide: true,
    });
    const lines = new Lines();
    let last = "";
    const tell = (line: string) => {
      if (line.trim() === "") return;
      last = line.trimEnd().slice(0, MAX_PROBLEM);
      listener.problem(`the hook server says: ${last}`);
    };
    server.stderr.on("data", (chunk: Buffer) => {
      // What has no end for that long is told no more, and still read.
      if (lines.take(chunk, tell)) return;
      server.stderr.removeAllListeners("data").resume();
    });
    server.stderr.on("end", () => lines.take(Buffer.from("\n"), tell));
    const ended = new Promise<string>((resolve) => {
      server.on("close", (code, signal) => {
        if (code === null && signal === null) return resolve("");
        const how = signal ? `by ${signal}` : `with exit code ${code}`;
        resolve(`: \`${program}\` ended ${how}${last && `; it wrote last: ${last}`}`);
      });
      // One that cannot be started never closes.
      server.on("error", (error) => resolve(`: \`${program}\` cannot be run: ${error.message}${remedy === undefined ? "" : `; ${remedy}`}`));
    });
    const destroy = () => {
      server.stdin.destroy();
      server.kill("SIGKILL");
      // What it wrote last is still read; what it has started may hold the rest open.
      const late = setTimeout(() => [server.stdout, server.stderr].forEach((stream) => stream.destroy()), KEPT_OPEN_MS);
      late.unref();
      server.on("close", () => clearTimeout(late));
    };
    return greeted({reader: server.stdout, writer: server.stdin, source: server, ended, destroy}, listener, options);
  };
}
