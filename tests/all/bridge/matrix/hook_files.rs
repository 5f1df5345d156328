//! Hook files as people write them for each agent: one guard for each kind of act, a script that reads the
//! agent's own fields and answers in the agent's own way.
//!
//! Events, matchers, fields and answers are those of docs/agents and of public hook files; what differs from
//! agent to agent is data here.

use std::fs;
use std::path::PathBuf;

use hook_tests::Project;
use serde_json::{Value, json};

/// What a guard is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Shell,
    Read,
    File,
    /// A file that was edited.
    Edited,
    Prompt,
    Start,
    End,
}

impl Kind {
    pub(super) const ALL: [Self; 7] =
        [Self::Shell, Self::Read, Self::File, Self::Edited, Self::Prompt, Self::Start, Self::End];

    fn word(self) -> &'static str {
        match self {
            Self::Shell => "shell",
            Self::Read => "read",
            Self::File => "file",
            Self::Edited => "edited",
            Self::Prompt => "prompt",
            Self::Start => "start",
            Self::End => "end",
        }
    }
}

/// How a tool's call is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tool {
    /// Names, any of which may be there.
    pub(super) names: &'static [&'static str],
    /// Names of fields, each of which may be spelled in several ways.
    pub(super) path: &'static [&'static str],
    pub(super) texts: &'static [&'static [&'static str]],
}

/// A guard: the hook, and how its script answers.
#[derive(Debug, Clone, Copy)]
struct Guard {
    kind: Kind,
    event: &'static str,
    matcher: &'static str,
    /// The field that the script looks at: an extended expression for its name.
    field: &'static str,
    /// What the script does where it objects; `REASON` stands for its words.
    deny: &'static str,
    /// What it does where it does not.
    pass: &'static str,
}

const fn guard(
    kind: Kind,
    event: &'static str,
    matcher: &'static str,
    field: &'static str,
    deny: &'static str,
    pass: &'static str,
) -> Guard {
    Guard { kind, event, matcher, field, deny, pass }
}

/// A language of hook files.
#[derive(Debug)]
pub(super) struct HookFile {
    /// What it is called here.
    pub(super) name: &'static str,
    /// The agent in whose language it is; `native` for ours.
    pub(super) agent: &'static str,
    /// Where its user keeps it, below the home.
    place: &'static str,
    /// Whether each hook stands in the event's list by itself, its matcher with it.
    is_flat: bool,
    /// What stands beside `hooks`.
    beside: &'static str,
    guards: &'static [Guard],
    /// The names of the tool and of its arguments in the input.
    pub(super) tool_name: &'static str,
    pub(super) arguments: &'static str,
    /// Where shell commands are, if not among the arguments, and so on.
    pub(super) shell: Tool,
    pub(super) read: Tool,
    pub(super) write: Tool,
    pub(super) edit: Tool,
}

/// What a block before a tool looks like in Claude Code's words; Codex CLI's, Qwen Code's and VS Code's are the same.
const CLAUDES: &str = r#"printf '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"REASON"}}\n'; exit 0"#;
const EXIT_TWO: &str = r#"echo "REASON" >&2; exit 2"#;
const BLOCK: &str = r#"printf '{"decision":"block","reason":"REASON"}\n'; exit 0"#;
const DENY: &str = r#"printf '{"decision":"deny","reason":"REASON"}\n'; exit 0"#;
const SILENT: &str = "exit 0";
/// Lifts no prompt in Gemini CLI, llxprt, nor here.
const ALLOW: &str = r#"printf '{"decision":"allow"}\n'; exit 0"#;
const EMPTY: &str = r"printf '{}\n'; exit 0";
const CONTINUE: &str = r#"printf '{"continue":true}\n'; exit 0"#;
const CURSOR_DENY: &str =
    r#"printf '{"permission":"deny","user_message":"REASON","agent_message":"REASON"}\n'; exit 0"#;
const CURSOR_ALLOW: &str = r#"printf '{"permission":"allow"}\n'; exit 0"#;
const COPILOT_DENY: &str =
    r#"printf '{"permissionDecision":"deny","permissionDecisionReason":"REASON"}\n'; exit 0"#;

/// The list of files that every input of ours has, in place of a field of the tool's (soundness A 55).
const FILES: &str = "files";

const fn tool(
    names: &'static [&'static str],
    path: &'static [&'static str],
    texts: &'static [&'static [&'static str]],
) -> Tool {
    Tool { names, path, texts }
}

