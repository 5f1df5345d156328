//! Files of other agents.

use std::path::PathBuf;

use hook_core::settings::find_foreign;

use super::{Finding, Health, Section};
use crate::context::Context;
use crate::render::counted;

pub(super) fn section(context: &Context) -> Section {
    let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    let findings = find_foreign(context.project(), home.as_deref()).into_iter().map(|file| {
        let path = file.path.display();
        let subject = format!("{} {path}", file.agent);
        match file.usable_hooks {
            Some(0) => Finding::new(Health::Absent, subject, "no hooks that can be used"),
            Some(hooks) => {
                let detail = format!("{} can be used as they are", counted(hooks, "hook"));
                Finding::new(Health::Good, subject, detail)
                    .mend(format!("name the file: --settings {path}"))
            }
            None => Finding::new(
                Health::Absent,
                subject,
                "its hooks are written in a way that is not read yet",
            ),
        }
    });
    Section { title: "Settings of other agents", empty: "none found", findings: findings.collect() }
}
