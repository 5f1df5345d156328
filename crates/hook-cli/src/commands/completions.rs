//! `hook completions`: prints a script that completes the command in a shell.

use clap::{Args, ValueEnum};
use clap_complete::env::{Bash, Elvish, EnvCompleter, Fish, Powershell, Zsh};

use crate::complete::VARIABLE;
use crate::error::{CommandError, Result};
use crate::exit_code;
use crate::output::Printer;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hook completions bash > ~/.local/share/bash-completion/completions/hook
  hook completions zsh > ~/.zfunc/_hook       # with ~/.zfunc in fpath
  hook completions fish > ~/.config/fish/completions/hook.fish
  hook completions elvish >> ~/.config/elvish/rc.elv
  hook completions powershell >> $PROFILE

The shell asks `hook` itself: commands, options, events, and the hooks of the
project.")]
pub(crate) struct Arguments {
    /// The shell
    shell: Shell,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Shell {
    Bash,
    Zsh,
    Fish,
    Elvish,
    Powershell,
}

pub(crate) async fn run(arguments: &Arguments, printer: &mut Printer) -> Result {
    let script = script(arguments.shell).map_err(CommandError::Output)?;
    printer.raw(&script).await?;
    Ok(exit_code::PROCEED)
}

/// Returns the completion script for a shell.
fn script(shell: Shell) -> std::io::Result<String> {
    let completer: &dyn EnvCompleter = match shell {
        Shell::Bash => &Bash,
        Shell::Zsh => &Zsh,
        Shell::Fish => &Fish,
        Shell::Elvish => &Elvish,
        Shell::Powershell => &Powershell,
    };
    let mut script = Vec::new();
    completer.write_registration(VARIABLE, "hook", "hook", "hook", &mut script)?;
    let script = String::from_utf8_lossy(&script);
    // One newline at the end is enough.
    Ok(format!("{}\n", script.trim_matches('\n')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_completions_are_those_that_are_printed() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let name = match shell {
                Shell::Zsh => "_hook",
                Shell::Fish => "hook.fish",
                _ => "hook.bash",
            };
            let path = format!("docs/completions/{name}");
            crate::generated::is_up_to_date(&path, &script(shell).unwrap());
        }
    }
}
