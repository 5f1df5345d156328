//! One `fire_` function per event, so that the payload always belongs to the event.

/// Adds a typed function for each of the most common events to a type with a `fire` method, local
/// or remote.
#[macro_export]
macro_rules! fire_functions {
    ($who:ty) => {
        $crate::fire_functions! { $who:
            "BeforeTool": fire_before_tool(BeforeToolInput);
            "AfterTool": fire_after_tool(AfterToolInput);
            "BeforeAgent": fire_before_agent(BeforeAgentInput);
            "AfterAgent": fire_after_agent(AfterAgentInput);
            "SessionStart": fire_session_start(SessionStartInput);
            "SessionEnd": fire_session_end(SessionEndInput);
            "PreCompress": fire_pre_compress(PreCompressInput);
            "BeforeModel": fire_before_model(BeforeModelInput);
            "AfterModel": fire_after_model(AfterModelInput);
            "BeforeToolSelection": fire_before_tool_selection(BeforeToolSelectionInput);
            "Notification": fire_notification(NotificationInput);
        }
    };
    ($who:ty: $($event:literal: $function:ident($payload:ident);)+) => {
        impl $who {
            $(
                #[doc = concat!("Fires ", $event, ": [`fire`](Self::fire) with that event's payload.")]
                pub fn $function(
                    &self,
                    input: $crate::payloads::$payload,
                ) -> impl Future<Output = $crate::payloads::ProcessedHookResult> + Send {
                    self.fire(input)
                }
            )+
        }
    };
}

/// The arguments and results of the `fire_` functions.
pub mod payloads {
    pub use hook_core::ProcessedHookResult;
    pub use hook_protocol::{
        AfterAgentInput, AfterModelInput, AfterToolInput, BeforeAgentInput, BeforeModelInput,
        BeforeToolInput, BeforeToolSelectionInput, NotificationInput, PreCompressInput,
        SessionEndInput, SessionStartInput,
    };
}

fire_functions!(crate::HookSystem);
