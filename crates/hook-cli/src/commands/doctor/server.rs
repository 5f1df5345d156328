//! The workers of the project's own server, and the hooks that clients registered with it.

use std::path::Path;

use hook_bus::live::{WorkerState, WorkerStates};
use hook_json::text::PathText;

use crate::context::Context;
use crate::render::{Finding, Health, Section, counted};
use crate::server::{self, Registered, ServerStates};

/// Returns the findings about the project's own server, if one runs.
pub(super) async fn section(context: &Context) -> Option<Section> {
    let mut findings = match server::ask(context).await {
        ServerStates::NoServer => return None,
        ServerStates::Known(path, states) => state_findings(&path, &states),
        ServerStates::Unknown { path, why, has_same_settings: is_of_these_settings } => {
            vec![unknown_finding(&path, &why, is_of_these_settings, context.has_only_defaults())]
        }
    };
    if let Some(registered) = Registered::of(context).await {
        let subject = registered.server.shown().to_string();
        findings.extend(
            registered
                .describe()
                .map(|what| Finding::new(Health::Good, subject, format!("it has {what}"))),
        );
    }
    Some(Section { title: "Server of the project", empty: "", findings })
}

fn state_findings(path: &Path, states: &WorkerStates) -> Vec<Finding> {
    let count = match states.omitted.saturating_add(states.workers.len() as u64) {
        0 => "it has no workers".to_owned(),
        count => format!("it has {}", counted(count as usize, "worker")),
    };
    let mut findings = vec![Finding::new(Health::Good, path.shown().to_string(), count)];
    findings.extend(states.workers.iter().map(worker));
    if states.omitted > 0 {
        let detail = format!("{} more are not told of", states.omitted);
        findings.push(Finding::new(Health::Warning, "further workers", detail));
    }
    findings
}

fn worker(state: &WorkerState) -> Finding {
    let status = &state.status;
    if !status.is_known() {
        let detail = "not started, since nothing called it yet";
        return Finding::new(Health::Good, state.name(), detail);
    }
    let health = match (status.is_broken(), &status.failure) {
        (true, _) => Health::Bad,
        (false, Some(_)) => Health::Warning,
        (false, None) => Health::Good,
    };
    let finding = Finding::new(health, state.name(), status.to_string());
    match health {
        Health::Bad => finding.fix(
            "it is started no more: put right what the failure says, then have the server read its \
             settings again (SIGHUP, or `hook-reload`)",
        ),
        _ => finding,
    }
}

fn unknown_finding(
    path: &Path,
    why: &str,
    has_same_settings: bool,
    only_defaults: bool,
) -> Finding {
    let subject = path.shown().to_string();
    match (has_same_settings, only_defaults) {
        (false, true) => Finding::new(Health::Warning, subject, why).fix(
            "the next call of an agent has it read them again; so do SIGHUP and `hook-reload`",
        ),
        // With other settings named, this is expected.
        (false, false) => Finding::new(Health::Absent, subject, why),
        (true, _) => Finding::new(
            Health::Warning,
            subject,
            format!("the state of its workers is unknown: {why}"),
        ),
    }
}
