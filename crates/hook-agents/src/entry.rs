//! The entries by which an agent calls `hook bridge`, added to its settings and removed again.
//! Every other byte stays.

use std::ops::Range;
use std::path::Path;

use hook_json::{JsonKind, JsonObject, RawJson};

use super::edit_error::{ForeignEditError, wrong_type};
use super::entry_command::{bridge_call, command_of};
use super::entry_list;
use super::syntax::{Syntax, without_comments};
use super::table::{Agent, AgentEvent, Entry, NativeEvent, SettingsForm, WindowsShell};
use super::yaml_entries;

/// The start of a file that an earlier version created.
const LEGACY_START: &str = "{\"hooks\"";

/// The timeout of an agent for `hook bridge`, in seconds.
pub(super) const BRIDGE_TIMEOUT_SECS: u64 = 120;

impl Agent {
    /// Returns the agent's events that call `hook bridge`, each with its native event.
    pub fn connected_event_names(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.events.iter().filter_map(|event| match event.native {
            NativeEvent::BuiltIn(native) if !event.is_unconnected => {
                Some((event.name, native.as_str()))
            }
            _ => None,
        })
    }

    /// Returns the paths of the settings that `hook connect` writes. `None` if the agent has no
    /// such file.
    pub fn entry(&self) -> Option<&Entry> {
        self.entry.as_ref()
    }

    /// Returns the settings with an entry for each event, or unchanged if all are present.
    /// `command` makes the command of an event. Entries with other commands are replaced. Without a
    /// text, creates one.
    ///
    /// # Errors
    /// Returns an error if the text is not JSON, the agent itself would refuse it, or another value is
    /// in the way.
    pub fn connected(
        &self,
        existing: Option<&str>,
        events: &[&str],
        command: &dyn Fn(&str) -> String,
    ) -> Result<String, ForeignEditError> {
        if let Some(parts) = self.extension() {
            return with_commands(parts, existing, events, command);
        }
        if let Some((before, after)) = self.script() {
            let is_foreign = |text: &str| self.connections(text).is_ok_and(|it| it.is_empty());
            let event = events.first().copied().unwrap_or_default();
            return match existing.is_some_and(is_foreign) {
                true => Err(not_generated("nothing was written")),
                false => Ok(format!("{before}{}{after}", command(event))),
            };
        }
        let text = existing.unwrap_or_default();
        match self.entry_syntax() {
            Syntax::Toml => return entry_list::connected(self, text, events, command),
            Syntax::Yaml => return yaml_entries::connected(self, text, events, command),
            Syntax::Json => {}
        }
        let empty_file = || self.entry.as_ref().map_or("{}\n", |entry| entry.new_file).to_owned();
        let mut text = match existing {
            Some(text) => text.to_owned(),
            None => empty_file(),
        };
        if let Some(ForeignEditError { at, message }) = self.mistake(&text, false) {
            let message = format!("{} would run no hook of it: {message}", self.title);
            return Err(ForeignEditError { at, message });
        }
        let is_connected = |text: &str| -> Result<bool, ForeignEditError> {
            let found = self.connections(text)?;
            let wanted = events.iter().map(|event| ((*event).to_owned(), command(event)));
            Ok(found.len() == events.len()
                && wanted.clone().all(|connection| found.contains(&connection)))
        };
        if is_connected(&text)? {
            return Ok(text);
        }
        if existing.is_none_or(|text| self.is_created_file(text)) {
            let known = events.iter().filter_map(|event| self.event(event));
            return Ok(self.render_file(known.map(|event| (event, command(event.name)))));
        }
        // First remove entries for another binary or other events.
        text = self.disconnected(&text)?;
        for event in events {
            let Some(event) = self.event(event) else { continue };
            text = self.with_entry(&text, event, &command(event.name))?;
        }
        Ok(text)
    }

    /// Returns `true` if [`connected`](Self::connected) created this text, with nothing but its
    /// entries.
    pub fn is_created_file(&self, text: &str) -> bool {
        if let Some(parts) = self.extension() {
            return commands_in(parts, text).is_some();
        }
        if self.writes_scripts() {
            return self.connections(text).is_ok_and(|found| !found.is_empty());
        }
        if self.entry_syntax() != Syntax::Json {
            return self.disconnected(text).is_ok_and(|remaining| remaining.is_empty());
        }
        if self.is_rendered_file(text) {
            return true;
        }
        let empty = self.entry.as_ref().map_or("", |entry| entry.new_file);
        let is_own_format = text.starts_with(LEGACY_START) || empty != "{}\n";
        is_own_format && self.disconnected(text).is_ok_and(|remaining| remaining == empty)
    }

