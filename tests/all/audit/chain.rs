//! Who asked, what was allowed, and that no line of an audit's file can be changed or taken out unseen.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hook_tests::{Finished, Hook, Project, SocketServed, json, request};
use rustix::process::Signal;
use serde_json::{Value, json};

fn guarded() -> Project {
    Project::with_settings(
        &json!({"hooks": {"BeforeTool": [{"matcher": "run_shell_command|Bash", "hooks": [
        {"type": "command", "name": "no", "command": "if grep -q forbidden; then echo because >&2; exit 2; fi"}]}]}}),
    )
}

fn call(command: &str, id: &str) -> Value {
    let input = json!({"session_id": "s-1", "tool_name": "run_shell_command", "tool_input": {"command": command}});
    request("BeforeTool", &input, id)
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().map(|line| json(line.as_bytes())).collect()
}

fn verify(project: &Project, files: &[&Path], more: &[&str]) -> Finished {
    let files: Vec<&str> = files.iter().map(|file| file.to_str().unwrap()).collect();
    Hook::new(project, &[&["audit", "verify"], &files[..], more].concat()).run()
}

fn found(finished: &Finished) -> Value {
    json(finished.stdout.as_bytes())
}

/// Serves requests over standard input, with an audit; its file.
fn audited(project: &Project, requests: &[Value], arguments: &[&str]) -> PathBuf {
    let all = ["serve", "--stdio", "--settings=settings.json", "--audit=audit"];
    let sent = requests.iter().map(|request| format!("{request}\n")).collect::<String>();
    let finished = Hook::new(project, &[&all, arguments].concat()).stdin(sent).run();
    assert_eq!((finished.status, finished.stderr.as_str()), (0, ""));
    project.path().join("audit")
}

#[test]
fn fault_69_an_audit_names_session_agent_and_tool_and_a_level_also_tells_of_what_was_allowed() {
    let project = guarded();
    let of_claude = json!({"hook_event_name": "PreToolUse", "session_id": "s-2", "cwd": "/",
        "tool_name": "Bash", "tool_input": {"command": "forbidden"}});
    let bridged = json!({"type": "hook-bridge", "correlationId": "b", "agent": "claude", "said": of_claude.to_string()});
    let requests = [call("ls", "c-1"), call("forbidden", "c-2"), bridged];
    let file = audited(&project, &requests, &["--audit-level=decisions"]);
    let told = lines(&file);
    let of = |kind: &str| told.iter().filter(|line| line["kind"] == kind).collect::<Vec<_>>();
    let allowed = of("allowed");
    assert_eq!(allowed.len(), 1, "{told:?}");
    assert_eq!(allowed[0]["correlationId"], "c-1");
    assert_eq!(
        (&allowed[0]["session"], &allowed[0]["tool"]),
        (&json!("s-1"), &json!("run_shell_command"))
    );
    let blocked = of("blocked");
    assert_eq!(blocked.len(), 2, "{told:?}");
    let by_id = blocked.iter().find(|line| line["correlationId"] == "c-2").unwrap();
    assert_eq!((&by_id["session"], &by_id["agent"]), (&json!("s-1"), &Value::Null), "{by_id}");
    let by_claude = blocked.iter().find(|line| line["session"] == "s-2").unwrap();
    assert_eq!(by_claude["agent"], "claude", "{by_claude}");
    assert!(by_claude["tool"].is_string(), "{by_claude}");
    assert_eq!(of("started"), Vec::<&Value>::new());

    let quiet = guarded();
    let file = audited(&quiet, &requests[..2], &[]);
    assert!(lines(&file).iter().all(|line| line["kind"] != "allowed"), "{:?}", lines(&file));
    // Whoever is not to be named is not.
    let hidden = guarded();
    let mut settings: Value = json(hidden.read("settings.json").as_bytes());
    settings["hooksConfig"] = json!({"redact": {"fields": ["session_id"]}});
    hidden.write("settings.json", &settings.to_string());
    let file = audited(&hidden, &requests[..2], &["--audit-level=verbose"]);
    let of_requests = lines(&file).into_iter().filter(|line| line["kind"] != "registered");
    assert!(
        of_requests.into_iter().all(|line| line["session"] == "[redacted]"),
        "{:?}",
        lines(&file)
    );
}

