// Written by `hook connect`, which writes it anew; `hook disconnect` takes it away again.
// It asks hooks about what happens here, and does what they answer.
import { spawn, spawnSync } from "node:child_process";

const COMMANDS = @@COMMANDS@@;
const PATIENCE = 120_000; // milliseconds
const LONGEST = 8_388_608; // characters of an answer
const NOT_THERE = [126, 127];

/** Runs the command of an event: its exit code, or why there is none, and what it printed. */
function run(command, said) {
  return new Promise((resolve) => {
    const ownGroup = process.platform !== "win32";
    const child = spawn(command, { shell: true, detached: ownGroup, windowsHide: true });
    let [out, err] = ["", ""];
    const end = (result) => {
      clearTimeout(timer);
      resolve({ out, err: err.trim(), ...result });
    };
    const timer = setTimeout(() => {
      try {
        ownGroup ? process.kill(-child.pid, "SIGKILL") : child.kill();
      } catch {
        // It has ended by itself.
      }
      end({ lost: "hooks did not answer in time" });
    }, PATIENCE);
    child.stdout.setEncoding("utf8").on("data", (text) => (out = (out + text).slice(0, LONGEST)));
    child.stderr.setEncoding("utf8").on("data", (text) => (err = (err + text).slice(0, LONGEST)));
    child.stdin.on("error", () => {}); // It need not read.
    child.on("error", (error) => end({ code: 127, err: String(error) }));
    child.on("close", (code) => end(code === null ? { lost: "hooks were ended" } : { code }));
    child.stdin.end(JSON.stringify(said));
  });
}

