//! Walking a settings document with the place of every value.

use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use super::{Diagnostic, Place, Severity};
use crate::json::{JsonError, JsonKind, RawJson, locate_entries, locate_items};
use crate::nearest::nearest;

/// A settings text and the problems found in it so far.
pub(super) struct Document<'t> {
    text: &'t str,
    file: Option<Arc<PathBuf>>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// One value in a document.
#[derive(Debug, Clone)]
pub(super) struct Node {
    range: Range<usize>,
    path: String,
}

/// One field of an object in a document.
pub(super) struct Field {
    pub(super) name: String,
    pub(super) value: Node,
    /// The place to point at when the name itself is wrong.
    name_at: usize,
}

impl<'t> Document<'t> {
    pub(super) fn new(text: &'t str, file: Option<PathBuf>) -> Self {
        Self { text, file: file.map(Arc::new), diagnostics: Vec::new() }
    }

    /// The whole document.
    pub(super) fn root(&self) -> Result<Node, JsonError> {
        RawJson::parse(self.text)?;
        let start = self.text.len() - self.text.trim_start().len();
        Ok(Node { range: start..self.text.trim_end().len(), path: String::new() })
    }

    fn text_of(&self, node: &Node) -> &'t str {
        self.text.get(node.range.clone()).unwrap_or("null")
    }

    pub(super) fn value(&self, node: &Node) -> RawJson {
        RawJson::parse(self.text_of(node)).unwrap_or_else(|_| RawJson::from_text(""))
    }

    pub(super) fn kind(&self, node: &Node) -> JsonKind {
        self.value(node).kind()
    }

    /// The fields of an object, the last of duplicates, `null` left out; `None` for anything else.
    pub(super) fn fields(&self, node: &Node) -> Option<Vec<Field>> {
        let mut fields: Vec<Field> = Vec::new();
        let mut positions: HashMap<String, usize> = HashMap::new();
        for entry in locate_entries(self.text_of(node)).ok()? {
            let base = node.range.start;
            let value = base + entry.value.start..base + entry.value.end;
            let joint = if node.path.is_empty() { "" } else { "." };
            let field = Field {
                value: Node {
                    range: value.clone(),
                    path: format!("{}{joint}{}", node.path, entry.key),
                },
                name_at: entry.key_at.map_or(value.start, |at| base + at),
                name: entry.key,
            };
            match positions.get(&field.name) {
                Some(position) => fields[*position] = field,
                None => {
                    positions.insert(field.name.clone(), fields.len());
                    fields.push(field);
                }
            }
        }
        fields.retain(|field| self.kind(&field.value) != JsonKind::Null);
        Some(fields)
    }

    /// The elements of an array; `None` for anything else.
    pub(super) fn items(&self, node: &Node) -> Option<Vec<Node>> {
        let base = node.range.start;
        let items = locate_items(self.text_of(node)).ok()?;
        let item = |(index, range): (usize, Range<usize>)| Node {
            range: base + range.start..base + range.end,
            path: format!("{}[{index}]", node.path),
        };
        Some(items.into_iter().enumerate().map(item).collect())
    }

    pub(super) fn place(&self, node: &Node) -> Place {
        self.place_at(node.range.start, node.path.clone())
    }

    fn place_at(&self, offset: usize, path: String) -> Place {
        let before = self.text.get(..offset).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Place {
            file: self.file.clone(),
            path,
            line: before.matches('\n').count() + 1,
            column: before.get(line_start..).unwrap_or_default().chars().count() + 1,
        }
    }

    /// Reports a problem with a value.
    pub(super) fn report(&mut self, severity: Severity, node: &Node, message: impl Into<String>) {
        let place = self.place(node);
        self.push(severity, place, message.into(), None);
    }

    /// Reports a value of the wrong kind.
    pub(super) fn wrong_kind(
        &mut self,
        severity: Severity,
        node: &Node,
        expected: &str,
        done: &str,
    ) {
        let found = self.kind(node);
        self.report(severity, node, format!("expected {expected}, found {found}; {done}"));
    }

    /// Reports a name nobody knows, with the nearest known one.
    pub(super) fn unknown_name(
        &mut self,
        severity: Severity,
        field: &Field,
        message: impl Into<String>,
        known: impl IntoIterator<Item = &'static str>,
    ) {
        let place = self.place_at(field.name_at, field.value.path.clone());
        let suggestion = nearest(&field.name, known).map(str::to_owned);
        self.push(severity, place, message.into(), suggestion);
    }

    /// Reports a text that is not JSON.
    pub(super) fn not_json(&mut self, error: &JsonError) {
        let place = Place {
            file: self.file.clone(),
            path: String::new(),
            line: error.line(),
            column: error.column(),
        };
        let message = format!(
            "the file is not JSON: {}; none of its hooks run until this is mended",
            error.reason()
        );
        self.push(Severity::Error, place, message, None);
    }

    fn push(
        &mut self,
        severity: Severity,
        place: Place,
        message: String,
        suggestion: Option<String>,
    ) {
        self.diagnostics.push(Diagnostic { severity, place, message, suggestion });
    }
}
