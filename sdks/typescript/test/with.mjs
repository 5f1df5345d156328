// What tests begin with: a server, and a client of it that says all its problems to the test.

import {A3sClient} from "hook-sdk";

import {Queue, ScriptedServer} from "./server.mjs";

/** Runs a test with a server and a client, and ends both. */
export async function withClient(test, options = {}, Client = A3sClient) {
  const server = await ScriptedServer.start();
  const problems = new Queue();
  const client = new Client({
    socket: server.socket,
    reconnect: {initialMs: 1, maxMs: 10},
    onProblem: (problem) => problems.push(problem),
    ...options,
  });
  try {
    await test({server, client, problems});
  } finally {
    await client.close();
    await server.close();
  }
}

/** A tool call in the words of A3S. */
export function toolCall(command) {
  return {
    eventType: "PreToolUse", sessionId: "s-1", timestamp: 1, metadata: {}, tool: "Bash", args: {command},
    context: {workingDirectory: "/work", recentTools: []},
  };
}
