//! What a hook's process finds around it: shell, variables, directories (protocol.md §3).

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use crate::event::input::EventInput;
use crate::files::program::is_executable;
use crate::files::project_tree::ProjectTree;
use crate::language::Launch;
use crate::run::nesting::MAX_DEPTH;
use crate::run::session_env::SessionEnv;
use crate::settings::EnvironmentRules;
use crate::shell::PROJECT_DIRECTORY;
use crate::shell::loaders::{is_among, is_dropped, is_refused_of_project};

const DEPTH: &str = "HOOK_DEPTH";

/// By which a server knows that a request comes from inside of a hook that runs now.
const RUN_TOKEN: &str = "HOOK_RUN_TOKEN";

/// What of a hook's environment belongs to this one run.
pub(in crate::run) struct RunVariables<'r> {
    pub(in crate::run) depth: &'r str,
    pub(in crate::run) token: &'r str,
    /// What hooks set for later ones of the session, and how far this one is trusted.
    pub(in crate::run) session: (&'r SessionEnv, u8),
}

/// The engine's side of a hook's environment, settled once when settings are loaded.
#[derive(Debug, Clone)]
pub(in crate::run) struct HostEnvironment {
    variables: Vec<(OsString, OsString)>,
    pub(in crate::run) project: PathBuf,
    /// How deep the hooks of this engine are.
    pub(in crate::run) depth: u32,
    /// The token of the hook that this engine runs in.
    pub(in crate::run) outer_token: Option<String>,
    /// Where the host has modules for Node, outside of the project.
    pub(in crate::run) node_path: Option<OsString>,
    /// Whether its hooks are a project's.
    of_project: bool,
}

impl HostEnvironment {
    /// Reduces the host's variables by a source's rules, and by the engine's own: no hook starts with what
    /// says which programs are loaded, or looks for programs in the project. Rules that are not a project's
    /// can allow it.
    pub(in crate::run) fn new(
        variables: impl IntoIterator<Item = (OsString, OsString)>,
        rules: &EnvironmentRules,
        project: PathBuf,
        of_project: bool,
    ) -> Self {
        let (mut depth, mut outer_token, mut node_path) = (1, None, None);
        let tree = ProjectTree::of(&project);
        let mut kept = Vec::new();
        for (name, value) in variables {
            let text = name.to_string_lossy();
            if text == DEPTH {
                // What cannot be read may be any depth.
                let outer = value.to_str().and_then(|text| text.parse().ok());
                depth = outer.unwrap_or(MAX_DEPTH).saturating_add(1);
            }
            if text == RUN_TOKEN {
                outer_token = value.to_str().map(str::to_owned);
                continue;
            }
            let (is_denied, is_dropped) = (is_among(&text, &rules.deny), is_dropped(&text));
            let is_allowed = is_among(&text, &rules.allow);
            if text == "NODE_PATH" && (!is_denied || is_allowed) {
                node_path = Some(tree.outside(&value).0);
            }
            if (is_denied && !is_allowed) || (is_dropped && (of_project || !is_allowed)) {
                continue;
            }
            let value = match text == "PATH" && (of_project || !is_allowed) {
                true => tree.outside(&value).0,
                false => value,
            };
            kept.push((name, value));
        }
        Self { variables: kept, project, depth, outer_token, node_path, of_project }
    }

    /// Those of a hook's own variables that it gets: a project does not say what programs load.
    pub(in crate::run) fn own(&self, hook: &[(String, String)]) -> Vec<(String, String)> {
        let own = hook.iter().filter(|(name, _)| !self.of_project || !is_refused_of_project(name));
        own.cloned().collect()
    }

