//! The fields of a hook that lists and explanations share.

use hook_core::Hook;
use hook_json::ObjectWriter;
use hook_settings::MatcherDefinition;

use super::columns::{Cell, first_line};
use crate::output::Tone;
use crate::server::LiveStates;

/// Writes the JSON fields of a hook.
pub(super) fn write_hook(object: &mut ObjectWriter<'_>, hook: &Hook, states: &LiveStates) {
    object.text("event", hook.event.as_str());
    object.text("name", hook.display_name());
    object.text("type", hook.kind().as_str());
    object.text("command", hook.command());
    object.optional_text("description", hook.description.as_deref());
    match hook.matcher.definition().map(|definition| &**definition) {
        Some(MatcherDefinition::Fields(fields)) => object.raw("matcher", fields.to_raw().as_raw()),
        _ => object.optional_text("matcher", hook.matcher.text()),
    }
    object.integer("priority", hook.priority.into());
    object.bool("sequential", hook.sequential);
    object.bool("async", hook.runs_in_background());
    object.text("source", &hook.source.to_string());
    write_location(object, hook);
    object.milliseconds("timeout", hook.timeout);
    object.text("timeoutFrom", hook.timeout_origin.as_str());
    object.text("failBehavior", hook.fail_behavior.as_str());
    object.text("start", hook.start().as_str());
    if !hook.opaque().is_empty() {
        object.texts("opaque", hook.opaque());
    }
    if hook.runs_trusted_copy() {
        object.bool("runsTrustedCopy", true);
    }
    if let Some(path) = hook.module() {
        object.object("module", |object| {
            object.text("path", &path.to_string_lossy());
            let Some(loaded) = hook.loaded_module() else { return };
            object.optional_text("error", loaded.error.as_deref());
            object.objects("commands", &loaded.commands, |object, command| {
                object.text("name", &command.name);
                object.optional_text("description", command.description.as_deref());
            });
            object.texts("renderers", &loaded.renderers);
        });
    }
    states.write(object, hook);
}

/// Writes the location of a hook's definition, if it has one.
pub(super) fn write_location(object: &mut ObjectWriter<'_>, hook: &Hook) {
    if let Some(location) = &hook.location {
        let file = location.file.as_ref().map(|file| file.to_string_lossy());
        object.optional_text("file", file.as_deref());
        object.integer("line", location.line as i128);
        object.integer("column", location.column as i128);
    }
}

/// Returns the name of a hook, its matcher as written, and its source with the location.
pub(super) fn cells(hook: &Hook) -> [Cell; 3] {
    let matcher = hook.matcher.text().filter(|text| !text.trim().is_empty()).unwrap_or("*");
    let origin = match &hook.location {
        Some(location) => format!("{} {location}", hook.source),
        None => hook.source.to_string(),
    };
    [(Tone::Plain, hook.display_name()), (Tone::Warning, matcher), (Tone::Quiet, &origin)]
        .map(|(tone, text)| (tone, first_line(text)))
}
