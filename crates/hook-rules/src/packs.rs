//! Packs that are part of the engine: files of rules, each with its page.

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

/// Returns the pack of a name.
pub fn pack(name: &str) -> Option<&'static Pack> {
    PACKS.iter().find(|pack| pack.name == name)
}
