//! The first message of a server.

use std::io;

use hook_json::{JsonObject, RawJson};
use tokio::io::AsyncRead;

use super::{Line, LineReader};

/// The version of the line protocol in the hello.
pub(super) const PROTOCOL_VERSION: u64 = 1;

pub(super) const HELLO: &str = "hook-hello";
pub(super) const REFUSED: &str = "hook-refused";

/// The first message of the other end of a connection.
pub(super) enum Greeting {
    /// A server.
    Hello {
        /// The version of the line protocol.
        protocol: String,
        /// The engine's version.
        version: String,
        /// The server's project.
        project: String,
        /// The hash of its settings, if known.
        settings_hash: Option<String>,
    },
    /// A server that refuses this client, with its reason.
    Refused(String),
    /// Anything else.
    Other,
}

impl Greeting {
    pub(super) async fn read<R: AsyncRead + Unpin>(lines: &mut LineReader<R>) -> io::Result<Self> {
        let Some(Line::Text { text, .. }) = lines.next().await? else { return Ok(Self::Other) };
        let fields = parse_fields(text);
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

/// Returns the message's fields; none if it is no object or repeats a field.
pub(super) fn parse_fields(text: String) -> JsonObject {
    let fields = RawJson::parse(text).and_then(|value| value.to_object());
    fields.ok().filter(|fields| fields.duplicate_key().is_none()).unwrap_or_default()
}

/// Returns the error message of a response.
pub(super) fn error_message(response: &JsonObject) -> Option<String> {
    response.get("error")?.to_object().ok()?.get("message")?.to_text()
}
