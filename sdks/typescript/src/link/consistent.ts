/**
 * Whether a response of a fleet is the one to its request, and says one thing: one that lets go on what one of its
 * hooks forbids is no consent.
 */

import {isObject} from "../messages.js";

/** From the weakest to the strongest. */
const DECISIONS: readonly unknown[] = ["proceed", "ask", "retry", "block", "stop"];

/** The events on which an answer decides (docs/reference/events.md). On others it changes nothing. */
const DECIDING = new Set([
  "BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent", "SessionStart", "SessionEnd", "PreCompress", "BeforeModel",
  "AfterModel", "BeforeToolSelection", "Notification", "ToolError", "ToolBatch", "PermissionRequest",
  "PermissionDenied", "PromptExpansion", "SubagentStart", "SubagentStop", "Compacting", "BeforeSessionSwitch",
  "BeforeSessionBranch", "BeforeSessionTree", "Command",
].map(plain));

/** Those of them that have `permissionDecision`. */
const PERMITTING = new Set(["BeforeTool", "PermissionRequest"].map(plain));

/** Those of them that have `cancel`, which is a block. */
const CANCELLING = new Set(["PreCompress", "BeforeSessionSwitch", "BeforeSessionBranch", "BeforeSessionTree"].map(plain));

/** Those of them on which a retry means something (docs/reference/answers.md). */
const RETRYING = new Set(["BeforeTool", "ToolError", "PermissionDenied"].map(plain));

/** What is wrong with a response to a request for an event; `undefined` of one that says one thing about it. */
export function contradiction(response: Record<string, unknown>, event: string): string | undefined {
  const {eventName, success, error, processed, output, hooks} = response;
  if (typeof eventName !== "string") return "it does not name its event";
  if (plain(eventName) !== plain(event)) return `it is about the event ${eventName.slice(0, 100)}`;
  const hasError = error !== undefined && error !== null;
  if ((success === true) === hasError) return `its success is ${String(success)}, and it has ${hasError ? "an" : "no"} error`;
  const {decision, shouldStop} = isObject(processed) ? processed : {};
  if (!DECISIONS.includes(decision)) return "it does not say what was decided";
  if ((shouldStop === true) !== (decision === "stop")) {
    return `its decision is ${String(decision)}, and its shouldStop ${String(shouldStop)}`;
  }
  const outputs = isObject(output) ? objects(output["allOutputs"]) : [];
  const wanted = [...objects(hooks).map((hook) => hook["decision"]), ...outputs.flatMap((it) => wants(it, plain(event)))];
  const stronger = wanted.find((it) => DECISIONS.indexOf(it) > DECISIONS.indexOf(decision));
  if (stronger === undefined) return undefined;
  return `its decision is ${String(decision)}, and a hook of it wants ${String(stronger)}`;
}

/** An event's other names differ from its own in case and underscores alone. */
function plain(event: string): string {
  return event.replaceAll("_", "").toLowerCase();
}

/** What an answer of a hook wants. */
function wants(answer: Record<string, unknown>, event: string): string[] {
  if (!DECIDING.has(event)) return [];
  const specific = isObject(answer["hookSpecificOutput"]) ? answer["hookSpecificOutput"] : {};
  const words = [answer["decision"], PERMITTING.has(event) ? specific["permissionDecision"] : undefined];
  const cancels = CANCELLING.has(event) && specific["cancel"] === true;
  return [
    ...(answer["continue"] === false ? ["stop"] : []),
    ...(cancels || words.includes("deny") || words.includes("block") ? ["block"] : []),
    ...(RETRYING.has(event) && words.includes("retry") ? ["retry"] : []),
    ...(words.includes("ask") ? ["ask"] : []),
  ];
}

function objects(list: unknown): Record<string, unknown>[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}
