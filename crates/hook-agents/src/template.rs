//! The forms of an agent's answers, as data.

/// The answers that count at an event, each in the forms in which the agent obeys it: the first is written, any of
/// them is read. The agent ignores a part without forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EventAnswers {
    pub(super) deny: Forms,
    pub(super) ask: Forms,
    pub(super) allow: Forms,
    pub(super) stop: Forms,
    pub(super) input: Forms,
    pub(super) context: Forms,
    pub(super) message: Forms,
    /// The answer without a decision, if the agent takes silence for a failure.
    pub(super) neutral: Forms,
    /// `true` if an object on standard output also counts with an exit code other than 0.
    pub(super) counts_at_any_code: bool,
}

/// The forms of one part of an answer.
pub(super) type Forms = &'static [Template];

impl EventAnswers {
    /// The answers of an event whose answers are ignored, or are no templates.
    pub(super) const NONE: Self = Self {
        deny: &[],
        ask: &[],
        allow: &[],
        stop: &[],
        input: &[],
        context: &[],
        message: &[],
        neutral: &[],
        counts_at_any_code: false,
    };
}

/// The form of one part of an answer: a JSON object with placeholders, and an exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Template {
    /// The values of the object, each with the names that lead to it.
    pub(super) fields: &'static [(&'static [&'static str], Value)],
    /// The exit code. If it is not 0, the reason is on standard error.
    pub(super) code: u8,
    /// `true` if standard output is the bare text.
    pub(super) is_text: bool,
}

/// A value in a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value {
    /// A constant, as JSON. The first is written, any of them is read.
    OneOf(&'static [&'static str]),
    /// The agent's name of the event.
    Event,
    /// The reason of a decision.
    Reason,
    /// Context for the model.
    Context,
    /// All arguments of the tool.
    Input,
    /// A message to the user.
    Message,
}

impl Value {
    /// The placeholders in files.
    pub(super) const PLACEHOLDERS: [(&'static str, Self); 5] = [
        ("{event}", Self::Event),
        ("{reason}", Self::Reason),
        ("{context}", Self::Context),
        ("{input}", Self::Input),
        ("{message}", Self::Message),
    ];
}

impl Template {
    /// Returns `true` if the form is this exit code and nothing else.
    pub(super) fn is_code(&self, code: i32) -> bool {
        self.fields.is_empty() && self.code != 0 && i32::from(self.code) == code
    }

    /// Returns `true` if a constant tells this answer from others, so that it can be read.
    pub(super) fn is_readable(&self) -> bool {
        self.fields.iter().any(|(_, value)| matches!(value, Value::OneOf(_)))
    }
}
