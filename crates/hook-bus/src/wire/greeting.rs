//! What a server says first.

use std::io;

use hook_core::{JsonObject, RawJson};
use tokio::io::AsyncRead;

use super::{Line, LineReader};

/// The version of the line protocol, as the hello says it.
pub(super) const PROTOCOL_VERSION: u64 = 1;

pub(super) const HELLO: &str = "hook-hello";
pub(super) const REFUSED: &str = "hook-refused";

/// What answered when somebody connected.
pub(super) enum Greeting {
    /// A server.
    Hello {
        /// The version of its messages.
        protocol: String,
        /// The engine's version.
        version: String,
        /// The project that it serves.
        project: String,
        /// What its settings are, where it knows.
        settings_hash: Option<String>,
    },
    /// A server that does not serve this client, and why.
    Refused(String),
    /// Something else.
    Other,
}

impl Greeting {
    pub(super) async fn read<R: AsyncRead + Unpin>(lines: &mut LineReader<R>) -> io::Result<Self> {
        let Some(Line::Text { text, .. }) = lines.next().await? else { return Ok(Self::Other) };
        let fields = fields_of(text);
        let text = |name: &str| fields.get(name).and_then(RawJson::to_text);
        Ok(match text("type").as_deref() {
            Some(HELLO) => Self::Hello {
                protocol: fields.get("protocol").map(ToString::to_string).unwrap_or_default(),
                version: text("version").unwrap_or_default(),
                project: text("project").unwrap_or_default(),
                settings_hash: text("settingsHash"),
            },
            Some(REFUSED) => Self::Refused(text("message").unwrap_or_default()),
            _ => Self::Other,
        })
    }
}

/// The message's fields; none of what is no object, or has a field twice.
pub(super) fn fields_of(text: String) -> JsonObject {
    let fields = RawJson::parse(text).and_then(|value| value.to_object());
    fields.ok().filter(|fields| fields.repeated().is_none()).unwrap_or_default()
}

/// What went wrong, as a response says it.
pub(super) fn error_of(response: &JsonObject) -> Option<String> {
    response.get("error")?.to_object().ok()?.get("message")?.to_text()
}
