//! The user's agent files: `hooks/agents/NAME.toml` in the folder of the user's settings.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use hook_files::{regular_file, user_folders};

use super::{AgentFileProblem, MAX_AGENT_FILE, read_agent};
use crate::table::Agent;

/// The maximum number of files that are read.
const MAX_FILES: usize = 64;

/// An agent file that defines no agent.
#[derive(Debug, Clone)]
pub struct BrokenAgentFile {
    /// The name of the agent: that of the file.
    pub name: String,
    /// The file.
    pub path: PathBuf,
    /// The mistakes. The first one explains it.
    pub problems: Vec<AgentFileProblem>,
}

/// The agents of the user's files.
#[derive(Debug, Default)]
pub(crate) struct UserAgents {
    pub(crate) agents: Vec<&'static Agent>,
    pub(crate) broken: Vec<BrokenAgentFile>,
}

/// Returns the folder of the user's agent files.
pub fn agent_folder() -> Option<PathBuf> {
    user_folders::config_home().map(|folder| folder.join("hooks").join("agents"))
}

/// Returns the agents of the user's files, which are read once.
pub(crate) fn user_agents(is_shipped: fn(&str) -> bool) -> &'static UserAgents {
    static AGENTS: OnceLock<UserAgents> = OnceLock::new();
    AGENTS.get_or_init(|| {
        agent_folder().map_or_else(UserAgents::default, |folder| read(&folder, is_shipped))
    })
}

fn read(folder: &Path, is_shipped: fn(&str) -> bool) -> UserAgents {
    let Ok(listed) = std::fs::read_dir(folder) else { return UserAgents::default() };
    let paths = listed.flatten().map(|entry| entry.path());
    let mut paths: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|it| it == "toml")).collect();
    paths.sort();
    let mut found = UserAgents::default();
    for (index, path) in paths.into_iter().enumerate() {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let result = if index < MAX_FILES {
            read_file(&path, &name, is_shipped)
        } else {
            Err(vec![at_start(format!("more than {MAX_FILES} agent files; it is not read"))])
        };
        match result {
            Ok(agent) => found.agents.push(Box::leak(Box::new(agent))),
            Err(problems) => found.broken.push(BrokenAgentFile { name, path, problems }),
        }
    }
    found
}

fn read_file(
    path: &Path,
    name: &str,
    is_shipped: fn(&str) -> bool,
) -> Result<Agent, Vec<AgentFileProblem>> {
    let bytes = regular_file::read(path, MAX_AGENT_FILE)
        .map_err(|error| vec![at_start(error.to_string())])?;
    let text =
        String::from_utf8(bytes).map_err(|_| vec![at_start("it is not UTF-8".to_owned())])?;
    let agent = read_agent(&text)?;
    match agent.name {
        own if own != name => {
            let message = format!("the agent is called `{own}`; name its file {own}.toml");
            Err(vec![at_start(message)])
        }
        own if is_shipped(own) => {
            let message =
                format!("`{own}` is part of `hook` and cannot be defined anew; take another name");
            Err(vec![at_start(message)])
        }
        _ => Ok(agent),
    }
}

fn at_start(message: String) -> AgentFileProblem {
    AgentFileProblem { line: 1, column: 1, message }
}
