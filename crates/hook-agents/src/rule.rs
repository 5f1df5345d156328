//! Claude Code's permission rules, as conditions (`if`) of hooks.

use hook_json::{JsonObject, RawJson};
use hook_protocol::event::Matching;
use hook_settings::FailBehavior;
use hook_settings::matcher::{MatchOutcome, Matcher};
use std::sync::Arc;

use super::table::{AgentEvent, Subject};

/// The arguments that hold a path.
const PATHS: [&str; 3] = ["file_path", "notebook_path", "path"];

/// Checks whether a rule such as `Bash(git *)` or `Edit(src/**)` matches a call. No rule matches an
/// event without a tool.
pub(super) fn matches(event: &AgentEvent, rule: &str, input: &JsonObject) -> bool {
    if event.subject != Subject::Tool {
        return false;
    }
    let text = |name: &str| input.get(name).and_then(RawJson::to_text);
    let Some(tool) = text("tool_name") else { return false };
    let (name, inner) = match rule.trim().split_once('(') {
        Some((name, rest)) => (name.trim(), rest.strip_suffix(')')),
        None => (rule.trim(), None),
    };
    let edit_tools = ["Write", "MultiEdit", "NotebookEdit"];
    let is_server_rule = name.starts_with("mcp__") && tool.starts_with(&format!("{name}__"));
    let is_named = name == tool
        || name == "Edit" && edit_tools.contains(&tool.as_str())
        || is_server_rule
        || name.contains('*') && matches_glob(name, &tool, true);
    if !is_named {
        return false;
    }
    let Some(inner) = inner.map(str::trim).filter(|inner| !inner.is_empty() && *inner != "*")
    else {
        return true;
    };
    let arguments =
        input.get("tool_input").and_then(|value| value.to_object().ok()).unwrap_or_default();
    let argument = |name: &str| arguments.get(name).and_then(RawJson::to_text);
    if let Some(command) = argument("command") {
        // A command that cannot be parsed might be anything.
        if has_open_quote(&command) {
            return true;
        }
        return command_parts(&command).iter().any(|part| matches_glob(inner, part, true));
    }
    if let Some(host) = inner.strip_prefix("domain:") {
        let is_host = |url: String| {
            let rest = url.split_once("://").map_or(&*url, |(_, rest)| rest);
            let end = rest.find(['/', '?', '#', ':']).unwrap_or(rest.len());
            let host_of_url = rest.get(..end).unwrap_or_default();
            host_of_url == host || host_of_url.ends_with(&format!(".{host}"))
        };
        return argument("url").is_some_and(is_host);
    }
    if let Some(agent) = argument("subagent_type") {
        return matches_glob(inner, &agent, true);
    }
    let cwd = text("cwd").unwrap_or_default();
    let Some(path) = PATHS.iter().find_map(|name| argument(name)) else { return true };
    let relative = path.strip_prefix(&cwd).map(|rest| rest.trim_start_matches('/'));
    let inner = inner.strip_prefix("./").unwrap_or(inner);
    let absolute = inner.strip_prefix("//").map(|rest| format!("/{rest}"));
    let inner = absolute.as_deref().unwrap_or(inner);
    if let Some(home_pattern) = inner.strip_prefix("~/") {
        return matches_glob(&format!("**/{home_pattern}"), &path, false);
    }
    let below = format!("{}/**", inner.trim_start_matches('/'));
    if relative.is_some_and(|relative| matches_glob(&below, relative, false)) {
        return true;
    }
    let is_bare_name = !inner.contains('/');
    let file_name = path.rsplit('/').next().unwrap_or_default();
    matches_glob(inner, &path, false)
        || relative
            .is_some_and(|relative| matches_glob(inner.trim_start_matches('/'), relative, false))
        || is_bare_name && matches_glob(inner, file_name, false)
}

/// Returns the commands of a shell text without leading variables, including substitutions.
fn command_parts(command: &str) -> Vec<String> {
    let separated = command.replace("&&", "\n").replace("||", "\n").replace("$(", "\n");
    let separated = separated.split(['\n', ';', '|', '&', '`', '(', ')', '{', '}']);
    let plain = |part: &str| {
        let words = without_variables(part).split_whitespace();
        words.collect::<Vec<_>>().join(" ")
    };
    let mut parts: Vec<String> = separated.map(plain).collect();
    parts.push(plain(command));
    // Also compare without quotes and without wrapper commands.
    let unwrapped: Vec<String> = parts
        .iter()
        .flat_map(|part| [part.clone(), part.replace(['"', '\'', '\\'], "")])
        .map(|part| without_wrappers(&part).to_owned())
        .collect();
    parts.extend(unwrapped);
    parts.retain(|part| !part.is_empty());
    parts
}

