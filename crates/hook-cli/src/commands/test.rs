//! `hook test`: plays scenarios and reports like a test runner.

use std::collections::{BTreeMap, HashSet};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::time::Instant;

use clap::Args;
use futures::StreamExt;
use hook_bus::HookSystem;
use hook_files::regular_file;
use hook_files::replace::replace_file;
use hook_protocol::Events;
use hook_record::script::{
    Scenario, SelectedTests, TestReport, play_tests, scenario_files, update,
};
use hook_settings::{HookSource, Pack, SettingsFile};
use tokio_util::sync::CancellationToken;

use super::{is_same_file, rules, with_hooks};
use crate::context::Context;
use crate::error::{CommandError, Result};
use crate::exit_code;
use crate::options::count;
use crate::output::Printer;
use crate::render::{self, TestOutcome, TestRun};

#[derive(Debug, Args)]
#[command(after_help = "\
Only hooks of the project run, or those of --settings, so that the outcome is
the same for everybody; --user adds those of the user and of the machine. The
tests in their files of rules are played, too; without a FILE only those.

Examples:
  hook test
  hook test tests/hooks.toml
  hook test tests --filter guard --fail-fast
  hook test tests --junit target/hooks.xml
  hook test tests/hooks.toml --update

A scenario is TOML:
  [[test]]
  name = \"rm -rf is blocked\"
  event = \"BeforeTool\"
  input.tool_name = \"run_shell_command\"
  input.tool_input = { command = \"rm -rf /\" }
  expect = { decision = \"block\", reason = \"/destructive/\" }

Exit code: 1 if a test failed or was not played, or none was found; else 0.")]
pub(crate) struct Arguments {
    /// Scenarios, or folders: every *.toml in and below them
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::AnyPath)]
    scenarios: Vec<PathBuf>,
    /// Only tests whose FILE::NAME contains this text; may be given several times
    #[arg(long, value_name = "TEXT")]
    filter: Vec<String>,
    /// Only tests whose FILE::NAME is the text of a --filter
    #[arg(long, requires = "filter")]
    exact: bool,
    /// List the tests instead of playing them
    #[arg(long, conflicts_with_all = ["update", "junit"])]
    list: bool,
    /// How many tests may be played at once [default: the number of processors]
    #[arg(short, long, value_name = "N", value_parser = count)]
    jobs: Option<NonZeroUsize>,
    /// Begin no further test after a failure
    #[arg(long, overrides_with = "no_fail_fast", conflicts_with = "update")]
    fail_fast: bool,
    /// Play every test, which is the default
    #[arg(long, overrides_with = "fail_fast")]
    no_fail_fast: bool,
    /// Write what was found into the scenarios that expected something else
    #[arg(long)]
    update: bool,
    /// Run the hooks of the user and of the machine, too
    #[arg(long)]
    pub(crate) user: bool,
    /// Also write a JUnit report to this file
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    junit: Option<PathBuf>,
}

/// The maximum size of a scenario, in bytes: 16 MiB.
const MAX_SCENARIO: u64 = 16 * 1024 * 1024;

/// A file of tests, with the indexes of the selected ones.
struct File {
    path: PathBuf,
    text: String,
    scenario: Scenario,
    selected: Vec<usize>,
}

pub(crate) async fn run(arguments: &Arguments, context: &Context, printer: &mut Printer) -> Result {
    let scenarios = match arguments.scenarios.is_empty() {
        true => None,
        false => Some(run_scenarios(arguments, context, printer).await?),
    };
    let of_scenarios = !arguments.filter.is_empty()
        || arguments.list
        || arguments.update
        || arguments.junit.is_some()
        || arguments.fail_fast && scenarios.is_some_and(|status| status != exit_code::PROCEED);
    let rules = match of_scenarios {
        true => None,
        false => rules::test_found(|file| arguments.tests_rules_of(file), context, printer).await?,
    };
    match (scenarios, rules) {
        (None, None) => {
            let text = "there are no rules whose tests could be played, and no scenario was named";
            Err(CommandError::Usage(text.to_owned()))
        }
        (Some(exit_code::PROCEED), Some(status)) | (Some(status), _) | (None, Some(status)) => {
            Ok(status)
        }
    }
}

impl Arguments {
    /// Returns `true` if the rules beside a settings file are tested. Those of a pack were when it was
    /// added.
    fn tests_rules_of(&self, file: &SettingsFile) -> bool {
        let is_own = matches!(file.source, HookSource::Project | HookSource::Explicit);
        file.pack.is_none() && (is_own || self.user)
    }
}

