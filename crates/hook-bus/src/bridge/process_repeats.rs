//! Calls that an agent makes twice, each answered by a process of its own: the first one leaves its answer in a file of
//! the state. Whatever goes wrong there, the hooks run twice.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};
use std::{fs, io};

use hook_files::file_lock::FileLock;
use hook_files::regular_file;
use hook_json::{ObjectWriter, RawJson, RawObject};

use super::Bridge;
use super::answer::BridgeAnswer;
use super::repeats::{LIFETIME, name_of};
use crate::private_file;
use crate::system::HookSystem;

/// The interval between looks at a call of another process.
const INTERVAL: Duration = Duration::from_millis(3);

/// The maximum size of an answer that others get, in bytes.
const MAX_ANSWER: u64 = 4 << 20;

/// A call among those of other processes.
#[derive(Debug)]
pub enum ProcessTurn {
    /// It is answered by itself, and others may get its answer.
    First(FirstProcess),
    /// It has the answer to another one.
    Repeat(BridgeAnswer),
}

/// A call whose answer other processes may get. It holds the lock of its file; a process that ends without an answer
/// leaves the others to themselves.
#[derive(Debug)]
pub struct FirstProcess {
    _lock: FileLock,
    path: PathBuf,
    digest: String,
}

impl Bridge {
    /// Returns the turn of a call of a tool among those of other processes, as a server does among those of its clients.
    /// Waits for the answer to the same call at most `limit`. `None` for a call that is answered by itself: it may be
    /// one of several, or the files may not work.
    pub async fn turn(
        &self,
        system: &HookSystem,
        input: &str,
        limit: Duration,
    ) -> Option<ProcessTurn> {
        let state = system.bridge_state()?;
        let name = name_of(self, input, system.settings_hash()?)?;
        // Another version may answer otherwise.
        let name = [env!("CARGO_PKG_VERSION"), system.project().to_str()?, &name].join("\n");
        let digest = hook_trust::sha256(name.as_bytes());
        turn_in(&state.repeats(), &digest, limit).await
    }
}

async fn turn_in(folder: &Path, digest: &str, limit: Duration) -> Option<ProcessTurn> {
    // Few files for all calls: of those that share one, only one is in it.
    let path = folder.join(digest.get(..2)?);
    let (started, started_at) = (Instant::now(), SystemTime::now());
    let mut has_waited = false;
    // No lock of a file can be awaited: it is looked at again.
    let lock = loop {
        if let Some(lock) = FileLock::try_acquire(&path.with_extension("lock")).ok()? {
            break lock;
        }
        if read(&path, digest).is_none() || started.elapsed() >= limit {
            return None;
        }
        if !std::mem::replace(&mut has_waited, true) {
            tracing::debug!(target: "hook::bridge", "another process answers the same call: it is waited for");
        }
        tokio::time::sleep(INTERVAL).await;
    };
    let modified = fs::symlink_metadata(&path).and_then(|metadata| metadata.modified());
    let modified = modified.unwrap_or(SystemTime::UNIX_EPOCH);
    let age = SystemTime::now().duration_since(modified).ok();
    // One that was waited for is as old as its hooks were slow.
    let is_new = has_waited && modified >= started_at || age.is_some_and(|age| age < LIFETIME);
    if is_new && let Some(Some(answer)) = read(&path, digest) {
        return Some(ProcessTurn::Repeat(answer));
    }
    let first = FirstProcess { _lock: lock, path, digest: digest.to_owned() };
    first.write(None).ok()?;
    Some(ProcessTurn::First(first))
}

/// Reads a file: whether it is about this call, and the answer, if that is given.
fn read(path: &Path, digest: &str) -> Option<Option<BridgeAnswer>> {
    let text = regular_file::read_to_string(path, MAX_ANSWER).ok()?;
    let fields = RawObject::parse(text).ok()?.fields();
    let known = fields.get("call").and_then(RawJson::to_text)?;
    (known == digest).then(|| BridgeAnswer::read(&fields))
}

impl FirstProcess {
    /// Gives the answer to the call and to those that are the same.
    pub fn answer(self, answer: &BridgeAnswer) {
        if let Err(error) = self.write(Some(answer)) {
            tracing::debug!(target: "hook::bridge", "an answer was not left to others: {error}");
        }
    }

    fn write(&self, answer: Option<&BridgeAnswer>) -> io::Result<()> {
        let line = ObjectWriter::line(|out| {
            out.text("call", &self.digest);
            if let Some(answer) = answer {
                answer.write(out);
            }
        });
        private_file::write(&self.path, &line)
    }
}

#[cfg(test)]
mod tests {
    use hook_agents::AgentResponse;

    use super::*;

    const CALL: &str = "aa0";

    fn answer() -> BridgeAnswer {
        let output = AgentResponse { stdout: "{}".to_owned(), code: 2, ..AgentResponse::default() };
        BridgeAnswer { output, warnings: vec!["a".to_owned()] }
    }

    async fn first(folder: &Path) -> FirstProcess {
        match turn_in(folder, CALL, Duration::ZERO).await {
            Some(ProcessTurn::First(first)) => first,
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test]
    async fn a_call_that_is_made_twice_has_one_answer_for_a_while() {
        let folder = tempfile::tempdir().unwrap();
        let begun = first(folder.path()).await;
        let waiting = turn_in(folder.path(), CALL, Duration::from_secs(60));
        let (repeat, ()) = tokio::join!(waiting, async { begun.answer(&answer()) });
        assert!(matches!(repeat, Some(ProcessTurn::Repeat(given)) if given == answer()));
        // Later it is another call.
        let path = folder.path().join("aa");
        let file = fs::File::options().append(true).open(&path).unwrap();
        for at in [SystemTime::now() - LIFETIME, SystemTime::now() + Duration::from_secs(60)] {
            file.set_modified(at).unwrap();
            first(folder.path()).await.answer(&answer());
            let file = fs::File::options().append(true).open(&path).unwrap();
            file.set_modified(at).unwrap();
        }
    }

    #[tokio::test]
    async fn what_is_not_the_same_or_not_answered_is_answered_by_itself() {
        let folder = tempfile::tempdir().unwrap();
        let begun = first(folder.path()).await;
        let other = turn_in(folder.path(), "aa1", Duration::from_secs(60)).await;
        assert!(other.is_none(), "{other:?}");
        let limited = turn_in(folder.path(), CALL, Duration::ZERO).await;
        assert!(limited.is_none(), "{limited:?}");
        drop(begun);
        drop(first(folder.path()).await);
        for text in ["", "{", "[]", r#"{"call":"aa0","exitCode":0}"#] {
            fs::write(folder.path().join("aa"), text).unwrap();
            drop(first(folder.path()).await);
        }
        fs::remove_dir_all(folder.path()).unwrap();
        fs::write(folder.path(), "").unwrap();
        assert!(turn_in(folder.path(), CALL, Duration::ZERO).await.is_none());
    }
}