#[test]
fn fault_69_no_line_of_an_audit_is_changed_or_taken_out_unseen() {
    let project = guarded();
    let requests: Vec<Value> = (0..6).map(|turn| call("forbidden", &turn.to_string())).collect();
    let file = audited(&project, &requests[..3], &[]);
    // Another process goes on.
    audited(&project, &requests[3..], &[]);
    let written = fs::read_to_string(&file).unwrap();
    let all: Vec<&str> = written.lines().collect();
    assert_eq!(all.len(), 8, "{written}");
    let whole = verify(&project, &[&file], &["--json"]);
    assert_eq!(whole.status, 0, "{}", whole.stdout);
    let last = found(&whole)["last"].as_str().unwrap().to_owned();
    assert_eq!((&found(&whole)["valid"], &found(&whole)["lines"]), (&json!(true), &json!(8)));
    assert_eq!(found(&whole)["notes"], json!([]));

    let damaged = project.path().join("damaged");
    for missing in 0..all.len() {
        let left = all.iter().enumerate().filter(|(number, _)| *number != missing);
        let text: String = left.map(|(_, line)| format!("{line}\n")).collect();
        fs::write(&damaged, text).unwrap();
        // What stood at the end is known to be missing by who has kept its hash.
        let kept: &[&str] = if missing + 1 == all.len() { &["--contains", &last] } else { &[] };
        let finished = verify(&project, &[&damaged], kept);
        assert_eq!(finished.status, 1, "{missing}: {}", finished.stdout);
        assert!(finished.stdout.contains("missing"), "{missing}: {}", finished.stdout);
    }
    for (from, to) in [("because", "nothing"), ("\"blocked\"", "\"allowed\"")] {
        fs::write(&damaged, written.replacen(from, to, 1)).unwrap();
        let finished = verify(&project, &[&damaged], &[]);
        assert_eq!(finished.status, 1, "{}", finished.stdout);
        assert!(finished.stdout.contains("was changed"), "{}", finished.stdout);
    }
    let mut turned: Vec<&str> = all.clone();
    turned.swap(3, 4);
    fs::write(&damaged, turned.join("\n") + "\n").unwrap();
    assert_eq!(verify(&project, &[&damaged], &[]).status, 1);
    // What is no line of an audit, and vouched for by none, hides what stood there.
    let forged = |from: usize, end: &str| {
        let lines =
            all.iter().enumerate().map(|(at, line)| if at < from { line } else { "forged" });
        fs::write(&damaged, lines.collect::<Vec<_>>().join("\n") + end).unwrap();
        verify(&project, &[&damaged], &["--json"])
    };
    for from in [0, 1, all.len() - 1] {
        assert_eq!(forged(from, "\n").status, 1, "{from}");
    }
    assert!(forged(0, "\n").stdout.contains("this is no audit"));
    let cut = forged(all.len() - 1, "");
    assert!(cut.status == 0 && cut.stdout.contains("it is the last one"), "{}", cut.stdout);
    fs::write(&damaged, "").unwrap();
    assert_eq!(verify(&project, &[&damaged], &[]).status, 1, "it was emptied");
    fs::write(&damaged, "{\"kind\":\"old\"}\n").unwrap();
    assert_eq!(verify(&project, &[&damaged], &[]).status, 1, "no line has a hash");
    assert_eq!(verify(&project, &[&project.path().join("absent")], &[]).status, 1);
}

