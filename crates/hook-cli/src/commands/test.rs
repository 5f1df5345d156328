//! `hook test`: play scenarios, report like a test runner.

use hook_bus::HookSystem;
use hook_bus::script::{Scenario, TestReport};

use crate::args::{Common, Test};
use crate::error::CommandError;
use crate::exit_code::{self, Status};
use crate::output::Printer;
use crate::render;

pub(crate) async fn test(
    test: &Test,
    common: &Common,
    system: &HookSystem,
    printer: &mut Printer,
) -> Result<Status, CommandError> {
    let mut scenarios = Vec::new();
    for path in &test.scenarios {
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
            if common.json {
                printer
                    .message(render::test_report_json(path, &report).to_string().as_bytes())
                    .await?;
            } else {
                printer.text(&render::test_report(path, &report, printer)).await?;
            }
            reports.push(report);
        }
    }
    if !common.json {
        printer.text(&render::test_summary(&reports, printer)).await?;
    }
    match reports.iter().all(TestReport::passed) {
        true => Ok(exit_code::PROCEED),
        false => Ok(exit_code::FAILURE),
    }
}
