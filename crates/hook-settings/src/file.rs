//! The reader of one settings file.

use std::collections::HashSet;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use super::definition::{EnvironmentRules, HookEntry, HooksConfig, SettingsFile, WorkerRules};
use super::diagnostic::Diagnostic;
use super::document::{Document, Field, Node};
use super::fields::{
    CONFIG_FIELDS, DEFAULT_PRIORITY, DEFINITION_FIELDS, ENVIRONMENT_FIELDS, HOOK_FIELDS,
    MATCHER_FIELDS, REDACT_FIELDS, REGISTRATION_FIELDS, TOP_LEVEL,
};
use super::folders::module_path;
use super::keywords::{FailBehavior, TimeoutOrigin};
use super::language_field::{is_in_language, language_of, mentions_language};
use hook_protocol::event::input::CallerField;

use super::matcher_definition::{
    COMMAND_PATTERN, KIND, MatcherDefinition, MatcherFields, PATH_PATTERN, TOOL, TOOL_PATTERN,
};
use super::redaction::RedactionRules;
use super::registration::RegistrationRules;
use super::rule::Rule;
use super::source::{HookSource, SettingsSource};
use super::values::{FAIL_BEHAVIOR, LENIENT, Treatment};
use crate::language::Languages;
use crate::redact::pattern_error;
use hook_json::text::{nearest, shortened};
use hook_json::{JsonKind, field};
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

/// Parses a settings text whose hooks listen to built-in events, or to those that it declares.
///
/// Top-level fields other than `hooks` and `hooksConfig` belong to the agent that owns the file,
/// and are ignored.
pub fn parse(text: &str, source: HookSource, path: Option<PathBuf>) -> SettingsFile {
    Reader::new(text, SettingsFile::new(source, path), &Events::built_in()).into_file()
}

/// Parses the text of a native source, with hooks in the languages that the source knows.
pub fn parse_source(text: &str, source: &SettingsSource, events: &Events) -> SettingsFile {
    let file = SettingsFile::new(source.source.clone(), Some(source.path.clone()));
    let mut reader = Reader::new(text, file, events);
    reader.languages = source.languages.clone();
    reader.agents = Arc::clone(&source.agents);
    reader.is_list_of_modules = !source.modules.is_empty();
    reader.into_file()
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
    let file = SettingsFile::new(HookSource::Project, None);
    let mut reader = Reader::new(text, file, &Events::built_in());
    let fields = reader.document.root().ok().and_then(|root| reader.document.fields(&root));
    for field in fields.iter().flatten().filter(|field| field.name == "hooksConfig") {
        reader.read_config(&field.value);
    }
    reader.file.declared
}

pub(super) struct Reader<'t> {
    /// The contents read so far.
    pub(super) file: SettingsFile,
    /// The foreign languages that hooks may be written in.
    pub(super) languages: Languages,
    /// The agents named by any settings or the host.
    pub(super) agents: Arc<[String]>,
    /// `true` if the text may contain hooks in a foreign language.
    has_languages: bool,
    pub(super) document: Document<'t>,
    /// The known events.
    pub(super) events: Events,
    /// The names of events with an invalid declaration.
    pub(super) invalid_declarations: Vec<String>,
    /// `true` if `hooksConfig` has a `failBehavior`.
    has_fail_behavior: bool,
    /// `true` if this is a list of modules instead of a file.
    pub(super) is_list_of_modules: bool,
    /// The values of keys that are misspelt `hooks`.
    misplaced_hooks: Vec<Node>,
}

/// The treatment of problems in a matcher: its author wanted a restriction.
const MATCHER: Treatment = Treatment {
    strict: Some(Rule::InvalidMatcher),
    consequence: "its hooks were skipped, but for those with failBehavior block, which run for \
                  everything",
    ..LENIENT
};

/// The treatment of problems in redaction rules: they were meant to hide something.
const REDACT: Treatment = Treatment {
    strict: Some(Rule::InvalidRedaction),
    wrong_type: Rule::InvalidRedaction,
    consequence: "recordings and audits leave out all values until it is fixed",
    ..LENIENT
};

/// The fields of `hooksConfig` that a project may not set.
const NOT_FOR_PROJECTS: [&str; 6] =
    ["auditLevel", "log", "redact", "registration", "server", "upstream"];

