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

