//! A pack that may be added: what is in it, what it would run and refuse, and what is wrong with it.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use hook_agents::languages;
use hook_files::regular_file;
use hook_json::text::{one_line, shortened};
use hook_protocol::timestamp_in_seconds;
use hook_rules::RuleFile;
use hook_settings::{
    Agents, FailBehavior, LockedPack, Pack, RuleSet, SettingsFile, SettingsSource, Severity,
    check_pack_name, load,
};
use hook_trust::{PackFiles, ReviewedFile, outside_of_pack};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::commands::rules::play;
use crate::error::{CommandError, Result};
use crate::output::{Printer, Tone};
use crate::render::{self, plural};

/// The file that describes a pack.
pub(super) const MANIFEST: &str = ".plugin/plugin.json";
const MAX_MANIFEST: u64 = 64 << 10;

/// How many messages of rules are shown without `--show`.
const FIRST_RULES: usize = 12;

/// The description of a pack, in the form of Open Plugins.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Manifest {
    pub(super) name: String,
    #[serde(default)]
    pub(super) version: Option<String>,
    #[serde(default)]
    description: Option<String>,
    #[serde(default, alias = "licence")]
    license: Option<String>,
    #[serde(default)]
    homepage: Option<String>,
    #[serde(default)]
    engines: Engines,
}

/// The engines that a pack works with.
#[derive(Debug, Default, Deserialize)]
struct Engines {
    /// The lowest version of `hook`, such as `>=0.1.0`.
    hook: Option<String>,
}

/// A pack as it was read, before anything of it runs.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) manifest: Manifest,
    pub(super) files: PackFiles,
    settings: Option<SettingsFile>,
    pub(super) problems: Vec<String>,
    /// The number of tests of its rules, which are run.
    tests: usize,
}

impl Candidate {
    /// Reads a folder.
    pub(super) fn read(folder: &Path) -> Result<Self> {
        let unreadable = |error: String| CommandError::Pack(format!("this is no pack: {error}"));
        let bytes = regular_file::read(&folder.join(MANIFEST), MAX_MANIFEST)
            .map_err(|error| unreadable(format!("{MANIFEST} cannot be read ({error})")))?;
        let manifest: Manifest = serde_json::from_slice(&bytes)
            .map_err(|error| unreadable(format!("{MANIFEST} is invalid ({error})")))?;
        check_pack_name(&manifest.name).map_err(unreadable)?;
        if let Some(wanted) = manifest.engines.hook.as_deref()
            && !is_supported(wanted, env!("CARGO_PKG_VERSION"))
        {
            return Err(CommandError::Pack(format!(
                "the pack {} needs hook {}, and this is {}; install a later version",
                manifest.name,
                shortened(wanted),
                env!("CARGO_PKG_VERSION")
            )));
        }
        let files = PackFiles::read(folder).map_err(|error| {
            CommandError::Pack(format!("the pack {} cannot be added: {error}", manifest.name))
        })?;
        let settings = load(&source_of(&manifest.name, folder));
        let mut candidate = Self { manifest, files, settings, problems: Vec::new(), tests: 0 };
        candidate.check();
        Ok(candidate)
    }

    /// Looks for mistakes, and plays the tests of its rules.
    fn check(&mut self) {
        let Some(settings) = &self.settings else { return };
        let errors =
            settings.diagnostics.iter().filter(|problem| problem.severity == Severity::Error);
        self.problems.extend(errors.map(ToString::to_string));
        let outside = settings.hooks.iter().filter_map(|hook| {
            let reason = outside_of_pack(hook, self.files.folder())?;
            Some(format!("the hook `{}` cannot run: {reason}", shortened(hook.display_name())))
        });
        self.problems.extend(outside);
        let mut files: Vec<RuleFile> =
            settings.rules.iter().map(|set| RuleFile::clone(&set.file)).collect();
        files.iter_mut().for_each(RuleFile::check);
        let (tests, failures) = play(files.into_iter().map(Arc::new));
        self.tests = tests;
        for failure in failures {
            if !self.problems.iter().any(|known| known.contains(&failure)) {
                self.problems.push(failure);
            }
        }
        if settings.hooks.is_empty() && self.rules().next().is_none() {
            self.problems.push("it has neither rules nor hooks".to_owned());
        }
    }

