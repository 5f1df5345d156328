//! `hook fleet watch`: shows the engines of a fleet and their changes, in builds with that feature.

use std::num::NonZeroU32;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::context::Context;
use crate::error::CommandError;
use crate::exit_code::Status;
use crate::fleet::FleetArguments;
use crate::output::Printer;

/// An action on a fleet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Action {
    /// Show the engines, and what changes
    Watch,
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("way").required(true))]
#[command(after_help = "\
A line for each engine that comes, changes or goes. With --json one line for
each look: all engines, which came, and which are gone since the one before.

Examples:
  hook fleet watch --nats tls://broker.example --nats-creds operator.nk
  hook fleet watch --nats nats://127.0.0.1 --json | jq '.engines | length'
  hook fleet watch --nats nats://127.0.0.1 --count 1

Exit code: 1 if the last of --count looks failed, or found no engine; else 0.")]
pub(crate) struct Arguments {
    /// What to do
    action: Action,
    #[command(flatten)]
    fleet: FleetArguments,
    /// How many seconds are between two looks
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = seconds)]
    interval: Duration,
    /// End after so many looks
    #[arg(long, value_name = "COUNT")]
    count: Option<NonZeroU32>,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| (0.1..=86_400.0).contains(seconds));
    let seconds = seconds.ok_or("expected a number of seconds from 0.1 to 86400")?;
    Ok(Duration::from_secs_f64(seconds))
}

/// Returns the error for a build without NATS.
#[cfg(not(feature = "remote"))]
#[expect(clippy::unused_async, reason = "where there is a fleet, it waits")]
pub(crate) async fn run(
    arguments: &Arguments,
    _: &Context,
    _: &mut Printer,
) -> Result<Status, CommandError> {
    let (Action::Watch, _, _) = (arguments.action, arguments.interval, arguments.count);
    Err(crate::fleet::absent())
}

#[cfg(feature = "remote")]
pub(crate) async fn run(
    arguments: &Arguments,
    context: &Context,
    printer: &mut Printer,
) -> Result<Status, CommandError> {
    let Action::Watch = arguments.action;
    present::watch(arguments, context, printer).await
}

#[cfg(feature = "remote")]
mod present {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use hook_core::StageFailure;
    use hook_json::ObjectWriter;
    use hook_json::text::one_line;
    use hook_protocol::timestamp;
    use hook_remote::nats::{EngineStatus, NatsBus};
    use tokio::time::MissedTickBehavior;

    use super::Arguments;
    use crate::context::Context;
    use crate::error::CommandError;
    use crate::exit_code::{self, Status};
    use crate::output::{Printer, Tone};
    use crate::render::counted;

    /// The time limits for engines to answer a roll call, and for reaching the broker.
    const ROLL_CALL_TIMEOUT: Duration = Duration::from_secs(1);
    const DEADLINE: Duration = Duration::from_secs(5);

    /// The number of letters that identify a hash for people.
    const SHORT: usize = 12;

    type Engines = BTreeMap<String, EngineStatus>;

    pub(super) async fn watch(
        arguments: &Arguments,
        context: &Context,
        printer: &mut Printer,
    ) -> Result<Status, CommandError> {
        let Some(options) = arguments.fleet.options() else {
            return Err(CommandError::Usage("name the broker with --nats URL".to_owned()));
        };
        let bus = NatsBus::with(options.deadline(DEADLINE))?;
        let mut previous = Engines::new();
        let mut reported_failure = None;
        let mut ticks = tokio::time::interval(arguments.interval);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut polls = 0;
        loop {
            ticks.tick().await;
            let found = bus.engines(ROLL_CALL_TIMEOUT.min(arguments.interval)).await;
            let failed = found.as_ref().err().map(|failure| failure.message.clone());
            polls += 1;
            if context.json() {
                printer.message(&message(&previous, &found)).await?;
            } else if let Some(failure) =
                failed.as_ref().filter(|why| reported_failure.as_ref() != Some(*why))
            {
                printer.problem(failure);
            } else if let Ok(engines) = &found {
                printer.text(&changes(&previous, engines, polls == 1, printer)).await?;
            }
            let found_none = found.as_ref().is_ok_and(Vec::is_empty);
            if let Ok(engines) = found {
                previous = engines.into_iter().map(|engine| (engine.id.clone(), engine)).collect();
            }
            reported_failure = failed;
            if arguments.count.is_some_and(|count| polls >= count.get()) {
                let is_bad = found_none || reported_failure.is_some();
                return Ok(if is_bad { exit_code::FAILURE } else { exit_code::PROCEED });
            }
        }
    }

