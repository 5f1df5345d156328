//! What commands say of workers: nothing is started by looking, and nothing false is said.

use hook_bus::wire::default_socket_path;
use hook_tests::{Finished, Hook, Project, SocketServed, request};
use serde_json::{Value, json};

use super::{end, fire, project, settings, with, worker};

#[test]
fn lists_and_explanations_show_what_it_is() {
    let project = project("ready()", json!({"start": "eager", "timeout": 5_000}));
    for command in ["list", "explain"] {
        let event = if command == "list" { vec![] } else { vec!["BeforeTool"] };
        let arguments = [&[command, "--settings=settings.json"][..], &event].concat();
        let shown = Hook::new(&project, &arguments).run();
        assert_eq!(shown.status, 0, "{shown:?}");
        let part = match command {
            "list" => "worker: stays alive and answers calls\n",
            _ => "timeout 5 s (its own); calls its worker; if it fails, things go on",
        };
        assert!(shown.stdout.contains(part), "{}", shown.stdout);
        let lines = Hook::new(&project, &[&arguments[..], &["--json"]].concat()).run().lines();
        let line = lines.iter().find(|line| line["name"] == "w").unwrap();
        assert_eq!((&line["type"], &line["start"]), (&json!("worker"), &json!("called")), "{line}");
        assert_eq!(line.get("worker"), None, "no server runs that has started it");
    }
    for command in ["doctor", "check"] {
        let arguments = [command, "--settings=settings.json"];
        let shown = Hook::new(&project, &arguments).run();
        assert_eq!(shown.status, 0, "{shown:?}");
    }
    assert!(!project.path().join("started").exists(), "nothing was started");
}

#[test]
fn doctor_and_check_miss_its_program() {
    let project = hook_tests::Project::new();
    let missing = json!({"type": "worker", "name": "w", "command": "$HOOK_PROJECT_DIR/none.py"});
    settings(&project, &missing);
    let checked = Hook::new(&project, &["check", "--json", "settings.json"]).run();
    assert_eq!(checked.lines()[0]["rule"], "script-missing", "{checked:?}");
    let doctor = Hook::new(&project, &["doctor", "--settings=settings.json"]).run();
    assert_eq!(doctor.status, 1, "{doctor:?}");
}

/// What is known of one that this process runs.
#[tokio::test]
async fn its_status_says_how_it_is() {
    let project = project(
        "
ready()
for call in calls():
    if tool(call) == 'die': sys.exit(3)
    answer(call)
",
        json!({}),
    );
    let system = project.system();
    system.initialize().await.unwrap();
    let shown = || super::status(&system).to_string();
    assert_eq!(shown(), "");
    fire(&system, "t").await;
    let process = super::status(&system).process.unwrap();
    assert_eq!(shown(), format!("ready, process {process}"));
    fire(&system, "die").await;
    assert_eq!(shown(), "stopped; the last failure: it exited with code 3");
    fire(&system, "t").await;
    let process = super::status(&system).process.unwrap();
    let expected = format!(
        "ready, process {process}, started again once; the last failure: it exited with code 3"
    );
    assert_eq!(shown(), expected);
    end(&project, system).await;
}

#[test]
fn a_recording_and_its_trace_have_its_calls() {
    let project = project(
        "ready()\nfor call in calls(): answer(call, action='block', reason='r')",
        json!({}),
    );
    let request = json!({"type": "hook-execution-request", "eventName": "BeforeTool",
        "input": {"tool_name": "t", "tool_input": {}}});
    let serve = ["serve", "--stdio", "--record=recording", "--settings=settings.json"];
    let served = Hook::new(&project, &serve).stdin(format!("{request}\n{request}\n")).run();
    assert_eq!(served.status, 0, "{served:?}");
    let hooks: Vec<Value> =
        served.lines().iter().filter_map(|it| it["hooks"].get(0).cloned()).collect();
    let kinds: Vec<&Value> = hooks.iter().map(|hook| &hook["type"]).collect();
    assert_eq!(kinds, ["worker", "worker"]);
    let trace = Hook::new(&project, &["trace", "recording"]).run();
    assert_eq!(trace.status, 0, "{trace:?}");
    assert!(trace.stdout.contains("w ") && trace.stdout.contains("r"), "{}", trace.stdout);
    assert_eq!(project.processes(), []);
}

