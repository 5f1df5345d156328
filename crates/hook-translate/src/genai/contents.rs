//! The conversation of a request, and laying the messages that a hook gave over it.

use hook_core::model::{LlmMessage, LlmRole};
use hook_core::shape::ShapeError;
use hook_core::{JsonKind, RawJson};

use super::content::Content;
use crate::align::{Step, align, likeness};
use crate::json;
use crate::{TranslateError, Warning};

/// The `contents` of a request.
#[derive(Debug, Default)]
pub(super) struct Contents {
    items: Vec<Content>,
    /// Whether there was one content instead of a list.
    single: bool,
}

/// A message that the base request has, and the content that it is shown of.
struct Shown {
    message: LlmMessage,
    item: usize,
}

/// What a new message becomes. The SDK takes a list of contents, or a list of strings and parts,
/// which the user says, but no mixture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// A content, as the others are.
    Content,
    /// A string, as the others are.
    String,
    /// A content, as the others must become: they are strings, but somebody else speaks, too.
    WrapAll,
}

impl Contents {
    /// Reads `contents`: nothing, a string, one content, or a list of either.
    pub(super) fn read(contents: Option<&RawJson>) -> Result<Self, ShapeError> {
        let Some(value) = contents.filter(|contents| !contents.is_null()) else {
            return Ok(Self::default());
        };
        match value.to_items() {
            Some(items) => {
                let read = |(index, item)| Content::read(item, || place(index));
                let items = items.iter().enumerate().map(read).collect::<Result<_, _>>()?;
                Ok(Self { items, single: false })
            }
            None if matches!(value.kind(), JsonKind::String | JsonKind::Object) => {
                let item = Content::read(value, || "contents".to_owned())?;
                Ok(Self { items: vec![item], single: true })
            }
            None => {
                Err(ShapeError::new("contents", "a string, an object or an array", value.kind()))
            }
        }
    }

    /// What hooks see of them: one message for each content with text.
    pub(super) fn messages(&self) -> Vec<LlmMessage> {
        self.items.iter().filter_map(Content::message).collect()
    }

    /// These contents with `messages` laid over them, or nothing if that changes nothing.
    ///
    /// A message without text counts as none, as it does on the way to the stable form.
    pub(super) fn overlaid(
        &self,
        messages: &[LlmMessage],
        warnings: &mut Vec<Warning>,
    ) -> Result<Option<RawJson>, TranslateError> {
        let given: Vec<&LlmMessage> =
            messages.iter().filter(|message| !message.content.is_empty()).collect();
        let shown = self.shown();
        let steps = steps(&shown, &given);
        if steps.iter().all(|step| matches!(step, Step::Keep { .. })) {
            return Ok(None);
        }
        let places = self.places_of_new(&steps, &shown);
        let mut edits = steps
            .iter()
            .filter_map(|step| match *step {
                Step::Edit { old, new } => Some((shown[old].item, given[new].content.as_str())),
                Step::Remove { old } => Some((shown[old].item, "")),
                Step::Keep { .. } | Step::Insert { .. } => None,
            })
            .peekable();
        let mut inserts = places.iter().map(|&(place, new)| (place, given[new])).peekable();
        let form = self.form_of_new(inserts.clone().map(|(_, message)| message));
        let wrapped = if form == Form::WrapAll { self.wrapped()? } else { Vec::new() };
        let items = if form == Form::WrapAll { &wrapped } else { &self.items };

        let mut written = Vec::with_capacity(items.len() + places.len());
        for index in 0..=items.len() {
            while let Some((_, message)) = inserts.next_if(|&(place, _)| place == index) {
                written.push(match form {
                    Form::String => RawJson::from_text(&message.content),
                    Form::Content | Form::WrapAll => Content::of_message(message)?,
                });
            }
            let Some(item) = items.get(index) else { break };
            match edits.next_if(|&(edited, _)| edited == index) {
                Some((_, text)) => {
                    let path = if self.single { "contents".to_owned() } else { place(index) };
                    written.extend(item.with_text(text, &path, warnings)?);
                }
                None => written.push(item.raw().clone()),
            }
        }
        match written.as_slice() {
            [item] if self.single => Ok(Some(item.clone())),
            items => json::array("contents", items).map(Some),
        }
    }

    /// The form that new contents have, so that the SDK accepts them beside the others.
    fn form_of_new<'m>(&self, mut new: impl Iterator<Item = &'m LlmMessage>) -> Form {
        if self.items.is_empty() || self.items.iter().any(Content::is_spoken) {
            Form::Content
        } else if new.all(|message| message.role == LlmRole::User) {
            Form::String
        } else {
            Form::WrapAll
        }
    }

    fn wrapped(&self) -> Result<Vec<Content>, TranslateError> {
        let wrap = |(index, item): (usize, &Content)| {
            // Only a part outside of any content may not be one inside: for its text.
            let path = if self.single { "contents".to_owned() } else { place(index) };
            let outside = |error: ShapeError| {
                ShapeError::new(format!("{path}.text"), error.expected(), error.found())
            };
            Ok(Content::read(&item.as_spoken()?, String::new).map_err(outside)?)
        };
        self.items.iter().enumerate().map(wrap).collect()
    }

    fn shown(&self) -> Vec<Shown> {
        let shown =
            |(item, content): (usize, &Content)| Some(Shown { message: content.message()?, item });
        self.items.iter().enumerate().filter_map(shown).collect()
    }

    /// Before which item each new message goes, in order.
    ///
    /// The first go before everything, the last after everything, and the others as late as
    /// possible before the next message, but not between a function call and its response.
    fn places_of_new(&self, steps: &[Step], shown: &[Shown]) -> Vec<(usize, usize)> {
        let item = |step: &Step| match *step {
            Step::Keep { old, .. } | Step::Edit { old, .. } | Step::Remove { old } => {
                Some(shown[old].item)
            }
            Step::Insert { .. } => None,
        };
        let mut places = Vec::new();
        let (mut before, mut index) = (None, 0);
        while let Some(step) = steps.get(index) {
            if let Some(item) = item(step) {
                before = Some(item);
                index += 1;
                continue;
            }
            let run = steps[index..].iter().take_while(|step| item(step).is_none()).count();
            let after = steps.get(index + run).and_then(item);
            let place = self.place_between(before, after);
            places.extend(steps[index..index + run].iter().filter_map(|step| match *step {
                Step::Insert { new } => Some((place, new)),
                _ => None,
            }));
            index += run;
        }
        places
    }

    fn place_between(&self, before: Option<usize>, after: Option<usize>) -> usize {
        match (before, after) {
            (_, None) => self.items.len(),
            (None, Some(_)) => 0,
            (Some(before), Some(after)) => (before + 1..=after)
                .rev()
                .find(|&place| !self.items[place].answers_a_call())
                .unwrap_or(after),
        }
    }
}

fn place(index: usize) -> String {
    format!("contents[{index}]")
}

fn steps(shown: &[Shown], given: &[&LlmMessage]) -> Vec<Step> {
    let old: Vec<(&str, &str)> = shown.iter().map(|shown| key(&shown.message)).collect();
    let new: Vec<(&str, &str)> = given.iter().map(|message| key(message)).collect();
    // A message of another role is another message: nothing of a model's content is a user's.
    align(&old, &new, |i, j| (old[i].0 == new[j].0).then(|| likeness(old[i].1, new[j].1)))
}

fn key(message: &LlmMessage) -> (&str, &str) {
    (message.role.as_str(), &message.content)
}
