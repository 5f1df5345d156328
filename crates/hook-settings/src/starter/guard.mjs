#!/usr/bin/env node
// @ts-check
// A worker: started once, it answers calls, one JSON object a line. It refuses `rm -rf`, and stops
// mistakes, not a program that means to get around it. Change `check`; then `hook trust` in a project.
// Print to standard error only (`console.error`): standard output is for messages.

/** @typedef {{ decision?: "allow" | "deny" | "ask", reason?: string }} Answer */

/**
 * `{}` lets it go on; a decision `deny` or `ask` with a reason does not.
 * @param {string} event
 * @param {{ tool_name?: string, tool_input: Record<string, unknown> }} input
 * @returns {Answer | Promise<Answer>}
 */
function check(event, input) {
  /** @param {unknown} value */
  const said = (value) => (typeof value === "string" ? value : JSON.stringify(value));
  const text = Object.values(input.tool_input).map(said).join(" ");
  if (/\brm\b(?=[^;&|\n]*\W(-\w*[rR]|--rec))(?=[^;&|\n]*\W(-\w*f|--fo))/.test(text)) {
    return { decision: "deny", reason: "guard: rm -rf deletes without a way back" };
  }
  return {};
}

/** @param {object} message */
const say = (message) => void process.stdout.write(JSON.stringify(message) + "\n");

/** @param {{ type: string, callId: string, eventName: string, input: any }} call */
async function answer(call) {
  try {
    say({ type: "hook-answer", callId: call.callId, output: await check(call.eventName, call.input) });
  } catch (error) {
    say({ type: "hook-answer", callId: call.callId, error: String(error) });
  }
}

say({ type: "hook-worker", protocol: 1 });
let rest = "";
reading: for await (const chunk of process.stdin.setEncoding("utf8")) {
  // Not by `readline`, which ends lines at U+2028, too.
  const lines = (rest + chunk).split("\n");
  rest = lines.pop() ?? "";
  for (const call of lines.map((line) => JSON.parse(line))) {
    if (call.type === "hook-close") break reading;
    // Those after it need not wait for it.
    if (call.type === "hook-call") void answer(call);
  }
}
