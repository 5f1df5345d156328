//! `hook rules`: tries what rules say of a command or file, and plays the tests of rule files.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, Subcommand};
use hook_files::regular_file;
use hook_json::text::PathText;
use hook_rules::{
    AGENT, Call, Commands, Directories, Effect, MAX_FILE, Match, RuleFile, Rules, test_directories,
};
use hook_settings::{RuleSet, SettingsFile, excepted_rules};
use hook_shell::invocations::{UNKNOWN, read};
use serde_json::json;

use crate::context::Context;
use crate::error::{CommandError, Result};
use crate::exit_code::{self, Status};
use crate::options::NamedAgent;
use crate::output::{Printer, Tone};
use crate::render::plural;

#[derive(Debug, Args)]
#[command(after_help = "\
Rules are TOML files: .hooks/rules/*.toml of a project, and hooks/rules/*.toml
in ~/.config for yourself. `hook add` writes some that are part of hook.

Examples:
  hook rules try 'cd build && rm -rf ..'
  hook rules try --read .env
  hook rules test
  hook rules test .hooks/rules/git.toml

Tests are played with the home directory /home/dev and the project in
/home/dev/project, so that they have one outcome everywhere.

Exit code: of `try` 2 if a rule refuses or asks; of `test` 1 if a test fails or
a file has a mistake; else 0.")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Show how a command is read, and what each rule says of it; runs nothing
    Try {
        /// The command
        #[arg(required_unless_present_any = ["read", "write"])]
        command: Option<String>,
        /// A file that a tool reads, instead of a command
        #[arg(long, value_name = "PATH", conflicts_with = "command")]
        read: Option<String>,
        /// A file that a tool writes, instead of a command
        #[arg(long, value_name = "PATH", conflicts_with_all = ["command", "read"])]
        write: Option<String>,
        /// The agent that calls, for rules about some agents only
        #[arg(long, value_name = "AGENT", value_parser = NamedAgent::parse)]
        caller: Option<NamedAgent>,
    },
    /// Play the tests in rule files
    Test {
        /// The files; without any, all that are found
        #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
        files: Vec<PathBuf>,
    },
}

pub(crate) async fn run(arguments: &Arguments, context: &Context, printer: &mut Printer) -> Result {
    match &arguments.action {
        Action::Try { command, read, write, caller } => {
            let call = match (command, read, write) {
                (Some(command), ..) => Call::shell(command),
                (None, Some(path), _) => Call::read(path),
                (None, None, path) => Call::write(path.as_deref().unwrap_or_default()),
            };
            let agent = caller.as_ref().map(|NamedAgent(agent)| agent.name());
            try_call(command.as_deref(), &call, agent, context, printer).await
        }
        Action::Test { files } => test(files, context, printer).await,
    }
}

fn directories(context: &Context) -> Directories {
    let home = std::env::home_dir().unwrap_or_default();
    let [cwd, project, home] =
        [context.cwd(), context.project(), &home].map(|path| path.to_string_lossy().into_owned());
    Directories::new(cwd, project, home)
}

/// Returns the rule files that are found.
fn found(context: &Context) -> Result<Vec<RuleSet>> {
    Ok(context.settings_files()?.into_iter().flat_map(|file| file.rules).collect())
}

/// A verdict on a call, with the rules that share it: the name of each, and its file if there are
/// several of that name.
struct Verdict {
    rules: Vec<(String, Option<String>)>,
    found: Match,
}

async fn try_call(
    command: Option<&str>,
    call: &Call<'_>,
    agent: Option<&str>,
    context: &Context,
    printer: &mut Printer,
) -> Result {
    let sets = found(context)?;
    if sets.is_empty() {
        printer
            .warning("there are no rules; `hook packs` lists some, and `hook add NAME` adds them");
    }
    let unreadable = sets.iter().filter_map(|set| Some((set, set.unreadable.as_deref()?)));
    for (set, reason) in unreadable.clone() {
        printer.problem(&format!("{} blocks all tools: {reason}", set.name));
    }
    let is_blocked = unreadable.count() > 0;
    let excepted = excepted_rules(&sets);
    let directories = directories(context);
    let commands = Commands::read(call, &directories);
    let mut verdicts: Vec<Verdict> = Vec::new();
    let files = sets.iter().map(|set| Arc::clone(&set.file));
    let decision = Rules::with_exceptions(files, &excepted).decide_read(
        call,
        &commands,
        &directories,
        &|path| agent.filter(|_| path == AGENT).map(str::to_owned),
    );
    for (index, set) in sets.iter().enumerate() {
        let is_same = |other: &&RuleSet| other.file.name == set.file.name;
        let place = (sets.iter().filter(is_same).count() > 1).then(|| set.path.shown().to_string());
        for found in decision.of_file(index).matches {
            let rule = (found.rule.clone(), place.clone());
            // What cannot be read is the same for all files.
            let is_same = |other: &&mut Verdict| {
                other.found.message == found.message
                    && other.found.effect == found.effect
                    && other.found.subject == found.subject
            };
            match verdicts.iter_mut().find(is_same) {
                Some(other) => other.rules.push(rule),
                None => verdicts.push(Verdict { rules: vec![rule], found }),
            }
        }
    }
    let effect = verdicts.iter().map(|verdict| verdict.found.effect).max();
    let refuses = is_blocked || effect.is_some_and(|effect| effect >= Effect::Ask);
    let matches = verdicts.iter().flat_map(|Verdict { rules, found }| {
        rules.iter().map(|(rule, place)| {
            json!({"rule": rule, "file": place, "effect": found.effect.as_str(),
                "message": found.message, "subject": found.subject})
        })
    });
    let matches: Vec<_> = matches.collect();
    let name = effect.map_or("pass", Effect::as_str);
    let view = (json!({"decision": name, "matches": matches}), |printer: &Printer| {
        text(command, &verdicts, &directories, printer)
    });
    printer.show(&view).await?;
    Ok(if refuses { exit_code::BLOCKED } else { exit_code::PROCEED })
}

fn text(
    command: Option<&str>,
    verdicts: &[Verdict],
    directories: &Directories,
    printer: &Printer,
) -> String {
    let mut out = String::new();
    let tone = |effect: Effect| match effect {
        Effect::Deny => Tone::Bad,
        Effect::Ask => Tone::Warning,
        _ => Tone::Quiet,
    };
    if verdicts.is_empty() {
        let _ = writeln!(out, "{}  no rule matches", printer.paint(Tone::Good, "pass"));
    }
    for Verdict { rules, found } in verdicts {
        let effect = printer.paint(tone(found.effect), found.effect.as_str());
        let name = |(rule, place): &(String, Option<String>)| match place {
            Some(place) => format!("{rule} of {place}"),
            None => rule.clone(),
        };
        let rules: Vec<String> = rules.iter().map(name).collect();
        let rules = printer.paint(Tone::Strong, &rules.join(", "));
        let message = printer.paint(Tone::Plain, &found.message);
        let _ = writeln!(out, "{effect}  {rules}\n      {message}");
        if !found.subject.is_empty() {
            let _ = writeln!(out, "      {}", printer.paint(Tone::Quiet, &found.subject));
        }
    }
    let Some(command) = command else { return out };
    let reading = read(command, &directories.surroundings());
    let _ = writeln!(out, "\n{}", printer.paint(Tone::Strong, "starts"));
    for invocation in
        reading.invocations.iter().filter(|invocation| !invocation.called.text.is_empty())
    {
        let words = std::iter::once(&invocation.called).chain(&invocation.arguments);
        let words: Vec<String> =
            words.map(|word| hook_shell::quote(&word.text).replace(UNKNOWN, "…")).collect();
        let by =
            invocation.started_by.as_ref().map(|by| format!("  (by {by})")).unwrap_or_default();
        let _ = writeln!(
            out,
            "  {}{}",
            printer.paint(Tone::Plain, &words.join(" ")),
            printer.paint(Tone::Quiet, &by)
        );
    }
    for opaque in &reading.opaque {
        let _ = writeln!(
            out,
            "  {} {}",
            printer.paint(Tone::Warning, "not known:"),
            printer.paint(Tone::Plain, &opaque.reason)
        );
    }
    out
}

async fn test(files: &[PathBuf], context: &Context, printer: &mut Printer) -> Result {
    let (mut tested, mut failures) = (Vec::new(), Vec::new());
    for path in files {
        let bytes = regular_file::read(path, MAX_FILE).map_err(|error| {
            CommandError::Usage(format!("cannot read {}: {error}", path.shown()))
        })?;
        let name =
            path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        tested.push(RuleFile::parse(&name, &String::from_utf8_lossy(&bytes)));
    }
    if files.is_empty() {
        (tested, failures) = files_of(found(context)?);
    }
    report(tested, failures, printer).await
}

/// Plays the tests in the rule files of a project, or of other settings too, and shows the outcome.
/// Returns `None` if there are no rules.
pub(super) async fn test_found(
    is_wanted: impl Fn(&SettingsFile) -> bool,
    context: &Context,
    printer: &mut Printer,
) -> Result<Option<Status>> {
    let settings = context.settings_files()?.into_iter().filter(is_wanted);
    let (tested, failures) = files_of(settings.flat_map(|file| file.rules));
    match tested.is_empty() {
        true => Ok(None),
        false => report(tested, failures, printer).await.map(Some),
    }
}

/// Returns rule files, and what is wrong with those that cannot be read.
fn files_of(sets: impl IntoIterator<Item = RuleSet>) -> (Vec<RuleFile>, Vec<String>) {
    let (mut files, mut failures) = (Vec::new(), Vec::new());
    for set in sets {
        failures.extend(set.unreadable.map(|reason| format!("{}: {reason}", set.name)));
        files.push(Arc::unwrap_or_clone(set.file));
    }
    (files, failures)
}

/// Plays the tests of rule files, and shows the outcome.
async fn report(
    mut tested: Vec<RuleFile>,
    mut failures: Vec<String>,
    printer: &mut Printer,
) -> Result {
    tested.iter_mut().for_each(RuleFile::check);
    let tested: Vec<Arc<RuleFile>> = tested.into_iter().map(Arc::new).collect();
    let (count, failed) = play(tested.iter().cloned());
    failures.extend(failed);
    let passed = failures.is_empty();
    let view = (json!({"tests": count, "failures": failures}), |printer: &Printer| {
        let mut out = String::new();
        for failure in &failures {
            let _ = writeln!(
                out,
                "{} {}",
                printer.paint(Tone::Bad, "✗"),
                printer.paint(Tone::Plain, failure)
            );
        }
        let tests = plural(count, "test", "tests");
        let files = plural(tested.len(), "file", "files");
        let _ = match passed {
            true => writeln!(out, "{} {tests} of {files} passed", printer.paint(Tone::Good, "✓")),
            false => writeln!(out, "{} of {tests} failed, or a file has a mistake", failures.len()),
        };
        out
    });
    printer.show(&view).await?;
    Ok(if passed { exit_code::PROCEED } else { exit_code::FAILURE })
}

/// Plays the tests of rule files. Returns their number, and those that failed beside the mistakes of
/// the files.
pub(super) fn play(files: impl Iterator<Item = Arc<RuleFile>>) -> (usize, Vec<String>) {
    let directories = test_directories();
    let (mut count, mut failures) = (0_usize, Vec::new());
    for file in files {
        for problem in &file.problems {
            failures.push(format!("{}:{}: {}", file.name, problem.line, problem.message));
        }
        let rules = Rules::with_exceptions([Arc::clone(&file)], &BTreeSet::new());
        for test in &file.tests {
            count += 1;
            let effect = test.decide(&rules, &directories).effect();
            if effect != test.expect.effect() {
                let [found, expected] = [effect, test.expect.effect()]
                    .map(|effect| effect.map_or("pass", Effect::as_str));
                failures.push(format!(
                    "{}:{}: `{}` is {found}, and {expected} is expected",
                    file.name, test.line, test.subject
                ));
            }
        }
    }
    (count, failures)
}
