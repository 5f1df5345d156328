//! The executor of HTTP hooks.

use std::path::Path;
use std::sync::Arc;

use futures::FutureExt;

use super::address::Address;
use super::client::Client;
use crate::answer::{home_answer, without_doubt};
use crate::command::CommandContext;
use crate::executor::{
    CommandIdentity, Execution, HookCall, HookExecutor, HookKind, HookStart, Permits, Run,
};
use crate::report::{Captured, ProcessReport};
use hook_json::RawObject;
use hook_json::text::shortened;
use hook_protocol::failure::HookFailure;
use hook_settings::language::{ForeignHook, Place};

/// Runs a foreign hook by posting its input to a server.
#[derive(Debug)]
pub(crate) struct HttpExecutor {
    hook: Arc<HttpHook>,
}

#[derive(Debug)]
struct HttpHook {
    label: String,
    /// Everything that decides what is requested.
    terms: String,
    home: Arc<ForeignHook>,
    context: Arc<CommandContext>,
    client: Arc<Client>,
}

impl HttpExecutor {
    pub(crate) fn new(
        label: String,
        home: Arc<ForeignHook>,
        context: Arc<CommandContext>,
        client: Arc<Client>,
    ) -> Self {
        let terms = home.command.terms();
        Self { hook: Arc::new(HttpHook { label, terms, home, context, client }) }
    }
}

impl HookExecutor for HttpExecutor {
    fn kind(&self) -> HookKind {
        HookKind::Http
    }

    fn home(&self) -> Option<&ForeignHook> {
        Some(&self.hook.home)
    }

    fn label(&self) -> &str {
        &self.hook.label
    }

    fn permits(&self) -> Permits<'_> {
        Permits::Process
    }

    fn start(&self) -> HookStart<'_> {
        HookStart::Posted
    }

    fn identity(&self) -> Option<CommandIdentity<'_>> {
        let HttpHook { terms, home, context, .. } = &*self.hook;
        home.runs_once.then(|| CommandIdentity {
            command: terms,
            env: Default::default(),
            project: &context.environment.project,
            foreign_event: Some(&home.event),
            is_worker: false,
        })
    }

    fn check_depth(&self, depth: u32) -> Result<(), HookFailure> {
        self.hook.context.check_depth(depth)
    }

    fn execute(&self, call: HookCall) -> Execution {
        let hook = Arc::clone(&self.hook);
        Execution::Running(async move { hook.run(call).await }.boxed())
    }
}

impl HttpHook {
    async fn run(&self, call: HookCall) -> Run {
        let HookCall { input, timeout, cancel, slots, .. } = call;
        let told = self.home.language.told(&self.home, &input).unwrap_or_else(RawObject::empty);
        let asked = self.ask(Path::new(&*input.cwd), &told, slots);
        let answered = tokio::select! {
            biased;
            () = cancel.cancelled() => Err(HookFailure::Cancelled),
            () = tokio::time::sleep(timeout) => Err(HookFailure::TimedOut { after: timeout }),
            answered = asked => answered,
        };
        let bytes = answered.as_ref().map_or(&[][..], Vec::as_slice);
        let text = String::from_utf8_lossy(bytes);
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let reply = match &answered {
            Ok(_) => Ok(text),
            Err(failure) => Err(failure.clone()),
        };
        let answer = home_answer(self.home.language.replied(&self.home, &told, reply));
        let answer = without_doubt(answer, &self.home, input.event(), text);
        let stdout = Captured { bytes: bytes.to_vec(), dropped: 0 };
        Run { answer, process: ProcessReport { stdout, ..ProcessReport::default() } }
    }

    async fn ask(
        &self,
        directory: &Path,
        told: &RawObject,
        slots: crate::executor::Slots,
    ) -> Result<Vec<u8>, HookFailure> {
        let environment = &self.context.environment;
        let place =
            Place { project: &environment.project, directory, environment: environment.host() };
        let failed = |server: &str, reason: String| HookFailure::Request {
            server: shortened(server),
            reason,
        };
        let post = self.home.language.post(&self.home, &place);
        let post = post.map_err(|reason| failed(&self.label, reason))?;
        let address = Address::of(&post.url);
        let address = address.map_err(|reason| failed(&self.label, reason.to_owned()))?;
        let client = Arc::clone(&self.client);
        let limit = self.context.limits.max_stdout;
        let answered = client.post(&address, post, told.as_str().to_owned(), limit, slots).await;
        answered.map_err(|reason| failed(&address.shown(), reason))
    }
}
