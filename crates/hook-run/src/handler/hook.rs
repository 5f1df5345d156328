//! Hooks that are functions of the host, and their builder.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use hook_json::opaque_debug;

use super::function::{Function, HandlerError, HandlerResult, ModuleFunction, SessionFunction};
use crate::live::{CallTarget, FailureListener};
use crate::module::ModuleHandler;
use hook_protocol::event::input::HookInput;
use hook_protocol::event::{Event, HookEventName, TypedAnswer, TypedInput};
use hook_settings::language::ForeignHook;
use hook_settings::matcher::{Matcher, MatcherProblem};
use hook_settings::{DEFAULT_PRIORITY, FailBehavior, HookSource, MatcherDefinition};

/// The result of a typed handler, beside its answer. An error counts as the hook's failure.
pub type TypedResult = Result<(), HandlerError>;

fn typed<E: Event>(
    function: impl Fn(&TypedInput<E>, &mut TypedAnswer<E>) -> TypedResult + Send + Sync + 'static,
) -> impl Fn(&HookInput) -> HandlerResult + Send + Sync + 'static {
    move |input| {
        let typed = TypedInput::of(input).ok_or_else(|| wrong_event_error::<E>(input))?;
        let mut answer = TypedAnswer::default();
        function(&typed, &mut answer)?;
        Ok(answer.into_output())
    }
}

/// Returns the error for another event's payload, which no entry point lets through.
fn wrong_event_error<E: Event>(input: &HookInput) -> HandlerError {
    format!("expected the payload of {}, found that of {}", E::NAME, input.event()).into()
}

/// A hook that is a function of the host.
///
/// ```
/// use hook_run::HandlerHook;
/// use hook_protocol::{HookEventName, HookOutput};
///
/// let guard = HandlerHook::inline(HookEventName::BeforeTool, "no-shell", |_input| {
///     Ok(Some(HookOutput::deny("no shell today")))
/// })
/// .matcher("run_shell_command");
/// # let _ = guard;
/// ```
#[derive(Clone)]
pub struct HandlerHook {
    /// The event.
    pub event: HookEventName,
    /// The name.
    pub name: String,
    pub(crate) matcher: Option<Arc<MatcherDefinition>>,
    /// The priority; higher runs first.
    pub priority: i32,
    /// `true` if the hook runs after those before it.
    pub sequential: bool,
    /// `true` if the hooks of its priority run one after another.
    pub in_turn: bool,
    /// `true` if events do not wait for it.
    pub background: bool,
    /// The timeout; `None` for the default.
    pub timeout: Option<Duration>,
    /// The effect of a failure.
    pub fail_behavior: FailBehavior,
    /// `true` if the hook sets its `fail_behavior` itself.
    has_fail_behavior: bool,
    /// The source of the hook.
    pub source: HookSource,
    pub(super) function: Function,
}

impl HandlerHook {
    /// Creates a hook from a function that is called on the thread that serves the event: the
    /// fastest kind. It must not block and has no timeout. Panics are caught.
    pub fn inline(
        event: HookEventName,
        name: impl Into<String>,
        function: impl Fn(&HookInput) -> HandlerResult + Send + Sync + 'static,
    ) -> Self {
        Self::new(event, name, Function::Inline(Arc::new(function)))
    }

