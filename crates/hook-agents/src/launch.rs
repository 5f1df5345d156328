//! The start of an agent's hooks.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use hook_files::user_folders;
use hook_json::{RawJson, RawObject};
use hook_settings::language::{ForeignCommand, ForeignHook, Launch, LaunchContext};

use super::table::{Agent, BaseField, Directory, Expansion, Variable};

/// Variables by which scripts detect the agent that runs them.
const AGENT_VARIABLES: &[&str] = &[
    "CLAUDECODE",
    "CLAUDE_PROJECT_DIR",
    "CLAUDE_PLUGIN_ROOT",
    "CLAUDE_PLUGIN_DATA",
    "CLAUDE_ENV_FILE",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_SESSION_ID",
    "GEMINI_PROJECT_DIR",
    "GEMINI_CWD",
    "GEMINI_SESSION_ID",
    "GEMINI_PLANS_DIR",
    "GEMINI_CLI",
    "CURSOR_PROJECT_DIR",
    "CURSOR_VERSION",
    "CURSOR_USER_EMAIL",
    "CURSOR_TRANSCRIPT_PATH",
    "CURSOR_CODE_REMOTE",
    "CURSOR_PLUGIN_ROOT",
    "COPILOT_CLI",
    "COPILOT_PROJECT_DIR",
    "COPILOT_HOOK_DIR",
    "COPILOT_AGENT_PROMPT",
    "PLUGIN_ROOT",
    "PLUGIN_DATA",
    "LLXPRT_PROJECT_DIR",
    "QWEN_PROJECT_DIR",
    "QWEN_CODE_PROJECT_DIR",
    "QWEN_CODE_SESSION_ID",
    "QWEN_CODE_PROMPT_ID",
    "QWEN_CODE_AGENT_ID",
    "PI_CODING_AGENT",
];

/// The prefixes of an agent's own marks.
const OWN_PREFIXES: &[(&str, &[&str])] = &[
    ("claude", &["CLAUDE"]),
    ("gemini", &["GEMINI"]),
    ("llxprt", &["LLXPRT"]),
    ("qwen", &["QWEN"]),
    ("cursor", &["CURSOR"]),
    ("copilot", &["COPILOT"]),
    ("codex", &["PLUGIN"]),
    ("vscode", &[]),
    ("a3s", &[]),
    ("pi", &["PI_"]),
    ("omp", &["PI_"]),
];

/// The placeholders for an extension's hooks, unless the agent expands variables in braces anyway.
pub(super) const EXTENSION_PLACEHOLDERS: &[(&str, Variable)] = &[
    ("extensionPath", Variable::PluginRoot),
    ("workspacePath", Variable::Cwd),
    ("/", Variable::Constant(std::path::MAIN_SEPARATOR_STR)),
];

pub(super) fn launch(
    agent: &Agent,
    hook: &ForeignHook,
    foreign_input: &RawObject,
    context: &LaunchContext<'_>,
) -> Launch {
    let fields = foreign_input.fields();
    let field = |base: BaseField| {
        let event = agent.event_in_settings(&hook.event);
        let names = event.and_then(|event| event.base_fields).unwrap_or(agent.base_fields);
        let name = names.iter().find(|(known, _)| *known == base)?.1;
        fields.get(name).and_then(RawJson::to_text)
    };
    let value_of = |variable: Variable| -> Option<OsString> {
        Some(match variable {
            Variable::Project => context.project.into(),
            Variable::Cwd => context.directory.into(),
            Variable::Session => field(BaseField::Session)?.into(),
            Variable::Transcript => {
                field(BaseField::Transcript).or_else(|| field(BaseField::TranscriptOrNull))?.into()
            }
            Variable::PluginRoot => hook.plugin_root.as_deref()?.into(),
            Variable::InputField(name) => fields.get(name).and_then(RawJson::to_text)?.into(),
            Variable::Constant(constant) => constant.into(),
        })
    };
    let mut variables: Vec<(OsString, OsString)> = Vec::new();
    let mut kept = Vec::new();
    for (name, variable) in agent.variables {
        // The agent's own value is the best, but trust depends on the project's path: only a hook
        // of a file that the user named gets the agent's path.
        let is_set = context.variable(name).is_some_and(|value| !value.is_empty());
        let is_directory = matches!(variable, Variable::Project | Variable::Cwd);
        let is_set = is_set
            && (!is_directory || hook.is_explicit)
            && !matches!(variable, Variable::PluginRoot | Variable::Session);
        if is_set {
            kept.push(*name);
        } else if let Some(value) = value_of(*variable) {
            variables.push((name.into(), value));
        }
    }
    let lookup = |name: &str| {
        let own = variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        own.or_else(|| context.variable(name).map(OsStr::to_owned))
    };
    let own_variables: Vec<(OsString, OsString)> = hook
        .variables
        .iter()
        .map(|(name, value)| (name.into(), expand_all(value, &lookup).into()))
        .collect();
    let extension_variables: Vec<(OsString, OsString)> = EXTENSION_PLACEHOLDERS
        .iter()
        .filter(|_| hook.plugin_root.is_some())
        .filter_map(|(name, variable)| Some(((*name).into(), value_of(*variable)?)))
        .collect();
    let text = |text: &str| match agent.expansion {
        Expansion::Braces => expand_braced(text, &variables),
        Expansion::Quoted => expand_quoted(&expand_braced(text, &extension_variables), &variables),
        Expansion::None => expand_braced(text, &extension_variables),
    };
    let (program, arguments) = match &hook.command {
        ForeignCommand::Program { program, arguments } => (
            OsString::from(text(program)),
            arguments.iter().map(|argument| OsString::from(text(argument))).collect(),
        ),
        ForeignCommand::Shell { text: command, shell } => {
            let shell: Vec<&str> = match shell.as_deref() {
                Some("bash") => vec!["bash", "-c"],
                Some("powershell") => vec!["pwsh", "-NoProfile", "-Command"],
                _ => agent.shell.to_vec(),
            };
            let mut arguments = shell.into_iter().map(OsString::from);
            let program = arguments.next().unwrap_or_default();
            (program, arguments.chain([OsString::from(text(command))]).collect())
        }
        _ => Default::default(),
    };
    let directory = directory(agent, hook, context);
    variables.extend(own_variables);
    let removed_variables = AGENT_VARIABLES
        .iter()
        .filter(|variable| !is_own_variable(agent, variable) && !kept.contains(variable))
        .filter(|variable| variables.iter().all(|(name, _)| name.as_os_str() != **variable))
        .copied()
        .collect();
    Launch { program, arguments, directory, variables, removed_variables }
}

