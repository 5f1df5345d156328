//! Checks for the guards of an event. A guard is a hook with `failBehavior: block`: if it cannot
//! run, the event is blocked. The engine knows its hooks; the command knows whether the user's
//! settings could be searched.

use hook_bus::HookSystem;
use hook_protocol::HookEventName;

use crate::context::Context;

/// Returns `true` if a guard of the event exists, or may exist.
pub(crate) fn may_exist(event: HookEventName, system: &HookSystem, context: &Context) -> bool {
    context.lacks_home() || system.may_have_guard(event)
}

/// Returns the reason why guards of the event may be missing, or `None` if all are known.
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
