//! Distributes a text that a hook changed over the parts of the original text.
//!
//! A hook sees one text where an SDK has several parts. Its answer must go back to the original
//! parts, and change as few of them as possible.

use std::borrow::Cow;
use std::cell::LazyCell;
use std::collections::HashSet;
use std::ops::Range;

use crate::align::{Step, align, likeness};

/// The number of failed searches for thoughts after which no more are made: each search may read
/// the whole text.
const MAX_FAILED_SEARCHES: usize = 64;

/// A part with text.
#[derive(Debug, Clone)]
pub(crate) struct Piece<'t> {
    /// The text that the hook saw.
    pub(crate) text: Cow<'t, str>,
    /// `true` for a thought of the model, which a hook may edit but not remove (docs/model-sdks.md).
    pub(crate) thought: bool,
}

/// The result for a piece, by its index, or a new text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Portion {
    /// The piece is unchanged.
    Keep(usize),
    /// The piece gets another text.
    Change(usize, String),
    /// The piece loses its text.
    Drop(usize),
    /// The thought is unchanged, although the new text leaves it out.
    KeepThought(usize),
    /// The edit spans the thought and other text, which now contains its words.
    EmptyThought(usize),
    /// A new piece.
    New(String),
}

impl Portion {
    /// Returns the index of the piece, unless it is a new one.
    pub(crate) fn piece(&self) -> Option<usize> {
        match *self {
            Self::Keep(index)
            | Self::Change(index, _)
            | Self::Drop(index)
            | Self::KeepThought(index)
            | Self::EmptyThought(index) => Some(index),
            Self::New(_) => None,
        }
    }

    /// Returns the same portion with an index that is smaller by `places`.
    pub(crate) fn shifted_back(self, offset: usize) -> Self {
        let shift = |index: usize| index.saturating_sub(offset);
        match self {
            Self::Keep(index) => Self::Keep(shift(index)),
            Self::Change(index, text) => Self::Change(shift(index), text),
            Self::Drop(index) => Self::Drop(shift(index)),
            Self::KeepThought(index) => Self::KeepThought(shift(index)),
            Self::EmptyThought(index) => Self::EmptyThought(shift(index)),
            Self::New(text) => Self::New(text),
        }
    }
}

