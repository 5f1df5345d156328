//! The file in which a foreign hook sets variables for its session, as its own agent provides it.

use std::io::{self, Read};
use std::path::Path;

use tempfile::NamedTempFile;

use crate::answer::Answer;
use hook_json::{JsonObject, RawJson};
use hook_shell::expanded_words;

/// The maximum length of the file that is read, in bytes.
const MAX_FILE_LENGTH: u64 = 64 * 1024;

/// The file of one run, deleted when the hook is gone.
#[derive(Debug)]
pub(super) struct EnvFile {
    /// The variable that holds the file's path.
    pub(super) name: &'static str,
    file: NamedTempFile,
}

impl EnvFile {
    pub(super) fn new(name: &'static str) -> io::Result<Self> {
        Ok(Self { name, file: tempfile::Builder::new().prefix("hook-env-").tempfile()? })
    }

    pub(super) fn path(&self) -> &Path {
        self.file.path()
    }

    /// Adds the variables in the file to the answer's `env`.
    pub(super) fn add_to(self, answer: &mut Answer) {
        let mut bytes = Vec::new();
        // Opened by path, since an editor may have replaced the file.
        let opened = hook_files::regular_file::open(self.file.path());
        let read = opened.and_then(|file| file.take(MAX_FILE_LENGTH + 1).read_to_end(&mut bytes));
        let name = self.name;
        if read.is_err() || bytes.len() as u64 > MAX_FILE_LENGTH {
            let warning = format!("what it wrote to {name} cannot be read, or is too long");
            answer.warnings.push(warning);
            return;
        }
        let mut set = JsonObject::new();
        for (number, line) in String::from_utf8_lossy(&bytes).lines().enumerate() {
            match assignments(line) {
                Some(pairs) => {
                    pairs
                        .iter()
                        .for_each(|(name, value)| set.insert(name, RawJson::from_text(value)));
                }
                None => answer.warnings.push(format!(
                    "line {} of what it wrote to {name} is more than `export NAME=value`, and sets \
                     nothing here",
                    number + 1
                )),
            }
        }
        if set.is_empty() {
            return;
        }
        let output = answer.output.get_or_insert_default();
        let specific = output.hook_specific_output.get_or_insert_default();
        let existing =
            specific.get("env").and_then(|value| value.to_object().ok()).unwrap_or_default();
        set.merge(&existing);
        specific.insert("env", set.to_raw());
    }
}

/// Returns the variables that a line sets; `None` if it does anything else.
fn assignments(line: &str) -> Option<Vec<(String, String)>> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Some(Vec::new());
    }
    let set = line.strip_prefix("export ").unwrap_or(line);
    if hook_shell::unclosed_quote(set).is_some() {
        return None;
    }
    // Parsed as words of a command, since a bare assignment is not expanded as a word.
    let words = expanded_words(&format!("export {set}"), |_| None);
    let known: Option<Vec<String>> = words.into_iter().skip(1).collect();
    let pairs = known?.into_iter().map(|argument| {
        let (name, value) = argument.split_once('=')?;
        Some((name.to_owned(), value.to_owned()))
    });
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_assignments_are_read_and_nothing_else() {
        let pairs = |pairs: &[(&str, &str)]| {
            Some(pairs.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect::<Vec<_>>())
        };
        for (line, expected) in [
            ("", pairs(&[])),
            ("# x", pairs(&[])),
            ("export A=1", pairs(&[("A", "1")])),
            ("A='b c'", pairs(&[("A", "b c")])),
            ("export A=\"b c\" B=2", pairs(&[("A", "b c"), ("B", "2")])),
            ("export A=\"$B\"", None),
            ("export A=$(date)", None),
            ("export A", None),
            (". ./x", None),
            ("export A='b", None),
        ] {
            assert_eq!(assignments(line), expected, "{line}");
        }
    }
}
