//! A settings document with the location of every value.

use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use super::diagnostic::{Diagnostic, Location};
use super::keywords::Severity;
use super::rule::Rule;
use hook_json::text::{nearest, shortened};
use hook_json::{Comments, JsonError, JsonKind, RawJson, locate_entries, without_comments};

/// The most problems of one file that are reported individually.
const MAX_DIAGNOSTICS: usize = 100;

/// The most bytes to rescan to find a column: a file may be one long line with very many hooks,
/// each with a location.
const BLOCK: usize = 1_024;

/// A settings text with the problems found so far.
pub(crate) struct Document<'t> {
    text: &'t str,
    file: Option<Arc<PathBuf>>,
    /// The offset of each line.
    lines: Vec<usize>,
    /// The number of characters that begin before each block of bytes.
    blocks: Vec<usize>,
    diagnostics: Vec<Diagnostic>,
    /// The number of problems beyond those reported individually.
    unreported: usize,
}

/// One value in a document.
#[derive(Debug, Clone)]
pub(super) struct Node {
    /// A slice of the document, which gives its location.
    pub(super) value: RawJson,
    path: String,
}

impl Node {
    /// The JSON path.
    pub(super) fn path(&self) -> &str {
        &self.path
    }
}

/// One field of an object in a document.
pub(super) struct Field {
    pub(super) name: String,
    pub(super) value: Node,
    /// The range to report if the name is wrong.
    name_range: Range<usize>,
    /// `true` if the name is duplicated; this is the last one.
    pub(super) is_repeated: bool,
    /// The objects and arrays under the same name before it, which do not count.
    pub(super) earlier: Vec<Node>,
}

impl<'t> Document<'t> {
    pub(crate) fn new(text: &'t str, file: Option<PathBuf>) -> Self {
        let ends = text.match_indices('\n').map(|(index, _)| index + 1);
        let sums = text.as_bytes().chunks(BLOCK).scan(0, |before, block| {
            *before += count_characters(block);
            Some(*before)
        });
        Self {
            text,
            file: file.map(Arc::new),
            lines: std::iter::once(0).chain(ends).collect(),
            blocks: std::iter::once(0).chain(sums).collect(),
            diagnostics: Vec::new(),
            unreported: 0,
        }
    }

    /// Parses the whole document.
    pub(super) fn root(&self) -> Result<Node, JsonError> {
        Ok(Node { value: parse_root(self.text)?, path: String::new() })
    }

    /// Returns the fields of an object without `null` values; `None` for any other value. Of
    /// duplicates the last counts, and the others are reported.
    pub(crate) fn fields(&mut self, node: &Node) -> Option<Vec<Field>> {
        let mut fields: Vec<Field> = Vec::new();
        let mut positions: HashMap<String, usize> = HashMap::new();
        for entry in locate_entries(node.value.as_str()).ok()? {
            let value = node.value.slice(entry.value);
            let joint = if node.path.is_empty() { "" } else { "." };
            let name_range = entry.key_start.map(|offset| {
                let start = node.value.start() + offset;
                start..start + entry.key.len() + "\"\"".len()
            });
            let field = Field {
                name_range: name_range.unwrap_or_else(|| value.range()),
                value: Node { value, path: format!("{}{joint}{}", node.path, entry.key) },
                name: entry.key,
                is_repeated: false,
                earlier: Vec::new(),
            };
            match positions.get(&field.name) {
                Some(position) => {
                    let message = format!(
                        "`{}` stands here twice; only the last one counts",
                        shortened(&field.name)
                    );
                    let earlier = std::mem::replace(&mut fields[*position], field);
                    let last = &mut fields[*position];
                    last.is_repeated = true;
                    last.earlier = earlier.earlier;
                    let location = self.location_at(earlier.name_range, earlier.value.path.clone());
                    let mut diagnostic = Diagnostic::new(Rule::DuplicateKey, location, message);
                    // The ignored value may contain hooks.
                    if matches!(earlier.value.value.kind(), JsonKind::Object | JsonKind::Array) {
                        diagnostic.severity = Severity::Error;
                        last.earlier.push(earlier.value);
                    }
                    self.push(diagnostic);
                }
                None => {
                    positions.insert(field.name.clone(), fields.len());
                    fields.push(field);
                }
            }
        }
        fields.retain(|field| !field.value.value.is_null() || !field.earlier.is_empty());
        Some(fields)
    }

    /// Returns the last field with that name, unless it is `null`. Nothing is reported.
    pub(crate) fn field(&self, node: &Node, name: &str) -> Option<Field> {
        let entries = locate_entries(node.value.as_str()).ok()?;
        let entry = entries.into_iter().rfind(|entry| entry.key == name)?;
        let value = node.value.slice(entry.value);
        let path = format!("{}.{name}", node.path);
        let name_range = value.range();
        let value = Node { value, path };
        let (is_repeated, earlier) = (false, Vec::new());
        let field = Field { name: entry.key, value, name_range, is_repeated, earlier };
        Some(field).filter(|field| !field.value.value.is_null())
    }

    /// Returns the elements of an array; `None` for any other value.
    pub(super) fn items(&self, node: &Node) -> Option<Vec<Node>> {
        let item = |(index, value)| Node { value, path: format!("{}[{index}]", node.path) };
        Some(node.value.to_items()?.into_iter().enumerate().map(item).collect())
    }

    pub(super) fn location(&self, node: &Node) -> Location {
        self.location_at(node.value.range(), node.path.clone())
    }

