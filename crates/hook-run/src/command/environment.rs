//! The environment of a hook's process: shell, variables, directories (reference/answers.md).

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use super::direct::DirectCommand;
use crate::nesting::MAX_DEPTH;
use crate::session_env::SessionEnv;
#[cfg(windows)]
use hook_files::program::is_executable;
use hook_files::project_tree::{ProjectTree, SYSTEM_PATH};
use hook_protocol::event::input::EventInput;
use hook_settings::EnvironmentRules;
use hook_settings::language::Launch;
use hook_shell::loaders::{is_forbidden_in_project, is_not_inherited, is_same_name, matches_any};
use hook_shell::{PROJECT_DIRECTORY, is_started_program, started_programs};

const DEPTH: &str = "HOOK_DEPTH";

/// The variable that tells a server that a request comes from inside a running hook.
const RUN_TOKEN: &str = "HOOK_RUN_TOKEN";

/// The variables of one run.
pub(crate) struct RunVariables<'r> {
    pub(crate) depth: &'r str,
    pub(crate) token: &'r str,
    /// The session's variables so far, and the trust rank of the hook.
    pub(crate) session: (&'r SessionEnv, u8),
}

/// The engine's part of a hook's environment, computed once.
#[derive(Debug)]
pub(crate) struct HostEnvironment {
    /// The variables as they are inherited; their `PATH` may lead into a project.
    inherited: Vec<(OsString, OsString)>,
    /// `true` if a `PATH` is inherited as it is.
    keeps_path: bool,
    tree: ProjectTree,
    /// All variables, with `PATH` as it was when a command first ran: its folders list thousands of programs.
    variables: OnceLock<Vec<(OsString, OsString)>>,
    pub(crate) project: PathBuf,
    /// The nesting depth of this engine's hooks.
    pub(crate) depth: u32,
    /// The token of the hook that this engine runs in.
    pub(crate) outer_token: Option<String>,
    /// The host's `NODE_PATH` without the directories of the project.
    pub(crate) node_path: Option<OsString>,
    /// `true` if the hooks are a project's.
    is_project: bool,
}

impl HostEnvironment {
    /// Reduces the host's variables by a source's rules and by the engine's own: no hook starts
    /// with variables that load programs, or with a `PATH` into the project. The rules of a source
    /// that is not a project can allow both.
    pub(crate) fn new(
        variables: impl IntoIterator<Item = (OsString, OsString)>,
        rules: &EnvironmentRules,
        (project, tree): (PathBuf, ProjectTree),
        is_project: bool,
    ) -> Self {
        let (mut depth, mut outer_token, mut node_path) = (1, None, None);
        let mut keeps_path = false;
        let mut kept = Vec::new();
        for (name, value) in variables {
            let text = name.to_string_lossy();
            if is_same_name(&text, DEPTH) {
                // A value that cannot be read may be any depth.
                let outer = value.to_str().and_then(|text| text.parse().ok());
                depth = outer.unwrap_or(MAX_DEPTH).saturating_add(1);
            }
            if is_same_name(&text, RUN_TOKEN) {
                outer_token = value.to_str().map(str::to_owned);
                continue;
            }
            let (is_denied, is_dropped) =
                (matches_any(&text, &rules.deny), is_not_inherited(&text));
            let is_allowed = matches_any(&text, &rules.allow);
            keeps_path |= is_allowed && !is_project && is_same_name(&text, "PATH");
            if is_same_name(&text, "NODE_PATH") && (!is_denied || is_allowed) {
                node_path = Some(tree.split_outside(&value).0);
            }
            if (is_denied && !is_allowed) || (is_dropped && (is_project || !is_allowed)) {
                continue;
            }
            kept.push((name, value));
        }
        let (inherited, variables) = (kept, OnceLock::new());
        Self {
            inherited,
            keeps_path,
            tree,
            variables,
            project,
            depth,
            outer_token,
            node_path,
            is_project,
        }
    }

