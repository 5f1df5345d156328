//! The files that programs read and write, as far as their arguments name them.

use super::{Argument, Invocation, UNKNOWN, starters};

/// A way to use a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// Its content is read.
    Read,
    /// It is created, changed, moved or deleted.
    Write,
}

/// A file and its use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileAccess {
    /// The absolute, normalized path, in which [`UNKNOWN`] stands for what is not known; patterns
    /// stay as they are.
    pub path: String,
    /// The use.
    pub access: Access,
}

impl FileAccess {
    pub(crate) fn new(path: &str, access: Access, cwd: Option<&str>) -> Self {
        let path = join(cwd, path).unwrap_or_else(|| UNKNOWN.to_string());
        Self { path, access }
    }

    /// Returns `false` for streams, and for what is no file, such as a URL.
    fn is_file(word: &str) -> bool {
        const STREAMS: [&str; 6] =
            ["-", "/dev/null", "/dev/stderr", "/dev/stdin", "/dev/stdout", "/dev/tty"];
        let is_descriptor = word
            .strip_prefix("/dev/fd/")
            .is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
        let is_url = word.split_once("://").is_some_and(|(scheme, _)| {
            const SCHEMES: [&str; 14] = [
                "http", "https", "ftp", "sftp", "ssh", "git", "file", "s3", "gs", "az", "docker",
                "oci", "ws", "wss",
            ];
            SCHEMES.contains(&scheme) || scheme.len() > 3
        });
        !word.is_empty() && !STREAMS.contains(&word) && !is_descriptor && !is_url
    }

    /// Adds the use of a word that names a file.
    pub(crate) fn add(files: &mut Vec<Self>, word: &str, access: Access, cwd: Option<&str>) {
        if Self::is_file(word) {
            files.push(Self::new(word, access, cwd));
        }
    }
}

/// Returns the normalized path of a word in a working directory; `None` if that is not known.
pub fn join(cwd: Option<&str>, word: &str) -> Option<String> {
    let mut components: Vec<&str> = Vec::with_capacity(16);
    if !word.starts_with('/') {
        components.extend(cwd?.split('/').filter(|component| !component.is_empty()));
    }
    for component in word.split('/') {
        match component {
            "" | "." => {}
            ".." => {
                // What is above an unknown folder is not known.
                if components
                    .last()
                    .is_some_and(|last| last.chars().all(|character| character == UNKNOWN))
                {
                    return None;
                }
                components.pop();
            }
            _ => components.push(component),
        }
    }
    // The root and the working directory of any process are those of this one, most likely.
    while let ["proc", _, "root" | "cwd", rest @ ..] = components.as_slice() {
        let rest = rest.to_vec();
        components = match components.get(2) {
            Some(&"cwd") => {
                cwd?.split('/').filter(|component| !component.is_empty()).chain(rest).collect()
            }
            _ => rest,
        };
    }
    // A relative word that begins with something unknown may be absolute.
    match word.chars().next() {
        Some(UNKNOWN) => None,
        _ => {
            let mut path = String::with_capacity(word.len() + cwd.map_or(0, str::len) + 1);
            for component in &components {
                path.push('/');
                path.push_str(component);
            }
            Some(if path.is_empty() { "/".to_owned() } else { path })
        }
    }
}

/// The use of a program's operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    /// All are read, or may be.
    Read,
    /// All are written.
    Write,
    /// The last is written, the others are read.
    Copy,
    /// The first is no file, the others are read: a pattern or program.
    ReadAfterFirst,
    /// The first is no file, the others are written, as of `chmod`.
    WriteAfterFirst,
    /// None is read or written.
    Nothing,
}

