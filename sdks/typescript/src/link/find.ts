/** Which server a client talks to, where it was told nothing. */

import {HookConnectionError, HookError} from "../errors.js";
import {overChild} from "./child.js";
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
 * The socket that was named, or that `HOOK_SOCKET` names; else the project's own server; else one that
 * is started for this client. It is decided anew at each connection.
 */
export function find(where: Where): Connect {
  const named = where.socket ?? (process.env["HOOK_SOCKET"] || undefined);
  return async (listener, options) => {
    if (named !== undefined && where.transport !== "stdio") return connected(named)(listener, options);
    const project = where.project ?? nearestProject(process.cwd());
    const command = where.command ?? ["hook", "serve", "--stdio", ...(where.project ? ["--project", where.project] : [])];
    if (where.transport === "stdio") return overChild(command, project)(listener, options);
    const own = socketOf(project);
    // A server that was killed leaves its socket behind; then one of our own is started as if there were none.
    if (own !== undefined && exists(own)) {
      try {
        return await overSocket(own)(listener, options);
      } catch (error) {
        if (error instanceof HookError && ["refused", "closed"].includes(error.code)) throw error;
      }
    }
    if (where.transport === "socket") {
      throw new HookConnectionError("no_server", `no hook server listens for ${project}; start one by \`hook serve --socket\``);
    }
    return overChild(command, project)(listener, options);
  };
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
