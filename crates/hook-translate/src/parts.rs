//! Writes a changed text back into the parts of a message.

use hook_json::{JsonText, RawJson};

use crate::Warning;
use crate::distribute::{Piece, Portion};

/// A part of a message: text, or anything else.
pub(crate) trait Part {
    /// Returns the original JSON.
    fn raw(&self) -> &RawJson;

    /// Returns its text, if it has one.
    fn text(&self) -> Option<&JsonText>;

    /// Returns `true` if it is a thought of the model.
    fn is_thought(&self) -> bool {
        false
    }

    /// Returns `true` if it contains anything but its text.
    fn has_other_content(&self) -> bool;

    /// Returns the same part with another text.
    fn with_text(&self, text: &str) -> RawJson;
}

/// Returns the parts with text, in order.
pub(crate) fn pieces<P: Part>(parts: &[P]) -> Vec<Piece<'_>> {
    parts
        .iter()
        .filter_map(|part| Some(Piece { text: part.text()?.decode(), thought: part.is_thought() }))
        .collect()
}

/// Returns the joined text of all parts, or `None` if no part has text.
pub(crate) fn text<P: Part>(parts: &[P]) -> Option<JsonText> {
    JsonText::join(parts.iter().filter_map(Part::text))
}

/// Returns the texts of the parts that have one.
pub(crate) fn texts<P: Part>(parts: &[P]) -> Vec<String> {
    parts.iter().filter_map(Part::text).map(|text| text.decode().into_owned()).collect()
}

/// Returns the parts with other texts. Parts without text, and other content of parts with text,
/// stay. `place` returns the path of a part, `new` creates a part from a text.
pub(crate) fn rewritten<P: Part>(
    parts: &[P],
    portions: Vec<Portion>,
    path_of: impl Fn(usize) -> String,
    new: impl Fn(&str) -> RawJson,
    warnings: &mut Vec<Warning>,
) -> Vec<RawJson> {
    let with_text: Vec<usize> =
        (0..parts.len()).filter(|&index| parts[index].text().is_some()).collect();
    let raw = |part: &P| part.raw().clone();
    let mut result = Vec::with_capacity(parts.len());
    let mut next = 0;
    for portion in portions {
        // A new text directly follows the one before it; all others have a part of their own.
        if let Some(piece) = portion.piece() {
            let index = with_text[piece];
            result.extend(parts[next..index].iter().map(raw));
            next = index + 1;
            result.extend(edited_part(&parts[index], &portion));
            warnings.extend(warning(&portion).map(|message| Warning::new(path_of(index), message)));
        } else if let Portion::New(text) = portion {
            result.push(new(&text));
        }
    }
    result.extend(parts[next..].iter().map(raw));
    result
}

/// Returns a part after an edit. A part without text and other content is removed.
fn edited_part<P: Part>(part: &P, portion: &Portion) -> Option<RawJson> {
    match portion {
        Portion::Keep(_) | Portion::KeepThought(_) => Some(part.raw().clone()),
        Portion::Drop(_) if !part.has_other_content() => None,
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
