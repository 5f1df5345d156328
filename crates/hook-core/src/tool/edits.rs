//! A call on several files, or in an unusual form, as one plain call for each file: `write_file`, `replace`
//! or `read_file`. Hooks of other agents are written for such calls.

use std::path::Path;

use super::files::{FileAccess, Named};
use super::kind::{ToolKind, is_of_mcp_server, name_at_server};
use super::names::{APPLY_PATCH, KnownTool, known};
use super::patch::{self, ChangeKind, Patch};
use super::resolve::{absolute, resolved};
use crate::files::regular_file;
use crate::json::{JsonObject, RawJson, RawObject};

/// How many files of one call a hook is asked about.
const MAX_CALLS: usize = 64;
/// How much of a file's text that goes a hook is given, in bytes.
const MAX_OLD_TEXT: u64 = 1024 * 1024;

const WRITE: &str = "write_file";
const EDIT: &str = "replace";
const READ: &str = "read_file";

/// Arguments under the names that agents have for them, ours first.
const PATH: [&str; 12] = [
    "file_path",
    "path",
    "filePath",
    "absolute_path",
    "notebook_path",
    "target_file",
    "filename",
    "filepath",
    "fileName",
    "relative_path",
    "pathInProject",
    "target_notebook",
];
const CONTENT: [&str; 4] = ["content", "contents", "file_text", "text"];
const OLD: [&str; 4] = ["old_string", "old_str", "oldString", "oldText"];
const NEW: [&str; 5] = ["new_string", "new_str", "newString", "newText", "new_source"];
const EDITS: [&str; 2] = ["edits", "replacements"];
const PATCH: &str = "command";
const PATHS: [&str; 4] = ["paths", "files", "file_paths", "filePaths"];
const SOURCE: [&str; 3] = ["source", "old_path", "oldPath"];
const DESTINATION: [&str; 3] = ["destination", "new_path", "newPath"];

/// A call, file by file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FileCalls {
    /// It is a plain call, or none on files.
    AsItIs,
    /// A plain call for each file.
    Each(Vec<FileCall>),
    /// Its files cannot be told, with the reason.
    Unreadable(String),
}

/// A plain call on one file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FileCall {
    /// `write_file`, `replace` or `read_file`.
    pub(crate) tool: &'static str,
    /// Its arguments, in our names. The path is absolute, as in most agents.
    pub(crate) arguments: RawObject,
    /// The path as the whole call has it.
    path: String,
    origin: Origin,
}

/// What of the whole call a plain one was made of.
#[derive(Debug, PartialEq, Eq)]
enum Origin {
    /// A part of the patch in this argument, in bytes of its text.
    Patch { argument: String, range: std::ops::Range<usize> },
    /// All of it, with these arguments under other names: ours, theirs.
    Renamed(Vec<(&'static str, &'static str)>),
    /// All of a file, which goes.
    Deletion,
    /// Something that no change can be put back into.
    Composed,
}

impl FileCall {
    fn new(tool: &'static str, path: &str, texts: &[(&str, &str)], origin: Origin) -> Self {
        let arguments = RawObject::of(|out| {
            for (name, value) in std::iter::once(&(PATH[0], path)).chain(texts) {
                out.text(name, value);
            }
        });
        Self { tool, arguments, path: path.to_owned(), origin }
    }

    fn write(path: &str, content: &str, origin: Origin) -> Self {
        Self::new(WRITE, path, &[(CONTENT[0], content)], origin)
    }

    fn edit(path: &str, old: &str, new: &str, origin: Origin) -> Self {
        Self::new(EDIT, path, &[(OLD[0], old), (NEW[0], new)], origin)
    }

    fn read(path: &str) -> Self {
        Self::new(READ, path, &[], Origin::Composed)
    }

    /// The path as the whole call has it.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// A call that is plain already.
    fn plain(tool: &'static str, arguments: &RawObject) -> Self {
        let (path, origin) = (String::new(), Origin::Composed);
        Self { tool, arguments: arguments.clone(), path, origin }
    }

