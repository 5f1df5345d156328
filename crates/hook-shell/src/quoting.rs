//! Quoting of commands: adding quotes around project-directory variables, and finding an unclosed
//! quote.
//!
//! An unquoted project-directory variable is made safe for directories with blanks
//! (reference/answers.md): the variable is wrapped in double quotes; its value is never inserted
//! into the command.

use super::PROJECT_DIRECTORY;
use super::lexer::{Lexer, OpenConstruct, Step};

/// Constructs in which quotes nest.
const NESTED: [(&str, OpenConstruct); 8] = [
    ("$(", OpenConstruct::Nested(')')),
    ("${", OpenConstruct::Nested('}')),
    ("$[", OpenConstruct::Nested(']')),
    ("$'", OpenConstruct::AnsiQuotes),
    ("`", OpenConstruct::Nested('`')),
    ("<(", OpenConstruct::Nested(')')),
    (">(", OpenConstruct::Nested(')')),
    ("(", OpenConstruct::Nested(')')),
];

/// Wraps unquoted `$X` and `${X}` of the project-directory variables in double quotes.
///
/// The inside of substitutions stays unchanged, and so does everything after a here-document or
/// after a construct with an unclear end.
pub fn quote_project_directory(command: &str) -> String {
    let mut quoted = String::with_capacity(command.len() + 2);
    let mut copied = 0;
    if PROJECT_DIRECTORY.iter().any(|name| command.contains(name)) {
        let mut lexer = Lexer::new(command);
        while let Some(variable) = next_variable(&mut lexer) {
            let text_until = |end: usize| command.get(copied..end).unwrap_or_default();
            quoted.push_str(text_until(lexer.position()));
            quoted.push('"');
            quoted.push_str(variable);
            quoted.push('"');
            lexer.skip(variable);
            copied = lexer.position();
        }
    }
    quoted.push_str(command.get(copied..).unwrap_or_default());
    quoted
}

/// Moves to the next unquoted project-directory variable; `None` if there is none or it is unclear.
fn next_variable<'t>(lexer: &mut Lexer<'t>) -> Option<&'t str> {
    loop {
        let rest = lexer.rest();
        if lexer.is_at_comment() && lexer.is_top_level() {
            lexer.skip_line();
        } else if let Some(variable) = project_variable(rest).filter(|_| lexer.is_top_level()) {
            return Some(variable);
        } else if let Some((begin, end)) = opening_construct(rest, lexer.innermost()) {
            lexer.open(begin, end);
        } else if let Some(text) = token_at_start(rest, lexer.innermost()) {
            lexer.skip(text);
        } else if has_unclear_end(lexer) {
            return None;
        } else {
            lexer.step()?;
        }
    }
}

/// Returns the project-directory variable at the start of a text, as written.
fn project_variable(text: &str) -> Option<&str> {
    let is_name = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let leading_name_len =
        |text: &str| text.find(|character| !is_name(character)).unwrap_or(text.len());
    let after_dollar = text.strip_prefix('$')?;
    let (name, length) = match after_dollar.strip_prefix('{') {
        Some(braced) => {
            let (name, rest) = braced.split_at_checked(leading_name_len(braced))?;
            rest.starts_with('}').then_some((name, name.len() + "${}".len()))?
        }
        None => {
            let (name, _) = after_dollar.split_at_checked(leading_name_len(after_dollar))?;
            (name, name.len() + "$".len())
        }
    };
    PROJECT_DIRECTORY.contains(&name).then(|| text.get(..length))?
}

/// Returns the opening of a construct with nested quotes at the start of a text, and the construct.
fn opening_construct(
    text: &str,
    innermost: Option<OpenConstruct>,
) -> Option<(&'static str, OpenConstruct)> {
    let may_open = |begin: &str| match (innermost, begin) {
        (Some(OpenConstruct::SingleQuotes | OpenConstruct::AnsiQuotes), _) => false,
        (Some(OpenConstruct::DoubleQuotes), _) => matches!(begin, "$(" | "${" | "$[" | "`"),
        // This backtick closes the substitution.
        (Some(OpenConstruct::Nested('`')), "`") => false,
        (Some(OpenConstruct::Nested(_)), _) => true,
        // A subshell, not a substitution: its content is read like any command.
        (None, _) => begin != "(",
    };
    NESTED.into_iter().find(|(begin, _)| text.starts_with(begin) && may_open(begin))
}

/// Returns two or three characters at the start of a text that form one token: the shell's process
/// id (`$$`), a here-string (`<<<`).
fn token_at_start(text: &str, innermost: Option<OpenConstruct>) -> Option<&'static str> {
    let is_open = |pair: &str| match innermost {
        None | Some(OpenConstruct::Nested(_)) => true,
        Some(OpenConstruct::DoubleQuotes) => pair == "$$",
        Some(OpenConstruct::SingleQuotes | OpenConstruct::AnsiQuotes) => false,
    };
    ["$$", "<<<"].into_iter().find(|pair| text.starts_with(pair) && is_open(pair))
}

/// Returns `true` if a construct begins that may contain a false end: a here-document, or in a
/// substitution a comment or the patterns of `case`.
fn has_unclear_end(lexer: &Lexer<'_>) -> bool {
    let rest = lexer.rest();
    match lexer.innermost() {
        None => rest.starts_with("<<"),
        Some(OpenConstruct::Nested(_)) => {
            rest.starts_with("<<") || rest.starts_with("case") || lexer.is_at_comment()
        }
        Some(
            OpenConstruct::SingleQuotes | OpenConstruct::DoubleQuotes | OpenConstruct::AnsiQuotes,
        ) => false,
    }
}

/// Returns the rest of a command from its unclosed quote, or `None` if there is none or only the
/// shell can tell.
pub fn unclosed_quote(command: &str) -> Option<&str> {
    // Quotes nest in substitutions, and mean nothing in a here-document.
    if command.contains("$(") || command.contains('`') || command.contains("<<") {
        return None;
    }
    let mut lexer = Lexer::new(command);
    let mut quote_start = 0;
    loop {
        let (position, rest) = (lexer.position(), lexer.rest());
        if lexer.is_at_comment() {
            lexer.skip_line();
        } else if let Some(text) = token_at_start(rest, lexer.innermost()) {
            lexer.skip(text);
        } else if lexer.is_top_level() && rest.starts_with("$'") {
            quote_start = position + 1;
            lexer.open("$'", OpenConstruct::AnsiQuotes);
        } else {
            match lexer.step() {
                Some(Step::Opened) => quote_start = position,
                Some(_) => {}
                None => break,
            }
        }
    }
    if lexer.is_top_level() { None } else { command.get(quote_start..) }
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
            ("cat \\\n# $HOOK_PROJECT_DIR", "cat \\\n# $HOOK_PROJECT_DIR"),
            ("a\r# $HOOK_PROJECT_DIR", "a\r# \"$HOOK_PROJECT_DIR\""),
            ("echo \"5$'\" $HOOK_PROJECT_DIR", "echo \"5$'\" \"$HOOK_PROJECT_DIR\""),
            ("cat $(cat <<< x) $HOOK_PROJECT_DIR", "cat $(cat <<< x) \"$HOOK_PROJECT_DIR\""),
            ("echo $$HOOK_PROJECT_DIR", "echo $$HOOK_PROJECT_DIR"),
            ("(cd $HOOK_PROJECT_DIR)", "(cd \"$HOOK_PROJECT_DIR\")"),
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