/// Programs and what they do with their operands; other programs may read them.
const USES: &[(&str, Use)] = &[
    ("[", Use::Nothing),
    ("alias", Use::Nothing),
    ("ansible", Use::Nothing),
    ("apt", Use::Nothing),
    ("apt-get", Use::Nothing),
    ("awk", Use::ReadAfterFirst),
    ("basename", Use::Nothing),
    ("brew", Use::Nothing),
    ("cd", Use::Nothing),
    ("chattr", Use::WriteAfterFirst),
    ("chgrp", Use::WriteAfterFirst),
    ("chmod", Use::WriteAfterFirst),
    ("chown", Use::WriteAfterFirst),
    ("command", Use::Nothing),
    ("cp", Use::Copy),
    ("dd", Use::Nothing),
    ("declare", Use::Nothing),
    ("dirname", Use::Nothing),
    ("docker", Use::Nothing),
    ("du", Use::Nothing),
    ("echo", Use::Nothing),
    ("egrep", Use::ReadAfterFirst),
    ("env", Use::Nothing),
    ("eval", Use::Nothing),
    ("exec", Use::Nothing),
    ("export", Use::Nothing),
    ("fallocate", Use::Write),
    ("fd", Use::Nothing),
    ("fgrep", Use::ReadAfterFirst),
    ("file", Use::Nothing),
    ("find", Use::Nothing),
    ("gawk", Use::ReadAfterFirst),
    ("gh", Use::Nothing),
    ("git", Use::Nothing),
    ("go", Use::Nothing),
    ("grep", Use::ReadAfterFirst),
    ("helm", Use::Nothing),
    ("history", Use::Nothing),
    ("install", Use::Copy),
    ("jq", Use::ReadAfterFirst),
    ("kill", Use::Nothing),
    ("kubectl", Use::Nothing),
    ("link", Use::Copy),
    ("ln", Use::Copy),
    ("local", Use::Nothing),
    ("ls", Use::Nothing),
    ("man", Use::Nothing),
    ("mawk", Use::ReadAfterFirst),
    ("mkdir", Use::Write),
    ("mkfifo", Use::Write),
    ("mv", Use::Write),
    ("npm", Use::Nothing),
    ("patch", Use::Write),
    ("pip", Use::Nothing),
    ("pnpm", Use::Nothing),
    ("podman", Use::Nothing),
    ("printf", Use::Nothing),
    ("pushd", Use::Nothing),
    ("readlink", Use::Nothing),
    ("readonly", Use::Nothing),
    ("realpath", Use::Nothing),
    ("rg", Use::ReadAfterFirst),
    ("rm", Use::Write),
    ("rmdir", Use::Write),
    ("rsync", Use::Copy),
    ("say", Use::Nothing),
    ("scp", Use::Copy),
    ("sed", Use::ReadAfterFirst),
    ("set", Use::Nothing),
    ("shred", Use::Write),
    ("sponge", Use::Write),
    ("srm", Use::Write),
    ("ssh", Use::Nothing),
    ("stat", Use::Nothing),
    ("sudo", Use::Nothing),
    ("tar", Use::Nothing),
    ("tee", Use::Write),
    ("test", Use::Nothing),
    ("touch", Use::Write),
    ("trap", Use::Nothing),
    ("trash", Use::Write),
    ("trash-put", Use::Write),
    ("tree", Use::Nothing),
    ("truncate", Use::Write),
    ("type", Use::Nothing),
    ("typeset", Use::Nothing),
    ("uniq", Use::Copy),
    ("unlink", Use::Write),
    ("unset", Use::Nothing),
    ("which", Use::Nothing),
    ("xargs", Use::Nothing),
    ("yarn", Use::Nothing),
];

/// Options whose values are written files, by program.
const WRITTEN_OPTIONS: &[(&str, &[&str])] = &[
    ("git", &["--output"]),
    ("curl", &["-o", "--output", "--output-dir", "-c", "--cookie-jar", "-D", "--dump-header"]),
    ("wget", &["-O", "--output-document", "-P", "--directory-prefix", "-o", "--output-file"]),
    ("sort", &["-o", "--output"]),
    ("tar", &["-C", "--directory"]),
    ("unzip", &["-d"]),
    ("cp", &["-t", "--target-directory"]),
    ("mv", &["-t", "--target-directory"]),
    ("ln", &["-t", "--target-directory"]),
    ("install", &["-t", "--target-directory"]),
    ("gcc", &["-o"]),
    ("cc", &["-o"]),
    ("clang", &["-o"]),
    ("openssl", &["-out"]),
    ("pandoc", &["-o", "--output"]),
];

