//! Hooks by their names: those in `disabled`, and those that stand twice.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::path::Path;

use super::findings::CheckedFile;
use super::findings::{Finding, Findings};
use crate::event::HookEventName;
use crate::settings::{
    HookEntry, HookSource, MatcherDefinition, Rule, SettingsFile, Severity, variables,
};
use crate::text::nearest;
use crate::text::shortened;

pub(super) fn check(
    files: &[CheckedFile],
    index: usize,
    project: &Path,
    findings: &mut Findings<'_>,
) {
    let Some(CheckedFile { file, .. }) = files.get(index) else { return };
    let names = Names::seen_from(file, files);
    for (position, (name, range)) in
        file.config.disabled.iter().zip(&file.spans.disabled).enumerate()
    {
        if !names.within_reach.contains(name.as_str()) {
            findings.add(names.unknown(file, name, (range, position), findings.is_full()));
        }
    }
    look_for_duplicates(files, index, project, findings);
}

/// What a hook is switched off by.
fn name_of(entry: &HookEntry) -> &str {
    entry.name.as_deref().unwrap_or(&entry.command)
}

/// The names of hooks, as one file may speak of them.
struct Names<'f> {
    /// Of hooks that it may switch off, in no order that means anything.
    within_reach: BTreeSet<&'f str>,
    /// Of hooks that it may not, with where they come from.
    out_of_reach: HashMap<&'f str, &'f HookSource>,
}

impl<'f> Names<'f> {
    fn seen_from(own: &SettingsFile, files: &'f [CheckedFile]) -> Self {
        let mut names = Self { within_reach: BTreeSet::new(), out_of_reach: HashMap::new() };
        for CheckedFile { file, .. } in files {
            let reaches = std::ptr::eq(own, file) || own.source.may_disable(&file.source);
            for entry in &file.hooks {
                match reaches {
                    true => drop(names.within_reach.insert(name_of(entry))),
                    false => drop(names.out_of_reach.insert(name_of(entry), &file.source)),
                }
            }
        }
        names
    }

    /// What to say of a name that no hook within reach has. What is not shown has no suggestion.
    fn unknown(
        &self,
        own: &SettingsFile,
        name: &str,
        (range, position): (&Range<usize>, usize),
        unseen: bool,
    ) -> Finding {
        let shown = shortened(name);
        let path = format!("hooksConfig.disabled[{position}]");
        let finding = |message| Finding::new(Rule::DisabledUnknown, range, path, message);
        if let Some(source) = self.out_of_reach.get(name) {
            let message = format!(
                "`{shown}` is a hook of the {source} settings, which {} settings cannot switch off",
                own.source
            );
            return finding(message)
                .remedy(format!("switch it off in the {source} settings themselves"));
        }
        let known = self.within_reach.iter().copied().filter(|_| !unseen);
        let suggestion = nearest(name, known);
        let mut finding = finding(format!("`{shown}` names no hook"));
        finding.diagnostic.suggestion = suggestion.map(str::to_owned);
        // Others than a project's own may be about hooks of another project.
        if suggestion.is_none() && own.source.may_disable(&HookSource::Project) {
            finding.diagnostic.severity = Severity::Hint;
        }
        finding
    }
}

/// What two hooks have in common that are one.
#[derive(PartialEq, Eq, Hash)]
struct Identity<'f> {
    event: HookEventName,
    matcher: Option<&'f MatcherDefinition>,
    name: Option<&'f str>,
    command: &'f str,
    /// What the event is called at home, and all that is run, of a hook of another agent.
    home: Option<(&'f str, String)>,
    env: BTreeMap<&'f str, &'f str>,
    project: &'f Path,
    is_worker: bool,
}

impl<'f> Identity<'f> {
    fn of(entry: &'f HookEntry, project: &'f Path) -> Self {
        // These match the same.
        let is_any = |matcher: &&MatcherDefinition| {
            matcher.as_text().is_some_and(|text| matches!(text.trim(), "" | "*"))
        };
        let matcher = entry.matcher.as_deref().filter(|matcher| !is_any(matcher));
        Self {
            event: entry.event,
            matcher,
            name: entry.name.as_deref(),
            command: &entry.command,
            home: entry.home.as_ref().map(|home| (&*home.event, home.command.terms())),
            env: variables(&entry.env),
            project,
            is_worker: entry.worker.is_some(),
        }
    }
}

/// A hook that an earlier file defines, or its own file before, is reported where it is defined again.
fn look_for_duplicates(
    files: &[CheckedFile],
    index: usize,
    project: &Path,
    findings: &mut Findings<'_>,
) {
    let mut first: HashMap<Identity<'_>, &HookEntry> = HashMap::new();
    for (position, checked) in files.iter().enumerate().take(index + 1) {
        for entry in &checked.file.hooks {
            let earlier =
                *first.entry(Identity::of(entry, checked.file.project(project))).or_insert(entry);
            if std::ptr::eq(earlier, entry) || position < index {
                continue;
            }
            let name = shortened(name_of(entry));
            // What its home runs as often as it stands there is no mistake; but what was imported and is
            // found there, too, is.
            let is_found = |entry: &HookEntry| entry.home.as_ref().map(|home| home.is_found);
            let often = match &entry.home {
                Some(home) if !home.runs_once => {
                    if is_found(earlier) == is_found(entry) {
                        continue;
                    }
                    "twice"
                }
                _ => "once",
            };
            let message = format!(
                "the hook `{name}` is defined already at {}, for the same event and matcher; it runs \
                 {often}",
                earlier.place
            );
            let range = entry.spans.command.clone().unwrap_or_default();
            let path = super::findings::path_of(entry, "command");
            findings.add(Finding::new(Rule::DuplicateHook, &range, path, message));
        }
    }
}
