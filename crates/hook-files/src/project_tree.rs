//! Checks whether paths lead into a project or those around it, through any symlinks, and which folders programs are
//! looked for in.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::{fs, io};

use super::plain_path::{absolute, resolved};
use super::program::is_executable;
use super::user_folders;

/// The folders of projects, each from the outermost project or repository around it.
#[derive(Debug, Clone)]
pub struct ProjectTree {
    /// Not of what is no project, or contains the user's home and so all of the user's files.
    roots: Vec<PathBuf>,
}

impl ProjectTree {
    /// Returns the tree of a project's folder.
    pub fn new(project: &Path) -> Self {
        let project = resolved(project);
        let home = user_home().map(resolved);
        let contains_home = |root: &Path| home.as_ref().is_some_and(|home| home.starts_with(root));
        // An inner folder with settings or a repository of its own does not end the outer project.
        let roots = project.ancestors().take_while(|folder| !contains_home(folder));
        let root = roots.filter(|folder| {
            has_any(folder, &PROJECT_MARKERS) || (*folder == project && is_agent_project(folder))
        });
        Self { roots: root.last().map(Path::to_path_buf).into_iter().collect() }
    }

    /// Returns the trees of several projects as one.
    pub fn of_all<'p>(projects: impl IntoIterator<Item = &'p Path>) -> Self {
        Self { roots: projects.into_iter().flat_map(|project| Self::new(project).roots).collect() }
    }

    /// Checks whether a path leads into the project. A missing file counts as in its folder.
    pub fn contains(&self, path: &Path) -> bool {
        !self.roots.is_empty() && {
            let (real, written) = (resolved(path), absolute(path));
            self.roots.iter().any(|root| real.starts_with(root) || written.starts_with(root))
        }
    }

    /// Splits a list of folders such as `NODE_PATH`: the absolute ones outside the project, as a
    /// list, and the removed ones.
    pub fn split_outside(&self, list: &OsStr) -> (OsString, Vec<PathBuf>) {
        self.split(list, |_| true)
    }

    /// Splits `PATH` likewise. Removed, too, are a folder in which a program of such a name is a link into the project,
    /// or of any other project, and what is installed in one. `programs` are the names to look for where a folder
    /// cannot be listed. The list is never empty, since that means the working directory.
    pub fn split_search_path<'n>(
        &self,
        list: &OsStr,
        is_program: impl Fn(&str) -> bool,
        programs: impl Iterator<Item = &'n str>,
    ) -> (OsString, Vec<PathBuf>) {
        let names: Vec<&str> = programs.collect();
        let programs = (&is_program, &*names);
        let is_link_inside = |path: &PathBuf| path.is_symlink() && self.contains(path);
        let homes = homes();
        let is_kept = |folder: &Path| {
            let real = resolved(folder);
            if is_of_packages(folder) || is_of_packages(&real) {
                return false;
            }
            // Only managers of packages fill these, with thousands of programs.
            if ["/bin", "/sbin", "/usr/bin", "/usr/sbin"]
                .iter()
                .any(|system| real == Path::new(system))
            {
                return true;
            }
            // A program may be put there later.
            if !folder.is_dir() {
                return false;
            }
            if is_in_any_project(&real, &homes) {
                return possible_programs(folder, programs, |_| true).is_empty();
            }
            let may_be_link =
                |entry: &fs::DirEntry| entry.file_type().map_or(true, |kind| kind.is_symlink());
            !possible_programs(folder, programs, may_be_link).iter().any(is_link_inside)
        };
        let (kept, removed) = self.split(list, is_kept);
        let kept = if kept.is_empty() { SYSTEM_PATH.into() } else { kept };
        (kept, removed)
    }

    /// Returns the first program of that name in a list of folders that is in no project.
    pub fn find_program(&self, list: &OsStr, name: &str) -> Option<PathBuf> {
        let homes = homes();
        let is_outside = |folder: &Path, program: &Path| {
            let real = resolved(folder);
            !self.contains(program)
                && !is_of_packages(folder)
                && !is_of_packages(&real)
                && !is_in_any_project(&real, &homes)
        };
        let (folders, _) = self.split_outside(list);
        std::env::split_paths(&folders).find_map(|folder| {
            let program = folder.join(name);
            (is_executable(&program) && is_outside(&folder, &program)).then_some(program)
        })
    }

    fn split(&self, list: &OsStr, is_kept: impl Fn(&Path) -> bool) -> (OsString, Vec<PathBuf>) {
        // A process has its own `/proc/self`, and its own open files.
        let is_of_process =
            |folder: &Path| ["/proc", "/dev"].iter().any(|it| folder.starts_with(it));
        let is_outside = |folder: &Path| {
            folder.is_absolute() && !self.contains(folder) && !is_of_process(&absolute(folder))
        };
        let (kept, removed): (Vec<PathBuf>, Vec<PathBuf>) =
            std::env::split_paths(list).partition(|folder| is_outside(folder) && is_kept(folder));
        // Joining split paths cannot fail.
        (std::env::join_paths(kept).unwrap_or_default(), removed)
    }
}

/// Returns the homes that the system and the environment name.
fn homes() -> Vec<PathBuf> {
    let homes = [user_home().map(Path::to_path_buf), user_folders::home()];
    homes.into_iter().flatten().map(|home| resolved(&home)).collect()
}

fn is_of_packages(folder: &Path) -> bool {
    folder.ends_with("node_modules/.bin")
}

