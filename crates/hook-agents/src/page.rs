//! The documentation page of an agent, generated from its tables.
//!
//! Effects of responses and hook outputs are not documented separately: the page calls the agent's
//! own functions with samples.

use std::fmt::Write;

use hook_protocol::HookEventName;
use hook_settings::language::Ended;

use super::heard::{
    NONE, WHY, arguments, ask, block_means, context, denial, elsewhere, message, outcome, stop,
};
use super::table::{
    Agent, AgentEvent, Base, Directory, Expands, Ours, Part, Reach, SettingsForm, Subject, Tool,
    Variable,
};
use super::{AGENTS, entry, kind};

/// Returns the page of an agent.
#[doc(hidden)]
pub fn page(agent: &Agent) -> String {
    let mut page = format!(
        "# {}\n\nGenerated from `crates/hook-translate/src/agents` by `HOOK_GENERATE=1 cargo test -p hook-tests --test all \
         cli::agents`; not to\nbe edited. All agents: [README.md](README.md).\n\n`{}` is its word in settings and on the \
         command line. ",
        agent.title, agent.name
    );
    page.push_str(match agent.entry {
        Some(_) => {
            "The page says what `hook` knows of it: how its hooks run here\n([`hook bridge`](../cli/bridge.md)), \
             and how it asks hooks of yours ([`hook connect`](../cli/connect.md)).\n"
        }
        None => {
            "The page says what `hook` knows of it: how its hooks run here\n([`hook bridge`](../cli/bridge.md)).\n"
        }
    });
    connecting(agent, &mut page);
    events(agent, &mut page);
    obeyed(agent, &mut page);
    tools(agent, &mut page);
    settings(agent, &mut page);
    started(agent, &mut page);
    answers(agent, &mut page);
    answers_elsewhere(agent, &mut page);
    other_forms(agent, &mut page);
    if !agent.notes.is_empty() {
        page.push_str("\n## What a table cannot say\n\n");
        for note in agent.notes {
            let _ = writeln!(page, "- {note}");
        }
    }
    page
}

/// Returns the table of all agents.
#[doc(hidden)]
pub fn overview() -> String {
    let mut table = String::from(
        "| agent | asks about | a refused tool | an ask | other arguments | a refused prompt | context at the \
         start, with the prompt | a turn that goes on |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for agent in AGENTS {
        let asked = agent.asks().count();
        let asks = match agent.entry {
            Some(_) => format!("{asked} events"),
            None if agent.places.user.is_empty() => "nothing; a language of hooks".to_owned(),
            None => format!("{asked} events, by an entry of yours"),
        };
        let cell = |event: HookEventName, of: fn(&Agent, &AgentEvent) -> String| {
            let event = agent.asked_events().find(|it| it.is(event));
            event.map_or_else(|| NONE.to_owned(), |event| of(agent, event))
        };
        let contexts = [HookEventName::SessionStart, HookEventName::BeforeAgent];
        let [start, prompt] = contexts.map(|event| cell(event, context));
        let context = if start == prompt { start } else { format!("{start}, {prompt}") };
        let _ = writeln!(
            table,
            "| [{}]({}.md) | {asks} | {} | {} | {} | {} | {context} | {} |",
            agent.title,
            agent.name,
            cell(HookEventName::BeforeTool, denial),
            cell(HookEventName::BeforeTool, ask),
            cell(HookEventName::BeforeTool, arguments),
            cell(HookEventName::BeforeAgent, denial),
            cell(HookEventName::AfterAgent, denial),
        );
    }
    table
}

/// The legend of these tables.
#[doc(hidden)]
pub const LEGEND: &str = "\
*yes*: the agent is told in its own words. *denied*: it has no such word, and is told to deny. *told*: the model is told why, and
things go on. *lost*: it has no word for it at all, or ignores it, which is said on standard error. *–*: there is nothing of the
kind.\n";

