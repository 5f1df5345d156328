//! `hook test`: play scenarios, report like a test runner.

use std::path::PathBuf;

use clap::Args;
use hook_bus::HookSystem;
use hook_bus::script::{Scenario, TestReport};
use tokio_util::sync::CancellationToken;

use crate::context::Context;
use crate::error::CommandError;
use crate::exit_code::{self, Status};
use crate::output::Printer;
use crate::progress;
use crate::render;
use crate::signals::{Hangup, until_signalled};

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  hook test tests/hooks.toml

A scenario is TOML:
  [[test]]
  name = \"rm -rf is blocked\"
  event = \"BeforeTool\"
  input = { tool_name = \"run_shell_command\", tool_input = { command = \"rm -rf /\" } }
  expect = { decision = \"block\", reason = \"/destructive/\" }")]
pub(crate) struct Arguments {
    /// The scenarios
    #[arg(required = true, value_name = "FILE")]
    scenarios: Vec<PathBuf>,
}

pub(crate) async fn run(
    arguments: &Arguments,
    context: &Context,
    printer: &mut Printer,
) -> Result<Status, CommandError> {
    let system = &context.hook_system(printer).await?;
    let stop = &CancellationToken::new();
    let lines = progress::lines(printer);
    let work = test(arguments, context, system, printer);
    let work = progress::shown_while(system, lines, work);
    until_signalled(system, Hangup::Ends, stop, work).await
}

async fn test(
    arguments: &Arguments,
    context: &Context,
    system: &HookSystem,
    printer: &mut Printer,
) -> Result<Status, CommandError> {
    let mut scenarios = Vec::new();
    for path in &arguments.scenarios {
        let text = std::fs::read_to_string(path).map_err(|source| CommandError::Read {
            what: "the scenario",
            path: path.clone(),
            source,
        })?;
        let scenario = Scenario::parse(&text)
            .map_err(|source| CommandError::Scenario { path: path.clone(), source })?;
        scenarios.push((path, scenario));
    }
    let mut reports: Vec<TestReport> = Vec::new();
    for (path, scenario) in &scenarios {
        for test in &scenario.tests {
            let report = test.run(system.bus()).await;
            if context.json() {
                printer
                    .message(render::test_report_json(path, &report).to_string().as_bytes())
                    .await?;
            } else {
                printer.text(&render::test_report(path, &report, printer)).await?;
            }
            reports.push(report);
        }
    }
    if !context.json() {
        printer.text(&render::test_summary(&reports, printer)).await?;
    }
    match reports.iter().all(TestReport::passed) {
        true => Ok(exit_code::PROCEED),
        false => Ok(exit_code::FAILURE),
    }
}