    /// Returns the host's variables.
    pub(crate) fn host(&self) -> &[(OsString, OsString)] {
        self.variables.get_or_init(|| {
            let mut variables = self.inherited.clone();
            let is_path = |name: &OsStr| name.to_str().is_some_and(|it| is_same_name(it, "PATH"));
            for (_, path) in variables.iter_mut().filter(|(name, _)| is_path(name)) {
                if !self.keeps_path {
                    let names = started_programs();
                    *path = self.tree.split_search_path(path, is_started_program, names).0;
                }
            }
            if !cfg!(windows)
                && !variables.iter().any(|(name, path)| is_path(name) && !path.is_empty())
            {
                // A shell of its own accord looks into the working directory, too.
                variables.push(("PATH".into(), SYSTEM_PATH.into()));
            }
            variables
        })
    }

    /// Returns the hook's own variables that are allowed: a project's may not load programs.
    pub(crate) fn own(&self, hook: &[(String, String)]) -> Vec<(String, String)> {
        let own =
            hook.iter().filter(|(name, _)| !self.is_project || !is_forbidden_in_project(name));
        own.cloned().collect()
    }

    /// Returns the host's and the hook's own variables, which are the same for every event.
    pub(crate) fn constant<'a>(
        &'a self,
        hook: &'a [(String, String)],
    ) -> impl Iterator<Item = (&'a OsStr, &'a OsStr)> {
        let host = self.host().iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()));
        host.chain(hook.iter().map(|(name, value)| (OsStr::new(name), OsStr::new(value))))
    }

    /// Returns the start of a command without a shell in the project's directory, if that is how it
    /// is started.
    pub(crate) fn start_directly(
        &self,
        command: &str,
        env: &[(String, String)],
    ) -> Option<Command> {
        let direct = DirectCommand::new(command, &self.project, self.constant(env))?;
        direct.process(&self.project, self.constant(env))
    }

    /// Returns all variables of a foreign hook: its own, and the host's except those that would
    /// make it believe it runs in another agent.
    pub(crate) fn foreign_variables<'a>(
        &'a self,
        launch: &'a Launch,
        run: &'a RunVariables<'a>,
    ) -> impl Iterator<Item = (&'a OsStr, &'a OsStr)> {
        let host = self.host().iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()));
        let host = host
            .filter(|(name, _)| !launch.removed_variables.iter().any(|removed| name == removed));
        let (env, rank) = run.session;
        let session = env.of_rank(rank).map(|(name, value)| (OsStr::new(name), OsStr::new(value)));
        let run = [(DEPTH, OsStr::new(run.depth)), (RUN_TOKEN, OsStr::new(run.token))];
        let own =
            launch.variables.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()));
        let own = own.filter(|(name, _)| {
            !self.is_project || !name.to_str().is_some_and(is_forbidden_in_project)
        });
        host.chain(session).chain(run.map(|(name, value)| (OsStr::new(name), value))).chain(own)
    }

    /// Returns all variables of a process that outlives an event; the hook's own come last.
    pub(crate) fn lasting_variables<'a>(
        &'a self,
        run: &'a RunVariables<'a>,
        hook: &'a [(String, String)],
    ) -> impl Iterator<Item = (&'a OsStr, &'a OsStr)> {
        let project = PROJECT_DIRECTORY.map(|name| (name, self.project.as_os_str()));
        let run = [(DEPTH, OsStr::new(run.depth)), (RUN_TOKEN, OsStr::new(run.token))];
        let host = self.host().iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()));
        host.chain(project.into_iter().chain(run).map(|(name, value)| (OsStr::new(name), value)))
            .chain(hook.iter().map(|(name, value)| (OsStr::new(name), OsStr::new(value))))
    }

    /// Returns all variables for one event; the hook's own come last.
    pub(crate) fn variables<'a>(
        &'a self,
        input: &'a EventInput,
        run: &'a RunVariables<'a>,
        hook: &'a [(String, String)],
    ) -> impl Iterator<Item = (&'a OsStr, &'a OsStr)> {
        let project = PROJECT_DIRECTORY.map(|name| (name, self.project.as_os_str()));
        let event = [
            ("HOOK_EVENT_NAME", OsStr::new(input.event().as_str())),
            ("HOOK_SESSION_ID", OsStr::new(&*input.session_id)),
            ("GEMINI_SESSION_ID", OsStr::new(&*input.session_id)),
            ("GEMINI_CWD", OsStr::new(&*input.cwd)),
            (DEPTH, OsStr::new(run.depth)),
            (RUN_TOKEN, OsStr::new(run.token)),
        ];
        let host = self.host().iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()));
        let (env, rank) = run.session;
        let session = env.of_rank(rank).map(|(name, value)| (OsStr::new(name), OsStr::new(value)));
        host.chain(session)
            .chain(project.into_iter().chain(event).map(|(name, value)| (OsStr::new(name), value)))
            .chain(hook.iter().map(|(name, value)| (OsStr::new(name), OsStr::new(value))))
    }
}

