//! One decision of the user, as the store keeps it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use hook_protocol::event::{EventDefinition, HookEventName};
use hook_settings::{
    DEFAULT_PRIORITY, FailBehavior, HookEntry, HooksConfig, IN_PROJECT, Location, MatcherDefinition,
};

/// The form of the decisions that this version makes. Decisions of an earlier form had another meaning, so they
/// have to be made again.
pub(super) const CURRENT_FORM: u32 = 3;

/// One decision, with what it was made about.
///
/// Fields that a later version adds are kept when the store is rewritten.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Grant {
    /// The fingerprint of the hook.
    pub fingerprint: String,
    /// Its event.
    pub event: String,
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its command.
    pub command: String,
    /// The version of the fingerprint's input; 0 in decisions of the first version.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) form: u32,
    /// `true` if a later decision replaced this one, which then counts only after `hook trust --use`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub replaced: bool,
    /// The fingerprint of the decision that it replaced, if that was about the same hook with other settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) replaces: Option<String>,
    /// The digest of the folders that it covers; absent where it covers none, or where they cannot be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// These folders, and files that are covered alone, from the project on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub folders: Vec<String>,
    /// The reason why the hook runs in place instead of from a copy, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_place: Option<String>,
    /// The reasons why not everything that it starts is known, which the user accepted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub opaque: Vec<String>,
    /// `true` if the hook blocks instead of running from its copy once its folder changed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub strict: bool,
    /// `true` if the project's own settings brought in a hook of another agent: as a hook of theirs, or by naming the
    /// agent. Then its absence is theirs, too, whichever agents the user names.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(super) from_settings: bool,
    /// `true` if the hook was in its agent's own file, which that agent reads itself.
    #[serde(default, skip_serializing_if = "is_default")]
    pub in_agent_file: bool,
    /// The rest of the trusted hook, by which changes are described; the fingerprint alone decides. Absent in
    /// decisions of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<Seen>,
    #[serde(flatten)]
    pub(super) unknown: Map<String, Value>,
}

/// A hook as it was when it was trusted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Seen {
    /// The time of the decision, in UTC (RFC 3339).
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub at: String,
    /// Its matcher, if that is a text; the object form is among `terms`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matcher: Option<String>,
    /// Its variables, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<(String, String)>,
    /// Its other settings, by their key: a string as it is, all else as JSON. Defaults are absent, and decisions of
    /// the first version have none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub terms: BTreeMap<String, String>,
    #[serde(flatten)]
    pub(super) unknown: Map<String, Value>,
}

impl Grant {
    /// Returns the hook's name, or its command if it has none.
    pub fn display_name(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.command)
    }

    /// Returns `true` if an earlier version made the decision, which covered only files that the command seemed to
    /// open.
    pub fn is_outdated(&self) -> bool {
        self.form < CURRENT_FORM
    }

    /// Returns the hook's `failBehavior` when it was trusted, if the decision records it.
    pub fn fail_behavior(&self) -> Option<FailBehavior> {
        match self.setting("failBehavior")? {
            None => Some(FailBehavior::Continue),
            Some(word) => FailBehavior::from_name(word),
        }
    }

    /// Returns `true` if the hook was a module when it was trusted.
    fn is_module(&self) -> bool {
        self.setting("type").flatten() == Some("module")
    }

    /// Returns `true` if the hook was a guard: by its settings, or as a program or server of another agent before a
    /// tool, since agents have no keyword for guards.
    pub fn is_guard(&self) -> bool {
        let event = || HookEventName::from_name(&self.event);
        self.fail_behavior() == Some(FailBehavior::Block)
            || self.runs_without_host() && event().is_some_and(HookEventName::is_before_tool)
    }

    /// Returns `true` for a hook of another agent that needs no model and no MCP client of the host, without which it
    /// never decided anything.
    fn runs_without_host(&self) -> bool {
        let spec = self.setting("runs").flatten().and_then(|spec| serde_json::from_str(spec).ok());
        let kind = spec.as_ref().and_then(|spec: &Value| spec.get("type")?.as_str());
        matches!(kind, Some("command" | "http"))
    }

    /// Returns `true` if the hook was a guard, or a module, which may register guards whatever its settings are.
    pub fn may_guard(&self) -> bool {
        self.is_guard() || self.is_module()
    }

    /// Returns `true` if the hook belongs to its project's settings as read with the files of these agents. The
    /// file of an agent that the user does not name any more is no concern of its project's.
    pub fn is_in_settings_of(&self, reads: impl Fn(&str) -> bool) -> bool {
        self.from_settings || self.foreign_event().is_none_or(|(language, _)| reads(language))
    }

    /// The matcher that the hook was trusted with; `None` where the decision does not say, or
    /// says more than this version knows.
    pub fn matcher(&self) -> Option<Option<MatcherDefinition>> {
        let seen = self.seen.as_ref()?;
        MatcherDefinition::from_spec(seen.matcher.as_deref(), &seen.terms).ok()
    }

    /// Returns `true` if matchers of the event are compared with the same field as when the hook was trusted.
    pub fn has_same_event_matching(&self, event: HookEventName) -> bool {
        let row = event.row();
        if !row.is_declared() {
            return true;
        }
        let [(_, matching), ..] = EventDefinition::row_settings(row);
        self.setting("event.matching").flatten() == matching.as_deref()
    }

    /// Of a hook of another agent: its language, and that agent's name of the event.
    pub fn foreign_event(&self) -> Option<(&str, &str)> {
        let event = self.setting("language.event").flatten();
        self.setting("language").flatten().map(|language| (language, event.unwrap_or_default()))
    }

    /// Of a hook of another agent: its condition (`if`) beside its matcher.
    pub fn foreign_condition(&self) -> Option<&str> {
        self.setting("if").flatten()
    }

    /// Returns `true` if the hook was one of another agent.
    pub fn is_foreign(&self) -> bool {
        self.setting("language").flatten().is_some()
    }

    /// Returns `true` if the hook was enabled in its own file when it was trusted, or if the decision does not record
    /// that.
    pub fn was_enabled(&self) -> bool {
        ["enabled", "disabled"].iter().all(|name| !matches!(self.setting(name), Some(Some(_))))
    }

    /// A key of the hook's settings; `None` where the decision does not say, `Some(None)` for the
    /// default.
    fn setting(&self, name: &str) -> Option<Option<&str>> {
        let seen = self.seen.as_ref().filter(|_| self.form > 1)?;
        Some(seen.terms.get(name).map(String::as_str))
    }

    /// Returns the hook as it was trusted, if it is a native command and the decision records all of it.
    pub(super) fn to_entry(&self, project: &Path) -> Option<HookEntry> {
        let event = HookEventName::from_name(&self.event)?;
        let value = |name: &str| self.setting(name).flatten();
        let list = |name: &str| {
            let list = value(name).map(serde_json::from_str::<Vec<String>>);
            list.and_then(Result::ok).unwrap_or_default()
        };
        let mut config = HooksConfig::default();
        config.environment.allow = list("environment.allow");
        config.environment.deny = list("environment.deny");
        let number = |name: &str| value(name).and_then(|text| text.parse::<u64>().ok());
        config.max_concurrent = number("maxConcurrent").map_or(0, |count| count as usize);
        let location = Location::of_file(project.join(IN_PROJECT));
        let mut entry = HookEntry::of_file(event, &Arc::new(config), location);
        entry.matcher = self.matcher()?.map(Arc::new);
        entry.name.clone_from(&self.name);
        entry.command.clone_from(&self.command);
        entry.env = self.seen.as_ref()?.env.clone();
        entry.fail_behavior = self.fail_behavior()?;
        entry.timeout = number("timeout").map(Duration::from_millis);
        entry.sequential = value("sequential").is_some();
        entry.is_async = value("async").is_some();
        entry.data = list("data");
        entry.priority = match value("priority") {
            Some(text) => text.parse().ok()?,
            None => DEFAULT_PRIORITY,
        };
        Some(entry)
    }

    pub(super) fn identity(&self) -> (&str, Option<&str>, &str) {
        (&self.event, self.name.as_deref(), &self.command)
    }

    /// Returns `true` if it is bound to the same hook and files as another one.
    pub(super) fn is_equivalent(&self, other: &Self) -> bool {
        self.form == other.form
            && self.fingerprint == other.fingerprint
            && self.digest == other.digest
            && self.opaque.is_empty() == other.opaque.is_empty()
    }
}