/// Settings are read with the keys of a worker, and say where those mean nothing.
#[test]
fn its_keys_are_checked() {
    let project = hook_tests::Project::new();
    let entry = worker(&project, "");
    for (more, rule) in [
        (json!({"start": "early"}), "wrong-type"),
        (json!({"startTimeout": 0}), "invalid-timeout"),
        (json!({"idleTimeout": "long"}), "invalid-timeout"),
        (json!({"idleTimeout": 30}), "timeout-in-seconds"),
        (json!({"type": "command", "start": "eager"}), "unknown-key"),
    ] {
        settings(&project, &with(entry.clone(), &more));
        let checked = Hook::new(&project, &["check", "--json", "settings.json"]).run();
        let rules: Vec<Value> = checked.lines().iter().map(|line| line["rule"].clone()).collect();
        assert!(rules.contains(&json!(rule)), "{more}: {checked:?}");
    }
}

/// Runs a command that shows hooks, with the same settings as the server.
async fn shown(project: &Project, arguments: &[&str]) -> Finished {
    let settings = format!("--settings={}", project.settings().display());
    let arguments = [arguments, &[&settings]].concat();
    let hook = Hook::new(project, &arguments).env("XDG_RUNTIME_DIR", &run_directory(project));
    // The server is this test's own, and has to be read meanwhile.
    tokio::task::spawn_blocking(move || hook.run()).await.unwrap()
}

fn run_directory(project: &Project) -> String {
    project.home().join("run").to_string_lossy().into_owned()
}

/// Where a project's own server listens, with this directory for it.
fn own_socket(project: &Project) -> std::path::PathBuf {
    let name = default_socket_path(&project.path()).unwrap();
    std::path::Path::new(&run_directory(project)).join("hook").join(name.file_name().unwrap())
}

/// `list`, `explain` and `doctor` ask the project's running server how its workers are.
#[tokio::test(flavor = "multi_thread")]
async fn what_the_running_server_says_of_its_workers_is_shown() {
    let project = project("ready()\nfor call in calls(): sys.exit(3)", json!({"timeout": 20_000}));
    let socket = own_socket(&project);
    let server = SocketServed::start_at(&project, &socket).await;
    let told = |text: &str| format!("{text} (of the server at {})", socket.display());

    let listed = shown(&project, &["list"]).await;
    assert!(listed.stdout.contains(&told("answers calls; not started")), "{listed:?}");
    let doctor = shown(&project, &["doctor"]).await;
    assert_eq!(doctor.status, 0, "{doctor:?}");
    assert!(doctor.stdout.contains("the hooks are in order"), "{doctor:?}");

    let mut client = server.client().await;
    for call in 0..5 {
        let input = json!({"tool_name": "t", "tool_input": {}});
        client.ask(&request("BeforeTool", &input, &format!("c-{call}"))).await;
    }
    let states = client.ask(&json!({"type": "hook-status"})).await;
    let state = &states["workers"][0];
    assert_eq!((&states["type"], &state["name"]), (&json!("hook-states"), &json!("w")), "{states}");
    assert_eq!(
        (&state["worker"]["state"], &state["worker"]["restarts"], &state["hooks"]),
        (&json!("broken"), &json!(4), &json!(1)),
        "{states}"
    );

    let how = "broken, started again 4 times; the last failure: ";
    let listed = shown(&project, &["list"]).await;
    assert!(listed.stdout.contains(&format!("answers calls; {how}")), "{listed:?}");
    assert!(listed.stdout.contains("✗ w"), "{listed:?}");
    let explained = shown(&project, &["explain", "BeforeTool"]).await;
    assert!(explained.stdout.contains(&format!("calls its worker ({how}")), "{explained:?}");
    let doctor = shown(&project, &["doctor"]).await;
    assert_eq!(doctor.status, 1, "{doctor:?}");
    assert!(doctor.stdout.contains(&format!("✗ w: {how}")), "{doctor:?}");
    let lines = shown(&project, &["list", "--json"]).await.lines();
    let worker = &lines[0]["worker"];
    assert_eq!((&worker["state"], &worker["restarts"]), (&json!("broken"), &json!(4)), "{lines:?}");
    assert_eq!(worker["server"], json!(socket.to_string_lossy()));

    // One with other settings is not believed, and not made to read them again by somebody who only looks.
    let text = project.read("settings.json");
    project.write("settings.json", &text.replace("20000", "20001"));
    let listed = shown(&project, &["list"]).await;
    assert!(listed.stdout.contains("worker: stays alive and answers calls\n"), "{listed:?}");
    let doctor = shown(&project, &["doctor"]).await;
    assert!(doctor.stdout.contains("are not those that there are now"), "{doctor:?}");
    project.write("settings.json", &text);
    let doctor = shown(&project, &["doctor"]).await;
    assert!(doctor.stdout.contains(&format!("✗ w: {how}")), "{doctor:?}");
}

