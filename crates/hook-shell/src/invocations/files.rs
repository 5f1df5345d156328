//! The files that programs read and write, as far as their arguments name them.

use super::find;
use super::invocation::Invocation;
use super::links::named_links;
use super::paths::{Access, FileAccess, is_url, path_of_url};
use super::program::{OptionValue, Use};
use super::sed::{SedEffect, scripts, sed_effects};

/// Adds the files that an invocation's arguments name.
pub(super) fn add(invocation: &mut Invocation) {
    if invocation.arguments.len() == 1 && invocation.has_option(&["--help", "--version"]) {
        return;
    }
    let mut files = Files { invocation, found: Vec::new() };
    files.of_options();
    files.of_operands();
    files.of_program();
    let mut found = files.found;
    invocation.files.append(&mut found);
}

/// The files of an invocation.
struct Files<'i> {
    invocation: &'i Invocation,
    found: Vec<FileAccess>,
}

impl<'i> Files<'i> {
    fn push(&mut self, path: &str, access: Access) {
        let cwd = self.invocation.cwd.as_deref();
        let takes_urls = self.invocation.known.takes_urls;
        if let Some(path) = path_of_url(path).filter(|_| takes_urls) {
            FileAccess::add(&mut self.found, &path, Access::Read, cwd);
        } else if !(takes_urls && is_url(path)) {
            FileAccess::add(&mut self.found, path, access, cwd);
        }
    }

