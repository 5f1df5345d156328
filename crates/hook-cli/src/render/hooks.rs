//! Lists of hooks.

use std::fmt::Write;

use hook_core::{FailBehavior, HookListing, ObjectWriter};

use crate::output::{Printer, Tone};

/// One hook as a line of JSON.
pub(crate) fn listing_json(listing: &HookListing) -> Vec<u8> {
    let hook = &listing.hook;
    let mut out = Vec::new();
    let mut object = ObjectWriter::begin(&mut out);
    object.text("event", hook.event.as_str());
    object.text("name", hook.display_name());
    object.text("type", hook.kind().as_str());
    object.text("command", hook.command());
    object.optional_text("description", hook.description.as_deref());
    object.optional_text("matcher", hook.matcher.text());
    object.bool("sequential", hook.sequential);
    object.text("source", &hook.source.to_string());
    if let Some(place) = &hook.place {
        object.optional_text(
            "file",
            place.file.as_ref().map(|file| file.to_string_lossy()).as_deref(),
        );
        object.integer("line", place.line as i128);
        object.integer("column", place.column as i128);
    }
    object.milliseconds("timeout", hook.timeout);
    let fail_behavior = match hook.fail_behavior {
        FailBehavior::Continue => "continue",
        FailBehavior::Block => "block",
    };
    object.text("failBehavior", fail_behavior);
    object.bool("enabled", listing.enabled);
    object.optional_text("disabledBy", listing.disabled_by.as_deref());
    object.bool("trusted", listing.trusted);
    object.end();
    out
}

/// Hooks for people, by event, in run order.
pub(crate) fn listings(listings: &[HookListing], printer: &Printer) -> String {
    if listings.is_empty() {
        return "no hooks found\n".to_owned();
    }
    let mut out = String::new();
    for event in hook_core::HookEventName::all() {
        let mut of_event = listings.iter().filter(|listing| listing.hook.event == event).peekable();
        if of_event.peek().is_some() {
            let _ = writeln!(out, "{}", printer.paint(Tone::Strong, event.as_str()));
        }
        for listing in of_event {
            line(&mut out, listing, printer);
        }
    }
    out
}

fn line(out: &mut String, listing: &HookListing, printer: &Printer) {
    let hook = &listing.hook;
    let (mark, tone, why) = match (listing.trusted, listing.enabled) {
        (false, _) => ("!", Tone::Odd, Some("not trusted".to_owned())),
        (_, false) => {
            let by = listing.disabled_by.as_deref().unwrap_or("settings");
            ("-", Tone::Quiet, Some(format!("off: {by}")))
        }
        _ => ("✓", Tone::Good, None),
    };
    let place = hook.place.as_ref().map_or_else(|| hook.source.to_string(), ToString::to_string);
    let matcher = hook.matcher.text().filter(|text| !text.trim().is_empty()).unwrap_or("*");
    let _ = writeln!(
        out,
        "  {} {}  {}  {}",
        printer.paint(tone, mark),
        printer.paint(Tone::Plain, hook.display_name()),
        printer.paint(Tone::Odd, matcher),
        printer.paint(Tone::Quiet, &format!("{} {place}", hook.source)),
    );
    for text in [hook.description.as_deref(), why.as_deref()].into_iter().flatten() {
        let _ = writeln!(out, "      {}", printer.paint(Tone::Quiet, text));
    }
}
