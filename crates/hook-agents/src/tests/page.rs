//! The documentation page of an agent, generated from its tables.
//!
//! Effects of responses and hook outputs are not documented separately: the page calls the agent's
//! own functions with samples.

use std::fmt::Write;

use hook_protocol::HookEventName;
use hook_protocol::event::output::Decision;
use hook_settings::language::ProcessOutput;

use crate::capabilities::{
    NONE, SAMPLE_REASON, arguments_effect, ask_effect, block_means, context_effect, denial_effect,
    effect_on_others, message_effect, stop_effect,
};
use crate::table::{
    Agent, AgentEvent, BaseField, Coverage, Directory, Expansion, Family, NativeEvent, Reach,
    SettingsForm, Subject, Tool, Variable,
};
use crate::{agents, entry, kind};

/// Returns the page of an agent.
pub(super) fn render_page(agent: &Agent) -> String {
    let mut page = format!(
        "# {}\n\nGenerated from `crates/hook-agents` by `HOOK_GENERATE=1 cargo test -p hook-agents pages`; not to be \
         edited. All agents: [README.md](README.md).\n\n`{}` is its word in settings and on the \
         command line. ",
        agent.title, agent.name
    );
    if agent.family == Family::Templates {
        page = page.replace(
            "`crates/hook-agents`",
            &format!("`crates/hook-agents/agents/{}.toml`", agent.name),
        );
    }
    page.push_str(match agent.entry {
        Some(_) => {
            "The page says what `hook` knows of it: how its hooks run here\n([`hook bridge`](../cli/bridge.md)), \
             and how it asks hooks of yours ([`hook connect`](../cli/connect.md)).\n"
        }
        None => {
            "The page says what `hook` knows of it: how its hooks run here\n([`hook bridge`](../cli/bridge.md)).\n"
        }
    });
    if let Some(checked) = agent.checked {
        let how = if checked.seen { "run" } else { "read" };
        let (version, date) = (checked.version, checked.date);
        let _ = writeln!(
            page,
            "\nChecked against {} {version}, which was {how} on {date}.",
            agent.title
        );
    }
    write_connection(agent, &mut page);
    write_events(agent, &mut page);
    write_effects(agent, &mut page);
    write_tools(agent, &mut page);
    write_settings(agent, &mut page);
    write_launch(agent, &mut page);
    write_outcomes(agent, &mut page);
    write_answers(agent, &mut page);
    write_other_forms(agent, &mut page);
    if !agent.never_asks.is_empty() {
        page.push_str("\n## What it never asks about\n\n");
        for case in agent.never_asks {
            let _ = writeln!(page, "- {case}");
        }
    }
    if !agent.notes.is_empty() {
        page.push_str("\n## What a table cannot say\n\n");
        for note in agent.notes {
            let _ = writeln!(page, "- {note}");
        }
    }
    page
}

/// Returns the table of all agents.
pub(super) fn render_overview() -> String {
    let mut table = String::from(
        "| agent | checked | asks about | a refused tool | an ask | other arguments | a refused prompt | context at the \
         start, with the prompt | a turn that goes on |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for agent in agents() {
        let checked = agent.checked.map_or_else(
            || NONE.to_owned(),
            |it| format!("{}, {}", it.version, if it.seen { "run" } else { "read" }),
        );
        let event_count = agent.connected_event_names().count();
        let connection = match agent.entry {
            Some(_) => format!("{event_count} events"),
            None if !is_agent(agent) => "nothing; a language of hooks".to_owned(),
            None => format!("{event_count} events, by an entry of yours"),
        };
        let cell = |event: HookEventName, effect: fn(&Agent, &AgentEvent) -> String| {
            let event = connected_events(agent).find(|candidate| candidate.maps_to(event));
            event.map_or_else(|| NONE.to_owned(), |event| effect(agent, event))
        };
        let contexts = [HookEventName::SessionStart, HookEventName::BeforeAgent];
        let [start, prompt] = contexts.map(|event| cell(event, context_effect));
        let context = if start == prompt { start } else { format!("{start}, {prompt}") };
        let _ = writeln!(
            table,
            "| [{}]({}.md) | {checked} | {connection} | {} | {} | {} | {} | {context} | {} |",
            agent.title,
            agent.name,
            cell(HookEventName::BeforeTool, denial_effect),
            cell(HookEventName::BeforeTool, ask_effect),
            cell(HookEventName::BeforeTool, arguments_effect),
            cell(HookEventName::BeforeAgent, denial_effect),
            cell(HookEventName::AfterAgent, denial_effect),
        );
    }
    table
}

