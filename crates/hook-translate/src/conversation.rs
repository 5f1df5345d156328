//! Applies a hook's messages to an SDK's own conversation.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::hash::{Hash, Hasher};

use hook_json::RawJson;
use hook_protocol::model::LlmMessage;

use crate::Warning;
use crate::align::{Step, align, likeness};

/// An entry of an SDK's conversation.
pub(crate) trait Entry {
    /// Returns the original JSON.
    fn raw(&self) -> &RawJson;

    /// Returns the role and the text, if hooks see the entry. The text may be empty.
    fn visible_message(&self) -> Option<LlmMessage>;

    /// Returns the message that hooks see, if it has text.
    fn message(&self) -> Option<LlmMessage> {
        self.visible_message().filter(|message| !message.content.is_empty())
    }

    /// Returns the entry with another text, or the rest of it for an empty text. `path` is the
    /// entry's path.
    fn with_text(&self, text: &str, path: &str, warnings: &mut Vec<Warning>) -> Option<RawJson>;
}

/// The changes of a hook's messages to a conversation.
#[derive(Debug)]
pub(crate) struct Plan<'m> {
    /// The entries that get another text, in order.
    edits: Vec<(usize, Cow<'m, str>)>,
    /// The new messages, each with the index of the entry that follows it, in order.
    inserts: Vec<(usize, &'m LlmMessage)>,
}

/// A message of the conversation, and its entry.
struct Shown {
    message: LlmMessage,
    entry: usize,
}

impl<'m> Plan<'m> {
    /// Compares `messages` with those of `entries`. Returns `None` if they are the same.
    ///
    /// A message without text is ignored, as in the stable form. `insertion_index` returns the index
    /// at which new messages are inserted, given the entries before and after them.
    pub(crate) fn of<E: Entry>(
        entries: &[E],
        messages: &'m [LlmMessage],
        insertion_index: impl Fn(Option<usize>, Option<usize>) -> usize,
    ) -> Option<Self> {
        let given: Vec<&LlmMessage> =
            messages.iter().filter(|message| !message.content.is_empty()).collect();
        let mut shown = Vec::with_capacity(given.len());
        for (entry, read) in entries.iter().enumerate() {
            shown.extend(read.message().map(|message| Shown { message, entry }));
        }
        let steps = steps(&shown, &given);
        if steps.iter().all(|step| matches!(step, Step::Keep { .. })) {
            return None;
        }
        let edit = |step: &Step| match *step {
            Step::Edit { old, new } => Some((shown[old].entry, given[new].content.decode())),
            Step::Remove { old } => Some((shown[old].entry, Cow::default())),
            Step::Keep { .. } | Step::Insert { .. } => None,
        };
        Some(Self {
            edits: steps.iter().filter_map(edit).collect(),
            inserts: inserts(&steps, &shown, &given, insertion_index),
        })
    }

    /// Returns the new messages.
    pub(crate) fn new_messages(&self) -> impl Iterator<Item = &'m LlmMessage> {
        self.inserts.iter().map(|&(_, message)| message)
    }

    /// Returns the resulting entries. `path` returns the path of an entry, `new` creates an entry
    /// from a message.
    pub(crate) fn apply_to<E: Entry>(
        &self,
        entries: &[E],
        path: impl Fn(usize) -> String,
        new: impl Fn(&LlmMessage) -> RawJson,
        warnings: &mut Vec<Warning>,
    ) -> Vec<RawJson> {
        let mut edits = self.edits.iter().peekable();
        let mut inserts = self.inserts.iter().peekable();
        let mut result = Vec::with_capacity(entries.len() + self.inserts.len());
        for index in 0..=entries.len() {
            while let Some((_, message)) = inserts.next_if(|&&(position, _)| position == index) {
                result.push(new(message));
            }
            let Some(entry) = entries.get(index) else { break };
            match edits.next_if(|(edited, _)| *edited == index) {
                Some((_, text)) => result.extend(entry.with_text(text, &path(index), warnings)),
                None => result.push(entry.raw().clone()),
            }
        }
        result
    }
}

/// Returns the new messages with their indices: the first before everything, the last after
/// everything, the others by `insertion_index`.
fn inserts<'m>(
    steps: &[Step],
    shown: &[Shown],
    given: &[&'m LlmMessage],
    insertion_index: impl Fn(Option<usize>, Option<usize>) -> usize,
) -> Vec<(usize, &'m LlmMessage)> {
    let entry = |step: &Step| match *step {
        Step::Keep { old, .. } | Step::Edit { old, .. } | Step::Remove { old } => {
            Some(shown[old].entry)
        }
        Step::Insert { .. } => None,
    };
    let mut inserts = Vec::new();
    let (mut before, mut index) = (None, 0);
    while let Some(step) = steps.get(index) {
        if let Some(entry) = entry(step) {
            before = Some(entry);
            index += 1;
            continue;
        }
        let run = steps[index..].iter().take_while(|step| entry(step).is_none()).count();
        let position = insertion_index(before, steps.get(index + run).and_then(entry));
        inserts.extend(steps[index..index + run].iter().filter_map(|step| match *step {
            Step::Insert { new } => Some((position, given[new])),
            _ => None,
        }));
        index += run;
    }
    inserts
}

fn steps(shown: &[Shown], given: &[&LlmMessage]) -> Vec<Step> {
    let old: Vec<Compared<'_>> = shown.iter().map(|shown| Compared::new(&shown.message)).collect();
    let new: Vec<Compared<'_>> = given.iter().map(|given| Compared::new(given)).collect();
    align(&old, &new, |i, j| old[i].likeness(&new[j]))
}

/// A message for comparison. Its text is read once, and only where more than equality matters.
struct Compared<'m> {
    message: &'m LlmMessage,
    text: OnceCell<Cow<'m, str>>,
}

impl<'m> Compared<'m> {
    fn new(message: &'m LlmMessage) -> Self {
        Self { message, text: OnceCell::new() }
    }

    fn text(&self) -> &str {
        self.text.get_or_init(|| self.message.content.decode())
    }

    /// Returns the likeness to another message. Messages of different roles have none: content of
    /// the model never becomes content of the user.
    fn likeness(&self, other: &Self) -> Option<u32> {
        let same_role = self.message.role == other.message.role;
        same_role.then(|| likeness(self.text(), other.text()))
    }
}

impl PartialEq for Compared<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.message == other.message
    }
}

impl Eq for Compared<'_> {}

impl Hash for Compared<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.message.role.as_str(), self.text()).hash(state);
    }
}

/// Returns the index at which a new message is inserted, given the entries of the messages before
/// and after it: 0 without one before, the end without one after, else as late as possible before
/// the next message, but not between a tool call and its answer.
///
/// `is_tool_result` returns `true` for an entry that must directly follow the one with the call.
pub(crate) fn insertion_index(
    count: usize,
    (before, after): (Option<usize>, Option<usize>),
    is_tool_result: impl Fn(usize) -> bool,
) -> usize {
    let is_open = |index: &usize| !is_tool_result(*index);
    match (before, after) {
        (_, None) => count,
        (None, Some(_)) => 0,
        // If call and answer both have text, no index between them is free. The message then goes
        // after the answers.
        (Some(before), Some(after)) => (before + 1..=after)
            .rev()
            .find(is_open)
            .or_else(|| (after + 1..count).find(is_open))
            .unwrap_or(count),
    }
}
