//! The files that programs read and write, as far as their arguments name them.

use super::{Argument, Invocation, UNKNOWN, starters};

/// A way to use a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// Its content is read.
    Read,
    /// It is created, changed, moved or deleted.
    Write,
    /// A program that is not known gets its name: it is read, and may be changed.
    Unknown,
}

/// A file and its use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileAccess {
    /// The absolute, normalized path, in which [`UNKNOWN`] stands for what is not known; patterns
    /// stay as they are.
    pub path: String,
    /// The path with `..`, which leads elsewhere behind a link; `None` if it has none.
    pub before_dots: Option<String>,
    /// The use.
    pub access: Access,
}

impl FileAccess {
    pub(crate) fn new(path: &str, access: Access, cwd: Option<&str>) -> Self {
        let before_dots = path.split('/').any(|name| name == "..").then(|| match path {
            _ if path.starts_with('/') => path.to_owned(),
            _ => format!("{}/{path}", cwd.unwrap_or("\u{fffc}")),
        });
        let path = join(cwd, path).unwrap_or_else(|| UNKNOWN.to_string());
        Self { path, before_dots, access }
    }

    /// Returns `false` for streams.
    fn is_file(word: &str) -> bool {
        const STREAMS: [&str; 6] =
            ["-", "/dev/null", "/dev/stderr", "/dev/stdin", "/dev/stdout", "/dev/tty"];
        let is_descriptor = word
            .strip_prefix("/dev/fd/")
            .is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
        !word.is_empty() && !STREAMS.contains(&word) && !is_descriptor
    }

    /// Adds the use of a word that names a file.
    pub(crate) fn add(files: &mut Vec<Self>, word: &str, access: Access, cwd: Option<&str>) {
        if Self::is_file(word) {
            files.push(Self::new(word, access, cwd));
        }
    }
}

/// Returns the path of a `file:` URL.
pub fn path_of_url(url: &str) -> Option<String> {
    let scheme = url.get(..5).filter(|scheme| scheme.eq_ignore_ascii_case("file:"))?;
    let rest = url.get(scheme.len()..)?;
    let path = match rest.strip_prefix("//") {
        Some(rest) => rest.get(rest.find('/')?..)?,
        None => rest,
    };
    let path = path.split(['?', '#']).next().unwrap_or(path);
    let mut decoded = Vec::with_capacity(path.len());
    let mut bytes = path.bytes();
    while let Some(byte) = bytes.next() {
        let digits = path.get(path.len() - bytes.len()..).and_then(|rest| rest.get(..2));
        let value = digits.filter(|_| byte == b'%');
        match value.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(value) => {
                decoded.push(value);
                bytes.nth(1);
            }
            None => decoded.push(byte),
        }
    }
    Some(String::from_utf8_lossy(&decoded).into_owned())
}

/// Returns `true` if a word is a URL of something that is no file of this machine.
fn is_url(word: &str) -> bool {
    word.split_once("://").is_some_and(|(scheme, _)| {
        !scheme.is_empty()
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    })
}

/// Programs whose operands may be URLs; for others `http://x` is a file below `http:`.
const WITH_URLS: &[&str] = &[
    "ab",
    "aria2c",
    "artillery",
    "aws",
    "az",
    "brew",
    "bun",
    "bunx",
    "cargo",
    "chromium",
    "code",
    "curl",
    "deno",
    "docker",
    "firefox",
    "ftp",
    "gcloud",
    "gh",
    "git",
    "glab",
    "go",
    "google-chrome",
    "gsutil",
    "helm",
    "hey",
    "http",
    "https",
    "k6",
    "kubectl",
    "lighthouse",
    "lynx",
    "mongosh",
    "mysql",
    "node",
    "npm",
    "npx",
    "open",
    "oras",
    "pip",
    "pip3",
    "pipx",
    "playwright",
    "pnpm",
    "podman",
    "psql",
    "python",
    "python3",
    "redis-cli",
    "rsync",
    "s3cmd",
    "scp",
    "sftp",
    "skopeo",
    "ssh",
    "svn",
    "uv",
    "uvx",
    "w3m",
    "websocat",
    "wget",
    "wrk",
    "wscat",
    "xdg-open",
    "xh",
    "yarn",
    "yt-dlp",
];

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
    /// All are read.
    Read,
    /// All are read, and may be changed.
    Unknown,
    /// The first is a program that is read, the others are those of a program that is not known.
    Script,
    /// The first is written, the others are read.
    Archive,
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

