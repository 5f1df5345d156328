//! Splits a call on several files, or in an unusual form, into plain calls on one file each
//! (`write_file`, `replace` or `read_file`). Foreign hooks are written for such calls.

use std::collections::HashSet;
use std::io::Read;
use std::path::Path;

use super::arguments::{
    Arguments, CONTENT, DESTINATION, EDITS, FileTool, NEW, OLD, PATCH, PATH, SOURCE,
};
use super::call::ToolCall;
use super::file_call::{EDIT, FileCall, Origin, READ, WRITE, patch_part};
use super::files::{FileAccess, NamedPaths};
use super::kind::{ToolKind, name_on_server};
use super::names::{APPLY_PATCH, DELETE, KnownTool, find_tool};
use super::patch::{self, ChangeKind, Patch};
use super::resolve::{is_resolved, resolve_path};
use super::shell_patch::ShellPatch;
use hook_files::regular_file;
use hook_json::RawObject;

/// The maximum number of files of one call that are presented to hooks.
const MAX_CALLS: usize = 64;
/// The maximum length in bytes of a deleted file's text in a hook's input.
const MAX_OLD_TEXT: u64 = 1024 * 1024;

const NAMES_NO_FILE: &str = "it names no file";

/// A call, split by files.
#[derive(Debug, PartialEq, Eq)]
pub enum FileCalls {
    /// The call is plain already, or not on files.
    Unchanged,
    /// A plain call for each file.
    PerFile(Vec<FileCall>),
    /// The files of the call are unknown, for this reason.
    Unreadable(String),
}

/// Splits a call by files. Texts of deleted files are read relative to `directory`.
pub fn file_calls(call: &ToolCall<'_>, directory: &Path) -> FileCalls {
    let directory = &*call.directory(directory);
    let fields = Arguments::from_call(call.arguments);
    let named = NamedPaths::from_arguments(call);
    let tool = find_tool(call.name);
    let result = match tool {
        Some(KnownTool { name: APPLY_PATCH, .. }) => split_patch(call, &fields, directory),
        Some(KnownTool { name: DELETE, .. }) => Ok(Vec::new()),
        Some(KnownTool { name, .. }) if [WRITE, EDIT, READ].contains(name) => {
            let is_one = named.list.len() == 1 && named.complete;
            let is_plain = call.name == *name && is_one && has_native_arguments(name, &fields);
            match fields.path().filter(|_| is_plain) {
                Some(path) if is_resolved(&path, directory) => return FileCalls::Unchanged,
                Some(path) => Ok(vec![FileCall::unchanged(name, path, call.arguments)]),
                None if *name == READ => fields.text(&PATH).map(|_| Vec::new()),
                None => split_write_call(name, &fields),
            }
        }
        // Other effects of a command on files are unknown.
        Some(tool) if tool.kind == ToolKind::Shell => match ShellPatch::from_arguments(&fields) {
            ShellPatch::None => return FileCalls::Unchanged,
            ShellPatch::InDirectory(_) => split_patch(call, &fields, directory),
            ShellPatch::Unreadable => Err("it applies a patch that cannot be read".to_owned()),
        },
        None if call.kind == ToolKind::Mcp => split_mcp_call(call, &fields, directory),
        _ => return FileCalls::Unchanged,
    };
    let is_deleting = tool.is_some_and(|tool| tool.name == DELETE);
    let is_write = tool.is_some_and(|tool| tool.name == WRITE);
    let result = result.and_then(|mut calls| {
        add_named(&mut calls, &named, |path, access| match access {
            _ if is_deleting => FileCall::deletion(path, &read_old_text(path, directory)),
            FileAccess::Write if is_write => {
                FileCall::write(path, &fields.written_text(), Origin::Composed)
            }
            FileAccess::Write => FileCall::edit(path, "", &fields.written_text(), Origin::Composed),
            FileAccess::Read => FileCall::read(path),
        })?;
        let must_name_one = tool.is_some() && !fields.is_empty();
        if calls.is_empty() && must_name_one { Err(NAMES_NO_FILE.to_owned()) } else { Ok(calls) }
    });
    match result {
        Ok(calls) if calls.is_empty() => FileCalls::Unchanged,
        Ok(calls) => {
            FileCalls::PerFile(calls.iter().flat_map(|call| call.resolve_path(directory)).collect())
        }
        Err(reason) => FileCalls::Unreadable(reason),
    }
}

