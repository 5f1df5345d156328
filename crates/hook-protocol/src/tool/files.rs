//! The files that a call reads or writes, according to its arguments.

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::Path;

use super::arguments::{Arguments, FileTool, is_content_argument};
use super::call::ToolCall;
use super::kind::{ToolKind, name_on_server};
use super::names::find_tool;
use super::patch::{MARK, file_headers};
use super::resolve::resolve_path;
use super::shell_patch::ShellPatch;
use hook_json::{JsonKind, JsonSlice, ObjectWriter, Position, Visited, visit_all};

/// The maximum number of files that are resolved per call.
const MAX_FILES: usize = 256;
/// The maximum length of a path in bytes; no system accepts a longer one.
const MAX_PATH: usize = 4 * 1024;

/// Words in names of unknown tools that write.
const WRITE_VERBS: [&str; 18] = [
    "append", "copy", "create", "delete", "edit", "insert", "mkdir", "move", "patch", "put",
    "remove", "rename", "replace", "save", "touch", "update", "upload", "write",
];
/// Words in names of unknown tools that read.
const READ_VERBS: [&str; 22] = [
    "browse", "cat", "check", "count", "describe", "diff", "fetch", "find", "get", "glob", "grep",
    "head", "info", "list", "load", "look", "open", "query", "read", "search", "show", "view",
];
/// Words in names of tools that move or copy files.
const MOVE_VERBS: [&str; 4] = ["copy", "link", "move", "rename"];

/// The access of a call to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileAccess {
    /// Reads or lists the file.
    Read,
    /// Writes, moves or deletes the file.
    Write,
}

impl FileAccess {
    /// Returns the access's name in inputs.
    fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

/// The files that a call names: absolute, symlinks resolved, without duplicates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolFiles {
    /// The paths, in the order of the arguments.
    pub list: Vec<(String, FileAccess)>,
    /// `false` if a named file is missing: too many files, or a value that is not a text.
    pub complete: bool,
}

impl ToolFiles {
    /// Returns the files of a call in the given directory.
    pub(crate) fn from_call(call: &ToolCall<'_>, directory: &Path) -> Self {
        let mut files = Self { list: Vec::new(), complete: true };
        let mut seen = HashSet::new();
        let named = NamedPaths::of(call);
        let directory = &*call.directory(directory);
        for (path, access) in &named.list {
            if path.len() > MAX_PATH || path.contains('\0') || files.list.len() == MAX_FILES {
                files.complete = false;
                continue;
            }
            let path = resolve_path(path, directory).to_string_lossy().into_owned();
            if seen.insert(path.clone()) {
                files.list.push((path, *access));
            }
        }
        files.complete &= named.complete;
        files
    }

    /// Returns the empty list, for a call without arguments.
    pub(crate) fn empty() -> Self {
        Self { list: Vec::new(), complete: true }
    }

    /// Writes the fields to an input.
    pub(crate) fn write(&self, out: &mut ObjectWriter<'_>) {
        out.objects("files", &self.list, |out, (path, access)| {
            out.text("path", path);
            out.text("access", access.as_str());
        });
        if !self.complete {
            out.bool("filesComplete", false);
        }
    }

    /// Returns `true` if a call has, or may have, that access to a named file. No file is accessed.
    pub fn may_access(call: &ToolCall<'_>, access: FileAccess) -> bool {
        let named = NamedPaths::of(call);
        let is_unreadable = call.kind == ToolKind::Shell && !named.complete;
        is_unreadable && access == FileAccess::Write
            || named.list.iter().any(|(_, other)| *other == access)
            // An MCP tool whose name tells neither.
            || access == FileAccess::Read && !named.list.is_empty() && has_unknown_access(call)
    }
}

/// The paths as written in a call.
pub(super) struct NamedPaths {
    pub(super) list: Vec<(String, FileAccess)>,
    /// `true` if no named file is missing from the list.
    pub(super) complete: bool,
}

/// The meaning of a value for the values inside it.
#[derive(Clone, Copy)]
enum Context {
    Any,
    /// The values are paths.
    Paths,
    /// The values describe a file.
    File,
}

/// Fields with the path in an object of a list of files, besides those of all calls.
const FILE_OBJECT_PATHS: [&str; 3] = ["file", "name", "uri"];