/// Programs and what they do with their operands; other programs may do anything.
const USES: &[(&str, Use)] = &[
    (".", Use::Read),
    ("7z", Use::Write),
    ("7za", Use::Write),
    ("7zz", Use::Write),
    (":", Use::Nothing),
    ("[", Use::Nothing),
    ("alias", Use::Nothing),
    ("ansible", Use::Nothing),
    ("apt", Use::Nothing),
    ("apt-get", Use::Nothing),
    ("ar", Use::Archive),
    ("awk", Use::ReadAfterFirst),
    ("aws", Use::Read),
    ("az", Use::Read),
    ("b2sum", Use::Read),
    ("b3sum", Use::Read),
    ("base32", Use::Read),
    ("base64", Use::Read),
    ("basename", Use::Nothing),
    ("bash", Use::Read),
    ("bat", Use::Read),
    ("batcat", Use::Read),
    ("bg", Use::Nothing),
    ("break", Use::Nothing),
    ("brew", Use::Nothing),
    ("builtin", Use::Nothing),
    ("bun", Use::Script),
    ("bunx", Use::Nothing),
    ("bunzip2", Use::Write),
    ("bzip2", Use::Write),
    ("cargo", Use::Nothing),
    ("cat", Use::Read),
    ("cd", Use::Nothing),
    ("chattr", Use::WriteAfterFirst),
    ("chgrp", Use::WriteAfterFirst),
    ("chmod", Use::WriteAfterFirst),
    ("chown", Use::WriteAfterFirst),
    ("cksum", Use::Read),
    ("cloc", Use::Read),
    ("cmake", Use::Nothing),
    ("cmd", Use::Nothing),
    ("cmp", Use::Read),
    ("colordiff", Use::Read),
    ("column", Use::Read),
    ("comm", Use::Read),
    ("command", Use::Nothing),
    ("compress", Use::Write),
    ("continue", Use::Nothing),
    ("corepack", Use::Nothing),
    ("cp", Use::Copy),
    ("csplit", Use::Copy),
    ("curl", Use::Read),
    ("cut", Use::Read),
    ("dash", Use::Read),
    ("date", Use::Nothing),
    ("dd", Use::Nothing),
    ("declare", Use::Nothing),
    ("delta", Use::Read),
    ("deno", Use::Script),
    ("df", Use::Nothing),
    ("dhall", Use::Read),
    ("diff", Use::Read),
    ("dig", Use::Nothing),
    ("dirname", Use::Nothing),
    ("dirs", Use::Nothing),
    ("ditto", Use::Copy),
    ("dnf", Use::Nothing),
    ("doas", Use::Nothing),
    ("docker", Use::Nothing),
    ("dos2unix", Use::Write),
    ("du", Use::Nothing),
    ("echo", Use::Nothing),
    ("ed", Use::Write),
    ("egrep", Use::ReadAfterFirst),
    ("emacs", Use::Write),
    ("env", Use::Nothing),
    ("eval", Use::Nothing),
    ("ex", Use::Write),
    ("exa", Use::Nothing),
    ("exec", Use::Nothing),
    ("exit", Use::Nothing),
    ("expand", Use::Read),
    ("export", Use::Nothing),
    ("expr", Use::Nothing),
    ("eza", Use::Nothing),
    ("fallocate", Use::Write),
    ("false", Use::Nothing),
    ("fd", Use::Nothing),
    ("fg", Use::Nothing),
    ("fgrep", Use::ReadAfterFirst),
    ("file", Use::Nothing),
    ("find", Use::Nothing),
    ("flock", Use::Nothing),
    ("fmt", Use::Read),
    ("fnm", Use::Nothing),
    ("fold", Use::Read),
    ("free", Use::Nothing),
    ("gawk", Use::ReadAfterFirst),
    ("gcloud", Use::Read),
    ("getopts", Use::Nothing),
    ("gh", Use::Nothing),
    ("gio", Use::Nothing),
    ("git", Use::Nothing),
    ("glow", Use::Read),
    ("go", Use::Nothing),
    ("gpg", Use::Read),
    ("grep", Use::ReadAfterFirst),
    ("groups", Use::Nothing),
    ("gsutil", Use::Read),
    ("gunzip", Use::Write),
    ("gzcat", Use::Read),
    ("gzip", Use::Write),
    ("hash", Use::Read),
    ("hatch", Use::Nothing),
    ("hd", Use::Read),
    ("head", Use::Read),
    ("helm", Use::Nothing),
    ("hexdump", Use::Read),
    ("hexyl", Use::Read),
    ("history", Use::Nothing),
    ("hook", Use::Read),
    ("hook-engine", Use::Read),
    ("host", Use::Nothing),
    ("hostname", Use::Nothing),
    ("http", Use::Read),
    ("https", Use::Read),
    ("icdiff", Use::Read),
    ("id", Use::Nothing),
    ("identify", Use::Read),
    ("install", Use::Copy),
    ("jar", Use::Archive),
    ("jobs", Use::Nothing),
    ("join", Use::Read),
    ("journalctl", Use::Nothing),
    ("jq", Use::ReadAfterFirst),
    ("jsonlint", Use::Read),
    ("just", Use::Nothing),
    ("kill", Use::Nothing),
    ("killall", Use::Nothing),
    ("killall5", Use::Nothing),
    ("ksh", Use::Read),
    ("kubectl", Use::Nothing),
    ("ldd", Use::Read),
    ("less", Use::Read),
    ("lesspipe", Use::Read),
    ("let", Use::Nothing),
    ("link", Use::Copy),
    ("ln", Use::Copy),
    ("local", Use::Nothing),
    ("ls", Use::Nothing),
    ("lsd", Use::Nothing),
    ("lua", Use::Script),
    ("lzma", Use::Write),
    ("make", Use::Nothing),
    ("man", Use::Nothing),
    ("mawk", Use::ReadAfterFirst),
    ("mc", Use::Read),
    ("md5", Use::Read),
    ("md5sum", Use::Read),
    ("mdcat", Use::Read),
    ("mediainfo", Use::Read),
    ("micro", Use::Write),
    ("mkdir", Use::Write),
    ("mkfifo", Use::Write),
    ("mktemp", Use::Nothing),
    ("more", Use::Read),
    ("mv", Use::Write),
    ("mysql", Use::Read),
    ("nano", Use::Write),
    ("nice", Use::Nothing),
    ("nl", Use::Read),
    ("nm", Use::Read),
    ("node", Use::Script),
    ("nodejs", Use::Script),
    ("nohup", Use::Nothing),
    ("npm", Use::Nothing),
    ("nproc", Use::Nothing),
    ("npx", Use::Nothing),
    ("nslookup", Use::Nothing),
    ("numfmt", Use::Read),
    ("nvim", Use::Write),
    ("nvm", Use::Nothing),
    ("objdump", Use::Read),
    ("oc", Use::Nothing),
    ("od", Use::Read),
    ("openssl", Use::Read),
    ("parallel", Use::Nothing),
    ("paste", Use::Read),
    ("patch", Use::Write),
    ("perl", Use::Script),
    ("pgrep", Use::Nothing),
    ("php", Use::Script),
    ("pico", Use::Write),
    ("ping", Use::Nothing),
    ("pip", Use::Nothing),
    ("pipx", Use::Nothing),
    ("pkill", Use::Nothing),
    ("pnpm", Use::Nothing),
    ("podman", Use::Nothing),
    ("poetry", Use::Nothing),
    ("popd", Use::Nothing),
    ("pr", Use::Read),
    ("prename", Use::WriteAfterFirst),
    ("printf", Use::Nothing),
    ("ps", Use::Nothing),
    ("psql", Use::Read),
    ("pushd", Use::Nothing),
    ("pyenv", Use::Nothing),
    ("pygmentize", Use::Read),
    ("pypy3", Use::Script),
    ("python", Use::Script),
    ("python2", Use::Script),
    ("python3", Use::Script),
    ("rclone", Use::Read),
    ("read", Use::Nothing),
    ("readelf", Use::Read),
    ("readlink", Use::Nothing),
    ("readonly", Use::Nothing),
    ("realpath", Use::Nothing),
    ("rename", Use::WriteAfterFirst),
    ("return", Use::Nothing),
    ("rev", Use::Read),
    ("rg", Use::ReadAfterFirst),
    ("rimraf", Use::Nothing),
    ("rm", Use::Write),
    ("rmdir", Use::Write),
    ("rsync", Use::Copy),
    ("ruby", Use::Script),
    ("rustup", Use::Nothing),
    ("s3cmd", Use::Read),
    ("say", Use::Nothing),
    ("scc", Use::Read),
    ("scp", Use::Copy),
    ("screen", Use::Nothing),
    ("script", Use::Write),
    ("sdiff", Use::Read),
    ("sed", Use::ReadAfterFirst),
    ("seq", Use::Nothing),
    ("set", Use::Nothing),
    ("setfacl", Use::WriteAfterFirst),
    ("sh", Use::Read),
    ("sha1sum", Use::Read),
    ("sha224sum", Use::Read),
    ("sha256sum", Use::Read),
    ("sha384sum", Use::Read),
    ("sha512sum", Use::Read),
    ("shasum", Use::Read),
    ("shellcheck", Use::Read),
    ("shift", Use::Nothing),
    ("shred", Use::Write),
    ("sleep", Use::Nothing),
    ("snap", Use::Nothing),
    ("sort", Use::Read),
    ("source", Use::Read),
    ("split", Use::Copy),
    ("sponge", Use::Write),
    ("sqlite3", Use::Read),
    ("srm", Use::Write),
    ("ssh", Use::Nothing),
    ("ssh-add", Use::Read),
    ("ssh-keygen", Use::Read),
    ("stat", Use::Nothing),
    ("strings", Use::Read),
    ("sudo", Use::Nothing),
    ("sum", Use::Read),
    ("systemctl", Use::Nothing),
    ("tac", Use::Read),
    ("tail", Use::Read),
    ("tar", Use::Nothing),
    ("task", Use::Nothing),
    ("tee", Use::Write),
    ("terraform", Use::Read),
    ("test", Use::Nothing),
    ("time", Use::Nothing),
    ("timeout", Use::Nothing),
    ("tmux", Use::Nothing),
    ("tokei", Use::Read),
    ("top", Use::Nothing),
    ("touch", Use::Write),
    ("tr", Use::Read),
    ("trap", Use::Nothing),
    ("trash", Use::Write),
    ("trash-put", Use::Write),
    ("tree", Use::Nothing),
    ("true", Use::Nothing),
    ("truncate", Use::Write),
    ("ts-node", Use::Script),
    ("tsort", Use::Read),
    ("tsx", Use::Script),
    ("tty", Use::Nothing),
    ("type", Use::Nothing),
    ("typeset", Use::Nothing),
    ("ulimit", Use::Nothing),
    ("umask", Use::Nothing),
    ("uname", Use::Nothing),
    ("unexpand", Use::Read),
    ("uniq", Use::Copy),
    ("unix2dos", Use::Write),
    ("unlink", Use::Write),
    ("unlzma", Use::Write),
    ("unset", Use::Nothing),
    ("unxz", Use::Write),
    ("uptime", Use::Nothing),
    ("uvx", Use::Nothing),
    ("vault", Use::Read),
    ("vi", Use::Write),
    ("vim", Use::Write),
    ("volta", Use::Nothing),
    ("wait", Use::Nothing),
    ("wc", Use::Read),
    ("wget", Use::Read),
    ("whereis", Use::Nothing),
    ("which", Use::Nothing),
    ("whoami", Use::Nothing),
    ("xargs", Use::Nothing),
    ("xxd", Use::Copy),
    ("xz", Use::Write),
    ("yamllint", Use::Read),
    ("yarn", Use::Nothing),
    ("yes", Use::Nothing),
    ("yq", Use::Read),
    ("yum", Use::Nothing),
    ("zcat", Use::Read),
    ("zip", Use::Archive),
    ("zless", Use::Read),
    ("zmore", Use::Read),
    ("zsh", Use::Read),
    ("zstd", Use::Write),
];

