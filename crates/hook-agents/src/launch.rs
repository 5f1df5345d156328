//! The start of an agent's hooks.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use hook_json::{RawJson, RawObject};
use hook_settings::language::{ForeignCommand, ForeignHook, Launch, Place};

use super::table::{Agent, Base, Directory, Expands, Variable};

/// Variables by which scripts detect the agent that runs them.
const MARKS: &[&str] = &[
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
const OWN_MARKS: &[(&str, &[&str])] = &[
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
pub(super) const OF_EXTENSION: &[(&str, Variable)] = &[
    ("extensionPath", Variable::PluginRoot),
    ("workspacePath", Variable::Cwd),
    ("/", Variable::Word(std::path::MAIN_SEPARATOR_STR)),
];

pub(super) fn launch(
    agent: &Agent,
    hook: &ForeignHook,
    told: &RawObject,
    place: &Place<'_>,
) -> Launch {
    let fields = told.fields();
    let field = |base: Base| {
        let event = agent.written_event(&hook.event);
        let names = event.and_then(|event| event.base).unwrap_or(agent.base);
        let name = names.iter().find(|(known, _)| *known == base)?.1;
        fields.get(name).and_then(RawJson::to_text)
    };
    let value = |variable: Variable| -> Option<OsString> {
        Some(match variable {
            Variable::Project => place.project.into(),
            Variable::Cwd => place.directory.into(),
            Variable::Session => field(Base::Session)?.into(),
            Variable::Transcript => {
                field(Base::Transcript).or_else(|| field(Base::TranscriptOrNull))?.into()
            }
            Variable::PluginRoot => hook.plugin_root.as_deref()?.into(),
            Variable::Said(name) => fields.get(name).and_then(RawJson::to_text)?.into(),
            Variable::Word(word) => word.into(),
        })
    };
    let mut variables: Vec<(OsString, OsString)> = Vec::new();
    let mut kept = Vec::new();
    for (name, variable) in agent.variables {
        // The agent's own value is the best, but trust depends on the project's path: only a hook
        // of a file that the user named gets the agent's path.
        let is_set = place.variable(name).is_some_and(|value| !value.is_empty());
        let is_place = matches!(variable, Variable::Project | Variable::Cwd);
        let is_set = is_set
            && (!is_place || hook.is_named)
            && !matches!(variable, Variable::PluginRoot | Variable::Session);
        if is_set {
            kept.push(*name);
        } else if let Some(value) = value(*variable) {
            variables.push((name.into(), value));
        }
    }
    let known = |name: &str| {
        let own = variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        own.or_else(|| place.variable(name).map(OsStr::to_owned))
    };
    let own: Vec<(OsString, OsString)> = hook
        .variables
        .iter()
        .map(|(name, value)| (name.into(), expanded(value, &known).into()))
        .collect();
    let of_extension: Vec<(OsString, OsString)> = OF_EXTENSION
        .iter()
        .filter(|_| hook.plugin_root.is_some())
        .filter_map(|(name, variable)| Some(((*name).into(), value(*variable)?)))
        .collect();
    let text = |text: &str| match agent.expands {
        Expands::Braces => replaced(text, &variables),
        Expands::Quoted => quoted(&replaced(text, &of_extension), &variables),
        Expands::Never => replaced(text, &of_extension),
    };
    let (program, arguments) = match &hook.command {
        ForeignCommand::Program { program, arguments } => (
            OsString::from(text(program)),
            arguments.iter().map(|it| OsString::from(text(it))).collect(),
        ),
        ForeignCommand::Shell { text: command, shell } => {
            let shell: Vec<&str> = match shell.as_deref() {
                Some("bash") => vec!["bash", "-c"],
                Some("powershell") => vec!["pwsh", "-NoProfile", "-Command"],
                _ => agent.shell.to_vec(),
            };
            let mut words = shell.into_iter().map(OsString::from);
            let program = words.next().unwrap_or_default();
            (program, words.chain([OsString::from(text(command))]).collect())
        }
        _ => Default::default(),
    };
    let directory = directory(agent, hook, place);
    variables.extend(own);
    let without = MARKS
        .iter()
        .filter(|mark| !is_own(agent, mark) && !kept.contains(mark))
        .filter(|mark| variables.iter().all(|(name, _)| name.as_os_str() != **mark))
        .copied()
        .collect();
    Launch { program, arguments, directory, variables, without }
}

/// Returns the working directory of a hook.
pub(super) fn directory(agent: &Agent, hook: &ForeignHook, place: &Place<'_>) -> PathBuf {
    let known = |name: &str| -> Option<OsString> {
        let own = hook.variables.iter().find(|(known, _)| known == name);
        let variable = agent.variables.iter().find(|(known, _)| *known == name);
        let of_agent = || match variable?.1 {
            Variable::Project => Some(place.project.into()),
            Variable::Cwd => Some(place.directory.into()),
            Variable::PluginRoot => Some(hook.plugin_root.as_deref()?.into()),
            _ => None,
        };
        let own = own.map(|(_, value)| OsString::from(value));
        own.or_else(of_agent).or_else(|| place.variable(name).map(OsStr::to_owned))
    };
    directory_with(agent, hook, place, &known)
}

fn directory_with(
    agent: &Agent,
    hook: &ForeignHook,
    place: &Place<'_>,
    known: &dyn Fn(&str) -> Option<OsString>,
) -> PathBuf {
    let base = match agent.directory {
        Directory::OfEvent => place.directory,
        Directory::Project | Directory::OfFile => place.project,
    };
    match &hook.directory {
        Some(directory) => base.join(expanded(&directory.to_string_lossy(), known)),
        None => outside(agent, hook, place).unwrap_or_else(|| base.to_path_buf()),
    }
}

fn is_own(agent: &Agent, mark: &str) -> bool {
    let own = OWN_MARKS.iter().find(|(name, _)| *name == agent.name);
    own.is_some_and(|(_, beginnings)| beginnings.iter().any(|it| mark.starts_with(it)))
}

/// Returns the working directory of a hook outside the project's files, if it differs: the folder
/// of its plugin, of its user, or of its file.
fn outside(agent: &Agent, hook: &ForeignHook, place: &Place<'_>) -> Option<PathBuf> {
    if agent.directory != Directory::OfFile {
        return None;
    }
    if let Some(root) = &hook.plugin_root {
        return Some(root.clone());
    }
    if hook.is_users {
        let folder = Path::new(place.variable("HOME")?).join(agent.places.folder);
        // Native settings may use an agent's language without its folder.
        return Some(folder).filter(|folder| folder.is_dir());
    }
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let folder = hook.folder.as_deref()?;
    (!real(folder).starts_with(real(place.project))).then(|| folder.to_path_buf())
}

/// Replaces `${NAME}` by the values of the agent's own variables.
fn replaced(text: &str, variables: &[(OsString, OsString)]) -> String {
    let mut text = text.to_owned();
    for (name, value) in variables {
        let mark = format!("${{{}}}", name.to_string_lossy());
        if text.contains(&mark) {
            text = text.replace(&mark, &value.to_string_lossy());
        }
    }
    text
}

/// Replaces `$NAME` by the quoted values of the agent's own variables; `${NAME}` is left to the
/// shell.
fn quoted(text: &str, variables: &[(OsString, OsString)]) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        let end = after.find(|it: char| !it.is_ascii_alphanumeric() && it != '_');
        let (name, left) = after.split_at(end.unwrap_or(after.len()));
        let known = variables.iter().find(|(known, _)| known == name);
        match known.filter(|_| !name.is_empty()) {
            Some((_, value)) => {
                let value = value.to_string_lossy().replace('\'', "'\\''");
                let is_plain = |it: char| it.is_ascii_alphanumeric() || "/._-".contains(it);
                match value.chars().all(is_plain) {
                    true => out.push_str(&value),
                    false => out.push_str(&format!("'{value}'")),
                }
                rest = left;
            }
            None => {
                out.push('$');
                rest = after;
            }
        }
    }
    out + rest
}

/// Replaces `$NAME` and `${NAME}` by the variables' values.
fn expanded(text: &str, known: &dyn Fn(&str) -> Option<OsString>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        let (name, left) = match after.strip_prefix('{').and_then(|inner| inner.split_once('}')) {
            Some((name, left)) => (name, left),
            None => {
                let end = after.find(|it: char| !it.is_ascii_alphanumeric() && it != '_');
                after.split_at(end.unwrap_or(after.len()))
            }
        };
        match name {
            "" => out.push('$'),
            name => out.push_str(&known(name).unwrap_or_default().to_string_lossy()),
        }
        rest = left;
    }
    out + rest
}
