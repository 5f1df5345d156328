//! The agent of a file. Its tables are never freed: they live as long as the process, like those
//! of the agents that are part of the program.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};

use hook_json::text::nearest;
use hook_protocol::tool::native_name;
use hook_protocol::{EventDefinition, Events, HookEventName};
use serde_json::Value as Json;
use toml::Spanned;

use super::answers::answers_of;
use super::builder::{Builder, Mistake, leak, leak_text};
use super::model::{
    AgentFile, Casing, CheckedBy, Connect, Event, ExitTwoName, ExtensionName, FamilyName, Files,
    Form, Matchers, ReachName, Unit, Windows,
};
use crate::claude;
use crate::convert::{ARGUMENT, MCP_SERVER};
use crate::file_agent::{AMP_PLUGIN, FILE_AGENT, OPENCODE_PLUGIN, SCRIPT};
use crate::kind::{COMMAND_ONLY, EventSet, HookKind};
use crate::paths::SettingsPaths;
use crate::program::is_version;
use crate::settings::OPTIONAL_KEYS;
use crate::syntax::Syntax;
use crate::table::{
    Agent, AgentEvent, BaseField, Checked, Coverage, Entry, ExitTwo, Layout, MatcherRule,
    NativeEvent, Reach, SettingsForm, Since, Subject, Timeouts, Tool, Variable, WindowsShell,
};

/// The maximum length of a name.
const MAX_NAME: usize = 64;

/// The field with the folders of the workspace, which Claude Code does not have.
const ROOTS: &str = "workspace_roots";

/// The name of the tools of MCP servers among the tools of an event.
const MCP: &str = "mcp";

/// The fields of a call that an event about one tool has in other places.
const CALL_FIELDS: [&str; 2] = ["tool_name", "tool_input"];

/// The values of required fields that an agent may leave out.
const DEFAULTS: [(&str, &str); 5] = [
    ("tool_response", "\"\""),
    ("error", "\"\""),
    ("source", "\"startup\""),
    ("reason", "\"other\""),
    ("trigger", "\"auto\""),
];

/// Returns the agent of a file.
///
/// # Errors
/// Returns all mistakes.
pub(super) fn agent(file: &AgentFile) -> Result<Agent, Vec<Mistake>> {
    let mut builder = Builder::default();
    let agent = builder.agent(file);
    if builder.mistakes.is_empty() { Ok(agent) } else { Err(builder.mistakes) }
}

impl Builder {
    fn agent(&mut self, file: &AgentFile) -> Agent {
        let FamilyName::ClaudeLike = file.family;
        let names = Names::new(file, self);
        let unit = match file.timeout.unit {
            Unit::Seconds => 1_000,
            Unit::Milliseconds => 1,
        };
        let timeout_keys = file.timeout.key.iter().map(|key| leak_text(key)).collect();
        let default = file.timeout.default.saturating_mul(unit).max(1);
        let roots = file.fields.iter().find(|(name, _)| name.get_ref() == ROOTS);
        let roots = roots.map(|(_, own)| (BaseField::Roots, leak_text(own)));
        let base_fields = claude::BASE.iter().map(|(base, name)| (*base, names.field(name)));
        let base_fields = base_fields.chain(roots);
        let max = file.timeout.max.map(|max| max.saturating_mul(unit));
        Agent {
            name: self.word(&file.name, "a name", |character| {
                character.is_ascii_lowercase() || character.is_ascii_digit() || character == '-'
            }),
            title: self.line(&file.title),
            events: self.events(file, &names, (unit, max)),
            tools: self.tools(file),
            mcp: (leak_text(&file.mcp.0), leak_text(&file.mcp.1)),
            base_fields: leak(base_fields.collect::<Vec<(BaseField, &str)>>()),
            settings: match file.files.form {
                Form::Groups => SettingsForm::Groups,
                Form::Flat => SettingsForm::Flat,
                Form::Both => SettingsForm::Both,
            },
            layout: Layout {
                wrapper: file.files.wrapper.as_ref().map_or("hooks", |key| self.line(key)),
                is_named: file.files.named,
                bare: self.paths(&file.files.bare),
                event_key: file.files.event_key.as_ref().map(|key| leak_text(key.get_ref())),
                matcher_key: leak_text(file.files.matcher_key.get_ref()),
                action_key: file.files.action_key.as_ref().map(|key| self.line(key)),
                switch_key: file.files.switch_key.as_ref().map(|key| self.line(key)),
                directory_key: file.files.directory_key.as_ref().map(|key| self.line(key)),
                is_typed: file.files.typed,
            },
            hook_kinds: self.kinds(file),
            hook_keys: self.hook_keys(file),
            timeout: Timeouts::new(leak(timeout_keys), unit, default),
            shell: leak(file.shell.iter().map(|word| leak_text(word)).collect()),
            variables: self.variables(&file.variables),
            matcher: match file.matchers {
                Matchers::Claude => MatcherRule::Claude,
                Matchers::Expression => MatcherRule::Expression,
                Matchers::WholeExpression => MatcherRule::WholeExpression,
                Matchers::ExactOrExpression => MatcherRule::ExactOrExpression,
                Matchers::Glob => MatcherRule::Glob,
                Matchers::All => MatcherRule::All,
            },
            entry: file.connect.as_ref().map(|connect| self.entry(connect, &file.files)),
            caps_continuations: file.caps_turns,
            paths: SettingsPaths {
                variable: file.files.variable.as_ref().map(|variable| self.variable(variable)),
                folder: self.path(&file.files.folder),
                project: self.paths(&file.files.project),
                user: self.paths(&file.files.user),
                system: self.paths(&file.files.system),
                plugins: None,
            },
            is_identified_by_path: file.own_files,
            reads_files_of: self.reads_files_of(file),
            notes: self.lines(&file.notes),
            checked: Some(Checked {
                version: self.line(&file.checked.version),
                date: self.line(&file.checked.date),
                seen: file.checked.by == CheckedBy::Running,
            }),
            never_asks: self.lines(&file.never_asks),
            program: file.program.as_ref().map(|program| self.line(program)),
            ..FILE_AGENT
        }
    }

