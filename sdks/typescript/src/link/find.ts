/** Which server a client talks to, where it was told nothing. */

import {HookConnectionError} from "../errors.js";
import {overChild} from "./child.js";
import {findEngine} from "./engine.js";
import type {Connect} from "./link.js";
import {exists, nearestProject, socketOf} from "./place.js";
import {overSocket} from "./socket.js";

/** Where a server may be. */
export interface Where {
  socket?: string;
  project?: string;
  command?: readonly string[];
  transport?: "socket" | "stdio";
}

/**
 * The socket that was named, or that `HOOK_SOCKET` names; else the project's own server; else, for a client that asks and
 * registers nothing, a private one. Once at the project's own, a client never leaves that for another.
 */
export function find(where: Where): Connect {
  const named = where.socket ?? (process.env["HOOK_SOCKET"] || undefined);
  let shared: string | undefined;
  return async (listener, options) => {
    if (named !== undefined && where.transport !== "stdio") return connected(named)(listener, options);
    if (shared !== undefined) return connected(shared)(listener, options);
    const project = where.project ?? nearestProject(process.cwd());
    const start = () => {
      if (where.command) return overChild(where.command, project)(listener, options);
      const {program, remedy} = findEngine();
      return overChild([program, "serve", "--stdio", ...(where.project ? ["--project", where.project] : [])], project, remedy)(listener, options);
    };
    if (where.transport === "stdio") return start();
    const own = socketOf(project);
    if (own !== undefined && exists(own)) {
      try {
        const link = await connected(own)(listener, options);
        shared = own;
        return link;
      } catch (error) {
        // A server that was killed leaves its socket behind. Any other error is of one that is there.
        if (!isAbsent(error)) throw error;
      }
    }
    const missing = `no hook server listens for ${project}`;
    if (where.transport === "socket" || !listener.mayBePrivate()) {
      throw new HookConnectionError("no_server", `${missing}; \`hook serve --socket\` there starts one`);
    }
    const notice = `${missing}, so a private one was started, with the hooks of settings alone: hooks that other programs register are not asked`;
    const link = await start();
    listener.problem(notice);
    link.notice = notice;
    return link;
  };
}

/** Whether nothing listens at a socket. */
function isAbsent(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ("code" in cause && ["ENOENT", "ENOTDIR", "ECONNREFUSED"].includes(String(cause.code))) return true;
  }
  return false;
}

function connected(path: string): Connect {
  return async (listener, options) => {
    try {
      return await overSocket(path)(listener, options);
    } catch (error) {
      if (!(error instanceof HookConnectionError)) throw error;
      throw new HookConnectionError(error.code, `${path}: ${error.message}`, {cause: error});
    }
  };
}
