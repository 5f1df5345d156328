//! The reader of one settings file.

use std::collections::HashSet;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::audit_level::AuditLevel;
use super::definition::{
    DEFAULT_PRIORITY, EnvironmentRules, FileSpans, HookEntry, HookSpans, HooksConfig, SettingsFile,
    TimeoutOrigin, WorkerRules,
};
use super::diagnostic::Diagnostic;
use super::document::{Document, Field, Node};
use super::fail_behavior::FailBehavior;
use super::fields::{
    CONFIG_FIELDS, DEFINITION_FIELDS, ENVIRONMENT_FIELDS, HOOK_FIELDS, MATCHER_FIELDS,
    MAX_PRIORITY, MAX_TIMEOUT_MILLISECONDS, REGISTRATION_FIELDS, TOP_LEVEL,
};
use super::folders::module_path;
use super::language_field::{is_in_language, language_of};
use super::matcher_definition::{COMMAND_PATTERN, KIND, PATH_PATTERN, TOOL, TOOL_PATTERN};
use super::matcher_definition::{MatcherDefinition, MatcherFields};
use super::redact_reader;
use super::registration::RegistrationRules;
use super::rule::Rule;
use super::rule_set::RuleSet;
use super::source::{HookSource, SettingsSource};
use crate::language::{self, Languages};
use hook_json::field;
use hook_json::text::nearest;
use hook_json::text::shortened;
use hook_protocol::event::{EventDefinition, Events, HookEventName, WILDCARD};
use hook_shell::loaders::is_forbidden_in_project;

/// Keys that people write under `hooks` although they are not events, with the key to use instead.
const MISPLACED_KEYS: [(&str, &str); 8] = [
    (
        "enabled",
        "write `hooksConfig.enabled`; for hooks that clients register, 0 as \
         `hooksConfig.registration.maxTotal`",
    ),
    ("disabled", "write `hooksConfig.disabled`"),
    ("notifications", "leave it out: whoever shows notifications has a setting for that"),
    ("maxHooksPerEvent", "write `hooksConfig.registration.maxPerEvent`"),
    ("maxTotalHooks", "write `hooksConfig.registration.maxTotal`"),
    (
        "defaultTimeout",
        "write `hooksConfig.defaultTimeout`; for hooks that clients register, \
         `hooksConfig.registration.defaultTimeout`",
    ),
    (
        FAIL_BEHAVIOR,
        "write `hooksConfig.failBehavior`; for hooks that clients register, \
         `hooksConfig.registration.failBehavior`",
    ),
    ("auditLevel", "write `hooksConfig.auditLevel`"),
];

const FAIL_BEHAVIOR: &str = "failBehavior";

/// Parses a settings text whose hooks listen to built-in events, or to those that it declares.
///
/// Top-level fields other than `hooks` and `hooksConfig` belong to the agent that owns the file,
/// and are ignored.
pub fn parse(text: &str, source: HookSource, path: Option<PathBuf>) -> SettingsFile {
    parse_with_events(text, source, path, &Events::built_in())
}

/// Like [`parse`], with additional events.
#[doc(hidden)]
pub fn parse_with_events(
    text: &str,
    source: HookSource,
    path: Option<PathBuf>,
    events: &Events,
) -> SettingsFile {
    let source = match path {
        Some(path) => SettingsSource::optional(source, path),
        None => return Reader::new(text, source, None, events).into_file(),
    };
    parse_source(text, &source, events)
}

/// Parses the text of a native source, with hooks in the languages that the source knows.
#[doc(hidden)]
pub fn parse_source(text: &str, source: &SettingsSource, events: &Events) -> SettingsFile {
    let mut reader = Reader::new(text, source.source.clone(), Some(source.path.clone()), events);
    reader.languages = source.languages.clone();
    reader.agents = Arc::clone(&source.agents);
    reader.is_list_of_modules = !source.modules.is_empty();
    reader.into_file()
}

/// Reads the text to its end and returns the file.
fn read_settings(mut reader: Reader<'_>) -> SettingsFile {
    let was_read = reader.read();
    let mentions_guard = !was_read && mentions_guard(reader.document.text());
    reader.spans.unreported = reader.document.unreported();
    SettingsFile {
        source: reader.source,
        path: reader.path,
        project: None,
        language: None,
        config: reader.config,
        hooks: reader.hooks,
        rules: reader.rules,
        declared: reader.declared,
        diagnostics: reader.document.into_diagnostics(),
        entries: 0,
        was_read,
        mentions_guard,
        spans: reader.spans,
    }
}

/// Checks whether a text that is not JSON contains a `failBehavior` of `block`.
fn mentions_guard(text: &str) -> bool {
    text.split("failBehavior").skip(1).any(|rest| {
        rest.trim_start_matches(|character: char| !character.is_alphanumeric()).starts_with("block")
    })
}

/// Returns the events that a settings text declares, even if the text has other errors.
pub(super) fn declared_events(text: &str) -> Vec<EventDefinition> {
    // Few files declare any, and the whole text is read for them.
    if !text.contains("\"events\"") {
        return Vec::new();
    }
    let mut reader = Reader::new(text, HookSource::Project, None, &Events::built_in());
    let fields = reader.document.root().ok().and_then(|root| reader.document.fields(&root));
    for field in fields.iter().flatten().filter(|field| field.name == "hooksConfig") {
        reader.read_config(&field.value);
    }
    reader.declared
}

pub(super) struct Reader<'t> {
    pub(super) source: HookSource,
    pub(super) path: Option<PathBuf>,
    /// The foreign languages that hooks may be written in.
    pub(super) languages: Languages,
    /// The agents named by any settings or the host.
    pub(super) agents: Arc<[String]>,
    /// `true` if the text may contain hooks in a foreign language.
    has_languages: bool,
    pub(super) document: Document<'t>,
    /// The known events.
    pub(super) events: Events,
    /// The events that this text declares.
    pub(super) declared: Vec<EventDefinition>,
    /// The names of events with an invalid declaration.
    pub(super) invalid_declarations: Vec<String>,
    pub(super) config: Arc<HooksConfig>,
    pub(super) hooks: Vec<HookEntry>,
    pub(super) rules: Vec<RuleSet>,
    pub(super) spans: FileSpans,
    /// `true` if `hooksConfig` has a `failBehavior`.
    has_fail_behavior: bool,
    /// `true` if this is a list of modules instead of a file.
    pub(super) is_list_of_modules: bool,
    /// The values of keys that are misspelt `hooks`.
    misplaced_hooks: Vec<Node>,
}

