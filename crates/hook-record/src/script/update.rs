//! Replacing a scenario's failed expectations by the actual results.

use std::fmt;
use std::time::Duration;

use hook_protocol::{Events, FailureCode};
use serde_json::Value as Json;
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, TableLike, Value};

use super::error::ScenarioError;
use super::expectation::{
    HOOKS, KeyStep, NOT_STARTED, ScenarioKey, hook_names, literal_pattern, not_started_names,
};
use super::scenario::{Scenario, TestReport};

/// An updated scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct Updated {
    /// The new text of the file; the old one, if there are no changes.
    pub text: String,
    /// The changes.
    pub changes: Vec<Change>,
    /// The mismatches that could not be updated, with reasons.
    pub skipped: Vec<NotUpdated>,
}

/// A change of one key.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The index of the test in the scenario.
    pub test: usize,
    /// The key.
    pub key: ScenarioKey,
    /// The expected value before; `None` if there was none.
    pub before: Option<Json>,
    /// The expected value now; `None` if the key was removed, since no value was found.
    pub after: Option<Json>,
}

/// A mismatch that could not be updated.
#[derive(Debug, Clone, PartialEq)]
pub struct NotUpdated {
    /// The index of the test in the scenario.
    pub test: usize,
    /// The key, or the path in the response if no key expected it.
    pub key: String,
    /// The reason.
    pub reason: NotUpdatedReason,
}

/// The reason that a mismatch could not be updated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotUpdatedReason {
    /// The request failed, and the test does not expect that.
    Failed,
    /// The request was cut off, which is not reproducible.
    CutOff,
    /// TOML cannot represent the value found.
    NotToml,
    /// The key was not found.
    Missing,
}

impl fmt::Display for NotUpdatedReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Failed => {
                "the request failed, which is seldom what a test should expect; \
                 if it is, write `error` by hand"
            }
            Self::CutOff => "the request was cut off, which says nothing of the next time",
            Self::NotToml => "what was found has no form in TOML; write it by hand",
            Self::Missing => "the key is not where it was; write it by hand",
        })
    }
}

/// Replaces the expectations of failed tests in a scenario's text by the actual values. Only keys
/// with mismatches change. Comments, order and formatting stay.
///
/// A text replaces an expression. A key whose value was not found at all is removed. A test without
/// `expect` gets one: the decision, the hooks and the reason; if present, the hooks not started,
/// the grant and the delay of a retry; or the error. Each report comes with the index of its test.
///
/// # Errors
/// If the text is no scenario.
pub fn update(
    text: &str,
    reports: &[(usize, &TestReport)],
    events: &Events,
) -> Result<Updated, ScenarioError> {
    let toml_error =
        |error: toml_edit::TomlError| ScenarioError::toml(error.message(), text, error.span());
    let mut document: DocumentMut = text.parse().map_err(toml_error)?;
    let mut updated = Updated { text: text.to_owned(), changes: Vec::new(), skipped: Vec::new() };
    for &(test, report) in reports {
        let Some(node) = test_table(&mut document, test) else { continue };
        if is_transient(report) {
            let key = "expect".to_owned();
            let reason = NotUpdatedReason::CutOff;
            updated.skipped.push(NotUpdated { test, key, reason });
        } else if node.get("expect").is_none() {
            add_expectations(node, test, report, &mut updated);
        } else {
            update_mismatches(node, test, report, &mut updated);
        }
    }
    if !updated.changes.is_empty() {
        let written = with_line_endings_of(text, document.to_string());
        Scenario::parse(&written, events)?;
        updated.text = written;
    }
    Ok(updated)
}

/// Checks whether the response depends on the moment, not on the test.
fn is_transient(report: &TestReport) -> bool {
    use FailureCode::{Cancelled, DeadlineExceeded, InternalError, NoHandler, ShuttingDown};
    let transient_codes = [Cancelled, DeadlineExceeded, InternalError, NoHandler, ShuttingDown];
    report.response.error().is_some_and(|error| transient_codes.contains(&error.code))
}

fn test_table(document: &mut DocumentMut, index: usize) -> Option<&mut dyn TableLike> {
    match document.get_mut("test")? {
        Item::ArrayOfTables(tests) => Some(tests.get_mut(index)?),
        Item::Value(Value::Array(tests)) => match tests.get_mut(index)? {
            Value::InlineTable(test) => Some(test),
            _ => None,
        },
        _ => None,
    }
}

