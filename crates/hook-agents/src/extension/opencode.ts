/** What hooks answer; `block` is the reason of a refusal, or of not knowing that there is none. */
async function ask(event, sessionID, directory, fields) {
  if (!(event in COMMANDS)) return {};
  const said = { hook_event_name: event, session_id: sessionID ?? "", cwd: directory, ...fields };
  const { code, lost, out, err } = await run(COMMANDS[event], said);
  // A shell says by such a code that the binary is not there: then there are no hooks.
  if (NOT_THERE.includes(code)) return {};
  if (lost) return { block: lost };
  try {
    const answer = out.trim() ? JSON.parse(out) : {};
    return code === 0 || answer.block ? answer : { block: err || `hooks ended with code ${code}` };
  } catch {
    return { block: err || "hooks did not answer" };
  }
}

const textOf = (parts) => parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");

/** Gives the model a text without a turn of its own. */
const tell = (client, id, text) =>
  client.session.prompt({ path: { id }, body: { noReply: true, parts: [{ type: "text", text }] } });

const server = async ({ client, directory }) => ({
  "tool.execute.before": async ({ tool, sessionID, callID }, output) => {
    const fields = { tool_name: tool, tool_input: output.args, tool_call_id: callID };
    const { block, args } = await ask("tool.execute.before", sessionID, directory, fields);
    if (block) throw new Error(block);
    if (!args) return;
    // A new object would be ignored.
    Object.keys(output.args).forEach((name) => delete output.args[name]);
    Object.assign(output.args, args);
  },
  "tool.execute.after": async ({ tool, sessionID, callID, args }, output) => {
    const fields = { tool_name: tool, tool_input: args ?? {}, tool_call_id: callID, tool_response: output.output };
    const { block, context } = await ask("tool.execute.after", sessionID, directory, fields);
    if (block) output.output = block;
    if (context) output.output += `\n${context}`;
  },
  "chat.message": async ({ sessionID }, output) => {
    const prompt = textOf(output.parts);
    const { block, context } = await ask("chat.message", sessionID, directory, { prompt });
    if (block) throw new Error(block);
    const id = `prt_${Date.now().toString(16).padStart(12, "0")}${"z".repeat(14)}`;
    if (context) output.parts.push({ ...output.parts[0], id, type: "text", text: context, synthetic: true });
  },
  event: async ({ event }) => {
    const { sessionID, info } = event.properties ?? {};
    const id = sessionID ?? info?.id;
    const { context } = await ask(event.type, id, directory, {});
    if (context && event.type === "session.created") await tell(client, id, context);
  },
});

export default { id: "hook", server };
