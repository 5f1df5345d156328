//! Reading an agent's settings files.

use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use hook_core::language::{HomeCommand, HomeEntry, HomeFile, HomeHook, HomeProblem, HomeSettings};
use hook_core::text::shortened;
use hook_core::{JsonKind, JsonObject, RawJson};

use super::table::{Agent, AgentEvent, SettingsForm, Timeouts};

/// How long any hook may run, in milliseconds: a day.
const LONGEST: u64 = 86_400_000;

/// What stood beside the events once, and is passed over by those who have known it.
const SWITCHES: &[&str] = &["enabled", "disabled", "notifications"];

/// Reads a file of an agent.
pub(super) fn read(agent: &'static Agent, text: &str, file: &HomeFile<'_>) -> HomeSettings {
    let mut reader =
        Reader { agent, file, settings: HomeSettings::default(), disabled: Vec::new() };
    match RawJson::parse_in_place(text) {
        Ok(root) => reader.root(&root),
        Err(error) => {
            let message = format!("not JSON: {error}; none of its hooks run");
            reader.problem(0..0, "", message, true);
        }
    }
    reader.settings
}

struct Reader<'f> {
    agent: &'static Agent,
    file: &'f HomeFile<'f>,
    settings: HomeSettings,
    /// The names, or commands, of hooks that are switched off.
    disabled: Vec<String>,
}

/// What hooks of one group have in common.
#[derive(Clone, Default)]
struct Group {
    matcher: Option<String>,
    sequential: bool,
}