/// Adds a call for each file that the arguments name and that has no call yet.
fn add_named(
    calls: &mut Vec<FileCall>,
    named: &NamedPaths,
    call: impl Fn(&str, FileAccess) -> FileCall,
) -> Result<(), String> {
    let mut seen: HashSet<&str> = calls.iter().map(FileCall::path).collect();
    let unseen: Vec<_> = named.list.iter().filter(|(path, _)| seen.insert(path)).collect();
    // Checked before texts of files are read.
    match calls.len() + unseen.len() {
        count if count > MAX_CALLS => return Err(too_many_files(count)),
        _ if !named.complete => {
            return Err("it does not name each of its files by a path".to_owned());
        }
        _ => {}
    }
    calls.extend(unseen.into_iter().map(|(path, access)| call(path, *access)));
    Ok(())
}

/// Returns `true` if the plain calls express all of a call, so that approving them approves it.
pub fn is_expressed_by_file_calls(call: &ToolCall<'_>) -> bool {
    Arguments::from_call(call.arguments).fit_plain_calls(FileTool::of(call))
}

/// Returns a call with a patch as its only argument, for hooks that know no other edits, or `None`
/// if the call writes nothing or has that form.
///
/// # Errors
/// If the written files are unknown; the error is the reason.
pub(crate) fn to_patch(
    call: &ToolCall<'_>,
    files: &FileCalls,
) -> Result<Option<RawObject>, String> {
    let ToolCall { name: tool, kind, arguments } = *call;
    let patch_object = |patch: &str| RawObject::build(|out| out.text(PATCH, patch));
    if find_tool(tool).is_some_and(|tool| tool.name == APPLY_PATCH) {
        let fields = Arguments::from_call(arguments);
        let (argument, patch) = fields.patch()?;
        return Ok((argument != PATCH).then(|| patch_object(&patch)));
    }
    if kind == ToolKind::FileRead {
        return Ok(None);
    }
    let plain: FileCall;
    let calls = match files {
        FileCalls::PerFile(calls) => calls.iter().filter(|call| call.tool != READ).collect(),
        FileCalls::Unchanged => match [WRITE, EDIT].into_iter().find(|name| *name == tool) {
            Some(tool) => {
                plain = FileCall::unchanged(tool, String::new(), arguments);
                vec![&plain]
            }
            None => return Ok(None),
        },
        FileCalls::Unreadable(reason) => return Err(reason.clone()),
    };
    if calls.is_empty() {
        return Ok(None);
    }
    let part = |call: &&FileCall| match call.is_deletion() {
        true => Some(patch::delete_part(&Arguments::from_call(&call.arguments).path()?)),
        false => patch_part(call.tool, &call.arguments),
    };
    let parts: Option<Vec<String>> = calls.iter().map(part).collect();
    let parts = parts.ok_or("no patch can say what it does")?;
    Ok(Some(patch_object(&patch::join_parts(parts.into_iter()))))
}

/// Returns the arguments of a patch call with the patch from `changed`, or `None` if either has no
/// patch.
pub fn with_patch(original: &RawObject, changed: &RawObject) -> Option<RawObject> {
    let mut fields = original.fields();
    let argument = Arguments::from_call(original).patch().ok()?.0.to_owned();
    fields.insert(argument, changed.fields().get(PATCH)?.clone());
    Some(fields.to_raw())
}

/// Returns the reason why the files of a patch call are unknown, or `None`.
pub fn unreadable_patch(call: &ToolCall<'_>) -> Option<String> {
    find_tool(call.name).filter(|tool| tool.name == APPLY_PATCH)?;
    let fields = Arguments::from_call(call.arguments);
    let result = fields.patch().and_then(|(_, text)| parse_patch(&text));
    match result {
        Ok(patch) if patch.changes.len() > MAX_CALLS => Some(too_many_files(patch.changes.len())),
        Ok(_) => None,
        Err(reason) => Some(reason),
    }
}

fn parse_patch(text: &str) -> Result<Patch, String> {
    Patch::parse(text).map_err(|reason| format!("its patch cannot be read: {reason}"))
}

fn too_many_files(count: usize) -> String {
    format!("it is on {count} files, and hooks are asked about {MAX_CALLS} at most")
}

