//! The output of a hook: the output itself, its decision, and the typed views of each event's
//! outputs (reference/answers.md).

mod answer;
mod decision;
mod decision_field;
mod fields;
mod mistakes;
mod nested;
mod read;
mod restricting;
mod unapplied;
mod views;

pub use answer::{HookOutput, NO_REASON, TOOL_INPUT_REPLACES};
pub use decision::{Decision, PolicyDecision};
pub use fields::{COMMON_FIELDS, SPECIFIC_FIELDS, is_spelling_of};
pub use read::{InvalidReason, ParsedOutput};
pub use views::{
    AfterAgentOutput, AfterModelOutput, AfterToolOutput, BeforeAgentOutput, BeforeModelOutput,
    BeforeToolOutput, BeforeToolSelectionOutput, PreCompressOutput, merged_changes,
};
