//! The trust store, and what of the project it covers.

use hook_bus::HookSystem;
use hook_core::HookSource;

use super::settings::OtherWriters;
use super::{Finding, Health, Section};
use crate::context::Context;
use crate::render::counted;

pub(super) fn section(context: &Context, system: &HookSystem) -> Section {
    let mut findings = vec![store(context)];
    let hooks = system.hooks().unwrap_or_default();
    let of_project = || hooks.iter().filter(|hook| hook.hook.source == HookSource::Project);
    let untrusted = of_project().filter(|hook| !hook.trusted).count();
    if of_project().count() > 0 {
        let subject = format!("project {}", context.project().display());
        findings.push(match untrusted {
            0 => Finding::new(
                Health::Good,
                subject,
                format!("{}, all trusted", counted(of_project().count(), "hook")),
            ),
            _ => Finding::new(
                Health::Odd,
                subject,
                format!(
                    "{} of {} not trusted, so not run",
                    untrusted,
                    counted(of_project().count(), "hook")
                ),
            )
            .mend("`hook trust` shows what would run and asks"),
        });
    }
    Section { title: "Trust", empty: "", findings }
}

fn store(context: &Context) -> Finding {
    let Some(store) = context.trust_store() else {
        return Finding::new(Health::Odd, "trust store", "there is no home to keep it in")
            .mend("set HOME or XDG_CONFIG_HOME");
    };
    let subject = format!("trust store {}", store.path().display());
    if !store.path().exists() {
        return Finding::new(Health::Absent, subject, "not there yet; `hook trust` makes it");
    }
    if let Some(others) = OtherWriters::of(store.path()) {
        // A group is often its user's alone.
        let health = if others.anybody { Health::Bad } else { Health::Odd };
        let detail = format!("{others}, and with it trust hooks in your name");
        return Finding::new(health, subject, detail).mend(others.cure());
    }
    match store.granted(context.project()) {
        Ok(granted) => {
            let detail = format!("{} about this project", counted(granted.len(), "decision"));
            Finding::new(Health::Good, subject, detail)
        }
        Err(error) => Finding::new(Health::Bad, subject, error.to_string()),
    }
}
