//! A hook that is a function of the host, and how it is described.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;

use super::function::{Called, Function, HandlerError, HandlerResult, OfModule};
use crate::event::input::HookInput;
use crate::event::{Event, HookEventName, TypedAnswer, TypedInput};
use crate::language::ForeignHook;
use crate::matcher::{Matcher, MatcherProblem};
use crate::run::live::{CallTarget, FailureListener};
use crate::run::module::ModuleHandler;
use crate::settings::{DEFAULT_PRIORITY, FailBehavior, HookSource, MatcherDefinition};

/// What a typed handler returns beside its answer: an error counts as the hook's failure.
pub type TypedResult = Result<(), HandlerError>;

fn typed<E: Event>(
    function: impl Fn(&TypedInput<E>, &mut TypedAnswer<E>) -> TypedResult + Send + Sync + 'static,
) -> impl Fn(&HookInput) -> HandlerResult + Send + Sync + 'static {
    move |input| {
        let typed = TypedInput::of(input).ok_or_else(|| other_event::<E>(input))?;
        let mut answer = TypedAnswer::new();
        function(&typed, &mut answer)?;
        Ok(answer.into_output())
    }
}

/// A payload that belongs to another event than the one it came with, which no door lets in.
fn other_event<E: Event>(input: &HookInput) -> HandlerError {
    format!("expected the payload of {}, found that of {}", E::NAME, input.event()).into()
}

/// A hook that is a function of the host.
///
/// ```
/// use hook_core::{HandlerHook, HookEventName, HookOutput};
///
/// let guard = HandlerHook::inline(HookEventName::BeforeTool, "no-shell", |_input| {
///     Ok(Some(HookOutput::deny("no shell today")))
/// })
/// .matcher("run_shell_command");
/// # let _ = guard;
/// ```
#[derive(Clone)]
pub struct HandlerHook {
    pub(crate) event: HookEventName,
    pub(crate) name: String,
    pub(crate) matcher: Option<Arc<MatcherDefinition>>,
    pub(crate) priority: i32,
    pub(crate) sequential: bool,
    pub(crate) in_turn: bool,
    pub(crate) background: bool,
    pub(crate) timeout: Option<Duration>,
    pub(crate) fail_behavior: FailBehavior,
    /// Whether it says that itself.
    has_fail_behavior: bool,
    /// Whose it is.
    pub(crate) source: HookSource,
    pub(super) function: Function,
}

impl HandlerHook {
    /// A plain function, called where the event is served: the fastest kind. It must not block
    /// and has no timeout; a panic in it is caught.
    pub fn inline(
        event: HookEventName,
        name: impl Into<String>,
        function: impl Fn(&HookInput) -> HandlerResult + Send + Sync + 'static,
    ) -> Self {
        Self::new(event, name, Function::Inline(Arc::new(function)))
    }

    /// A future, run on a task of its own until its timeout.
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

    /// A function that may block, run on a thread of the engine's until its timeout. So many run at
    /// once as [`RunnerLimits::max_blocking`](crate::RunnerLimits::max_blocking) says; waiting for a
    /// thread uses up no timeout. A thread that does not return in time cannot be ended: it is
    /// abandoned and counted, does not hold up the end of the process, and with too many of those
    /// ([`RunnerLimits::max_abandoned`](crate::RunnerLimits::max_abandoned)) further calls fail.
    ///
    /// A handler that fires events itself on its own thread, and waits for them, needs no second
    /// permit for blocking handlers of those, so that it cannot wait for itself; to a depth of 8.
    pub fn blocking(
        event: HookEventName,
        name: impl Into<String>,
        function: impl Fn(&HookInput) -> HandlerResult + Send + Sync + 'static,
    ) -> Self {
        Self::new(event, name, Function::Blocking(Arc::new(function)))
    }

    /// A typed function, called where the event is served, as [`inline`](Self::inline) ones are.
    ///
    /// ```
    /// use hook_core::{HandlerHook, events::BeforeTool};
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

    /// A typed function that may block, as [`blocking`](Self::blocking) ones are.
    pub fn on_blocking<E: Event>(
        name: impl Into<String>,
        function: impl Fn(&TypedInput<E>, &mut TypedAnswer<E>) -> TypedResult + Send + Sync + 'static,
    ) -> Self {
        Self::blocking(E::NAME, name, typed(function))
    }

