//! Every agent with the hook files of every other: who is asked, with what, how often, and what the agent
//! that asks is answered.
//!
//! A cell is an asking agent, a language of hook files, an act, and whether the guard objects. What must
//! hold in it follows from the tables of [`asking`] and [`hook_files`] and the rules of [`expected`], never
//! from what the engine does.

mod asking;
#[cfg(unix)]
mod bad_input;
mod hook_files;

use std::fmt::Write as _;
use std::sync::Mutex;

use hook_tests::{Finished, Hook, Project};
use serde_json::{Value, json};

use self::asking::{AFTER, AFTER_BOTH, AGENTS, Act, BEFORE, Change, Input, inputs, refusal};
use self::hook_files::{
    CLAUDE, CODEX, COPILOT, CURSOR, GEMINI, HookFile, KINDS, Kind, LLXPRT, NATIVE, QWEN, Standing,
    Tool, VSCODE,
};
use super::answer;

/// What a guard objects to, and what it does not.
const SECRET: &str = "secret";
const PUBLIC: &str = "public";

fn kind(act: Act) -> Kind {
    match act {
        Act::Shell => Kind::Shell,
        Act::Read => Kind::Read,
        Act::Edited => Kind::Edited,
        Act::Prompt => Kind::Prompt,
        Act::Start => Kind::Start,
        Act::End => Kind::End,
        _ => Kind::File,
    }
}

/// What must hold of the guard of a file, for one act of an agent.
enum Expected {
    /// It is not asked.
    Nothing,
    /// It is asked once, with what the agent sent.
    AsSent,
    /// It is asked in its own language, once for each file that is changed; ours once, with all of them.
    Translated,
}

fn expected(agent: &str, file: &HookFile, act: Act, input: &Input) -> Option<Expected> {
    if file.guarded(kind(act)).is_none() {
        // Codex CLI has no tool that reads files, so its files have no guard for it; kinds are of tools.
        return Some(Expected::Nothing);
    }
    match (file.standing(agent), agent) {
        // The matchers and scripts of these files are of other tools: at home they do not ask, either.
        (Standing::Own, "copilot" | "vscode") if act.is_patch() => Some(Expected::Nothing),
        // Cursor asks its own guards of commands, files that are read and edits by events of their own.
        (Standing::Own, "cursor") if matches!(act, Act::Shell | Act::Read) => {
            (input.event != "preToolUse").then_some(Expected::AsSent)
        }
        (Standing::Own, "cursor") if act == Act::Edited => {
            (input.event != "postToolUse").then_some(Expected::AsSent)
        }
        (Standing::Own, _) => Some(Expected::AsSent),
        _ => Some(Expected::Translated),
    }
}

/// Whether a guard of the language can refuse it (docs/agents, "What it obeys"). Exit code 2 refuses no prompt of
/// Copilot's.
fn can_refuse(language: &str, act: Act) -> bool {
    !matches!(act, Act::Start | Act::Edited) && (act, language) != (Act::Prompt, "copilot")
}

/// Whether an agent has no tool or event for an act: only some send patches, or several edits at once.
fn is_absent(agent: &str, act: Act) -> bool {
    match agent {
        "codex" => matches!(act, Act::Read | Act::Write | Act::Edit | Act::Edits),
        "copilot" => act == Act::Edits,
        "claude" => act.is_patch(),
        "gemini" | "llxprt" | "qwen" | "cursor" => act.is_patch() || act == Act::Edits,
        _ => false,
    }
}

#[test]
fn every_agent_does_everything_but_what_it_has_no_tool_for() {
    let project = Project::new();
    for (agent, act) in AGENTS.iter().flat_map(|agent| Act::ALL.map(|act| (*agent, act))) {
        let has_none = inputs(agent, act, SECRET, &project).is_empty();
        assert_eq!(has_none, is_absent(agent, act), "{agent} {act:?}");
    }
}

/// Fails with all the cells that are wrong.
fn assert_none(wrong: &[String]) {
    assert!(wrong.is_empty(), "{} findings:\n{}", wrong.len(), wrong.join("\n"));
}