    /// The same with an absolute path.
    fn in_directory(self, directory: &Path) -> Self {
        let mut fields = self.arguments.fields();
        let path = absolute(&self.path, directory);
        fields.insert(PATH[0], RawJson::from_text(&path.to_string_lossy()));
        Self { arguments: fields.to_raw(), ..self }
    }

    /// The arguments of the whole call, in which this one has other arguments; `None` where they cannot be
    /// put back.
    pub(crate) fn put_back(&self, whole: &RawObject, changed: &RawObject) -> Option<RawObject> {
        let mut fields = whole.fields();
        let mut changed = changed.fields();
        if changed.get(PATH[0]) == self.arguments.fields().get(PATH[0]) {
            changed.insert(PATH[0], RawJson::from_text(&self.path));
        }
        match &self.origin {
            Origin::Deletion | Origin::Composed => return None,
            Origin::Renamed(names) => {
                for (ours, theirs) in names {
                    let value = changed.get(ours)?.clone();
                    fields.insert(*theirs, value);
                }
                // What has no other name is the same argument.
                for (name, value) in changed.iter() {
                    if !names.iter().any(|(ours, _)| *ours == name) {
                        fields.insert(name, value.clone());
                    }
                }
            }
            Origin::Patch { argument, range } => {
                let text = fields.get(argument)?.to_text()?;
                let changed = plain_part(self.tool, &changed.to_raw())?;
                let new =
                    format!("{}{changed}{}", text.get(..range.start)?, text.get(range.end..)?);
                fields.insert(argument.as_str(), RawJson::from_text(&new));
            }
        }
        Some(fields.to_raw())
    }
}

/// The calls of one tool, file by file. Texts of files that go are read from that directory.
pub(crate) fn file_calls(tool: &str, arguments: &RawObject, directory: &Path) -> FileCalls {
    let fields = Fields(arguments.fields());
    let read = match known(tool) {
        Some(KnownTool { name: APPLY_PATCH, .. }) => of_patch(&fields, directory),
        Some(KnownTool { name: "delete_file", .. }) => fields.deleting(directory),
        Some(KnownTool { name, .. }) if [WRITE, EDIT, READ].contains(name) => {
            if tool == *name && fields.is_plain(name) {
                return FileCalls::AsItIs;
            }
            of_file_tool(name, &fields)
        }
        // What else a command does with files is not known.
        Some(tool) if tool.kind == ToolKind::Shell => {
            let texts: Vec<String> = fields.texts().map(|(_, text)| text).collect();
            if !texts.iter().any(|text| patch::names_patcher(text))
                || !texts.iter().any(|text| patch::file_headers(text).next().is_some())
            {
                return FileCalls::AsItIs;
            }
            of_patch(&fields, directory)
        }
        None if is_of_mcp_server(tool) => of_file_server(tool, &fields, directory),
        _ => return FileCalls::AsItIs,
    };
    match read {
        Ok(calls) if calls.len() > MAX_CALLS => FileCalls::Unreadable(too_many(calls.len())),
        Ok(calls) if calls.is_empty() => FileCalls::AsItIs,
        Ok(calls) => {
            FileCalls::Each(calls.into_iter().map(|call| call.in_directory(directory)).collect())
        }
        Err(why) => FileCalls::Unreadable(why),
    }
}

