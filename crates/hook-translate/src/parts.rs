//! Putting text back into the parts that it came from.

use hook_core::{JsonText, RawJson};

use crate::Warning;
use crate::spread::{Piece, Portion};

/// A part of something that is said: text, or anything else.
pub(crate) trait Part {
    /// The JSON as it was read.
    fn raw(&self) -> &RawJson;

    /// Its text, if it has one.
    fn text(&self) -> Option<&JsonText>;

    /// Whether that is the model's thinking.
    fn is_thought(&self) -> bool {
        false
    }

    /// Whether it says anything beside its text.
    fn says_more(&self) -> bool;

    /// The same part with another text.
    fn with_text(&self, text: &str) -> RawJson;
}

/// The parts that have text, in order.
pub(crate) fn pieces<P: Part>(parts: &[P]) -> Vec<Piece<'_>> {
    parts
        .iter()
        .filter_map(|part| Some(Piece { text: part.text()?.read(), thought: part.is_thought() }))
        .collect()
}

/// All that the parts say, if one has text.
pub(crate) fn text<P: Part>(parts: &[P]) -> Option<JsonText> {
    JsonText::joined(parts.iter().filter_map(Part::text))
}

/// What the parts that have text say, one by one.
pub(crate) fn texts<P: Part>(parts: &[P]) -> Vec<String> {
    parts.iter().filter_map(Part::text).map(|text| text.read().into_owned()).collect()
}

/// The parts with other texts. Parts without text stay where they are; so does what else a part
/// with text says. `place` is where a part stands, `new` makes one of a text.
pub(crate) fn rewritten<P: Part>(
    parts: &[P],
    portions: Vec<Portion>,
    place: impl Fn(usize) -> String,
    new: impl Fn(&str) -> RawJson,
    warnings: &mut Vec<Warning>,
) -> Vec<RawJson> {
    let with_text: Vec<usize> =
        (0..parts.len()).filter(|&index| parts[index].text().is_some()).collect();
    let raw = |part: &P| part.raw().clone();
    let mut written = Vec::with_capacity(parts.len());
    let mut next = 0;
    for portion in portions {
        // A new text stands directly after the one before it; all others have their places.
        if let Some(piece) = portion.piece() {
            let index = with_text[piece];
            written.extend(parts[next..index].iter().map(raw));
            next = index + 1;
            written.extend(after(&parts[index], &portion));
            warnings.extend(warning(&portion).map(|message| Warning::new(place(index), message)));
        } else if let Portion::New(text) = portion {
            written.push(new(&text));
        }
    }
    written.extend(parts[next..].iter().map(raw));
    written
}

/// The part after an edit; a plain one that lost its text is gone, unless it says more.
fn after<P: Part>(part: &P, portion: &Portion) -> Option<RawJson> {
    match portion {
        Portion::Keep(_) | Portion::KeepThought(_) => Some(part.raw().clone()),
        Portion::Drop(_) if !part.says_more() => None,
        Portion::Change(_, text) | Portion::New(text) => Some(part.with_text(text)),
        Portion::Drop(_) | Portion::EmptyThought(_) => Some(part.with_text("")),
    }
}

fn warning(portion: &Portion) -> Option<&'static str> {
    match portion {
        Portion::KeepThought(_) => {
            Some("the hook's text leaves out this thought of the model; it is kept")
        }
        Portion::EmptyThought(_) => Some(
            "the hook's edit spans this thought of the model and the text beside it; \
             it is all in that text now",
        ),
        _ => None,
    }
}