    /// Returns the settings without entries. Containers that become empty are removed, too.
    ///
    /// # Errors
    /// Returns an error if the text is not JSON, or another value is in the way.
    pub fn disconnected(&self, text: &str) -> Result<String, ForeignEditError> {
        if let Some(parts) = self.extension() {
            return match text.trim().is_empty() || commands_in(parts, text).is_some() {
                true => Ok(String::new()),
                false => Err(not_generated("remove it by hand, or connect again")),
            };
        }
        if self.writes_scripts() {
            return match self.is_created_file(text) {
                true => Ok(String::new()),
                false => Err(not_generated("it is left as it is")),
            };
        }
        match self.entry_syntax() {
            Syntax::Toml => return entry_list::disconnected(self, text),
            Syntax::Yaml => return yaml_entries::disconnected(self, text),
            Syntax::Json => {}
        }
        if self.is_rendered_file(text) {
            return Ok(self.entry.as_ref().map_or("{}\n", |entry| entry.new_file).to_owned());
        }
        let mut text = text.to_owned();
        // One at a time: each removal moves the text after it.
        while let Some(removal) = self.next_removal(&text)? {
            text.replace_range(removal, "");
        }
        Ok(text)
    }

    /// Returns a readable file with only these entries.
    fn render_file(&self, entries: impl Iterator<Item = (&'static AgentEvent, String)>) -> String {
        let empty = self.entry.as_ref().map_or("{}\n", |entry| entry.new_file);
        let (fields, ending) = empty.split_once('}').unwrap_or_default();
        let fields = match fields.strip_prefix('{').unwrap_or_default() {
            "" => String::new(),
            fields => format!("  {fields},\n"),
        };
        let indent = if self.is_bare() { "" } else { "  " };
        let is_list = self.layout.event_key.is_some();
        let lines: Vec<String> = entries
            .map(|(event, command)| {
                let (name, element) = (quoted(event.name), self.element(event, &command));
                match is_list {
                    true => format!("{indent}  {element}"),
                    false => format!("{indent}  {name}: [\n{indent}    {element}\n{indent}  ]"),
                }
            })
            .collect();
        let lines = lines.join(",\n");
        if self.is_bare() {
            return format!("{{\n{lines}\n}}{ending}");
        }
        let wrapper = quoted(self.layout.wrapper);
        let (open, close) = if is_list { ("[", "]") } else { ("{", "}") };
        format!("{{\n{fields}  {wrapper}: {open}\n{lines}\n  {close}\n}}{ending}")
    }

    /// Checks whether a text is such a file.
    fn is_rendered_file(&self, text: &str) -> bool {
        let known = |(event, command): (String, String)| Some((self.event(&event)?, command));
        let entries: Vec<_> =
            self.connections(text).unwrap_or_default().into_iter().filter_map(known).collect();
        !entries.is_empty() && text == self.render_file(entries.into_iter())
    }

    /// Returns the entries of the settings, each as its event and its command.
    ///
    /// # Errors
    /// Returns an error if the text is not JSON, or another value is in the way.
    pub fn connections(&self, text: &str) -> Result<Vec<(String, String)>, ForeignEditError> {
        if let Some(parts) = self.extension() {
            return Ok(commands_in(parts, text).unwrap_or_default());
        }
        if let Some((before, after)) = self.script() {
            let command = text.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
            let command = command.filter(|command| !command.contains('\n'));
            let called = command.and_then(|command| Some((bridge_call(command)?, command)));
            let own = called.filter(|((agent, _), _)| agent.name == self.name);
            let found = own.map(|((_, event), command)| (event.to_owned(), command.to_owned()));
            return Ok(found.into_iter().collect());
        }
        match self.entry_syntax() {
            Syntax::Toml => return entry_list::connections(self, text),
            Syntax::Yaml => return Ok(yaml_entries::connections(self, text)),
            Syntax::Json => {}
        }
        let Some(hooks) = self.hooks_of(&self.root_of(text)?)? else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for (event, list) in self.lists(&hooks)? {
            for element in list.to_items().unwrap_or_default() {
                let event = self.event_of(event.as_deref(), &element);
                found.extend(
                    self.commands(&element, &event).map(|command| (event.clone(), command)),
                );
            }
        }
        Ok(found)
    }

    /// Returns the mistake for which the agent itself refuses these settings, and runs none of their
    /// hooks.
    pub fn refusal(&self, text: &str) -> Option<String> {
        self.mistake(text, false).map(|mistake| mistake.message)
    }

    /// Returns the lists of hooks, each with its event, or the only one, whose hooks name their events.
    fn lists(&self, hooks: &RawJson) -> Result<Vec<(Option<String>, RawJson)>, ForeignEditError> {
        if self.layout.event_key.is_some() {
            return Ok(vec![(None, hooks.clone())]);
        }
        let events = object(hooks, "hooks")?;
        Ok(events.iter().map(|(event, list)| (Some(event.to_owned()), list.clone())).collect())
    }

    /// Returns the event of an item of a list: the list's, or the one that it names.
    fn event_of(&self, event: Option<&str>, item: &RawJson) -> String {
        let named = || item.to_object().ok()?.get(self.layout.event_key?)?.to_text();
        event.map(str::to_owned).or_else(named).unwrap_or_default()
    }

    /// Returns `true` if the agent calls hooks through an extension that `hook connect` writes.
    pub fn uses_extension(&self) -> bool {
        self.extension().is_some()
    }

    /// Returns `true` if the agent's hooks are programs with the names of events: the file of its entries is a folder
    /// with a script for each.
    pub fn writes_scripts(&self) -> bool {
        self.script().is_some()
    }

    /// Returns the text of a script before and after its command, if the agent's hooks are scripts.
    fn script(&self) -> Option<(&'static str, &'static str)> {
        self.entry.as_ref()?.new_file.split_once("@@COMMAND@@")
    }

    /// Returns the extension's text before and after its commands, if the agent uses one.
    fn extension(&self) -> Option<(&'static str, &'static str)> {
        self.entry.as_ref()?.new_file.split_once("@@COMMANDS@@")
    }

    /// Returns the commands of an item that call `hook bridge` for this event.
    pub(super) fn commands(&self, element: &RawJson, event: &str) -> impl Iterator<Item = String> {
        let caller = (self.name, event.to_owned());
        let fields = element.to_object().unwrap_or_default();
        let inner = fields.get("hooks").and_then(RawJson::to_items).unwrap_or_default();
        // A group that also has a hook of the user's belongs to the user.
        let inner = if inner.len() > 1 { Vec::new() } else { inner };
        let action = self.layout.action_key.and_then(|key| fields.get(key)?.to_object().ok());
        let own = [action.unwrap_or(fields)];
        let hooks = inner.into_iter().filter_map(|hook| hook.to_object().ok()).chain(own);
        let commands = hooks.filter_map(|hook| Some(self.out_of_shell(command_of(&hook)?)));
        commands.filter(move |command| {
            bridge_call(command)
                .is_some_and(|(agent, event)| (agent.name, event) == (caller.0, &*caller.1))
        })
    }

    /// Returns the range to remove next.
    fn next_removal(&self, text: &str) -> Result<Option<Range<usize>>, ForeignEditError> {
        let root = self.root_of(text)?;
        let plain = &*without_comments(text, self.comments);
        let Some(hooks) = self.hooks_of(&root)? else { return Ok(None) };
        for (event, list) in self.lists(&hooks)? {
            let items = list.to_items().unwrap_or_default();
            let is_entry = |item: &RawJson| {
                let event = self.event_of(event.as_deref(), item);
                self.commands(item, &event).next().is_some()
            };
            let Some(index) = items.iter().position(is_entry) else { continue };
            if items.len() > 1 {
                return Ok(Some(removal_range(&list, &items, index)));
            }
            // Remove an event with its only entry, and `hooks` with its only event, unless they
            // were empty before.
            if was_empty(text, &list) {
                return Ok(items.first().map(|only| list.range().start + 1..only.range().end));
            }
            if let Some(event) = event {
                let events = object(&hooks, "hooks")?;
                if events.len() > 1 || self.is_bare() || was_empty(text, &hooks) {
                    return Ok(Some(member_removal_range(plain, &hooks, &events, &event)));
                }
            }
            return Ok(Some(member_removal_range(
                plain,
                &root,
                &object(&root, "settings")?,
                self.layout.wrapper,
            )));
        }
        Ok(None)
    }

    /// Checks whether the file of the entries is the object of events itself.
    fn is_bare(&self) -> bool {
        self.entry.as_ref().is_some_and(|entry| self.layout.is_bare(Path::new(entry.file)))
    }

    /// Returns the syntax of the file of the entries. They are added to the end of what is no JSON.
    fn entry_syntax(&self) -> Syntax {
        self.entry.as_ref().map_or(Syntax::Json, |entry| Syntax::of(Path::new(entry.file)))
    }

    /// Returns the object of events, or the list of hooks that name them, if there is one.
    fn hooks_of(&self, root: &RawJson) -> Result<Option<RawJson>, ForeignEditError> {
        if self.is_bare() {
            return Ok(Some(root.clone()));
        }
        let hooks = object(root, "settings")?.get(self.layout.wrapper).cloned();
        let (kind, name) = match self.layout.event_key {
            Some(_) => (JsonKind::Array, "an array"),
            None => (JsonKind::Object, "an object"),
        };
        match hooks {
            Some(hooks) if hooks.kind() != kind => {
                Err(wrong_type(&hooks, self.layout.wrapper, name))
            }
            hooks => Ok(hooks),
        }
    }

    fn with_entry(
        &self,
        text: &str,
        event: &AgentEvent,
        command: &str,
    ) -> Result<String, ForeignEditError> {
        let element = self.element(event, command);
        let root = self.root_of(text)?;
        let list = format!("[{element}]");
        let is_list = self.layout.event_key.is_some();
        let Some(hooks) = self.hooks_of(&root)? else {
            if is_list {
                return Ok(with_member(text, &root, self.layout.wrapper, &list));
            }
            let hooks = match whitespace_after(text, root.range().start + 1).rsplit_once('\n') {
                // Format like the members around it.
                Some((_, indent)) if !object(&root, "settings")?.is_empty() => {
                    let name = quoted(event.name);
                    format!("{{\n{indent}{indent}{name}: {list}\n{indent}}}")
                }
                _ => format!("{{{}:{list}}}", quoted(event.name)),
            };
            return Ok(with_member(text, &root, self.layout.wrapper, &hooks));
        };
        let known = match is_list {
            true => Some(hooks.clone()),
            false => object(&hooks, "hooks")?.get(event.name).cloned(),
        };
        let Some(known) = known else {
            return Ok(with_member(text, &hooks, event.name, &list));
        };
        let items = known.to_items().ok_or_else(|| wrong_type(&known, event.name, "an array"))?;
        let mut text = text.to_owned();
        match items.last() {
            Some(last) => {
                let before = whitespace_before(&text, last.range().start).to_owned();
                text.insert_str(last.range().end, &format!(",{before}{element}"));
            }
            None => text.insert_str(known.range().start + 1, &format!("{EMPTY_MARK}{element}")),
        }
        Ok(text)
    }

    /// Parses the settings in place, with comments blanked so that positions hold.
    fn root_of(&self, text: &str) -> Result<RawJson, ForeignEditError> {
        root_of(&without_comments(text, self.comments))
    }

    /// Returns a command as it is written: whole, or as a program and its arguments, which have no
    /// blanks.
    fn written<'c>(&self, command: &'c str) -> (&'c str, Option<impl Iterator<Item = &'c str>>) {
        let is_split = cfg!(windows)
            && self.entry.as_ref().is_some_and(|entry| entry.on_windows == WindowsShell::None);
        let split = command.rsplit_once(" bridge ").filter(|_| is_split);
        match split {
            Some((program, rest)) => {
                (program.trim_matches('"'), Some(std::iter::once("bridge").chain(rest.split(' '))))
            }
            None => (command, None),
        }
    }