const NONE: Tool = tool(&[], &[], &[]);
const COMMAND: &[&[&str]] = &[&["command"]];
const FILE_PATH: &[&str] = &["file_path"];

/// docs/agents/claude.md; matchers and answers as in public `.claude/settings.json`.
pub(super) const CLAUDE: HookFile = HookFile {
    name: "claude",
    agent: "claude",
    place: ".claude/settings.json",
    is_flat: false,
    beside: "{}",
    guards: &[
        guard(Kind::Shell, "PreToolUse", "Bash", "command", EXIT_TWO, SILENT),
        guard(Kind::Read, "PreToolUse", "Read", "file_path", CLAUDES, SILENT),
        guard(Kind::File, "PreToolUse", "Edit|MultiEdit|Write", "file_path", EXIT_TWO, SILENT),
        guard(Kind::Edited, "PostToolUse", "Edit|MultiEdit|Write", "file_path", SILENT, SILENT),
        guard(Kind::Prompt, "UserPromptSubmit", "", "prompt", BLOCK, SILENT),
        guard(Kind::Start, "SessionStart", "", "session_id", EXIT_TWO, SILENT),
        guard(Kind::End, "Stop", "", "session_id", BLOCK, SILENT),
    ],
    tool_name: "/tool_name",
    arguments: "/tool_input",
    shell: tool(&["Bash"], &[], COMMAND),
    read: tool(&["Read"], FILE_PATH, &[]),
    write: tool(&["Write"], FILE_PATH, &[&["content"]]),
    edit: tool(&["Edit"], FILE_PATH, &[&["old_string"], &["new_string"]]),
};

/// docs/agents/gemini.md.
pub(super) const GEMINI: HookFile = HookFile {
    name: "gemini",
    agent: "gemini",
    place: ".gemini/settings.json",
    guards: &[
        guard(Kind::Shell, "BeforeTool", "run_shell_command", "command", EXIT_TWO, ALLOW),
        guard(Kind::Read, "BeforeTool", "read_file", "file_path", DENY, ALLOW),
        guard(Kind::File, "BeforeTool", "write_file|replace", "file_path", DENY, ALLOW),
        guard(Kind::Edited, "AfterTool", "write_file|replace", "file_path", SILENT, SILENT),
        guard(Kind::Prompt, "BeforeAgent", "", "prompt", DENY, ALLOW),
        guard(Kind::Start, "SessionStart", "", "session_id", EXIT_TWO, SILENT),
        guard(Kind::End, "AfterAgent", "", "session_id", DENY, ALLOW),
    ],
    shell: tool(&["run_shell_command"], &[], COMMAND),
    read: tool(&["read_file"], FILE_PATH, &[]),
    write: tool(&["write_file"], FILE_PATH, &[&["content"]]),
    edit: tool(&["replace"], FILE_PATH, &[&["old_string"], &["new_string"]]),
    ..CLAUDE
};

/// docs/agents/llxprt.md: its hooks run only where its settings say so.
pub(super) const LLXPRT: HookFile = HookFile {
    name: "llxprt",
    agent: "llxprt",
    place: ".config/llxprt-code/settings.json",
    beside: r#"{"hooksConfig": {"enabled": true}}"#,
    ..GEMINI
};

/// docs/agents/qwen.md.
pub(super) const QWEN: HookFile = HookFile {
    name: "qwen",
    agent: "qwen",
    place: ".qwen/settings.json",
    guards: &[
        guard(Kind::Shell, "PreToolUse", "run_shell_command", "command", EXIT_TWO, SILENT),
        guard(Kind::Read, "PreToolUse", "read_file", "file_path", CLAUDES, SILENT),
        guard(Kind::File, "PreToolUse", "^(write_file|edit)$", "file_path", CLAUDES, EMPTY),
        guard(Kind::Edited, "PostToolUse", "^(write_file|edit)$", "file_path", SILENT, SILENT),
        guard(Kind::Prompt, "UserPromptSubmit", "", "prompt", BLOCK, SILENT),
        guard(Kind::Start, "SessionStart", "", "session_id", EXIT_TWO, SILENT),
        guard(Kind::End, "Stop", "", "session_id", BLOCK, SILENT),
    ],
    edit: tool(&["edit"], FILE_PATH, &[&["old_string"], &["new_string"]]),
    ..GEMINI
};