    /// Returns the kinds of hooks: commands, and those that only the agent can run.
    fn kinds(&mut self, file: &AgentFile) -> &'static [HookKind] {
        let others = file.files.other_kinds.iter().map(|(name, reason)| HookKind {
            unsupported_reason: Some(self.line(reason)),
            ..HookKind::new(self.line(name), EventSet::All)
        });
        let others: Vec<HookKind> = others.collect();
        match others.is_empty() {
            true => COMMAND_ONLY,
            false => leak(COMMAND_ONLY.iter().copied().chain(others).collect()),
        }
    }

    /// Returns the optional keys of hooks.
    fn hook_keys(&mut self, file: &AgentFile) -> &'static [&'static str] {
        for key in &file.files.hook_keys {
            if !OPTIONAL_KEYS.contains(&key.get_ref().as_str()) {
                self.unknown(key, "key of hooks", OPTIONAL_KEYS, "");
            }
        }
        leak(file.files.hook_keys.iter().map(|key| leak_text(key.get_ref())).collect())
    }

    /// Returns a name that stands in commands and in files.
    fn word(
        &mut self,
        text: &Spanned<String>,
        what: &str,
        allowed: fn(char) -> bool,
    ) -> &'static str {
        let name = text.get_ref();
        if name.is_empty() || name.len() > MAX_NAME || !name.chars().all(allowed) {
            let message = format!("{what} has 1 to {MAX_NAME} letters, digits and dashes");
            self.mistake(text.span(), message);
        }
        leak_text(name)
    }

    /// Returns a text for people.
    fn line(&mut self, text: &Spanned<String>) -> &'static str {
        if text.get_ref().chars().any(char::is_control) || text.get_ref().trim().is_empty() {
            self.mistake(text.span(), "expected a line of text".to_owned());
        }
        leak_text(text.get_ref())
    }

    fn lines(&mut self, texts: &[Spanned<String>]) -> &'static [&'static str] {
        leak(texts.iter().map(|text| self.line(text)).collect())
    }

    /// Returns a path below a folder that is not in the file's hands.
    fn path(&mut self, path: &Spanned<String>) -> &'static str {
        let text = path.get_ref();
        let mut parts = Path::new(text).components().peekable();
        let is_inside = parts.peek().is_some()
            && parts.all(|part| matches!(part, Component::Normal(_)))
            && !text.contains('\\')
            && !text.chars().any(char::is_control);
        if !is_inside {
            let message =
                "expected a path below a folder, such as `.mine/hooks.json`, without `..`";
            self.mistake(path.span(), message.to_owned());
        }
        leak_text(text)
    }

    fn paths(&mut self, paths: &[Spanned<String>]) -> &'static [&'static str] {
        leak(paths.iter().map(|path| self.path(path)).collect())
    }

    fn variable(&mut self, name: &Spanned<String>) -> &'static str {
        self.word(name, "a variable", |character| {
            character.is_ascii_uppercase() || character.is_ascii_digit() || character == '_'
        })
    }

    fn variables(
        &mut self,
        variables: &BTreeMap<Spanned<String>, Spanned<String>>,
    ) -> &'static [(&'static str, Variable)] {
        const KNOWN: [(&str, Variable); 4] = [
            ("project", Variable::Project),
            ("cwd", Variable::Cwd),
            ("session", Variable::Session),
            ("transcript", Variable::Transcript),
        ];
        let mut found = Vec::new();
        for (name, value) in variables {
            let constant = || {
                let constant = value.get_ref().strip_prefix('=')?;
                Some(Variable::Constant(leak_text(constant)))
            };
            let known = KNOWN.iter().find(|(known, _)| known == value.get_ref());
            match known.map(|(_, variable)| *variable).or_else(constant) {
                Some(variable) => found.push((self.variable(name), variable)),
                None => {
                    let names = KNOWN.map(|(name, _)| name);
                    self.unknown(value, "value of a variable", &names, " (or `=TEXT`)");
                }
            }
        }
        leak(found)
    }

    /// Reports a name that is not among the known ones.
    fn unknown(&mut self, name: &Spanned<String>, what: &str, known: &[&str], more: &str) {
        let suggestion = match nearest(name.get_ref(), known.iter().copied()) {
            Some(nearest) => format!("; did you mean `{nearest}`?"),
            None => String::new(),
        };
        let message = format!(
            "there is no {what} `{}`; there are `{}`{more}{suggestion}",
            hook_json::text::shortened(name.get_ref()),
            known.join("`, `")
        );
        self.mistake(name.span(), message);
    }

    fn reads_files_of(&mut self, file: &AgentFile) -> &'static [(&'static str, Reach)] {
        let reach = file.reads_files_of.iter().map(|(name, reach)| {
            let name = self.word(name, "an agent", |character| !character.is_control());
            let reach = match reach {
                ReachName::Projects => Reach::Projects,
                ReachName::All => Reach::All,
            };
            (name, reach)
        });
        leak(reach.collect())
    }

    fn entry(&mut self, connect: &Connect, files: &Files) -> Entry {
        let is_plain = files.wrapper.is_none()
            && files.action_key.is_none()
            && !files.named
            && files.bare.is_empty();
        let is_flat_list = files.event_key.is_some();
        let obstacle = match Syntax::of(Path::new(connect.file.get_ref())) {
            _ if connect.extension.is_some() || connect.scripts => None,
            Syntax::Toml if !(is_plain && is_flat_list) => Some(
                "in TOML an entry is a `[[hooks]]` with its event at `event_key`, without `wrapper`, `bare`, \
                 `named` and `action_key`",
            ),
            Syntax::Yaml if !(is_plain && !is_flat_list && files.form == Form::Flat) => Some(
                "in YAML an entry is an item of its event's list below `hooks`, with `form = \"flat\"` and \
                 without `wrapper`, `bare`, `named`, `event_key` and `action_key`",
            ),
            _ => None,
        };
        if let Some(obstacle) = obstacle {
            let message =
                format!("{obstacle}; else leave `[connect]` out, and write entries yourself");
            self.mistake(connect.file.span(), message);
        }
        let fields = |fields: &BTreeMap<String, Json>| {
            let fields =
                fields.iter().map(|(name, value)| (leak_text(name), leak_text(&value.to_string())));
            leak(fields.collect::<Vec<_>>())
        };
        let file = self.path(&connect.file);
        Entry {
            file,
            in_project: connect.project.as_ref().map(|path| self.path(path)),
            new_file: match connect.extension {
                Some(ExtensionName::Amp) => AMP_PLUGIN,
                Some(ExtensionName::Opencode) => OPENCODE_PLUGIN,
                None if connect.scripts => SCRIPT,
                None if Syntax::of(Path::new(file)) != Syntax::Json => "",
                None if connect.file_fields.is_empty() => "{}\n",
                None => leak_text(&new_file(&connect.file_fields)),
            },
            on_windows: match connect.windows {
                Windows::None => WindowsShell::None,
                Windows::Cmd => WindowsShell::Cmd,
                Windows::PowerShell => WindowsShell::PowerShell,
            },
            next_step: self.line(&connect.next_step),
            fields: fields(&connect.fields),
            fail_closed: fields(&connect.fail_closed),
            consent: None,
        }
    }

    fn tools(&mut self, file: &AgentFile) -> &'static [Tool] {
        let mut tools = Vec::new();
        for tool in &file.tools {
            let names =
                tool.arguments.iter().map(|(native, name)| (leak_text(native), leak_text(name)));
            tools.push(Tool {
                native: self.line(&tool.native),
                foreign: self.line(&tool.name),
                fields: leak(names.collect()),
            });
        }
        leak(tools)
    }

    fn events(
        &mut self,
        file: &AgentFile,
        names: &Names<'_>,
        timeouts: (u64, Option<u64>),
    ) -> &'static [AgentEvent] {
        let mut seen = BTreeSet::new();
        let mut events = Vec::new();
        for event in &file.events {
            if !seen.insert(event.name.get_ref()) {
                let message = format!("the event `{}` stands twice", event.name.get_ref());
                self.mistake(event.name.span(), message);
            }
            events.push(self.event(event, file, names, timeouts));
        }
        if events.is_empty() {
            self.mistake(0..0, "an agent has at least one `[[event]]`".to_owned());
        }
        leak(events)
    }

    fn event(
        &mut self,
        event: &Event,
        file: &AgentFile,
        names: &Names<'_>,
        (unit, max): (u64, Option<u64>),
    ) -> AgentEvent {
        let name = self.word(&event.name, "an event", |character| {
            character.is_ascii_alphanumeric() || "_-.:".contains(character)
        });
        let native = event.native.as_ref().and_then(|native| {
            let found = HookEventName::from_name(native.get_ref());
            if found.is_none() {
                let known: Vec<&str> = HookEventName::all().map(HookEventName::as_str).collect();
                self.unknown(native, "event", &known, "");
            }
            found
        });
        let base = match native {
            Some(native) => {
                let known = claude::EVENTS.iter().find(|known| known.maps_to(native));
                known.copied().unwrap_or_else(|| AgentEvent::new(name, native))
            }
            None => {
                let declared = Events::built_in().declare(EventDefinition::new(name));
                if let Err(error) = declared.map_err(|error| error.to_string())
                    && event.native.is_none()
                {
                    let message = format!("{error}; if it is that event, say so by `native`");
                    self.mistake(event.name.span(), message);
                }
                AgentEvent::foreign_only(name)
            }
        };
        let answers = answers_of(event, file.object_at_any_code, self);
        let own_name = |native: &str| {
            event
                .fields
                .iter()
                .find(|(known, _)| known.get_ref() == native)
                .map(|(_, name)| leak_text(name))
        };
        let is_of_tools = !event.tools.is_empty();
        let is_mcp = event.tools.iter().any(|tool| tool.get_ref() == MCP);
        let coverage = match (is_mcp, event.failures) {
            (true, _) => Coverage::Mcp,
            (false, _) if is_of_tools => Coverage::Tools(self.native_tools(&event.tools)),
            (false, Some(true)) => Coverage::All,
            (false, _) => base.coverage,
        };
        let mut fields: Vec<(&str, &str)> = base
            .fields
            .iter()
            // An event about one tool does not name it.
            .filter(|(native, _)| is_mcp || !is_of_tools || !CALL_FIELDS.contains(native))
            .map(|(native, foreign)| {
                (*native, own_name(native).unwrap_or_else(|| names.field(foreign)))
            })
            .collect();
        if let Some(native) = native {
            for (known, name) in &event.fields {
                let is_field =
                    native.row().fields.iter().any(|field| field.name == known.get_ref());
                let is_known = fields.iter().any(|(native, _)| native == known.get_ref());
                let is_argument = is_of_tools && known.get_ref().starts_with(ARGUMENT);
                let is_server = is_mcp && known.get_ref() == MCP_SERVER;
                if !is_field && !is_known && !is_argument && !is_server {
                    let known_fields: Vec<&str> =
                        native.row().fields.iter().map(|field| field.name).collect();
                    self.unknown(known, "field", &known_fields, "");
                } else if !is_known {
                    fields.push((leak_text(known.get_ref()), leak_text(name)));
                }
            }
        }
        let mut defaults: Vec<(&str, &str)> = base.defaults.to_vec();
        let required = |(name, _): &&(&str, &str)| {
            native.is_some_and(|it| it.row().fields.iter().any(|field| field.name == *name))
        };
        defaults.extend(DEFAULTS.iter().filter(required));
        for (known, value) in &event.defaults {
            // A later one would not count.
            defaults.retain(|(name, _)| name != known.get_ref());
            defaults.push((leak_text(known.get_ref()), leak_text(&value.to_string())));
        }
        let subject = match (&event.subject, base.subject) {
            (Some(name), _) if name.is_empty() => Subject::Nothing,
            (Some(name), _) => Subject::Field(leak_text(name)),
            (None, Subject::Field(name)) => Subject::Field(names.field(name)),
            (None, subject) => subject,
        };
        AgentEvent {
            name,
            native: native.map_or(NativeEvent::Declared, NativeEvent::BuiltIn),
            coverage,
            subject,
            exit_two: match event.exit_2 {
                ExitTwoName::Denies => ExitTwo::Denies,
                ExitTwoName::Message => ExitTwo::Notifies,
                ExitTwoName::Nothing => ExitTwo::Nothing,
            },
            text_is_context: event.text_is_context,
            // A denial that is told as context prevents nothing.
            blocks: answers.deny.first().is_some_and(|it| it.code != 0 || it.is_readable()),
            approves: event.approves,
            fields: leak(fields),
            defaults: leak(defaults),
            timeout: event.timeout.map(|timeout| timeout.saturating_mul(unit)),
            timeout_cap: max,
            is_unconnected: !event.connected,
            is_flat: event.flat,
            since: self.since(event),
            merges_input: event.input_merges,
            answers,
            ..AgentEvent::new(name, native.unwrap_or(HookEventName::Notification))
        }
    }
}

