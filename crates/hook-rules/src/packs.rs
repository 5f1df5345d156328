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

macro_rules! packs {
    ($($name:literal $about:literal;)+) => {
        /// All packs, by name.
        pub const PACKS: &[Pack] = &[$(Pack {
            name: $name,
            about: $about,
            rules: include_str!(concat!("../packs/", $name, "/rules.toml")),
            others: &[],
            readme: include_str!(concat!("../packs/", $name, "/README.md")),
        },)+];
    };
}

packs! {
    "cloud" "deleting cloud resources, clusters, containers and backups";
    "databases" "dropping tables and databases, deleting without a condition, wiping caches";
    "git-safety" "force pushes, discarded changes, deleted branches, rewritten history";
    "publish" "publishing packages and releases, deploying to production";
    "secrets" "reading, printing, sending and committing secrets";
    "self-guard" "changing what guards the agent: hooks, rules, agents' settings, git hooks";
    "shell-safety" "deleting outside of the project, disks, permissions, users, services, remote shells";
    "stay-inside" "writing and deleting outside of the project";
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