/// Distributes `text` over `pieces`, whose joined texts the hook saw. Returns a portion for every
/// piece, in order.
///
/// - Pieces that are unchanged at the start or the end of the text stay, and so does every
///   unchanged thought between them.
/// - Text between two of these goes to the first plain piece there; the other plain ones lose their
///   text. Without a plain piece there, it joins a plain neighbour, or else becomes a new piece.
/// - A thought changes only if the edit is within it. A thought that the edit leaves out is kept.
///   If the edit spans the thought and more, and most of its words are still there, then the plain
///   text contains them, and the thought becomes empty: a redacted thought must not come back.
pub(crate) fn distribute(pieces: &[Piece<'_>], text: &str) -> Vec<Portion> {
    let mut changed = 0..pieces.len();
    let mut rest = text;
    while let Some(piece) = pieces[changed.clone()].first()
        && let Some(after) = rest.strip_prefix(&*piece.text)
    {
        rest = after;
        changed.start += 1;
    }
    while let Some(piece) = pieces[changed.clone()].last()
        && let Some(before) = rest.strip_suffix(&*piece.text)
    {
        rest = before;
        changed.end -= 1;
    }

    let mut portions: Vec<Portion> = (0..changed.start).map(Portion::Keep).collect();
    let mut gap = changed.start..changed.start;
    let mut failed_searches = 0;
    for index in changed.clone() {
        let piece = &pieces[index];
        gap.end = index + 1;
        if !piece.thought || piece.text.is_empty() || failed_searches == MAX_FAILED_SEARCHES {
            continue;
        }
        match rest.split_once(&*piece.text) {
            Some((before, after)) => {
                fill(&mut portions, pieces, gap.start..index, before);
                portions.push(Portion::Keep(index));
                rest = after;
                gap.start = index + 1;
            }
            None => failed_searches += 1,
        }
    }
    fill(&mut portions, pieces, gap, rest);
    portions.extend((changed.end..pieces.len()).map(Portion::Keep));
    join_new(portions, pieces)
}

/// Distributes `texts` over `pieces`, whose texts the hook saw one by one. Returns a portion for
/// every piece, in order.
///
/// An edited text changes its piece, a new one becomes a new piece, a piece whose text was removed
/// loses it. Removed thoughts are handled as in a joined text.
pub(crate) fn distribute_list(pieces: &[Piece<'_>], texts: &[String]) -> Vec<Portion> {
    let old: Vec<&str> = pieces.iter().map(|piece| &*piece.text).collect();
    let new: Vec<&str> = texts.iter().map(String::as_str).collect();
    // With equal likeness, a plain piece is edited rather than a thought.
    let likeness =
        |i: usize, j: usize| Some(likeness(old[i], new[j]) + u32::from(!pieces[i].thought));
    let known_words = LazyCell::new(|| texts.iter().flat_map(|text| words(text)).collect());
    let portion = |step| match step {
        Step::Keep { old, .. } => Portion::Keep(old),
        Step::Edit { old, new } => Portion::Change(old, texts[new].clone()),
        Step::Insert { new } => Portion::New(texts[new].clone()),
        Step::Remove { old } if pieces[old].thought => {
            missing_thought(old, &pieces[old].text, &known_words)
        }
        Step::Remove { old } => Portion::Drop(old),
    };
    align(&old, &new, likeness).into_iter().map(portion).collect()
}

/// Distributes `text` over the pieces of a gap, none of which is known to be unchanged.
fn fill(portions: &mut Vec<Portion>, pieces: &[Piece<'_>], gap: Range<usize>, text: &str) {
    let is_plain = |index: &usize| !pieces[*index].thought;
    let has_text = |index: &usize| !pieces[*index].text.is_empty();
    let target = match gap.clone().find(is_plain) {
        Some(plain_index) => Some(plain_index),
        // An edit among thoughts alone edits the first; one that only removes them does not.
        None if text.is_empty() => None,
        None => gap.clone().find(has_text),
    };
    if target.is_none() && !text.is_empty() {
        portions.push(Portion::New(text.to_owned()));
    }
    let known_words = LazyCell::new(|| words(text).collect());
    portions.extend(gap.map(|index| match (target == Some(index), &pieces[index]) {
        (true, piece) if piece.text == text => Portion::Keep(index),
        (true, _) if !text.is_empty() => Portion::Change(index, text.to_owned()),
        (false, Piece { thought: true, text }) => missing_thought(index, text, &known_words),
        _ => Portion::Drop(index),
    }));
}

/// Returns the portion of a thought that is missing from a text with these words.
fn missing_thought(index: usize, thought: &str, known_words: &HashSet<&str>) -> Portion {
    if thought.is_empty() {
        return Portion::Keep(index);
    }
    let (mut total, mut found) = (0_usize, 0_usize);
    for word in words(thought) {
        total += 1;
        found += usize::from(known_words.contains(word));
    }
    let is_mostly_kept = found > 0 && 2 * found >= total;
    if is_mostly_kept { Portion::EmptyThought(index) } else { Portion::KeepThought(index) }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// Joins a new text to a plain neighbour: the one before, else the one after.
fn join_new(portions: Vec<Portion>, pieces: &[Piece<'_>]) -> Vec<Portion> {
    let mut joined: Vec<Portion> = Vec::with_capacity(portions.len());
    for portion in portions {
        let plain_before = joined.last().and_then(|before| plain_text(before, pieces));
        if let (Portion::New(text), Some((index, before))) = (&portion, plain_before) {
            let text = format!("{before}{text}");
            joined.pop();
            joined.push(Portion::Change(index, text));
        } else if let (Some(Portion::New(text)), Some((index, after))) =
            (joined.last(), plain_text(&portion, pieces))
        {
            let text = format!("{text}{after}");
            joined.pop();
            joined.push(Portion::Change(index, text));
        } else {
            joined.push(portion);
        }
    }
    joined
}

/// Returns the plain piece of a portion, and its new text.
fn plain_text<'t>(portion: &'t Portion, pieces: &'t [Piece<'_>]) -> Option<(usize, &'t str)> {
    let (index, text) = match portion {
        Portion::Keep(index) => (*index, &*pieces[*index].text),
        Portion::Change(index, text) => (*index, text.as_str()),
        _ => return None,
    };
    (!pieces[index].thought).then_some((index, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pieces are split by `|`; a thought stands in brackets.
    fn pieces(written: &str) -> Vec<Piece<'_>> {
        written
            .split('|')
            .map(|text| match text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) {
                Some(text) => Piece { text: text.into(), thought: true },
                None => Piece { text: text.into(), thought: false },
            })
            .collect()
    }

    /// How the pieces look afterwards, those that are left empty too; a new one has a `+`.
    fn after(before: &str, text: &str) -> String {
        let pieces = pieces(before);
        let shown = |index: usize, text: &str| {
            if pieces[index].thought { format!("({text})") } else { text.to_owned() }
        };
        let parts: Vec<String> = distribute(&pieces, text)
            .into_iter()
            .map(|portion| match portion {
                Portion::Keep(index) | Portion::KeepThought(index) => {
                    shown(index, &pieces[index].text)
                }
                Portion::Change(index, text) => shown(index, &text),
                Portion::Drop(index) | Portion::EmptyThought(index) => shown(index, ""),
                Portion::New(text) => format!("+{text}"),
            })
            .collect();
        parts.join("|")
    }

    #[test]
    fn an_edit_reaches_as_few_pieces_as_possible() {
        for (before, text, expected) in [
            ("a", "a", "a"),
            ("a", "b", "b"),
            ("a|b|c", "axc", "a|x|c"),
            ("a|b|c", "xyz", "xyz||"),
            ("a|b", "ab!", "a|b!"),
            ("a|b", "!ab", "!a|b"),
            ("a|b", "a-b", "a-|b"),
            ("ab|ab", "ab", "ab|"),
            ("a||b", "ac", "a||c"),
        ] {
            assert_eq!(after(before, text), expected, "{before} to {text}");
        }
    }

    #[test]
    fn a_thought_stays_unless_the_edit_is_within_it() {
        for (before, text, expected) in [
            ("(hm)|a", "hmb", "(hm)|b"),
            ("(hm)|a", "hma!", "(hm)|a!"),
            ("(hm)|a", "!hma", "+!|(hm)|a"),
            ("(hm)|a", "b", "(hm)|b"),
            ("(hm)|a", "a", "(hm)|a"),
            ("(hm)|a", "", "(hm)|"),
            ("(hm)|a", "uma", "(um)|a"),
            ("(hm)", "um", "(um)"),
            ("(hm)", "hm!", "(hm)|+!"),
            ("a|(hm)|b", "chmd", "c|(hm)|d"),
            ("(hm)|a|(ho)|b", "hmcho!d", "(hm)|c|(ho)|!d"),
        ] {
            assert_eq!(after(before, text), expected, "{before} to {text}");
        }
    }

    #[test]
    fn a_list_changes_where_it_differs() {
        let pieces = pieces("(thinking about it)|some answer|more of it");
        let spread = |texts: &[&str]| {
            distribute_list(&pieces, &texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(
            spread(&["thinking about it", "another answer", "more of it", "even more"]),
            [
                Portion::Keep(0),
                Portion::Change(1, "another answer".to_owned()),
                Portion::Keep(2),
                Portion::New("even more".to_owned()),
            ],
        );
        assert_eq!(
            spread(&["redacted"]),
            [Portion::KeepThought(0), Portion::Change(1, "redacted".to_owned()), Portion::Drop(2),],
        );
    }

    #[test]
    fn a_thought_redacted_with_the_text_does_not_come_back() {
        assert_eq!(
            after("(the key is 1234)|use 1234", "the key is ****use ****"),
            "()|the key is ****use ****",
        );
    }
}