    /// Returns the location of a byte range of the text.
    pub(crate) fn location_at(&self, range: Range<usize>, path: String) -> Location {
        let (line, column) = self.position(range.start);
        let (end_line, end_column) = self.position(range.end.max(range.start));
        Location { file: self.file.clone(), path, line, column, end_line, end_column }
    }

    /// Returns the line and column of a byte.
    fn position(&self, offset: usize) -> (usize, usize) {
        let line = self.lines.partition_point(|start| *start <= offset);
        let start = self.lines.get(line.saturating_sub(1)).copied().unwrap_or_default();
        // Include the character at the offset, which may be in the middle of that character.
        let characters = self.characters_before(offset + 1) - self.characters_before(start);
        // No character begins at the end of the text.
        let column = characters + usize::from(offset >= self.text.len());
        (line, column.max(1))
    }

    fn characters_before(&self, offset: usize) -> usize {
        let offset = offset.min(self.text.len());
        let block = offset / BLOCK;
        let rest = self.text.as_bytes().get(block * BLOCK..offset).unwrap_or_default();
        self.blocks.get(block).copied().unwrap_or_default() + count_characters(rest)
    }

    /// Reports a problem with a value.
    pub(super) fn report(&mut self, rule: Rule, node: &Node, message: impl Into<String>) {
        let location = self.location(node);
        self.push(Diagnostic::new(rule, location, message));
    }

    /// Reports a value of the wrong kind.
    pub(super) fn wrong_kind(&mut self, node: &Node, expected: &str, consequence: &str) {
        let found = node.value.kind();
        let message = format!("expected {expected}, found {found}; {consequence}");
        self.report_with_help(Rule::WrongType, node, message, format!("write {expected} here"));
    }

    /// Reports a problem with a value, with a more specific fix than that of the rule.
    pub(super) fn report_with_help(
        &mut self,
        rule: Rule,
        node: &Node,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let location = self.location(node);
        let help = Some(help.into());
        self.push(Diagnostic { help, ..Diagnostic::new(rule, location, message) });
    }

    /// Reports a known name in the wrong position, with a fix.
    pub(super) fn misplaced_name(
        &mut self,
        rule: Rule,
        field: &Field,
        message: impl Into<String>,
        suggestion: Option<&'static str>,
        help: impl Into<String>,
    ) {
        let location = self.location_at(field.name_range.clone(), field.value.path.clone());
        let (suggestion, help) = (suggestion.map(str::to_owned), Some(help.into()));
        self.push(Diagnostic { suggestion, help, ..Diagnostic::new(rule, location, message) });
    }

    /// Reports an unknown name, with the nearest known one.
    pub(super) fn unknown_name(
        &mut self,
        rule: Rule,
        field: &Field,
        message: impl Into<String>,
        known: impl IntoIterator<Item = &'static str>,
    ) {
        let location = self.location_at(field.name_range.clone(), field.value.path.clone());
        // Skip the search if the problem will not be listed.
        let listed = !self.is_full();
        let suggestion = listed.then(|| nearest(&field.name, known)).flatten().map(str::to_owned);
        self.push(Diagnostic { suggestion, ..Diagnostic::new(rule, location, message) });
    }

    /// Reports a text that is not JSON.
    pub(super) fn report_not_json(&mut self, error: &JsonError) {
        let location = self.location_of(error);
        let message = format!(
            "the file is not JSON: {}; none of its hooks run until this is fixed",
            error.reason()
        );
        self.push(Diagnostic::new(Rule::NotJson, location, message));
    }

    /// Returns the location at which the text stops being JSON.
    pub(super) fn location_of(&self, error: &JsonError) -> Location {
        // The parser's columns are byte offsets.
        let start = self.lines.get(error.line() - 1).copied().unwrap_or(self.text.len());
        let offset = start + error.column() - 1;
        self.location_at(offset..offset + 1, String::new())
    }

    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        match self.is_full() {
            true => self.unreported += 1,
            false => self.diagnostics.push(diagnostic),
        }
    }

    /// Checks whether further problems are only counted.
    pub(crate) fn is_full(&self) -> bool {
        self.diagnostics.len() >= MAX_DIAGNOSTICS
    }

    /// Returns the number of problems that are only counted.
    pub(super) fn unreported(&self) -> usize {
        self.unreported
    }

    /// Adds the problems found by an earlier pass over the same text.
    pub(crate) fn add_earlier(&mut self, diagnostics: &[Diagnostic], unreported: usize) {
        let listed =
            diagnostics.iter().filter(|diagnostic| diagnostic.rule != Rule::TooManyProblems);
        self.diagnostics.extend(listed.cloned());
        self.unreported += unreported;
    }

    /// Returns all problems, with a last one that gives the number of omitted ones.
    pub(crate) fn into_diagnostics(mut self) -> Vec<Diagnostic> {
        if self.unreported > 0 {
            let location = Location { file: self.file, ..Location::default() };
            let message = format!("{} more problems are not listed", self.unreported);
            self.diagnostics.push(Diagnostic::new(Rule::TooManyProblems, location, message));
        }
        self.diagnostics
    }
}

/// Parses a native settings text, which may have comments and trailing commas. Offsets are those of
/// the text.
pub(crate) fn parse_root(text: &str) -> Result<RawJson, JsonError> {
    // Most files have neither.
    RawJson::parse_with_offsets(text).or_else(|_| {
        RawJson::parse_with_offsets(without_comments(text, Comments::AndTrailingCommas))
    })
}

/// Counts the characters that begin in a range of a text's bytes.
fn count_characters<'b>(bytes: impl IntoIterator<Item = &'b u8>) -> usize {
    bytes.into_iter().filter(|byte| **byte & 0xC0 != 0x80).count()
}
