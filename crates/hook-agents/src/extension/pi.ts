// How this binary of hooks is called, without what it is to do, and what it calls this agent.
const [, HOOK, AGENT] = /^(.*) bridge (\S+) \S+$/.exec(Object.values(COMMANDS)[0] ?? "") ?? [];
const TURNS = 8; // how often hooks may have the agent go on, one time after the other

/** The same without a pause, for what is not waited for here. */
function runAtOnce(command, said) {
  const limits = { timeout: PATIENCE, maxBuffer: LONGEST, killSignal: "SIGKILL" };
  const input = JSON.stringify(said);
  const { status, error, stdout, stderr } = spawnSync(command, { shell: true, input, encoding: "utf8", ...limits });
  const ended = status === null ? { lost: error ? String(error) : "hooks were ended" } : { code: status };
  return { out: stdout ?? "", err: (stderr ?? "").trim(), ...ended };
}

/** What hooks answer; `{refused}` where they refuse, or where it cannot be known that they do not. */
async function ask(event, fields, ctx) {
  if (!(event in COMMANDS)) return {};
  const said = saying(event, fields, ctx);
  return obeyed(await (ctx.hasUI ? askWithUser(event, said, ctx) : run(COMMANDS[event], said)), ctx);
}

/** The same with a user whom hooks may ask something. */
async function askWithUser(event, said, ctx) {
  const message = { type: "hook-bridge", agent: AGENT, event, said: JSON.stringify(said), correlationId: "event" };
  const answer = await converse(message, userOf(ctx), ctx);
  if (answer.type === undefined) {
    // A shell says by such a code that the binary is not there: then there are no hooks. Else guards may be.
    const { code, lost, err = "" } = answer;
    return NOT_THERE.includes(code) ? { code, out: "", err } : { lost: lost || err || "hooks did not answer" };
  }
  if (answer.type !== "hook-bridged") return { lost: answer.error?.message ?? "hooks did not answer" };
  answer.warnings.forEach((warning) => tell(ctx, warning));
  return { code: answer.exitCode, out: answer.stdout, err: answer.stderr };
}

function saying(event, fields, ctx) {
  return {
    type: event,
    session_id: ctx.sessionManager?.getSessionId?.() ?? "",
    transcript_path: ctx.sessionManager?.getSessionFile?.() ?? "",
    cwd: ctx.cwd,
    ...fields,
  };
}

function obeyed({ code, lost, out, err }, ctx) {
  // A shell says by such a code that a signal ended what it ran.
  if (lost || code >= 128) return { refused: lost || "hooks were ended" };
  if (code === 2) return { refused: err || "a hook refuses it, and does not say why" };
  // One that is not there, or could not ask, refuses nothing; but it is said.
  if (err) tell(ctx, err);
  if (code !== 0) return {};
  try {
    const answer = out.trim() ? JSON.parse(out) : {};
    if (answer.notify) tell(ctx, answer.notify);
    if (answer.abort) ctx.abort?.();
    return answer;
  } catch {
    return { refused: "what hooks answered is no JSON" };
  }
}

function tell(ctx, text) {
  if (ctx.hasUI) ctx.ui.notify(text, "warning");
  else console.error(`hook: ${text}`);
}

/** What hooks may ask the user, if there is one; each by its parameters. A result is JSON. */
const userOf = (ctx) =>
  ctx.hasUI && {
    "ui.select": ({ title, options }, until) => ctx.ui.select(title, options, until),
    "ui.confirm": ({ title, message }, until) => ctx.ui.confirm(title, message, until),
    "ui.input": ({ title, placeholder }, until) => ctx.ui.input(title, placeholder, until),
    "ui.editor": ({ title, prefill }) => ctx.ui.editor(title, prefill),
    "ui.custom": ({ lines }) =>
      ctx.ui.custom((...given) => ({ render: () => lines, handleInput: given.at(-1), invalidate: () => {} })),
    "ui.notify": ({ message, type }) => ctx.ui.notify(message, type),
    "ui.setStatus": ({ key, text }) => ctx.ui.setStatus(key, text),
    "ui.setEditorText": ({ text }) => ctx.ui.setEditorText(text),
    "ui.getEditorText": () => ctx.ui.getEditorText(),
  };