/// Splits a patch by files.
fn split_patch(
    call: &ToolCall<'_>,
    fields: &Arguments,
    directory: &Path,
) -> Result<Vec<FileCall>, String> {
    let (argument, text) = fields.patch()?;
    let patch = parse_patch(&text)?;
    // Checked before texts of files are read.
    if patch.changes.len() > MAX_CALLS {
        return Err(too_many_files(patch.changes.len()));
    }
    let mut calls = Vec::new();
    for change in &patch.changes {
        let path = &change.path;
        let origin = || match call.kind {
            // In a command, the patch is quoted for the shell.
            ToolKind::Shell => Origin::Composed,
            _ => Origin::Patch { argument: argument.to_owned(), range: change.range.clone() },
        };
        match &change.kind {
            ChangeKind::Add { content } => calls.push(FileCall::write(path, content, origin())),
            ChangeKind::Delete => {
                calls.push(FileCall::deletion(path, &read_old_text(path, directory)))
            }
            ChangeKind::Update { moved_to: None, hunks } => {
                let (old, new) = patch::replaced_texts(hunks);
                // A plain edit would lose the position.
                let is_one = hunks.len() == 1 && hunks.iter().all(|hunk| !hunk.is_anchored);
                let origin = if is_one { origin() } else { Origin::Composed };
                calls.push(FileCall::edit(path, &old, &new, origin));
            }
            ChangeKind::Update { moved_to: Some(moved_to), hunks } => {
                let old = read_old_text(path, directory);
                let new = patch::apply_hunks(&old, hunks)
                    .unwrap_or_else(|| patch::replaced_texts(hunks).1);
                calls.push(FileCall::deletion(path, &old));
                calls.push(FileCall::write(moved_to, &new, Origin::Composed));
            }
        }
    }
    Ok(calls)
}