/// The legend of these tables.
pub(super) const LEGEND: &str = "\
*yes*: the agent is told in its own words. *denied*: it has no such word, and is told to deny. *told*: the model is told why, and
things go on. *lost*: it has no word for it at all, or ignores it, which is said on standard error. *–*: there is nothing of the
kind.\n";

fn write_connection(agent: &Agent, page: &mut String) {
    page.push_str("\n## How it is connected\n\n");
    let name = agent.name;
    let Some(entry) = &agent.entry else {
        let _ = match agent.events.first() {
            Some(event) if is_agent(agent) => writeln!(
                page,
                "`hook connect` does not write its settings: add `hook bridge {name} {}` and the like to them as hooks.",
                event.name
            ),
            _ => writeln!(page, "It is a language of hooks only; nothing is connected."),
        };
        return;
    };
    let written = match () {
        () if agent.uses_extension() => {
            format!("an extension that calls `hook bridge {name} EVENT`")
        }
        () if agent.writes_scripts() => {
            format!("for each event a script of its name that calls `hook bridge {name} EVENT`")
        }
        () => format!("for each event a command `hook bridge {name} EVENT`"),
    };
    let variable = agent.paths.variable.map(|name| format!(" (`{name}` names the folder)"));
    let _ = writeln!(
        page,
        "`hook connect {name}` writes {written}; `hook disconnect {name}` takes it out again.\n\n- for the user: \
         `~/{}/{}`{}\n- for a project (`--scope project`): `{}`\n- what is left: {}",
        folder(agent),
        entry.file,
        variable.unwrap_or_default(),
        entry.in_project.unwrap_or(NONE),
        entry.next_step,
    );
}

/// Checks whether this is an agent that can ask, and no mere language of hooks.
fn is_agent(agent: &Agent) -> bool {
    !agent.paths.user.is_empty() || agent.checked.is_some()
}

/// Returns the user's folder as on Linux, whichever system generates the page.
fn folder(agent: &Agent) -> String {
    agent.paths.folder.replace("Library/Preferences", ".config")
}

fn write_events(agent: &Agent, page: &mut String) {
    page.push_str(
        "\n## Events\n\n| event | here | asked | matchers are compared with | a block means | timeout |\n| --- | --- \
         | --- | --- | --- | --- |\n",
    );
    for event in agent.events {
        let native = match event.native {
            NativeEvent::BuiltIn(native) => format!("`{native}`{}", coverage(event.coverage)),
            NativeEvent::Declared => "declared under that name".to_owned(),
        };
        let bridge_timeout = match (agent.entry.is_some(), event.is_unconnected, event.native) {
            (true, false, NativeEvent::BuiltIn(_)) => {
                format!("{} s", entry::bridge_timeout_secs(event))
            }
            _ => NONE.to_owned(),
        };
        let subject = match event.subject {
            Subject::Nothing => NONE.to_owned(),
            Subject::Tool => "the tool".to_owned(),
            Subject::Field(name) => format!("`{name}`"),
            Subject::FileName(name) => format!("the last part of `{name}`"),
            Subject::Constant(constant) => format!("the word `{constant}`"),
        };
        let block = block_means(event).filter(|_| denial_effect(agent, event) == "yes");
        let timeout = event.timeout.unwrap_or(agent.timeout.default);
        let _ = writeln!(
            page,
            "| `{}` | {native} | {bridge_timeout} | {subject} | {} | {} |",
            event.name,
            block.unwrap_or(NONE),
            format_seconds(timeout)
        );
    }
    page.push_str(
        "\n*asked*: how long the entry that `hook connect` writes may take; *timeout*: that of a hook which does not say one.\n",
    );
}

fn coverage(coverage: Coverage) -> String {
    match coverage {
        Coverage::All => String::new(),
        Coverage::Tools(tools) => {
            let tools: Vec<String> = tools.iter().map(|tool| format!("`{tool}`")).collect();
            format!(" of {}", tools.join(", "))
        }
        Coverage::Mcp => " of MCP tools".to_owned(),
        Coverage::Succeeded => ", if it did not fail".to_owned(),
    }
}

fn format_seconds(milliseconds: u64) -> String {
    match (milliseconds / 1_000, milliseconds % 1_000) {
        (whole, 0) => format!("{whole} s"),
        (whole, rest) => format!("{whole}.{} s", format!("{rest:03}").trim_end_matches('0')),
    }
}