    /// Returns an entry as a hook.
    pub(super) fn entry_hook(&self, event: &AgentEvent, command: &str) -> JsonObject {
        let mut hook = JsonObject::new();
        let mut action = JsonObject::new();
        if let Some(key) = self.layout.event_key {
            hook.insert(key, RawJson::from_text(event.name));
        }
        if self.layout.is_typed {
            action.insert("type", RawJson::from_text("command"));
        }
        let command = self.in_shell(command);
        let (program, arguments) = self.written(&command);
        let key = match self.name {
            "copilot" if cfg!(windows) => "powershell",
            "copilot" => "bash",
            _ => "command",
        };
        action.insert(key, RawJson::from_text(program));
        if let Some(arguments) = arguments {
            let arguments: Vec<RawJson> = arguments.map(RawJson::from_text).collect();
            action.insert("args", RawJson::from_items(&arguments));
        }
        match self.layout.action_key {
            Some(key) => hook.insert(key, action.to_raw()),
            None => hook.merge(&action),
        }
        if let Some(timeout) = self.timeout.keys.first() {
            let units = bridge_timeout_secs(event) * 1_000 / self.timeout.unit.max(1);
            hook.insert(*timeout, RawJson::from_u64(units));
        }
        for entry in self.entry.iter() {
            let fail_closed = if event.is_refusable() { entry.fail_closed } else { &[] };
            for (name, value) in entry.fields.iter().chain(fail_closed) {
                let value = value.replace("{event}", event.name);
                if let Ok(value) = RawJson::parse(value) {
                    hook.insert(*name, value);
                }
            }
        }
        hook
    }

