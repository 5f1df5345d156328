//! Reading an object by its table of fields: types, ranges and names are checked here, for every
//! object of native settings.

use std::ops::Range;
use std::time::Duration;

use super::document::{Field, Node};
use super::fields::DEFAULT_PRIORITY;
use super::keywords::FailBehavior;
use super::rule::Rule;
use crate::language::{self, Languages};
use hook_json::field;
use hook_json::text::nearest;

pub(super) const FAIL_BEHAVIOR: &str = "failBehavior";

pub(super) const IGNORED: &str = "it was ignored";

/// The most names or globs in one matcher.
pub(super) const MAX_IN_MATCHER: usize = 256;

/// The treatment of problems in an object.
#[derive(Clone, Copy)]
pub(super) struct Treatment {
    /// The rule of all problems in an object of which nothing may be ignored.
    pub(super) strict: Option<Rule>,
    /// The rule of a value of a wrong type.
    pub(super) wrong_type: Rule,
    /// The consequence of a problem.
    pub(super) consequence: &'static str,
    /// The priority in place of an invalid one.
    pub(super) priority: i32,
}

/// An object whose invalid fields are ignored.
pub(super) const LENIENT: Treatment = Treatment {
    strict: None,
    wrong_type: Rule::WrongType,
    consequence: IGNORED,
    priority: DEFAULT_PRIORITY,
};

/// A valid value.
pub(super) enum Value {
    Bool(bool),
    Number(i64),
    Text(String),
    Texts(Vec<(String, Range<usize>)>),
    FailBehavior(FailBehavior),
    /// A value that the caller reads.
    Other,
}

/// The known fields of an object.
pub(super) struct Values {
    table: &'static [field::Field],
    /// The fields, each with its value if that is valid.
    pub(super) fields: Vec<(Field, Option<Value>)>,
    /// The first problem of a strict object.
    pub(super) problem: Option<String>,
}

impl Values {
    /// Returns the values of an object without fields.
    pub(super) fn none(table: &'static [field::Field]) -> Self {
        Self { table, fields: Vec::new(), problem: None }
    }

    pub(super) fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().map(|(field, _)| field).find(|field| field.name == name)
    }

    /// Returns the value of a field as it is written.
    pub(super) fn node(&self, name: &str) -> Option<&Node> {
        self.field(name).map(|field| &field.value)
    }

    fn value(&self, name: &str) -> Option<&Value> {
        self.fields.iter().find(|(field, _)| field.name == name)?.1.as_ref()
    }

    /// Returns a boolean, or the default of the table.
    pub(super) fn bool(&self, name: &str) -> bool {
        let default = || self.table.iter().find(|field| field.name == name)?.default;
        match self.value(name) {
            Some(Value::Bool(value)) => *value,
            _ => default() == Some("true"),
        }
    }

    pub(super) fn number<N: TryFrom<i64>>(&self, name: &str) -> Option<N> {
        match self.value(name) {
            Some(Value::Number(number)) => N::try_from(*number).ok(),
            _ => None,
        }
    }

    pub(super) fn duration(&self, name: &str) -> Option<Duration> {
        self.number(name).map(Duration::from_millis)
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        match self.value(name) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Returns the strings of an array, each with its range.
    pub(super) fn located_texts(&self, name: &str) -> Option<&[(String, Range<usize>)]> {
        match self.value(name) {
            Some(Value::Texts(texts)) => Some(texts),
            _ => None,
        }
    }

    pub(super) fn texts(&self, name: &str) -> Vec<String> {
        self.located_texts(name).into_iter().flatten().map(|(text, _)| text.clone()).collect()
    }

    /// Returns the `failBehavior`, under its name or a misspelt one.
    pub(super) fn fail_behavior(&self) -> Option<FailBehavior> {
        // Of several, the stricter one.
        let all = self.fields.iter().filter_map(|(_, value)| match value {
            Some(Value::FailBehavior(behavior)) => Some(*behavior),
            _ => None,
        });
        all.max_by_key(|behavior| *behavior == FailBehavior::Block)
    }

    /// Returns the ranges of the fields.
    pub(super) fn spans(&self) -> HookSpans {
        let range = |name| Some((name, self.node(name)?.value.range()));
        HookSpans(self.table.iter().filter_map(|spec| range(spec.name)).collect())
    }
}

/// Byte ranges of a hook's fields in its file. These need less memory than a `Location`, and few
/// are converted to one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct HookSpans(pub(super) Vec<(&'static str, Range<usize>)>);

impl HookSpans {
    pub(crate) fn get(&self, field: &str) -> Option<&Range<usize>> {
        self.0.iter().find(|(name, _)| *name == field).map(|(_, range)| range)
    }

    pub(crate) fn set(&mut self, field: &'static str, range: Range<usize>) {
        self.0.push((field, range));
    }
}

/// Checks whether an unknown key is a misspelt `failBehavior` with any value but `continue`.
pub(super) fn means_fail_behavior(field: &Field, table: &'static [field::Field]) -> bool {
    let value = field.value.value.to_text();
    nearest(&field.name, table.iter().map(|spec| spec.name)) == Some(FAIL_BEHAVIOR)
        && value.as_deref().and_then(FailBehavior::from_name) != Some(FailBehavior::Continue)
}

/// Returns the fix for an unknown name of an agent.
pub(super) fn language_help(name: &str, languages: &Languages) -> String {
    let known: Vec<&str> = languages.all().map(|known| known.name()).collect();
    let known = if known.is_empty() { language::NAMES.to_vec() } else { known };
    match nearest(name, known.iter().copied()) {
        Some(nearest) => format!("write `{nearest}`"),
        None => format!("write one of {}", known.join(", ")),
    }
}
