//! `hook packs`, `hook add` and `hook remove`: the packs that are part of the command.

use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use hook_files::atomic::{self, NewFile, none_if_missing};
use hook_files::project_file;
use hook_files::regular_file;
use hook_files::replace::replace_file;
use hook_json::text::PathText;
use hook_rules::packs::{PACKS, Pack, pack};
use hook_rules::{MAX_FILE, RuleFile};
use serde_json::json;

use super::remark_reload;
use crate::context::Context;
use crate::error::{CommandError, Result};
use crate::exit_code;
use crate::output::{Printer, Tone};
use crate::render::plural;

pub(crate) const ADD_HELP: &str = "\
Writes the rules of a pack to hooks/rules/NAME.toml in ~/.config, where they
count in every project, or with --shared to .hooks/rules. They hold at once: a
rule runs nothing and only restricts. `hook packs` lists the packs.

Examples:
  hook add shell-safety git-safety secrets
  hook add stay-inside --shared
  hook rules try 'git push --force'

Exit code: 1 if a file was edited since, so that nothing is overwritten without
--force; 64 for an unknown name; else 0.";

pub(crate) const REMOVE_HELP: &str = "\
Removes the rules that `hook add` has written.

Examples:
  hook remove stay-inside
  hook remove stay-inside --shared

Exit code: 1 if it is not there, or was edited since, unless --force; else 0.";

// Arguments of `add` and `remove`. A doc comment would replace the help of each command.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The packs
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    /// For this project and everyone who works on it, instead of for yourself
    #[arg(long)]
    shared: bool,
    /// Also if the file was edited since
    #[arg(long)]
    force: bool,
}

/// No arguments.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hook packs
  hook packs --json

Exit code: 0.")]
pub(crate) struct ListArguments {}

/// The first line of an installed file, before the digest of the rest.
const HEADER: &str =
    "# A pack of hook; `hook add` updates it unless it was edited. SHA-256 of the rest: ";

/// The state of a pack's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Absent,
    Current,
    /// Written by another version.
    Older,
    Edited,
}

impl State {
    fn of(pack: &Pack, content: Option<&[u8]>) -> Self {
        let Some(content) = content else { return Self::Absent };
        let text = String::from_utf8_lossy(content);
        let Some((digest, rest)) = text.strip_prefix(HEADER).and_then(|rest| rest.split_once('\n'))
        else {
            return Self::Edited;
        };
        match hook_trust::sha256(rest.as_bytes()) == digest {
            true if rest == pack.rules => Self::Current,
            true => Self::Older,
            false => Self::Edited,
        }
    }
}

fn installed_text(pack: &Pack) -> String {
    format!("{HEADER}{}\n{}", hook_trust::sha256(pack.rules.as_bytes()), pack.rules)
}

fn folder(context: &Context, shared: bool) -> Result<PathBuf> {
    match shared {
        true => Ok(context.project().join(".hooks").join("rules")),
        false => Ok(context.config_home().ok_or(CommandError::NoHome)?.join("hooks").join("rules")),
    }
}

fn content(path: &Path) -> Result<Option<Vec<u8>>> {
    none_if_missing(regular_file::read(path, MAX_FILE))
        .map_err(|error| failed("read", path, &error))
}

fn failed(action: &str, path: &Path, error: &io::Error) -> CommandError {
    CommandError::Usage(format!("cannot {action} {}: {error}", path.shown()))
}

fn known(name: &str) -> Result<&'static Pack> {
    pack(name).ok_or_else(|| {
        let names: Vec<&str> = PACKS.iter().map(|pack| pack.name).collect();
        CommandError::Usage(format!("there is no pack {name:?}; there are {}", names.join(", ")))
    })
}

