//! Discovery of settings files: of a project and the projects around it, of the user, and of the
//! system (reference/settings.md, "Sources").

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::folders::may_have_hooks;
use super::pack::{Pack, PackLock};
use super::paths::{IN_CONFIG_HOME, IN_PROJECT, home_directory};
use super::source::{HookSource, SettingsSource};
use hook_files::{absence, user_folders};

/// Returns the native settings files in run order: those of the project, of the enclosing projects
/// from the nearest to the outermost, of the user, and of the system.
///
/// The project's own file is included even if it does not exist; enclosing directories only if they
/// have settings. The packs that a lock beside a file names follow it. `config_home` is
/// `$XDG_CONFIG_HOME` or its default ([`config_home`](fn@super::config_home)); with `None` the
/// user's file is omitted.
pub fn discover(project: &Path, config_home: Option<&Path>) -> Vec<SettingsSource> {
    let mut sources = project_sources(project);
    if let Some(config_home) = config_home {
        let source = SettingsSource::optional(HookSource::User, config_home.join(IN_CONFIG_HOME));
        let packs = packs_beside(&source.path, None);
        sources.push(source);
        sources.extend(packs);
    }
    let machine = user_folders::machine_config().join(IN_CONFIG_HOME);
    sources.push(SettingsSource::optional(HookSource::System, machine));
    sources
}

/// Returns those of the native settings files that belong to a project and those around it.
pub fn project_sources(project: &Path) -> Vec<SettingsSource> {
    let enclosing = enclosing_projects(project);
    let mut sources = Vec::new();
    for project in std::iter::once(project).chain(enclosing.iter().map(PathBuf::as_path)) {
        let source = SettingsSource::optional(HookSource::Project, project.join(IN_PROJECT));
        let packs = packs_beside(&source.path, Some(project));
        sources.push(source);
        sources.extend(packs);
    }
    sources
}

/// Returns the sources of the packs that the lock beside a settings file names. A lock that cannot
/// be read is reported with the rules next to that file.
fn packs_beside(settings: &Path, project: Option<&Path>) -> Vec<SettingsSource> {
    let lock = PackLock::read(&PackLock::path(settings)).unwrap_or_default();
    let packs = lock.packs.iter();
    packs.map(|(name, locked)| SettingsSource::of_pack(Pack::new(name, locked, project))).collect()
}

/// Returns the project of a working directory: the directory itself, or the nearest enclosing one
/// with settings, within the limits of `enclosing_projects`. If there is none, returns the
/// directory itself.
pub fn nearest_project(directory: &Path) -> PathBuf {
    if has_settings(directory) {
        return directory.to_path_buf();
    }
    enclosing_projects(directory).into_iter().next().unwrap_or_else(|| directory.to_path_buf())
}

/// Returns the directories above a directory that have project settings, from the nearest to the
/// outermost. Their hooks run in addition to those of the inner project.
fn enclosing_projects(directory: &Path) -> Vec<PathBuf> {
    let mut projects = Search::of(directory).searched();
    projects.retain(|directory| has_settings(directory));
    projects
}

/// Returns the directories in which a project's settings are looked for, with or without settings:
/// the project's own, and those around it, from the nearest to the outermost.
///
/// The search starts at the directory's canonical path, and ends at the HOME directory. It also ends
/// before a directory of another owner, whose contents are neither the user's nor the project's. The
/// root of a repository does not end it: `git init` in a folder would keep the guards around it out.
pub fn searched_directories(project: &Path) -> Vec<PathBuf> {
    let mut directories = Search::of(project).searched();
    directories.insert(0, project.to_path_buf());
    directories
}

/// Returns the directories whose trusted guards a project has, whoever owns them now and whatever
/// they are links to: those in which settings are looked for, and all around them, as far as HOME.
pub fn guarded_directories(project: &Path) -> Vec<PathBuf> {
    let search = Search::of(project);
    let mut directories = search.searched();
    directories.insert(0, project.to_path_buf());
    let mut known: HashSet<PathBuf> = directories.iter().cloned().collect();
    directories
        .extend(search.all().into_iter().filter(|directory| known.insert(directory.clone())));
    directories
}

/// The maximum depth of a directory whose surroundings are searched. A deeper one would keep an agent waiting for longer
/// than it does.
pub const MAX_PROJECT_DEPTH: usize = 128;

