// What the types say: compiled by `npm run check`, never run.

import {A3sClient, HookClient, worker} from "hook-sdk";
import type {
  GenerateEndEvent, HookEvent, HookResponse, PermissionRequestEvent, PostToolUseEvent, PreToolUseEvent, RegisteredHook,
} from "hook-sdk";

const client: HookClient = new A3sClient();

// The design's own words.
const id: string = client.registerHook("PreToolUse", async (event: PreToolUseEvent): Promise<HookResponse> => {
  if (event.tool === "Bash" && (event.args.command as string).includes("rm -rf /")) {
    return {action: "block", reason: "Dangerous command blocked by security policy"};
  }
  return {action: "continue"};
});
client.registerHook("PreToolUse", {
  matcher: {tool: "Write", pathPattern: "*.env", commandPattern: "x"},
  handler: async (event) => {
    const wd: string = event.context.workingDirectory;
    return {action: "continue", modified: {args: {...event.args, wd}}};
  },
  config: {priority: 10, timeout: 3000, async: false, failBehavior: "block"},
});
client.registerHook("PostToolUse", async (event) => {
  const typed: PostToolUseEvent = event;
  if (typed.result.success) await client.executeTool(event.sessionId, "Bash", {command: `rustfmt ${event.args.file_path}`});
  return {action: "continue"};
});
client.registerHook("GenerateEnd", (event) => {
  const typed: GenerateEndEvent = event;
  const tokens: number | undefined = typed.response.usage?.total_tokens;
  return tokens ? {action: "retry", delay: 5} : {action: "skip"};
});
client.registerHook("PermissionRequest", (event: PermissionRequestEvent) => void event.tool);
const base = (event: HookEvent): void => void event.metadata;
client.registerHook("ContextWarning", base);
const hooks: RegisteredHook[] = await client.listHooks();
client.setHookAuditLevel("verbose");
await client.unregisterHook(id);

// Native events, shared names, declared ones.
client.registerHook("BeforeTool", (event) => ({decision: "deny", reason: `${event.tool_name} in ${event.cwd}`}));
client.registerHook("SessionStart", {vocabulary: "native", handler: (event) => void event.source});
client.registerHook("DeployFinished", (event) => void event.environment);
const fired = await client.fire("BeforeTool", {tool_name: "a", tool_input: {}, anything: 1});
const decision: string = fired.decision;
await client.fire("DeployFinished", {environment: "production"});
await using own = new A3sClient();
void own;
await using temporary = await client.temporaryHook("PreToolUse", () => {});
const text: string = await client.temporaryHook("BeforeModel", (event) => void event.llm_request, () => "done");
worker.on("BeforeTool", {matcher: "a"}, (event) => ({decision: "ask", reason: event.tool_name}));
worker.on("PreToolUse", async (event) => ({action: "block", reason: event.tool}));
worker.on("SessionStart", {vocabulary: "a3s"}, (event) => void event.sessionId);
void [hooks, decision, temporary, text];

// What must not compile.
// @ts-expect-error a block has a reason
client.registerHook("PreToolUse", () => ({action: "block"}));
// @ts-expect-error no such action
client.registerHook("PreToolUse", () => ({action: "deny", reason: "x"}));
// @ts-expect-error matchers are camelCase
client.registerHook("PreToolUse", {matcher: {path_pattern: "*"}, handler: () => {}});
// @ts-expect-error a tool call has a name
await client.fire("BeforeTool", {tool_input: {}});
// @ts-expect-error no such field
client.registerHook("PreToolUse", (event) => void event.tool_name);
// @ts-expect-error no such level
client.setHookAuditLevel("loud");
