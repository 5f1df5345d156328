//! The blocks of a message, and changes to their text.

use std::collections::HashSet;

use hook_json::shape::{ShapeError, read_json_text, read_list, read_text};
use hook_json::{JsonKind, JsonText, JsonWalk, RawJson};

use crate::distribute::{Piece, Portion};
use crate::parts::Part;
use crate::{Warning, json, parts};

/// The blocks of a message's content.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    blocks: Vec<Block>,
}

#[derive(Debug)]
struct Block {
    raw: RawJson,
    kind: BlockKind,
}

#[derive(Debug)]
enum BlockKind {
    /// Text that hooks see. `plain` is `true` if there are no other fields.
    Text {
        text: JsonText,
        plain: bool,
    },
    ToolResult,
    /// Thinking, redacted or not. It is signed, and comes first.
    Thinking,
    Other,
}

impl Blocks {
    /// Reads the next value as the blocks of a `content`.
    pub(super) fn read(walk: &mut JsonWalk<'_>) -> Result<Self, ShapeError> {
        Ok(Self { blocks: read_list(walk, Block::read)?.unwrap_or_default() })
    }

    /// Returns the blocks with text, in order.
    pub(super) fn pieces(&self) -> Vec<Piece<'_>> {
        parts::pieces(&self.blocks)
    }

    /// Returns the texts of the blocks that have one.
    pub(super) fn texts(&self) -> Vec<String> {
        parts::texts(&self.blocks)
    }

    /// Returns the joined text, if a block has text.
    pub(super) fn text(&self) -> Option<JsonText> {
        parts::text(&self.blocks)
    }

    /// Returns `true` if a block is a tool result; it must directly follow the message with the
    /// call.
    pub(super) fn have_tool_result(&self) -> bool {
        self.blocks.iter().any(|block| matches!(block.kind, BlockKind::ToolResult))
    }

    /// Returns the blocks with other texts. Blocks without text, and other content of blocks with
    /// text, stay; a block that lost its text is removed. `path` is the content's path.
    pub(super) fn rewritten(
        &self,
        portions: Vec<Portion>,
        path: &str,
        warnings: &mut Vec<Warning>,
    ) -> Vec<RawJson> {
        let portions: Vec<Portion> = portions.into_iter().map(without_empty_text).collect();
        for index in self.dropped(&portions) {
            if !self.blocks[index].is_plain() {
                let message = "the hook's text leaves out this block; \
                               what it says beside its text is gone with it";
                warnings.push(Warning::new(format!("{path}{}", index_suffix(index)), message));
            }
        }
        // Nothing may precede the thinking at the start, not even a new text.
        let is_thinking = |block: &&Block| matches!(block.kind, BlockKind::Thinking);
        let (first, rest) =
            self.blocks.split_at(self.blocks.iter().take_while(is_thinking).count());
        let path_of = |index: usize| format!("{path}{}", index_suffix(first.len() + index));
        let mut result: Vec<RawJson> = first.iter().map(|block| block.raw.clone()).collect();
        result.extend(parts::rewritten(rest, portions, path_of, text_block, warnings));
        result
    }

    /// Returns the blocks of thinking that these portions leave at the end, from the last one on;
    /// none if there was already thinking at the end.
    pub(super) fn trailing_thinking(&self, portions: &[Portion]) -> Vec<usize> {
        let dropped: HashSet<usize> = self.dropped(portions).collect();
        let is_thinking = |index: &usize| matches!(self.blocks[*index].kind, BlockKind::Thinking);
        match self.blocks.len().checked_sub(1) {
            Some(last) if dropped.contains(&last) => (0..=last)
                .rev()
                .filter(|index| !dropped.contains(index))
                .take_while(is_thinking)
                .collect(),
            _ => Vec::new(),
        }
    }

    /// Returns the blocks that these portions leave without text.
    fn dropped(&self, portions: &[Portion]) -> impl Iterator<Item = usize> {
        let with_text: Vec<usize> =
            (0..self.blocks.len()).filter(|&index| self.blocks[index].text().is_some()).collect();
        portions.iter().filter_map(move |portion| match portion {
            Portion::Drop(piece) => with_text.get(*piece).copied(),
            _ => None,
        })
    }
}

/// Turns an empty text into the loss of the text.
fn without_empty_text(portion: Portion) -> Portion {
    match portion {
        Portion::Change(piece, text) if text.is_empty() => Portion::Drop(piece),
        portion => portion,
    }
}

impl Block {
    /// Reads the next value as a block.
    fn read(walk: &mut JsonWalk<'_>) -> Result<Self, ShapeError> {
        let (mut kind, mut text, mut plain) = (None, None, true);
        let raw = walk.entries(|walk, name| match name {
            "type" => kind = Some(walk.value()),
            "text" => text = Some(walk.value()),
            _ => plain &= walk.value().is_null(),
        });
        if raw.kind() != JsonKind::Object {
            return Err(ShapeError::new("", "an object", raw.kind()));
        }
        let kind = match read_text("type", kind)?.as_deref() {
            Some("text") => match read_json_text("text", text)? {
                Some(text) => BlockKind::Text { text, plain },
                None => BlockKind::Other,
            },
            Some("tool_result") => BlockKind::ToolResult,
            Some("thinking" | "redacted_thinking") => BlockKind::Thinking,
            _ => BlockKind::Other,
        };
        Ok(Self { raw: raw.to_raw(), kind })
    }

    fn is_plain(&self) -> bool {
        matches!(self.kind, BlockKind::Text { plain: true, .. })
    }
}

impl Part for Block {
    fn raw(&self) -> &RawJson {
        &self.raw
    }

    fn text(&self) -> Option<&JsonText> {
        match &self.kind {
            BlockKind::Text { text, .. } => Some(text),
            _ => None,
        }
    }

    /// The API rejects a block of empty text, with or without other content.
    fn has_other_content(&self) -> bool {
        false
    }

    fn with_text(&self, text: &str) -> RawJson {
        let mut fields = self.raw.to_object().unwrap_or_default();
        fields.insert("text", RawJson::from_text(text));
        fields.to_raw().into()
    }
}

/// Returns a block with only this text.
pub(super) fn text_block(text: &str) -> RawJson {
    block_from_text(RawJson::from_text(text))
}

/// Returns a block with only this string.
pub(super) fn block_from_text(text: RawJson) -> RawJson {
    json::object([("type", RawJson::from_text("text")), ("text", text)]).into()
}

fn index_suffix(index: usize) -> String {
    format!("[{index}]")
}
