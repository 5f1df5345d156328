//! The metrics as text, in Prometheus format 0.0.4.

use std::fmt::Write;

use hook_bus::HookSystem;
use hook_run::WorkerStatus;

use super::FleetSnapshot;
use super::counts::{BUCKETS, Counts};

/// Returns all metrics of an engine.
pub(super) fn render(
    system: &HookSystem,
    counts: &Counts,
    fleet: Option<&FleetSnapshot>,
) -> String {
    let mut out = Text::default();
    let hash = system.settings_hash().unwrap_or_default();
    out.family("hook_info", "gauge", "The version and the settings of the engine.");
    let version = env!("CARGO_PKG_VERSION");
    out.sample("hook_info", &[("version", version), ("settings_hash", &hash)], 1);

    out.family("hook_requests_total", "counter", "Requests that were answered.");
    for ((event, decision), count) in &counts.requests {
        let labels = [("event", *event), ("decision", *decision)];
        out.sample("hook_requests_total", &labels, count);
    }
    out.family(
        "hook_request_failures_total",
        "counter",
        "Requests that were answered with a failure.",
    );
    for (code, count) in &counts.failures {
        out.sample("hook_request_failures_total", &[("code", code)], count);
    }
    out.family("hook_requests_in_flight", "gauge", "Requests that have no response yet.");
    out.sample("hook_requests_in_flight", &[], counts.in_flight());
    let name = "hook_request_duration_seconds";
    out.family(
        name,
        "histogram",
        "How long requests took, from their acceptance to their response.",
    );
    let mut sum = 0;
    for (bucket, count) in BUCKETS.iter().zip(counts.buckets) {
        sum += count;
        let end = bucket.as_secs_f64().to_string();
        out.sample("hook_request_duration_seconds_bucket", &[("le", &end)], sum);
    }
    out.sample("hook_request_duration_seconds_bucket", &[("le", "+Inf")], counts.completed);
    out.sample("hook_request_duration_seconds_sum", &[], counts.total_duration.as_secs_f64());
    out.sample("hook_request_duration_seconds_count", &[], counts.completed);
    let help = "Hooks that ran: refused is a decision, failed is a hook that could not answer.";
    out.family("hook_runs_total", "counter", help);
    for (result, count) in [
        ("ok", counts.hooks_passed),
        ("refused", counts.hooks_refused),
        ("failed", counts.hooks_failed),
    ] {
        out.sample("hook_runs_total", &[("result", result)], count);
    }
    out.family("hook_metrics_missed_total", "counter", "What happened and was not counted.");
    out.sample("hook_metrics_missed_total", &[], counts.missed);

    hooks(&mut out, system);
    if let Some(fleet) = fleet {
        fleet_metrics(&mut out, fleet);
    }
    out.0
}

fn hooks(out: &mut Text, system: &HookSystem) {
    let hooks = system.hooks().unwrap_or_default();
    let count = |predicate: &dyn Fn(bool, bool) -> bool| {
        hooks.iter().filter(|hook| predicate(hook.trusted, hook.enabled)).count()
    };
    out.family("hook_hooks", "gauge", "The hooks there are: active ones run for their events.");
    out.sample("hook_hooks", &[("state", "active")], count(&|trusted, enabled| trusted && enabled));
    out.sample("hook_hooks", &[("state", "untrusted")], count(&|trusted, _| !trusted));
    out.sample("hook_hooks", &[("state", "off")], count(&|trusted, enabled| trusted && !enabled));
    let states = system.worker_states().unwrap_or_default();
    out.family("hook_workers", "gauge", "Workers, and how they are.");
    for state in WorkerStatus::STATES {
        let workers = states.workers.iter().filter(|worker| worker.status.state == state).count();
        out.sample("hook_workers", &[("state", state)], workers);
    }
    out.family("hook_worker_restarts_total", "counter", "How often workers were started again.");
    let restarts = states.workers.iter().map(|worker| worker.status.restarts).sum::<u64>();
    out.sample("hook_worker_restarts_total", &[], restarts);
}

fn fleet_metrics(out: &mut Text, fleet: &FleetSnapshot) {
    out.family("hook_fleet_serving", "gauge", "Whether the engine takes requests of its fleet.");
    out.sample("hook_fleet_serving", &[], u8::from(fleet.is_serving));
    out.family("hook_fleet_queue", "gauge", "Requests of the fleet that the engine has taken.");
    out.sample("hook_fleet_queue", &[("state", "running")], fleet.running);
    out.sample("hook_fleet_queue", &[("state", "waiting")], fleet.waiting);
    out.family("hook_fleet_requests_total", "counter", "What became of requests of the fleet.");
    for (result, count) in &fleet.requests {
        out.sample("hook_fleet_requests_total", &[("result", result)], count);
    }
    out.family("hook_fleet_messages_lost_total", "counter", "Messages that were lost, at least.");
    out.sample("hook_fleet_messages_lost_total", &[], fleet.lost);
    out.family("hook_fleet_events_missed_total", "counter", "Events that were not published.");
    out.sample("hook_fleet_events_missed_total", &[], fleet.events_missed);
}

#[derive(Default)]
struct Text(String);

impl Text {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl std::fmt::Display) {
        self.0.push_str(name);
        for (index, (label, text)) in labels.iter().enumerate() {
            let between = if index == 0 { '{' } else { ',' };
            let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            let _ = write!(self.0, "{between}{label}=\"{text}\"");
        }
        if !labels.is_empty() {
            self.0.push('}');
        }
        let _ = writeln!(self.0, " {value}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_label_says_ends_no_line_and_no_label() {
        let mut text = Text::default();
        text.sample("a", &[("b", "\"\n\\"), ("c", "d")], 1.5);
        assert_eq!(text.0, "a{b=\"\\\"\\n\\\\\",c=\"d\"} 1.5\n");
    }
}
