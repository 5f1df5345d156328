//! What one file of an agent says for the hooks of all of them: the switch that puts them off, and the lists
//! of where they may post.
//!
//! At home the file with the highest precedence that says it is right: the machine's, a project's local one,
//! its shared one, the user's. The lists of all are one. A project that is not trusted has no such say there,
//! since no hooks run; here it has none over the hooks of others, unless its file was named.

use hook_core::language::{ForeignFile, OtherFile};
use hook_core::text::PathText;
use hook_core::{JsonObject, RawJson};

use super::kind::HttpSettings;
use super::places;
use super::written::{self, Comments};

const SWITCH: &str = "disableAllHooks";

/// What holds for the hooks of one file.
#[derive(Debug, Default)]
pub(super) struct InForce {
    /// Whether none of them run.
    pub(super) is_off: bool,
    /// The file that says so, where it is another one.
    pub(super) off_by: Option<String>,
    /// Whether the file puts off hooks of others at home, and not here.
    pub(super) reaches_less: bool,
    /// Where they may post.
    pub(super) http: HttpSettings,
}

/// Whose a file is; the first has the highest precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Owner {
    Machine,
    Local,
    Project,
    User,
}

impl Owner {
    fn of(is_machines: bool, is_users: bool, path: Option<&std::path::Path>) -> Self {
        let is_local =
            path.is_some_and(|path| places::ends_like(path, ".claude/settings.local.json"));
        match () {
            () if is_machines => Self::Machine,
            () if is_users => Self::User,
            () if is_local => Self::Local,
            () => Self::Project,
        }
    }

    fn is_projects(self) -> bool {
        matches!(self, Self::Local | Self::Project)
    }
}

/// A file that says something for others.
#[derive(Debug)]
struct Voice {
    owner: Owner,
    /// Naming a file is consent to all that it says.
    is_named: bool,
    /// The other file that it is.
    name: Option<String>,
    fields: JsonObject,
}

impl Voice {
    fn of(other: &OtherFile<'_>, comments: Comments) -> Option<Self> {
        let text = written::without_comments(other.text, comments);
        let fields = RawJson::parse(&*text).ok()?.to_object().ok()?;
        Some(Self {
            owner: Owner::of(other.is_machines, other.is_users, Some(other.path)),
            is_named: other.is_named,
            name: Some(other.path.shown().to_string()),
            fields,
        })
    }

    fn says(&self, name: &str) -> Option<bool> {
        self.fields.get(name).and_then(RawJson::to_bool)
    }

    /// Whether what it says against hooks holds for those of that owner.
    fn binds(&self, owner: Owner) -> bool {
        self.is_named || !self.owner.is_projects() || owner.is_projects()
    }
}

/// What holds for a file that says this itself.
pub(super) fn in_force(file: &ForeignFile<'_>, own: &JsonObject, comments: Comments) -> InForce {
    let owner = Owner::of(file.is_machines, file.is_users, file.path);
    let mut voices: Vec<Voice> =
        file.others.iter().filter_map(|it| Voice::of(it, comments)).collect();
    // Plugins have no such say, even of themselves.
    if file.plugin_root.is_none() {
        let is_named = file.is_named;
        voices.insert(0, Voice { owner, is_named, name: None, fields: own.clone() });
    }
    voices.sort_by_key(|voice| voice.owner);
    let off_by = off_by(&voices, owner);
    let says_off =
        file.plugin_root.is_none() && own.get(SWITCH).and_then(RawJson::to_bool) == Some(true);
    InForce {
        is_off: off_by.is_some(),
        off_by: off_by.and_then(|voice| voice.name.clone()),
        reaches_less: says_off && owner.is_projects() && file.is_found && !file.is_named,
        http: HttpSettings {
            urls: list(&voices, owner, |settings| settings.urls),
            variables: list(&voices, owner, |settings| settings.variables),
        },
    }
}

/// The file that puts hooks of that owner off, if one does.
fn off_by(voices: &[Voice], owner: Owner) -> Option<&Voice> {
    let of_machine = || voices.iter().filter(|voice| voice.owner == Owner::Machine);
    // What the machine says is said for all.
    if let Some(voice) = of_machine().find(|voice| voice.says(SWITCH).is_some()) {
        return Some(voice).filter(|voice| voice.says(SWITCH) == Some(true));
    }
    if owner == Owner::Machine {
        return None;
    }
    let only = of_machine().find(|voice| voice.says("allowManagedHooksOnly") == Some(true));
    let first = || {
        let mut others = voices.iter().filter(|voice| match voice.says(SWITCH) {
            Some(true) => voice.binds(owner),
            Some(false) => true,
            None => false,
        });
        others.next().filter(|voice| voice.says(SWITCH) == Some(true))
    };
    only.or_else(first)
}

/// One list of all, where one of those that bind the owner has such.
fn list(
    voices: &[Voice],
    owner: Owner,
    of: impl Fn(HttpSettings) -> Option<Vec<String>>,
) -> Option<Vec<String>> {
    let lists: Vec<(bool, Vec<String>)> = voices
        .iter()
        .filter_map(|voice| Some((voice.binds(owner), of(HttpSettings::of(&voice.fields))?)))
        .collect();
    lists.iter().any(|(binds, _)| *binds).then(|| {
        let mut all: Vec<String> = lists.into_iter().flat_map(|(_, list)| list).collect();
        all.sort();
        all.dedup();
        all
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use hook_core::Events;

    use super::*;

    const MACHINE: &str = "/etc/claude-code/managed-settings.json";
    const LOCAL: &str = "/p/.claude/settings.local.json";
    const PROJECT: &str = "/p/.claude/settings.json";
    const USER: &str = "/h/.claude/settings.json";

    fn fields(text: &str) -> JsonObject {
        RawJson::parse(text).unwrap().to_object().unwrap()
    }

    /// What holds for a file, where these say that.
    fn holds(path: &str, files: &[(&str, &str)], is_named: bool) -> InForce {
        let events = Events::built_in();
        let others = files.iter().filter(|(other, _)| *other != path);
        let others: Vec<OtherFile<'_>> = others
            .map(|(path, text)| OtherFile {
                path: Path::new(path),
                text,
                is_users: *path == USER && !is_named,
                is_machines: *path == MACHINE,
                is_named,
            })
            .collect();
        let file = ForeignFile {
            path: Some(Path::new(path)),
            plugin_root: None,
            is_users: path == USER && !is_named,
            is_machines: path == MACHINE,
            is_named,
            is_found: !is_named,
            events: &events,
            others: &others,
        };
        let own = files.iter().find(|(other, _)| *other == path).map_or("{}", |(_, text)| text);
        in_force(&file, &fields(own), Comments::None)
    }

    #[test]
    fn the_first_that_says_it_is_right_within_its_reach() {
        let (off, on) = (r#"{"disableAllHooks": true}"#, r#"{"disableAllHooks": false}"#);
        let all = [MACHINE, LOCAL, PROJECT, USER];
        let only = r#"{"allowManagedHooksOnly": true}"#;
        // For each file, in that order, whether its hooks are off.
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
            // Only the machine's may say that.
            (&[(PROJECT, only), (USER, only)], [false, false, false, false]),
        ] {
            let found = all.map(|path| holds(path, files, false).is_off);
            assert_eq!(found, expected, "{files:?}");
        }
        // Naming a file is consent.
        assert!(holds(USER, &[(PROJECT, off)], true).is_off);
        assert!(holds(PROJECT, &[(PROJECT, off)], false).reaches_less);
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