/// The consequence of an unreadable matcher for its hooks.
const UNREADABLE_MATCHER: &str =
    "its hooks were skipped, but for those with failBehavior block, which run for everything";

/// The most names or globs in one matcher.
const MAX_IN_MATCHER: usize = 256;

/// The error of a matcher that could not be read; it has been reported.
pub(super) struct UnreadableMatcher;

/// The event that an unknown name probably means.
#[derive(Debug, Clone, Copy)]
enum EventGuess {
    /// The event with this name in another agent, or with a similar name.
    Likely(HookEventName),
    /// A default: no event has a similar name.
    Fallback(HookEventName),
}

/// The definition of a hook.
struct Definition {
    event: HookEventName,
    matcher: Option<Arc<MatcherDefinition>>,
    matcher_range: Option<Range<usize>>,
    priority: i32,
    sequential: bool,
}

/// Checks whether a `failBehavior` is certainly not meant to block.
fn is_continue(field: &Field) -> bool {
    let name = field.value.value.to_text();
    let behavior = name.as_deref().and_then(FailBehavior::from_name);
    behavior == Some(FailBehavior::Continue) && !field.is_repeated
}

impl<'t> Reader<'t> {
    fn new(text: &'t str, source: HookSource, path: Option<PathBuf>, events: &Events) -> Self {
        Self {
            source,
            path: path.clone(),
            languages: Languages::default(),
            agents: Arc::default(),
            has_languages: text.contains("\"language\""),
            document: Document::new(text, path),
            events: events.clone(),
            declared: Vec::new(),
            invalid_declarations: Vec::new(),
            config: Arc::default(),
            hooks: Vec::new(),
            rules: Vec::new(),
            spans: FileSpans::default(),
            has_fail_behavior: false,
            is_list_of_modules: false,
            misplaced_hooks: Vec::new(),
        }
    }

    fn into_file(self) -> SettingsFile {
        read_settings(self)
    }

    /// Reads the file; returns `true` if it is an object, even one with errors.
    fn read(&mut self) -> bool {
        let root = match self.document.root() {
            Ok(root) => root,
            Err(error) => {
                self.document.report_not_json(&error);
                return false;
            }
        };
        let Some(fields) = self.document.fields(&root) else {
            self.document.wrong_kind(&root, "an object", "the file was skipped");
            return false;
        };
        for field in fields.iter().filter(|field| !field::has_field(&TOP_LEVEL, &field.name)) {
            // Other names belong to the agent that owns the file, unless they are misspelt.
            let known = || TOP_LEVEL.iter().map(|field| field.name);
            let message = || format!("`{}` is not read", shortened(&field.name));
            let is_section =
                known().chain(["hook"]).any(|name| field.name.eq_ignore_ascii_case(name));
            if is_section {
                self.document.unknown_name(Rule::MisspeltSection, field, message(), known());
                self.misplaced_hooks.push(field.value.clone());
            } else if nearest(&field.name, known()).is_some() {
                self.document.unknown_name(Rule::UnknownSection, field, message(), known());
            }
        }
        // Options for all hooks of the file are read first, regardless of their position.
        for field in fields.iter().filter(|field| field.name == "hooksConfig") {
            self.read_config(&field.value);
        }
        for field in fields.iter().filter(|field| field.name == "hooks") {
            self.apply_misplaced_fail_behavior(&field.value);
            self.read_events(&field.value);
            for node in &field.earlier {
                self.keep_events_blocked(node, "`hooks` stands twice");
            }
        }
        for node in std::mem::take(&mut self.misplaced_hooks) {
            self.keep_events_blocked(&node, "it stands under another key than `hooks`");
        }
        self.add_discovered();
        self.drop_repeated_modules();
        true
    }

    fn read_config(&mut self, node: &Node) {
        let Some(fields) = self.document.fields(node) else {
            self.document.wrong_kind(node, "an object", "it was ignored");
            // Its redaction rules are unknown.
            let mut config = HooksConfig::default();
            config.redact.problem = Some("`hooksConfig` is no object".to_owned());
            self.config = Arc::new(config);
            return;
        };
        let mut config = HooksConfig::default();
        let mut upstream = None;
        for field in &fields {
            match field.name.as_str() {
                "enabled" => {
                    if let Some(enabled) = self.bool(&field.value) {
                        config.enabled = enabled;
                    }
                }
                "disabled" => {
                    let disabled = self.located_texts(&field.value);
                    (config.disabled, self.spans.disabled) = disabled.into_iter().unzip();
                }
                "defaultTimeout" => {
                    config.default_timeout = self.timeout(&field.value);
                    self.spans.default_timeout = Some(field.value.value.range());
                }
                FAIL_BEHAVIOR => {
                    config.fail_behavior = self.fail_behavior(field);
                    self.has_fail_behavior = true;
                }
                "maxConcurrent" => {
                    config.max_concurrent = self.count(&field.value).unwrap_or_default();
                }
                "events" => self.read_declared_events(&field.value),
                "agents" => config.agents = self.agents(&field.value),
                "modules" => config.modules = self.texts(&field.value),
                "environment" => config.environment = self.environment_rules(&field.value),
                "auditLevel" | "log" | "redact" | "registration" | "server" | "upstream"
                    if !self.source.may_configure_records() =>
                {
                    let name = &field.name;
                    let message = format!("`{name}` has no effect in this file; it was ignored");
                    self.document.report(Rule::NotForProjects, &field.value, message);
                }
                // Read after the events are known.
                "upstream" => upstream = Some(field.value.clone()),
                "log" => config.logs_calls = self.logs_calls(&field.value),
                "server" => config.starts_server = self.starts_server(&field.value),
                "registration" => config.registration = self.registration(&field.value),
                "auditLevel" => config.audit_level = self.audit_level(&field.value),
                "redact" => {
                    redact_reader::read(&mut self.document, &field.value, &mut config.redact)
                }
                _ if self.is_misspelled_fail_behavior(field, &CONFIG_FIELDS) => {
                    config.fail_behavior = FailBehavior::Block;
                }
                _ => self.unknown_key(field, &CONFIG_FIELDS),
            }
        }
        self.config = Arc::new(config);
        if let Some(upstream) = upstream {
            self.read_upstream(&upstream);
        }
    }

