//! State that calls of agents leave for later calls: each call is its own process, and a session
//! has many.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use std::{fs, io};

use hook_files::file_lock::FileLock;
use hook_files::regular_file;
use hook_json::text::shortened;
use hook_json::{RawJson, RawObject};
use hook_run::SessionEnv;
use hook_settings::state_home;
use hook_trust::sha256;

use hook_agents::Agent;

use super::last_call;
use super::log::Call;
use crate::private_file;

/// The time that an unused session is kept: one week.
const SESSION_TTL: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// The time that an answer is kept for other processes, which is longer than they get it.
const REPEAT_TTL: Duration = Duration::from_secs(60);

/// The maximum size of a session's file, in bytes.
const MAX_FILE_SIZE: u64 = 1 << 20;

/// The maximum number of session files checked for expiry each time a session begins.
const MAX_SWEPT: usize = 4_096;

/// The maximum number of notices of a session that are known as shown.
const MAX_NOTICES: usize = 64;

/// The file that is locked to change a session, and the extension of those for calls that are made twice.
const LOCK: &str = "lock";

/// The time to wait for the lock. Each change takes a few milliseconds.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);

/// A file's modification time, length, and number in the file system.
pub(crate) type Stamp = Option<(SystemTime, u64, u64)>;

/// The directory of the state: `hook` in the user's state directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BridgeState {
    folder: PathBuf,
    is_server: bool,
    /// The project, since sessions of different projects may have the same id.
    project: PathBuf,
}

impl BridgeState {
    /// Returns the user's state directory: in `$XDG_STATE_HOME`, or else `.local/state` of the home
    /// directory. `None` without either.
    pub fn for_user() -> Option<Self> {
        Some(Self::in_folder(&state_home()?))
    }

    /// Returns the state in the state directory of another user.
    pub fn in_folder(state_home: &Path) -> Self {
        Self { folder: state_home.join("hook"), is_server: false, project: PathBuf::new() }
    }

    /// Returns the time of an agent's last call, for each of its events that it has called for.
    pub fn last_calls(&self, agent: &Agent) -> BTreeMap<String, SystemTime> {
        last_call::all(&self.folder, agent)
    }

    /// Notes that an agent calls for an event, once in a few seconds.
    pub(crate) fn note_call(&self, agent: &Agent, event: &str) {
        if let Err(error) = last_call::note(&self.folder, agent, event) {
            tracing::debug!(target: "hook::bridge", "the time of a call was not written down: {error}");
        }
    }

    /// Marks the state as a server's, for the log of calls.
    #[must_use]
    pub fn for_server(self) -> Self {
        Self { is_server: true, ..self }
    }

    pub(crate) fn for_project(self, project: &Path) -> Self {
        Self { project: project.to_path_buf(), ..self }
    }

    pub(crate) fn is_server(&self) -> bool {
        self.is_server
    }

    /// Returns the path of the log of calls.
    pub fn log(&self) -> PathBuf {
        self.folder.join("bridge.jsonl")
    }

    /// Logs a call that was answered without hooks: it was refused, or nothing was run.
    pub fn log_without_hooks(
        &self,
        agent: &Agent,
        event: Option<&str>,
        project: &Path,
        reason: &str,
        code: u8,
    ) {
        self.note_call(agent, event.unwrap_or_default());
        let call = Call {
            agent: agent.name(),
            event: event.map(shortened).unwrap_or_default(),
            session: String::new(),
            project: project.to_string_lossy().into_owned(),
            answered_by: if self.is_server { "server" } else { "bridge" },
            tool: None,
            subject: None,
            decision: if code == 0 || code == 1 { "proceed" } else { "block" },
            reason: Some(reason.to_owned()),
            milliseconds: 0,
        };
        if let Err(error) = call.append(&self.log(), code, 0) {
            tracing::warn!(target: "hook::bridge", "failed to write down a call: {error}");
        }
    }

    /// Checks whether one of these notices is new to the session's user, and marks all as shown.
    pub(crate) fn mark_new_notices(&self, session: &str, notices: &[String]) -> bool {
        let key = |notice: &String| sha256(notice.as_bytes()).chars().take(16).collect::<String>();
        let keys: Vec<String> = notices.iter().map(key).collect();
        let are_new = |known: &[String]| keys.iter().any(|key| !known.contains(key));
        let mark = |session_state: &mut SessionState| {
            let is_new = are_new(&session_state.notices);
            session_state.notices.retain(|known| !keys.contains(known));
            session_state.notices.extend(keys.iter().cloned());
            let surplus = session_state.notices.len().saturating_sub(MAX_NOTICES);
            session_state.notices.drain(..surplus);
            is_new
        };
        are_new(&self.session(session).notices) && self.change(session, mark).unwrap_or(false)
    }

