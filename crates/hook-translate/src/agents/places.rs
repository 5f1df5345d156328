//! Where agents keep their hooks.

use std::path::{Component, Path, PathBuf};

use hook_core::files::regular_file;
use hook_core::language::{ForeignSource, SettingsOwner};
use hook_core::{JsonObject, RawJson};

/// How long a file may be that says which plugins there are, in bytes.
const LONGEST: u64 = 4 << 20;

/// How many plugins of one folder are looked at.
const MAX_PLUGINS: usize = 512;

/// How many files with hooks a plugin may name.
const MAX_FILES: usize = 64;

/// The places of one agent's files. In a name, `*` stands for its beginning; as a folder, for each that is
/// there.
#[derive(Debug)]
pub(super) struct Places {
    /// A variable that names the user's folder, if there is one.
    pub(super) variable: Option<&'static str>,
    /// That folder in a home, and the project's in a project.
    pub(super) folder: &'static str,
    /// Below a project, in the order of precedence.
    pub(super) project: &'static [&'static str],
    /// Below the user's folder, in the order of precedence.
    pub(super) user: &'static [&'static str],
    /// On a machine.
    pub(super) system: &'static [&'static str],
    /// Plugins, or extensions.
    pub(super) plugins: Option<Plugins>,
}

/// Where plugins are.
#[derive(Debug)]
pub(super) struct Plugins {
    /// Their folders, below the agent's folder of the user or of a project.
    pub(super) folders: &'static str,
    /// The files with hooks in such a folder.
    pub(super) files: &'static [&'static str],
    /// The file that describes one, and may name further files with hooks, or have them itself.
    pub(super) manifest: &'static str,
    /// The file that says where plugins were installed, below the user's folder.
    pub(super) installed: Option<&'static str>,
    /// The key in settings that says which are on.
    pub(super) enabled: Option<&'static str>,
}

impl Places {
    /// The user's folder.
    pub(super) fn of_user(&self, home: &Path) -> PathBuf {
        let named = self.variable.and_then(std::env::var_os).map(PathBuf::from);
        let named = named.filter(|folder| folder.is_absolute());
        named.unwrap_or_else(|| home.join(self.folder))
    }

    /// Every file in which there may be hooks.
    pub(super) fn files(&self, projects: &[PathBuf], home: Option<&Path>) -> Vec<ForeignSource> {
        let mut files = Vec::new();
        let mut add = |paths: Vec<PathBuf>, owner: &SettingsOwner, plugin_root: Option<&Path>| {
            files.extend(paths.into_iter().map(|path| ForeignSource {
                path,
                owner: owner.clone(),
                plugin_root: plugin_root.map(Path::to_path_buf),
            }));
        };
        let user = home.map(|home| self.of_user(home));
        // Later ones say more of what is on.
        let settings_of = |folder: &Path, below: &[&str]| {
            let files = below.iter().rev().flat_map(|path| fitting(folder, path));
            files.filter_map(|path| object_in(&path)).collect::<Vec<_>>()
        };
        // What a project says is about its own plugins alone: it may not be trusted.
        let (mut of_user, mut of_projects): (Vec<JsonObject>, Vec<JsonObject>) = Default::default();
        if self.plugins.as_ref().is_some_and(|plugins| plugins.enabled.is_some()) {
            of_user.extend(user.iter().flat_map(|user| settings_of(user, self.user)));
            of_projects.extend(projects.iter().rev().flat_map(|it| settings_of(it, self.project)));
        }
        for project in projects {
            let owner = SettingsOwner::Project(project.clone());
            for path in self.project {
                add(fitting(project, path), &owner, None);
            }
            let Some(plugins) = &self.plugins else { continue };
            let folder = project.join(self.folder);
            for root in fitting(&folder, plugins.folders) {
                if plugins.is_on(&root, &of_projects) && plugins.is_on(&root, &of_user) {
                    add(plugins.files_of(&root), &owner, Some(&root));
                }
            }
        }
        if let Some(user) = &user {
            for path in self.user {
                add(fitting(user, path), &SettingsOwner::User, None);
            }
            for root in self.plugins.iter().flat_map(|plugins| plugins.of_user(user, &of_user)) {
                let files = self.plugins.as_ref().map(|plugins| plugins.files_of(&root));
                add(files.unwrap_or_default(), &SettingsOwner::User, Some(&root));
            }
        }
        for path in self.system {
            add(fitting(Path::new("/"), path), &SettingsOwner::System, None);
        }
        files
    }
}