    /// Applies a `failBehavior` under `hooks`. Its author wanted guards, unless it is `continue`.
    /// The value in `hooksConfig` takes precedence.
    fn apply_misplaced_fail_behavior(&mut self, hooks: &Node) {
        let Some(field) = self.document.field(hooks, FAIL_BEHAVIOR) else { return };
        if is_continue(&field) {
            return;
        }
        let may_rule = self.source.may_configure_records();
        let config = Arc::make_mut(&mut self.config);
        if !self.has_fail_behavior {
            config.fail_behavior = FailBehavior::Block;
        }
        if may_rule {
            config.registration.fail_behavior.get_or_insert(FailBehavior::Block);
        }
    }

    /// Returns the fields of an object; reports any other value and returns no fields.
    fn object(&mut self, node: &Node) -> Vec<Field> {
        self.document.fields(node).unwrap_or_else(|| {
            self.document.wrong_kind(node, "an object", "it was ignored");
            Vec::new()
        })
    }

    /// Returns a whole number; reports any other value and returns `None` for the default.
    fn count(&mut self, node: &Node) -> Option<usize> {
        let count = node.value.to_u64().and_then(|count| usize::try_from(count).ok());
        if count.is_none() {
            let found = shortened(node.value.as_str());
            let message = format!("expected a whole number, found {found}; the default is used");
            self.document.report(Rule::InvalidNumber, node, message);
        }
        count
    }

    fn registration(&mut self, node: &Node) -> RegistrationRules {
        let mut rules = RegistrationRules::default();
        for field in &self.object(node) {
            match field.name.as_str() {
                "maxPerEvent" => rules.max_per_event = self.count(&field.value),
                "maxTotal" => rules.max_total = self.count(&field.value),
                "defaultTimeout" => rules.default_timeout = self.timeout(&field.value),
                FAIL_BEHAVIOR => rules.fail_behavior = Some(self.fail_behavior(field)),
                _ if self.is_misspelled_fail_behavior(field, &REGISTRATION_FIELDS) => {
                    rules.fail_behavior = Some(FailBehavior::Block);
                }
                _ => self.unknown_key(field, &REGISTRATION_FIELDS),
            }
        }
        rules
    }

    fn logs_calls(&mut self, node: &Node) -> bool {
        match self.text(node, "it was ignored").as_deref() {
            Some("off") => false,
            Some("calls") | None => true,
            Some(other) => {
                let found = shortened(other);
                let message = format!(
                    "expected \"calls\" or \"off\", found `{found}`; they are written down"
                );
                self.document.report(Rule::WrongType, node, message);
                true
            }
        }
    }

    fn starts_server(&mut self, node: &Node) -> bool {
        match self.text(node, "it was ignored").as_deref() {
            Some("auto") => true,
            Some("off") | None => false,
            Some(other) => {
                let found = shortened(other);
                let message =
                    format!("expected \"off\" or \"auto\", found `{found}`; none is started");
                self.document.report(Rule::WrongType, node, message);
                false
            }
        }
    }

    fn agents(&mut self, node: &Node) -> Vec<String> {
        let Some(items) = self.document.items(node) else {
            self.document.wrong_kind(node, "an array of agents", "it was ignored");
            return Vec::new();
        };
        let mut agents = Vec::new();
        for item in &items {
            let Some(name) = self.text(item, "it was ignored") else { continue };
            if language::NAMES.contains(&name.as_str()) {
                agents.push(name);
                continue;
            }
            let message = format!("unknown agent `{}`; none of its hooks run", shortened(&name));
            let help = match nearest(&name, language::NAMES) {
                Some(nearest) => format!("write `{nearest}`"),
                None => format!("write one of {}", language::NAMES.join(", ")),
            };
            self.document.report_with_help(Rule::UnknownAgent, item, message, help);
        }
        agents
    }

    fn audit_level(&mut self, node: &Node) -> Option<AuditLevel> {
        let level = node.value.to_text().as_deref().and_then(AuditLevel::from_name);
        if level.is_none() {
            let found = shortened(node.value.as_str());
            let expected = AuditLevel::EXPECTED;
            let message = format!("expected {expected}, found {found}; the default is used");
            self.document.report(Rule::InvalidAuditLevel, node, message);
        }
        level
    }

    fn environment_rules(&mut self, node: &Node) -> EnvironmentRules {
        let mut rules = EnvironmentRules::default();
        for field in &self.object(node) {
            match field.name.as_str() {
                "allow" => rules.allow = self.texts(&field.value),
                "deny" => rules.deny = self.texts(&field.value),
                _ => self.unknown_key(field, &ENVIRONMENT_FIELDS),
            }
        }
        rules
    }

    fn read_events(&mut self, node: &Node) {
        let Some(fields) = self.document.fields(node) else {
            self.document.wrong_kind(node, "an object", "no hook was read");
            self.keep_events_blocked(node, "`hooks` is no object");
            return;
        };
        for field in &fields {
            for node in &field.earlier {
                self.keep_event_blocked(&field.name, node, "its event stands twice");
            }
            let definitions = self.document.items(&field.value);
            let (foreign, native): (Vec<Node>, Vec<Node>) = definitions
                .iter()
                .flatten()
                .cloned()
                .partition(|definition| self.is_in_language(definition));
            // Definitions of agents use those agents' names for events.
            let is_all_foreign = native.is_empty() && !foreign.is_empty();
            let event = match field.name.as_str() {
                WILDCARD => EventDefinition::wildcard(),
                name => self.events.from_name(name),
            };
            if event.is_none()
                && !is_all_foreign
                && let Some(guess) = self.unknown_event(field)
            {
                self.read_unknown_event(guess, &field.name, &native);
            }
            let Some(definitions) = definitions else {
                let reason = "its event is no array of hook definitions";
                self.keep_event_blocked(&field.name, &field.value, reason);
                if event.is_none() {
                    continue;
                }
                self.document.wrong_kind(
                    &field.value,
                    "an array of hook definitions",
                    "the event was skipped",
                );
                continue;
            };
            for definition in &definitions {
                match (self.is_in_language(definition), event) {
                    (true, _) => self.read_definition_in_language(&field.name, definition),
                    (false, Some(event)) => self.read_definition(event, &field.name, definition),
                    (false, None) => {}
                }
            }
        }
    }

