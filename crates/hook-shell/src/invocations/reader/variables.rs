//! Values of variables.

use std::rc::Rc;

use super::Reader;
use crate::invocations::argument::{Argument, UNKNOWN};
use crate::invocations::state::Value;

/// Variables that the shell itself sets again and again.
const DYNAMIC: [&str; 9] = [
    "_",
    "BASH_COMMAND",
    "BASH_REMATCH",
    "DIRSTACK",
    "FUNCNAME",
    "OPTARG",
    "PIPESTATUS",
    "RANDOM",
    "REPLY",
];

/// Variables that change what later commands mean.
const SPECIAL: [&str; 6] =
    ["BASH_ALIASES", "BASH_CMDS", "CDPATH", "FUNCNEST", "PROMPT_COMMAND", "PS4"];

impl Reader<'_> {
    /// Returns a variable's value as a text.
    pub(super) fn text_value(&mut self, name: &str) -> String {
        match self.value(name) {
            Value::Text(text) => text,
            Value::Unset => String::new(),
            Value::List(values) => {
                values.into_iter().next().map(|value| value.text).unwrap_or_default()
            }
            Value::Initial | Value::Number => UNKNOWN.to_string(),
        }
    }

    /// Returns the positional parameters that are chosen.
    pub(super) fn parameters(&mut self) -> Option<Vec<Argument>> {
        let parameters = Rc::clone(&self.state.parameters);
        let index = self.choose("@", parameters.len());
        parameters.get(index).cloned().flatten()
    }

    /// Returns the value of a variable that is chosen.
    pub(super) fn value(&mut self, name: &str) -> Value {
        let number = name.parse::<usize>().ok();
        match name {
            "?" | "$" | "!" => return Value::Number,
            "@" | "*" | "#" => {}
            _ if number.is_some_and(|number| number > 0) => {}
            _ => return self.named_value(name),
        }
        let Some(parameters) = self.parameters() else {
            return if name == "#" { Value::Number } else { Value::Initial };
        };
        match (name, number) {
            ("#", _) => Value::Text(parameters.len().to_string()),
            (_, Some(number)) => parameters
                .get(number - 1)
                .map_or(Value::Unset, |argument| Value::Text(argument.text.clone())),
            _ if parameters.is_empty() => Value::Unset,
            _ => Value::List(parameters),
        }
    }

    pub(super) fn named_value(&mut self, name: &str) -> Value {
        let count = self.state.variables.get(name).len();
        let index = self.choose(name, count);
        match self.state.variables.get(name).get(index).cloned().unwrap_or(Value::Initial) {
            Value::Initial => {}
            value => return value,
        }
        let text = match name {
            "HOME" => self.surroundings.home.to_owned(),
            "PWD" => self.cwd_text(),
            "TMPDIR" | "TMP" | "TEMP" => "/tmp".to_owned(),
            "IFS" => " \t\n".to_owned(),
            "RANDOM" | "SECONDS" | "LINENO" | "UID" | "EUID" | "PPID" => return Value::Number,
            "HOOK_PROJECT_DIR" | "CLAUDE_PROJECT_DIR" | "GEMINI_PROJECT_DIR" => {
                self.surroundings.project.to_owned()
            }
            _ => return Value::Initial,
        };
        Value::Text(text)
    }

    /// Gives a variable values.
    pub(super) fn assign(&mut self, name: &str, values: Vec<Value>) {
        if SPECIAL.contains(&name)
            || name == "IFS"
                && values
                    .iter()
                    .any(|value| !matches!(value, Value::Text(text) if !text.contains(UNKNOWN)))
        {
            let reason = format!("`{name}` changes what later commands mean");
            self.opaque(reason, self.shown(0..0));
        }
        if self.constants.contains(name) {
            // Bash skips the rest of the line.
            self.opaque("it assigns to a constant", self.shown(0..0));
        }
        match DYNAMIC.contains(&name) {
            true => self.state.variables.set(name, vec![Value::Text(UNKNOWN.to_string())]),
            false => self.state.variables.set(name, values),
        }
    }

    pub(super) fn forget(&mut self, name: &str) {
        self.assign(name, vec![Value::Text(UNKNOWN.to_string())]);
    }
}