/// docs/agents/codex.md: no tool reads files; every change is a patch.
pub(super) const CODEX: HookFile = HookFile {
    name: "codex",
    agent: "codex",
    place: ".codex/hooks.json",
    guards: &[
        guard(Kind::Shell, "PreToolUse", "^Bash$", "command", EXIT_TWO, SILENT),
        guard(Kind::File, "PreToolUse", "Edit|Write|apply_patch", "command", CLAUDES, SILENT),
        guard(Kind::Edited, "PostToolUse", "Edit|Write|apply_patch", "command", SILENT, SILENT),
        guard(Kind::Prompt, "UserPromptSubmit", "", "prompt", BLOCK, SILENT),
        guard(Kind::Start, "SessionStart", "startup|resume", "session_id", EXIT_TWO, SILENT),
        guard(Kind::End, "Stop", "", "session_id", BLOCK, EMPTY),
    ],
    read: NONE,
    write: tool(&["apply_patch"], &[], COMMAND),
    edit: tool(&["apply_patch"], &[], COMMAND),
    ..CLAUDE
};

/// docs/agents/cursor.md; both spellings of fields are in public hooks.
pub(super) const CURSOR: HookFile = HookFile {
    name: "cursor",
    agent: "cursor",
    place: ".cursor/hooks.json",
    is_flat: true,
    beside: r#"{"version": 1}"#,
    guards: &[
        guard(Kind::Shell, "beforeShellExecution", "", "command", CURSOR_DENY, CURSOR_ALLOW),
        guard(Kind::Read, "beforeReadFile", "", "file_path", CURSOR_DENY, CURSOR_ALLOW),
        guard(
            Kind::File,
            "preToolUse",
            "Write|StrReplace",
            "(file_)?path",
            CURSOR_DENY,
            CURSOR_ALLOW,
        ),
        guard(Kind::Edited, "afterFileEdit", "", "file_path", SILENT, SILENT),
        guard(
            Kind::Prompt,
            "beforeSubmitPrompt",
            "",
            "prompt",
            r#"printf '{"continue":false,"user_message":"REASON"}\n'; exit 0"#,
            CONTINUE,
        ),
        guard(Kind::Start, "sessionStart", "", "conversation_id", EXIT_TWO, EMPTY),
        guard(
            Kind::End,
            "stop",
            "",
            "conversation_id",
            r#"printf '{"followup_message":"REASON"}\n'; exit 0"#,
            EMPTY,
        ),
    ],
    // Reading and running have events of their own, which name no tool.
    shell: tool(&[], &[], COMMAND),
    read: tool(&[], FILE_PATH, &[]),
    write: tool(&["Write"], &["file_path", "path"], &[&["content", "contents"]]),
    edit: tool(
        &["Write", "StrReplace"],
        &["file_path", "path"],
        &[&["old_string"], &["new_string"]],
    ),
    ..CLAUDE
};

/// docs/agents/copilot.md; a prompt and a session's start cannot be refused.
pub(super) const COPILOT: HookFile = HookFile {
    name: "copilot",
    agent: "copilot",
    place: ".copilot/hooks/guards.json",
    is_flat: true,
    beside: r#"{"version": 1}"#,
    guards: &[
        guard(Kind::Shell, "preToolUse", "bash", "command", COPILOT_DENY, SILENT),
        guard(Kind::Read, "preToolUse", "view", "path", COPILOT_DENY, SILENT),
        guard(Kind::File, "preToolUse", "create|edit", "path", COPILOT_DENY, EMPTY),
        guard(Kind::Edited, "postToolUse", "create|edit", "path", SILENT, SILENT),
        guard(Kind::Prompt, "userPromptSubmitted", "", "prompt", EXIT_TWO, SILENT),
        guard(Kind::Start, "sessionStart", "", "sessionId", EXIT_TWO, SILENT),
        guard(Kind::End, "agentStop", "", "sessionId", BLOCK, SILENT),
    ],
    tool_name: "/toolName",
    arguments: "/toolArgs",
    shell: tool(&["bash"], &[], COMMAND),
    read: tool(&["view"], &["path"], &[]),
    write: tool(&["create"], &["path"], &[&["file_text"]]),
    edit: tool(&["edit"], &["path"], &[&["old_str"], &["new_str"]]),
};