/// What is wrong with the cells of a hook file, a line each.
fn wrong(file: &HookFile) -> Vec<String> {
    let cases = AGENTS.iter().flat_map(|agent| Act::ALL.map(|act| (*agent, act)));
    let cases = Mutex::new(cases);
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some((agent, act)) = { cases.lock().unwrap().next() } {
                    let found = wrong_with(agent, file, act);
                    wrong.lock().unwrap().extend(found);
                }
            });
        }
    });
    let mut wrong = wrong.into_inner().unwrap();
    wrong.sort();
    wrong
}

fn wrong_with(agent: &'static str, file: &HookFile, act: Act) -> Vec<String> {
    let mut wrong = Vec::new();
    // Nothing can be refused once it has happened.
    let words = if act == Act::Edited { &[PUBLIC][..] } else { &[SECRET, PUBLIC] };
    for &word in words {
        let ways = inputs(agent, act, word, &Project::new()).len();
        for way in 0..ways {
            let project = Project::new();
            let mut inputs = inputs(agent, act, word, &project);
            let input = inputs.swap_remove(way);
            // To pass, the patch of three files and the first spelling are enough.
            let is_partial = matches!(act, Act::Add | Act::Update | Act::Delete | Act::MoveFrom);
            if word == PUBLIC && act != Act::Edited && (is_partial || input.way == "path") {
                continue;
            }
            let Some(expected) = expected(agent, file, act, &input) else { continue };
            project.write("changed.txt", BEFORE);
            let content = if act == Act::Edited { AFTER } else { BEFORE };
            if !matches!(act, Act::Write | Act::Add | Act::MoveTo) {
                project.write(&format!("{word}.env"), content);
            }
            let mut arguments = vec!["bridge".to_owned(), agent.to_owned(), input.event.to_owned()];
            arguments.extend(file.write(agent, &project));
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            let finished = Hook::new(&project, &arguments).stdin(input.value.to_string()).run();
            let asked = asked_wrong(file, act, word, &input, &expected, &project);
            let is_asked = !matches!(expected, Expected::Nothing);
            let denies = word == SECRET && is_asked && can_refuse(file.agent, act);
            // What an agent's own hook says at a session's start is its own business.
            let is_own_start = act == Act::Start && file.standing(agent) == Standing::Own;
            let answered = match denies {
                _ if is_own_start && word == SECRET => None,
                true => refused_wrong(agent, act, &file.reason(kind(act)), &finished),
                false => silent_wrong(agent, &finished, word == PUBLIC || !is_asked),
            };
            for what in asked.into_iter().chain(answered) {
                let way =
                    if input.way.is_empty() { String::new() } else { format!(" ({})", input.way) };
                let answer = if word == SECRET { "deny" } else { "pass" };
                wrong.push(format!("{agent}, {}, {act:?}{way}, {answer}: {what}", file.name));
            }
        }
    }
    wrong
}

/// What is wrong with what the guards were asked.
fn asked_wrong(
    file: &HookFile,
    act: Act,
    word: &str,
    input: &Input,
    expected: &Expected,
    project: &Project,
) -> Vec<String> {
    let mut wrong = Vec::new();
    for other in Kind::ALL.into_iter().filter(|other| *other != kind(act)) {
        let calls = HookFile::calls(project, other);
        if !calls.is_empty() {
            wrong.push(format!("the guard of {other:?} was asked: {}", shown(&calls)));
        }
    }
    let calls = HookFile::calls(project, kind(act));
    let asked = match expected {
        Expected::Nothing if calls.is_empty() => Ok(()),
        Expected::Nothing => Err("asked".to_owned()),
        Expected::AsSent if calls == [input.value.clone()] => Ok(()),
        Expected::AsSent => Err("not asked once with what was sent".to_owned()),
        Expected::Translated => translated(file, act, word, input, &calls, project),
    };
    wrong.extend(
        asked.err().map(|what| format!("{what}; asked {} times: {}", calls.len(), shown(&calls))),
    );
    wrong
}

fn shown(calls: &[Value]) -> String {
    let mut text = String::new();
    for call in calls {
        let _ = write!(text, "{call} ");
    }
    text
}

