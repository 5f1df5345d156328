//! Making an unquoted project-directory variable in a command safe for directories with blanks
//! (protocol.md §3): the variable is wrapped in double quotes, its value is never pasted in.

use super::environment::PROJECT_DIRECTORY;

/// Wraps unquoted `$X` and `${X}` of the project-directory variables in double quotes. Where the
/// state of quoting is not plain (here-documents, backticks, substitutions) the command stays as
/// it is.
pub(super) fn quote_project_directory(command: &str) -> String {
    let intricate = ["<<", "`", "$(", "<(", ">(", "$'", "$\"", "$["];
    if !command.contains('$') || intricate.iter().any(|sign| command.contains(sign)) {
        return command.to_owned();
    }
    let mut quoted = String::with_capacity(command.len() + 2);
    let mut rest = command;
    let mut quote = None;
    let mut word_start = true;
    while let Some(character) = rest.chars().next() {
        let mut length = character.len_utf8();
        match (quote, character) {
            (None, '\\') | (Some('"'), '\\') => {
                length += rest[length..].chars().next().map_or(0, char::len_utf8);
            }
            (None, '\'' | '"') => quote = Some(character),
            (Some(open), _) if open == character => quote = None,
            (None, '#') if word_start => {
                length = rest.find('\n').unwrap_or(rest.len());
            }
            (None, '$') => match variable(rest) {
                Some(Variable::Project(name_length)) => {
                    quoted.push('"');
                    quoted.push_str(&rest[..name_length]);
                    quoted.push('"');
                    rest = &rest[name_length..];
                    word_start = false;
                    continue;
                }
                Some(Variable::Other) => {}
                // A brace expansion with more in it than a name.
                None => return command.to_owned(),
            },
            (Some('"'), '$') if rest.starts_with("${") && variable(rest).is_none() => {
                return command.to_owned();
            }
            _ => {}
        }
        word_start = quote.is_none() && (character.is_whitespace() || ";|&()".contains(character));
        quoted.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    quoted
}

enum Variable {
    /// A project-directory variable of that length, with dollar sign and braces.
    Project(usize),
    Other,
}

fn variable(text: &str) -> Option<Variable> {
    let is_name = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let (name, length) = match text.strip_prefix("${") {
        Some(braced) => {
            let name = &braced[..braced.find('}')?];
            if !name.chars().all(is_name) {
                return None;
            }
            (name, name.len() + 3)
        }
        None => {
            let bare = &text[1..];
            let end = bare.find(|character| !is_name(character)).unwrap_or(bare.len());
            (&bare[..end], end + 1)
        }
    };
    match PROJECT_DIRECTORY.contains(&name) {
        true => Some(Variable::Project(length)),
        false => Some(Variable::Other),
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
            ("a;$GEMINI_PROJECT_DIR/b", "a;\"$GEMINI_PROJECT_DIR\"/b"),
        ] {
            assert_eq!(quote_project_directory(command), expected);
        }
    }

    proptest! {
        #[test]
        fn any_command_is_taken_without_panic(command in "(\\PC|\\$HOOK_PROJECT_DIR|[\"'{}$#\\\\]){0,30}") {
            let quoted = quote_project_directory(&command);
            prop_assert_eq!(quoted.replace('"', ""), command.replace('"', ""));
        }
    }
}