    fn is_in_language(&self, definition: &Node) -> bool {
        self.has_languages && is_in_language(&definition.value)
    }

    /// Reads the definitions under an unknown event. Their hooks do not run, but their problems are
    /// reported. If the intended event is clear, their guards block it.
    fn read_unknown_event(&mut self, guess: EventGuess, name: &str, definitions: &[Node]) {
        let (EventGuess::Likely(event) | EventGuess::Fallback(event)) = guess;
        let read_before = self.hooks.len();
        for definition in definitions {
            self.read_definition(event, name, definition);
        }
        // Definitions in an agent's language use that agent's name for the event.
        let (native, foreign): (Vec<HookEntry>, Vec<HookEntry>) =
            self.hooks.drain(read_before..).partition(HookEntry::is_native_command);
        self.hooks.extend(foreign);
        // Guards of a project are excluded: it may be untrusted.
        let may_block =
            self.source != HookSource::Project && matches!(guess, EventGuess::Likely(_));
        let is_blocking = |hook: &HookEntry| may_block && hook.fail_behavior == FailBehavior::Block;
        let (guards, others): (Vec<_>, Vec<_>) = native.into_iter().partition(is_blocking);
        // Their other problems are reported, too.
        self.spans.unknown_event_hooks.extend(others.into_iter().chain(guards.iter().cloned()));
        let reason = format!("there is no event `{}`; write `{event}`", shortened(name));
        let reason: Arc<str> = reason.into();
        self.hooks.extend(
            guards
                .into_iter()
                .map(|guard| HookEntry { unreadable: Some(Arc::clone(&reason)), ..guard }),
        );
    }

    /// Reports an unknown event. Returns the event that is probably meant, unless the name is that
    /// of another key.
    fn unknown_event(&mut self, field: &Field) -> Option<EventGuess> {
        if let Some((name, help)) = MISPLACED_KEYS.iter().find(|(name, _)| *name == field.name) {
            let (rule, consequence) = match *name == FAIL_BEHAVIOR && !is_continue(field) {
                true => (Rule::InvalidFailBehavior, "\"block\" is used where nothing else is said"),
                false => (Rule::MisplacedKey, "it was ignored"),
            };
            let message = format!("`hooks.{name}` is not read; {consequence}");
            self.document.misplaced_name(rule, field, message, None, *help);
            None
        } else if TOP_LEVEL.iter().any(|known| known.name == field.name) {
            let name = &field.name;
            let message = format!("`{name}` belongs beside `hooks`, not into it; it was ignored");
            let help = format!("move `{name}` beside `hooks`");
            self.document.misplaced_name(Rule::MisplacedKey, field, message, None, help);
            None
        } else if let Some(event) = HookEventName::from_foreign_name(&field.name) {
            let name = shortened(&field.name);
            let message = format!("unknown event `{name}`; its hooks were skipped");
            let help = format!("what other agents call `{name}` is `{event}` here");
            let suggestion = Some(event.as_str());
            self.document.misplaced_name(Rule::UnknownEvent, field, message, suggestion, help);
            Some(EventGuess::Likely(event))
        } else if self.invalid_declarations.contains(&field.name) {
            let name = shortened(&field.name);
            let message = format!("the event `{name}` is not declared; its hooks were skipped");
            let help = format!("fix `{name}` under `hooksConfig.events`");
            self.document.misplaced_name(Rule::UnknownEvent, field, message, None, help);
            Some(EventGuess::Fallback(HookEventName::BeforeTool))
        } else {
            let message =
                format!("unknown event `{}`; its hooks were skipped", shortened(&field.name));
            let events = self.events.clone();
            let known = events.all().map(HookEventName::as_str);
            self.document.unknown_name(Rule::UnknownEvent, field, message, known);
            let nearest = events.nearest(&field.name).and_then(|name| events.from_name(name));
            // Without a similar name they are checked as hooks of a tool, the most common ones.
            Some(
                nearest.map_or(EventGuess::Fallback(HookEventName::BeforeTool), EventGuess::Likely),
            )
        }
    }

