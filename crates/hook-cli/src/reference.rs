//! The reference of the command line, generated from the definitions of its arguments alone.

use std::fmt::Write;

use clap::{Arg, ArgAction, Command, CommandFactory};

use crate::args::Cli;
use crate::commands::help;
use crate::generated;

const HEAD: &str = "\
# Reference of the command line

Generated from the definitions in `crates/hook-cli/src` by `HOOK_GENERATE=1 cargo test -p hook-cli`; not to be edited.
";

#[test]
fn the_committed_reference_is_that_of_the_definitions() {
    generated::is_up_to_date("docs/cli/reference.md", &reference());
}

#[test]
fn what_stands_below_the_options_fits_a_terminal() {
    let hook = help::built(Cli::command());
    for command in help::subcommands(&hook).chain([&hook]) {
        let mut text = String::new();
        after_help(&mut text, command);
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{}: {line}", command.get_name());
        }
    }
}

fn reference() -> String {
    let hook = help::built(Cli::command().term_width(100));
    let mut out = format!("{HEAD}\n{}\n", hook.get_about().cloned().unwrap_or_default());
    out.push_str("\n| command | what it does |\n| --- | --- |\n");
    for command in help::subcommands(&hook) {
        let name = command.get_name();
        let about = command.get_about().cloned().unwrap_or_default();
        let _ = writeln!(out, "| [hook {name}](#hook-{name}) | {about} |");
    }
    usage(&mut out, &hook);
    arguments(&mut out, "Options of every command", hook.get_arguments().collect());
    after_help(&mut out, &hook);
    for command in help::subcommands(&hook) {
        section(&mut out, command, &hook);
    }
    out
}

fn section(out: &mut String, command: &Command, hook: &Command) {
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
    let about = command.get_long_about().or(command.get_about()).cloned().unwrap_or_default();
    let _ = write!(out, "\n## {name}\n\n{about}\n");
    usage(out, command);
    let is_common = |arg: &&Arg| hook.get_arguments().any(|common| common.get_id() == arg.get_id());
    let own: Vec<&Arg> = command.get_arguments().filter(|arg| !is_common(arg)).collect();
    let (positional, options): (Vec<_>, Vec<_>) =
        own.into_iter().partition(|arg| arg.is_positional());
    arguments(out, "Arguments", positional);
    arguments(out, "Options", options);
    after_help(out, command);
    for command in help::subcommands(command) {
        section(out, command, hook);
    }
}

fn usage(out: &mut String, command: &Command) {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.strip_prefix("Usage: ").unwrap_or(&usage);
    let _ = write!(out, "\n```text\n{}\n```\n", usage.trim_end());
}

fn arguments(out: &mut String, title: &str, arguments: Vec<&Arg>) {
    let shown: Vec<&Arg> = arguments.into_iter().filter(|arg| !arg.is_hide_set()).collect();
    if shown.is_empty() {
        return;
    }
    let _ = write!(out, "\n{title}:\n\n");
    for arg in shown {
        let help = arg.get_long_help().or(arg.get_help()).cloned().unwrap_or_default().to_string();
        let help = help.replace('\n', "\n  ").replace('|', "\\|").replace('<', "\\<");
        let _ = writeln!(out, "- {}: {help}{}", names(arg), values(arg));
    }
}

/// Returns the names of an argument, such as `-j`, `--jobs N`, or a positional's placeholder.
fn names(arg: &Arg) -> String {
    let takes_value = matches!(arg.get_action(), ArgAction::Set | ArgAction::Append);
    let value = match arg.get_value_names().filter(|_| takes_value) {
        Some(names) => names.join(" "),
        None => String::new(),
    };
    let names = arg.get_short().map(|short| format!("-{short}")).into_iter();
    let mut names: Vec<String> =
        names.chain(arg.get_long().map(|long| format!("--{long}"))).collect();
    match names.last_mut() {
        Some(last) if !value.is_empty() => *last = format!("{last} {value}"),
        Some(_) => {}
        None => names.push(value),
    }
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn values(arg: &Arg) -> String {
    let mut out = String::new();
    let takes_value = matches!(arg.get_action(), ArgAction::Set | ArgAction::Append);
    let possible = arg.get_possible_values();
    let possible: Vec<&str> = possible
        .iter()
        .filter(|value| !value.is_hide_set())
        .map(|value| value.get_name())
        .collect();
    if takes_value && !possible.is_empty() {
        let _ = write!(out, "; one of `{}`", possible.join("`, `"));
    }
    let default: Vec<_> =
        arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    if takes_value && !default.is_empty() {
        let _ = write!(out, "; `{}` by default", default.join(" "));
    }
    out
}

fn after_help(out: &mut String, command: &Command) {
    if let Some(after) = command.get_after_long_help().or(command.get_after_help()) {
        let _ = write!(out, "\n```text\n{}\n```\n", after.to_string().trim_end());
    }
}
