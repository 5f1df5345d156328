//! Names of hooks: unknown ones in `disabled`, and duplicate hooks.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::path::Path;

use super::findings::{CheckedFile, Finding, Findings};
use crate::{HookEntry, HookSource, MatcherDefinition, Rule, SettingsFile, Severity, variables};
use hook_json::text::{nearest, shortened};
use hook_protocol::event::HookEventName;

pub(super) fn check(
    files: &[CheckedFile],
    index: usize,
    project: &Path,
    findings: &mut Findings<'_>,
) {
    let Some(CheckedFile { file, .. }) = files.get(index) else { return };
    let names = Names::for_file(file, files);
    for (position, (name, range)) in
        file.config.disabled.iter().zip(&file.spans.disabled).enumerate()
    {
        if !names.allowed.contains(name.as_str()) {
            findings.add(names.unknown(file, name, (range, position), findings.is_full()));
        }
    }
    report_duplicates(files, index, project, findings);
}

/// The names of hooks, from the viewpoint of one file.
struct Names<'f> {
    /// Names of hooks that it may disable, in no particular order.
    allowed: BTreeSet<&'f str>,
    /// Names of hooks that it may not disable, with their source.
    forbidden: HashMap<&'f str, &'f HookSource>,
}

impl<'f> Names<'f> {
    fn for_file(own: &SettingsFile, files: &'f [CheckedFile]) -> Self {
        let mut names = Self { allowed: BTreeSet::new(), forbidden: HashMap::new() };
        for CheckedFile { file, .. } in files {
            let is_allowed = std::ptr::eq(own, file) || own.source.may_disable(&file.source);
            for name in file.names() {
                match is_allowed {
                    true => drop(names.allowed.insert(name)),
                    false => drop(names.forbidden.insert(name, &file.source)),
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
        skip_suggestion: bool,
    ) -> Finding {
        let shown = shortened(name);
        let path = format!("hooksConfig.disabled[{position}]");
        let finding = |message| Finding::new(Rule::DisabledUnknown, range, path, message);
        if let Some(source) = self.forbidden.get(name) {
            let message = format!(
                "`{shown}` is a hook of the {source} settings, which {} settings cannot switch off",
                own.source
            );
            return finding(message)
                .with_help(format!("switch it off in the {source} settings themselves"));
        }
        let known = self.allowed.iter().copied().filter(|_| !skip_suggestion);
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
    foreign: Option<(&'f str, String)>,
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
            foreign: entry
                .foreign
                .as_ref()
                .map(|foreign| (&*foreign.event, foreign.command.spec())),
            env: variables(&entry.env),
            project,
            is_worker: entry.worker.is_some(),
        }
    }
}

/// Reports each hook that an earlier file, or an earlier part of its own file, already defines.
fn report_duplicates(
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
            let name = shortened(entry.display_name());
            // Duplicates are correct if the agent runs each of them; but a hook that is both
            // imported and found in the agent's own file is a mistake.
            let is_discovered =
                |entry: &HookEntry| entry.foreign.as_ref().map(|foreign| foreign.is_discovered);
            let frequency = match &entry.foreign {
                Some(foreign) if !foreign.runs_once => {
                    if is_discovered(earlier) == is_discovered(entry) {
                        continue;
                    }
                    "twice"
                }
                _ => "once",
            };
            let message = format!(
                "the hook `{name}` is defined already at {}, for the same event and matcher; it runs \
                 {frequency}",
                earlier.location
            );
            let range = entry.spans.get("command").cloned().unwrap_or_default();
            let path = super::findings::path_of(entry, "command");
            findings.add(Finding::new(Rule::DuplicateHook, &range, path, message));
        }
    }
}
