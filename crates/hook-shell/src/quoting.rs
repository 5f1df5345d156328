//! Quoting of commands: adding quotes around project-directory variables, and finding an unclosed
//! quote.
//!
//! An unquoted project-directory variable is made safe for directories with blanks
//! (reference/answers.md): the variable is wrapped in double quotes; its value is never inserted
//! into the command.

use std::ops::Range;

use super::PROJECT_DIRECTORY;
use super::script::{Part, Script, Word};

/// Wraps unquoted `$X` and `${X}` of the project-directory variables in double quotes.
///
/// The inside of substitutions stays unchanged, and so does a text that cannot be read.
pub fn quote_project_directory(command: &str) -> String {
    let mut quoted = command.to_owned();
    if PROJECT_DIRECTORY.iter().any(|name| command.contains(name)) {
        let script = Script::parse(command);
        let mut ranges = Vec::new();
        script.each_word(&mut |word| variables(word, &mut ranges));
        ranges.sort_by_key(|range| std::cmp::Reverse(range.start));
        for Range { start, end } in ranges.into_iter().filter(|_| script.unread.is_none()) {
            quoted.insert(end, '"');
            quoted.insert(start, '"');
        }
    }
    quoted
}

/// Adds the ranges of a word's unquoted project-directory variables.
fn variables(word: &Word, ranges: &mut Vec<Range<usize>>) {
    for part in &word.parts {
        match part {
            Part::Variable { name, is_quoted: false, operator: None, range }
                if PROJECT_DIRECTORY.contains(&name.as_str()) =>
            {
                ranges.push(range.clone());
            }
            Part::Array(words) => words.iter().for_each(|word| variables(word, ranges)),
            _ => {}
        }
    }
}

/// Returns the rest of a command from its unclosed quote, or `None` if there is none or only the
/// shell can tell.
pub fn unclosed_quote(command: &str) -> Option<&str> {
    // Quotes nest in substitutions, and mean nothing in a here-document.
    if command.contains("$(") || command.contains('`') || command.contains("<<") {
        return None;
    }
    command.get(Script::parse(command).open_quote?..)
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
                "x=$(case a in a) echo;; esac) \"$HOOK_PROJECT_DIR\"",
            ),
            ("echo \"$(echo \"$HOOK_PROJECT_DIR\")\"", "echo \"$(echo \"$HOOK_PROJECT_DIR\")\""),
            ("cat \\\n# $HOOK_PROJECT_DIR", "cat \\\n# $HOOK_PROJECT_DIR"),
            ("a\r# $HOOK_PROJECT_DIR", "a\r# \"$HOOK_PROJECT_DIR\""),
            ("echo \"5$'\" $HOOK_PROJECT_DIR", "echo \"5$'\" \"$HOOK_PROJECT_DIR\""),
            ("cat $(cat <<< x) $HOOK_PROJECT_DIR", "cat $(cat <<< x) \"$HOOK_PROJECT_DIR\""),
            ("echo $$HOOK_PROJECT_DIR", "echo $$HOOK_PROJECT_DIR"),
            ("(cd $HOOK_PROJECT_DIR)", "(cd \"$HOOK_PROJECT_DIR\")"),
            ("a=($HOOK_PROJECT_DIR/b)", "a=(\"$HOOK_PROJECT_DIR\"/b)"),
            ("$HOOK_PROJECT_DIR/a 'b", "$HOOK_PROJECT_DIR/a 'b"),
            ("a;$GEMINI_PROJECT_DIR/b", "a;\"$GEMINI_PROJECT_DIR\"/b"),
        ] {
            assert_eq!(quote_project_directory(command), expected);
        }
    }

    /// Returns `true` if bash parses the whole command.
    fn is_read(command: &str) -> bool {
        let bash = std::process::Command::new("bash").args(["-n", "-c", command]).output();
        bash.unwrap().status.success()
    }

    #[test]
    fn a_quote_that_is_not_closed_is_what_bash_refuses() {
        for (command, open) in [
            ("echo \"it's\"", None),
            ("echo 'it''s'", None),
            ("echo it's", Some("'s")),
            ("echo \"a\\\"b\"", None),
            ("echo \"a\\\"", Some("\"a\\\"")),
            ("echo \\' \\\"", None),
            ("echo 'a\\'", None),
            ("echo $'a\\'b'", None),
            ("echo $'a\\'", Some("'a\\'")),
            ("true # it's", None),
            ("true;# it's\necho 'x", Some("'x")),
            ("echo a#'b", Some("'b")),
            ("grep -q \"rm", Some("\"rm")),
        ] {
            assert_eq!(unclosed_quote(command), open, "{command}");
            assert_eq!(is_read(command), open.is_none(), "{command}");
        }
        // Words known only to the shell are not guessed.
        assert_eq!(unclosed_quote("echo \"$(echo \"it's\")\""), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_command_is_taken_without_panic(command in "(\\PC|\\$HOOK_PROJECT_DIR|[\"'{}()<`$#\\\\]){0,30}") {
            let quoted = quote_project_directory(&command);
            prop_assert_eq!(quoted.replace('"', ""), command.replace('"', ""));
        }

        /// If the directory has no blanks, quoting does not change a command's meaning to bash.
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