/// Removes wrappers such as `timeout`, and redirections, from the start of a command.
fn without_wrappers(part: &str) -> &str {
    let mut rest = part;
    loop {
        let (word, remainder) = rest.split_once(' ').unwrap_or((rest, ""));
        // Skips options and their values.
        let skipped_length = |mut rest: &str, valued_options: &[&str], operands: usize| -> usize {
            let length = rest.len();
            let next =
                |rest: &str| rest.split_once(' ').map_or(rest.len(), |(word, _)| word.len() + 1);
            while rest.starts_with('-') {
                let option = rest.split(' ').next().unwrap_or_default();
                for _ in 0..1 + usize::from(valued_options.contains(&option)) {
                    rest = rest.get(next(rest)..).unwrap_or_default();
                }
            }
            for _ in 0..operands {
                rest = rest.get(next(rest)..).unwrap_or_default();
            }
            length - rest.len()
        };
        let is_redirection = word
            .trim_start_matches(|character: char| character.is_ascii_digit())
            .starts_with(['>', '<']);
        let wrapper_length = match word {
            "timeout" => skipped_length(remainder, &["-k", "-s"], 1),
            "nice" => skipped_length(remainder, &["-n"], 0),
            "stdbuf" | "nohup" | "time" | "command" | "coproc" | "exec" | "xargs" | "env" => {
                skipped_length(remainder, &["-i", "-o", "-e", "-n", "-I", "-P", "-L", "-u"], 0)
            }
            _ if is_redirection => {
                usize::from(word.ends_with(['>', '<'])) * skipped_length(remainder, &[], 1)
            }
            _ => return rest,
        };
        rest = remainder.get(wrapper_length..).unwrap_or_default();
        if rest.is_empty() {
            return rest;
        }
    }
}

/// Checks whether a quote is not closed.
fn has_open_quote(command: &str) -> bool {
    let mut open_quote = None;
    let mut characters = command.chars();
    while let Some(character) = characters.next() {
        match (open_quote, character) {
            (None | Some('"'), '\\') => drop(characters.next()),
            (None, '\'' | '"') => open_quote = Some(character),
            (Some(quote), closing) if quote == closing => open_quote = None,
            _ => {}
        }
    }
    open_quote.is_some()
}

/// Shell keywords before a command.
const KEYWORDS: [&str; 9] = ["do", "then", "else", "elif", "if", "while", "until", "!", "time"];

fn without_variables(part: &str) -> &str {
    let mut rest = part.trim();
    loop {
        let word = rest.split_whitespace().next().unwrap_or_default();
        if KEYWORDS.contains(&word) {
            rest = rest.get(word.len()..).unwrap_or_default().trim_start();
            continue;
        }
        let is_name = |name: &str| {
            !name.is_empty()
                && name
                    .chars()
                    .all(|character| character.is_ascii_alphanumeric() || character == '_')
        };
        let Some((_, value)) = rest.split_once('=').filter(|(name, _)| is_name(name)) else {
            return rest;
        };
        // A quoted value may contain blanks.
        let quote = value.chars().next().filter(|character| matches!(character, '\'' | '"'));
        let end = match quote {
            Some(quote) => {
                value.get(1..).and_then(|inner| inner.find(quote)).map(|position| position + 2)
            }
            None => value.find(char::is_whitespace),
        };
        let Some(after) = end.and_then(|end| value.get(end..)) else { return rest };
        rest = after.trim_start();
    }
}