/// The same call with a patch as its one argument, for hooks that know no other edits; `None` of one that
/// writes nothing, or is such a call.
///
/// # Errors
/// Says why the files that it writes cannot be told.
pub(crate) fn as_patch(
    tool: &str,
    arguments: &RawObject,
    directory: &Path,
) -> Result<Option<RawObject>, String> {
    let with_patch = |patch: &str| RawObject::of(|out| out.text(PATCH, patch));
    if known(tool).is_some_and(|tool| tool.name == APPLY_PATCH) {
        let fields = Fields(arguments.fields());
        let (argument, patch) = fields.patch()?;
        return Ok((argument != PATCH).then(|| with_patch(&patch)));
    }
    if ToolKind::of_tool(tool) == ToolKind::FileRead {
        return Ok(None);
    }
    let calls = match file_calls(tool, arguments, directory) {
        FileCalls::Each(calls) => calls,
        FileCalls::AsItIs => match [WRITE, EDIT].into_iter().find(|name| *name == tool) {
            Some(tool) => vec![FileCall::plain(tool, arguments)],
            None => return Ok(None),
        },
        FileCalls::Unreadable(why) => return Err(why),
    };
    let calls: Vec<FileCall> = calls.into_iter().filter(|call| call.tool != READ).collect();
    if calls.is_empty() {
        return Ok(None);
    }
    let part = |call: &FileCall| match call.origin {
        Origin::Deletion => Some(patch::deleting(&Fields(call.arguments.fields()).path()?)),
        _ => plain_part(call.tool, &call.arguments),
    };
    let parts: Option<Vec<String>> = calls.iter().map(part).collect();
    let parts = parts.ok_or("no patch can say what it does")?;
    Ok(Some(with_patch(&patch::whole(parts.into_iter()))))
}

/// A call of a patch with another patch, which is the one argument of `changed`; `None` where either is no
/// such call.
pub(crate) fn with_patch(whole: &RawObject, changed: &RawObject) -> Option<RawObject> {
    let mut fields = whole.fields();
    let argument = Fields(whole.fields()).patch().ok()?.0.to_owned();
    fields.insert(argument, changed.fields().get(PATCH)?.clone());
    Some(fields.to_raw())
}

/// Why the files of a patch cannot be told, if it is one.
pub(crate) fn unreadable_patch(tool: &str, arguments: &RawObject) -> Option<String> {
    known(tool).filter(|tool| tool.name == APPLY_PATCH)?;
    let fields = Fields(arguments.fields());
    let read = fields.patch().and_then(|(_, text)| parsed(&text));
    match read {
        Ok(patch) if patch.changes.len() > MAX_CALLS => Some(too_many(patch.changes.len())),
        Ok(_) => None,
        Err(why) => Some(why),
    }
}

fn parsed(text: &str) -> Result<Patch, String> {
    Patch::parse(text).map_err(|why| format!("its patch cannot be read: {why}"))
}

fn too_many(count: usize) -> String {
    format!("it is on {count} files, and hooks are asked about {MAX_CALLS} at most")
}

