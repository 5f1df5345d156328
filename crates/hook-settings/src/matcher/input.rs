//! The parts of an event that matchers look at: the name, and the paths and commands of its input.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use super::globs::{Directories, PathForms};
use super::path;
use hook_json::{JsonKind, JsonSlice, Position, RawJson, RawObject, Visited, visit_all};
use hook_protocol::event::input::{HookInput, HostContext, RequestInput};
use hook_protocol::tool::{
    FileAccess, MARK, ShellCommand, ToolFiles, ToolKind, file_headers, path_argument,
    paths_argument, resolve_path,
};

/// Fields that hold a command, as a string or as an array of words.
const COMMAND_FIELDS: [&str; 3] = ["command", "cmd", "script"];

/// The maximum size of the paths, and of the commands, of one input, in bytes; each one counts as
/// at least 64. More of them are not compared, and count as a match.
const MAX_COMPARED_BYTES: usize = 1024 * 1024;
const MIN_TEXT_BYTES: usize = 64;

/// The parts of an event that matchers look at.
#[derive(Debug, Clone)]
pub struct MatchInput {
    subject: Option<String>,
    value: RawJson,
    cwd: Arc<str>,
    event: HookInput,
}

impl MatchInput {
    /// Returns the parts of a request: its subject
    /// ([`EventPayload::match_subject`](hook_protocol::EventPayload::match_subject)), its `tool_input` or,
    /// if its event has none, all of its fields, and its working directory or the host's.
    pub fn of(input: &RequestInput, host: &HostContext) -> Self {
        Self::of_event(HookInput::new(input.clone().complete(host)))
    }

    /// Like [`of`](Self::of), for a request that is complete.
    pub fn of_event(event: HookInput) -> Self {
        let (payload, extra) = (&event.payload, &event.extra);
        let value = match payload.tool_input() {
            Some(tool_input) => tool_input.as_raw().clone(),
            None => RawObject::build(|out| {
                payload.write(out);
                out.fields(extra);
            })
            .into(),
        };
        let subject = payload.match_subject().map(str::to_owned);
        Self { subject, value, cwd: Arc::clone(&event.cwd), event }
    }

    /// Returns the input of the event.
    pub fn event(&self) -> &HookInput {
        &self.event
    }

    /// Returns the text that a tool's name or a trigger is compared with.
    pub fn subject(&self) -> Option<&str> {
        self.subject.as_deref()
    }
}

/// The host's directories, from which a request's relative paths begin.
#[derive(Debug, Clone)]
pub struct HostDirectories {
    project: String,
    home: Option<String>,
}

impl HostDirectories {
    /// Creates the directories; `~` stands for `home`.
    pub fn new(project: &Path, home: Option<&std::ffi::OsStr>) -> Self {
        let project = std::path::absolute(project).unwrap_or_else(|_| project.to_path_buf());
        let normal = |path: &str| path::normalized(&path::absolute(&path::with_slashes(path), "/"));
        let home = home.map(std::ffi::OsStr::to_string_lossy);
        let home = home.filter(|home| path::is_absolute(&path::with_slashes(home)));
        Self { project: normal(&project.to_string_lossy()), home: home.map(|home| normal(&home)) }
    }

    pub(super) fn project(&self) -> &str {
        &self.project
    }

    fn directories(&self, cwd: &str) -> Directories {
        let cwd = path::absolute(&path::with_slashes(cwd), &self.project);
        Directories {
            cwd: path::normalized(&cwd),
            project: self.project.clone(),
            home: self.home.clone(),
        }
    }
}

/// The paths and commands of one input, collected when the first filter needs them.
#[derive(Debug)]
pub struct Facts<'i> {
    input: &'i MatchInput,
    pub(super) directories: Directories,
    collected: OnceCell<Collected>,
}

impl<'i> Facts<'i> {
    /// Creates the subject of an input.
    pub fn of(input: &'i MatchInput, host: &HostDirectories) -> Self {
        let directories = host.directories(&input.cwd);
        Self { input, directories, collected: OnceCell::new() }
    }

    /// Returns the event's input.
    pub(super) fn event(&self) -> &HookInput {
        &self.input.event
    }

