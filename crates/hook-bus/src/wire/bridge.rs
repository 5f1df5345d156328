//! What an agent says in its own language, on its way to a server and back.

use std::time::Duration;

use hook_core::engine::read_back::fields_once;
use hook_core::json::shape::FieldReader;
use hook_core::text::shortened;
use hook_core::{Events, JsonObject, ObjectWriter, RawJson, RawObject};
use hook_translate::agents::{self, Agent, Said};

use crate::bridge::{Bridge, Bridged};
use crate::message::{CorrelationId, HookExecutionRequest};

pub(super) const BRIDGE: &str = "hook-bridge";
pub(super) const BRIDGED: &str = "hook-bridged";

/// What an agent says, as a client sends it.
#[derive(Debug, Clone)]
pub struct BridgeMessage {
    /// The agent.
    pub agent: &'static Agent,
    /// What it calls the event, where that is known beside what it says.
    pub event: Option<String>,
    /// What it wrote: a JSON object.
    pub said: String,
    /// How long after its acceptance it must be answered.
    pub deadline: Option<Duration>,
    pub(super) id: Option<CorrelationId>,
}

impl BridgeMessage {
    /// What the agent wrote about the event that is named, or that it names itself.
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
        let agent = agents::agent(&name).ok_or_else(|| {
            format!("field `agent`: expected an agent, found {:?}", shortened(&name))
        })?;
        let said = text(&mut fields, "said")?;
        let said = said.filter(|said| RawObject::parse(said.as_str()).is_ok());
        let said = said.ok_or("field `said`: expected a JSON object in a string")?;
        let event = text(&mut fields, "event")?;
        let deadline = fields.any("deadlineMs").and_then(|it| it.to_whole_number());
        Ok(Self { agent, event, said, deadline: deadline.map(Duration::from_millis), id: id? })
    }

    /// The line that a client sends. What the agent wrote may have several lines itself.
    pub(super) fn line(&self) -> Vec<u8> {
        ObjectWriter::line(|out| {
            out.text("type", BRIDGE);
            out.text("agent", hook_core::language::Language::name(self.agent));
            out.optional_text("event", self.event.as_deref());
            out.text("said", &self.said);
            if let Some(deadline) = self.deadline {
                let milliseconds = u64::try_from(deadline.as_millis()).unwrap_or(u64::MAX);
                out.integer("deadlineMs", milliseconds.into());
            }
        })
    }

    /// The request that it is, and what makes its response an answer for the agent.
    ///
    /// # Errors
    /// When it is about no event of the agent.
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

/// The line that is answered.
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

/// What a server has answered; `None` of any other message.
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
