//! Patches in shell commands.

use std::path::Path;

use super::arguments::Fields;
use super::patch::{file_headers, names_patcher};

/// The effect of a command with a patch.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ShellPatch {
    /// It applies no patch.
    None,
    /// It applies a patch, in that directory relative to its own.
    In(String),
    /// It applies a patch to unknown files.
    Unreadable,
}

impl ShellPatch {
    /// Returns the patch that the arguments apply.
    pub(super) fn of(fields: &Fields) -> Self {
        let texts: Vec<String> = fields.texts().map(|(_, text)| text).collect();
        if !texts.iter().any(|text| names_patcher(text)) {
            return Self::None;
        }
        let mut headers = texts.iter().flat_map(|text| file_headers(text)).peekable();
        if headers.peek().is_none() {
            let is_applied = texts.iter().any(|text| words(text).any(names_patcher));
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
            Some(directory) => Self::In(directory),
            None => Self::Unreadable,
        }
    }
}

/// Returns the programs of the commands in a text, without their folders.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let commands = text.split(['|', '&', ';', '(', ')', '{', '}', '`', '\n']);
    let first = commands.filter_map(|command| {
        const BEFORE: [&str; 7] = ["sudo", "env", "exec", "command", "then", "do", "time"];
        command.split_whitespace().find(|word| !BEFORE.contains(word) && !word.contains('='))
    });
    first.map(|word| {
        let word = word.trim_matches(['"', '\'']);
        Path::new(word).file_name().and_then(|name| name.to_str()).unwrap_or(word)
    })
}

/// Returns the directory to which the text before a patch changes, or `None` if that is unknown.
/// Agents interpret `cd FOLDER && apply_patch …` themselves.
fn directory(before: &str) -> Option<String> {
    let changes = |text: &str| {
        let changing = ["cd", "pushd", "popd", "chdir"];
        text.split(|it: char| !it.is_alphanumeric()).any(|word| changing.contains(&word))
    };
    if !changes(before) {
        return Some(String::new());
    }
    let (folder, rest) = before.trim_start().strip_prefix("cd ")?.split_once("&&")?;
    let folder = folder.trim();
    let quoted = |quote: char| folder.strip_prefix(quote)?.strip_suffix(quote);
    let folder = quoted('"').or_else(|| quoted('\'')).unwrap_or(folder);
    let is_plain = !folder.starts_with(['-', '~'])
        && !folder
            .contains(['$', '`', '\\', '"', '\'', '*', '?', '[', '{', ';', '|', '<', '>', '\n']);
    (is_plain && !changes(rest)).then(|| folder.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use hook_json::RawObject;

    #[test]
    fn a_patch_is_in_the_directory_to_which_the_command_changes() {
        const PATCH: &str = "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch";
        let inside = |folder: &str| ShellPatch::In(folder.to_owned());
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
            let arguments = RawObject::of(|out| out.text("command", &command));
            assert_eq!(ShellPatch::of(&Fields::of_call(&arguments)), expected, "{command}");
        }
    }
}