fn connecting(agent: &Agent, page: &mut String) {
    page.push_str("\n## How it is connected\n\n");
    let name = agent.name;
    let Some(entry) = &agent.entry else {
        let _ = match agent.events.first() {
            Some(event) if !agent.places.user.is_empty() => writeln!(
                page,
                "`hook connect` does not write its settings: add `hook bridge {name} {}` and the like to them as hooks.",
                event.name
            ),
            _ => writeln!(page, "It is a language of hooks only; nothing is connected."),
        };
        return;
    };
    let what = match entry.new_file.contains("@@COMMANDS@@") {
        true => format!("an extension that calls `hook bridge {name} EVENT`"),
        false => format!("for each event a command `hook bridge {name} EVENT`"),
    };
    let variable = agent.places.variable.map(|name| format!(" (`{name}` names the folder)"));
    let _ = writeln!(
        page,
        "`hook connect {name}` writes {what}; `hook disconnect {name}` takes it out again.\n\n- for the user: \
         `~/{}/{}`{}\n- for a project (`--scope project`): `{}`\n- what is left: {}",
        folder(agent),
        entry.file,
        variable.unwrap_or_default(),
        entry.in_project,
        entry.remains,
    );
}

/// Returns the user's folder as on Linux, whichever system generates the page.
fn folder(agent: &Agent) -> String {
    agent.places.folder.replace("Library/Preferences", ".config")
}

fn events(agent: &Agent, page: &mut String) {
    page.push_str(
        "\n## Events\n\n| event | here | asked | matchers are compared with | a block means | timeout |\n| --- | --- \
         | --- | --- | --- | --- |\n",
    );
    for event in agent.events {
        let ours = match event.ours {
            Ours::BuiltIn(ours) => format!("`{ours}`{}", part(event.part)),
            Ours::Declared => "declared under that name".to_owned(),
        };
        let asked = match (agent.entry.is_some(), event.is_asked_elsewhere, event.ours) {
            (true, false, Ours::BuiltIn(_)) => format!("{} s", entry::patience(event)),
            _ => NONE.to_owned(),
        };
        let subject = match event.subject {
            Subject::Nothing => NONE.to_owned(),
            Subject::Tool => "the tool".to_owned(),
            Subject::Field(name) => format!("`{name}`"),
            Subject::FileName(name) => format!("the last part of `{name}`"),
            Subject::Word(word) => format!("the word `{word}`"),
        };
        let block = block_means(event).filter(|_| denial(agent, event) == "yes");
        let timeout = event.timeout.unwrap_or(agent.timeout.default);
        let _ = writeln!(
            page,
            "| `{}` | {ours} | {asked} | {subject} | {} | {} |",
            event.name,
            block.unwrap_or(NONE),
            seconds(timeout)
        );
    }
    page.push_str(
        "\n*asked*: how long the entry that `hook connect` writes may take; *timeout*: that of a hook which does not say one.\n",
    );
}

fn part(part: Part) -> String {
    match part {
        Part::All => String::new(),
        Part::Tools(tools) => {
            let tools: Vec<String> = tools.iter().map(|tool| format!("`{tool}`")).collect();
            format!(" of {}", tools.join(", "))
        }
        Part::Mcp => " of MCP tools".to_owned(),
        Part::Succeeded => ", if it did not fail".to_owned(),
    }
}

fn seconds(milliseconds: u64) -> String {
    match (milliseconds / 1_000, milliseconds % 1_000) {
        (whole, 0) => format!("{whole} s"),
        (whole, rest) => format!("{whole}.{} s", format!("{rest:03}").trim_end_matches('0')),
    }
}

fn obeyed(agent: &Agent, page: &mut String) {
    page.push_str(
        "\n## What it obeys\n\n| event | a denial | an ask | a stop | other arguments | context | a message to the \
         user |\n| --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for event in agent.asked_events() {
        let cells = [denial, ask, stop, arguments, context, message].map(|cell| cell(agent, event));
        let _ = writeln!(page, "| `{}` | {} |", event.name, cells.join(" | "));
    }
    let _ = write!(page, "\n{LEGEND}");
}