    /// Returns the kinds of the tool: its own, and those that its arguments show. These are writing
    /// files for any tool, and reading files and running commands for an MCP or unknown tool.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = ToolKind> {
        let own = self.event().tool_kind();
        let call = self.event().tool_call();
        let names = |access| call.is_some_and(|call| ToolFiles::may_access(&call, access));
        let is_other = matches!(own, Some(ToolKind::Mcp | ToolKind::Other));
        let writes = own != Some(ToolKind::FileWrite) && names(FileAccess::Write);
        let reads = is_other && names(FileAccess::Read);
        let runs = is_other && call.is_some_and(|call| ShellCommand::has_command_argument(&call));
        let also = |is: bool, kind: ToolKind| is.then_some(kind);
        own.into_iter()
            .chain(also(writes, ToolKind::FileWrite))
            .chain(also(reads, ToolKind::FileRead))
            .chain(also(runs, ToolKind::Shell))
    }

    pub(super) fn paths(&self) -> &Texts {
        &self.collected().paths
    }

    pub(super) fn commands(&self) -> &Texts {
        &self.collected().commands
    }

    fn collected(&self) -> &Collected {
        self.collected.get_or_init(|| {
            let mut collected = Collected::of(&self.input.value);
            self.add_resolved(&mut collected.paths);
            self.add_command(&mut collected.commands);
            collected
        })
    }

    /// Adds the command of a shell tool whose argument has another name.
    fn add_command(&self, commands: &mut Texts) {
        if commands.list.is_empty()
            && commands.invalid_field.is_none()
            && let Some(call) = self.event().tool_call()
            && let Ok(Some(command)) = ShellCommand::from_call(&call)
        {
            commands.add(Cow::Owned(command.text));
        }
    }

    /// Adds the targets of paths with links. A path inside the working directory stays inside, also
    /// if the directory itself is behind a link.
    fn add_resolved(&self, paths: &mut Texts) {
        if self.event().tool_kind().is_none() {
            return;
        }
        let files = self.event().files();
        paths.is_incomplete |= !files.complete;
        let directory = resolve_path(&self.directories.cwd, Path::new("/"));
        let normalized = |path: &String| PathForms::of(path, &self.directories).normalized;
        let given: HashSet<String> = paths.list.iter().map(normalized).collect();
        for (path, _) in &files.list {
            let below = Path::new(path).strip_prefix(&directory).ok();
            let path = match below {
                Some(rest) => Path::new(&self.directories.cwd).join(rest),
                None => path.into(),
            };
            // Most paths are their own target.
            let path = path.to_string_lossy();
            if !given.contains(&*path) {
                paths.add(path);
            }
        }
    }
}

/// The paths, or the commands, of an input.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Texts {
    pub(super) list: Vec<String>,
    /// A field that should hold one, and holds another kind of value.
    pub(super) invalid_field: Option<String>,
    /// `true` if there are more than are compared.
    pub(super) too_many: bool,
    /// `true` if the tool may have more of them than its arguments show.
    pub(super) is_incomplete: bool,
    bytes: usize,
}

impl Texts {
    fn add(&mut self, text: Cow<'_, str>) {
        self.count(text.len().max(MIN_TEXT_BYTES));
        if !self.too_many {
            self.list.push(text.into_owned());
        }
    }

