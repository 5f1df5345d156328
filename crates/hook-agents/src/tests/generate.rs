//! The tables of `generated/`, made from `agents/*.toml`, so that no file is parsed at start.

use std::fmt::{Debug, Write};
use std::path::{Path, PathBuf};

use super::file_agent::{AMP_PLUGIN, OPENCODE_PLUGIN, SCRIPT};
use super::read_agent;
use super::table::{Agent, AgentEvent, NativeEvent};
use super::template::{Template, Value};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_path_buf()
}

/// Returns the agents of `agents/*.toml`, by name.
fn files() -> Vec<Agent> {
    let listed = std::fs::read_dir(folder().join("agents")).unwrap();
    let mut paths: Vec<PathBuf> = listed.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|it| it == "toml"));
    paths.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        let agent = read_agent(&text);
        let agent = agent.unwrap_or_else(|problems| panic!("{}: {}", path.display(), problems[0]));
        assert_eq!(path.file_stem().unwrap(), agent.name, "a file has the name of its agent");
        agent
    };
    paths.into_iter().map(read).collect()
}

/// Returns the debug text of a value as Rust, in which a slice is a reference.
fn rust(value: &dyn Debug) -> String {
    let mut text = String::new();
    let (mut is_quoted, mut is_escaped) = (false, false);
    for character in format!("{value:?}").chars() {
        if character == '[' && !is_quoted {
            text.push('&');
        }
        if character == '"' && !is_escaped {
            is_quoted = !is_quoted;
        }
        is_escaped = character == '\\' && !is_escaped;
        text.push(character);
    }
    text
}

fn list<T>(items: &[T], text: impl Fn(&T) -> String) -> String {
    format!("&[{}]", items.iter().map(text).collect::<Vec<_>>().join(", "))
}

fn option(value: Option<String>) -> String {
    value.map_or_else(|| "None".to_owned(), |value| format!("Some({value})"))
}

fn template(template: &Template) -> String {
    let fields = list(template.fields, |(path, value)| match value {
        Value::OneOf(constants) => format!("({}, Value::OneOf({}))", rust(path), rust(constants)),
        value => format!("({}, Value::{value:?})", rust(path)),
    });
    let (code, is_text) = (template.code, template.is_text);
    format!("Template {{ fields: {fields}, code: {code}, is_text: {is_text} }}")
}

fn event(event: &AgentEvent) -> String {
    let base = match event.native {
        NativeEvent::BuiltIn(native) => {
            format!("AgentEvent::new({:?}, HookEventName::{native:?})", event.name)
        }
        NativeEvent::Declared => format!("AgentEvent::foreign_only({:?})", event.name),
    };
    let forms = &event.answers;
    let answers = [
        ("deny", forms.deny),
        ("ask", forms.ask),
        ("allow", forms.allow),
        ("stop", forms.stop),
        ("input", forms.input),
        ("context", forms.context),
        ("message", forms.message),
        ("neutral", forms.neutral),
    ];
    let answers = answers.iter().filter(|(_, forms)| !forms.is_empty());
    let answers: String =
        answers.map(|(name, forms)| format!("{name}: {}, ", list(forms, template))).collect();
    format!(
        "AgentEvent {{ coverage: Coverage::{}, subject: Subject::{}, exit_two: ExitTwo::{:?}, \
         text_is_context: {}, blocks: {}, approves: {}, fields: {}, defaults: {}, timeout: {:?}, \
         timeout_cap: {:?}, is_unconnected: {}, is_flat: {}, since: {}, merges_input: {}, answers: EventAnswers {{ {answers}\
         counts_at_any_code: {}, ..EventAnswers::NONE }}, ..{base} }}",
        rust(&event.coverage),
        rust(&event.subject),
        event.exit_two,
        event.text_is_context,
        event.blocks,
        event.approves,
        rust(&event.fields),
        rust(&event.defaults),
        event.timeout,
        event.timeout_cap,
        event.is_unconnected,
        event.is_flat,
        rust(&event.since),
        event.merges_input,
        forms.counts_at_any_code,
    )
}

