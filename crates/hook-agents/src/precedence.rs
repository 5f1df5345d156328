//! The settings of one file that apply to the hooks of others: the switch that disables hooks, and
//! the lists for `http` hooks.
//!
//! In the agent itself, the value of the file with the highest precedence counts: the machine's, a
//! project's local file, its shared file, the user's. Lists are merged. An untrusted project runs
//! no hooks there; here its switch only affects its own hooks, unless its file was named.

use hook_json::text::PathText;
use hook_json::{JsonObject, RawJson};
use hook_settings::language::{ForeignFile, OtherFile};

use super::kind::HttpSettings;
use super::paths;
use super::syntax::{self, Comments};

const SWITCH: &str = "disableAllHooks";

/// The effective settings for the hooks of one file.
#[derive(Debug, Default)]
pub(super) struct EffectiveSettings {
    /// `true` if none of them run.
    pub(super) is_disabled: bool,
    /// The other file that disables them, if any.
    pub(super) disabled_by: Option<String>,
    /// `true` if the file disables hooks of others in the agent, but not here.
    pub(super) has_reduced_scope: bool,
    /// The rules for `http` hooks.
    pub(super) http: HttpSettings,
}

/// The owner of a file, by descending precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Owner {
    Machine,
    Local,
    Project,
    User,
}

impl Owner {
    fn of(is_machine_owned: bool, is_user_owned: bool, path: Option<&std::path::Path>) -> Self {
        let is_local =
            path.is_some_and(|path| paths::ends_with_pattern(path, ".claude/settings.local.json"));
        match () {
            () if is_machine_owned => Self::Machine,
            () if is_user_owned => Self::User,
            () if is_local => Self::Local,
            () => Self::Project,
        }
    }

    fn is_project_owned(self) -> bool {
        matches!(self, Self::Local | Self::Project)
    }
}

/// A file whose settings apply to others.
#[derive(Debug)]
struct SettingsLayer {
    owner: Owner,
    /// A file that the user named is trusted in all its settings.
    is_named: bool,
    /// The path; `None` for the file itself.
    name: Option<String>,
    fields: JsonObject,
}

impl SettingsLayer {
    fn of(other: &OtherFile<'_>, comments: Comments) -> Option<Self> {
        let text = syntax::without_comments(other.text, comments);
        let fields = RawJson::parse(&*text).ok()?.to_object().ok()?;
        Some(Self {
            owner: Owner::of(other.is_system, other.is_user, Some(other.path)),
            is_named: other.is_explicit,
            name: Some(other.path.shown().to_string()),
            fields,
        })
    }

    fn flag(&self, name: &str) -> Option<bool> {
        self.fields.get(name).and_then(RawJson::to_bool)
    }

    /// Checks whether its restrictions apply to hooks of an owner.
    fn applies_to(&self, owner: Owner) -> bool {
        self.is_named || !self.owner.is_project_owned() || owner.is_project_owned()
    }
}

/// Returns the effective settings for a file with these fields.
pub(super) fn effective_settings(
    file: &ForeignFile<'_>,
    own_fields: &JsonObject,
    comments: Comments,
) -> EffectiveSettings {
    let owner = Owner::of(file.is_system, file.is_user, file.path);
    let mut layers: Vec<SettingsLayer> =
        file.others.iter().filter_map(|other| SettingsLayer::of(other, comments)).collect();
    // Plugins cannot disable hooks, not even their own.
    if file.plugin_root.is_none() {
        let is_named = file.is_explicit;
        layers.insert(0, SettingsLayer { owner, is_named, name: None, fields: own_fields.clone() });
    }
    layers.sort_by_key(|layer| layer.owner);
    let disabled_by = disabled_by(&layers, owner);
    let disables_all = file.plugin_root.is_none()
        && own_fields.get(SWITCH).and_then(RawJson::to_bool) == Some(true);
    EffectiveSettings {
        is_disabled: disabled_by.is_some(),
        disabled_by: disabled_by.and_then(|layer| layer.name.clone()),
        has_reduced_scope: disables_all
            && owner.is_project_owned()
            && file.is_discovered
            && !file.is_explicit,
        http: HttpSettings {
            urls: merged_list(&layers, owner, |settings| settings.urls),
            variables: merged_list(&layers, owner, |settings| settings.variables),
        },
    }
}

/// Returns the file that disables hooks of an owner, if any.
fn disabled_by(layers: &[SettingsLayer], owner: Owner) -> Option<&SettingsLayer> {
    let machine_layers = || layers.iter().filter(|layer| layer.owner == Owner::Machine);
    // The machine's setting applies to all.
    if let Some(layer) = machine_layers().find(|layer| layer.flag(SWITCH).is_some()) {
        return Some(layer).filter(|layer| layer.flag(SWITCH) == Some(true));
    }
    if owner == Owner::Machine {
        return None;
    }
    let managed_only =
        machine_layers().find(|layer| layer.flag("allowManagedHooksOnly") == Some(true));
    let first = || {
        let mut deciding = layers.iter().filter(|layer| match layer.flag(SWITCH) {
            Some(true) => layer.applies_to(owner),
            Some(false) => true,
            None => false,
        });
        deciding.next().filter(|layer| layer.flag(SWITCH) == Some(true))
    };
    managed_only.or_else(first)
}