    fn read_definition(&mut self, event: HookEventName, name: &str, node: &Node) {
        let Some(fields) = self.document.fields(node) else {
            let consequence = "the definition was skipped";
            self.document.wrong_kind(node, "an object", consequence);
            self.keep_blocked(event, node, "its definition is no object");
            return;
        };
        let mut definition = Definition {
            event,
            matcher: None,
            matcher_range: None,
            priority: DEFAULT_PRIORITY,
            sequential: false,
        };
        let mut hooks = None;
        // A hook in place of a definition is one problem, not one for each of its fields.
        let is_hook = |name: &str| field::has_field(&HOOK_FIELDS, name);
        let flat = fields.iter().all(|field| field.name != "hooks")
            && fields.iter().any(|field| matches!(field.name.as_str(), "type" | "command"));
        let read_before = self.hooks.len();
        let mut unreadable = false;
        for field in &fields {
            match field.name.as_str() {
                "matcher" => {
                    definition.matcher_range = Some(field.value.value.range());
                    let matcher = self.matcher(&field.value).unwrap_or_else(|UnreadableMatcher| {
                        unreadable = true;
                        MatcherDefinition::Unreadable(field.value.value.as_str().to_owned())
                    });
                    definition.matcher = Some(Arc::new(matcher));
                }
                "priority" => definition.priority = self.priority(&field.value, DEFAULT_PRIORITY),
                "sequential" => definition.sequential = self.bool(&field.value).unwrap_or(false),
                "hooks" => {
                    hooks = Some(field.value.clone());
                    for node in &field.earlier {
                        self.keep_blocked(event, node, "`hooks` stands twice in its definition");
                    }
                }
                name if flat && is_hook(name) => {}
                _ => self.unknown_key(field, &DEFINITION_FIELDS),
            }
        }
        if flat {
            let message = "the definition is a hook, and has no `hooks`; it was skipped";
            let help = "put the hook into the definition's list: \"hooks\": [ {\"type\": \
                          \"command\", \"command\": \"...\"} ]";
            self.document.report_with_help(Rule::MissingHooks, node, message, help);
            self.keep_blocked(event, node, "its definition is a hook, and has no `hooks`");
            return;
        }
        let Some(hooks) = hooks else {
            let message = "the definition has no `hooks`; it was skipped";
            self.document.report(Rule::MissingHooks, node, message);
            self.keep_blocked(event, node, "its definition has no `hooks`");
            return;
        };
        let Some(items) = self.document.items(&hooks) else {
            let consequence = "the definition was skipped";
            self.document.wrong_kind(&hooks, "an array of hooks", consequence);
            self.keep_blocked(event, node, "the `hooks` of its definition are no array");
            return;
        };
        if items.is_empty() {
            self.spans.empty.push((hooks.value.range(), hooks.path().to_owned()));
        }
        let mut foreign_hooks = Vec::new();
        for (index, item) in items.iter().enumerate() {
            if self.has_languages && language_of(&item.value).is_some() {
                foreign_hooks.push((index, item.clone()));
                continue;
            }
            let hook = self.read_hook(&definition, item);
            match hook.filter(|hook| self.may_listen_to_event(hook, item)) {
                Some(hook) => self.hooks.push(hook),
                None => self.keep_blocked(event, item, "it is no hook as it stands there"),
            }
        }
        if !foreign_hooks.is_empty() {
            self.read_hooks_in_language(name, node, foreign_hooks);
        }
        if unreadable {
            // Its author wanted a restriction, so it does not run; but guards stay on.
            let read = self.hooks.split_off(read_before);
            // A matcher in an agent's language is read by that language.
            let is_kept = |hook: &HookEntry| {
                hook.fail_behavior == FailBehavior::Block || !hook.is_native_command()
            };
            let guards = read.into_iter().filter(is_kept);
            self.hooks.extend(guards);
        }
    }

    /// Blocks the events of guards in an object like `hooks` that is skipped.
    fn keep_events_blocked(&mut self, node: &Node, reason: &str) {
        let Ok(events) = node.value.to_object() else {
            return self.keep_blocked(HookEventName::BeforeTool, node, reason);
        };
        for (name, value) in events.iter() {
            if self.is_guard(value.as_str()) {
                self.keep_event_blocked(name, node, reason);
            }
        }
    }

    /// Blocks the event that is meant by a name if a guard stands in its definitions.
    fn keep_event_blocked(&mut self, name: &str, node: &Node, reason: &str) {
        // What belongs beside `hooks` is no event; `hooks` itself may have some.
        let is_option = MISPLACED_KEYS.iter().any(|(known, _)| *known == name)
            || name != "hooks" && field::has_field(&TOP_LEVEL, name);
        if is_option {
            return;
        }
        let known = self.events.from_name(name).or_else(|| HookEventName::from_foreign_name(name));
        let similar = || self.events.nearest(name).and_then(|name| self.events.from_name(name));
        let event = known.or_else(similar).unwrap_or(HookEventName::BeforeTool);
        self.keep_blocked(event, node, reason);
    }

    /// Blocks an event if a guard stands in a value that is skipped.
    fn keep_blocked(&mut self, event: HookEventName, node: &Node, reason: &str) {
        // A guard of a project is its user's to trust, and what it would run is not known.
        if self.source == HookSource::Project || !self.is_guard(node.value.as_str()) {
            return;
        }
        let event = if event.is_wildcard() { HookEventName::BeforeTool } else { event };
        let reason = format!("a guard that is skipped: {reason}; fix it, or take it out");
        let location = self.document.location(node);
        self.hooks.push(HookEntry {
            command: "skipped guard".to_owned(),
            fail_behavior: FailBehavior::Block,
            unreadable: Some(reason.into()),
            ..HookEntry::of_file(event, &self.config, location)
        });
    }

    /// Checks whether a guard stands in a text of settings.
    fn is_guard(&self, text: &str) -> bool {
        let is_by_default = self.config.fail_behavior == FailBehavior::Block
            && text.contains("\"type\"")
            && !text.contains(FAIL_BEHAVIOR);
        mentions_guard(text) || is_by_default
    }

    /// Checks whether a hook may listen to its event: only workers and modules may use `*`, since
    /// they declare their events themselves.
    fn may_listen_to_event(&mut self, hook: &HookEntry, node: &Node) -> bool {
        if !hook.event.is_wildcard() {
            if hook.module.is_some() {
                let message = "a module says itself which events are its own; the hook was skipped";
                let help = "put the module under `*`";
                self.document.report_with_help(Rule::UnknownEvent, node, message, help);
            }
            return hook.module.is_none();
        }
        if hook.worker.is_none() {
            let message = "only a worker or a module can stand under `*`, since it says itself which \
                           events are its own; the hook was skipped";
            let help = "put the command under the events that it is for";
            self.document.report_with_help(Rule::UnknownEvent, node, message, help);
            return false;
        }
        if hook.matcher.is_some() {
            let message = "a matcher has no effect under `*`: each hook of the worker says its own";
            self.document.report(Rule::InvalidMatcher, node, message);
        }
        true
    }