fn tools(agent: &Agent, page: &mut String) {
    page.push_str("\n## Tools\n\n");
    let mut rows = String::new();
    let mut add = |tools: &[Tool]| {
        for tool in tools.iter().filter(|it| it.ours != it.theirs || !it.fields.is_empty()) {
            let fields: Vec<String> = tool
                .fields
                .iter()
                .map(|(ours, theirs)| format!("`{ours}` is `{theirs}`"))
                .collect();
            let fields = if fields.is_empty() { NONE.to_owned() } else { fields.join(", ") };
            let row = format!("| `{}` | `{}` | {fields} |\n", tool.ours, tool.theirs);
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

fn settings(agent: &Agent, page: &mut String) {
    page.push_str("\n## Settings\n\n");
    let places = &agent.places;
    let of_user = places.user.iter().map(|file| format!("`~/{}/{file}`", folder(agent)));
    let of_project = places.project.iter().map(|file| format!("`{file}`"));
    let of_system = places.system.iter().map(|file| format!("`/{file}`"));
    let all: Vec<String> = of_project.chain(of_user).chain(of_system).collect();
    if all.is_empty() {
        page.push_str("It keeps no hooks in files; those in its words are named by `--settings`, or say `\"language\"`.\n");
    } else {
        page.push_str("Hooks are in these files, the first of which takes precedence; those of all of them run:\n\n");
        for (number, place) in all.iter().enumerate() {
            let _ = writeln!(page, "{}. {place}", number + 1);
        }
    }
    if let Some(plugins) = &places.plugins {
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
    for (other, reach) in agent.runs_too {
        let title = super::agent(other).map_or(*other, |it| it.title);
        let which = match reach {
            Reach::All => "files",
            Reach::Projects => "files of projects",
        };
        let _ = writeln!(page, "- It reads the {which} of {title}, too, plugins excepted.");
    }
    let form = match agent.settings {
        SettingsForm::Groups => "Hooks stand in groups, each with a `matcher` and `hooks`.",
        SettingsForm::Flat => "Hooks stand in the list of their event, each with its `matcher`.",
        SettingsForm::Both => {
            "Hooks stand in the list of their event, or in groups with a `matcher` and `hooks`."
        }
    };
    let _ = writeln!(page, "- {form}");
    let timeout = agent.timeout;
    let keys: Vec<String> = timeout.keys.iter().map(|key| format!("`{key}`")).collect();
    let unit = if timeout.unit == 1 { "milliseconds" } else { "seconds" };
    let _ = write!(page, "- {} is in {unit}", keys.join(" or "));
    match timeout.milliseconds_from {
        Some(from) => {
            let _ = writeln!(page, "; from {from} on it is read as milliseconds.");
        }
        None => page.push_str(".\n"),
    }
    if agent.runs_once {
        page.push_str("- The same hook runs once for an event, however often it stands there.\n");
    }
    if agent.takes_any_case {
        page.push_str("- The first letter of an event's name may be a small one.\n");
    }
    kinds(agent, page);
}

fn kinds(agent: &Agent, page: &mut String) {
    page.push_str("\n| type | at | timeout | here |\n| --- | --- | --- | --- |\n");
    for kind in agent.kinds {
        let names = |names: &[&str]| {
            names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        };
        let at = match kind.at {
            kind::At::All => "all events".to_owned(),
            kind::At::Only(only) => names(only),
            kind::At::AllBut(but) => format!("all but {}", names(but)),
            kind::At::None => "none: read and passed over".to_owned(),
        };
        let here = match (kind.word, kind.impossible) {
            (_, Some(why)) => format!("does nothing: {why}"),
            _ if matches!(kind.at, kind::At::None) => "does nothing".to_owned(),
            ("command" | "http", None) => "runs".to_owned(),
            _ => "needs a model or an MCP client of the host; without one it fails".to_owned(),
        };
        let timeout = kind.timeout.map_or_else(|| "the event's".to_owned(), seconds);
        let _ = writeln!(page, "| `{}` | {at} | {timeout} | {here} |", kind.word);
    }
}

fn started(agent: &Agent, page: &mut String) {
    let shell = agent.shell.join(" ");
    let directory = match agent.directory {
        Directory::OfEvent => "the working directory of the event",
        Directory::Project => "the project",
        Directory::OfFile => {
            "the project; a hook of a file that is none of the project's, in the folder of that file"
        }
    };
    let _ = writeln!(page, "\n## How a hook is started\n\nBy `{shell}`, in {directory}.");
    let fields: Vec<String> = agent
        .base
        .iter()
        .map(|(base, name)| match base {
            Base::Milliseconds => format!("`{name}` (milliseconds)"),
            Base::TranscriptOrNull => format!("`{name}` (or `null`)"),
            Base::Empty => format!("`{name}` (an empty object)"),
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
            Variable::Said(name) => format!("`{name}` of what the hook is told"),
            Variable::Word(word) => format!("`{word}`"),
        };
        let _ = writeln!(page, "| `{name}` | {value} |");
    }
    if let Some(name) = agent.env_file {
        let _ = writeln!(
            page,
            "| `{name}` | a file, at the start of a session: what is set there (`export NAME=value`) later hooks of the session have |"
        );
    }
    page.push_str(match agent.expands {
        Expands::Braces => "\n`${NAME}` of these is replaced in a command before the shell sees it.\n",
        Expands::Quoted => "\n`$NAME` of these is replaced in a command by the quoted value before the shell sees it.\n",
        Expands::Never => "\nOnly the shell replaces them in a command.\n",
    });
}

/// Adds the effects of text and exit codes.
fn answers(agent: &Agent, page: &mut String) {
    page.push_str(
        "\n## What output of its hooks means\n\n| event | exit 0 and text | exit 2 and standard error | exit 1 and \
         standard error |\n| --- | --- | --- | --- |\n",
    );
    // Events with equal effects share a row.
    let mut rows: Vec<(String, Vec<&str>)> = Vec::new();
    for event in agent.events {
        let cells = [(0, WHY, ""), (2, "", WHY), (1, "", WHY)].map(|(code, stdout, stderr)| {
            outcome(agent, event, &Ended { code: Some(code), stdout, stderr })
        });
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
fn answers_elsewhere(agent: &Agent, page: &mut String) {
    if agent.answers.is_empty() {
        return;
    }
    page.push_str(
        "\n## What answers of its hooks mean in other agents\n\nAn allow is one there only if it spares the user a question \
         here, and only of hooks in the user's own settings: a hook\nwithout objections says the same.\n\n| event | answer | \
         in another agent | source |\n| --- | --- | --- | --- |\n",
    );
    for answer in agent.answers {
        let Some(event) = agent.event(answer.event) else { continue };
        let means = elsewhere(agent, event, answer.text);
        let (event, text, source) = (answer.event, answer.text, answer.source);
        let _ = writeln!(page, "| `{event}` | `{text}` | {means} | {source} |");
    }
}

/// Adds the rules for requests in another agent's form.
fn other_forms(agent: &Agent, page: &mut String) {
    if agent.entry.is_none() {
        return;
    }
    let top = match agent.top_level {
        Some(word) => format!("`\"decision\": \"{word}\"` at the top level, "),
        None => String::new(),
    };
    let _ = write!(
        page,
        "\n## Input that is not in its form\n\nAgents read files of others. What is not in this agent's form is refused in each \
         way that one of them obeys: in this\nagent's own, {top}the reason on standard error, and exit code 2.\n"
    );
}