impl Builder {
    /// Returns the first versions with an event, and with what of an answer is obeyed.
    fn since(&mut self, event: &Event) -> &'static [Since] {
        let forms = [
            ("deny", &event.deny),
            ("ask", &event.ask),
            ("allow", &event.allow),
            ("stop", &event.stop),
            ("input", &event.input),
            ("context", &event.context),
            ("message", &event.message),
        ];
        for part in event.obeyed_since.keys() {
            let has_form =
                |(name, form): &(&str, &Option<_>)| name == part.get_ref() && form.is_some();
            if !forms.iter().any(has_form) {
                let names: Vec<&str> = forms
                    .iter()
                    .filter(|(_, form)| form.is_some())
                    .map(|(name, _)| *name)
                    .collect();
                self.unknown(part, "answer at this event", &names, "");
            }
        }
        let parts = event.obeyed_since.iter().map(|(part, version)| (Some(part), version));
        let mut since = Vec::new();
        for (part, version) in event.since.iter().map(|version| (None, version)).chain(parts) {
            if !is_version(version.get_ref()) {
                self.mistake(version.span(), "expected a version such as `1.2.0`".to_owned());
            }
            let part = part.map(|part| leak_text(part.get_ref()));
            since.push(Since { part, version: leak_text(version.get_ref()) });
        }
        leak(since)
    }

    /// Returns the native tools of an event.
    fn native_tools(&mut self, tools: &[Spanned<String>]) -> &'static [&'static str] {
        let known = tools.iter().filter_map(|tool| {
            let native = native_name(tool.get_ref()).filter(|native| native == tool.get_ref());
            if native.is_none() {
                let message = format!(
                    "`{}` is no native tool; write its native name, or `{MCP}`",
                    hook_json::text::shortened(tool.get_ref())
                );
                self.mistake(tool.span(), message);
            }
            native
        });
        leak(known.collect())
    }
}

