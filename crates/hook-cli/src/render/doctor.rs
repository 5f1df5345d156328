//! The findings of `hook doctor`.

use std::fmt::Write;

use serde::Serialize;

use super::findings::{Finding, Health, Section};
use crate::output::{Printer, Tone, json_line};
use crate::render::counted;
use hook_json::text::one_line;

/// Formats a section for people.
pub(crate) fn section(section: &Section, printer: &Printer) -> String {
    let mut out = format!("{}\n", printer.paint(Tone::Strong, section.title));
    for finding in &section.findings {
        let (mark, tone) = match finding.health {
            Health::Good => ("✓", Tone::Good),
            Health::Absent => ("-", Tone::Quiet),
            Health::Warning => ("!", Tone::Warning),
            Health::Bad => ("✗", Tone::Bad),
        };
        let mark = printer.paint(tone, mark);
        let subject = printer.paint(Tone::Plain, &one_line(&finding.subject));
        let detail = printer.paint(Tone::Quiet, &one_line(&finding.detail));
        let _ = writeln!(out, "  {mark} {subject}: {detail}");
        if let Some(fix) = &finding.fix {
            let _ = writeln!(out, "    {}", printer.paint(tone, &format!("→ {}", one_line(fix))));
        }
    }
    if section.findings.is_empty() {
        let _ = writeln!(out, "  {}", printer.paint(Tone::Quiet, section.empty));
    }
    out.push('\n');
    out
}

/// Formats a section as lines of JSON, one for each finding.
pub(crate) fn section_json(section: &Section) -> impl Iterator<Item = Vec<u8>> {
    #[derive(Serialize)]
    struct Line<'s> {
        section: &'s str,
        #[serde(flatten)]
        finding: &'s Finding,
    }

    section.findings.iter().map(|finding| json_line(&Line { section: section.title, finding }))
}

/// Returns the last line about a fleet alone.
pub(crate) fn fleet_diagnosis<'f>(
    findings: impl Iterator<Item = &'f Finding>,
    printer: &Printer,
) -> String {
    let bad = findings.filter(|finding| finding.health == Health::Bad).count();
    let (tone, text) = match bad {
        0 => (Tone::Good, "the fleet is as expected".to_owned()),
        bad => (Tone::Bad, counted(bad, "problem")),
    };
    format!("{}\n", printer.paint(tone, &text))
}

/// Returns the last line. `run` of the `hooks` are trusted and enabled. `is_asked` if an agent is connected.
pub(crate) fn diagnosis<'f>(
    findings: impl Iterator<Item = &'f Finding>,
    (hooks, run): (usize, usize),
    is_asked: bool,
    printer: &Printer,
) -> String {
    let health: Vec<Health> = findings.map(|finding| finding.health).collect();
    let [problems, warnings] = [Health::Bad, Health::Warning]
        .map(|wanted| health.iter().filter(|health| **health == wanted).count());
    let (tone, text) = match (problems, warnings) {
        (0, 0) if hooks == 0 => {
            (Tone::Quiet, "there are no hooks; `hook init` writes a first guard".to_owned())
        }
        (0, 0) if run == 0 => (Tone::Warning, "no hook runs: all are switched off".to_owned()),
        (0, 0) if !is_asked => {
            let text = "the hooks are in order, and no agent asks them yet: `hook connect --list` names the agents here";
            (Tone::Warning, text.to_owned())
        }
        (0, 0) => (Tone::Good, "everything is as it should be".to_owned()),
        (0, odd) if run == 0 => {
            (Tone::Warning, format!("no hook runs; {}", counted(odd, "warning")))
        }
        (0, odd) => (Tone::Warning, format!("hooks run; {}", counted(odd, "warning"))),
        (bad, 0) => (Tone::Bad, counted(bad, "problem")),
        (bad, odd) => {
            (Tone::Bad, format!("{}, {}", counted(bad, "problem"), counted(odd, "warning")))
        }
    };
    format!("{}\n", printer.paint(tone, &text))
}
