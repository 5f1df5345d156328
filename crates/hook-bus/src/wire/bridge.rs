//! An agent's call in its own format, sent through a server and back.

use std::time::Duration;

use hook_agents::Agent;
use hook_json::shape::FieldReader;
use hook_json::text::shortened;
use hook_json::{ObjectWriter, RawObject};
use hook_protocol::Events;
use hook_protocol::read_back::fields_once;

use crate::bridge::{Bridge, BridgeAnswer};
use crate::message::{CorrelationId, HookExecutionRequest, read_deadline};

pub(super) const BRIDGE: &str = "hook-bridge";
pub(super) const BRIDGE_ANSWER: &str = "hook-bridged";

/// An agent's call, as a client sends it.
#[derive(Debug, Clone)]
pub struct BridgeMessage {
    /// The agent.
    pub agent: &'static Agent,
    /// The agent's name of the event, if known besides the input.
    pub event: Option<String>,
    /// The agent's input: a JSON object.
    pub input: String,
    /// The time limit for the answer, counted from acceptance.
    pub deadline: Option<Duration>,
    pub(super) id: Option<CorrelationId>,
}

impl BridgeMessage {
    /// Creates the message from an agent's input. Without `event`, the input names it.
    pub fn new(agent: &'static Agent, event: Option<String>, input: String) -> Self {
        Self { agent, event, input, deadline: None, id: None }
    }

    pub(super) fn read(
        object: &RawObject,
        id: Result<Option<CorrelationId>, String>,
    ) -> Result<Self, String> {
        let mut fields = fields_once(object).map_err(|error| error.to_string())?;
        let text = |fields: &mut FieldReader, name: &'static str| {
            fields.text(name).map_err(|error| error.to_string())
        };
        let name = text(&mut fields, "agent")?.unwrap_or_default();
        let agent = hook_agents::agent(&name).ok_or_else(|| {
            format!("field `agent`: expected an agent, found {:?}", shortened(&name))
        })?;
        let input_text = text(&mut fields, "said")?;
        let input_object = input_text.filter(|string| RawObject::parse(string.as_str()).is_ok());
        let input = input_object.ok_or("field `said`: expected a JSON object in a string")?;
        let event = text(&mut fields, "event")?;
        let deadline = fields.any("deadlineMs");
        let deadline = deadline.map(|value| read_deadline(&value)).transpose()?.flatten();
        Ok(Self { agent, event, input, deadline, id: id? })
    }

    /// Returns the line that a client sends. The agent's input is a string in it, since it may have
    /// several lines.
    pub(super) fn line(&self) -> Vec<u8> {
        ObjectWriter::line(|out| {
            out.text("type", BRIDGE);
            out.text("agent", hook_settings::language::Language::name(self.agent));
            out.optional_text("event", self.event.as_deref());
            out.text("said", &self.input);
            if let Some(deadline) = self.deadline {
                let milliseconds = u64::try_from(deadline.as_millis()).unwrap_or(u64::MAX);
                out.integer("deadlineMs", milliseconds.into());
            }
        })
    }

    /// Converts the message to a request, and the bridge that turns its response into the agent's
    /// answer.
    ///
    /// # Errors
    /// If the agent has no such event.
    pub(super) fn request(
        self,
        events: &Events,
    ) -> Result<(Bridge, HookExecutionRequest), (String, Option<CorrelationId>)> {
        let input = match RawObject::parse(self.input.as_str()) {
            Ok(input) => input,
            Err(error) => return Err((error.to_string(), self.id)),
        };
        let bridge = match self.agent.parse_request(self.event.as_deref(), &input) {
            Ok(call) => Bridge::new(self.agent, call.with_trailing_text(&self.input), events),
            Err(error) => return Err((error.to_string(), self.id)),
        };
        let mut request = bridge.request();
        if let Some(id) = self.id {
            request = request.with_correlation_id(id);
        }
        if let Some(deadline) = self.deadline {
            request = request.with_deadline(deadline);
        }
        Ok((bridge, request))
    }
}

/// Returns the line with the answer.
pub(super) fn answer_line(id: &CorrelationId, answer: &BridgeAnswer) -> Vec<u8> {
    ObjectWriter::line(|out| {
        out.text("type", BRIDGE_ANSWER);
        out.text("correlationId", id.as_str());
        answer.write(out);
    })
}
