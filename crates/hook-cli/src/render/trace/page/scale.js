// The scale: time as it went, or without the times in which nothing was asked.
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

