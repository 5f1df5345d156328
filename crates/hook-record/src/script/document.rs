//! The text of a scenario as a tree with locations.

use std::ops::Range;

use toml_edit::{Document, Item, TableLike, Value};

use super::error::{ScenarioError, ScenarioErrorKind};
use super::expectation::{KeyStep, ScenarioKey};

/// A scenario's text with locations.
pub(super) struct LocatedDocument<'t> {
    text: &'t str,
    document: Document<&'t str>,
}

impl<'t> LocatedDocument<'t> {
    pub(super) fn parse(text: &'t str) -> Result<Self, ScenarioError> {
        let document = Document::parse(text)
            .map_err(|error| ScenarioError::toml(error.message(), text, error.span()))?;
        Ok(Self { text, document })
    }

    /// Returns the line in which a test begins, from 1.
    pub(super) fn test_line(&self, test: usize) -> usize {
        let start = self.key_span(test, &ScenarioKey::default()).map_or(0, |span| span.start);
        self.text.get(..start).unwrap_or_default().matches('\n').count() + 1
    }

    /// Creates an error at a key of a test, or at the nearest existing key.
    pub(super) fn error(
        &self,
        test: usize,
        key: &ScenarioKey,
        kind: ScenarioErrorKind,
    ) -> ScenarioError {
        ScenarioError::new(kind, self.text, self.key_span(test, key))
    }

    /// Checks that a test has no values that JSON cannot represent.
    pub(super) fn check_values(&self, test: usize) -> Result<(), ScenarioError> {
        match self.test(test).and_then(Node::find_non_json) {
            Some((found, span)) => {
                Err(ScenarioError::new(ScenarioErrorKind::NotJson { found }, self.text, span))
            }
            None => Ok(()),
        }
    }

    fn test(&self, index: usize) -> Option<Node<'_>> {
        match self.document.get("test")? {
            Item::ArrayOfTables(tests) => {
                tests.get(index).map(|test| Node::Table(test, test.span()))
            }
            Item::Value(Value::Array(tests)) => tests.get(index).map(Node::from_value),
            _ => None,
        }
    }

    fn key_span(&self, test: usize, key: &ScenarioKey) -> Option<Range<usize>> {
        let mut node = self.test(test)?;
        let mut span = node.span();
        for step in &key.0 {
            let Some(next) = node.get(step) else { break };
            node = next;
            span = node.span().or(span);
        }
        span
    }
}

enum Node<'d> {
    Table(&'d dyn TableLike, Option<Range<usize>>),
    Item(&'d Item),
    Value(&'d Value),
}

impl<'d> Node<'d> {
    fn from_value(value: &'d Value) -> Self {
        match value {
            Value::InlineTable(table) => Self::Table(table, value.span()),
            value => Self::Value(value),
        }
    }

    fn from_item(item: &'d Item) -> Self {
        match item {
            Item::Table(table) => Self::Table(table, item.span()),
            Item::Value(value) => Self::from_value(value),
            item => Self::Item(item),
        }
    }

    fn span(&self) -> Option<Range<usize>> {
        match self {
            Self::Table(_, span) => span.clone(),
            Self::Item(item) => item.span(),
            Self::Value(value) => value.span(),
        }
    }

    fn get(&self, step: &KeyStep) -> Option<Self> {
        match (self, step) {
            (Self::Table(table, _), KeyStep::Field(name)) => table.get(name).map(Self::from_item),
            (Self::Value(Value::Array(items)), KeyStep::Index(index)) => {
                items.get(*index).map(Self::from_value)
            }
            (Self::Item(Item::ArrayOfTables(tables)), KeyStep::Index(index)) => {
                tables.get(*index).map(|table| Self::Table(table, table.span()))
            }
            _ => None,
        }
    }

    /// Finds a date, or a number that is not finite. The parser limits the recursion's depth.
    fn find_non_json(self) -> Option<(&'static str, Option<Range<usize>>)> {
        match self {
            Self::Table(table, _) => {
                table.iter().find_map(|(_, item)| Self::from_item(item).find_non_json())
            }
            Self::Value(Value::Array(items)) => {
                items.iter().find_map(|item| Self::from_value(item).find_non_json())
            }
            Self::Item(Item::ArrayOfTables(tables)) => {
                tables.iter().find_map(|table| Self::Table(table, None).find_non_json())
            }
            Self::Value(Value::Datetime(date)) => Some(("a date or time", date.span())),
            Self::Value(Value::Float(number)) if !number.value().is_finite() => {
                Some(("an infinite number, or one that is none,", number.span()))
            }
            Self::Item(_) | Self::Value(_) => None,
        }
    }
}