fn write_effects(agent: &Agent, page: &mut String) {
    page.push_str(
        "\n## What it obeys\n\n| event | a denial | an ask | a stop | other arguments | context | a message to the \
         user |\n| --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for event in connected_events(agent) {
        let cells = [
            denial_effect,
            ask_effect,
            stop_effect,
            arguments_effect,
            context_effect,
            message_effect,
        ]
        .map(|cell| cell(agent, event));
        let _ = writeln!(page, "| `{}` | {} |", event.name, cells.join(" | "));
    }
    let _ = write!(page, "\n{LEGEND}");
    let events: Vec<&str> = agent.event_names().collect();
    let newer = agent.missing_in("0", &events).into_iter();
    let newer: Vec<String> =
        newer.map(|(version, what)| format!("- New in {version}: {what}.\n")).collect();
    if !newer.is_empty() {
        let _ = write!(page, "\n{}", newer.concat());
    }
}

fn write_tools(agent: &Agent, page: &mut String) {
    page.push_str("\n## Tools\n\n");
    let mut rows = String::new();
    let mut add = |tools: &[Tool]| {
        for tool in
            tools.iter().filter(|tool| tool.native != tool.foreign || !tool.fields.is_empty())
        {
            let fields: Vec<String> = tool
                .fields
                .iter()
                .map(|(native, foreign)| format!("`{native}` is `{foreign}`"))
                .collect();
            let fields = if fields.is_empty() { NONE.to_owned() } else { fields.join(", ") };
            let row = format!("| `{}` | `{}` | {fields} |\n", tool.native, tool.foreign);
            if !rows.contains(&row) {
                rows.push_str(&row);
            }
        }
    };
    add(agent.tools);
    for event in agent.events {
        add(event.tools.unwrap_or_default());
    }
    if rows.is_empty() {
        page.push_str("They are called as here.\n");
    } else {
        let _ = write!(
            page,
            "| here | there | arguments |\n| --- | --- | --- |\n{rows}\nOther tools are called as here.\n"
        );
    }
    let (server, tool) = agent.mcp;
    if server != "mcp_" {
        let name = if tool.is_empty() { "TOOL".to_owned() } else { format!("SERVER{tool}TOOL") };
        let _ = writeln!(
            page,
            "A tool of an MCP server, `mcp_SERVER_TOOL`, is `{server}{name}` there."
        );
    }
}

fn write_settings(agent: &Agent, page: &mut String) {
    page.push_str("\n## Settings\n\n");
    let paths = &agent.paths;
    let user_paths = paths.user.iter().map(|file| format!("`~/{}/{file}`", folder(agent)));
    let project_paths = paths.project.iter().map(|file| format!("`{file}`"));
    let system_paths = paths.system.iter().map(|file| format!("`/{file}`"));
    let all: Vec<String> = project_paths.chain(user_paths).chain(system_paths).collect();
    if all.is_empty() {
        page.push_str("It keeps no hooks in files; those in its words are named by `--settings`, or say `\"language\"`.\n");
    } else {
        page.push_str("Hooks are in these files, the first of which takes precedence; those of all of them run:\n\n");
        for (number, path) in all.iter().enumerate() {
            let _ = writeln!(page, "{}. {path}", number + 1);
        }
    }
    if let Some(plugins) = &paths.plugins {
        let files: Vec<String> = plugins.files.iter().map(|file| format!("`{file}`")).collect();
        let _ = write!(
            page,
            "\nPlugins are in `{}` below the agent's folder, with hooks in {} and where `{}` says.",
            plugins.folders,
            files.join(", "),
            plugins.manifest
        );
        if let Some(key) = plugins.enabled {
            let _ = write!(page, " `{key}` in settings says which are on.");
        }
        page.push('\n');
    }
    page.push('\n');
    for (other, reach) in agent.reads_files_of {
        let title = crate::agent(other).map_or(*other, |known| known.title);
        let which = match reach {
            Reach::All => "files",
            Reach::Projects => "files of projects",
        };
        let _ = writeln!(page, "- It reads the {which} of {title}, too, plugins excepted.");
    }
    let form = match agent.settings {
        SettingsForm::Groups => "Hooks stand in groups, each with a `matcher` and `hooks`.",
        SettingsForm::Flat if agent.layout.event_key.is_some() => {
            "Hooks stand in one list, each with its `matcher`."
        }
        SettingsForm::Flat => "Hooks stand in the list of their event, each with its `matcher`.",
        SettingsForm::Both => {
            "Hooks stand in the list of their event, or in groups with a `matcher` and `hooks`."
        }
    };
    let _ = writeln!(page, "- {form}");
    let layout = &agent.layout;
    let bare: Vec<String> = layout.bare.iter().map(|file| format!("`{file}`")).collect();
    match (layout.event_key, layout.is_named) {
        (Some(key), _) => {
            let action =
                layout.action_key.map(|key| format!(", and have their command in `{key}`"));
            let _ = writeln!(
                page,
                "- They are items of the list `hooks`, which name their event by `{key}`{}.",
                action.unwrap_or_default()
            );
        }
        (None, true) => {
            page.push_str("- A file is an object of names, each with an object of events.\n")
        }
        (None, false) if !bare.is_empty() => {
            let _ = writeln!(
                page,
                "- {} is the object of events itself; other files have it as `hooks`.",
                bare.join(", ")
            );
        }
        (None, false) => {}
    }
    if let Some(key) = layout.switch_key {
        let _ = writeln!(page, "- A hook with `\"{key}\": false` does not run.");
    }
    if let Some(key) = layout.directory_key {
        let _ = writeln!(page, "- `{key}` is the folder that a hook runs in.");
    }
    if !agent.hook_keys.is_empty() && agent.family == Family::Templates {
        let keys: Vec<String> = agent.hook_keys.iter().map(|key| format!("`{key}`")).collect();
        let _ = writeln!(page, "- Hooks may have {}.", keys.join(", "));
    }
    let timeout = agent.timeout;
    let keys: Vec<String> = timeout.keys.iter().map(|key| format!("`{key}`")).collect();
    let unit = if timeout.unit == 1 { "milliseconds" } else { "seconds" };
    let unit = match timeout.milliseconds_from {
        Some(from) => format!("{unit}; from {from} on it is read as milliseconds"),
        None => unit.to_owned(),
    };
    let _ = match keys.is_empty() {
        true => writeln!(page, "- Hooks cannot say a timeout."),
        false => writeln!(page, "- {} is in {unit}.", keys.join(" or ")),
    };
    if agent.runs_once {
        page.push_str("- The same hook runs once for an event, however often it stands there.\n");
    }
    if agent.accepts_lowercase_initial {
        page.push_str("- The first letter of an event's name may be a small one.\n");
    }
    write_kinds(agent, page);
}