/** The same of the session, for commands. */
const sessionOf = (pi, ctx) => ({
  "session.get": () => ({
    isIdle: ctx.isIdle(),
    hasQueuedMessages: ctx.hasPendingMessages(),
    hasUI: ctx.hasUI,
    model: ctx.model?.id,
    sessionId: ctx.sessionManager.getSessionId(),
    sessionFile: ctx.sessionManager.getSessionFile(),
    leafId: ctx.sessionManager.getLeafId() ?? undefined,
    entries: ctx.sessionManager.getEntries(),
  }),
  "session.abort": () => ctx.abort(),
  "session.waitForIdle": () => ctx.waitForIdle(),
  "session.sendMessage": ({ message, ...options }) => pi.sendMessage(message, options),
  "session.appendEntry": ({ customType, data }) => pi.appendEntry(customType, data),
  "session.new": ({ parentSession, setup = [] }) =>
    ctx.newSession({ parentSession, setup: async (session) => setup.forEach((entry) => write(entry, session)) }),
  "session.branch": ({ entryId }) => ctx.fork(entryId),
  "session.navigateTree": ({ targetId, summarize }) => ctx.navigateTree(targetId, { summarize }),
});

/** Writes what a module has put into a new session. */
function write({ message, customType, data }, session) {
  if (message === undefined) session.appendCustomEntry(customType, data);
  else if (message.role !== "custom") session.appendMessage(message);
  else session.appendCustomMessageEntry(message.customType, message.content, message.display, message.details);
}

/** The commands of modules become the agent's own. */
async function addCommands(pi, ctx) {
  const { code, out, err } = await run(`${HOOK} command --json`, {});
  if (code !== 0) return tell(ctx, err || "the commands of modules are not known");
  for (const line of out.split("\n").filter(Boolean)) {
    const { name, description } = JSON.parse(line);
    pi.registerCommand(name, { description, handler: (given, ctx) => play(name, given, pi, ctx) });
  }
}

/** Asks hooks one thing, and does meanwhile what they ask for: what they answer, or why they do not. */
function converse(message, methods, ctx) {
  const ownGroup = process.platform !== "win32";
  const options = { shell: true, cwd: ctx.cwd, detached: ownGroup, windowsHide: true };
  const child = spawn(`${HOOK} serve --stdio`, options);
  const say = (message) => child.stdin.write(`${JSON.stringify(message)}\n`);
  const open = new Map(); // What is asked at present. A question that nobody waits for is taken back.
  return new Promise((resolve) => {
    let [rest, err, timer, asked, isOver] = ["", "", undefined, 0, false];
    const end = (answer) => {
      isOver = true;
      clearTimeout(timer);
      open.forEach((until) => until.abort());
      child.stdin.end();
      resolve(answer);
    };
    const kill = () => {
      if (isOver) return;
      try {
        ownGroup ? process.kill(-child.pid, "SIGKILL") : child.kill();
      } catch {
        // It has ended by itself.
      }
      end({ lost: "hooks did not answer in time" });
    };
    // Nobody is hurried who is asked something.
    const wait = () => {
      clearTimeout(timer);
      if (asked === 0 && !isOver) timer = setTimeout(kill, PATIENCE);
    };
    const help = async ({ hostCallId, method, params }) => {
      const until = new AbortController();
      open.set(hostCallId, until);
      asked += 1;
      wait();
      try {
        if (!Object.hasOwn(methods, method)) throw Object.assign(new Error(`pi has no ${method}`), { code: "unsupported" });
        const result = (await methods[method](params ?? {}, { signal: until.signal })) ?? null;
        if (!until.signal.aborted) say({ type: "hook-host-result", hostCallId, result });
      } catch (error) {
        const { code = "failed", message = String(error) } = error ?? {};
        // Of what was taken back nobody wants to hear.
        if (!until.signal.aborted) say({ type: "hook-host-result", hostCallId, error: { code, message } });
      }
      open.delete(hostCallId);
      asked -= 1;
      wait();
    };
    child.stdin.on("error", () => {}); // It has ended, and is heard of below.
    child.stdout.setEncoding("utf8").on("data", (text) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop();
      if (rest.length > LONGEST) return kill();
      try {
        for (const said of lines.filter(Boolean).map((line) => JSON.parse(line))) {
          if (said.type === "hook-host-call") void help(said);
          else if (said.type === "hook-host-call-cancelled") open.get(said.hostCallId)?.abort();
          else if (said.correlationId === message.correlationId) end(said);
        }
      } catch {
        kill(); // What it says cannot be read: it has not answered.
      }
    });
    child.stderr.setEncoding("utf8").on("data", (text) => (err = (err + text).slice(0, LONGEST)));
    child.on("error", (error) => end({ code: 127, err: String(error) }));
    child.on("close", (code) => end(code === null ? { lost: "hooks were ended" } : { code, err: err.trim() }));
    wait();
    say({ type: "hook-hello", protocol: 1, hostServices: Object.keys(methods) });
    say(message);
  });
}