impl NamedPaths {
    /// Returns the files named by the arguments and by patches in them.
    pub(super) fn of(call: &ToolCall<'_>) -> Self {
        if call.kind == ToolKind::Shell {
            return Self::from_command(call);
        }
        let mut named = Self::from_arguments(call);
        let is_writing = call.kind == ToolKind::FileWrite;
        if is_writing {
            visit_all(call.arguments.as_raw(), (), |(), _, visited| {
                if let Visited::Leaf(leaf) = visited {
                    named.add_patch(leaf);
                }
                (!named.is_full()).then_some(())
            });
        }
        named.complete &= !named.is_full();
        // A tool that writes files writes at least one, whatever its arguments are.
        let must_name_one = is_writing
            || find_tool(call.name).is_some_and(|tool| tool.name == "read_file")
                && !call.arguments.fields().is_empty();
        named.complete &= !named.list.is_empty() || !must_name_one;
        named
    }

    /// Returns the files of a patch that a command applies; its other files are unknown.
    fn from_command(call: &ToolCall<'_>) -> Self {
        let mut named = Self { list: Vec::new(), complete: true };
        let fields = Arguments::from_call(call.arguments);
        match ShellPatch::from_arguments(&fields) {
            ShellPatch::None => {}
            ShellPatch::InDirectory(_) => {
                fields.texts().for_each(|(_, text)| named.add_headers(&text))
            }
            ShellPatch::Unreadable => named.complete = false,
        }
        named.complete &= !named.is_full();
        named
    }

    /// Returns the files named by the arguments themselves; none for a shell.
    pub(super) fn from_arguments(call: &ToolCall<'_>) -> Self {
        let mut named = Self { list: Vec::new(), complete: true };
        if call.kind == ToolKind::Shell {
            return named;
        }
        let access = access(call);
        let tool = FileTool::of(call);
        visit_all(call.arguments.as_raw(), Context::Any, |context, position, visited| {
            let is_named = match position {
                Position::Field(name) => {
                    tool.is_path_argument(name)
                        || matches!(context, Context::File) && FILE_OBJECT_PATHS.contains(&name)
                }
                Position::Item => matches!(context, Context::Paths),
            };
            let child_context = match visited {
                Visited::Leaf(leaf) if leaf.is_null() || !is_named => Context::Any,
                Visited::Leaf(leaf) => {
                    match leaf.text() {
                        Some(uri)
                            if matches!(position, Position::Field("uri")) && is_remote(&uri) => {}
                        Some(path) => named.add(path, access),
                        None => named.complete = false,
                    }
                    Context::Any
                }
                Visited::Object if is_named => Context::File,
                Visited::Array if is_named => Context::Paths,
                Visited::Object | Visited::Array => Context::Any,
            };
            (!named.is_full()).then_some(child_context)
        });
        named.complete &= !named.is_full();
        named
    }

    fn is_full(&self) -> bool {
        self.list.len() > MAX_FILES
    }

    /// Adds a path, and the different path that some tools read from it.
    fn add(&mut self, path: Cow<'_, str>, access: FileAccess) {
        if path.is_empty() {
            return;
        }
        let alternative = alternative_path(&path);
        self.list.push((path.into_owned(), access));
        self.list.extend(alternative.map(|path| (path, access)));
    }

    /// Adds the files of a text if it is a patch.
    fn add_patch(&mut self, leaf: JsonSlice<'_>) {
        // The mark's characters may be escaped.
        let written = leaf.as_str();
        let may_be_patch = written.contains(MARK) || written.contains("\\u");
        if leaf.kind() == JsonKind::String && may_be_patch {
            self.add_headers(&leaf.text().unwrap_or_default());
        }
    }

    fn add_headers(&mut self, text: &str) {
        let remaining = (MAX_FILES + 1).saturating_sub(self.list.len());
        let paths = file_headers(text).take(remaining);
        self.list.extend(paths.map(|path| (path.to_owned(), FileAccess::Write)));
    }
}

