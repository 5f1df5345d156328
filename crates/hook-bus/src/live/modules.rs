//! JavaScript modules: their commands and renderers, known once they are loaded.

use std::path::PathBuf;
use std::time::Duration;

use hook_core::plan::WildcardWorker;
use hook_core::{Hook, Pipeline};
use hook_json::{JsonObject, RawJson, RawObject};
use hook_run::ModuleCommand;
use hook_settings::HookSource;

use crate::module::{RenderOptions, StyledLine, parse_lines};

/// The time limit of a renderer.
const RENDER_TIMEOUT: Duration = Duration::from_secs(10);

/// A module that may run, with its commands and renderers.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LoadedModule {
    /// The module's file.
    pub path: PathBuf,
    /// The display name.
    pub name: String,
    /// The source of the module's hook.
    pub source: HookSource,
    /// The reason that it is not loaded; `None` if it is.
    pub error: Option<String>,
    /// The commands that the module registered.
    pub commands: Vec<ModuleCommand>,
    /// The types of messages that the module renders.
    pub renderers: Vec<String>,
}

/// Returns the modules of an engine in load order. For a module not loaded yet, only its path and
/// name are known.
pub(crate) fn modules(pipeline: &Pipeline) -> Vec<LoadedModule> {
    let listed = pipeline.registry().list();
    let may_run = listed.iter().filter(|listing| listing.enabled && listing.trusted);
    may_run.filter_map(|listing| describe(&listing.hook)).collect()
}

fn describe(hook: &Hook) -> Option<LoadedModule> {
    let path = hook.module().filter(|_| hook.event.is_wildcard())?.to_path_buf();
    let loaded_module = hook.loaded_module();
    let error = match &loaded_module {
        Some(module) => module.error.clone(),
        None => hook.worker_status().and_then(|status| status.failure),
    };
    let registrations = loaded_module.unwrap_or_default();
    Some(LoadedModule {
        path,
        name: hook.display_name().to_owned(),
        source: hook.source.clone(),
        error,
        commands: registrations.commands,
        renderers: registrations.renderers,
    })
}

/// Renders a message of a module's own type by the first module that supports the type. Returns
/// `None` if none does, or if rendering fails.
pub(crate) async fn render(
    pipeline: &Pipeline,
    custom_type: &str,
    message: &RawObject,
    options: RenderOptions,
) -> Option<Vec<StyledLine>> {
    let wildcard_workers = pipeline.registry().wildcard_workers();
    let renders = |worker: &WildcardWorker| {
        let module = worker.hook().loaded_module();
        module.is_some_and(|module| module.renderers.iter().any(|known| known == custom_type))
    };
    let module = wildcard_workers.iter().find(|worker| renders(worker))?;
    let mut input = JsonObject::new();
    input.insert("customType", RawJson::from_text(custom_type));
    input.insert("message", message.clone());
    let width = RawJson::from_value(&serde_json::json!(options.width));
    input.insert("width", width.ok()?);
    let expanded = RawJson::from_value(&serde_json::json!({"expanded": options.expanded}));
    input.insert("options", expanded.ok()?);
    let answer = module.worker()?.request("render_message", input.to_raw(), RENDER_TIMEOUT).await;
    match answer {
        Ok(Some(answer)) => parse_lines(answer.fields().get("lines")?),
        Ok(None) => None,
        Err(failure) => {
            let name = hook_json::text::shortened(module.name());
            tracing::warn!(target: "hook::live", "module {name}: renderer of {custom_type}: {failure}");
            None
        }
    }
}