    fn count(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_add(bytes);
        self.too_many |= self.bytes > MAX_COMPARED_BYTES;
    }
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Collected {
    paths: Texts,
    commands: Texts,
}

/// The context that a value gives to the values inside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Parent {
    Anything,
    /// The field whose elements are paths.
    Paths(&'static str),
    /// The field whose elements are the words of one command.
    Words(&'static str),
}

impl Collected {
    fn of(value: &RawJson) -> Self {
        let mut collected = Self::default();
        // `true` once the current command has a word.
        let mut has_word = false;
        visit_all(value, Parent::Anything, |parent, position, visited| {
            let role = match (position, parent) {
                (Position::Field(name), _) => Role::of_field(name),
                (Position::Item, Parent::Paths(field)) => Role::Path(field),
                (Position::Item, Parent::Words(field)) => Role::Word(field),
                (Position::Item, Parent::Anything) => Role::Other,
            };
            match (role, visited) {
                (_, Visited::Leaf(leaf)) if leaf.is_null() => {}
                (Role::Path(_) | Role::Paths(_), Visited::Leaf(leaf)) if is_text(leaf) => {
                    collected.read_patch(leaf);
                    collected.paths.add(leaf.text().unwrap_or_default());
                }
                (Role::Paths(field), Visited::Array) => return Some(Parent::Paths(field)),
                (Role::Path(field) | Role::Paths(field), _) => {
                    collected.paths.invalid_field.get_or_insert_with(|| field.to_owned());
                }
                (Role::Command(_), Visited::Leaf(leaf)) if is_text(leaf) => {
                    let text = leaf.text().unwrap_or_default();
                    collected.read_patch(leaf);
                    collected.commands.add(text);
                }
                (Role::Command(field), Visited::Array) => {
                    collected.commands.add(Cow::Borrowed(""));
                    has_word = false;
                    return Some(Parent::Words(field));
                }
                (Role::Word(_), Visited::Leaf(leaf)) if is_text(leaf) => {
                    collected.read_patch(leaf);
                    collected.add_word(&leaf.text().unwrap_or_default(), has_word);
                    has_word = true;
                }
                (Role::Command(field) | Role::Word(field), _) => {
                    collected.commands.invalid_field.get_or_insert_with(|| field.to_owned());
                }
                (Role::Other, Visited::Leaf(leaf)) => collected.read_patch(leaf),
                (Role::Other, Visited::Object | Visited::Array) => {}
            }
            // With both over the limit, the rest cannot change the result.
            (!(collected.paths.too_many && collected.commands.too_many)).then_some(Parent::Anything)
        });
        collected
    }

    /// Adds a word to the last command.
    fn add_word(&mut self, word: &str, has_word: bool) {
        self.commands.count(word.len() + 1);
        if self.commands.too_many {
            return;
        }
        if let Some(command) = self.commands.list.last_mut() {
            if has_word {
                command.push(' ');
            }
            command.push_str(word);
        }
    }

    fn read_patch(&mut self, leaf: JsonSlice<'_>) {
        // Each letter of the mark may be written as an escape.
        let written = leaf.as_str();
        if !is_text(leaf) || !(written.contains(MARK) || written.contains("\\u")) {
            return;
        }
        let text = leaf.text().unwrap_or_default();
        for path in file_headers(&text) {
            self.paths.add(Cow::Borrowed(path));
        }
    }
}

/// The role of a value.
#[derive(Debug, Clone, Copy)]
enum Role {
    Path(&'static str),
    Paths(&'static str),
    Command(&'static str),
    Word(&'static str),
    Other,
}

impl Role {
    fn of_field(name: &str) -> Self {
        let find_in = |fields: &[&'static str]| fields.iter().copied().find(|field| *field == name);
        let paths = || paths_argument(name).map(Self::Paths);
        let command = || find_in(&COMMAND_FIELDS).map(Self::Command);
        path_argument(name).map(Self::Path).or_else(paths).or_else(command).unwrap_or(Self::Other)
    }
}

fn is_text(leaf: JsonSlice<'_>) -> bool {
    leaf.kind() == JsonKind::String
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(json: &str) -> Collected {
        Collected::of(&RawJson::parse(json).unwrap())
    }

    #[test]
    fn paths_stand_in_known_fields_at_any_depth() {
        for (json, paths, strange) in [
            (r#"{"path":"a","content":"b"}"#, &["a"][..], None),
            (r#"{"edits":[{"file_path":"a"},{"deep":{"filePath":"b"}}]}"#, &["a", "b"], None),
            (r#"{"paths":["a","b"],"filenames":"c"}"#, &["a", "b", "c"], None),
            (r#"{"p\u0061th":"\u002eenv"}"#, &[".env"], None),
            (r#"{"path":"a","path":"b"}"#, &["a", "b"], None),
            (r#"{"path":null,"paths":[null],"target_file":"a"}"#, &["a"], None),
            (r#"{"paths":[]}"#, &[], None),
            (r#"{"other":["path"]}"#, &[], None),
            (r#"{"path":7}"#, &[], Some("path")),
            (r#"{"path":["a"]}"#, &[], Some("path")),
            (r#"{"path":{"path":"a"}}"#, &["a"], Some("path")),
            (r#"{"paths":[["a"]]}"#, &[], Some("paths")),
            (r#"{"paths":[{"path":"a"}]}"#, &["a"], Some("paths")),
            (r#"{"paths":[true,"a"]}"#, &["a"], Some("paths")),
        ] {
            let found = found(json).paths;
            assert_eq!(found.list, paths, "{json}");
            assert_eq!(found.invalid_field.as_deref(), strange, "{json}");
        }
    }

    #[test]
    fn commands_are_strings_or_words() {
        for (json, commands, strange) in [
            (r#"{"command":"rm x"}"#, &["rm x"][..], None),
            (r#"{"cmd":["bash","-c","rm x"]}"#, &["bash -c rm x"], None),
            (r#"{"steps":[{"script":"a"},{"command":["b",null,"c"]}]}"#, &["a", "b c"], None),
            (r#"{"command":["","a"]}"#, &[" a"], None),
            (r#"{"command":[]}"#, &[""], None),
            (r#"{"command":null}"#, &[], None),
            (r#"{"command":7}"#, &[], Some("command")),
            (r#"{"command":["a",["b"]]}"#, &["a"], Some("command")),
            (r#"{"command":{"command":"a"}}"#, &["a"], Some("command")),
        ] {
            let found = found(json).commands;
            assert_eq!(found.list, commands, "{json}");
            assert_eq!(found.invalid_field.as_deref(), strange, "{json}");
        }
    }

    #[test]
    fn headers_of_patches_are_paths_wherever_the_patch_stands() {
        let patch = r"*** Begin Patch\n*** Add File: a\n+x\n*** Update File: b\n*** Move to: c\n";
        for json in [
            format!(r#"{{"command":"{patch}"}}"#),
            format!(r#"{{"input":"{patch}"}}"#),
            format!(r#"{{"path":null,"paths":null,"deep":["{patch}"]}}"#),
            format!(r#"{{"command":["apply_patch","{patch}"]}}"#),
            format!(r#"{{"deep":[["{}"]]}}"#, patch.replace('*', r"\u002a")),
        ] {
            assert_eq!(found(&json).paths.list, ["a", "b", "c"], "{json}");
        }
    }

    #[test]
    fn an_input_of_a_megabyte_is_looked_at_in_good_time() {
        let long = "x".repeat(1 << 20);
        let many = |item: &str| vec![item; (1 << 20) / item.len()].join(",");
        let deep = format!("{}{}", "[".repeat(1 << 19), "]".repeat(1 << 19));
        for json in [
            format!(r#"{{"content":"{long}","path":"a"}}"#),
            format!(r#"{{"path":"{long}","command":"{long}"}}"#),
            format!(r#"{{"content":"{}","path":"a"}}"#, r"\u002a".repeat(1 << 18)),
            format!(r#"{{"content":"{}"}}"#, r"*** Add File: a\n".repeat(1 << 16)),
            format!(r#"{{"list":[{}]}}"#, many(r#"{"path":"a"}"#)),
            format!(r#"{{"command":[{}]}}"#, many(r#""a""#)),
            format!(r#"{{"paths":[{}]}}"#, many(r#""""#)),
            format!(r#"{{"path":{deep}}}"#),
        ] {
            let value = RawJson::parse(json).unwrap();
            let begun = std::time::Instant::now();
            let found = Collected::of(&value);
            let size = |texts: &Texts| texts.list.iter().map(String::len).sum::<usize>();
            assert!(size(&found.paths) <= MAX_COMPARED_BYTES);
            assert!(size(&found.commands) <= MAX_COMPARED_BYTES);
            assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_json_gets_through(text in "(\"path\":|\"paths\":|\"command\":|\\[|\\]|\\{|\\}|,|\"a\"|7|null){0,30}") {
            if let Ok(value) = RawJson::parse(text) {
                Collected::of(&value);
            }
        }
    }
}
