//! `hook tail`, and what `hook serve` says of its own arguments.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixListener;
use std::process::{Child, ChildStderr, Stdio};

use hook_tests::{Finished, Hook, Project, SocketServed, hook_binary, json, request};
use rustix::process::Signal;
use serde_json::{Value, json};

/// A running `hook tail`, once it follows.
struct Following {
    process: Child,
    stderr: BufReader<ChildStderr>,
}

impl Following {
    fn start(project: &Project, served: &SocketServed, arguments: &[&str]) -> Self {
        let mut process = project
            .command(hook_binary())
            .arg("tail")
            .args(arguments)
            // By its default.
            .env("XDG_RUNTIME_DIR", served.socket().parent().unwrap())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stderr = BufReader::new(process.stderr.take().unwrap());
        let mut said = String::new();
        stderr.read_line(&mut said).unwrap();
        assert_eq!(said, format!("following {}\n", served.socket().display()));
        Self { process, stderr }
    }

    /// Waits until the server, which was told to end, has ended.
    fn finish(mut self) -> Finished {
        let (mut stdout, mut stderr) = (String::new(), String::new());
        self.process.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
        self.stderr.read_to_string(&mut stderr).unwrap();
        let status = self.process.wait().unwrap().code().unwrap();
        Finished { status, stdout, stderr }
    }
}

fn project() -> Project {
    Project::with_settings(&json!({"hooks": {
        "BeforeTool": [
            {"matcher": "shell", "sequential": true, "hooks": [
                {"type": "command", "name": "guard",
                 "command": "printf 'not\ntoday' >&2; exit 2"},
                {"type": "command", "name": "broken", "command": "exit 7"},
                {"type": "command", "name": "hostile\u{1b}[31m", "command": "kill -KILL $$"}]},
            {"matcher": "write", "hooks": [{"type": "command", "name": "asks",
                "command": "echo '{\"decision\":\"ask\",\"reason\":\"sure?\"}'"}]}],
        "SessionEnd": [{"hooks": [{"type": "command", "command": "true"}]}]}}))
}

/// What a client asks meanwhile.
async fn play(served: &SocketServed) {
    let tool = |name: &str| json!({"tool_name": name, "tool_input": {"half": "\u{fffd}"}});
    let mut client = served.client().await;
    for message in [
        request("BeforeTool", &tool("shell"), "c-1"),
        request("BeforeTool", &tool("write"), "c-2"),
        request("BeforeTool", &tool("read"), "c-3"),
        request("SessionEnd", &json!({"reason": "exit"}), "c-4"),
        request("BeforeLunch", &json!({}), "c-5"),
    ] {
        assert_eq!(client.ask(&message).await["correlationId"], message["correlationId"]);
    }
}

/// Without the time of day.
fn shown(finished: &Finished, project: &Project) -> String {
    let time = fancy_regex::Regex::new(r"(?m)^\d\d:\d\d:\d\d\.\d\d\d").unwrap();
    time.replace_all(&finished.shown(project), "[CLOCK]").into_owned()
}

