//! Modules of JavaScript: what they have beside hooks, once they are loaded.

use std::path::PathBuf;
use std::time::Duration;

use hook_core::plan::OnEvery;
use hook_core::run::ModuleCommand;
use hook_core::{Hook, HookSource, JsonObject, Pipeline, RawJson, RawObject};

use crate::module::{RenderOptions, StyledLine, lines_of};

/// How long a renderer may take.
const RENDERING: Duration = Duration::from_secs(10);

/// A module that may run, and what it has.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LoadedModule {
    /// Its file.
    pub path: PathBuf,
    /// What it is shown as.
    pub name: String,
    /// Whose it is.
    pub source: HookSource,
    /// Why it is not loaded; absent where it is.
    pub error: Option<String>,
    /// The commands that it registered.
    pub commands: Vec<ModuleCommand>,
    /// The types of messages that it renders.
    pub renderers: Vec<String>,
}

/// The modules of an engine, in the order in which they are loaded. Of one that was not loaded yet only where
/// it is.
pub(crate) fn modules(pipeline: &Pipeline) -> Vec<LoadedModule> {
    let listed = pipeline.registry().list();
    let may_run = listed.iter().filter(|listing| listing.enabled && listing.trusted);
    may_run.filter_map(|listing| loaded(&listing.hook)).collect()
}

fn loaded(hook: &Hook) -> Option<LoadedModule> {
    let path = hook.module().filter(|_| hook.event.is_every())?.to_path_buf();
    let said = hook.loaded_module();
    let error = match &said {
        Some(said) => said.error.clone(),
        None => hook.worker_status().and_then(|status| status.failure),
    };
    let said = said.unwrap_or_default();
    Some(LoadedModule {
        path,
        name: hook.display_name().to_owned(),
        source: hook.source.clone(),
        error,
        commands: said.commands,
        renderers: said.renderers,
    })
}

/// A message of a module's own type, as lines: by the first module that renders it. `None` where none does,
/// or what does cannot.
pub(crate) async fn render(
    pipeline: &Pipeline,
    custom_type: &str,
    message: &RawObject,
    options: RenderOptions,
) -> Option<Vec<StyledLine>> {
    let on_every = pipeline.registry().on_every();
    let renders = |it: &OnEvery| {
        let said = it.hook().loaded_module();
        said.is_some_and(|said| said.renderers.iter().any(|known| known == custom_type))
    };
    let module = on_every.iter().find(|it| renders(it))?;
    let mut input = JsonObject::new();
    input.insert("customType", RawJson::from_text(custom_type));
    input.insert("message", message.clone());
    let width = RawJson::from_value(&serde_json::json!(options.width));
    input.insert("width", width.ok()?);
    let expanded = RawJson::from_value(&serde_json::json!({"expanded": options.expanded}));
    input.insert("options", expanded.ok()?);
    let answer = module.worker()?.ask("render_message", input.to_raw(), RENDERING).await;
    match answer {
        Ok(Some(answer)) => lines_of(answer.fields().get("lines")?),
        Ok(None) => None,
        Err(failure) => {
            let name = hook_core::text::shortened(module.name());
            tracing::warn!(target: "hook::live", "module {name}: renderer of {custom_type}: {failure}");
            None
        }
    }
}
