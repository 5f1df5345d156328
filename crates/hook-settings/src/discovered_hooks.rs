//! Hooks found in folders next to a settings file: modules in `modules`, and hook files in `pre`
//! and `post` (docs/modules.md).

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::definition::HookEntry;
use super::diagnostic::{Diagnostic, Location};
use super::file::{Reader, parse_source};
use super::folders::{
    EXTENSIONS, HOOK_FILES, MODULES, OMP, files, folder_of, indexes, is_absence, is_module,
    is_script, module_path, omp_folders, skipped_folders,
};
use super::matcher_definition::{MatcherDefinition, MatcherFields};
use super::paths::project_of;
use super::rule::Rule;
use super::source::{HookSource, SettingsSource};
use hook_files::plain_path::absolute;
use hook_files::program::is_executable;
use hook_protocol::event::{EventDefinition, HookEventName};

impl Reader<'_> {
    /// Adds the hooks found next to the file, then the modules named in `hooksConfig`.
    pub(super) fn add_discovered(&mut self) {
        if let Some(folder) = folder_of(&self.file.source, self.file.path.as_deref()) {
            for path in self.files_of(&folder.join(MODULES)) {
                if is_module(&path) {
                    self.add_module(&path);
                } else if is_script(&path) {
                    let endings = EXTENSIONS.join(", .");
                    self.report_unused(
                        &path,
                        &format!("a module is a file that ends in .{endings}"),
                    );
                }
            }
            for path in indexes(&folder.join(MODULES)) {
                self.report_unused(
                    &path,
                    "a module is a file right in the folder; this one is none by itself",
                );
            }
            self.add_hook_files(&folder, None);
            let mut agents = self.file.config.agents.iter().chain(&*self.agents);
            if agents.any(|agent| agent == OMP) {
                for folder in self.file.path.as_deref().map(omp_folders).unwrap_or_default() {
                    self.add_hook_files(&folder, Some(OMP));
                }
            }
        }
        for module in self.file.config.modules.clone() {
            let path = module_path(&module, &self.file.source, self.file.path.as_deref());
            let location = match self.is_list_of_modules {
                true => Location::of_file(&path),
                false => self.file.path.as_ref().map(Location::of_file).unwrap_or_default(),
            };
            self.push_module(path, module, location);
        }
    }

    /// Reports a file that does not run although it may be meant to.
    fn report_unused(&mut self, path: &Path, reason: &str) {
        let message = format!("{reason}; it was skipped");
        self.document.push(Diagnostic::new(Rule::UnusedFile, Location::of_file(path), message));
    }

    /// Returns the files of a folder. Reports an unreadable one, since it may contain guards.
    fn files_of(&mut self, folder: &Path) -> Vec<PathBuf> {
        match files(folder) {
            Ok(files) => files,
            Err(error) if is_absence(&error) => Vec::new(),
            Err(error) => {
                let message = format!("failed to read the folder: {error}; none of its hooks run");
                let location = Location::of_file(folder);
                self.document.push(Diagnostic::new(Rule::UnreadableFile, location, message));
                Vec::new()
            }
        }
    }

    /// Returns the displayed path of a file, relative to the project's directory.
    pub(super) fn shown(&mut self, path: &Path) -> Option<String> {
        let project = self.file.path.as_deref().filter(|_| self.file.source == HookSource::Project);
        let project = project.and_then(project_of);
        let shown = project.and_then(|base| path.strip_prefix(base).ok()).unwrap_or(path);
        let text = shown.to_str().filter(|text| !text.contains(hook_json::text::is_hidden));
        if text.is_none() {
            let message = "the name of the file is no plain text; it was skipped";
            let place = Location::of_file(path);
            self.document.push(Diagnostic::new(Rule::UnusedFile, place, message));
        }
        text.map(str::to_owned)
    }

    fn add_module(&mut self, path: &Path) {
        if let Some(shown) = self.shown(path) {
            self.push_module(absolute(path), shown, Location::of_file(path));
        }
    }

    fn push_module(&mut self, path: PathBuf, shown: String, location: Location) {
        let Some(wildcard) = EventDefinition::wildcard() else { return };
        let mut hook = self.new_hook(wildcard, location);
        hook.command = shown;
        hook.module = Some(path);
        hook.worker = Some(super::definition::WorkerRules::default());
        self.file.hooks.push(hook);
    }

    /// Adds the hook files of a folder; in an agent's language if one is given.
    fn add_hook_files(&mut self, folder: &Path, agent: Option<&str>) {
        for (name, event) in HOOK_FILES {
            for path in skipped_folders(&folder.join(name)) {
                self.report_unused(&path, "hooks are files right in the folder");
            }
            for path in self.files_of(&folder.join(name)) {
                let before = self.file.hooks.len();
                self.add_hook_file(&path, event, agent);
                let stem = path.file_stem().map(OsStr::to_string_lossy).unwrap_or_default();
                // Only files for the same tool shadow each other; names of modules mean nothing.
                let Some(tool) = self.native_tool(agent, event, &stem) else { continue };
                let ending = path.extension().map(OsStr::to_string_lossy).unwrap_or_default();
                let purpose: Arc<str> = format!("{name}:{tool}:{ending}").into();
                for hook in
                    self.file.hooks.iter_mut().skip(before).filter(|hook| hook.module.is_none())
                {
                    hook.purpose = Some(Arc::clone(&purpose));
                }
            }
        }
    }

    /// Returns the native name of the tool that an agent's hook file is named after; `None` if the
    /// agent has no such tool.
    fn native_tool(&self, agent: Option<&str>, event: HookEventName, name: &str) -> Option<String> {
        let Some(agent) = agent else { return Some(name.to_owned()) };
        self.languages.get(agent)?.native_tool(foreign_event(event), name)
    }

    fn add_hook_file(&mut self, path: &Path, event: HookEventName, agent: Option<&str>) {
        if is_executable(path) {
            let Some(shown) = self.shown(path) else { return };
            let Some(tool) = path.file_stem().and_then(OsStr::to_str) else { return };
            let is_in_project = Path::new(&shown).is_relative();
            let tool = (tool != "*").then_some(tool);
            let location = Location::of_file(path);
            let mut hook = match agent {
                None => {
                    let mut hook = self.new_hook(event, location);
                    // Matches the exact name, not a pattern.
                    let matcher = tool.map(|tool| MatcherFields::new().tool(tool));
                    hook.matcher = matcher.map(|fields| MatcherDefinition::from(fields).into());
                    hook.command = match is_in_project {
                        true => format!("\"$HOOK_PROJECT_DIR\"/{}", quoted(&shown)),
                        false => quoted(&shown),
                    };
                    hook
                }
                Some(agent) => {
                    let Some(hook) = self.foreign_hook(agent, path, event, tool) else { return };
                    HookEntry { location, ..hook }
                }
            };
            hook.name = Some(shown);
            self.file.hooks.push(hook);
        } else if is_module(path) {
            self.add_module(path);
        } else {
            let message = "the file can neither be executed nor is it a module; it was skipped";
            let place = Location::of_file(path);
            self.document.push(Diagnostic::new(Rule::UnusedFile, place, message));
        }
    }

    /// Returns a hook file that uses an agent's input and output format.
    fn foreign_hook(
        &self,
        agent: &str,
        path: &Path,
        event: HookEventName,
        tool: Option<&str>,
    ) -> Option<HookEntry> {
        let command = quoted(path.to_str()?);
        let name = foreign_event(event);
        let mut definition = serde_json::json!({"language": agent,
            "hooks": [{"type": "command", "command": command}]});
        if let Some(tool) = tool {
            // Plain names are literal in that agent's matchers; others must be escaped.
            let is_name = tool.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            definition["matcher"] = match is_name {
                true => tool.into(),
                false => format!("^{}$", fancy_regex::escape(tool)).into(),
            };
        }
        let text = serde_json::json!({"hooks": {name: [definition]}}).to_string();
        let source = SettingsSource::optional(self.file.source.clone(), path)
            .with_languages(&self.languages);
        let read = parse_source(&text, &source, &self.events).hooks.into_iter().next()?;
        let (config, fail_behavior) =
            (Arc::clone(&self.file.config), self.file.config.fail_behavior);
        Some(HookEntry { config, fail_behavior, ..read })
    }

    /// Returns a hook with the defaults of its file.
    fn new_hook(&self, event: HookEventName, location: Location) -> HookEntry {
        HookEntry::of_file(event, &self.file.config, location)
    }
}

/// Returns the agent's name for an event of hook files.
fn foreign_event(event: HookEventName) -> &'static str {
    if event == HookEventName::BeforeTool { "tool_call" } else { "tool_result" }
}

/// Quotes a path as one shell word.
fn quoted(path: &str) -> String {
    format!("'{}'", path.replace('\'', "'\\''"))
}
