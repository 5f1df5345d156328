// Choosing, mouse and keys, and how it all begins.
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


function options(select, all, names) {
  select.append(new Option(all, ""));
  for (const name of [...names].sort()) select.append(new Option(name, "=" + name));
}
function setUp() {
  const held = requests.filter((request) => ["ask", "retry", "block", "stop"].includes(request.outcome)).length;
  const failed = requests.reduce((sum, request) => sum + request.hooks.filter((hook) => hook.outcome === "failed").length, 0);
  const started = data.startedAt.replace("T", " ").replace(/\.\d+Z$/, " UTC");
  document.title = "hook trace: " + (data.file || data.project);
  $("about").textContent = [data.project, started, data.engine && "hook " + data.engine, data.truncated ? "cut off at its end" : ""].filter(Boolean).join("  ·  ");
  for (const [name, value] of [["requests", requests.length.toLocaleString("en")], ["hooks", hookCount.toLocaleString("en")],
    ["held up", held.toLocaleString("en")], ["failed hooks", failed.toLocaleString("en")], ["recorded", time(data.duration)]]) {
    $("totals").append(element("div", "", element("dt", "", name), element("dd", "", value)));
  }
  options($("event"), "All events", new Set(requests.map((request) => request.eventName).filter(Boolean)));
  options($("hook"), "All hooks", new Set(requests.flatMap((request) => [...request.hooks, ...(request.notStarted ?? [])].map((hook) => hook.name))));
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

