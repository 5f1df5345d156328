//! The rows of the built-in events.

use super::matching::Matching;
use super::merge_strategy::MergeStrategy;
use super::row::{Chain, EventRow, HookEventName, ModelPayload};
use super::topic::Topic;
use crate::event::input::payload::*;
use crate::event::input::{
    CompactionReason, ModelPayloads, OpenInput, Payload, PreCompressTrigger, SessionEndReason,
    SessionStartSource, SwitchReason,
};
use hook_json::field::Field;
use hook_json::shape::{FieldReader, ShapeError};
use hook_json::{ObjectWriter, RawObject};

type ReadPayload = fn(HookEventName, &mut FieldReader) -> Result<EventPayload, ShapeError>;

fn read_open(event: HookEventName, fields: &mut FieldReader) -> Result<EventPayload, ShapeError> {
    OpenInput::read(event, fields).map(EventPayload::Open)
}

impl EventPayload {
    /// Reads the payload of an event.
    pub(super) fn read(event: HookEventName, fields: &mut FieldReader) -> Result<Self, ShapeError> {
        let read = READERS.get(event.index()).copied().unwrap_or(read_open);
        read(event, fields)
    }
}

impl EventRow {
    /// Returns `true` if the event was declared, and is not built in.
    pub fn is_declared(&self) -> bool {
        self.index >= EVENTS.len()
    }
}

impl HookEventName {
    /// The number of built-in events.
    pub const COUNT: usize = EVENTS.len();

    /// Returns all built-in events, in the order of reference/events.md.
    pub fn all() -> impl Iterator<Item = HookEventName> {
        EVENTS.iter().map(Self::of)
    }

    /// Returns the built-in event with that name or alias. [`Events`](super::Events) also knows the
    /// declared events.
    pub fn from_name(name: &str) -> Option<Self> {
        EVENTS.iter().find(|row| row.name == name || row.aliases.contains(&name)).map(Self::of)
    }
}

/// A built-in event as a type: one of [`events`].
///
/// `HandlerHook::on` turns a function of
/// [`TypedInput`](super::TypedInput) and [`TypedAnswer`](super::TypedAnswer) into a handler.
pub trait Event: 'static {
    /// The event's payload.
    type Input;

    /// The event's name.
    const NAME: HookEventName;

    /// Returns the payload, if it belongs to this event.
    fn input(payload: &EventPayload) -> Option<&Self::Input>;
}

