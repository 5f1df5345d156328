// Filters, and rows: only those that can be seen are there.
function haystack(request) {
  if (request.text === undefined) {
    const texts = [request.eventName, request.subject, request.correlationId, request.reason, request.systemMessage,
      request.additionalContext, request.error && request.error.code, request.error && request.error.message,
      request.input, request.finalOutput, ...(request.warnings ?? [])];
    for (const skipped of request.notStarted ?? []) texts.push(skipped.name, skipped.endedBy);
    for (const hook of request.hooks) texts.push(hook.name, hook.stdout, hook.stderr, hook.error, ...(hook.warnings ?? []));
    request.text = texts.filter((text) => typeof text === "string").join("\n").toLowerCase();
  }
  return request.text;
}
function filter() {
  const words = $("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const [event, hookName] = [$("event").value, $("hook").value];
  const was = rows[chosen];
  rows = [];
  const gaps = [...data.gaps];
  const plain = !words.length && !event && !hookName && !off.size;
  let shownRequests = 0, shownHooks = 0;
  for (const request of requests) {
    while (plain && gaps.length && gaps[0].at <= request.start) rows.push({ gap: gaps.shift() });
    if (event && (request.eventName ?? "") !== event.slice(1)) continue;
    const named = (all) => hookName ? all.filter((hook) => hook.name === hookName.slice(1)) : all;
    const [hooks, notStarted] = [named(request.hooks), named(request.notStarted ?? [])];
    if (hookName && !hooks.length && !notStarted.length) continue;
    if (off.size && off.has(request.outcome) && hooks.every((hook) => off.has(hook.outcome))) continue;
    if (words.length) {
      const text = haystack(request);
      if (!words.every((word) => text.includes(word))) continue;
    }
    shownRequests += 1;
    rows.push({ request });
    for (const hook of hooks) { shownHooks += 1; rows.push({ request, hook }); }
    for (const skipped of notStarted) rows.push({ request, skipped });
  }
  if (plain) for (const gap of gaps) rows.push({ gap });
  chosen = was ? rows.findIndex((row) => row.request === was.request && row.hook === was.hook && row.skipped === was.skipped && row.gap === was.gap) : -1;
  $("space").style.height = rows.length * ROW + "px";
  $("rows").hidden = rows.length === 0;
  $("empty").hidden = rows.length > 0;
  const all = shownRequests === requests.length && shownHooks === hookCount;
  $("status").textContent = all ? count(requests.length, "request") + ", " + count(hookCount, "hook")
    : `${shownRequests.toLocaleString("en")} of ${count(requests.length, "request")}, ${shownHooks.toLocaleString("en")} of ${count(hookCount, "hook")}`;
  document.body.dataset.rows = rows.length;
  schedule();
}


let scheduled = false;
function schedule() {
  if (scheduled) return;
  scheduled = true;
  requestAnimationFrame(() => { scheduled = false; draw(); });
}
function draw() {
  const list = $("rows");
  const first = Math.max(0, Math.floor(list.scrollTop / ROW) - 4);
  const last = Math.min(rows.length, Math.ceil((list.scrollTop + list.clientHeight) / ROW) + 4);
  if (following) showRows(Math.floor(list.scrollTop / ROW), Math.min(rows.length, Math.ceil((list.scrollTop + list.clientHeight) / ROW)));
  const made = [];
  for (let index = first; index < last; index += 1) made.push(row(index));
  $("space").replaceChildren(grid(axis()), ...made);
  const active = chosen >= first && chosen < last;
  if (active) list.setAttribute("aria-activedescendant", "row-" + chosen); else list.removeAttribute("aria-activedescendant");
  overview();
}
// The axis' ticks as lines behind the rows that can be seen.
function grid(lines) {
  const made = element("div", "grid");
  const list = $("rows");
  made.style.top = list.scrollTop + "px";
  made.style.height = Math.min(list.clientHeight, rows.length * ROW - list.scrollTop) + "px";
  made.style.left = $("axis").offsetLeft + "px";
  made.style.width = $("axis").clientWidth + "px";
  for (const left of lines) {
    const line = element("span", "");
    line.style.left = left;
    made.append(line);
  }
  return made;
}
function bar(start, end, outcome, estimated) {
  const [left, right] = [x(start), x(end)];
  if (right < 0 || left > 100) return [];
  const made = element("span", "bar " + outcome + (estimated ? " estimated" : ""));
  const from = Math.max(left, -1), to = Math.min(right, 101);
  made.style.left = `min(${from}%, calc(100% - 3px))`;
  made.style.width = Math.max(to - from, 0) + "%";
  return [made];
}
function row(index) {
  const { request, hook, skipped, gap } = rows[index];
  const made = element("div", "row " + (gap ? "gap" : hook ? "hook" : skipped ? "hook skipped" : "request"));
  made.id = "row-" + index;
  made.dataset.index = index;
  made.style.top = index * ROW + "px";
  made.setAttribute("role", "option");
  made.setAttribute("aria-selected", String(index === chosen));
  made.setAttribute("aria-posinset", String(index + 1));
  made.setAttribute("aria-setsize", String(rows.length));
  const track = element("span", "track");
  if (gap) {
    made.append(element("span", "at", offset(gap.at)), element("span", "what", count(gap.missed, "message") + " missed"),
      element("span", "outcome"), element("span", "took"), track);
    return made;
  }
  if (skipped) {
    const what = element("span", "what", skipped.name, notStartedWords(skipped));
    what.title = what.textContent;
    made.append(element("span", "at"), what, element("span", "outcome", element("span", "word unfinished", "not started")),
      element("span", "took"), track);
    return made;
  }
  const it = hook ?? request;
  const what = hook ? element("span", "what", hook.name)
    : element("span", "what", nameOf(request), request.subject === undefined ? null : element("em", "", request.subject));
  if (!hook && (request.reason || request.error)) what.append(element("span", "why", request.reason || request.error.message));
  what.title = what.textContent;
  const took = hook ? hookTook(hook) : request.end === undefined ? null : request.end - request.start;
  track.append(...bar(it.start, hook ? hook.until : request.until, it.outcome, it.estimated));
  if (hook && it.outcome !== "proceed" && track.lastChild && x(hook.until) < 98) {
    const after = element("span", "after word " + it.outcome, OUTCOMES[it.outcome]);
    after.style.left = `max(${x(hook.until)}%, ${Math.max(x(it.start), 0)}% + 3px)`;
    track.append(after);
  }
  made.append(
    element("span", "at", hook ? (hook.leads ? "group " + hook.group : "") : offset(request.start)), what,
    element("span", "outcome", sign(it.outcome), element("span", "word " + it.outcome, hook ? ended(hook) : it.outcome)),
    element("span", "took", took === null ? "" : time(took)), track);
  return made;
}
function notStartedWords(skipped) {
  return element("em", "", ` because of ${skipped.endedBy}`);
}
function ended(hook) {
  if (hook.timedOut) return "timed out";
  // Also of a guard, whose failure blocks.
  const word = hook.error === undefined ? hook.outcome : "failed";
  if (hook.exitCode === 0 && hook.outcome !== "proceed") return word;
  if (hook.exitCode !== undefined) return "exit " + hook.exitCode;
  return hook.signal ?? word;
}
function axis() {
  const length = view.end - view.start;
  const width = $("axis").clientWidth || 400;
  const wanted = length / Math.max(width / 75, 1);
  const power = 10 ** Math.floor(Math.log10(wanted));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= wanted);
  const ticks = [], lines = [];
  const seen = scale.breaks.filter(([at]) => at >= view.start && at <= view.end);
  for (const [at, gap] of seen.length > width / 10 ? [] : seen) {
    const left = (at - view.start) / length * 100;
    const made = element("span", "break");
    made.style.left = left + "%";
    made.title = time(gap) + " in which nothing was asked";
    ticks.push(made);
  }
  for (let at = Math.ceil(view.start / step) * step; at < view.end; at += step) {
    const us = scale.from(at);
    const made = element("span", "tick", tick(us, step));
    made.style.left = (at - view.start) / length * 100 + "%";
    ticks.push(made);
    lines.push(made.style.left);
  }
  $("axis").replaceChildren(...ticks);
  return lines;
}


