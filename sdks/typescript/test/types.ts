// What the types say: compiled by `npm run check`, never run.

import {A3sClient, HookClient, agentTurn, callModel, executeTool, session, worker} from "hook-sdk";
import type {
  BeforeToolOutput, NativeHandler,
  GenerateEndEvent, HookEvent, HookResponse, PermissionRequestEvent, PostToolUseEvent, PreToolUseEvent, RegisteredHook,
} from "hook-sdk";
import {ToolLoopAgent, generateText, jsonSchema, tool} from "ai";
import {MockLanguageModelV3} from "ai/test";
import {withHooks} from "hook-sdk/ai";

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
new A3sClient().registerHook("PermissionRequest", (event: PermissionRequestEvent) => void event.tool);
const base = (event: HookEvent): void => void event.metadata;
new A3sClient().registerHook("ContextWarning", base);
const hooks: RegisteredHook[] = await client.listHooks();
client.setHookAuditLevel("verbose");
await client.unregisterHook(id);

// Native events, shared names, declared ones.
declare module "hook-sdk" {
  interface DeclaredEvents {
    DeployFinished: {environment: string};
  }
}
client.registerHook("BeforeTool", (event) => ({decision: "deny", reason: `${event.tool_name} in ${event.cwd}`}));
client.registerHook("BeforeTool", async (event) => {
  const {kind, caller} = event;
  if (kind === "shell" && caller?.agent === "claude") return {hookSpecificOutput: {tool_input: {command: "ls"}, toolInputReplaces: true}};
});
client.registerHook("SessionStart", (event) => void event.source);
client.registerHook("SessionStart", {vocabulary: "a3s", handler: (event) => void event.sessionId});
new A3sClient().registerHook("SessionStart", (event) => void event.sessionId);
new A3sClient().registerHook("SessionStart", {vocabulary: "native", handler: (event) => void event.source});
new A3sClient().registerHook("BeforeTool", (event) => void event.tool_name);
void agentTurn(new A3sClient(), "p");
client.registerHook("DeployFinished", (event) => void event.environment.length);
const answer = {decision: "block", reason: "no", hookSpecificOutput: {permissionDecision: "deny"}} satisfies BeforeToolOutput;
client.registerHook("BeforeTool", () => answer);
const guard: NativeHandler<"BeforeTool"> = ({tool_input}) => (tool_input["command"] === "x" ? answer : undefined);
client.registerHook("BeforeTool", {matcher: {kind: "shell", subagent: ["a", "b"]}, handler: guard});
const fired = await client.fire("BeforeTool", {tool_name: "a", tool_input: {}, caller: {agent: "own"}});
const decision: "proceed" | "ask" | "retry" | "block" | "stop" = fired.decision;
await client.fire("AfterModel", {sdk: "openai-chat", llm_request: {model: "m"}, llm_response: {choices: []}});
await client.fire("DeployFinished", {environment: "production"});
await using own = new A3sClient();
void own;
await using temporary = await client.temporaryHook("PreToolUse", () => {});
const text: string = await client.temporaryHook("BeforeModel", (event) => void event.llm_request, () => "done");
await using ofA3s = await client.temporaryHook("SessionStart", {vocabulary: "a3s", handler: (event) => void event.sessionId});
await using inA3s = await new A3sClient().temporaryHook("SessionStart", (event) => void event.sessionId);
const count: number = await new A3sClient().temporaryHook("SessionStart", {vocabulary: "native", handler: (event) => void event.source}, async () => 1);
await new A3sClient().temporaryHook("BeforeTool", (event) => void event.tool_name, (hookId) => hookId.length);
worker.on("BeforeTool", {matcher: "a"}, (event) => ({decision: "ask", reason: event.tool_name}));
worker.on("PreToolUse", async (event) => ({action: "block", reason: event.tool}));
worker.on("SessionStart", {vocabulary: "a3s"}, (event) => void event.sessionId);
void [hooks, decision, temporary, text, ofA3s, inA3s, count];

// The agent's half.
await using work = await session(client, {source: "startup"});
await using turn = await agentTurn(work, "p");
if (turn.outcome === "proceed") void turn.prompt.length;
else void turn.reason.length;
const ran = await executeTool(turn, {tool_name: "a", tool_input: {}}, async (input) => ({rows: Object.keys(input)}));
switch (ran.outcome) {
  case "ran":
    void ran.value?.rows.length;
    break;
  case "blocked":
  case "stopped":
    void [ran.reason, ran.ran];
    break;
  case "replaced":
    void ran.reason;
    break;
  default:
    void (ran satisfies never);
}
const answered = callModel(turn, "openai-chat", {model: "m"}, async function* () {
  yield {choices: [{delta: {content: "x"}}]};
}, {chunks: "each"});
for await (const part of answered) void (part.chunk ? part.chunk.choices.length : part.complete);
const called = await answered.finish();
if (called.outcome === "called" || called.outcome === "answered") void called.response;
const end = await turn.end("r");
if (end.outcome === "continue") void end.prompt.length;
new HookClient({approve: ({reason}) => (reason === "sure?" ? true : {refused: "no"})});

// Agents of the AI SDK keep the types of their tools.
const tools = {add: tool({inputSchema: jsonSchema<{a: number}>({}), execute: ({a}) => a + 1})};
const hooked = withHooks(client, {model: new MockLanguageModelV3(), tools, prepareStep: ({stepNumber}) => (stepNumber > 0 ? {activeTools: ["add"]} : {})});
for (const result of [await generateText({...hooked, prompt: "p"}), await new ToolLoopAgent(hooked).generate({prompt: "p"})]) {
  for (const {output} of result.staticToolResults) output satisfies number;
}