async fn has_lines(path: &Path, count: usize) {
    let begun = Instant::now();
    while fs::read_to_string(path).unwrap_or_default().lines().count() < count {
        assert!(begun.elapsed() < Duration::from_secs(60));
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_69_the_chain_goes_on_over_processes_that_share_a_file_are_killed_and_move_it_away() {
    let project = guarded();
    let file = project.home().join("audit.jsonl");
    // A version before this one has written to it.
    fs::write(&file, "{\"kind\":\"old\"}\n").unwrap();
    let arguments = ["--audit", file.to_str().unwrap()];
    let mut served = Vec::new();
    for name in ["a.sock", "b.sock"] {
        let socket = project.home().join(name);
        served.push(SocketServed::start_with(&project, &socket, ":", &arguments).await);
    }
    let ask = async |served: &SocketServed, turns: usize| {
        let mut client = served.client().await;
        for turn in 0..turns {
            let answer = client.ask(&call("forbidden", &turn.to_string())).await;
            assert_eq!(answer["processed"]["decision"], "block");
        }
    };
    tokio::join!(ask(&served[0], 40), ask(&served[1], 40));
    has_lines(&file, 83).await;
    let shared = verify(&project, &[&file], &["--json"]);
    assert_eq!((shared.status, &found(&shared)["lines"]), (0, &json!(83)), "{}", shared.stdout);

    // One is killed, and leaves half of a line.
    let killed = served.pop().unwrap();
    killed.signal(Signal::KILL);
    killed.ended().await;
    fs::write(&file, fs::read_to_string(&file).unwrap() + "{\"at\":\"2026").unwrap();
    ask(&served[0], 1).await;
    has_lines(&file, 85).await;
    let torn = verify(&project, &[&file], &["--json"]);
    assert_eq!(torn.status, 0, "{}", torn.stdout);
    assert!(found(&torn)["notes"].to_string().contains("not whole"), "{}", torn.stdout);

    // The file is moved away, and another begins.
    let moved = project.home().join("audit.1");
    fs::rename(&file, &moved).unwrap();
    served[0].signal(Signal::HUP);
    while !file.exists() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    ask(&served[0], 2).await;
    has_lines(&file, 2).await;
    assert_eq!(verify(&project, &[&moved, &file], &[]).status, 0);
    let alone = verify(&project, &[&file], &["--json"]);
    assert_eq!(alone.status, 0);
    assert!(found(&alone)["notes"].to_string().contains("was not named"), "{}", alone.stdout);
    let text = fs::read_to_string(&moved).unwrap();
    let (cut, _) = text.trim_end().rsplit_once('\n').unwrap();
    fs::write(&moved, format!("{cut}\n")).unwrap();
    let cut = verify(&project, &[&moved, &file], &[]);
    assert_eq!(cut.status, 1, "{}", cut.stdout);
    assert!(cut.stdout.contains("in another file"), "{}", cut.stdout);
    for served in served {
        served.signal(Signal::TERM);
        served.ended().await;
    }
}

/// Lets the server decide about one call, and waits until its audit has it.
async fn decides(served: &SocketServed, file: &Path, id: &str) {
    let answer = served.client().await.ask(&call("forbidden", id)).await;
    assert_eq!(answer["processed"]["decision"], "block");
    let begun = Instant::now();
    while !fs::read_to_string(file).unwrap_or_default().contains(&format!("\"{id}\"")) {
        assert!(begun.elapsed() < Duration::from_secs(60), "{id}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

fn without_the_last_two(file: &Path) {
    let text = fs::read_to_string(file).unwrap();
    let all: Vec<&str> = text.lines().collect();
    fs::write(file, all[..all.len() - 2].join("\n") + "\n").unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_105_lines_that_are_cut_off_while_a_server_writes_are_missed_in_the_next_one() {
    type Damage = fn(&Path);
    let damages: [(&str, Damage); 4] = [
        ("cut off", without_the_last_two),
        ("emptied", |file| fs::write(file, "").unwrap()),
        ("removed", |file| fs::remove_file(file).unwrap()),
        ("changed", |file| {
            let text = fs::read_to_string(file).unwrap();
            fs::write(file, text.replace("\"third\"", "\"another one\"")).unwrap();
        }),
    ];
    for (name, damage) in damages {
        let project = guarded();
        let file = project.home().join("audit.jsonl");
        let socket = project.home().join("run/hook.sock");
        let arguments = ["--audit", file.to_str().unwrap()];
        let mut served = SocketServed::start_with(&project, &socket, ":", &arguments).await;
        for id in ["first", "second", "third"] {
            decides(&served, &file, id).await;
        }
        assert_eq!(verify(&project, &[&file], &[]).status, 0, "{name}");
        damage(&file);
        decides(&served, &file, "fourth").await;
        let said = served.says().await;
        assert!(said.contains("were cut off or changed, or it was removed"), "{name}: {said}");
        // It is said once, and the chain goes on from there.
        decides(&served, &file, "fifth").await;
        let found = verify(&project, &[&file], &[]);
        assert_eq!(found.status, 1, "{name}: {}", found.stdout);
        assert!(
            found.stdout.contains("missing") && found.stdout.contains("1 problem"),
            "{name}: {}",
            found.stdout
        );
        served.signal(Signal::TERM);
        served.ended().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_105_a_process_that_holds_the_lock_of_an_audit_costs_entries_and_that_is_said() {
    let project = guarded();
    let file = project.home().join("audit.jsonl");
    let socket = project.home().join("run/hook.sock");
    let arguments = ["--audit", file.to_str().unwrap()];
    let mut served = SocketServed::start_with(&project, &socket, ":", &arguments).await;
    decides(&served, &file, "first").await;
    let locked = fs::File::open(&file).unwrap();
    locked.lock().unwrap();
    let answer = served.client().await.ask(&call("forbidden", "second")).await;
    assert_eq!(answer["processed"]["decision"], "block");
    let said = served.says().await;
    assert!(said.contains("locked"), "{said}");
    locked.unlock().unwrap();
    decides(&served, &file, "third").await;
    let lagged: Vec<Value> =
        lines(&file).into_iter().filter(|line| line["kind"] == "lagged").collect();
    assert_eq!((lagged.len(), &lagged[0]["missed"]), (1, &json!(1)), "{lagged:?}");
    assert_eq!(verify(&project, &[&file], &[]).status, 0);
    served.signal(Signal::TERM);
    served.ended().await;
}

#[test]
fn fault_105_verification_says_what_the_files_cannot_show() {
    let project = guarded();
    let file = audited(&project, &[call("forbidden", "1"), call("forbidden", "2")], &[]);
    let text = verify(&project, &[&file], &[]).stdout;
    assert!(text.contains("cut off at the end nothing here shows"), "{text}");
    let kept = text.lines().find_map(|line| line.strip_prefix("last ")).unwrap();
    let text = verify(&project, &[&file], &["--contains", kept]).stdout;
    assert!(!text.contains("nothing here shows"), "{text}");
    // The file is moved away, and another process begins the next one.
    let moved = project.path().join("audit.1");
    fs::rename(&file, &moved).unwrap();
    let file = audited(&project, &[call("forbidden", "3")], &[]);
    let both = verify(&project, &[&moved, &file], &["--json"]);
    assert_eq!(both.status, 0, "{}", both.stdout);
    let notes = found(&both)["notes"].to_string();
    assert!(notes.contains("whether the end of the file before is whole"), "{notes}");
}