/// Returns the text of a file with these fields and without entries. The tab tells it from a file of the user's.
fn new_file(fields: &BTreeMap<String, Json>) -> String {
    let fields: Vec<String> = fields
        .iter()
        .map(|(name, value)| format!("{}: {value}", Json::from(name.as_str())))
        .collect();
    format!("{{{}}}\t\n", fields.join(", "))
}

/// The names of fields on standard input.
struct Names<'f> {
    file: &'f AgentFile,
}

impl<'f> Names<'f> {
    /// Reports names that no input has.
    fn new(file: &'f AgentFile, builder: &mut Builder) -> Self {
        let of_events = claude::EVENTS.iter().flat_map(|event| event.fields);
        let mut known: Vec<&str> = claude::BASE
            .iter()
            .map(|(_, name)| *name)
            .chain(of_events.map(|(_, name)| *name))
            .collect();
        known.push(ROOTS);
        known.sort_unstable();
        known.dedup();
        for name in file.fields.keys().filter(|name| !known.contains(&name.get_ref().as_str())) {
            builder.unknown(name, "field of a hook's input", &known, "");
        }
        Self { file }
    }

    /// Returns the agent's name of a field, from Claude Code's.
    fn field(&self, name: &'static str) -> &'static str {
        let renamed = self.file.fields.iter().find(|(known, _)| known.get_ref() == name);
        match (renamed, self.file.casing) {
            (Some((_, own)), _) => leak_text(own),
            (None, Casing::Snake) => name,
            (None, Casing::Camel) => {
                let mut parts = name.split('_');
                let first = parts.next().unwrap_or_default().to_owned();
                let camel = parts.fold(first, |mut text, part| {
                    let (initial, rest) = part.split_at_checked(1).unwrap_or((part, ""));
                    text.push_str(&initial.to_ascii_uppercase());
                    text.push_str(rest);
                    text
                });
                camel.leak()
            }
        }
    }
}