/// Whether the guard was asked in its own language.
fn translated(
    file: &HookFile,
    act: Act,
    word: &str,
    input: &Input,
    calls: &[Value],
    project: &Project,
) -> Result<(), String> {
    let (event, field) = file.guarded(kind(act)).unwrap();
    let named = calls.iter().flat_map(|call| [&call["hook_event_name"], &call["hookEventName"]]);
    if let Some(other) = named.filter(|name| !name.is_null()).find(|name| *name != event) {
        return Err(format!("the event is called {other}"));
    }
    match (kind(act), file.agent) {
        (Kind::File | Kind::Edited, "codex") => return patched(act, word, input, calls, project),
        (Kind::Edited, "cursor") => return edited(&input.changes, calls),
        (Kind::File | Kind::Edited, "native") => return whole(file, act, word, input, calls),
        (Kind::File | Kind::Edited, _) => return changed(file, word, &input.changes, calls),
        _ => {}
    }
    let [call] = calls else { return Err("not asked once".to_owned()) };
    let path = project.path().join(format!("{word}.env")).display().to_string();
    match act {
        Act::Shell => {
            let arguments = arguments(file, &file.shell, call)?;
            same(&arguments["command"], &format!("cat {word}.txt"))
        }
        Act::Read => {
            let arguments = arguments(file, &file.read, call)?;
            same(spelled(arguments, file.read.path), &path)?;
            match file.agent {
                // Cursor sends the file's text, too.
                "cursor" => same(&call["content"], BEFORE),
                _ => Ok(()),
            }
        }
        Act::Prompt => same(&call["prompt"], &format!("Tell me the {word}")),
        _ => same(&call[field], &format!("{word}-session")),
    }
}

fn same(value: &Value, expected: &str) -> Result<(), String> {
    match value == expected {
        true => Ok(()),
        false => Err(format!("{value} instead of {expected:?}")),
    }
}

/// The arguments of a call of the tool, which the agent itself calls so.
fn arguments<'a>(file: &HookFile, tool: &Tool, call: &'a Value) -> Result<&'a Value, String> {
    if tool.names.is_empty() {
        return Ok(call);
    }
    let name = call.pointer(file.tool_name).and_then(Value::as_str).unwrap_or_default();
    if !tool.names.contains(&name) {
        return Err(format!("the tool is called {name:?}"));
    }
    call.pointer(file.arguments).ok_or_else(|| "no arguments".to_owned())
}

/// A field that may be spelled in several ways.
fn spelled<'a>(arguments: &'a Value, names: &[&str]) -> &'a Value {
    let mut values = names.iter().map(|name| &arguments[name]).filter(|value| !value.is_null());
    values.next().unwrap_or(&Value::Null)
}

