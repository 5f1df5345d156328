//! Programs that start other programs.

use super::argument::{Argument, UNKNOWN};
use super::find::found_paths;
use super::git::by_git;
use super::inputs::{by_parallel, by_xargs};
use super::invocation::{Input, Invocation};
use super::paths::Access;
use super::program::{OptionValue, Start, Use};
use super::sed::{SedEffect, scripts, sed_effects};
use super::shells::{by_shell, script_file};
use super::started::Started;

/// Returns what an invocation starts.
pub(super) fn started(invocation: &Invocation) -> Vec<Started> {
    let program = invocation.program();
    let mut started = Vec::new();
    // `command -v` and the like only look.
    let only_looks = matches!(program, "command" | "builtin")
        && invocation
            .texts()
            .take_while(|text| text.starts_with('-'))
            .any(|text| text.contains(['v', 'V']));
    if !only_looks {
        let starts = invocation.known.starts.iter();
        starts.for_each(|start| by_table(*start, invocation, &mut started));
    }
    let texts = invocation.values(OptionValue::Text);
    started.extend(texts.into_iter().map(Started::text));
    by_variables(invocation, &mut started);
    if invocation.known.is_shell {
        started.extend(by_shell(invocation));
    }
    if invocation.known.operands == Use::Script {
        started.extend(by_interpreter(invocation));
    }
    by_program(invocation, &mut started);
    started
}

/// Adds what stands at a position among the arguments.
fn by_table(start: Start, invocation: &Invocation, started: &mut Vec<Started>) {
    match start {
        Start::Program(first, operands) => {
            let words = words_behind(invocation, first, operands).map(<[_]>::to_vec);
            started.extend(words.map(|mut words| {
                if let Some(word) = words.first_mut() {
                    rename(word, invocation.program());
                }
                // `npm exec tool -- arguments`
                let runs_packages = matches!(
                    invocation.program(),
                    "npx" | "bunx" | "uvx" | "pnpm" | "yarn" | "npm" | "pipx" | "uv" | "nix"
                );
                if runs_packages && words.get(1).is_some_and(|word| word.text == "--") {
                    words.remove(1);
                }
                Started::Program(words)
            }));
        }
        Start::Text(operands) => {
            let words = words_behind(invocation, "", operands).unwrap_or_default();
            let words: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
            let text = words.join(" ");
            // `cmd /c program`
            let switch = text.strip_prefix('/').filter(|_| invocation.program() == "cmd");
            let text = switch.and_then(|rest| rest.get(1..)).unwrap_or(&text).trim_start();
            started.extend((!text.is_empty()).then(|| Started::text(text)));
        }
        Start::Texts(operands) => {
            let texts = invocation.operands().skip(operands).map(|operand| operand.text.as_str());
            started.extend(texts.map(Started::text));
        }
        Start::Input(operands) => {
            let has_words = words_behind(invocation, "", operands).is_some();
            let has_text = !invocation.values(OptionValue::Text).is_empty();
            started.extend((!has_words && !has_text).then_some(Started::Input));
        }
    }
}

/// Returns the words behind these subcommands, with `/` between them, and so many operands.
fn words_behind<'i>(
    invocation: &'i Invocation,
    first: &str,
    operands: usize,
) -> Option<&'i [Argument]> {
    let text_of = |index: &usize| invocation.arguments.get(*index).map(|it| it.text.as_str());
    // `env -`
    let mut indices = invocation.operands.iter().filter(|index| text_of(index) != Some("-"));
    for wanted in first.split('/').filter(|wanted| !wanted.is_empty()) {
        indices.next().and_then(text_of).filter(|word| *word == wanted)?;
    }
    let words = invocation.arguments.get(*indices.nth(operands)?..)?;
    // Behind the names of containers and images, `--` may stand.
    let has_separator = !first.is_empty() && words.first().is_some_and(|word| word.text == "--");
    words.get(usize::from(has_separator)..)
}

/// Replaces the name of a package by that of its program: `npx @scope/tool@1` starts `tool`.
fn rename(word: &mut Argument, by: &str) {
    let text = word.text.as_str();
    let name = match by {
        "npx" | "bunx" | "uvx" | "pnpm" | "yarn" | "npm" | "pipx" => {
            let scoped = text.strip_prefix('@').and_then(|scoped| scoped.split_once('/'));
            let name = scoped.map_or(text, |(_, name)| name);
            name.split('@').next().unwrap_or(name)
        }
        "nix" => text.rsplit(['#', '/']).next().unwrap_or(text),
        _ => return,
    };
    word.text = name.to_owned();
}