/// docs/agents/vscode.md: matchers are passed over, so scripts look at the tool's name.
pub(super) const VSCODE: HookFile = HookFile {
    name: "vscode",
    agent: "vscode",
    place: ".copilot/hooks/guards.json",
    is_flat: true,
    beside: "{}",
    guards: &[
        guard(Kind::Shell, "PreToolUse", "", "command", EXIT_TWO, CONTINUE),
        guard(Kind::Read, "PreToolUse", "", "filePath", CLAUDES, CONTINUE),
        guard(Kind::File, "PreToolUse", "", "filePath", CLAUDES, CONTINUE),
        guard(Kind::Edited, "PostToolUse", "", "filePath", SILENT, SILENT),
        guard(Kind::Prompt, "UserPromptSubmit", "", "prompt", EXIT_TWO, CONTINUE),
        guard(Kind::Start, "SessionStart", "", "sessionId", EXIT_TWO, CONTINUE),
        guard(
            Kind::End,
            "Stop",
            "",
            "sessionId",
            r#"printf '{"hookSpecificOutput":{"hookEventName":"Stop","decision":"block","reason":"REASON"}}\n'; exit 0"#,
            CONTINUE,
        ),
    ],
    shell: tool(&["run_in_terminal"], &[], COMMAND),
    read: tool(&["read_file"], &["filePath"], &[]),
    write: tool(&["create_file"], &["filePath"], &[&["content"]]),
    edit: tool(&["replace_string_in_file"], &["filePath"], &[&["oldString"], &["newString"]]),
    ..CLAUDE
};

/// Ours, by names of tools: docs/events.md.
pub(super) const NATIVE: HookFile = HookFile {
    name: "native",
    agent: "native",
    place: ".config/hooks/settings.json",
    guards: &[
        guard(Kind::Shell, "BeforeTool", "run_shell_command", "command", EXIT_TWO, ALLOW),
        guard(Kind::Read, "BeforeTool", "read_file", "file_path", DENY, ALLOW),
        guard(Kind::File, "BeforeTool", "write_file|replace", FILES, DENY, ALLOW),
        guard(Kind::Edited, "AfterTool", "write_file|replace", FILES, SILENT, SILENT),
        guard(Kind::Prompt, "BeforeAgent", "", "prompt", DENY, ALLOW),
        guard(Kind::Start, "SessionStart", "", "session_id", EXIT_TWO, SILENT),
        guard(Kind::End, "AfterAgent", "", "session_id", DENY, ALLOW),
    ],
    ..GEMINI
};

