//! What goes wrong with modules, and what does not go wrong with it.

use hook_bus::HookExecutionRequest;
use hook_tests::{Hook, Project, Served, fields, request};
use serde_json::{Value, json};

use super::{GUARD, fire, has_node, project, run, shell, verdict, warnings};

const THROWS: &str = "throw new Error('at load');";
const NO_FUNCTION: &str = "export const x = 1;";
const NEVER: &str = "export default () => new Promise(() => {});";

#[test]
fn a_module_that_cannot_be_loaded_stops_no_other_and_is_said_wherever_hooks_are_shown() {
    if !has_node() {
        return;
    }
    let quick = json!({"startTimeout": 4000});
    let project = project(&[
        ("throws.mjs", THROWS, quick.clone()),
        ("none.mjs", NO_FUNCTION, quick.clone()),
        ("never.mjs", NEVER, quick.clone()),
        (
            "late.mjs",
            "export default (pi) => setTimeout(() => pi.on('context', () => {}), 1)",
            quick.clone(),
        ),
        ("typo.mjs", "export default (pi) => pi.on('tool_cal', () => {})", quick.clone()),
        ("guard.mjs", GUARD, quick),
    ]);
    let response = fire(&project, "BeforeTool", &shell("rm -rf x"));
    // One of them may have a guard.
    let (decision, reason) = verdict(&response);
    assert_eq!(decision, "block", "{reason}");
    assert!(reason.contains("it is not loaded, and may have a guard"), "{reason}");
    let said = [
        "at load",
        "Hook must export a default function",
        "Failed to load hook: it did not settle within 3200ms",
        "there is no event \\\"tool_cal\\\"",
    ];
    for part in said {
        assert!(warnings(&response).contains(part), "{part}: {}", warnings(&response));
    }
    let ended = fire(&project, "SessionEnd", &json!({"reason": "exit"}));
    assert_eq!(verdict(&ended).0, "proceed");
    for arguments in [&["list"][..], &["explain", "BeforeTool"], &["command"], &["doctor"]] {
        let all = [arguments, &["--settings", "settings.json"]].concat();
        let finished = run(&project, &all);
        let shown = format!("{}{}", finished.stdout, finished.stderr).replace('"', "\\\"");
        for part in said {
            assert!(shown.contains(part), "{arguments:?} {part}: {shown}");
        }
    }
    let listed = run(&project, &["list", "--json", "--settings", "settings.json"]).lines();
    let guard = listed.iter().find(|it| it["name"] == "guard.mjs tool_call").unwrap();
    assert_eq!((&guard["type"], &guard["event"]), (&json!("module"), &json!("BeforeTool")));
    let throws = listed.iter().find(|it| it["name"] == "throws.mjs").unwrap();
    let error = throws["module"]["error"].as_str().unwrap();
    assert!(error.starts_with("Failed to load hook: /") && error.ends_with("at load"), "{error}");
}

#[test]
fn a_guard_that_cannot_be_loaded_blocks() {
    if !has_node() {
        return;
    }
    for text in [THROWS, NO_FUNCTION] {
        let project = project(&[("bad.mjs", text, json!({"failBehavior": "block"}))]);
        let response = fire(&project, "BeforeTool", &shell("ls"));
        assert_eq!(verdict(&response).0, "block", "{response}");
        // Where a block means nothing.
        let ended = fire(&project, "SessionEnd", &json!({"reason": "exit"}));
        assert_eq!(verdict(&ended).0, "proceed");
    }
}

