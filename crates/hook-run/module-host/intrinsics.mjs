// What of JavaScript and of Node the host itself works with, as it was before any module was loaded. Every
// file of the host that is at work afterwards takes it from here, so a module that puts something else in a
// global's place changes nothing of it; and `lock` sees to it that what is behind them cannot be replaced.

import { AsyncLocalStorage } from "node:async_hooks";
import { EventEmitter } from "node:events";
import fs from "node:fs";
import modules from "node:module";
import util from "node:util";

export const {
  Array,
  Buffer,
  Date,
  Error,
  JSON,
  Map,
  Math,
  Number,
  Object,
  Promise,
  RangeError,
  Reflect,
  Set,
  String,
  SyntaxError,
  TypeError,
  clearTimeout,
  process,
  setTimeout,
} = globalThis;

export const { realpathSync, writeSync } = fs;
export const { createRequire, globalPaths, register } = modules;
export const { isProxy } = util.types;
export const { emit } = EventEmitter.prototype;
export const now = Date.now;

/** Names that programs give to their own objects, also to those that inherit from what is locked. */
const GIVEN = ["constructor", "toString", "toLocaleString", "valueOf"];

/** The property stays what it is; an object that inherits it may have its own. */
function pin(target, name) {
  const property = Object.getOwnPropertyDescriptor(target, name);
  if (!property.configurable) return;
  if (!("value" in property) || !property.writable) {
    Object.defineProperty(target, name, { configurable: false });
  } else if (!GIVEN.includes(name)) {
    Object.defineProperty(target, name, { writable: false, configurable: false });
  } else {
    const { value, enumerable } = property;
    Object.defineProperty(target, name, {
      get: () => value,
      set(own) {
        if (this === target) throw new TypeError(`\`${name}\` is not to be replaced here`);
        const mine = { value: own, writable: true, enumerable: true, configurable: true };
        Object.defineProperty(this, name, mine);
      },
      enumerable,
      configurable: false,
    });
  }
}

/**
 * What the host is written with cannot be replaced any more: a module that tries gets the error, and no other
 * module is touched. Methods can be added, but to `Object.prototype`: it would give each message of the host
 * what that message does not say. Arrays stay as they are, since programs would be several times as slow: the
 * host goes through its own with the functions below.
 */
export function lock() {
  // What JSON asks of everything it writes.
  Object.defineProperty(Array.prototype, "toJSON", { value: undefined });
  pin(Array, "isArray");
  const iterators = [new Map(), new Set()].map((it) => Object.getPrototypeOf(it[Symbol.iterator]()));
  const targets = [
    ...[Buffer, Map, Number, Promise, Set, String].flatMap((it) => [it, it.prototype]),
    ...[JSON, Math, Object, Reflect, AsyncLocalStorage.prototype, ...iterators],
  ];
  for (const target of targets) {
    for (const name of Reflect.ownKeys(target)) pin(target, name);
  }
  Object.preventExtensions(Object.prototype);
}

/** Puts something behind the others of a list. */
export function append(list, value) {
  const property = { value, writable: true, enumerable: true, configurable: true };
  Object.defineProperty(list, list.length, property);
}

/** Does something with each of a list, in their order. */
export function each(list, act) {
  for (let at = 0; at < list.length; at++) act(list[at], at);
}

const { exit, reallyExit, kill } = process;
let isLeaving = false;

/** Ends the process; what modules want done at its end is done. */
export function leave(code) {
  isLeaving = true;
  exit.call(process, code);
}

/** The process is the host's to end: it is that of all modules of a source. */
export function keepProcess() {
  const refuse = (what) => {
    throw new Error(`${what}: the process is that of all modules, which none of them may end`);
  };
  const own = {
    exit: () => refuse("process.exit"),
    reallyExit: (code) => (isLeaving ? reallyExit.call(process, code) : refuse("process.reallyExit")),
    abort: () => refuse("process.abort"),
    kill: (pid, signal) => {
      const ends = signal !== 0 && (Number(pid) === 0 || Math.abs(Number(pid)) === process.pid);
      return ends ? refuse("process.kill") : kill.call(process, pid, signal);
    },
  };
  for (const [name, value] of Object.entries(own)) {
    Object.defineProperty(process, name, { value, writable: false, configurable: false });
  }
}
