//! `hook init`: writes a starter settings file and a working example hook.

use clap::{Args, ValueEnum};
use hook_settings::starter::{Starter, StarterKind};
use hook_settings::{HookSource, parse};

use super::doctor::Twins;
use crate::context::Context;
use crate::error::{CommandError, Result};
use crate::exit_code;
use crate::output::Printer;
use crate::render::Initialized;

#[derive(Debug, Args)]
#[command(after_help = "\
Writes .hooks/settings.json and .hooks/hooks/guard.sh, a hook that refuses
shell commands like `rm -rf /`, with another that keeps files like `.env` out
of reach, and trusts both. With --worker the first is a process that is
started once and answers calls: .hooks/hooks/guard.py or guard.mjs. What is
there already is never overwritten.

Examples:
  hook init
  hook init --project ~/code/thing
  hook init --user   for all projects: in $XDG_CONFIG_HOME/hooks
  hook init --worker python

Exit code: 1 if one of the two files is there already; else 0.")]
pub(crate) struct Arguments {
    /// Write the user's own settings, which count in every project
    #[arg(long)]
    user: bool,
    /// Make the hook a worker, which stays alive and answers calls, in this language
    #[arg(long, value_name = "LANGUAGE")]
    worker: Option<Language>,
}

/// The language of a worker.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Language {
    /// Python 3.10 or later, of its standard library alone
    Python,
    /// JavaScript with types in its comments, for Node 20 or later
    #[value(name = "typescript")]
    TypeScript,
}

impl Arguments {
    fn kind(&self) -> StarterKind {
        match self.worker {
            None => StarterKind::Command,
            Some(Language::Python) => StarterKind::PythonWorker,
            Some(Language::TypeScript) => StarterKind::TypeScriptWorker,
        }
    }
}

pub(crate) async fn run(arguments: &Arguments, context: &Context, printer: &mut Printer) -> Result {
    let starter = if arguments.user {
        context.user_settings()?;
        Starter::of_user(context.config_home().ok_or(CommandError::NoHome)?, arguments.kind())
    } else {
        context
            .refuse_named_settings("init writes the project's own, or with --user the user's")?;
        Starter::of_project(context.project(), arguments.kind())
    };
    starter.write()?;
    let trusted = if arguments.user { true } else { trust(&starter, context)? };
    printer.show(&Initialized { starter: &starter, user: arguments.user, trusted }).await?;
    for twin in Twins::of(context).with_file(&starter.settings) {
        printer.warning(&format!("{twin}: remove one of them"));
    }
    if !trusted {
        printer.warning(match context.trust_store() {
            Some(_) => {
                "the hook is not trusted yet and will not run; `hook trust` shows it and asks"
            }
            None => {
                "the hook will not run: there is no folder to keep trust in; set HOME or \
                 XDG_CONFIG_HOME, then call `hook trust`"
            }
        });
    }
    Ok(exit_code::PROCEED)
}

/// Trusts the files just written, as the user requested. Files that appeared since are not trusted.
fn trust(starter: &Starter, context: &Context) -> Result<bool> {
    let Some(store) = context.trust_store() else { return Ok(false) };
    let path = Some(starter.settings.clone());
    let settings = parse(&starter.settings_text, HookSource::Project, path);
    let mut reviews = store.review(context.project(), &settings.hooks)?;
    reviews.retain(|review| {
        let script = review.files.first().map(|file| file.text());
        script.is_none_or(|script| script == Some(starter.script_text.as_str()))
    });
    if cfg!(windows) {
        // Commands are not read there, so all are opaque; these were written here.
        reviews.iter_mut().for_each(|review| review.accept_opaque());
    }
    store.grant_reviewed(context.project(), &reviews)?;
    Ok(!reviews.is_empty())
}
