//! What agents send before they act: events, tools and arguments that each of them really has.
//!
//! Claude Code, Gemini CLI, Codex CLI, Copilot CLI and Qwen Code as recorded from them; the others as their
//! documents say (docs/agents).

use hook_tests::Project;
use serde_json::{Value, json};

/// The agents that ask.
pub(super) const AGENTS: [&str; 8] =
    ["claude", "gemini", "llxprt", "qwen", "codex", "cursor", "copilot", "vscode"];

/// What a file that is changed holds before, and after.
pub(super) const BEFORE: &str = "before\nOLD-TEXT\nafter\n";
pub(super) const AFTER: &str = "before\nNEW-TEXT\nafter\n";
/// What it holds after two edits.
pub(super) const AFTER_BOTH: &str = "before\nNEW-TEXT\nlater\n";
/// What a new file holds.
pub(super) const NEW: &str = "NEW-TEXT\n";

/// What an agent is about to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    Shell,
    Read,
    Write,
    Edit,
    /// Several edits by one call, of as many files as the agent's tool can take.
    Edits,
    /// A patch that adds a file, and so on.
    Add,
    Update,
    Delete,
    MoveTo,
    MoveFrom,
    /// A patch of three files, the last of which is the one that matters.
    Patch,
    /// A file was edited.
    Edited,
    Prompt,
    Start,
    End,
}

impl Act {
    pub(super) const ALL: [Self; 15] = [
        Self::Shell,
        Self::Read,
        Self::Write,
        Self::Edit,
        Self::Edits,
        Self::Add,
        Self::Update,
        Self::Delete,
        Self::MoveTo,
        Self::MoveFrom,
        Self::Patch,
        Self::Edited,
        Self::Prompt,
        Self::Start,
        Self::End,
    ];

    /// Whether it is made by a patch.
    pub(super) fn is_patch(self) -> bool {
        self.patch("").is_some()
    }

    /// The patch, in the form of Codex's `apply_patch`; `word` is in the name of the file that matters.
    pub(super) fn patch(self, word: &str) -> Option<String> {
        const HUNK: &str = "@@\n before\n-OLD-TEXT\n+NEW-TEXT\n after\n";
        let files = match self {
            Self::Add => format!("*** Add File: {word}.env\n+NEW-TEXT\n"),
            Self::Update => format!("*** Update File: {word}.env\n{HUNK}"),
            Self::Delete => format!("*** Delete File: {word}.env\n"),
            Self::MoveTo => {
                format!("*** Update File: changed.txt\n*** Move to: {word}.env\n{HUNK}")
            }
            Self::MoveFrom => {
                format!("*** Update File: {word}.env\n*** Move to: moved.txt\n{HUNK}")
            }
            Self::Patch => format!(
                "*** Add File: added.txt\n+NEW-TEXT\n*** Update File: changed.txt\n{HUNK}*** Delete File: {word}.env\n"
            ),
            _ => return None,
        };
        Some(format!("*** Begin Patch\n{files}*** End Patch\n"))
    }
}

/// What becomes of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    /// Absolute.
    pub(super) path: String,
    /// What it holds; nothing where it is written as a whole.
    pub(super) before: Option<&'static str>,
    pub(super) after: &'static str,
}

/// What an agent sends.
#[derive(Debug)]
pub(super) struct Input {
    /// Which of several ways the agent has; empty where there is one.
    pub(super) way: &'static str,
    /// The agent's event.
    pub(super) event: &'static str,
    pub(super) value: Value,
    /// What becomes of files, one after the other.
    pub(super) changes: Vec<Change>,
}