fn table(agent: &Agent) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: String| writeln!(text, "    {name}: {value},").unwrap();
    line("name", rust(&agent.name));
    line("title", rust(&agent.title));
    line("events", list(agent.events, event));
    line(
        "tools",
        list(agent.tools, |tool| {
            let (native, foreign, fields) = (tool.native, tool.foreign, rust(&tool.fields));
            format!("Tool {{ native: {native:?}, foreign: {foreign:?}, fields: {fields} }}")
        }),
    );
    line("mcp", rust(&agent.mcp));
    line(
        "base_fields",
        list(agent.base_fields, |(base, name)| format!("(BaseField::{base:?}, {name:?})")),
    );
    line("settings", format!("SettingsForm::{:?}", agent.settings));
    line("layout", rust(&agent.layout));
    line(
        "hook_kinds",
        list(agent.hook_kinds, |kind| {
            let (name, reason) = (kind.name, kind.unsupported_reason);
            format!(
                "HookKind {{ unsupported_reason: {reason:?}, ..HookKind::new({name:?}, EventSet::All) }}"
            )
        }),
    );
    line("hook_keys", rust(&agent.hook_keys));
    line("timeout", rust(&agent.timeout));
    line("shell", rust(&agent.shell));
    line(
        "variables",
        list(agent.variables, |(name, variable)| format!("({name:?}, Variable::{variable:?})")),
    );
    line("matcher", format!("MatcherRule::{:?}", agent.matcher));
    let entry = agent.entry.as_ref().map(|entry| {
        let new_file = match entry.new_file {
            AMP_PLUGIN => "AMP_PLUGIN".to_owned(),
            OPENCODE_PLUGIN => "OPENCODE_PLUGIN".to_owned(),
            SCRIPT => "SCRIPT".to_owned(),
            text => rust(&text),
        };
        format!(
            "Entry {{ file: {:?}, in_project: {:?}, new_file: {}, on_windows: WindowsShell::{:?}, \
             next_step: {:?}, fields: {}, fail_closed: {}, consent: None }}",
            entry.file,
            entry.in_project,
            new_file,
            entry.on_windows,
            entry.next_step,
            rust(&entry.fields),
            rust(&entry.fail_closed)
        )
    });
    line("entry", option(entry));
    line("caps_continuations", rust(&agent.caps_continuations));
    line("paths", rust(&agent.paths));
    line("is_identified_by_path", rust(&agent.is_identified_by_path));
    line(
        "reads_files_of",
        list(agent.reads_files_of, |(name, reach)| format!("({name:?}, Reach::{reach:?})")),
    );
    line("notes", rust(&agent.notes));
    line("checked", rust(&agent.checked));
    line("never_asks", rust(&agent.never_asks));
    line("program", rust(&agent.program));
    text
}

fn module(agents: &[Agent]) -> String {
    let mut text = String::from(
        "// Generated from agents/*.toml by `HOOK_GENERATE=1 cargo test -p hook-agents generate`; not to be edited.\n\n\
         use hook_protocol::HookEventName;\n\nuse super::file_agent::{AMP_PLUGIN, FILE_AGENT, OPENCODE_PLUGIN, SCRIPT};\nuse super::kind::{EventSet, HookKind};\nuse super::paths::SettingsPaths;\n\
         use super::table::*;\nuse super::template::{EventAnswers, Template, Value};\n",
    );
    let _ = writeln!(text, "\npub(super) static FROM_FILES: [&Agent; {}] = [", agents.len());
    for agent in agents {
        let _ = writeln!(text, "    &{},", constant(agent));
    }
    text.push_str("];\n");
    for agent in agents {
        let (constant, table) = (constant(agent), table(agent));
        let _ =
            write!(text, "\nstatic {constant}: Agent = Agent {{\n{table}    ..FILE_AGENT\n}};\n");
    }
    text
}

fn constant(agent: &Agent) -> String {
    agent.name.to_uppercase().replace('-', "_")
}

#[test]
fn the_tables_are_those_of_the_files() {
    let agents = files();
    let path = folder().join("src/generated/mod.rs");
    let text = module(&agents);
    if std::env::var_os("HOOK_GENERATE").is_some_and(|value| value == "1") {
        std::fs::write(&path, &text).unwrap();
    }
    assert!(
        std::fs::read_to_string(&path).unwrap() == text,
        "src/generated is not what agents/*.toml say: HOOK_GENERATE=1 cargo test -p hook-agents generate"
    );
    for (built, file) in super::generated::FROM_FILES.iter().zip(&agents) {
        let is_current = format!("{built:?}") == format!("{file:?}");
        assert!(is_current, "the table of {} is old: run it again to compile it", file.name);
    }
}
