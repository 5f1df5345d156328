//! Running the binary as a person does: on a terminal.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
#[cfg(not(target_os = "linux"))]
use std::os::unix::ffi::OsStrExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use rustix::pty::{OpenptFlags, grantpt, openpt, unlockpt};

/// How long anything may take before a test gives up.
const PATIENCE: Duration = Duration::from_secs(60);

/// A command whose standard streams are a terminal, and what it has written there so far.
#[derive(Debug)]
pub struct Terminal {
    child: Child,
    keyboard: File,
    written: Receiver<Vec<u8>>,
    transcript: String,
}

impl Terminal {
    /// Starts a command on a terminal of its own.
    ///
    /// # Panics
    /// When there is no terminal to be had, or the command cannot be started.
    #[expect(clippy::expect_used, reason = "without a terminal there is no test")]
    pub(crate) fn start(mut command: Command) -> Self {
        let (master, slave) = open().expect("failed to open a pseudo-terminal");
        let stream = || slave.try_clone().expect("failed to duplicate a descriptor");
        command.stdin(Stdio::from(stream())).stdout(Stdio::from(stream())).stderr(stream());
        let child = command.spawn().expect("failed to start the hook binary");
        // The command holds the terminal's streams, and the terminal ends when nobody else does.
        drop((command, slave));
        let keyboard = File::from(master.try_clone().expect("failed to duplicate a descriptor"));
        let (sender, written) = channel();
        std::thread::spawn(move || {
            let mut master = File::from(master);
            let mut bytes = [0; 4096];
            // A terminal that nobody holds open any more ends with an error.
            while let Ok(count @ 1..) = master.read(&mut bytes) {
                if sender.send(bytes[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self { child, keyboard, written, transcript: String::new() }
    }

    /// Waits until this text is on the terminal.
    ///
    /// # Panics
    /// When it has not come after a generous time, or the command ended without it.
    #[expect(clippy::panic, reason = "a text that never comes fails the test")]
    pub fn wait_for(&mut self, text: &str) {
        while !self.transcript.contains(text) {
            match self.written.recv_timeout(PATIENCE) {
                Ok(bytes) => self.transcript.push_str(&String::from_utf8_lossy(&bytes)),
                Err(error) => panic!("{text:?} never came ({error}): {:?}", self.transcript),
            }
        }
    }

    /// Types a line.
    ///
    /// # Panics
    /// When the terminal does not take it.
    #[expect(clippy::expect_used, reason = "a terminal that takes nothing fails the test")]
    pub fn types(&mut self, line: &str) {
        self.keyboard.write_all(format!("{line}\n").as_bytes()).expect("failed to type");
    }

    /// Waits for the command's end: its status, and everything it wrote to the terminal, escape
    /// sequences and all.
    ///
    /// # Panics
    /// When the command cannot be waited for.
    #[expect(clippy::expect_used, reason = "a command that cannot be waited for fails the test")]
    pub fn finish(mut self) -> (i32, String) {
        while let Ok(bytes) = self.written.recv_timeout(PATIENCE) {
            self.transcript.push_str(&String::from_utf8_lossy(&bytes));
        }
        let status = self.child.wait().expect("failed to wait for the hook binary");
        (status.code().unwrap_or(-1), self.transcript)
    }
}

#[cfg(target_os = "linux")]
fn open() -> io::Result<(OwnedFd, OwnedFd)> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let master = openpt(flags)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let slave = rustix::pty::ioctl_tiocgptpeer(&master, flags)?;
    Ok((master, slave))
}

#[cfg(not(target_os = "linux"))]
fn open() -> io::Result<(OwnedFd, OwnedFd)> {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let path = rustix::pty::ptsname(&master, Vec::new())?;
    let path = std::ffi::OsStr::from_bytes(path.as_bytes());
    let slave = std::fs::File::options().read(true).write(true).open(path)?;
    Ok((master, slave.into()))
}
