//! Which guards an event has, or may have. A guard is a hook with `failBehavior: block`: where it
//! cannot be asked, the answer is no.

use std::path::Path;

use hook_bus::HookSystem;
use hook_core::settings::{Diagnostic, Rule, SettingsFile};
use hook_core::{FailBehavior, HookEventName, HookSource};

use crate::context::Context;

/// Whether a guard listens to the event, or may, as far as the settings files say. It needs no
/// engine, and is for commands that could not ask one.
pub(crate) fn may_exist(event: HookEventName, context: &Context) -> bool {
    if context.lacks_home() {
        return true;
    }
    let is_guard = |entry: &hook_core::settings::HookEntry| {
        entry.event == event && entry.fail_behavior == FailBehavior::Block
    };
    let may_guard = |file: &SettingsFile| {
        let lost = file.diagnostics.iter().any(Diagnostic::is_of_whole_file);
        let guarded = file.config.enabled && file.hooks.iter().any(is_guard);
        (lost || guarded) && is_agreed_to(&file.source, file.path.as_deref(), context)
    };
    // A file that was named, and is not there, may have held anything.
    context.settings_files().map_or(true, |files| files.iter().any(may_guard))
}

/// Why guards of the event may be missing among the hooks of a system; `None` where all settings
/// that count could be read.
pub(crate) fn unknown(
    event: HookEventName,
    system: &HookSystem,
    context: &Context,
) -> Option<String> {
    if context.lacks_home() {
        let text = "neither HOME nor XDG_CONFIG_HOME names a folder, so the user's settings cannot \
                    be found; set one, or give --no-user";
        return Some(text.to_owned());
    }
    let diagnostics = system.diagnostics().unwrap_or_default();
    let lost = diagnostics.iter().find(|it| loses_guards(it, event, system, context))?;
    Some(format!("{lost}; a hook with `failBehavior: block` may be missing"))
}

fn loses_guards(
    diagnostic: &Diagnostic,
    event: HookEventName,
    system: &HookSystem,
    context: &Context,
) -> bool {
    if diagnostic.rule == Rule::TrustStore {
        // Which of the project's hooks would run is not known.
        return system.hooks().unwrap_or_default().iter().any(|it| {
            let hook = &it.hook;
            !it.trusted && hook.event == event && hook.fail_behavior == FailBehavior::Block
        });
    }
    let is_lost =
        |source: &hook_core::SettingsSource| diagnostic.place.file.as_deref() == Some(&source.path);
    let source = || context.sources().into_iter().find(is_lost);
    diagnostic.is_of_whole_file()
        && source().is_none_or(|it| is_agreed_to(&it.source, Some(&it.path), context))
}

/// Whether anything of a file may run. What is not trusted does not run, and guards nothing.
fn is_agreed_to(source: &HookSource, path: Option<&Path>, context: &Context) -> bool {
    if *source != HookSource::Project {
        return true;
    }
    // It stands in `PROJECT/.hooks/`, and not always in the project of the command.
    let project = path.and_then(|path| path.ancestors().nth(2)).unwrap_or(context.project());
    context
        .trust_store()
        .is_some_and(|store| store.granted(project).map_or(true, |grants| !grants.is_empty()))
}