/// Adds the programs in variables.
fn by_variables(invocation: &Invocation, started: &mut Vec<Started>) {
    for (name, value) in &invocation.variables {
        match name.as_str() {
            "BASH_ENV" | "ENV" => {
                let file = value.clone().unwrap_or_else(|| UNKNOWN.to_string());
                started.push(script_file(&Argument::plain(file)));
            }
            "BROWSER"
            | "EDITOR"
            | "GIT_ASKPASS"
            | "GIT_EDITOR"
            | "GIT_EXTERNAL_DIFF"
            | "GIT_PAGER"
            | "GIT_SEQUENCE_EDITOR"
            | "GIT_SSH"
            | "GIT_SSH_COMMAND"
            | "LESSOPEN"
            | "MANPAGER"
            | "PAGER"
            | "PROMPT_COMMAND"
            | "VISUAL" => {
                started.extend(value.iter().map(Started::text));
            }
            _ => {}
        }
    }
}

/// Returns what an interpreter of another language starts: a script, or its input.
fn by_interpreter(invocation: &Invocation) -> Option<Started> {
    if !invocation.reads_program() {
        return invocation.operands().next().cloned().map(Started::Script);
    }
    let has_program = invocation.texts().any(|text| {
        let letters = text.strip_prefix('-').unwrap_or_default();
        letters.starts_with('-') || letters.contains(['c', 'e', 'E', 'm', 'p', 'r', 'V', 'v', 'h'])
    });
    // A known text is read as a program of its language.
    (!has_program && invocation.input == Input::Unknown).then_some(Started::Input)
}

