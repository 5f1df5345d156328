#!/usr/bin/env node
"use strict";
// Runs the binary of the platform's package, and ends as it ends.
const { spawn } = require("node:child_process");
const { existsSync } = require("node:fs");

const extension = process.platform === "win32" ? ".exe" : "";
const find = (libc) => {
  try {
    return require.resolve(`@hook-engine/${process.platform}-${process.arch}${libc}/bin/hook${extension}`);
  } catch {
    return undefined;
  }
};
const isMusl = process.platform === "linux" && existsSync(`/lib/ld-musl-${process.arch === "x64" ? "x86_64" : "aarch64"}.so.1`);
const binary = (isMusl ? find("-musl") : find("")) ?? find("-musl");
if (binary === undefined) {
  console.error(`hook-engine: no binary for ${process.platform}-${process.arch} is installed. If npm left out optional`
    + " dependencies (--omit=optional), install again without; else this system has no package: cargo install hook-cli");
  process.exit(1);
}
const child = spawn(binary, process.argv.slice(2), { stdio: "inherit" });
const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
const passOn = (signal) => child.kill(signal);
// From a terminal the binary gets these, too, and decides.
for (const signal of signals) process.on(signal, passOn);
child.on("error", (error) => {
  console.error(`hook-engine: ${binary} cannot be started: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  for (const name of signals) process.off(name, passOn);
  if (signal) process.kill(process.pid, signal);
  else process.exit(code);
});
