//! Reading an agent's settings files.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use hook_json::text::{nearest, shortened};
use hook_json::{JsonKind, JsonObject, RawJson};
use hook_settings::language::{
    ForeignCommand, ForeignDefinition, ForeignEntry, ForeignFile, ForeignHook, ForeignLoss,
    ForeignProblem, ForeignSettings, is_forbidden_in_project,
};

use super::edit_error::ForeignEditError;
use super::entry_command;
use super::kind::{self, HookKind, HttpSettings};
use super::precedence::{self, EffectiveSettings};
use super::syntax::Syntax;
use super::table::{Agent, AgentEvent, SettingsForm, Timeouts};
use super::words;

/// Optional keys of a hook. They are ignored in files of agents that do not support them.
pub(super) const OPTIONAL_KEYS: &[&str] = &[
    "args",
    "exec",
    "async",
    "asyncRewake",
    "failClosed",
    "onFailure",
    "cwd",
    "env",
    "linux",
    "osx",
    "windows",
    "bash",
    "powershell",
    "commandWindows",
    "command_windows",
    "shell",
    "if",
    "loop_limit",
];

/// The maximum timeout of any hook in milliseconds: a day.
const MAX_TIMEOUT_MS: u64 = 86_400_000;

/// Former switches among the events. Agents ignore them.
const LEGACY_SWITCHES: &[&str] = &["enabled", "disabled", "notifications"];

/// Reads an agent's settings file.
pub(super) fn read(agent: &'static Agent, text: &str, file: &ForeignFile<'_>) -> ForeignSettings {
    let syntax = Syntax::of_file(file);
    let mut settings = match syntax.to_json(text, agent.comments) {
        Ok(text) => read_json(agent, &text, file),
        Err(ForeignEditError { at, message }) => {
            let mut reader = Reader::new(agent, file);
            let message = format!("not {}: {message}; none of its hooks run", syntax.name());
            reader.problem(at, "", message, ForeignLoss::Hooks);
            return reader.settings;
        }
    };
    if syntax != Syntax::Json {
        // Those of the JSON would point anywhere.
        settings.hooks.iter_mut().for_each(|entry| entry.range = 0..0);
        settings.problems.iter_mut().for_each(|problem| problem.range = 0..0);
    }
    settings
}

/// Reads an agent's settings file that was converted to JSON, in which the ranges are.
pub(super) fn read_json(
    agent: &'static Agent,
    text: &str,
    file: &ForeignFile<'_>,
) -> ForeignSettings {
    let mut reader = Reader::new(agent, file);
    let syntax = Syntax::of_file(file);
    if let Some(mistake) = agent.mistake(text, syntax == Syntax::Toml) {
        let effect = match syntax {
            Syntax::Toml => "does not start with this file",
            _ => "runs no hook of this file, nor its entries of `hook connect`",
        };
        let message = format!("{} {effect}: {}", agent.title, mistake.message);
        reader.problem(mistake.at, "", message, ForeignLoss::Agent);
    }
    match RawJson::parse_with_offsets(text) {
        Ok(root) => reader.root(&root),
        Err(error) => {
            let message = format!("not JSON: {error}; none of its hooks run");
            reader.problem(0..0, "", message, ForeignLoss::Hooks);
        }
    }
    reader.settings
}

/// Reads a definition in native settings. As in native settings, any agent's hooks may be in a
/// list, and settings for all `http` hooks are in the definition.
pub(super) fn read_definition(
    agent: &'static Agent,
    definition: &ForeignDefinition<'_>,
    file: &ForeignFile<'_>,
) -> ForeignSettings {
    let mut reader = Reader { is_definition: true, ..Reader::new(agent, file) };
    reader.settings.was_read = true;
    let (value, path) = (definition.value, definition.path);
    let Some(event) = agent.event_in_settings(definition.event) else {
        let names = agent.events.iter().map(|event| event.name);
        let suggestion = match nearest(definition.event, names) {
            Some(suggestion) => format!("; did you mean `{suggestion}`?"),
            None => String::new(),
        };
        let name = shortened(definition.event);
        let message =
            format!("{} has no event `{name}`, so nothing there runs{suggestion}", agent.title);
        reader.problem(value.range(), path, message, ForeignLoss::Hooks);
        return reader.settings;
    };
    match value.to_object() {
        Ok(fields) => {
            reader.http = HttpSettings::of(&fields);
            match fields.get("hooks") {
                Some(_) => {
                    reader.group((event, definition.event), &fields, path, definition.only);
                }
                None => {
                    let group = Group::for_event(agent, definition.event);
                    reader.hook(event, &fields, value.range(), path, &group);
                }
            }
        }
        Err(_) => {
            let message = "expected an object; it was skipped".to_owned();
            reader.problem(value.range(), path, message, ForeignLoss::Hooks);
        }
    }
    reader.settings
}