/// Options whose values are read files, by program.
const READ_OPTIONS: &[(&str, &[&str])] = &[
    ("openssl", &["-in", "-inkey"]),
    ("ssh", &[]),
    ("grep", &["-f", "--file"]),
    ("curl", &["-T", "--upload-file", "-K", "--config"]),
    ("tar", &["-T", "--files-from"]),
];

/// Adds the files that an invocation's arguments name.
pub(super) fn add(invocation: &mut Invocation) {
    let program = invocation.program();
    let cwd = invocation.cwd.as_deref();
    let mut files = Vec::new();
    let mut push = |path: &str, access: Access| FileAccess::add(&mut files, path, access, cwd);
    let arguments = &invocation.arguments;
    let is_set = |names: &[&str]| {
        arguments
            .iter()
            .any(|argument| names.iter().any(|name| starters::is_option(&argument.text, name)))
    };
    if is_set(&["--help", "--version"]) && arguments.len() == 1 {
        return;
    }
    let options = |table: &[(&str, &'static [&'static str])]| {
        table.iter().find(|(name, _)| *name == program).map_or(&[][..], |(_, options)| *options)
    };
    for (options, access) in
        [(options(WRITTEN_OPTIONS), Access::Write), (options(READ_OPTIONS), Access::Read)]
    {
        for value in starters::option_values(arguments, options) {
            push(value, access);
        }
    }
    let operands = starters::operands(program, arguments);
    let uses = USES.binary_search_by(|(name, _)| (*name).cmp(program)).ok();
    let uses = uses.and_then(|index| USES.get(index)).map_or(Use::Read, |(_, uses)| *uses);
    let (first, rest) = match operands.split_first() {
        Some((first, rest)) => (Some(*first), rest),
        None => (None, &[][..]),
    };
    // Of filters, the pattern or program may be in an option.
    let in_option = match uses {
        Use::ReadAfterFirst => is_set(&["-e", "-f", "--regexp", "--file", "--expression"]),
        Use::WriteAfterFirst => is_set(&["--reference"]),
        _ => false,
    };
    let in_place = matches!(program, "sed" | "perl" | "ruby" | "yq")
        && arguments.iter().any(|argument| is_in_place(&argument.text));
    let read = if in_place { Access::Write } else { Access::Read };
    match uses {
        Use::Nothing => {}
        Use::Read => operands.iter().for_each(|operand| push(&operand.text, read)),
        Use::Write => operands.iter().for_each(|operand| push(&operand.text, Access::Write)),
        Use::ReadAfterFirst if in_option => {
            operands.iter().for_each(|operand| push(&operand.text, read))
        }
        Use::ReadAfterFirst => rest.iter().for_each(|operand| push(&operand.text, read)),
        Use::WriteAfterFirst if in_option => {
            operands.iter().for_each(|operand| push(&operand.text, Access::Write))
        }
        Use::WriteAfterFirst => rest.iter().for_each(|operand| push(&operand.text, Access::Write)),
        Use::Copy => {
            let has_target = is_set(&["-t", "--target-directory"]);
            let sources =
                operands.len().saturating_sub(usize::from(!has_target && operands.len() > 1));
            for (index, operand) in operands.iter().enumerate() {
                push(&operand.text, if index < sources { Access::Read } else { Access::Write });
            }
        }
    }
    match program {
        "dd" => {
            for argument in arguments {
                if let Some(path) = argument.text.strip_prefix("of=") {
                    push(path, Access::Write);
                } else if let Some(path) = argument.text.strip_prefix("if=") {
                    push(path, Access::Read);
                }
            }
        }
        // A script of `sed` may write, too.
        "sed" => {
            let expressions = starters::option_values(arguments, &["-e", "--expression"]);
            let scripts = expressions.into_iter().chain(first.map(|script| script.text.as_str()));
            for path in scripts.flat_map(sed_outputs) {
                push(path, Access::Write);
            }
        }
        "curl" | "http" | "https" | "wget" => {
            for argument in arguments {
                for (at, _) in argument.text.match_indices('@') {
                    let path = argument.text.get(at + 1..).unwrap_or_default();
                    let is_file =
                        at == 0 || argument.text.get(..at).is_some_and(|name| name.ends_with('='));
                    if is_file && !path.is_empty() && path != "-" {
                        push(path.split(';').next().unwrap_or(path), Access::Read);
                    }
                }
            }
        }
        "find" if arguments.iter().any(|argument| argument.text == "-delete") => {
            let roots: Vec<&Argument> = arguments
                .iter()
                .skip_while(|argument| starters::is_find_option(&argument.text))
                .take_while(|argument| !argument.text.starts_with(['-', '(', '!']))
                .collect();
            match roots.is_empty() {
                true => push(".", Access::Write),
                false => roots.iter().for_each(|root| push(&root.text, Access::Write)),
            }
        }
        "tar" => {
            let creates = arguments.first().is_some_and(|argument| {
                argument.text.starts_with("--create")
                    || (argument.text.len() < 8 && argument.text.contains('c'))
            });
            let skipped = usize::from(first.is_some_and(|first| arguments.first() == Some(first)));
            for (index, operand) in operands.iter().skip(skipped).enumerate() {
                push(
                    &operand.text,
                    if creates && index == 0 { Access::Write } else { Access::Read },
                );
            }
        }
        "ssh-keygen" => {
            let only_looks = is_set(&["-l", "-y", "-F", "-e", "-B", "-H"]);
            for path in starters::option_values(arguments, &["-f"]) {
                push(path, if only_looks { Access::Read } else { Access::Write });
            }
        }
        "git" => git(&operands, &mut push),
        _ => {}
    }
    invocation.files.append(&mut files);
}

