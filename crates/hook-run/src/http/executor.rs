//! The executor of HTTP hooks.

use std::path::Path;
use std::sync::Arc;

use futures::FutureExt;

use super::address::Address;
use super::client::Client;
use crate::answer::{convert_foreign_answer, reject_ambiguous};
use crate::command::CommandContext;
use crate::executor::{
    CommandIdentity, Execution, HookCall, HookExecutor, HookKind, HookStart, Permits, Run,
};
use crate::report::{Captured, ProcessReport};
use hook_json::RawObject;
use hook_json::text::shortened;
use hook_protocol::failure::HookFailure;
use hook_settings::language::{ForeignHook, LaunchContext};

/// Runs a foreign hook by posting its input to a server.
#[derive(Debug)]
pub(crate) struct HttpExecutor {
    hook: Arc<HttpHook>,
}

#[derive(Debug)]
struct HttpHook {
    label: String,
    /// Everything that decides what is requested.
    spec: String,
    foreign: Arc<ForeignHook>,
    context: Arc<CommandContext>,
    client: Arc<Client>,
}

impl HttpExecutor {
    pub(crate) fn new(
        label: String,
        foreign: Arc<ForeignHook>,
        context: Arc<CommandContext>,
        client: Arc<Client>,
    ) -> Self {
        let spec = foreign.command.spec();
        Self { hook: Arc::new(HttpHook { label, spec, foreign, context, client }) }
    }
}

impl HookExecutor for HttpExecutor {
    fn kind(&self) -> HookKind {
        HookKind::Http
    }

    fn foreign(&self) -> Option<&ForeignHook> {
        Some(&self.hook.foreign)
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
        let HttpHook { spec, foreign, context, .. } = &*self.hook;
        foreign.runs_once.then(|| CommandIdentity {
            command: spec,
            env: Default::default(),
            project: &context.environment.project,
            foreign_event: Some(&foreign.event),
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
    async fn run(&self, mut call: HookCall) -> Run {
        let (input, slots) = (call.input.clone(), std::mem::take(&mut call.slots));
        let payload = self
            .foreign
            .language
            .foreign_input(&self.foreign, &input)
            .unwrap_or_else(RawObject::empty);
        let request = self.post(Path::new(&*input.cwd), &payload, slots);
        let response = tokio::select! {
            biased;
            failure = call.expired() => Err(failure),
            response = request => response,
        };
        let bytes = response.as_ref().map_or(&[][..], Vec::as_slice);
        let text = String::from_utf8_lossy(bytes);
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let reply = match &response {
            Ok(_) => Ok(text),
            Err(failure) => Err(failure.clone()),
        };
        let answer = convert_foreign_answer(self.foreign.language.read_reply(
            &self.foreign,
            &payload,
            reply,
        ));
        let answer = reject_ambiguous(answer, &self.foreign, input.event(), text);
        let stdout = Captured { bytes: bytes.to_vec(), dropped: 0 };
        Run { answer, process: ProcessReport { stdout, ..ProcessReport::default() } }
    }

    async fn post(
        &self,
        directory: &Path,
        payload: &RawObject,
        slots: crate::executor::Slots,
    ) -> Result<Vec<u8>, HookFailure> {
        let environment = &self.context.environment;
        let location = LaunchContext {
            project: &environment.project,
            directory,
            environment: environment.host(),
        };
        let failed = |server: &str, reason: String| HookFailure::Request {
            server: shortened(server),
            reason,
        };
        let post = self.foreign.language.http_request(&self.foreign, &location);
        let post = post.map_err(|reason| failed(&self.label, reason))?;
        let address = Address::of(&post.url);
        let address = address.map_err(|reason| failed(&self.label, reason.to_owned()))?;
        let client = Arc::clone(&self.client);
        let limit = self.context.limits.max_stdout;
        let response = client.post(&address, post, payload.as_str().to_owned(), limit, slots).await;
        response.map_err(|reason| failed(&address.shown(), reason))
    }
}