/// A plain call as a part of a patch.
fn plain_part(tool: &str, arguments: &RawObject) -> Option<String> {
    let fields = Fields(arguments.fields());
    let text = |names: &[&'static str]| fields.text(names).ok().flatten().map(|(_, text)| text);
    let path = text(&PATH[..1]).filter(|path| !path.contains(['\n', '\r']))?;
    match tool {
        WRITE => Some(patch::adding(&path, &text(&CONTENT[..1])?)),
        EDIT => {
            let (old, new) = (text(&OLD[..1])?, text(&NEW[..1])?);
            Some(patch::updating(&path, &old, &new))
        }
        _ => None,
    }
}

/// A patch, file by file.
fn of_patch(fields: &Fields, directory: &Path) -> Result<Vec<FileCall>, String> {
    let (argument, text) = fields.patch()?;
    let read = parsed(&text)?;
    // Before texts of files are read.
    if read.changes.len() > MAX_CALLS {
        return Ok(read.changes.iter().map(|change| FileCall::read(&change.path)).collect());
    }
    let mut calls = Vec::new();
    for change in &read.changes {
        let path = &change.path;
        let origin =
            || Origin::Patch { argument: argument.to_owned(), range: change.range.clone() };
        match &change.kind {
            ChangeKind::Add { content } => calls.push(FileCall::write(path, content, origin())),
            ChangeKind::Delete => calls.push(deletion(path, &old_text(path, directory))),
            ChangeKind::Update { moved_to: None, hunks } => {
                let (old, new) = patch::replaced(hunks);
                let origin = if hunks.len() == 1 { origin() } else { Origin::Composed };
                calls.push(FileCall::edit(path, &old, &new, origin));
            }
            ChangeKind::Update { moved_to: Some(moved_to), hunks } => {
                let old = old_text(path, directory);
                let new = patch::applied(&old, hunks).unwrap_or_else(|| patch::replaced(hunks).1);
                calls.push(deletion(path, &old));
                calls.push(FileCall::write(moved_to, &new, Origin::Composed));
            }
        }
    }
    Ok(calls)
}

/// A file that goes is an edit of all its text.
fn deletion(path: &str, old: &str) -> FileCall {
    FileCall::edit(path, old, "", Origin::Deletion)
}

/// The text of a file, as far as it can be read.
fn old_text(path: &str, directory: &Path) -> String {
    let read = regular_file::read(&resolved(path, directory), MAX_OLD_TEXT);
    read.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

/// A tool for files, with arguments under whatever names.
fn of_file_tool(name: &str, fields: &Fields) -> Result<Vec<FileCall>, String> {
    let path = fields.text(&PATH)?;
    if name == READ {
        let paths = fields.list(&PATHS).into_iter().flatten();
        let paths = paths.filter_map(|item| item.to_text().or_else(|| Fields::of(&item)?.path()));
        let all = path.map(|(_, path)| path).into_iter().chain(paths);
        return Ok(all.take(MAX_CALLS + 1).map(|path| FileCall::read(&path)).collect());
    }
    let content = if name == WRITE { fields.text(&CONTENT)? } else { None };
    let has_more = fields.list(&EDITS).is_some() || fields.list(&PATHS).is_some();
    if let (Some((path_name, path)), Some((content_name, content)), false) =
        (&path, &content, has_more)
    {
        let names = vec![(PATH[0], *path_name), (CONTENT[0], *content_name)];
        return Ok(vec![FileCall::write(path, content, Origin::Renamed(names))]);
    }
    // One file after the other, each with what changes in it.
    let mut edits: Vec<(String, Vec<String>, Vec<String>)> = Vec::new();
    for edit in fields.list(&EDITS).into_iter().flatten() {
        let edit = Fields::of(&edit).ok_or("one of its edits is no object")?;
        let own = edit.text(&PATH)?.or_else(|| path.clone());
        let (_, own) = own.ok_or("one of its edits names no file")?;
        let text = |found: Option<(&str, String)>| found.map(|(_, text)| text).unwrap_or_default();
        let (old, new) = (text(edit.text(&OLD)?), text(edit.text(&NEW)?));
        match edits.iter_mut().find(|(path, ..)| *path == own) {
            Some((_, olds, news)) => {
                olds.push(old);
                news.push(new);
            }
            None => edits.push((own, vec![old], vec![new])),
        }
        if edits.len() > MAX_CALLS {
            break;
        }
    }
    let (old, new) = (fields.text(&OLD)?, fields.text(&NEW)?);
    let text = |found: &Option<(&str, String)>| {
        found.as_ref().map(|(_, text)| text.clone()).unwrap_or_default()
    };
    if let (Some((path_name, path)), Some((old_name, old)), Some((new_name, new)), false) =
        (&path, &old, &new, has_more)
    {
        let names = vec![(PATH[0], *path_name), (OLD[0], *old_name), (NEW[0], *new_name)];
        return Ok(vec![FileCall::edit(path, old, new, Origin::Renamed(names))]);
    }
    // What no name of an argument tells apart is text that may be written.
    let rest = if new.is_some() { text(&new) } else { fields.rest() };
    let mut calls: Vec<FileCall> = edits
        .into_iter()
        .map(|(path, old, new)| {
            FileCall::edit(&path, &old.join("\n"), &new.join("\n"), Origin::Composed)
        })
        .collect();
    let is_told = !calls.is_empty() && old.is_none() && rest.is_empty();
    if let Some((_, path)) = path.filter(|_| !is_told) {
        calls.push(match name {
            WRITE => FileCall::write(&path, &rest, Origin::Composed),
            _ => FileCall::edit(&path, &text(&old), &rest, Origin::Composed),
        });
    }
    let files = fields.list(&PATHS).into_iter().flatten();
    let files = files.filter_map(|item| item.to_text().or_else(|| Fields::of(&item)?.path()));
    calls.extend(
        files.take(MAX_CALLS + 1).map(|path| FileCall::edit(&path, "", &rest, Origin::Composed)),
    );
    if calls.is_empty() && !fields.0.is_empty() {
        return Err("it names no file".to_owned());
    }
    Ok(calls)
}

/// A tool of an MCP server for files.
fn of_file_server(tool: &str, fields: &Fields, directory: &Path) -> Result<Vec<FileCall>, String> {
    let verb = name_at_server(tool).to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| verb.contains(word));
    let mut calls = match () {
        () if fields.text(&PATH)?.is_none() && fields.list(&PATHS).is_none() => Vec::new(),
        () if has(&["delete", "remove"]) => fields.deleting(directory)?,
        () if has(&["write", "create", "append", "save"]) => of_file_tool(WRITE, fields)?,
        () if has(&["edit", "replace", "insert", "patch"]) => of_file_tool(EDIT, fields)?,
        () => Vec::new(),
    };
    if let (Some((_, from)), Some((_, to))) = (fields.text(&SOURCE)?, fields.text(&DESTINATION)?) {
        let old = old_text(&from, directory);
        if has(&["move", "rename"]) {
            calls.push(deletion(&from, &old));
        }
        calls.push(FileCall::write(&to, &old, Origin::Composed));
    }
    // Files that it names in another way.
    for (path, access) in Named::of(tool, &fields.0.to_raw()).list {
        if calls.len() > MAX_CALLS {
            break;
        }
        if !calls.iter().any(|call| call.path == path) {
            calls.push(match access {
                FileAccess::Write => FileCall::edit(&path, "", &fields.rest(), Origin::Composed),
                FileAccess::Read => FileCall::read(&path),
            });
        }
    }
    Ok(calls)
}

/// The arguments of a call.
struct Fields(JsonObject);

impl Fields {
    fn of(value: &RawJson) -> Option<Self> {
        value.to_object().ok().map(Self)
    }

    /// The text under one of several names, and the name. Of two that differ nobody knows which the tool
    /// goes by.
    fn text(&self, names: &[&'static str]) -> Result<Option<(&'static str, String)>, String> {
        let mut found: Option<(&'static str, String)> = None;
        for name in names {
            let Some(value) = self.0.get(name).filter(|value| !value.is_null()) else { continue };
            let text = value.to_text().ok_or_else(|| format!("its `{name}` is no text"))?;
            match &found {
                Some((other, before)) if *before != text => {
                    return Err(format!("it has both `{other}` and `{name}`, and they differ"));
                }
                Some(_) => {}
                None => found = Some((name, text)),
            }
        }
        Ok(found)
    }

    /// The arguments that are texts, also those in lists, such as the words of a command.
    fn texts(&self) -> impl Iterator<Item = (&str, String)> {
        self.0.iter().flat_map(|(name, value)| {
            let items = value.to_items().unwrap_or_default();
            let texts = items.iter().filter_map(RawJson::to_text).chain(value.to_text());
            texts.map(move |text| (name, text)).collect::<Vec<_>>()
        })
    }

    /// The texts that may be written: no path, none that is replaced, and none about the call itself.
    fn rest(&self) -> String {
        const ABOUT_IT: [&str; 5] =
            ["command", "description", "explanation", "instruction", "instructions"];
        let known = [&PATH[..], &PATHS, &OLD, &EDITS, &ABOUT_IT].concat();
        let texts = self.texts().filter(|(name, _)| !known.contains(name));
        texts.map(|(_, text)| text).collect::<Vec<_>>().join("\n")
    }

    /// The argument that is a patch, and its text.
    fn patch(&self) -> Result<(&str, String), String> {
        let mut patches = self.texts().filter(|(_, text)| text.contains(patch::MARK));
        let found = patches.next().ok_or("there is no patch among its arguments")?;
        match patches.next() {
            None => Ok(found),
            Some(_) => Err("there are several patches among its arguments".to_owned()),
        }
    }

    fn path(&self) -> Option<String> {
        self.text(&PATH).ok().flatten().map(|(_, path)| path)
    }

    fn list(&self, names: &[&str]) -> Option<Vec<RawJson>> {
        let lists = names.iter().filter_map(|name| self.0.get(name)?.to_items());
        lists.reduce(|all, list| all.into_iter().chain(list).collect())
    }

    /// Whether a call has the arguments of the tool under our names, and no others that change its meaning.
    fn is_plain(&self, tool: &str) -> bool {
        let has = |names: &[&str]| names.iter().any(|name| self.0.get(name).is_some());
        let is_text = |name: &str| self.0.get(name).is_some_and(|it| it.to_text().is_some());
        let elsewhere = has(&PATH[1..]) || has(&PATHS) || has(&EDITS);
        let arguments = match tool {
            WRITE => is_text(CONTENT[0]) && !has(&CONTENT[1..3]),
            EDIT => !has(&OLD[1..]) && !has(&NEW[1..]),
            _ => true,
        };
        is_text(PATH[0]) && arguments && !elsewhere
    }

    fn deleting(&self, directory: &Path) -> Result<Vec<FileCall>, String> {
        let path = self.text(&PATH)?.map(|(_, path)| path);
        let paths = self.list(&PATHS).into_iter().flatten();
        let paths = paths.filter_map(|item| item.to_text().or_else(|| Self::of(&item)?.path()));
        let paths: Vec<String> = path.into_iter().chain(paths.take(MAX_CALLS + 1)).collect();
        match paths.is_empty() && !self.0.is_empty() {
            true => Err("it names no file".to_owned()),
            false if paths.len() > MAX_CALLS => {
                Ok(paths.iter().map(|path| FileCall::read(path)).collect())
            }
            false => {
                Ok(paths.iter().map(|path| deletion(path, &old_text(path, directory))).collect())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::text::PathText;
    use proptest::prelude::*;

    use super::*;

    fn calls_in(folder: &Path, tool: &str, arguments: &str) -> FileCalls {
        std::fs::write(folder.join("old"), "1\n2\n").unwrap();
        file_calls(tool, &RawObject::parse(arguments).unwrap(), folder)
    }

    fn calls(tool: &str, arguments: &str) -> FileCalls {
        calls_in(tempfile::tempdir().unwrap().path(), tool, arguments)
    }

    fn shown(tool: &str, arguments: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let prefix = format!("{}/", folder.path().shown());
        match calls_in(folder.path(), tool, arguments) {
            FileCalls::AsItIs => vec!["as it is".to_owned()],
            FileCalls::Each(calls) => {
                let shown = calls.iter().map(|it| format!("{} {}", it.tool, it.arguments.as_str()));
                shown.map(|shown| shown.replace(&prefix, "")).collect()
            }
            FileCalls::Unreadable(why) => vec![why],
        }
    }

    const WRITE_A: &str = r#"write_file {"file_path":"a","content":"x"}"#;
    const EDIT_A: &str = r#"replace {"file_path":"a","old_string":"x","new_string":"y"}"#;

    #[test]
    fn a_call_is_plain_calls_on_one_file_each() {
        let patch = r#"*** Begin Patch\n*** Add File: a\n+x\n*** Update File: b\n@@\n-1\n+2\n*** Delete File: old\n*** Update File: old\n*** Move to: new\n@@\n-2\n+3\n*** End Patch"#;
        for (tool, arguments, expected) in [
            ("write_file", r#"{"file_path":"a","content":"x","mode":1}"#, &["as it is"][..]),
            ("replace", r#"{"file_path":"a","old_string":"x","new_string":"y"}"#, &["as it is"]),
            ("read_file", r#"{"file_path":"a"}"#, &["as it is"]),
            ("run_shell_command", r#"{"command":"x"}"#, &["as it is"]),
            ("other", r#"{"path":"x","content":"y"}"#, &["as it is"]),
            ("create_file", r#"{"filePath":"a","content":"x"}"#, &[WRITE_A]),
            ("Write", r#"{"file_path":"a","content":"x"}"#, &[WRITE_A]),
            (
                "replace_string_in_file",
                r#"{"filePath":"a","oldString":"x","newString":"y"}"#,
                &[EDIT_A],
            ),
            ("replace", r#"{"path":"a","edits":[{"oldText":"x","newText":"y"}]}"#, &[EDIT_A]),
            (
                "multi_replace_string_in_file",
                r#"{"replacements":[{"filePath":"a","oldString":"x","newString":"y"},{"filePath":"b","oldString":"1","newString":"2"},{"filePath":"b","oldString":"3","newString":"4"}]}"#,
                &[EDIT_A, r#"replace {"file_path":"b","old_string":"1\n3","new_string":"2\n4"}"#],
            ),
            (
                "NotebookEdit",
                r#"{"notebook_path":"a","new_source":"y"}"#,
                &[r#"replace {"file_path":"a","old_string":"","new_string":"y"}"#],
            ),
            (
                "read_many_files",
                r#"{"paths":["a","b"]}"#,
                &[r#"read_file {"file_path":"a"}"#, r#"read_file {"file_path":"b"}"#],
            ),
            ("mcp_filesystem_write_file", r#"{"path":"a","content":"x"}"#, &[WRITE_A]),
            // More than is there is better than less: that it is elsewhere the caller says itself.
            ("mcp_github_create_file", r#"{"repo":"r","path":"a","content":"x"}"#, &[WRITE_A]),
            ("mcp__text-editor__write_file", r#"{"path":"a","data":"x"}"#, &[WRITE_A]),
            (
                "mcp__removebg__edit_file",
                r#"{"path":"a","code":"y"}"#,
                &[r#"replace {"file_path":"a","old_string":"","new_string":"y"}"#],
            ),
            (
                "str_replace_editor",
                r#"{"command":"create","path":"a","file_text":"y"}"#,
                &[r#"replace {"file_path":"a","old_string":"","new_string":"y"}"#],
            ),
            (
                "replace",
                r#"{"path":"a","edits":[{"oldText":"x","newText":"y"}],"new_string":"z"}"#,
                &[EDIT_A, r#"replace {"file_path":"a","old_string":"","new_string":"z"}"#],
            ),
            (
                "editFiles",
                r#"{"path":"a","files":["b"]}"#,
                &[
                    r#"replace {"file_path":"a","old_string":"","new_string":""}"#,
                    r#"replace {"file_path":"b","old_string":"","new_string":""}"#,
                ],
            ),
            (
                "delete_file",
                r#"{"paths":["old"]}"#,
                &[r#"replace {"file_path":"old","old_string":"1\n2\n","new_string":""}"#],
            ),
            (
                "Bash",
                r#"{"command":["apply_patch","*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"]}"#,
                &[r#"write_file {"file_path":"a","content":"x\n"}"#],
            ),
            (
                "Bash",
                r#"{"command":"apply_patch '*** Begin Patch\n*** Add File: a\n+x\n*** End Patch' && apply_patch <<E\n*** Begin Patch\n*** Add File: b\n+y\n*** End Patch\nE"}"#,
                &[
                    r#"write_file {"file_path":"a","content":"x\n"}"#,
                    r#"write_file {"file_path":"b","content":"y\n"}"#,
                ],
            ),
            (
                "mcp_filesystem_move_file",
                r#"{"source":"old","destination":"new"}"#,
                &[
                    r#"replace {"file_path":"old","old_string":"1\n2\n","new_string":""}"#,
                    r#"write_file {"file_path":"new","content":"1\n2\n"}"#,
                ],
            ),
            (
                "Delete",
                r#"{"file_path":"old"}"#,
                &[r#"replace {"file_path":"old","old_string":"1\n2\n","new_string":""}"#],
            ),
            (
                "apply_patch",
                &format!(r#"{{"input":"{patch}"}}"#),
                &[
                    r#"write_file {"file_path":"a","content":"x\n"}"#,
                    r#"replace {"file_path":"b","old_string":"1","new_string":"2"}"#,
                    r#"replace {"file_path":"old","old_string":"1\n2\n","new_string":""}"#,
                    r#"replace {"file_path":"old","old_string":"1\n2\n","new_string":""}"#,
                    r#"write_file {"file_path":"new","content":"1\n3\n"}"#,
                ],
            ),
        ] {
            assert_eq!(shown(tool, arguments), expected, "{tool} {arguments}");
        }
    }

    #[test]
    fn what_cannot_be_told_apart_is_said() {
        let many: String = (0..65).map(|it| format!("*** Delete File: {it}\\n")).collect();
        for (tool, arguments, why) in [
            ("apply_patch", r#"{"command":"x"}"#.to_owned(), "no patch"),
            ("apply_patch", r#"{"command":"*** Begin Patch\nx"}"#.to_owned(), "cannot be read"),
            (
                "apply_patch",
                format!(r#"{{"command":"*** Begin Patch\n{many}*** End Patch"}}"#),
                "65 files",
            ),
            ("Write", r#"{"path":"a","filePath":"b","content":"x"}"#.to_owned(), "they differ"),
            ("Edit", r#"{"file_path":7}"#.to_owned(), "no text"),
        ] {
            let FileCalls::Unreadable(found) = calls(tool, &arguments) else {
                panic!("{tool} {arguments}")
            };
            assert!(found.contains(why), "{found}");
        }
    }

    #[test]
    fn changed_arguments_of_one_file_are_put_back() {
        let object = |text: &str| RawObject::parse(text).unwrap();
        let put_back = |tool: &str, whole: &str, at: usize, changed: &str| {
            let FileCalls::Each(calls) = calls(tool, whole) else { panic!("{tool}") };
            let back = calls[at].put_back(&object(whole), &object(changed));
            back.map(|it| it.as_str().to_owned())
        };
        let patch = r#"{"command":"*** Begin Patch\n*** Add File: a\n+x\n*** Update File: b\n@@\n-1\n+2\n*** End Patch"}"#;
        let new_a = r#"{"file_path":"a","content":"z"}"#;
        assert_eq!(
            put_back("apply_patch", patch, 0, new_a).as_deref(),
            Some(&*patch.replace("+x", "+z"))
        );
        let new_b = r#"{"file_path":"c","old_string":"1","new_string":"3"}"#;
        assert_eq!(
            put_back("apply_patch", patch, 1, new_b).as_deref(),
            Some(&*patch.replace("+2", "+3").replace("File: b", "File: c"))
        );
        let create = r#"{"filePath":"a","content":"x","more":1}"#;
        assert_eq!(
            put_back("create_file", create, 0, new_a).as_deref(),
            Some(r#"{"filePath":"a","content":"z","more":1}"#)
        );
        assert_eq!(put_back("Delete", r#"{"path":"old"}"#, 0, r#"{"file_path":"other"}"#), None);
    }

    #[test]
    fn a_write_or_an_edit_is_a_patch_of_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let patch_of = |tool: &str, arguments: &str| {
            let arguments = RawObject::parse(arguments).unwrap();
            let patch = as_patch(tool, &arguments, folder.path()).ok()??;
            let text = patch.fields().get("command")?.to_text()?;
            Some(text.replace(&format!("{}/", folder.path().shown()), ""))
        };
        assert_eq!(
            patch_of("write_file", r#"{"file_path":"a","content":"x\ny\n"}"#).as_deref(),
            Some("*** Begin Patch\n*** Add File: a\n+x\n+y\n*** End Patch")
        );
        assert_eq!(
            patch_of("Edit", r#"{"file_path":"a","old_string":"x","new_string":"y"}"#).as_deref(),
            Some("*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n*** End Patch")
        );
        assert_eq!(patch_of("read_file", r#"{"file_path":"a"}"#), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_arguments_get_through(
            tool in "(Write|Edit|replace|read_file|apply_patch|mcp_fs_edit_file|delete_file)",
            text in "(\"path\":|\"edits\":|\"file_path\":|\"command\":|\\[|\\]|\\{|\\}|,|\"a\"|\"\\*\\*\\* Begin Patch\"|7|null){0,12}",
        ) {
            if let Ok(arguments) = RawObject::parse(format!("{{{text}}}")) {
                let _ = file_calls(&tool, &arguments, Path::new("/nonexistent"));
                let _ = as_patch(&tool, &arguments, Path::new("/nonexistent"));
            }
        }
    }
}
