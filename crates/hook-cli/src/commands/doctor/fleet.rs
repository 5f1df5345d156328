//! The engines of a fleet, and differences between them, in builds with that feature.

use crate::context::Context;
use crate::error::CommandError;
use crate::fleet::FleetArguments;
use crate::render::Section;

/// Returns the findings about the fleet, if one is named.
#[cfg(feature = "remote")]
pub(super) async fn section(
    arguments: &FleetArguments,
    expected: Option<usize>,
    context: &Context,
) -> Result<Option<Section>, CommandError> {
    use hook_remote::nats::NatsBus;

    let Some(options) = arguments.options() else { return Ok(None) };
    let bus = NatsBus::with(options.deadline(context.timeout().unwrap_or(present::DEADLINE)))?;
    let findings = match bus.engines(present::ROLL_CALL).await {
        Ok(engines) => present::findings(&engines, expected, arguments.expected_settings()),
        Err(failure) => vec![present::unreachable(&failure, arguments.has_credentials())],
    };
    Ok(Some(Section { title: "Engines of the fleet", empty: "", findings }))
}

/// Returns an error if a fleet is named.
#[cfg(not(feature = "remote"))]
#[expect(clippy::unused_async, reason = "where there is a fleet, it waits")]
pub(super) async fn section(
    arguments: &FleetArguments,
    _: Option<usize>,
    _: &Context,
) -> Result<Option<Section>, CommandError> {
    match &arguments.nats {
        None => Ok(None),
        Some(_) => Err(crate::fleet::absent()),
    }
}

#[cfg(feature = "remote")]
mod present {
    use std::collections::BTreeMap;
    use std::fmt::Display;
    use std::time::Duration;

    use hook_core::StageFailure;
    use hook_remote::nats::EngineStatus;

    use crate::render::{Finding, Health, counted};

    /// The time limit for a connection.
    pub(super) const DEADLINE: Duration = Duration::from_secs(5);

    /// The time limit for engines to answer a roll call.
    pub(super) const ROLL_CALL: Duration = Duration::from_secs(1);

    /// The number of letters that identify a hash for people.
    const SHORT: usize = 12;

    pub(super) fn unreachable(failure: &StageFailure, has_credentials: bool) -> Finding {
        let finding = Finding::new(Health::Bad, "fleet", failure.message.clone());
        finding.fix(match has_credentials {
            true => "look whether the broker runs, and whether these credentials may ask there",
            false => {
                "look whether the broker runs at this URL, and takes clients without credentials"
            }
        })
    }

    /// Returns the findings about engines, given the number and the settings to expect.
    pub(super) fn findings(
        engines: &[EngineStatus],
        expected: Option<usize>,
        settings: Option<&str>,
    ) -> Vec<Finding> {
        let mut findings = engine_findings(engines);
        let serving = engines.iter().filter(|engine| engine.state == "serving").count();
        if let Some(expected) =
            expected.filter(|expected| serving < *expected && !engines.is_empty())
        {
            let detail = format!("{serving} of {expected} engines serve");
            let finding = Finding::new(Health::Bad, "fleet", detail);
            findings.push(finding.fix(
                "start the others, or see their logs (with the unit of docs/fleet.md: `journalctl -u hook-engine`)",
            ));
        }
        let mismatched = engines.iter().filter(|engine| {
            settings.is_some_and(|expected| engine.settings_hash.as_deref() != Some(expected))
        });
        let mismatched = mismatched.count();
        if mismatched > 0 {
            let detail = format!("{mismatched} have other settings than are expected");
            findings.push(Finding::new(Health::Bad, "settings", detail));
        }
        findings
    }