/// Adds what is in no table.
fn by_program(invocation: &Invocation, started: &mut Vec<Started>) {
    let program = invocation.program();
    let arguments = &invocation.arguments;
    let values = |options: &[&'static str]| invocation.option_values(options);
    let first = invocation.texts().next();
    match program {
        "source" | "." => started.extend(arguments.first().map(script_file)),
        "at" | "batch" | "crontab" if invocation.input != Input::Inherited => {
            started.push(Started::Input)
        }
        "trap" => {
            let text = invocation.texts().find(|text| *text != "--");
            started.extend(text.filter(|text| !text.starts_with('-')).map(Started::text));
        }
        "find" => {
            let mut rest = arguments.iter();
            while rest.any(|argument| {
                matches!(argument.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir")
            }) {
                let mut before = "";
                let words = rest.by_ref().take_while(|word| {
                    // `+` ends it behind `{}` alone.
                    let is_end = word.text == ";" || word.text == "+" && before == "{}";
                    before = word.text.as_str();
                    !is_end
                });
                let words: Vec<Argument> = words.cloned().collect();
                match found_paths(invocation) {
                    Some(paths) => started
                        .extend(paths.iter().map(|path| Started::replaced(&words, "{}", path))),
                    None => {
                        started.push(Started::Unknown("`find` looks for too many files".to_owned()))
                    }
                }
            }
        }
        "fd" | "fdfind" => {
            let mut rest = arguments.iter();
            if rest.any(|it| matches!(it.text.as_str(), "-x" | "-X" | "--exec" | "--exec-batch")) {
                let before = arguments.len() - rest.len();
                // Behind the pattern are the folders.
                let folders = invocation.operands.iter().filter(|index| **index < before).skip(1);
                let folders = folders.filter_map(|index| arguments.get(*index));
                let mut folders: Vec<&str> = folders.map(|it| it.text.as_str()).collect();
                if folders.is_empty() {
                    folders.push(".");
                }
                let mut words = rest.as_slice().to_vec();
                if !words.iter().any(|word| word.text.contains("{}")) {
                    words.push(Argument::plain("{}"));
                }
                started.extend(
                    folders.into_iter().map(|folder| {
                        Started::replaced(&words, "{}", &format!("{folder}/{UNKNOWN}"))
                    }),
                );
            }
        }
        "sed" => {
            let runs = |script: &&str| sed_effects(script).contains(&SedEffect::Runs);
            if scripts(invocation).iter().any(runs) {
                started.push(Started::Unknown("`sed` runs what is in a text".to_owned()));
            }
        }
        "env" => started.extend(split_string(invocation)),
        // `nix develop -c program argument`
        "nix" => {
            let mut rest = arguments.iter();
            if rest.any(|it| matches!(it.text.as_str(), "-c" | "--command")) {
                started.push(Started::Program(rest.as_slice().to_vec()));
            }
        }
        "sudo" | "doas" if invocation.operands.is_empty() => {
            let is_shell = |text: &str| match text.strip_prefix("--") {
                Some(name) => matches!(name, "shell" | "login"),
                None => text.strip_prefix('-').is_some_and(|letters| letters.contains(['s', 'i'])),
            };
            started.extend(invocation.texts().any(is_shell).then_some(Started::Input));
        }
        "cmake" if first == Some("-E") => {
            let mut words = arguments.get(1..).unwrap_or_default().to_vec();
            if let Some(word) = words.first_mut() {
                let program = match word.text.as_str() {
                    "copy" | "copy_directory" | "copy_if_different" => "cp",
                    "create_symlink" | "create_hardlink" => "ln",
                    "make_directory" => "mkdir",
                    "remove" => "rm",
                    "remove_directory" => "rmdir",
                    "rename" => "mv",
                    other => other,
                };
                word.text = program.to_owned();
            }
            started.push(Started::Program(words));
        }
        "rimraf" | "del-cli" | "del" | "rclone" | "gio" => {
            let removed = match (program, invocation.operand(0)) {
                (
                    "rclone",
                    "purge" | "delete" | "deletefile" | "rmdir" | "rmdirs" | "move" | "moveto",
                )
                | ("gio", "trash" | "remove") => 1,
                ("rclone" | "gio", _) | (_, "") => return,
                _ => 0,
            };
            let words = ["rm", "-rf"].map(Argument::plain).into_iter();
            let removed = invocation.operands().skip(removed).cloned();
            started.push(Started::Program(words.chain(removed).collect()));
        }
        "bwrap" => {
            // Its options have one or two values, which are no programs.
            const MAX_WORDS: usize = 64;
            if invocation.operands.len() > MAX_WORDS {
                started.push(Started::Unknown("`bwrap` has too many options".to_owned()));
            }
            let begins = invocation.operands.iter().take(MAX_WORDS);
            let words = begins.filter_map(|index| arguments.get(*index..));
            started.extend(words.map(|words| Started::Program(words.to_vec())));
        }
        "expect" if !values(&["-c"]).is_empty() => {
            started.push(Started::Unknown("`expect` runs a program of its own".to_owned()));
        }
        "gdb" | "lldb" => {
            for text in values(&["-ex", "--eval-command", "-iex", "-o"]) {
                let words = text.trim_start().trim_start_matches('!');
                match words.split_once(' ') {
                    Some(("shell" | "platform", text)) => {
                        started.push(Started::text(text.trim_start_matches("shell ")));
                    }
                    Some(("python" | "script" | "source" | "pipe" | "run", _)) => {
                        started.push(Started::Unknown(format!("`{program}` runs a program")));
                    }
                    _ if text.trim_start().starts_with('!') => started.push(Started::text(words)),
                    _ => {}
                }
            }
        }
        "duckdb" | "mariadb" | "mysql" | "psql" | "sqlite3" => {
            let operands = invocation.operands().map(|operand| operand.text.as_str());
            let texts = invocation.values(OptionValue::Code).into_iter().chain(values(&["-cmd"]));
            let texts = operands.chain(texts).chain(invocation.input.text());
            started.extend(texts.flat_map(str::lines).filter_map(by_database_shell));
        }
        "make" | "gmake" => {
            if values(&["-f"]).iter().any(|file| matches!(*file, "-" | "/dev/stdin")) {
                let reason = "`make` reads what it does from its input".to_owned();
                started.push(Started::Unknown(reason));
            } else if invocation.texts().any(|text| {
                text.starts_with("--eval") || text.starts_with("-E") || text.contains("$(shell")
            }) {
                started.push(Started::Unknown("`make` runs a text".to_owned()));
            }
        }
        "hash" | "enable" if invocation.texts().any(|text| matches!(text, "-p" | "-f")) => {
            started.push(Started::Unknown("a name becomes that of another program".to_owned()));
        }
        "xargs" => by_xargs(invocation, started),
        "parallel" => by_parallel(invocation, started),
        "git" => by_git(invocation, started),
        "tar" => {
            let options = ["-I", "--use-compress-program", "--checkpoint-action", "--to-command"];
            started.extend(
                values(&options)
                    .into_iter()
                    .map(|text| Started::text(text.strip_prefix("exec=").unwrap_or(text))),
            );
        }
        "ssh" | "scp" | "sftp" => {
            for option in values(&["-o"]) {
                let text = option.split_once(['=', ' ']).filter(|(name, _)| {
                    name.eq_ignore_ascii_case("ProxyCommand")
                        || name.eq_ignore_ascii_case("LocalCommand")
                });
                started.extend(text.map(|(_, text)| Started::text(text)));
            }
        }
        "vim" | "nvim" | "vi" | "ex" => {
            let commands = invocation.texts().filter_map(|text| text.strip_prefix('+'));
            for command in values(&["-c", "--cmd"]).into_iter().chain(commands) {
                by_editor(command, program, started);
            }
        }
        "osascript" => {
            let texts = values(&["-e"]).into_iter();
            let texts = texts.filter_map(|script| script.split_once("do shell script"));
            started.extend(texts.map(|(_, text)| Started::text(text.trim().trim_matches('"'))));
        }
        // The loader of programs.
        _ if program.starts_with("ld-linux") || program.starts_with("ld-musl") => {
            started.push(Started::Program(arguments.clone()));
        }
        _ => {}
    }
}

/// Returns what a command of a database's shell runs or writes.
fn by_database_shell(line: &str) -> Option<Started> {
    let line = line.trim();
    // `copy t to program 'gzip'`
    let lowercase = line.to_ascii_lowercase();
    if let Some(at) = lowercase.find(" program '").filter(|_| lowercase.contains("copy")) {
        let text = line.get(at + " program '".len()..)?;
        return Some(Started::text(text.rsplit_once('\'').map_or(text, |(text, _)| text)));
    }
    if let Some(text) = line.strip_prefix("\\!") {
        return Some(Started::text(text.trim()));
    }
    let (name, rest) = line.split_once(' ')?;
    let rest = rest.trim().trim_end_matches(';');
    if let Some((_, text)) = rest.split_once('|').filter(|_| name.starts_with(['.', '\\'])) {
        return Some(Started::text(text.trim_matches(['"', '\''])));
    }
    // sqlite3 knows the beginnings of its commands' names.
    let is_one = |names: &[&str]| {
        name.len() > 2 && names.iter().any(|known| known.starts_with(name)) || names.contains(&name)
    };
    if is_one(&[".shell", ".system"]) || matches!(name, "system" | "pager" | "\\P") {
        return Some(Started::text(rest));
    }
    let writes = [".backup", ".clone", ".log", ".once", ".output", ".save", ".trace"];
    if is_one(&writes) || matches!(name, "\\o" | "\\w" | "\\g" | "tee" | "\\T") {
        let path = rest.rsplit(' ').next().unwrap_or(rest);
        return Some(Started::File(path.trim_matches(['"', '\'']).to_owned(), Access::Write));
    }
    None
}

/// Adds what a command of Vim runs or writes.
fn by_editor(command: &str, program: &str, started: &mut Vec<Started>) {
    if let Some(text) = command.trim_start_matches(':').strip_prefix('!') {
        return started.push(Started::text(text));
    }
    let calls = ["system", "delete(", "rename(", "writefile("];
    let mut is_unknown = calls.iter().any(|call| command.contains(call));
    for command in command.split('|') {
        let command = command.trim_start_matches([' ', ':']);
        if let Some(text) = command.strip_prefix('!') {
            started.push(Started::text(text));
        }
        let (name, path) = command.split_once(' ').unwrap_or_default();
        let name = name.trim_start_matches('%').trim_end_matches('!');
        match name {
            "w" | "write" | "wq" | "x" | "sav" | "saveas" | "up" | "update" => {
                started.push(Started::File(path.trim().to_owned(), Access::Write));
            }
            _ => is_unknown |= ["lua", "py", "perl", "ruby"].iter().any(|it| name.starts_with(it)),
        }
    }
    if is_unknown {
        started.push(Started::Unknown(format!("`{program}` runs a program")));
    }
}

/// Returns the text of `env -S`, with the words behind it.
fn split_string(invocation: &Invocation) -> Option<Started> {
    let text = *invocation.option_values(&["-S", "--split-string"]).first()?;
    let mut rest = invocation.arguments.iter();
    rest.find(|argument| argument.text.ends_with(text))?;
    let rest = rest.map(|argument| crate::quote(&argument.text));
    let words: Vec<String> = std::iter::once(text.to_owned()).chain(rest).collect();
    Some(Started::Text(words.join(" ")))
}
