//! What a module asks of its host: for a call of one of its handlers or commands, or between calls.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::json::{JsonObject, RawJson, RawObject};
use crate::run::live::{HostCall, HostCallError, HostServices, Programs, is_question, settled};
use crate::text::shortened;

/// How many failures of a host are kept for one call.
const MAX_LOST: usize = 16;

tokio::task_local! {
    /// The call that is under way on this task.
    pub(super) static CALL: Asker;
}

/// Asks the host.
#[derive(Debug, Clone)]
pub(super) struct Asker(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    host: Option<Arc<dyn HostServices>>,
    programs: Option<Arc<Programs>>,
    hook: Arc<str>,
    correlation: Option<Arc<str>>,
    run_token: String,
    depth: u32,
    /// Cancelled when what it asks for is over.
    over: CancellationToken,
    /// How many questions to the user are open.
    questions: watch::Sender<usize>,
    /// What the host failed to do where a handler cannot be told.
    lost: Mutex<Vec<String>>,
}

/// For whom the host is asked.
pub(super) struct AskedFor {
    pub(super) host: Option<Arc<dyn HostServices>>,
    pub(super) programs: Option<Arc<Programs>>,
    pub(super) hook: Arc<str>,
    pub(super) correlation: Option<Arc<str>>,
    /// What requests carry that are made for this call.
    pub(super) run_token: String,
    pub(super) depth: u32,
}

impl Asker {
    pub(super) fn new(asked: AskedFor) -> Self {
        let AskedFor { host, programs, hook, correlation, run_token, depth } = asked;
        let (questions, _) = watch::channel(0);
        let lost = Mutex::default();
        Self(Arc::new(Inner {
            host,
            programs,
            hook,
            correlation,
            run_token,
            depth,
            over: CancellationToken::new(),
            questions,
            lost,
        }))
    }

    /// Nothing is asked any more once this is dropped.
    pub(super) fn until_dropped(&self) -> DropGuard {
        self.0.over.clone().drop_guard()
    }

    /// How many questions are open, from now on.
    pub(super) fn questions(&self) -> watch::Receiver<usize> {
        self.0.questions.subscribe()
    }

    pub(super) fn host(&self) -> Option<&Arc<dyn HostServices>> {
        self.0.host.as_ref()
    }

    pub(super) async fn ask(
        &self,
        method: &str,
        params: JsonObject,
    ) -> Result<RawJson, HostCallError> {
        let Some(host) = &self.0.host else {
            return settled(method, Err(HostCallError::unsupported(method)));
        };
        let _open = is_question(method).then(|| OpenQuestion::new(&self.0.questions));
        let call = HostCall {
            method: method.to_owned(),
            params: params.to_raw().into(),
            hook: Arc::clone(&self.0.hook),
            correlation: self.0.correlation.clone(),
            run_token: self.0.run_token.clone(),
        };
        let result = self.0.over.run_until_cancelled(async { host.call(call).await }).await;
        let over = || Err(HostCallError::failed("the handler that asks has ended"));
        settled(method, result.unwrap_or_else(over))
    }

    /// The same where a failure is no result: it is said beside the answer.
    pub(super) async fn ask_or(&self, method: &str, params: JsonObject, none: RawJson) -> RawJson {
        match self.ask(method, params).await {
            Ok(result) => result,
            Err(HostCallError::Unsupported { .. }) => none,
            Err(error) => {
                let said = shortened(&error.to_string());
                let mut lost = self.lost();
                if lost.len() < MAX_LOST {
                    lost.push(format!("`{method}` failed: {said}"));
                }
                none
            }
        }
    }

    /// What the host failed to do since the last look.
    pub(super) fn take_lost(&self) -> Vec<String> {
        std::mem::take(&mut *self.lost())
    }

    fn lost(&self) -> MutexGuard<'_, Vec<String>> {
        self.0.lost.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn exec(&self, params: RawJson) -> Result<RawJson, HostCallError> {
        match &self.0.programs {
            Some(programs) => Arc::clone(programs).run(params, self.0.depth).await,
            None => Err(HostCallError::unsupported("exec")),
        }
    }
}

/// A question that is open until this is dropped.
struct OpenQuestion(watch::Sender<usize>);

impl OpenQuestion {
    fn new(questions: &watch::Sender<usize>) -> Self {
        questions.send_modify(|open| *open += 1);
        Self(questions.clone())
    }
}

impl Drop for OpenQuestion {
    fn drop(&mut self) {
        self.0.send_modify(|open| *open = open.saturating_sub(1));
    }
}

/// A program that a module runs.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ExecOptions {
    /// Where it runs; in the project's directory by default.
    pub cwd: Option<PathBuf>,
    /// Variables beside those that every hook has.
    pub env: Vec<(String, String)>,
    /// How long it may run; 60 s by default.
    pub timeout: Option<Duration>,
}

