
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const ROW = 26;
  const OUTCOMES = {
    proceed: "✓", ask: "?", block: "✕", stop: "■", failed: "!", unfinished: "…",
  };

  // Whatever comes from the recording becomes text and never markup.
  function element(name, classes, ...children) {
    const made = document.createElement(name);
    if (classes) made.className = classes;
    for (const child of children) if (child !== null && child !== undefined) made.append(child);
    return made;
  }
  function outcomeOf(word) {
    return Object.hasOwn(OUTCOMES, word) ? word : "failed";
  }
  function sign(outcome) {
    const made = element("span", "sign " + outcome, OUTCOMES[outcome]);
    made.setAttribute("aria-hidden", "true");
    return made;
  }

  // Times are microseconds.
  function time(us) {
    if (us < 1000) return Math.round(us) + " µs";
    if (us < 1e4) return (us / 1e3).toFixed(1) + " ms";
    if (us < 1e6) return Math.round(us / 1e3) + " ms";
    if (us < 1e8) return (us / 1e6).toFixed(2) + " s";
    const seconds = Math.round(us / 1e6);
    if (seconds < 3600) return Math.floor(seconds / 60) + " min " + (seconds % 60) + " s";
    return Math.floor(seconds / 3600) + " h " + Math.floor((seconds % 3600) / 60) + " min";
  }
  function offset(us) {
    if (us < 60e6) return "+" + (us / 1e6).toFixed(3) + " s";
    const two = (number) => String(number).padStart(2, "0");
    const [hours, minutes, seconds] = [Math.floor(us / 3600e6), Math.floor(us / 60e6) % 60, us / 1e6 % 60];
    return hours ? `+${hours}:${two(minutes)}:${two(Math.floor(seconds))}` : `+${minutes}:${two(Math.floor(seconds))}.${String(Math.floor(us / 1e3) % 1000).padStart(3, "0")}`;
  }
  // As exact as ticks that far apart need.
  function tick(us, step) {
    const digits = Math.min(Math.max(Math.ceil(-Math.log10(step / 1e6)), 0), 6);
    if (us >= 60e6) return Math.floor(us / 60e6) + ":" + (us / 1e6 % 60).toFixed(digits).padStart(digits ? digits + 3 : 2, "0");
    return us < 1e6 && step < 1e6 ? (us / 1e3).toFixed(Math.max(digits - 3, 0)) + " ms" : (us / 1e6).toFixed(digits) + " s";
  }
  function count(number, word) { return number.toLocaleString("en") + " " + word + (number === 1 ? "" : "s"); }

  const requests = data.requests;
  let hookCount = 0;
  for (const [index, request] of requests.entries()) {
    request.index = index;
    request.outcome = outcomeOf(request.outcome);
    request.until = request.end ?? data.duration;
    for (const [place, hook] of request.hooks.entries()) {
      hook.place = place;
      hook.outcome = outcomeOf(hook.outcome);
      hook.until = hook.end ?? data.duration;
      request.until = Math.max(request.until, hook.end ?? hook.start);
      hookCount += 1;
    }
  }
  const hookTook = (hook) => hook.duration === undefined ? (hook.end === undefined ? null : hook.end - hook.start) : hook.duration * 1000;

  // --- the scale: time as it went, or without the times in which nothing was asked ---------------
  function plainScale() {
    return { to: (us) => us, from: (at) => at, length: Math.max(data.duration, 1), breaks: [], idle: 0 };
  }
  function idleScale() {
    const spans = requests.map((request) => [request.start, request.until]).sort((one, other) => one[0] - other[0]);
    const busy = [];
    for (const [start, end] of spans) {
      const last = busy[busy.length - 1];
      if (last && start <= last[1]) last[1] = Math.max(last[1], end);
      else busy.push([start, end]);
    }
    const active = busy.reduce((sum, [start, end]) => sum + end - start, 0);
    const most = Math.max(active / Math.max(busy.length, 1) / 4, active / 200, 1);
    // Points at which real and drawn time are known; between them, time runs evenly.
    const real = [0], drawn = [0], breaks = [];
    let idle = 0;
    const add = (us, length) => { real.push(us); drawn.push(drawn[drawn.length - 1] + length); };
    const rest = (until) => {
      const gap = until - real[real.length - 1];
      if (gap > most) {
        idle += gap - most;
        breaks.push([drawn[drawn.length - 1] + most / 2, gap]);
        add(until, most);
      } else if (gap > 0) add(until, gap);
    };
    for (const [start, end] of busy) {
      rest(start);
      if (end > start) add(end, end - start);
    }
    rest(data.duration);
    const between = (xs, ys, x) => {
      let low = 0, high = xs.length - 1;
      while (low < high - 1) {
        const middle = (low + high) >> 1;
        if (xs[middle] <= x) low = middle; else high = middle;
      }
      const width = xs[high] - xs[low];
      return width > 0 ? ys[low] + (x - xs[low]) * (ys[high] - ys[low]) / width : ys[low];
    };
    return {
      to: (us) => between(real, drawn, us),
      from: (at) => between(drawn, real, at),
      length: Math.max(drawn[drawn.length - 1], 1), breaks, idle,
    };
  }

  let scale = plainScale();
  let view = { start: 0, end: scale.length };
  let rows = [];
  let chosen = -1;
  let open = false;
  // Whether the part that is shown is that of the rows that can be seen.
  let following = false;
  const off = new Set();

  function setScale(skip) {
    const [start, end] = [scale.from(view.start), scale.from(view.end)];
    const whole = view.start <= 0 && view.end >= scale.length;
    scale = skip ? idleScale() : plainScale();
    if (whole) show(0, scale.length); else show(scale.to(start), scale.to(end));
    schedule();
  }
  function show(start, end) {
    const least = Math.min(20, scale.length);
    const length = Math.min(Math.max(end - start, least), scale.length);
    start = Math.min(Math.max((start + end - length) / 2, 0), scale.length - length);
    const moved = view.start !== start || view.end !== start + length;
    view = { start, end: start + length };
    if (moved) schedule();
  }
  function follow(on) {
    following = on;
    $("follow").setAttribute("aria-pressed", String(on));
    schedule();
  }
  function showRows(first, last) {
    let [start, end] = [Infinity, -Infinity];
    for (let index = first; index < last; index += 1) {
      const it = rows[index].hook ?? rows[index].request;
      if (it) [start, end] = [Math.min(start, it.start), Math.max(end, it.until)];
    }
    if (start > end) return;
    const [from, to] = [scale.to(start), scale.to(end)];
    const margin = (to - from) * 0.02;
    show(from - margin, to + margin);
  }
  function zoom(factor, at = 0.5) {
    follow(false);
    const length = view.end - view.start;
    const middle = view.start + length * at;
    show(middle - length * factor * at, middle + length * factor * (1 - at));
  }
  function pan(share) {
    follow(false);
    const by = (view.end - view.start) * share;
    const start = Math.min(Math.max(view.start + by, 0), scale.length - (view.end - view.start));
    show(start, start + view.end - view.start);
  }
  const x = (us) => (scale.to(us) - view.start) / (view.end - view.start) * 100;

  // --- filters -----------------------------------------------------------------------------------
  function haystack(request) {
    if (request.text === undefined) {
      const texts = [request.eventName, request.subject, request.correlationId, request.reason, request.systemMessage,
        request.additionalContext, request.error && request.error.code, request.error && request.error.message,
        request.input, request.finalOutput, ...(request.warnings ?? [])];
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
      const hooks = hookName ? request.hooks.filter((hook) => hook.name === hookName.slice(1)) : request.hooks;
      if (hookName && !hooks.length) continue;
      if (off.size && off.has(request.outcome) && hooks.every((hook) => off.has(hook.outcome))) continue;
      if (words.length) {
        const text = haystack(request);
        if (!words.every((word) => text.includes(word))) continue;
      }
      shownRequests += 1;
      rows.push({ request });
      for (const hook of hooks) { shownHooks += 1; rows.push({ request, hook }); }
    }
    if (plain) for (const gap of gaps) rows.push({ gap });
    chosen = was ? rows.findIndex((row) => row.request === was.request && row.hook === was.hook && row.gap === was.gap) : -1;
    $("space").style.height = rows.length * ROW + "px";
    $("rows").hidden = rows.length === 0;
    $("empty").hidden = rows.length > 0;
    const all = shownRequests === requests.length && shownHooks === hookCount;
    $("status").textContent = all ? count(requests.length, "request") + ", " + count(hookCount, "hook")
      : `${shownRequests.toLocaleString("en")} of ${count(requests.length, "request")}, ${shownHooks.toLocaleString("en")} of ${count(hookCount, "hook")}`;
    document.body.dataset.rows = rows.length;
    schedule();
  }

  // --- rows: only those that can be seen are there ------------------------------------------------
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
    const { request, hook, gap } = rows[index];
    const made = element("div", "row " + (gap ? "gap" : hook ? "hook" : "request"));
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
    const it = hook ?? request;
    const what = hook ? element("span", "what", hook.name)
      : element("span", "what", request.eventName ?? "not a request", request.subject === undefined ? null : element("em", "", request.subject));
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
      element("span", "at", hook ? "" : offset(request.start)), what,
      element("span", "outcome", sign(it.outcome), element("span", "word " + it.outcome, hook ? ended(hook) : it.outcome)),
      element("span", "took", took === null ? "" : time(took)), track);
    return made;
  }
  function ended(hook) {
    if (hook.timedOut) return "timed out";
    if (hook.exitCode === 0 && hook.outcome !== "proceed") return hook.outcome;
    if (hook.exitCode !== undefined) return "exit " + hook.exitCode;
    return hook.signal ?? hook.outcome;
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

  // --- the overview -------------------------------------------------------------------------------
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
      const rank = { proceed: 0, unfinished: 1, failed: 2, ask: 3, stop: 4, block: 5 };
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

  // --- details --------------------------------------------------------------------------------------
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
    const name = hook ? [hook.name] : [request.eventName ?? "not a request", request.subject === undefined ? null : element("em", "", " " + request.subject)];
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
      ["Correlation id", request.correlationId], ["Request", request.request],
    ]));
    if (request.hooks.length) parts.push(element("h3", "", "Hooks"));
    for (const hook of request.hooks) parts.push(link(request, hook, hook.name, ended(hook), hookTook(hook)));
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
      ["Exit", hook.exitCode ?? hook.signal], ["Source", hook.source], ["Type", hook.type], ["Flags", flags.join(", ")],
    ]));
    parts.push(element("h3", "", "Ran for"), link(request, null, [request.eventName ?? "?", request.subject].filter(Boolean).join(" "), request.outcome,
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

  // --- choosing -------------------------------------------------------------------------------------
  function choose(index, opened = open) {
    chosen = Math.min(Math.max(index, 0), rows.length - 1);
    open = opened && chosen >= 0;
    const list = $("rows");
    const top = chosen * ROW;
    const far = top < list.scrollTop - list.clientHeight || top > list.scrollTop + 2 * list.clientHeight;
    if (far) list.scrollTop = top - list.clientHeight / 3;
    else if (top < list.scrollTop) list.scrollTop = top;
    else if (top + ROW > list.scrollTop + list.clientHeight) list.scrollTop = top + ROW - list.clientHeight;
    details();
    const it = rows[chosen];
    const hash = it && it.request && open ? `#request=${it.request.request}` + (it.hook ? `&hook=${it.hook.place}` : "") : "";
    try { history.replaceState(null, "", hash || location.pathname + location.search); } catch { /* only the address stays behind */ }
    schedule();
  }
  function go(index, place) {
    const find = () => rows.findIndex((row) => row.request === requests[index] && (row.hook ? row.hook.place : null) === place);
    if (find() < 0) clearFilters();
    if (find() >= 0) choose(find(), true);
  }
  function showAll() {
    follow(false);
    show(0, scale.length);
  }
  function fromHash() {
    const given = new URLSearchParams(location.hash.slice(1));
    if (!given.has("request")) return;
    const index = requests.findIndex((request) => String(request.request) === given.get("request"));
    if (index >= 0) go(index, given.has("hook") ? Number(given.get("hook")) : null);
  }
  function zoomToChosen() {
    const it = rows[chosen];
    if (!it || !it.request) return;
    const { start, until } = it.hook ?? it.request;
    const [from, to] = [scale.to(start), scale.to(until)];
    const margin = Math.max((to - from) * 0.1, 10);
    follow(false);
    show(from - margin, to + margin);
  }
  function clearFilters() {
    $("search").value = $("event").value = $("hook").value = "";
    off.clear();
    for (const button of $("outcomes").children) button.setAttribute("aria-pressed", "true");
    filter();
  }

  // --- setting up -------------------------------------------------------------------------------------
  function options(select, all, names) {
    select.append(new Option(all, ""));
    for (const name of [...names].sort()) select.append(new Option(name, "=" + name));
  }
  function setUp() {
    const held = requests.filter((request) => ["ask", "block", "stop"].includes(request.outcome)).length;
    const failed = requests.reduce((sum, request) => sum + request.hooks.filter((hook) => hook.outcome === "failed").length, 0);
    const started = data.startedAt.replace("T", " ").replace(/\.\d+Z$/, " UTC");
    document.title = "hook trace: " + (data.file || data.project);
    $("about").textContent = [data.project, started, data.engine && "hook " + data.engine, data.truncated ? "cut off at its end" : ""].filter(Boolean).join("  ·  ");
    for (const [name, value] of [["requests", requests.length.toLocaleString("en")], ["hooks", hookCount.toLocaleString("en")],
      ["held up", held.toLocaleString("en")], ["failed hooks", failed.toLocaleString("en")], ["recorded", time(data.duration)]]) {
      $("totals").append(element("div", "", element("dt", "", name), element("dd", "", value)));
    }
    options($("event"), "All events", new Set(requests.map((request) => request.eventName).filter(Boolean)));
    options($("hook"), "All hooks", new Set(requests.flatMap((request) => request.hooks.map((hook) => hook.name))));
    const counts = new Map();
    for (const request of requests) for (const it of [request, ...request.hooks]) counts.set(it.outcome, (counts.get(it.outcome) ?? 0) + 1);
    for (const outcome of Object.keys(OUTCOMES)) {
      if (!counts.has(outcome)) continue;
      const made = element("button", "", sign(outcome), outcome);
      made.type = "button";
      made.title = count(counts.get(outcome), "row");
      made.setAttribute("aria-pressed", "true");
      made.addEventListener("click", () => {
        if (!off.delete(outcome)) off.add(outcome);
        made.setAttribute("aria-pressed", String(!off.has(outcome)));
        filter();
      });
      $("outcomes").append(made);
    }
    const skipped = idleScale();
    $("idle").checked = skipped.idle > data.duration / 2;
    $("idle").disabled = skipped.breaks.length === 0;
    setScale($("idle").checked);
    view = { start: 0, end: scale.length };
    listen();
    filter();
    // Of many, each alone would be a speck.
    follow(rows.length > 120);
    draw();
    fromHash();
    draw();
    document.body.dataset.ready = "true";
  }
  function listen() {
    let waiting = 0;
    $("search").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(filter, 120); });
    $("event").addEventListener("change", filter);
    $("hook").addEventListener("change", filter);
    $("idle").addEventListener("change", () => setScale($("idle").checked));
    $("clear").addEventListener("click", clearFilters);
    $("zoom-in").addEventListener("click", () => zoom(0.5));
    $("zoom-out").addEventListener("click", () => zoom(2));
    $("zoom-all").addEventListener("click", showAll);
    $("follow").addEventListener("click", () => follow(!following));
    const list = $("rows");
    list.addEventListener("scroll", schedule, { passive: true });
    new ResizeObserver(schedule).observe(list);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", schedule);
    window.addEventListener("hashchange", fromHash);
    const trackAt = (pointer) => {
      const box = $("axis").getBoundingClientRect();
      return { share: Math.min(Math.max((pointer.clientX - box.left) / box.width, 0), 1), width: box.width };
    };
    const wheel = (event, always) => {
      if (event.ctrlKey || event.metaKey || event.altKey || (always && !event.shiftKey && Math.abs(event.deltaY) >= Math.abs(event.deltaX))) {
        event.preventDefault();
        zoom(Math.exp(Math.max(-50, Math.min(50, event.deltaY)) * 0.01), trackAt(event).share);
      } else if (event.deltaX || event.shiftKey) {
        event.preventDefault();
        pan((event.deltaX || event.deltaY) / trackAt(event).width);
      }
    };
    list.addEventListener("wheel", (event) => wheel(event, false), { passive: false });
    $("axis").addEventListener("wheel", (event) => wheel(event, true), { passive: false });
    dragToPan(list);
    dragOverview();
    list.addEventListener("keydown", (event) => {
      const page = Math.max(1, Math.floor(list.clientHeight / ROW) - 1);
      const moves = { ArrowDown: chosen + 1, ArrowUp: chosen < 0 ? 0 : chosen - 1, PageDown: chosen + page, PageUp: chosen - page, Home: 0, End: rows.length - 1 };
      if (Object.hasOwn(moves, event.key) && !event.ctrlKey && !event.metaKey && !event.altKey) { event.preventDefault(); choose(moves[event.key]); }
      else if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(chosen, true); }
    });
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "Escape") {
        if (document.activeElement === $("search") && $("search").value) { $("search").value = ""; filter(); }
        else { choose(chosen, false); list.focus(); }
        return;
      }
      if (/^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName) && document.activeElement.type !== "checkbox") return;
      const keys = { "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), 0: showAll,
        ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2), z: zoomToChosen, "/": () => $("search").focus() };
      if (Object.hasOwn(keys, event.key)) { event.preventDefault(); keys[event.key](); }
    });
  }
  function dragToPan(list) {
    let held = null;
    list.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      const row = event.target.closest(".row");
      held = { x: event.clientX, view: { ...view }, moved: false, track: Boolean(event.target.closest(".track")), index: row ? Number(row.dataset.index) : -1 };
    });
    window.addEventListener("pointermove", (event) => {
      if (!held || !held.track) return;
      const by = event.clientX - held.x;
      if (!held.moved && Math.abs(by) < 4) return;
      if (!held.moved) follow(false);
      held.moved = true;
      document.body.classList.add("dragging");
      const length = held.view.end - held.view.start;
      const start = Math.min(Math.max(held.view.start - by / $("axis").clientWidth * length, 0), scale.length - length);
      show(start, start + length);
    });
    window.addEventListener("pointerup", () => {
      if (held && !held.moved && held.index >= 0) choose(held.index, true);
      held = null;
      document.body.classList.remove("dragging");
    });
  }
  function dragOverview() {
    const map = $("overview");
    let from = null;
    const at = (event) => {
      const box = map.getBoundingClientRect();
      return Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1) * scale.length;
    };
    map.addEventListener("pointerdown", (event) => { from = at(event); map.setPointerCapture(event.pointerId); });
    map.addEventListener("pointermove", (event) => {
      if (from === null) return;
      const to = at(event);
      if (following) follow(false);
      if (Math.abs(to - from) > scale.length / 200) show(Math.min(from, to), Math.max(from, to));
    });
    map.addEventListener("pointerup", (event) => {
      if (from !== null && Math.abs(at(event) - from) <= scale.length / 200) showAll();
      from = null;
    });
    map.addEventListener("wheel", (event) => {
      event.preventDefault();
      const whole = view.end - view.start;
      zoom(Math.exp(Math.max(-50, Math.min(50, event.deltaY)) * 0.01), Math.min(Math.max((at(event) - view.start) / whole, 0), 1));
    }, { passive: false });
  }
  setUp();
})();