struct Reader<'f> {
    agent: &'static Agent,
    file: &'f ForeignFile<'f>,
    settings: ForeignSettings,
    /// The names or commands of disabled hooks.
    disabled: Vec<String>,
    /// The settings for all `http` hooks.
    http: HttpSettings,
    /// `true` if this reads a definition in native settings.
    is_definition: bool,
}

/// The common properties of a group's hooks.
#[derive(Clone, Default)]
struct Group {
    matcher: Option<String>,
    sequential: bool,
    /// The event's name in the file, if it is in another agent's form.
    other_name: Option<String>,
}

impl Group {
    /// Returns a group without fields, for an event with this name in the file.
    fn for_event(agent: &Agent, name: &str) -> Self {
        let is_own = agent.event(name).is_some();
        Self { other_name: (!is_own).then(|| name.to_owned()), ..Self::default() }
    }
}

impl<'f> Reader<'f> {
    fn new(agent: &'static Agent, file: &'f ForeignFile<'f>) -> Self {
        Self {
            agent,
            file,
            settings: ForeignSettings::default(),
            disabled: Vec::new(),
            http: HttpSettings::default(),
            is_definition: false,
        }
    }
}

impl Reader<'_> {
    /// Checks whether the file is in the user's folder of the agent, even if it was named.
    fn is_in_user_folder(&self) -> bool {
        let folder = hook_files::user_folders::home().map(|home| self.agent.user_folder(&home));
        let path = self.file.path.and_then(|path| std::path::absolute(path).ok());
        folder.is_some_and(|folder| path.is_some_and(|path| path.starts_with(folder)))
    }

    /// Checks whether the file was found in a project.
    fn is_project_file(&self) -> bool {
        let file = self.file;
        file.is_discovered && !(file.is_user || file.is_system || file.is_explicit)
    }

    /// Returns the folder that the hooks belong to, if they are in an agent's file.
    fn folder(&self) -> Option<PathBuf> {
        let path = std::path::absolute(self.file.path.filter(|_| !self.is_definition)?).ok()?;
        self.agent.project_of(&path).or_else(|| path.parent().map(PathBuf::from))
    }

    /// Skips an entry of `hook connect`: it calls hooks, but is none.
    fn entry(&mut self, at: Range<usize>, path: &str) {
        self.settings.entries += 1;
        // In native settings, someone copied it.
        if self.is_definition {
            let message = "an entry of `hook connect` is no hook here; it was skipped".to_owned();
            self.problem(at, path, message, ForeignLoss::Nothing);
        }
    }

    fn problem(&mut self, at: Range<usize>, path: &str, message: String, loss: ForeignLoss) {
        let path = path.to_owned();
        self.settings.problems.push(ForeignProblem { range: at, path, message, loss });
    }

    fn root(&mut self, root: &RawJson) {
        let Ok(fields) = root.to_object() else {
            self.problem(
                root.range(),
                "",
                "not an object; none of its hooks run".into(),
                ForeignLoss::Hooks,
            );
            return;
        };
        self.settings.was_read = true;
        if self.file.path.is_some_and(|path| self.agent.layout.is_bare(path)) {
            self.events(&fields, "");
            return;
        }
        if self.agent.layout.is_named {
            for (name, hooks) in fields.iter() {
                let Ok(events) = hooks.to_object() else { continue };
                if events.get("enabled").and_then(RawJson::to_bool) != Some(false) {
                    self.events(&events, &format!("{name}."));
                }
            }
            return;
        }
        let effective = match self.agent.has_global_switch {
            true => precedence::effective_settings(self.file, &fields, self.agent.comments),
            false => EffectiveSettings {
                is_disabled: fields.get("disableAllHooks").and_then(RawJson::to_bool) == Some(true),
                http: HttpSettings::of(&fields),
                ..EffectiveSettings::default()
            },
        };
        if effective.has_reduced_scope {
            let message =
                "`disableAllHooks` of a project puts off the project's own hooks alone here; at \
                           home the user's, too"
                    .to_owned();
            let at = fields.get("disableAllHooks").map_or(0..0, RawJson::range);
            self.problem(at, "disableAllHooks", message, ForeignLoss::Part);
        }
        if effective.is_disabled {
            if let (Some(path), Some(hooks)) = (&effective.disabled_by, fields.get("hooks")) {
                let message =
                    format!("all hooks of {} are switched off by {path}", self.agent.title);
                self.problem(hooks.range(), "hooks", message, ForeignLoss::Nothing);
            }
            return;
        }
        let config =
            fields.get("hooksConfig").and_then(|value| value.to_object().ok()).unwrap_or_default();
        if config.get("enabled").and_then(RawJson::to_bool) == Some(false) {
            return;
        }
        let tools =
            fields.get("tools").and_then(|value| value.to_object().ok()).unwrap_or_default();
        let is_disabled = tools.get("enableHooks").and_then(RawJson::to_bool) == Some(false);
        if is_disabled && self.agent.name == "llxprt" {
            return;
        }
        let disabled = config.get("disabled").and_then(RawJson::to_items).unwrap_or_default();
        self.http = effective.http;
        self.disabled = disabled.iter().filter_map(RawJson::to_text).collect();
        let wrapper = self.agent.layout.wrapper;
        let Some(hooks) = fields.get(wrapper) else { return };
        if let Some(key) = self.agent.layout.event_key {
            self.list(hooks, key);
            return;
        }
        let Ok(events) = hooks.to_object() else {
            let message = "expected an object; none of its hooks run".to_owned();
            self.problem(hooks.range(), wrapper, message, ForeignLoss::Hooks);
            return;
        };
        self.events(&events, &format!("{wrapper}."));
    }

    /// Reads a list of hooks that name their events.
    fn list(&mut self, hooks: &RawJson, key: &str) {
        let wrapper = self.agent.layout.wrapper;
        let Some(items) = hooks.to_items() else {
            let message = "expected an array; none of its hooks run".to_owned();
            self.problem(hooks.range(), wrapper, message, ForeignLoss::Hooks);
            return;
        };
        for (index, item) in items.iter().enumerate() {
            let path = format!("{wrapper}[{index}]");
            let name = item.to_object().ok().and_then(|fields| fields.get(key)?.to_text());
            let event =
                name.as_deref().and_then(|name| Some((self.agent.event_in_settings(name)?, name)));
            match event {
                Some(event) => self.definition(event, item, &path),
                None => {
                    let name = shortened(name.as_deref().unwrap_or_default()).to_string();
                    let title = self.agent.title;
                    let message =
                        format!("{title} has no event `{name}` in `{key}`; the hook does not run");
                    self.problem(item.range(), &path, message, ForeignLoss::Hooks);
                }
            }
        }
    }

    /// Reads the hooks of an object of events.
    fn events(&mut self, events: &JsonObject, prefix: &str) {
        for (name, definitions) in events.iter().filter(|(name, _)| !LEGACY_SWITCHES.contains(name))
        {
            let path = format!("{prefix}{name}");
            let Some(event) = self.agent.event_in_settings(name) else {
                let message = format!(
                    "{} has no event `{}`, so nothing there runs",
                    self.agent.title,
                    shortened(name)
                );
                self.problem(definitions.range(), &path, message, ForeignLoss::Nothing);
                continue;
            };
            let Some(definitions) = definitions.to_items() else {
                let message = "expected an array; nothing there runs".to_owned();
                self.problem(definitions.range(), &path, message, ForeignLoss::Hooks);
                continue;
            };
            for (index, definition) in definitions.iter().enumerate() {
                self.definition((event, name), definition, &format!("{path}[{index}]"));
            }
        }
    }

    /// Reads a definition of an event with this name in the file.
    fn definition(
        &mut self,
        (event, name): (&'static AgentEvent, &str),
        definition: &RawJson,
        path: &str,
    ) {
        let Ok(fields) = definition.to_object() else {
            self.problem(
                definition.range(),
                path,
                "expected an object; it was skipped".into(),
                ForeignLoss::Hooks,
            );
            return;
        };
        let default_group = Group::for_event(self.agent, name);
        let is_group = match self.agent.settings {
            SettingsForm::Groups => !event.is_flat,
            SettingsForm::Flat => default_group.other_name.is_some(),
            SettingsForm::Both => fields.get("hooks").is_some(),
        };
        if !is_group {
            self.hook(event, &fields, definition.range(), path, &default_group);
            return;
        }
        self.group((event, name), &fields, path, None);
    }

    /// Reads the hooks of a group, or only those with the given indices.
    fn group(
        &mut self,
        (event, name): (&'static AgentEvent, &str),
        fields: &JsonObject,
        path: &str,
        only: Option<&BTreeSet<usize>>,
    ) {
        let group = Group {
            matcher: fields.get(self.agent.layout.matcher_key).and_then(RawJson::to_text),
            sequential: fields.get("sequential").and_then(RawJson::to_bool) == Some(true),
            ..Group::for_event(self.agent, name)
        };
        let other_form = self.agent.other_form.as_ref().filter(|_| group.other_name.is_some());
        if other_form.is_some_and(|other_form| other_form.skips(group.matcher.as_deref())) {
            let message = format!(
                "{} does not know a tool that the matcher names, and runs nothing there",
                self.agent.title
            );
            let at = fields.get("matcher").map_or(0..0, RawJson::range);
            self.problem(at, path, message, ForeignLoss::Nothing);
            return;
        }
        let hooks = fields.get("hooks");
        if hooks.is_none_or(|hooks| hooks.to_items().is_none()) {
            let message = match hooks {
                Some(_) => "`hooks`: expected an array; none of its hooks run",
                None => "it has no `hooks`, so nothing there runs",
            };
            self.problem(
                hooks.map_or(0..0, RawJson::range),
                path,
                message.to_owned(),
                ForeignLoss::Hooks,
            );
            return;
        }
        let hooks = group_hooks(fields);
        let selected = hooks
            .iter()
            .enumerate()
            .filter(|(index, _)| only.is_none_or(|only| only.contains(index)));
        for (index, hook) in selected {
            let path = format!("{path}.hooks[{index}]");
            match hook.to_object() {
                Ok(fields) => self.hook(event, &fields, hook.range(), &path, &group),
                Err(_) => {
                    let message = "expected an object; it was skipped".to_owned();
                    self.problem(hook.range(), &path, message, ForeignLoss::Hooks);
                }
            }
        }
    }

    fn hook(
        &mut self,
        event: &'static AgentEvent,
        fields: &JsonObject,
        at: Range<usize>,
        path: &str,
        group: &Group,
    ) {
        let layout = &self.agent.layout;
        let action = layout.action_key.and_then(|key| fields.get(key)?.to_object().ok());
        let mut fields = fields.clone();
        fields.merge(&action.unwrap_or_default());
        let is_off = layout.switch_key.and_then(|key| fields.get(key)?.to_bool()) == Some(false);
        if is_off {
            return;
        }
        let is_supported =
            |name: &str| !OPTIONAL_KEYS.contains(&name) || self.agent.hook_keys.contains(&name);
        let known = fields.iter().filter(|(name, _)| is_supported(name));
        let known: JsonObject =
            known.map(|(name, value)| (name.to_owned(), value.clone())).collect();
        let fields = &known;
        let text = |name: &str| fields.get(name).and_then(RawJson::to_text);
        let flag = |name: &str| fields.get(name).and_then(RawJson::to_bool) == Some(true);
        let is_typed = layout.is_typed;
        let needs_type =
            is_typed && matches!(self.agent.settings, SettingsForm::Groups) && !event.is_flat;
        // Where hooks have no kinds, it may be the event.
        let kind_name = match text("type").filter(|_| is_typed) {
            Some(kind_name) => kind_name,
            None if !needs_type => "command".to_owned(),
            None => {
                let message = "a hook without a `type`; it was skipped".to_owned();
                self.problem(at, path, message, ForeignLoss::Hooks);
                return;
            }
        };
        let Some(kind) = self.find_kind(event, &kind_name, &at, path) else { return };
        let command = match kind.name {
            "command" => read_command(fields).ok_or("has no command"),
            other => kind::read_other(other, fields, &self.http),
        };
        let command = match command {
            Ok(command) => command,
            Err(reason) => {
                let message = format!("a hook that {reason}; it was skipped");
                self.problem(at, path, message, ForeignLoss::Hooks);
                return;
            }
        };
        if command.is_process() && entry_command::bridge_call(&command.shown()).is_some() {
            self.entry(at, path);
            return;
        }
        let command = match &command {
            ForeignCommand::Shell { text, shell: None } if self.agent.shell.is_empty() => {
                words::program(text)
            }
            _ => Some(command),
        };
        let Some(command) = command else {
            let message = "a hook whose command has an open quote; it was skipped".to_owned();
            self.problem(at, path, message, ForeignLoss::Hooks);
            return;
        };
        let Some(native_event) = self.agent.native_event(event, self.file.events) else {
            let message = format!("the event `{}` is not declared; it was skipped", event.name);
            self.problem(at, path, message, ForeignLoss::Hooks);
            return;
        };
        let shown = match &command {
            ForeignCommand::Shell { text, .. } => Some(text),
            _ => None,
        };
        if self
            .disabled
            .iter()
            .any(|disabled| Some(disabled) == text("name").as_ref() || Some(disabled) == shown)
        {
            return;
        }
        let timeouts = self.agent.timeout;
        let timeout = timeouts.keys.iter().find_map(|key| milliseconds(fields.get(key)?, timeouts));
        let timeout = timeout.or(kind.timeout).or(event.timeout).unwrap_or(timeouts.default);
        let own_words = self.agent.entry.iter().flat_map(|entry| entry.fail_closed);
        let fails_closed = own_words
            .into_iter()
            .any(|(name, value)| fields.get(name).is_some_and(|own| own.as_str() == *value));
        let blocks_on_failure =
            fails_closed || flag("failClosed") || text("onFailure").as_deref() == Some("block");
        // Only commands can run in the background.
        let is_async = command.is_process() && (flag("async") || flag("asyncRewake"));
        self.report_losses(fields, &command, blocks_on_failure, &at, path);
        let mut variables = read_variables(fields.get("env"));
        if self.is_project_file() {
            variables.retain(|(name, _)| {
                let is_refused = is_forbidden_in_project(name);
                if is_refused {
                    let message = format!(
                        "hooks of a project start without `{}`, which says what programs load; it was \
                         ignored",
                        shortened(name)
                    );
                    self.problem(at.clone(), path, message, ForeignLoss::Part);
                }
                !is_refused
            });
        }
        let own_matcher = || text(self.agent.layout.matcher_key);
        self.settings.hooks.push(ForeignEntry {
            hook: ForeignHook {
                language: self.agent,
                event: group.other_name.clone().unwrap_or_else(|| event.name.to_owned()),
                matcher: group.matcher.clone().or_else(own_matcher),
                condition: text("if"),
                runs_once: self.agent.runs_once,
                command,
                directory: text(layout.directory_key.unwrap_or("cwd")).map(PathBuf::from),
                folder: self.folder(),
                variables,
                plugin_root: self.file.plugin_root.map(Into::into),
                is_user: self.file.is_user || self.is_in_user_folder(),
                is_system: self.file.is_system,
                is_explicit: self.file.is_explicit,
                loop_limit: match fields.get("loop_limit") {
                    Some(limit) if event.loop_limit.is_some() => limit.to_u64(),
                    // Only the agent's own form has a default.
                    _ => event.loop_limit.filter(|_| group.other_name.is_none()),
                },
                is_discovered: self.file.is_discovered,
            },
            event: native_event,
            name: text("name"),
            timeout: Duration::from_millis(
                timeout.clamp(1, event.timeout_cap.unwrap_or(MAX_TIMEOUT_MS)),
            ),
            blocks_on_failure,
            is_async,
            sequential: group.sequential,
            range: at,
            path: path.to_owned(),
        });
    }
}

impl Reader<'_> {
    /// Returns the kind of a hook. If the hook cannot run, reports a problem and returns `None`.
    fn find_kind(
        &mut self,
        event: &AgentEvent,
        kind_name: &str,
        at: &Range<usize>,
        path: &str,
    ) -> Option<&'static HookKind> {
        let title = self.agent.title;
        let Some(kind) = self.agent.hook_kinds.iter().find(|kind| kind.name == kind_name) else {
            let kind_name = shortened(kind_name);
            let message = format!("{title} has no hooks of type `{kind_name}`; it was skipped");
            self.problem(at.clone(), path, message, ForeignLoss::Hooks);
            return None;
        };
        if !kind.runs_at(event.name) {
            let message = format!(
                "{title} runs no hooks of type `{kind_name}` at {}, so it does nothing",
                event.name
            );
            self.problem(at.clone(), path, message, ForeignLoss::Nothing);
            return None;
        }
        if let Some(reason) = kind.unsupported_reason {
            let message = format!(
                "a hook of type `{kind_name}` does nothing here: {reason}, which only {title} can"
            );
            self.problem(at.clone(), path, message, ForeignLoss::Part);
            return None;
        }
        Some(kind)
    }

    /// Reports features of a hook that only its own agent has.
    fn report_losses(
        &mut self,
        fields: &JsonObject,
        command: &ForeignCommand,
        blocks_on_failure: bool,
        at: &Range<usize>,
        path: &str,
    ) {
        let title = self.agent.title;
        if let Some(service) = command.service() {
            let meaning = match blocks_on_failure {
                true => "which blocks what it is asked about",
                false => "and things go on as if it had said nothing",
            };
            let message = format!(
                "a hook of type `{}` needs {service}, which this host does not have: it fails each \
                 time, {meaning}",
                command.kind()
            );
            self.problem(at.clone(), path, message, ForeignLoss::Part);
        }
        let wakes = fields.get("asyncRewake").and_then(RawJson::to_bool) == Some(true);
        if wakes && command.is_process() {
            let message = format!(
                "`asyncRewake`: it runs in the background as `async` does, but with exit code 2 it \
                 does not wake {title}, which only {title} can do"
            );
            self.problem(at.clone(), path, message, ForeignLoss::Part);
        }
    }
}

