//! `hook init`: writes a first guard: a file of rules, or a worker with its settings.

use clap::{Args, ValueEnum};
use hook_settings::starter::{Starter, StarterKind};
use hook_settings::{HookSource, parse};
use hook_trust::{PackStore, ReviewedFile};

use super::doctor::Twins;
use super::trust::keep_rules;
use crate::context::Context;
use crate::error::{CommandError, Result};
use crate::exit_code;
use crate::output::Printer;
use crate::render::Initialized;

#[derive(Debug, Args)]
#[command(after_help = "\
Writes .hooks/rules/guard.toml: rules that refuse commands like `rm -rf /`,
keep files like `.env` out of reach, and ask before a script from the network
is run. They hold at once, and are a start for your own. --worker writes a
hook in a language instead, a process that is started once and answers calls:
.hooks/settings.json, and .hooks/hooks/guard.py or guard.mjs, which it trusts.
What is there already is never overwritten.

Examples:
  hook init
  hook init --project ~/code/thing
  hook init --user   for all projects: in $XDG_CONFIG_HOME/hooks
  hook init --worker python

Exit code: 1 if a file is there already; else 0.")]
pub(crate) struct Arguments {
    /// Write the user's own, which count in every project
    #[arg(long)]
    user: bool,
    /// Write a worker in this language, a hook that stays alive and answers calls
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
            None => StarterKind::Rules,
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
    let trusted = if arguments.user { true } else { trust(&starter, context, printer).await? };
    printer.show(&Initialized { starter: &starter, user: arguments.user, trusted }).await?;
    let settings = starter.settings.iter().map(|settings| settings.path.as_path());
    for twin in settings.flat_map(|settings| Twins::of(context).with_file(settings)) {
        printer.warning(&format!("{twin}: remove one of them"));
    }
    if !trusted && starter.settings.is_some() {
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
    if !trusted && starter.settings.is_none() {
        printer.warning(
            "the rules hold, but one that is taken out is gone until `hook trust` keeps them",
        );
    }
    Ok(exit_code::PROCEED)
}

/// Trusts the files just written, as the user requested. Files that appeared since are not trusted.
async fn trust(starter: &Starter, context: &Context, printer: &mut Printer) -> Result<bool> {
    let Some(store) = context.trust_store() else { return Ok(false) };
    let project = context.project();
    let Some(settings) = &starter.settings else {
        if PackStore::of_user().is_none() {
            return Ok(false);
        }
        return keep_rules(&store, project, false, context, printer).await;
    };
    let path = Some(settings.path.clone());
    let settings = parse(&settings.text, HookSource::Project, path);
    let mut reviews = store.review(project, &settings.hooks)?;
    // The programs of that folder may load each other.
    let is_own =
        |file: &ReviewedFile| starter.files().any(|own| file.text() == Some(own.text.as_str()));
    reviews.retain(|review| review.environments.is_empty() && review.files.iter().all(is_own));
    if cfg!(windows) {
        // Commands are not read there, so all are opaque; these were written here.
        reviews.iter_mut().for_each(|review| review.accept_opaque());
    }
    store.grant_reviewed(project, &reviews)?;
    Ok(!reviews.is_empty())
}
