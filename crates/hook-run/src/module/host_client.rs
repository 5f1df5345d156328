//! Requests of a module to its host: for a call of one of its handlers or commands, or between
//! calls.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::live::{HostCall, HostCallError, HostServices, Programs, is_question, with_ui_fallback};
use hook_json::text::shortened;
use hook_json::{JsonObject, RawJson, RawObject};

/// The maximum number of reported host failures per call.
const MAX_FAILURES: usize = 16;

tokio::task_local! {
    /// The client of the call in progress on this task.
    pub(super) static CALL: HostClient;
}

/// A client for requests to the host.
#[derive(Debug, Clone)]
pub(super) struct HostClient(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    host: Option<Arc<dyn HostServices>>,
    programs: Option<Arc<Programs>>,
    hook: Arc<str>,
    correlation: Option<Arc<str>>,
    run_token: String,
    depth: u32,
    /// Cancelled when the call has ended.
    ended: CancellationToken,
    /// The number of open questions to the user.
    questions: watch::Sender<usize>,
    /// The failures of the host that the handler does not see.
    failures: Mutex<Vec<String>>,
}

/// The call that host requests are made for.
pub(super) struct CallContext {
    pub(super) host: Option<Arc<dyn HostServices>>,
    pub(super) programs: Option<Arc<Programs>>,
    pub(super) hook: Arc<str>,
    pub(super) correlation: Option<Arc<str>>,
    /// The token in requests that the host makes for the call.
    pub(super) run_token: String,
    pub(super) depth: u32,
}

impl HostClient {
    pub(super) fn new(context: CallContext) -> Self {
        let CallContext { host, programs, hook, correlation, run_token, depth } = context;
        let (questions, _) = watch::channel(0);
        let failures = Mutex::default();
        Self(Arc::new(Inner {
            host,
            programs,
            hook,
            correlation,
            run_token,
            depth,
            ended: CancellationToken::new(),
            questions,
            failures,
        }))
    }

    /// Returns a guard that ends all requests when dropped.
    pub(super) fn end_on_drop(&self) -> DropGuard {
        self.0.ended.clone().drop_guard()
    }

    /// Returns the number of open questions, and its future changes.
    pub(super) fn questions(&self) -> watch::Receiver<usize> {
        self.0.questions.subscribe()
    }

    pub(super) fn host(&self) -> Option<&Arc<dyn HostServices>> {
        self.0.host.as_ref()
    }

    pub(super) async fn request(
        &self,
        method: &str,
        params: JsonObject,
    ) -> Result<RawJson, HostCallError> {
        let Some(host) = &self.0.host else {
            return with_ui_fallback(method, Err(HostCallError::unsupported(method)));
        };
        let _open = is_question(method).then(|| OpenQuestion::new(&self.0.questions));
        let call = HostCall {
            method: method.to_owned(),
            params: params.to_raw().into(),
            hook: Arc::clone(&self.0.hook),
            correlation: self.0.correlation.clone(),
            run_token: self.0.run_token.clone(),
        };
        let result = self.0.ended.run_until_cancelled(async { host.call(call).await }).await;
        let ended_error = || Err(HostCallError::failed("the handler that asks has ended"));
        with_ui_fallback(method, result.unwrap_or_else(ended_error))
    }

    /// Makes a request. If it fails, returns the default and keeps the failure for a warning.
    pub(super) async fn request_or(
        &self,
        method: &str,
        params: JsonObject,
        default: RawJson,
    ) -> RawJson {
        match self.request(method, params).await {
            Ok(result) => result,
            Err(HostCallError::Unsupported { .. }) => default,
            Err(error) => {
                let message = shortened(&error.to_string());
                let mut failures = self.failures();
                if failures.len() < MAX_FAILURES {
                    failures.push(format!("`{method}` failed: {message}"));
                }
                default
            }
        }
    }

    /// Returns the failures since the last call of this method.
    pub(super) fn take_failures(&self) -> Vec<String> {
        std::mem::take(&mut *self.failures())
    }

