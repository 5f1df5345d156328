//! The output of `hook init`: the files written, and commands to try next.

use std::fmt::Write;

use hook_json::text::PathText;
use hook_settings::starter::{STARTER_HOOK, Starter};
use serde_json::json;

use crate::output::{Printer, Tone, View, json_line};

const TRY: [&str; 3] = [
    "hook explain BeforeTool --tool run_shell_command",
    "hook fire BeforeTool --tool run_shell_command --input '{\"tool_input\":{\"command\":\"rm -rf /\"}}'",
    "hook fire BeforeTool --tool write_file --input '{\"tool_input\":{\"file_path\":\".env\"}}'",
];

/// The result: the files that were written.
pub(crate) struct Initialized<'s> {
    pub(crate) starter: &'s Starter,
    pub(crate) user: bool,
    pub(crate) trusted: bool,
}

impl View for Initialized<'_> {
    fn json(&self) -> Vec<u8> {
        let Starter { settings, script, .. } = self.starter;
        json_line(&json!({
            "settings": settings.to_string_lossy(), "script": script.to_string_lossy(),
            "hook": STARTER_HOOK, "trusted": self.trusted,
        }))
    }

    fn text(&self, printer: &Printer) -> String {
        let title = |title| format!("\n{}\n", printer.paint(Tone::Strong, title));
        let [settings, script] = [&self.starter.settings, &self.starter.script]
            .map(|path| printer.paint(Tone::Plain, &path.shown().to_string()));
        let wrote = printer.paint(Tone::Good, "wrote");
        let mut out = format!("{wrote} {settings}\n{wrote} {script}\n");
        if self.trusted && !self.user {
            let trusted = printer.paint(Tone::Good, "trusted");
            let _ =
                writeln!(out, "{trusted} its hooks: they were written just now, by your command");
        }
        out.push_str(&title("See what it does:"));
        out.extend(TRY.map(|command| format!("  {command}\n")));
        let trust = if self.user { "" } else { "  hook trust\n" };
        out + &title("Make it yours:")
            + &format!("  edit {script}\n{trust}")
            + &title("Have an agent obey it:")
            + "  hook connect --list\n"
    }
}
