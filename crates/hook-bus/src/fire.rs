//! One function per event, so that a caller cannot fire an event with another one's payload.

use hook_core::{
    AfterAgentInput, AfterModelInput, AfterToolInput, BeforeAgentInput, BeforeModelInput,
    BeforeToolInput, BeforeToolSelectionInput, NotificationInput, PreCompressInput,
    ProcessedHookResult, SessionEndInput, SessionStartInput,
};

use crate::system::HookSystem;

macro_rules! fire {
    ($($event:literal: $function:ident($payload:ty);)+) => {
        impl HookSystem {
            $(
                #[doc = concat!("Fires ", $event, ": [`fire`](Self::fire) with that event's payload.")]
                pub fn $function(
                    &self,
                    input: $payload,
                ) -> impl Future<Output = ProcessedHookResult> + Send {
                    self.fire(input)
                }
            )+
        }
    };
}

fire! {
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
