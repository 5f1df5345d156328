//! How several outputs become one.

/// How several outputs become one (protocol.md §5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MergeStrategy {
    /// Any stop wins, then any block, then any ask; texts are joined.
    OrDecision,
    /// Later fields replace earlier ones, decisions rank.
    FieldReplacement,
    /// Tool modes rank and tool lists intersect.
    ToolSelection,
    /// Later fields replace earlier ones.
    Simple,
    /// Nothing is merged: answers are kept beside each other, and change nothing.
    Observe,
    /// As [`OrDecision`](Self::OrDecision), but the event's own fields are those of the first answer
    /// that has one.
    First,
    /// As [`OrDecision`](Self::OrDecision), but the event's own fields are those of the last answer
    /// that has one.
    Last,
    /// As [`OrDecision`](Self::OrDecision), and a hook can grant what a user would be asked for.
    Permission,
}

impl MergeStrategy {
    /// Those that a declared event can have.
    pub(super) const DECLARABLE: [(&str, Self); 6] = [
        ("or-decision", Self::OrDecision),
        ("field-replacement", Self::FieldReplacement),
        ("simple", Self::Simple),
        ("observe", Self::Observe),
        ("first", Self::First),
        ("last", Self::Last),
    ];

    /// The words for it where an event is declared.
    #[doc(hidden)]
    pub const WORDS: [&'static str; 6] = [
        Self::DECLARABLE[0].0,
        Self::DECLARABLE[1].0,
        Self::DECLARABLE[2].0,
        Self::DECLARABLE[3].0,
        Self::DECLARABLE[4].0,
        Self::DECLARABLE[5].0,
    ];

    /// The strategy of a word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::DECLARABLE.iter().find(|(known, _)| *known == word).map(|(_, strategy)| *strategy)
    }

    /// The word for it where an event is declared; of those that none can have, what they are like.
    pub(super) fn word(self) -> &'static str {
        let known = Self::DECLARABLE.iter().find(|(_, strategy)| *strategy == self);
        known.map_or(Self::DECLARABLE[0].0, |(word, _)| *word)
    }

    /// Whether what hooks decide changes nothing.
    #[doc(hidden)]
    pub fn only_observes(self) -> bool {
        self == Self::Observe
    }
}