let drawnFor = "";
function overview() {
  const canvas = $("map");
  const { clientWidth: width, clientHeight: height } = canvas;
  const ratio = window.devicePixelRatio || 1;
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const state = [width, height, ratio, dark, scale.length].join();
  if (state !== drawnFor && width) {
    drawnFor = state;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    const style = getComputedStyle(document.documentElement);
    const colours = Object.fromEntries(Object.keys(OUTCOMES).map((word) => [word, style.getPropertyValue("--" + word)]));
    // What held something up is drawn last and highest.
    const rank = { proceed: 0, unfinished: 1, failed: 2, ask: 3, retry: 4, stop: 5, block: 6 };
    for (const request of [...requests].sort((one, other) => rank[one.outcome] - rank[other.outcome])) {
      const left = scale.to(request.start) / scale.length * width;
      const right = scale.to(request.until) / scale.length * width;
      const high = request.outcome === "proceed" ? 0.5 : 0.8;
      pen.fillStyle = colours[request.outcome];
      pen.globalAlpha = request.outcome === "proceed" ? 0.7 : 1;
      pen.fillRect(left, height * (1 - high), Math.max(right - left, 1.5), height * high);
    }
  }
  const whole = view.start <= 0 && view.end >= scale.length;
  $("window").hidden = whole;
  $("window").style.left = view.start / scale.length * 100 + "%";
  $("window").style.width = (view.end - view.start) / scale.length * 100 + "%";
}