    /// Reads a matcher: a string or an object.
    pub(super) fn matcher(&mut self, node: &Node) -> Result<MatcherDefinition, UnreadableMatcher> {
        if let Some(text) = node.value.to_text() {
            return Ok(text.into());
        }
        let Some(fields) = self.document.fields(node) else {
            self.document.wrong_kind(node, "a string or an object", UNREADABLE_MATCHER);
            return Err(UnreadableMatcher);
        };
        let mut matcher = MatcherFields::new();
        let mut is_complete = true;
        for field in &fields {
            let value = &field.value;
            let read = match field.name.as_str() {
                KIND => self.one_or_more(value).map(|kinds| matcher.kinds = kinds),
                TOOL => self.one_or_more(value).map(|names| matcher.tools = names),
                PATH_PATTERN => self.one_or_more(value).map(|globs| matcher.paths = globs),
                TOOL_PATTERN => {
                    let text = self.text(value, UNREADABLE_MATCHER);
                    text.map(|text| matcher.tool_pattern = Some(text)).ok_or(UnreadableMatcher)
                }
                COMMAND_PATTERN => {
                    let text = self.text(value, UNREADABLE_MATCHER);
                    text.map(|text| matcher.command_pattern = Some(text)).ok_or(UnreadableMatcher)
                }
                name => {
                    let message =
                        format!("unknown key `{}`; {UNREADABLE_MATCHER}", shortened(name));
                    let known = MATCHER_FIELDS.iter().map(|field| field.name);
                    self.document.unknown_name(Rule::InvalidMatcher, field, message, known);
                    Err(UnreadableMatcher)
                }
            };
            is_complete &= read.is_ok();
        }
        if is_complete { Ok(matcher.into()) } else { Err(UnreadableMatcher) }
    }

    /// Reads a string or an array of strings.
    fn one_or_more(&mut self, node: &Node) -> Result<Vec<String>, UnreadableMatcher> {
        if let Some(text) = node.value.to_text() {
            return Ok(vec![text]);
        }
        let Some(items) = self.document.items(node) else {
            let expected = "a string or an array of strings";
            self.document.wrong_kind(node, expected, UNREADABLE_MATCHER);
            return Err(UnreadableMatcher);
        };
        if items.is_empty() || items.len() > MAX_IN_MATCHER {
            let message = format!(
                "expected 1 to {MAX_IN_MATCHER} strings, found {}; {UNREADABLE_MATCHER}",
                items.len()
            );
            self.document.report(Rule::InvalidMatcher, node, message);
            return Err(UnreadableMatcher);
        }
        let texts: Vec<Option<String>> =
            items.iter().map(|item| self.text(item, UNREADABLE_MATCHER)).collect();
        texts.into_iter().collect::<Option<_>>().ok_or(UnreadableMatcher)
    }

    fn read_hook(&mut self, definition: &Definition, node: &Node) -> Option<HookEntry> {
        const SKIPPED: &str = "the hook was skipped";
        let Some(fields) = self.document.fields(node) else {
            self.document.wrong_kind(node, "an object", SKIPPED);
            return None;
        };
        let location = self.document.location(node);
        let mut hook = HookEntry {
            matcher: definition.matcher.clone(),
            priority: definition.priority,
            sequential: definition.sequential,
            spans: HookSpans { matcher: definition.matcher_range.clone(), ..HookSpans::default() },
            ..HookEntry::of_file(definition.event, &self.config, location)
        };
        let (mut kind, mut is_async, mut module) = (None, None, None);
        let mut worker_fields: Vec<&Field> = Vec::new();
        for field in &fields {
            match field.name.as_str() {
                "type" => kind = Some((self.text(&field.value, SKIPPED)?, field.value.clone())),
                "command" => {
                    hook.command = self.text(&field.value, SKIPPED)?;
                    hook.spans.command = Some(field.value.value.range());
                }
                "path" => module = Some((self.text(&field.value, SKIPPED)?, field)),
                "name" => hook.name = self.name(&field.value),
                "description" => hook.description = self.text(&field.value, "it was ignored"),
                "timeout" => {
                    hook.timeout = self.timeout(&field.value);
                    hook.spans.timeout = Some(field.value.value.range());
                    hook.timeout_origin = match hook.timeout {
                        Some(_) => TimeoutOrigin::Hook,
                        None => TimeoutOrigin::Engine,
                    };
                }
                "failBehavior" => hook.fail_behavior = self.fail_behavior(field),
                "async" => {
                    hook.is_async = self.bool(&field.value).unwrap_or(false);
                    hook.spans.is_async = Some(field.value.value.range());
                    is_async = Some(field.value.clone());
                }
                "priority" => hook.priority = self.priority(&field.value, definition.priority),
                "env" => hook.env = self.hook_environment(&field.value),
                "data" => hook.data = self.texts(&field.value),
                "start" | "startTimeout" | "idleTimeout" => {
                    let range = Some(field.value.value.range());
                    match field.name.as_str() {
                        "startTimeout" => hook.spans.start_timeout = range,
                        "idleTimeout" => hook.spans.idle_timeout = range,
                        _ => {}
                    }
                    worker_fields.push(field);
                }
                name if field::has_field(&DEFINITION_FIELDS, name) => {
                    let message = format!("`{name}` has no effect in a hook; it was ignored");
                    let help = format!("move `{name}` to the definition around the hook");
                    self.document.misplaced_name(Rule::UnknownKey, field, message, None, help);
                }
                _ if self.is_misspelled_fail_behavior(field, &HOOK_FIELDS) => {
                    hook.fail_behavior = FailBehavior::Block;
                }
                _ => self.unknown_key(field, &HOOK_FIELDS),
            }
        }
        let is_module = matches!(&kind, Some((kind, _)) if kind == "module");
        if let Some((_, field)) = module.as_ref().filter(|_| !is_module) {
            let message = "`path` has no effect but in a module".to_owned();
            let remedy =
                "write \"type\": \"module\" for a file of JavaScript or TypeScript".to_owned();
            self.document.misplaced_name(Rule::UnknownKey, field, message, None, remedy);
        }
        match kind {
            Some((kind, _)) if kind == "command" => {
                for field in worker_fields {
                    let message = format!("`{}` has no effect but in a worker", field.name);
                    let remedy =
                        "write \"type\": \"worker\" where the command stays alive and answers \
                                  calls"
                            .to_owned();
                    self.document.misplaced_name(Rule::UnknownKey, field, message, None, remedy);
                }
            }
            Some((kind, _)) if kind == "worker" => {
                hook.worker = Some(self.worker_rules(&worker_fields));
            }
            Some(_) if is_module => {
                let Some((path, field)) = module.filter(|(path, _)| !path.trim().is_empty()) else {
                    let message = format!("the module has no `path`, or a blank one; {SKIPPED}");
                    self.document.report(Rule::MissingCommand, node, message);
                    return None;
                };
                hook.worker = Some(self.worker_rules(&worker_fields));
                let file = module_path(&path, &self.source, self.path.as_deref());
                hook.spans.module = Some(field.value.value.range());
                // The same module is the same hook, regardless of the spelling of its path.
                hook.command = match self.source == HookSource::Project {
                    true => self.shown(&file)?,
                    false => path,
                };
                hook.module = Some(file);
            }
            Some((kind, value)) => {
                let message = format!(
                    "unknown hook type `{}`, expected `command`, `worker` or `module`; {SKIPPED}",
                    shortened(&kind)
                );
                self.document.report(Rule::UnknownType, &value, message);
                return None;
            }
            None => {
                let message = format!(
                    "the hook has no `type`, expected `command`, `worker` or `module`; {SKIPPED}"
                );
                self.document.report(Rule::MissingType, node, message);
                return None;
            }
        }
        if hook.command.trim().is_empty() {
            let message = format!("the hook has no `command`, or a blank one; {SKIPPED}");
            self.document.report(Rule::MissingCommand, node, message);
            return None;
        }
        if let Some(node) = is_async
            && hook.is_async
            && hook.fail_behavior == FailBehavior::Block
        {
            let message = "a guard has to be waited for; `async` was ignored";
            self.document.report(Rule::AsyncGuard, &node, message);
            hook.is_async = false;
        }
        Some(hook)
    }