pub(crate) async fn add(arguments: &Arguments, context: &Context, printer: &mut Printer) -> Result {
    let packs = arguments.names.iter().map(|name| known(name)).collect::<Result<Vec<_>>>()?;
    let folder = folder(context, arguments.shared)?;
    if arguments.shared {
        project_file::check(context.project(), &folder)
            .map_err(|error| failed("write", &folder, &error))?;
    }
    let mut status = exit_code::PROCEED;
    for pack in packs {
        let path = folder.join(format!("{}.toml", pack.name));
        if arguments.shared {
            project_file::check(context.project(), &path)
                .map_err(|error| failed("write", &path, &error))?;
        }
        let before = content(&path)?;
        let state = State::of(pack, before.as_deref());
        if state == State::Edited && !arguments.force {
            printer.problem(&format!(
                "{} was edited since; nothing was written: --force replaces it",
                path.shown()
            ));
            status = exit_code::FAILURE;
            continue;
        }
        let text = installed_text(pack);
        let written = match &before {
            None => fs::create_dir_all(&folder)
                .and_then(|()| atomic::create(&path, text.as_bytes(), NewFile::Ordinary)),
            Some(before) => replace_file(&path, before, text.as_bytes()),
        };
        written.map_err(|error| failed("write", &path, &error))?;
        let rules = plural(RuleFile::parse(pack.name, pack.rules).len(), "rule", "rules");
        let done = match state {
            State::Absent => "added",
            State::Current => "there already:",
            State::Older | State::Edited => "updated",
        };
        let view = (
            json!({"pack": pack.name, "file": path.to_string_lossy(), "was": format!("{state:?}").to_lowercase()}),
            |printer: &Printer| {
                let name = printer.paint(Tone::Strong, pack.name);
                format!(
                    "{} {name}, {rules}: {}\n  {}\n",
                    printer.paint(Tone::Good, done),
                    pack.about,
                    printer.paint(Tone::Quiet, &path.shown().to_string())
                )
            },
        );
        printer.show(&view).await?;
    }
    remark_reload(context, printer).await;
    Ok(status)
}

pub(crate) async fn remove(
    arguments: &Arguments,
    context: &Context,
    printer: &mut Printer,
) -> Result {
    let folder = folder(context, arguments.shared)?;
    let mut status = exit_code::PROCEED;
    for name in &arguments.names {
        let pack = known(name)?;
        let path = folder.join(format!("{name}.toml"));
        let problem = match State::of(pack, content(&path)?.as_deref()) {
            State::Absent => Some(format!("{} is not there", path.shown())),
            State::Edited if !arguments.force => {
                Some(format!("{} was edited since; it stays: --force removes it", path.shown()))
            }
            _ => None,
        };
        if let Some(problem) = problem {
            printer.problem(&problem);
            status = exit_code::FAILURE;
            continue;
        }
        fs::remove_file(&path).map_err(|error| failed("remove", &path, &error))?;
        let view = (json!({"pack": name, "file": path.to_string_lossy()}), |printer: &Printer| {
            format!(
                "{} {}\n",
                printer.paint(Tone::Good, "removed"),
                printer.paint(Tone::Plain, &path.shown().to_string())
            )
        });
        printer.show(&view).await?;
    }
    Ok(status)
}

pub(crate) async fn list(context: &Context, printer: &mut Printer) -> Result {
    let mut rows = Vec::new();
    for pack in PACKS {
        let place = |shared: bool| -> Result<State> {
            let Ok(folder) = folder(context, shared) else { return Ok(State::Absent) };
            Ok(State::of(pack, content(&folder.join(format!("{}.toml", pack.name)))?.as_deref()))
        };
        rows.push((pack, place(false)?, place(true)?));
    }
    let shown = |state: State| match state {
        State::Absent => None,
        State::Current => Some("added"),
        State::Older => Some("older"),
        State::Edited => Some("edited"),
    };
    let objects: Vec<_> = rows.iter().map(|(pack, user, project)| {
        json!({"pack": pack.name, "about": pack.about, "user": shown(*user), "project": shown(*project)})
    }).collect();
    let view = (json!({"packs": objects}), |printer: &Printer| {
        let mut out = String::new();
        for (pack, user, project) in &rows {
            let states = [("you", user), ("project", project)];
            let states: Vec<String> = states
                .iter()
                .filter_map(|(whose, state)| Some(format!("{whose}: {}", shown(**state)?)))
                .collect();
            let mark = if states.is_empty() { "-" } else { "✓" };
            let states = if states.is_empty() {
                String::new()
            } else {
                format!("  ({})", states.join(", "))
            };
            let _ = writeln!(
                out,
                "{mark} {:<13} {}{}",
                pack.name,
                pack.about,
                printer.paint(Tone::Quiet, &states)
            );
        }
        out + "\n`hook add NAME` adds one for all your projects.\n"
    });
    printer.show(&view).await?;
    Ok(exit_code::PROCEED)
}
