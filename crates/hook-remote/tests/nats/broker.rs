//! A `nats-server` of a test's own, on loopback.

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

#[path = "../../../../tests/src/skipped.rs"]
mod skipped;

pub(crate) use skipped::skipped;

/// A broker. Dropped, it is gone.
pub(crate) struct Broker {
    child: Option<Child>,
    pub(crate) folder: TempDir,
    pub(crate) port: u16,
}

impl Broker {
    /// Starts one with more lines for its settings; `None`, and a word about it, where there is none.
    pub(crate) fn start_with(settings: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("broker.conf"), settings).unwrap();
        let mut broker = Self { child: None, folder, port: 0 };
        if !broker.run("-1") {
            skipped(
                "a test of a fleet: nats-server is not installed (Debian: apt-get install nats-server)",
            );
            return None;
        }
        broker.port = broker.chosen_port();
        Some(broker)
    }

    pub(crate) fn start() -> Option<Self> {
        Self::start_with("")
    }

    fn run(&mut self, port: &str) -> bool {
        let folder = self.folder.path();
        let program = std::env::var_os("NATS_SERVER").unwrap_or_else(|| "nats-server".into());
        let mut command = Command::new(program);
        command.args(["-a", "127.0.0.1", "-p", port, "-c"]).arg(folder.join("broker.conf"));
        command.arg("--ports_file_dir").arg(folder);
        // Debian has it where only the superuser looks.
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{path}:/usr/sbin:/usr/local/sbin"));
        let log = fs::File::create(folder.join("broker.log")).unwrap();
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        self.child = command.spawn().ok();
        self.child.is_some()
    }

    fn chosen_port(&self) -> u16 {
        let begun = Instant::now();
        loop {
            let ports = fs::read_dir(self.folder.path()).unwrap().filter_map(|file| {
                let path = file.unwrap().path();
                let is_ports = path.extension().is_some_and(|ending| ending == "ports");
                is_ports.then(|| fs::read_to_string(path).unwrap_or_default())
            });
            for text in ports {
                let ports: serde_json::Value = match serde_json::from_str(&text) {
                    Ok(ports) => ports,
                    // It is being written.
                    Err(_) => continue,
                };
                let url = ports["nats"][0].as_str().or(ports["tls"][0].as_str());
                let url = url.expect("a port");
                return url.rsplit(':').next().unwrap().parse().unwrap();
            }
            let log = fs::read_to_string(self.folder.path().join("broker.log")).unwrap_or_default();
            assert!(begun.elapsed() < Duration::from_secs(20), "no broker: {log}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// The end of it, as of a machine that goes away.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Starts it again at the same place.
    pub(crate) fn restart(&mut self) {
        self.kill();
        assert!(self.run(&self.port.to_string()));
    }

    /// Has it read other settings, as an operator does.
    pub(crate) fn reload(&self, settings: &str) {
        fs::write(self.folder.path().join("broker.conf"), settings).unwrap();
        self.signal("-HUP");
    }

    pub(crate) fn signal(&self, signal: &str) {
        let id = self.child.as_ref().unwrap().id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    }

    pub(crate) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        self.kill();
    }
}
