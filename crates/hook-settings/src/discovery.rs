//! Discovery of settings files: of a project and the projects around it, of the user, and of the
//! system (reference/settings.md, "Sources").

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
    let of_project =
        |project: &Path| SettingsSource::optional(HookSource::Project, project.join(IN_PROJECT));
    let home = home_directory();
    let enclosing = enclosing_projects(project, home.as_deref());
    let projects = std::iter::once(project).chain(enclosing.iter().map(PathBuf::as_path));
    let mut sources = Vec::new();
    for project in projects {
        let source = of_project(project);
        let packs = packs_beside(&source.path, Some(project));
        sources.push(source);
        sources.extend(packs);
    }
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
    let nearest = enclosing_projects(directory, home_directory().as_deref()).into_iter().next();
    nearest.unwrap_or_else(|| directory.to_path_buf())
}

/// Returns the directories above a directory that have project settings, from the nearest to the
/// outermost. Their hooks run in addition to those of the inner project.
pub(crate) fn enclosing_projects(directory: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let mut projects = directories_above(directory, home);
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
    let mut directories = directories_above(project, home_directory().as_deref());
    directories.insert(0, project.to_path_buf());
    directories
}

/// Returns the directories whose trusted guards a project has, whoever owns them now: those in which
/// settings are looked for, and all around them.
pub fn guarded_directories(project: &Path) -> Vec<PathBuf> {
    let mut directories = searched_directories(project);
    let outermost = directories.last().cloned().unwrap_or_default();
    let home = home_directory();
    let beyond = outermost.ancestors().skip(1).map(Path::to_path_buf);
    if home.as_ref() != Some(&outermost) {
        directories.extend(beyond);
    }
    directories
}

/// Returns the searched directories without the first. A directory that is reached through a link of
/// a project is in that project, and in the one that the link leads to.
fn directories_above(directory: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let canonical = |path: &Path| {
        hook_files::plain_path::canonical(path).unwrap_or_else(|_| path.to_path_buf())
    };
    let home = home.map(canonical);
    let real = canonical(directory);
    let mut found = above_first(real.ancestors().map(Path::to_path_buf), home.as_deref());
    let written = std::path::absolute(directory).unwrap_or_else(|_| directory.to_path_buf());
    if written != real {
        let outer = written.ancestors().skip(1).map(canonical);
        for linked in above_first(std::iter::once(real).chain(outer), home.as_deref()) {
            if !found.contains(&linked) {
                found.push(linked);
            }
        }
    }
    found
}

/// Searches a chain of directories, each in the next, without the first.
fn above_first(directories: impl Iterator<Item = PathBuf>, home: Option<&Path>) -> Vec<PathBuf> {
    let chain: Vec<PathBuf> = directories.collect();
    let Some(first) = chain.first() else { return Vec::new() };
    let owners = Owners::of(first);
    let steps = chain.iter().zip(chain.iter().skip(1));
    let steps =
        steps.take_while(|(inner, outer)| home != Some(inner.as_path()) && owners.own(outer));
    steps.map(|(_, outer)| outer.clone()).collect()
}

/// Checks whether a project's settings are present. Unreadable settings count: they are reported
/// when they are loaded, so that their guards do not vanish silently.
fn has_settings(directory: &Path) -> bool {
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
