//! Import of an agent's hooks into native settings.

use std::collections::HashSet;
use std::ops::Range;

use hook_json::{JsonObject, RawJson};
use hook_settings::edit::NewDefinition;
use hook_settings::language::{ForeignFile, ForeignLoss};

use super::syntax::Syntax;
use super::table::{Agent, AgentEvent, NativeEvent, SettingsForm};
use super::{entry_command, settings};

/// Settings for all `http` hooks of a file.
const HTTP_SETTINGS: [&str; 2] = ["allowedHttpHookUrls", "httpHookAllowedEnvVars"];

/// The contents of an agent's file.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Import {
    /// The hooks, each in the agent's language.
    pub definitions: Vec<NewDefinition>,
    /// The losses of the import.
    pub losses: Vec<Loss>,
}

/// Something in an agent's file that does less in native settings.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loss {
    /// The range in the text, in bytes.
    pub at: Range<usize>,
    /// The JSON path.
    pub path: String,
    /// The description of the loss.
    pub message: String,
}

/// The definitions of an event in an agent's file.
struct EventDefinitions {
    /// The event, as the file names it.
    name: String,
    path: String,
    at: Range<usize>,
    /// The definitions, each with its path.
    definitions: Vec<(String, RawJson)>,
}

impl Agent {
    /// Returns the hooks of an agent's file as native definitions, without the entries of `hook
    /// connect`. With `rewrite`, fields with a native equivalent become native.
    pub fn import(&'static self, text: &str, file: &ForeignFile<'_>, rewrite: bool) -> Import {
        let mut import = Import::default();
        let syntax = Syntax::of_file(file);
        let (read, json) = match syntax.to_json(text, self.comments) {
            Ok(json) => (settings::read_json(self, &json, file), json),
            Err(_) => (settings::read(self, text, file), "".into()),
        };
        let root = RawJson::parse_with_offsets(json).ok().and_then(|root| root.to_object().ok());
        let root = root.unwrap_or_default();
        let kept_at: HashSet<usize> = read.hooks.iter().map(|entry| entry.range.start).collect();
        let mut entries: Vec<Range<usize>> = Vec::new();
        for EventDefinitions { name, path: list_path, at: list_at, definitions } in
            self.definitions(&root, file)
        {
            let Some(event) = self.event_in_settings(&name) else { continue };
            let is_grouped = self.settings != SettingsForm::Flat || self.event(&name).is_none();
            let mut has_hooks = false;
            for (path, definition) in definitions {
                let Ok(mut fields) = definition.to_object() else { continue };
                let hooks = match fields.remove("hooks").and_then(|hooks| hooks.to_items()) {
                    Some(hooks) if is_grouped => hooks,
                    _ => {
                        fields = JsonObject::new();
                        vec![definition.clone()]
                    }
                };
                let mut kept = Vec::new();
                for hook in hooks {
                    let at = hook.range();
                    if entry_command::is_entry(&hook) {
                        entries.push(at);
                    } else if kept_at.contains(&at.start) {
                        kept.push(to_native_hook(&hook, rewrite));
                    } else if !read.problems.iter().any(|problem| covers(&problem.range, &at)) {
                        let message =
                            format!("it is switched off for {}, and left out", self.title);
                        import.losses.push(Loss { at, path: path.clone(), message });
                    }
                }
                if kept.is_empty() {
                    continue;
                }
                has_hooks = true;
                let shared_fields = self.shared_fields(fields, &root, &kept, file);
                let event = match self.event(&name) {
                    Some(event) => event.name.to_owned(),
                    None => name.clone(),
                };
                import.definitions.push(NewDefinition {
                    event,
                    fields: shared_fields,
                    hooks: kept,
                });
            }
            if has_hooks && let Some(message) = self.foreign_only_warning(event) {
                import.losses.push(Loss { at: list_at, path: list_path, message });
            }
        }
        let problems = read.problems.into_iter();
        let losses =
            problems.filter(|problem| !entries.iter().any(|entry| covers(entry, &problem.range)));
        import.losses.extend(losses.map(|problem| {
            let suffix = match problem.loss {
                ForeignLoss::Nothing => " (nor at home)",
                ForeignLoss::Hooks | ForeignLoss::Part | ForeignLoss::Agent => "",
            };
            let message = format!("{}{suffix}", problem.message);
            Loss { at: problem.range, path: problem.path, message }
        }));
        import.losses.sort_by_key(|loss| loss.at.start);
        // Those of the JSON would point anywhere; what is not JSON has the place of its mistake alone.
        if syntax != Syntax::Json && read.was_read {
            import.losses.iter_mut().for_each(|loss| loss.at = 0..0);
        }
        import
    }

