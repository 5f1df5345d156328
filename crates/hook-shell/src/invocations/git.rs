//! Programs that git starts: aliases, programs in settings, and those of its commands.

use super::argument::Argument;
use super::invocation::Invocation;
use super::started::Started;

/// Returns `true` if a setting of git holds a program.
fn is_program_setting(name: &str) -> bool {
    const PROGRAMS: [&str; 16] = [
        "core.alternaterefscommand",
        "core.askpass",
        "core.editor",
        "core.fsmonitor",
        "core.gitproxy",
        "core.pager",
        "core.sshcommand",
        "credential.helper",
        "diff.external",
        "gpg.program",
        "interactive.difffilter",
        "sequence.editor",
        "ssh.program",
        "uploadpack.packobjectshook",
        "web.browser",
        "sendemail.tocmd",
    ];
    /// The ends of settings with a name in between, by their section.
    const NAMED: [(&str, &[&str]); 11] = [
        ("browser.", &[".cmd", ".path"]),
        ("credential.", &[".helper"]),
        ("diff.", &[".command", ".textconv"]),
        ("difftool.", &[".cmd", ".path"]),
        ("filter.", &[".clean", ".smudge", ".process"]),
        ("gpg.", &[".program", ".defaultkeycommand"]),
        ("man.", &[".cmd", ".path"]),
        ("merge.", &[".driver"]),
        ("mergetool.", &[".cmd", ".path"]),
        ("remote.", &[".uploadpack", ".receivepack", ".vcs"]),
        ("trailer.", &[".command", ".cmd"]),
    ];
    let is_named = |(section, ends): &(&str, &[&str])| {
        name.starts_with(section) && ends.iter().any(|end| name.ends_with(end))
    };
    PROGRAMS.contains(&name) || name.starts_with("pager.") || NAMED.iter().any(is_named)
}

/// Adds what git starts beside the programs of the table.
pub(super) fn by_git(invocation: &Invocation, started: &mut Vec<Started>) {
    for setting in invocation.option_values(&["-c"]) {
        started.extend(setting.split_once('=').and_then(|(name, value)| of_setting(name, value)));
    }
    let operands: Vec<&str> = invocation.operands().map(|operand| operand.text.as_str()).collect();
    // `ext::` in front of a repository's address runs a program, in whose words `% ` is a blank.
    let remotes = operands.iter().filter_map(|operand| operand.strip_prefix("ext::"));
    started.extend(remotes.map(|text| {
        let text = text.replace("% ", "\0");
        let words = text.split(' ').map(|word| Argument::plain(word.replace('\0', " ")));
        Started::Program(words.collect())
    }));
    let options: &[&str] = match operands.as_slice() {
        ["config", "set", name, value, ..] | ["config", name, value, ..] => {
            return started.extend(of_setting(name, value));
        }
        ["submodule", "foreach", ..] => {
            let texts: Vec<&str> = invocation.texts().collect();
            let words = texts.iter().position(|text| *text == "foreach").unwrap_or_default() + 1;
            let words = texts.get(words..).unwrap_or_default().iter().copied();
            let words = words.skip_while(|text| matches!(*text, "--recursive" | "-q" | "--quiet"));
            return started.push(Started::Text(words.collect::<Vec<_>>().join(" ")));
        }
        ["clone", ..] => &["--upload-pack", "-u"],
        ["fetch" | "pull" | "push" | "ls-remote" | "fetch-pack" | "send-pack", ..] => {
            &["--upload-pack", "--receive-pack", "--exec"]
        }
        ["difftool", ..] => &["-x", "--extcmd"],
        ["rebase", ..] => &["-x", "--exec"],
        ["filter-branch", ..] => &[
            "--env-filter",
            "--tree-filter",
            "--index-filter",
            "--parent-filter",
            "--msg-filter",
            "--commit-filter",
            "--tag-name-filter",
        ],
        ["grep", ..] => {
            // Only what is attached is a program.
            let pagers = invocation.texts().filter_map(|text| {
                let attached = text.strip_prefix("-O");
                attached.or_else(|| text.strip_prefix("--open-files-in-pager="))
            });
            return started.extend(pagers.filter(|text| !text.is_empty()).map(Started::text));
        }
        _ => &[],
    };
    started.extend(invocation.option_values(options).into_iter().map(Started::text));
}

/// Returns what a setting runs: an alias is a command of git, or with `!` a shell text.
fn of_setting(name: &str, value: &str) -> Option<Started> {
    let name = name.to_ascii_lowercase();
    let text = value.strip_prefix('!');
    match name.starts_with("alias.") {
        true => Some(Started::Text(text.map_or_else(|| format!("git {value}"), str::to_owned))),
        false => is_program_setting(&name).then(|| Started::text(text.unwrap_or(value))),
    }
}
