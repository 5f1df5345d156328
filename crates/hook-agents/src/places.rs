//! The paths of agents' settings files.

use std::path::{Component, Path, PathBuf};

use hook_files::regular_file;
use hook_json::{JsonObject, RawJson};
use hook_settings::language::{ForeignSource, SettingsOwner};

/// The maximum size of a plugin list, in bytes.
const LONGEST: u64 = 4 << 20;

/// The maximum number of plugins read from one folder.
const MAX_PLUGINS: usize = 512;

/// The maximum number of hook files of a plugin.
const MAX_FILES: usize = 64;

/// The paths of one agent's settings. A leading `*` in a name stands for any text, and a folder `*`
/// for any folder.
#[derive(Debug)]
pub(super) struct Places {
    /// The variable that names the user's folder, if any.
    pub(super) variable: Option<&'static str>,
    /// The folder's path in the home directory and in a project.
    pub(super) folder: &'static str,
    /// Paths in a project, in the order of precedence.
    pub(super) project: &'static [&'static str],
    /// Paths in the user's folder, in the order of precedence.
    pub(super) user: &'static [&'static str],
    /// Paths of the machine's settings, below `/`.
    pub(super) system: &'static [&'static str],
    /// Its plugins or extensions.
    pub(super) plugins: Option<Plugins>,
}

/// The paths of plugins.
#[derive(Debug)]
pub(super) struct Plugins {
    /// The plugin folders, below the agent's folder of the user or of a project.
    pub(super) folders: &'static str,
    /// The paths of hook files in a plugin folder.
    pub(super) files: &'static [&'static str],
    /// The manifest of a plugin, which may name more hook files or contain hooks.
    pub(super) manifest: &'static str,
    /// The list of installed plugins, below the user's folder.
    pub(super) installed: Option<&'static str>,
    /// The settings key for enabled plugins.
    pub(super) enabled: Option<&'static str>,
}

impl Places {
    /// Returns the user's folder.
    pub(super) fn of_user(&self, home: &Path) -> PathBuf {
        let named = self.variable.and_then(std::env::var_os).map(PathBuf::from);
        let named = named.filter(|folder| folder.is_absolute());
        named.unwrap_or_else(|| home.join(self.folder))
    }

    /// Returns the paths of all possible hook files.
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
        // Later files have precedence.
        let settings_of = |folder: &Path, below: &[&str]| {
            let files = below.iter().rev().flat_map(|path| fitting(folder, path));
            files.filter_map(|path| object_in(&path)).collect::<Vec<_>>()
        };
        // A project may be untrusted, so its settings only affect its own plugins.
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
    /// Returns the folders of the user's enabled plugins.
    fn of_user(&self, user: &Path, settings: &[JsonObject]) -> Vec<PathBuf> {
        let mut roots = fitting(user, self.folders);
        roots.retain(|root| self.is_on(root, settings));
        let installed = self.installed.and_then(|file| object_in(&user.join(file)));
        let plugins = installed.and_then(|it| it.get("plugins")?.to_object().ok());
        for (name, plugin) in plugins.iter().flat_map(JsonObject::iter).take(MAX_PLUGINS) {
            // A list of copies, or a single one in earlier formats.
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

    /// Checks whether a plugin in a folder is enabled, which is the default.
    fn is_on(&self, root: &Path, settings: &[JsonObject]) -> bool {
        let name = root.file_name().and_then(|name| name.to_str());
        name.and_then(|name| self.said(name, settings)).unwrap_or(true)
    }

    /// Returns the settings' value for a plugin.
    fn said(&self, name: &str, settings: &[JsonObject]) -> Option<bool> {
        let key = self.enabled?;
        settings.iter().rev().find_map(|it| it.get(key)?.to_object().ok()?.get(name)?.to_bool())
    }

    /// Returns the hook files of a plugin.
    fn files_of(&self, root: &Path) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> = self.files.iter().map(|file| root.join(file)).collect();
        let manifest = root.join(self.manifest);
        if let Some(hooks) = object_in(&manifest).and_then(|it| it.get("hooks").cloned()) {
            let several = hooks.to_items().unwrap_or_else(|| vec![hooks]);
            for one in several.into_iter().take(MAX_FILES) {
                match one.to_text() {
                    // A plugin cannot name files outside of its folder.
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

/// Checks whether a relative path stays in its folder.
fn is_below(path: &str) -> bool {
    let mut parts = Path::new(path).components();
    parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

/// Returns the paths below a folder that match. A pattern without `*` matches missing files, too.
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

/// Returns the visible entries of a folder with this ending, sorted by name.
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

/// Parses a file as an object.
fn object_in(path: &Path) -> Option<JsonObject> {
    let bytes = regular_file::read(path, LONGEST).ok()?;
    RawJson::parse(String::from_utf8(bytes).ok()?).ok()?.to_object().ok()
}

/// Checks whether a path ends like a pattern, below any project or home directory.
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
