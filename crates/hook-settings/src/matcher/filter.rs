//! A matcher's conditions on the input: `pathPattern` and `commandPattern`. They are checked for
//! each request, since plans are cached by the subject alone.

use std::borrow::Cow;

use fancy_regex::{Regex, RegexBuilder};
use regex_automata::meta;
use regex_automata::util::syntax;

use super::globs::{Compared, Directories, PathForms, PathGlobs};
use super::input::{Facts, Texts};
use super::pattern::WORK_LIMIT;
use crate::{COMMAND_PATTERN, KIND, PATH_PATTERN, javascript};
use hook_json::text::shortened;
use hook_protocol::event::input::CallerField;
use hook_protocol::tool::ToolKind;

/// The maximum length of a compared path, in bytes; no system allows a longer one. A longer path
/// counts as a match.
const MAX_PATH: usize = 4 * 1024;
/// The maximum size of the commands compared with one pattern, in bytes; no system passes a longer
/// argument to a shell. More counts as a match.
const MAX_COMMANDS: usize = 256 * 1024;
/// The same for a backtracking pattern, each step of which may look at all of the text.
const MAX_COMMANDS_BACKTRACKING: usize = 8 * 1024;
/// The maximum size of a compiled pattern, in bytes.
const MAX_COMPILED: usize = 4 * 1024 * 1024;
/// The maximum number of compared texts that are shown.
const MAX_SHOWN: usize = 5;

/// A matcher's conditions on the input.
#[derive(Debug, Clone, Default)]
pub(crate) struct Filter {
    /// The kinds of tools; empty for any kind.
    pub(super) kinds: Vec<ToolKind>,
    pub(super) paths: Option<PathGlobs>,
    pub(super) command: Option<CommandPattern>,
    /// The values of fields of the caller.
    pub(super) callers: Vec<(CallerField, Vec<String>)>,
}

/// The result of a filter for an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FilterOutcome {
    /// The hook listens to the input.
    Yes,
    /// The input counts as a match, for this reason.
    GaveUp(String),
    /// The hook does not listen to it.
    No(Unmatched),
}

/// The part of a filter that does not match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unmatched {
    /// The kind of the tool.
    Kind,
    /// The paths.
    Path,
    /// The command.
    Command,
    /// A field of the caller.
    Caller(CallerField),
    /// The rules of the foreign hook's agent.
    Foreign,
}

impl Unmatched {
    /// Returns the key in settings.
    pub fn key(self) -> &'static str {
        match self {
            Self::Kind => KIND,
            Self::Path => PATH_PATTERN,
            Self::Command => COMMAND_PATTERN,
            Self::Caller(field) => field.as_str(),
            Self::Foreign => "matcher",
        }
    }

    /// Returns the noun for the compared values, in the singular and the plural.
    pub fn nouns(self) -> (&'static str, &'static str) {
        match self {
            Self::Kind => ("kind of tool", "kinds of tool"),
            Self::Path => ("path", "paths"),
            Self::Command => ("command", "commands"),
            Self::Caller(_) => ("caller", "callers"),
            Self::Foreign => ("event", "events"),
        }
    }

    /// Returns the first few texts that were compared, each shortened, and the number of all.
    pub fn shown(self, facts: &Facts<'_>) -> (Vec<String>, usize) {
        let texts = match self {
            Self::Path => facts.paths(),
            Self::Command => facts.commands(),
            Self::Kind => return (facts.kinds().map(|kind| kind.to_string()).collect(), 1),
            Self::Caller(field) => {
                let caller = facts.event().caller(field).unwrap_or_default();
                return (vec![shortened(&caller)], 1);
            }
            Self::Foreign => return (Vec::new(), 0),
        };
        let shown = texts.list.iter().take(MAX_SHOWN).map(|text| shortened(text)).collect();
        (shown, texts.list.len())
    }
}

impl Filter {
    pub(super) fn is_empty(&self) -> bool {
        self.kinds.is_empty()
            && self.paths.is_none()
            && self.command.is_none()
            && self.callers.is_empty()
    }

