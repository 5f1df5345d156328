//! The commands by which an agent calls `hook bridge`, and the binaries that they name.

use std::path::{Path, PathBuf};

use hook_agents::{Agent, PROJECT_SEARCH, USER_START, WindowsShell, windows_word};
use hook_files::user_folders::home;
use hook_json::text::PathText;

use super::scope::Scope;
use crate::render;

/// The usual folders of installed binaries, as a shell writes them.
const USUAL_FOLDERS: [&str; 6] = [
    "~/.local/bin",
    "~/.cargo/bin",
    "/usr/local/bin",
    "/opt/homebrew/bin",
    "/home/linuxbrew/.linuxbrew/bin",
    "/usr/bin",
];

/// The text around the folder of the binary that wrote an entry of a project.
const BINARY_MARKERS: (&str, &str) = (r#"[ "$_h" ] || _h="#, r#"; [ -x "$_h/hook" ]"#);

/// Returns the command for the agent. In the user's settings it names this binary; in a project's
/// it has to work for others too, who have the binary in another folder or not at all.
pub(crate) fn command(binary: &Path, agent: &Agent, event: &str, scope: Scope) -> String {
    if cfg!(windows) {
        return windows_command(binary, agent, event, scope);
    }
    match scope {
        Scope::User if agent.can_refuse(event) => user_command(binary, agent, event),
        Scope::User => {
            let binary = hook_shell::quote(&binary.to_string_lossy());
            format!("{binary} bridge {} {event}", agent.name())
        }
        Scope::Project => project_command(binary, agent, event),
    }
}

/// Returns a command for any POSIX shell that refuses by itself if the binary is gone and the user or the project has a
/// guard, since most agents go on where a command is missing.
fn user_command(binary: &Path, agent: &Agent, event: &str) -> String {
    let folder = binary.parent().unwrap_or(Path::new("/")).to_string_lossy();
    let reason = format!(
        "hook is not at {} any more, so that guards cannot be asked: install it again, or take this entry out",
        binary.shown()
    );
    format!(
        r#"{USER_START}{}{}; }}; exec "$_h/hook" bridge {} {event}"#,
        hook_shell::quote(&folder),
        format_args!("{} || {{ _r=; {}", BINARY_MARKERS.1, guard_script(agent, event, &reason)),
        agent.name(),
    )
}

/// Returns the part that refuses if a file of the user, or of the project from the agent's folder up to `$_r`, has a
/// guard: a hook, a rule, or a pack with one of them. More than 200 files, one of a mebibyte and one that cannot be read
/// are taken to have one, so that the agent is answered in time.
fn guard_script(agent: &Agent, event: &str, reason: &str) -> String {
    let refusal = agent.refuse_without_hook(event, reason);
    let answer = match refusal.stdout.as_str() {
        "" => String::new(),
        answer => format!("printf '%s\\n' {}; ", hook_shell::quote(answer)),
    };
    format!(
        concat!(
            r#"set +f; _c="${{XDG_CONFIG_HOME:-$HOME/.config}}/hooks"; _d=$(pwd -P); _n=0; while :; do "#,
            r#"for _f in "$_c"/* "$_c"/*/* "$_d"/.hooks/* "$_d"/.hooks/*/*; do [ -f "$_f" ] || continue; "#,
            r#"_n=$((_n + 1)); {{ [ $_n -gt 200 ] || [ ! -r "$_f" ] || "#,
            r#"[ $(head -c 1048576 "$_f" | wc -c) -ge 1048576 ] || head -c 1048576 "$_f" | tr -d '\n' | "#,
            r#"grep -qE 'failBehavior[^,}}]*block|\[\[rule\]\]|"guards": *\[ *"'; }} && "#,
            r#"{{ {answer}echo {reason} >&2; exit {code}; }}; done; "#,
            r#"[ "$_d" = "$_r" ] || [ -z "$_d" ] && break; _d=${{_d%/*}}; done"#
        ),
        answer = answer,
        reason = hook_shell::quote(&refusal.stderr),
        code = refusal.code,
    )
}

/// Returns a command for the way in which the agent runs commands on Windows. A project's finds
/// `hook` in `PATH`: there is no shell that all agents have there to look further.
fn windows_command(binary: &Path, agent: &Agent, event: &str, scope: Scope) -> String {
    let binary = match scope {
        Scope::User => windows_word(&binary.to_string_lossy()),
        Scope::Project => "hook".to_owned(),
    };
    let shell = agent.entry().map(|entry| entry.on_windows);
    let call = match shell == Some(WindowsShell::PowerShell) && binary.starts_with('"') {
        // Else it is a text, and no program.
        true => "& ",
        false => "",
    };
    format!("{call}{binary} bridge {} {event}", agent.name())
}

/// Returns a command for any POSIX shell that finds `hook`: in the usual folders, then in `PATH`
/// without folders of the project and of packages, then in this binary's folder. Without `hook`, it
/// prints a message, and refuses what can be refused if the project has a guard.
fn project_command(binary: &Path, agent: &Agent, event: &str) -> String {
    let file = agent.entry().and_then(|entry| entry.in_project).unwrap_or_default();
    let usual = USUAL_FOLDERS.join(" ");
    let (before, behind) = BINARY_MARKERS;
    let written = written_folder(binary).unwrap_or_else(|| "/".to_owned());
    let missing = missing_binary_script(agent, event);
    // Some agents replace the names of variables that they know. They know none of these.
    format!(
        concat!(
            r#"{search}_t=$(cd && pwd -P); while [ "$_d" ] && [ "$_d" != "$_t" ]; do "#,
            r#"[ -e "$_d/.git" ] || [ -e "$_d/{file}" ] && _r=$_d; _d=${{_d%/*}}; done; "#,
            r#"_p="$PATH"; _u=; _h=; set -f; IFS=:; for _d in {usual} '' $_p; do "#,
            r#"case $_d in '') _u=1; continue ;; /*) ;; *) continue ;; esac; "#,
            r#"[ -f "$_d/hook" ] && [ -x "$_d/hook" ] || continue; "#,
            r#"[ "$_u" ] || {{ _h=$_d; break; }}; _d=$(cd "$_d" && pwd -P) || continue; "#,
            r#"case $_d/ in "$_r"/*|*/node_modules/*) ;; *) _h=$_d; break ;; esac; done; "#,
            r#"{before}{written}{behind} || {{ {missing}; }}; "#,
            r#"exec "$_h/hook" bridge {agent} {event}"#
        ),
        search = PROJECT_SEARCH,
        file = file,
        usual = usual,
        before = before,
        written = written,
        behind = behind,
        missing = missing,
        agent = agent.name(),
        event = event,
    )
}

/// Returns the part that runs if `hook` is missing.
fn missing_binary_script(agent: &Agent, event: &str) -> String {
    const REASON: &str = "hook is not installed here, so that the guards of this project cannot be asked: install it first";
    let guarded = match agent.can_refuse(event) {
        true => format!("{}; ", guard_script(agent, event, REASON)),
        false => String::new(),
    };
    // Such an agent shows standard error as an answer each time, so once per session is enough.
    let is_silent = !agent.reads_standard_error() || event == "SessionStart";
    let warning = match is_silent {
        true => "echo 'hook is not installed here; its hooks do not run' >&2; ",
        false => "",
    };
    // This code tells an extension that no hook could be run.
    let code = if agent.uses_extension() { 127 } else { 0 };
    format!("{guarded}{warning}exit {code}")
}

/// Returns the folder of a binary as a shell word, unless it is a usual one. A folder in the HOME
/// directory is written without the user's name.
fn written_folder(binary: &Path) -> Option<String> {
    let folder = binary.parent()?;
    let below_home = home().and_then(|home| folder.strip_prefix(home).map(Path::to_path_buf).ok());
    let word = match below_home {
        Some(below) if below.as_os_str().is_empty() => "~".to_owned(),
        Some(below) => format!("~/{}", hook_shell::quote(&below.to_string_lossy())),
        None => hook_shell::quote(&folder.to_string_lossy()),
    };
    (!USUAL_FOLDERS.contains(&word.as_str())).then_some(word)
}

/// Returns the binary that such a command names, if any. A project's command may find another one.
pub(super) fn binary_of(command: &str) -> Option<PathBuf> {
    let of_project = || Some(command.split_once(BINARY_MARKERS.0)?.1);
    if let Some(rest) = command.strip_prefix(USER_START).or_else(of_project) {
        let word = render::last_shell_word(rest.split_once(BINARY_MARKERS.1)?.0)?;
        let folder = match word.strip_prefix('~') {
            Some(below) => home()?.join(below.trim_start_matches('/')),
            None => PathBuf::from(word),
        };
        return Some(folder)
            .filter(|folder| folder != Path::new("/"))
            .map(|folder| folder.join("hook"));
    }
    let (before, _) = command.rsplit_once(" bridge ")?;
    if cfg!(windows) {
        let path = before.trim_start_matches("& ").trim_matches('"');
        return Some(PathBuf::from(path)).filter(|path| path.is_absolute());
    }
    let word = render::last_shell_word(before)?;
    Some(PathBuf::from(word)).filter(|path| path.is_absolute())
}
