/** Keeps what a worker's program prints away from the engine's messages. */

type Write = (text: string, done?: () => void) => void;

let wire: Write | undefined;

/**
 * Turns standard output into standard error for the rest of the program, and gives what writes to the real
 * one. It holds for what Node prints, such as console.log; a child that inherits standard output does not know
 * of it.
 */
export function stdoutIntoStderr(): Write {
  if (wire) return wire;
  const {stdout, stderr} = process;
  const write = stdout.write.bind(stdout) as (text: string, done?: (error?: Error | null) => void) => boolean;
  wire = (text, done) => void write(text, () => done?.());
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write;
  return wire;
}
