//! The pages of docs/agents, which are generated from the tables of hook-agents.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use hook_agents::{LEGEND, agents};
use hook_tests::workspace;

const BEGIN: &str = "<!-- agents: generated -->\n";
const END: &str = "<!-- agents: end -->\n";

fn generates() -> bool {
    std::env::var_os("HOOK_GENERATE").is_some_and(|value| value == "1")
}

/// Compares a file with what is generated, or writes it.
fn is_up_to_date(path: &Path, text: &str) {
    if generates() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    assert!(
        fs::read_to_string(path).unwrap_or_default() == text,
        "{} is not what the tables say; rewrite it with HOOK_GENERATE=1 cargo test -p hook-tests --test all \
         cli::agents, and look at the difference",
        path.display()
    );
}

fn index() -> String {
    format!(
        "# Agents\n\nGenerated from `crates/hook-agents` by `HOOK_GENERATE=1 cargo test -p hook-tests --test \
         all cli::agents`; not to\nbe edited.\n\nWhat each agent asks about once [`hook connect`](../cli/connect.md) has \
         connected it, and what of an answer it obeys. Each has a page\nwith its events, tools, files and rules; [table.json](table.json) has all of it as data. *checked* is the version that was run,\nor whose code or documentation was read. Another agent takes one file: [adding.md](adding.md).\n\n{}\n{LEGEND}",
        hook_agents::render_overview()
    )
}

#[test]
fn each_agent_has_the_page_that_its_tables_make() {
    let folder = workspace().join("docs/agents");
    let mut files = BTreeSet::from(["README.md".to_owned()]);
    for agent in agents() {
        let file = format!("{}.md", agent.name());
        is_up_to_date(&folder.join(&file), &hook_agents::render_page(agent));
        files.insert(file);
    }
    is_up_to_date(&folder.join("README.md"), &index());
    let rows: Vec<String> = agents().iter().map(|agent| agent.to_json().to_string()).collect();
    is_up_to_date(&folder.join("table.json"), &format!("[\n{}\n]\n", rows.join(",\n")));
    files.insert("table.json".to_owned());
    files.insert("adding.md".to_owned());
    let there: BTreeSet<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(there, files, "a page of an agent that there is not");
}

#[test]
fn the_readme_has_the_table_of_agents() {
    let path = workspace().join("README.md");
    let text = fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let table = hook_agents::render_overview().replace("](", "](docs/agents/");
    is_up_to_date(&path, &format!("{before}{BEGIN}\n{table}\n{END}{after}"));
}

/// The cell of an agent's event in a column of what it obeys.
fn obeys(agent: &str, event: &str, column: &str) -> String {
    let page = hook_agents::render_page(hook_agents::agent(agent).unwrap());
    let table = page.split("## What it obeys\n\n").nth(1).unwrap();
    let cells = |line: &str| -> Vec<String> {
        line.split(" | ").map(|cell| cell.trim_matches(['|', ' ', '`']).to_owned()).collect()
    };
    let names = cells(table.lines().next().unwrap());
    let at = names.iter().position(|name| name == column).unwrap();
    let row = table.lines().map(cells).find(|row| row[0] == event).unwrap();
    row[at].clone()
}

/// What was seen in real agents stands on their pages.
#[test]
fn the_pages_say_what_agents_were_seen_to_do() {
    for (agent, event, column, expected) in [
        ("claude", "PreToolUse", "an ask", "yes"),
        ("claude", "PreToolUse", "other arguments", "yes"),
        ("claude", "SessionStart", "a denial", "–"),
        ("codex", "PreToolUse", "an ask", "denied"),
        ("codex", "PreToolUse", "a stop", "denied"),
        ("gemini", "BeforeTool", "context", "lost"),
        ("gemini", "AfterAgent", "an ask", "denied"),
        ("llxprt", "BeforeTool", "an ask", "denied"),
        ("qwen", "PreToolUse", "other arguments", "lost"),
        ("qwen", "PreToolUse", "context", "lost"),
        ("cursor", "preToolUse", "an ask", "denied"),
        ("copilot", "userPromptSubmitted", "a denial", "lost"),
        ("pi", "tool_call", "context", "lost"),
    ] {
        assert_eq!(obeys(agent, event, column), expected, "{agent} {event} {column}");
    }
}
