//! The paths of agents' settings files.

use std::path::{Component, Path, PathBuf};

use hook_files::regular_file;
use hook_json::{JsonObject, RawJson};
use hook_settings::language::{ForeignSource, SettingsOwner};

/// The maximum size of a plugin list, in bytes.
const MAX_LIST_BYTES: u64 = 4 << 20;

/// The maximum number of plugins read from one folder.
const MAX_PLUGINS: usize = 512;

/// The maximum number of hook files of a plugin.
const MAX_FILES: usize = 64;

/// The paths of one agent's settings. A leading `*` in a name stands for any text, and a folder `*`
/// for any folder.
#[derive(Debug)]
pub(super) struct SettingsPaths {
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

impl SettingsPaths {
    /// Returns the user's folder.
    pub(super) fn user_folder(&self, home: &Path) -> PathBuf {
        let named = self.variable.and_then(std::env::var_os).map(PathBuf::from);
        let named = named.filter(|folder| folder.is_absolute());
        named.unwrap_or_else(|| home.join(self.folder))
    }

    /// Returns the paths of all possible hook files.
    pub(super) fn sources(&self, projects: &[PathBuf], home: Option<&Path>) -> Vec<ForeignSource> {
        let mut sources = Vec::new();
        let mut add = |paths: Vec<PathBuf>, owner: &SettingsOwner, plugin_root: Option<&Path>| {
            sources.extend(paths.into_iter().map(|path| ForeignSource {
                path,
                owner: owner.clone(),
                plugin_root: plugin_root.map(Path::to_path_buf),
            }));
        };
        let user_folder = home.map(|home| self.user_folder(home));
        // Later files have precedence.
        let settings_of = |folder: &Path, patterns: &[&str]| {
            let files = patterns.iter().rev().flat_map(|path| matching_paths(folder, path));
            files.filter_map(|path| read_object(&path)).collect::<Vec<_>>()
        };
        // A project may be untrusted, so its settings only affect its own plugins.
        let (mut user_settings, mut project_settings): (Vec<JsonObject>, Vec<JsonObject>) =
            Default::default();
        if self.plugins.as_ref().is_some_and(|plugins| plugins.enabled.is_some()) {
            user_settings.extend(user_folder.iter().flat_map(|user| settings_of(user, self.user)));
            project_settings.extend(
                projects.iter().rev().flat_map(|project| settings_of(project, self.project)),
            );
        }
        for project in projects {
            let owner = SettingsOwner::Project(project.clone());
            for path in self.project {
                add(matching_paths(project, path), &owner, None);
            }
            let Some(plugins) = &self.plugins else { continue };
            let folder = project.join(self.folder);
            for root in matching_paths(&folder, plugins.folders) {
                if plugins.is_enabled(&root, &project_settings)
                    && plugins.is_enabled(&root, &user_settings)
                {
                    add(plugins.hook_files(&root), &owner, Some(&root));
                }
            }
        }
        if let Some(user) = &user_folder {
            for path in self.user {
                add(matching_paths(user, path), &SettingsOwner::User, None);
            }
            for root in self
                .plugins
                .iter()
                .flat_map(|plugins| plugins.enabled_folders(user, &user_settings))
            {
                let files = self.plugins.as_ref().map(|plugins| plugins.hook_files(&root));
                add(files.unwrap_or_default(), &SettingsOwner::User, Some(&root));
            }
        }
        for path in self.system {
            add(matching_paths(Path::new("/"), path), &SettingsOwner::System, None);
        }
        sources
    }
}

impl Plugins {
    /// Returns the folders of the user's enabled plugins.
    fn enabled_folders(&self, user: &Path, settings: &[JsonObject]) -> Vec<PathBuf> {
        let mut roots = matching_paths(user, self.folders);
        roots.retain(|root| self.is_enabled(root, settings));
        let installed = self.installed.and_then(|file| read_object(&user.join(file)));
        let plugins = installed.and_then(|list| list.get("plugins")?.to_object().ok());
        for (name, plugin) in plugins.iter().flat_map(JsonObject::iter).take(MAX_PLUGINS) {
            // A list of copies, or a single one in earlier formats.
            let copies = plugin.to_items().unwrap_or_else(|| vec![plugin.clone()]);
            let path = |copy: &RawJson| copy.to_object().ok()?.get("installPath")?.to_text();
            let copies = copies.iter().filter_map(path).map(PathBuf::from);
            if self.enabled_setting(name, settings) == Some(true) {
                roots.extend(copies.filter(|path| path.is_absolute()));
            }
        }
        roots.sort();
        roots.dedup();
        roots
    }

