//! Patches in shell commands.

use std::path::Path;

use super::arguments::Arguments;
use super::patch::{file_headers, mentions_patch_program};

/// The effect of a command with a patch.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ShellPatch {
    /// It applies no patch.
    None,
    /// It applies a patch, in that directory relative to its own.
    InDirectory(String),
    /// It applies a patch to unknown files.
    Unreadable,
}

impl ShellPatch {
    /// Returns the patch that the arguments apply.
    pub(super) fn from_arguments(fields: &Arguments) -> Self {
        let texts: Vec<String> = fields.texts().map(|(_, text)| text).collect();
        if !texts.iter().any(|text| mentions_patch_program(text)) {
            return Self::None;
        }
        let mut headers = texts.iter().flat_map(|text| file_headers(text)).peekable();
        if headers.peek().is_none() {
            let is_applied =
                texts.iter().any(|text| command_names(text).any(mentions_patch_program));
            return if is_applied { Self::Unreadable } else { Self::None };
        }
        // The shell may expand such a name.
        if headers.any(|path| path.contains(['$', '`', '\\'])) {
            return Self::Unreadable;
        }
        let before = |text: &String| {
            text.find("*** Begin Patch").and_then(|at| text.get(..at)).map(str::to_owned)
        };
        match directory(&texts.iter().find_map(before).unwrap_or_default()) {
            Some(directory) => Self::InDirectory(directory),
            None => Self::Unreadable,
        }
    }
}

/// Returns the programs of the commands in a text, without their folders.
fn command_names(text: &str) -> impl Iterator<Item = &str> {
    let commands = text.split(['|', '&', ';', '(', ')', '{', '}', '`', '\n']);
    let first = commands.filter_map(|command| {
        const PREFIXES: [&str; 7] = ["sudo", "env", "exec", "command", "then", "do", "time"];
        command.split_whitespace().find(|word| !PREFIXES.contains(word) && !word.contains('='))
    });
    first.map(|word| {
        let word = word.trim_matches(['"', '\'']);
        Path::new(word).file_name().and_then(|name| name.to_str()).unwrap_or(word)
    })
}

/// Returns the directory to which the text before a patch changes, or `None` if that is unknown.
/// Agents interpret `cd FOLDER && apply_patch …` themselves.
fn directory(before: &str) -> Option<String> {
    let changes_directory = |text: &str| {
        let directory_commands = ["cd", "pushd", "popd", "chdir"];
        text.split(|character: char| !character.is_alphanumeric())
            .any(|word| directory_commands.contains(&word))
    };
    if !changes_directory(before) {
        return Some(String::new());
    }
    let (folder, rest) = before.trim_start().strip_prefix("cd ")?.split_once("&&")?;
    let folder = folder.trim();
    let unquote = |quote: char| folder.strip_prefix(quote)?.strip_suffix(quote);
    let folder = unquote('"').or_else(|| unquote('\'')).unwrap_or(folder);
    let is_plain = !folder.starts_with(['-', '~'])
        && !folder
            .contains(['$', '`', '\\', '"', '\'', '*', '?', '[', '{', ';', '|', '<', '>', '\n']);
    (is_plain && !changes_directory(rest)).then(|| folder.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use hook_json::RawObject;

    #[test]
    fn a_patch_is_in_the_directory_to_which_the_command_changes() {
        const PATCH: &str = "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch";
        let inside = |folder: &str| ShellPatch::InDirectory(folder.to_owned());
        for (command, expected) in [
            (format!("apply_patch <<'E'\n{PATCH}\nE"), inside("")),
            (format!("cd sub && apply_patch <<'E'\n{PATCH}\nE"), inside("sub")),
            (format!("cd 'a b' && apply_patch <<'E'\n{PATCH}\nE"), inside("a b")),
            (format!("cd $D && apply_patch <<'E'\n{PATCH}\nE"), ShellPatch::Unreadable),
            (format!("cd a; apply_patch <<'E'\n{PATCH}\nE"), ShellPatch::Unreadable),
            (format!("pushd a && apply_patch <<'E'\n{PATCH}\nE"), ShellPatch::Unreadable),
            (format!("bash -c \"cd a && apply_patch <<'E'\n{PATCH}\nE\""), ShellPatch::Unreadable),
            (
                format!("apply_patch <<E\n{}\nE", PATCH.replace(": a", ": $A")),
                ShellPatch::Unreadable,
            ),
            ("apply_patch < file".to_owned(), ShellPatch::Unreadable),
            ("base64 -d x | /usr/bin/apply_patch".to_owned(), ShellPatch::Unreadable),
            ("grep -r apply_patch src".to_owned(), ShellPatch::None),
            (format!("cat <<'E'\n{PATCH}\nE"), ShellPatch::None),
        ] {
            let arguments = RawObject::build(|out| out.text("command", &command));
            assert_eq!(
                ShellPatch::from_arguments(&Arguments::from_call(&arguments)),
                expected,
                "{command}"
            );
        }
    }
}
