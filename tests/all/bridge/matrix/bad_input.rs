//! Input that no agent should send: guards of another agent and those that block when they fail are not
//! passed by it.

use std::os::unix::fs::symlink;

use hook_tests::{Finished, Hook, Project};
use serde_json::{Value, json};

use super::asking::{Act, BEFORE, Input, inputs, refusal};
use super::hook_files::{CLAUDE, GEMINI, HookFile, Kind, NATIVE};
use super::{answer, assert_none, shown, silent_wrong};

/// The guard of files that is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Guard {
    /// Another agent's.
    Foreign,
    /// Ours, which blocks when it fails.
    Blocking,
    /// Ours, which lets things go on when it fails.
    Continuing,
}

/// Those that nothing may pass.
const STRICT: [Guard; 2] = [Guard::Foreign, Guard::Blocking];

/// What stands in a file of ours, and what makes its hooks block when they fail.
const BLOCKING: (&str, &str) =
    (r#""type":"command""#, r#""type":"command","failBehavior":"block""#);

/// A project with a guard, and what came of asking it.
struct Asked {
    finished: Finished,
    calls: Vec<Value>,
    reason: Option<String>,
}

impl Asked {
    /// The files that it was asked about: another agent's of one after the other, ours of all.
    fn files(&self) -> Vec<&str> {
        let all = self.calls.iter().flat_map(|call| match call["files"].as_array() {
            Some(files) => files.iter().map(|file| &file["path"]).collect(),
            None => vec![&call["tool_input"]["file_path"]],
        });
        all.filter_map(Value::as_str).collect()
    }

    fn shown(&self) -> String {
        format!("{:?}; asked {} times: {}", self.finished, self.calls.len(), shown(&self.calls))
    }
}

impl Guard {
    fn file(self, agent: &str) -> &'static HookFile {
        match (self, agent) {
            // An agent's own hooks are not another's.
            (Self::Foreign, "claude") => &GEMINI,
            (Self::Foreign, _) => &CLAUDE,
            _ => &NATIVE,
        }
    }

    /// Asks it; `matcher` takes the place of its own.
    fn ask(self, agent: &str, matcher: Option<&str>, input: &Input, project: &Project) -> Asked {
        let file = self.file(agent);
        let own = match file.agent {
            "claude" => r#""Edit|MultiEdit|Write""#,
            _ => r#""write_file|replace""#,
        };
        let mut replaced = vec![];
        replaced.extend((self == Self::Blocking).then_some(BLOCKING));
        replaced.extend(matcher.map(|matcher| (own, matcher)));
        let settings = file.write_with(agent, project, &replaced);
        let arguments = ["bridge", agent, input.event].map(str::to_owned);
        let arguments = [&arguments[..], &settings].concat();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let finished = Hook::new(project, &arguments).stdin(input.value.to_string()).run();
        let calls = HookFile::calls(project, Kind::File);
        let reason = refusal(agent, Act::Write, &answer(&finished));
        Asked { finished, calls, reason }
    }
}

/// Agents whose patches reach hooks, each in its own form.
const PATCHING: [&str; 3] = ["codex", "copilot", "vscode"];

/// What an agent sends that applies such a patch.
fn applying(agent: &str, patch: &str, project: &Project) -> Input {
    let mut input = inputs(agent, Act::Patch, "public", project).swap_remove(0);
    match agent {
        "codex" => input.value["tool_input"]["command"] = json!(patch),
        "copilot" => input.value["toolArgs"] = json!(patch),
        _ => input.value["tool_input"]["input"] = json!(patch),
    }
    input
}

fn adding(count: usize) -> String {
    let files: String = (0..count).map(|it| format!("*** Add File: {it}.txt\n+text\n")).collect();
    format!("*** Begin Patch\n{files}*** End Patch\n")
}

