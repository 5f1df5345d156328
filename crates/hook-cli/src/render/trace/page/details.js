// Details of the chosen row.
// JSON text with line breaks, digit for digit, also where its end is cut off.
function pretty(text) {
  const pieces = [];
  let depth = 0, from = 0;
  const line = () => "\n" + "  ".repeat(Math.min(depth, 40));
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at];
    if (letter === '"') {
      for (at += 1; at < text.length && text[at] !== '"'; at += 1) if (text[at] === "\\") at += 1;
      pieces.push(text.slice(from, at + 1));
    } else if (letter === "{" || letter === "[") {
      const close = letter === "{" ? "}" : "]";
      let next = at + 1;
      while (/\s/.test(text[next] ?? "")) next += 1;
      if (text[next] === close) { pieces.push(letter + close); at = next; }
      else { depth += 1; pieces.push(letter + line()); }
    } else if (letter === "}" || letter === "]") { depth -= 1; pieces.push(line() + letter); }
    else if (letter === ",") pieces.push("," + line());
    else if (letter === ":") pieces.push(": ");
    else if (!/\s/.test(letter)) pieces.push(letter);
    from = at + 1;
  }
  return pieces.join("");
}
function facts(pairs) {
  const made = element("dl", "facts");
  for (const [name, value] of pairs) {
    if (value !== undefined && value !== null && value !== "") made.append(element("dt", "", name), element("dd", "", String(value)));
  }
  return made;
}
function block(title, text, cut, empty) {
  if (text === undefined) return [];
  const made = [element("h3", "", title)];
  if (text === "") made.push(element("p", "none", empty));
  else made.push(element("pre", "", text));
  if (cut) made.push(element("p", "cut", cut.toLocaleString("en") + " more bytes are in the recording"));
  return made;
}
function verdict(outcome, text) {
  return element("p", "verdict word " + outcome, sign(outcome), text);
}
function details() {
  const panel = $("details");
  const it = open ? rows[chosen] : undefined;
  panel.hidden = !it || Boolean(it.gap);
  document.body.classList.toggle("narrow", !panel.hidden);
  if (panel.hidden) { panel.replaceChildren(); return; }
  const { request, hook } = it;
  const close = element("button", "close", "×");
  close.type = "button";
  close.setAttribute("aria-label", "Close details");
  close.addEventListener("click", () => { choose(chosen, false); $("rows").focus(); });
  const name = hook ? [hook.name] : [nameOf(request), request.subject === undefined ? null : element("em", "", " " + request.subject)];
  const parts = [element("div", "top", element("h2", "", ...name), close)];
  if (hook) parts.push(...hookDetails(request, hook)); else parts.push(...requestDetails(request));
  panel.replaceChildren(...parts);
  panel.scrollTop = 0;
}
function requestDetails(request) {
  const parts = [verdict(request.outcome, request.outcome)];
  if (request.error) parts.push(element("p", "said failed", `${request.error.code}: ${request.error.message}`));
  if (request.reason) parts.push(element("p", "said " + request.outcome, request.reason));
  for (const warning of request.warnings ?? []) parts.push(element("p", "said warning", warning));
  parts.push(facts([
    ["Start", offset(request.start)],
    ["Took", request.end === undefined ? "not answered in the recording" : time(request.end - request.start)],
    ["Try again", request.retryAfterMs === undefined ? null : "after " + time(request.retryAfterMs * 1000)],
    ["Granted", request.granted ? "yes" : null],
    ["Correlation id", request.correlationId], ["Request", request.request],
  ]));
  if (request.hooks.length) parts.push(element("h3", "", "Hooks"));
  for (const hook of request.hooks) parts.push(link(request, hook, hook.name, ended(hook), hookTook(hook)));
  if (request.notStarted) parts.push(element("h3", "", "Not started"));
  for (const skipped of request.notStarted ?? []) parts.push(element("p", "", skipped.name, notStartedWords(skipped)));
  if (!request.hooks.length && !request.error) parts.push(element("p", "none", "No hook matched."));
  parts.push(...block("Message", request.systemMessage), ...block("Context for the model", request.additionalContext));
  if (request.input !== undefined) parts.push(...block("Input", pretty(request.input), request.inputCut));
  if (request.finalOutput !== undefined) parts.push(...block("Merged output", pretty(request.finalOutput), request.finalOutputCut));
  return parts;
}
function hookDetails(request, hook) {
  const parts = [verdict(hook.outcome, hook.outcome === ended(hook) ? hook.outcome : `${hook.outcome}, ${ended(hook)}`)];
  if (hook.error) parts.push(element("p", "said failed", hook.error));
  for (const warning of hook.warnings ?? []) parts.push(element("p", "said warning", warning));
  const took = hookTook(hook);
  const flags = ["timedOut", "leaked", "truncated"].filter((flag) => hook[flag]);
  parts.push(facts([
    ["Start", offset(hook.start) + (hook.estimated ? ", reckoned from its duration" : "")],
    ["Took", took === null ? "not over in the recording" : time(took)],
    ["Queued", hook.queued === undefined ? null : time(hook.queued * 1000)],
    ["Exit", hook.exitCode ?? hook.signal], ["Group", hook.group === undefined ? null : `${hook.group}, priority ${hook.priority}`],
    ["Worker", hook.worker === undefined ? null : hook.worker.state + startedAgain(hook.worker.restarts)],
    ["Source", hook.source], ["Type", hook.type], ["Flags", flags.join(", ")],
  ]));
  parts.push(element("h3", "", "Ran for"), link(request, null, [nameOf(request), request.subject].filter(Boolean).join(" "), request.outcome,
    request.end === undefined ? null : request.end - request.start));
  parts.push(...block("stdout", hook.stdout, hook.stdoutCut, "Nothing written."), ...block("stderr", hook.stderr, hook.stderrCut, "Nothing written."));
  if (request.input !== undefined) parts.push(...block("Input of the request", pretty(request.input), request.inputCut));
  return parts;
}
function link(request, hook, name, word, took) {
  const made = element("button", "link", sign((hook ?? request).outcome), element("span", "name", name),
    element("span", "word " + (hook ?? request).outcome, word), element("span", "took", took === null ? "" : time(took)));
  made.type = "button";
  made.addEventListener("click", () => go(request.index, hook ? hook.place : null));
  return made;
}

/** How often a worker was started again, where it was. */
function startedAgain(restarts) {
  if (!restarts) return "";
  return restarts === 1 ? ", started again once" : `, started again ${restarts} times`;
}