/// Adds expectations to a test without any.
fn add_expectations(
    test: &mut dyn TableLike,
    index: usize,
    report: &TestReport,
    updated: &mut Updated,
) {
    let response = &report.response;
    let mut expect: Vec<(&str, Json)> = Vec::new();
    if let Some(error) = response.error() {
        expect.push(("error", Json::from(error.code.as_str())));
    } else {
        expect.push(("decision", Json::from(response.processed.decision.as_str())));
        expect.push((HOOKS, Json::from(hook_names(response))));
        if !response.not_started.is_empty() {
            expect.push((NOT_STARTED, Json::from(not_started_names(response))));
        }
        if let Some(after) = response.processed.retry_after {
            expect.push(("retryAfterMs", milliseconds(after)));
        }
        if response.processed.granted {
            expect.push(("granted", Json::from(true)));
        }
        if let Some(reason) = &response.processed.reason {
            expect.push(("reason", Json::from(literal_pattern(reason))));
        }
    }
    let mut table = InlineTable::new();
    for (name, found) in expect {
        let Some(value) = toml(&found) else { continue };
        table.insert(name, value);
        let key = ScenarioKey::of(&["expect", name]);
        updated.changes.push(Change { test: index, key, before: None, after: Some(found) });
    }
    test.insert("expect", Item::Value(Value::InlineTable(table)));
}

/// Converts to milliseconds, without decimals if whole.
fn milliseconds(time: Duration) -> Json {
    match time.subsec_nanos() % 1_000_000 {
        0 => u64::try_from(time.as_millis()).map_or(Json::Null, Json::from),
        _ => Json::from(time.as_secs_f64() * 1_000.0),
    }
}

fn update_mismatches(
    test: &mut dyn TableLike,
    index: usize,
    report: &TestReport,
    updated: &mut Updated,
) {
    let mut skip = |key: String, reason| {
        updated.skipped.push(NotUpdated { test: index, key, reason });
    };
    // The response has none of the expected values; removing all keys would hide that.
    if report.mismatches.iter().any(|mismatch| mismatch.key.is_none()) {
        skip("expect".to_owned(), NotUpdatedReason::Failed);
        return;
    }
    for mismatch in &report.mismatches {
        let Some(key) = &mismatch.key else { continue };
        let literal_keys = [HOOKS, NOT_STARTED].map(|name| ScenarioKey::of(&["expect", name]));
        let is_literal = literal_keys.contains(key);
        let found = if is_literal { mismatch.found.clone() } else { expected(&mismatch.found) };
        let after = match write(Node::Table(test), &key.0, &found) {
            Ok(()) => (!found.is_null()).then_some(found),
            Err(reason) => {
                skip(key.to_string(), reason);
                continue;
            }
        };
        updated.changes.push(Change {
            test: index,
            key: key.clone(),
            before: Some(mismatch.expected.clone()),
            after,
        });
    }
}

/// Returns the expectation that this value meets: texts must not be read as expressions, and `null`
/// fields, which TOML cannot represent, are left out.
fn expected(found: &Json) -> Json {
    match found {
        Json::String(text) => Json::from(literal_pattern(text)),
        Json::Array(items) => items.iter().map(expected).collect(),
        Json::Object(fields) => fields
            .iter()
            .filter(|(_, field)| !field.is_null())
            .map(|(name, field)| (name.clone(), expected(field)))
            .collect(),
        other => other.clone(),
    }
}