    /// Returns the state of a session.
    pub(crate) fn session(&self, session: &str) -> SessionState {
        let read = regular_file::read_to_string(&self.session_file(session), MAX_FILE_SIZE);
        let fields =
            read.ok().and_then(|text| RawObject::parse(text).ok()).map(|object| object.fields());
        let fields = fields.unwrap_or_default();
        let continuations = fields.get("continuations").and_then(RawJson::to_u64);
        SessionState {
            env: fields.get("env").map(SessionEnv::from_json).unwrap_or_default(),
            continuations: continuations
                .and_then(|number| u32::try_from(number).ok())
                .unwrap_or_default(),
            notices: fields
                .get("notices")
                .and_then(RawJson::to_items)
                .map(|items| items.iter().filter_map(RawJson::to_text).collect())
                .unwrap_or_default(),
        }
    }

    /// Changes the state of a session, and removes its file if nothing is left in it. Concurrent
    /// calls take turns, so that no change is lost. It blocks, but only briefly.
    ///
    /// # Errors
    /// If the file cannot be written, or the lock is not available in time. Then nothing is
    /// changed.
    pub(crate) fn change<T>(
        &self,
        session: &str,
        change: impl FnOnce(&mut SessionState) -> T,
    ) -> io::Result<T> {
        let _lock = FileLock::acquire_within(&self.sessions().join(LOCK), LOCK_TIMEOUT)?;
        let before = self.session(session);
        let mut state = before.clone();
        let result = change(&mut state);
        let path = self.session_file(session);
        match state.is_empty() {
            true => match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            },
            false if state.to_json() == before.to_json() => {}
            false => private_file::write(&path, &state.to_json())?,
        }
        Ok(result)
    }

    /// Returns a stamp to detect changes of a session's file; `None` without a file.
    pub(crate) fn stamp(&self, session: &str) -> Stamp {
        let metadata = fs::metadata(self.session_file(session)).ok()?;
        #[cfg(unix)]
        let inode = std::os::unix::fs::MetadataExt::ino(&metadata);
        #[cfg(not(unix))]
        let inode = 0;
        Some((metadata.modified().ok()?, metadata.len(), inode))
    }

    /// Removes sessions unused for a week, and answers that no other process gets any more.
    pub(crate) fn sweep(&self) {
        let now = SystemTime::now();
        for (folder, limit) in [(self.sessions(), SESSION_TTL), (self.repeats(), REPEAT_TTL)] {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            let is_lock =
                |path: &Path| path.ends_with(LOCK) || path.extension() == Some(LOCK.as_ref());
            let paths = entries.map(|entry| entry.path()).filter(|path| !is_lock(path));
            for path in paths.take(MAX_SWEPT) {
                let modified = fs::symlink_metadata(&path).and_then(|metadata| metadata.modified());
                let age = modified.ok().and_then(|modified| now.duration_since(modified).ok());
                if age.is_some_and(|age| age > limit) {
                    let _ = fs::remove_file(path);
                }
            }
        }
    }

    /// Returns the folder of calls whose answers other processes may get.
    pub(super) fn repeats(&self) -> PathBuf {
        self.folder.join("repeats")
    }

    fn sessions(&self) -> PathBuf {
        self.folder.join("sessions")
    }

    /// Returns a session's file. Its name does not reveal the session.
    fn session_file(&self, session: &str) -> PathBuf {
        let project = self.project.as_os_str().as_encoded_bytes();
        let name = sha256(&[project, b"\0", session.as_bytes()].concat());
        self.sessions().join(format!("{}.json", name.get(..32).unwrap_or(&name)))
    }
}

/// The state of a session.
#[derive(Debug, Clone, Default)]
pub(crate) struct SessionState {
    /// The variables that its first hooks set for later ones.
    pub(crate) env: SessionEnv,
    /// The number of continuations in a row at the end of its turns.
    pub(crate) continuations: u32,
    /// The notices shown to its user, as the beginnings of their hashes.
    pub(crate) notices: Vec<String>,
}

impl SessionState {
    fn is_empty(&self) -> bool {
        self.env.is_empty() && self.continuations == 0 && self.notices.is_empty()
    }

    fn to_json(&self) -> Vec<u8> {
        hook_json::ObjectWriter::line(|out| {
            out.integer("continuations", self.continuations.into());
            if !self.notices.is_empty() {
                out.texts("notices", &self.notices);
            }
            out.raw("env", &self.env.to_json());
        })
    }
}