    /// What a hook has of its host and of its own, the same for every event.
    pub(in crate::run) fn constant<'a>(
        &'a self,
        hook: &'a [(String, String)],
    ) -> impl Iterator<Item = (&'a OsStr, &'a OsStr)> {
        let host = self.variables.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()));
        host.chain(hook.iter().map(|(name, value)| (OsStr::new(name), OsStr::new(value))))
    }

    /// The host's variables.
    pub(in crate::run) fn host(&self) -> &[(OsString, OsString)] {
        &self.variables
    }

    /// All variables of a hook of another agent: the host's but for those by which it would take
    /// another for its home, and its own.
    pub(in crate::run) fn home_variables<'a>(
        &'a self,
        launch: &'a Launch,
        run: &'a RunVariables<'a>,
    ) -> impl Iterator<Item = (&'a OsStr, &'a OsStr)> {
        let host = self.variables.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()));
        let host = host.filter(|(name, _)| !launch.without.iter().any(|it| name == it));
        let (env, rank) = run.session;
        let session = env.of_rank(rank).map(|(name, value)| (OsStr::new(name), OsStr::new(value)));
        let run = [(DEPTH, OsStr::new(run.depth)), (RUN_TOKEN, OsStr::new(run.token))];
        let own =
            launch.variables.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()));
        let own = own.filter(|(name, _)| {
            !self.of_project || !name.to_str().is_some_and(is_refused_of_project)
        });
        host.chain(session).chain(run.map(|(name, value)| (OsStr::new(name), value))).chain(own)
    }

    /// All variables that no event changes, for a process that outlives one; its own last.
    pub(in crate::run) fn lasting_variables<'a>(
        &'a self,
        run: &'a RunVariables<'a>,
        hook: &'a [(String, String)],
    ) -> impl Iterator<Item = (&'a OsStr, &'a OsStr)> {
        let project = PROJECT_DIRECTORY.map(|name| (name, self.project.as_os_str()));
        let run = [(DEPTH, OsStr::new(run.depth)), (RUN_TOKEN, OsStr::new(run.token))];
        let host = self.variables.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()));
        host.chain(project.into_iter().chain(run).map(|(name, value)| (OsStr::new(name), value)))
            .chain(hook.iter().map(|(name, value)| (OsStr::new(name), OsStr::new(value))))
    }

    /// All variables for one event, the hook's own last.
    pub(in crate::run) fn variables<'a>(
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
        let host = self.variables.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()));
        let (env, rank) = run.session;
        let session = env.of_rank(rank).map(|(name, value)| (OsStr::new(name), OsStr::new(value)));
        host.chain(session)
            .chain(project.into_iter().chain(event).map(|(name, value)| (OsStr::new(name), value)))
            .chain(hook.iter().map(|(name, value)| (OsStr::new(name), OsStr::new(value))))
    }
}

/// The host's process is not fit to run hooks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunnerError {
    /// There is no shell.
    #[error("failed to find {program}, which hook commands are run with; install it or fix PATH")]
    ShellNotFound {
        /// The shell that was looked for.
        program: &'static str,
    },
    /// The exit codes of hooks would be lost.
    #[error(
        "SIGCHLD is ignored in this process, so the exit codes of hooks would be lost; restore \
         its default action before hooks are used"
    )]
    ChildSignalIgnored,
}

/// Whether the system reaps children before their exit code can be read.
#[cfg(target_os = "linux")]
pub(in crate::run) fn ignores_child_signal() -> bool {
    let child = rustix::process::Signal::CHILD.as_raw();
    let ignored = std::fs::read_to_string("/proc/self/status").ok().and_then(|status| {
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
        // Some processors have 128 signals.
        u128::from_str_radix(mask.trim(), 16).ok()
    });
    ignored.is_some_and(|mask| mask & (1 << (child - 1)) != 0)
}

/// Elsewhere than on Linux there is no such file, and nothing to learn from.
#[cfg(not(target_os = "linux"))]
pub(in crate::run) fn ignores_child_signal() -> bool {
    false
}

/// The shell that runs commands, by its absolute path, so that a changed PATH cannot exchange it.
#[derive(Debug, Clone)]
pub(in crate::run) struct Shell {
    pub(in crate::run) program: PathBuf,
    pub(in crate::run) arguments: &'static [&'static str],
}

impl Shell {
    /// Looks the shell up in the host's PATH.
    pub(in crate::run) fn find(path: Option<&OsStr>) -> Result<Self, RunnerError> {
        #[cfg(windows)]
        const SHELL: (&str, &str, &[&str]) =
            ("PowerShell", "powershell.exe", &["-NoProfile", "-NonInteractive", "-Command"]);
        // Some builds of bash read the user's files for any command that comes over ssh.
        #[cfg(not(windows))]
        const SHELL: (&str, &str, &[&str]) = ("bash", "bash", &["--norc", "-c"]);

        let (program, file, arguments) = SHELL;
        std::env::split_paths(path.unwrap_or_default())
            .chain(["/bin", "/usr/bin", "/usr/local/bin"].map(PathBuf::from))
            .filter(|directory| directory.is_absolute())
            .map(|directory| directory.join(file))
            .find(|candidate| is_executable(candidate))
            .map(|program| Self { program, arguments })
            .ok_or(RunnerError::ShellNotFound { program })
    }

    /// No shell, where none is there and nothing will be run.
    pub(in crate::run) fn missing() -> Self {
        Self { program: PathBuf::new(), arguments: &[] }
    }
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
        let variables = names.map(|name| (OsString::from(name), OsString::new()));
        HostEnvironment::new(variables, rules, PathBuf::from("/nowhere"), of_project)
            .variables
            .into_iter()
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
    fn a_missing_shell_is_a_typed_error_only_where_there_is_none() {
        assert!(Shell::find(Some(OsStr::new("/nowhere"))).is_ok(), "the usual places are tried");
    }
}