    /// Returns the definitions of a file by event, in whatever form the agent has them.
    fn definitions(&self, root: &JsonObject, file: &ForeignFile<'_>) -> Vec<EventDefinitions> {
        let layout = &self.layout;
        let of_list = |prefix: &str, (name, list): (&str, &RawJson)| {
            let path = format!("{prefix}{name}");
            let items = list.to_items().unwrap_or_default().into_iter().enumerate();
            let definitions = items.map(|(index, item)| (format!("{path}[{index}]"), item));
            let definitions = definitions.collect();
            EventDefinitions { name: name.to_owned(), path, at: list.range(), definitions }
        };
        let of_events = |prefix: &str, events: &RawJson| -> Vec<EventDefinitions> {
            let events = events.to_object().unwrap_or_default();
            events.iter().map(|list| of_list(prefix, list)).collect()
        };
        if file.path.is_some_and(|path| layout.is_bare(path)) {
            return root.iter().map(|list| of_list("", list)).collect();
        }
        if layout.is_named {
            let named = root.iter();
            return named.flat_map(|(name, it)| of_events(&format!("{name}."), it)).collect();
        }
        let wrapper = layout.wrapper;
        let Some(hooks) = root.get(wrapper) else { return Vec::new() };
        let Some(key) = layout.event_key else { return of_events(&format!("{wrapper}."), hooks) };
        let items = hooks.to_items().unwrap_or_default().into_iter().enumerate();
        let of_item = |(index, item): (usize, RawJson)| {
            let name = item.to_object().ok()?.get(key)?.to_text()?;
            let (path, at) = (format!("{wrapper}[{index}]"), item.range());
            Some(EventDefinitions { name, path: path.clone(), at, definitions: vec![(path, item)] })
        };
        items.filter_map(of_item).collect()
    }

    /// Returns the common fields of a definition.
    fn shared_fields(
        &self,
        group_fields: JsonObject,
        root: &JsonObject,
        hooks: &[RawJson],
        file: &ForeignFile<'_>,
    ) -> JsonObject {
        let mut fields = JsonObject::new();
        fields.insert("language", RawJson::from_text(self.name));
        for (name, value) in group_fields.iter() {
            fields.insert(name, reparse(value));
        }
        if let Some(root) = file.plugin_root {
            fields.insert("pluginRoot", RawJson::from_text(&root.to_string_lossy()));
        }
        let is_http = |hook: &RawJson| {
            let kind = hook.to_object().ok().and_then(|hook| hook.get("type")?.to_text());
            kind.as_deref() == Some("http")
        };
        if hooks.iter().any(is_http) {
            for name in HTTP_SETTINGS {
                if let Some(value) = root.get(name) {
                    fields.insert(name, reparse(value));
                }
            }
        }
        fields
    }

    /// Returns a warning for an event that only this agent has.
    fn foreign_only_warning(&self, event: &AgentEvent) -> Option<String> {
        match event.native {
            NativeEvent::BuiltIn(_) => None,
            NativeEvent::Declared => Some(format!("{}: no other agent asks about it", event.name)),
        }
    }
}

fn covers(outer: &Range<usize>, inner: &Range<usize>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// Parses a value again: one read from a file may contain line breaks, which must not be written.
fn reparse(value: &RawJson) -> RawJson {
    RawJson::parse(value.as_str()).unwrap_or_else(|_| value.clone())
}

/// Returns a hook for native settings. Only a denial on failure has a native field; all else stays,
/// since the hook's script uses the agent's format.
fn to_native_hook(hook: &RawJson, rewrite: bool) -> RawJson {
    let hook = reparse(hook);
    let Some(mut fields) = hook.to_object().ok().filter(|_| rewrite) else { return hook };
    let fails_closed = fields.get("failClosed").and_then(RawJson::to_bool) == Some(true);
    let blocks = fields.get("onFailure").and_then(RawJson::to_text).as_deref() == Some("block");
    if !fails_closed && !blocks {
        return hook;
    }
    fields.remove("failClosed");
    fields.remove("onFailure");
    fields.insert("failBehavior", RawJson::from_text("block"));
    fields.to_raw().into()
}
