//! Definitions and hooks in native settings with a `language`. That agent's language parses them;
//! the fields common to all native hooks are read here.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::declaring::declare;
use super::definition::{DEFAULT_PRIORITY, HookEntry, HookSpans, TimeoutOrigin};
use super::document::Node;
use super::fail_behavior::FailBehavior;
use super::fields::HOOK_FIELDS;
use super::file::{Reader, Unreadable};
use super::home;
use super::matcher_definition::MatcherDefinition;
use super::paths::project_of;
use super::rule::Rule;
use super::said_language::{LANGUAGE, declared_as};
use super::source::HookSource;
use crate::language::{
    self, ForeignDefinition, ForeignEntry, ForeignFile, ForeignLoss, ForeignProblem, Language,
};
use hook_json::RawJson;
use hook_json::text::{nearest, shortened};
use hook_protocol::event::HookEventName;

/// The consequence of an unknown language for its hooks.
const SKIPPED: &str =
    "its hooks were skipped, but for those with failBehavior block, which block instead";

/// The native fields of a hook, in addition to those of its language.
#[derive(Debug, Clone, Default)]
struct Said {
    fail_behavior: Option<FailBehavior>,
    priority: Option<i32>,
    description: Option<String>,
}

impl Said {
    /// Fills in missing fields from the definition around the hook.
    fn or(self, around: &Self) -> Self {
        Self {
            fail_behavior: self.fail_behavior.or(around.fail_behavior),
            priority: self.priority.or(around.priority),
            description: self.description,
        }
    }
}