/// Whether a hook of ours was asked once, with all files that the call changes.
fn whole(
    file: &HookFile,
    act: Act,
    word: &str,
    input: &Input,
    calls: &[Value],
) -> Result<(), String> {
    let [call] = calls else { return Err("not asked once".to_owned()) };
    let files = call["files"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut files: Vec<&str> = files
        .iter()
        .filter_map(|file| file["path"].as_str().filter(|_| file["access"] == "write"))
        .collect();
    let mut changed_files: Vec<&str> =
        input.changes.iter().map(|change| change.path.as_str()).collect();
    files.sort_unstable();
    changed_files.sort_unstable();
    if files != changed_files {
        return Err(format!("the files are {files:?} instead of {changed_files:?}"));
    }
    let patch = act.patch(word).or_else(|| Act::Update.patch(word).filter(|_| act == Act::Edited));
    let texts = call["tool_input"].as_object().into_iter().flatten().map(|(_, value)| value);
    let has_patch = patch.is_some_and(|patch| texts.into_iter().any(|text| *text == patch));
    match act {
        // In whichever form the agent has them.
        Act::Edits => Ok(()),
        _ if input.event == "afterFileEdit" => Ok(()),
        _ if has_patch => Ok(()),
        _ if act.is_patch() => Err("not the patch".to_owned()),
        _ => changed(file, word, &input.changes, calls),
    }
}

/// Whether each change of a file was asked about once, in the words of the language.
fn changed(file: &HookFile, word: &str, changes: &[Change], calls: &[Value]) -> Result<(), String> {
    // Once a file is refused, the others need not be asked about.
    let name = format!("/{SECRET}.env");
    let is_enough = |count| word == SECRET && (1..changes.len()).contains(&count);
    if calls.len() != changes.len() && !is_enough(calls.len()) {
        return Err(format!("not once for each of {} files", changes.len()));
    }
    let mut count = 0;
    for Change { path, before, after } in changes {
        let tool = if before.is_some() { &file.edit } else { &file.write };
        let is_of = |call: &&Value| {
            let arguments = call.pointer(file.arguments).unwrap_or(&Value::Null);
            spelled(arguments, tool.path) == path
        };
        let Some(call) = calls.iter().find(is_of) else {
            match calls.len() < changes.len() && !path.ends_with(&name) {
                true => continue,
                false => return Err(format!("not asked about {path}")),
            }
        };
        count += 1;
        let arguments = arguments(file, tool, call)?;
        let texts: Vec<&Value> = tool.texts.iter().map(|names| spelled(arguments, names)).collect();
        let texts: Option<Vec<&str>> = texts.into_iter().map(Value::as_str).collect();
        match (before, texts.as_deref()) {
            // Two edits of one file: what they say is there, in whichever form.
            (Some(_), _) if *after == AFTER_BOTH => {
                let text = arguments.to_string();
                if !text.contains("NEW-TEXT") || !text.contains("later") {
                    return Err("not all edits".to_owned());
                }
            }
            (Some(before), Some([old, new])) => {
                let result = before.replacen(old, new, 1);
                if !before.contains(old) || result != *after {
                    return Err(format!("the edit leaves {result:?} instead of {after:?}"));
                }
            }
            (None, Some([text])) if text.trim_end() == after.trim_end() => {}
            _ => return Err(format!("{arguments} instead of what becomes of {path}")),
        }
    }
    if count == calls.len() { Ok(()) } else { Err("asked about other files".to_owned()) }
}

/// Whether Cursor's hook behind an edit got the file and its edits, which are arguments of no tool.
fn edited(changes: &[Change], calls: &[Value]) -> Result<(), String> {
    let ([Change { path, .. }], [call]) = (changes, calls) else {
        return Err("not asked once".to_owned());
    };
    same(&call["file_path"], path)?;
    let edits = call["edits"].as_array().map(Vec::as_slice).unwrap_or_default();
    let [edit] = edits else { return Err("not one edit".to_owned()) };
    let texts =
        [&edit["old_string"], &edit["new_string"]].map(|it| it.as_str().unwrap_or_default());
    match BEFORE.contains(texts[0]) && BEFORE.replacen(texts[0], texts[1], 1) == AFTER {
        true => Ok(()),
        false => Err(format!("{edit} instead of the edit")),
    }
}

/// Whether the changes were asked about as a patch: that of the agent, or one made of the arguments.
fn patched(
    act: Act,
    word: &str,
    input: &Input,
    calls: &[Value],
    project: &Project,
) -> Result<(), String> {
    // One patch, or, where one call edits several files, one for each.
    if calls.is_empty() || calls.len() > if act == Act::Edits { input.changes.len() } else { 1 } {
        return Err("not asked once".to_owned());
    }
    let mut patch = String::new();
    for call in calls {
        patch += arguments(&CODEX, &CODEX.edit, call)?["command"].as_str().unwrap_or_default();
    }
    let sent = if act == Act::Edited { None } else { act.patch(word) };
    if let Some(sent) = sent {
        return same(&json!(patch.trim_end()), sent.trim_end());
    }
    if !patch.starts_with("*** Begin Patch\n") || !patch.trim_end().ends_with("*** End Patch") {
        return Err("no patch".to_owned());
    }
    for Change { path, before, after } in &input.changes {
        let verb = if before.is_some() { "Update" } else { "Add" };
        let relative = path.trim_start_matches(&project.path().display().to_string());
        let names = [path.as_str(), relative.trim_start_matches('/')];
        let has = |line: &str| patch.lines().any(|other| other == line);
        if !names.iter().any(|name| has(&format!("*** {verb} File: {name}"))) {
            return Err(format!("no {verb} of {path}"));
        }
        let removed = before.map_or("", |before| before);
        for (sign, text, other) in [("-", removed, *after), ("+", *after, removed)] {
            for line in text.lines().filter(|line| !other.contains(line)) {
                if !has(&format!("{sign}{line}")) {
                    return Err(format!("no line {sign}{line}"));
                }
            }
        }
    }
    Ok(())
}

/// What is wrong with a refusal: it is in the agent's own words, with the guard's.
fn refused_wrong(agent: &str, act: Act, reason: &str, finished: &Finished) -> Option<String> {
    let answered = answer(finished);
    let is_right = match (agent, act, finished.status) {
        // Exit code 2 blocks, with what stands on standard error.
        ("vscode", Act::Prompt, 2) => answered.is_null() && finished.stderr.contains(reason),
        (.., 0) => refusal(agent, act, &answered).is_some_and(|its| its.contains(reason)),
        _ => false,
    };
    (!is_right).then(|| format!("not refused: {finished:?}"))
}

/// What is wrong with an answer that is no refusal: nothing in it lifts a prompt or refuses anything, and
/// where no hook had anything to say, it is empty.
fn silent_wrong(agent: &str, finished: &Finished, is_strict: bool) -> Option<String> {
    let answered = answer(finished);
    let is_harmless = |(name, value): (&String, &Value)| match (agent, name.as_str()) {
        // Lifts no prompt at home (soundness B 56).
        ("gemini" | "llxprt", "decision") => value == "allow",
        ("cursor", "permission") => value == "allow",
        // A reason may be shown where nothing can be refused.
        (_, "systemMessage" | "additional_context" | "additionalContext") => !is_strict,
        _ => false,
    };
    let is_silent = match &answered {
        Value::Null => true,
        Value::Object(fields) => fields.iter().all(is_harmless),
        _ => false,
    };
    let is_quiet = !is_strict || finished.stderr.is_empty();
    (!is_silent || !is_quiet || finished.status != 0).then(|| format!("not silent: {finished:?}"))
}

#[test]
fn every_agent_asks_the_hooks_of_claude_code() {
    assert_none(&wrong(&CLAUDE));
}

#[test]
fn every_agent_asks_the_hooks_of_gemini_cli() {
    assert_none(&wrong(&GEMINI));
}

#[test]
fn every_agent_asks_the_hooks_of_llxprt() {
    assert_none(&wrong(&LLXPRT));
}

#[test]
fn every_agent_asks_the_hooks_of_qwen_code() {
    assert_none(&wrong(&QWEN));
}

#[test]
fn every_agent_asks_the_hooks_of_codex_cli() {
    assert_none(&wrong(&CODEX));
}

#[test]
fn every_agent_asks_the_hooks_of_cursor() {
    assert_none(&wrong(&CURSOR));
}

#[test]
fn every_agent_asks_the_hooks_of_copilot_cli() {
    assert_none(&wrong(&COPILOT));
}

#[test]
fn every_agent_asks_the_hooks_of_vs_code() {
    assert_none(&wrong(&VSCODE));
}

#[test]
fn every_agent_asks_hooks_of_ours() {
    assert_none(&wrong(&NATIVE));
}

#[test]
fn every_agent_asks_hooks_of_ours_by_kind() {
    assert_none(&wrong(&KINDS));
}

/// Cursor, Copilot CLI and VS Code read files of others: what stands there runs once, there.
#[test]
fn what_an_agent_runs_by_itself_is_not_asked_here() {
    let mut wrong = Vec::new();
    for agent in AGENTS {
        for file in [&CLAUDE, &COPILOT, &VSCODE] {
            if file.standing(agent) != Standing::Imported {
                continue;
            }
            let project = Project::new();
            let input = inputs(agent, Act::Shell, SECRET, &project).swap_remove(0);
            file.write_where_found(&project);
            let arguments = ["bridge", agent, input.event, "--agent", file.agent];
            let finished = Hook::new(&project, &arguments).stdin(input.value.to_string()).run();
            let calls = HookFile::calls(&project, Kind::Shell);
            if !calls.is_empty() || silent_wrong(agent, &finished, true).is_some() {
                wrong.push(format!("{agent}, {}: {} {finished:?}", file.agent, shown(&calls)));
            }
        }
    }
    assert_none(&wrong);
}
