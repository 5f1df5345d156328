//! Questions of hooks to the user, and the meaning of typed lines.

use hook_json::text::{escaped_lines, one_line, shortened};
use hook_json::{JsonObject, RawJson};
use hook_run::HostCallError;

/// The maximum number of options to choose from.
const MAX_OPTIONS: usize = 100;

/// The maximum length of a question in characters, since all of it is shown.
const MAX_CHARACTERS: usize = 16 * 1024;

/// The supported kinds of questions.
pub(super) const METHODS: [&str; 4] = ["ui.confirm", "ui.select", "ui.input", "ui.custom"];

/// A question of a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Question {
    /// The title, on one line.
    title: String,
    kind: QuestionKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum QuestionKind {
    Confirm {
        message: String,
    },
    Select {
        options: Vec<String>,
    },
    Input {
        placeholder: String,
    },
    /// The lines of a component.
    Custom {
        lines: Vec<String>,
    },
}

impl Question {
    /// Parses a host call. Returns `None` if it is no supported question.
    ///
    /// # Errors
    /// Returns an error if the question lacks a parameter or is too long.
    pub(super) fn read(method: &str, params: &RawJson) -> Result<Option<Self>, HostCallError> {
        if !METHODS.contains(&method) {
            return Ok(None);
        }
        let params = params.to_object().unwrap_or_default();
        let kind = match method {
            "ui.confirm" => QuestionKind::Confirm { message: text(&params, "message") },
            "ui.select" => QuestionKind::Select { options: options(&params)? },
            "ui.custom" => {
                QuestionKind::Custom { lines: texts(&params, "lines").unwrap_or_default() }
            }
            _ => QuestionKind::Input { placeholder: text(&params, "placeholder") },
        };
        let question = Self { title: text(&params, "title"), kind };
        // No one should agree to a text that is not fully shown.
        match question.length() <= MAX_CHARACTERS {
            true => Ok(Some(question)),
            false => Err(HostCallError::failed(format!(
                "a question may have {MAX_CHARACTERS} characters, and this one has {}",
                question.length()
            ))),
        }
    }

    /// Returns the number of characters that the user has to read.
    fn length(&self) -> usize {
        let texts: Vec<&String> = match &self.kind {
            QuestionKind::Confirm { message } => vec![message],
            QuestionKind::Select { options } => options.iter().collect(),
            QuestionKind::Input { placeholder } => vec![placeholder],
            QuestionKind::Custom { lines } => lines.iter().collect(),
        };
        let texts = texts.into_iter().chain([&self.title]);
        texts.map(|text| text.chars().count()).sum()
    }

    /// Returns the escaped text of the question, up to the cursor.
    pub(super) fn prompt(&self, hook: &str) -> String {
        let mut prompt = match &self.kind {
            QuestionKind::Custom { .. } => format!("{} shows:\n", display_text(hook)),
            _ => format!("{} asks: {}\n", display_text(hook), one_line(&self.title)),
        };
        match &self.kind {
            QuestionKind::Confirm { message } => {
                for line in escaped_lines(message).lines() {
                    prompt.push_str(&format!("  {line}\n"));
                }
                prompt.push_str("[y/N] ");
            }
            QuestionKind::Select { options } => {
                for (number, option) in (1..).zip(options) {
                    prompt.push_str(&format!("  {number}) {}\n", one_line(option)));
                }
                prompt.push_str(&format!("1 to {}, or nothing: ", options.len()));
            }
            QuestionKind::Custom { lines } => {
                lines.iter().for_each(|line| prompt.push_str(&format!("  {}\n", one_line(line))));
                prompt.push_str("> ");
            }
            QuestionKind::Input { placeholder } if placeholder.is_empty() => prompt.push_str("> "),
            QuestionKind::Input { placeholder } => {
                prompt.push_str(&format!("({}) > ", one_line(placeholder)))
            }
        }
        prompt
    }

    /// Parses a typed line. Returns `None` for an invalid answer; the question is then repeated.
    pub(super) fn answer(&self, line: &str) -> Option<RawJson> {
        match &self.kind {
            QuestionKind::Confirm { .. } => match line.trim().to_lowercase().as_str() {
                "y" | "yes" => Some(RawJson::from_bool(true)),
                "" | "n" | "no" => Some(RawJson::from_bool(false)),
                _ => None,
            },
            QuestionKind::Select { .. } if line.trim().is_empty() => Some(RawJson::null()),
            QuestionKind::Select { options } => {
                let number: usize = line.trim().parse().ok()?;
                options.get(number.checked_sub(1)?).map(|option| RawJson::from_text(option))
            }
            QuestionKind::Input { .. } => Some(RawJson::from_text(line)),
            // An empty line stands for the Enter key.
            QuestionKind::Custom { .. } if line.is_empty() => Some(RawJson::from_text("\r")),
            QuestionKind::Custom { .. } => Some(RawJson::from_text(line)),
        }
    }