/// Returns the working directory of a hook.
pub(super) fn directory(agent: &Agent, hook: &ForeignHook, context: &LaunchContext<'_>) -> PathBuf {
    let lookup = |name: &str| -> Option<OsString> {
        let own = hook.variables.iter().find(|(known, _)| known == name);
        let variable = agent.variables.iter().find(|(known, _)| *known == name);
        let agent_value = || match variable?.1 {
            Variable::Project => Some(context.project.into()),
            Variable::Cwd => Some(context.directory.into()),
            Variable::PluginRoot => Some(hook.plugin_root.as_deref()?.into()),
            _ => None,
        };
        let own = own.map(|(_, value)| OsString::from(value));
        own.or_else(agent_value).or_else(|| context.variable(name).map(OsStr::to_owned))
    };
    resolve_directory(agent, hook, context, &lookup)
}

fn resolve_directory(
    agent: &Agent,
    hook: &ForeignHook,
    context: &LaunchContext<'_>,
    lookup: &dyn Fn(&str) -> Option<OsString>,
) -> PathBuf {
    let base = match agent.directory {
        Directory::Event => context.directory,
        Directory::Project | Directory::File => context.project,
    };
    match &hook.directory {
        Some(directory) => base.join(expand_all(&directory.to_string_lossy(), lookup)),
        None => external_directory(agent, hook, context).unwrap_or_else(|| base.to_path_buf()),
    }
}

fn is_own_variable(agent: &Agent, variable: &str) -> bool {
    let own = OWN_PREFIXES.iter().find(|(name, _)| *name == agent.name);
    own.is_some_and(|(_, prefixes)| prefixes.iter().any(|prefix| variable.starts_with(prefix)))
}

/// Returns the working directory of a hook outside the project's files, if it differs: the folder
/// of its plugin, of its user, or of its file.
fn external_directory(
    agent: &Agent,
    hook: &ForeignHook,
    context: &LaunchContext<'_>,
) -> Option<PathBuf> {
    if agent.directory != Directory::File {
        return None;
    }
    if let Some(root) = &hook.plugin_root {
        return Some(root.clone());
    }
    if hook.is_user {
        let folder = Path::new(context.variable(user_folders::HOME)?).join(agent.paths.folder);
        // Native settings may use an agent's language without its folder.
        return Some(folder).filter(|folder| folder.is_dir());
    }
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let folder = hook.folder.as_deref()?;
    (!real(folder).starts_with(real(context.project))).then(|| folder.to_path_buf())
}

/// Replaces `${NAME}` by the values of the agent's own variables.
fn expand_braced(text: &str, variables: &[(OsString, OsString)]) -> String {
    let mut text = text.to_owned();
    for (name, value) in variables {
        let variable = format!("${{{}}}", name.to_string_lossy());
        if text.contains(&variable) {
            text = text.replace(&variable, &value.to_string_lossy());
        }
    }
    text
}

/// Replaces `$NAME` by the quoted values of the agent's own variables; `${NAME}` is left to the
/// shell.
fn expand_quoted(text: &str, variables: &[(OsString, OsString)]) -> String {
    let mut expanded = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        expanded.push_str(before);
        let end = after.find(|it: char| !it.is_ascii_alphanumeric() && it != '_');
        let (name, remaining) = after.split_at(end.unwrap_or(after.len()));
        let known = variables.iter().find(|(known, _)| known == name);
        match known.filter(|_| !name.is_empty()) {
            Some((_, value)) => {
                let value = value.to_string_lossy().replace('\'', "'\\''");
                let is_plain = |character: char| {
                    character.is_ascii_alphanumeric() || "/._-".contains(character)
                };
                match value.chars().all(is_plain) {
                    true => expanded.push_str(&value),
                    false => expanded.push_str(&format!("'{value}'")),
                }
                rest = remaining;
            }
            None => {
                expanded.push('$');
                rest = after;
            }
        }
    }
    expanded + rest
}

/// Replaces `$NAME` and `${NAME}` by the variables' values.
fn expand_all(text: &str, lookup: &dyn Fn(&str) -> Option<OsString>) -> String {
    let mut expanded = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        expanded.push_str(before);
        let (name, remaining) =
            match after.strip_prefix('{').and_then(|inner| inner.split_once('}')) {
                Some((name, remaining)) => (name, remaining),
                None => {
                    let end = after.find(|character: char| {
                        !character.is_ascii_alphanumeric() && character != '_'
                    });
                    after.split_at(end.unwrap_or(after.len()))
                }
            };
        match name {
            "" => expanded.push('$'),
            name => expanded.push_str(&lookup(name).unwrap_or_default().to_string_lossy()),
        }
        rest = remaining;
    }
    expanded + rest
}
