//! A file that a decision about a hook covers, as it was reviewed.

use std::path::PathBuf;

use super::contents::Contents;
use super::tree::{Entry, Listing, is_of_packages};

/// A file as it was when it was reviewed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewedFile {
    /// Its path, from the project's folder on.
    pub path: PathBuf,
    /// The target of a link.
    pub target: Option<PathBuf>,
    /// Its content; absent if it was not read, or is part of an installed package.
    pub bytes: Option<Vec<u8>>,
    sha256: Option<String>,
    /// `true` if it can be executed.
    pub executable: bool,
    /// `true` if the hook's command names it.
    pub is_named: bool,
}

impl ReviewedFile {
    /// Returns its content, if that is text.
    pub fn text(&self) -> Option<&str> {
        let text = std::str::from_utf8(self.bytes.as_deref()?).ok()?;
        (!text.contains('\0')).then_some(text)
    }

    /// Returns the SHA-256 of its content.
    pub fn sha256(&self) -> Option<String> {
        self.sha256.clone()
    }

    /// Returns `true` if it is part of an installed package, which is covered and not shown.
    pub fn is_of_packages(&self) -> bool {
        is_of_packages(&self.path)
    }

    /// Returns `true` if it does not exist.
    pub(super) fn is_absent(&self) -> bool {
        self.target.is_none() && self.sha256.is_none()
    }

    /// Reads listed files.
    pub(super) fn read(contents: &Contents<'_>, listing: &Listing, named: &[PathBuf]) -> Vec<Self> {
        let file = |(path, entry): (&PathBuf, &Entry)| {
            let (target, content, executable) = match entry {
                Entry::Absent => (None, None, false),
                Entry::Link { target } => (Some(target.clone()), None, false),
                Entry::File(stamp) => {
                    (None, contents.read(path, stamp).ok(), stamp.is_executable())
                }
            };
            Self {
                path: path.clone(),
                target,
                bytes: content.as_ref().and_then(|content| content.bytes.clone()),
                sha256: content.map(|content| content.sha256.clone()),
                executable,
                is_named: named.contains(path),
            }
        };
        listing.files.iter().map(file).collect()
    }
}
