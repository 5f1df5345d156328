// The theme of renderers, and what styled text is in JSON: lines of pieces, each with its style.

import { Number, Object } from "./intrinsics.mjs";

const COLORS = {
  accent: 36,
  border: 34,
  borderAccent: 36,
  borderMuted: 90,
  success: 32,
  error: 31,
  warning: 33,
  muted: 90,
  dim: 90,
  text: 39,
  toolTitle: 39,
  toolOutput: 90,
  customMessageText: 39,
  customMessageLabel: 35,
  userMessageText: 39,
};

const styled = (on, off) => (text) => `\x1b[${on}m${text}\x1b[${off}m`;

export const theme = {
  fg: (color, text) => styled(COLORS[color] ?? 39, 39)(text),
  bg: (_color, text) => styled(7, 27)(text),
  bold: styled(1, 22),
  dim: styled(2, 22),
  italic: styled(3, 23),
  underline: styled(4, 24),
  inverse: styled(7, 27),
  strikethrough: styled(9, 29),
};

/** The default theme where nothing is shown: text stays as it is. */
export const plain = Object.fromEntries(
  Object.keys(theme).map((name) => [name, name === "fg" || name === "bg" ? (_color, text) => text : (text) => text]),
);

const NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

/** What a code of a terminal changes. */
function apply(style, codes) {
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at];
    const flags = { 1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "inverse", 9: "strikethrough" };
    const ends = { 22: ["bold", "dim"], 23: ["italic"], 24: ["underline"], 27: ["inverse"], 29: ["strikethrough"] };
    if (code === 0) for (const name of Object.keys(style)) delete style[name];
    else if (flags[code]) style[flags[code]] = true;
    else if (ends[code]) for (const name of ends[code]) delete style[name];
    else if (code >= 30 && code <= 37) style.color = NAMES[code - 30];
    else if (code >= 90 && code <= 97) style.color = `bright-${NAMES[code - 90]}`;
    else if (code === 39) delete style.color;
    else if (code === 38 || code === 48) at += codes[at + 1] === 2 ? 4 : 2;
  }
}

/** A line of text with codes of a terminal, in pieces without. */
export function pieces(line) {
  const found = [];
  const style = {};
  // eslint-disable-next-line no-control-regex
  const codes = /\x1b\[([0-9;]*)m|\x1b\[[0-9;?]*[a-zA-Z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)/g;
  let from = 0;
  const push = (text) => {
    if (text !== "") found.push({ text, ...style });
  };
  for (const code of line.matchAll(codes)) {
    push(line.slice(from, code.index));
    from = code.index + code[0].length;
    if (code[1] !== undefined) apply(style, code[1] === "" ? [0] : code[1].split(";").map(Number));
  }
  push(line.slice(from));
  return found;
}
