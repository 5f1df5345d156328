// Answers of modules. One is made of plain objects, arrays, texts, finite numbers, `true`, `false` and
// `null`, and of nothing else: of an `Error`, a `Map` or an object with getters JSON would have left nothing,
// and a guard would have said nothing.

import { Array, Map, Number, Object, RangeError, Reflect, Set, String, TypeError, each, isProxy } from "./intrinsics.mjs";

/** How deep one may be. */
const MAX_DEPTH = 200;

/** How many values there may be in one. */
const MAX_VALUES = 1_000_000;

/** A copy without anything that is inherited. Throws where it is no plain object. */
export function plainObject(value) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new TypeError(`it returned ${named(value)}, and may return an object or nothing`);
  }
  return copied(value, "", { left: MAX_VALUES }, 0);
}

function copied(value, path, count, depth) {
  if (--count.left < 0) throw new RangeError(`there are more than ${MAX_VALUES} values in its answer`);
  if (depth > MAX_DEPTH) throw new RangeError(`its answer is deeper than ${MAX_DEPTH}`);
  switch (typeof value) {
    case "string":
    case "boolean":
    case "undefined":
      return value;
    case "number":
      if (Number.isFinite(value)) return value;
      throw new TypeError(`${shown(path)} is ${value}, which JSON has no word for`);
    case "object":
      if (value === null) return null;
      if (isProxy(value)) break;
      if (Array.isArray(value)) return copiedList(value, path, count, depth);
      return copiedObject(value, path, count, depth);
  }
  throw refused(value, path);
}

function copiedList(list, path, count, depth) {
  if (Object.getPrototypeOf(list) !== Array.prototype) throw refused(list, path);
  const copy = Object.setPrototypeOf([], null);
  for (let at = 0; at < list.length; at++) {
    const inner = valueOf(list, String(at), path);
    copy[at] = copied(inner, `${path}[${at}]`, count, depth + 1) ?? null;
  }
  return copy;
}

function copiedObject(object, path, count, depth) {
  const parent = Object.getPrototypeOf(object);
  if (parent !== Object.prototype && parent !== null) throw refused(object, path);
  const copy = Object.create(null);
  each(Reflect.ownKeys(object), (name) => {
    if (typeof name !== "string") throw new TypeError(`${shown(path)} has a property that is no text`);
    const way = path === "" ? name : `${path}.${name}`;
    const inner = copied(valueOf(object, name, path), way, count, depth + 1);
    if (inner !== undefined) copy[name] = inner;
  });
  return copy;
}

/** A property that is there to be seen, and is a value by itself. */
function valueOf(object, name, path) {
  const property = Object.getOwnPropertyDescriptor(object, name);
  if (property === undefined) return undefined;
  if (!Object.hasOwn(property, "value") || !property.enumerable) {
    throw new TypeError(`${shown(path)} has a getter or a hidden property \`${name}\`, which an answer may not have`);
  }
  return property.value;
}

function refused(value, path) {
  return new TypeError(
    `${shown(path)} is ${named(value)}, and an answer is made of plain objects, arrays, texts, numbers, true, false and null`,
  );
}

function shown(path) {
  return path === "" ? "what it returned" : `\`${path.slice(0, 200)}\` of what it returned`;
}

/** Classes whose own words for them are not at hand any more. */
const CLASSES = new Map([Map, Set, String, Number].map((it) => [it.prototype, it.name]));

/** What kind of value it is, without asking the value. */
function named(value) {
  if (typeof value !== "object" || value === null) return `a ${typeof value}`;
  if (isProxy(value)) return "a proxy";
  if (Array.isArray(value)) return "an array";
  const parent = Object.getPrototypeOf(value);
  const maker = parent && Object.getOwnPropertyDescriptor(parent, "constructor")?.value;
  const name = CLASSES.get(parent) ?? nameOf(maker);
  return name ? `an object of the class ${name}` : "no plain object";
}

function nameOf(maker) {
  const name = typeof maker === "function" && Object.getOwnPropertyDescriptor(maker, "name")?.value;
  return typeof name === "string" ? name : undefined;
}