async fn run_scenarios(arguments: &Arguments, context: &Context, printer: &mut Printer) -> Result {
    let (events, _) = context.events();
    let Some(files) = read(arguments, &events, printer)? else { return Ok(exit_code::FAILURE) };
    if files.iter().all(|file| file.selected.is_empty()) {
        let texts: Vec<String> = arguments.filter.iter().map(|text| format!("{text:?}")).collect();
        let how = if arguments.exact { "is" } else { "contains" };
        printer.problem(&format!(
            "no test to play: no FILE::NAME {how} {}; `hook test {} --list` shows them all",
            texts.join(" or "),
            quoted_paths(&arguments.scenarios)
        ));
        return Ok(exit_code::FAILURE);
    }
    if arguments.list {
        return list(&files, printer).await;
    }
    if let Some(report) = &arguments.junit
        && files.iter().any(|file| is_same_file(&file.path, report))
    {
        return Err(CommandError::would_overwrite("a scenario", report));
    }
    with_hooks(context, printer, async |system, stop, printer| {
        test(arguments, &files, context, system, stop, printer).await
    })
    .await
}

/// Plays the scenarios of a pack with its hooks and rules alone, and shows the outcome. Returns
/// `false` if one failed.
pub(super) async fn play_pack(
    pack: Pack,
    context: &Context,
    printer: &mut Printer,
) -> Result<bool> {
    let arguments = Arguments {
        scenarios: vec![pack.folder.join("tests")],
        filter: Vec::new(),
        exact: false,
        list: false,
        jobs: None,
        fail_fast: false,
        no_fail_fast: false,
        update: false,
        user: false,
        junit: None,
    };
    // The outcome must not depend on the project in which it is added.
    let project =
        tempfile::tempdir().map_err(CommandError::write("a folder", &std::env::temp_dir()))?;
    let context = context.of_pack(pack, project.path());
    Ok(run_scenarios(&arguments, &context, printer).await? == exit_code::PROCEED)
}

/// Reads all scenarios before any is played. Returns `None` if one is invalid; the problem is then
/// already printed.
fn read(
    arguments: &Arguments,
    events: &Events,
    printer: &mut Printer,
) -> Result<Option<Vec<File>>> {
    let mut paths: Vec<PathBuf> = Vec::new();
    let mut seen = HashSet::new();
    for path in &arguments.scenarios {
        for path in scenario_files(path)? {
            // A file may be named both directly and by its folder.
            let real = std::fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
            if seen.insert(real) {
                paths.push(path);
            }
        }
    }
    let mut files = Vec::new();
    let mut broken = false;
    for path in paths {
        let text = regular_file::read_to_string(&path, MAX_SCENARIO)
            .map_err(CommandError::read("the scenario", &path))?;
        match Scenario::parse(&text, events) {
            Ok(scenario) => {
                let is_selected = |index: &usize| {
                    let test = scenario.tests.get(*index);
                    test.is_some_and(|test| matches_filter(arguments, &path, &test.name))
                };
                let selected = (0..scenario.tests.len()).filter(is_selected).collect();
                files.push(File { path, text, scenario, selected });
            }
            Err(error) => {
                broken = true;
                printer.problem(&render::scenario_error(&path, &text, &error));
            }
        }
    }
    Ok((!broken).then_some(files))
}

