//! Polling for the rest of terminated groups. It runs on a thread of the engine, because it scans
//! all processes of the system, which would block a task. One scan is for all groups, and scans
//! stop when no group is left.

use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use crate::threads::Threads;

/// The first and the longest interval between scans for a group.
const SCAN_INTERVALS: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(100));

/// The minimum pause after a scan, as a multiple of its duration, so that scans of very many
/// processes use only a small part of one core.
const PAUSE_PER_SCAN: u32 = 10;

/// Reports the end of groups; one per runner.
#[derive(Debug, Clone)]
pub(crate) struct Sweeper {
    threads: Arc<Threads>,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    /// The groups with a waiter, by the id of the leader, which has not been reaped.
    groups: HashMap<i32, WatchedGroup>,
    /// `true` while a thread scans.
    is_scanning: bool,
}

#[derive(Debug)]
struct WatchedGroup {
    /// Notified when the group is gone; dropped if that cannot be found out.
    notifier: oneshot::Sender<()>,
    /// The time of the next scan, and the interval after it.
    due: Instant,
    pause: Duration,
}

impl Sweeper {
    pub(crate) fn new(threads: Arc<Threads>) -> Self {
        Self { threads, state: Arc::default() }
    }

    /// Waits until no process of the group runs. Never ready where that cannot be found out, so
    /// that the group gets its whole grace period.
    ///
    /// # Cancellation
    /// Dropping the future ends the scans for the group.
    pub(super) async fn gone(&self, group: i32) {
        if self.watch(group).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Starts scans for a group. The sender is dropped if there is no way to scan.
    fn watch(&self, group: i32) -> oneshot::Receiver<()> {
        let (notifier, gone) = oneshot::channel();
        let start = {
            let mut state = lock(&self.state);
            let (pause, _) = SCAN_INTERVALS;
            state.groups.insert(group, WatchedGroup { notifier, due: Instant::now(), pause });
            !std::mem::replace(&mut state.is_scanning, true)
        };
        if start {
            let state = Arc::clone(&self.state);
            if self.threads.run(move |_| scan_until_empty(&state)).is_err() {
                // Without a thread there are no scans.
                let mut state = lock(&self.state);
                state.is_scanning = false;
                state.groups.clear();
            }
        }
        gone
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn scan_until_empty(state: &Mutex<State>) {
    let mut pause = Duration::ZERO;
    loop {
        let next = {
            let mut state = lock(state);
            state.groups.retain(|_, watched| !watched.notifier.is_closed());
            let Some(next) = state.groups.values().map(|watched| watched.due).min() else {
                state.is_scanning = false;
                return;
            };
            next
        };
        // A group that is added now is included in the next scan.
        sleep(next.saturating_duration_since(Instant::now()).max(pause).max(SCAN_INTERVALS.0));
        let started = Instant::now();
        let alive = groups_alive();
        pause = started.elapsed() * PAUSE_PER_SCAN;
        notify_gone(&mut lock(state), alive, started);
    }
}

/// Notifies the waiters of groups that are gone. Groups added after the scan began are skipped.
fn notify_gone(state: &mut State, alive: io::Result<HashSet<i32>>, started: Instant) {
    let is_alive = |group: &i32| alive.as_ref().map_or(true, |alive| alive.contains(group));
    let gone = |group: &i32, watched: &mut WatchedGroup| watched.due <= started && !is_alive(group);
    for (_, watched) in state.groups.extract_if(gone) {
        // The waiter may have gone away.
        let _ = watched.notifier.send(());
    }
    for watched in state.groups.values_mut().filter(|dying| dying.due <= started) {
        watched.due = Instant::now() + watched.pause;
        watched.pause = (watched.pause * 2).min(SCAN_INTERVALS.1);
    }
}

/// Returns the groups with a process that has not ended.
///
/// # Errors
/// Returns an error if a process could not be read: any group may be alive then.
#[cfg(target_os = "linux")]
fn groups_alive() -> io::Result<HashSet<i32>> {
    use std::io::Read;
    use std::path::PathBuf;

    let mut alive = HashSet::new();
    let mut stat = Vec::new();
    for process in std::fs::read_dir("/proc")? {
        let name = process?.file_name();
        if !name.as_encoded_bytes().iter().all(u8::is_ascii_digit) {
            continue;
        }
        let path = PathBuf::from_iter(["/proc".as_ref(), name.as_os_str(), "stat".as_ref()]);
        stat.clear();
        match std::fs::File::open(path).and_then(|mut file| file.read_to_end(&mut stat)) {
            Ok(_) => alive.extend(running_in_group(&stat)),
            // It has ended.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error()) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(alive)
}

/// Returns an error: other systems have no cheap way to find out.
#[cfg(not(target_os = "linux"))]
fn groups_alive() -> io::Result<HashSet<i32>> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Returns the group in a process's `stat` file, unless the process has ended.
#[cfg(target_os = "linux")]
fn running_in_group(stat: &[u8]) -> Option<i32> {
    // The fields follow the name, which is in parentheses and may contain any character.
    let name_ends = stat.iter().rposition(|byte| *byte == b')')?;
    let fields = std::str::from_utf8(stat.get(name_ends + 1..)?).ok()?;
    let mut fields = fields.split_ascii_whitespace();
    let ended = matches!(fields.next()?, "Z" | "X");
    let group = fields.nth(1)?.parse().ok()?;
    (!ended).then_some(group)
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command};

    use futures::FutureExt;

    use super::*;

    fn sleeping(group: i32) -> Child {
        Command::new("sleep").arg("1000").process_group(group).spawn().unwrap()
    }

    fn id(child: &Child) -> i32 {
        i32::try_from(child.id()).unwrap()
    }

    #[tokio::test]
    async fn a_group_is_gone_when_its_last_process_is_and_others_are_not() {
        let sweeper = Sweeper::new(Arc::new(Threads::new(1)));
        let (mut leader, mut other) = (sleeping(0), sleeping(0));
        let mut member = sleeping(id(&leader));
        let mut gone = Box::pin(sweeper.gone(id(&leader)));
        let mut other_gone = Box::pin(sweeper.gone(id(&other)));
        assert!((&mut gone).now_or_never().is_none());
        // It is not reaped, so its id is not reused.
        leader.kill().unwrap();
        let looked = |group: i32| {
            let state = lock(&sweeper.state);
            state.groups.get(&group).map(|dying| dying.pause)
        };
        while looked(id(&leader)).is_some_and(|pause| pause < SCAN_INTERVALS.1) {
            tokio::task::yield_now().await;
        }
        assert!((&mut gone).now_or_never().is_none(), "a member is left");
        member.kill().unwrap();
        gone.await;
        assert!((&mut other_gone).now_or_never().is_none());
        drop(other_gone);
        while lock(&sweeper.state).is_scanning {
            tokio::task::yield_now().await;
        }
        assert!(lock(&sweeper.state).groups.is_empty(), "without waiters nothing is looked at");
        other.kill().unwrap();
        for mut child in [leader, member, other] {
            child.wait().unwrap();
        }
    }

    #[test]
    fn a_process_is_told_by_what_follows_its_name() {
        let group = |stat: &str| running_in_group(stat.as_bytes());
        assert_eq!(group("7 (sleep) S 1 42 42 0"), Some(42));
        assert_eq!(group("7 (a) Z 1 9 (b) S 1 42 42 0"), Some(42));
        assert_eq!(group("7 (sleep) Z 1 42 42 0"), None);
        assert_eq!(running_in_group(b"7 (\xff) R 1 42"), Some(42));
        assert_eq!((group(""), group("7 (sleep"), group("7 (sleep) S")), (None, None, None));
    }
}
