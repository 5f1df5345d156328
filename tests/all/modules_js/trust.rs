//! What a module of a project loads is what was agreed to.

use serde_json::json;

use super::{GUARD, fired, has_node, jiti, run, shell, verdict, warnings};
use hook_bus::HookExecutionRequest;
use hook_core::{TrustPolicy, TrustStore};
use hook_tests::{Project, fields};

const RULES: &str = "export const words = ['rm -rf'];\n";
const IMPORTS: &str = "import { words } from './lib/rules.mjs';\n\
    export default (pi) => pi.on('tool_call', (event) => { \
        if (words.some((word) => event.input.command.includes(word))) return {block: true, reason: 'not that'}; });\n";

fn with_guard() -> Project {
    let project = Project::new();
    project.write(".hooks/modules/guard.mjs", IMPORTS);
    project.write(".hooks/modules/lib/rules.mjs", RULES);
    project
}

#[test]
fn a_module_runs_once_it_is_trusted_and_not_after_a_change_of_what_it_imports() {
    if !has_node() {
        return;
    }
    let project = with_guard();
    let blocked = || fired(&project, &[], "BeforeTool", &shell("rm -rf x"));
    let before = blocked();
    assert_eq!(verdict(&before).0, "proceed", "{before}");
    let trusted = run(&project, &["trust", "--yes"]);
    assert_eq!(trusted.status, 0, "{trusted:?}");
    assert!(trusted.stdout.contains(".hooks/modules/lib/rules.mjs"), "{trusted:?}");
    assert_eq!(verdict(&blocked()), ("block", "not that"));
    project.write(".hooks/modules/lib/rules.mjs", "export const words = [];\n");
    let changed = blocked();
    assert_eq!(verdict(&changed).0, "block", "{changed}");
    assert!(warnings(&changed).contains("trusted"), "{changed}");
    project.write(".hooks/modules/lib/rules.mjs", RULES);
    assert_eq!(verdict(&blocked()), ("block", "not that"));
}