    /// Returns `true` if it compares paths.
    pub(super) fn has_paths(&self) -> bool {
        self.paths.is_some()
    }

    /// Checks the input. Relative globs begin in `project`, by default the host's.
    pub(crate) fn check(&self, facts: &Facts<'_>, project: Option<&str>) -> FilterOutcome {
        if !self.kinds.is_empty() && !facts.kinds().any(|kind| self.kinds.contains(&kind)) {
            return FilterOutcome::No(Unmatched::Kind);
        }
        let mut gave_up = None;
        for (field, values) in &self.callers {
            match facts.event().caller(*field) {
                None => drop(gave_up.get_or_insert(format!(
                    "the caller does not say its `{0}`, which counts as a match of `{0}`",
                    field.as_str()
                ))),
                Some(caller) if values.iter().any(|value| matches_name(value, &caller)) => {}
                Some(_) => return FilterOutcome::No(Unmatched::Caller(*field)),
            }
        }
        let paths = self.paths.as_ref();
        let paths = paths.map(|globs| (Unmatched::Path, check_paths(globs, facts, project)));
        let command = || {
            let command = self.command.as_ref()?;
            Some((Unmatched::Command, command.check(facts.commands())))
        };
        for (part, outcome) in paths.into_iter().chain(command()) {
            match outcome {
                PartOutcome::Yes => {}
                PartOutcome::No => return FilterOutcome::No(part),
                PartOutcome::GaveUp(reason) => drop(gave_up.get_or_insert(reason)),
            }
        }
        gave_up.map_or(FilterOutcome::Yes, FilterOutcome::GaveUp)
    }
}

/// Compares a name with a value in which `*` stands for any text.
fn matches_name(value: &str, name: &str) -> bool {
    let Some((start, rest)) = value.split_once('*') else { return value == name };
    let Some(mut name) = name.strip_prefix(start) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let end = parts.pop().unwrap_or_default();
    // The first place of each part leaves the most for the others.
    for part in parts {
        match name.find(part) {
            Some(index) => name = name.get(index + part.len()..).unwrap_or_default(),
            None => return false,
        }
    }
    name.ends_with(end)
}

/// The result of one part of a filter.
enum PartOutcome {
    No,
    Yes,
    GaveUp(String),
}

impl PartOutcome {
    /// Returns the result if no text matches: texts that cannot be compared count as a match.
    fn no_match(texts: &Texts, key: &str, noun: &str) -> Self {
        if let Some(field) = &texts.invalid_field {
            return Self::GaveUp(format!(
                "`{field}` of the input is not a string, which counts as a match of `{key}`"
            ));
        }
        if texts.too_many {
            return Self::GaveUp(format!(
                "the input has more {noun} than are compared, which counts as a match of `{key}`"
            ));
        }
        if texts.is_incomplete {
            return Self::GaveUp(format!(
                "not all {noun} of the call can be told, which counts as a match of `{key}`"
            ));
        }
        Self::No
    }
}

