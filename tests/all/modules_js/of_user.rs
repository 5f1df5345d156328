//! Hook files that the user has for oh-my-pi.

use std::os::unix::fs::PermissionsExt;

use hook_tests::Project;
use serde_json::json;

use super::{GUARD, fired, has_node, run, shell, verdict};

fn write(project: &Project, path: &str, text: &str, mode: u32) {
    let path = project.home().join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
}

fn with_omp() -> Project {
    let project = Project::new();
    write(
        &project,
        ".config/hooks/settings.json",
        r#"{"hooksConfig": {"agents": ["omp"]}}"#,
        0o600,
    );
    project
}

#[test]
fn hook_files_of_the_user_for_the_agent_run_without_a_question() {
    let project = with_omp();
    let script =
        |says: &str| format!("#!/bin/sh\necho '{{\"block\": true, \"reason\": \"{says}\"}}'\n");
    write(&project, ".omp/agent/hooks/pre/bash", &script("of omp"), 0o755);
    write(&project, ".claude/hooks/pre/read", &script("of claude"), 0o755);
    // The project's folder below `.omp` is another one.
    write(&project, ".omp/hooks/pre/write", &script("nobody's"), 0o755);
    for (tool, expected) in [
        ("run_shell_command", ("block", "of omp")),
        ("read_file", ("block", "of claude")),
        ("write_file", ("proceed", "")),
    ] {
        let response =
            fired(&project, &[], "BeforeTool", &json!({"tool_name": tool, "tool_input": {}}));
        assert_eq!(verdict(&response), expected, "{tool}: {response}");
    }
    // Without the user's own nothing of theirs counts.
    let alone = fired(&project, &["--no-user"], "BeforeTool", &shell("ls"));
    assert_eq!(verdict(&alone), ("proceed", ""));
}

#[test]
fn they_count_only_where_settings_name_the_agent() {
    let project = Project::new();
    write(&project, ".omp/agent/hooks/pre/bash", "#!/bin/sh\nexit 2\n", 0o755);
    let fire = || fired(&project, &[], "BeforeTool", &shell("ls"));
    assert_eq!(verdict(&fire()), ("proceed", ""));
    // Also where there are no settings of the user's: the project names it.
    project.write(".hooks/settings.json", r#"{"hooksConfig": {"agents": ["omp"]}}"#);
    assert_eq!(verdict(&fire()).0, "block");
}

#[test]
fn a_module_of_the_user_for_the_agent_is_loaded() {
    if !has_node() {
        return;
    }
    let project = with_omp();
    write(&project, ".omp/agent/hooks/pre/guard.mjs", GUARD, 0o600);
    let response = fired(&project, &[], "BeforeTool", &shell("rm -rf x"));
    assert_eq!(verdict(&response).0, "block", "{response}");
    let listed = run(&project, &["list"]);
    assert!(listed.stdout.contains("guard.mjs"), "{listed:?}");
}