/// Returns the path that some tools read instead: without a leading `@`, without a trailing
/// selector of lines (`path:10-20`, `path:raw`), and with plain spaces.
fn alternative_path(path: &str) -> Option<String> {
    let alternative = path.strip_prefix('@').unwrap_or(path);
    let is_selector = |suffix: &str| {
        suffix == "raw"
            || !suffix.is_empty()
                && suffix
                    .chars()
                    .all(|character| character.is_ascii_digit() || ",-+".contains(character))
    };
    let alternative = match alternative.rsplit_once(':') {
        Some((path, selector)) if !path.is_empty() && is_selector(selector) => path,
        _ => alternative,
    };
    let is_blank = |character: char| {
        character.is_whitespace() && character != '\n' && character != '\t'
            || character == '\u{feff}'
    };
    let alternative: String = alternative
        .chars()
        .map(|character| if is_blank(character) { ' ' } else { character })
        .collect();
    (alternative != path && !alternative.is_empty()).then_some(alternative)
}

/// Returns `true` if a URI is not of a local file.
fn is_remote(uri: &str) -> bool {
    uri.split_once("://").is_some_and(|(scheme, _)| !scheme.eq_ignore_ascii_case("file"))
}

/// Returns the access of a call to the files that it names.
fn access(call: &ToolCall<'_>) -> FileAccess {
    let is_writing = match call.kind {
        ToolKind::FileWrite => true,
        ToolKind::FileRead => false,
        _ if find_tool(call.name).is_some() => false,
        _ => suggests_writing(call) || has_unknown_access(call),
    };
    if is_writing { FileAccess::Write } else { FileAccess::Read }
}

/// Returns `true` if the name of an unknown tool, or an argument, indicates writing.
fn suggests_writing(call: &ToolCall<'_>) -> bool {
    has_verb(call.name, &WRITE_VERBS)
        || call.arguments.fields().iter().any(|(name, _)| is_content_argument(name))
}

/// Returns `true` if nothing indicates what an MCP tool does with files: it may do anything.
fn has_unknown_access(call: &ToolCall<'_>) -> bool {
    call.kind == ToolKind::Mcp && !suggests_writing(call) && !has_verb(call.name, &READ_VERBS)
}

impl FileTool {
    /// Returns the file properties of a call's tool.
    pub(super) fn of(call: &ToolCall<'_>) -> Self {
        let kind = call.kind;
        Self {
            handles_files: matches!(kind, ToolKind::FileRead | ToolKind::FileWrite | ToolKind::Mcp),
            reads_files: kind == ToolKind::FileRead,
            moves_files: kind != ToolKind::Shell && has_verb(call.name, &MOVE_VERBS),
        }
    }
}

/// Returns `true` if a tool's name contains one of the words.
fn has_verb(tool: &str, verbs: &[&str]) -> bool {
    let segments = name_on_server(tool).split(|character: char| !character.is_ascii_alphanumeric());
    let mut name_words = segments.flat_map(camel_words).map(str::to_ascii_lowercase);
    name_words.any(|word| verbs.contains(&&*word))
}

