//! Making an unquoted project-directory variable in a command safe for directories with blanks
//! (protocol.md §3): the variable is wrapped in double quotes, its value is never pasted in.

use crate::command_line::PROJECT_DIRECTORY;

/// Wraps unquoted `$X` and `${X}` of the project-directory variables in double quotes.
///
/// What stands inside of substitutions stays as it is, and so does everything behind a
/// here-document or a construct whose end is not plain.
pub(super) fn quote_project_directory(command: &str) -> String {
    if !PROJECT_DIRECTORY.iter().any(|name| command.contains(name)) {
        return command.to_owned();
    }
    let mut quoted = String::with_capacity(command.len() + 2);
    let mut rest = command;
    let mut quote = None;
    let mut word_start = true;
    while let Some(character) = rest.chars().next() {
        let length = match (quote, character) {
            (None | Some('"'), '\\') => escaped(rest),
            (None | Some('"'), '`') => match construct(rest) {
                Some(length) => length,
                None => break,
            },
            (None, '\'' | '"') => {
                quote = Some(character);
                1
            }
            (Some(open), _) if open == character => {
                quote = None;
                1
            }
            (None, '#') if word_start => rest.find('\n').unwrap_or(rest.len()),
            (None, '<') if rest.starts_with("<<<") => 3,
            // What follows belongs to the here-document, or comes after it.
            (None, '<') if rest.starts_with("<<") => break,
            (None, '<' | '>') if rest[1..].starts_with('(') => match construct(rest) {
                Some(length) => length,
                None => break,
            },
            (None | Some('"'), '$') => match dollar(rest) {
                Some(Dollar::Project(length)) if quote.is_none() => {
                    quoted.push('"');
                    quoted.push_str(&rest[..length]);
                    quoted.push('"');
                    rest = &rest[length..];
                    word_start = false;
                    continue;
                }
                Some(Dollar::Project(length) | Dollar::Other(length)) => length,
                None => break,
            },
            _ => character.len_utf8(),
        };
        word_start = quote.is_none() && (character.is_whitespace() || ";|&()".contains(character));
        quoted.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    quoted.push_str(rest);
    quoted
}

/// The length of a backslash and what it escapes.
fn escaped(text: &str) -> usize {
    text.chars().take(2).map(char::len_utf8).sum()
}

/// What a dollar sign begins, with its length.
enum Dollar {
    /// A project-directory variable.
    Project(usize),
    /// Anything else whose end is known.
    Other(usize),
}

fn dollar(text: &str) -> Option<Dollar> {
    let is_name = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let bare = text.strip_prefix('$').unwrap_or_default();
    let (name, length) = match bare.strip_prefix('{') {
        Some(braced) => {
            let end = braced.find(|character| !is_name(character))?;
            if !braced[end..].starts_with('}') {
                return construct(text).map(Dollar::Other);
            }
            (&braced[..end], end + 3)
        }
        None if bare.starts_with(['(', '[', '\'']) => return construct(text).map(Dollar::Other),
        // `$$`, `$?` and their like are two characters long, whatever follows.
        None if bare.starts_with(['$', '?', '!', '#', '*', '@', '-'])
            || bare.starts_with(|character: char| character.is_ascii_digit()) =>
        {
            return Some(Dollar::Other(2));
        }
        None => {
            let end = bare.find(|character| !is_name(character)).unwrap_or(bare.len());
            (&bare[..end], end + 1)
        }
    };
    match PROJECT_DIRECTORY.contains(&name) {
        true => Some(Dollar::Project(length)),
        false => Some(Dollar::Other(length)),
    }
}

/// The length of the substitution, expansion or quotation that the text begins with; `None` where
/// its end is not plain.
fn construct(text: &str) -> Option<usize> {
    let mut open: Vec<char> = Vec::new();
    let mut at = 0;
    loop {
        let rest = text.get(at..)?;
        let character = rest.chars().next()?;
        let quoted = open.last() == Some(&'"');
        at += match character {
            '\\' => escaped(rest),
            closing if open.last() == Some(&closing) => {
                open.pop();
                1
            }
            '`' => push(&mut open, '`', 1),
            '"' => push(&mut open, '"', 1),
            '$' if rest.starts_with("${") => push(&mut open, '}', 2),
            '$' if rest.starts_with("$[") => push(&mut open, ']', 2),
            '$' if rest.starts_with("$(") => push(&mut open, ')', 2),
            '$' if rest.starts_with("$'") && !quoted => {
                let end = end_of_escaped_quotation(&rest[2..])?;
                2 + end
            }
            '\'' if !quoted => 2 + rest[1..].find('\'')?,
            '(' if !quoted => push(&mut open, ')', 1),
            // Comments, patterns of `case` and here-documents hold what looks like an end.
            '#' if !quoted && at > 0 && text[..at].ends_with(char::is_whitespace) => return None,
            '<' if !quoted && rest.starts_with("<<") && !rest.starts_with("<<<") => return None,
            'c' if !quoted && rest.starts_with("case") => return None,
            other => other.len_utf8(),
        };
        if open.is_empty() && at > 1 {
            return Some(at);
        }
    }
}

fn push(open: &mut Vec<char>, closing: char, length: usize) -> usize {
    open.push(closing);
    length
}

/// The length of what is left of a `$'…'`, its end included.
fn end_of_escaped_quotation(text: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        let rest = text.get(at..)?;
        match rest.chars().next()? {
            '\\' => at += escaped(rest),
            '\'' => return Some(at + 1),
            other => at += other.len_utf8(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_unquoted_project_variables_are_wrapped() {
        for (command, expected) in [
            ("$HOOK_PROJECT_DIR/a.sh", "\"$HOOK_PROJECT_DIR\"/a.sh"),
            ("sh ${CLAUDE_PROJECT_DIR}/a", "sh \"${CLAUDE_PROJECT_DIR}\"/a"),
            ("\"$HOOK_PROJECT_DIR/a b\"", "\"$HOOK_PROJECT_DIR/a b\""),
            ("'$HOOK_PROJECT_DIR'", "'$HOOK_PROJECT_DIR'"),
            ("\\$HOOK_PROJECT_DIR", "\\$HOOK_PROJECT_DIR"),
            ("$HOOK_PROJECT_DIRS", "$HOOK_PROJECT_DIRS"),
            ("echo it # don't\n$HOOK_PROJECT_DIR", "echo it # don't\n\"$HOOK_PROJECT_DIR\""),
            ("echo `ls $HOOK_PROJECT_DIR`", "echo `ls $HOOK_PROJECT_DIR`"),
            ("cat $(ls $HOOK_PROJECT_DIR)", "cat $(ls $HOOK_PROJECT_DIR)"),
            ("${X:-$HOOK_PROJECT_DIR}", "${X:-$HOOK_PROJECT_DIR}"),
            ("\"${X:-\"$HOOK_PROJECT_DIR\"}\"", "\"${X:-\"$HOOK_PROJECT_DIR\"}\""),
            ("cat <<E\n$HOOK_PROJECT_DIR\nE", "cat <<E\n$HOOK_PROJECT_DIR\nE"),
            ("echo $(date); $HOOK_PROJECT_DIR/a", "echo $(date); \"$HOOK_PROJECT_DIR\"/a"),
            ("cat <<< x; $HOOK_PROJECT_DIR/a", "cat <<< x; \"$HOOK_PROJECT_DIR\"/a"),
            ("echo ${HOME:-x}; $HOOK_PROJECT_DIR/a", "echo ${HOME:-x}; \"$HOOK_PROJECT_DIR\"/a"),
            (
                "echo \"cost: 5$\"; $HOOK_PROJECT_DIR/a",
                "echo \"cost: 5$\"; \"$HOOK_PROJECT_DIR\"/a",
            ),
            (
                "echo \"`date`$(date)\" $HOOK_PROJECT_DIR",
                "echo \"`date`$(date)\" \"$HOOK_PROJECT_DIR\"",
            ),
            ("echo $'it\\'s' $HOOK_PROJECT_DIR", "echo $'it\\'s' \"$HOOK_PROJECT_DIR\""),
            ("echo $((1 + (2))) $HOOK_PROJECT_DIR", "echo $((1 + (2))) \"$HOOK_PROJECT_DIR\""),
            (
                "x=$(case a in a) echo;; esac) $HOOK_PROJECT_DIR",
                "x=$(case a in a) echo;; esac) $HOOK_PROJECT_DIR",
            ),
            ("echo \"$(echo \"$HOOK_PROJECT_DIR\")\"", "echo \"$(echo \"$HOOK_PROJECT_DIR\")\""),
            ("a;$GEMINI_PROJECT_DIR/b", "a;\"$GEMINI_PROJECT_DIR\"/b"),
        ] {
            assert_eq!(quote_project_directory(command), expected);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_command_is_taken_without_panic(command in "(\\PC|\\$HOOK_PROJECT_DIR|[\"'{}()<`$#\\\\]){0,30}") {
            let quoted = quote_project_directory(&command);
            prop_assert_eq!(quoted.replace('"', ""), command.replace('"', ""));
        }

        /// Where the directory has no blanks, a command means the same to bash before and after.
        #[cfg(unix)]
        #[test]
        fn a_command_means_the_same_before_and_after(
            pieces in prop::collection::vec(prop::sample::select(vec![
                "$HOOK_PROJECT_DIR", "${HOOK_PROJECT_DIR}", "'$HOOK_PROJECT_DIR'", "\"$HOOK_PROJECT_DIR\"",
                "$(echo $HOOK_PROJECT_DIR)", "\"$(echo \"x $HOOK_PROJECT_DIR\")\"", "`echo $HOOK_PROJECT_DIR`",
                "${X:-$HOOK_PROJECT_DIR}", "\"${X:-'$HOOK_PROJECT_DIR'}\"", "$'a\\'$HOOK_PROJECT_DIR'",
                "\\$HOOK_PROJECT_DIR", "\\\"", "a", "#", " ", " # it's\n echo ", ";echo ", "$((1+2))", "$?", "$#",
            ]), 0..8),
        ) {
            let command = format!("echo {}", pieces.concat());
            let run = |command: &str| {
                let mut bash = std::process::Command::new("bash");
                let output = bash.args(["-c", command]).env("HOOK_PROJECT_DIR", "/p").output().unwrap();
                (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
            };
            let quoted = quote_project_directory(&command);
            prop_assert_eq!(run(&quoted), run(&command), "{} became {}", command, quoted);
        }
    }
}