/// Ours, by kinds of tools: docs/events.md.
pub(super) const KINDS: HookFile = HookFile {
    name: "kinds",
    guards: &[
        guard(Kind::Shell, "BeforeTool", r#"{"kind": "shell"}"#, "command", EXIT_TWO, ALLOW),
        guard(Kind::Read, "BeforeTool", r#"{"kind": "file_read"}"#, FILES, DENY, ALLOW),
        guard(Kind::File, "BeforeTool", r#"{"kind": "file_write"}"#, FILES, DENY, SILENT),
        guard(Kind::Edited, "AfterTool", r#"{"kind": "file_write"}"#, FILES, SILENT, SILENT),
    ],
    ..NATIVE
};

/// Where hooks in an agent's language stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// The asking agent's own, named on the command line.
    Own,
    /// In the place of an agent that is named on the command line, or in settings of ours.
    Found,
    /// In settings of ours, with their language: the asking agent runs by itself what stands in the other's place.
    Imported,
}

impl HookFile {
    pub(super) fn standing(&self, agent: &str) -> Standing {
        match (agent, self.agent) {
            (agent, own) if agent == own => Standing::Own,
            // Cursor and VS Code read Claude Code's files, and Copilot CLI and VS Code each other's.
            ("cursor" | "vscode", "claude") | ("vscode", "copilot") | ("copilot", "vscode") => {
                Standing::Imported
            }
            _ => Standing::Found,
        }
    }

    /// What a guard says where it objects.
    pub(super) fn reason(&self, kind: Kind) -> String {
        format!("the {} guard of {} says no", kind.word(), self.name)
    }

    /// Writes the file and its scripts for whom is to ask, and returns what the command line says of it.
    pub(super) fn write(&self, agent: &str, project: &Project) -> Vec<String> {
        self.write_with(agent, project, &[])
    }

    /// The same with texts of the file replaced.
    pub(super) fn write_with(
        &self,
        agent: &str,
        project: &Project,
        replaced: &[(&str, &str)],
    ) -> Vec<String> {
        let standing = self.standing(agent);
        let path = self.write_standing(standing, project, replaced).display().to_string();
        match standing {
            Standing::Own => vec!["--settings".to_owned(), path],
            Standing::Found if self.agent != "native" => {
                vec!["--agent".to_owned(), self.agent.to_owned()]
            }
            _ => vec![],
        }
    }

    /// Writes the file where the agent keeps it.
    pub(super) fn write_where_found(&self, project: &Project) {
        self.write_standing(Standing::Found, project, &[]);
    }

    fn write_standing(
        &self,
        standing: Standing,
        project: &Project,
        replaced: &[(&str, &str)],
    ) -> PathBuf {
        let mut hooks = json!({});
        for guard in self.guards {
            let script = write_below(
                project,
                &format!("guards/{}.sh", guard.kind.word()),
                &self.script(guard),
            );
            let mut hook =
                json!({"type": "command", "command": format!("sh '{}'", script.display())});
            if self.agent == "copilot" {
                hook = json!({"type": "command", "bash": hook["command"]});
            }
            let mut entry = hook.clone();
            if !self.is_flat {
                entry = json!({"hooks": [hook]});
            }
            if !guard.matcher.is_empty() {
                let object = serde_json::from_str(guard.matcher).ok().filter(Value::is_object);
                entry["matcher"] = object.unwrap_or_else(|| json!(guard.matcher));
            }
            if standing == Standing::Imported {
                entry["language"] = json!(self.agent);
            }
            match hooks[guard.event].as_array_mut() {
                Some(entries) => entries.push(entry),
                None => hooks[guard.event] = json!([entry]),
            }
        }
        let mut file: Value = serde_json::from_str(self.beside).unwrap();
        file["hooks"] = hooks;
        let mut place = self.place;
        if standing == Standing::Imported {
            file = json!({"hooks": file["hooks"]});
            place = NATIVE.place;
        }
        let mut text = file.to_string();
        for (from, to) in replaced {
            assert!(text.contains(from), "{from} in {text}");
            text = text.replace(from, to);
        }
        write_below(project, place, &text)
    }

    /// A script as people write them: it writes down its input, looks at its own field, and answers.
    fn script(&self, guard: &Guard) -> String {
        let word = guard.kind.word();
        let mut guarded = String::new();
        if self.agent == "vscode"
            && let Some(tools) = self.tools_of(guard.kind)
        {
            guarded = format!(
                "case \"$(field tool_name)\" in\n{tools}) ;;\n*) exit 0 ;;\nesac\n",
                tools = tools.join("|")
            );
        }
        let deny = guard.deny.replace("REASON", &self.reason(guard.kind));
        format!(
            r#"#!/bin/sh
input=$(cat)
field() {{
    printf '%s' "$input" | sed -nE 's/.*"'"$1"'" *: *{value}.*/\{group}/p'
}}
{guarded}printf '%s\n' "$input" >> "$HOME/calls.{word}"
case "$(field '{field}')" in
*secret*) {deny} ;;
esac
{pass}
"#,
            field = guard.field,
            value = if guard.field == FILES { r"\[([^]]*)\]" } else { r#""(([^"\\]|\\.)*)""# },
            // An expression with a group of its own moves the value to the next one.
            group = if guard.field.contains('(') { 2 } else { 1 },
            pass = guard.pass,
        )
    }

    fn tools_of(&self, kind: Kind) -> Option<Vec<&'static str>> {
        match kind {
            Kind::Shell => Some(self.shell.names.to_vec()),
            Kind::Read => Some(self.read.names.to_vec()),
            Kind::File | Kind::Edited => {
                let several = ["multi_replace_string_in_file"];
                Some([self.write.names, self.edit.names, &several].concat())
            }
            _ => None,
        }
    }

    /// The event and the field of the guard for that, if the agent has such acts.
    pub(super) fn guarded(&self, kind: Kind) -> Option<(&'static str, &'static str)> {
        let guard = self.guards.iter().find(|guard| guard.kind == kind);
        guard.map(|guard| (guard.event, guard.field))
    }

    /// The inputs that a guard was run with.
    pub(super) fn calls(project: &Project, kind: Kind) -> Vec<Value> {
        let path = project.home().join(format!("calls.{}", kind.word()));
        let calls = fs::read_to_string(path).unwrap_or_default();
        calls
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|_| json!(line)))
            .collect()
    }
}

/// Writes a file below the user's home.
pub(super) fn write_below(project: &Project, path: &str, text: &str) -> PathBuf {
    let path = project.home().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path
}
