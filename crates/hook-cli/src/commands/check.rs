//! `hook check`: reports all problems of settings.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use hook_files::regular_file;
use hook_json::text::PathText;
use hook_settings::check::check;
use hook_settings::{Diagnostic, Location, Rule, Severity};
use hook_trust::verify_pack;

use super::packs::forgotten;
use crate::context::{Context, explicit_source};
use crate::error::{CommandError, Result};
use crate::exit_code;
use crate::output::Printer;
use crate::render::check as render;

#[derive(Debug, Args)]
#[command(after_help = "\
Nothing is run: scripts are looked at, and so are their first lines; modules
that may run are loaded, to see whether they can be. Hooks of the project that
are not trusted are named too, but are no problem of the files.

Examples:
  hook check
  hook check .hooks/settings.json --deny-warnings
  hook check --json | jq -r 'select(.severity == \"error\") | .message'

Exit code: 1 for errors, and with --deny-warnings for warnings, or if there are
no settings; else 0.")]
pub(crate) struct Arguments {
    /// The settings files; those that would be used by default
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// End with 1 also where there are only warnings
    #[arg(long)]
    deny_warnings: bool,
}

/// The maximum size of a module whose lines are shown, in bytes.
const MAX_MODULE: u64 = 4 << 20;

pub(crate) async fn run(arguments: &Arguments, context: &Context, printer: &mut Printer) -> Result {
    if !arguments.files.is_empty() {
        let why = "files were named to check; name this one beside them";
        context.refuse_named_settings(why)?;
    }
    let is_rules = |path: &&PathBuf| {
        path.extension().is_some_and(|extension| extension == "toml")
            && std::path::absolute(path)
                .is_ok_and(|path| hook_agents::agent_by_path(&path).is_none())
    };
    if let Some(path) = arguments.files.iter().find(is_rules) {
        let path = path.shown();
        return Err(CommandError::Usage(format!(
            "{path} is no settings file; `hook rules test {path}` checks a file of rules, `hook check` those in their places"
        )));
    }
    let sources = match arguments.files.as_slice() {
        [] => context.sources(),
        files => files.iter().map(|path| explicit_source(path)).collect(),
    };
    let mut files = check(&sources, &context.surroundings());
    for file in &mut files {
        let pack = file.file.pack.as_ref().filter(|pack| context.trust_policy().agrees_to(pack));
        if let Some(Err(reason)) = pack.map(|pack| verify_pack(pack)) {
            let location = Location::of_file(file.file.path.as_deref().unwrap_or(Path::new("")));
            file.file.diagnostics.push(Diagnostic::new(Rule::PackChanged, location, reason));
        }
    }
    let fatal = match arguments.deny_warnings {
        true => Severity::Warning,
        false => Severity::Error,
    };
    if files.is_empty() {
        let paths: Vec<_> = sources.iter().map(|source| source.path.shown().to_string()).collect();
        printer.warning(&format!(
            "there are no settings; looked for {}; `hook init` writes a first guard",
            paths.join(", ")
        ));
    }
    // Problems outside of the files, each with the text that it is about.
    let mut others = Vec::new();
    if arguments.files.is_empty() {
        others = unloaded_modules(context).await;
        others.extend(forgotten(context).into_iter().map(|problem| (problem, String::new())));
    }
    let problems = || {
        let others = others.iter().map(|(problem, _)| problem);
        files.iter().flat_map(|file| &file.file.diagnostics).chain(others)
    };
    match context.json() {
        false => {
            let of_files = files
                .iter()
                .flat_map(|file| file.file.diagnostics.iter().map(|problem| (problem, &file.text)));
            // A problem with rules is in a file of its own.
            let own_texts: HashMap<&Path, String> = files
                .iter()
                .flat_map(|file| &file.file.rules)
                .map(|set| {
                    let text = regular_file::read(&set.path, MAX_MODULE).unwrap_or_default();
                    (set.path.as_path(), String::from_utf8_lossy(&text).into_owned())
                })
                .collect();
            let of_files = of_files.map(|(problem, text)| {
                let path = problem.location.file.as_deref().map(PathBuf::as_path);
                (problem, path.and_then(|path| own_texts.get(path)).unwrap_or(text))
            });
            for (problem, text) in of_files.chain(others.iter().map(|(one, text)| (one, text))) {
                printer.text(&render::problem(problem, text, context.cwd(), printer)).await?;
            }
            if !files.is_empty() && others.is_empty() {
                printer.text(&render::summary(&files, printer)).await?;
            }
        }
        true => {
            for problem in problems() {
                printer.message(&render::problem_json(problem)).await?;
            }
        }
    }
    if arguments.files.is_empty() {
        // Errors that keep a system from starting are among the problems already.
        if let Ok(system) = context.builder()
            && let Ok(system) = system.build()
            && system.initialize_blocking().await.is_ok()
        {
            context.show_trust_problems(&system, printer)?;
        }
    }
    let nothing_checked = files.is_empty() && fatal == Severity::Warning;
    match nothing_checked || problems().any(|problem| problem.severity >= fatal) {
        true => Ok(exit_code::FAILURE),
        false => Ok(exit_code::PROCEED),
    }
}

/// Returns a problem for each module that may run and cannot be loaded, with its text.
async fn unloaded_modules(context: &Context) -> Vec<(Diagnostic, String)> {
    // Other reasons why a system does not start are reported for its settings.
    let Ok(system) = context.builder().and_then(|builder| Ok(builder.build()?)) else {
        return Vec::new();
    };
    let is_loaded =
        system.initialize_blocking().await.is_ok() && system.load_modules().await.is_ok();
    let modules = system.loaded_modules().unwrap_or_default();
    system.shutdown(Duration::ZERO).await;
    let failed = modules.into_iter().filter(|_| is_loaded).filter_map(|module| {
        let error = module.error?;
        let text = regular_file::read(&module.path, MAX_MODULE).unwrap_or_default();
        let location = location_in(&error, &module.path);
        let problem = Diagnostic::new(Rule::ModuleNotLoaded, location, error);
        Some((problem, String::from_utf8_lossy(&text).into_owned()))
    });
    failed.collect()
}

/// Returns the location of an error in a module, if the error names it: `…: FILE:LINE:COLUMN: …`.
fn location_in(error: &str, module: &Path) -> Location {
    let mut location = Location::of_file(module);
    let file = format!("{}:", module.to_string_lossy());
    let mut numbers =
        error.split_once(&file).map(|(_, rest)| rest.split(':')).into_iter().flatten();
    let mut number = || numbers.next()?.trim().parse::<usize>().ok();
    if let (Some(line), Some(column)) = (number(), number()) {
        (location.line, location.column) = (line, column);
        (location.end_line, location.end_column) = (line, column + 1);
    }
    location
}
