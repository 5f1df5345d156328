//! Agents that ask a running server of the project.
#![cfg(unix)]

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use hook_tests::{Finished, Hook, Project, hook_binary};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// A running `hook serve --socket` at the project's own place; ended by being dropped.
struct Server(Child);

impl Server {
    fn start(project: &Project) -> Self {
        Self::start_with(project, &[])
    }

    fn start_with(project: &Project, arguments: &[&str]) -> Self {
        let mut command = project.command(hook_binary());
        command
            .args(["serve", "--socket"])
            .args(arguments)
            .stdin(Stdio::null())
            .stderr(Stdio::piped());
        let mut process = command.env("BY_SERVER", "yes").spawn().unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let listening = lines.find(|line| line.as_ref().unwrap().starts_with("listening on"));
        assert!(listening.is_some());
        // Read on, so that it is never held up.
        std::thread::spawn(move || lines.for_each(drop));
        Self(process)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A project with a guard of the user's that says where it ran.
fn guarded(hook: &Value) -> Project {
    let project = Project::new();
    write(&project, hook);
    project
}

fn write(project: &Project, hook: &Value) {
    let folder = project.home().join(".config/hooks");
    std::fs::create_dir_all(&folder).unwrap();
    let settings = json!({"hooks": {"BeforeTool": [{"hooks": [hook]}]}});
    std::fs::write(folder.join("settings.json"), settings.to_string()).unwrap();
}

fn denying(why: &str) -> Value {
    let command = format!("echo \"{why} by ${{BY_SERVER:-itself}}\" >&2; exit 2");
    json!({"type": "command", "command": command})
}

fn asked(project: &Project, arguments: &[&str]) -> Finished {
    let said = json!({"session_id": "s", "transcript_path": "", "cwd": project.path(),
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}});
    // An agent may write over several lines.
    let said = serde_json::to_string_pretty(&said).unwrap();
    Hook::new(project, &[&["bridge", "claude"], arguments].concat()).stdin(said).run()
}

fn reason(finished: &Finished) -> String {
    let answer: Value = serde_json::from_str(&finished.stdout).unwrap_or_default();
    let reason = &answer["hookSpecificOutput"]["permissionDecisionReason"];
    reason.as_str().unwrap_or_default().to_owned()
}

/// A guard that takes down each of its runs, and refuses once it may.
fn counting(project: &Project) {
    write(
        project,
        &json!({"type": "command", "command":
        "echo 1 >> \"$HOME/runs\"; until [ -e \"$HOME/go\" ]; do sleep 0.01; done; echo no >&2; exit 2"}),
    );
}

/// Asks about a call of a tool with an id, as an agent does that reads two files with an entry.
fn asking(project: &Project, id: &str) -> Child {
    let said = json!({"session_id": "s", "transcript_path": "", "cwd": project.path(),
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": id});
    let mut command = project.command(hook_binary());
    command.args(["bridge", "claude"]).env("HOOK_LOG", "hook::bridge=debug");
    let piped = || Stdio::piped();
    let mut process = command.stdin(piped()).stdout(piped()).stderr(piped()).spawn().unwrap();
    process.stdin.take().unwrap().write_all(said.to_string().as_bytes()).unwrap();
    process
}

/// Returns once a process waits for the answer of another one.
fn await_waiting(process: &mut Child) {
    let mut lines = BufReader::new(process.stderr.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.contains("another process answers the same call")));
    std::thread::spawn(move || lines.for_each(drop));
}

fn await_runs(project: &Project, count: usize) {
    let runs = || std::fs::read_to_string(project.home().join("runs")).unwrap_or_default();
    while runs().lines().count() < count {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert_eq!(runs().lines().count(), count);
}

fn refused(process: Child) -> bool {
    let output = process.wait_with_output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    answer["hookSpecificOutput"]["permissionDecisionReason"] == "no"
}

#[test]
fn hooks_run_once_for_a_call_about_which_two_processes_are_asked() {
    let project = Project::new();
    counting(&project);
    let first = asking(&project, "toolu_1");
    await_runs(&project, 1);
    let mut second = asking(&project, "toolu_1");
    await_waiting(&mut second);
    // Another call is none of theirs.
    let other = asking(&project, "toolu_2");
    await_runs(&project, 2);
    std::fs::write(project.home().join("go"), "").unwrap();
    assert!(refused(first) && refused(second) && refused(other));
    await_runs(&project, 2);
}

#[test]
fn a_process_that_is_killed_loses_no_denial_of_another_one() {
    let project = Project::new();
    counting(&project);
    let mut first = asking(&project, "toolu_1");
    await_runs(&project, 1);
    let mut second = asking(&project, "toolu_1");
    await_waiting(&mut second);
    first.kill().unwrap();
    first.wait().unwrap();
    await_runs(&project, 2);
    std::fs::write(project.home().join("go"), "").unwrap();
    assert!(refused(second));
}

/// The agent may act on the first of two values, and a guard would be told of the last.
#[test]
fn what_an_agent_says_twice_is_refused_where_there_is_a_guard() {
    let command = "true";
    for (fails, is_refused) in [("block", true), ("continue", false)] {
        let project =
            guarded(&json!({"type": "command", "command": command, "failBehavior": fails}));
        let said = format!(
            r#"{{"session_id":"s","transcript_path":"","cwd":{},"hook_event_name":"PreToolUse","tool_name":"Bash","tool_name":"Read","tool_input":{{}}}}"#,
            json!(project.path())
        );
        let ask = || Hook::new(&project, &["bridge", "claude"]).stdin(said.clone()).run();
        let by_itself = ask();
        let server = Server::start(&project);
        let by_server = ask();
        drop(server);
        for asked in [by_itself, by_server] {
            let why = "`tool_name`: expected one value, found several";
            assert_eq!(reason(&asked).contains(why), is_refused, "{fails}: {asked:?}");
        }
    }
}

#[test]
fn a_running_server_is_asked_and_otherwise_the_engine_runs_here() {
    let project = guarded(&denying("no"));
    assert_eq!(reason(&asked(&project, &[])), "no by itself");
    let server = Server::start(&project);
    assert_eq!(reason(&asked(&project, &[])), "no by yes");
    // Options that change which hooks there are mean an engine of one's own.
    assert_eq!(reason(&asked(&project, &["--strict"])), "no by itself");
    assert_eq!(asked(&project, &["--no-user"]).stdout, "");
    drop(server);
    assert_eq!(reason(&asked(&project, &[])), "no by itself");
}

#[test]
fn a_server_with_other_settings_than_there_are_now_reads_them_first() {
    let project = guarded(&json!({"type": "command", "command": "exit 0"}));
    let _server = Server::start(&project);
    assert_eq!(reason(&asked(&project, &[])), "");
    write(&project, &denying("a new guard"));
    assert_eq!(reason(&asked(&project, &[])), "a new guard by yes");
}

#[test]
fn a_server_whose_trust_is_older_looks_again() {
    let project = Project::new();
    let settings = json!({"hooks": {"BeforeTool": [{"hooks": [denying("trusted now")]}]}});
    project.write(".hooks/settings.json", &settings.to_string());
    let server = Server::start(&project);
    assert!(asked(&project, &[]).stdout.contains("1 hook is not trusted"));
    assert_eq!(Hook::new(&project, &["trust", "--yes", "--opaque"]).run().status, 0);
    assert_eq!(reason(&asked(&project, &[])), "trusted now by yes");
    // One that is given other settings never has those that there are.
    drop(server);
    let other = project.write("other.json", "{}").display().to_string();
    let _server = Server::start_with(&project, &["--settings", &other]);
    let answered = asked(&project, &["-v"]);
    assert_eq!(reason(&answered), "trusted now by itself");
    assert!(answered.stderr.contains("not those that there are now"), "{answered:?}");
}

#[test]
fn a_server_that_hangs_or_lies_does_not_get_a_guard_out_of_the_way() {
    use std::os::unix::net::UnixListener;
    for answer in [
        "",
        "nonsense\n",
        "{\"type\":\"hook-hello\",\"engine\":\"hook\",\"version\":\"99\",\"protocol\":1}\n",
    ] {
        let project = guarded(&denying("no"));
        let server = Server::start(&project);
        let socket = std::fs::read_dir(project.home().join(".local/state/hook/run")).unwrap();
        let socket =
            socket.map(|entry| entry.unwrap().path()).find(|path| path.extension().is_some());
        let socket = socket.unwrap();
        drop(server);
        let _ = std::fs::remove_file(&socket);
        let listener = UnixListener::bind(&socket).unwrap();
        let liar = std::thread::spawn(move || {
            use std::io::Write;
            let (mut stream, _) = listener.accept().unwrap();
            stream.write_all(answer.as_bytes()).unwrap();
            // What says nothing goes away.
        });
        assert_eq!(reason(&asked(&project, &[])), "no by itself", "{answer}");
        liar.join().unwrap();
    }
}

#[test]
fn a_hook_of_another_agent_is_told_the_same_by_a_server() {
    let project = Project::new();
    let folder = project.home().join(".config/hooks");
    std::fs::create_dir_all(&folder).unwrap();
    let settings = json!({"hooksConfig": {"agents": ["codex", "claude"]}});
    std::fs::write(folder.join("settings.json"), settings.to_string()).unwrap();
    for (path, name) in [(".codex/hooks.json", "codex"), (".claude/settings.json", "claude")] {
        let hook = json!({"type": "command", "command": format!("cat > \"$HOME/{name}\"")});
        let path = project.home().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let theirs = json!({"hooks": {"PreToolUse": [{"hooks": [hook]}]}});
        std::fs::write(path, theirs.to_string()).unwrap();
    }
    let _server = Server::start(&project);
    assert_eq!(asked(&project, &[]).status, 0);
    let told = |name: &str| std::fs::read_to_string(project.home().join(name)).unwrap_or_default();
    let codex: Value = serde_json::from_str(&told("codex")).unwrap();
    assert_eq!(codex["tool_input"], json!({"command": "ls"}), "{codex}");
    // The asking agent's own runs there by itself.
    assert_eq!(told("claude"), "");
}

#[test]
fn a_server_is_started_where_the_user_wants_one_and_ends_when_its_socket_is_gone() {
    let project = guarded(&json!(null));
    let folder = project.home().join(".config/hooks");
    let settings = json!({"hooksConfig": {"server": "auto"}, "hooks": {"BeforeTool": [{"hooks": [
        {"type": "command", "command": "echo $PPID > \"$HOME/by\"; exit 0"}]}]}});
    std::fs::write(folder.join("settings.json"), settings.to_string()).unwrap();
    let by = || std::fs::read_to_string(project.home().join("by")).unwrap_or_default();
    assert_eq!(asked(&project, &[]).status, 0);
    let run = project.home().join(".local/state/hook/run");
    let socket = super::until(|| {
        let mut entries = std::fs::read_dir(&run).ok()?.map(|entry| entry.unwrap().path());
        entries.find(|path| path.extension().is_some_and(|it| it == "sock"))
    });
    // Two calls have the same parent: the server.
    assert_eq!(asked(&project, &[]).status, 0);
    let server = by();
    assert_eq!(asked(&project, &[]).status, 0);
    assert_eq!(by(), server);
    std::fs::remove_file(&socket).unwrap();
    let process = format!("/proc/{}", server.trim());
    super::until(|| (!std::path::Path::new(&process).exists()).then_some(()));
    // Who starts one holds a lock, which is gone with the server: it keeps no later call from starting another.
    let starts = || asked(&project, &["-v"]).stderr.contains("a server is started at");
    let starting = std::fs::File::open(socket.with_extension("starting")).unwrap();
    starting.lock().unwrap();
    assert!(!starts());
    starting.unlock().unwrap();
    assert!(starts());
    super::until(|| socket.exists().then_some(()));
}

/// What a server began before its end is asked of an engine here.
#[test]
fn a_server_that_ends_in_mid_call_loses_no_denial() {
    let project = guarded(&json!({"type": "command",
        "command": "echo $PPID > \"$HOME/by\"; sleep 2; echo no >&2; exit 2"}));
    let server = Server::start(&project);
    let by = project.home().join("by");
    let ended = std::thread::scope(|scope| {
        let call = scope.spawn(|| asked(&project, &[]));
        super::until(|| by.exists().then_some(()));
        let id = rustix::process::Pid::from_raw(i32::try_from(server.0.id()).unwrap()).unwrap();
        rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
        call.join().unwrap()
    });
    assert_eq!(reason(&ended), "no", "{ended:?}");
}

/// Whatever has the place and says nothing holds nobody up.
#[test]
fn what_does_not_greet_is_not_waited_for() {
    let project = guarded(&denying("no"));
    let server = Server::start(&project);
    let run = project.home().join(".local/state/hook/run");
    let mut entries = std::fs::read_dir(run).unwrap().map(|entry| entry.unwrap().path());
    let socket = entries.find(|path| path.extension().is_some_and(|it| it == "sock")).unwrap();
    drop(server);
    let _ = std::fs::remove_file(&socket);
    let listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let begun = std::time::Instant::now();
    assert_eq!(reason(&asked(&project, &[])), "no by itself");
    // Far less than the agent's patience.
    assert!(begun.elapsed() < std::time::Duration::from_secs(60));
    drop(listener);
}

/// A server remembers what hooks set for a session, and looks again where another process has changed it.
#[test]
fn a_server_knows_what_other_calls_have_changed_of_a_session() {
    let project = Project::new();
    let folder = project.home().join(".config/hooks");
    std::fs::create_dir_all(&folder).unwrap();
    let hook = |command: &str| json!([{"hooks": [{"type": "command", "command": command}]}]);
    let set = r#"echo '{"hookSpecificOutput":{"env":{"GREETING":"first"}}}'"#;
    let settings = json!({"hooks": {"SessionStart": hook(set),
        "BeforeTool": hook("echo \"$GREETING ${BY_SERVER:-itself}\" >&2; exit 2")}});
    std::fs::write(folder.join("settings.json"), settings.to_string()).unwrap();
    let _server = Server::start(&project);
    let start = json!({"session_id": "s", "transcript_path": "", "cwd": project.path(),
        "hook_event_name": "SessionStart", "source": "startup"});
    let started = Hook::new(&project, &["bridge", "claude"]).stdin(start.to_string()).run();
    assert_eq!(started.status, 0, "{started:?}");
    assert_eq!(reason(&asked(&project, &[])), "first yes");
    let sessions = std::fs::read_dir(project.home().join(".local/state/hook/sessions")).unwrap();
    let mut files = sessions.map(|entry| entry.unwrap().path());
    let file = files.find(|path| path.extension().is_some_and(|it| it == "json")).unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("first", "another")).unwrap();
    assert_eq!(reason(&asked(&project, &[])), "another yes");
}

/// A guard of a client for one tool, as the first message over a socket.
const GUARD: &str = r#"{"type":"hook-register","hookId":"g","eventName":"BeforeTool",
    "matcher":{"tool":"run_shell_command"},"config":{"failBehavior":"block"}}"#;

/// Registers a guard at the project's server; the client is there until it is dropped.
fn registered(socket: &Path) -> BufReader<UnixStream> {
    let mut client = UnixStream::connect(socket).unwrap();
    client.write_all((GUARD.replace('\n', "") + "\n").as_bytes()).unwrap();
    let mut lines = BufReader::new(client);
    for kind in ["hook-hello", "hook-registered"] {
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        assert!(line.contains(kind), "{line}");
    }
    lines
}

/// The socket of the project's own server.
fn own_socket(project: &Project) -> PathBuf {
    let mut folders = vec![project.home()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else if entry.path().extension().is_some_and(|extension| extension == "sock") {
                return entry.path();
            }
        }
    }
    panic!("there is no socket");
}

