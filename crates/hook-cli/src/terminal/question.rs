//! What hooks ask the user, and what the user's lines mean.

use hook_core::run::HostCallError;
use hook_core::text::{lines, one_line, shortened};
use hook_core::{JsonObject, RawJson};

/// How many options there may be to choose from.
const MOST_OPTIONS: usize = 100;

/// How long a question may be, in characters: all of it is shown.
const MOST_SHOWN: usize = 16 * 1024;

/// The questions that there are here.
pub(super) const METHODS: [&str; 4] = ["ui.confirm", "ui.select", "ui.input", "ui.custom"];

/// A question of a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Question {
    /// What is asked.
    title: String,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Confirm {
        message: String,
    },
    Select {
        options: Vec<String>,
    },
    Input {
        placeholder: String,
    },
    /// What a component shows.
    Custom {
        lines: Vec<String>,
    },
}

impl Question {
    /// Reads a host call; `None` where there is no such question here.
    ///
    /// # Errors
    /// When it lacks what the question needs.
    pub(super) fn read(method: &str, params: &RawJson) -> Result<Option<Self>, HostCallError> {
        if !METHODS.contains(&method) {
            return Ok(None);
        }
        let params = params.to_object().unwrap_or_default();
        let kind = match method {
            "ui.confirm" => Kind::Confirm { message: text(&params, "message") },
            "ui.select" => Kind::Select { options: options(&params)? },
            "ui.custom" => Kind::Custom { lines: texts(&params, "lines").unwrap_or_default() },
            _ => Kind::Input { placeholder: text(&params, "placeholder") },
        };
        let question = Self { title: text(&params, "title"), kind };
        // Nobody agrees to what is not shown.
        match question.length() <= MOST_SHOWN {
            true => Ok(Some(question)),
            false => Err(HostCallError::failed(format!(
                "a question may have {MOST_SHOWN} characters, and this one has {}",
                question.length()
            ))),
        }
    }

    /// How many characters the user has to read.
    fn length(&self) -> usize {
        let texts: Vec<&String> = match &self.kind {
            Kind::Confirm { message } => vec![message],
            Kind::Select { options } => options.iter().collect(),
            Kind::Input { placeholder } => vec![placeholder],
            Kind::Custom { lines } => lines.iter().collect(),
        };
        let texts = texts.into_iter().chain([&self.title]);
        texts.map(|text| text.chars().count()).sum()
    }

    /// What the user reads, up to where the answer is typed. Everything of it is escaped.
    pub(super) fn shown(&self, asker: &str) -> String {
        let mut shown = match &self.kind {
            Kind::Custom { .. } => format!("{} shows:\n", said(asker)),
            _ => format!("{} asks: {}\n", said(asker), one_line(&self.title)),
        };
        match &self.kind {
            Kind::Confirm { message } => {
                for line in lines(message).lines() {
                    shown.push_str(&format!("  {line}\n"));
                }
                shown.push_str("[y/N] ");
            }
            Kind::Select { options } => {
                for (number, option) in (1..).zip(options) {
                    shown.push_str(&format!("  {number}) {}\n", one_line(option)));
                }
                shown.push_str(&format!("1 to {}, or nothing: ", options.len()));
            }
            Kind::Custom { lines } => {
                lines.iter().for_each(|line| shown.push_str(&format!("  {}\n", one_line(line))));
                shown.push_str("> ");
            }
            Kind::Input { placeholder } if placeholder.is_empty() => shown.push_str("> "),
            Kind::Input { placeholder } => {
                shown.push_str(&format!("({}) > ", one_line(placeholder)))
            }
        }
        shown
    }

    /// What a line means; `None` of one that is no answer, and is asked again.
    pub(super) fn answer(&self, line: &str) -> Option<RawJson> {
        match &self.kind {
            Kind::Confirm { .. } => match line.trim().to_lowercase().as_str() {
                "y" | "yes" => Some(RawJson::from_bool(true)),
                "" | "n" | "no" => Some(RawJson::from_bool(false)),
                _ => None,
            },
            Kind::Select { .. } if line.trim().is_empty() => Some(RawJson::null()),
            Kind::Select { options } => {
                let number: usize = line.trim().parse().ok()?;
                options.get(number.checked_sub(1)?).map(|option| RawJson::from_text(option))
            }
            Kind::Input { .. } => Some(RawJson::from_text(line)),
            // A line alone is the key that ends it.
            Kind::Custom { .. } if line.is_empty() => Some(RawJson::from_text("\r")),
            Kind::Custom { .. } => Some(RawJson::from_text(line)),
        }
    }

    /// What it means that the user ends the input instead.
    pub(super) fn unanswered(&self) -> RawJson {
        match &self.kind {
            Kind::Confirm { .. } => RawJson::from_bool(false),
            Kind::Select { .. } | Kind::Input { .. } | Kind::Custom { .. } => RawJson::null(),
        }
    }
}

/// The text of a parameter, if it has one.
pub(super) fn text(params: &JsonObject, name: &str) -> String {
    params.get(name).and_then(RawJson::to_text).unwrap_or_default()
}

/// A parameter that is a list of texts; one that is absent is an empty list.
fn texts(params: &JsonObject, name: &str) -> Option<Vec<String>> {
    let items = params.get(name).and_then(RawJson::to_items).unwrap_or_default();
    items.iter().map(RawJson::to_text).collect()
}

fn options(params: &JsonObject) -> Result<Vec<String>, HostCallError> {
    match texts(params, "options") {
        Some(options) if !options.is_empty() && options.len() <= MOST_OPTIONS => Ok(options),
        _ => Err(HostCallError::failed(format!(
            "`options` of `ui.select` are 1 to {MOST_OPTIONS} strings"
        ))),
    }
}

/// The beginning of what a hook says, so that it cannot change the terminal.
pub(super) fn said(text: &str) -> String {
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
        assert_eq!(confirm.unanswered().as_str(), "false");
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
        let shown = question("ui.confirm", &params).shown("x");
        assert!(shown.contains("  one\n  two echo") && shown.contains("; rm -rf ~"), "{shown}");
        let endless = format!(r#"{{"title": "t", "message": "{}"}}"#, "a".repeat(MOST_SHOWN));
        assert!(Question::read("ui.confirm", &RawJson::parse(endless).unwrap()).is_err());
    }

    #[test]
    fn what_a_hook_says_cannot_change_the_terminal() {
        let confirm =
            question("ui.confirm", r#"{"title": "\u001b[2Jt", "message": "a\u001b[1A\nb\r"}"#);
        let shown = confirm.shown("x\u{1b}c");
        assert!(!shown.contains(['\u{1b}', '\r']), "{shown:?}");
        assert!(shown.ends_with("[y/N] "), "{shown:?}");
    }
}
