//! Fetching a commit of a git repository: its files as they are in it, and nothing that runs.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use crate::search_path::search_path;
use hook_json::text::one_line;
use tempfile::TempDir;
use tokio::io::AsyncReadExt;
use tokio::process::Command;

/// The longest time for all of it.
const MAX_TIME: Duration = Duration::from_secs(120);

/// The interval between looks at how much was fetched.
const LOOK: Duration = Duration::from_millis(100);

/// How much may be fetched, in bytes, and how large the files of a pack may be: 64 MiB each.
const MAX_FETCHED: u64 = 64 << 20;
const MAX_BYTES: u64 = 64 << 20;

/// How many files a pack may have.
const MAX_FILES: usize = 2_000;

/// How much is read of a list of files, and of git's messages.
const MAX_LIST: u64 = 4 << 20;
const MAX_MESSAGES: u64 = 16 << 10;

/// The name under which the commit is kept while it is read.
const FETCHED: &str = "refs/hook/fetched";

/// The files of a commit.
#[derive(Debug)]
pub(super) struct Checkout {
    pub(super) folder: TempDir,
    pub(super) commit: String,
    pub(super) notes: Vec<String>,
}

/// Returns `true` if a URL's authority is this machine, where no one else can change what is sent.
pub(super) fn is_loopback(authority: &str) -> bool {
    let host = authority.rsplit_once(':').map_or(authority, |(host, _)| host);
    matches!(host, "127.0.0.1" | "localhost" | "[::1]")
}

/// Checks the name of a tag, branch or commit.
pub(super) fn check_revision(revision: &str) -> Result<(), String> {
    let is_allowed =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'/' | b'-' | b'+');
    let is_name = !revision.is_empty()
        && revision.bytes().all(is_allowed)
        && !revision.starts_with(['-', '+'])
        && !revision.contains("..");
    match is_name {
        true => Ok(()),
        false => Err("what follows the @ is no tag and no commit".to_owned()),
    }
}

/// Fetches a commit, tag or branch; without one, what the repository has by default.
pub(super) async fn fetch(url: &str, revision: Option<&str>) -> Result<Checkout, String> {
    let within = tokio::time::timeout(MAX_TIME, fetch_files(url, revision)).await;
    within.unwrap_or_else(|_| {
        Err(format!("failed to fetch {url}: it took longer than {} s", MAX_TIME.as_secs()))
    })
}

async fn fetch_files(url: &str, revision: Option<&str>) -> Result<Checkout, String> {
    let failed = |error: String| format!("failed to fetch {url}: {error}");
    let io_failed = |error: io::Error| failed(error.to_string());
    let temporary = |name| tempfile::Builder::new().prefix(name).tempdir().map_err(io_failed);
    let (repository, folder) = (temporary("hook-fetch-")?, temporary("hook-pack-")?);
    let git = Git { repository: repository.path(), url };
    git.run(&["init", "--quiet", "--bare"], None, MAX_LIST).await.map_err(failed)?;
    let references = match revision {
        None => vec!["HEAD".to_owned()],
        Some(commit) if is_commit(commit) => vec![commit.to_owned()],
        Some(name) => vec![format!("refs/tags/{name}"), format!("refs/heads/{name}")],
    };
    let mut result = Err(String::new());
    for reference in &references {
        let reference = format!("+{reference}:{FETCHED}");
        let arguments = [
            "fetch",
            "--quiet",
            "--depth=1",
            "--no-tags",
            "--no-recurse-submodules",
            "--",
            url,
            &reference,
        ];
        result = git.run(&arguments, None, MAX_LIST).await;
        let is_unknown =
            result.as_ref().is_err_and(|error| error.contains("couldn't find remote ref"));
        if !is_unknown {
            break;
        }
    }
    result.map_err(failed)?;
    let reference = format!("{FETCHED}^{{commit}}");
    let commit =
        git.run(&["rev-parse", "--verify", &reference], None, 100).await.map_err(failed)?;
    let commit = String::from_utf8_lossy(&commit).trim().to_owned();
    if revision.is_some_and(|revision| is_commit(revision) && revision != commit) {
        return Err(failed(format!(
            "it gave the commit {commit} for {}",
            revision.unwrap_or_default()
        )));
    }
    let arguments = ["ls-tree", "-r", "-l", "-z", "--full-tree", &commit];
    let list = git.run(&arguments, None, MAX_LIST).await.map_err(failed)?;
    let (files, notes) = parse_tree(&list).map_err(failed)?;
    git.write(&files, folder.path()).await.map_err(failed)?;
    Ok(Checkout { folder, commit, notes })
}