fn git(operands: &[&Argument], push: &mut impl FnMut(&str, Access)) {
    let Some((command, rest)) = operands.split_first() else { return };
    let access = match command.text.as_str() {
        "add" | "stage" | "hash-object" => Access::Read,
        "clone" => {
            if let Some(folder) = rest.get(1) {
                push(&folder.text, Access::Write);
            }
            return;
        }
        "rm" | "mv" => Access::Write,
        _ => return,
    };
    rest.iter().for_each(|operand| push(&operand.text, access));
}

/// Returns `true` for options such as `-i`, `-i.bak`, `-pi`, `--in-place`.
fn is_in_place(argument: &str) -> bool {
    if let Some(long) = argument.strip_prefix("--") {
        let name = long.split('=').next().unwrap_or(long);
        return name.len() > 2 && "in-place".starts_with(name) || name == "inplace";
    }
    // Behind the letter is a suffix.
    let letters = argument.strip_prefix('-').and_then(|letters| letters.split('i').next());
    argument.contains('i')
        && letters
            .is_some_and(|letters| letters.bytes().all(|letter| b"abElnprsuwz0".contains(&letter)))
}

/// Returns the files that a script of `sed` writes to.
fn sed_outputs(script: &str) -> impl Iterator<Item = &str> {
    let commands = script.split(['\n', ';']);
    commands.filter_map(|command| {
        let (before, path) = command.rsplit_once('w')?;
        let path = path.trim();
        let is_command = before
            .trim_end_matches(|character: char| "0123456789,$pgIM/ {".contains(character))
            .len()
            < before.len()
            || before.is_empty();
        (is_command && (path.contains('/') || path.contains('.'))).then_some(path)
    })
}

#[cfg(test)]
pub(super) fn is_sorted() -> bool {
    USES.is_sorted_by_key(|(name, _)| *name)
}