/// The inputs of an agent that is about to do that: none where it has no such tool, several where it has
/// several. `word` is in what matters: the command, the file's name, the prompt, the session.
pub(super) fn inputs(agent: &str, act: Act, word: &str, project: &Project) -> Vec<Input> {
    let cwd = project.path().display().to_string();
    let path = |name: &str| format!("{cwd}/{name}");
    let file = path(&format!("{word}.env"));
    let session =
        if matches!(act, Act::Start | Act::End) { format!("{word}-session") } else { "s".into() };
    let event = event(agent, act);
    let input = |way: &'static str, event: &'static str, fields: Value, changes: Vec<Change>| {
        let mut value = base(agent, event, &session, &cwd);
        add(&mut value, &fields);
        Input { way, event, value, changes }
    };
    let call = |way: &'static str, tool: &str, arguments: Value, changes: Vec<Change>| {
        let fields = match agent {
            "copilot" => json!({"toolName": tool, "toolArgs": arguments}),
            "gemini" | "llxprt" => json!({"tool_name": tool, "tool_input": arguments}),
            _ => json!({"tool_name": tool, "tool_input": arguments, "tool_use_id": "call_1"}),
        };
        input(way, event, fields, changes)
    };
    let written = || vec![Change { path: file.clone(), before: None, after: NEW }];
    let edited = || vec![Change { path: file.clone(), before: Some(BEFORE), after: AFTER }];
    let command = format!("cat {word}.txt");
    match (act, agent) {
        (Act::Shell, "claude") => {
            vec![call("", "Bash", json!({"command": command, "description": "Show it"}), vec![])]
        }
        (Act::Shell, "codex") => vec![call("", "Bash", json!({"command": command}), vec![])],
        (Act::Shell, "gemini" | "llxprt" | "qwen") => vec![call(
            "",
            "run_shell_command",
            json!({"command": command, "description": "Show it"}),
            vec![],
        )],
        (Act::Shell, "cursor") => vec![
            call("", "Shell", json!({"command": command, "working_directory": cwd}), vec![]),
            input(
                "beforeShellExecution",
                "beforeShellExecution",
                json!({"command": command, "cwd": cwd, "sandbox": false}),
                vec![],
            ),
        ],
        (Act::Shell, "copilot") => {
            vec![call("", "bash", json!({"command": command, "description": "Show it"}), vec![])]
        }
        (Act::Shell, "vscode") => vec![call(
            "",
            "run_in_terminal",
            json!({"command": command, "explanation": "Show it", "goal": "See it", "isBackground": false}),
            vec![],
        )],

        (Act::Read, "claude") => vec![call("", "Read", json!({"file_path": file}), vec![])],
        (Act::Read, "gemini" | "llxprt" | "qwen") => {
            vec![call("", "read_file", json!({"file_path": file}), vec![])]
        }
        (Act::Read, "cursor") => vec![
            call("", "Read", json!({"file_path": file}), vec![]),
            call("path", "Read", json!({"path": file}), vec![]),
            input(
                "beforeReadFile",
                "beforeReadFile",
                json!({"file_path": file, "content": BEFORE, "attachments": []}),
                vec![],
            ),
        ],
        (Act::Read, "copilot") => vec![call("", "view", json!({"path": file}), vec![])],
        (Act::Read, "vscode") => vec![call(
            "",
            "read_file",
            json!({"filePath": file, "startLine": 1, "endLine": 200}),
            vec![],
        )],

        (Act::Write, "claude") => {
            vec![call("", "Write", json!({"file_path": file, "content": NEW}), written())]
        }
        (Act::Write, "gemini" | "llxprt" | "qwen") => {
            vec![call("", "write_file", json!({"file_path": file, "content": NEW}), written())]
        }
        (Act::Write, "cursor") => vec![
            call("", "Write", json!({"file_path": file, "content": NEW}), written()),
            call("path", "Write", json!({"path": file, "contents": NEW}), written()),
        ],
        (Act::Write, "copilot") => {
            vec![call("", "create", json!({"path": file, "file_text": NEW}), written())]
        }
        (Act::Write, "vscode") => {
            vec![call("", "create_file", json!({"filePath": file, "content": NEW}), written())]
        }

        (Act::Edit, "claude") => vec![call(
            "",
            "Edit",
            json!({"file_path": file, "old_string": "OLD-TEXT", "new_string": "NEW-TEXT", "replace_all": false}),
            edited(),
        )],
        (Act::Edit, "gemini" | "llxprt") => vec![call(
            "",
            "replace",
            json!({"file_path": file, "instruction": "New text", "old_string": "OLD-TEXT", "new_string": "NEW-TEXT"}),
            edited(),
        )],
        (Act::Edit, "qwen") => vec![call(
            "",
            "edit",
            json!({"file_path": file, "old_string": "OLD-TEXT", "new_string": "NEW-TEXT"}),
            edited(),
        )],
        (Act::Edit, "cursor") => vec![
            call(
                "",
                "StrReplace",
                json!({"file_path": file, "old_string": "OLD-TEXT", "new_string": "NEW-TEXT"}),
                edited(),
            ),
            call(
                "path",
                "StrReplace",
                json!({"path": file, "old_string": "OLD-TEXT", "new_string": "NEW-TEXT"}),
                edited(),
            ),
        ],
        (Act::Edit, "copilot") => vec![call(
            "",
            "edit",
            json!({"path": file, "old_str": "OLD-TEXT", "new_str": "NEW-TEXT"}),
            edited(),
        )],
        (Act::Edit, "vscode") => vec![call(
            "",
            "replace_string_in_file",
            json!({"filePath": file, "oldString": "OLD-TEXT", "newString": "NEW-TEXT"}),
            edited(),
        )],

        (Act::Edits, "claude") => {
            let edits = json!([{"old_string": "OLD-TEXT", "new_string": "NEW-TEXT"},
                {"old_string": "after", "new_string": "later"}]);
            let changes =
                vec![Change { path: file.clone(), before: Some(BEFORE), after: AFTER_BOTH }];
            vec![call("", "MultiEdit", json!({"file_path": file, "edits": edits}), changes)]
        }
        (Act::Edits, "vscode") => {
            let other = path("changed.txt");
            let replacements = json!([
                {"filePath": other, "oldString": "OLD-TEXT", "newString": "NEW-TEXT", "explanation": "One"},
                {"filePath": file, "oldString": "OLD-TEXT", "newString": "NEW-TEXT", "explanation": "Two"}]);
            let mut changes = edited();
            changes.insert(0, Change { path: other, before: Some(BEFORE), after: AFTER });
            let arguments = json!({"explanation": "Both", "replacements": replacements});
            vec![call("", "multi_replace_string_in_file", arguments, changes)]
        }

        (_, "codex" | "copilot" | "vscode") if act.is_patch() => {
            let patch = act.patch(word).unwrap();
            let arguments = match agent {
                "codex" => json!({"command": patch}),
                "copilot" => json!(patch),
                _ => json!({"input": patch, "explanation": "Change it"}),
            };
            let change = |name: &str, before, after| Change { path: path(name), before, after };
            let own = format!("{word}.env");
            let changes = match act {
                Act::Add => vec![change(&own, None, NEW)],
                Act::Update => vec![change(&own, Some(BEFORE), AFTER)],
                Act::Delete => vec![change(&own, Some(BEFORE), "")],
                Act::MoveTo => {
                    vec![change("changed.txt", Some(BEFORE), ""), change(&own, None, AFTER)]
                }
                Act::MoveFrom => {
                    vec![change(&own, Some(BEFORE), ""), change("moved.txt", None, AFTER)]
                }
                _ => vec![
                    change("added.txt", None, NEW),
                    change("changed.txt", Some(BEFORE), AFTER),
                    change(&own, Some(BEFORE), ""),
                ],
            };
            vec![call("", "apply_patch", arguments, changes)]
        }

        (Act::Edited, _) => {
            let act = if agent == "codex" { Act::Update } else { Act::Edit };
            let mut after = inputs(agent, act, word, project);
            for input in &mut after {
                input.event = event;
                add(&mut input.value, &result(agent, event));
            }
            if agent == "cursor" {
                let edits = json!([{"old_string": "OLD-TEXT", "new_string": "NEW-TEXT"}]);
                let fields = json!({"file_path": file, "edits": edits});
                after.push(input("afterFileEdit", "afterFileEdit", fields, edited()));
            }
            after
        }
        (Act::Prompt, _) => {
            let prompt = format!("Tell me the {word}");
            let mut fields = json!({"prompt": prompt});
            if agent == "cursor" {
                fields["attachments"] = json!([]);
            }
            vec![input("", event, fields, vec![])]
        }
        (Act::Start, _) => {
            let fields = match agent {
                "cursor" => {
                    json!({"session_id": session, "is_background_agent": false, "composer_mode": "agent"})
                }
                "copilot" => json!({"source": "new", "initialPrompt": "Please"}),
                "vscode" => json!({"source": "new"}),
                _ => json!({"source": "startup"}),
            };
            vec![input("", event, fields, vec![])]
        }
        (Act::End, _) => {
            let fields = match agent {
                "claude" => json!({"stop_hook_active": false, "last_assistant_message": "Done",
                    "background_tasks": [], "session_crons": []}),
                "gemini" | "llxprt" => {
                    json!({"prompt": "Please", "prompt_response": "Done", "stop_hook_active": false})
                }
                "qwen" | "codex" => {
                    json!({"stop_hook_active": false, "last_assistant_message": "Done"})
                }
                "cursor" => json!({"status": "completed", "loop_count": 0}),
                "copilot" => json!({"transcriptPath": "/t", "stopReason": "end_turn",
                    "stop_hook_active": false}),
                _ => json!({"stop_hook_active": false}),
            };
            vec![input("", event, fields, vec![])]
        }
        // Codex has no tools for files, and only it, Copilot and VS Code apply patches; several edits by one
        // call are Claude Code's and VS Code's.
        _ => vec![],
    }
}