/// Formats the named scenarios as shell arguments.
fn quoted_paths(scenarios: &[PathBuf]) -> String {
    let quoted = |path: &PathBuf| hook_shell::quote(&path.to_string_lossy());
    scenarios.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

fn matches_filter(arguments: &Arguments, file: &Path, name: &str) -> bool {
    let label = render::test_label(file, name);
    arguments.filter.is_empty()
        || arguments.filter.iter().any(|text| match arguments.exact {
            true => label == *text,
            false => label.contains(text),
        })
}

async fn list(files: &[File], printer: &mut Printer) -> Result {
    for File { path: file, scenario, selected, .. } in files {
        for test in selected.iter().filter_map(|index| scenario.tests.get(*index)) {
            printer.show(&render::ListedTest { file, test }).await?;
        }
    }
    Ok(exit_code::PROCEED)
}

async fn test(
    arguments: &Arguments,
    files: &[File],
    context: &Context,
    system: &HookSystem,
    stop: &CancellationToken,
    printer: &mut Printer,
) -> Result {
    let started = Instant::now();
    let select = |file: &File| file.selected.len();
    let mut run = TestRun {
        selected: files.iter().map(select).sum(),
        filtered_out: files.iter().map(|file| file.scenario.tests.len() - select(file)).sum(),
        files: files.iter().filter(|file| select(file) > 0).count(),
        outcomes: Vec::new(),
        duration: std::time::Duration::ZERO,
    };
    // The tests and their report must not depend on a reader of stdout.
    printer.ignore_broken_pipe();
    if !context.json() {
        printer.text(&render::test_header(&run, printer)).await?;
    }
    let tests: Vec<SelectedTests<'_>> = files
        .iter()
        .map(|file| SelectedTests { scenario: &file.scenario, tests: file.selected.clone() })
        .collect();
    let jobs = arguments.jobs.or_else(|| std::thread::available_parallelism().ok());
    let jobs = jobs.unwrap_or(NonZeroUsize::MIN);
    let mut played = pin!(play_tests(system.bus(), &tests, jobs, arguments.fail_fast, stop));
    while let Some(played) = played.next().await {
        let Some(file) = files.get(played.scenario) else { continue };
        let Some(test) = file.scenario.tests.get(played.test) else { continue };
        let outcome = TestOutcome::new(&file.path, played.test, test, played.report);
        if !arguments.update {
            show(&outcome, context, printer).await?;
        }
        run.outcomes.push(outcome);
    }
    if arguments.update {
        write_updates(files, &mut run.outcomes, &context.events().0)?;
        for outcome in &run.outcomes {
            show(outcome, context, printer).await?;
        }
    }
    run.duration = started.elapsed();
    if !context.json() {
        printer.text(&render::test_summary(&run, printer)).await?;
    }
    if let Some(path) = &arguments.junit {
        write_junit(path, &run)?;
    }
    if run.passed() {
        return Ok(exit_code::PROCEED);
    }
    let hooks = system.hooks()?;
    let untrusted = hooks.iter().filter(|hook| hook.enabled && !hook.trusted).count();
    let off = hooks.iter().filter(|hook| !hook.enabled).count();
    if off > 0 {
        let counted = render::counted(off, "hook");
        printer.remark(&format!(
            "{counted} did not run in these tests, because settings switch {} off: `hook list` says \
             which, `hook enable` switches on",
            if off == 1 { "it" } else { "them" }
        ));
    }
    if untrusted > 0 {
        printer.remark(&format!(
            "{} of the project did not run in these tests, because the user has not trusted them: \
             review and trust them with `hook trust` (`hook trust --yes` where there is no \
             terminal), or give the settings file with --settings",
            render::counted(untrusted, "hook")
        ));
    }
    Ok(exit_code::FAILURE)
}

async fn show(outcome: &TestOutcome<'_>, context: &Context, printer: &mut Printer) -> Result<()> {
    if context.json() {
        let Some(line) = render::test_json(outcome) else { return Ok(()) };
        return printer.object(&line).await;
    }
    printer.text(&render::test_outcome(outcome, printer)).await
}

/// Writes actual results into the files, and the changes into the outcomes.
fn write_updates(files: &[File], outcomes: &mut [TestOutcome<'_>], events: &Events) -> Result<()> {
    let mut by_file: BTreeMap<&Path, Vec<&mut TestOutcome<'_>>> = BTreeMap::new();
    for outcome in outcomes {
        by_file.entry(outcome.file).or_default().push(outcome);
    }
    for file in files {
        let Some(mut outcomes) = by_file.remove(file.path.as_path()) else { continue };
        let with_report =
            |outcome: &&mut TestOutcome<'_>| Some((outcome.index, outcome.report.clone()?));
        let reports: Vec<(usize, TestReport)> = outcomes.iter().filter_map(with_report).collect();
        let reports: Vec<(usize, &TestReport)> =
            reports.iter().map(|(index, report)| (*index, report)).collect();
        let updated = update(&file.text, &reports, events)
            .map_err(|source| CommandError::Scenario { path: file.path.clone(), source })?;
        if !updated.changes.is_empty() {
            replace_file(&file.path, file.text.as_bytes(), updated.text.as_bytes())
                .map_err(CommandError::write("the scenario", &file.path))?;
        }
        for outcome in &mut outcomes {
            let changes = updated.changes.iter().filter(|change| change.test == outcome.index);
            let not_updated = updated.skipped.iter().filter(|entry| entry.test == outcome.index);
            outcome.changes = changes.cloned().collect();
            outcome.not_updated = not_updated.cloned().collect();
        }
    }
    Ok(())
}

fn write_junit(path: &Path, run: &TestRun<'_>) -> Result<()> {
    let failed = CommandError::write("the JUnit report", path);
    let report = render::junit(run);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(&failed)?;
    }
    std::fs::write(path, report).map_err(failed)
}
