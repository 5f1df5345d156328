//! Lines of styled text, as renderers return them.

use hook_json::RawJson;

/// A piece of text in one style.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StyledText {
    /// The text, without terminal codes. It comes from a module: escape it before showing it.
    pub text: String,
    /// The colour: `red`, `bright-black` and the like.
    pub color: Option<String>,
    /// The styles among `bold`, `dim`, `italic`, `underline`, `inverse` and `strikethrough`.
    pub styles: Vec<&'static str>,
}

/// The known styles.
const STYLES: [&str; 6] = ["bold", "dim", "italic", "underline", "inverse", "strikethrough"];

impl StyledText {
    /// Creates plain text.
    pub fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Sets the colour.
    #[must_use]
    pub fn color(mut self, color: impl Into<String>) -> Self {
        self.color = Some(color.into());
        self
    }

    /// Makes the text bold.
    #[must_use]
    pub fn bold(mut self) -> Self {
        self.styles.push("bold");
        self
    }

    /// Makes the text less prominent.
    #[must_use]
    pub fn dim(mut self) -> Self {
        self.styles.push("dim");
        self
    }
}

/// A line of pieces of text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StyledLine {
    /// The pieces, from left to right.
    pub pieces: Vec<StyledText>,
}

impl StyledLine {
    /// Creates a line of these pieces.
    pub fn of(pieces: impl IntoIterator<Item = StyledText>) -> Self {
        Self { pieces: pieces.into_iter().collect() }
    }
}

impl<T: Into<String>> From<T> for StyledLine {
    /// Creates a line of plain text.
    fn from(text: T) -> Self {
        Self::of([StyledText::plain(text)])
    }
}

/// Reads the lines of a JavaScript module: a list of pieces for each line.
pub(crate) fn parse_lines(lines: &RawJson) -> Option<Vec<StyledLine>> {
    let parse_line = |line: &RawJson| {
        let pieces = line.to_items()?.iter().map(parse_piece).collect::<Option<Vec<_>>>();
        pieces.map(StyledLine::of)
    };
    lines.to_items()?.iter().map(parse_line).collect()
}

fn parse_piece(piece: &RawJson) -> Option<StyledText> {
    let fields = piece.to_object().ok()?;
    let is_set = |name: &&str| fields.get(name).and_then(RawJson::to_bool) == Some(true);
    Some(StyledText {
        text: fields.get("text").and_then(RawJson::to_text)?,
        color: fields.get("color").and_then(RawJson::to_text),
        styles: STYLES.into_iter().filter(|name| is_set(name)).collect(),
    })
}
