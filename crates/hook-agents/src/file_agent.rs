//! The parts of a table that agent files do not say, and the extensions that they may name.

use super::kind::COMMAND_ONLY;
use super::paths::SettingsPaths;
use super::syntax::Comments;
use super::table::{
    Agent, Directory, Expansion, Family, Layout, MatcherRule, SettingsForm, Timeouts,
};

/// The plugin of opencode and its forks, with a placeholder for the commands of its events.
pub(super) const OPENCODE_PLUGIN: &str = concat!(
    include_str!("extension/start.ts"),
    include_str!("extension/ask.ts"),
    include_str!("extension/opencode.ts")
);

/// The plugin of Amp, likewise.
pub(super) const AMP_PLUGIN: &str = concat!(
    include_str!("extension/start.ts"),
    include_str!("extension/ask.ts"),
    include_str!("extension/amp.ts")
);

/// A script that is a hook, with a placeholder for its command.
pub(super) const SCRIPT: &str = "#!/bin/sh\n@@COMMAND@@\n";

/// The table that agent files start from.
pub(super) const FILE_AGENT: Agent = Agent {
    name: "",
    title: "",
    events: &[],
    tools: &[],
    mcp: ("mcp__", "__"),
    base_fields: &[],
    settings: SettingsForm::Groups,
    layout: Layout::OBJECT,
    hook_kinds: COMMAND_ONLY,
    http: None,
    comments: Comments::None,
    hook_keys: &[],
    timeout: Timeouts::new(&["timeout"], 1_000, 60_000),
    shell: &["/bin/sh", "-c"],
    variables: &[],
    env_file: None,
    expansion: Expansion::None,
    matcher: MatcherRule::Claude,
    family: Family::Templates,
    directory: Directory::Event,
    accepts_lowercase_initial: false,
    ignores: &[],
    entry: None,
    top_level_denial: None,
    caps_continuations: false,
    paths: SettingsPaths {
        variable: None,
        folder: "",
        project: &[],
        user: &[],
        system: &[],
        plugins: None,
    },
    is_identified_by_path: true,
    reads_files_of: &[],
    runs_once: false,
    other_form: None,
    sample_answers: &[],
    has_global_switch: false,
    notes: &[],
    checked: None,
    never_asks: &[],
    program: None,
};
