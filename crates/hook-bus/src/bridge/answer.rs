//! The answer to an agent, and its JSON between processes.

use hook_agents::AgentResponse;
use hook_json::{JsonObject, ObjectWriter, RawJson};

/// The answer to an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BridgeAnswer {
    /// The output that the agent reads.
    pub output: AgentResponse,
    /// Warnings for the user besides that.
    pub warnings: Vec<String>,
}

impl BridgeAnswer {
    /// Writes the fields of the answer.
    pub(crate) fn write(&self, out: &mut ObjectWriter<'_>) {
        out.text("stdout", &self.output.stdout);
        out.text("stderr", &self.output.stderr);
        out.integer("exitCode", self.output.code.into());
        out.warnings(&self.warnings);
    }

    /// Reads the answer from its fields; `None` if one is missing or wrong.
    pub(crate) fn read(fields: &JsonObject) -> Option<Self> {
        let text = |name: &str| fields.get(name).and_then(RawJson::to_text);
        let code = fields.get("exitCode")?.to_u64()?;
        let warnings = fields.get("warnings")?.to_items()?;
        Some(Self {
            output: AgentResponse {
                stdout: text("stdout")?,
                stderr: text("stderr")?,
                code: u8::try_from(code).ok()?,
                lost: Vec::new(),
            },
            warnings: warnings.iter().map(RawJson::to_text).collect::<Option<_>>()?,
        })
    }
}