    fn rules(&self) -> impl Iterator<Item = &RuleFile> {
        self.settings.iter().flat_map(|file| &file.rules).map(|set| &*set.file)
    }

    /// Returns `true` if it runs something, and not only restricts.
    pub(super) fn has_hooks(&self) -> bool {
        self.settings.as_ref().is_some_and(|file| !file.hooks.is_empty())
    }

    /// Returns `true` if it has scenarios.
    pub(super) fn has_scenarios(&self) -> bool {
        self.files.files.iter().any(|file| file.path.starts_with("tests"))
    }

    /// Returns the entry for a lock.
    pub(super) fn to_locked(&self, source: String, commit: Option<String>) -> LockedPack {
        let settings = self.settings.iter();
        let hooks = settings.clone().flat_map(|file| &file.hooks);
        let guards = hooks.filter(|hook| hook.fail_behavior == FailBehavior::Block);
        let rules = settings.flat_map(|file| &file.rules).flat_map(RuleSet::events);
        let events = guards.map(|hook| hook.event).chain(rules);
        let mut guards: Vec<String> = events.map(|event| event.as_str().to_owned()).collect();
        guards.sort();
        guards.dedup();
        LockedPack {
            source,
            commit,
            version: self.manifest.version.clone(),
            digest: self.files.digest.clone(),
            guards,
            added: timestamp_in_seconds(SystemTime::now()),
        }
    }

    /// Returns what it would run and refuse and, with `whole`, the content of all of its files.
    pub(super) fn text(&self, whole: bool, printer: &Printer) -> String {
        let manifest = &self.manifest;
        let mut out = format!(
            "{}{}\n",
            printer.paint(Tone::Strong, &manifest.name),
            manifest
                .version
                .as_deref()
                .map(|version| format!(" {}", one_line(version)))
                .unwrap_or_default()
        );
        let mut field = |name: &str, text: &str| {
            let name = printer.paint(Tone::Quiet, &format!("{name:<12} "));
            let text = hook_json::text::escaped_lines(text).replace('\n', "\n               │ ");
            let _ = writeln!(out, "  {name}{text}");
        };
        for (name, text) in [
            ("description", &manifest.description),
            ("license", &manifest.license),
            ("homepage", &manifest.homepage),
        ] {
            if let Some(text) = text {
                field(name, &shortened(text));
            }
        }
        field("digest", &self.files.digest);
        for hook in self.settings.iter().flat_map(|file| &file.hooks) {
            let blocks = match hook.fail_behavior {
                FailBehavior::Block => ", blocks if it fails",
                _ => "",
            };
            let matcher =
                hook.matcher.as_deref().map(|matcher| format!(" for {}", matcher.to_text()));
            field(
                "runs",
                &format!("at {}{}{blocks}:", hook.event.as_str(), matcher.unwrap_or_default()),
            );
            field("", &hook.command);
            for (name, value) in &hook.env {
                field("env", &format!("{name}={value}"));
            }
        }
        let rules: Vec<_> = self.rules().flat_map(RuleFile::summaries).collect();
        let shown = if whole { rules.len() } else { FIRST_RULES };
        for rule in rules.iter().take(shown) {
            let only = match rule.only.as_str() {
                "" => String::new(),
                only => format!(" (only {only})"),
            };
            field(rule.effect.as_str(), &format!("{}{only}: {}", rule.name, rule.message));
        }
        if rules.len() > shown {
            let more = plural(rules.len() - shown, "more rule", "more rules");
            field("", &format!("… {more}, with --show"));
        }
        if self.tests > 0 {
            field(
                "tests",
                &format!("{} of its rules were run", plural(self.tests, "test", "tests")),
            );
        }
        let is_shown = |file: &&ReviewedFile| whole || self.has_hooks() && is_code(&file.path);
        for file in &self.files.files {
            field("file", &render::about(file));
        }
        for file in self.files.files.iter().filter(is_shown) {
            out.push_str(&render::content(file, true, whole, printer));
        }
        out
    }

