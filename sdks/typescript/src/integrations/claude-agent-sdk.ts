/** Hooks in agents of the Claude Agent SDK: `hook-sdk/claude-agent-sdk`. */

import {isObject} from "../messages.js";
import type {HookClient} from "../client.js";
import {textOf} from "../errors.js";
import {warnOfVersion} from "./shared.js";

/** The events of Claude Code that the engine has under a name of its own (docs/agents/claude.md). */
const EVENTS = [
  "PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "PermissionRequest", "PermissionDenied",
  "UserPromptSubmit", "UserPromptExpansion", "Stop", "SubagentStop", "SubagentStart", "StopFailure", "SessionStart",
  "SessionEnd", "PreCompact", "PostCompact", "Notification",
] as const;

type ClaudeEvent = (typeof EVENTS)[number];

/** An answer, as the SDK takes it. */
type Answer = Record<string, unknown>;

/** A matcher of the SDK's `hooks`. */
interface Matcher {
  hooks: ((input: {hook_event_name: string}, toolUseId: string | undefined, options: {signal: AbortSignal}) => Promise<Answer>)[];
  /** Seconds. */
  timeout: number;
}

/** The time for hooks, in seconds, as Claude Code gives its own. What it gives up on, it goes on with: the answer comes before. */
const TIMEOUT = 600;
const DEADLINE_MS = (TIMEOUT - 10) * 1000;

/**
 * The `hooks` of a query: `query({prompt, options: {hooks: claudeHooks(client)}})`. Other ones go beside them:
 * `{...claudeHooks(client), PreToolUse: [...claudeHooks(client).PreToolUse, own]}`.
 */
export function claudeHooks(client: HookClient): Record<ClaudeEvent, Matcher[]> {
  warnOfVersion("@anthropic-ai/claude-agent-sdk", [0], (text) => client.onProblem(text));
  const ask = async (input: {hook_event_name: string}, _: string | undefined, {signal}: {signal: AbortSignal}): Promise<Answer> => {
    const event = input.hook_event_name as ClaudeEvent;
    try {
      const {stdout, stderr, exitCode, warnings} = await client.bridge("claude", event, input, {signal, deadlineMs: DEADLINE_MS});
      client.report(...warnings);
      if (exitCode === 2) return refusal(event, stderr.trim());
      if (stderr !== "") client.onProblem(stderr.trim());
      if (exitCode !== 0) throw new Error(`exit code ${exitCode}: ${stderr.trim()}`);
      const answer: unknown = stdout.trim() === "" ? {} : JSON.parse(stdout);
      if (!isObject(answer)) throw new Error(`the engine's answer is ${typeof answer}`);
      return answer;
    } catch (error) {
      // What throws here lets the agent go on. A tool may have run already, whose result it would go on with.
      const why = `hooks could not be asked: ${textOf(error)}`;
      return {...refusal(event, why), continue: false, stopReason: why};
    }
  };
  return Object.fromEntries(EVENTS.map((event) => [event, [{hooks: [ask], timeout: TIMEOUT}]])) as unknown as Record<ClaudeEvent, Matcher[]>;
}

/** Returns a refusal in the form of an event. A refused end would make the agent go on, so it stops. */
function refusal(event: ClaudeEvent, reason: string): Answer {
  switch (event) {
    case "PreToolUse":
      return {hookSpecificOutput: {hookEventName: event, permissionDecision: "deny", permissionDecisionReason: reason}};
    case "PermissionRequest":
      return {hookSpecificOutput: {hookEventName: event, decision: {behavior: "deny", message: reason}}};
    case "UserPromptSubmit":
    case "UserPromptExpansion":
    case "PostToolUse":
      return {decision: "block", reason};
    default:
      return {continue: false, stopReason: reason};
  }
}