    fn gone_engines<'k>(previous: &'k Engines, current: &[EngineStatus]) -> Vec<&'k EngineStatus> {
        previous.values().filter(|engine| current.iter().all(|now| now.id != engine.id)).collect()
    }

    fn message(previous: &Engines, found: &Result<Vec<EngineStatus>, StageFailure>) -> Vec<u8> {
        ObjectWriter::line(|out| {
            out.text("type", "hook-fleet");
            out.text("at", &timestamp());
            match found {
                Err(failure) => out.text("failure", &failure.message),
                Ok(engines) => {
                    out.objects("engines", engines, |out, engine| engine.write(out));
                    let joined = engines.iter().filter(|engine| !previous.contains_key(&engine.id));
                    let joined: Vec<&str> = joined.map(|engine| engine.id.as_str()).collect();
                    out.texts("came", &joined);
                    let gone = gone_engines(previous, engines);
                    let gone: Vec<&str> = gone.iter().map(|engine| engine.id.as_str()).collect();
                    out.texts("gone", &gone);
                }
            }
        })
    }

    /// Returns a line for each engine that changed.
    fn changes(
        previous: &Engines,
        current: &[EngineStatus],
        is_first: bool,
        printer: &Printer,
    ) -> String {
        let mut lines = Vec::new();
        if is_first && current.is_empty() {
            lines.push((Tone::Bad, "✗", "no engine is there".to_owned()));
        }
        for engine in current {
            let before = previous.get(&engine.id);
            if before == Some(engine) {
                continue;
            }
            let tone = if is_good(engine) { Tone::Good } else { Tone::Warning };
            let mark = if before.is_some() { "~" } else { "+" };
            lines.push((tone, mark, line(engine, before)));
        }
        for engine in gone_engines(previous, current) {
            let text = format!("{}  gone: it left, or does not answer", short(&engine.id));
            lines.push((Tone::Bad, "-", text));
        }
        if !is_first && !previous.is_empty() && current.is_empty() {
            lines.push((Tone::Bad, "✗", "no engine is there".to_owned()));
        }
        let settings = settings_counts(current);
        if settings.len() > 1 && settings != settings_counts(previous.values()) {
            let counts: Vec<String> =
                settings.iter().map(|(hash, count)| format!("{count} have {hash}")).collect();
            let text = format!("the engines have different settings: {}", counts.join(", "));
            lines.push((Tone::Bad, "!", text));
        }
        let time = timestamp();
        let time = time.get(11..19).unwrap_or(&time);
        let mut out = String::new();
        for (tone, mark, text) in lines {
            let (time, text) = (printer.paint(Tone::Quiet, time), one_line(&text));
            out.push_str(&format!("{time} {} {text}\n", printer.paint(tone, mark)));
        }
        out
    }

    /// Returns the number of engines with each settings.
    fn settings_counts<'e>(
        engines: impl IntoIterator<Item = &'e EngineStatus>,
    ) -> BTreeMap<&'e str, usize> {
        let mut counts = BTreeMap::new();
        for engine in engines {
            let hash = engine.settings_hash.as_deref().map_or("unknown", short);
            *counts.entry(hash).or_default() += 1;
        }
        counts
    }

    fn is_good(engine: &EngineStatus) -> bool {
        engine.state == "serving" && engine.total_hooks > 0 && engine.untrusted_hooks == 0
    }

    fn line(engine: &EngineStatus, before: Option<&EngineStatus>) -> String {
        let more = before.map_or(String::new(), |before| {
            format!(" (+{})", engine.answered.saturating_sub(before.answered))
        });
        let mut text = format!(
            "{}  {}, version {}, settings {}, {}, {} running, {} waiting, {} answered{more}, {} \
             failed",
            short(&engine.id),
            engine.state,
            engine.version,
            engine.settings_hash.as_deref().map_or("unknown", short),
            counted(engine.total_hooks as usize, "hook"),
            engine.running,
            engine.waiting,
            engine.answered,
            engine.failed,
        );
        for (count, what) in [
            (engine.busy, "turned away busy"),
            (engine.mismatched, "wanted other settings"),
            (engine.untrusted_hooks, "hooks not trusted"),
            (engine.lost, "messages lost"),
            (engine.events_missed, "events not published"),
        ] {
            if count > 0 {
                text.push_str(&format!(", {count} {what}"));
            }
        }
        text
    }

    fn short(text: &str) -> &str {
        text.get(..SHORT).unwrap_or(text)
    }
}
