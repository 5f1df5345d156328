//! What a module of a project loads is what was agreed to.

use serde_json::json;

use super::{GUARD, fired, has_node, jiti, run, shell, verdict};
use hook_bus::HookExecutionRequest;
use hook_tests::{Project, fields};
use hook_trust::{TrustPolicy, TrustStore};

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
fn a_module_runs_once_it_is_trusted_and_as_it_was_trusted() {
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
    for (file, text) in [
        (".hooks/modules/lib/rules.mjs", "export const words = [];\n"),
        (".hooks/modules/guard.mjs", "export default () => {};\n"),
        ("node_modules/x.mjs", ""),
    ] {
        project.write(file, text);
        let changed = blocked();
        assert_eq!(verdict(&changed), ("block", "not that"));
    }
    assert_eq!(run(&project, &["trust", "--yes"]).status, 0);
    assert_eq!(verdict(&blocked()).0, "proceed");
}

#[test]
fn a_trusted_module_sees_no_package_of_the_project_but_those_in_its_folder() {
    if !has_node() {
        return;
    }
    let project = Project::new();
    let imports = "import words from 'words';\n".to_owned()
        + &IMPORTS.lines().skip(1).collect::<Vec<_>>().join("\n");
    project.write(".hooks/modules/guard.mjs", &imports);
    project.write("node_modules/words/index.js", "module.exports = [];\n");
    project.write(".hooks/package-lock.json", "{}");
    project.write(".hooks/node_modules/words/index.js", "module.exports = ['rm -rf'];\n");
    assert_eq!(run(&project, &["trust", "--yes"]).status, 0);
    let fire = || fired(&project, &[], "BeforeTool", &shell("rm -rf x"));
    assert_eq!(verdict(&fire()), ("block", "not that"));
    // What was installed when it was trusted runs, and the lock file tells of another.
    project.write(".hooks/node_modules/words/index.js", "module.exports = [];\n");
    assert_eq!(verdict(&fire()), ("block", "not that"));
    project.write(".hooks/package-lock.json", "{ }");
    assert_eq!(run(&project, &["trust"]).status, 1);
}

#[test]
fn a_projects_own_jiti_is_used_only_from_the_folder_that_was_trusted() {
    let Some(jiti) = jiti().filter(|_| has_node()) else { return };
    let project = Project::new();
    project.write(".hooks/modules/guard.ts", &GUARD.replace("(pi)", "(pi: any): void"));
    let copy = |to: &str| {
        let to = project.path().join(to);
        let copied = std::process::Command::new("cp").arg("-r").arg(jiti).arg(&to).status();
        assert!(copied.unwrap().success());
    };
    copy(".");
    let fire = || fired(&project, &[], "BeforeTool", &shell("rm -rf x"));
    let trusted = run(&project, &["trust", "--yes"]);
    assert_eq!(trusted.status, 0, "{trusted:?}");
    project.write(".hooks/package-lock.json", "{}");
    copy(".hooks");
    assert_eq!(run(&project, &["trust", "--yes"]).status, 0);
    assert_eq!(verdict(&fire()), ("block", "not that"));
    project.write(".hooks/node_modules/jiti/lib/jiti.cjs", "module.exports = () => ({})");
    assert_eq!(verdict(&fire()), ("block", "not that"));
}

#[tokio::test]
async fn what_changes_while_its_process_runs_changes_nothing() {
    if !has_node() {
        return;
    }
    let project = with_guard();
    assert_eq!(run(&project, &["trust", "--yes"]).status, 0);
    let store = TrustStore::of_user(&project.home().join(".config"))
        .with_copies(project.home().join(".local/share/hook/trusted"));
    let store = TrustPolicy::Store(store);
    let system = project.builder().native_settings(None).trust(store).build().unwrap();
    let fire = async || {
        let request = HookExecutionRequest::new("BeforeTool", fields(shell("rm -rf x")));
        system.bus().request(request).await
    };
    assert_eq!(fire().await.processed.reason.as_deref(), Some("not that"));
    project.write(".hooks/modules/lib/rules.mjs", "export const words = [];\n");
    assert_eq!(fire().await.processed.reason.as_deref(), Some("not that"));
    system.shutdown(std::time::Duration::ZERO).await;
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
fn list_says_of_a_module_that_changed_that_its_copy_runs() {
    if !has_node() {
        return;
    }
    let project = with_guard();
    assert_eq!(run(&project, &["trust", "--yes"]).status, 0);
    project.write(".hooks/modules/lib/rules.mjs", "export const words = [];\n");
    let listed = run(&project, &["list"]);
    assert!(listed.stdout.contains("the trusted copy runs"), "{listed:?}");
}

#[tokio::test]
async fn fault_87_a_reload_loads_a_users_module_anew_whose_import_changed() {
    if !has_node() {
        return;
    }
    let project = with_guard();
    let module = project.path().join(".hooks/modules/guard.mjs");
    let builder = project.builder().module_files([module]);
    let system = builder.build().unwrap();
    let fire = async || {
        let request = HookExecutionRequest::new("BeforeTool", fields(shell("rm -rf x")));
        system.bus().request(request).await.processed.is_blocking_decision()
    };
    assert!(fire().await);
    system.reload().await.unwrap();
    assert!(fire().await, "the same process, or another one with the same code");
    project.write(".hooks/modules/lib/rules.mjs", "export const words = [];\n");
    system.reload().await.unwrap();
    assert!(!fire().await, "the import is loaded anew");
    system.shutdown(std::time::Duration::ZERO).await;
}
