//! Declaration of a settings file's events.

use super::source::HookSource;
use hook_protocol::event::{DeclareError, EventDefinition, Events, HookEventName};

/// Declares an event of a file; provisionally if the file is a project's.
pub(crate) fn declare(
    source: &HookSource,
    definition: EventDefinition,
    events: &mut Events,
) -> Result<HookEventName, DeclareError> {
    match source {
        HookSource::Project => events.declare_provisionally(&definition),
        _ => events.declare(definition),
    }
}
