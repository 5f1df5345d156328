// The module host: loads modules and calls their handlers, as a worker of the engine. What it is told it
// reads from one descriptor and what it says it writes to another, neither of which is standard input or
// output: whatever a module, or a program that it starts, prints goes to the log.
//
//   node main.mjs '{"in": 4, "out": 3, "project": "/p", "loadTimeout": 8000, "loadDeadline": 24000,
//     "modules": [{"path": "/p/guard.ts", "label": "guard.ts"}]}'
//
// The files beside this one: `intrinsics.mjs` keeps what the host works with from being replaced, `wire.mjs`
// carries messages, `load.mjs` loads modules, `api.mjs` is what a module is given when it is loaded and
// `context.mjs` what a handler is given, `answer.mjs` calls handlers and `plain.mjs` reads what they return.

const major = Number(process.versions.node.split(".")[0]);
if (major < 20) {
  process.stderr.write(
    `JavaScript modules need Node 20 or later, and this is ${process.version}; install a later one\n`,
  );
  process.exit(1);
}

const given = JSON.parse(process.argv[2]);
if (given.out === 1) {
  // Without descriptors of its own the host shares standard output with its modules.
  process.stdout.write = process.stderr.write.bind(process.stderr);
}

const { keepProcess, leave, lock } = await import("./intrinsics.mjs");
const { Wire } = await import("./wire.mjs");
const { Host } = await import("./answer.mjs");

const wire = new Wire(given.in, given.out);
const host = new Host(wire, given);

// What a module leaves behind that fails later is nobody's answer, and ends no other module.
process.setUncaughtExceptionCaptureCallback((error) => wire.logFault(error));
wire.onMessage = (message) => host.take(message);
wire.onEnd = () => leave(0);
wire.listen();
keepProcess();
lock();
await host.load();