/// Returns the readable text of a file, cut at the limit.
fn read_old_text(path: &str, directory: &Path) -> String {
    let mut bytes = Vec::new();
    let read = regular_file::open(&resolve_path(path, directory))
        .and_then(|file| file.take(MAX_OLD_TEXT).read_to_end(&mut bytes));
    // A file that cannot be read has no text.
    if read.is_err() {
        return String::new();
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Splits a call that writes or edits files, with any argument names.
fn split_write_call(name: &str, fields: &Arguments) -> Result<Vec<FileCall>, String> {
    let path = fields.text(&PATH)?;
    let (old, new) = (fields.text(&OLD)?, fields.text(&NEW)?);
    let content = if name == WRITE { fields.text(&CONTENT)? } else { None };
    let has_edits = fields.list(&EDITS).is_some();
    let renamed_origin = |texts: &[(&'static str, &[&'static str])]| {
        let names = texts.iter().map(|(native, aliases)| (*native, fields.present(aliases)));
        Origin::Renamed(std::iter::once((PATH[0], fields.present(&PATH))).chain(names).collect())
    };
    match (&path, &content, &old, &new) {
        (Some(path), Some(content), _, _) if !has_edits => {
            let origin = renamed_origin(&[(CONTENT[0], &CONTENT)]);
            return Ok(vec![FileCall::write(path, content, origin)]);
        }
        (Some(path), None, Some(old), Some(new)) if !has_edits => {
            let origin = renamed_origin(&[(OLD[0], &OLD), (NEW[0], &NEW)]);
            return Ok(vec![FileCall::edit(path, old, new, origin)]);
        }
        _ => {}
    }
    let mut calls = split_edits(fields, path.as_deref())?;
    // Text in unknown arguments may be written, too.
    let rest = new.unwrap_or_else(|| fields.written_text());
    let is_complete = !calls.is_empty() && old.is_none() && rest.is_empty();
    if let Some(path) = path.filter(|_| !is_complete) {
        calls.push(match name {
            WRITE => FileCall::write(&path, &rest, Origin::Composed),
            _ => FileCall::edit(&path, &old.unwrap_or_default(), &rest, Origin::Composed),
        });
    }
    Ok(calls)
}

/// Converts a list of edits into one edit per file.
fn split_edits(fields: &Arguments, path: Option<&str>) -> Result<Vec<FileCall>, String> {
    let mut edits: Vec<(String, Vec<String>, Vec<String>)> = Vec::new();
    for edit in fields.list(&EDITS).into_iter().flatten() {
        let edit = Arguments::from_value(&edit).ok_or("one of its edits is no object")?;
        let file_path = edit.text(&PATH)?.or_else(|| path.map(str::to_owned));
        let file_path = file_path.ok_or("one of its edits names no file")?;
        let old = edit.text(&OLD)?.unwrap_or_default();
        let new = edit.text(&NEW)?.unwrap_or_default();
        match edits.iter_mut().find(|(path, ..)| *path == file_path) {
            Some((_, olds, news)) => {
                olds.push(old);
                news.push(new);
            }
            None => edits.push((file_path, vec![old], vec![new])),
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

/// Splits a call of an MCP tool for files.
fn split_mcp_call(
    call: &ToolCall<'_>,
    fields: &Arguments,
    directory: &Path,
) -> Result<Vec<FileCall>, String> {
    let name = name_on_server(call.name).to_ascii_lowercase();
    let is_verb = |verbs: &[&str]| verbs.iter().any(|keyword| name.contains(keyword));
    let mut calls = match fields.text(&PATH)? {
        Some(path) if is_verb(&["delete", "remove"]) => {
            vec![FileCall::deletion(&path, &read_old_text(&path, directory))]
        }
        Some(_) if is_verb(&["write", "create", "append", "save"]) => {
            split_write_call(WRITE, fields)?
        }
        Some(_) if is_verb(&["edit", "replace", "insert", "patch"]) => {
            split_write_call(EDIT, fields)?
        }
        _ => Vec::new(),
    };
    if let (Some(from), Some(to)) = (fields.text(&SOURCE)?, fields.text(&DESTINATION)?) {
        let old = read_old_text(&from, directory);
        if is_verb(&["move", "rename"]) {
            calls.push(FileCall::deletion(&from, &old));
        }
        calls.push(FileCall::write(&to, &old, Origin::Composed));
    }
    Ok(calls)
}

/// Returns `true` if a call has the tool's native arguments and no others that change its meaning.
fn has_native_arguments(tool: &str, fields: &Arguments) -> bool {
    let has_other_names = fields.has(&PATH[1..]) || fields.has(&EDITS);
    let arguments = match tool {
        WRITE => fields.has_text(CONTENT[0]) && !fields.has(&CONTENT[1..3]),
        EDIT => !fields.has(&OLD[1..]) && !fields.has(&NEW[1..]),
        _ => true,
    };
    fields.has_text(PATH[0]) && arguments && !has_other_names
}

#[cfg(test)]
mod tests {
    use hook_json::text::PathText;
    use proptest::prelude::*;

    use super::*;

    fn calls_in(folder: &Path, tool: &str, arguments: &str) -> FileCalls {
        std::fs::write(folder.join("old"), "1\n2\n").unwrap();
        file_calls(&ToolCall::new(tool, &RawObject::parse(arguments).unwrap()), folder)
    }

    fn calls(tool: &str, arguments: &str) -> FileCalls {
        calls_in(tempfile::tempdir().unwrap().path(), tool, arguments)
    }

    fn shown(tool: &str, arguments: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let prefix = format!("{}/", folder.path().shown());
        match calls_in(folder.path(), tool, arguments) {
            FileCalls::Unchanged => vec!["as it is".to_owned()],
            FileCalls::PerFile(calls) => {
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
            (
                "write_file",
                r#"{"file_path":"a","content":"x","mode":1}"#,
                &[r#"write_file {"file_path":"a","content":"x","mode":1}"#][..],
            ),
            ("replace", r#"{"file_path":"./b/../a","old_string":"x","new_string":"y"}"#, &[EDIT_A]),
            ("read_file", r#"{"file_path":"/a"}"#, &["as it is"]),
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
            // Additional files are fine; the caller reports missing ones.
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
            let FileCalls::PerFile(calls) = calls(tool, whole) else { panic!("{tool}") };
            let back = calls[at].merge_changes(&object(whole), &object(changed));
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
            let patch = {
                let call = ToolCall::new(tool, &arguments);
                to_patch(&call, &file_calls(&call, folder.path()))
            }
            .ok()??;
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
                let (call, nowhere) = (ToolCall::new(&tool, &arguments), Path::new("/nonexistent"));
                let files = file_calls(&call, nowhere);
                if let FileCalls::PerFile(calls) = &files {
                    prop_assert!((1..=MAX_CALLS).contains(&calls.len()));
                    prop_assert!(calls.iter().all(|call| call.arguments.fields().get(PATH[0]).is_some()));
                }
                if let Ok(Some(patch)) = to_patch(&call, &files) {
                    prop_assert!(patch.fields().get(PATCH).is_some());
                }
            }
        }
    }
}