/// A server that says nothing is not waited for for long.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_does_not_answer_is_said_and_not_waited_for() {
    let project = project("ready()", json!({}));
    let socket = own_socket(&project);
    std::fs::create_dir_all(socket.parent().unwrap()).unwrap();
    let silent = tokio::net::UnixListener::bind(&socket).unwrap();
    let listed = shown(&project, &["list"]).await;
    assert_eq!(listed.status, 0, "{listed:?}");
    assert!(listed.stderr.contains("is unknown: "), "{listed:?}");
    let doctor = shown(&project, &["doctor"]).await;
    assert!(doctor.stdout.contains("the state of its workers is unknown"), "{doctor:?}");
    // What a server leaves behind that was killed is none.
    drop(silent);
    let doctor = shown(&project, &["doctor"]).await;
    assert!(doctor.stdout.contains("the hooks are in order"), "{doctor:?}");
}

/// A trace says how often a worker was started again, that it is broken, and which guards broke.
#[tokio::test]
async fn a_trace_tells_what_became_of_a_worker() {
    let body = "ready()\nfor call in calls(): sys.exit(3)";
    let project = project(body, json!({"failBehavior": "block", "timeout": 20_000}));
    let server = SocketServed::start(&project, &["--record=recording"]).await;
    let mut client = server.client().await;
    for call in 0..6 {
        let input = json!({"tool_name": "t", "tool_input": {}});
        client.ask(&request("BeforeTool", &input, &format!("c-{call}"))).await;
    }
    drop(client);
    server.signal(rustix::process::Signal::TERM);
    server.ended().await;
    let trace = Hook::new(&project, &["trace", "recording"]).env("COLUMNS", "100").run();
    assert_eq!(trace.status, 0, "{trace:?}");
    let shown = &trace.stdout;
    assert!(shown.contains("its worker: stopped, started again once"), "{shown}");
    assert_eq!(shown.matches("its worker: broken, started again 4 times").count(), 1, "{shown}");
    assert!(shown.contains("Workers\n"), "{shown}");
    // Its failures block, and are failures.
    assert_eq!(shown.matches("✗ failed").count(), 6, "{shown}");
    assert!(shown.contains("6 requests, 6 hooks, 6 failed"), "{shown}");
    let lines = Hook::new(&project, &["trace", "--json", "recording"]).run().lines();
    let hook = &lines[5]["hooks"][0];
    assert_eq!(hook["outcome"], "block", "{hook}");
    assert_eq!(hook["worker"], json!({"state": "broken", "restarts": 4}), "{hook}");
}
