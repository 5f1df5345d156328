//! The audit's file.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::{Duration, Instant};

use hook_tests::{Hook, Project, SocketServed, json, request};
use rustix::process::Signal;
use serde_json::{Value, json};

fn prompt(id: &str) -> Value {
    request("BeforeAgent", &json!({"prompt": "x"}), id)
}

fn denying() -> Project {
    Project::with_settings(&json!({"hooks": {"BeforeAgent": [{"hooks": [
        {"type": "command", "name": "no", "command": "echo because >&2; exit 2"}]}]}}))
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().map(|line| json(line.as_bytes())).collect()
}

fn kinds(path: &Path) -> Vec<String> {
    let kind = |line: &Value| line["kind"].as_str().unwrap_or("-").to_owned();
    lines(path).iter().map(kind).collect()
}

/// Waits until the file has so many lines.
async fn appears(path: &Path, count: usize) {
    let begun = Instant::now();
    while lines(path).len() < count {
        assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", lines(path));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_file_is_private_appended_to_and_opened_again_by_a_hangup() {
    let project = denying();
    let file = project.home().join("audit.jsonl");
    fs::write(&file, "{\"kind\":\"old\"}\n").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let arguments = ["--audit", file.to_str().unwrap()];
    let served = SocketServed::start_after(&project, "umask 0", &arguments).await;
    let mut client = served.client().await;
    assert_eq!(client.ask(&prompt("c-1")).await["processed"]["decision"], "block");
    appears(&file, 3).await;
    assert_eq!(kinds(&file), ["old", "registered", "blocked"]);
    let blocked = lines(&file).pop().unwrap();
    assert_eq!((&blocked["hook"], &blocked["reason"]), (&json!("no"), &json!("because")));
    assert_eq!(blocked["correlationId"], "c-1");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o7777, 0o600);

    let moved = project.home().join("audit.1");
    fs::rename(&file, &moved).unwrap();
    served.signal(Signal::HUP);
    project_has(&file).await;
    assert_eq!(client.ask(&prompt("c-2")).await["processed"]["decision"], "block");
    appears(&file, 1).await;
    assert_eq!(lines(&file)[0]["correlationId"], "c-2");
    assert_eq!(lines(&moved).len(), 3);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o7777, 0o600);
    served.signal(Signal::TERM);
    assert_eq!(served.ended().await.1, "");
}

async fn project_has(file: &Path) {
    let begun = Instant::now();
    while !file.exists() {
        assert!(begun.elapsed() < Duration::from_secs(60), "no {}", file.display());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_full_disk_is_said_once_and_changes_no_answer() {
    let project = denying();
    let file = project.home().join("audit.jsonl");
    // So many kibibytes may a file have.
    let arguments = ["--audit", file.to_str().unwrap()];
    let mut served =
        SocketServed::start_after(&project, "trap '' XFSZ; ulimit -f 2", &arguments).await;
    let mut client = served.client().await;
    for turn in 0..30 {
        let response = client.ask(&prompt(&turn.to_string())).await;
        assert_eq!(response["processed"]["reason"], "because");
    }
    let said = served.says().await;
    assert!(said.starts_with("error: failed to write the audit file "), "{said}");
    assert!(said.contains("entries are lost until it can be written again"), "{said}");
    // Once there is room again, it is said how many are missing.
    let moved = project.home().join("audit.1");
    fs::rename(&file, &moved).unwrap();
    served.signal(Signal::HUP);
    project_has(&file).await;
    client.ask(&prompt("later")).await;
    appears(&file, 2).await;
    let (gap, last) = (&lines(&file)[0], &lines(&file)[1]);
    assert_eq!(gap["kind"], "lagged");
    let whole = fs::read_to_string(&moved).unwrap().matches('\n').count() as u64;
    assert_eq!(whole + gap["missed"].as_u64().unwrap(), 31, "one registered, thirty blocked");
    assert_eq!(last["correlationId"], "later");
    served.signal(Signal::TERM);
    assert_eq!(served.ended().await.1, "", "it is said once");
}

#[test]
fn what_is_no_regular_file_is_refused_at_the_start() {
    let project = denying();
    project.write("target", "");
    symlink("target", project.path().join("link")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(project.path().join("fifo")).status();
    assert!(made.unwrap().success());
    let mut shown = String::new();
    for path in ["link", "fifo", "/dev/full", ".", "absent/audit"] {
        let arguments = ["serve", "--stdio", "--settings=settings.json", "--audit", path];
        let finished = Hook::new(&project, &arguments).run();
        assert_eq!((finished.status, finished.stdout.as_str()), (1, ""));
        shown
            .push_str(&finished.stderr.replace(&project.path().display().to_string(), "[PROJECT]"));
    }
    insta::assert_snapshot!(shown, @"
    error: failed to open the audit file [PROJECT]/link: it is a symbolic link, and not a regular file; name a regular file of yours, in a folder that exists
    error: failed to open the audit file [PROJECT]/fifo: it is a FIFO, and not a regular file; name a regular file of yours, in a folder that exists
    error: failed to open the audit file /dev/full: it is a device, and not a regular file; name a regular file of yours, in a folder that exists
    error: failed to open the audit file [PROJECT]: it is a directory, and not a regular file; name a regular file of yours, in a folder that exists
    error: failed to open the audit file [PROJECT]/absent/audit: No such file or directory (os error 2); name a regular file of yours, in a folder that exists
    ");
}

#[test]
fn the_level_of_the_command_wins_over_that_of_the_settings() {
    let mut settings: Value = json(denying().read("settings.json").as_bytes());
    settings["hooksConfig"] = json!({"auditLevel": "verbose"});
    let all = ["registered", "started", "completed", "blocked"];
    for (arguments, expected) in
        [(&[][..], &all[..]), (&["--audit-level=info"], &all[..1]), (&["--audit-level=off"], &[])]
    {
        let project = Project::with_settings(&settings);
        let all = ["serve", "--stdio", "--settings=settings.json", "--audit=audit"];
        let finished = Hook::new(&project, &[&all, arguments].concat())
            .stdin(format!("{}\n", prompt("x")))
            .run();
        assert_eq!((finished.status, finished.stderr.as_str()), (0, ""));
        let mut found = kinds(&project.path().join("audit"));
        if expected.len() == 1 {
            found.retain(|kind| kind != "blocked");
        }
        assert_eq!(found, expected, "{arguments:?}");
    }
    let project = denying();
    let finished = Hook::new(&project, &["serve", "--stdio", "--audit-level=info"]).run();
    assert!(finished.stderr.contains("--audit <FILE>"), "{}", finished.stderr);
}