fn write_kinds(agent: &Agent, page: &mut String) {
    page.push_str("\n| type | at | timeout | here |\n| --- | --- | --- | --- |\n");
    for kind in agent.hook_kinds {
        let names = |names: &[&str]| {
            names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        };
        let events = match kind.events {
            kind::EventSet::All => "all events".to_owned(),
            kind::EventSet::Only(only) => names(only),
            kind::EventSet::AllExcept(but) => format!("all but {}", names(but)),
            kind::EventSet::None => "none: read and passed over".to_owned(),
        };
        let effect = match (kind.name, kind.unsupported_reason) {
            (_, Some(reason)) => format!("does nothing: {reason}"),
            _ if matches!(kind.events, kind::EventSet::None) => "does nothing".to_owned(),
            ("command" | "http", None) => "runs".to_owned(),
            _ => "needs a model or an MCP client of the host; without one it fails".to_owned(),
        };
        let timeout = kind.timeout.map_or_else(|| "the event's".to_owned(), format_seconds);
        let _ = writeln!(page, "| `{}` | {events} | {timeout} | {effect} |", kind.name);
    }
}

fn write_launch(agent: &Agent, page: &mut String) {
    let start = match agent.shell {
        [] => "Without a shell, with the words that Python's `shlex` finds".to_owned(),
        shell => format!("By `{}`", shell.join(" ")),
    };
    let directory = match agent.directory {
        Directory::Event => "the working directory of the event",
        Directory::Project => "the project",
        Directory::File => {
            "the project; a hook of a file that is none of the project's, in the folder of that file"
        }
    };
    let _ = writeln!(page, "\n## How a hook is started\n\n{start}, in {directory}.");
    let fields: Vec<String> = agent
        .base_fields
        .iter()
        .map(|(base, name)| match base {
            BaseField::Milliseconds => format!("`{name}` (milliseconds)"),
            BaseField::TranscriptOrNull => format!("`{name}` (or `null`)"),
            BaseField::Empty => format!("`{name}` (an empty object)"),
            _ => format!("`{name}`"),
        })
        .collect();
    let _ = writeln!(page, "Every input has {}.", fields.join(", "));
    if agent.variables.is_empty() {
        page.push_str("It has no variables of its own.\n");
        return;
    }
    page.push_str("\n| variable | value |\n| --- | --- |\n");
    for (name, value) in agent.variables {
        let value = match value {
            Variable::Project => "the project".to_owned(),
            Variable::Cwd => "the working directory of the event".to_owned(),
            Variable::Session => "the session".to_owned(),
            Variable::Transcript => "the transcript".to_owned(),
            Variable::PluginRoot => "the plugin's folder".to_owned(),
            Variable::InputField(name) => format!("`{name}` of what the hook is told"),
            Variable::Constant(constant) => format!("`{constant}`"),
        };
        let _ = writeln!(page, "| `{name}` | {value} |");
    }
    if let Some(name) = agent.env_file {
        let _ = writeln!(
            page,
            "| `{name}` | a file, at the start of a session: what is set there (`export NAME=value`) later hooks of the session have |"
        );
    }
    page.push_str(match agent.expansion {
        Expansion::Braces => "\n`${NAME}` of these is replaced in a command before the shell sees it.\n",
        Expansion::Quoted => "\n`$NAME` of these is replaced in a command by the quoted value before the shell sees it.\n",
        Expansion::None => "\nOnly the shell replaces them in a command.\n",
    });
}