fn check_paths(globs: &PathGlobs, facts: &Facts<'_>, project: Option<&str>) -> PartOutcome {
    let directories = &match project {
        Some(project) if project != facts.directories.project => {
            let own = facts.directories.clone();
            Cow::Owned(Directories { project: project.to_owned(), ..own })
        }
        _ => Cow::Borrowed(&facts.directories),
    };
    let matches = |forms: &PathForms| {
        let is = |globs: &super::globs::Globs, compared, unknown| {
            globs.match_path(forms, compared, directories, unknown)
        };
        (globs.wanted.is_empty() || is(&globs.wanted, Compared::Any, true))
            && !is(&globs.excluded, Compared::Normalized, false)
    };
    // The name of a component does not depend on the home directory.
    let are_names = globs.wanted.are_names() && globs.excluded.are_names();
    let (mut gave_up, mut compared) = (None, 0_usize);
    for path in &facts.paths().list {
        // Each comparison has a fixed cost, too.
        compared += path.len() + 16;
        if path.len() > MAX_PATH || compared > globs.max_bytes {
            let (too_long, limit) = match path.len() > MAX_PATH {
                true => ("a path of the input is", MAX_PATH),
                false => ("all paths of the input are", globs.max_bytes),
            };
            return PartOutcome::GaveUp(format!(
                "{too_long} longer than the {limit} bytes that `{PATH_PATTERN}` is compared with, \
                 which counts as a match"
            ));
        }
        if matches(&PathForms::of(path, directories)) {
            return PartOutcome::Yes;
        }
        if path.contains('\0') {
            gave_up.get_or_insert(("has a NUL", path));
        }
        if are_names {
            continue;
        }
        match PathForms::expand_tilde(path, directories) {
            Ok(None) => {}
            Ok(Some(forms)) if matches(&forms) => return PartOutcome::Yes,
            Ok(Some(_)) => {}
            Err(()) => drop(gave_up.get_or_insert(("begins in a home directory not known", path))),
        }
    }
    match gave_up {
        Some((reason, path)) => PartOutcome::GaveUp(format!(
            "the path `{}` {reason}, which counts as a match of `{PATH_PATTERN}`",
            shortened(path)
        )),
        None => PartOutcome::no_match(facts.paths(), PATH_PATTERN, "paths"),
    }
}

/// A regular expression for commands, which may be long.
#[derive(Debug, Clone)]
pub(super) struct CommandPattern {
    engine: Engine,
    /// The maximum number of bytes of commands that it is compared with.
    max_bytes: usize,
}

#[derive(Debug, Clone)]
enum Engine {
    /// An engine that takes time linear in the text.
    Linear(Box<meta::Regex>),
    Backtracking(Box<Regex>),
}

impl CommandPattern {
    pub(super) fn compile(source: &str) -> Result<Self, String> {
        let translated = javascript::to_rust_pattern(source).map_err(|error| error.to_string())?;
        let size = translated.pattern.len() + translated.copies;
        let linear = meta::Regex::builder()
            .syntax(syntax::Config::new().utf8(false))
            .configure(meta::Config::new().utf8_empty(false).nfa_size_limit(Some(MAX_COMPILED)))
            .build(&javascript::with_ascii_boundaries(&translated.pattern));
        if let Ok(linear) = linear {
            let longest = MAX_COMMANDS.min(WORK_LIMIT / size.max(1));
            return Ok(Self { engine: Engine::Linear(Box::new(linear)), max_bytes: longest });
        }
        let longest = MAX_COMMANDS_BACKTRACKING;
        let steps = WORK_LIMIT / longest / translated.copies.max(1);
        let built = RegexBuilder::new(&translated.pattern).backtrack_limit(steps).build();
        let regex = built.map_err(|error| error.to_string())?;
        Ok(Self { engine: Engine::Backtracking(Box::new(regex)), max_bytes: longest })
    }

    fn check(&self, commands: &Texts) -> PartOutcome {
        let mut compared = 0_usize;
        let too_long = || {
            PartOutcome::GaveUp(format!(
                "the command is longer than the {} bytes that `{COMMAND_PATTERN}` is compared with, \
                 which counts as a match",
                self.max_bytes
            ))
        };
        for command in &commands.list {
            // Each comparison has a fixed cost, too.
            compared += command.len() + 16;
            if compared > self.max_bytes + 16 {
                return too_long();
            }
            match self.is_match(command) {
                Some(true) => return PartOutcome::Yes,
                Some(false) => {}
                None => {
                    let reason = "took too many steps and counts as a match; simplify it";
                    return PartOutcome::GaveUp(format!("matching `{COMMAND_PATTERN}` {reason}"));
                }
            }
        }
        PartOutcome::no_match(commands, COMMAND_PATTERN, "commands")
    }

    /// Returns `None` if the match took too many steps.
    fn is_match(&self, command: &str) -> Option<bool> {
        match &self.engine {
            Engine::Linear(regex) => Some(regex.is_match(command)),
            Engine::Backtracking(regex) => regex.is_match(command).ok(),
        }
    }
}

#[cfg(test)]
mod tests;
