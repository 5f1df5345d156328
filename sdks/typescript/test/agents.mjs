// What tests of libraries of agents have in common: a project whose hooks do everything that hooks can, and a client of it.

import {readFileSync} from "node:fs";
import {join} from "node:path";

import {HookClient} from "hook-sdk";

import {engine} from "./project.mjs";

const answers = (answer) => `cat >/dev/null; echo '${JSON.stringify(answer)}'`;
const hook = (command, matcher) => ({...(matcher && {matcher}), hooks: [{type: "command", command, failBehavior: "block"}]});

/** A hook that rewrites all digits of what it is given, by a script in `node`. */
const REDACT = {
  request: `let input = ""; process.stdin.on("data", (it) => (input += it)).on("end", () => {
    const {messages} = JSON.parse(input).llm_request;
    const redacted = messages.map((it) => ({...it, content: it.content.replace(/[0-9]/g, "*")}));
    console.log(JSON.stringify({hookSpecificOutput: {llm_request: {messages: redacted}}}));
  });`,
  response: `let input = ""; process.stdin.on("data", (it) => (input += it)).on("end", () => {
    const {candidates: [{content: {parts}}]} = JSON.parse(input).llm_response;
    const redacted = parts.map((it) => it.replace(/[0-9]/g, "*"));
    console.log(JSON.stringify({hookSpecificOutput: {llm_response: {candidates: [{content: {role: "model", parts: redacted}}]}}}));
  });`,
};
/** A hook that changes the text of an answer as an expression of `text` says. */
const changing = (expression) => `let input = ""; process.stdin.on("data", (it) => (input += it)).on("end", () => {
    const {chunk, llm_response: {text = ""}} = JSON.parse(input);
    console.log(JSON.stringify({hookSpecificOutput: {llm_response: {candidates: [{content: {role: "model", parts: [${expression}]}}]}}}));
  });`;
export const script = (source) => `node -e '${source}'`;
export const REDACT_REQUEST = hook(script(REDACT.request));
export const REDACT_RESPONSE = hook(script(REDACT.response));
/** Hooks that change only whole answers. */
export const REDACT_SECRET = hook(script(changing(`text.replace("SECRET", "XXXX")`)));
export const ADD_END = hook(script(changing(`chunk ? text : text + " (end)"`)));

/** A guard that refuses what holds a secret: a hook of any event. As a word: times and ids have all digits at times. */
export const NO_SECRET = hook(`grep -qw 1234 && { echo "secret inside" >&2; exit 2; } || true`);
/** Hooks that withhold the tool \`free\`, in each way that they can, and by a failure. */
export const WITHHOLDING = Object.entries({
  none: answers({hookSpecificOutput: {toolConfig: {mode: "NONE"}}}),
  "a list": answers({hookSpecificOutput: {toolConfig: {mode: "AUTO", allowedFunctionNames: ["other"]}}}),
  "a failure": "exit 3",
}).map(([how, command]) => [how, {BeforeToolSelection: [hook(command)]}]);
export const WITHHELD = {code: "blocked", message: "the model calls the tool free, which hooks withhold"};

/** Hooks for tools, by the tool's name. */
export const TOOL_HOOKS = {
  BeforeTool: [
    hook(answers({decision: "deny", reason: "not that one"}), "denied"),
    hook(answers({decision: "ask", reason: "sure?"}), "asked"),
    hook(answers({hookSpecificOutput: {tool_input: {city: "Oslo"}}}), "rewritten"),
    hook(answers({hookSpecificOutput: {tool_input: {city: 7}}}), "mistyped"),
    hook(answers({hookSpecificOutput: {tool_input: {citty: "Oslo", at: {zipp: 1}}}}), "misspelt"),
    hook(answers({continue: false, stopReason: "enough"}), "stopping"),
  ],
  AfterTool: [
    hook(answers({hookSpecificOutput: {additionalContext: "mind the gap"}}), "commented"),
    hook(answers({decision: "block", reason: "secret inside"}), "replaced"),
  ],
};

/** What is reported of arguments that hooks add to `misspelt`. */
export const MISSPELT = "hooks add arguments to the tool misspelt that its schema does not have: citty, at";

/** A test of a library with the engine itself. `during` gets a client of a server with these hooks. */
export function agent(name, hooks, during) {
  engine(name, hooks, (project, t) => project.serve(async (socket) => {
    const problems = [];
    const asked = [];
    /** `approval`: the user answers no question before it resolves. */
    const until = {approval: undefined};
    const client = new HookClient({
      socket, onProblem: (problem) => problems.push(problem),
      approve: async ({reason, input}) => (asked.push(reason), await until.approval, input?.city !== "nowhere"),
    });
    try {
      await during(client, {problems, asked, until}, t);
    } finally {
      await client.close();
    }
  }));
}

/** A test of a library with an engine of its own, which `kill` ends while a tool runs; the client would start another one. */
export function losing(name, during) {
  engine(name, {}, async ({folder}) => {
    const command = ["sh", "-c", `echo $$ >pid; exec '${process.env.HOOK_BINARY}' serve --stdio --settings settings.json`];
    const client = new HookClient({transport: "stdio", command, project: folder, onProblem: () => {}});
    const kill = () => {
      const pid = Number(readFileSync(join(folder, "pid"), "utf8"));
      process.kill(pid, "SIGKILL");
      while (isRunning(pid));
      return "done";
    };
    try {
      await during(client, kill);
    } finally {
      await client.close();
    }
  });
}

function isRunning(pid) {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
