//! Settings files.

use std::fs;
use std::sync::Arc;
use std::time::Instant;

use hook_bus::{HookExecutionRequest, HookSystem};
use hook_core::Hook;
use hook_json::{RawJson, RawObject};
use hook_protocol::{BeforeToolInput, ToolName};
use hook_settings::check::{CheckContext, check as check_settings};
use hook_settings::{Diagnostic, FailBehavior, HookEntry, Severity, parse};
use hook_settings::{HookSource, SettingsSource};
use hook_tests::{Project, host};
use hook_trust::TrustPolicy;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::generate::{Bytes, Tree, altered, bytes, damaged, object, recorded_cases, tree};
use super::{LONGEST_MESSAGE, PATIENCE, VERY_DEEP, check, runtime};

const WORDS: &[&str] = &[
    "hooks",
    "hooksConfig",
    "enabled",
    "disabled",
    "defaultTimeout",
    "failBehavior",
    "maxConcurrent",
    "environment",
    "allow",
    "deny",
    "notifications",
    "BeforeTool",
    "before_tool",
    "SessionStart",
    "Notification",
    "BeforeTools",
    "matcher",
    "sequential",
    "type",
    "command",
    "name",
    "description",
    "timeout",
    "timeuot",
    "env",
    "block",
    "continue",
    "write_file|edit",
    "(?=[",
    "true",
    "guard",
    "exit 2",
    "é",
];

/// The other source: a guard that no project may touch.
fn guard() -> Value {
    json!({"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": "exit 2",
        "name": "guard", "timeout": 5000, "failBehavior": "block"}]}]}})
}

fn valid_files() -> Vec<Value> {
    let mut files: Vec<Value> =
        recorded_cases().into_iter().map(|mut case| case["settings"].take()).collect();
    files.push(json!({
        "hooksConfig": {"enabled": true, "disabled": ["guard"], "defaultTimeout": 5, "failBehavior": "block",
            "maxConcurrent": 3, "environment": {"allow": ["A*"], "deny": ["B"]}},
        "hooks": {"BeforeTool": [{"matcher": "^é+$", "sequential": true, "hooks": [{"type": "command",
            "command": "exit 2", "name": "guard", "timeout": 1, "failBehavior": "continue",
            "env": {"PATH": "/tmp"}}]}]},
    }));
    files
}

fn any_file() -> impl Strategy<Value = Bytes> {
    let valid = valid_files();
    let trees = valid.iter().map(Into::into).collect();
    // On one line and on several.
    let texts = valid.iter().flat_map(|file| [file.to_string(), format!("\u{feff}{file:#}")]);
    let texts = texts.map(String::into_bytes).collect();
    let of_text = |tree: Tree| Bytes(tree.to_string().into_bytes());
    prop_oneof![
        2 => bytes(WORDS),
        2 => object(WORDS).prop_map(of_text),
        4 => altered(trees, WORDS).prop_map(of_text),
        3 => damaged(texts),
    ]
}

/// A problem's place is where its author finds it: a value or a name, or where reading stopped.
fn lies_inside(diagnostic: &Diagnostic, text: &str, is_json: bool) -> bool {
    let place = &diagnostic.location;
    if place.line == 0 {
        // What is not text has its place in the bytes, and so in the message.
        return diagnostic.message.ends_with("more problems are not listed")
            || diagnostic.message.starts_with("the file is not UTF-8 from line ");
    }
    let Some(line) = text.split('\n').nth(place.line - 1) else { return false };
    let at_line_end = place.column == line.chars().count() + 1;
    match line.chars().nth(place.column.wrapping_sub(1)) {
        Some(first) if is_json => "{[\"-0123456789tfn".contains(first),
        found => !is_json && (found.is_some() || at_line_end),
    }
}