/** Has a module run its command. */
async function play(name, given, pi, ctx) {
  const input = { command_name: name, arguments: given, cwd: ctx.cwd };
  const request = { type: "hook-execution-request", eventName: "Command", correlationId: "command", input };
  const response = await converse(request, { ...userOf(ctx), ...sessionOf(pi, ctx) }, ctx);
  played(name, response, pi, ctx);
}

/** Shows what a command gave. */
function played(name, response, pi, ctx) {
  const { text, prompt } = response.output?.finalOutput?.hookSpecificOutput ?? {};
  const why = response.error?.message ?? (response.lost || response.err || "hooks were ended");
  const failed = response.success ? [] : [`/${name}: ${why}`];
  const faults = (response.hooks ?? []).filter((hook) => hook.error).map((hook) => `/${name}: ${hook.error}`);
  try {
    [...failed, ...faults].forEach((why) => tell(ctx, why));
    if (text) tell(ctx, text);
    if (prompt) pi.sendUserMessage(prompt);
  } catch (error) {
    // The command went on in another session, and this one is over.
    [...failed, ...faults, text, prompt].filter(Boolean).forEach((left) => console.error(`hook: ${left}`));
  }
}

const text = (text) => ({ type: "text", text });
const textOf = (content) =>
  typeof content === "string"
    ? content
    : (content ?? []).filter((part) => part.type === "text").map((part) => part.text).join("\n");