#[test]
fn fault_101_guards_of_a_server_that_is_not_asked_block_where_another_engine_answers() {
    let project = Project::new();
    let mut server = Server::start(&project);
    let socket = own_socket(&project);
    let client = registered(&socket);
    let blocked = |why: &str| {
        let found = reason(&asked(&project, &[]));
        assert!(found.contains("a program registered this guard at "), "{why}: {found}");
        assert!(found.contains(why), "{why}: {found}");
    };
    let refuses = |line: Value| {
        let mut other = Hook::new(&project, &["serve", "--stdio"]).stdin(format!("{line}\n")).run();
        let response = other.lines().pop().unwrap_or_default();
        other.stdout.clear();
        (response["processed"]["decision"].clone(), response["processed"]["reason"].to_string())
    };
    let call = |tool: &str| {
        json!({"type": "hook-execution-request", "eventName": "BeforeTool", "correlationId": "c",
            "input": {"tool_name": tool, "tool_input": {}}})
    };
    // While it runs, an engine of one's own is one's own.
    assert_eq!(refuses(call("run_shell_command")).0, "proceed");

    let id = Pid::from_raw(server.0.id().cast_signed()).unwrap();
    kill_process(id, Signal::STOP).unwrap();
    blocked("timed out");
    kill_process(id, Signal::CONT).unwrap();

    // Others come until there is no room for one more.
    let mut others = Vec::new();
    let mut greeting = String::new();
    while !greeting.contains("hook-refused") {
        let mut other = BufReader::new(UnixStream::connect(&socket).unwrap());
        greeting.clear();
        other.read_line(&mut greeting).unwrap();
        others.push(other);
    }
    blocked("it refused");
    drop(others);

    server.0.kill().unwrap();
    server.0.wait().unwrap();
    drop(client);
    blocked("the server has ended");
    // Clients start an engine of their own where none answers.
    let (decision, why) = refuses(call("run_shell_command"));
    assert_eq!(decision, "block");
    assert!(why.contains("the project's own server has ended"), "{why}");
    assert_eq!(refuses(call("read_file")).0, "proceed");

    // What the guard does not see is not blocked, and neither is anything once it is gone.
    std::fs::remove_file(&socket).unwrap();
    blocked("the server has ended");
    let guards = project.home().join(".local/state/hook/guards");
    for entry in std::fs::read_dir(guards).unwrap() {
        std::fs::remove_file(entry.unwrap().path()).unwrap();
    }
    assert_eq!(asked(&project, &[]).stdout, "");
}