/// Lays fields over an object.
fn add(value: &mut Value, fields: &Value) {
    for (name, field) in fields.as_object().unwrap() {
        value[name] = field.clone();
    }
}

/// What the agent says of a tool that has run.
fn result(agent: &str, event: &str) -> Value {
    match agent {
        "claude" | "qwen" => {
            json!({"hook_event_name": event, "tool_response": {"success": true}})
        }
        "gemini" | "llxprt" => json!({"hook_event_name": event,
            "tool_response": {"llmContent": "Done", "returnDisplay": "Done"}}),
        "codex" => json!({"hook_event_name": event, "tool_response": "Done"}),
        "cursor" => {
            json!({"hook_event_name": event, "tool_output": "{\"success\":true}", "duration": 12})
        }
        "copilot" => json!({"toolResult": {"resultType": "success", "textResultForLlm": "Done"}}),
        _ => json!({"hookEventName": event, "tool_response": "Done"}),
    }
}

/// What the agent calls the event.
fn event(agent: &str, act: Act) -> &'static str {
    let [tool, edited, prompt, start, end] = match agent {
        "gemini" | "llxprt" => {
            ["BeforeTool", "AfterTool", "BeforeAgent", "SessionStart", "AfterAgent"]
        }
        "cursor" => ["preToolUse", "postToolUse", "beforeSubmitPrompt", "sessionStart", "stop"],
        "copilot" => {
            ["preToolUse", "postToolUse", "userPromptSubmitted", "sessionStart", "agentStop"]
        }
        _ => ["PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart", "Stop"],
    };
    match act {
        Act::Edited => edited,
        Act::Prompt => prompt,
        Act::Start => start,
        Act::End => end,
        _ => tool,
    }
}