#[test]
fn a_patch_that_cannot_be_read_is_refused_where_files_are_guarded() {
    let mut wrong = Vec::new();
    for agent in PATCHING {
        for (name, patch) in [
            ("text", "nonsense"),
            ("empty", ""),
            ("unknown part", "*** Begin Patch\n*** Frobnicate File: a\n*** End Patch\n"),
            ("no file", "*** Begin Patch\n+NEW-TEXT\n*** End Patch\n"),
        ] {
            for guard in STRICT {
                let project = Project::new();
                let input = applying(agent, patch, &project);
                let asked = guard.ask(agent, None, &input, &project);
                if !asked.reason.as_deref().is_some_and(|reason| reason.contains("patch")) {
                    wrong.push(format!(
                        "{agent}, {guard:?}, unreadable patch ({name}), deny: not refused with a reason: {}",
                        asked.shown()
                    ));
                }
            }
            // It concerns nobody, or somebody who lets things go on and is not silent about it.
            let project = Project::new();
            let input = applying(agent, patch, &project);
            let asked = Guard::Foreign.ask(agent, Some(r#""WebFetch""#), &input, &project);
            if silent_wrong(agent, &asked.finished, true).is_some() || !asked.calls.is_empty() {
                wrong.push(format!(
                    "{agent}, Foreign, unreadable patch ({name}) of no concern, pass: {}",
                    asked.shown()
                ));
            }
            let project = Project::new();
            let input = applying(agent, patch, &project);
            let asked = Guard::Continuing.ask(agent, None, &input, &project);
            let shown = format!("{}{}", asked.finished.stderr, asked.finished.stdout);
            if asked.reason.is_some() || asked.calls.is_empty() && !shown.contains("patch") {
                wrong.push(format!(
                    "{agent}, Continuing, unreadable patch ({name}), pass: refused or silent: {}",
                    asked.shown()
                ));
            }
        }
    }
    assert_none(&wrong);
}

#[test]
fn a_patch_of_too_many_files_is_refused_where_files_are_guarded() {
    let mut wrong = Vec::new();
    for (count, is_refused) in [(64, false), (65, true), (10_000, true)] {
        for agent in PATCHING {
            for guard in STRICT {
                let project = Project::new();
                let input = applying(agent, &adding(count), &project);
                let asked = guard.ask(agent, None, &input, &project);
                let is_right = match is_refused {
                    true => {
                        asked.calls.len() <= 64
                            && asked
                                .reason
                                .as_deref()
                                .is_some_and(|reason| reason.contains("files"))
                    }
                    false => {
                        asked.files().len() == count
                            && silent_wrong(agent, &asked.finished, true).is_none()
                    }
                };
                if !is_right {
                    let answer = if is_refused { "deny" } else { "pass" };
                    let shown: String = asked.shown().chars().take(400).collect();
                    wrong.push(format!(
                        "{agent}, {guard:?}, patch of {count} files, {answer}: {shown}"
                    ));
                }
            }
        }
    }
    assert_none(&wrong);
}

/// A file that is named differently is the same file, and its guard gets that name.
#[test]
fn paths_lead_guards_where_they_lead_the_agent() {
    let mut wrong = Vec::new();
    for agent in ["codex", "copilot", "vscode", "gemini"] {
        for guard in STRICT {
            // Of each its name, where that leads, and whether the guard objects to the name.
            for (name, leads, objects) in [
                ("../outside/secret.env", "outside/secret.env", true),
                ("OUTSIDE/secret.env", "outside/secret.env", true),
                ("link/secret.env", "outside/secret.env", true),
                ("inside/../../outside/secret.env", "outside/secret.env", true),
                ("SECRET.ENV", "project/SECRET.ENV", false),
            ] {
                let project = Project::new();
                let root = project.path().parent().unwrap().to_path_buf();
                std::fs::create_dir(root.join("outside")).unwrap();
                std::fs::create_dir(project.path().join("inside")).unwrap();
                symlink(root.join("outside"), project.path().join("link")).unwrap();
                let named = name.replace("OUTSIDE", &root.join("outside").display().to_string());
                let input = match agent {
                    "gemini" => {
                        let mut input =
                            inputs(agent, Act::Write, "public", &project).swap_remove(0);
                        input.value["tool_input"]["file_path"] = json!(named);
                        input
                    }
                    _ => {
                        let patch = format!(
                            "*** Begin Patch\n*** Add File: {named}\n+text\n*** End Patch\n"
                        );
                        applying(agent, &patch, &project)
                    }
                };
                let asked = guard.ask(agent, None, &input, &project);
                let is_led = match asked.files().as_slice() {
                    [path] => {
                        let path = project.path().join(path);
                        let folder = path.parent().and_then(|it| std::fs::canonicalize(it).ok());
                        folder.zip(path.file_name()).map(|(folder, name)| folder.join(name))
                            == Some(root.join(leads))
                    }
                    _ => false,
                };
                let is_answered = match objects {
                    true => asked.reason.as_deref().is_some_and(|it| it.contains("says no")),
                    false => silent_wrong(agent, &asked.finished, true).is_none(),
                };
                if !is_led || !is_answered {
                    let answer = if objects { "deny" } else { "pass" };
                    wrong.push(format!(
                        "{agent}, {guard:?}, path {name}, {answer}: {}",
                        asked.shown()
                    ));
                }
            }
        }
    }
    assert_none(&wrong);
}

/// `pathPattern` is asked of the file that is changed, whatever link names it.
#[test]
fn a_link_hides_no_file_from_a_pattern() {
    let mut wrong = Vec::new();
    let matcher = r#"{"tool":["write_file","replace"],"pathPattern":"*.env"}"#;
    for agent in PATCHING {
        for (name, is_asked) in [("notes.txt", true), ("plain.txt", false)] {
            let project = Project::new();
            project.write("secret.env", BEFORE);
            project.write("plain.txt", BEFORE);
            symlink("secret.env", project.path().join("notes.txt")).unwrap();
            let patch = Act::Update.patch("x").unwrap().replace("x.env", name);
            let input = applying(agent, &patch, &project);
            let asked = Guard::Blocking.ask(agent, Some(matcher), &input, &project);
            if asked.calls.len() != usize::from(is_asked) {
                wrong.push(format!("{agent}, Blocking, pattern and {name}: {}", asked.shown()));
            }
        }
    }
    assert_none(&wrong);
}

/// The tool by which an agent changes files, and where its arguments are.
fn changing(agent: &str) -> (Act, &'static str) {
    match agent {
        "codex" => (Act::Add, "tool_input"),
        "copilot" => (Act::Edit, "toolArgs"),
        _ => (Act::Edit, "tool_input"),
    }
}

/// A guard is asked, or the call is refused; it is never passed by.
#[test]
fn arguments_of_another_type_pass_no_guard() {
    let mut wrong = Vec::new();
    for agent in super::AGENTS {
        for guard in STRICT {
            for arguments in [json!("text"), json!(7), json!([1]), json!(true), Value::Null] {
                let project = Project::new();
                let (act, place) = changing(agent);
                let mut input = inputs(agent, act, "public", &project).swap_remove(0);
                input.value[place] = arguments.clone();
                let asked = guard.ask(agent, None, &input, &project);
                let is_asked = asked.calls.len() == 1;
                let is_refused = asked.reason.as_deref().is_some_and(|reason| !reason.is_empty());
                if !is_asked && !is_refused {
                    wrong.push(format!(
                        "{agent}, {guard:?}, arguments {arguments}, deny: passed by: {}",
                        asked.shown()
                    ));
                }
            }
            // A patch as text is a patch.
            let project = Project::new();
            let (act, place) = changing(agent);
            if agent == "codex" {
                let mut input = inputs(agent, act, "secret", &project).swap_remove(0);
                input.value[place] = json!(act.patch("secret").unwrap());
                let asked = guard.ask(agent, None, &input, &project);
                if !asked.reason.as_deref().is_some_and(|reason| reason.contains("says no")) {
                    wrong.push(format!(
                        "{agent}, {guard:?}, a patch as text, deny: {}",
                        asked.shown()
                    ));
                }
            }
        }
    }
    assert_none(&wrong);
}

/// A tool that nobody knows is matched by its name and is of no kind that guards ask for.
#[test]
fn an_unknown_tool_is_matched_by_its_name() {
    let mut wrong = Vec::new();
    for agent in super::AGENTS {
        for guard in STRICT {
            for (matcher, is_asked) in [(Some(r#""mystery_tool""#), true), (None, false)] {
                let project = Project::new();
                let (act, place) = changing(agent);
                let mut input = inputs(agent, act, "public", &project).swap_remove(0);
                let name = if agent == "copilot" { "toolName" } else { "tool_name" };
                input.value[name] = json!("mystery_tool");
                input.value[place] = json!({"x": 1, "file_path": "/secret.env"});
                let asked = guard.ask(agent, matcher, &input, &project);
                let is_right = match (is_asked, asked.calls.as_slice()) {
                    (true, [call]) => {
                        call["tool_name"] == "mystery_tool"
                            && call["tool_input"] == input.value[place]
                            && asked.reason.is_some_and(|reason| reason.contains("says no"))
                    }
                    (false, []) => silent_wrong(agent, &asked.finished, true).is_none(),
                    _ => false,
                };
                if !is_right {
                    wrong.push(format!(
                        "{agent}, {guard:?}, unknown tool by {matcher:?}: {:?} {}",
                        asked.finished,
                        shown(&asked.calls)
                    ));
                }
            }
        }
    }
    assert_none(&wrong);
}
