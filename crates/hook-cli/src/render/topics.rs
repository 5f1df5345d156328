//! The topics of `hook help`.

use super::help::{
    events, events_json, exit_codes, exit_codes_json, protocol, protocol_json, settings,
    settings_json,
};
use crate::output::Printer;

/// A page about a topic that concerns several commands.
pub(crate) struct Topic {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) text: fn(&Printer) -> String,
    pub(crate) json: fn() -> serde_json::Value,
}

pub(crate) const TOPICS: [Topic; 4] = [
    Topic {
        name: "events",
        about: "what there is to listen to, and what a block means",
        text: events,
        json: events_json,
    },
    Topic {
        name: "exit-codes",
        about: "how the command ends, and what that means",
        text: exit_codes,
        json: exit_codes_json,
    },
    Topic {
        name: "protocol",
        about: "what a hook reads and writes",
        text: protocol,
        json: protocol_json,
    },
    Topic {
        name: "settings",
        about: "which keys settings have, and what they mean",
        text: settings,
        json: settings_json,
    },
];