/// What is marked is a whole value or a name.
fn marks_a_value(diagnostic: &Diagnostic, text: &str) -> bool {
    let place = &diagnostic.location;
    let offset = |line: usize, column: usize| {
        let line = text.split('\n').nth(line - 1)?;
        let begin = line.as_ptr() as usize - text.as_ptr() as usize;
        let mut ends = line.char_indices().map(|(at, _)| at).chain([line.len()]);
        Some(begin + ends.nth(column - 1)?)
    };
    let marked = || {
        let start = offset(place.line, place.column)?;
        text.get(start..offset(place.end_line, place.end_column)?)
    };
    place.line == 0 || marked().is_some_and(|marked| RawJson::parse(marked).is_ok())
}

#[test]
fn no_settings_file_harms_the_hooks_of_another_or_is_wrong_without_a_place() {
    let project = Project::with_settings(&guard());
    let file = project.path().join("any.json");
    let runtime = runtime();
    check(300, any_file(), |bytes| {
        fs::write(&file, &bytes.0).unwrap();
        let system = HookSystem::builder(project.path())
            .settings(SettingsSource::optional(HookSource::Project, &file))
            .settings(SettingsSource::explicit(project.settings()))
            .trust(TrustPolicy::Everything)
            .build()
            .unwrap();
        runtime.block_on(system.initialize()).unwrap();

        // As it is read: without what is no text, and without a byte order mark.
        let text = bytes.text();
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let diagnostics = system.diagnostics().unwrap();
        let is_json = !diagnostics.iter().any(|one| one.message.contains("is not JSON"));
        for diagnostic in &diagnostics {
            prop_assert_eq!(diagnostic.location.file.as_deref(), Some(&file));
            prop_assert!(lies_inside(diagnostic, text, is_json), "{diagnostic}");
            prop_assert!(diagnostic.message.len() < LONGEST_MESSAGE, "{diagnostic}");
        }

        let sources = [SettingsSource::optional(HookSource::Project, &file)];
        let surroundings = CheckContext {
            project: project.path(),
            environment: std::env::vars_os().collect(),
            ..CheckContext::default()
        };
        let checked = check_settings(&sources, &surroundings).remove(0);
        prop_assert_eq!(checked.text, text);
        prop_assert!(checked.file.diagnostics.len() <= 101);
        for diagnostic in &checked.file.diagnostics {
            prop_assert!(lies_inside(diagnostic, text, is_json), "{diagnostic}");
            prop_assert!(!is_json || marks_a_value(diagnostic, text), "{diagnostic:?}");
            prop_assert!(diagnostic.message.len() < LONGEST_MESSAGE, "{diagnostic}");
        }

        let listed = system.hooks().unwrap();
        let guard = listed.last().unwrap();
        prop_assert_eq!(&guard.hook.source, &HookSource::Explicit);
        prop_assert!(guard.enabled && guard.trusted);
        prop_assert!(planned(&system, &guard.hook), "the guard does not run");

        // Whoever asks for hooks is told of every error, by which some may be missing.
        let asked = HookExecutionRequest::from_json("asked for nothing that is there");
        let warnings = runtime.block_on(system.bus().request(asked)).processed.warnings;
        let is_error = |one: &&Diagnostic| one.severity == Severity::Error;
        let errors: Vec<_> = diagnostics.iter().filter(is_error).map(ToString::to_string).collect();
        prop_assert!(warnings.starts_with(&errors[..errors.len().min(8)]), "{:?}", warnings);
        prop_assert_eq!(warnings.is_empty(), errors.is_empty(), "{:?}", warnings);
        Ok(())
    });
}

/// Whether a tool call runs that very hook.
fn planned(system: &HookSystem, hook: &Arc<Hook>) -> bool {
    let call = BeforeToolInput::new(ToolName::new("write_file").unwrap(), RawObject::empty());
    let plan = system.registry().unwrap().plan(&call.into(), &host());
    plan.hooks.iter().any(|planned| Arc::ptr_eq(&planned.hook, hook))
}