fn group_hooks(group: &JsonObject) -> Vec<RawJson> {
    group.get("hooks").and_then(RawJson::to_items).unwrap_or_default()
}

/// Returns the command of a hook on this system, from any of its keys.
fn read_command(fields: &JsonObject) -> Option<ForeignCommand> {
    let text = |name: &str| {
        let text = fields.get(name).and_then(RawJson::to_text);
        text.filter(|text| !text.trim().is_empty())
    };
    let strings = |name: &str| {
        let items = fields.get(name).and_then(RawJson::to_items)?;
        items.iter().map(RawJson::to_text).collect::<Option<Vec<_>>>()
    };
    let platform_keys = match std::env::consts::OS {
        "windows" => ["commandWindows", "command_windows", "windows", "powershell"].as_slice(),
        "macos" => ["osx", "bash"].as_slice(),
        _ => ["linux", "bash"].as_slice(),
    };
    if let Some(program) = text("exec") {
        return Some(ForeignCommand::Program {
            program,
            arguments: strings("args").unwrap_or_default(),
        });
    }
    let shell = text("shell");
    if let Some(text) = platform_keys.iter().find_map(|key| text(key)) {
        return Some(ForeignCommand::Shell { text, shell });
    }
    let command = text("command")?;
    match strings("args") {
        Some(arguments) => Some(ForeignCommand::Program { program: command, arguments }),
        None => Some(ForeignCommand::Shell { text: command, shell }),
    }
}

/// Returns a timeout in milliseconds, which may be fractional in its unit.
fn milliseconds(value: &RawJson, timeouts: Timeouts) -> Option<u64> {
    let number: f64 = (value.kind() == JsonKind::Number).then(|| value.as_str().parse().ok())??;
    let is_milliseconds = |from: u64| number >= Duration::from_millis(from).as_secs_f64() * 1000.0;
    let unit =
        if timeouts.milliseconds_from.is_some_and(is_milliseconds) { 1 } else { timeouts.unit };
    let milliseconds = number * Duration::from_millis(unit).as_secs_f64() * 1000.0;
    let max_milliseconds = Duration::from_millis(MAX_TIMEOUT_MS).as_secs_f64() * 1000.0;
    if !milliseconds.is_finite() || milliseconds <= 0.0 {
        return None;
    }
    u64::try_from(Duration::from_secs_f64(milliseconds.min(max_milliseconds) / 1000.0).as_millis())
        .ok()
}

fn read_variables(env: Option<&RawJson>) -> Vec<(String, String)> {
    let fields = env.and_then(|env| env.to_object().ok()).unwrap_or_default();
    fields.iter().filter_map(|(name, value)| Some((name.to_owned(), value.to_text()?))).collect()
}