    /// Drops duplicates of modules; the first one stays.
    fn drop_repeated_modules(&mut self) {
        let mut known = HashSet::new();
        let mut repeated = Vec::new();
        self.hooks.retain(|hook| {
            let is_new = hook.module.as_ref().is_none_or(|path| known.insert(path.clone()));
            if !is_new {
                repeated.push(hook.clone());
            }
            is_new
        });
        for HookEntry { module, location, command, fail_behavior, .. } in repeated {
            // If any of the duplicates is a guard, the first becomes one.
            let first = self.hooks.iter_mut().find(|hook| hook.module == module);
            if let Some(first) = first.filter(|_| fail_behavior == FailBehavior::Block) {
                first.fail_behavior = fail_behavior;
            }
            // A folder and a list may well contain the same module.
            if location.line == 0 {
                continue;
            }
            let path = shortened(&command);
            let message = format!("the module `{path}` stands there already; this one was ignored");
            self.document.push(Diagnostic::new(Rule::RepeatedModule, location, message));
        }
    }

    fn worker_rules(&mut self, fields: &[&Field]) -> WorkerRules {
        let mut rules = WorkerRules::default();
        for field in fields {
            match field.name.as_str() {
                "start" => match self.text(&field.value, "it was ignored").as_deref() {
                    Some("eager") => rules.eager = true,
                    Some("lazy") | None => {}
                    Some(other) => {
                        let found = shortened(other);
                        let message = format!(
                            "expected \"eager\" or \"lazy\", found `{found}`; it starts at its first \
                             call"
                        );
                        self.document.report(Rule::WrongType, &field.value, message);
                    }
                },
                "startTimeout" => {
                    let timeout = self.timeout(&field.value);
                    rules.start_timeout = timeout.unwrap_or(rules.start_timeout);
                }
                _ => rules.idle_timeout = self.timeout(&field.value),
            }
        }
        rules
    }

    fn hook_environment(&mut self, node: &Node) -> Vec<(String, String)> {
        let Some(fields) = self.document.fields(node) else {
            self.document.wrong_kind(node, "an object", "it was ignored");
            return Vec::new();
        };
        let mut env = Vec::new();
        for field in &fields {
            let Some(value) = self.text(&field.value, "it was ignored") else { continue };
            let bad_name = field.name.is_empty() || field.name.contains(['=', '\0']);
            if bad_name || value.contains('\0') {
                let message = "not a valid environment variable; it was ignored";
                self.document.report(Rule::InvalidVariable, &field.value, message);
                continue;
            }
            if self.source == HookSource::Project && is_forbidden_in_project(&field.name) {
                let message = format!(
                    "hooks of a project start without `{}`, which says what programs load; it was ignored",
                    shortened(&field.name)
                );
                self.document.report(Rule::RefusedVariable, &field.value, message);
            }
            env.push((field.name.clone(), value));
        }
        env
    }

    pub(super) fn unknown_key(&mut self, field: &Field, known: &'static [field::Field]) {
        let message = format!("unknown key `{}`; it was ignored", shortened(&field.name));
        let known = known.iter().map(|field| field.name);
        self.document.unknown_name(Rule::UnknownKey, field, message, known);
    }

    /// Returns a hook's name; `None` for a blank one, which `disabled` could not list.
    fn name(&mut self, node: &Node) -> Option<String> {
        let name = self.text(node, "it was ignored")?;
        if name.trim().is_empty() {
            self.document.report(Rule::BlankName, node, "the name is blank; it was ignored");
            return None;
        }
        Some(name)
    }

    pub(super) fn text(&mut self, node: &Node, consequence: &str) -> Option<String> {
        let text = node.value.to_text();
        if text.is_none() {
            self.document.wrong_kind(node, "a string", consequence);
        }
        text
    }

    fn bool(&mut self, node: &Node) -> Option<bool> {
        let value = node.value.to_bool();
        if value.is_none() {
            self.document.wrong_kind(node, "true or false", "it was ignored");
        }
        value
    }

    fn texts(&mut self, node: &Node) -> Vec<String> {
        self.located_texts(node).into_iter().map(|(text, _)| text).collect()
    }

    /// Returns the strings of an array, each with its byte range.
    fn located_texts(&mut self, node: &Node) -> Vec<(String, Range<usize>)> {
        let Some(items) = self.document.items(node) else {
            self.document.wrong_kind(node, "an array of strings", "it was ignored");
            return Vec::new();
        };
        let located = |item: &Node| Some((self.text(item, "it was ignored")?, item.value.range()));
        items.iter().filter_map(located).collect()
    }