impl ExecOptions {
    /// In the project's directory, for 60 s at most.
    pub fn new() -> Self {
        Self::default()
    }
}

/// What came of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExecResult {
    /// What it printed.
    pub stdout: String,
    /// What it printed on standard error.
    pub stderr: String,
    /// Its exit code; 128 and the signal's number where one ended it.
    pub code: i64,
    /// Whether it was ended because it took too long.
    pub killed: bool,
}

/// What a module keeps to speak to its host, in handlers and commands and between them.
#[derive(Debug, Clone)]
pub struct ModuleHandle(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    path: Arc<str>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Whether there is a host, with what it offers.
    ready: Option<Option<Arc<dyn HostServices>>>,
    programs: Weak<Programs>,
}

impl ModuleHandle {
    /// That of a module of that name, which has no host yet.
    pub fn new(path: impl Into<Arc<str>>) -> Self {
        Self(Arc::new(Shared { path: path.into(), state: Mutex::default() }))
    }

    /// The module's file, or its name where it is part of the host.
    pub fn path(&self) -> &Arc<str> {
        &self.0.path
    }

    /// From now on there is a host, with what it offers between calls.
    #[doc(hidden)]
    pub fn ready(&self, host: Option<Arc<dyn HostServices>>) {
        self.state().ready = Some(host);
    }

    pub(super) fn runs_programs_by(&self, programs: &Arc<Programs>) {
        self.state().programs = Arc::downgrade(programs);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whom to ask now: on behalf of the call that is under way on this task, else of the module.
    pub(super) fn asker(&self) -> Result<Asker, HostCallError> {
        if let Ok(asker) = CALL.try_with(Asker::clone) {
            return Ok(asker);
        }
        let state = self.state();
        let host = state.ready.clone().ok_or_else(|| {
            let message = "the host is not ready: a module may ask for this in handlers and commands, \
                           and not while it registers them";
            HostCallError::failed(message)
        })?;
        Ok(Asker::new(AskedFor {
            host,
            programs: state.programs.upgrade(),
            hook: Arc::clone(self.path()),
            correlation: None,
            run_token: String::new(),
            depth: 0,
        }))
    }

    /// Puts a message of the module's own into the session (`session.sendMessage`): `message` has
    /// `customType`, `content`, `display` and perhaps `details`; `options` may have `triggerTurn` and
    /// `deliverAs`.
    ///
    /// # Errors
    /// When the host is not ready, does not offer it, or failed.
    pub async fn send_message(
        &self,
        message: RawObject,
        options: JsonObject,
    ) -> Result<(), HostCallError> {
        let mut params = options;
        params.insert("message", message);
        self.asker()?.ask("session.sendMessage", params).await.map(drop)
    }

    /// Keeps something in the session that the model does not see (`session.appendEntry`).
    ///
    /// # Errors
    /// As [`send_message`](Self::send_message).
    pub async fn append_entry(
        &self,
        custom_type: &str,
        data: Option<RawJson>,
    ) -> Result<(), HostCallError> {
        let mut params = JsonObject::new();
        params.insert("customType", RawJson::from_text(custom_type));
        if let Some(data) = data {
            params.insert("data", data);
        }
        self.asker()?.ask("session.appendEntry", params).await.map(drop)
    }

    /// Runs a program to its end, as the engine runs hooks: with a time limit, and all that it starts ends
    /// with it.
    ///
    /// # Errors
    /// When it cannot be started, or before the engine is. One that fails is no error.
    ///
    /// # Cancellation
    /// Dropping the future ends it.
    pub async fn exec(
        &self,
        command: &str,
        args: &[&str],
        options: ExecOptions,
    ) -> Result<ExecResult, HostCallError> {
        let ExecOptions { cwd, env, timeout } = options;
        let mut params = JsonObject::new();
        params.insert("command", RawJson::from_text(command));
        let args: Vec<RawJson> = args.iter().map(|arg| RawJson::from_text(arg)).collect();
        params.insert("args", RawJson::from_items(&args));
        if let Some(cwd) = cwd {
            params.insert("cwd", RawJson::from_text(&cwd.to_string_lossy()));
        }
        if let Some(timeout) = timeout {
            let milliseconds = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
            params.insert("timeout", RawJson::from_integer(milliseconds));
        }
        let mut variables = JsonObject::new();
        for (name, value) in env {
            variables.insert(name, RawJson::from_text(&value));
        }
        params.insert("env", variables.to_raw());
        let done = self.asker()?.exec(params.to_raw().into()).await?;
        let fields = done.to_object().unwrap_or_default();
        let text = |name: &str| fields.get(name).and_then(RawJson::to_text).unwrap_or_default();
        Ok(ExecResult {
            stdout: text("stdout"),
            stderr: text("stderr"),
            code: fields.get("code").and_then(RawJson::to_integer).unwrap_or(1),
            killed: fields.get("killed").and_then(RawJson::to_bool) == Some(true),
        })
    }
}
