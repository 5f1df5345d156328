//! The pages of docs/agents, which are generated from the tables of hook-agents.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use self::page::{LEGEND, render_overview, render_page};
use super::{agent, agents, read_agent};

#[path = "page.rs"]
mod page;

const BEGIN: &str = "<!-- agents: generated -->\n";
const END: &str = "<!-- agents: end -->\n";

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

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
        "{} is not what the tables say; rewrite it with HOOK_GENERATE=1 cargo test -p hook-agents pages, and look at the difference",
        path.display()
    );
}

fn index() -> String {
    format!(
        "# Agents\n\nGenerated from `crates/hook-agents` by `HOOK_GENERATE=1 cargo test -p hook-agents pages`; not to be \
         edited.\n\nWhat each agent asks about once [`hook connect`](../cli/connect.md) has \
         connected it, and what of an answer it obeys. Each has a page\nwith its events, tools, files and rules; [table.json](table.json) has all of it as data. *checked* is the version that was run,\nor whose code or documentation was read. Another agent takes one file: [adding.md](adding.md).\n\n{}\n{LEGEND}",
        render_overview()
    )
}

#[test]
fn each_agent_has_the_page_that_its_tables_make() {
    let folder = workspace().join("docs/agents");
    let mut files = BTreeSet::from(["README.md".to_owned()]);
    for agent in agents() {
        let file = format!("{}.md", agent.name());
        is_up_to_date(&folder.join(&file), &render_page(agent));
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
    let overview = render_overview().replace("](", "](docs/agents/");
    let (table, others) = run_and_others(&overview);
    let others = format!("By their code or documentation also: {others}.");
    is_up_to_date(&path, &format!("{before}{BEGIN}\n{table}\n{others}\n\n{END}{after}"));
}

/// The rows of agents that were run, below the head of the table, and the links of all others.
fn run_and_others(overview: &str) -> (String, String) {
    let cells = |row: &str, cell: usize| row.split(" | ").nth(cell).unwrap().to_owned();
    let (head, rows): (Vec<&str>, Vec<&str>) =
        overview.lines().partition(|line| !line.starts_with("| ["));
    let (run, others): (Vec<&str>, Vec<&str>) =
        rows.into_iter().partition(|row| cells(row, 1).ends_with(", run"));
    let table = head.into_iter().filter(|line| line.starts_with('|')).chain(run);
    let others: Vec<String> =
        others.into_iter().map(|row| cells(row, 0).trim_start_matches("| ").to_owned()).collect();
    (table.map(|line| format!("{line}\n")).collect(), others.join(", "))
}

/// The cell of an agent's event in a column of what it obeys.
fn obeys(agent_name: &str, event: &str, column: &str) -> String {
    let page = render_page(agent(agent_name).unwrap());
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
        ("pi", "tool_call", "context", "lost"),
    ] {
        assert_eq!(obeys(agent, event, column), expected, "{agent} {event} {column}");
    }
}

#[test]
fn an_agent_of_a_file_has_a_page() {
    let mine = include_str!("../../../../tests/all/agent_definitions/mine.toml");
    let page = render_page(&read_agent(mine).unwrap());
    assert!(page.contains("Checked against Mine 7.1, which was read on 2026-11-26."), "{page}");
    assert!(
        page.contains("| `beforeTool` | yes | denied | denied | yes | lost | lost |"),
        "{page}"
    );
    assert!(page.contains("It asks nothing about its own notes."), "{page}");
}