    fn element(&self, event: &AgentEvent, command: &str) -> String {
        let hook = self.entry_hook(event, command);
        if self.settings != SettingsForm::Groups || event.is_flat {
            return hook.to_raw().as_str().to_owned();
        }
        let mut group = JsonObject::new();
        group.insert("hooks", RawJson::from_items([&hook.to_raw().into()]));
        group.to_raw().as_str().to_owned()
    }
}

/// Returns the agent's timeout in seconds. Events with short hooks have their own limit.
pub(super) fn bridge_timeout_secs(event: &AgentEvent) -> u64 {
    let default = if event.timeout.is_some() { 30 } else { BRIDGE_TIMEOUT_SECS };
    let cap = event.timeout_cap.map_or(default, |cap| default.min(cap / 1_000));
    event.total_timeout_secs.unwrap_or(cap)
}

/// Returns an extension with the commands of these events, replacing an earlier one.
fn with_commands(
    (before, after): (&str, &str),
    existing: Option<&str>,
    events: &[&str],
    command: &dyn Fn(&str) -> String,
) -> Result<String, ForeignEditError> {
    let header = before.lines().next().unwrap_or_default();
    if existing.is_some_and(|text| !text.trim().is_empty() && !text.starts_with(header)) {
        return Err(not_generated("nothing was written"));
    }
    let mut commands = JsonObject::new();
    for event in events {
        commands.insert(*event, RawJson::from_text(&command(event)));
    }
    Ok(format!("{before}{}{after}", commands.to_raw().as_str()))
}

