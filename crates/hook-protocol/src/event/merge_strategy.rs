//! Strategies for merging several outputs into one.

/// A strategy for merging the outputs of several hooks into one (reference/answers.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MergeStrategy {
    /// Any stop wins, then any block, then any ask; texts are joined.
    OrDecision,
    /// Later fields replace earlier ones, and the strongest decision wins.
    FieldReplacement,
    /// The strongest tool mode wins, and tool lists are intersected.
    ToolSelection,
    /// Later fields replace earlier ones.
    Simple,
    /// Nothing is merged: outputs are kept side by side, and change nothing.
    Observe,
    /// Like [`OrDecision`](Self::OrDecision), but the event's own fields come from the first output
    /// that has any.
    First,
    /// Like [`OrDecision`](Self::OrDecision), but the event's own fields come from the last output
    /// that has any.
    Last,
    /// Like [`OrDecision`](Self::OrDecision), and a hook can grant permission in the user's place.
    Permission,
}

impl MergeStrategy {
    /// The strategies that an event definition can name.
    pub(super) const DECLARABLE: [(&str, Self); 6] = [
        ("or-decision", Self::OrDecision),
        ("field-replacement", Self::FieldReplacement),
        ("simple", Self::Simple),
        ("observe", Self::Observe),
        ("first", Self::First),
        ("last", Self::Last),
    ];

    /// The names of the strategies in event definitions.
    pub const NAMES: [&'static str; 6] = [
        Self::DECLARABLE[0].0,
        Self::DECLARABLE[1].0,
        Self::DECLARABLE[2].0,
        Self::DECLARABLE[3].0,
        Self::DECLARABLE[4].0,
        Self::DECLARABLE[5].0,
    ];

    /// Returns the strategy with that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::DECLARABLE.iter().find(|(known, _)| *known == name).map(|(_, strategy)| *strategy)
    }

    /// Returns the name in event definitions; `or-decision` for a strategy that none can name.
    pub(super) fn as_str(self) -> &'static str {
        let known = Self::DECLARABLE.iter().find(|(_, strategy)| *strategy == self);
        known.map_or(Self::DECLARABLE[0].0, |(name, _)| *name)
    }

    /// Returns `true` if hooks' decisions have no effect.
    pub fn is_observe_only(self) -> bool {
        self == Self::Observe
    }
}