    /// Creates a hook from a future that runs on its own task until its timeout.
    pub fn asynchronous<F>(
        event: HookEventName,
        name: impl Into<String>,
        function: impl Fn(HookInput) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = HandlerResult> + Send + 'static,
    {
        let boxed = move |input| function(input).boxed();
        Self::new(event, name, Function::Async(Arc::new(boxed)))
    }

    /// Creates a hook from a function that may block. It runs on a thread of the engine until its
    /// timeout, which excludes the wait for the thread. At most
    /// [`RunnerLimits::max_blocking`](crate::RunnerLimits::max_blocking) run at once. A thread that
    /// does not return in time cannot be ended: it is abandoned and counted, but does not delay the
    /// end of the process. With too many
    /// ([`RunnerLimits::max_abandoned`](crate::RunnerLimits::max_abandoned)), further calls fail.
    ///
    /// A handler may fire events on its own thread and wait for them. Their blocking handlers need
    /// no second permit, up to a depth of 8, so that it never waits for itself.
    pub fn blocking(
        event: HookEventName,
        name: impl Into<String>,
        function: impl Fn(&HookInput) -> HandlerResult + Send + Sync + 'static,
    ) -> Self {
        Self::new(event, name, Function::Blocking(Arc::new(function)))
    }

    /// Creates a typed [`inline`](Self::inline) hook.
    ///
    /// ```
    /// use hook_run::HandlerHook;
    /// use hook_protocol::events::BeforeTool;
    ///
    /// let guard = HandlerHook::on::<BeforeTool>("no-secrets", |input, answer| {
    ///     if input.tool_input.as_str().contains(".env") {
    ///         answer.deny("secrets stay where they are");
    ///     }
    ///     Ok(())
    /// });
    /// # let _ = guard;
    /// ```
    pub fn on<E: Event>(
        name: impl Into<String>,
        function: impl Fn(&TypedInput<E>, &mut TypedAnswer<E>) -> TypedResult + Send + Sync + 'static,
    ) -> Self {
        Self::inline(E::NAME, name, typed(function))
    }

    /// Creates a typed [`blocking`](Self::blocking) hook.
    pub fn on_blocking<E: Event>(
        name: impl Into<String>,
        function: impl Fn(&TypedInput<E>, &mut TypedAnswer<E>) -> TypedResult + Send + Sync + 'static,
    ) -> Self {
        Self::blocking(E::NAME, name, typed(function))
    }

    /// Creates a typed [`asynchronous`](Self::asynchronous) hook, whose future returns the answer.
    pub fn on_async<E: Event, F>(
        name: impl Into<String>,
        function: impl Fn(TypedInput<E>, TypedAnswer<E>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<TypedAnswer<E>, HandlerError>> + Send + 'static,
    {
        Self::asynchronous(E::NAME, name, move |input| {
            let answer =
                TypedInput::of(&input).map(|input| function(input, TypedAnswer::default()));
            async move {
                let answer = answer.ok_or_else(|| wrong_event_error::<E>(&input))?;
                Ok(answer.await?.into_output())
            }
        })
    }

    /// Creates a hook of a client or worker, called in a session under this id. A foreign hook uses
    /// the input and answer formats of its agent.
    pub fn called(
        event: HookEventName,
        name: impl Into<String>,
        id: &str,
        target: CallTarget,
        foreign: Option<Arc<ForeignHook>>,
    ) -> Self {
        let called =
            Function::Session(SessionFunction { target, id: id.into(), foreign, on_failure: None });
        Self { source: HookSource::Client, ..Self::new(event, name, called) }
    }

    /// Adds a listener for failed calls that result in no answer.
    #[must_use]
    pub fn on_failure(mut self, listener: FailureListener) -> Self {
        if let Function::Session(called) = &mut self.function {
            called.on_failure = Some(listener);
        }
        self
    }

    /// Creates a handler of a module, in a foreign format. It runs [in turn](Self::in_turn).
    pub fn of_module(
        event: HookEventName,
        name: impl Into<String>,
        handler: ModuleHandler,
        foreign: Arc<ForeignHook>,
    ) -> Self {
        Self::new(event, name, Function::Module(ModuleFunction { handler, foreign })).in_turn()
    }

    fn new(event: HookEventName, name: impl Into<String>, function: Function) -> Self {
        Self {
            event,
            name: name.into(),
            matcher: None,
            priority: DEFAULT_PRIORITY,
            sequential: false,
            in_turn: false,
            background: false,
            timeout: None,
            fail_behavior: FailBehavior::Continue,
            has_fail_behavior: false,
            source: HookSource::InProcess,
            function,
        }
    }

    /// Sets the tools, triggers or inputs that the hook is for; everything by default. Takes a
    /// text, or the fields of the object form:
    ///
    /// ```
    /// use hook_run::HandlerHook;
    /// use hook_protocol::{HookEventName, HookOutput};
    /// use hook_settings::MatcherFields;
    ///
    /// let guard = HandlerHook::inline(HookEventName::BeforeTool, "secrets", |_input| {
    ///     Ok(Some(HookOutput::deny("not that file")))
    /// })
    /// .matcher(MatcherFields::new().tool("write_file").path("*.env"));
    /// # let _ = guard;
    /// ```
    #[must_use]
    pub fn matcher(mut self, matcher: impl Into<MatcherDefinition>) -> Self {
        self.matcher = Some(Arc::new(matcher.into()));
        self
    }

    /// Sets the priority: lower ones run earlier, equal ones together; 100 by default.
    #[must_use]
    pub fn priority(mut self, priority: i32) -> Self {
        self.priority = priority;
        self
    }

    /// Sets whether the hooks of this priority run one after the other.
    #[must_use]
    pub fn sequential(mut self, sequential: bool) -> Self {
        self.sequential = sequential;
        self
    }

    /// Makes the hook run after the other hooks of its priority and one by one with hooks like it,
    /// as modules' do. If one of them ends the event, the rest are skipped.
    #[must_use]
    pub fn in_turn(mut self) -> Self {
        self.in_turn = true;
        self
    }

    /// Sets whether events go on without waiting for the hook. Its answer is then ignored, and at
    /// most eight of its runs go on at once. Guards are always waited for.
    #[must_use]
    pub fn background(mut self, background: bool) -> Self {
        self.background = background;
        self
    }

    /// Sets the timeout; [`RunnerLimits::timeout`](crate::RunnerLimits) by default, none if inline.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets the effect of a failure; [`FailBehavior::Continue`] by default.
    #[must_use]
    pub fn fail_behavior(mut self, fail_behavior: FailBehavior) -> Self {
        self.fail_behavior = fail_behavior;
        self.has_fail_behavior = true;
        self
    }

    /// Returns the event that the hook listens to.
    pub fn event(&self) -> HookEventName {
        self.event
    }

    /// Returns the problems of the hook's matcher; see [`Matcher::compile`].
    pub fn matcher_problems(&self) -> Vec<MatcherProblem> {
        self.compiled_matcher().1
    }

    /// Returns the compiled matcher, and its problems.
    pub fn compiled_matcher(&self) -> (Matcher, Vec<MatcherProblem>) {
        let foreign = match &self.function {
            Function::Session(called) => called.foreign.as_ref(),
            _ => None,
        };
        Matcher::of(self.matcher.clone(), foreign, self.event.row().matching, self.fail_behavior)
    }

    /// Returns `true` if the hook sets its timeout itself.
    pub fn has_timeout(&self) -> bool {
        self.timeout.is_some()
    }

    /// Returns `true` if the hook sets its `fail_behavior` itself.
    pub fn has_fail_behavior(&self) -> bool {
        self.has_fail_behavior
    }

    /// Returns the hook's display name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns `true` if the hook's failure denies this event.
    pub fn is_guard_of(&self, event: HookEventName) -> bool {
        self.event == event && self.fail_behavior == FailBehavior::Block
    }
}

opaque_debug!(HandlerHook { event, name, matcher });
