/** A connection to a server that listens on a Unix socket. */

import {createConnection} from "node:net";

import type {Connect} from "./link.js";
import {greeted} from "./streams.js";

/** Connects to the socket at a path. */
export function overSocket(path: string): Connect {
  return (listener, options) => {
    const socket = createConnection(path);
    const ended = new Promise<string>((resolve) => socket.on("close", () => resolve("")));
    const ends = {reader: socket, writer: socket, source: socket, ended, destroy: () => void socket.destroy()};
    return greeted(ends, listener, options);
  };
}