/// Returns the commands of an extension, if its other text is exactly as written here.
fn commands_in((before, after): (&str, &str), text: &str) -> Option<Vec<(String, String)>> {
    let commands = text.strip_prefix(before)?.strip_suffix(after)?;
    let commands = RawJson::parse(commands).ok()?.to_object().ok()?;
    commands.iter().map(|(event, command)| Some((event.to_owned(), command.to_text()?))).collect()
}

fn not_generated(consequence: &str) -> ForeignEditError {
    let message = format!("it is not as `hook connect` writes it; {consequence}");
    ForeignEditError { at: 0..0, message }
}

fn quoted(text: &str) -> String {
    RawJson::from_text(text).as_str().to_owned()
}

pub(super) fn root_of(text: &str) -> Result<RawJson, ForeignEditError> {
    let root = RawJson::parse_with_offsets(text).map_err(|error| ForeignEditError {
        at: 0..0,
        message: format!("it is not JSON, and is left as it is: {error}"),
    })?;
    match root.kind() {
        JsonKind::Object => Ok(root),
        _ => Err(wrong_type(&root, "settings", "an object")),
    }
}

pub(super) fn object(value: &RawJson, name: &str) -> Result<JsonObject, ForeignEditError> {
    let object = value.to_object().map_err(|_| wrong_type(value, name, "an object"))?;
    match object.duplicate_key() {
        Some(repeated) => {
            let message = format!("`{repeated}` stands twice in `{name}`; remove one of them");
            Err(ForeignEditError { at: value.range(), message })
        }
        None => Ok(object),
    }
}

fn is_whitespace(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\r' | '\n')
}

fn whitespace_after(text: &str, offset: usize) -> &str {
    let rest = text.get(offset..).unwrap_or_default();
    rest.get(..rest.len() - rest.trim_start_matches(is_whitespace).len()).unwrap_or_default()
}

fn whitespace_before(text: &str, offset: usize) -> &str {
    let before = text.get(..offset).unwrap_or_default();
    before.get(before.trim_end_matches(is_whitespace).len()..).unwrap_or_default()
}

/// The mark before the first item in an object or array that was empty. No one else writes it.
const EMPTY_MARK: &str = " ";