/// Returns `true` if a directory, and each that a link on its path leads to, is not too deep to be searched around.
pub fn is_searchable(directory: &Path) -> bool {
    let is_shallow = |path: &Path| path.components().count() <= MAX_PROJECT_DEPTH;
    is_shallow(directory)
        && is_shallow(&canonical(directory))
        && Search::of(directory).with_links.iter().all(|start| is_shallow(start))
}

fn canonical(path: &Path) -> PathBuf {
    hook_files::plain_path::canonical(path).unwrap_or_else(|_| path.to_path_buf())
}

/// A search for projects around a directory.
struct Search {
    /// The directory as it is written.
    written: PathBuf,
    /// The directory without links.
    real: PathBuf,
    /// The directories in which a part of the written path is a link. What is reached through a link
    /// of a project is in that project, too.
    with_links: Vec<PathBuf>,
    home: Option<PathBuf>,
}

impl Search {
    fn of(directory: &Path) -> Self {
        let written = std::path::absolute(directory).unwrap_or_else(|_| directory.to_path_buf());
        let real = canonical(&written);
        let mut with_links = Vec::new();
        if real != written {
            let mut inner = real.clone();
            for outer in written.ancestors().skip(1).map(canonical) {
                if inner.parent() != Some(&outer) {
                    with_links.push(outer.clone());
                }
                inner = outer;
            }
        }
        let home = home_directory().map(|home| canonical(&home));
        Self { written, real, with_links, home }
    }

    /// Returns the chains of directories that are searched, each as far as HOME.
    fn chains(&self) -> impl Iterator<Item = impl Iterator<Item = &Path>> {
        std::iter::once(&self.real).chain(&self.with_links).map(|start| self.up_to_home(start))
    }

    fn up_to_home<'d>(&self, start: &'d Path) -> impl Iterator<Item = &'d Path> + use<'d> {
        let is_home = |directory: &Path| self.home.as_deref() == Some(directory);
        let end = start.ancestors().position(is_home).map_or(usize::MAX, |last| last + 1);
        start.ancestors().take(end)
    }

    /// Returns the searched directories around the directory.
    fn searched(&self) -> Vec<PathBuf> {
        let owners = Owners::of(&self.real);
        let mut found: Vec<PathBuf> = Vec::new();
        let mut known = HashSet::from([&*self.real]);
        for chain in self.chains() {
            // One that was deleted has no owner, and does not end the search.
            let owned = chain.take_while(|outer| {
                *outer == self.real || owners.own(outer) || absence::is_absent(outer)
            });
            found.extend(owned.filter(|outer| known.insert(outer)).map(Path::to_path_buf));
        }
        found
    }

    /// Returns the directory and all around it, without links and as they are written.
    fn all(&self) -> Vec<PathBuf> {
        let is_home = |directory: &Path| self.home.as_ref() == Some(&canonical(directory));
        let written = match self.real == self.written {
            true => None,
            false => Some(self.written.ancestors().take_while(|directory| !is_home(directory))),
        };
        self.chains()
            .flatten()
            .chain(written.into_iter().flatten())
            .map(Path::to_path_buf)
            .collect()
    }
}

/// Checks whether a project's settings are present in a directory. Unreadable settings count: they are reported
/// when they are loaded, so that their guards do not vanish silently.
pub fn has_settings(directory: &Path) -> bool {
    let settings = directory.join(IN_PROJECT);
    exists(&settings) || may_have_hooks(&settings)
}

pub(super) fn exists(path: &Path) -> bool {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => false,
        _ => !absence::is_absent(path),
    }
}

/// The owners whose directories are searched: the user, and the owner of the first directory.
#[cfg(unix)]
struct Owners {
    user: u32,
    first: Option<u32>,
}

#[cfg(unix)]
impl Owners {
    fn of(directory: &Path) -> Self {
        Self { user: rustix::process::geteuid().as_raw(), first: owner(directory) }
    }

    fn own(&self, directory: &Path) -> bool {
        owner(directory).is_some_and(|owner| owner == self.user || Some(owner) == self.first)
    }
}

#[cfg(unix)]
fn owner(directory: &Path) -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    Some(fs::metadata(directory).ok()?.uid())
}

#[cfg(not(unix))]
struct Owners;

#[cfg(not(unix))]
impl Owners {
    fn of(_: &Path) -> Self {
        Self
    }

    fn own(&self, _: &Path) -> bool {
        true
    }
}