impl Reader<'_> {
    /// Reads a definition with a language, or whose hooks all have one.
    pub(super) fn read_definition_in_language(&mut self, event: &str, definition: &Node) {
        let hooks = self.document.field(definition, "hooks").map(|field| field.value);
        let list = hooks.as_ref().and_then(|hooks| self.document.items(hooks));
        let Some(said) = self.document.field(definition, LANGUAGE) else {
            let hooks = list.unwrap_or_default().into_iter().enumerate().collect();
            self.read_hooks_in_language(event, definition, hooks);
            return;
        };
        // Without a list, the definition itself is a hook.
        let (around, hooks) = match hooks {
            Some(_) => (self.said_of(definition), list.unwrap_or_default()),
            None => (Said::default(), vec![definition.clone()]),
        };
        match self.language(&said.value) {
            Ok(language) => self.read_in(language, (event, definition, None), hooks, &around),
            Err(why) => {
                for hook in hooks {
                    self.guard_instead(event, &hook, &around, &why);
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
        let around = self.said_of(definition);
        // A language parses a whole definition, so it is called once per language.
        let mut groups: BTreeMap<&'static str, (BTreeSet<usize>, Vec<Node>)> = BTreeMap::new();
        for (index, hook) in hooks {
            let Some(said) = self.document.field(&hook, LANGUAGE) else { continue };
            match self.language(&said.value) {
                Ok(language) => {
                    let (indices, nodes) = groups.entry(language.name()).or_default();
                    indices.insert(index);
                    nodes.push(hook);
                }
                Err(why) => self.guard_instead(event, &hook, &around, &why),
            }
        }
        for (name, (indices, hooks)) in groups {
            if let Some(language) = self.languages.named(name) {
                self.read_in(language, (event, definition, Some(&indices)), hooks, &around);
            }
        }
    }

    /// Reads hooks of a definition.
    fn read_in(
        &mut self,
        language: &'static dyn Language,
        (event, definition, only): (&str, &Node, Option<&BTreeSet<usize>>),
        hooks: Vec<Node>,
        around: &Said,
    ) {
        if let Some(own) = declared_as(language, event)
            && declare(&self.source, own.clone(), &mut self.events).is_ok()
        {
            self.declared.push(own);
        }
        let root = self.plugin_root(definition);
        let events = self.events.clone();
        let read = language.read_definition(
            &ForeignDefinition { event, value: &definition.value, path: definition.path(), only },
            &ForeignFile {
                path: self.path.as_deref(),
                plugin_root: root.as_deref(),
                is_users: self.source == HookSource::User,
                is_machines: false,
                is_named: self.source == HookSource::Explicit,
                is_found: false,
                events: &events,
                others: &[],
            },
        );
        if read.hooks.is_empty() && read.problems.is_empty() {
            let message = "the definition has no hooks; it was skipped";
            self.document.report(Rule::MissingHooks, definition, message);
        }
        let mut entries: HashMap<usize, ForeignEntry> =
            read.hooks.into_iter().map(|entry| (entry.at.start, entry)).collect();
        let problems = Problems::of(&read.problems, definition);
        let of_all = self.matcher_object(definition, language, event);
        for hook in hooks {
            if let Some(entry) = entries.remove(&hook.value.start()) {
                let own = match &of_all {
                    None => self.matcher_object(&hook, language, event),
                    Some(_) => None,
                };
                let mut entry = self.entry(entry, &hook, around);
                if let Some(matcher) = own.as_ref().or(of_all.as_ref()) {
                    entry.spans.matcher = Some(matcher.at.clone());
                    entry.matcher = Some(Arc::clone(&matcher.definition));
                    let is_readable =
                        !matches!(*matcher.definition, MatcherDefinition::Unreadable(_));
                    // Its author wanted a restriction, so it does not run; but guards stay on.
                    if !is_readable && entry.fail_behavior != FailBehavior::Block {
                        continue;
                    }
                }
                self.hooks.push(entry);
                continue;
            }
            // A hook without effect in its own agent guards nothing there.
            let problem = problems.of_hook(&hook);
            if problem.is_none_or(|problem| problem.loss != ForeignLoss::Nothing) {
                let why = problem.map_or("", |problem| &problem.message);
                self.guard_instead(event, &hook, around, why);
            }
        }
        for problem in &read.problems {
            let diagnostic = home::diagnostic(problem.clone(), &self.document);
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
                    if let Some(ours) = language.our_tool(event, tool) {
                        *tool = ours;
                    }
                }
                MatcherDefinition::Fields(fields)
            }
            Ok(other) => other,
            Err(Unreadable) => MatcherDefinition::Unreadable(value.as_str().to_owned()),
        };
        Some(MatcherObject { definition: Arc::new(definition), at: value.range() })
    }

    /// Returns the language with that name.
    fn language(&mut self, said: &Node) -> Result<&'static dyn Language, String> {
        let Some(name) = self.text(said, SKIPPED) else {
            return Err("`language` is no string".to_owned());
        };
        if let Some(language) = self.languages.named(&name) {
            return Ok(language);
        }
        let name = shortened(&name);
        let why = match language::NAMES.contains(&&*name) {
            true => format!("this host does not know the language `{name}`"),
            false => format!("unknown language `{name}`"),
        };
        let remedy = match nearest(&name, language::NAMES) {
            Some(nearest) => format!("write `{nearest}`"),
            None => format!("write one of {}", language::NAMES.join(", ")),
        };
        let message = format!("{why}; {SKIPPED}");
        self.document.report_with_remedy(Rule::UnknownLanguage, said, message, remedy);
        Err(why)
    }

    /// Reads the native fields.
    fn said_of(&mut self, node: &Node) -> Said {
        let mut said = Said::default();
        for field in self.document.fields(node).unwrap_or_default() {
            match field.name.as_str() {
                "failBehavior" => said.fail_behavior = Some(self.fail_behavior(&field)),
                "priority" => {
                    said.priority = Some(self.priority(&field.value, DEFAULT_PRIORITY));
                }
                "description" => {
                    said.description = self.text(&field.value, "it was ignored");
                }
                _ if self.may_be_fail_behavior(&field, &HOOK_FIELDS) => {
                    said.fail_behavior = Some(FailBehavior::Block);
                }
                _ => {}
            }
        }
        said
    }

    /// Returns the directory of `pluginRoot`. Relative paths begin at the project, or at the folder
    /// of a settings file that is not a project's.
    fn plugin_root(&mut self, node: &Node) -> Option<PathBuf> {
        let field = self.document.field(node, "pluginRoot")?;
        let root = self.text(&field.value, "it was ignored")?;
        let path = self.path.as_deref();
        let around = path.and_then(|path| project_of(path).or_else(|| path.parent()));
        Some(around.unwrap_or(Path::new("")).join(root))
    }

    /// Returns the entry for a hook that its language parsed, with its native fields.
    fn entry(&mut self, entry: ForeignEntry, node: &Node, around: &Said) -> HookEntry {
        let said = self.said_of(node).or(around);
        let (fails_closed, is_async) = (entry.blocks_on_failure, entry.is_async);
        let mut hook = home::entry(entry, &self.document, &self.config);
        if !fails_closed {
            hook.fail_behavior = said.fail_behavior.unwrap_or(self.config.fail_behavior);
        }
        hook.is_async = is_async && hook.fail_behavior != FailBehavior::Block;
        hook.priority = said.priority.unwrap_or(DEFAULT_PRIORITY);
        hook.description = said.description;
        hook
    }

    /// Adds a placeholder for an unreadable guard: it fails whenever its event happens.
    fn guard_instead(&mut self, event: &str, node: &Node, around: &Said, why: &str) {
        let fields = node.value.to_object().unwrap_or_default();
        let text = |name: &str| fields.get(name)?.to_text();
        let said = self.said_of(node).or(around);
        let fails_closed = text("onFailure").as_deref() == Some("block")
            || fields.get("failClosed").and_then(RawJson::to_bool) == Some(true);
        let behavior = said.fail_behavior.unwrap_or(self.config.fail_behavior);
        if !fails_closed && behavior != FailBehavior::Block {
            return;
        }
        let known = self.events.from_name(event);
        let meant = known.or_else(|| HookEventName::elsewhere(event));
        let entry = HookEntry {
            // For an unknown event it is checked as a hook of a tool.
            event: meant.unwrap_or(HookEventName::BeforeTool),
            matcher: None,
            priority: said.priority.unwrap_or(DEFAULT_PRIORITY),
            sequential: false,
            name: text("name"),
            description: said.description,
            command: text("command").or_else(|| text("bash")).unwrap_or_default(),
            timeout: None,
            timeout_origin: TimeoutOrigin::Engine,
            fail_behavior: FailBehavior::Block,
            is_async: false,
            env: Vec::new(),
            data: Vec::new(),
            worker: None,
            module: None,
            stands_for: None,
            upstream: None,
            config: Arc::clone(&self.config),
            place: self.document.place(node),
            spans: HookSpans::default(),
            home: None,
            unreadable: Some(why.into()),
        };
        match meant {
            Some(_) => self.hooks.push(entry),
            None => self.spans.unplaced.push(entry),
        }
    }
}

/// An object matcher, with its byte range.
struct MatcherObject {
    definition: Arc<MatcherDefinition>,
    at: Range<usize>,
}

/// The problems of a definition's hooks, sorted for lookup.
struct Problems<'p> {
    /// Sorted by position.
    all: Vec<&'p ForeignProblem>,
    /// A problem of the whole definition.
    of_all: Option<&'p ForeignProblem>,
}

impl<'p> Problems<'p> {
    fn of(problems: &'p [ForeignProblem], definition: &Node) -> Self {
        let whole = definition.value.range();
        let of_all = problems.iter().find(|it| it.at == whole);
        let mut all: Vec<&ForeignProblem> = problems.iter().collect();
        all.sort_by_key(|problem| problem.at.start);
        Self { all, of_all }
    }

    fn of_hook(&self, hook: &Node) -> Option<&'p ForeignProblem> {
        let at = hook.value.range();
        let first = self.all.partition_point(|problem| problem.at.start < at.start);
        let own = self.all.get(first).copied().filter(|problem| problem.at.start < at.end);
        own.or(self.of_all)
    }
}
