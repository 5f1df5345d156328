//! Definitions and hooks in native settings with a `language`. That agent's language parses them;
//! the fields common to all native hooks are read here.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::declaring::declare;
use super::definition::HookEntry;
use super::document::Node;
use super::fields::{DEFAULT_PRIORITY, HOOK_FIELDS};
use super::file::{Reader, UnreadableMatcher};
use super::foreign;
use super::keywords::{FailBehavior, TimeoutOrigin};
use super::language_field::{LANGUAGE, own_event};
use super::matcher_definition::MatcherDefinition;
use super::paths::project_of;
use super::rule::Rule;
use super::source::HookSource;
use super::values::{FAIL_BEHAVIOR, LENIENT, language_help, means_fail_behavior};
use crate::language::{
    self, ForeignDefinition, ForeignEntry, ForeignFile, ForeignLoss, ForeignProblem, Language,
};
use hook_json::text::shortened;
use hook_json::{RawJson, field};
use hook_protocol::event::HookEventName;

/// The consequence of an unknown language for its hooks.
const SKIPPED: &str =
    "its hooks were skipped, but for those with failBehavior block, which block instead";

/// The native fields of a hook, in addition to those of its language.
#[derive(Debug, Clone, Default)]
struct NativeFields {
    fail_behavior: Option<FailBehavior>,
    priority: Option<i32>,
    description: Option<String>,
}

impl NativeFields {
    /// Fills in missing fields from the definition around the hook.
    fn or(self, defaults: &Self) -> Self {
        Self {
            fail_behavior: self.fail_behavior.or(defaults.fail_behavior),
            priority: self.priority.or(defaults.priority),
            description: self.description,
        }
    }
}

