//! `hook doctor`: checks that everything that hooks need works, and reports the rest.

mod fleet;
mod foreign;
mod installation;
mod modules;
mod programs;
mod recording;
mod server;
mod settings;
mod trust;
mod twins;

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use hook_settings::check::check;

pub(crate) use self::twins::Twins;
use crate::commands::connect;
use crate::context::Context;
use crate::error::Result;
use crate::exit_code;
use crate::fleet::FleetArguments;
use crate::output::Printer;
use crate::render::{self, Health, Section};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hook doctor
  hook doctor --fix
  hook doctor --json | jq 'select(.health == \"bad\")'
  hook doctor --recording session.hookrec
  hook doctor --nats tls://broker.example --nats-creds agent.creds
  hook doctor --nats tls://broker.example --nats-creds op.creds --expect 3

Exit code: 1 if something keeps hooks from running as written, or, with
--expect, if fewer engines serve, or they differ; else 0.")]
pub(crate) struct Arguments {
    /// Name the hooks that took longest in this recording, too
    #[arg(long, value_name = "FILE")]
    recording: Option<PathBuf>,
    /// Put entries of `hook connect` back that were taken out, or that call another binary, before anything else
    #[arg(long, conflicts_with = "expect")]
    fix: bool,
    #[command(flatten)]
    fleet: FleetArguments,
    /// Look at the fleet alone, in which at least so many engines must serve, and be alike
    #[arg(long, value_name = "ENGINES", requires = "nats", conflicts_with = "recording")]
    expect: Option<usize>,
}

pub(crate) async fn run(arguments: &Arguments, context: &Context, printer: &mut Printer) -> Result {
    if let Some(expected) = arguments.expect {
        let section = fleet::section(&arguments.fleet, Some(expected), context).await?;
        let status = print(section.as_slice(), context, printer).await?;
        if !context.json() {
            let findings = section.iter().flat_map(|section| &section.findings);
            printer.text(&render::fleet_diagnosis(findings, printer)).await?;
        }
        return Ok(status);
    }
    if arguments.fix {
        // What could not be put back is among the findings.
        connect::repair(context, printer).await?;
    }
    let system = context.builder()?.build()?;
    let initialized = system.initialize_blocking().await;
    let checked = check(&context.sources(), &context.surroundings());
    let mut sections = vec![
        programs::section(&system, initialized.as_ref().err(), context.project()),
        settings::section(context, &checked),
        trust::section(context, &system),
        settings::duplicates(&checked, context),
        foreign::files(context).await,
        foreign::connections(context).await,
    ];
    sections.extend(modules::section(&system).await);
    sections.extend(server::section(context).await);
    sections.push(installation::section());
    system.shutdown(Duration::ZERO).await;
    if let Some(path) = &arguments.recording {
        sections.push(recording::section(path, printer).await?);
    }
    sections.extend(fleet::section(&arguments.fleet, None, context).await?);
    let status = print(&sections, context, printer).await?;
    let findings = || sections.iter().flat_map(|section| &section.findings);
    if !context.json() {
        let hooks = system.hooks().unwrap_or_default();
        let run = hooks.iter().filter(|hook| hook.enabled && hook.trusted).count();
        let counts = (hooks.len(), run);
        let is_asked = connect::is_any_connected(context);
        printer.text(&render::diagnosis(findings(), counts, is_asked, printer)).await?;
    }
    Ok(status)
}

/// Prints the findings. Returns the failure code if one of them is bad.
async fn print(sections: &[Section], context: &Context, printer: &mut Printer) -> Result {
    for section in sections {
        if context.json() {
            for line in render::section_json(section) {
                printer.message(&line).await?;
            }
        } else {
            printer.text(&render::section(section, printer)).await?;
        }
    }
    let mut findings = sections.iter().flat_map(|section| &section.findings);
    let is_bad = findings.any(|finding| finding.health == Health::Bad);
    Ok(if is_bad { exit_code::FAILURE } else { exit_code::PROCEED })
}