/// Merges the lists of all files, if one of them applies to the owner.
fn merged_list(
    layers: &[SettingsLayer],
    owner: Owner,
    list_of: impl Fn(HttpSettings) -> Option<Vec<String>>,
) -> Option<Vec<String>> {
    let lists: Vec<(bool, Vec<String>)> = layers
        .iter()
        .filter_map(|layer| {
            Some((layer.applies_to(owner), list_of(HttpSettings::of(&layer.fields))?))
        })
        .collect();
    lists.iter().any(|(applies_to, _)| *applies_to).then(|| {
        let mut all: Vec<String> = lists.into_iter().flat_map(|(_, list)| list).collect();
        all.sort();
        all.dedup();
        all
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use hook_protocol::Events;

    use super::*;

    const MACHINE: &str = "/etc/claude-code/managed-settings.json";
    const LOCAL: &str = "/p/.claude/settings.local.json";
    const PROJECT: &str = "/p/.claude/settings.json";
    const USER: &str = "/h/.claude/settings.json";

    fn fields(text: &str) -> JsonObject {
        RawJson::parse(text).unwrap().to_object().unwrap()
    }

    /// Returns the effective settings of a file among these.
    fn holds(path: &str, files: &[(&str, &str)], is_named: bool) -> EffectiveSettings {
        let events = Events::built_in();
        let others = files.iter().filter(|(other, _)| *other != path);
        let others: Vec<OtherFile<'_>> = others
            .map(|(path, text)| OtherFile {
                path: Path::new(path),
                text,
                is_user: *path == USER && !is_named,
                is_system: *path == MACHINE,
                is_explicit: is_named,
            })
            .collect();
        let file = ForeignFile {
            path: Some(Path::new(path)),
            plugin_root: None,
            is_user: path == USER && !is_named,
            is_system: path == MACHINE,
            is_explicit: is_named,
            is_discovered: !is_named,
            events: &events,
            others: &others,
        };
        let own = files.iter().find(|(other, _)| *other == path).map_or("{}", |(_, text)| text);
        effective_settings(&file, &fields(own), Comments::None)
    }

    #[test]
    fn the_first_that_says_it_is_right_within_its_reach() {
        let (off, on) = (r#"{"disableAllHooks": true}"#, r#"{"disableAllHooks": false}"#);
        let all = [MACHINE, LOCAL, PROJECT, USER];
        let only = r#"{"allowManagedHooksOnly": true}"#;
        // Whether hooks are off, for each file in that order.
        for (files, expected) in [
            (&[][..], [false, false, false, false]),
            (&[(USER, off)], [false, true, true, true]),
            (&[(PROJECT, off)], [false, true, true, false]),
            (&[(LOCAL, off)], [false, true, true, false]),
            (&[(LOCAL, on), (PROJECT, off)], [false, false, false, false]),
            (&[(PROJECT, on), (USER, off)], [false, false, false, false]),
            (&[(PROJECT, off), (USER, on)], [false, true, true, false]),
            (&[(MACHINE, off), (USER, on)], [true, true, true, true]),
            (&[(MACHINE, on), (USER, off), (LOCAL, off)], [false, false, false, false]),
            (&[(MACHINE, only)], [false, true, true, true]),
            // Only the machine's file may set that.
            (&[(PROJECT, only), (USER, only)], [false, false, false, false]),
        ] {
            let found = all.map(|path| holds(path, files, false).is_disabled);
            assert_eq!(found, expected, "{files:?}");
        }
        // Naming a file is consent.
        assert!(holds(USER, &[(PROJECT, off)], true).is_disabled);
        assert!(holds(PROJECT, &[(PROJECT, off)], false).has_reduced_scope);
    }

    #[test]
    fn lists_of_all_are_one_and_a_projects_binds_its_own() {
        let list = |urls: &[&str]| {
            let urls: Vec<RawJson> = urls.iter().map(|url| RawJson::from_text(url)).collect();
            format!("{{\"allowedHttpHookUrls\": {}}}", RawJson::from_items(&urls).as_str())
        };
        let (a, b, none) = (list(&["a"]), list(&["b"]), list(&[]));
        for (files, of_project, of_user) in [
            (&[][..], None, None),
            (&[(USER, &*a)], Some(vec!["a"]), Some(vec!["a"])),
            (&[(PROJECT, &*b)], Some(vec!["b"]), None),
            (&[(USER, &*a), (PROJECT, &*b)], Some(vec!["a", "b"]), Some(vec!["a", "b"])),
            (&[(MACHINE, &*none)], Some(vec![]), Some(vec![])),
            (&[(USER, r#"{"allowedHttpHookUrls": 7}"#)], Some(vec![]), Some(vec![])),
        ] {
            let texts = |list: Vec<&str>| list.into_iter().map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(holds(PROJECT, files, false).http.urls, of_project.map(texts), "{files:?}");
            assert_eq!(holds(USER, files, false).http.urls, of_user.map(texts), "{files:?}");
        }
    }
}