fn is_commit(revision: &str) -> bool {
    matches!(revision.len(), 40 | 64) && revision.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A file of a commit.
#[derive(Debug)]
struct TreeFile {
    path: PathBuf,
    object: String,
    size: u64,
    kind: FileKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileKind {
    Plain,
    Program,
    Link,
}

/// Parses the output of `git ls-tree -r -l -z`, with what was left out.
fn parse_tree(list: &[u8]) -> Result<(Vec<TreeFile>, Vec<String>), String> {
    let (mut files, mut notes, mut bytes) = (Vec::new(), Vec::new(), 0_u64);
    for line in list.split(|byte| *byte == 0).filter(|line| !line.is_empty()) {
        let line = std::str::from_utf8(line).map_err(|_| "the name of a file is no UTF-8")?;
        let (fields, path) = line.split_once('\t').ok_or("git's list of files cannot be read")?;
        let fields: Vec<&str> = fields.split_whitespace().collect();
        let [mode, _, object, size] = fields.as_slice() else {
            return Err("git's list of files cannot be read".to_owned());
        };
        let kind = match *mode {
            "100644" | "100664" => FileKind::Plain,
            "100755" => FileKind::Program,
            "120000" => FileKind::Link,
            _ => {
                notes.push(format!("{} is a repository of its own, and left out", one_line(path)));
                continue;
            }
        };
        let size: u64 = size.parse().map_err(|_| "git's list of files cannot be read")?;
        bytes = bytes.saturating_add(size);
        let is_inside = Path::new(path).components().all(|part| match part {
            Component::Normal(name) => !name.eq_ignore_ascii_case(".git"),
            _ => false,
        });
        if !is_inside || path.contains(['\\', ':']) {
            return Err(format!("it has a file with the name {}", one_line(path)));
        }
        files.push(TreeFile { path: path.into(), object: (*object).to_owned(), size, kind });
        if files.len() > MAX_FILES || bytes > MAX_BYTES {
            return Err(format!(
                "it has more than {MAX_FILES} files, or more than {} MiB",
                MAX_BYTES >> 20
            ));
        }
    }
    Ok((files, notes))
}

/// A repository that is fetched into.
struct Git<'g> {
    repository: &'g Path,
    url: &'g str,
}

impl Git<'_> {
    /// Writes files, as they are in the commit: no filter is applied.
    async fn write(&self, files: &[TreeFile], folder: &Path) -> Result<(), String> {
        let objects: String = files.iter().map(|file| format!("{}\n", file.object)).collect();
        let headers = files.len() as u64 * 100;
        let arguments = ["cat-file", "--batch"];
        let output = self.run(&arguments, Some(&objects), MAX_BYTES + headers).await?;
        let mut rest = output.as_slice();
        let mut links = Vec::new();
        for file in files {
            let unreadable =
                || format!("git did not give {}", one_line(&file.path.to_string_lossy()));
            let header = rest.iter().position(|byte| *byte == b'\n').ok_or_else(unreadable)?;
            let size = usize::try_from(file.size).map_err(|_| unreadable())?;
            let content = rest.get(header + 1..).and_then(|rest| rest.get(..size));
            let content = content.ok_or_else(unreadable)?;
            rest = rest.get(header + size + 2..).ok_or_else(unreadable)?;
            match file.kind {
                FileKind::Link => links.push((file, content)),
                FileKind::Plain | FileKind::Program => write_file(file, content, folder)?,
            }
        }
        // Nothing is written through a link.
        links.into_iter().try_for_each(|(file, target)| write_file(file, target, folder))
    }

    /// Runs git, and returns its output.
    async fn run(
        &self,
        arguments: &[&str],
        input: Option<&str>,
        limit: u64,
    ) -> Result<Vec<u8>, String> {
        let mut command = Command::new("git");
        command.env("PATH", search_path("git"));
        let protocols = match self.url.starts_with("http://") {
            true => "http",
            false => "https:ssh:file",
        };
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("GIT_") {
                command.env_remove(name);
            }
        }
        command
            .args(["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"])
            .args(["-c", "submodule.recurse=false", "-c", "http.followRedirects=initial"])
            .args([
                "-c",
                "fetch.fsckObjects=true",
                "-c",
                "gc.auto=0",
                "-c",
                "maintenance.auto=false",
            ])
            .args(arguments)
            .current_dir(self.repository)
            .env("GIT_ALLOW_PROTOCOL", protocols)
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        if let Some(input) = input {
            let path = self.repository.join("hook-input");
            let file = fs::write(&path, input).and_then(|()| fs::File::open(&path));
            command.stdin(file.map_err(|error| error.to_string())?);
        }
        let mut child = command.spawn().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => "there is no `git` on PATH; install it".to_owned(),
            _ => format!("git cannot be started: {error}"),
        })?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let read = async {
            let (mut output, mut messages) = (Vec::new(), Vec::new());
            let of_output = async {
                if let Some(stdout) = stdout {
                    stdout.take(limit + 1).read_to_end(&mut output).await?;
                }
                Ok::<_, io::Error>(())
            };
            let of_messages = async {
                if let Some(stderr) = stderr {
                    stderr.take(MAX_MESSAGES).read_to_end(&mut messages).await?;
                }
                Ok::<_, io::Error>(())
            };
            tokio::try_join!(of_output, of_messages)?;
            Ok::<_, io::Error>((output, messages, child.wait().await?))
        };
        let mut read = std::pin::pin!(read);
        let mut look = tokio::time::interval(LOOK);
        let (output, messages, status) = loop {
            tokio::select! {
                read = &mut read => break read.map_err(|error| error.to_string())?,
                _ = look.tick() => if size(self.repository) > MAX_FETCHED {
                    return Err(format!("it is larger than {} MiB", MAX_FETCHED >> 20));
                }
            }
        };
        if !status.success() {
            let messages = String::from_utf8_lossy(&messages);
            let lines: Vec<_> =
                messages.lines().filter(|line| !line.is_empty()).take(3).map(one_line).collect();
            return Err(format!("git says: {}", lines.join("; ")));
        }
        match output.len() as u64 > limit {
            true => Err("it has too many files".to_owned()),
            false => Ok(output),
        }
    }
}