/// Returns the paths of a folder at which one of these programs may be, if its entry is such. Listing the folder
/// costs less than looking for each program; one that cannot be listed may still have them all.
fn possible_programs(
    folder: &Path,
    (is_program, names): (&impl Fn(&str) -> bool, &[&str]),
    is_such: impl Fn(&fs::DirEntry) -> bool,
) -> Vec<PathBuf> {
    // The folder has thousands of files, and the listing says which of them are links.
    let is_possible =
        |entry: &fs::DirEntry| is_such(entry) && entry.file_name().to_str().is_some_and(is_program);
    let listed: io::Result<Vec<fs::DirEntry>> = fs::read_dir(folder).and_then(|entries| {
        entries.filter(|entry| entry.as_ref().map_or(true, is_possible)).collect()
    });
    match listed {
        Ok(entries) => entries.iter().map(fs::DirEntry::path).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(_) => names.iter().map(|name| folder.join(name)).collect(),
    }
}

/// Returns `true` if a folder, without links, is in some project. Not projects are repositories that managers of tools
/// keep their programs in: below the system's folders, and in a hidden folder of a home.
fn is_in_any_project(folder: &Path, homes: &[PathBuf]) -> bool {
    const SYSTEM: [&str; 5] = ["/bin", "/home/linuxbrew", "/opt/homebrew", "/sbin", "/usr"];
    let is_hidden = |home: &PathBuf| {
        let first = folder.strip_prefix(home).ok().and_then(|path| path.iter().next());
        first.is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
    };
    if SYSTEM.iter().any(|system| folder.starts_with(system)) || homes.iter().any(is_hidden) {
        return false;
    }
    let holds_home = |root: &Path| homes.iter().any(|home| home.starts_with(root));
    let mut roots = folder.ancestors().take_while(|root| !holds_home(root));
    roots.any(|root| has_any(root, &PROJECT_MARKERS) || is_agent_project(root))
}

/// The folders of programs where `PATH` names none: without one, shells look into the working directory. Windows has
/// its own.
pub const SYSTEM_PATH: &str =
    if cfg!(windows) { "" } else { "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" };

const PROJECT_MARKERS: [&str; 2] = [".git", ".hooks"];

fn has_any(folder: &Path, names: &[&str]) -> bool {
    names.iter().any(|name| folder.join(name).exists())
}

/// Checks whether a folder has files of agents. Those in the home directory that `HOME` names are the
/// user's.
fn is_agent_project(folder: &Path) -> bool {
    const AGENT_FOLDERS: [&str; 24] = [
        ".agents",
        ".amp",
        ".augment",
        ".claude",
        ".clinerules",
        ".codebuddy",
        ".codex",
        ".cortex",
        ".crush",
        ".cursor",
        ".devin",
        ".factory",
        ".gemini",
        ".github",
        ".grok",
        ".kiro",
        ".llxprt",
        ".omp",
        ".opencode",
        ".pi",
        ".qwen",
        ".vibe",
        ".vscode",
        ".windsurf",
    ];
    let is_home = || user_folders::home().is_some_and(|home| resolved(&home) == folder);
    has_any(folder, &AGENT_FOLDERS) && !is_home()
}

/// Returns the user's home by the system's user table, which no variable changes, else `HOME`.
fn user_home() -> Option<&'static Path> {
    static HOME: OnceLock<Option<PathBuf>> = OnceLock::new();
    HOME.get_or_init(find_user_home).as_deref()
}

#[cfg(unix)]
fn find_user_home() -> Option<PathBuf> {
    let user = rustix::process::getuid().as_raw().to_string();
    let table = super::regular_file::read_to_string(Path::new("/etc/passwd"), 1 << 20).ok();
    let by_table = table.as_deref().unwrap_or_default().lines().find_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        let [_, _, id, _, _, home, ..] = fields.as_slice() else { return None };
        (*id == user && home.starts_with('/') && *home != "/").then(|| PathBuf::from(home))
    });
    by_table.or_else(user_folders::home)
}

#[cfg(not(unix))]
fn find_user_home() -> Option<PathBuf> {
    user_folders::home()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leads_into_a_project_is_inside_by_whatever_way() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        for path in ["repository/.git", "repository/inner", "beside"] {
            fs::create_dir_all(at(path)).unwrap();
        }
        let tree = ProjectTree::new(&at("repository/inner"));
        for inside in ["repository/bin", "repository/inner/no/such", "beside/../repository/x"] {
            assert!(tree.contains(&at(inside)), "{inside}");
        }
        for name in [".git", ".hooks"] {
            fs::create_dir_all(at("repository/inner").join(name)).unwrap();
            let tree = ProjectTree::new(&at("repository/inner"));
            assert!(tree.contains(&at("repository/bin")), "{name}");
        }
        for outside in ["beside", "repository-too", "", "repository/../beside/x"] {
            assert!(!tree.contains(&at(outside)), "{outside}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(at("repository"), at("beside/link")).unwrap();
            assert!(tree.contains(&at("beside/link/bin")));
        }
        let list = [at("repository/bin"), at("beside"), "relative".into(), "".into()];
        let list = std::env::join_paths(list).unwrap();
        let (kept, left_out) = tree.split_outside(&list);
        assert_eq!(kept, at("beside").as_os_str());
        assert_eq!(left_out.len(), 3);
    }

    #[test]
    fn what_holds_the_home_is_no_project_in_that_sense() {
        let Some(home) = user_home() else { return };
        assert!(!ProjectTree::new(Path::new("/")).contains(&home.join(".config")));
        assert!(!ProjectTree::new(home).contains(&home.join(".config")));
    }
}
