//! The calls of agents that packs refused or asked about lately, by the log of calls.

use std::collections::{BTreeMap, VecDeque};

use hook_json::text::shortened;
use hook_json::{JsonObject, RawJson};
use serde_json::{Value, json};

use crate::commands::log::kept_calls;
use crate::error::Result;
use crate::render::plural;

/// The number of calls that are shown of a pack.
const SHOWN: usize = 3;

/// The calls that a pack refused or asked about.
#[derive(Debug, Default)]
pub(super) struct Refused {
    count: usize,
    last: VecDeque<RefusedCall>,
}

#[derive(Debug)]
struct RefusedCall {
    at: String,
    agent: String,
    decision: String,
    rule: String,
    about: String,
}

/// Returns the refused calls by pack. A rule is known by its name in the reason of a call.
pub(super) fn by_pack() -> Result<BTreeMap<String, Refused>> {
    let mut packs: BTreeMap<String, Refused> = BTreeMap::new();
    for call in kept_calls()? {
        let text = |name: &str| call.get(name).and_then(RawJson::to_text).unwrap_or_default();
        if text("decision") == "proceed" {
            continue;
        }
        let reason = text("reason");
        for (pack, rule) in rules_in(&reason) {
            let refused = packs.entry(pack.to_owned()).or_default();
            refused.count += 1;
            if refused.last.len() == SHOWN {
                refused.last.pop_front();
            }
            refused.last.push_back(RefusedCall::of(&call, rule));
        }
    }
    Ok(packs)
}

/// Returns the rules that a reason names, `(rule FILE:id: …)`, each with its pack.
fn rules_in(reason: &str) -> impl Iterator<Item = (&str, &str)> {
    reason.split("(rule ").skip(1).filter_map(|rest| {
        let (file, rest) = rest.split_once(':')?;
        let (id, _) = rest.split_once(':')?;
        // `PACK.toml`, or `PACK/FILE.toml`.
        let pack = file.split_once('/').map_or(file.strip_suffix(".toml")?, |(pack, _)| pack);
        Some((pack, id))
    })
}

impl RefusedCall {
    fn of(call: &JsonObject, rule: &str) -> Self {
        let text = |name: &str| call.get(name).and_then(RawJson::to_text).unwrap_or_default();
        Self {
            at: text("at"),
            agent: text("agent"),
            decision: text("decision"),
            rule: rule.to_owned(),
            about: text("about"),
        }
    }
}

impl Refused {
    pub(super) fn to_json(&self) -> Value {
        let last = self.last.iter().map(|call| {
            json!({"at": call.at, "agent": call.agent, "decision": call.decision,
                "rule": call.rule, "about": call.about})
        });
        json!({"count": self.count, "last": last.collect::<Vec<_>>()})
    }

    /// Returns lines for people.
    pub(super) fn lines(&self) -> Vec<String> {
        let calls = plural(self.count, "call", "calls");
        let shown = self.last.iter().map(|call| {
            let RefusedCall { at, agent, decision, rule, about } = call;
            let minute = at.get(..16).unwrap_or(at);
            let parts = [minute, agent, decision, rule, about].map(|part| shortened(part));
            parts.join("  ")
        });
        std::iter::once(format!("refused or asked about {calls} lately")).chain(shown).collect()
    }
}
