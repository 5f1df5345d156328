//! A plain call on one file: `write_file`, `replace` or `read_file`.

use std::path::Path;

use super::arguments::{Arguments, CONTENT, NEW, OLD, PATH};
use super::patch;
use super::resolve::{normalize_path, resolve_links};
use hook_json::{RawJson, RawObject};

pub(super) const WRITE: &str = "write_file";
pub(super) const EDIT: &str = "replace";
pub(super) const READ: &str = "read_file";

/// A plain call on one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileCall {
    /// `write_file`, `replace` or `read_file`.
    pub tool: &'static str,
    /// The arguments, with native names. The path is absolute, as in most agents.
    pub arguments: RawObject,
    /// The path in the whole call.
    path: String,
    pub(super) origin: Origin,
}

/// The part of the whole call that a plain call was made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Origin {
    /// The given range of bytes of the patch in this argument.
    Patch { argument: String, range: std::ops::Range<usize> },
    /// The whole call, with some arguments renamed: native names, each with the original names.
    Renamed(Vec<(&'static str, Vec<&'static str>)>),
    /// The whole call unchanged, except for a relative path.
    Plain,
    /// The deletion of a whole file.
    Deletion,
    /// A composition, into which changes cannot be written back.
    Composed,
}

impl FileCall {
    fn new(tool: &'static str, path: &str, texts: &[(&str, &str)], origin: Origin) -> Self {
        let arguments = RawObject::build(|out| {
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

    /// Creates a deletion: an edit that replaces all text of the file by nothing.
    pub(super) fn deletion(path: &str, old: &str) -> Self {
        Self::edit(path, old, "", Origin::Deletion)
    }

    /// Returns `true` if the call stands for a deletion.
    pub fn is_deletion(&self) -> bool {
        self.origin == Origin::Deletion
    }

    /// Returns the path in the whole call.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Creates a call on `path` from one that is plain already.
    pub(super) fn unchanged(tool: &'static str, path: String, arguments: &RawObject) -> Self {
        Self { tool, arguments: arguments.clone(), path, origin: Origin::Plain }
    }

    /// Returns `true` if the call has all arguments of the whole call.
    pub fn has_all_arguments(&self) -> bool {
        self.origin == Origin::Plain
    }

    /// Returns the call with an absolute path, as in most agents, and again with the resolved path
    /// if symlinks change it.
    pub(super) fn resolve_path(&self, directory: &Path) -> Vec<Self> {
        let with_path = |path: &Path, origin: &Origin| {
            let mut fields = self.arguments.fields();
            fields.insert(PATH[0], RawJson::from_text(&path.to_string_lossy()));
            Self { arguments: fields.to_raw(), origin: origin.clone(), ..self.clone() }
        };
        let path = normalize_path(&self.path, directory);
        let target = resolve_links(&self.path, &path, directory);
        let target_origin = match &self.origin {
            Origin::Deletion => &Origin::Deletion,
            _ => &Origin::Composed,
        };
        let at_target = (target != path).then(|| with_path(&target, target_origin));
        std::iter::once(with_path(&path, &self.origin)).chain(at_target).collect()
    }

    /// Returns the arguments of the whole call with the changed arguments of this one, or `None` if
    /// they cannot be written back.
    pub fn merge_changes(&self, original: &RawObject, changed: &RawObject) -> Option<RawObject> {
        let mut fields = original.fields();
        let mut changed = changed.fields();
        if changed.get(PATH[0]) == self.arguments.fields().get(PATH[0]) {
            changed.insert(PATH[0], RawJson::from_text(&self.path));
        }
        match &self.origin {
            Origin::Deletion | Origin::Composed => return None,
            Origin::Plain => return Some(changed.to_raw()),
            Origin::Renamed(names) => {
                for (native, foreign) in names {
                    let value = changed.get(native)?;
                    for name in foreign {
                        fields.insert(*name, value.clone());
                    }
                }
                // Arguments without another name are the same in the whole call.
                for (name, value) in changed.iter() {
                    if !names.iter().any(|(native, _)| *native == name) {
                        fields.insert(name, value.clone());
                    }
                }
            }
            Origin::Patch { argument, range } => {
                let text = fields.get(argument)?.to_text()?;
                let changed = patch_part(self.tool, &changed.to_raw())?;
                let new =
                    format!("{}{changed}{}", text.get(..range.start)?, text.get(range.end..)?);
                fields.insert(argument.as_str(), RawJson::from_text(&new));
            }
        }
        Some(fields.to_raw())
    }
}

/// Returns a plain call as a part of a patch.
pub(super) fn patch_part(tool: &str, arguments: &RawObject) -> Option<String> {
    let fields = Arguments::from_call(arguments);
    let text = |names: &[&'static str]| fields.text(names).ok().flatten();
    let path = text(&PATH[..1]).filter(|path| !path.contains(['\n', '\r']))?;
    match tool {
        WRITE => Some(patch::add_part(&path, &text(&CONTENT[..1])?)),
        EDIT => {
            let (old, new) = (text(&OLD[..1])?, text(&NEW[..1])?);
            Some(patch::update_part(&path, &old, &new))
        }
        _ => None,
    }
}