/// What the agent sends with every event.
fn base(agent: &str, event: &str, session: &str, cwd: &str) -> Value {
    const TIME: &str = "2026-11-22T07:40:21.887Z";
    match agent {
        "claude" => json!({"session_id": session, "transcript_path": "/t.jsonl", "cwd": cwd,
            "prompt_id": "p", "permission_mode": "default", "effort": {"level": "medium"},
            "hook_event_name": event}),
        "gemini" | "llxprt" => {
            json!({"session_id": session, "transcript_path": "/t.json", "cwd": cwd,
            "hook_event_name": event, "timestamp": TIME})
        }
        "qwen" => json!({"session_id": session, "transcript_path": "/t.jsonl", "cwd": cwd,
            "hook_event_name": event, "timestamp": TIME, "permission_mode": "default"}),
        "codex" => {
            json!({"session_id": session, "turn_id": "t", "transcript_path": "/t.jsonl", "cwd": cwd,
            "hook_event_name": event, "model": "gpt-5.2", "permission_mode": "default"})
        }
        "cursor" => json!({"conversation_id": session, "generation_id": "g", "model": "m",
            "hook_event_name": event, "cursor_version": "2.4.0", "workspace_roots": [cwd],
            "user_email": "me@example.com", "transcript_path": null}),
        "copilot" => json!({"sessionId": session, "timestamp": 1_795_332_885_769_u64, "cwd": cwd}),
        _ => json!({"timestamp": TIME, "cwd": cwd, "sessionId": session, "hookEventName": event,
            "transcript_path": "/t.json"}),
    }
}

/// The reason of a refusal in the agent's own words, where the answer is one.
pub(super) fn refusal(agent: &str, act: Act, answer: &Value) -> Option<String> {
    let within = &answer["hookSpecificOutput"];
    let (is_refused, reason) = match (act, agent) {
        (Act::Start | Act::Edited, _) => (false, &Value::Null),
        (_, "gemini" | "llxprt") => {
            (answer["decision"] == "deny" || answer["decision"] == "block", &answer["reason"])
        }
        (Act::Prompt, "cursor") => (answer["continue"] == false, &answer["user_message"]),
        (Act::Prompt, "copilot") => (answer["handled"] == true, &answer["responseContent"]),
        (Act::Prompt, "vscode") if answer["continue"] == false => (true, &answer["stopReason"]),
        (Act::End, "cursor") => {
            (answer["followup_message"].is_string(), &answer["followup_message"])
        }
        (Act::End, "vscode") => (within["decision"] == "block", &within["reason"]),
        (Act::Prompt | Act::End, _) => (answer["decision"] == "block", &answer["reason"]),
        (_, "cursor") => (answer["permission"] == "deny", &answer["agent_message"]),
        (_, "copilot") => {
            (answer["permissionDecision"] == "deny", &answer["permissionDecisionReason"])
        }
        _ => (within["permissionDecision"] == "deny", &within["permissionDecisionReason"]),
    };
    is_refused.then(|| reason.as_str().unwrap_or_default().to_owned())
}
