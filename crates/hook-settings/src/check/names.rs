//! Names of hooks: unknown ones in `disabled`, and duplicate hooks.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::path::Path;

use super::findings::CheckedFile;
use super::findings::{Finding, Findings};
use crate::{HookEntry, HookSource, MatcherDefinition, Rule, SettingsFile, Severity, variables};
use hook_json::text::nearest;
use hook_json::text::shortened;
use hook_protocol::event::HookEventName;

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

/// Returns the name by which a hook is disabled.
fn name_of(entry: &HookEntry) -> &str {
    entry.name.as_deref().unwrap_or(&entry.command)
}

/// The names of hooks, from the viewpoint of one file.
struct Names<'f> {
    /// Names of hooks that it may disable, in no particular order.
    within_reach: BTreeSet<&'f str>,
    /// Names of hooks that it may not disable, with their source.
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

    /// Returns the finding for an unknown name, without a suggestion if `unseen`.
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
        // Files other than a project's own may refer to hooks of another project.
        if suggestion.is_none() && own.source.may_disable(&HookSource::Project) {
            finding.diagnostic.severity = Severity::Hint;
        }
        finding
    }
}

/// The properties that duplicate hooks share.
#[derive(PartialEq, Eq, Hash)]
struct Identity<'f> {
    event: HookEventName,
    matcher: Option<&'f MatcherDefinition>,
    name: Option<&'f str>,
    command: &'f str,
    /// The event's foreign name and the command's spec, of a foreign hook.
    home: Option<(&'f str, String)>,
    env: BTreeMap<&'f str, &'f str>,
    project: &'f Path,
    is_worker: bool,
}

impl<'f> Identity<'f> {
    fn of(entry: &'f HookEntry, project: &'f Path) -> Self {
        // These match everything, like no matcher.
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

/// Reports each hook that an earlier file, or an earlier part of its own file, already defines.
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
            // Duplicates are correct if the agent runs each of them; but a hook that is both
            // imported and found in the agent's own file is a mistake.
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