    /// Checks whether a plugin in a folder is enabled, which is the default.
    fn is_enabled(&self, root: &Path, settings: &[JsonObject]) -> bool {
        let name = root.file_name().and_then(|name| name.to_str());
        name.and_then(|name| self.enabled_setting(name, settings)).unwrap_or(true)
    }

    /// Returns the settings' value for a plugin.
    fn enabled_setting(&self, name: &str, settings: &[JsonObject]) -> Option<bool> {
        let key = self.enabled?;
        settings.iter().rev().find_map(|file| file.get(key)?.to_object().ok()?.get(name)?.to_bool())
    }

    /// Returns the hook files of a plugin.
    fn hook_files(&self, root: &Path) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> = self.files.iter().map(|file| root.join(file)).collect();
        let manifest = root.join(self.manifest);
        if let Some(hooks) = read_object(&manifest).and_then(|object| object.get("hooks").cloned())
        {
            let entries = hooks.to_items().unwrap_or_else(|| vec![hooks]);
            for entry in entries.into_iter().take(MAX_FILES) {
                match entry.to_text() {
                    // A plugin cannot name files outside of its folder.
                    Some(path) => files.extend(is_inside(&path).then(|| root.join(&path))),
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
fn is_inside(path: &str) -> bool {
    let mut parts = Path::new(path).components();
    parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

/// Returns the paths below a folder that match. A pattern without `*` matches missing files, too.
fn matching_paths(folder: &Path, pattern: &str) -> Vec<PathBuf> {
    let mut paths = vec![folder.to_path_buf()];
    for part in pattern.split('/') {
        match part.strip_prefix('*') {
            None => paths.iter_mut().for_each(|path| path.push(part)),
            Some(suffix) => {
                paths = paths.iter().flat_map(|path| entries(path, suffix)).collect();
            }
        }
    }
    paths
}

/// Returns the visible entries of a folder with this ending, sorted by name.
fn entries(folder: &Path, suffix: &str) -> Vec<PathBuf> {
    let listed = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let visible = listed.filter(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        !name.starts_with('.') && name.ends_with(suffix)
    });
    let mut paths: Vec<PathBuf> = visible.map(|entry| entry.path()).take(MAX_PLUGINS).collect();
    paths.sort();
    paths
}

/// Parses a file as an object.
fn read_object(path: &Path) -> Option<JsonObject> {
    let bytes = regular_file::read(path, MAX_LIST_BYTES).ok()?;
    RawJson::parse(String::from_utf8(bytes).ok()?).ok()?.to_object().ok()
}

/// Checks whether a path ends like a pattern, below any project or home directory.
pub(super) fn ends_with_pattern(path: &Path, pattern: &str) -> bool {
    let parts: Vec<_> = path.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    let pattern_parts: Vec<&str> = pattern.split('/').collect();
    let tail = parts.len().checked_sub(pattern_parts.len()).and_then(|index| parts.get(index..));
    tail.is_some_and(|tail| {
        let mut pairs = tail.iter().zip(&pattern_parts);
        pairs.all(|(part, expected)| match expected.strip_prefix('*') {
            Some(suffix) => part.ends_with(suffix),
            None => part == expected,
        })
    })
}
