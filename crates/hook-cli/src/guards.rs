//! Which guards an event has, or may have. A guard is a hook with `failBehavior: block`: where it
//! cannot be asked, the answer is no. The engine knows its hooks; the command knows whether it could
//! look for the user's.

use hook_bus::HookSystem;
use hook_core::HookEventName;

use crate::context::Context;

/// Whether a guard listens to the event, or may.
pub(crate) fn may_exist(event: HookEventName, system: &HookSystem, context: &Context) -> bool {
    context.lacks_home() || system.may_have_guard(event)
}

/// Why guards of the event may be missing among the hooks of a system; `None` where all are known.
pub(crate) fn unknown(
    event: HookEventName,
    system: &HookSystem,
    context: &Context,
) -> Option<String> {
    if context.lacks_home() {
        let text = "neither HOME nor XDG_CONFIG_HOME names a folder, so the user's settings cannot \
                    be found; set one, or give --no-user";
        return Some(text.to_owned());
    }
    system.unread_guards(event)
}
