//! The trust store, and the trust of the project's hooks.

use hook_bus::HookSystem;
use hook_json::text::{PathText, one_line};
use hook_settings::{FailBehavior, HookSource, Rule, Severity};

use super::settings::OtherWriters;
use crate::commands::packs::forgotten;
use crate::context::{Context, Untrusted};
use crate::render::{Finding, Health, Section, counted};

pub(super) fn section(context: &Context, system: &HookSystem) -> Section {
    let mut findings = vec![store(context)];
    let hooks = system.hooks().unwrap_or_default();
    let of_project = || hooks.iter().filter(|hook| hook.hook.source == HookSource::Project);
    let subject = || format!("project {}", context.project().shown());
    let all = counted(of_project().count(), "hook");
    let Untrusted { blocking, others } = Untrusted::among(of_project());
    let untrusted = others.len();
    let off = of_project().filter(|hook| !hook.enabled).count();
    if of_project().count() > 0 && blocking.len() + untrusted == 0 {
        let summary = trusted_summary(&all, off);
        let changed = || of_project().filter(|hook| hook.hook.runs_trusted_copy());
        findings.push(match changed().count() {
            0 => Finding::new(Health::Good, subject(), summary),
            count => {
                let copies =
                    if count == 1 { "copy of 1 runs" } else { &*format!("copies of {count} run") };
                let detail =
                    format!("{summary}; their files changed since, so the trusted {copies}");
                let review = context.review_command(changed().filter_map(|hook| hook.hook.agent()));
                Finding::new(Health::Warning, subject(), detail)
                    .fix(format!("`{review}` shows the difference"))
            }
        });
    }
    if untrusted > 0 {
        let detail = format!("{untrusted} of {all} not trusted, so not run");
        let finding = Finding::new(Health::Warning, subject(), detail);
        let agents = others.iter().filter_map(|listing| listing.hook.agent());
        let review = context.review_command(agents);
        findings.push(finding.fix(format!("`{review}` shows what would run and asks")));
    }
    for listing in hooks.iter().filter(|listing| listing.enabled && listing.trusted) {
        let hook = &listing.hook;
        let Some(why) = hook.broken_copy() else { continue };
        let subject = format!("hook {}", one_line(hook.display_name()));
        let effect = if hook.fail_behavior == FailBehavior::Block { "blocks" } else { "fails at" };
        let detail = format!("{effect} {}: {why}", hook.event);
        findings.push(Finding::new(Health::Bad, subject, detail).fix("`hook trust` restores it"));
    }
    for hook in blocking {
        let hook = &hook.hook;
        let why = hook.suspension().unwrap_or_default();
        let subject = format!("guard {}", one_line(hook.display_name()));
        findings.push(Finding::new(
            Health::Bad,
            subject,
            format!("blocks the calls of {} that it was trusted for: {why}", hook.event),
        ));
    }
    if let Ok(registry) = system.registry() {
        let lost_guards = registry.lost_guards().iter();
        findings
            .extend(lost_guards.map(|warning| Finding::new(Health::Warning, subject(), warning)));
    }
    let diagnostics = system.diagnostics().unwrap_or_default();
    let of_packs = diagnostics
        .into_iter()
        .filter(|problem| matches!(problem.rule, Rule::PackNotAdded | Rule::PackChanged))
        .chain(forgotten(context));
    findings.extend(of_packs.map(|problem| {
        let health =
            if problem.severity == Severity::Error { Health::Bad } else { Health::Warning };
        Finding::new(health, problem.location.to_string(), &problem.message).fix(problem.help())
    }));
    Section { title: "Trust", empty: "", findings }
}

fn trusted_summary(all: &str, off: usize) -> String {
    match off {
        0 => format!("{all}, all trusted"),
        off => format!("{all}, {off} switched off, the others trusted"),
    }
}

fn store(context: &Context) -> Finding {
    let Some(store) = context.trust_store() else {
        return Finding::new(Health::Warning, "trust store", "there is no home to keep it in")
            .fix("set HOME or XDG_CONFIG_HOME");
    };
    let subject = format!("trust store {}", store.path().shown());
    if !store.path().exists() {
        return Finding::new(Health::Absent, subject, "not there yet; `hook trust` makes it");
    }
    if let Some(others) = OtherWriters::of(store.path()) {
        // A group often consists of its user alone.
        let health = if others.anybody { Health::Bad } else { Health::Warning };
        let detail = format!("{others}, and with it trust hooks in your name");
        return Finding::new(health, subject, detail).fix(others.fix());
    }
    match store.grants(context.project()) {
        Ok(granted) => {
            let detail = format!("{} about this project", counted(granted.len(), "decision"));
            Finding::new(Health::Good, subject, detail)
        }
        Err(error) => Finding::new(Health::Bad, subject, error.to_string()),
    }
}
