//! The output of `hook init`: the files written, and commands to try next.

use hook_json::text::PathText;
use hook_settings::starter::{Starter, StarterFile};
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
    /// `true` if the hook runs, or the rules are kept.
    pub(crate) trusted: bool,
}

impl View for Initialized<'_> {
    fn json(&self) -> Vec<u8> {
        let files: Vec<_> = self.starter.files().map(|file| file.path.to_string_lossy()).collect();
        json_line(&json!({"files": files, "hook": self.starter.hook, "trusted": self.trusted}))
    }

    fn text(&self, printer: &Printer) -> String {
        let shown = |file: &StarterFile| {
            printer.paint(Tone::Plain, &file.path.shown().to_string()).to_string()
        };
        let [wrote, trusted, kept] =
            ["wrote", "trusted", "kept"].map(|word| printer.paint(Tone::Good, word));
        let mut out: String =
            self.starter.files().map(|file| format!("{wrote} {}\n", shown(file))).collect();
        let is_rules = self.starter.settings.is_none();
        match (self.trusted && !self.user, is_rules) {
            (false, _) => {}
            (true, false) => {
                out += &format!("{trusted} its hook: it was written just now, by your command\n");
            }
            (true, true) => {
                out += &format!(
                    "{kept} its rules: one that is taken out later holds until you agree with `hook trust`\n"
                );
            }
        }
        let title = |title| format!("\n{}\n", printer.paint(Tone::Strong, title));
        out += &title("See what it does:");
        out.extend(TRY[..if is_rules { 3 } else { 2 }].iter().map(|line| format!("  {line}\n")));
        let after_edit = match (is_rules, self.user) {
            (true, _) => "  hook rules test\n",
            (false, true) => "",
            (false, false) => "  hook trust\n",
        };
        out += &title("Make it yours:");
        out += &format!("  edit {}\n{after_edit}", shown(&self.starter.guard));
        out + &title("Have an agent obey it:") + "  hook connect --list\n"
    }
}
