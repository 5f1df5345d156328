//! The state of the parser: where it is in the text, and what it could not read.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use super::Word;

/// The maximum depth of nested constructs.
const MAX_DEPTH: usize = 48;

/// The end of a word or of a part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// A blank or an operator.
    Word,
    /// `"`
    Quote,
    /// `}`, inside of double quotes or outside.
    Brace { is_quoted: bool },
    /// `]` of a subscript.
    Bracket,
    /// `))`
    Arithmetic,
    /// The end of the text, as in a here-document.
    Text,
}

impl End {
    pub(super) fn is_quoted(self) -> bool {
        matches!(
            self,
            Self::Quote | Self::Text | Self::Arithmetic | Self::Brace { is_quoted: true }
        )
    }
}

/// Characters that end an unquoted word.
pub(super) fn is_metacharacter(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'|' | b'&' | b';' | b'(' | b')' | b'<' | b'>')
}

/// A here-document whose text comes after the line.
pub(super) struct PendingDocument {
    pub(super) delimiter: String,
    pub(super) strips_tabs: bool,
    pub(super) is_quoted: bool,
    pub(super) text: Arc<OnceLock<Word>>,
}

pub(super) struct Parser<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    pub(super) depth: usize,
    /// The number of open `$(…)`.
    pub(super) substitutions: usize,
    pub(super) unread: Option<&'static str>,
    pub(super) open_quote: Option<usize>,
    pub(super) bash_quotes: BTreeSet<usize>,
    pub(super) pending: Vec<PendingDocument>,
}

impl<'t> Parser<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            text,
            at: 0,
            depth: 0,
            substitutions: 0,
            unread: None,
            open_quote: None,
            bash_quotes: BTreeSet::new(),
            pending: Vec::new(),
        }
    }

    pub(super) fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Returns the text from a position to the present one.
    pub(super) fn text_between(&self, start: usize) -> &'t str {
        self.text.get(start..self.at).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(super) fn peek_at(&self, offset: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + offset).copied()
    }

    pub(super) fn mark_unread(&mut self, reason: &'static str) {
        self.unread.get_or_insert(reason);
    }

    /// Begins a nested construct; at the maximum depth the rest of the text is skipped.
    pub(super) fn enter(&mut self) -> bool {
        self.depth += 1;
        let is_allowed = self.depth <= MAX_DEPTH;
        if !is_allowed {
            self.mark_unread("it is nested too deeply");
            self.at = self.text.len();
            self.depth -= 1;
        }
        is_allowed
    }

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }
}
