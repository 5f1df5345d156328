//! JavaScript modules, and errors in loading them.

use hook_bus::HookSystem;
use hook_bus::live::LoadedModule;

use crate::render::{Finding, Health, Section, counted};

/// Loads the modules that may run, and returns the findings, if there are modules.
pub(super) async fn section(system: &HookSystem) -> Option<Section> {
    system.load_modules().await.ok()?;
    let modules = system.loaded_modules().ok()?;
    let findings: Vec<Finding> = modules.iter().map(finding).collect();
    (!findings.is_empty()).then_some(Section { title: "Modules", empty: "", findings })
}

fn finding(module: &LoadedModule) -> Finding {
    match &module.error {
        Some(error) => Finding::new(Health::Bad, module.name.as_str(), error.as_str()),
        None => {
            let commands = match module.commands.len() {
                0 => String::new(),
                count => format!(", with {}", counted(count, "command")),
            };
            Finding::new(Health::Good, module.name.as_str(), format!("is loaded{commands}"))
        }
    }
}