/// Checks whether a text matches a pattern. `*` stands for any text, but not for `/` in a path;
/// `**` does. In a command, `git:*` matches `git` with any arguments.
fn matches_glob(pattern: &str, text: &str, is_command: bool) -> bool {
    if is_command && let Some(prefix) = pattern.strip_suffix(":*") {
        return text == prefix
            || text.strip_prefix(prefix).is_some_and(|arguments| arguments.starts_with(' '));
    }
    if is_command
        && let Some(prefix) = pattern.strip_suffix(" *")
        && text == prefix
    {
        return true;
    }
    let mut expression = String::from("^");
    let mut rest = pattern.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '*' if rest.peek() == Some(&'*') => {
                rest.next();
                expression.push_str(r"[\s\S]*");
            }
            '*' if is_command => expression.push_str(r"[\s\S]*"),
            '*' => expression.push_str("[^/]*"),
            other if other.is_ascii_alphanumeric() || other == '_' || !other.is_ascii() => {
                expression.push(other)
            }
            other => {
                expression.push('\\');
                expression.push(other);
            }
        }
    }
    expression.push('$');
    let definition = Some(Arc::new(expression.as_str().into()));
    let (matcher, _) = Matcher::compile(definition, Matching::TOOL_NAME, FailBehavior::Continue);
    matcher.matches(Some(text)) != MatchOutcome::No
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent;

    #[test]
    fn a_rule_is_about_a_tool_and_what_it_is_called_with() {
        let event = agent("claude").unwrap().event("PreToolUse").unwrap();
        let call = |tool: &str, input: &str| {
            let text = format!(r#"{{"tool_name":"{tool}","tool_input":{input},"cwd":"/p"}}"#);
            RawJson::parse(text).unwrap().to_object().unwrap()
        };
        let shell = |command: &str| call("Bash", &format!(r#"{{"command":"{command}"}}"#));
        let edit = |path: &str| call("Edit", &format!(r#"{{"file_path":"{path}"}}"#));
        for (rule, input, expected) in [
            ("Bash", shell("ls"), true),
            ("Edit", shell("ls"), false),
            ("Bash(git *)", shell("git push"), true),
            ("Bash(git *)", shell("git"), true),
            ("Bash(git *)", shell("gitk"), false),
            ("Bash(git:*)", shell("cd x && A=1 git push"), true),
            ("Bash(rm *)", shell("echo $(rm -r x)"), true),
            ("Bash(rm *)", shell("echo rm"), false),
            ("Bash(rm *)", shell("for i in a; do rm -rf $i; done"), true),
            ("Bash(rm *)", shell("if true; then rm -rf x; fi"), true),
            ("Bash(rm *)", shell("! rm x"), true),
            ("Bash(rm *)", shell("timeout -k 1 5 rm x"), true),
            ("Bash(rm *)", shell("nohup nice -n 5 rm x"), true),
            ("Bash(rm *)", shell("stdbuf -o0 rm x"), true),
            ("Bash(rm *)", shell("ls | xargs rm"), true),
            ("Bash(rm *)", shell("'rm' x"), true),
            ("Bash(rm *)", shell("> f rm x"), true),
            ("Bash(rm *)", shell("2>f rm x"), true),
            ("Bash(rm *)", shell("timeout 5 ls rm"), false),
            ("Bash(rm *)", shell("timeout"), false),
            ("Bash(rm *)", shell("FOO='a b' rm x"), true),
            ("Bash(rm *)", shell("rm\\t-rf x"), true),
            ("Bash(rm *)", shell("echo 'unterminated"), true),
            ("mcp__git", call("mcp__git__push", "{}"), true),
            ("mcp__git", call("mcp__gitlab__push", "{}"), false),
            ("mcp__git__*", call("mcp__git__push", "{}"), true),
            ("WebFetch(domain:a.org)", call("WebFetch", r#"{"url":"https://a.org/x"}"#), true),
            (
                "WebFetch(domain:a.org)",
                call("WebFetch", r#"{"url":"https://b.org/?a.org"}"#),
                false,
            ),
            ("Agent(Explore)", call("Agent", r#"{"subagent_type":"Plan"}"#), false),
            ("Read(~/.ssh/**)", call("Read", r#"{"file_path":"/home/u/.ssh/id"}"#), true),
            ("Edit(src)", edit("/p/src/a.rs"), true),
            ("Edit(src/**)", edit("/p/src/a/b.rs"), true),
            ("Edit(src/**)", edit("/p/lib/a.rs"), false),
            ("Edit(*.env)", edit("/p/x/.env"), true),
            ("Edit(*.ts)", edit("/p/a.ts"), true),
            ("Edit(*.ts)", edit("/p/a.rs"), false),
        ] {
            assert_eq!(matches(event, rule, &input), expected, "{rule} {input:?}");
        }
        let stop = agent("claude").unwrap().event("Stop").unwrap();
        assert!(!matches(stop, "Bash", &shell("ls")));
    }
}