fn was_empty(text: &str, value: &RawJson) -> bool {
    let inside = text.get(value.range().start + 1..).unwrap_or_default();
    let rest = inside.strip_prefix(EMPTY_MARK);
    rest.is_some_and(|rest| rest.starts_with(['{', '"']))
}

/// Appends a member to an object, formatted like the others.
fn with_member(text: &str, object: &RawJson, name: &str, value: &str) -> String {
    let mut text = text.to_owned();
    let fields = object.to_object().unwrap_or_default();
    let last = fields.iter().map(|(_, value)| value.range()).max_by_key(|range| range.end);
    let name = quoted(name);
    match last {
        Some(last) => {
            let first = text.get(object.range().start + 1..).unwrap_or_default();
            let gap = first.len() - first.trim_start_matches(is_whitespace).len();
            let gap = first.get(..gap).unwrap_or_default().to_owned();
            text.insert_str(last.end, &format!(",{gap}{name}: {value}"));
        }
        None => {
            // Text between the braces stays after the new member.
            text.insert_str(object.range().start + 1, &format!("{EMPTY_MARK}{name}: {value}"));
        }
    }
    text
}

/// Returns the range from the previous item's end to this one's; for the first, to the next item.
fn removal_range(list: &RawJson, items: &[RawJson], index: usize) -> Range<usize> {
    let item = items.get(index).map(RawJson::range).unwrap_or_default();
    match index.checked_sub(1).and_then(|before| items.get(before)) {
        Some(before) => before.range().end..item.end,
        None => {
            let end = items.get(index + 1).map_or(list.range().end - 1, |next| next.range().start);
            item.start..end
        }
    }
}