/// Options whose values are written files, by program.
const WRITTEN_OPTIONS: &[(&str, &[&str])] = &[
    ("git", &["--output", "-o", "--output-directory"]),
    ("iconv", &["-o", "--output"]),
    ("strace", &["-o", "--output"]),
    ("ltrace", &["-o", "--output"]),
    ("time", &["-o", "--output"]),
    ("perf", &["-o", "--output"]),
    ("shuf", &["-o", "--output"]),
    ("find", &["-fprint", "-fprint0", "-fprintf", "-fls"]),
    ("script", &["-O", "-B", "-I", "-T", "--log-out"]),
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
    ("curl", &["-T", "--upload-file", "-K", "--config", "--url"]),
    ("wget", &["--post-file", "--body-file", "-i", "--input-file"]),
    ("xargs", &["-a", "--arg-file"]),
    ("tar", &["-T", "--files-from"]),
];

/// Adds the files that an invocation's arguments name.
pub(super) fn add(invocation: &mut Invocation) {
    let program = invocation.program();
    let cwd = invocation.cwd.as_deref();
    let mut files = Vec::new();
    let takes_urls = WITH_URLS.contains(&program);
    let mut push = |path: &str, access: Access| {
        if let Some(path) = path_of_url(path).filter(|_| takes_urls) {
            FileAccess::add(&mut files, &path, Access::Read, cwd);
        } else if !(takes_urls && is_url(path)) {
            FileAccess::add(&mut files, path, access, cwd);
        }
    };
    let arguments = &invocation.arguments;
    let letters = starters::value_letters(program, arguments);
    let is_set = |names: &[&str]| {
        let is_one = |argument: &Argument| {
            names.iter().any(|name| starters::is_option(&argument.text, name, &letters))
        };
        arguments.iter().any(is_one)
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
    let uses = uses.and_then(|index| USES.get(index)).map_or(Use::Unknown, |(_, uses)| *uses);
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
        && arguments.iter().any(|argument| is_in_place(&argument.text))
        || program.ends_with("awk")
            && starters::option_values(arguments, &["-i", "--include"]).contains(&"inplace")
        || matches!(program, "sort" | "zip" | "7z" | "7za") && is_set(&["-m", "--move", "-sdel"]);
    let read = if in_place { Access::Write } else { Access::Read };
    match uses {
        Use::Nothing => {}
        Use::Read => operands.iter().for_each(|operand| push(&operand.text, read)),
        Use::Unknown => operands.iter().for_each(|operand| push(&operand.text, Access::Unknown)),
        Use::Script => {
            let access = if in_place { Access::Write } else { Access::Unknown };
            // With `-c` and the like, all operands are those of the program.
            let script = first.filter(|_| !is_set(&["-c", "-e", "-E", "-m", "--eval", "-r", "-p"]));
            for (index, operand) in operands.iter().enumerate() {
                let is_script = index == 0 && script.is_some();
                push(&operand.text, if is_script { Access::Read } else { access });
            }
        }
        Use::Archive => {
            first.iter().for_each(|archive| push(&archive.text, Access::Write));
            rest.iter().for_each(|operand| push(&operand.text, read));
        }
        Use::Copy if program == "ln" || program == "link" => link(arguments, &operands, &mut push),
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
            for effect in scripts_of_sed(arguments).iter().flat_map(|script| sed_effects(script)) {
                match effect {
                    SedEffect::Reads(path) => push(path, Access::Read),
                    SedEffect::Writes(path) => push(path, Access::Write),
                    SedEffect::Runs => {}
                }
            }
        }
        "patch" | "apply_patch" => {
            let input = match &invocation.input {
                super::Input::Text(text) => text.as_str(),
                _ => "",
            };
            let texts = arguments.iter().map(|argument| argument.text.as_str()).chain([input]);
            texts.flat_map(patched).for_each(|path| push(path, Access::Write));
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
            let removes = is_set(&["--remove-files"]);
            let skipped = usize::from(first.is_some_and(|first| arguments.first() == Some(first)));
            for (index, operand) in operands.iter().skip(skipped).enumerate() {
                push(
                    &operand.text,
                    if creates && index == 0 || removes { Access::Write } else { Access::Read },
                );
            }
        }
        "ssh-keygen" => {
            let only_looks = is_set(&["-l", "-y", "-F", "-e", "-B", "-H"]);
            for path in starters::option_values(arguments, &["-f"]) {
                push(path, if only_looks { Access::Read } else { Access::Write });
            }
        }
        "git" => {
            if let super::Input::Text(text) = &invocation.input
                && operands.first().is_some_and(|command| command.text == "apply")
            {
                patched(text).for_each(|path| push(path, Access::Write));
            }
            git(arguments, &operands, &mut push);
        }
        _ => {}
    }
    invocation.files.append(&mut files);
}

