//! A plain call on one file: `write_file`, `replace` or `read_file`.

use std::path::Path;

use super::arguments::{CONTENT, Fields, NEW, OLD, PATH};
use super::patch;
use super::resolve::{behind_links, normalized};
use crate::json::{RawJson, RawObject};

pub(super) const WRITE: &str = "write_file";
pub(super) const EDIT: &str = "replace";
pub(super) const READ: &str = "read_file";

/// A plain call on one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileCall {
    /// `write_file`, `replace` or `read_file`.
    pub(crate) tool: &'static str,
    /// Its arguments, in our names. The path is absolute, as in most agents.
    pub(crate) arguments: RawObject,
    /// The path as the whole call has it.
    path: String,
    pub(super) origin: Origin,
}

/// What of the whole call a plain one was made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Origin {
    /// A part of the patch in this argument, in bytes of its text.
    Patch { argument: String, range: std::ops::Range<usize> },
    /// All of it, with these arguments under other names: ours, and all of theirs that it has.
    Renamed(Vec<(&'static str, Vec<&'static str>)>),
    /// All of it as it is, but for where the path begins.
    Plain,
    /// All of a file, which goes.
    Deletion,
    /// Something that no change can be put back into.
    Composed,
}

impl FileCall {
    fn new(tool: &'static str, path: &str, texts: &[(&str, &str)], origin: Origin) -> Self {
        let arguments = RawObject::of(|out| {
            for (name, value) in std::iter::once(&(PATH[0], path)).chain(texts) {
                out.text(name, value);
            }
        });
        Self { tool, arguments, path: path.to_owned(), origin }
    }

    pub(super) fn write(path: &str, content: &str, origin: Origin) -> Self {
        Self::new(WRITE, path, &[(CONTENT[0], content)], origin)
    }

    pub(super) fn edit(path: &str, old: &str, new: &str, origin: Origin) -> Self {
        Self::new(EDIT, path, &[(OLD[0], old), (NEW[0], new)], origin)
    }

    pub(super) fn read(path: &str) -> Self {
        Self::new(READ, path, &[], Origin::Composed)
    }

    /// A file that goes: an edit of all its text.
    pub(super) fn deletion(path: &str, old: &str) -> Self {
        Self::edit(path, old, "", Origin::Deletion)
    }

    /// Whether that is what it is.
    pub(crate) fn is_deletion(&self) -> bool {
        self.origin == Origin::Deletion
    }

    /// The path as the whole call has it.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// A call that is plain already, on that path.
    pub(super) fn plain(tool: &'static str, path: String, arguments: &RawObject) -> Self {
        Self { tool, arguments: arguments.clone(), path, origin: Origin::Plain }
    }

    /// Whether it has all arguments of the whole call.
    pub(crate) fn is_whole(&self) -> bool {
        self.origin == Origin::Plain
    }

    /// The same with an absolute path, as in most agents; and once more with where that leads, if it is behind
    /// a link.
    pub(super) fn located(&self, directory: &Path) -> Vec<Self> {
        let at = |path: &Path, origin: &Origin| {
            let mut fields = self.arguments.fields();
            fields.insert(PATH[0], RawJson::from_text(&path.to_string_lossy()));
            Self { arguments: fields.to_raw(), origin: origin.clone(), ..self.clone() }
        };
        let path = normalized(&self.path, directory);
        let target = behind_links(&self.path, &path, directory);
        let other = match &self.origin {
            Origin::Deletion => &Origin::Deletion,
            _ => &Origin::Composed,
        };
        let behind = (target != path).then(|| at(&target, other));
        std::iter::once(at(&path, &self.origin)).chain(behind).collect()
    }

    /// The arguments of the whole call, in which this one has other arguments; `None` where they cannot be
    /// put back.
    pub(crate) fn put_back(&self, whole: &RawObject, changed: &RawObject) -> Option<RawObject> {
        let mut fields = whole.fields();
        let mut changed = changed.fields();
        if changed.get(PATH[0]) == self.arguments.fields().get(PATH[0]) {
            changed.insert(PATH[0], RawJson::from_text(&self.path));
        }
        match &self.origin {
            Origin::Deletion | Origin::Composed => return None,
            Origin::Plain => return Some(changed.to_raw()),
            Origin::Renamed(names) => {
                for (ours, theirs) in names {
                    let value = changed.get(ours)?;
                    for name in theirs {
                        fields.insert(*name, value.clone());
                    }
                }
                // What has no other name is the same argument.
                for (name, value) in changed.iter() {
                    if !names.iter().any(|(ours, _)| *ours == name) {
                        fields.insert(name, value.clone());
                    }
                }
            }
            Origin::Patch { argument, range } => {
                let text = fields.get(argument)?.to_text()?;
                let changed = plain_part(self.tool, &changed.to_raw())?;
                let new =
                    format!("{}{changed}{}", text.get(..range.start)?, text.get(range.end..)?);
                fields.insert(argument.as_str(), RawJson::from_text(&new));
            }
        }
        Some(fields.to_raw())
    }
}

/// A plain call as a part of a patch.
pub(super) fn plain_part(tool: &str, arguments: &RawObject) -> Option<String> {
    let fields = Fields::of_call(arguments);
    let text = |names: &[&'static str]| fields.text(names).ok().flatten();
    let path = text(&PATH[..1]).filter(|path| !path.contains(['\n', '\r']))?;
    match tool {
        WRITE => Some(patch::adding(&path, &text(&CONTENT[..1])?)),
        EDIT => {
            let (old, new) = (text(&OLD[..1])?, text(&NEW[..1])?);
            Some(patch::updating(&path, &old, &new))
        }
        _ => None,
    }
}
