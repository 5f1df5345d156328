//! Paths of files, and their use.

use super::argument::{UNKNOWN, UNKNOWN_TEXT};

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
            _ => format!("{}/{path}", cwd.unwrap_or(UNKNOWN_TEXT)),
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
pub(super) fn is_url(word: &str) -> bool {
    word.split_once("://").is_some_and(|(scheme, _)| {
        !scheme.is_empty()
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    })
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
