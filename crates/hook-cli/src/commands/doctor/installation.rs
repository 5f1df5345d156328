//! The installation of this binary.

use hook_files::program;
use hook_json::text::PathText;

use crate::installation::{Installation, NAME, VERSION};
use crate::render::{Finding, Health, Section};

pub(super) fn section() -> Section {
    let findings = match Installation::current() {
        Ok(installation) => findings(&installation),
        Err(error) => {
            let detail = format!("where it is installed is unknown: {error}");
            vec![Finding::new(Health::Absent, format!("hook {VERSION}"), detail)]
        }
    };
    Section { title: "Installation", empty: "", findings }
}

fn findings(installation: &Installation) -> Vec<Finding> {
    let facts = installation.method.facts();
    let path = installation.path.shown();
    let detail = format!("{path}, installed {}; to update: {}", facts.by, facts.update);
    let mut findings = vec![Finding::new(Health::Good, format!("hook {VERSION}"), detail)];
    let in_path = std::env::var_os("PATH").and_then(|path| program::find(&path, NAME));
    if let Some(other) = in_path.filter(|other| !installation.is_at(other)) {
        let detail = format!("{}, another binary than this one", other.shown());
        findings.push(Finding::new(Health::Absent, "hook in PATH", detail));
    }
    findings
}