/// Adds the effects of text and exit codes.
fn write_outcomes(agent: &Agent, page: &mut String) {
    page.push_str(
        "\n## What output of its hooks means\n\n| event | exit 0 and text | exit 2 and standard error | exit 1 and \
         standard error |\n| --- | --- | --- | --- |\n",
    );
    // Events with equal effects share a row.
    let mut rows: Vec<(String, Vec<&str>)> = Vec::new();
    for event in agent.events {
        let cells = [(0, SAMPLE_REASON, ""), (2, "", SAMPLE_REASON), (1, "", SAMPLE_REASON)].map(
            |(code, stdout, stderr)| {
                outcome(agent, event, &ProcessOutput { code: Some(code), stdout, stderr })
            },
        );
        let cells = cells.join(" | ");
        match rows.iter_mut().find(|(known, _)| *known == cells) {
            Some((_, names)) => names.push(event.name),
            None => rows.push((cells, vec![event.name])),
        }
    }
    for (cells, names) in rows {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let _ = writeln!(page, "| {} | {cells} |", names.join(", "));
    }
}

/// Adds the effects of this agent's answers on other agents.
fn write_answers(agent: &Agent, page: &mut String) {
    if agent.sample_answers.is_empty() {
        return;
    }
    page.push_str(
        "\n## What answers of its hooks mean in other agents\n\nAn allow is one there only if it spares the user a question \
         here, and only of hooks in the user's own settings: a hook\nwithout objections says the same.\n\n| event | answer | \
         in another agent | source |\n| --- | --- | --- | --- |\n",
    );
    for answer in agent.sample_answers {
        let Some(event) = agent.event(answer.event) else { continue };
        let effect = effect_on_others(agent, event, answer.text);
        let (event, text, source) = (answer.event, answer.text, answer.source);
        let _ = writeln!(page, "| `{event}` | `{text}` | {effect} | {source} |");
    }
}

/// Adds the rules for requests in another agent's form.
fn write_other_forms(agent: &Agent, page: &mut String) {
    if agent.entry.is_none() {
        return;
    }
    let top_level = match agent.top_level_denial {
        Some(decision) => format!("`\"decision\": \"{decision}\"` at the top level, "),
        None => String::new(),
    };
    let _ = write!(
        page,
        "\n## Input that is not in its form\n\nAgents read files of others. What is not in this agent's form is refused in each \
         way that one of them obeys: in this\nagent's own, {top_level}the reason on standard error, and exit code 2.\n"
    );
}

/// Returns the events that `hook connect` registers.
fn connected_events(agent: &Agent) -> impl Iterator<Item = &'static AgentEvent> {
    let built_in = |event: &&AgentEvent| matches!(event.native, NativeEvent::BuiltIn(_));
    agent.events.iter().filter(built_in).filter(|event| !event.is_unconnected)
}

/// Returns the effect of a hook's exit code and output.
fn outcome(agent: &Agent, event: &AgentEvent, process: &ProcessOutput<'_>) -> &'static str {
    let answer = agent.read(event, process);
    let output = answer.output.unwrap_or_default();
    let denies = matches!(output.decision, Some(Decision::Deny | Decision::Block));
    let specific = output.hook_specific_output.as_ref();
    match () {
        () if denies && block_means(event).is_some() => "a block",
        () if specific.is_some_and(|fields| fields.get("additionalContext").is_some()) => {
            "context for the model"
        }
        () if specific.is_some_and(|fields| fields.get("worktreePath").is_some()) => "the path",
        () if output.system_message.is_some() => "the user is told",
        () if answer.failure.is_some() => "a failed run",
        () => "nothing",
    }
}