    pub(super) fn fail_behavior(&mut self, field: &Field) -> FailBehavior {
        let found = &field.value.value;
        let behavior = found.to_text().as_deref().and_then(FailBehavior::from_name);
        let found = match field.is_repeated {
            true => "several".to_owned(),
            false => shortened(found.as_str()),
        };
        behavior.filter(|_| !field.is_repeated).unwrap_or_else(|| {
            // For a guard with an invalid value, the stricter one is used.
            let message = format!(
                "expected {}, found {found}; \"block\" is used, the stricter one",
                FailBehavior::EXPECTED,
            );
            self.document.report(Rule::InvalidFailBehavior, &field.value, message);
            FailBehavior::Block
        })
    }

    /// Checks whether an unknown key is a misspelt `failBehavior` with any value but `continue`;
    /// reports it.
    pub(super) fn is_misspelled_fail_behavior(
        &mut self,
        field: &Field,
        known: &'static [field::Field],
    ) -> bool {
        let is_known = field::has_field(known, &field.name);
        if is_known
            || nearest(&field.name, known.iter().map(|known_field| known_field.name))
                != Some("failBehavior")
        {
            return false;
        }
        let name = field.value.value.to_text();
        if name.as_deref().and_then(FailBehavior::from_name) == Some(FailBehavior::Continue) {
            return false;
        }
        let message = format!(
            "`{}` is not known, and taken for `failBehavior`; \"block\" is used, the stricter one",
            shortened(&field.name)
        );
        let known = known.iter().map(|field| field.name);
        self.document.unknown_name(Rule::InvalidFailBehavior, field, message, known);
        true
    }

    pub(super) fn priority(&mut self, node: &Node, default: i32) -> i32 {
        let value = &node.value;
        let priority = value.to_i64().and_then(|number| i32::try_from(number).ok());
        match priority.filter(|priority| (-MAX_PRIORITY..=MAX_PRIORITY).contains(priority)) {
            Some(priority) => priority,
            None => {
                let message = format!(
                    "expected a whole number from -{MAX_PRIORITY} to {MAX_PRIORITY}, found {}; \
                     {default} is used",
                    shortened(value.as_str())
                );
                self.document.report(Rule::InvalidNumber, node, message);
                default
            }
        }
    }

    /// Returns a timeout; reports any other value and returns `None` for the default.
    pub(super) fn timeout(&mut self, node: &Node) -> Option<Duration> {
        let value = &node.value;
        match value.to_u64() {
            Some(milliseconds @ 1..=MAX_TIMEOUT_MILLISECONDS) => {
                Some(Duration::from_millis(milliseconds))
            }
            _ => {
                let message = format!(
                    "expected whole milliseconds from 1 to {MAX_TIMEOUT_MILLISECONDS}, found \
                     {}; the default is used",
                    shortened(value.as_str())
                );
                self.document.report(Rule::InvalidTimeout, node, message);
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn problems(text: &str) -> Vec<String> {
        let file = parse(text, HookSource::User, Some("s.json".into()));
        file.diagnostics.iter().map(ToString::to_string).collect()
    }

    fn hook(fields: &str) -> String {
        format!(r#"{{"hooks":{{"BeforeTool":[{{"hooks":[{{{fields}}}]}}]}}}}"#)
    }

    #[test]
    fn every_kind_of_problem_is_reported_with_place_and_suggestion() {
        for (text, expected) in [
            (
                "{\n  \"hooks\": {,}\n}".to_owned(),
                "s.json:2:13: error: the file is not JSON: key must be a string; none of its hooks run until this is fixed",
            ),
            (
                "[]".to_owned(),
                "s.json:1:1: error: expected an object, found an array; the file was skipped",
            ),
            (
                r#"{"hooks":{"BeforeTools":[]}}"#.to_owned(),
                "s.json:1:11: error: hooks.BeforeTools: unknown event `BeforeTools`; its hooks were skipped (did you mean `BeforeTool`?)",
            ),
            (
                r#"{"hooks":{"BeforeTool":{}}}"#.to_owned(),
                "s.json:1:24: error: hooks.BeforeTool: expected an array of hook definitions, found an object; the event was skipped",
            ),
            (
                r#"{"hooks":{"disabled":[]}}"#.to_owned(),
                "s.json:1:11: hint: hooks.disabled: `hooks.disabled` is not read; it was ignored",
            ),
            (
                hook(r#""type":"command""#),
                "s.json:1:35: error: hooks.BeforeTool[0].hooks[0]: the hook has no `command`, or a blank one; the hook was skipped",
            ),
            (
                hook(r#""type":"plugin","command":"x""#),
                "s.json:1:43: error: hooks.BeforeTool[0].hooks[0].type: unknown hook type `plugin`, expected `command`, `worker` or `module`; the hook was skipped",
            ),
            (
                hook(r#""type":"command","command":7"#),
                "s.json:1:63: error: hooks.BeforeTool[0].hooks[0].command: expected a string, found a number; the hook was skipped",
            ),
            (
                hook(r#""type":"command","command":"x","timeuot":5"#),
                "s.json:1:67: warning: hooks.BeforeTool[0].hooks[0].timeuot: unknown key `timeuot`; it was ignored (did you mean `timeout`?)",
            ),
            (
                hook(r#""type":"command","command":"x","timeout":0"#),
                "s.json:1:77: warning: hooks.BeforeTool[0].hooks[0].timeout: expected whole milliseconds from 1 to 86400000, found 0; the default is used",
            ),
        ] {
            assert_eq!(problems(&text), [expected], "{text}");
        }
    }

    #[test]
    fn a_broken_entry_costs_no_other() {
        let text = r#"{"hooks":{"AfterTool":7,"BeforeTool":[5,{"hooks":[{},
            {"type":"command","command":"a","timeout":1.5},{"type":"command","command":"b","timeout":5e3}]}]}}"#;
        let file = parse(text, HookSource::User, None);
        let read: Vec<_> = file
            .hooks
            .iter()
            .map(|hook| (hook.command.as_str(), hook.timeout.map(|timeout| timeout.as_millis())))
            .collect();
        assert_eq!(read, [("a", None), ("b", Some(5_000))]);
        assert_eq!(file.diagnostics.len(), 4);
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text in "[{}\\[\\]\",:a-z0-9\\\\ \n]{0,120}") {
            parse(&text, HookSource::User, None);
        }
    }
}
