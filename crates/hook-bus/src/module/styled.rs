//! Lines of text with styles, as renderers give them.

use hook_core::RawJson;

/// A piece of text in one style.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StyledText {
    /// The text, without codes of terminals. It comes from a module: escape it before it is shown.
    pub text: String,
    /// Its colour: `red`, `bright-black` and the like.
    pub color: Option<String>,
    /// Which of `bold`, `dim`, `italic`, `underline`, `inverse` and `strikethrough` it is.
    pub styles: Vec<&'static str>,
}

/// The styles there are beside colours.
const STYLES: [&str; 6] = ["bold", "dim", "italic", "underline", "inverse", "strikethrough"];

impl StyledText {
    /// Plain text.
    pub fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// The same in a colour.
    #[must_use]
    pub fn color(mut self, color: impl Into<String>) -> Self {
        self.color = Some(color.into());
        self
    }

    /// The same in bold.
    #[must_use]
    pub fn bold(mut self) -> Self {
        self.styles.push("bold");
        self
    }

    /// The same, less prominent.
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
    /// From left to right.
    pub pieces: Vec<StyledText>,
}

impl StyledLine {
    /// A line of these.
    pub fn of(pieces: impl IntoIterator<Item = StyledText>) -> Self {
        Self { pieces: pieces.into_iter().collect() }
    }
}

impl<T: Into<String>> From<T> for StyledLine {
    /// A line of plain text.
    fn from(text: T) -> Self {
        Self::of([StyledText::plain(text)])
    }
}

/// The lines that a module of JavaScript gives: a list of pieces for each.
pub(crate) fn lines_of(lines: &RawJson) -> Option<Vec<StyledLine>> {
    let line = |line: &RawJson| {
        let pieces = line.to_items()?.iter().map(piece).collect::<Option<Vec<_>>>();
        pieces.map(StyledLine::of)
    };
    lines.to_items()?.iter().map(line).collect()
}

fn piece(piece: &RawJson) -> Option<StyledText> {
    let fields = piece.to_object().ok()?;
    let is = |name: &&str| fields.get(name).and_then(RawJson::to_bool) == Some(true);
    Some(StyledText {
        text: fields.get("text").and_then(RawJson::to_text)?,
        color: fields.get("color").and_then(RawJson::to_text),
        styles: STYLES.into_iter().filter(|name| is(name)).collect(),
    })
}