/// Adds the files of a link: what it leads to may be changed through it.
fn link(arguments: &[Argument], operands: &[&Argument], push: &mut impl FnMut(&str, Access)) {
    for (target, link) in links(arguments, operands) {
        push(&target, Access::Unknown);
        push(&link, Access::Write);
    }
}

/// Returns the targets of links that `ln` or `cp` makes, with their names.
fn links(arguments: &[Argument], operands: &[&Argument]) -> Vec<(String, String)> {
    let has = |name: &str| arguments.iter().any(|it| starters::is_option(&it.text, name, "tS"));
    let is_symbolic = has("-s") || has("--symbolic");
    let folder = starters::option_values(arguments, &["-t", "--target-directory"]);
    let (targets, folder) = match (folder.first(), operands.split_last()) {
        (Some(folder), _) => (operands, *folder),
        (None, Some((_, []))) => (operands, "."),
        (None, Some((last, targets))) => (targets, last.text.as_str()),
        (None, None) => return Vec::new(),
    };
    let name_of = |target: &str| target.trim_end_matches('/').rsplit('/').next().map(str::to_owned);
    let mut found = Vec::new();
    for target in targets.iter().map(|target| target.text.as_str()) {
        let inside = format!("{folder}/{}", name_of(target).unwrap_or_default());
        // The last operand is the link, or the folder that it is made in.
        let names = match targets.len() == 1 && operands.len() == 2 {
            true => vec![folder.to_owned(), inside],
            false => vec![inside],
        };
        for name in names {
            // A relative target begins in the folder of the link.
            let parent = name.rsplit_once('/').map(|(parent, _)| parent);
            let target = match parent.filter(|_| is_symbolic && !target.starts_with('/')) {
                Some(parent) => format!("{parent}/{target}"),
                None => target.to_owned(),
            };
            found.push((target, name));
        }
    }
    found
}

