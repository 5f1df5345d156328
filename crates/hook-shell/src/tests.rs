use super::*;
use proptest::prelude::*;

fn expanded(command: &str) -> Vec<Option<String>> {
    expanded_words(command, |name| (name == "HOME").then(|| "/home/a b".to_owned()))
}

#[test]
fn words_are_what_the_shell_would_make_of_them() {
    for (command, expected) in [
        ("./guard.sh --strict; other", vec![Some("./guard.sh"), Some("--strict")]),
        ("  'a b'/c\\ d|cat", vec![Some("a b/c d")]),
        ("A=1 B='x y' guard", vec![Some("guard")]),
        ("A=1", vec![]),
        (
            "\"$HOME\"/x ${HOME}y ~/z ~",
            vec![Some("/home/a b/x"), Some("/home/a by"), Some("/home/a b/z"), Some("/home/a b")],
        ),
        ("'$HOME' \"~\" \\$HOME", vec![Some("$HOME"), Some("~"), Some("$HOME")]),
        ("$OTHER/x *.sh $(date) `x`", vec![None, None, None, None]),
        ("\"$(date)\" ${HOME:-x} ~root", vec![None, Some("/home/a b"), None]),
        ("a\nb", vec![Some("a")]),
        ("a B=~ c", vec![Some("a"), None, Some("c")]),
        ("'' a", vec![Some(""), Some("a")]),
        ("(a)", vec![]),
        ("[ -f x ]", vec![Some("["), Some("-f"), Some("x"), Some("]")]),
    ] {
        let expected: Vec<Option<String>> =
            expected.into_iter().map(|word| word.map(str::to_owned)).collect();
        assert_eq!(expanded(command), expected, "{command}");
    }
}

#[test]
fn escapes_and_lines_that_go_on_are_those_of_the_shell() {
    for (command, expected) in [
        ("\"a\\b\"", Some("a\\b")),
        ("\"a\\$b\\`\\\"\\\\\"", Some("a$b`\"\\")),
        ("\"a\\}\"", Some("a\\}")),
        ("./gu\\\nard.sh", Some("./guard.sh")),
        ("\"./gu\\\nard.sh\"", Some("./guard.sh")),
        ("\\\n ./guard.sh", Some("./guard.sh")),
        ("'a\\\nb'", Some("a\\\nb")),
        ("a\\", Some("a\\")),
        ("a\rb\u{a0}c d", Some("a\rb\u{a0}c")),
        ("A+=1 b", Some("b")),
        ("$HO\"ME\"", None),
        ("$'HOME'", Some("HOME")),
        ("$\"HOME\"", Some("HOME")),
        ("$''HOME", Some("HOME")),
        ("\"$\"\"HOME\"", Some("$HOME")),
        ("\"$HOME\"b", Some("/home/a bb")),
        ("$HOME''b", Some("/home/a bb")),
        ("$\\HOME", Some("$HOME")),
        ("$HO\\\nME", None),
        ("$HOME\\\nX", None),
    ] {
        let first = expanded(command).into_iter().next().flatten();
        assert_eq!(first.as_deref(), expected, "{command}");
    }
}

#[test]
fn a_leading_variable_is_one_that_the_command_does_not_set() {
    for (command, expected) in [
        ("$X/guard.sh", Some("X")),
        ("A=1 \"${X}\"/guard.sh", Some("X")),
        ("X=a $X/guard.sh", None),
        ("${X:-y}/guard.sh", None),
        ("$1/guard.sh", None),
    ] {
        assert_eq!(leading_variable(command).as_deref(), expected, "{command}");
    }
}

#[test]
fn comments_begin_where_words_do() {
    for (text, expected) in [
        ("# a\nb # c", "b"),
        ("a#b '# c' \"# d\" \\# e", "a#b|# c|# d|#|e"),
        ("a;#b\n(#c\n", "a"),
        ("a \\\n# b", "a"),
        ("a\\\n# b", "a#|b"),
        ("a\\ # b", "a #|b"),
        ("a\r# b", "a\r#|b"),
    ] {
        let found = simple_commands(text, &|_| None).unwrap();
        let words = found.commands.iter().flat_map(|command| &command.words);
        let words: Vec<&str> = words.map(|word| word.text.as_deref().unwrap_or("?")).collect();
        assert_eq!(words.join("|"), expected, "{text:?}");
    }
}

#[test]
fn only_simple_commands_are_all_of_a_text() {
    for (text, expected) in [
        ("a b && c || d; e | f\ng", "a b|c|d|e|f|g"),
        ("A=1 a 2>/dev/null >&2 <&-", "a"),
        ("a $'b' $\"c\" 'd$' \"e$\"", "a ? ? d$ e$"),
        ("a > x", "+a"),
        ("a >&$x", "+a"),
        ("a <<< x", "+a"),
        ("a {x}> /dev/null", "+a"),
        ("a & b", "+a|b"),
        ("! a", "+a"),
        ("if a b; then c; else d; fi", "+a b|c|d"),
        ("for x in w; do a; done", "+a"),
        ("f() { a; }; f", "+a|f"),
        ("(a)", "+a"),
        ("a 'b", "+a b"),
    ] {
        let found = simple_commands(text, &|_| None).unwrap();
        let words = |command: &SimpleCommand| {
            let texts = command.words.iter().map(|word| word.text.as_deref().unwrap_or("?"));
            texts.collect::<Vec<_>>().join(" ")
        };
        let commands: Vec<String> = found.commands.iter().map(words).collect();
        let mark = if found.has_more { "+" } else { "" };
        assert_eq!(format!("{mark}{}", commands.join("|")), expected, "{text}");
    }
}

proptest! {
    #[test]
    fn any_command_is_taken_apart_without_panic(command in "\\PC{0,40}|[a$ {}\"'\\\\;~=/\n]{0,40}") {
        let _ = (expanded(&command), plain_words(&command), simple_commands(&command, &|_| None).is_some());
    }

    /// The words read from a command are those of bash.
    #[cfg(unix)]
    #[test]
    fn words_are_what_bash_makes_of_them(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "a", "b", "/", "HOME", "$HOME", "${HOME}", "$", "\"", "\"", "'", "'", "\\", "\\", "\n",
            "\\\n", " ", "\t", "\r", "A=", "A+=1 ", "=", "\"$HOME\"", "~", "#", "\"\"", "''", "{",
            "}", "\u{a0}", "._-",
        ]), 0..10),
    ) {
        let text = pieces.concat();
        // Bash drops a backslash at the very end, or keeps it, by the number of line ends before.
        prop_assume!(!(text.ends_with('\\') && text.contains("\\\n")));
        let words = expanded_words(&format!("say {text}"), |name| {
            (name == "HOME").then(|| "/h".to_owned())
        });
        // Only the first command of bash's output counts.
        let mut bash = std::process::Command::new("bash");
        let command = format!("say() {{ printf '%s\\0' $# \"$@\"; exit; }}\nsay {text}");
        let output = bash.args(["-c", &command]).env_clear().env("HOME", "/h").output().unwrap();
        prop_assume!(output.status.success() && output.stderr.is_empty());
        let stdout = String::from_utf8(output.stdout).unwrap();
        let expected: Vec<&str> = stdout.split_terminator('\0').skip(1).collect();
        let known: Vec<&str> = words.iter().skip(1).map_while(Option::as_deref).collect();
        if known.len() + 1 == words.len() {
            prop_assert_eq!(known, expected, "{:?}", text);
        } else {
            // A word known only to bash may expand to many.
            prop_assert!(expected.starts_with(&known), "{:?}: {:?} {:?}", text, known, expected);
        }
    }
}