/// Hooks that lack nothing but type and command, and others that may be anything.
fn hooks() -> impl Strategy<Value = Vec<(bool, Tree)>> {
    let field = (select(&["name", "description", "nmae", "timeout", "env"][..]), tree(WORDS))
        .prop_map(|(name, value)| (name.to_owned(), value));
    let right = prop::collection::vec(field, 0..3).prop_map(|fields| (true, Tree::Object(fields)));
    let wrong = tree(WORDS).prop_map(|tree| (false, tree));
    prop::collection::vec(prop_oneof![right, wrong], 0..6)
}

#[test]
fn a_hook_that_is_right_is_kept_whatever_stands_beside_it() {
    let definitions = prop::collection::vec((tree(WORDS), hooks(), tree(WORDS)), 1..4);
    let around = (object(&["é", "hoooks", "BeforeTool"]), tree(WORDS), tree(WORDS));
    check(300, (definitions, around), |(definitions, (other, config, event))| {
        let mut expected = Vec::new();
        let mut all = Vec::new();
        for (broken, hooks, sequential) in definitions {
            let mut written = Vec::new();
            for (right, mut hook) in hooks {
                if let (true, Tree::Object(fields)) = (right, &mut hook) {
                    let command = format!("run {}", expected.len());
                    fields.push(("type".to_owned(), Tree::text("command")));
                    fields.push(("command".to_owned(), Tree::text(&command)));
                    expected.push(command);
                }
                written.push(hook);
            }
            all.push(broken);
            all.push(Tree::object([("hooks", Tree::List(written)), ("sequential", sequential)]));
        }
        let file = Tree::object([
            ("other", other),
            ("hooks", Tree::object([("AfterTool", event), ("AfterAgent", Tree::List(all))])),
            ("hooksConfig", config),
        ]);
        let read = parse(&file.to_string(), HookSource::User, None);
        let is_expected = |hook: &&HookEntry| hook.command.starts_with("run ");
        let kept: Vec<&str> =
            read.hooks.iter().filter(is_expected).map(|hook| hook.command.as_str()).collect();
        prop_assert_eq!(kept, expected);
        Ok(())
    });
}