/// Returns the links that an invocation makes: the absolute paths of each link and its target.
pub fn made_links(invocation: &Invocation) -> Vec<(String, String)> {
    let program = invocation.program();
    let arguments = &invocation.arguments;
    let has = |name: &str| arguments.iter().any(|it| starters::is_option(&it.text, name, ""));
    let is_link = match program {
        "ln" | "link" => true,
        "cp" => ["-s", "--symbolic-link", "-l", "--link"].iter().any(|name| has(name)),
        _ => false,
    };
    if !is_link {
        return Vec::new();
    }
    let cwd = invocation.cwd.as_deref();
    let absolute = |path: &str| join(cwd, path);
    let links = links(arguments, &starters::operands(program, arguments));
    let links = links.iter().filter_map(|(target, link)| {
        Some((absolute(link)?, absolute(target).unwrap_or_else(|| UNKNOWN.to_string())))
    });
    links.collect()
}

/// Returns the files that a patch names.
fn patched(text: &str) -> impl Iterator<Item = &str> {
    fn of_line(line: &str) -> Vec<&str> {
        const MARKS: [&str; 9] = [
            "+++ ",
            "--- ",
            "rename to ",
            "rename from ",
            "copy to ",
            "*** Update File: ",
            "*** Add File: ",
            "*** Delete File: ",
            "*** Move to: ",
        ];
        let path = MARKS.iter().find_map(|mark| line.strip_prefix(mark));
        let Some(path) = path.and_then(|path| path.split('\t').next()).map(str::trim) else {
            return Vec::new();
        };
        // By default the first name is left out.
        let behind = path.split_once('/').map(|(_, behind)| behind);
        [Some(path), behind].into_iter().flatten().filter(|path| *path != "/dev/null").collect()
    }
    text.lines().flat_map(of_line).take(200)
}