impl Reader<'_> {
    /// Reads a definition with a language, or whose hooks all have one.
    pub(super) fn read_definition_in_language(&mut self, event: &str, definition: &Node) {
        let hooks = self.document.field(definition, "hooks").map(|field| field.value);
        let list = hooks.as_ref().and_then(|hooks| self.document.items(hooks));
        let Some(language_field) = self.document.field(definition, LANGUAGE) else {
            let hooks = list.unwrap_or_default().into_iter().enumerate().collect();
            self.read_hooks_in_language(event, definition, hooks);
            return;
        };
        // Without a list, the definition itself is a hook.
        let (defaults, hooks) = match hooks {
            Some(_) => (self.native_fields(definition), list.unwrap_or_default()),
            None => (NativeFields::default(), vec![definition.clone()]),
        };
        match self.language(&language_field.value) {
            Ok(language) => self.read_with(language, (event, definition, None), hooks, &defaults),
            Err(reason) => {
                for hook in hooks {
                    self.add_placeholder_guard(event, &hook, &defaults, &reason);
                }
            }
        }
    }

    /// Reads those hooks of a definition that have their own language.
    pub(super) fn read_hooks_in_language(
        &mut self,
        event: &str,
        definition: &Node,
        hooks: Vec<(usize, Node)>,
    ) {
        let defaults = self.native_fields(definition);
        // A language parses a whole definition, so it is called once per language.
        let mut groups: BTreeMap<&'static str, (BTreeSet<usize>, Vec<Node>)> = BTreeMap::new();
        for (index, hook) in hooks {
            let Some(language_field) = self.document.field(&hook, LANGUAGE) else { continue };
            match self.language(&language_field.value) {
                Ok(language) => {
                    let (indices, nodes) = groups.entry(language.name()).or_default();
                    indices.insert(index);
                    nodes.push(hook);
                }
                Err(reason) => self.add_placeholder_guard(event, &hook, &defaults, &reason),
            }
        }
        for (name, (indices, hooks)) in groups {
            if let Some(language) = self.languages.get(name) {
                self.read_with(language, (event, definition, Some(&indices)), hooks, &defaults);
            }
        }
    }

    /// Reads hooks of a definition.
    fn read_with(
        &mut self,
        language: &'static dyn Language,
        (event, definition, only): (&str, &Node, Option<&BTreeSet<usize>>),
        hooks: Vec<Node>,
        defaults: &NativeFields,
    ) {
        if let Some(definition_of_event) = own_event(language, event)
            && declare(&self.file.source, definition_of_event.clone(), &mut self.events).is_ok()
        {
            self.file.declared.push(definition_of_event);
        }
        let root = self.plugin_root(definition);
        let events = self.events.clone();
        let read = language.read_definition(
            &ForeignDefinition { event, value: &definition.value, path: definition.path(), only },
            &ForeignFile {
                path: self.file.path.as_deref(),
                plugin_root: root.as_deref(),
                is_user: self.file.source == HookSource::User,
                is_system: false,
                is_explicit: self.file.source == HookSource::Explicit,
                is_discovered: false,
                events: &events,
                others: &[],
            },
        );
        if read.hooks.is_empty() && read.problems.is_empty() {
            let message = "the definition has no hooks; it was skipped";
            self.document.report(Rule::MissingHooks, definition, message);
        }
        let mut entries: HashMap<usize, ForeignEntry> =
            read.hooks.into_iter().map(|entry| (entry.range.start, entry)).collect();
        let problems = Problems::of(&read.problems, definition);
        let shared_matcher = self.matcher_object(definition, language, event);
        for hook in hooks {
            if let Some(entry) = entries.remove(&hook.value.start()) {
                let hook_matcher = match &shared_matcher {
                    None => self.matcher_object(&hook, language, event),
                    Some(_) => None,
                };
                let mut entry = self.entry(entry, &hook, defaults);
                if let Some(matcher) = hook_matcher.as_ref().or(shared_matcher.as_ref()) {
                    entry.spans.set("matcher", matcher.range.clone());
                    entry.matcher = Some(Arc::clone(&matcher.definition));
                    let is_readable =
                        !matches!(*matcher.definition, MatcherDefinition::Unreadable(_));
                    // Its author wanted a restriction, so it does not run; but guards stay on.
                    if !is_readable && entry.fail_behavior != FailBehavior::Block {
                        continue;
                    }
                }
                self.file.hooks.push(entry);
                continue;
            }
            // A hook without effect in its own agent guards nothing there.
            let problem = problems.of_hook(&hook);
            if problem.is_none_or(|problem| problem.loss != ForeignLoss::Nothing) {
                let reason = problem.map_or("", |problem| &problem.message);
                self.add_placeholder_guard(event, &hook, defaults, reason);
            }
        }
        for problem in &read.problems {
            let diagnostic = foreign::diagnostic(problem.clone(), &self.document);
            self.document.push(diagnostic);
        }
    }

    /// Returns the object matcher of a definition or hook; its language parses strings.
    fn matcher_object(
        &mut self,
        node: &Node,
        language: &'static dyn Language,
        event: &str,
    ) -> Option<MatcherObject> {
        let field = self.document.field(node, "matcher")?;
        let value = &field.value.value;
        if value.is_null() || value.to_text().is_some() {
            return None;
        }
        let definition = match self.matcher(&field.value) {
            Ok(MatcherDefinition::Fields(mut fields)) => {
                for tool in &mut fields.tools {
                    if let Some(native) = language.native_tool(event, tool) {
                        *tool = native;
                    }
                }
                MatcherDefinition::Fields(fields)
            }
            Ok(other) => other,
            Err(UnreadableMatcher) => MatcherDefinition::Unreadable(value.as_str().to_owned()),
        };
        Some(MatcherObject { definition: Arc::new(definition), range: value.range() })
    }

    /// Returns the language with that name.
    fn language(&mut self, node: &Node) -> Result<&'static dyn Language, String> {
        let Some(name) = self.text(node, SKIPPED) else {
            return Err("`language` is no string".to_owned());
        };
        if let Some(language) = self.languages.get(&name) {
            return Ok(language);
        }
        let name = shortened(&name);
        let reason = match language::NAMES.contains(&&*name) {
            true => format!("this host does not know the language `{name}`"),
            false => format!("unknown language `{name}`"),
        };
        let help = language_help(&name, &self.languages);
        let message = format!("{reason}; {SKIPPED}");
        self.document.report_with_help(Rule::UnknownLanguage, node, message, help);
        Err(reason)
    }

    /// Reads the native fields.
    fn native_fields(&mut self, node: &Node) -> NativeFields {
        let mut fields = self.document.fields(node).unwrap_or_default();
        fields.retain(|field| {
            matches!(&*field.name, FAIL_BEHAVIOR | "priority" | "description")
                || !field::has_field(&HOOK_FIELDS, &field.name)
                    && means_fail_behavior(field, &HOOK_FIELDS)
        });
        let values = self.values_of(fields, &HOOK_FIELDS, LENIENT);
        NativeFields {
            fail_behavior: values.fail_behavior(),
            priority: values
                .node("priority")
                .map(|_| values.number("priority").unwrap_or(DEFAULT_PRIORITY)),
            description: values.text("description").map(str::to_owned),
        }
    }

    /// Returns the directory of `pluginRoot`. Relative paths begin at the project, or at the folder
    /// of a settings file that is not a project's.
    fn plugin_root(&mut self, node: &Node) -> Option<PathBuf> {
        let field = self.document.field(node, "pluginRoot")?;
        let root = self.text(&field.value, "it was ignored")?;
        let path = self.file.path.as_deref();
        let base = path.and_then(|path| project_of(path).or_else(|| path.parent()));
        Some(base.unwrap_or(Path::new("")).join(root))
    }

    /// Returns the entry for a hook that its language parsed, with its native fields.
    fn entry(&mut self, entry: ForeignEntry, node: &Node, defaults: &NativeFields) -> HookEntry {
        let native = self.native_fields(node).or(defaults);
        let (fails_closed, is_async) = (entry.blocks_on_failure, entry.is_async);
        let mut hook = foreign::entry(entry, &self.document, &self.file.config);
        if !fails_closed {
            hook.fail_behavior = native.fail_behavior.unwrap_or(self.file.config.fail_behavior);
        }
        hook.is_async = is_async && hook.fail_behavior != FailBehavior::Block;
        hook.priority = native.priority.unwrap_or(DEFAULT_PRIORITY);
        hook.description = native.description;
        hook
    }

    /// Adds a placeholder for an unreadable guard: it fails whenever its event happens.
    fn add_placeholder_guard(
        &mut self,
        event: &str,
        node: &Node,
        defaults: &NativeFields,
        reason: &str,
    ) {
        let fields = node.value.to_object().unwrap_or_default();
        let text = |name: &str| fields.get(name)?.to_text();
        let native = self.native_fields(node).or(defaults);
        let fails_closed = text("onFailure").as_deref() == Some("block")
            || fields.get("failClosed").and_then(RawJson::to_bool) == Some(true);
        let behavior = native.fail_behavior.unwrap_or(self.file.config.fail_behavior);
        if !fails_closed && behavior != FailBehavior::Block {
            return;
        }
        let known = self.events.from_name(event);
        let known_event = known.or_else(|| HookEventName::from_foreign_name(event));
        // For an unknown event it is checked as a hook of a tool.
        let event = known_event.unwrap_or(HookEventName::BeforeTool);
        let entry = HookEntry {
            priority: native.priority.unwrap_or(DEFAULT_PRIORITY),
            name: text("name"),
            description: native.description,
            command: text("command").or_else(|| text("bash")).unwrap_or_default(),
            timeout: None,
            timeout_origin: TimeoutOrigin::Engine,
            fail_behavior: FailBehavior::Block,
            unreadable: Some(reason.into()),
            ..HookEntry::of_file(event, &self.file.config, self.document.location(node))
        };
        match known_event {
            Some(_) => self.file.hooks.push(entry),
            None => self.file.spans.unknown_event_hooks.push(entry),
        }
    }
}

/// An object matcher, with its byte range.
struct MatcherObject {
    definition: Arc<MatcherDefinition>,
    range: Range<usize>,
}

/// The problems of a definition's hooks, sorted for lookup.
struct Problems<'p> {
    /// Sorted by position.
    all: Vec<&'p ForeignProblem>,
    /// A problem of the whole definition.
    whole_problem: Option<&'p ForeignProblem>,
}

impl<'p> Problems<'p> {
    fn of(problems: &'p [ForeignProblem], definition: &Node) -> Self {
        let whole = definition.value.range();
        let whole_problem = problems.iter().find(|problem| problem.range == whole);
        let mut all: Vec<&ForeignProblem> = problems.iter().collect();
        all.sort_by_key(|problem| problem.range.start);
        Self { all, whole_problem }
    }

    fn of_hook(&self, hook: &Node) -> Option<&'p ForeignProblem> {
        let range = hook.value.range();
        let first = self.all.partition_point(|problem| problem.range.start < range.start);
        let own = self.all.get(first).copied().filter(|problem| problem.range.start < range.end);
        own.or(self.whole_problem)
    }
}