impl Reader<'_> {
    fn problem(&mut self, at: Range<usize>, path: &str, message: String, costs_hooks: bool) {
        let path = path.to_owned();
        self.settings.problems.push(HomeProblem { at, path, message, costs_hooks });
    }

    fn root(&mut self, root: &RawJson) {
        let Ok(fields) = root.to_object() else {
            self.problem(root.range(), "", "not an object; none of its hooks run".into(), true);
            return;
        };
        self.settings.was_read = true;
        if fields.get("disableAllHooks").and_then(RawJson::to_bool) == Some(true) {
            return;
        }
        let config =
            fields.get("hooksConfig").and_then(|it| it.to_object().ok()).unwrap_or_default();
        if config.get("enabled").and_then(RawJson::to_bool) == Some(false) {
            return;
        }
        let tools = fields.get("tools").and_then(|it| it.to_object().ok()).unwrap_or_default();
        let is_off = tools.get("enableHooks").and_then(RawJson::to_bool) == Some(false);
        if is_off && self.agent.name == "llxprt" {
            return;
        }
        let disabled = config.get("disabled").and_then(RawJson::to_items).unwrap_or_default();
        self.disabled = disabled.iter().filter_map(RawJson::to_text).collect();
        let Some(hooks) = fields.get("hooks") else { return };
        let Ok(events) = hooks.to_object() else {
            let message = "expected an object; none of its hooks run".to_owned();
            self.problem(hooks.range(), "hooks", message, true);
            return;
        };
        for (name, definitions) in events.iter().filter(|(name, _)| !SWITCHES.contains(name)) {
            let path = format!("hooks.{name}");
            let Some(event) = self.agent.event(name) else {
                let message = format!(
                    "{} has no event `{}`, so nothing there runs",
                    self.agent.title,
                    shortened(name)
                );
                self.problem(definitions.range(), &path, message, false);
                continue;
            };
            let Some(definitions) = definitions.to_items() else {
                let message = "expected an array; nothing there runs".to_owned();
                self.problem(definitions.range(), &path, message, true);
                continue;
            };
            for (index, definition) in definitions.iter().enumerate() {
                self.definition(event, definition, &format!("{path}[{index}]"));
            }
        }
    }

    fn definition(&mut self, event: &'static AgentEvent, definition: &RawJson, path: &str) {
        let Ok(fields) = definition.to_object() else {
            self.problem(
                definition.range(),
                path,
                "expected an object; it was skipped".into(),
                true,
            );
            return;
        };
        let is_group = match self.agent.settings {
            SettingsForm::Groups => true,
            SettingsForm::Flat => false,
            SettingsForm::Both => fields.get("hooks").is_some(),
        };
        let own = Group::default();
        if !is_group {
            self.hook(event, &fields, definition.range(), path, &own);
            return;
        }
        let group = Group {
            matcher: fields.get("matcher").and_then(RawJson::to_text),
            sequential: fields.get("sequential").and_then(RawJson::to_bool) == Some(true),
        };
        for (index, hook) in hooks_of(&fields).iter().enumerate() {
            let path = format!("{path}.hooks[{index}]");
            match hook.to_object() {
                Ok(fields) => self.hook(event, &fields, hook.range(), &path, &group),
                Err(_) => {
                    let message = "expected an object; it was skipped".to_owned();
                    self.problem(hook.range(), &path, message, true);
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
        let text = |name: &str| fields.get(name).and_then(RawJson::to_text);
        let flag = |name: &str| fields.get(name).and_then(RawJson::to_bool) == Some(true);
        let kind = text("type");
        let needs_type = matches!(self.agent.settings, SettingsForm::Groups);
        match kind.as_deref() {
            Some("command") => {}
            None if !needs_type => {}
            None => {
                self.problem(at, path, "a hook without a `type`; it was skipped".into(), true);
                return;
            }
            Some(kind) => {
                let message = format!(
                    "hooks of type `{}` are not run here yet; it was skipped",
                    shortened(kind)
                );
                self.problem(at, path, message, true);
                return;
            }
        }
        let Some(command) = command(fields) else {
            self.problem(at, path, "a hook without a command; it was skipped".into(), true);
            return;
        };
        let Some(ours) = self.agent.our_event(event, self.file.events) else {
            let message = format!("the event `{}` is not declared; it was skipped", event.name);
            self.problem(at, path, message, true);
            return;
        };
        let shown = match &command {
            HomeCommand::Shell { text, .. } => Some(text),
            _ => None,
        };
        if self.disabled.iter().any(|off| Some(off) == text("name").as_ref() || Some(off) == shown)
        {
            return;
        }
        let timeouts = self.agent.timeout;
        let timeout = timeouts.keys.iter().find_map(|key| milliseconds(fields.get(key)?, timeouts));
        let timeout = timeout.or(event.timeout).unwrap_or(timeouts.default);
        let own_matcher = || text("matcher");
        self.settings.hooks.push(HomeEntry {
            hook: HomeHook {
                language: self.agent,
                event: event.name.to_owned(),
                matcher: group.matcher.clone().or_else(own_matcher),
                condition: text("if"),
                runs_once: self.agent.runs_once,
                command,
                directory: text("cwd").map(PathBuf::from),
                variables: variables(fields.get("env")),
                plugin_root: self.file.plugin_root.map(Into::into),
                is_users: self.file.is_users,
                is_found: self.file.is_found,
            },
            event: ours,
            name: text("name"),
            timeout: Duration::from_millis(timeout.clamp(1, LONGEST)),
            blocks_on_failure: flag("failClosed") || text("onFailure").as_deref() == Some("block"),
            is_async: flag("async") || flag("asyncRewake"),
            sequential: group.sequential,
            at,
            path: path.to_owned(),
        });
    }
}

fn hooks_of(group: &JsonObject) -> Vec<RawJson> {
    group.get("hooks").and_then(RawJson::to_items).unwrap_or_default()
}

/// What a hook runs on this system, under whichever key that stands.
fn command(fields: &JsonObject) -> Option<HomeCommand> {
    let text = |name: &str| {
        let text = fields.get(name).and_then(RawJson::to_text);
        text.filter(|text| !text.trim().is_empty())
    };
    let words = |name: &str| {
        let items = fields.get(name).and_then(RawJson::to_items)?;
        items.iter().map(RawJson::to_text).collect::<Option<Vec<_>>>()
    };
    let own = match std::env::consts::OS {
        "windows" => ["commandWindows", "command_windows", "windows", "powershell"].as_slice(),
        "macos" => ["osx", "bash"].as_slice(),
        _ => ["linux", "bash"].as_slice(),
    };
    if let Some(program) = text("exec") {
        return Some(HomeCommand::Program {
            program,
            arguments: words("args").unwrap_or_default(),
        });
    }
    let shell = text("shell");
    if let Some(text) = own.iter().find_map(|key| text(key)) {
        return Some(HomeCommand::Shell { text, shell });
    }
    let command = text("command")?;
    match words("args") {
        Some(arguments) => Some(HomeCommand::Program { program: command, arguments }),
        None => Some(HomeCommand::Shell { text: command, shell }),
    }
}

/// A timeout in milliseconds; a fraction of a second is one.
fn milliseconds(value: &RawJson, timeouts: Timeouts) -> Option<u64> {
    let number: f64 = (value.kind() == JsonKind::Number).then(|| value.as_str().parse().ok())??;
    let is_milliseconds = |from: u64| number >= Duration::from_millis(from).as_secs_f64() * 1000.0;
    let unit =
        if timeouts.milliseconds_from.is_some_and(is_milliseconds) { 1 } else { timeouts.unit };
    let milliseconds = number * Duration::from_millis(unit).as_secs_f64() * 1000.0;
    let longest = Duration::from_millis(LONGEST).as_secs_f64() * 1000.0;
    if !milliseconds.is_finite() || milliseconds <= 0.0 {
        return None;
    }
    u64::try_from(Duration::from_secs_f64(milliseconds.min(longest) / 1000.0).as_millis()).ok()
}

fn variables(env: Option<&RawJson>) -> Vec<(String, String)> {
    let fields = env.and_then(|env| env.to_object().ok()).unwrap_or_default();
    fields.iter().filter_map(|(name, value)| Some((name.to_owned(), value.to_text()?))).collect()
}
