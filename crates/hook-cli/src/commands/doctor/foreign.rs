//! Files of other agents.

use std::path::{Path, PathBuf};

use hook_core::settings::find_foreign;

use crate::context::Context;
use crate::render::counted;
use crate::render::{Finding, Health, Section};

pub(super) fn section(context: &Context) -> Section {
    let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    let sources = context.sources();
    let is_read = |path: &Path| {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        sources.iter().any(|source| real(&source.path) == real(path))
    };
    let findings = find_foreign(context.project(), home.as_deref()).into_iter().map(|file| {
        let path = file.path.display();
        let subject = format!("{} {path}", file.agent);
        match file.usable_hooks {
            Some(0) => Finding::new(Health::Absent, subject, "no hooks that can be used"),
            Some(hooks) if is_read(&file.path) => {
                let detail = format!("{}, read as they are", counted(hooks, "hook"));
                Finding::new(Health::Good, subject, detail)
            }
            Some(hooks) => {
                let detail =
                    format!("{} can be used, and nothing reads them", counted(hooks, "hook"));
                Finding::new(Health::Odd, subject, detail)
                    .fix(format!("name the file: --settings {path}"))
            }
            None if file.has_hooks => Finding::new(
                Health::Odd,
                subject,
                "its hooks do not run here: they are written in a way that is not read yet",
            )
            .fix("write those that guard something into the settings of `hook`, too"),
            None => Finding::new(Health::Absent, subject, "no hooks in it"),
        }
    });
    Section { title: "Settings of other agents", empty: "none found", findings: findings.collect() }
}
