//! Modules of JavaScript and TypeScript, with the binary and a real node.

mod api;
mod commands;
mod examples;
mod faults;
mod found;
mod host;
mod isolation;
mod loads;
mod of_user;
mod originals;
mod rules;
mod trust;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use hook_tests::{Finished, Hook, Project};
use serde_json::{Value, json};

use crate::sdk_typescript::from_registry;

/// A guard that refuses what its words are in.
const GUARD: &str = r#"
export default function (pi) {
  pi.on("tool_call", (event) => {
    if (String(event.input.command).includes("rm -rf")) return { block: true, reason: "not that" };
  });
}
"#;

fn skipped(why: &str) {
    hook_tests::skipped(&format!("modules of JavaScript: {why}"));
}

/// Whether there is a node that modules can be run by; else the test is skipped, which is said.
pub(crate) fn has_node() -> bool {
    let version = Command::new("node").arg("--version").output();
    let version = version.map(|it| String::from_utf8_lossy(&it.stdout).trim().to_owned());
    let version = version.unwrap_or_default();
    let major = version.trim_start_matches('v').split('.').next().and_then(|it| it.parse().ok());
    let is_there = major.is_some_and(|major: u32| major >= 20);
    if !is_there {
        skipped("they need node 20 or later");
    }
    is_there
}

/// A folder with `jiti` in it, for `NODE_PATH`; `None` where it cannot be had, which is said.
fn jiti() -> Option<&'static Path> {
    static INSTALLED: OnceLock<Option<PathBuf>> = OnceLock::new();
    INSTALLED.get_or_init(install).as_deref()
}

fn install() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("jiti");
    fs::create_dir_all(&folder).unwrap();
    // Other runs of these tests wait until it is there.
    let lock = File::create(folder.join("lock")).unwrap();
    lock.lock().unwrap();
    let modules = folder.join("node_modules");
    if !modules.join("jiti/package.json").is_file() {
        fs::write(folder.join("package.json"), "{\"private\": true}").unwrap();
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-save", "--ignore-scripts", "jiti@2"]).current_dir(&folder);
        from_registry(&mut npm).map_err(|why| skipped(&why)).ok()?;
    }
    Some(modules)
}

/// A project with a settings file of these modules, each with more in its entry.
fn project(modules: &[(&str, &str, Value)]) -> Project {
    let project = Project::new();
    let entries: Vec<Value> = modules
        .iter()
        .map(|(path, text, more)| {
            project.write(path, text);
            let mut entry = json!({"type": "module", "path": path});
            for (name, value) in more.as_object().into_iter().flatten() {
                entry[name] = value.clone();
            }
            entry
        })
        .collect();
    let settings = json!({"hooks": {"*": [{"hooks": entries}]}});
    project.write("settings.json", &settings.to_string());
    project
}

/// What `hook fire` says of an event, with the project's `settings.json`.
fn fire(project: &Project, event: &str, input: &Value) -> Value {
    fired(project, &["--settings", "settings.json"], event, input)
}

fn fired(project: &Project, options: &[&str], event: &str, input: &Value) -> Value {
    let mut arguments = vec!["fire", event, "--json", "--input", "-"];
    arguments.extend(options);
    let finished = Hook::new(project, &arguments).stdin(input.to_string()).run();
    assert_eq!(finished.lines().len(), 1, "{finished:?}");
    finished.lines().remove(0)
}

fn shell(command: &str) -> Value {
    json!({"tool_name": "run_shell_command", "tool_input": {"command": command}})
}

/// What a response decides, and why.
fn verdict(response: &Value) -> (&str, &str) {
    let text = |name: &str| response["processed"][name].as_str().unwrap_or_default();
    (text("decision"), text("reason"))
}

fn warnings(response: &Value) -> String {
    response["warnings"].to_string()
}

fn run(project: &Project, arguments: &[&str]) -> Finished {
    Hook::new(project, arguments).run()
}
