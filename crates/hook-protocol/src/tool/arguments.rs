//! The arguments of calls, by their names in agents and servers.

use hook_json::{JsonObject, RawJson, RawObject};

use super::patch;

/// The path of a file, native name first.
pub(super) const PATH: [&str; 12] = [
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
/// The paths of several files.
const PATHS: [&str; 7] = [
    "paths",
    "file_paths",
    "filePaths",
    "absolute_paths",
    "notebook_paths",
    "filenames",
    "target_files",
];
/// Several files, in tools known to work on files.
const FILES: [&str; 1] = ["files"];
/// The source and destination of a moved file.
pub(super) const SOURCE: [&str; 5] = ["source", "old_path", "oldPath", "src", "from"];
pub(super) const DESTINATION: [&str; 7] =
    ["destination", "new_path", "newPath", "dst", "dest", "target", "to"];

/// The command of a shell.
pub(super) const COMMAND: [&str; 5] = ["command", "cmd", "script", "commands", "chars"];
/// The program of a shell that gets its arguments apart, and those.
pub(super) const PROGRAM: [&str; 2] = ["program", "executable"];
pub(super) const OPERANDS: [&str; 3] = ["args", "arguments", "argv"];
/// Arguments that describe the call.
pub(super) const DESCRIPTION: [&str; 4] =
    ["description", "explanation", "instruction", "instructions"];

pub(super) const CONTENT: [&str; 4] = ["content", "contents", "file_text", "text"];
pub(super) const OLD: [&str; 4] = ["old_string", "old_str", "oldString", "oldText"];
pub(super) const NEW: [&str; 5] = ["new_string", "new_str", "newString", "newText", "new_source"];
pub(super) const EDITS: [&str; 2] = ["edits", "replacements"];
pub(super) const PATCH: &str = "command";

/// Arguments with one path in any tool, besides [`PATH`].
const OTHER_PATH: [&str; 3] = ["dir_path", "old_path", "new_path"];
/// Arguments that name files, in tools known to work on files and in MCP tools.
const FILE_TOOL_PATHS: [&str; 6] = ["files", "file", "uri", "source", "destination", "directory"];
/// Arguments that select files to read or search: names or globs.
const READ_TOOL_PATHS: [&str; 4] = ["include", "glob", "include_pattern", "includePattern"];
/// Arguments with content that a tool writes.
const WRITTEN_CONTENT: [&str; 12] = [
    "content",
    "contents",
    "diff",
    "edits",
    "file_text",
    "newText",
    "new_source",
    "new_str",
    "new_string",
    "newString",
    "patch",
    "replacements",
];

/// The properties of a tool that decide which of its arguments name files.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FileTool {
    /// `true` if it is known to work on files, or is an MCP tool.
    pub(super) handles_files: bool,
    /// `true` if it reads or searches files.
    pub(super) reads_files: bool,
    /// `true` if it moves or copies files.
    pub(super) moves_files: bool,
}

impl FileTool {
    /// Returns `true` if the argument holds one or several paths.
    pub(super) fn is_path_argument(self, name: &str) -> bool {
        path_argument(name).or_else(|| paths_argument(name)).is_some()
            || self.handles_files && FILE_TOOL_PATHS.contains(&name)
            || self.reads_files && READ_TOOL_PATHS.contains(&name)
            || self.moves_files && (SOURCE.contains(&name) || DESTINATION.contains(&name))
    }
}

/// Returns the name of an argument that holds one path in any tool.
pub fn path_argument(name: &str) -> Option<&'static str> {
    PATH.iter().chain(&OTHER_PATH).copied().find(|known| *known == name)
}

/// Returns the name of an argument that holds one or several paths in any tool.
pub fn paths_argument(name: &str) -> Option<&'static str> {
    PATHS.iter().copied().find(|known| *known == name)
}

/// Returns `true` if the argument holds content to write.
pub(super) fn is_content_argument(name: &str) -> bool {
    WRITTEN_CONTENT.contains(&name)
}

/// The arguments of a call.
pub(super) struct Arguments(JsonObject);

impl Arguments {
    pub(super) fn from_call(arguments: &RawObject) -> Self {
        Self(arguments.fields())
    }

