//! A shell command run with nothing around it: the limit of a command hook.

use std::io::{Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};

/// Absolute, as posix_spawn wants it.
const BASH: &str = "/bin/bash";

/// Starts a command with three pipes.
pub(crate) fn start(command: &str) -> Child {
    Command::new(BASH)
        .args(["-c", command])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Feeds a command that was started, reads what it says and waits for its end. One after the
/// other is enough for a command that reads everything before it says little.
pub(crate) fn finish(mut child: Child, stdin: &[u8]) -> (ExitStatus, Vec<u8>, Vec<u8>) {
    let mut pipe = child.stdin.take().unwrap();
    if stdin.len() > 64 * 1024 {
        // As wide as ours: the limit is the least that it can cost.
        rustix::pipe::fcntl_setpipe_size(&pipe, 256 * 1024).unwrap();
    }
    pipe.write_all(stdin).unwrap();
    drop(pipe);
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    child.stdout.take().unwrap().read_to_end(&mut stdout).unwrap();
    child.stderr.take().unwrap().read_to_end(&mut stderr).unwrap();
    (child.wait().unwrap(), stdout, stderr)
}
