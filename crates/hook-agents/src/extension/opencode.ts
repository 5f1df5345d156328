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
