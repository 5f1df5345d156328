// What must not compile: each `@ts-expect-error` is itself an error where the line below it is none (`npm run check`).

import {A3sClient, HookClient, agentTurn, callModel, executeTool, worker} from "hook-sdk";
import type {BeforeToolOutput, HookMatcher, NativeHandler, ToolOutcome} from "hook-sdk";

const client = new HookClient();

// Events.
// @ts-expect-error a misspelt event
client.registerHook("BeforeTol", () => {});
// @ts-expect-error a misspelt event
await client.fire("BeforeTol", {tool_name: "a", tool_input: {}});
// @ts-expect-error a misspelt event
worker.on("BeforTool", () => {});
// @ts-expect-error a misspelt event
await client.temporaryHook("AfterTol", () => {});
// @ts-expect-error a field of the engine's event of that name
await new A3sClient().temporaryHook("SessionStart", (event) => void event.session_id);
// @ts-expect-error a field of A3S's event of that name
await client.temporaryHook("SessionStart", (event) => void event.sessionId);
// @ts-expect-error what the function returns
const gone: number = await client.temporaryHook("BeforeTool", () => {}, () => "done");
// @ts-expect-error an event that nobody declared
client.registerHook("DeployFailed", () => {});

// What handlers read.
// @ts-expect-error no such field
client.registerHook("PreToolUse", (event) => void event.tool_name);
// @ts-expect-error a misspelt field
client.registerHook("BeforeTool", (event) => void event.tool_nme);
// @ts-expect-error a field of another event
client.registerHook("BeforeAgent", (event) => void event.tool_name);
// @ts-expect-error no such kind
client.registerHook("BeforeTool", (event) => void (event.kind === "shel"));
// @ts-expect-error an argument is not known to be a text
client.registerHook("BeforeTool", (event) => void event.tool_input.command.length);

// What they answer.
// @ts-expect-error a block has a reason
client.registerHook("PreToolUse", () => ({action: "block"}));
// @ts-expect-error no such action
client.registerHook("PreToolUse", () => ({action: "deny", reason: "x"}));
// @ts-expect-error no such decision
client.registerHook("BeforeTool", () => ({decision: "denied", reason: "x"}));
// @ts-expect-error no such decision
client.registerHook("BeforeTool", async () => ({decision: "denied", reason: "x"}));
// @ts-expect-error a misspelt field
client.registerHook("BeforeTool", () => ({decision: "deny", raeson: "x"}));
// @ts-expect-error a misspelt field
client.registerHook("BeforeTool", async () => ({decision: "deny", raeson: "x"}));
// @ts-expect-error a decision is no event's own field
const specific: BeforeToolOutput = {hookSpecificOutput: {decision: "deny"}};
// @ts-expect-error a misspelt field
const misspelt: BeforeToolOutput = {decision: "deny", raeson: "x"};
// @ts-expect-error a misspelt field
const satisfied = {decision: "deny", resaon: "x"} satisfies BeforeToolOutput;
// @ts-expect-error a field of another event
const foreign: BeforeToolOutput = {hookSpecificOutput: {clearContext: true}};
// @ts-expect-error milliseconds are a number
const later: BeforeToolOutput = {decision: "retry", retryAfterMs: "5"};
// @ts-expect-error a text is no answer
const handler: NativeHandler<"BeforeTool"> = () => "no";

// What they are registered with.
// @ts-expect-error matchers are camelCase
client.registerHook("PreToolUse", {matcher: {path_pattern: "*"}, handler: () => {}});
// @ts-expect-error no such field of a matcher
const matcher = {tol: "a"} satisfies HookMatcher;
// @ts-expect-error no such behaviour
client.registerHook("BeforeTool", {config: {failBehavior: "blok"}, handler: () => {}});
// @ts-expect-error no such field of a config
client.registerHook("BeforeTool", {config: {failBehaviour: "block"}, handler: () => {}});

// Asking.
// @ts-expect-error a tool call has a name
await client.fire("BeforeTool", {tool_input: {}});
// @ts-expect-error a misspelt field
await client.fire("BeforeTool", {tool_name: "a", tool_input: {}, tool_cal_id: "1"});
// @ts-expect-error no such decision
if ((await client.fire("BeforeTool", {tool_name: "a", tool_input: {}})).decision === "allow") void 0;
// @ts-expect-error no such option
await client.fire("BeforeTool", {tool_name: "a", tool_input: {}}, {timeout: 5});
// @ts-expect-error no such level
client.setHookAuditLevel("loud");
// @ts-expect-error no such transport
new HookClient({transport: "grpc"});

// The agent's half.
// @ts-expect-error a tool call has arguments
await executeTool(client, {tool_name: "a"}, () => "x");
// @ts-expect-error a tool is a function
await executeTool(client, {tool_name: "a", tool_input: {}}, "x");
const outcome: ToolOutcome<number> = await executeTool(client, {tool_name: "a", tool_input: {}}, () => 1);
// @ts-expect-error no such outcome
if (outcome.outcome === "refused") void 0;
// @ts-expect-error a tool that ran has no reason
if (outcome.outcome === "ran") void outcome.reason;
// @ts-expect-error a refused call has no value
if (outcome.outcome === "blocked") void outcome.value;
// @ts-expect-error no such SDK
callModel(client, "openai", {}, () => ({}));
// @ts-expect-error hooks see all chunks, or each
callModel(client, "genai", {}, () => ({}), {chunks: "some"});
const turn = await agentTurn(client, "p");
// @ts-expect-error a refused prompt is none
void turn.prompt.length;
// @ts-expect-error an answer is a text
await turn.end();
// @ts-expect-error a yes is `true`
new HookClient({approve: () => "yes"});

void [gone, specific, misspelt, satisfied, foreign, later, handler, matcher];