enum Node<'d> {
    Table(&'d mut dyn TableLike),
    Array(&'d mut Array),
    Tables(&'d mut ArrayOfTables),
}

impl<'d> Node<'d> {
    fn from_item(item: &'d mut Item) -> Option<Self> {
        match item {
            Item::Table(table) => Some(Self::Table(table)),
            Item::ArrayOfTables(tables) => Some(Self::Tables(tables)),
            Item::Value(value) => Self::from_value(value),
            Item::None => None,
        }
    }

    fn from_value(value: &'d mut Value) -> Option<Self> {
        match value {
            Value::InlineTable(table) => Some(Self::Table(table)),
            Value::Array(array) => Some(Self::Array(array)),
            _ => None,
        }
    }
}

/// Writes a value at this path.
fn write(node: Node<'_>, steps: &[KeyStep], found: &Json) -> Result<(), NotUpdatedReason> {
    const MISSING: NotUpdatedReason = NotUpdatedReason::Missing;
    match (node, steps) {
        (Node::Table(table), [KeyStep::Field(name)]) => write_field(table, name, found),
        (Node::Array(array), [KeyStep::Index(index)]) => {
            let value = toml(found).ok_or(NotUpdatedReason::NotToml)?;
            if *index >= array.len() {
                return Err(MISSING);
            }
            array.replace(*index, value);
            Ok(())
        }
        (Node::Table(table), [KeyStep::Field(name), rest @ ..]) => {
            let inner = table.get_mut(name).and_then(Node::from_item);
            write(inner.ok_or(MISSING)?, rest, found)
        }
        (Node::Array(array), [KeyStep::Index(index), rest @ ..]) => {
            let inner = array.get_mut(*index).and_then(Node::from_value);
            write(inner.ok_or(MISSING)?, rest, found)
        }
        (Node::Tables(tables), [KeyStep::Index(index), rest @ ..]) if !rest.is_empty() => {
            write(Node::Table(tables.get_mut(*index).ok_or(MISSING)?), rest, found)
        }
        _ => Err(MISSING),
    }
}

fn write_field(
    table: &mut dyn TableLike,
    name: &str,
    found: &Json,
) -> Result<(), NotUpdatedReason> {
    if found.is_null() {
        remove_field(table, name);
        return Ok(());
    }
    let mut value = toml(found).ok_or(NotUpdatedReason::NotToml)?;
    let item = table.get_mut(name).ok_or(NotUpdatedReason::Missing)?;
    if let (Item::Value(Value::Array(before)), Value::Array(after)) = (&mut *item, &value) {
        write_array(before, after);
        return Ok(());
    }
    if let Item::Value(before) = item {
        *value.decor_mut() = before.decor().clone();
    }
    *item = Item::Value(value);
    Ok(())
}

/// Removes a key. The blank before a closing brace belongs to the last value.
fn remove_field(table: &mut dyn TableLike, name: &str) {
    let is_last = table.iter().last().is_some_and(|(last, _)| last == name);
    let Some(Item::Value(removed)) = table.remove(name) else { return };
    if is_last
        && let Some((_, Item::Value(last))) = table.iter_mut().last()
        && let Some(suffix) = removed.decor().suffix()
    {
        last.decor_mut().set_suffix(suffix.clone());
    }
}

/// Replaces the elements of an array, keeping comments and blanks around them.
fn write_array(array: &mut Array, after: &Array) {
    while array.len() > after.len() {
        let removed = array.remove(array.len() - 1);
        // The comment before it belongs to the element before it.
        let prefix = removed.decor().prefix().and_then(toml_edit::RawString::as_str);
        if let Some(prefix) = prefix.filter(|prefix| prefix.contains('#')) {
            let trailing = array.trailing().as_str().unwrap_or_default();
            let trailing = if trailing.trim().is_empty() { "\n" } else { trailing };
            array.set_trailing(format!("{}{trailing}", prefix.trim_end()));
        }
    }
    for (index, value) in after.iter().enumerate() {
        let is_same = |old: &Value| match (old, value) {
            (Value::String(before), Value::String(value)) => before.value() == value.value(),
            _ => false,
        };
        match array.get(index) {
            Some(before) if is_same(before) => {}
            Some(_) => {
                array.replace(index, value.clone());
            }
            None => {
                let mut value = value.clone();
                match array.get(index.wrapping_sub(1)) {
                    // On its own line, if the other elements are.
                    Some(last) if is_on_own_line(last) => {
                        let prefix = last.decor().prefix().cloned().unwrap_or_default();
                        value.decor_mut().set_prefix(prefix);
                        array.push_formatted(value);
                    }
                    _ => array.push(value),
                }
            }
        }
    }
}

fn is_on_own_line(value: &Value) -> bool {
    let prefix = value.decor().prefix().and_then(toml_edit::RawString::as_str);
    prefix.is_some_and(|prefix| prefix.contains('\n') && !prefix.contains('#'))
}

/// Converts a JSON value to TOML, if possible.
fn toml(value: &Json) -> Option<Value> {
    Some(match value {
        Json::Null => return None,
        Json::Bool(value) => Value::from(*value),
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => Value::from(number),
            // Too large for TOML's integers; a float would lose digits.
            (None, Some(_)) => return None,
            (None, None) => Value::from(number.as_f64()?),
        },
        Json::String(text) => Value::from(text.as_str()),
        Json::Array(items) => Value::Array(items.iter().map(toml).collect::<Option<_>>()?),
        Json::Object(fields) => {
            let mut table = InlineTable::new();
            for (name, field) in fields {
                table.insert(name, toml(field)?);
            }
            Value::InlineTable(table)
        }
    })
}

/// Restores the original line endings and byte order mark, which the TOML writer drops.
fn with_line_endings_of(text: &str, written: String) -> String {
    let lines = text.matches('\n').count();
    let with_returns = text.matches("\r\n").count();
    let mut written = match lines > 0 && lines == with_returns {
        true => written.replace("\r\n", "\n").replace('\n', "\r\n"),
        false => written,
    };
    if text.starts_with('\u{feff}') && !written.starts_with('\u{feff}') {
        written.insert(0, '\u{feff}');
    }
    written
}
