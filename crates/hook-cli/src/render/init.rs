//! The output of `hook init`: the files written, and commands to try next.

use std::fmt::Write;

use hook_json::text::PathText;
use hook_settings::starter::{STARTER_HOOK, Starter};
use serde_json::{Value, json};

use crate::output::{Printer, Tone};

const TRY: [&str; 3] = [
    "hook explain BeforeTool --tool run_shell_command",
    "hook fire BeforeTool --tool run_shell_command --input '{\"tool_input\":{\"command\":\"rm -rf /\"}}'",
    "hook fire BeforeTool --tool write_file --input '{\"tool_input\":{\"file_path\":\".env\"}}'",
];

/// Formats the result for people.
pub(crate) fn init(starter: &Starter, user: bool, trusted: bool, printer: &Printer) -> String {
    let mut out = String::new();
    for path in [&starter.settings, &starter.script] {
        let path = printer.paint(Tone::Plain, &path.shown().to_string());
        let _ = writeln!(out, "{} {path}", printer.paint(Tone::Good, "wrote"));
    }
    if trusted && !user {
        let _ = writeln!(
            out,
            "{} its hooks: they were written just now, by your command",
            printer.paint(Tone::Good, "trusted")
        );
    }
    let _ = writeln!(out, "\n{}", printer.paint(Tone::Strong, "See what it does:"));
    for command in TRY {
        let _ = writeln!(out, "  {command}");
    }
    let script = printer.paint(Tone::Plain, &starter.script.shown().to_string());
    let _ = writeln!(out, "\n{}", printer.paint(Tone::Strong, "Make it yours:"));
    let _ = writeln!(out, "  edit {script}");
    if !user {
        let _ = writeln!(out, "  hook trust");
    }
    let _ = writeln!(out, "\n{}", printer.paint(Tone::Strong, "Have an agent obey it:"));
    let _ = writeln!(out, "  hook connect --list");
    out
}

/// Formats the result as JSON.
pub(crate) fn init_json(starter: &Starter, trusted: bool) -> Value {
    json!({
        "settings": starter.settings.to_string_lossy(),
        "script": starter.script.to_string_lossy(),
        "hook": STARTER_HOOK,
        "trusted": trusted,
    })
}