/// The error of a host's process that is not fit to run hooks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunnerError {
    /// SIGCHLD is ignored, so the exit codes of hooks would be lost.
    #[error(
        "SIGCHLD is ignored in this process, so the exit codes of hooks would be lost; restore \
         its default action before hooks are used"
    )]
    ChildSignalIgnored,
}

/// Checks whether the system reaps children before their exit codes can be read.
#[cfg(target_os = "linux")]
pub(crate) fn ignores_child_signal() -> bool {
    let child = rustix::process::Signal::CHILD.as_raw();
    let ignored = std::fs::read_to_string("/proc/self/status").ok().and_then(|status| {
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
        // Some processors have 128 signals.
        u128::from_str_radix(mask.trim(), 16).ok()
    });
    ignored.is_some_and(|mask| mask & (1 << (child - 1)) != 0)
}

/// Returns `false`: only Linux has that file.
#[cfg(not(target_os = "linux"))]
pub(crate) fn ignores_child_signal() -> bool {
    false
}

/// The shell that runs commands. Its path is absolute, so that a changed PATH cannot replace it.
#[derive(Debug, Clone)]
pub(crate) struct Shell {
    pub(crate) program: PathBuf,
    pub(crate) arguments: &'static [&'static str],
    /// The shell of hooks of other agents that want bash.
    pub(crate) bash: PathBuf,
}

#[cfg(not(windows))]
impl Shell {
    /// Finds the shell in the host's PATH. One that is missing fails those hooks that want it: others
    /// need no shell.
    pub(crate) fn find(tree: &ProjectTree, path: &OsStr) -> Self {
        let bash = find_program(tree, path, "bash").unwrap_or_else(|| PathBuf::from("/bin/bash"));
        // Some builds of bash read the user's startup files for commands that arrive over ssh.
        Self { program: bash.clone(), arguments: &["--norc", "-c"], bash }
    }

    /// Returns the shell's argument for a command.
    pub(crate) fn script(&self, command: &str) -> String {
        hook_shell::quote_project_directory(command)
    }
}

#[cfg(windows)]
impl Shell {
    /// Finds PowerShell in the host's PATH, or where Windows has it, and the bash of Git. One that
    /// is missing fails those hooks that want it: others need no shell.
    pub(crate) fn find(tree: &ProjectTree, path: &OsStr) -> Self {
        let found =
            ["pwsh.exe", "powershell.exe"].iter().find_map(|name| find_program(tree, path, name));
        Self {
            program: found.unwrap_or_else(powershell),
            arguments: &["-NoProfile", "-NonInteractive", "-Command"],
            bash: git_bash(tree, path),
        }
    }