    /// Returns the answer if the user ends the input instead.
    pub(super) fn default_answer(&self) -> RawJson {
        match &self.kind {
            QuestionKind::Confirm { .. } => RawJson::from_bool(false),
            QuestionKind::Select { .. }
            | QuestionKind::Input { .. }
            | QuestionKind::Custom { .. } => RawJson::null(),
        }
    }
}

/// Returns the text of a parameter, or an empty text.
pub(super) fn text(params: &JsonObject, name: &str) -> String {
    params.get(name).and_then(RawJson::to_text).unwrap_or_default()
}

/// Returns a parameter that is a list of texts; an absent one is an empty list.
fn texts(params: &JsonObject, name: &str) -> Option<Vec<String>> {
    let items = params.get(name).and_then(RawJson::to_items).unwrap_or_default();
    items.iter().map(RawJson::to_text).collect()
}

fn options(params: &JsonObject) -> Result<Vec<String>, HostCallError> {
    match texts(params, "options") {
        Some(options) if !options.is_empty() && options.len() <= MAX_OPTIONS => Ok(options),
        _ => Err(HostCallError::failed(format!(
            "`options` of `ui.select` are 1 to {MAX_OPTIONS} strings"
        ))),
    }
}

/// Returns the beginning of a hook's text, escaped so that it cannot control the terminal.
pub(super) fn display_text(text: &str) -> String {
    shortened(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(method: &str, params: &str) -> Question {
        Question::read(method, &RawJson::parse(params).unwrap()).unwrap().unwrap()
    }

    #[test]
    fn only_yes_is_yes() {
        let confirm = question("ui.confirm", r#"{"title": "t", "message": "m"}"#);
        for (line, expected) in [
            ("y", Some("true")),
            (" YES ", Some("true")),
            ("", Some("false")),
            ("n", Some("false")),
            ("no", Some("false")),
            ("yep", None),
            ("yy", None),
        ] {
            let answer = confirm.answer(line);
            assert_eq!(answer.as_ref().map(RawJson::as_str), expected, "{line:?}");
        }
        assert_eq!(confirm.default_answer().as_str(), "false");
    }

    #[test]
    fn an_option_is_chosen_by_its_number() {
        let select = question("ui.select", r#"{"title": "t", "options": ["a", "b"]}"#);
        for (line, expected) in [
            ("1", Some("\"a\"")),
            ("2", Some("\"b\"")),
            ("", Some("null")),
            ("0", None),
            ("3", None),
            ("a", None),
        ] {
            let answer = select.answer(line);
            assert_eq!(answer.as_ref().map(RawJson::as_str), expected, "{line:?}");
        }
    }

    #[test]
    fn what_cannot_be_asked_is_refused() {
        for params in ["{}", r#"{"options": []}"#, r#"{"options": [1]}"#, "null"] {
            let params = RawJson::parse(params).unwrap();
            assert!(Question::read("ui.select", &params).is_err(), "{params:?}");
        }
        assert_eq!(Question::read("ui.editor", &RawJson::null()), Ok(None));
    }

    #[test]
    fn all_of_a_question_is_shown_or_it_is_not_asked() {
        let command = format!("echo {}; rm -rf ~", "a".repeat(1_000));
        let params = format!(r#"{{"title": "t", "message": "one\ntwo {command}"}}"#);
        let shown = question("ui.confirm", &params).prompt("x");
        assert!(shown.contains("  one\n  two echo") && shown.contains("; rm -rf ~"), "{shown}");
        let endless = format!(r#"{{"title": "t", "message": "{}"}}"#, "a".repeat(MAX_CHARACTERS));
        assert!(Question::read("ui.confirm", &RawJson::parse(endless).unwrap()).is_err());
    }

    #[test]
    fn what_a_hook_says_cannot_change_the_terminal() {
        let confirm =
            question("ui.confirm", r#"{"title": "\u001b[2Jt", "message": "a\u001b[1A\nb\r"}"#);
        let shown = confirm.prompt("x\u{1b}c");
        assert!(!shown.contains(['\u{1b}', '\r']), "{shown:?}");
        assert!(shown.ends_with("[y/N] "), "{shown:?}");
    }
}
