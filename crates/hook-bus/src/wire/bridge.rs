//! An agent's call in its own format, sent through a server and back.

use std::time::Duration;

use hook_agents::{Agent, Said};
use hook_json::shape::FieldReader;
use hook_json::text::shortened;
use hook_json::{JsonObject, ObjectWriter, RawJson, RawObject};
use hook_protocol::Events;
use hook_protocol::read_back::fields_once;

use crate::bridge::{Bridge, Bridged};
use crate::message::{CorrelationId, HookExecutionRequest};

pub(super) const BRIDGE: &str = "hook-bridge";
pub(super) const BRIDGED: &str = "hook-bridged";

/// An agent's call, as a client sends it.
#[derive(Debug, Clone)]
pub struct BridgeMessage {
    /// The agent.
    pub agent: &'static Agent,
    /// The agent's name of the event, if known besides the input.
    pub event: Option<String>,
    /// The agent's input: a JSON object.
    pub said: String,
    /// The time limit for the answer, counted from acceptance.
    pub deadline: Option<Duration>,
    pub(super) id: Option<CorrelationId>,
}

impl BridgeMessage {
    /// Creates the message from an agent's input. Without `event`, the input names it.
    pub fn new(agent: &'static Agent, event: Option<String>, said: String) -> Self {
        Self { agent, event, said, deadline: None, id: None }
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
        let said = text(&mut fields, "said")?;
        let said = said.filter(|said| RawObject::parse(said.as_str()).is_ok());
        let said = said.ok_or("field `said`: expected a JSON object in a string")?;
        let event = text(&mut fields, "event")?;
        let deadline = fields.any("deadlineMs").and_then(|it| it.to_whole_number());
        Ok(Self { agent, event, said, deadline: deadline.map(Duration::from_millis), id: id? })
    }

    /// Returns the line that a client sends. The agent's input is a string in it, since it may have
    /// several lines.
    pub(super) fn line(&self) -> Vec<u8> {
        ObjectWriter::line(|out| {
            out.text("type", BRIDGE);
            out.text("agent", hook_settings::language::Language::name(self.agent));
            out.optional_text("event", self.event.as_deref());
            out.text("said", &self.said);
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
        let said = match RawObject::parse(self.said.as_str()) {
            Ok(said) => said,
            Err(error) => return Err((error.to_string(), self.id)),
        };
        let bridge = match self.agent.asked(self.event.as_deref(), &said) {
            Ok(asked) => Bridge::new(self.agent, asked.written_in(&self.said), events),
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
pub(super) fn bridged_line(id: &CorrelationId, bridged: &Bridged) -> Vec<u8> {
    ObjectWriter::line(|out| {
        out.text("type", BRIDGED);
        out.text("correlationId", id.as_str());
        out.text("stdout", &bridged.said.stdout);
        out.text("stderr", &bridged.said.stderr);
        out.integer("exitCode", bridged.said.code.into());
        out.warnings(&bridged.warnings);
    })
}

/// Reads a server's answer; `None` for any other message.
pub(super) fn read_bridged(fields: &JsonObject) -> Option<Bridged> {
    let text = |name: &str| fields.get(name).and_then(RawJson::to_text);
    let code = fields.get("exitCode")?.to_whole_number()?;
    let warnings = fields.get("warnings")?.to_items()?;
    Some(Bridged {
        said: Said {
            stdout: text("stdout")?,
            stderr: text("stderr")?,
            code: u8::try_from(code).ok()?,
            lost: Vec::new(),
        },
        warnings: warnings.iter().map(RawJson::to_text).collect::<Option<_>>()?,
    })
}
