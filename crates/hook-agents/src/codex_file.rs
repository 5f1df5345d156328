//! Codex's strict reading of its own files: one value of another type, or one unknown key beside
//! `hooks`, and Codex runs none of a file's hooks, or does not start.

use hook_json::RawJson;
use hook_json::text::shortened;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::edit_error::ForeignEditError;

/// Returns the mistake for which Codex refuses its `hooks.json`, in Codex's words (seen with 0.169.0).
/// `None` for a text that is not JSON, which all readers refuse.
pub(super) fn mistake_in_json(text: &str) -> Option<ForeignEditError> {
    RawJson::parse(text).ok()?;
    let error = serde_json::from_str::<HooksFile>(text).err()?;
    let lines = text.split_inclusive('\n').take(error.line().saturating_sub(1));
    let at = lines.map(str::len).sum::<usize>() + error.column().saturating_sub(1);
    Some(ForeignEditError { at: at..at + 1, message: message_of(&error) })
}

/// Returns the mistake for which Codex refuses its `config.toml`, and does not start. The positions
/// of TOML that was converted to JSON are lost.
pub(super) fn mistake_in_toml(json: &str) -> Option<ForeignEditError> {
    let error = serde_json::from_str::<Configuration>(json).err()?;
    Some(ForeignEditError { at: 0..0, message: message_of(&error) })
}

/// Returns the message without its position, on one line: it repeats keys and values of the file.
fn message_of(error: &serde_json::Error) -> String {
    let message = error.to_string();
    shortened(message.rsplit_once(" at line ").map_or(&*message, |(message, _)| message))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HooksFile {
    #[serde(rename = "description")]
    _description: Option<String>,
    #[serde(default, rename = "hooks")]
    _hooks: Events,
}

#[derive(Deserialize)]
struct Configuration {
    #[serde(default, rename = "hooks")]
    _hooks: Events,
}

/// Events with another name may have any value.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct Events {
    session_start: Vec<Group>,
    session_end: Vec<Group>,
    user_prompt_submit: Vec<Group>,
    pre_tool_use: Vec<Group>,
    permission_request: Vec<Group>,
    post_tool_use: Vec<Group>,
    pre_compact: Vec<Group>,
    post_compact: Vec<Group>,
    subagent_start: Vec<Group>,
    subagent_stop: Vec<Group>,
    stop: Vec<Group>,
    interrupt: Vec<Group>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "only their types matter")]
struct Group {
    matcher: Option<String>,
    #[serde(default)]
    hooks: Vec<Handler>,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[expect(dead_code, reason = "only their types matter")]
enum Handler {
    #[serde(rename_all = "camelCase")]
    Command {
        command: String,
        #[serde(alias = "command_windows")]
        command_windows: Option<String>,
        timeout: Option<u64>,
        #[serde(default)]
        r#async: bool,
        status_message: Option<String>,
        additional_context_limit: Option<usize>,
    },
    McpTool {
        server: String,
        tool: String,
    },
    Prompt(IgnoredAny),
    Agent(IgnoredAny),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_codex_refuses_is_refused() {
        let hook = |fields: &str| {
            format!(
                r#"{{"hooks":{{"Stop":[{{"hooks":[{{"type":"command","command":"x"{fields}}}]}}]}}}}"#
            )
        };
        let group = |fields: &str| format!(r#"{{"hooks":{{"PreToolUse":[{{{fields}}}]}}}}"#);
        for accepted in [
            "{}".to_owned(),
            r#"{"description":null,"hooks":{"NoSuch":3,"state":3,"pre_tool_use":3}}"#.to_owned(),
            hook(""),
            hook(r#","timeout":null,"statusMessage":null,"timeoutSec":"x","args":["x"],"env":3"#),
            group(""),
            group(r#""matcher":null,"bogus":1,"hooks":[{"type":"prompt"},{"type":"agent","x":1}]"#),
            group(r#""hooks":[{"type":"mcp_tool","server":"s","tool":"t"}]"#),
        ] {
            assert!(mistake_in_json(&accepted).is_none(), "{accepted}");
        }
        for (refused, expected) in [
            (
                r#"{"$schema":"x","hooks":{}}"#.to_owned(),
                "unknown field `$schema`, expected `description` or `hooks`",
            ),
            (r#"{"description":3}"#.to_owned(), "invalid type: integer `3`, expected a string"),
            (r#"{"hooks":{"Stop":null}}"#.to_owned(), "invalid type: null, expected a sequence"),
            (r#"{"hooks":{},"hooks":{}}"#.to_owned(), "duplicate field `hooks`"),
            (r#"{"hooks":{"Stop":[],"Stop":[]}}"#.to_owned(), "duplicate field `Stop`"),
            (hook(r#","timeout":"5""#), "invalid type: string \"5\", expected u64"),
            (hook(r#","timeout":-1"#), "invalid value: integer `-1`, expected u64"),
            (hook(r#","async":null"#), "invalid type: null, expected a boolean"),
            (hook(r#","command_windows":3"#), "invalid type: integer `3`, expected a string"),
            (group(r#""matcher":3"#), "invalid type: integer `3`, expected a string"),
            (group(r#""hooks":null"#), "invalid type: null, expected a sequence"),
            (group(r#""hooks":[{"type":"command"}]"#), "missing field `command`"),
            (group(r#""hooks":[{"type":"mcp_tool"}]"#), "missing field `server`"),
            (group(r#""hooks":[{"command":"x"}]"#), "missing field `type`"),
            (
                group(r#""hooks":[{"type":"http"}]"#),
                "unknown variant `http`, expected one of `command`, `mcp_tool`, `prompt`, `agent`",
            ),
        ] {
            let mistake = mistake_in_json(&refused).map(|mistake| mistake.message);
            assert_eq!(mistake.as_deref(), Some(expected), "{refused}");
        }
        let deep = format!(r#","x":{}{}"#, "[".repeat(200), "]".repeat(200));
        let beyond = [
            (hook(&deep), "recursion limit exceeded"),
            (hook(r#","x":"\ud800""#), "unexpected end of hex escape"),
            (
                r#"{"\u001b[2J":1}"#.to_owned(),
                "unknown field `\\u{1b}[2J`, expected `description` or `hooks`",
            ),
        ];
        for (refused, expected) in beyond {
            let mistake = mistake_in_json(&refused).map(|mistake| mistake.message);
            assert_eq!(mistake.as_deref(), Some(expected), "{refused}");
        }
        assert!(mistake_in_json("").is_none() && mistake_in_json("{").is_none());
        let toml = r#"{"model":3,"hooks":{"state":{},"Stop":[{"matcher":3}]}}"#;
        assert!(mistake_in_toml(toml).is_some());
        assert!(mistake_in_toml(r#"{"model":3,"hooks":{"state":{}}}"#).is_none());
    }

    #[test]
    fn the_mistake_is_found_in_its_line() {
        let text = "{\n  \"hooks\": {\n    \"Stop\": [{\"matcher\": 3}]\n  }\n}\n";
        let mistake = mistake_in_json(text).unwrap();
        assert_eq!(&text[mistake.at], "3");
    }
}