/// What a call in a project gets, and one in a workspace of several.
fn asked_of(project: &Project, directories: &[&str]) -> String {
    let roots: Vec<PathBuf> = directories.iter().map(|path| project.path().join(path)).collect();
    let said = json!({"conversation_id": "c", "generation_id": "g", "workspace_roots": roots,
        "hook_event_name": "beforeShellExecution", "command": "ls", "cwd": ""});
    Hook::new(project, &["bridge", "cursor"]).stdin(said.to_string()).run().stdout
}

#[test]
fn fault_101_guards_of_the_servers_of_other_projects_block_where_a_call_is_theirs_too() {
    let project = Project::new();
    for folder in ["inner", "beside"] {
        project.write(&format!("{folder}/.hooks/settings.json"), "{}");
    }
    project.write(".hooks/settings.json", "{}");
    let why = "this call is another project's, too, and does not reach it";
    for (of_server, directories, is_blocked) in [
        ("", &["inner"][..], true),
        ("", &[""], false),
        ("beside", &["inner"], false),
        ("beside", &["inner", "beside"], true),
        ("inner", &["inner", "beside"], true),
    ] {
        let directory = project.path().join(of_server);
        let server = Server::start_with(&project, &["--project", &directory.display().to_string()]);
        let client = registered(&own_socket(&project));
        // Whoever is asked: the server of the project itself is, and its client does not answer.
        if is_blocked {
            let answer = asked_of(&project, directories);
            assert!(answer.contains("a program registered this guard at"), "{answer}");
            assert!(of_server == "inner" || answer.contains(why), "{answer}");
        } else if of_server == "beside" {
            assert!(!asked_of(&project, directories).contains("deny"));
        }
        drop(client);
        drop(server);
        let state = project.home().join(".local/state/hook");
        std::fs::remove_dir_all(state).unwrap();
    }
}