    fn engine_findings(engines: &[EngineStatus]) -> Vec<Finding> {
        if engines.is_empty() {
            let finding = Finding::new(Health::Bad, "fleet", "no engine is there");
            return vec![finding.fix("start one with `hook serve --nats`")];
        }
        let mut findings: Vec<Finding> = engines.iter().map(engine_finding).collect();
        let settings = engines.iter().map(|engine| engine.settings_hash.as_deref());
        let settings = settings.map(|hash| hash.map_or("unknown", short));
        if let Some(counts) = differing_counts(settings) {
            let detail = format!("they have different settings: {counts}");
            let finding = Finding::new(Health::Bad, "settings", detail);
            findings.push(finding.fix(
                "one request may be decided otherwise than the next: give all the same settings and trust \
                 at the same paths, and have them read again (SIGHUP)",
            ));
        } else if let Some(counts) = differing_counts(
            engines.iter().map(|engine| counted(engine.total_hooks as usize, "hook")),
        ) {
            let detail = format!("they have the same settings and different hooks: {counts}");
            let finding = Finding::new(Health::Bad, "hooks", detail);
            findings.push(finding.fix(
                "hooks that a client registered with one engine see the requests of that engine alone: put them into \
                 the settings of all engines; hooks of workers are there once their workers have started",
            ));
        }
        if let Some(counts) =
            differing_counts(engines.iter().map(|engine| engine.queue_group.as_str()))
        {
            let detail = format!("they are in different queue groups: {counts}");
            let finding = Finding::new(Health::Bad, "groups", detail);
            findings.push(finding.fix(
                "each group gets every request, and whichever answers first decides: start all engines of a \
                 subject with the same `--queue`, or the others with another `--subject`",
            ));
        }
        if let Some(counts) = differing_counts(engines.iter().map(|engine| engine.version.as_str()))
        {
            let detail = format!("they have different versions: {counts}");
            findings.push(
                Finding::new(Health::Warning, "versions", detail).fix("update the older ones"),
            );
        }
        findings
    }

    fn engine_finding(engine: &EngineStatus) -> Finding {
        let hash = engine.settings_hash.as_deref().map_or("unknown", short);
        let detail = format!(
            "{}, version {}, settings {hash}, {}, {} running, {} waiting, {} answered, {} failed, {} turned away \
             busy",
            engine.state,
            engine.version,
            counted(engine.total_hooks as usize, "hook"),
            engine.running,
            engine.waiting,
            engine.answered,
            engine.failed,
            engine.busy
        );
        let health = if engine.state == "serving" { Health::Good } else { Health::Warning };
        let (mut problems, mut fix) = (Vec::new(), None);
        if engine.lost > 0 {
            problems.push(format!("at least {} messages for it were lost", engine.lost));
            fix = Some("more came than it could look at, and askers ask again: start more engines");
        }
        if engine.events_missed > 0 {
            problems.push(format!("{} events were not published", engine.events_missed));
        }
        if engine.total_hooks == 0 {
            problems.push("no hook decides anything there".to_owned());
            fix = Some("give it settings with hooks (`--settings`), or stop it");
        }
        if engine.untrusted_hooks > 0 {
            let all = engine.total_hooks;
            problems
                .push(format!("{} of {all} hooks not trusted, so not run", engine.untrusted_hooks));
            fix = Some(
                "on its machine, `hook trust` shows what would run and asks; then send it SIGHUP",
            );
        }
        if problems.is_empty() {
            return Finding::new(health, short(&engine.id), detail);
        }
        let detail = format!("{detail}; {}", problems.join(", "));
        let finding = Finding::new(Health::Warning, short(&engine.id), detail);
        match fix {
            Some(fix) => finding.fix(fix),
            None => finding,
        }
    }

    /// Returns the number of engines per value, if the values differ.
    fn differing_counts<V: Ord + Display>(values: impl Iterator<Item = V>) -> Option<String> {
        let mut counts: BTreeMap<V, usize> = BTreeMap::new();
        for value in values {
            *counts.entry(value).or_default() += 1;
        }
        let counted = counts.iter().map(|(value, count)| format!("{count} have {value}"));
        (counts.len() > 1).then(|| counted.collect::<Vec<_>>().join(", "))
    }

    fn short(text: &str) -> &str {
        text.get(..SHORT).unwrap_or(text)
    }
}
