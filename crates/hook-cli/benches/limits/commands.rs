//! P3, P4, P5 and P6: what command hooks cost through the bus beside the bare processes.

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use hook_json::{RawJson, RawObject};
use hook_protocol::{AfterToolInput, BeforeToolInput, RequestInput, ToolName};
use tokio::runtime::Runtime;

use crate::by_hand;
use crate::project::Project;
use crate::table;
use crate::turns::{Request, Side};

pub(crate) const HOOK: &str = "cat >/dev/null; echo '{}'";
const LARGE: usize = 1024 * 1024;

pub(crate) fn measure(request: &Request) {
    let guard = Guard::new();
    let together: Vec<String> = (0..8).map(|index| format!("{HOOK} # {index}")).collect();
    for (name, commands, input) in [
        ("P3", vec![HOOK.to_owned()], before_tool()),
        ("P4", together, before_tool()),
        ("P5", vec![HOOK.to_owned()], after_tool()),
        ("P6", vec![guard.command()], before_tool()),
    ] {
        if request.wants(name) {
            compare(request, name, &commands, &input);
        }
    }
}

pub(crate) fn before_tool() -> RequestInput {
    BeforeToolInput::new(ToolName::new("write_file").unwrap(), arguments()).into()
}

fn after_tool() -> RequestInput {
    AfterToolInput::new(
        ToolName::new("write_file").unwrap(),
        arguments(),
        RawJson::from_text(&"x".repeat(LARGE)),
    )
    .into()
}

fn arguments() -> RawObject {
    let arguments = RawJson::parse(r#"{"path":"src/main.rs","content":"fn main() {}"}"#).unwrap();
    RawObject::try_from(arguments).unwrap()
}

/// Measures one event with these commands as its hooks, beside the commands run by hand.
fn compare(request: &Request, name: &str, commands: &[String], input: &RequestInput) {
    let runtime = runtime();
    let event = input.event().as_str();
    let stdin = stdin_for(&runtime, event, input);
    let project = Project::with_hooks(event, "*", commands);
    let system = project.system();
    // A hook that fails, or none at all, would be cheaper than one that answers.
    let result = runtime.block_on(system.fire(input.clone()));
    assert!(result.aggregated.success);
    assert_eq!(result.aggregated.all_outputs.len(), commands.len());

    let mut limit = || {
        let started: Vec<_> = commands.iter().map(|command| by_hand::start(command)).collect();
        started.into_iter().for_each(|child| drop(by_hand::finish(child, &stdin)));
    };
    let mut ours = || drop(runtime.block_on(system.fire(input.clone())));
    let figures =
        request.measure(Duration::from_secs(12), Side::of(&mut limit), Side::of(&mut ours));
    table::print(name, figures);
}

/// What `hook fire` runs on.
pub(crate) fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// What a hook reads on its standard input before a tool.
pub(crate) fn stdin_of_a_hook() -> Vec<u8> {
    stdin_for(&runtime(), "BeforeTool", &before_tool())
}

/// What a hook reads on its standard input for that event.
fn stdin_for(runtime: &Runtime, event: &str, input: &RequestInput) -> Vec<u8> {
    let project = Project::with_hooks(event, "*", &["cat >stdin".to_owned()]);
    runtime.block_on(project.system().fire(input.clone()));
    let stdin = std::fs::read(project.path().join("stdin")).unwrap();
    assert!(!stdin.is_empty());
    stdin
}

/// A program that needs no shell to be started.
struct Guard {
    project: Project,
}

impl Guard {
    fn new() -> Self {
        let project = Project::new();
        let program = project.path().join("guard");
        std::fs::write(&program, format!("#!/bin/sh\n{HOOK}\n")).unwrap();
        std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
        Self { project }
    }

    fn command(&self) -> String {
        format!("{}/guard --flag", self.project.path().display())
    }
}