    /// Returns the shell's argument for a command.
    pub(crate) fn script(&self, command: &str) -> String {
        command.to_owned()
    }
}

/// Returns the PowerShell that is part of Windows.
#[cfg(windows)]
fn powershell() -> PathBuf {
    let system = std::env::var_os("SystemRoot").map(PathBuf::from);
    let system = system.filter(|folder| folder.is_absolute());
    let system = system.unwrap_or_else(|| PathBuf::from(r"C:\Windows"));
    system.join(r"System32\WindowsPowerShell\v1.0\powershell.exe")
}

/// Returns the bash of Git for Windows: beside the `git` in PATH, else where its installer puts it.
/// That in System32 is of another system, which has other paths.
#[cfg(windows)]
fn git_bash(tree: &ProjectTree, path: &OsStr) -> PathBuf {
    let beside = find_program(tree, path, "git.exe")
        .and_then(|git| Some(git.ancestors().nth(2)?.to_path_buf()));
    let installed =
        std::env::var_os("ProgramFiles").map(|folder| PathBuf::from(folder).join("Git"));
    let installed = installed.unwrap_or_else(|| PathBuf::from(r"C:\Program Files\Git"));
    let candidates = beside.into_iter().map(|git| git.join(r"bin\bash.exe"));
    let default = installed.join(r"bin\bash.exe");
    candidates.filter(|bash| is_executable(bash)).next().unwrap_or(default)
}

/// Returns a program of the host's PATH, or of where it usually is.
fn find_program(tree: &ProjectTree, path: &OsStr, file: &str) -> Option<PathBuf> {
    tree.find_program(path, file).or_else(|| tree.find_program(SYSTEM_PATH.as_ref(), file))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(rules: &EnvironmentRules, of_project: bool) -> Vec<String> {
        let names = [
            "PATH",
            "BASH_ENV",
            "BASH_FUNC_ls%%",
            "PYTHONPATH",
            "NODE_OPTIONS",
            "AWS_KEY",
            "AWS_REGION",
            "ENVIRONMENT",
        ];
        let variables = names.map(|name| (OsString::from(name), OsString::from("/bin")));
        let project = (PathBuf::from("/nowhere"), ProjectTree::of_all([]));
        HostEnvironment::new(variables, rules, project, of_project)
            .host()
            .iter()
            .map(|(name, _)| name.to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn injections_go_unless_allowed_and_rules_reduce() {
        let rules = |allow: &[&str], deny: &[&str]| EnvironmentRules {
            allow: allow.iter().map(ToString::to_string).collect(),
            deny: deny.iter().map(ToString::to_string).collect(),
        };
        for (rules, expected) in [
            (rules(&[], &[]), vec!["PATH", "AWS_KEY", "AWS_REGION", "ENVIRONMENT"]),
            (rules(&["BASH_ENV"], &["AWS_*"]), vec!["PATH", "BASH_ENV", "ENVIRONMENT"]),
            (rules(&["PATH", "AWS_REGION"], &["*"]), vec!["PATH", "AWS_REGION"]),
            (rules(&["AWS_REGION"], &["*"]), vec!["AWS_REGION", "PATH"]),
        ] {
            assert_eq!(kept(&rules, false), expected, "{rules:?}");
        }
    }

    #[test]
    fn a_project_allows_its_hooks_nothing_that_says_what_is_loaded() {
        let rules = EnvironmentRules { allow: vec!["*".into()], deny: vec!["AWS_*".into()] };
        let all = ["PATH", "AWS_KEY", "AWS_REGION", "ENVIRONMENT"];
        assert_eq!(kept(&rules, true), all);
        assert_eq!(kept(&rules, false).len(), 8);
    }

    #[test]
    fn a_shell_that_is_not_in_path_is_looked_for_in_the_usual_places() {
        assert!(
            Shell::find(&ProjectTree::of_all([]), OsStr::new("/nowhere")).program.is_absolute()
        );
    }
}
