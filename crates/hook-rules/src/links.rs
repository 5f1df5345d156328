//! The other paths of a file: those that links on disk lead to, and links that a command makes.

use std::collections::BTreeMap;

use hook_shell::invocations::UNKNOWN;

use crate::directories::Directories;

/// The maximum number of links that are looked for on disk.
const MAX_LOOKUPS: usize = 4_000;
/// The maximum number of paths of one file.
const MAX_PATHS: usize = 64;

/// Links by their absolute paths.
#[derive(Debug)]
pub(crate) struct Links<'d> {
    directories: &'d Directories,
    /// Links that a command makes, each with its target.
    made: Vec<(String, String)>,
    /// The targets of links on disk.
    on_disk: BTreeMap<String, Option<String>>,
    real: Option<Real<'d>>,
    /// `true` if not all links could be followed.
    is_exhausted: bool,
}

impl<'d> Links<'d> {
    pub(crate) fn new(directories: &'d Directories) -> Self {
        Self {
            directories,
            made: Vec::new(),
            on_disk: BTreeMap::new(),
            real: None,
            is_exhausted: false,
        }
    }

    /// Adds links that a command makes.
    pub(crate) fn extend(&mut self, made: Vec<(String, String)>) {
        let room = MAX_PATHS.saturating_sub(self.made.len());
        self.is_exhausted |= made.len() > room;
        self.made.extend(made.into_iter().take(room));
    }

    /// Returns `true` if a command makes links.
    pub(crate) fn are_made(&self) -> bool {
        !self.made.is_empty()
    }

    /// Returns `true` if not all links could be followed.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.is_exhausted
    }

    /// Returns the paths that an absolute path leads to besides itself. Names behind a link are
    /// followed, and the last one if `follows_last`. Links that are just `made` are not followed.
    pub(crate) fn others(
        &mut self,
        path: &str,
        follows_last: bool,
        made: &[(String, String)],
    ) -> Vec<String> {
        let mut found = Vec::new();
        let mut paths = vec![path.to_owned()];
        let mut next = 0;
        while let Some(path) = paths.get(next).cloned() {
            next += 1;
            let (end, targets) = self.follow(&path, follows_last, made);
            if let Some(end) = end.map(|end| self.renamed(end))
                && !found.contains(&end)
            {
                found.push(end);
            }
            for target in targets {
                if paths.len() >= MAX_PATHS {
                    self.is_exhausted = true;
                } else if !paths.contains(&target) {
                    paths.push(target);
                }
            }
        }
        found.retain(|found| found != path);
        found
    }

    /// Follows a path to its first link on disk. Returns the path, if there is none, and the paths
    /// that links lead to.
    fn follow(
        &mut self,
        path: &str,
        follows_last: bool,
        just_made: &[(String, String)],
    ) -> (Option<String>, Vec<String>) {
        let mut targets = Vec::new();
        let mut prefix = String::with_capacity(path.len());
        let mut rest = path.split('/').filter(|name| !name.is_empty() && *name != ".").peekable();
        while let Some(name) = rest.next() {
            let parent = prefix.len();
            if name == ".." {
                prefix.truncate(prefix.rfind('/').unwrap_or_default());
                continue;
            }
            prefix.push('/');
            prefix.push_str(name);
            if rest.peek().is_none() && !follows_last {
                break;
            }
            let on_disk = self.on_disk(&prefix);
            let used = match self.made.is_empty() {
                true => String::new(),
                false => self.renamed(prefix.clone()),
            };
            let made = self.made.iter().filter(|made| !just_made.contains(made));
            let made = made.filter(|(link, _)| *link == prefix || *link == used);
            let found: Vec<String> =
                made.map(|(_, target)| target.clone()).chain(on_disk.clone()).collect();
            for target in found {
                let mut path = match target.starts_with(['/', UNKNOWN]) {
                    true => target,
                    false => format!("{}/{target}", prefix.get(..parent).unwrap_or_default()),
                };
                for name in rest.clone() {
                    path.push('/');
                    path.push_str(name);
                }
                targets.push(path);
            }
            if on_disk.is_some() {
                return (None, targets);
            }
        }
        let end = match (path.starts_with(UNKNOWN), prefix.is_empty()) {
            (true, _) => UNKNOWN.to_string(),
            (false, true) => "/".to_owned(),
            (false, false) => prefix,
        };
        (Some(end), targets)
    }

    /// Returns the target of a link on disk.
    fn on_disk(&mut self, path: &str) -> Option<String> {
        // Those are links of this process.
        let is_skipped = path.starts_with("/proc/")
            || path.starts_with("/dev/")
            || path.contains([UNKNOWN, '*', '?', '\0']);
        if is_skipped {
            return None;
        }
        if self.real().is_around_plain(path) {
            return None;
        }
        if let Some(target) = self.on_disk.get(path) {
            return target.clone();
        }
        if self.on_disk.len() >= MAX_LOOKUPS {
            self.is_exhausted = true;
            return None;
        }
        let target = std::fs::read_link(path).ok();
        let target = target.map(|target| target.to_string_lossy().into_owned());
        self.on_disk.insert(path.to_owned(), target.clone());
        target
    }

    fn real(&mut self) -> &Real<'d> {
        let directories = self.directories;
        self.real.get_or_insert_with(|| Real::of([directories.project(), directories.home()]))
    }

    /// Returns a path by the names that are used for the project and the home directory.
    fn renamed(&mut self, path: String) -> String {
        let behind = self.real().linked.iter().find_map(|(real, used)| {
            let rest = path.strip_prefix(real.as_str())?;
            (rest.is_empty() || rest.starts_with('/')).then(|| format!("{used}{rest}"))
        });
        behind.unwrap_or(path)
    }
}

/// The real paths of directories.
#[derive(Debug, Default)]
struct Real<'d> {
    /// Those that links lead to: the real path, and the one that is used.
    linked: Vec<(String, &'d str)>,
    /// Those with no link in their paths.
    plain: Vec<&'d str>,
}

impl<'d> Real<'d> {
    fn of(directories: impl IntoIterator<Item = &'d str>) -> Self {
        let mut real = Self::default();
        for directory in directories {
            if real.is_around_plain(directory) {
                continue;
            }
            let Ok(path) = std::fs::canonicalize(directory) else { continue };
            match path.to_string_lossy() {
                path if path == directory => real.plain.push(directory),
                path => real.linked.push((path.into_owned(), directory)),
            }
        }
        real
    }

    /// Returns `true` if a directory with no link in its path is this one, or in it.
    fn is_around_plain(&self, path: &str) -> bool {
        self.plain.iter().any(|plain| {
            plain.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }
}