/// Returns the range from the previous member's end to this one's; for the first, to the next name.
fn member_removal_range(
    text: &str,
    object: &RawJson,
    fields: &JsonObject,
    name: &str,
) -> Range<usize> {
    let mut ranges: Vec<(&str, Range<usize>)> =
        fields.iter().map(|(name, value)| (name, value.range())).collect();
    ranges.sort_by_key(|(_, range)| range.start);
    let index = ranges.iter().position(|(known, _)| *known == name).unwrap_or_default();
    let end = ranges.get(index).map_or(0, |(_, range)| range.end);
    let before = index.checked_sub(1).and_then(|before| ranges.get(before));
    match before {
        Some((_, before)) => before.end..end,
        None => {
            let start = object.range().start + 1;
            let rest = text.get(end..).unwrap_or_default();
            let comma = rest.find(',').filter(|_| ranges.len() > 1);
            // The blanks before the first name stay for the next one.
            let whitespace = text.get(start..).unwrap_or_default();
            let gap = whitespace.len() - whitespace.trim_start_matches(is_whitespace).len();
            match comma {
                Some(comma) => {
                    let after = rest.get(comma + 1..).unwrap_or_default();
                    let next = after.len() - after.trim_start_matches(is_whitespace).len();
                    start + gap..end + comma + 1 + next
                }
                None => start..end,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Syntax;
    use crate::{agent, agents};

    #[test]
    fn what_is_put_in_is_taken_out_again_to_the_byte() {
        let with_settings = |agent: &&crate::Agent| {
            let has_file = agent.entry().is_some() && agent.extension().is_none();
            has_file && !agent.writes_scripts() && agent.entry_syntax() == Syntax::Json
        };
        for agent in agents().iter().copied().filter(with_settings) {
            let events: Vec<&str> = agent.connected_event_names().map(|(event, _)| event).collect();
            let first = events[0];
            let mut texts =
                vec!["{}".to_owned(), "{ }\n".to_owned(), "{\"a\": [1, 2]}\n".to_owned()];
            texts.extend(match agent.layout.event_key {
                Some(key) => vec![
                    "{\r\n\t\"hooks\": [\r\n\t]\r\n}\r\n".to_owned(),
                    format!("{{\"hooks\": [{{\"{key}\": \"{first}\", \"action\": {{\"command\": \"a\"}}}}], \"z\": 0}}"),
                ],
                None => vec![
                "{\r\n\t\"a\": 1,\r\n\t\"hooks\": {\"x\": []}\r\n}\r\n".to_owned(),
                "{\n  \"hooks\": {\n    \"Other\": [\n      {\"hooks\": []}\n    ]\n  },\n  \"z\": 0\n}\n".to_owned(),
                format!("{{\"hooks\":{{\"{first}\":[{{\"command\":\"mine\",\"hooks\":[]}}]}}}}"),
                format!("{{\n  \"hooks\": {{\n    \"{first}\": [\n      {{\"command\": \"a\"}},\n      {{\"command\": \"b\"}}\n    ]\n  }}\n}}"),
                ],
            });
            texts.retain(|text| agent.refusal(text).is_none());
            for text in texts {
                let command = |event: &str| format!("/bin/hook bridge {} {event}", agent.name());
                let connected = agent.connected(Some(&text), &events, &command).unwrap();
                assert_eq!(
                    agent.connections(&connected).unwrap().len(),
                    events.len(),
                    "{connected}"
                );
                assert_eq!(
                    agent.connected(Some(&connected), &events, &command).unwrap(),
                    connected,
                    "twice is once"
                );
                assert_eq!(
                    agent.disconnected(&connected).unwrap(),
                    text,
                    "{}\n{connected}",
                    agent.name()
                );
                // An entry for another binary replaces the first.
                let other = |event: &str| format!("/opt/hook bridge {} {event}", agent.name());
                let moved = agent.connected(Some(&connected), &events, &other).unwrap();
                assert!(!moved.contains("/bin/hook"), "{moved}");
                assert_eq!(agent.disconnected(&moved).unwrap(), text);
            }
            let made = agent.connected(None, &events, &|event| {
                format!("/bin/hook bridge {} {event}", agent.name())
            });
            let empty = agent.entry().unwrap().new_file;
            assert_eq!(agent.disconnected(&made.unwrap()).unwrap(), empty);
        }
    }

    #[test]
    fn a_list_of_toml_tables_is_put_in_and_taken_out_again_to_the_byte() {
        for agent in agents().iter().filter(|agent| agent.entry_syntax() == Syntax::Toml) {
            let events: Vec<&str> = agent.connected_event_names().map(|(event, _)| event).collect();
            let command = |event: &str| format!("'/a \"b/hook' bridge {} {event}", agent.name());
            let key = agent.layout.event_key.unwrap();
            for text in [
                String::new(),
                "model = 'a' # mine\n\n[models.a]\nb = 1".to_owned(),
                format!("[[hooks]]\n{key} = \"{}\"\ncommand = \"mine\"\n\n", events[0]),
            ] {
                let connected = agent.connected(Some(&text), &events, &command).unwrap();
                assert_eq!(
                    agent.connections(&connected).unwrap().len(),
                    events.len(),
                    "{connected}"
                );
                assert_eq!(
                    agent.connected(Some(&connected), &events, &command).unwrap(),
                    connected
                );
                assert_eq!(agent.disconnected(&connected).unwrap(), text, "{connected}");
                assert_eq!(agent.is_created_file(&connected), text.is_empty());
                // What stands behind the entries stays, too.
                let longer = format!("{connected}\n[[hooks]]\ncommand = 'later'\n");
                let remaining = agent.disconnected(&longer).unwrap();
                assert_eq!(remaining, format!("{text}\n[[hooks]]\ncommand = 'later'\n"));
            }
            for text in ["hooks = []\n", "hooks = {}\n", "[hooks]\na = 1\n", "no toml"] {
                assert!(agent.connected(Some(text), &events, &command).is_err(), "{text}");
            }
            let made = agent.connected(None, &events, &command).unwrap();
            let changed = made.replace("timeout = 120", "timeout = 60");
            assert!(agent.disconnected(&changed).is_err());
        }
    }

    #[test]
    fn a_block_of_yaml_is_put_in_and_taken_out_again_to_the_byte() {
        let hermes = agent("hermes").unwrap();
        let events: Vec<&str> = hermes.connected_event_names().map(|(event, _)| event).collect();
        let command =
            |event: &str| format!("_h='/a \"b'\\''c'; exec \"$_h/hook\" bridge hermes {event}");
        for text in ["", "model: a # mine\n", "model:\n  hooks: b"] {
            let connected = hermes.connected(Some(text), &events, &command).unwrap();
            let wanted = events.iter().map(|event| ((*event).to_owned(), command(event)));
            assert_eq!(hermes.connections(&connected).unwrap(), wanted.collect::<Vec<_>>());
            assert_eq!(hermes.connected(Some(&connected), &events, &command).unwrap(), connected);
            assert_eq!(hermes.disconnected(&connected).unwrap(), text, "{connected}");
            assert_eq!(hermes.is_created_file(&connected), text.is_empty());
            let longer = format!("{connected}other: 1\n");
            assert!(hermes.disconnected(&longer).unwrap().ends_with("other: 1\n"));
        }
        for text in ["hooks: {}\n", "'hooks' : {}\n", "a: 1\n...\n", "{a: 1}\n"] {
            let refused = hermes.connected(Some(text), &events, &command).unwrap_err();
            assert!(refused.message.contains("by hand"), "{text}: {}", refused.message);
        }
    }

    #[test]
    fn a_file_that_is_written_with_other_commands_is_read_as_hooks() {
        use hook_protocol::Events;
        use hook_settings::language::{ForeignCommand, ForeignFile, Language};

        let with_files = |agent: &&crate::Agent| {
            let reads_files = !(agent.paths.user.is_empty() && agent.paths.project.is_empty());
            reads_files && agent.entry().is_some()
        };
        for agent in agents().iter().copied().filter(with_files) {
            let mut events = Events::built_in();
            agent.declared_events().into_iter().for_each(|it| drop(events.declare(it)));
            let names: Vec<&str> = agent.connected_event_names().map(|(event, _)| event).collect();
            let command = |event: &str| format!("/bin/hook bridge {} {event}", agent.name());
            let text = agent.connected(None, &names, &command).unwrap();
            let text = text.replace("/bin/hook bridge", "guard");
            let path = std::path::Path::new("/p").join(agent.entry().unwrap().file);
            let file = ForeignFile {
                path: Some(&path),
                plugin_root: None,
                is_user: true,
                is_system: false,
                is_explicit: false,
                is_discovered: true,
                events: &events,
                others: &[],
            };
            let read = Language::read(agent, &text, &file);
            assert!(read.problems.is_empty(), "{}: {:?}", agent.name(), read.problems);
            for (name, hook) in names.iter().zip(&read.hooks) {
                let command = match &hook.hook.command {
                    ForeignCommand::Program { arguments, .. } => arguments.join(" "),
                    command => command.shown(),
                };
                assert!(
                    command.ends_with(&format!("guard {} {name}", agent.name())),
                    "{}: {command}",
                    agent.name()
                );
            }
            assert_eq!(read.hooks.len(), names.len(), "{}", agent.name());
        }
    }

    #[test]
    fn a_file_of_the_users_is_none_of_ours() {
        for (name, text) in [
            ("cursor", "{\"version\": 1}\n"),
            ("copilot", "{\"version\": 1}\n"),
            ("claude", "{}\n"),
        ] {
            let agent = agent(name).unwrap();
            let events: Vec<&str> = agent.connected_event_names().map(|(event, _)| event).collect();
            let command = |event: &str| format!("/bin/hook bridge {} {event}", agent.name());
            let connected = agent.connected(Some(text), &events, &command).unwrap();
            assert!(!agent.is_created_file(&connected), "{connected}");
            assert_eq!(agent.disconnected(&connected).unwrap(), text);
        }
    }

    #[test]
    fn an_extension_is_ours_to_the_byte_or_left_alone() {
        for agent in [agent("pi").unwrap(), agent("omp").unwrap()] {
            let events: Vec<&str> = agent.connected_event_names().map(|(event, _)| event).collect();
            let command = |event: &str| format!("'/a b/hook' bridge {} {event}", agent.name());
            let made = agent.connected(None, &events, &command).unwrap();
            assert_eq!(agent.connections(&made).unwrap().len(), events.len());
            assert_eq!(agent.connected(Some(&made), &events, &command).unwrap(), made);
            assert!(agent.is_created_file(&made));
            assert_eq!(agent.disconnected(&made).unwrap(), "");
            let changed = made.replace("refused", "ignored");
            assert!(agent.disconnected(&changed).is_err());
            // One of another version is replaced.
            assert_eq!(agent.connected(Some(&changed), &events, &command).unwrap(), made);
            let other = "export default function () {}";
            assert!(agent.connected(Some(other), &events, &command).is_err());
            assert!(agent.disconnected(other).is_err());
        }
    }

    #[test]
    fn what_is_no_settings_text_is_left_alone() {
        let claude = agent("claude").unwrap();
        for text in ["", "[]", "{\"hooks\": []}", "// comment\n{}", "{\"hooks\":{},\"hooks\":{}}"] {
            let command = |event: &str| format!("hook bridge claude {event}");
            assert!(claude.connected(Some(text), &["PreToolUse"], &command).is_err(), "{text}");
        }
        let text = r#"{"hooks":{"PreToolUse":{}}}"#;
        let command = |event: &str| format!("hook bridge claude {event}");
        assert!(claude.connected(Some(text), &["PreToolUse"], &command).is_err());
    }
}
