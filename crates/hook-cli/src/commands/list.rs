//! `hook list`: every hook that is found, and whether it runs.

use hook_bus::HookSystem;
use hook_core::HookEventName;

use crate::args::{Common, List};
use crate::error::CommandError;
use crate::exit_code::{self, Status};
use crate::output::Printer;
use crate::render;

pub(crate) async fn list(
    list: &List,
    common: &Common,
    system: &HookSystem,
    printer: &mut Printer,
) -> Result<Status, CommandError> {
    let event = list.event.as_deref().map(known_event).transpose()?;
    let mut listings = system.hooks()?;
    listings.retain(|listing| event.is_none_or(|event| listing.hook.event == event));
    if common.json {
        for listing in &listings {
            printer.message(&render::listing_json(listing)).await?;
        }
    } else {
        printer.text(&render::listings(&listings, printer)).await?;
    }
    Ok(exit_code::PROCEED)
}

fn known_event(name: &str) -> Result<HookEventName, CommandError> {
    HookEventName::from_name(name).ok_or_else(|| CommandError::Usage(HookEventName::unknown(name)))
}
