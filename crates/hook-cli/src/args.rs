//! What can be said on the command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Hooks for AI agents: try them, test them, serve them.
#[derive(Debug, Parser)]
#[command(name = "hook", version, arg_required_else_help = true, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT_CODES: &str = "\
Exit codes:
  0   things may go on
  1   the engine could not do its job, or a test failed
  2   a hook blocked or stopped, or asked and nobody answered
  64  wrong usage";

#[derive(Debug, Args)]
pub(crate) struct Common {
    /// The project; the nearest parent with .hooks/settings.json by default, else here
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// Use this settings file instead of those that are found; naming it trusts it; may be given several times
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) settings: Vec<PathBuf>,
    /// Leave the user's own settings out
    #[arg(long, global = true)]
    pub(crate) no_user: bool,
    /// Answer each event within this time, in milliseconds
    #[arg(long, global = true, value_name = "MS")]
    pub(crate) timeout: Option<u64>,
    /// The session that events belong to
    #[arg(long, global = true, value_name = "ID", default_value = "cli")]
    pub(crate) session_id: String,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
    /// Log what happens to stderr; -vv says more; HOOK_LOG filters
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Fire one event and show what its hooks answer
    Fire(Fire),
    /// Play a script of request messages and print the responses
    Run(Run),
    /// Serve hooks to an agent: requests in, responses out, one JSON object a line
    Serve(Serve),
    /// Play scenarios and compare the responses with what is expected
    Test(Test),
    /// List every hook that is found
    List(List),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hook fire BeforeTool --tool write_file --input '{\"tool_input\": {\"path\": \"a.txt\"}}'
  hook fire SessionStart --input '{\"source\": \"startup\"}' --json
  hook fire BeforeAgent --input @prompt.json")]
pub(crate) struct Fire {
    /// The event: BeforeTool, AfterTool, BeforeAgent, AfterAgent, SessionStart, SessionEnd,
    /// PreCompress, BeforeModel, AfterModel, BeforeToolSelection or Notification
    pub(crate) event: String,
    /// The tool, for events about one; its input is {} unless given
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// The event's input as JSON, @FILE, or - for standard input
    #[arg(long, value_name = "JSON", allow_hyphen_values = true)]
    pub(crate) input: Option<String>,
    /// Print the final output and, on stderr, the reason: to be a hook oneself
    #[arg(long, conflicts_with = "json")]
    pub(crate) as_hook: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hook run session.jsonl
  hook run --concurrent 8 - < session.jsonl | jq .processed.decision")]
pub(crate) struct Run {
    /// The script, one request message a line; - is standard input
    pub(crate) script: PathBuf,
    /// How many requests may be in flight at once
    #[arg(long, value_name = "N", default_value_t = std::num::NonZeroUsize::MIN)]
    pub(crate) concurrent: std::num::NonZeroUsize,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  hook serve --stdio --project ~/code/thing

Beside requests a client may send:
  {\"type\":\"hook-subscribe\"}                        be told when its hooks start and finish
  {\"type\":\"hook-cancel\",\"correlationId\":\"c-1\"}    end a request's hooks
  {\"type\":\"hook-reload\"}                           read the settings anew (as SIGHUP does)")]
pub(crate) struct Serve {
    /// Talk over standard input and output
    #[arg(long, required = true)]
    pub(crate) stdio: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  hook test tests/hooks.toml

A scenario is TOML:
  [[test]]
  name = \"rm -rf is blocked\"
  event = \"BeforeTool\"
  input = { tool_name = \"run_shell_command\", tool_input = { command = \"rm -rf /\" } }
  expect = { decision = \"block\", reason = \"/destructive/\" }")]
pub(crate) struct Test {
    /// The scenarios
    #[arg(required = true, value_name = "FILE")]
    pub(crate) scenarios: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct List {
    /// Only hooks of this event
    #[arg(long)]
    pub(crate) event: Option<String>,
}