/// Returns the words of a camel-case name.
fn camel_words(name: &str) -> impl Iterator<Item = &str> {
    let mut rest = name;
    std::iter::from_fn(move || {
        rest.chars().next()?;
        let end = rest.char_indices().skip(1).find(|(_, character)| character.is_ascii_uppercase());
        let (word, remainder) = rest.split_at(end.map_or(rest.len(), |(at, _)| at));
        rest = remainder;
        Some(word)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tool::arguments::PATH;
    use hook_json::RawObject;

    fn named(tool: &str, arguments: &str) -> Vec<(String, FileAccess)> {
        NamedPaths::of(&ToolCall::new(tool, &RawObject::parse(arguments).unwrap())).list
    }

    #[test]
    fn files_and_what_is_done_to_them() {
        use FileAccess::{Read, Write};
        for (tool, arguments, expected) in [
            ("write_file", r#"{"file_path":"a","content":"path"}"#, &[("a", Write)][..]),
            ("Edit", r#"{"file_path":"a"}"#, &[("a", Write)]),
            ("read_file", r#"{"file_path":"a"}"#, &[("a", Read)]),
            ("Read", r#"{"filePath":"a","startLine":1}"#, &[("a", Read)]),
            ("read_many_files", r#"{"paths":["a","b"]}"#, &[("a", Read), ("b", Read)]),
            ("editFiles", r#"{"files":["a",{"path":"b"}]}"#, &[("a", Write), ("b", Write)]),
            (
                "multi_replace_string_in_file",
                r#"{"replacements":[{"filePath":"a"},{"filePath":"b"}]}"#,
                &[("a", Write), ("b", Write)],
            ),
            (
                "apply_patch",
                r#"{"command":"*** Begin Patch\n*** Add File: a\n+x\n*** Update File: b\n*** Move to: c\n*** End Patch"}"#,
                &[("a", Write), ("b", Write), ("c", Write)],
            ),
            (
                "mcp_filesystem_move_file",
                r#"{"source":"a","destination":"b"}"#,
                &[("a", Write), ("b", Write)],
            ),
            ("mcp_filesystem_read_text_file", r#"{"path":"a"}"#, &[("a", Read)]),
            ("mcp_fs_open", r#"{"file":"a"}"#, &[("a", Read)]),
            ("mcp_fs_rename", r#"{"from":"a","to":"b"}"#, &[("a", Write), ("b", Write)]),
            ("mcp_fs_copyFile", r#"{"src":"a","dst":"b"}"#, &[("a", Write), ("b", Write)]),
            ("mcp_mail_send", r#"{"from":"a","to":"b"}"#, &[]),
            ("mcp_fs_set_contents", r#"{"path":"a","data":"x"}"#, &[("a", Write)]),
            ("read", r#"{"path":"@a:1-40"}"#, &[("@a:1-40", Read), ("a", Read)]),
            ("read", r#"{"path":"a\u00a0b"}"#, &[("a\u{a0}b", Read), ("a b", Read)]),
            ("mcp_fs_get", r#"{"uri":"file:///a"}"#, &[("file:///a", Read)]),
            ("mcp_web_get", r#"{"uri":"https://a/b"}"#, &[]),
            ("mcp_x_saveNote", r#"{"path":"a"}"#, &[("a", Write)]),
            ("deploy", r#"{"path":"a","content":"x"}"#, &[("a", Write)]),
            ("deploy", r#"{"path":"a","source":"b"}"#, &[("a", Read)]),
            ("run_shell_command", r#"{"command":"cat a","path":"b"}"#, &[]),
            (
                "Bash",
                r#"{"command":"apply_patch <<'E'\n*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\nE"}"#,
                &[("a", Write)],
            ),
            (
                "Bash",
                r#"{"command":"cat <<'E'\n*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\nE"}"#,
                &[],
            ),
            ("web_fetch", r#"{"url":"https://a"}"#, &[]),
        ] {
            let expected: Vec<_> =
                expected.iter().map(|(path, access)| ((*path).to_owned(), *access)).collect();
            assert_eq!(named(tool, arguments), expected, "{tool} {arguments}");
        }
    }

    #[test]
    fn more_files_than_are_resolved_are_said_to_be_missing() {
        let many: Vec<String> = (0..10_000).map(|it| format!("\"f{it}\"")).collect();
        let arguments = RawObject::parse(format!(r#"{{"paths":[{}]}}"#, many.join(","))).unwrap();
        let files =
            ToolFiles::from_call(&ToolCall::new("read_many_files", &arguments), Path::new("/"));
        assert_eq!((files.list.len(), files.complete), (MAX_FILES, false));
        for strange in [r#"{"path":7}"#, r#"{"path":"a\u0000"}"#] {
            let strange = RawObject::parse(strange).unwrap();
            assert!(
                !ToolFiles::from_call(&ToolCall::new("read_file", &strange), Path::new("/"))
                    .complete
            );
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_a_tool_names_is_there(
            tool in "(Write|replace|Read|create_file|mcp_fs_write|glob|NotebookEdit|other)",
            field in proptest::sample::select(
                [&PATH[..], &["paths", "target_files", "dir_path", "new_path"]].concat()
            ),
            path in "[a-zA-Z0-9./ é\"\\\\]{1,20}",
            around in 0_u8..4,
        ) {
            let value = serde_json::json!({ field: path });
            let value = match around {
                0 => value,
                1 => serde_json::json!({ "edits": [value] }),
                2 => serde_json::json!({ "deep": { "er": value } }),
                _ => serde_json::json!({ field: [path] }),
            };
            let found = named(&tool, &value.to_string());
            prop_assert!(found.iter().any(|(found, _)| *found == path), "{value} {found:?}");
        }
    }
}
