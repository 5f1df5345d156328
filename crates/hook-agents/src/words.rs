//! The words of commands that an agent starts without a shell, split as Python's `shlex` does: no variable, pattern,
//! comment or separator means anything.

use std::str::Chars;

use hook_files::user_folders;
use hook_settings::language::ForeignCommand;

/// Returns the program and the arguments of a command. `None` if it has no words, or an open quote.
pub(super) fn program(text: &str) -> Option<ForeignCommand> {
    let text = text.trim();
    let in_home = text.strip_prefix("~/").and_then(|rest| Some((user_folders::home()?, rest)));
    let words = match in_home {
        Some((home, rest)) => split(&format!("{}/{rest}", home.to_str()?)),
        None => split(text),
    };
    let mut words = words?.into_iter();
    Some(ForeignCommand::Program { program: words.next()?, arguments: words.collect() })
}

/// Returns the words of a text. `None` if a quote is open, or a backslash ends it.
fn split(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            ' ' | '\t' | '\r' | '\n' => words.extend(word.take()),
            '\\' => word.get_or_insert_default().push(characters.next()?),
            '\'' | '"' => quoted(character, &mut characters, word.get_or_insert_default())?,
            _ => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    Some(words)
}

/// Adds what is in quotes to a word.
fn quoted(quote: char, characters: &mut Chars<'_>, word: &mut String) -> Option<()> {
    loop {
        match characters.next()? {
            end if end == quote => return Some(()),
            '\\' if quote == '"' => {
                let next = characters.next()?;
                if !matches!(next, '"' | '\\') {
                    word.push('\\');
                }
                word.push(next);
            }
            character => word.push(character),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use proptest::prelude::*;
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    use super::*;

    #[test]
    fn words_are_those_of_python() {
        let strategy = prop::collection::vec("[ab #\\\\'\"$;~\n\té]{0,12}", 300);
        let mut runner = TestRunner::deterministic();
        let texts = strategy.new_tree(&mut runner).unwrap().current();
        const SCRIPT: &str = "import json, shlex, sys
def split(text):
    try: return shlex.split(text)
    except ValueError: return None
print(json.dumps([split(text) for text in json.loads(sys.argv[1])]))";
        let sent = serde_json::to_string(&texts).unwrap();
        let output = Command::new("python3").args(["-c", SCRIPT, &sent]).output().unwrap();
        let expected: Vec<Option<Vec<String>>> = serde_json::from_slice(&output.stdout).unwrap();
        for (text, expected) in texts.iter().zip(expected) {
            assert_eq!(split(text), expected, "{text:?}");
        }
    }
}