#[test]
fn a_guard_that_changed_blocks() {
    if !has_node() {
        return;
    }
    let project = with_guard();
    project.write(".hooks/settings.json", r#"{"hooksConfig": {"failBehavior": "block"}}"#);
    assert_eq!(run(&project, &["trust", "--yes"]).status, 0);
    assert_eq!(verdict(&fired(&project, &[], "BeforeTool", &shell("ls"))).0, "proceed");
    project.write(".hooks/modules/lib/rules.mjs", "export const words = [];\n");
    assert_eq!(verdict(&fired(&project, &[], "BeforeTool", &shell("ls"))).0, "block");
}

#[test]
fn a_module_that_loads_what_is_not_written_down_is_trusted_only_as_that() {
    if !has_node() {
        return;
    }
    for (text, why) in [
        ("export default async () => { await import(process.env.X) }", "`import(…)` names what"),
        ("import { createRequire } from 'node:module';\nexport default () => {}", "createRequire"),
        ("export default () => eval('1')", "eval"),
        ("import x from 'left';\nexport default () => {}", "the package `left`"),
    ] {
        let project = Project::new();
        project.write(".hooks/modules/m.mjs", text);
        project.write("node_modules/left/index.js", "module.exports = 1");
        let refused = run(&project, &["trust", "--yes"]);
        let said = format!("{}{}", refused.stdout, refused.stderr);
        assert!(refused.status != 0 && said.contains(why), "{said}");
        let listed = run(&project, &["list", "--json"]).lines();
        assert_eq!(listed[0]["trusted"], json!(false), "{text}");
        assert_eq!(run(&project, &["trust", "--yes", "--opaque"]).status, 0, "{text}");
    }
}

#[test]
fn a_projects_own_jiti_is_used_only_where_it_was_agreed_to() {
    let Some(jiti) = jiti().filter(|_| has_node()) else { return };
    let project = Project::new();
    project.write(".hooks/modules/guard.ts", &GUARD.replace("(pi)", "(pi: any): void"));
    let copied = std::process::Command::new("cp")
        .args(["-r", jiti.to_str().unwrap(), project.path().to_str().unwrap()])
        .status();
    assert!(copied.unwrap().success());
    let trusted = run(&project, &["trust", "--yes"]);
    assert_eq!(trusted.status, 0, "{trusted:?}");
    assert!(trusted.stdout.contains("node_modules/jiti"), "{trusted:?}");
    let fire = || fired(&project, &[], "BeforeTool", &shell("rm -rf x"));
    assert_eq!(verdict(&fire()), ("block", "not that"));
    project.write("node_modules/jiti/lib/jiti.cjs", "module.exports = () => ({})");
    let changed = fire();
    assert_eq!(verdict(&changed).0, "block");
    assert!(warnings(&changed).contains("trusted"), "{changed}");
}

#[tokio::test]
async fn what_changes_while_its_process_runs_is_noticed() {
    if !has_node() {
        return;
    }
    let project = with_guard();
    assert_eq!(run(&project, &["trust", "--yes"]).status, 0);
    let store = TrustPolicy::Store(TrustStore::of_user(&project.home().join(".config")));
    let system = project.builder().native_settings(None).trust(store).build().unwrap();
    let fire = async || {
        let request = HookExecutionRequest::new("BeforeTool", fields(shell("rm -rf x")));
        system.bus().request(request).await
    };
    assert_eq!(fire().await.processed.reason.as_deref(), Some("not that"));
    project.write(".hooks/modules/lib/rules.mjs", "export const words = [];\n");
    let changed = fire().await;
    let why = changed.hooks[0].failure.as_ref().map(ToString::to_string).unwrap_or_default();
    assert!(changed.processed.is_blocking_decision() && why.contains("trusted"), "{why}");
    system.shutdown(std::time::Duration::ZERO).await;
}

#[test]
fn a_linked_folder_in_a_projects_own_jiti_makes_its_modules_opaque() {
    let project = Project::new();
    project.write(".hooks/modules/guard.ts", GUARD);
    project.write("node_modules/jiti/package.json", r#"{"main": "lib/jiti.cjs"}"#);
    project.write("elsewhere/jiti.cjs", "module.exports = () => ({})");
    let link = project.path().join("node_modules/jiti/lib");
    std::os::unix::fs::symlink("../../elsewhere", link).unwrap();
    let refused = run(&project, &["trust", "--yes"]);
    let said = format!("{}{}", refused.stdout, refused.stderr);
    assert!(refused.status != 0 && said.contains("linked folder"), "{said}");
}

#[test]
fn what_a_module_reads_from_where_it_runs_is_covered() {
    if !has_node() {
        return;
    }
    let project = Project::new();
    let reads = "import fs from 'node:fs';\n\
        export default (pi) => pi.on('tool_call', (event) => { \
            const words = JSON.parse(fs.readFileSync('./.hooks/words.json', 'utf8')); \
            if (words.some((word) => event.input.command.includes(word))) return {block: true, reason: 'not that'}; });\n";
    project.write(".hooks/modules/guard.mjs", reads);
    project.write(".hooks/words.json", r#"["rm -rf"]"#);
    assert_eq!(run(&project, &["trust", "--yes"]).status, 0);
    let blocked = || fired(&project, &[], "BeforeTool", &shell("rm -rf x"));
    assert_eq!(verdict(&blocked()), ("block", "not that"));
    project.write(".hooks/words.json", "[]");
    assert_eq!(verdict(&blocked()).0, "block", "{}", blocked());
}

/// The module waits in its first line until its file is another one, which the process has not read.
#[test]
fn what_changes_while_it_is_loaded_is_not_run() {
    if !has_node() {
        return;
    }
    let project = with_guard();
    let slow = "import fs from 'node:fs';\n\
        const own = new URL(import.meta.url);\n\
        fs.writeFileSync(own, 'export default () => {}');\n\
        export default () => {};\n";
    project.write(".hooks/modules/slow.mjs", slow);
    assert_eq!(run(&project, &["trust", "--yes"]).status, 0);
    let response = fired(&project, &[], "BeforeTool", &shell("ls"));
    assert_eq!(verdict(&response).0, "block", "{response}");
}

#[test]
fn another_spelling_of_its_path_takes_no_module_s_place() {
    if !has_node() {
        return;
    }
    let project = with_guard();
    assert_eq!(run(&project, &["trust", "--yes"]).status, 0);
    let entry =
        json!({"type": "module", "path": ".hooks/modules/../modules/guard.mjs", "async": true});
    let settings = json!({"hooks": {"*": [{"hooks": [entry]}]}});
    project.write(".hooks/settings.json", &settings.to_string());
    let response = fired(&project, &[], "BeforeTool", &shell("rm -rf x"));
    assert_eq!(verdict(&response).0, "block", "{response}");
}

#[test]
fn what_cannot_be_loaded_is_said_when_it_is_trusted() {
    if !has_node() {
        return;
    }
    let throws = "throw new Error('out of order');\n";
    for (more, arguments) in
        [(json!({}), &["trust", "--yes"][..]), (json!({}), &["trust", "--yes", "--json"])]
    {
        let project = super::project(&[
            ("none.mjs", "export const guard = 1;\n", more.clone()),
            ("throws.mjs", throws, json!({"failBehavior": "block"})),
            ("fine.mjs", GUARD, more),
        ]);
        project.write(".hooks/settings.json", &project.read("settings.json"));
        let trusted = run(&project, arguments);
        assert_eq!(trusted.status, 0, "{trusted:?}");
        let warnings: Vec<&str> =
            trusted.stderr.lines().filter(|line| line.starts_with("warning: ")).collect();
        let [none, throws] = warnings.as_slice() else { panic!("{trusted:?}") };
        assert!(
            none.contains("none.mjs has no hooks: Hook must export a default function"),
            "{none}"
        );
        let blocks = "throws.mjs has no hooks, and blocks every event that can be blocked: ";
        assert!(throws.contains(blocks) && throws.contains("out of order"), "{throws}");
    }
}

#[test]
fn trust_without_new_modules_loads_none() {
    if !has_node() {
        return;
    }
    let project = Project::new();
    let marks =
        "import fs from 'node:fs';\nfs.writeFileSync('loaded', '');\nexport default () => {};\n";
    project.write(".hooks/modules/marks.mjs", marks);
    let hook = json!({"type": "command", "name": "plain", "command": "true"});
    let settings = json!({"hooks": {"SessionEnd": [{"hooks": [hook]}]}});
    project.write(".hooks/settings.json", &settings.to_string());
    let is_loaded = || project.path().join("loaded").exists();
    assert_eq!(run(&project, &["trust"]).status, 1);
    assert_eq!(run(&project, &["trust", "plain", "--yes"]).status, 0);
    assert!(!is_loaded());
    let all = run(&project, &["trust", "--yes", "--opaque"]);
    assert!(all.status == 0 && is_loaded(), "{all:?}");
}

#[test]
fn of_a_module_only_what_its_user_says_is_among_its_terms() {
    let shown = |more| {
        let project = super::project(&[("guard.mjs", GUARD, more)]);
        project.write(".hooks/settings.json", &project.read("settings.json"));
        run(&project, &["trust", "--json"]).lines()[0]["terms"].clone()
    };
    assert_eq!(shown(json!({})), json!({"type": "module"}));
    assert_eq!(
        shown(json!({"startTimeout": 4000, "timeout": 900})),
        json!({"type": "module", "startTimeout": "4000", "timeout": "900"})
    );
}

#[test]
fn explain_says_of_a_module_that_changed_what_to_do() {
    if !has_node() {
        return;
    }
    let project = with_guard();
    assert_eq!(run(&project, &["trust", "--yes"]).status, 0);
    project.write(".hooks/modules/lib/rules.mjs", "export const words = [];\n");
    let explained = run(&project, &["explain", "BeforeTool"]);
    insta::assert_snapshot!(explained.shown(&project), @"
    status: 0
    ----- stdout -----
    BeforeTool with tool_name write_file (a sample; --tool or --input gives another)
    .hooks/modules/guard.mjs blocks this event: it, or a file that it runs, changed since it was trusted or is gone, so it does not run; the user can review the change with `hook trust`
    1 hook listens to other events; --all lists them
    ----- stderr -----
    warning: the guard `.hooks/modules/guard.mjs` blocks every event that can be blocked: it, or a file that it runs, changed since it was trusted or is gone, so it does not run; the user can review the change with `hook trust`
    ");
}