/// Returns the settings of a hook beyond its event, matcher, name, command and variables, by their key; see
/// [`Seen::terms`]. All of them are part of the fingerprint.
///
/// A new key of settings that changes how a hook runs is one line here. A decision made before
/// still fits a hook without that key.
pub(super) fn spec(entry: &HookEntry) -> BTreeMap<String, String> {
    let config = &*entry.config;
    let list = |list: &[String]| (!list.is_empty()).then(|| Value::from(list).to_string());
    let owned = |text: &str| Some(text.to_owned());
    let is_disabled = config.disabled.iter().any(|name| name == entry.display_name());
    let priority = (entry.priority != DEFAULT_PRIORITY).then(|| entry.priority.to_string());
    let worker = entry.worker.as_ref();
    let kind = if entry.module.is_some() { "module" } else { "worker" };
    let idle = worker.and_then(|rules| rules.idle_timeout);
    let fields: [(&str, Option<String>); 15] = [
        ("sequential", entry.sequential.then(|| "true".to_owned())),
        ("priority", priority),
        ("async", entry.is_async.then(|| "true".to_owned())),
        ("timeout", entry.timeout.map(|timeout| timeout.as_millis().to_string())),
        (
            "failBehavior",
            match entry.fail_behavior {
                FailBehavior::Continue => None,
                FailBehavior::Block => owned(FailBehavior::Block.as_str()),
            },
        ),
        ("enabled", if config.enabled { None } else { owned("false") }),
        ("disabled", if is_disabled { owned("true") } else { None }),
        ("environment.allow", list(&config.environment.allow)),
        ("environment.deny", list(&config.environment.deny)),
        ("data", list(&entry.data)),
        ("type", worker.map(|_| kind.to_owned())),
        ("start", worker.filter(|rules| rules.eager).map(|_| "eager".to_owned())),
        ("startTimeout", worker.map(|rules| rules.start_timeout.as_millis().to_string())),
        ("idleTimeout", idle.map(|idle| idle.as_millis().to_string())),
        ("maxConcurrent", (config.max_concurrent > 0).then(|| config.max_concurrent.to_string())),
    ];
    let present = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    // What a declared event means is what a block of its guard means.
    let row = entry.event.row();
    let event = row.is_declared().then(|| EventDefinition::row_settings(row)).into_iter().flatten();
    let event = event.filter_map(|(key, value)| Some((format!("event.{key}"), value?)));
    let matcher = entry.matcher.iter().flat_map(|matcher| matcher.spec());
    let foreign = entry.foreign.iter().flat_map(|foreign| foreign.spec());
    let unreadable =
        entry.unreadable.as_ref().map(|why| ("unreadable".to_owned(), why.to_string()));
    present.chain(event).chain(matcher).chain(foreign).chain(unreadable).collect()
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
