//! Packs that are part of the engine: files of rules, each with its page.

use std::borrow::Cow;

/// A pack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pack {
    /// The name, as in `hook add NAME`.
    pub name: &'static str,
    /// A sentence about what it refuses.
    pub about: &'static str,
    /// The file of rules.
    pub rules: &'static str,
    /// Its other files: hooks and their scripts.
    pub others: &'static [(&'static str, &'static str)],
    /// The page: what it refuses, what not, known false alarms.
    pub readme: &'static str,
}

macro_rules! pack_file {
    ($name:literal, $path:literal) => {
        include_str!(concat!("../packs/", $name, "/", $path))
    };
}

macro_rules! packs {
    (@rules $name:literal) => { "" };
    (@rules $name:literal $rules:literal) => { pack_file!($name, $rules) };
    ($($name:literal $about:literal $(rules $rules:literal)? $(, $other:literal)*;)+) => {
        /// All packs, by name.
        pub const PACKS: &[Pack] = &[$(Pack {
            name: $name,
            about: $about,
            rules: packs!(@rules $name $($rules)?),
            others: &[$(($other, pack_file!($name, $other)),)*],
            readme: pack_file!($name, "README.md"),
        },)+];
    };
}

packs! {
    "cloud" "deleting cloud resources, clusters, containers and backups" rules "rules.toml";
    "databases" "dropping tables and databases, deleting without a condition, wiping caches" rules "rules.toml";
    "format-on-edit" "formats what a tool wrote, with the project's formatter", "hooks/hooks.json", "scripts/format.sh";
    "git-safety" "force pushes, discarded changes, deleted branches, rewritten history" rules "rules.toml";
    "notify" "tells you on the desktop and by the bell when an agent waits or is done", "hooks/hooks.json", "scripts/notify.sh";
    "publish" "publishing packages and releases, deploying to production" rules "rules.toml";
    "secrets" "reading, printing, sending and committing secrets" rules "rules.toml";
    "self-guard" "changing what guards the agent: hooks, rules, agents' settings, git hooks" rules "rules.toml";
    "shell-safety" "deleting outside of the project, disks, permissions, users, services, remote shells" rules "rules.toml";
    "stay-inside" "writing and deleting outside of the project" rules "rules.toml";
}

impl Pack {
    /// Returns the files of the pack in the form of all packs, with their paths.
    pub fn files(&self) -> Vec<(String, Cow<'static, str>)> {
        let manifest = format!(
            "{{\n  \"name\": \"{}\",\n  \"version\": \"{}\",\n  \"description\": \"{}\"\n}}\n",
            self.name,
            env!("CARGO_PKG_VERSION"),
            self.about
        );
        let mut files = vec![
            (".plugin/plugin.json".to_owned(), manifest.into()),
            ("README.md".to_owned(), self.readme.into()),
        ];
        if !self.rules.is_empty() {
            files.push((format!("rules/{}.toml", self.name), self.rules.into()));
        }
        files.extend(self.others.iter().map(|(path, text)| ((*path).to_owned(), (*text).into())));
        files
    }
}

/// Returns the pack of a name.
pub fn pack(name: &str) -> Option<&'static Pack> {
    PACKS.iter().find(|pack| pack.name == name)
}
