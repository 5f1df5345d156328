/** A server of one's own, which ends with its client. */

import {spawn} from "node:child_process";

import type {Connect} from "./link.js";
import {greeted} from "./streams.js";

/** Starts a server by a command and its arguments, in a folder. Its standard error is this process's. */
export function overChild(command: readonly string[], cwd: string): Connect {
  return (listener, options) => {
    const [program = "hook", ...args] = command;
    const server = spawn(program, args, {
      // In a group of its own, so that Ctrl-C reaches it through this program alone.
      cwd, stdio: ["pipe", "pipe", "inherit"], detached: true, windowsHide: true,
    });
    const ended = new Promise<string>((resolve) => {
      server.on("close", (code, signal) => {
        if (code === null && signal === null) return resolve("");
        const how = signal ? `by ${signal}` : `with exit code ${code}`;
        resolve(`: \`${program}\` ended ${how}; what it wrote to stderr says why`);
      });
      // One that cannot be started never closes.
      server.on("error", (error) => resolve(`: \`${program}\` cannot be run: ${error.message}`));
    });
    const destroy = () => {
      server.stdin.destroy();
      server.kill("SIGKILL");
    };
    return greeted({reader: server.stdout, writer: server.stdin, source: server, ended, destroy}, listener, options);
  };
}
