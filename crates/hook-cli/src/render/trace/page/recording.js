// The recording, and words for what is in it.
// What is not seen, or changes the order in which other characters are, is shown by its number.
const HIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;
const shown = (text) => text.replace(HIDDEN, (hidden) => `\\u{${hidden.charCodeAt(0).toString(16)}}`);
const data = JSON.parse(
  document.getElementById("data").textContent,
  (_, value) => (typeof value === "string" ? shown(value) : value),
);
const $ = (id) => document.getElementById(id);
const ROW = 26;
const OUTCOMES = {
  proceed: "✓", ask: "?", retry: "↻", block: "✕", stop: "■", failed: "!", unfinished: "…",
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
function nameOf(request) {
  return request.eventName ?? (request.end === undefined ? "?" : "not a request");
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
    // The first hook of a group says which group it is.
    hook.leads = hook.group !== undefined && hook.group !== request.hooks[place - 1]?.group;
    request.until = Math.max(request.until, hook.end ?? hook.start);
    hookCount += 1;
  }
}
const hookTook = (hook) => hook.duration === undefined ? (hook.end === undefined ? null : hook.end - hook.start) : hook.duration * 1000;