/// Generates each event's name, its type for handlers and its payload variant from the rows.
macro_rules! events {
    (
        $($(#[$doc:meta])+ $event:ident($payload:ident) { $($field:ident: $value:expr,)+ })+
        open:
        $($(#[$open_doc:meta])+ $open:ident { $($open_field:ident: $open_value:expr,)+ })+
    ) => {
        /// The indexes of the rows.
        #[derive(Clone, Copy)]
        enum Row {
            $($event,)+
            $($open,)+
        }

        pub(super) static EVENTS: [EventRow; [$(Row::$event,)+ $(Row::$open,)+].len()] = [
            $(EventRow {
                index: Row::$event as usize,
                name: stringify!($event),
                $($field: $value,)+
                ..EventRow::of(<$payload>::SAMPLE, <$payload>::FIELDS)
            },)+
            $(EventRow {
                index: Row::$open as usize,
                name: stringify!($open),
                $($open_field: $open_value,)+
                ..EventRow::open()
            },)+
        ];

        /// The built-in events.
        #[expect(non_upper_case_globals, reason = "they are spelt as in settings and messages")]
        impl HookEventName {
            $($(#[$doc])+ pub const $event: Self = Self::of(&EVENTS[Row::$event as usize]);)+
            $($(#[$open_doc])+ pub const $open: Self = Self::of(&EVENTS[Row::$open as usize]);)+
        }

        /// The payload of one event.
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum EventPayload {
            $(
                #[doc = concat!("Of ", stringify!($event), ".")]
                $event($payload),
            )+
            /// The payload of an event without a payload type of its own.
            Open(OpenInput),
        }

        /// The readers for the payloads of the built-in events, by index.
        static READERS: [ReadPayload; EVENTS.len()] = [
            $(|_, fields| <$payload>::read(fields).map(Into::into),)+
            $({
                let _ = Row::$open;
                read_open
            },)+
        ];

        impl EventPayload {
            /// Returns the event that the payload belongs to.
            pub fn event(&self) -> HookEventName {
                match self {
                    $(Self::$event(_) => HookEventName::$event,)+
                    Self::Open(payload) => payload.event(),
                }
            }

            /// Returns the text that matchers are compared with; `None` if the event has none.
            pub fn match_subject(&self) -> Option<&str> {
                match self {
                    $(Self::$event(payload) => payload.match_subject(),)+
                    Self::Open(payload) => payload.subject(),
                }
            }

            /// Returns the arguments of a tool, if the event is about one.
            pub fn tool_input(&self) -> Option<&RawObject> {
                match self {
                    $(Self::$event(payload) => payload.tool_input(),)+
                    Self::Open(_) => None,
                }
            }

            /// Returns the payload with other fields; `None` if they are invalid for its event.
            pub fn with_fields(&self, fields: hook_json::JsonObject) -> Option<Self> {
                Self::read(self.event(), &mut FieldReader::new(fields)).ok()
            }

            /// Returns the model SDK's parts, which are translated before hooks see them.
            pub fn model_payloads(&mut self) -> ModelPayloads<'_> {
                match self {
                    $(Self::$event(payload) => payload.model_payloads(),)+
                    Self::Open(_) => ModelPayloads::default(),
                }
            }

            /// Returns the fields that the payload can have.
            pub(crate) fn fields(&self) -> &'static [Field] {
                self.event().row().fields
            }

            pub(crate) fn check(&self) -> Result<(), ShapeError> {
                match self {
                    $(Self::$event(payload) => payload.check(),)+
                    Self::Open(_) => Ok(()),
                }
            }

            /// Writes the fields of the payload into an object.
            pub fn write(&self, out: &mut ObjectWriter<'_>) {
                match self {
                    $(Self::$event(payload) => payload.write(out),)+
                    Self::Open(payload) => payload.write(out),
                }
            }
        }

        $(
            impl From<$payload> for EventPayload {
                fn from(payload: $payload) -> Self {
                    Self::$event(payload)
                }
            }
        )+

        impl From<OpenInput> for EventPayload {
            fn from(payload: OpenInput) -> Self {
                Self::Open(payload)
            }
        }

        /// A type for each built-in event, for handlers that listen to it:
        /// `HandlerHook::on`.
        pub mod events {
            use super::*;

            $(
                $(#[$doc])+
                #[derive(Debug, Clone, Copy)]
                pub struct $event;

                impl Event for $event {
                    type Input = $payload;
                    const NAME: HookEventName = HookEventName::$event;

                    fn input(payload: &EventPayload) -> Option<&$payload> {
                        match payload {
                            EventPayload::$event(input) => Some(input),
                            _ => None,
                        }
                    }
                }
            )+
            $(
                $(#[$open_doc])+
                #[derive(Debug, Clone, Copy)]
                pub struct $open;

                impl Event for $open {
                    type Input = OpenInput;
                    const NAME: HookEventName = HookEventName::$open;

                    fn input(payload: &EventPayload) -> Option<&OpenInput> {
                        match payload {
                            EventPayload::Open(input) => Some(input),
                            _ => None,
                        }
                    }
                }
            )+
        }
    };
}

events! {
    /// Before a tool runs.
    BeforeTool(BeforeToolInput) {
        aliases: &["before_tool"],
        topic: Topic::Tools,
        moment: "a tool is about to run",
        matching: Matching::TOOL_NAME,
        block_means: Some("the tool does not run"),
        retry_means: Some("the hooks are asked again after a while"),
        has_permission_decision: true,
        answers: &[
            "permissionDecision",
            "permissionDecisionReason",
            "tool_input",
            "toolInputReplaces",
        ],
        chain: Chain::ToolInput,
    }
    /// After a tool ran.
    AfterTool(AfterToolInput) {
        aliases: &["after_tool"],
        topic: Topic::Tools,
        moment: "a tool ran",
        matching: Matching::TOOL_NAME,
        block_means: Some("the reason replaces the result's content"),
        answers: &["tool_response"],
        chain: Chain::ToolResponse,
    }
    /// A prompt was submitted.
    BeforeAgent(BeforeAgentInput) {
        aliases: &["before_agent"],
        topic: Topic::Prompts,
        moment: "a prompt was submitted",
        block_means: Some("the prompt is refused"),
        answers: &["message"],
        first: &["message"],
        chain: Chain::Prompt,
    }
    /// The agent finished its turn.
    AfterAgent(AfterAgentInput) {
        aliases: &["after_agent"],
        topic: Topic::Turns,
        moment: "the agent finished its turn",
        block_means: Some("the agent goes on working, with the reason as prompt"),
        answers: &["clearContext"],
    }
    /// A session begins.
    SessionStart(SessionStartInput) {
        aliases: &["session_start"],
        topic: Topic::Sessions,
        moment: "a session begins",
        matching: Matching::Exact { field: "source", keywords: &SessionStartSource::NAMES },
        answers: &["env"],
    }
    /// A session ends.
    SessionEnd(SessionEndInput) {
        aliases: &["session_end"],
        topic: Topic::Sessions,
        moment: "a session ends",
        matching: Matching::Exact { field: "reason", keywords: &SessionEndReason::NAMES },
        merge: MergeStrategy::Simple,
    }
    /// Before the conversation is compressed.
    PreCompress(PreCompressInput) {
        aliases: &["pre_compress"],
        topic: Topic::Context,
        moment: "the conversation is about to be compressed",
        matching: Matching::Exact { field: "trigger", keywords: &PreCompressTrigger::NAMES },
        merge: MergeStrategy::Simple,
        block_means: Some("the conversation is not compressed, where the agent can still cancel it"),
        answers: &["cancel", "compaction"],
    }
    /// Before the model is called.
    BeforeModel(BeforeModelInput) {
        aliases: &["before_model"],
        topic: Topic::Model,
        moment: "the model is about to be called",
        merge: MergeStrategy::FieldReplacement,
        model: ModelPayload::Request,
        block_means: Some("the model is not called"),
        answers: &["llm_request", "llm_response", "messages"],
        chain: Chain::ModelRequest,
    }
    /// After the model's complete response.
    AfterModel(AfterModelInput) {
        aliases: &["after_model"],
        topic: Topic::Model,
        moment: "the model answered",
        merge: MergeStrategy::FieldReplacement,
        model: ModelPayload::RequestAndResponse,
        block_means: Some("an error response takes the response's place"),
        answers: &["llm_response"],
        chain: Chain::ModelResponse,
    }
    /// Before the tools of a model call are chosen.
    BeforeToolSelection(BeforeToolSelectionInput) {
        aliases: &["before_tool_selection"],
        topic: Topic::Model,
        moment: "the tools of a model call are about to be chosen",
        merge: MergeStrategy::ToolSelection,
        model: ModelPayload::Request,
        block_means: Some("no tools may be called (NONE)"),
        answers: &["toolConfig"],
    }
    /// The agent notifies the user.
    Notification(NotificationInput) {
        aliases: &["notification"],
        topic: Topic::User,
        moment: "the agent tells the user something",
        merge: MergeStrategy::Simple,
    }
    /// A tool failed. An AfterTool event follows, with `is_error`.
    ToolError(ToolErrorInput) {
        aliases: &["tool_error"],
        topic: Topic::Tools,
        moment: "a tool failed",
        matching: Matching::TOOL_NAME,
        retry_means: Some("the tool runs again after a while"),
    }
    /// All tool calls of one answer are done.
    ToolBatch(ToolBatchInput) {
        aliases: &["tool_batch"],
        topic: Topic::Tools,
        moment: "all tool calls of one answer are done",
        block_means: Some("the turn ends, with the reason"),
    }
    /// The user is about to be asked for permission to run a tool.
    PermissionRequest(PermissionRequestInput) {
        aliases: &["permission_request"],
        topic: Topic::Permissions,
        moment: "the user is about to be asked whether a tool may run",
        matching: Matching::TOOL_NAME,
        merge: MergeStrategy::Permission,
        block_means: Some("it is refused, with the reason; the user is not asked"),
        has_permission_decision: true,
        answers: &["permissionDecision", "permissionDecisionReason"],
    }
    /// Permission for a tool call was granted.
    PermissionGranted(PermissionGrantedInput) {
        aliases: &["permission_granted"],
        topic: Topic::Permissions,
        moment: "it was granted that a tool runs",
        matching: Matching::TOOL_NAME,
        merge: MergeStrategy::Observe,
    }
    /// Permission for a tool call was refused.
    PermissionDenied(PermissionDeniedInput) {
        aliases: &["permission_denied"],
        topic: Topic::Permissions,
        moment: "it was refused that a tool runs",
        matching: Matching::TOOL_NAME,
        retry_means: Some("it is asked for once more"),
    }
    /// A command became a prompt.
    PromptExpansion(PromptExpansionInput) {
        aliases: &["prompt_expansion"],
        topic: Topic::Prompts,
        moment: "a command became a prompt",
        matching: Matching::exact("command_name"),
        block_means: Some("the prompt is refused"),
    }
    /// A model call with its tools begins.
    TurnStart(TurnStartInput) {
        aliases: &["turn_start"],
        topic: Topic::Turns,
        moment: "a model call with its tools begins",
        merge: MergeStrategy::Observe,
    }
    /// A model call with its tools is over.
    TurnEnd(TurnEndInput) {
        aliases: &["turn_end"],
        topic: Topic::Turns,
        moment: "a model call with its tools is over",
        merge: MergeStrategy::Observe,
    }
    /// A turn ended in an error.
    TurnFailed(TurnFailedInput) {
        aliases: &["turn_failed"],
        topic: Topic::Turns,
        moment: "a turn ended in an error",
        merge: MergeStrategy::Observe,
    }
    /// A subagent is about to start.
    SubagentStart(SubagentStartInput) {
        aliases: &["subagent_start"],
        topic: Topic::Subagents,
        moment: "a subagent is about to start",
        matching: Matching::exact("agent_type"),
        block_means: Some("the subagent is not started"),
    }
    /// A subagent is done.
    SubagentStop(SubagentStopInput) {
        aliases: &["subagent_stop"],
        topic: Topic::Subagents,
        moment: "a subagent is done",
        matching: Matching::exact("agent_type"),
        block_means: Some("the subagent goes on, with the reason as prompt"),
    }
    /// The conversation was compressed.
    PostCompress(PostCompressInput) {
        aliases: &["post_compress"],
        topic: Topic::Context,
        moment: "the conversation was compressed",
        matching: Matching::Exact { field: "trigger", keywords: &PreCompressTrigger::NAMES },
        merge: MergeStrategy::Observe,
    }
    /// The prompt for the summary is being created.
    Compacting(CompactingInput) {
        aliases: &["compacting"],
        topic: Topic::Context,
        moment: "the prompt that makes the summary is being made",
        merge: MergeStrategy::Last,
        answers: &["context", "prompt", "preserveData"],
    }
    /// The use of the context passed a threshold.
    ContextWarning(ContextWarningInput) {
        aliases: &["context_warning"],
        topic: Topic::Context,
        moment: "the use of the context passed a threshold",
        merge: MergeStrategy::Observe,
    }
    /// Before the agent switches to another session.
    BeforeSessionSwitch(BeforeSessionSwitchInput) {
        aliases: &["before_session_switch"],
        topic: Topic::Sessions,
        moment: "the agent is about to change to another session",
        matching: Matching::Exact { field: "reason", keywords: &SwitchReason::NAMES },
        merge: MergeStrategy::Last,
        block_means: Some("the agent stays in its session"),
        answers: &["cancel"],
    }
    /// The agent switched to another session.
    SessionSwitch(SessionSwitchInput) {
        aliases: &["session_switch"],
        topic: Topic::Sessions,
        moment: "the agent changed to another session",
        matching: Matching::Exact { field: "reason", keywords: &SwitchReason::NAMES },
        merge: MergeStrategy::Observe,
    }
    /// Before the conversation branches.
    BeforeSessionBranch(BeforeSessionBranchInput) {
        aliases: &["before_session_branch"],
        topic: Topic::Sessions,
        moment: "the conversation is about to branch",
        merge: MergeStrategy::Last,
        block_means: Some("the conversation does not branch"),
        answers: &["cancel", "skipConversationRestore"],
    }
    /// The conversation branched.
    SessionBranch(SessionBranchInput) {
        aliases: &["session_branch"],
        topic: Topic::Sessions,
        moment: "the conversation branched",
        merge: MergeStrategy::Observe,
    }
    /// Before the agent moves in the tree of branches.
    BeforeSessionTree(BeforeSessionTreeInput) {
        aliases: &["before_session_tree"],
        topic: Topic::Sessions,
        moment: "the agent is about to move in the tree of branches",
        merge: MergeStrategy::Last,
        block_means: Some("the agent stays where it is"),
        answers: &["cancel", "summary"],
    }
    /// The agent moved in the tree of branches.
    SessionTree(SessionTreeInput) {
        aliases: &["session_tree"],
        topic: Topic::Sessions,
        moment: "the agent moved in the tree of branches",
        merge: MergeStrategy::Observe,
    }
    /// The agent starts an automatic compression of its conversation.
    AutoCompactionStart(AutoCompactionStartInput) {
        aliases: &["auto_compaction_start"],
        topic: Topic::Context,
        moment: "the agent begins to compress its conversation by itself",
        matching: Matching::Exact { field: "reason", keywords: &CompactionReason::NAMES },
        merge: MergeStrategy::Observe,
    }
    /// An automatic compression finished or failed.
    AutoCompactionEnd(AutoCompactionEndInput) {
        aliases: &["auto_compaction_end"],
        topic: Topic::Context,
        moment: "the agent compressed its conversation by itself, or tried to",
        merge: MergeStrategy::Observe,
    }
    /// A failed model call is about to be retried.
    AutoRetryStart(AutoRetryStartInput) {
        aliases: &["auto_retry_start"],
        topic: Topic::Model,
        moment: "a failed model call is about to be tried again",
        merge: MergeStrategy::Observe,
    }
    /// A failed model call was retried.
    AutoRetryEnd(AutoRetryEndInput) {
        aliases: &["auto_retry_end"],
        topic: Topic::Model,
        moment: "a failed model call was tried again",
        merge: MergeStrategy::Observe,
    }
    /// A stream rule fired.
    RuleTriggered(RuleTriggeredInput) {
        aliases: &["rule_triggered"],
        topic: Topic::Model,
        moment: "a stream rule fired",
        merge: MergeStrategy::Observe,
    }
    /// Open todos are shown to the model.
    TodoReminder(TodoReminderInput) {
        aliases: &["todo_reminder"],
        topic: Topic::Turns,
        moment: "open todos are shown to the model",
        merge: MergeStrategy::Observe,
    }
    /// A slash command is run.
    Command(CommandInput) {
        aliases: &["command"],
        topic: Topic::Prompts,
        moment: "a slash command is run",
        matching: Matching::exact("command_name"),
        merge: MergeStrategy::First,
        answers: &["text", "prompt"],
    }

    open:
    /// The agent begins to work.
    AgentStart {
        aliases: &["agent_start"],
        topic: Topic::Turns,
        moment: "the agent begins to work",
        merge: MergeStrategy::Observe,
    }
    /// The user stopped the turn.
    Interrupt {
        aliases: &["interrupt"],
        topic: Topic::Turns,
        moment: "the user stopped the turn",
        merge: MergeStrategy::Observe,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Events;
    use crate::event::foreign_names::FOREIGN_NAMES;
    use crate::event::input::{BaseOverrides, RequestInput};
    use hook_json::RawJson;
    use std::collections::HashSet;

    #[test]
    fn every_row_stands_at_its_events_place() {
        for (index, row) in EVENTS.iter().enumerate() {
            assert_eq!(row.index, index, "{}", row.name);
        }
    }

    #[test]
    fn names_and_aliases_are_unique_and_narrow_to_their_row() {
        let mut seen = HashSet::new();
        for row in &EVENTS {
            for name in row.aliases.iter().chain([&row.name]) {
                assert!(seen.insert(*name), "{name} stands for two events");
                assert_eq!(HookEventName::from_name(name), Some(HookEventName::of(row)));
            }
        }
        assert_eq!(HookEventName::from_name("beforetool"), None);
    }

    #[test]
    fn every_sample_is_a_valid_input_of_its_event_and_nothing_more() {
        for event in HookEventName::all() {
            let text = event.sample_input().as_str().to_owned();
            let fields = RawJson::parse(text.as_str()).unwrap().to_object().unwrap();
            let input = RequestInput::read(event, fields).unwrap();
            assert!(input.extra.is_empty() && input.base == BaseOverrides::default(), "{text}");
            // Defaults add nothing either: hooks get exactly the sample.
            assert_eq!(RawObject::build(|object| input.write(object)).as_str(), text);
        }
    }

    #[test]
    fn every_built_in_event_has_a_topic_and_every_topic_an_event() {
        let built_in = |topic: Topic| EVENTS.iter().any(|row| row.topic == topic);
        for topic in Topic::ALL {
            assert_eq!(built_in(topic), topic != Topic::Declared, "{topic:?}");
        }
    }

    #[test]
    fn a_misspelt_name_has_a_suggestion() {
        assert_eq!(Events::built_in().nearest("BeforeTools"), Some("BeforeTool"));
        assert_eq!(Events::built_in().nearest("xyzzy"), None);
    }

    #[test]
    fn what_other_agents_call_an_event_is_known_and_is_no_name_of_ours() {
        for (name, event) in FOREIGN_NAMES {
            assert_eq!(HookEventName::from_name(name), None);
            assert_eq!(Events::built_in().nearest(&name.to_lowercase()), Some(event.as_str()));
        }
        assert_eq!(
            Events::built_in().unknown_message("PreToolUse"),
            "there is no event \"PreToolUse\"; what other agents call so is BeforeTool here"
        );
    }
}
