//! A call on several files, or in an unusual form, as one plain call for each file: `write_file`, `replace`
//! or `read_file`. Hooks of other agents are written for such calls.

use std::path::Path;

use super::arguments::{CONTENT, DESTINATION, EDITS, Fields, NEW, OLD, PATCH, PATH, SOURCE};
use super::call::ToolCall;
use super::file_call::{EDIT, FileCall, Origin, READ, WRITE, plain_part};
use super::files::{FileAccess, Named};
use super::kind::{ToolKind, name_at_server};
use super::names::{APPLY_PATCH, KnownTool, known};
use super::patch::{self, ChangeKind, Patch};
use super::resolve::resolved;
use crate::files::regular_file;
use crate::json::RawObject;

/// How many files of one call a hook is asked about.
const MAX_CALLS: usize = 64;
/// How much of a file's text that goes a hook is given, in bytes.
const MAX_OLD_TEXT: u64 = 1024 * 1024;

const NAMES_NO_FILE: &str = "it names no file";

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

/// The calls of one tool, file by file. Texts of files that go are read from that directory.
pub(crate) fn file_calls(call: &ToolCall<'_>, directory: &Path) -> FileCalls {
    let ToolCall { name: tool, kind, arguments } = *call;
    let fields = Fields::of_call(arguments);
    let read = match known(tool) {
        Some(KnownTool { name: APPLY_PATCH, .. }) => of_patch(&fields, directory),
        Some(KnownTool { name: "delete_file", .. }) => of_deletion(&fields, directory),
        Some(KnownTool { name, .. }) if [WRITE, EDIT, READ].contains(name) => {
            if tool == *name && is_plain(name, &fields) {
                return FileCalls::AsItIs;
            }
            match *name {
                READ => of_reading_tool(&fields),
                name => of_writing_tool(name, &fields),
            }
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
        None if kind == ToolKind::Mcp => of_file_server(call, directory),
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
pub(crate) fn as_patch(call: &ToolCall<'_>, directory: &Path) -> Result<Option<RawObject>, String> {
    let ToolCall { name: tool, kind, arguments } = *call;
    let with_patch = |patch: &str| RawObject::of(|out| out.text(PATCH, patch));
    if known(tool).is_some_and(|tool| tool.name == APPLY_PATCH) {
        let fields = Fields::of_call(arguments);
        let (argument, patch) = fields.patch()?;
        return Ok((argument != PATCH).then(|| with_patch(&patch)));
    }
    if kind == ToolKind::FileRead {
        return Ok(None);
    }
    let calls = match file_calls(call, directory) {
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
    let part = |call: &FileCall| match call.is_deletion() {
        true => Some(patch::deleting(&Fields::of_call(&call.arguments).path()?)),
        false => plain_part(call.tool, &call.arguments),
    };
    let parts: Option<Vec<String>> = calls.iter().map(part).collect();
    let parts = parts.ok_or("no patch can say what it does")?;
    Ok(Some(with_patch(&patch::whole(parts.into_iter()))))
}

/// A call of a patch with another patch, which is the one argument of `changed`; `None` where either is no
/// such call.
pub(crate) fn with_patch(whole: &RawObject, changed: &RawObject) -> Option<RawObject> {
    let mut fields = whole.fields();
    let argument = Fields::of_call(whole).patch().ok()?.0.to_owned();
    fields.insert(argument, changed.fields().get(PATCH)?.clone());
    Some(fields.to_raw())
}

/// Why the files of a patch cannot be told, if it is one.
pub(crate) fn unreadable_patch(call: &ToolCall<'_>) -> Option<String> {
    known(call.name).filter(|tool| tool.name == APPLY_PATCH)?;
    let fields = Fields::of_call(call.arguments);
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
            ChangeKind::Delete => calls.push(FileCall::deletion(path, &old_text(path, directory))),
            ChangeKind::Update { moved_to: None, hunks } => {
                let (old, new) = patch::replaced(hunks);
                let origin = if hunks.len() == 1 { origin() } else { Origin::Composed };
                calls.push(FileCall::edit(path, &old, &new, origin));
            }
            ChangeKind::Update { moved_to: Some(moved_to), hunks } => {
                let old = old_text(path, directory);
                let new = patch::applied(&old, hunks).unwrap_or_else(|| patch::replaced(hunks).1);
                calls.push(FileCall::deletion(path, &old));
                calls.push(FileCall::write(moved_to, &new, Origin::Composed));
            }
        }
    }
    Ok(calls)
}

/// The text of a file, as far as it can be read.
fn old_text(path: &str, directory: &Path) -> String {
    let read = regular_file::read(&resolved(path, directory), MAX_OLD_TEXT);
    read.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

/// A tool that deletes files.
fn of_deletion(fields: &Fields, directory: &Path) -> Result<Vec<FileCall>, String> {
    let path = fields.text(&PATH)?.map(|(_, path)| path);
    let paths: Vec<String> = path.into_iter().chain(fields.paths(MAX_CALLS)).collect();
    match paths.is_empty() && !fields.is_empty() {
        true => Err(NAMES_NO_FILE.to_owned()),
        // Before texts of files are read.
        false if paths.len() > MAX_CALLS => {
            Ok(paths.iter().map(|path| FileCall::read(path)).collect())
        }
        false => {
            let deletion = |path: &String| FileCall::deletion(path, &old_text(path, directory));
            Ok(paths.iter().map(deletion).collect())
        }
    }
}

/// A tool that reads files.
fn of_reading_tool(fields: &Fields) -> Result<Vec<FileCall>, String> {
    let path = fields.text(&PATH)?.map(|(_, path)| path);
    let paths = path.into_iter().chain(fields.paths(MAX_CALLS));
    Ok(paths.map(|path| FileCall::read(&path)).collect())
}

/// A tool that writes or edits files, with arguments under whatever names.
fn of_writing_tool(name: &str, fields: &Fields) -> Result<Vec<FileCall>, String> {
    if let Some(call) = renamed(name, fields)? {
        return Ok(vec![call]);
    }
    let path = fields.text(&PATH)?.map(|(_, path)| path);
    let text = |names: &[&'static str]| Ok::<_, String>(fields.text(names)?.map(|(_, text)| text));
    let (old, new) = (text(&OLD)?, text(&NEW)?);
    let mut calls = of_edits(fields, path.as_deref())?;
    // What no name of an argument tells apart is text that may be written.
    let rest = new.unwrap_or_else(|| fields.rest());
    let is_told = !calls.is_empty() && old.is_none() && rest.is_empty();
    if let Some(path) = path.filter(|_| !is_told) {
        calls.push(match name {
            WRITE => FileCall::write(&path, &rest, Origin::Composed),
            _ => FileCall::edit(&path, &old.unwrap_or_default(), &rest, Origin::Composed),
        });
    }
    let files = fields.paths(MAX_CALLS);
    calls.extend(files.iter().map(|path| FileCall::edit(path, "", &rest, Origin::Composed)));
    match calls.is_empty() && !fields.is_empty() {
        true => Err(NAMES_NO_FILE.to_owned()),
        false => Ok(calls),
    }
}

/// The one plain call that has the same arguments under our names.
fn renamed(name: &str, fields: &Fields) -> Result<Option<FileCall>, String> {
    if fields.list(&EDITS).is_some() || fields.has_paths() {
        return Ok(None);
    }
    let Some((path_name, path)) = fields.text(&PATH)? else { return Ok(None) };
    if name == WRITE
        && let Some((content_name, content)) = fields.text(&CONTENT)?
    {
        let names = vec![(PATH[0], path_name), (CONTENT[0], content_name)];
        return Ok(Some(FileCall::write(&path, &content, Origin::Renamed(names))));
    }
    Ok(match (fields.text(&OLD)?, fields.text(&NEW)?) {
        (Some((old_name, old)), Some((new_name, new))) => {
            let names = vec![(PATH[0], path_name), (OLD[0], old_name), (NEW[0], new_name)];
            Some(FileCall::edit(&path, &old, &new, Origin::Renamed(names)))
        }
        _ => None,
    })
}

/// A list of edits, one file after the other, each with what changes in it.
fn of_edits(fields: &Fields, path: Option<&str>) -> Result<Vec<FileCall>, String> {
    let mut edits: Vec<(String, Vec<String>, Vec<String>)> = Vec::new();
    for edit in fields.list(&EDITS).into_iter().flatten() {
        let edit = Fields::of(&edit).ok_or("one of its edits is no object")?;
        let own = edit.text(&PATH)?.map(|(_, path)| path);
        let own = own.or_else(|| path.map(str::to_owned));
        let own = own.ok_or("one of its edits names no file")?;
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
    let call = |(path, old, new): (String, Vec<String>, Vec<String>)| {
        FileCall::edit(&path, &old.join("\n"), &new.join("\n"), Origin::Composed)
    };
    Ok(edits.into_iter().map(call).collect())
}

/// A tool of an MCP server for files.
fn of_file_server(call: &ToolCall<'_>, directory: &Path) -> Result<Vec<FileCall>, String> {
    let fields = &Fields::of_call(call.arguments);
    let verb = name_at_server(call.name).to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| verb.contains(word));
    let mut calls = match () {
        () if fields.text(&PATH)?.is_none() && !fields.has_paths() => Vec::new(),
        () if has(&["delete", "remove"]) => of_deletion(fields, directory)?,
        () if has(&["write", "create", "append", "save"]) => of_writing_tool(WRITE, fields)?,
        () if has(&["edit", "replace", "insert", "patch"]) => of_writing_tool(EDIT, fields)?,
        () => Vec::new(),
    };
    if let (Some((_, from)), Some((_, to))) = (fields.text(&SOURCE)?, fields.text(&DESTINATION)?) {
        let old = old_text(&from, directory);
        if has(&["move", "rename"]) {
            calls.push(FileCall::deletion(&from, &old));
        }
        calls.push(FileCall::write(&to, &old, Origin::Composed));
    }
    // Files that it names in another way.
    for (path, access) in Named::of(call).list {
        if calls.len() > MAX_CALLS {
            break;
        }
        if !calls.iter().any(|call| call.path() == path) {
            calls.push(match access {
                FileAccess::Write => FileCall::edit(&path, "", &fields.rest(), Origin::Composed),
                FileAccess::Read => FileCall::read(&path),
            });
        }
    }
    Ok(calls)
}

/// Whether a call has the arguments of the tool under our names, and no others that change its meaning.
fn is_plain(tool: &str, fields: &Fields) -> bool {
    let elsewhere = fields.has(&PATH[1..]) || fields.has_paths() || fields.has(&EDITS);
    let arguments = match tool {
        WRITE => fields.has_text(CONTENT[0]) && !fields.has(&CONTENT[1..3]),
        EDIT => !fields.has(&OLD[1..]) && !fields.has(&NEW[1..]),
        _ => true,
    };
    fields.has_text(PATH[0]) && arguments && !elsewhere
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn calls_in(folder: &Path, tool: &str, arguments: &str) -> FileCalls {
        std::fs::write(folder.join("old"), "1\n2\n").unwrap();
        file_calls(&ToolCall::of(tool, &RawObject::parse(arguments).unwrap()), folder)
    }

    fn calls(tool: &str, arguments: &str) -> FileCalls {
        calls_in(tempfile::tempdir().unwrap().path(), tool, arguments)
    }

    fn shown(tool: &str, arguments: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let prefix = format!("{}/", folder.path().display());
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
            let patch = as_patch(&ToolCall::of(tool, &arguments), folder.path()).ok()??;
            let text = patch.fields().get("command")?.to_text()?;
            Some(text.replace(&format!("{}/", folder.path().display()), ""))
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
                let (call, nowhere) = (ToolCall::of(&tool, &arguments), Path::new("/nonexistent"));
                if let FileCalls::Each(calls) = file_calls(&call, nowhere) {
                    prop_assert!((1..=MAX_CALLS).contains(&calls.len()));
                    prop_assert!(calls.iter().all(|call| call.arguments.fields().get(PATH[0]).is_some()));
                }
                if let Ok(Some(patch)) = as_patch(&call, nowhere) {
                    prop_assert!(patch.fields().get(PATCH).is_some());
                }
            }
        }
    }
}