    fn failures(&self) -> MutexGuard<'_, Vec<String>> {
        self.0.failures.lock().unwrap_or_else(PoisonError::into_inner)
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

/// The options of a program that a module runs.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ExecOptions {
    /// The working directory; the project's by default.
    pub cwd: Option<PathBuf>,
    /// Additional environment variables.
    pub env: Vec<(String, String)>,
    /// The timeout; 60 s by default.
    pub timeout: Option<Duration>,
}

impl ExecOptions {
    /// Creates the default options: the project's directory and 60 s.
    pub fn new() -> Self {
        Self::default()
    }
}

/// The result of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExecResult {
    /// The standard output.
    pub stdout: String,
    /// The standard error.
    pub stderr: String,
    /// The exit code; 128 plus the number of the signal that ended the program.
    pub code: i64,
    /// `true` if the program was ended by its timeout.
    pub killed: bool,
}

/// A module's handle to its host, for use in handlers and commands, and between calls.
#[derive(Debug, Clone)]
pub struct ModuleHandle(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    path: Arc<str>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The host services; the outer `Option` is `None` until there is a host.
    ready: Option<Option<Arc<dyn HostServices>>>,
    programs: Weak<Programs>,
}

impl ModuleHandle {
    /// Creates the handle of a module of that name, which has no host yet.
    pub fn new(path: impl Into<Arc<str>>) -> Self {
        Self(Arc::new(Shared { path: path.into(), state: Mutex::default() }))
    }

    /// Returns the module's path, or its name if it is part of the host.
    pub fn path(&self) -> &Arc<str> {
        &self.0.path
    }

    /// Connects the module to a host, with its services between calls.
    pub fn ready(&self, host: Option<Arc<dyn HostServices>>) {
        self.state().ready = Some(host);
    }

    pub(super) fn set_programs(&self, programs: &Arc<Programs>) {
        self.state().programs = Arc::downgrade(programs);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the client of the call in progress on this task, or else one for the module itself.
    pub(super) fn client(&self) -> Result<HostClient, HostCallError> {
        if let Ok(client) = CALL.try_with(HostClient::clone) {
            return Ok(client);
        }
        let state = self.state();
        let host = state.ready.clone().ok_or_else(|| {
            let message = "the host is not ready: a module may ask for this in handlers and commands, \
                           and not while it registers them";
            HostCallError::failed(message)
        })?;
        Ok(HostClient::new(CallContext {
            host,
            programs: state.programs.upgrade(),
            hook: Arc::clone(self.path()),
            correlation: None,
            run_token: String::new(),
            depth: 0,
        }))
    }

    /// Sends a message of the module to the session (`session.sendMessage`). `message` has
    /// `customType`, `content`, `display` and optional `details`; `options` may have `triggerTurn`
    /// and `deliverAs`.
    ///
    /// # Errors
    /// Returns an error if the host is not ready, does not offer the method, or fails.
    pub async fn send_message(
        &self,
        message: RawObject,
        options: JsonObject,
    ) -> Result<(), HostCallError> {
        let mut params = options;
        params.insert("message", message);
        self.client()?.request("session.sendMessage", params).await.map(drop)
    }

    /// Appends an entry to the session that the model does not see (`session.appendEntry`).
    ///
    /// # Errors
    /// Fails like [`send_message`](Self::send_message).
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
        self.client()?.request("session.appendEntry", params).await.map(drop)
    }

    /// Runs a program to its end, under a timeout like a hook. All its child processes end with it.
    ///
    /// # Errors
    /// Fails if the engine is not ready or the program cannot start. Its own failure is no error.
    ///
    /// # Cancellation
    /// Dropping the future ends the program.
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
            params.insert("timeout", RawJson::from_u64(milliseconds));
        }
        let mut variables = JsonObject::new();
        for (name, value) in env {
            variables.insert(name, RawJson::from_text(&value));
        }
        params.insert("env", variables.to_raw());
        let result = self.client()?.exec(params.to_raw().into()).await?;
        let fields = result.to_object().unwrap_or_default();
        let text = |name: &str| fields.get(name).and_then(RawJson::to_text).unwrap_or_default();
        Ok(ExecResult {
            stdout: text("stdout"),
            stderr: text("stderr"),
            code: fields.get("code").and_then(RawJson::to_i64).unwrap_or(1),
            killed: fields.get("killed").and_then(RawJson::to_bool) == Some(true),
        })
    }
}