impl Plugins {
    /// The folders of the user's plugins that are on.
    fn of_user(&self, user: &Path, settings: &[JsonObject]) -> Vec<PathBuf> {
        let mut roots = fitting(user, self.folders);
        roots.retain(|root| self.is_on(root, settings));
        let installed = self.installed.and_then(|file| object_in(&user.join(file)));
        let plugins = installed.and_then(|it| it.get("plugins")?.to_object().ok());
        for (name, plugin) in plugins.iter().flat_map(JsonObject::iter).take(MAX_PLUGINS) {
            // One of a list, or alone, as earlier versions wrote it.
            let copies = plugin.to_items().unwrap_or_else(|| vec![plugin.clone()]);
            let path = |copy: &RawJson| copy.to_object().ok()?.get("installPath")?.to_text();
            let copies = copies.iter().filter_map(path).map(PathBuf::from);
            if self.said(name, settings) == Some(true) {
                roots.extend(copies.filter(|path| path.is_absolute()));
            }
        }
        roots.sort();
        roots.dedup();
        roots
    }

    /// Whether a plugin that was put into a folder is on: unless settings say otherwise.
    fn is_on(&self, root: &Path, settings: &[JsonObject]) -> bool {
        let name = root.file_name().and_then(|name| name.to_str());
        name.and_then(|name| self.said(name, settings)).unwrap_or(true)
    }

    /// What settings say of a plugin.
    fn said(&self, name: &str, settings: &[JsonObject]) -> Option<bool> {
        let key = self.enabled?;
        settings.iter().rev().find_map(|it| it.get(key)?.to_object().ok()?.get(name)?.to_bool())
    }

    /// The files with hooks of a plugin.
    fn files_of(&self, root: &Path) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> = self.files.iter().map(|file| root.join(file)).collect();
        let manifest = root.join(self.manifest);
        if let Some(hooks) = object_in(&manifest).and_then(|it| it.get("hooks").cloned()) {
            let several = hooks.to_items().unwrap_or_else(|| vec![hooks]);
            for one in several.into_iter().take(MAX_FILES) {
                match one.to_text() {
                    // What is elsewhere is not the plugin's.
                    Some(path) => files.extend(is_below(&path).then(|| root.join(&path))),
                    None => files.push(manifest.clone()),
                }
            }
        }
        files.sort();
        files.dedup();
        files
    }
}

/// Whether a path stays in the folder that it begins in.
fn is_below(path: &str) -> bool {
    let mut parts = Path::new(path).components();
    parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

/// The paths below a folder that fit; one without `*` whether it is there or not.
fn fitting(folder: &Path, pattern: &str) -> Vec<PathBuf> {
    let mut paths = vec![folder.to_path_buf()];
    for part in pattern.split('/') {
        match part.strip_prefix('*') {
            None => paths.iter_mut().for_each(|path| path.push(part)),
            Some(ending) => {
                paths = paths.iter().flat_map(|path| entries(path, ending)).collect();
            }
        }
    }
    paths
}

/// What is in a folder and ends so, in the order of names.
fn entries(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let read = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let named = read.filter(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        !name.starts_with('.') && name.ends_with(ending)
    });
    let mut paths: Vec<PathBuf> = named.map(|entry| entry.path()).take(MAX_PLUGINS).collect();
    paths.sort();
    paths
}

/// The object in a file, if there is one.
fn object_in(path: &Path) -> Option<JsonObject> {
    let bytes = regular_file::read(path, LONGEST).ok()?;
    RawJson::parse(String::from_utf8(bytes).ok()?).ok()?.to_object().ok()
}

/// Whether a path is one of those places, wherever the project or the home is.
pub(super) fn ends_like(path: &Path, place: &str) -> bool {
    let parts: Vec<_> = path.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    let place: Vec<&str> = place.split('/').collect();
    let end = parts.len().checked_sub(place.len()).and_then(|at| parts.get(at..));
    end.is_some_and(|end| {
        let mut pairs = end.iter().zip(&place);
        pairs.all(|(part, expected)| match expected.strip_prefix('*') {
            Some(ending) => part.ends_with(ending),
            None => part == expected,
        })
    })
}
