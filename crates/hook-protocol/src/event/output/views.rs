//! Typed views of each event's outputs, which are not copied (reference/answers.md).

use super::answer::HookOutput;
use crate::event::tool_mode::narrow_tool_config;
use crate::model::ToolConfig;
use hook_json::{JsonArray, JsonObject, RawJson, RawObject};

macro_rules! view {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy)]
        pub struct $name<'a> {
            outputs: &'a [HookOutput],
        }

        impl<'a> $name<'a> {
            /// Creates a view of the outputs of one event, such as those of an
            /// `AggregatedHookResult`. They should belong to the
            /// view's event.
            pub fn new(outputs: &'a (impl AsRef<[HookOutput]> + ?Sized)) -> Self {
                Self { outputs: outputs.as_ref() }
            }

            fn outputs(&self) -> impl DoubleEndedIterator<Item = &'a HookOutput> {
                self.outputs.iter()
            }
        }
    };
}

view! {
    /// The answers to a BeforeTool event.
    BeforeToolOutput
}
view! {
    /// The answers to an AfterTool event.
    AfterToolOutput
}
view! {
    /// The answers to a BeforeModel event.
    BeforeModelOutput
}
view! {
    /// The answers to an AfterModel event.
    AfterModelOutput
}
view! {
    /// The answers to a BeforeToolSelection event.
    BeforeToolSelectionOutput
}
view! {
    /// The answers to a BeforeAgent event.
    BeforeAgentOutput
}
view! {
    /// The answers to an AfterAgent event.
    AfterAgentOutput
}
view! {
    /// The answers to a PreCompress event.
    PreCompressOutput
}

/// Merges every hook's changes to one object, in plan order.
pub fn merged_changes<'a>(
    outputs: impl Iterator<Item = &'a HookOutput>,
    name: &str,
) -> Option<JsonObject> {
    let mut merged: Option<JsonObject> = None;
    for output in outputs {
        let Some(later) = output.specific_object(name).map(|later| later.fields()) else {
            continue;
        };
        match &mut merged {
            Some(merged) if name != "tool_input" || !output.replaces_tool_input() => {
                merged.merge(&later);
            }
            _ => merged = Some(later),
        }
    }
    merged
}

impl BeforeToolOutput<'_> {
    /// Returns the arguments for the tool: the original with every hook's `tool_input` merged into
    /// it, shallow, in plan order. One with `toolInputReplaces` replaces everything before it.
    /// `None` if no hook changed them.
    pub fn modified_tool_input(&self, original: &RawObject) -> Option<RawObject> {
        let changes = merged_changes(self.outputs(), "tool_input")?;
        Some(match self.outputs().any(HookOutput::replaces_tool_input) {
            true => changes.to_raw(),
            false => original.merged(&changes),
        })
    }
}

impl AfterToolOutput<'_> {
    /// Returns the response that replaces the tool's, from the last hook that gave one of the same
    /// JSON kind. `None` if no hook did.
    pub fn modified_tool_response(&self, original: &RawJson) -> Option<RawJson> {
        let responses = self.outputs().rev().filter_map(|output| output.specific("tool_response"));
        responses.into_iter().find(|response| response.kind() == original.kind()).cloned()
    }
}

impl BeforeModelOutput<'_> {
    /// Returns the stable response that replaces the model's, from the last hook that gave one.
    pub fn synthetic_response(&self) -> Option<RawObject> {
        self.outputs().rev().find_map(|output| output.specific_object("llm_response"))
    }

    /// Returns the stable request with every hook's `llm_request` merged into it, shallow, in plan
    /// order. `None` if no hook changed it.
    pub fn modified_llm_request(&self, original: &RawObject) -> Option<RawObject> {
        merged_changes(self.outputs(), "llm_request").map(|changes| original.merged(&changes))
    }
}

impl BeforeModelOutput<'_> {
    /// Returns the conversation that replaces this call's, in the agent's own format, from the last
    /// hook that gave one. That hook saw the changes of those before it. `None` if no hook did.
    pub fn messages(&self) -> Option<JsonArray> {
        let conversations = self.outputs().rev().filter_map(|output| output.specific("messages"));
        conversations.into_iter().find_map(|messages| JsonArray::try_from(messages.clone()).ok())
    }
}

impl BeforeAgentOutput<'_> {
    /// Returns the message to put before the prompt, with `customType`, `content`, `display` and
    /// `details`, from the first hook that gave one.
    pub fn message(&self) -> Option<RawObject> {
        self.outputs().find_map(|output| output.specific_object("message"))
    }

    /// Returns the text of that message: its content, or its text parts, one per line.
    pub fn message_text(&self) -> Option<String> {
        let content = self.message()?.fields().get("content")?.clone();
        let part = |part: RawJson| part.to_object().ok()?.get("text")?.to_text();
        let parts = || Some(content.to_items()?.into_iter().filter_map(part).collect::<Vec<_>>());
        content.to_text().or_else(|| Some(parts()?.join("\n"))).filter(|text| !text.is_empty())
    }
}

impl PreCompressOutput<'_> {
    /// Returns the replacement for the agent's own compression, in the agent's format, from the
    /// last hook that gave one.
    pub fn compaction(&self) -> Option<RawObject> {
        self.outputs().rev().find_map(|output| output.specific_object("compaction"))
    }
}

impl AfterModelOutput<'_> {
    /// Returns the stable response that replaces the model's: every hook's `llm_response` merged,
    /// shallow, in plan order. `None` unless it has text, or its first candidate has content.
    pub fn modified_response(&self) -> Option<RawObject> {
        let response = merged_changes(self.outputs(), "llm_response")?;
        let has_text = response.get("text").is_some_and(|text| text.to_text().is_some());
        let first = response.get("candidates").and_then(|candidates| candidates.to_items());
        let first = first.and_then(|candidates| candidates.first()?.to_object().ok());
        let content = first.as_ref().and_then(|first| first.get("content"));
        (has_text || content.is_some_and(|content| !content.is_null())).then(|| response.to_raw())
    }
}

impl BeforeToolSelectionOutput<'_> {
    /// Narrows the caller's `base` by the configurations of hooks: NONE beats ANY beats AUTO, and
    /// lists are intersected. An empty intersection is NONE, and so is a block. `None` if no hook
    /// set anything about tools.
    pub fn tool_config(&self, base: &ToolConfig) -> Option<ToolConfig> {
        if self.outputs().any(HookOutput::is_blocking_decision) {
            return Some(ToolConfig {
                mode: Some("NONE".to_owned()),
                allowed_function_names: None,
            });
        }
        let configs: Vec<ToolConfig> = self
            .outputs()
            .filter_map(|output| output.specific_object("toolConfig"))
            .map(|config| ToolConfig::read_leniently(&config.fields()))
            .collect();
        if configs.is_empty() {
            return None;
        }
        let mut narrowed = narrow_tool_config(std::iter::once(base).chain(&configs));
        if narrowed.allowed_function_names.as_ref().is_some_and(Vec::is_empty) {
            narrowed.mode = Some("NONE".to_owned());
        }
        Some(narrowed)
    }
}

impl AfterAgentOutput<'_> {
    /// Returns `true` if a hook wants the conversation's context cleared.
    pub fn should_clear_context(&self) -> bool {
        self.outputs().any(|output| {
            output.specific("clearContext").and_then(|value| value.to_bool()) == Some(true)
        })
    }
}
