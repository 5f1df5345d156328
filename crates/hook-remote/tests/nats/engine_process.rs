//! An engine in a process of its own, which can be killed: this test binary, told to be one.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use hook_bus::{BusLimits, HookSystem, MessageBus};
use hook_remote::nats::{NatsEngine, NatsOptions};
use hook_settings::SettingsSource;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::support::{Seen, slow};

const URL: &str = "HOOK_TEST_NATS_URL";
const SETTINGS: &str = "HOOK_TEST_SETTINGS";
const LIMITS: &str = "HOOK_TEST_DEFAULT_LIMITS";

/// The process of an engine. Dropped, it is killed.
pub(crate) struct EngineProcess(Child);

impl EngineProcess {
    /// One with these settings that is in the group; without any, one whose only hook takes 20 ms and that
    /// has room for few requests.
    pub(crate) fn join(url: &str, settings: Option<&Path>) -> Self {
        Self::joined(url, settings, false)
    }

    /// One whose only hook takes 20 ms, with the limits that an engine has by default.
    pub(crate) fn join_with_default_limits(url: &str) -> Self {
        Self::joined(url, None, true)
    }

    fn joined(url: &str, settings: Option<&Path>, has_default_limits: bool) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "engine_process::is_an_engine", "--ignored", "--nocapture"]);
        command.env(URL, url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        if let Some(settings) = settings {
            command.env(SETTINGS, settings);
        }
        if has_default_limits {
            command.env(LIMITS, "1");
        }
        let mut child = command.spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
        let joined = said.by_ref().any(|line| line.unwrap().contains("serving"));
        assert!(joined, "the engine ended");
        // What else it says is read, so that it never waits for that.
        std::thread::spawn(move || said.for_each(drop));
        Self(child)
    }

    /// As a machine that loses its power.
    pub(crate) fn kill(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }

    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }

    pub(crate) fn signal(&self, signal: &str) {
        let id = self.0.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    }

    /// The most memory that it has had, in KiB.
    #[cfg(target_os = "linux")]
    pub(crate) fn most_memory(&self) -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }
}

impl Drop for EngineProcess {
    fn drop(&mut self) {
        self.kill();
    }
}

#[test]
#[ignore = "it is what tests run as a process of an engine"]
fn is_an_engine() {
    let Ok(url) = std::env::var(URL) else { return };
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(2).enable_all().build().unwrap().block_on(serve(&url));
}

async fn serve(url: &str) {
    let folder = tempfile::tempdir().unwrap();
    let limits = match std::env::var_os(LIMITS) {
        Some(_) => BusLimits::default(),
        None => BusLimits { in_flight: 64, ..BusLimits::default() },
    };
    let builder = HookSystem::builder(folder.path()).bus(MessageBus::with_limits(limits));
    let builder = match std::env::var_os(SETTINGS) {
        Some(settings) => builder.settings(SettingsSource::explicit(settings)),
        None => builder.handler(slow(&Seen::default(), Duration::from_millis(20))),
    };
    let system = Arc::new(builder.build().unwrap());
    let engine = NatsEngine::new(&NatsOptions::new(url)).unwrap();
    let (told, mut news) = mpsc::channel(64);
    let stop = CancellationToken::new();
    let tell = async {
        while let Some(text) = news.recv().await {
            eprintln!("{text}");
        }
    };
    let (served, ()) = tokio::join!(engine.serve(&system, &stop, &told), tell);
    served.unwrap();
}
