const TURNS = 8; // how often hooks may have a thread go on, one time after the other

const textOf = ({ role, content }) =>
  role === "assistant" ? (content ?? []).flatMap((part) => (part.type === "text" ? [part.text] : [])) : [];

/** Asks the user; without one the answer is no. */
async function agrees(title, message, ctx) {
  try {
    return (await ctx.ui.confirm({ title, message, confirmButtonText: "Allow" })) === true;
  } catch {
    return false;
  }
}

export default function (amp) {
  const context = new Map(); // What a thread's model is told with its next prompt.
  const turns = new Map();
  const rejected = new Set();
  const folderOf = () => {
    const root = amp.system?.workspaceRoot;
    return root ? amp.helpers.filePathFromURI(root) : process.cwd();
  };
  const asked = (name, event, fields) => ask(name, String(event.thread?.id ?? ""), folderOf(), fields);

  amp.on("session.start", async (event) => {
    const { context: text } = await asked("session.start", event, {});
    if (text) context.set(event.thread?.id, text);
  });

  amp.on("agent.start", async (event, ctx) => {
    const id = event.thread?.id;
    const { block, context: text } = await asked("agent.start", event, { prompt: event.message });
    const told = [context.get(id), text].filter(Boolean);
    context.delete(id);
    if (block) {
      try {
        await ctx.thread.cancel();
        return {};
      } catch {
        told.unshift(`Hooks refuse this prompt: ${block}`);
      }
    }
    return told.length > 0 ? { message: { content: told.join("\n"), display: false } } : {};
  });

  amp.on("tool.call", async (event, ctx) => {
    const fields = { tool_name: event.tool, tool_input: event.input ?? {}, tool_call_id: event.toolUseID };
    const { block, confirm, args } = await asked("tool.call", event, fields);
    const refused = block ?? (confirm && !(await agrees(`Allow ${event.tool}?`, confirm, ctx)) ? confirm : undefined);
    if (refused) {
      rejected.add(event.toolUseID);
      return { action: "reject-and-continue", message: refused };
    }
    return args ? { action: "modify", input: args } : { action: "allow" };
  });

  amp.on("tool.result", async (event) => {
    const { tool, input, toolUseID, output, status, error } = event;
    if (rejected.delete(toolUseID)) return; // It has not run.
    const said = { tool_name: tool, tool_input: input ?? {}, tool_call_id: toolUseID };
    const fields = { ...said, tool_response: output ?? error ?? "", is_error: status !== "done" };
    const { block, context: text } = await asked("tool.result", event, fields);
    if (block) return { status: "error", error: block, output: block };
    if (!text) return;
    const plain = typeof output === "string" ? output : output === undefined ? "" : JSON.stringify(output);
    return { status, output: `${plain}\n${text}`, ...(error === undefined ? {} : { error }) };
  });

  amp.on("agent.end", async (event) => {
    const id = event.thread?.id;
    if (event.status !== "done") return void turns.delete(id);
    const count = turns.get(id) ?? 0;
    const last_assistant_message = (event.messages ?? []).flatMap(textOf).join("\n");
    const said = { prompt: event.message ?? "", last_assistant_message, stop_hook_active: count > 0 };
    const { block, refused } = await asked("agent.end", event, said);
    if (!refused || count >= TURNS) return void turns.delete(id);
    turns.set(id, count + 1);
    return { action: "continue", userMessage: block, maxContinuations: TURNS };
  });
}