    fn push_all<'t>(&mut self, paths: impl IntoIterator<Item = &'t str>, access: Access) {
        paths.into_iter().for_each(|path| self.push(path, access));
    }

    fn operands(&self) -> impl Iterator<Item = &'i str> + use<'i> {
        self.invocation.operands().map(|operand| operand.text.as_str())
    }

    fn of_options(&mut self) {
        self.push_all(self.invocation.values(OptionValue::Written), Access::Write);
        self.push_all(self.invocation.values(OptionValue::Read), Access::Read);
    }

    /// Adds the operands that are files, by the use that the program makes of them.
    fn of_operands(&mut self) {
        let invocation = self.invocation;
        let has_option = |names: &[&str]| invocation.has_option(names);
        let in_place = self.is_in_place();
        let read = if in_place { Access::Write } else { Access::Read };
        let count = invocation.operands.len();
        let uses = invocation.known.operands;
        // Of these, the pattern or program may be in an option.
        let is_first_file = match uses {
            Use::ReadAfterFirst => has_option(&["-e", "-f", "--regexp", "--file", "--expression"]),
            Use::WriteAfterFirst => has_option(&["--reference"]),
            _ => true,
        };
        // With `-c` and the like, all operands are those of the program.
        let has_script =
            uses == Use::Script && !has_option(&["-c", "-e", "-E", "-m", "--eval", "-r", "-p"]);
        let has_target = !invocation.values(OptionValue::Written).is_empty();
        for (index, operand) in self.operands().enumerate().skip(usize::from(!is_first_file)) {
            let is_last = index + 1 == count;
            let access = match uses {
                Use::Nothing => break,
                Use::Copy if matches!(invocation.program(), "ln" | "link") => break,
                Use::Read | Use::ReadAfterFirst => read,
                Use::Archive if index > 0 => read,
                Use::Script if index == 0 && has_script => Access::Read,
                Use::Copy if has_target || !is_last || count == 1 => Access::Read,
                Use::Write | Use::WriteAfterFirst | Use::Copy | Use::Archive => Access::Write,
                Use::Script if in_place => Access::Write,
                Use::Unknown | Use::Script => Access::Unknown,
            };
            self.push(operand, access);
        }
    }

    fn is_in_place(&self) -> bool {
        let invocation = self.invocation;
        match invocation.program() {
            "sed" | "perl" | "ruby" | "yq" => invocation.texts().any(is_in_place),
            "awk" | "gawk" | "mawk" => {
                invocation.option_values(&["-i", "--include"]).contains(&"inplace")
            }
            "sort" | "zip" | "7z" | "7za" => invocation.has_option(&["-m", "--move", "-sdel"]),
            _ => false,
        }
    }

    /// Adds the files of programs that name them in other ways.
    fn of_program(&mut self) {
        let invocation = self.invocation;
        let input = invocation.input.text().unwrap_or_default();
        match invocation.program() {
            // What a link leads to may be changed through it.
            "ln" | "link" => {
                for (target, link) in named_links(invocation) {
                    self.push(&target, Access::Unknown);
                    self.push(&link, Access::Write);
                }
            }
            "dd" => {
                for text in invocation.texts() {
                    match text.split_once('=') {
                        Some(("of", path)) => self.push(path, Access::Write),
                        Some(("if", path)) => self.push(path, Access::Read),
                        _ => {}
                    }
                }
            }
            // A script of `sed` may write, too.
            "sed" => {
                for effect in scripts(invocation).iter().flat_map(|script| sed_effects(script)) {
                    match effect {
                        SedEffect::Reads(path) => self.push(path, Access::Read),
                        SedEffect::Writes(path) => self.push(path, Access::Write),
                        SedEffect::Runs => {}
                    }
                }
            }
            "patch" | "apply_patch" => {
                let texts = invocation.texts().chain([input]);
                self.push_all(texts.flat_map(patched), Access::Write);
            }
            "curl" | "http" | "https" | "wget" => {
                let saves_by_name = match invocation.program() {
                    "curl" => invocation.has_option(&["-O", "--remote-name", "--remote-name-all"]),
                    "wget" => invocation.option_values(&["-O", "--output-document"]).is_empty(),
                    _ => false,
                };
                for url in self.operands().filter(|_| saves_by_name) {
                    let path = url.split(['?', '#']).next().unwrap_or_default();
                    let name = path.split_once("//").map_or(path, |(_, path)| path);
                    let name = name.rsplit_once('/').map_or("", |(_, name)| name);
                    self.push_all((!name.is_empty()).then_some(name), Access::Write);
                }
                for text in invocation.texts() {
                    for (at, _) in text.match_indices('@') {
                        let (name, path) = text.split_at(at);
                        if !name.is_empty() && !name.ends_with('=') {
                            continue;
                        }
                        let path = path.trim_start_matches('@');
                        if path != "-" {
                            self.push(path.split(';').next().unwrap_or(path), Access::Read);
                        }
                    }
                }
            }
            "find" if invocation.texts().any(|text| text == "-delete") => {
                self.push_all(find::roots(invocation), Access::Write);
            }
            "tar" => self.of_tar(),
            "ssh-keygen" => {
                let only_looks = invocation.has_option(&["-l", "-y", "-F", "-e", "-B", "-H"]);
                let access = if only_looks { Access::Read } else { Access::Write };
                self.push_all(invocation.option_values(&["-f"]), access);
            }
            "docker" | "docker-compose" | "nerdctl" | "podman" | "kubectl" | "oc" => {
                self.of_containers();
            }
            "aws" | "gcloud" | "gsutil" | "mc" | "rclone" | "s3cmd" | "s5cmd" => {
                const COPIES: [&str; 12] = [
                    "bisync", "copy", "copyto", "cp", "get", "mirror", "move", "moveto", "mv",
                    "rsync", "sync", "download",
                ];
                if self.operands().take(3).any(|operand| COPIES.contains(&operand)) {
                    self.push_all(self.operands().last(), Access::Write);
                }
            }
            "gh" if self.operands().take(2).eq(["gist", "create"]) => {
                let files: Vec<&str> = self.operands().skip(2).collect();
                self.push_all(files, Access::Read);
            }
            "gh" if self.operands().take(2).eq(["repo", "clone"]) => {
                self.push_all(self.operands().nth(3), Access::Write);
            }
            "hook" | "hook-engine" if self.operands().take(2).eq(["pack", "new"]) => {
                self.push_all(self.operands().nth(2), Access::Write);
            }
            "cp" | "rsync" | "mv" | "install" => self.of_copies(),
            "git" => self.of_git(input),
            _ => {}
        }
    }

    /// Adds what is written where the target is a folder: the names of the sources in it.
    fn of_copies(&mut self) {
        let invocation = self.invocation;
        let operands: Vec<&str> = self.operands().collect();
        let targets = invocation.values(OptionValue::Written);
        let (sources, target) = match (targets.first(), operands.as_slice()) {
            (Some(target), sources) => (sources, *target),
            (None, [sources @ .., target]) => (sources, *target),
            (None, []) => return,
        };
        let is_folder = sources.len() > 1 || !targets.is_empty() || target.ends_with(['/', '.']);
        let target = target.trim_end_matches('/');
        for source in sources.iter().filter(|_| is_folder) {
            let name = source.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
            if !matches!(name, "" | "." | "..") {
                self.push(&format!("{target}/{name}"), Access::Write);
            }
        }
    }

    fn of_tar(&mut self) {
        let invocation = self.invocation;
        let first = invocation.texts().next().unwrap_or_default();
        let creates = first.starts_with("--create") || first.len() < 8 && first.contains('c');
        let removes = invocation.has_option(&["--remove-files"]);
        let skipped = usize::from(invocation.operands.first() == Some(&0));
        for (index, operand) in self.operands().skip(skipped).enumerate() {
            let is_written = creates && index == 0 || removes;
            self.push(operand, if is_written { Access::Write } else { Access::Read });
        }
    }

    /// Adds the files that are copied from and to containers, whose own are `NAME:PATH`.
    fn of_containers(&mut self) {
        let mut operands =
            self.operands().skip_while(|word| matches!(*word, "container" | "compose"));
        if operands.next() != Some("cp") {
            return;
        }
        let paths: Vec<&str> = operands.collect();
        for (index, path) in paths.iter().enumerate() {
            let is_last = index + 1 == paths.len();
            if path.starts_with(['/', '.']) || !path.contains(':') {
                self.push(path, if is_last { Access::Write } else { Access::Read });
            }
        }
    }

    fn of_git(&mut self, input: &str) {
        let invocation = self.invocation;
        let has = |name: &str| invocation.texts().any(|text| text == name);
        let written = invocation.option_values(&["--output", "-o", "--output-directory"]);
        self.push_all(written, Access::Write);
        let mut rest = self.operands().peekable();
        let Some(command) = rest.next() else { return };
        match command {
            "apply" => {
                self.push_all(patched(input), Access::Write);
                self.push_all(invocation.option_values(&["--directory"]), Access::Write);
            }
            "rm" if has("--cached") => {}
            "rm" | "mv" => self.push_all(rest, Access::Write),
            "add" | "stage" | "hash-object" | "diff" | "blame" | "annotate" => {
                self.push_all(rest, Access::Read);
            }
            "log" if has("-p") || has("--patch") || has("-u") => self.push_all(rest, Access::Read),
            "grep" => self.push_all(rest.skip(1), Access::Read),
            "show" | "cat-file" | "archive" => {
                let path = |word: &'i str| word.split_once(':').map_or(word, |(_, path)| path);
                self.push_all(rest.map(path), Access::Read);
            }
            "clone" => self.push_all(rest.nth(1), Access::Write),
            "init" => self.push_all(rest.next().filter(|folder| *folder != "."), Access::Write),
            "bundle" if rest.next() == Some("create") => {
                self.push_all(rest.next(), Access::Write);
            }
            // Work trees lie beside the project, as a rule.
            "worktree" if rest.peek().is_some_and(|action| *action != "list") => {
                self.push_all(rest.nth(1), Access::Unknown);
            }
            "config" => {
                let files = invocation.option_values(&["-f", "--file"]);
                let is_read = rest.count() < 2 + files.len()
                    || ["--get", "--get-all", "--list", "-l", "--get-regexp"]
                        .iter()
                        .any(|it| has(it));
                self.push_all(files, if is_read { Access::Read } else { Access::Write });
            }
            // Of these, operands may be names of commits: what is not known is no file.
            "checkout" | "restore" if !has("-b") && !has("-B") && !has("--orphan") => {
                let known = invocation.operands().skip(1).filter(|operand| !operand.has_unknown());
                self.push_all(known.map(|operand| operand.text.as_str()), Access::Write);
            }
            "stash" => {
                let is_push = rest.next_if_eq(&"push").is_some();
                if is_push || has("--") {
                    self.push_all(rest, Access::Write);
                }
            }
            _ => {}
        }
    }
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
    text.lines().flat_map(of_line)
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