fn git(arguments: &[Argument], operands: &[&Argument], push: &mut impl FnMut(&str, Access)) {
    let Some((command, rest)) = operands.split_first() else { return };
    let has = |name: &str| arguments.iter().any(|it| it.text == name);
    let access = match command.text.as_str() {
        "rm" if has("--cached") => return,
        "add" | "stage" | "hash-object" | "diff" | "blame" | "annotate" => Access::Read,
        "grep" => {
            rest.iter().skip(1).for_each(|operand| push(&operand.text, Access::Read));
            return;
        }
        "log" if has("-p") || has("--patch") || has("-u") => Access::Read,
        "show" | "cat-file" | "archive" => {
            for operand in rest {
                let path = operand.text.split_once(':').map_or(&*operand.text, |(_, path)| path);
                push(path, Access::Read);
            }
            return;
        }
        "clone" => {
            if let Some(folder) = rest.get(1) {
                push(&folder.text, Access::Write);
            }
            return;
        }
        "worktree" if rest.first().is_some_and(|action| action.text != "list") => {
            // Work trees lie beside the project, as a rule.
            rest.iter().skip(1).take(1).for_each(|folder| push(&folder.text, Access::Unknown));
            return;
        }
        "config" => {
            let files = starters::option_values(arguments, &["-f", "--file"]);
            let is_read = rest.len() < 2 + files.len()
                || ["--get", "--get-all", "--list", "-l", "--get-regexp"].iter().any(|it| has(it));
            let access = if is_read { Access::Read } else { Access::Write };
            files.into_iter().for_each(|file| push(file, access));
            return;
        }
        // Of these, operands may be names of commits: what is not known is no file.
        "checkout" | "restore" if !has("-b") && !has("-B") && !has("--orphan") => {
            let known = rest.iter().filter(|operand| !operand.has_unknown());
            known.for_each(|operand| push(&operand.text, Access::Write));
            return;
        }
        "stash" if rest.first().is_some_and(|action| action.text == "push") => {
            rest.iter().skip(1).for_each(|operand| push(&operand.text, Access::Write));
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

/// Returns the scripts of `sed` in its arguments.
pub(super) fn scripts_of_sed(arguments: &[Argument]) -> Vec<&str> {
    let scripts = starters::option_values(arguments, &["-e", "--expression"]);
    if !scripts.is_empty() {
        return scripts;
    }
    let operands = starters::operands("sed", arguments);
    operands.into_iter().take(1).map(|script| script.text.as_str()).collect()
}

/// An effect of a command of `sed`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SedEffect<'s> {
    Reads(&'s str),
    Writes(&'s str),
    Runs,
}

/// Returns the text behind the next delimiter that is not escaped.
fn behind_delimiter(text: &str, delimiter: char) -> &str {
    let mut is_escaped = false;
    let end = text.char_indices().find(|(_, character)| {
        let is_end = *character == delimiter && !is_escaped;
        is_escaped = *character == '\\' && !is_escaped;
        is_end
    });
    end.and_then(|(at, found)| text.get(at + found.len_utf8()..)).unwrap_or_default()
}

/// Returns what a script of `sed` does with files and programs.
pub(super) fn sed_effects(script: &str) -> Vec<SedEffect<'_>> {
    let mut effects = Vec::new();
    let mut rest = script;
    loop {
        rest = rest.trim_start_matches(|skipped: char| {
            skipped.is_whitespace() || skipped.is_ascii_digit() || ",;$!{}+~".contains(skipped)
        });
        let Some(command) = rest.chars().next() else { break };
        let after = rest.get(command.len_utf8()..).unwrap_or_default();
        let line = after.split('\n').next().unwrap_or_default();
        let behind_line = after.get(line.len()..).unwrap_or_default();
        let file = line.trim();
        match command {
            // An address, with its flags.
            '/' => {
                rest = behind_delimiter(after, '/').trim_start_matches(['I', 'M']);
                continue;
            }
            '\\' => {
                let Some(delimiter) = after.chars().next() else { break };
                let inside = after.get(delimiter.len_utf8()..).unwrap_or_default();
                rest = behind_delimiter(inside, delimiter).trim_start_matches(['I', 'M']);
                continue;
            }
            's' | 'y' => {
                let Some(delimiter) = after.chars().next() else { break };
                let inside = after.get(delimiter.len_utf8()..).unwrap_or_default();
                let flags = behind_delimiter(behind_delimiter(inside, delimiter), delimiter);
                let end = flags.find(|flag: char| !"0123456789gpiImMe".contains(flag));
                let (flags, behind) = flags.split_at(end.unwrap_or(flags.len()));
                if command == 's' && flags.contains('e') {
                    effects.push(SedEffect::Runs);
                }
                rest = behind;
                if let Some(file) = behind.strip_prefix('w').filter(|_| command == 's') {
                    let file = file.split('\n').next().unwrap_or_default();
                    effects.push(SedEffect::Writes(file.trim()));
                    rest = behind.get(1 + file.len()..).unwrap_or_default();
                }
                continue;
            }
            'w' | 'W' => effects.push(SedEffect::Writes(file)),
            'r' | 'R' => effects.push(SedEffect::Reads(file)),
            'e' => effects.push(SedEffect::Runs),
            // The rest of the line is a text, a label or a comment.
            'a' | 'i' | 'c' | '#' | ':' => {}
            _ => {
                rest = after;
                continue;
            }
        }
        rest = behind_line;
    }
    effects
}

#[cfg(test)]
pub(super) fn is_sorted() -> bool {
    USES.is_sorted_by_key(|(name, _)| *name)
}