#[test]
fn what_throws_before_a_tool_blocks_it_and_elsewhere_is_said() {
    if !has_node() {
        return;
    }
    let text = "export default (pi) => { \
        pi.on('tool_call', () => { throw new Error('boom') }); \
        pi.on('tool_result', () => { throw new Error('bang') }); \
        pi.on('tool_result', () => ({content: [{type: 'text', text: 'seen'}]})); \
        pi.on('session_start', () => 5); }";
    let project = project(&[("m.mjs", text, json!({}))]);
    let response = fire(&project, "BeforeTool", &shell("ls"));
    assert_eq!(verdict(&response), ("block", "boom"));
    let after = json!({"tool_name": "run_shell_command", "tool_input": {"command": "ls"},
        "tool_response": {"llmContent": "a"}});
    let response = fire(&project, "AfterTool", &after);
    assert_eq!(verdict(&response).0, "proceed");
    assert!(warnings(&response).contains("hook m.mjs tool_result: "), "{response}");
    assert!(warnings(&response).contains("bang"), "{response}");
    let names: Vec<&Value> =
        response["hooks"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
    assert_eq!(names, ["m.mjs tool_result", "m.mjs tool_result 2"]);
    let response = fire(&project, "SessionStart", &json!({"source": "startup"}));
    assert!(warnings(&response).contains("it returned a number"), "{response}");
}

#[test]
fn what_a_module_prints_is_no_message() {
    if !has_node() {
        return;
    }
    let text = "import { writeSync } from 'node:fs'; import { spawnSync } from 'node:child_process'; \
        console.log('loading'); \
        const print = () => { console.log('in the handler'); console.error('to standard error'); }; \
        export default (pi) => pi.on('tool_call', () => { print(); \
            process.stdout.write('{\"type\": \"hook-answer\", \"callId\": \"1\"}\\n'); writeSync(1, 'raw\\n'); \
            spawnSync('echo', ['child'], {stdio: 'inherit'}); \
            return {block: true, reason: 'printed'}; })";
    let project = project(&[("m.mjs", text, json!({}))]);
    let options = ["fire", "BeforeTool", "--json", "--settings", "settings.json", "--input", "-"];
    let fired = Hook::new(&project, &options).env("HOOK_LOG", "off,hook::worker=info");
    let finished = fired.stdin(shell("ls").to_string()).run();
    let lines = finished.lines();
    assert_eq!(lines.len(), 1, "{finished:?}");
    assert_eq!(verdict(&lines[0]), ("block", "printed"));
    // Each in the log, under the name that the docs say.
    for printed in ["loading", "hook-answer", "raw", "child", "in the handler", "to standard error"]
    {
        let is_logged = |line: &str| line.contains("hook::worker") && line.contains(printed);
        assert!(finished.stderr.lines().any(is_logged), "{printed}: {finished:?}");
    }
}

#[test]
fn a_program_that_hangs_without_a_time_limit_is_ended_with_its_handler() {
    if !has_node() {
        return;
    }
    let text = "export default (pi) => pi.on('tool_call', async () => { \
        await pi.exec('bash', ['-c', 'sleep 1000 & sleep 1000']); })";
    let project = project(&[("m.mjs", text, json!({"timeout": 1000}))]);
    let response = fire(&project, "BeforeTool", &shell("ls"));
    assert_eq!(verdict(&response).0, "block", "{response}");
    assert_eq!(response["hooks"][0]["timedOut"], json!(true), "{response}");
    assert_eq!(project.processes(), []);
}

#[test]
fn a_program_that_hangs_is_ended_after_its_time_or_when_it_is_not_wanted_any_more() {
    if !has_node() {
        return;
    }
    let text = "export default (pi) => pi.on('tool_call', async () => { \
        const late = await pi.exec('sleep', ['1000'], {timeout: 300}); \
        const controller = new AbortController(); \
        const running = pi.exec('bash', ['-c', 'sleep 1000'], {signal: controller.signal}); \
        controller.abort(); \
        const aborted = await running; \
        const done = await pi.exec('bash', ['-c', 'pwd; echo $X >&2; exit 3'], {env: {X: 5}, cwd: '/'}); \
        return {block: true, reason: JSON.stringify([late.killed, aborted.killed, done])}; })";
    let project = project(&[("m.mjs", text, json!({}))]);
    let response = fire(&project, "BeforeTool", &shell("ls"));
    let expected = r#"[true,true,{"stdout":"/\n","stderr":"5\n","code":3,"killed":false}]"#;
    assert_eq!(verdict(&response), ("block", expected));
    assert_eq!(project.processes(), []);
}

#[tokio::test]
async fn a_loop_ends_the_process_and_no_other_modules_events() {
    if !has_node() {
        return;
    }
    let endless = "export default (pi) => pi.on('tool_call', (event) => { \
        while (event.input.command === 'loop') {} })";
    let other = "export default (pi) => pi.on('before_agent_start', () => ({message: {customType: 'c', content: 'hi'}}))";
    let project = project(&[
        ("loop.mjs", endless, json!({"timeout": 1000})),
        ("other.mjs", other, json!({})),
    ]);
    let system = project.system();
    let fire = async |event: &str, input: Value| {
        system.bus().request(HookExecutionRequest::new(event, fields(input))).await
    };
    let prompt = || json!({"prompt": "p"});
    let response = fire("BeforeAgent", prompt()).await;
    assert!(response.success() && response.processed.warnings.is_empty(), "{response:?}");
    let response = fire("BeforeTool", shell("loop")).await;
    assert!(response.processed.is_blocking_decision(), "{response:?}");
    let response = fire("BeforeAgent", prompt()).await;
    assert!(response.hooks[0].success, "{:?}", response.hooks);
    let response = fire("BeforeTool", shell("ls")).await;
    assert!(!response.processed.is_blocking_decision(), "{response:?}");
    system.shutdown(std::time::Duration::ZERO).await;
    assert_eq!(project.processes(), []);
}

const ASKS: &str = "export default (pi) => pi.on('tool_call', async (event, ctx) => { \
    const ok = await ctx.ui.confirm('Sure?', event.input.command); \
    if (!ok) return {block: true, reason: 'no: ' + ctx.hasUI}; })";

async fn asked(served: &mut Served) -> Value {
    let hello = json!({"type": "hook-hello", "hostServices": ["ui.confirm", "session.get"]});
    served.send(format!("{hello}\n")).await;
    served.send(format!("{}\n", request("BeforeTool", &shell("ls"), "c-1"))).await;
    loop {
        let message = served.receive().await;
        if message["type"] != "hook-host-call" {
            continue;
        }
        if message["method"] == "ui.confirm" {
            return message;
        }
        let id = &message["hostCallId"];
        let result = json!({"type": "hook-host-result", "hostCallId": id, "result": {}});
        served.send(format!("{result}\n")).await;
    }
}

#[tokio::test]
async fn a_host_that_goes_away_while_it_is_asked_leaves_nothing_behind() {
    if !has_node() {
        return;
    }
    let project = project(&[("m.mjs", ASKS, json!({}))]);
    let mut served = Served::start(&project).await;
    let question = asked(&mut served).await;
    assert_eq!(question["params"], json!({"title": "Sure?", "message": "ls"}));
    let (messages, code) = served.finish().await;
    assert_eq!(code, Some(0), "{messages:?}");
    // It may not be run: the guard could not ask.
    let response = messages.iter().find(|it| it["type"] == "hook-execution-response").unwrap();
    let gone = ("block", "the client that asked for the event is gone");
    assert_eq!(verdict(response), gone, "{response}");
    assert_eq!(project.processes(), []);
}

#[tokio::test]
async fn a_host_answers_questions() {
    if !has_node() {
        return;
    }
    let project = project(&[("m.mjs", ASKS, json!({}))]);
    let mut served = Served::start(&project).await;
    let question = asked(&mut served).await;
    let id = &question["hostCallId"];
    let result = json!({"type": "hook-host-result", "hostCallId": id, "result": true});
    let response = served.ask(&result).await;
    assert_eq!(verdict(&response).0, "proceed", "{response}");
    served.finish().await;
    // Nobody is there who can be asked.
    assert_eq!(verdict(&fire(&project, "BeforeTool", &shell("ls"))), ("block", "no: false"));
}

#[test]
fn a_process_that_cannot_be_started_is_said() {
    let project = project(&[("m.mjs", GUARD, json!({"failBehavior": "block"}))]);
    let bin = project.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    for program in ["bash", "sh"] {
        std::os::unix::fs::symlink(format!("/bin/{program}"), bin.join(program)).unwrap();
    }
    let fired = hook_tests::Hook::new(
        &project,
        &["fire", "BeforeTool", "--json", "--settings", "settings.json", "--input", "-"],
    );
    let finished = fired.env("PATH", bin.to_str().unwrap()).stdin(shell("ls").to_string()).run();
    let response = &finished.lines()[0];
    assert_eq!(verdict(response).0, "block");
    assert!(warnings(response).contains("need Node.js 20 or later"), "{response}");
}

#[test]
fn typescript_says_what_it_needs() {
    if !has_node() {
        return;
    }
    let project: Project = project(&[("m.ts", GUARD, json!({}))]);
    let response = fire(&project, "BeforeTool", &shell("rm -rf"));
    let is_stripped = verdict(&response) == ("block", "not that");
    let is_said = warnings(&response).contains("npm install --global jiti");
    assert!(is_stripped || is_said, "{response}");
}

#[test]
fn a_module_that_cannot_be_loaded_blocks_tools_and_is_a_problem_with_its_place() {
    if !has_node() {
        return;
    }
    for (text, place, said) in [
        ("export default function (pi) {\n  const = 1;\n}\n", (2, 9), "Unexpected token"),
        (
            "export default function (pi) {\n  pi.on('tool_cal', () => {});\n}\n",
            (2, 6),
            "did you mean `tool_call`?",
        ),
    ] {
        let project = Project::new();
        project.write(".hooks/modules/guard.mjs", text);
        let trusted = Hook::new(&project, &["trust", "--yes"]).run();
        assert_eq!(trusted.status, 0, "{trusted:?}");
        let fired = Hook::new(&project, &["fire", "BeforeTool", "--tool", "shell"]).run();
        assert_eq!(fired.status, 2, "{fired:?}");
        assert!(fired.stdout.contains(said), "{fired:?}");
        // Nothing else is in its way.
        let ended = Hook::new(&project, &["fire", "SessionEnd"]).run();
        assert_eq!(ended.status, 0, "{ended:?}");
        let checked = Hook::new(&project, &["check", "--json"]).run();
        assert_eq!(checked.status, 1, "{checked:?}");
        let problem = &checked.lines()[0];
        assert_eq!(problem["rule"], "module-not-loaded", "{problem}");
        assert_eq!(
            (&problem["line"], &problem["column"]),
            (&place.0.into(), &place.1.into()),
            "{problem}"
        );
        assert!(problem["message"].as_str().unwrap().contains(said), "{problem}");
        // Switched off, it is in nobody's way.
        let off = Hook::new(&project, &["disable", ".hooks/modules/guard.mjs", "--user"]).run();
        assert_eq!(off.status, 0, "{off:?}");
        let fired = Hook::new(&project, &["fire", "BeforeTool", "--tool", "shell"]).run();
        assert_eq!(fired.status, 0, "{fired:?}");
    }
}