export default function (pi) {
  let context = []; // For the model, with the next prompt.
  let prompt = "";
  let refused; // Why the prompt is refused, where the agent asks too late to refuse it.
  let turns = 0;

  pi.on("session_start", async (event, ctx) => {
    const answer = await ask("session_start", { reason: event.reason ?? "startup" }, ctx);
    if (answer.context) context.push(answer.context);
    if ("session_start" in COMMANDS) await addCommands(pi, ctx);
  });

  if ("input" in COMMANDS) {
    pi.on("input", async (event, ctx) => {
      if (event.source === "extension") return;
      [prompt, turns] = [event.text, 0];
      const answer = await ask("input", { text: event.text, source: event.source }, ctx);
      const why = answer.refused ?? (answer.action === "handled" ? answer.reason : undefined);
      if (why !== undefined) {
        tell(ctx, why);
        return { action: "handled" };
      }
      if (answer.context) context.push(answer.context);
    });
  }

  pi.on("before_agent_start", async (event, ctx) => {
    refused = undefined;
    if ("before_agent_start" in COMMANDS) {
      if (turns === 0) prompt = event.prompt;
      const answer = await ask("before_agent_start", { prompt: event.prompt }, ctx);
      refused = answer.refused ?? (answer.block ? answer.reason : undefined);
      if (answer.context) context.push(answer.context);
    }
    if (context.length === 0) return;
    const content = context.join("\n");
    context = [];
    return { message: { customType: "hook", content, display: true } };
  });

  if ("context" in COMMANDS) {
    pi.on("context", async (event, ctx) => {
      const { messages } = event;
      const plain = ({ role, content }) => ({ role: role === "assistant" ? "model" : "user", content: textOf(content) });
      const request = { model: ctx.model?.id ?? "", messages: messages.map(plain) };
      const answer = await ask("context", { messages, request }, ctx);
      const why = answer.refused ?? (answer.block ? answer.reason : undefined);
      if (why !== undefined) {
        tell(ctx, why);
        ctx.abort?.();
        return { messages: [] };
      }
      if (answer.messages) return { messages: answer.messages };
    });
  }

  const stop = (event, ctx) => {
    if (refused === undefined) return;
    tell(ctx, refused);
    ctx.abort?.();
  };
  pi.on("agent_start", stop);
  pi.on("turn_start", stop);

  pi.on("tool_call", async (event, ctx) => {
    if (refused !== undefined) return { block: true, reason: refused };
    const { toolName, toolCallId, input } = event;
    const answer = await ask("tool_call", { toolName, toolCallId, input }, ctx);
    if (answer.refused) return { block: true, reason: answer.refused };
    if (answer.ask && ctx.hasUI && (await ctx.ui.confirm("A hook asks", answer.reason))) answer.block = false;
    if (answer.block) return { block: true, reason: answer.reason };
    if (!answer.input) return;
    for (const name of Object.keys(input)) delete input[name];
    Object.assign(input, answer.input);
  });

  pi.on("tool_result", async (event, ctx) => {
    const { toolName, toolCallId, input, content, details, isError } = event;
    const said = { toolName, toolCallId, input, content, details, isError };
    const answer = await ask("tool_result", said, ctx);
    if (answer.refused) return { content: [text(answer.refused)], details, isError: true };
    const after = answer.context ? [text(answer.context)] : [];
    if (answer.content || after.length > 0) {
      return { content: [...(answer.content ?? content), ...after], details, isError: answer.isError ?? isError };
    }
  });

  pi.on("session_before_compact", async (event, ctx) => {
    const answer = await ask("session_before_compact", {}, ctx);
    if (answer.refused || answer.cancel) return { cancel: true };
  });

  // To refuse the end is to go on: only hooks that say so have the agent do that.
  if ("session_stop" in COMMANDS) {
    pi.on("session_stop", async (event, ctx) => {
      const { last_assistant_message, stop_hook_active } = event;
      const last = textOf(event.messages?.at?.(-1)?.content) || String(last_assistant_message ?? "");
      const said = { prompt, last_assistant_message: last, stop_hook_active: stop_hook_active === true };
      const answer = await ask("session_stop", said, ctx);
      if (answer.decision !== "block" || turns >= TURNS) return void (turns = 0);
      turns += 1;
      return { decision: "block", reason: answer.reason };
    });
  } else {
    // It ends without waiting for anybody.
    pi.on("turn_end", (event, ctx) => {
      const { message } = event;
      if (!("agent_end" in COMMANDS) || message?.stopReason !== "stop" || turns >= TURNS) return;
      const last_assistant_message = textOf(message.content);
      const said = { prompt, last_assistant_message, stop_hook_active: turns > 0 };
      const ended = runAtOnce(COMMANDS.agent_end, saying("agent_end", said, ctx));
      const answer = obeyed(ended, ctx);
      if (answer.decision !== "block") return void (turns = 0);
      turns += 1;
      pi.sendUserMessage(answer.reason, { deliverAs: "followUp" });
    });
  }

  pi.on("session_shutdown", async (event, ctx) => {
    await ask("session_shutdown", { reason: event.reason ?? "other" }, ctx);
  });
}