#[test]
fn a_fail_behavior_that_is_misspelt_or_stands_twice_is_the_stricter_one() {
    for (keys, expected) in [
        (r#""failBehavior":"continue""#, FailBehavior::Continue),
        (r#""failbehavior":"block""#, FailBehavior::Block),
        (r#""fail_behavior":"block""#, FailBehavior::Block),
        (r#""failBehaviour":"stop""#, FailBehavior::Block),
        (r#""failBehaviour":"continue""#, FailBehavior::Continue),
        (r#""failBehavior":"block","failBehavior":"continue""#, FailBehavior::Block),
        (r#""failBehavior":"continue","failBehavior":"continue""#, FailBehavior::Block),
        (r#""faster":true"#, FailBehavior::Continue),
    ] {
        let of_hook = format!(
            r#"{{"hooks":{{"BeforeTool":[{{"hooks":[{{"type":"command","command":"x",{keys}}}]}}]}}}}"#
        );
        let of_file = format!(
            r#"{{"hooksConfig":{{{keys}}},"hooks":{{"BeforeTool":[{{"hooks":[{{"type":"command","command":"x"}}]}}]}}}}"#
        );
        for text in [of_hook, of_file] {
            let read = parse(&text, HookSource::User, None);
            assert_eq!(read.hooks[0].fail_behavior, expected, "{text}");
            let is_error = |it: &Diagnostic| it.severity == Severity::Error;
            let blocks = expected == FailBehavior::Block;
            assert_eq!(read.diagnostics.iter().any(is_error), blocks, "{text}");
        }
    }
}

#[test]
fn a_fail_behavior_that_cannot_be_read_is_the_stricter_one() {
    let words = tree(&["block", "continue", "Block", "contineu"]);
    check(300, (words.clone(), words), |(of_file, of_hook)| {
        let file = Tree::object([
            ("hooksConfig", Tree::object([("failBehavior", of_file.clone())])),
            (
                "hooks",
                Tree::object([(
                    "Notification",
                    Tree::List(vec![Tree::object([(
                        "hooks",
                        Tree::List(vec![Tree::object([
                            ("type", Tree::text("command")),
                            ("command", Tree::text("true")),
                            ("failBehavior", of_hook.clone()),
                        ])]),
                    )])]),
                )]),
            ),
        ]);
        let read = parse(&file.to_string(), HookSource::User, None);
        let null = || Tree::Leaf("null".to_owned());
        let expected = match [of_hook, of_file].into_iter().find(|said| *said != null()) {
            None => FailBehavior::Continue,
            Some(said) if said == Tree::text("continue") => FailBehavior::Continue,
            Some(_) => FailBehavior::Block,
        };
        prop_assert_eq!(read.hooks[0].fail_behavior, expected);
        Ok(())
    });
}

#[test]
fn large_files_that_nobody_trusts_are_read_in_time_and_in_little_memory() {
    const COUNT: usize = 20_000;
    let hook = |number: usize| format!(r#"{{"type":"command","command":"run {number}"}}"#);
    let all: Vec<String> = (0..COUNT).map(hook).collect();
    let names: Vec<String> = (0..2 * COUNT).map(|number| format!("\"é{number}\"")).collect();
    let event = |definitions: &str| format!(r#"{{"hooks":{{"BeforeTool":[{definitions}]}}}}"#);
    let costly = all.iter().map(|hook| format!(r#"{{"matcher":"[^a]{{9999}}","hooks":[{hook}]}}"#));
    let files = [
        // On one line, in which each hook has its column.
        event(&format!(r#"{{"hooks":[{}]}}"#, all.join(","))),
        // Every hook is compared with every name, and every name with those that are known.
        format!(
            r#"{{"hooksConfig":{{"disabled":[{0}]}},"hooks":{{"BeforeTool":[{{"hooks":[{1}]}}]}}}}"#,
            names.join(","),
            all.join(",")
        ),
        format!(r#"{{"hooks":{{{}:[]}}}}"#, names.join(":[],")),
        // Each of these matchers would take more than ten megabytes.
        event(&costly.collect::<Vec<_>>().join(",")),
    ];
    let runtime = runtime();
    for file in files {
        let project = Project::new();
        let path = project.write("any.json", &file);
        let source = SettingsSource::optional(HookSource::Project, path);
        let system = HookSystem::builder(project.path()).settings(source).build().unwrap();
        let started = Instant::now();
        runtime.block_on(system.initialize()).unwrap();
        assert!(started.elapsed() < PATIENCE, "{} took {:?}", &file[..50], started.elapsed());
        let expected = if file.contains("run 0") { COUNT } else { 0 };
        assert_eq!(system.hooks().unwrap().len(), expected);
    }
}

#[test]
fn very_deep_settings_overflow_no_stack_and_cost_no_hook_beside_them() {
    let deep = format!("{}{}", "[".repeat(VERY_DEEP), "]".repeat(VERY_DEEP));
    let hook = |fields: &str| format!(r#"{{"type":"command","command":"true"{fields}}}"#);
    let hooks = [hook(&format!(r#","timeout":{deep}"#)), deep.clone(), hook("")].join(",");
    let definitions = format!(r#"[{{"matcher":{deep},"hooks":[]}},{deep},{{"hooks":[{hooks}]}}]"#);
    let text =
        format!(r#"{{"hooks":{{"BeforeTool":{definitions},"AfterTool":{deep}}},"x":{deep}}}"#);
    let file = parse(&text, HookSource::User, None);
    assert_eq!(file.hooks.len(), 2);
    let cut = parse(&text[..text.len() - 1], HookSource::User, None);
    assert_eq!((cut.hooks.len(), cut.diagnostics[0].severity), (0, Severity::Error));
}