#[test]
fn fault_56_an_allow_of_a_client_lifts_no_prompt() {
    let project = Project::new();
    let _server = Server::start(&project);
    let mut client = registered(&own_socket(&project));
    let answering = std::thread::spawn(move || {
        let mut line = String::new();
        client.read_line(&mut line).unwrap();
        let call: Value = serde_json::from_str(&line).unwrap();
        let allow = json!({"hookEventName": "PreToolUse", "permissionDecision": "allow"});
        let answer = json!({"type": "hook-answer", "callId": call["callId"],
            "output": {"hookSpecificOutput": allow}});
        client.get_mut().write_all(format!("{answer}\n").as_bytes()).unwrap();
        client
    });
    let finished = asked(&project, &[]);
    answering.join().unwrap();
    assert_eq!((finished.status, finished.stdout.as_str()), (0, ""), "{finished:?}");
}

#[test]
fn fault_101_guards_of_programs_are_remembered_where_their_project_was() {
    let project = Project::new();
    project.write("p/.hooks/settings.json", "{}");
    project.write("p/sub/.hooks/settings.json", "{}");
    let directory = project.path().join("p/sub");
    let server = Server::start_with(&project, &["--project", &directory.display().to_string()]);
    let client = registered(&own_socket(&project));
    drop(server);
    drop(client);
    let is_blocked = || asked_of(&project, &["p/sub"]).contains("a program registered this guard");
    assert!(is_blocked());
    for change in [
        "rm -r p/sub/.hooks",
        "mv p p2 && ln -s p2 p",
        "mv p/sub p/sub2 && ln -s sub2 p/sub",
        "rm -r p/sub p/sub2",
    ] {
        let made = project.command("sh").args(["-c", change]).status().unwrap();
        assert!(made.success(), "{change}");
        assert!(is_blocked(), "{change}");
    }
    // The agent's own variable names the old place, and its directory another one.
    let input = json!({"session_id": "s", "transcript_path": "/t", "cwd": project.path(),
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}});
    let bridge = Hook::new(&project, &["bridge", "claude"]).stdin(input.to_string());
    let answer = bridge.env("CLAUDE_PROJECT_DIR", &directory.display().to_string()).run();
    assert!(answer.stdout.contains("a program registered this guard"), "{answer:?}");
}