    pub(super) fn from_value(value: &RawJson) -> Option<Self> {
        value.to_object().ok().map(Self)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns `true` if one of the arguments is present.
    pub(super) fn has(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.0.get(name).is_some())
    }

    /// Returns the names that are present and not null.
    pub(super) fn present(&self, names: &[&'static str]) -> Vec<&'static str> {
        let is_present = |name: &&str| self.0.get(name).is_some_and(|value| !value.is_null());
        names.iter().copied().filter(is_present).collect()
    }

    /// Returns a text, or a list of words as one text; several commands are joined by line ends.
    pub(super) fn joined_text(&self, name: &str) -> Option<String> {
        let value = self.0.get(name)?;
        let separator = if name == "commands" { "\n" } else { " " };
        let joined = || {
            let items = value.to_items()?;
            let texts: Option<Vec<String>> = items.iter().map(RawJson::to_text).collect();
            texts.map(|parts| parts.join(separator))
        };
        value.to_text().or_else(joined)
    }

    /// Returns `true` if plain calls on single files can express all arguments.
    pub(super) fn fit_plain_calls(&self, tool: FileTool) -> bool {
        let known = [&CONTENT[..], &OLD, &NEW, &EDITS, &DESCRIPTION, &[PATCH]].concat();
        let is_patch =
            |value: &RawJson| value.to_text().is_some_and(|text| text.contains(patch::MARK));
        self.0.iter().all(|(name, value)| {
            value.is_null()
                || known.contains(&name)
                || tool.is_path_argument(name)
                || is_patch(value)
        })
    }

    /// Returns `true` if the argument is present and is a text.
    pub(super) fn has_text(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|value| value.to_text().is_some())
    }

    pub(super) fn is_object(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|value| value.to_object().is_ok())
    }

    /// Returns the text under these names; an error if two differ, since either may count.
    pub(super) fn text(&self, names: &[&'static str]) -> Result<Option<String>, String> {
        let mut found: Option<(&'static str, String)> = None;
        for name in names {
            let Some(value) = self.0.get(name).filter(|value| !value.is_null()) else { continue };
            let text = value.to_text().ok_or_else(|| format!("its `{name}` is no text"))?;
            match &found {
                Some((other, previous)) if *previous != text => {
                    return Err(format!("it has both `{other}` and `{name}`, and they differ"));
                }
                Some(_) => {}
                None => found = Some((name, text)),
            }
        }
        Ok(found.map(|(_, text)| text))
    }

    /// Returns the arguments that are texts or in lists, such as the words of a command.
    pub(super) fn texts(&self) -> impl Iterator<Item = (&str, String)> {
        self.0.iter().flat_map(|(name, value)| {
            let items = value.to_items().unwrap_or_default();
            let texts = items.iter().filter_map(RawJson::to_text).chain(value.to_text());
            texts.map(move |text| (name, text)).collect::<Vec<_>>()
        })
    }

    /// Returns the texts that may be written: no paths, replaced texts or descriptions of the call.
    pub(super) fn written_text(&self) -> String {
        let excluded = [&PATH[..], &PATHS, &FILES, &OLD, &EDITS, &DESCRIPTION, &[PATCH]].concat();
        let texts = self.texts().filter(|(name, _)| !excluded.contains(name));
        texts.map(|(_, text)| text).collect::<Vec<_>>().join("\n")
    }

    /// Returns the argument with a patch, and its text.
    pub(super) fn patch(&self) -> Result<(&str, String), String> {
        let mut patches = self.texts().filter(|(_, text)| text.contains(patch::MARK));
        let found = patches.next().ok_or("there is no patch among its arguments")?;
        match patches.next() {
            None => Ok(found),
            Some(_) => Err("there are several patches among its arguments".to_owned()),
        }
    }

    pub(super) fn path(&self) -> Option<String> {
        self.text(&PATH).ok().flatten()
    }

    pub(super) fn list(&self, names: &[&str]) -> Option<Vec<RawJson>> {
        let lists = names.iter().filter_map(|name| self.0.get(name)?.to_items());
        lists.reduce(|all, list| all.into_iter().chain(list).collect())
    }
}
