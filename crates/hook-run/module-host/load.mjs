// Loading modules: plain JavaScript by itself, TypeScript by a Node that strips types or by `jiti`.

import { dirname, extname, join, relative, resolve, sep } from "node:path";
import { pathToFileURL } from "node:url";

import { placeOf, reasonOf } from "./faults.mjs";
import {
  Error, Map, Math, Object, Promise, append, clearTimeout, createRequire, globalPaths, now, process, realpathSync, register, setTimeout,
} from "./intrinsics.mjs";

/** What modules import for their types, and for the few values there are: it is ours. */
export const OURS = [
  "@oh-my-pi/pi-coding-agent/hooks",
  "@oh-my-pi/pi-coding-agent",
  "@mariozechner/pi-coding-agent/hooks",
  "@mariozechner/pi-coding-agent",
  "hook-sdk/hooks",
];

const RUNTIME = new URL("./runtime.mjs", import.meta.url);

/** How long one module is waited for until the next is begun, in milliseconds. */
const HEAD_START = 1_000;

/** How often a look is taken at what time there was, in milliseconds. */
const TICK = 50;

if (typeof register === "function") {
  const data = { ours: OURS, runtime: RUNTIME.href };
  register(new URL("./resolve.mjs", import.meta.url), { data });
}

export class LoadError extends Error {}

/** Whether this Node runs TypeScript by itself. */
function stripsTypes() {
  return Boolean(process.features.typescript);
}

function isInside(path, folder) {
  const way = relative(folder, path);
  return way === "" || (way !== ".." && !way.startsWith(`..${sep}`) && resolve(way) !== way);
}

function real(path) {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Where `jiti` is looked for, in this order. */
function* placesOfJiti(module, project) {
  yield dirname(module.file);
  yield project;
  for (const folder of globalPaths ?? []) yield folder;
  // Where packages are that were installed for all: beside this Node.
  const prefix = dirname(dirname(real(process.execPath)));
  yield join(prefix, "lib");
  yield join(prefix, "lib/node_modules");
}

/** `jiti`, for a TypeScript module. Nobody agreed to one of the project's own but that in a trusted copy. */
function findJiti(module, options) {
  const { project } = options;
  const refused = [];
  const roots = [real(project), project];
  for (const place of placesOfJiti(module, project)) {
    let found;
    try {
      found = createRequire(join(place, "noop.js")).resolve("jiti");
    } catch {
      try {
        found = createRequire(join(place, "noop.js")).resolve(join(place, "jiti"));
      } catch {
        continue;
      }
    }
    const isOfProject = roots.some((root) => isInside(real(found), root) || isInside(found, root));
    if (isOfProject && options.restrictsJiti) {
      refused.push(found);
      continue;
    }
    return { found };
  }
  return { refused };
}

async function importTypeScript(module, options) {
  if (stripsTypes()) return await import(pathToFileURL(module.file).href);
  const { found, refused } = findJiti(module, options);
  if (!found) {
    const why = refused?.length
      ? ` (the one in ${refused[0]} is the project's own, and not in the folder that was trusted with the module)`
      : "";
    throw new LoadError(
      `a TypeScript module needs Node 22.18 or later, which strips types, or the package jiti${why}; this is Node ${process.versions.node}: install a later Node, or run \`npm install --global jiti\``,
    );
  }
  const loaded = createRequire(module.file)(found);
  const create = loaded.createJiti ?? loaded.default?.createJiti ?? loaded.default ?? loaded;
  // What it would keep in files could be changed there.
  const how = {
    fsCache: false,
    cache: false,
    moduleCache: true,
    interopDefault: true,
    esmResolve: true,
    alias: Object.fromEntries(OURS.map((name) => [name, RUNTIME.pathname])),
  };
  const jiti = create(module.file, how);
  return typeof jiti.import === "function" ? await jiti.import(module.file) : jiti(module.file);
}

async function importModule(module, options) {
  const isTypeScript = [".ts", ".mts", ".cts"].includes(extname(module.file));
  return isTypeScript
    ? await importTypeScript(module, options)
    : await import(pathToFileURL(module.file).href);
}

/** Loads a module and has it register what it has. */
async function loadOne(module, options, api) {
  let loaded;
  try {
    loaded = await importModule(module, options);
  } catch (error) {
    throw new LoadError(`Failed to load hook: ${placeOf(error, module)}${reasonOf(error)}`);
  }
  let factory = loaded?.default ?? loaded;
  // Of what was CommonJS once.
  if (typeof factory !== "function" && typeof factory?.default === "function") {
    factory = factory.default;
  }
  if (typeof factory !== "function") {
    throw new LoadError("Hook must export a default function");
  }
  try {
    await factory(api);
  } catch (error) {
    throw new LoadError(`Failed to load hook: ${placeOf(error, module)}${reasonOf(error)}`);
  }
}

/**
 * Loads all modules in their order; gives what is wrong with each, by its path. One that does not settle is
 * left to itself, and holds up no other one.
 */
export async function loadAll(modules, options, apiOf) {
  const time = new LoadTime(options);
  const loading = [];
  for (let at = 0; at < modules.length; at++) {
    const done = loadOne(modules[at], options, apiOf(modules[at])).then(
      () => undefined,
      (error) => error,
    );
    append(loading, done);
    await time.within(done, HEAD_START);
  }
  const outcomes = new Map();
  for (let at = 0; at < modules.length; at++) {
    const outcome = await time.within(loading[at], Infinity);
    outcomes.set(modules[at].path, outcome === PENDING ? time.late() : outcome);
  }
  return outcomes;
}

const PENDING = Symbol("pending");

/**
 * The time that modules have to be loaded, all together. Where many processes begin at once, most of it goes by
 * without this one being run; that counts for nothing, as long as the engine waits.
 */
class LoadTime {
  #limit;
  #left;
  #until;

  constructor({ loadTimeout, loadDeadline }) {
    this.#limit = loadTimeout;
    this.#left = loadTimeout;
    this.#until = now() + loadDeadline;
  }

  /** What comes of it within so much of that time. */
  async within(promise, most) {
    let first = PENDING;
    void promise.then((outcome) => {
      first = outcome;
    });
    const before = this.#left;
    for (;;) {
      await soonest(promise, TICK);
      if (first !== PENDING) return first;
      this.#left -= TICK;
      if (this.#left <= 0 || now() >= this.#until || before - this.#left >= most) return PENDING;
    }
  }

  late() {
    const limit = `it did not settle within ${this.#limit}ms; if it needs longer, give it a longer \`startTimeout\``;
    return new LoadError(`Failed to load hook: ${limit}`);
  }
}

/** Once the promise has settled, or after so long. */
async function soonest(promise, milliseconds) {
  let timer;
  await new Promise((done) => {
    timer = setTimeout(done, milliseconds);
    void promise.then(done);
  });
  clearTimeout(timer);
}