/// The fields of a hook that only some types have, with those types and the fix.
const FIELDS_OF_TYPES: [(&str, &[&str], &str, &str); 4] = [
    (
        "path",
        &["module"],
        "a module",
        "write \"type\": \"module\" for a file of JavaScript or TypeScript",
    ),
    ("start", &["worker", "module"], "a worker", LIVING),
    ("startTimeout", &["worker", "module"], "a worker", LIVING),
    ("idleTimeout", &["worker", "module"], "a worker", LIVING),
];

const LIVING: &str = "write \"type\": \"worker\" where the command stays alive and answers calls";

/// The error of a matcher that could not be read; it has been reported.
pub(super) struct UnreadableMatcher;

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
    fn new(text: &'t str, file: SettingsFile, events: &Events) -> Self {
        Self {
            languages: Languages::default(),
            agents: Arc::default(),
            has_languages: mentions_language(text),
            document: Document::new(text, file.path.clone()),
            file,
            events: events.clone(),
            invalid_declarations: Vec::new(),
            has_fail_behavior: false,
            is_list_of_modules: false,
            misplaced_hooks: Vec::new(),
        }
    }

    /// Reads the text to its end and returns the file.
    fn into_file(mut self) -> SettingsFile {
        let was_read = self.read();
        let mut file = self.file;
        file.was_read = was_read;
        file.spans.unreported = self.document.unreported();
        file.diagnostics = self.document.into_diagnostics();
        file
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
            self.file.config = Arc::new(config);
            return;
        };
        let (ignored, fields): (Vec<Field>, Vec<Field>) = fields.into_iter().partition(|field| {
            !self.file.source.may_configure_records() && NOT_FOR_PROJECTS.contains(&&*field.name)
        });
        for field in &ignored {
            let message = format!("`{}` has no effect in this file; it was ignored", field.name);
            self.document.report(Rule::NotForProjects, &field.value, message);
        }
        let values = self.values_of(fields, &CONFIG_FIELDS, LENIENT);
        if let Some(events) = values.node("events") {
            self.read_declared_events(events);
        }
        let disabled = values.located_texts("disabled").unwrap_or_default();
        self.file.spans.disabled = disabled.iter().map(|(_, range)| range.clone()).collect();
        self.file.spans.default_timeout =
            values.node("defaultTimeout").map(|node| node.value.range());
        self.has_fail_behavior = values.field(FAIL_BEHAVIOR).is_some();
        let mut config = HooksConfig::of(&values);
        if let Some(node) = values.node("environment") {
            let values = self.values(node, &ENVIRONMENT_FIELDS, LENIENT);
            let (allow, deny) = (values.texts("allow"), values.texts("deny"));
            config.environment = EnvironmentRules { allow, deny };
        }
        if let Some(node) = values.node("registration") {
            let values = self.values(node, &REGISTRATION_FIELDS, LENIENT);
            config.registration = RegistrationRules {
                max_per_event: values.number("maxPerEvent"),
                max_total: values.number("maxTotal"),
                default_timeout: values.duration("defaultTimeout"),
                fail_behavior: values.fail_behavior(),
            };
        }
        if let Some(node) = values.node("redact") {
            config.redact = self.redaction_rules(node);
        }
        self.file.config = Arc::new(config);
        // Read after the events are known.
        if let Some(upstream) = values.node("upstream") {
            self.read_upstream(upstream);
        }
    }

    fn redaction_rules(&mut self, node: &Node) -> RedactionRules {
        let values = self.values(node, &REDACT_FIELDS, REDACT);
        let mut rules = RedactionRules {
            patterns: values.texts("patterns"),
            fields: values.texts("fields"),
            problem: values.problem.clone(),
        };
        let items = values.node("patterns").and_then(|node| self.document.items(node));
        for item in items.unwrap_or_default() {
            let text = item.value.to_text();
            let Some((reason, text)) = text.and_then(|text| Some((pattern_error(&text)?, text)))
            else {
                continue;
            };
            // The stored problem does not contain the pattern, which may be a secret.
            let stored = || "one of `redact.patterns` cannot be used".to_owned();
            rules.problem.get_or_insert_with(stored);
            rules.patterns.retain(|pattern| *pattern != text);
            let problem = format!("the pattern `{}` {reason}", shortened(&text));
            self.report_strict(Rule::InvalidRedaction, &item, &problem, REDACT);
        }
        rules
    }

    /// Applies a `failBehavior` under `hooks`. Its author wanted guards, unless it is `continue`.
    /// The value in `hooksConfig` takes precedence.
    fn apply_misplaced_fail_behavior(&mut self, hooks: &Node) {
        let Some(field) = self.document.field(hooks, FAIL_BEHAVIOR) else { return };
        if is_continue(&field) {
            return;
        }
        let may_rule = self.file.source.may_configure_records();
        let config = Arc::make_mut(&mut self.file.config);
        if !self.has_fail_behavior {
            config.fail_behavior = FailBehavior::Block;
        }
        if may_rule {
            config.registration.fail_behavior.get_or_insert(FailBehavior::Block);
        }
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
    fn read_unknown_event(
        &mut self,
        (event, is_likely): (HookEventName, bool),
        name: &str,
        definitions: &[Node],
    ) {
        let read_before = self.file.hooks.len();
        for definition in definitions {
            self.read_definition(event, name, definition);
        }
        // Definitions in an agent's language use that agent's name for the event.
        let (native, foreign): (Vec<HookEntry>, Vec<HookEntry>) =
            self.file.hooks.drain(read_before..).partition(HookEntry::is_native_command);
        self.file.hooks.extend(foreign);
        // Guards of a project are excluded: it may be untrusted.
        let may_block = self.file.source != HookSource::Project && is_likely;
        let is_blocking = |hook: &HookEntry| may_block && hook.fail_behavior == FailBehavior::Block;
        let (guards, others): (Vec<_>, Vec<_>) = native.into_iter().partition(is_blocking);
        // Their other problems are reported, too.
        let checked = others.into_iter().chain(guards.iter().cloned());
        self.file.spans.unknown_event_hooks.extend(checked);
        let reason = format!("there is no event `{}`; write `{event}`", shortened(name));
        let reason: Arc<str> = reason.into();
        let blocking = |guard| HookEntry { unreadable: Some(Arc::clone(&reason)), ..guard };
        self.file.hooks.extend(guards.into_iter().map(blocking));
    }

    /// Reports an unknown event. Returns the event that is probably meant, and `true` if its name is
    /// similar or another agent's; `None` if the name is that of another key.
    fn unknown_event(&mut self, field: &Field) -> Option<(HookEventName, bool)> {
        // Without a similar name they are checked as hooks of a tool, the most common ones.
        let fallback = (HookEventName::BeforeTool, false);
        let name = shortened(&field.name);
        let unknown = format!("unknown event `{name}`; its hooks were skipped");
        let event = HookEventName::from_foreign_name(&field.name);
        let misplaced = MISPLACED_KEYS.iter().find(|(key, _)| *key == field.name);
        let (rule, message, help, guess) = if let Some((name, help)) = misplaced {
            let (rule, consequence) = match *name == FAIL_BEHAVIOR && !is_continue(field) {
                true => (Rule::InvalidFailBehavior, "\"block\" is used where nothing else is said"),
                false => (Rule::MisplacedKey, "it was ignored"),
            };
            let message = format!("`hooks.{name}` is not read; {consequence}");
            (rule, message, (*help).to_owned(), None)
        } else if field::has_field(&TOP_LEVEL, &field.name) {
            let message = format!("`{name}` belongs beside `hooks`, not into it; it was ignored");
            (Rule::MisplacedKey, message, format!("move `{name}` beside `hooks`"), None)
        } else if let Some(event) = event {
            let help = format!("what other agents call `{name}` is `{event}` here");
            (Rule::UnknownEvent, unknown, help, Some((event, true)))
        } else if self.invalid_declarations.contains(&field.name) {
            let message = format!("the event `{name}` is not declared; its hooks were skipped");
            let help = format!("fix `{name}` under `hooksConfig.events`");
            (Rule::UnknownEvent, message, help, Some(fallback))
        } else {
            let known = self.events.all().map(HookEventName::as_str);
            self.document.unknown_name(Rule::UnknownEvent, field, unknown, known);
            let nearest = self.events.nearest(&field.name);
            let nearest = nearest.and_then(|name| self.events.from_name(name));
            return Some(nearest.map_or(fallback, |event| (event, true)));
        };
        let suggestion = guess.filter(|(_, is_likely)| *is_likely).map(|(event, _)| event.as_str());
        self.document.misplaced_name(rule, field, message, suggestion, help);
        guess
    }

    fn read_definition(&mut self, event: HookEventName, name: &str, node: &Node) {
        let Some(mut fields) = self.document.fields(node) else {
            let consequence = "the definition was skipped";
            self.document.wrong_kind(node, "an object", consequence);
            self.keep_blocked(event, node, "its definition is no object");
            return;
        };
        // A hook in place of a definition is one problem, not one for each of its fields.
        let flat = fields.iter().all(|field| field.name != "hooks")
            && fields.iter().any(|field| matches!(field.name.as_str(), "type" | "command"));
        fields.retain(|field| {
            !(flat && field::has_field(&HOOK_FIELDS, &field.name))
                || field::has_field(&DEFINITION_FIELDS, &field.name)
        });
        let values = self.values_of(fields, &DEFINITION_FIELDS, LENIENT);
        let read_before = self.file.hooks.len();
        let mut unreadable = false;
        let matcher = values.node("matcher").map(|node| {
            let matcher = self.matcher(node).unwrap_or_else(|UnreadableMatcher| {
                unreadable = true;
                MatcherDefinition::Unreadable(node.value.as_str().to_owned())
            });
            Arc::new(matcher)
        });
        let definition = Definition {
            event,
            matcher,
            matcher_range: values.node("matcher").map(|node| node.value.range()),
            priority: values.number("priority").unwrap_or(DEFAULT_PRIORITY),
            sequential: values.bool("sequential"),
        };
        for node in values.field("hooks").iter().flat_map(|field| &field.earlier) {
            self.keep_blocked(event, node, "`hooks` stands twice in its definition");
        }
        if flat {
            let message = "the definition is a hook, and has no `hooks`; it was skipped";
            let help = "put the hook into the definition's list: \"hooks\": [ {\"type\": \
                          \"command\", \"command\": \"...\"} ]";
            self.document.report_with_help(Rule::MissingHooks, node, message, help);
            self.keep_blocked(event, node, "its definition is a hook, and has no `hooks`");
            return;
        }
        let Some(hooks) = values.node("hooks") else {
            let message = "the definition has no `hooks`; it was skipped";
            self.document.report(Rule::MissingHooks, node, message);
            self.keep_blocked(event, node, "its definition has no `hooks`");
            return;
        };
        let Some(items) = self.document.items(hooks) else {
            let consequence = "the definition was skipped";
            self.document.wrong_kind(hooks, "an array of hooks", consequence);
            self.keep_blocked(event, node, "the `hooks` of its definition are no array");
            return;
        };
        if items.is_empty() {
            self.file.spans.empty.push((hooks.value.range(), hooks.path().to_owned()));
        }
        let mut foreign_hooks = Vec::new();
        for (index, item) in items.iter().enumerate() {
            if self.has_languages && language_of(&item.value).is_some() {
                foreign_hooks.push((index, item.clone()));
                continue;
            }
            let hook = self.read_hook(&definition, item);
            match hook.filter(|hook| self.may_listen_to_event(hook, item)) {
                Some(hook) => self.file.hooks.push(hook),
                None => self.keep_blocked(event, item, "it is no hook as it stands there"),
            }
        }
        if !foreign_hooks.is_empty() {
            self.read_hooks_in_language(name, node, foreign_hooks);
        }
        if unreadable {
            // Its author wanted a restriction, so it does not run; but guards stay on.
            let read = self.file.hooks.split_off(read_before);
            // A matcher in an agent's language is read by that language.
            let is_kept = |hook: &HookEntry| {
                hook.fail_behavior == FailBehavior::Block || !hook.is_native_command()
            };
            let guards = read.into_iter().filter(is_kept);
            self.file.hooks.extend(guards);
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
        if self.file.source == HookSource::Project || !self.is_guard(node.value.as_str()) {
            return;
        }
        let event = if event.is_wildcard() { HookEventName::BeforeTool } else { event };
        let reason = format!("a guard that is skipped: {reason}; fix it, or take it out");
        let location = self.document.location(node);
        self.file.hooks.push(HookEntry {
            command: "skipped guard".to_owned(),
            fail_behavior: FailBehavior::Block,
            unreadable: Some(reason.into()),
            ..HookEntry::of_file(event, &self.file.config, location)
        });
    }

    /// Checks whether a guard stands in a text of settings.
    fn is_guard(&self, text: &str) -> bool {
        let is_by_default = self.file.config.fail_behavior == FailBehavior::Block
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
        if !matches!(node.value.kind(), JsonKind::Object) {
            self.document.wrong_kind(node, "a string or an object", MATCHER.consequence);
            return Err(UnreadableMatcher);
        }
        let values = self.values(node, &MATCHER_FIELDS, MATCHER);
        if values.problem.is_some() {
            return Err(UnreadableMatcher);
        }
        let text = |name: &str| values.text(name).map(str::to_owned);
        let matcher = MatcherFields {
            kinds: values.texts(KIND),
            tools: values.texts(TOOL),
            tool_pattern: text(TOOL_PATTERN),
            paths: values.texts(PATH_PATTERN),
            command_pattern: text(COMMAND_PATTERN),
            callers: CallerField::ALL.map(|field| values.texts(field.as_str())),
        };
        Ok(matcher.into())
    }

    fn read_hook(&mut self, definition: &Definition, node: &Node) -> Option<HookEntry> {
        const SKIPPED: &str = "the hook was skipped";
        let Some(fields) = self.document.fields(node) else {
            self.document.wrong_kind(node, "an object", SKIPPED);
            return None;
        };
        let (misplaced, mut fields): (Vec<Field>, Vec<Field>) =
            fields.into_iter().partition(|field| {
                field.name != "priority" && field::has_field(&DEFINITION_FIELDS, &field.name)
            });
        for field in &misplaced {
            let name = &field.name;
            let message = format!("`{name}` has no effect in a hook; it was ignored");
            let help = format!("move `{name}` to the definition around the hook");
            self.document.misplaced_name(Rule::UnknownKey, field, message, None, help);
        }
        let is_essential = |field: &&Field| matches!(&*field.name, "type" | "command" | "path");
        for field in fields.iter().filter(is_essential) {
            self.text(&field.value, SKIPPED)?;
        }
        let kind = fields.iter().position(|field| field.name == "type");
        let kind = kind.map(|index| fields.remove(index).value);
        let treatment = Treatment { priority: definition.priority, ..LENIENT };
        let values = self.values_of(fields, &HOOK_FIELDS, treatment);
        let mut hook = HookEntry {
            matcher: definition.matcher.clone(),
            priority: values.number("priority").unwrap_or(definition.priority),
            sequential: definition.sequential,
            name: values.text("name").filter(|name| !name.trim().is_empty()).map(str::to_owned),
            description: values.text("description").map(str::to_owned),
            command: values.text("command").unwrap_or_default().to_owned(),
            is_async: values.bool("async"),
            data: values.texts("data"),
            spans: values.spans(),
            ..HookEntry::of_file(definition.event, &self.file.config, self.document.location(node))
        };
        if let Some(range) = &definition.matcher_range {
            hook.spans.set("matcher", range.clone());
        }
        if let (Some(_), None, Some(node)) = (values.text("name"), &hook.name, values.node("name"))
        {
            // `disabled` could not list it.
            self.document.report(Rule::BlankName, node, "the name is blank; it was ignored");
        }
        if values.node("timeout").is_some() {
            hook.timeout = values.duration("timeout");
            hook.timeout_origin = match hook.timeout {
                Some(_) => TimeoutOrigin::Hook,
                None => TimeoutOrigin::Engine,
            };
        }
        hook.fail_behavior = values.fail_behavior().unwrap_or(hook.fail_behavior);
        if let Some(env) = values.node("env") {
            hook.env = self.hook_environment(env);
        }
        let expected = "expected `command`, `worker` or `module`";
        let Some(kind) = kind else {
            let message = format!("the hook has no `type`, {expected}; {SKIPPED}");
            self.document.report(Rule::MissingType, node, message);
            return None;
        };
        let name = kind.value.to_text().unwrap_or_default();
        for (field, types, owner, help) in FIELDS_OF_TYPES {
            if let Some(field) = values.field(field).filter(|_| !types.contains(&&*name)) {
                let message = format!("`{}` has no effect but in {owner}", field.name);
                self.document.misplaced_name(Rule::UnknownKey, field, message, None, help);
            }
        }
        match name.as_str() {
            "command" => {}
            "worker" => hook.worker = Some(WorkerRules::of(&values)),
            "module" => {
                let Some(path) = values.text("path").filter(|path| !path.trim().is_empty()) else {
                    let message = format!("the module has no `path`, or a blank one; {SKIPPED}");
                    self.document.report(Rule::MissingCommand, node, message);
                    return None;
                };
                hook.worker = Some(WorkerRules::of(&values));
                let file = module_path(path, &self.file.source, self.file.path.as_deref());
                // The same module is the same hook, regardless of the spelling of its path.
                hook.command = match self.file.source == HookSource::Project {
                    true => self.shown(&file)?,
                    false => path.to_owned(),
                };
                hook.module = Some(file);
            }
            other => {
                let other = shortened(other);
                let message = format!("unknown hook type `{other}`, {expected}; {SKIPPED}");
                self.document.report(Rule::UnknownType, &kind, message);
                return None;
            }
        }
        if hook.command.trim().is_empty() {
            let message = format!("the hook has no `command`, or a blank one; {SKIPPED}");
            self.document.report(Rule::MissingCommand, node, message);
            return None;
        }
        if let Some(node) = values.node("async")
            && hook.is_async
            && hook.fail_behavior == FailBehavior::Block
        {
            let message = "a guard has to be waited for; `async` was ignored";
            self.document.report(Rule::AsyncGuard, node, message);
            hook.is_async = false;
        }
        Some(hook)
    }

    /// Drops duplicates of modules; the first one stays.
    fn drop_repeated_modules(&mut self) {
        let mut known = HashSet::new();
        let mut repeated = Vec::new();
        self.file.hooks.retain(|hook| {
            let is_new = hook.module.as_ref().is_none_or(|path| known.insert(path.clone()));
            if !is_new {
                repeated.push(hook.clone());
            }
            is_new
        });
        for HookEntry { module, location, command, fail_behavior, .. } in repeated {
            // If any of the duplicates is a guard, the first becomes one.
            let first = self.file.hooks.iter_mut().find(|hook| hook.module == module);
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
            if self.file.source == HookSource::Project && is_forbidden_in_project(&field.name) {
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
            (
                "// é\n{ /* é */ \"hooksConfig\": {\"auditLevel\": \"all\",},}".to_owned(),
                "s.json:2:41: warning: hooksConfig.auditLevel: expected \"off\", \"info\", \"decisions\" or \"verbose\", found \"all\"; the default is used",
            ),
            (
                r#"{"hooksConfig":{"server":true}}"#.to_owned(),
                "s.json:1:26: error: hooksConfig.server: expected \"off\" or \"auto\", found true; the default is used",
            ),
            (
                r#"{"hooksConfig":{"registration":{"maxTotal":-1}}}"#.to_owned(),
                "s.json:1:44: warning: hooksConfig.registration.maxTotal: expected a whole number, found -1; the default is used",
            ),
            (
                r#"{"hooksConfig":{"redact":{"patterns":["a",7]}}}"#.to_owned(),
                "s.json:1:43: error: hooksConfig.redact.patterns[1]: expected a string, found a number; recordings and audits leave out all values until it is fixed",
            ),
            (
                r#"{"hooksConfig":{"redact":{"field":["a"]}}}"#.to_owned(),
                "s.json:1:27: error: hooksConfig.redact.field: unknown key `field`; recordings and audits leave out all values until it is fixed (did you mean `fields`?)",
            ),
        ] {
            assert_eq!(problems(&text), [expected], "{text}");
        }
    }

    #[test]
    fn a_misspelt_guard_is_one_wherever_it_stands() {
        for fields in [
            r#""failBehaviour":"block","failBehavior":"continue""#,
            r#""failBehavior":"continue","failBehaviour":"block""#,
        ] {
            let text = hook(&format!(r#""type":"command","command":"x",{fields}"#));
            let file = parse(&text, HookSource::User, None);
            assert_eq!(file.hooks[0].fail_behavior, FailBehavior::Block, "{text}");
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