    /// Returns the difference from an earlier version.
    pub(super) fn difference(&self, before: &PackFiles, printer: &Printer) -> String {
        let mut out = String::new();
        let find = |files: &PackFiles, path: &Path| {
            files.files.iter().find(|file| file.path == path).cloned()
        };
        let name_of = |file: &ReviewedFile| one_line(&file.path.to_string_lossy()).into_owned();
        for old in &before.files {
            if find(&self.files, &old.path).is_none() {
                let _ =
                    writeln!(out, "  {}  {}", printer.paint(Tone::Bad, "removed"), name_of(old));
            }
        }
        for new in &self.files.files {
            let Some(old) = find(before, &new.path) else {
                let _ = writeln!(
                    out,
                    "  {}    {}",
                    printer.paint(Tone::Warning, "added"),
                    name_of(new)
                );
                out.push_str(&render::content(new, false, true, printer));
                continue;
            };
            if old == *new {
                continue;
            }
            let _ = writeln!(
                out,
                "  {}  {}",
                printer.paint(Tone::Warning, "changed"),
                render::about(new)
            );
            if let (Some(old), Some(new)) = (old.text(), new.text()) {
                let diff = render::unified(old, new, None);
                out.push_str(&render::paint_diff(&diff, "    ", printer));
            }
        }
        let file_of = |folder: &Path| load(&source_of(&self.manifest.name, folder));
        let new: Vec<&RuleFile> = self.rules().collect();
        let old = file_of(before.folder());
        let lost =
            old.iter().flat_map(|file| &file.rules).flat_map(|set| set.file.lost_rules(&new));
        for rule in lost {
            let _ = writeln!(
                out,
                "  {}  the rule {rule} is gone, or does less, or something else",
                printer.paint(Tone::Bad, "loosened")
            );
        }
        out
    }

    pub(super) fn json(&self) -> Value {
        let hooks = self.settings.iter().flat_map(|file| &file.hooks);
        let hooks: Vec<Value> = hooks
            .map(|hook| json!({"event": hook.event.as_str(), "name": hook.name, "command": hook.command}))
            .collect();
        let rules: Vec<Value> = self
            .rules()
            .flat_map(RuleFile::summaries)
            .map(|rule| json!({"rule": rule.name, "effect": rule.effect.as_str(), "message": rule.message, "only": rule.only}))
            .collect();
        let files: Vec<_> =
            self.files.files.iter().map(|file| file.path.to_string_lossy()).collect();
        json!({
            "pack": self.manifest.name, "version": self.manifest.version, "digest": self.files.digest,
            "hooks": hooks, "rules": rules, "files": files, "tests": self.tests, "problems": self.problems,
        })
    }
}

/// Returns the source of a pack in a folder.
pub(super) fn source_of(name: &str, folder: &Path) -> SettingsSource {
    let pack = Pack::new(name, &LockedPack::default(), None);
    let source = SettingsSource::of_pack(Pack { folder: folder.to_path_buf(), ..pack });
    Agents::known(languages())
        .with_files(vec![source.clone()], [folder])
        .into_iter()
        .next()
        .unwrap_or(source)
}

/// Returns `true` if a file may be run or read by a program.
fn is_code(path: &Path) -> bool {
    let is_description =
        path.starts_with(".plugin") || path.starts_with("rules") || path.starts_with("tests");
    !is_description && path.extension().is_none_or(|extension| extension != "md")
}

/// Returns `true` if a version is at least the wanted one, written as `1.2.3` or `>=1.2.3`. What
/// cannot be read is not supported.
fn is_supported(wanted: &str, version: &str) -> bool {
    let numbers = |text: &str| {
        let core = text.split(['-', '+']).next().unwrap_or_default();
        core.split('.').map(|part| part.parse().ok()).collect::<Option<Vec<u64>>>()
    };
    let wanted = wanted.trim().trim_start_matches(['>', '=', '^']).trim();
    match (numbers(wanted), numbers(version)) {
        (Some(wanted), Some(version)) => wanted <= version,
        _ => false,
    }
}