fn write_file(file: &TreeFile, content: &[u8], folder: &Path) -> Result<(), String> {
    let path = folder.join(&file.path);
    let write = || {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        if file.kind == FileKind::Link {
            return link(content, &path);
        }
        let mut written = fs::OpenOptions::new().write(true).create_new(true).open(&path)?;
        io::Write::write_all(&mut written, content)?;
        make_executable(&path, file.kind == FileKind::Program)
    };
    write().map_err(|error| format!("{}: {error}", one_line(&file.path.to_string_lossy())))
}

#[cfg(unix)]
fn link(target: &[u8], at: &Path) -> io::Result<()> {
    use std::os::unix::ffi::OsStrExt;
    std::os::unix::fs::symlink(std::ffi::OsStr::from_bytes(target), at)
}

#[cfg(not(unix))]
fn link(_: &[u8], _: &Path) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "it is a link, which this system does not have"))
}

/// Returns the size of the files in a folder, in bytes.
fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => size(&entry.path()),
            Ok(metadata) => metadata.len(),
            Err(_) => 0,
        })
        .sum()
}

/// Sets the mode of a file of a pack: one that only depends on whether it is a program.
pub(super) fn make_executable(path: &Path, executable: bool) -> std::io::Result<()> {
    #[cfg(unix)]
    {
        let mode = if executable { 0o755 } else { 0o644 };
        let permissions = std::os::unix::fs::PermissionsExt::from_mode(mode);
        fs::set_permissions(path, permissions)?;
    }
    #[cfg(not(unix))]
    let _ = (path, executable);
    Ok(())
}
