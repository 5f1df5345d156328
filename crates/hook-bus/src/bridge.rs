//! An agent that asks in its own language, and what it is answered in that.
//!
//! What the agent says becomes a request like any other; its response becomes what the agent reads.
//! `hook bridge` does it for agents that start a command as their hook, with an engine of its own or over
//! the [wire](crate::wire) with a running one.

use hook_core::event::output::PolicyDecision;
use hook_core::language::Language;
use hook_core::{Events, HookEventName, RawObject, RequestInput};
use hook_translate::agents::{Agent, Asked, NotAsked, Said, Verdict};

use crate::message::{HookExecutionRequest, HookExecutionResponse};

/// What an agent asks.
#[derive(Debug, Clone)]
pub struct Bridge {
    agent: &'static Agent,
    asked: Asked,
    /// What the hooks are told, where it is what the event requires.
    input: Option<RequestInput>,
}

/// What an agent is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bridged {
    /// What it reads.
    pub said: Said,
    /// What its user should know beside it.
    pub warnings: Vec<String>,
}

impl Bridge {
    /// What the agent says of the event that is named, or that it names itself. Hooks can listen to these
    /// events.
    ///
    /// # Errors
    /// When it cannot be known which event of the agent it is about.
    pub fn new(
        agent: &'static Agent,
        event: Option<&str>,
        said: &RawObject,
        events: &Events,
    ) -> Result<Self, NotAsked> {
        let asked = agent.asked(event, said)?;
        Ok(Self::of(agent, asked, events))
    }

    /// The same of what was understood before.
    pub fn of(agent: &'static Agent, asked: Asked, events: &Events) -> Self {
        let event = events.from_name(asked.event_name());
        let input = event.and_then(|event| asked.request(event).ok());
        Self { agent, asked, input }
    }

    /// What the hooks are told; `None` where what the agent said is not what the event requires.
    pub fn input(&self) -> Option<&RequestInput> {
        self.input.as_ref()
    }

    /// The request. What is wrong with it is said by the engine, which knows its guards.
    pub fn request(&self) -> HookExecutionRequest {
        match &self.input {
            Some(input) => HookExecutionRequest::typed(input.clone()),
            None => {
                let (name, input) = (self.asked.event_name(), self.asked.input());
                HookExecutionRequest::new(name, input.clone())
            }
        }
    }

    /// What the agent is answered. `unknown_guards` says why guards of the event may be missing among those
    /// that were asked, if they may: then it does not happen.
    pub fn answer(
        &self,
        response: &HookExecutionResponse,
        unknown_guards: impl FnOnce(HookEventName) -> Option<String>,
    ) -> Bridged {
        let mut said = self.said(response, unknown_guards);
        let mut warnings: Vec<String> = response.processed.warnings.clone();
        let title = self.agent.title();
        warnings.extend(said.lost.drain(..).map(|lost| format!("{title} ignores {lost}")));
        let decision = response.processed.decision;
        if said.stdout.is_empty() && said.code == 0 && decision > PolicyDecision::Proceed {
            warnings.push(format!(
                "hooks said {} on {}, which {} cannot be told there: {}",
                decision.as_str(),
                self.asked.home_event(),
                self.agent.title(),
                response.processed.reason.as_deref().unwrap_or_default()
            ));
        }
        Bridged { said, warnings }
    }

    fn said(
        &self,
        response: &HookExecutionResponse,
        unknown_guards: impl FnOnce(HookEventName) -> Option<String>,
    ) -> Said {
        let home_event = self.asked.home_event();
        let processed = &response.processed;
        let merged = processed.as_answer();
        let tool_input = self.input.as_ref().and_then(|input| {
            let original = input.payload.tool_input()?;
            let changed = processed.changed_tool_input(original)?;
            let tool = input.payload.match_subject()?;
            (changed != *original).then(|| self.agent.arguments(home_event, tool, &changed))
        });
        // Of an event that only observes nothing is merged, and what is said is said all the same.
        let outputs = &processed.aggregated.all_outputs;
        let observed = outputs.iter().filter_map(|output| output.system_message.as_deref());
        let observed: Vec<&str> = observed.filter(|_| merged.is_none()).collect();
        let observed = observed.join("\n");
        let mut verdict = Verdict::proceed();
        verdict.decision = processed.decision;
        verdict.reason = processed.reason.as_deref();
        verdict.allowed = response.hooks.iter().any(|hook| hook.grants);
        let message = processed.system_message.as_deref();
        verdict.system_message = message.or(Some(&*observed).filter(|it| !it.is_empty()));
        verdict.additional_context = processed.additional_context.as_deref();
        verdict.tool_input = tool_input.as_ref();
        verdict.answer = merged.as_ref();
        // No event proceeds that a missing guard might have blocked.
        let unknown = response.event.and_then(unknown_guards);
        // To block the end of a turn is to go on working, which helps nobody where hooks could not be asked.
        let ends = [HookEventName::AfterAgent, HookEventName::SubagentStop];
        let goes_on = response.event.is_some_and(|event| ends.contains(&event));
        if goes_on && (response.error().is_some() || unknown.is_some()) {
            verdict.decision = PolicyDecision::Proceed;
            return self.agent.say(home_event, &verdict);
        }
        if verdict.decision == PolicyDecision::Proceed
            && let Some(why) = &unknown
        {
            verdict.decision = PolicyDecision::Block;
            verdict.reason = Some(why);
        }
        self.agent.say(home_event, &verdict)
    }
}