    /// A typed future, as [`asynchronous`](Self::asynchronous) ones are; it gives the answer back.
    pub fn on_async<E: Event, F>(
        name: impl Into<String>,
        function: impl Fn(TypedInput<E>, TypedAnswer<E>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<TypedAnswer<E>, HandlerError>> + Send + 'static,
    {
        Self::asynchronous(E::NAME, name, move |input| {
            let answer = TypedInput::of(&input).map(|input| function(input, TypedAnswer::new()));
            async move {
                let answer = answer.ok_or_else(|| other_event::<E>(&input))?;
                Ok(answer.await?.into_output())
            }
        })
    }

    /// A hook of a client's, or of a worker, which is called over a conversation, in which it has that id. With `home` it
    /// is told and answers in the words of another agent.
    #[doc(hidden)]
    pub fn called(
        event: HookEventName,
        name: impl Into<String>,
        id: &str,
        target: CallTarget,
        home: Option<Arc<ForeignHook>>,
    ) -> Self {
        let called = Function::Called(Called { target, id: id.into(), home, on_failure: None });
        Self { source: HookSource::Client, ..Self::new(event, name, called) }
    }

    /// The same, with somebody who is told where a call fails and that is no answer.
    #[doc(hidden)]
    #[must_use]
    pub fn on_failure(mut self, listener: FailureListener) -> Self {
        if let Function::Called(called) = &mut self.function {
            called.on_failure = Some(listener);
        }
        self
    }

    /// A handler of a module, in the words of `home`. It runs in turn with others of modules.
    #[doc(hidden)]
    pub fn of_module(
        event: HookEventName,
        name: impl Into<String>,
        handler: ModuleHandler,
        home: Arc<ForeignHook>,
    ) -> Self {
        Self::new(event, name, Function::Module(OfModule { handler, home })).in_turn()
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

    /// Which tools, triggers or inputs it is for; everything by default. A text, or the fields of the
    /// object form:
    ///
    /// ```
    /// use hook_core::{HandlerHook, HookEventName, HookOutput, MatcherFields};
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

    /// Its place among the event's hooks: lower ones run earlier, equal ones together; 100 by default.
    #[must_use]
    pub fn priority(mut self, priority: i32) -> Self {
        self.priority = priority;
        self
    }

    /// Whether the hooks of its priority run one after the other.
    #[must_use]
    pub fn sequential(mut self, sequential: bool) -> Self {
        self.sequential = sequential;
        self
    }

    /// Whether it runs behind the other hooks of its priority, in turn with others like it, as hooks of
    /// modules do: what one of them ends holds for those behind it.
    #[doc(hidden)]
    #[must_use]
    pub fn in_turn(mut self) -> Self {
        self.in_turn = true;
        self
    }

    /// Whether events go on without waiting for it: its answer then counts for nothing, and at most
    /// eight runs of it go on at once. A guard is waited for all the same.
    #[must_use]
    pub fn background(mut self, background: bool) -> Self {
        self.background = background;
        self
    }

    /// How long it may run; [`RunnerLimits::timeout`](crate::RunnerLimits) by default. Inline handlers have no timeout.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// What its failure means; [`FailBehavior::Continue`] by default.
    #[must_use]
    pub fn fail_behavior(mut self, fail_behavior: FailBehavior) -> Self {
        self.fail_behavior = fail_behavior;
        self.has_fail_behavior = true;
        self
    }

    /// The event that it listens to.
    pub fn event(&self) -> HookEventName {
        self.event
    }

    /// What its matcher cannot do; see [`Matcher::compile`].
    #[doc(hidden)]
    pub fn matcher_problems(&self) -> Vec<MatcherProblem> {
        self.compiled_matcher().1
    }

    pub(crate) fn compiled_matcher(&self) -> (Matcher, Vec<MatcherProblem>) {
        let home = match &self.function {
            Function::Called(called) => called.home.as_ref(),
            _ => None,
        };
        Matcher::of(self.matcher.clone(), home, self.event.row().matching, self.fail_behavior)
    }

    /// Whether it has a timeout of its own.
    #[doc(hidden)]
    pub fn has_timeout(&self) -> bool {
        self.timeout.is_some()
    }

    /// Whether it says itself what its failure means.
    #[doc(hidden)]
    pub fn has_fail_behavior(&self) -> bool {
        self.has_fail_behavior
    }

    /// What it is shown as.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether its failure is a denial of that event.
    #[doc(hidden)]
    pub fn is_guard_of(&self, event: HookEventName) -> bool {
        self.event == event && self.fail_behavior == FailBehavior::Block
    }
}

impl fmt::Debug for HandlerHook {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("HandlerHook")
            .field("event", &self.event)
            .field("name", &self.name)
            .field("matcher", &self.matcher)
            .finish_non_exhaustive()
    }
}
