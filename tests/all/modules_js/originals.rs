//! The example hooks of the project that this API comes from, unchanged, as it published them: those that import none of
//! its own code.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use hook_tests::{Project, request};
use serde_json::{Value, json};

use crate::sdk_typescript::from_registry;

use super::host::conversation;
use super::{fire, has_node, jiti, project, run, shell, skipped, verdict};

/// The last version whose hooks know `session_before_branch`, and are called hooks.
const PACKAGE: &str = "@mariozechner/pi-coding-agent@0.31.1";

/// Those that import nothing of it but types.
const EXAMPLES: [&str; 8] = [
    "auto-commit-on-exit",
    "confirm-destructive",
    "dirty-repo-guard",
    "file-trigger",
    "git-checkpoint",
    "permission-gate",
    "protected-paths",
    "status-line",
];

/// The folder of the published examples; `None` where it cannot be had, which is said.
fn published() -> Option<&'static Path> {
    static FETCHED: OnceLock<Option<PathBuf>> = OnceLock::new();
    FETCHED.get_or_init(fetch).as_deref()
}

fn fetch() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("original-hooks");
    fs::create_dir_all(&folder).unwrap();
    // Other runs of these tests wait until it is there.
    let lock = File::create(folder.join("lock")).unwrap();
    lock.lock().unwrap();
    let examples = folder.join("package/examples/hooks");
    if !examples.join("status-line.ts").is_file() {
        let mut npm = Command::new("npm");
        npm.args(["pack", "--silent", PACKAGE]).current_dir(&folder);
        let said = from_registry(&mut npm).map_err(|why| skipped(&why)).ok()?;
        let archive = said.lines().last().unwrap();
        let mut tar = Command::new("tar");
        tar.args(["xzf", archive.trim(), "package/examples/hooks"]).current_dir(&folder);
        assert!(tar.status().unwrap().success(), "{archive}");
    }
    Some(examples)
}

/// A project with these examples, as they were published.
fn with(names: &[&str]) -> Option<Project> {
    let (jiti, published) = (jiti().filter(|_| has_node())?, published()?);
    let read = |name: &&str| fs::read_to_string(published.join(format!("{name}.ts"))).unwrap();
    let texts: Vec<String> = names.iter().map(read).collect();
    let paths: Vec<String> = names.iter().map(|name| format!("{name}.ts")).collect();
    let env = json!({"env": {"NODE_PATH": jiti}});
    let modules = paths.iter().zip(&texts);
    let modules: Vec<_> = modules.map(|(path, text)| (&**path, &**text, env.clone())).collect();
    Some(project(&modules))
}

#[test]
fn those_that_import_only_types_are_these_and_all_of_them_are_loaded() {
    let Some(project) = with(&EXAMPLES) else { return };
    let of_ours = |path: &Path| {
        let text = fs::read_to_string(path).unwrap();
        let imports = text.lines().filter(|line| line.starts_with("import "));
        let mut others = imports.filter(|line| !line.starts_with("import type "));
        others.all(|line| !line.contains("@mariozechner/"))
    };
    let files = fs::read_dir(published().unwrap()).unwrap().map(|it| it.unwrap().path());
    let found = files.filter(|path| path.extension().is_some_and(|it| it == "ts") && of_ours(path));
    let mut found: Vec<_> =
        found.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    found.sort();
    assert_eq!(found, EXAMPLES);

    let listed = run(&project, &["list", "--json", "--settings", "settings.json"]).lines();
    for name in EXAMPLES {
        let handler = format!("{name}.ts ");
        let has_handler =
            listed.iter().any(|it| it["name"].as_str().unwrap_or_default().starts_with(&handler));
        assert!(has_handler, "{name}: {listed:?}");
    }
    assert!(listed.iter().all(|it| it["module"]["error"].is_null()), "{listed:?}");
}

fn write(path: &str) -> Value {
    json!({"tool_name": "write_file", "tool_input": {"file_path": path, "content": "x"}})
}

#[tokio::test]
async fn the_permission_gate_asks_and_blocks() {
    let Some(project) = with(&["permission-gate"]) else { return };
    let no_ui = ("block", "Dangerous command blocked (no UI for confirmation)");
    assert_eq!(verdict(&fire(&project, "BeforeTool", &shell("sudo ls"))), no_ui);
    assert_eq!(verdict(&fire(&project, "BeforeTool", &shell("ls"))).0, "proceed");
    for (choice, expected) in [("No", ("block", "Blocked by user")), ("Yes", ("proceed", ""))] {
        let call = request("BeforeTool", &shell("rm -rf build"), "c-1");
        let services = json!({"session.get": {}, "ui.select": choice});
        let (response, asked) = conversation(&project, &services, &call).await;
        assert_eq!(verdict(&response), expected, "{response}");
        let question = asked.iter().find(|it| it["method"] == "ui.select").unwrap();
        assert_eq!(question["params"]["options"], json!(["Yes", "No"]));
    }
}

#[tokio::test]
async fn a_branch_is_not_made_where_the_user_stays() {
    let Some(project) = with(&["confirm-destructive"]) else { return };
    let branch = request("BeforeSessionBranch", &json!({"entry_id": "0123456789"}), "c-1");
    for (choice, decision) in
        [("No, stay in current session", "block"), ("Yes, create branch", "proceed")]
    {
        let services = json!({"session.get": {}, "ui.select": choice, "ui.notify": null});
        let (response, asked) = conversation(&project, &services, &branch).await;
        assert_eq!(verdict(&response).0, decision, "{response}");
        let question = asked.iter().find(|it| it["method"] == "ui.select").unwrap();
        assert_eq!(question["params"]["title"], "Branch from entry 01234567?");
    }
}

#[test]
fn protected_paths_are_not_written() {
    let Some(project) = with(&["protected-paths"]) else { return };
    let response = fire(&project, "BeforeTool", &write("/p/.env"));
    assert_eq!(verdict(&response), ("block", "Path \"/p/.env\" is protected"), "{response}");
    assert_eq!(verdict(&fire(&project, "BeforeTool", &write("/p/a"))).0, "proceed");
    let read = json!({"tool_name": "read_file", "tool_input": {"file_path": "/p/.env"}});
    assert_eq!(verdict(&fire(&project, "BeforeTool", &read)).0, "proceed");
}