#[tokio::test]
async fn people_see_a_line_for_each_start_finish_and_response() {
    let project = project();
    let served = SocketServed::start(&project, &[]).await;
    let following = Following::start(&project, &served, &[]);
    play(&served).await;
    served.signal(Signal::TERM);
    served.ended().await;
    insta::assert_snapshot!(shown(&following.finish(), &project), @r#"
    status: 0
    ----- stdout -----
    [CLOCK] BeforeTool          started  guard
    [CLOCK] BeforeTool          finished guard exit 2 [TIME]
    [CLOCK] BeforeTool          started  broken
    [CLOCK] BeforeTool          finished broken Hook exited with code 7 [TIME]
    [CLOCK] BeforeTool          started  hostile\u{1b}[31m
    [CLOCK] BeforeTool          finished hostile\u{1b}[31m Hook was terminated by signal SIGKILL [TIME]
    [CLOCK] BeforeTool          block    not today [TIME] c-1
    [CLOCK] BeforeTool          started  asks
    [CLOCK] BeforeTool          finished asks exit 0 [TIME]
    [CLOCK] BeforeTool          ask      sure? [TIME] c-2
    [CLOCK] BeforeTool          proceed  [TIME] c-3
    [CLOCK] SessionEnd          started  true
    [CLOCK] SessionEnd          finished true exit 0 [TIME]
    [CLOCK] SessionEnd          proceed  [TIME] c-4
    [CLOCK] ?                   unsupported_event there is no event "BeforeLunch"; did you mean BeforeTool? [TIME] c-5
    ----- stderr -----
    the server has ended
    "#);
}

#[tokio::test]
async fn programs_get_the_lines_of_a_recording() {
    let project = project();
    let served = SocketServed::start(&project, &[]).await;
    let following = Following::start(&project, &served, &["--json"]);
    play(&served).await;
    served.signal(Signal::TERM);
    served.ended().await;
    let finished = following.finish();
    assert_eq!(finished.status, 0);
    let lines = finished.lines();
    assert_eq!(lines[0]["type"], "hook-recording");
    let kinds = |kind: &str| lines.iter().filter(|line| line["message"]["type"] == kind).count();
    assert_eq!((kinds("hook-execution-request"), kinds("hook-execution-response")), (5, 5));
    assert_eq!((kinds("hook-started"), kinds("hook-finished")), (5, 5));
    for line in &lines[1..] {
        let names: Vec<_> = line.as_object().unwrap().keys().map(String::as_str).collect();
        match line["message"]["hooks"].as_array().map_or(0, Vec::len) {
            // They are in sequential definitions.
            2.. => assert_eq!(names, ["at", "request", "groups", "message"]),
            _ => assert_eq!(names, ["at", "request", "message"]),
        }
    }
}

#[test]
fn a_server_that_is_not_there_is_said_to_be_missing() {
    let project = Project::new();
    let finished = Hook::new(&project, &["tail", "--socket", "no.sock"]).run();
    let (note, error) = finished.stderr.split_once('\n').unwrap();
    assert!(note.starts_with("note: `hook bridge` asks the server at "), "{note}");
    assert_eq!(finished.status, 1);
    insta::assert_snapshot!(error, @r"
    error: failed to connect to no.sock: No such file or directory (os error 2); start a server with `hook serve --socket no.sock`
    ");
    let finished = Hook::new(&project, &["tail"]).env("XDG_RUNTIME_DIR", "").run();
    // That is the one which agents ask.
    let asked = "error: failed to connect to /";
    assert!(finished.status == 1 && finished.stderr.starts_with(asked), "{finished:?}");
    assert!(finished.stderr.contains("/.local/state/hook/run/"), "{finished:?}");
}

/// Something that answers each line with one of these, after the first.
fn impostor(project: &Project, answers: &'static [&'static str]) -> std::thread::JoinHandle<()> {
    let listener = UnixListener::bind(project.path().join("its.sock")).unwrap();
    std::thread::spawn(move || {
        let (connection, _) = listener.accept().unwrap();
        let mut asked = BufReader::new(connection.try_clone().unwrap()).lines();
        for answer in answers {
            writeln!(&connection, "{answer}").unwrap();
            asked.next();
        }
    })
}

#[test]
fn what_answers_otherwise_is_said_to_do_so() {
    for (answers, said) in [
        (&["220 mail.example"][..], "what answers is no hook server"),
        (&[r#"{"type":"hook-hello","protocol":9}"#], "version 9 of the protocol"),
        (&[r#"{"type":"hook-refused","message":"try again later"}"#], "try again later"),
        (
            &[
                r#"{"type":"hook-hello","protocol":1}"#,
                r#"{"type":"hook-execution-response","error":{"message":"no hook-tail here"}}"#,
            ],
            "no hook-tail here",
        ),
    ] {
        let project = Project::new();
        let answering = impostor(&project, answers);
        let finished = Hook::new(&project, &["tail", "--socket", "its.sock"]).run();
        assert_eq!(finished.status, 1, "{finished:?}");
        assert!(finished.stderr.contains(said), "{finished:?}");
        answering.join().unwrap();
    }
}

#[tokio::test]
async fn a_reader_that_has_had_enough_is_no_failure() {
    let project = project();
    let served = SocketServed::start(&project, &[]).await;
    let mut following = Following::start(&project, &served, &["--json"]);
    let mut first = String::new();
    let mut stdout = BufReader::new(following.process.stdout.take().unwrap());
    stdout.read_line(&mut first).unwrap();
    assert_eq!(json(first.as_bytes())["type"], Value::from("hook-recording"));
    drop(stdout);
    play(&served).await;
    assert_eq!(following.process.wait().unwrap().code(), Some(0));
}

#[test]
fn serve_asks_for_one_way_at_least() {
    let project = Project::new();
    insta::assert_snapshot!(Hook::new(&project, &["serve"]).run().shown(&project), @r"
    status: 64
    ----- stdout -----
    ----- stderr -----
    error: the following required arguments were not provided:
      <--stdio|--socket [<PATH>]|--grpc <PLACE>|--nats <URL>>

    Usage: hook serve <--stdio|--socket [<PATH>]|--grpc <PLACE>|--nats <URL>>

    For more information, try '--help'.
    ");
}

#[tokio::test]
async fn both_ways_end_with_standard_input() {
    let project = Project::with_hook("SessionEnd", "sleep 0.3; echo '{}'");
    let socket = project.home().join("run/hook.sock");
    let finished = Hook::new(
        &project,
        &["serve", "--stdio", "--socket", socket.to_str().unwrap(), "--settings=settings.json"],
    )
    .stdin(format!("{}\n", request("SessionEnd", &json!({"reason": "exit"}), "a")))
    .run();
    assert_eq!(finished.status, 0, "{finished:?}");
    assert_eq!(finished.lines()[1]["correlationId"], "a");
    assert!(finished.stderr.ends_with(&format!("listening on {}\n", socket.display())));
    // Agents ask another one.
    assert!(finished.stderr.starts_with("note: `hook bridge` asks "), "{finished:?}");
    assert!(!socket.exists());
}
