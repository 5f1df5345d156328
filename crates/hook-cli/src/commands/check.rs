//! `hook check`: everything that is wrong with settings.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use hook_core::check::check;
use hook_core::settings::Severity;

use crate::context::{Context, named};
use crate::error::CommandError;
use crate::exit_code::{self, Status};
use crate::output::Printer;
use crate::render::{check as render, sarif};

#[derive(Debug, Args)]
#[command(after_help = "\
Nothing is run: scripts are looked at, and so are their first lines. Hooks of
the project that are not trusted are named too, but are no problem of the files.

Examples:
  hook check
  hook check .hooks/settings.json --deny-warnings
  hook check --format sarif > hooks.sarif
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
    /// How to print what is found
    #[arg(long, value_name = "FORMAT", default_value = "human", conflicts_with = "json")]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people: the line, and what about it
    Human,
    /// One problem a line
    Json,
    /// One SARIF 2.1.0 document, for code scanning
    Sarif,
}

pub(crate) async fn run(
    arguments: &Arguments,
    context: &Context,
    printer: &mut Printer,
) -> Result<Status, CommandError> {
    if !arguments.files.is_empty() {
        let why = "files were named to check; name this one beside them";
        context.refuse_named_settings(why)?;
    }
    let sources = match arguments.files.as_slice() {
        [] => context.sources(),
        files => files.iter().map(|path| named(path)).collect(),
    };
    let files = check(&sources, &context.surroundings());
    let fatal = match arguments.deny_warnings {
        true => Severity::Warning,
        false => Severity::Error,
    };
    if files.is_empty() {
        let looked: Vec<_> = sources.iter().map(|it| it.path.display().to_string()).collect();
        printer.warning(&format!(
            "there are no settings; looked for {}; `hook init` writes a starter hook",
            looked.join(", ")
        ));
    }
    let format = if context.json() { Format::Json } else { arguments.format };
    let problems = || files.iter().flat_map(|file| &file.file.diagnostics);
    match format {
        Format::Human => {
            for file in &files {
                for problem in &file.file.diagnostics {
                    let shown = render::problem(problem, &file.text, context.cwd(), printer);
                    printer.text(&shown).await?;
                }
            }
            if !files.is_empty() {
                printer.text(&render::summary(&files, printer)).await?;
            }
        }
        Format::Json => {
            for problem in problems() {
                printer.message(&render::problem_json(problem)).await?;
            }
        }
        Format::Sarif => {
            let document = sarif::document(problems(), context.project());
            printer.object(&document).await?;
        }
    }
    if arguments.files.is_empty() {
        // What keeps a system from starting is among the problems.
        if let Ok(system) = context.builder()
            && let Ok(system) = system.build()
            && system.initialize_here().await.is_ok()
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
