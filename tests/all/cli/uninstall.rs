//! `hook uninstall`.
#![cfg(unix)]

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use hook_tests::{Hook, Project, hook_binary};

#[test]
fn an_uninstallation_disconnects_all_agents_ends_servers_and_says_what_remains() {
    let project = Project::new();
    assert_eq!(Hook::new(&project, &["init"]).run().status, 0);
    for arguments in
        [&["connect", "claude", "gemini"][..], &["connect", "codex", "--scope", "project"]]
    {
        assert_eq!(Hook::new(&project, arguments).run().status, 0);
    }
    let mut server = project
        .command(hook_binary())
        .args(["serve", "--socket"])
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(server.stderr.take().unwrap()).lines();
    assert!(lines.next().unwrap().unwrap().starts_with("listening on"));
    let copies = project.home().join(".local/share/hook");
    fs::create_dir_all(copies.join("trusted")).unwrap();
    let claude = project.home().join(".claude/settings.json");
    let shown = Hook::new(&project, &["uninstall", "--dry-run"]).run();
    assert!(shown.stdout.contains("would end the server at"), "{shown:?}");
    let would = format!("would disconnect Claude Code, and remove {}", claude.display());
    assert!(shown.stdout.contains(&would) && !shown.stdout.contains("+{}"), "{shown:?}");
    assert!(claude.exists() && server.try_wait().unwrap().is_none());
    let done = Hook::new(&project, &["uninstall"]).run();
    assert_eq!(done.status, 0, "{done:?}");
    assert!(!claude.exists() && !project.path().join(".codex/hooks.json").exists());
    assert!(done.stdout.contains("ended the server at"), "{done:?}");
    server.wait().unwrap();
    for (what, path) in [
        ("your settings, hooks and decisions", project.home().join(".config/hooks")),
        ("copies of what you trusted, and your packs", copies),
        ("this program", fs::canonicalize(hook_binary()).unwrap()),
    ] {
        let rm = if path.is_dir() { "rm -r" } else { "rm" };
        let line = format!("remains: {what}; remove with `{rm} {}`", path.display());
        assert!(done.stdout.contains(&line), "{line}: {done:?}");
        assert!(path.exists());
    }
    // Who works on the project has its hooks, too.
    let hooks = project.path().join(".hooks");
    let left = format!("left alone: the hooks of this project, {}", hooks.display());
    assert!(
        done.stdout.contains(&left) && !done.stdout.contains(&format!("rm -r {}", hooks.display()))
    );
    let again = Hook::new(&project, &["uninstall"]).run();
    assert!(again.stdout.starts_with("no agent is connected"), "{again:?}");
    let again = Hook::new(&project, &["uninstall", "--json"]).run();
    assert!(again.lines().iter().all(|it| it.get("remains").is_some()), "{again:?}");
}
