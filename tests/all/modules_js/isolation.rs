//! What one module does takes nothing from the others of its process.

use hook_bus::HookExecutionRequest;
use hook_tests::{Served, fields, request};
use serde_json::{Value, json};

use super::{GUARD, fire, has_node, project, run, shell, verdict, warnings};

/// Each takes something away on which a host may be built.
const HOSTILE: [&str; 14] = [
    "Object.prototype.toJSON = () => ({});",
    "Object.prototype.then = (done) => done({});",
    "Object.defineProperty(Object.prototype, 'block', {get: () => false});",
    "Array.prototype.toJSON = () => [];",
    "Array.prototype[Symbol.iterator] = function* () {};",
    "Array.prototype.push = Array.prototype.map = Array.prototype.filter = () => [];",
    "JSON.stringify = () => '{}'; JSON.parse = () => ({});",
    "Map.prototype.get = Map.prototype.has = () => undefined;",
    "Promise.prototype.then = () => new Promise(() => {});",
    "Promise.prototype.constructor = function () {};",
    "globalThis.JSON = globalThis.Map = globalThis.Promise = globalThis.Buffer = undefined;",
    "import fs from 'node:fs'; import m from 'node:module'; fs.writeSync = () => 0; m.syncBuiltinESMExports();",
    "import { EventEmitter } from 'node:events'; EventEmitter.prototype.emit = () => true; process.removeAllListeners();",
    "process.on('exit', () => {}); process.exit(0);",
];

#[test]
fn what_a_module_replaces_is_its_own_alone() {
    if !has_node() {
        return;
    }
    for text in HOSTILE {
        let hostile = format!("{text}\nexport default () => {{}};");
        let project =
            project(&[("hostile.mjs", &hostile, json!({})), ("guard.mjs", GUARD, json!({}))]);
        let response = fire(&project, "BeforeTool", &shell("rm -rf x"));
        // One that is not loaded may have a guard.
        let is_loaded = !warnings(&response).contains("Failed to load hook");
        let (decision, reason) = verdict(&response);
        assert_eq!((decision, is_loaded), ("block", reason == "not that"), "{text}: {response}");
        let response = fire(&project, "BeforeTool", &shell("ls"));
        let expected = if is_loaded { "proceed" } else { "block" };
        assert_eq!(verdict(&response).0, expected, "{text}: {response}");
    }
}

#[test]
fn a_module_that_ends_the_process_has_an_error_and_the_others_go_on() {
    if !has_node() {
        return;
    }
    for text in [
        "process.exit(0)",
        "process.reallyExit(0)",
        "process.abort()",
        "process.kill(process.pid)",
        "process.kill(0, 'SIGKILL')",
        "setTimeout(() => process.exit(0), 0); await new Promise((done) => setTimeout(done, 20));",
    ] {
        let ends = format!("{text}\nexport default () => {{}};");
        let project = project(&[("ends.mjs", &ends, json!({})), ("guard.mjs", GUARD, json!({}))]);
        let response = fire(&project, "BeforeTool", &shell("rm -rf x"));
        assert_eq!(verdict(&response).0, "block", "{text}: {response}");
        let is_said = warnings(&response).contains("the process is that of all modules");
        assert!(is_said || text.starts_with("setTimeout"), "{text}: {response}");
    }
}

#[test]
fn one_module_cannot_use_up_the_room_of_the_others() {
    if !has_node() {
        return;
    }
    let greedy =
        "export default (pi) => { for (let i = 0; i < 256; i++) pi.on('context', () => {}); }";
    let project = project(&[("greedy.mjs", greedy, json!({})), ("guard.mjs", GUARD, json!({}))]);
    let response = fire(&project, "BeforeTool", &shell("rm -rf x"));
    assert_eq!(verdict(&response).0, "block", "{response}");
    assert!(warnings(&response).contains("it registers 256 handlers"), "{response}");
}

#[tokio::test]
async fn garbage_among_the_messages_breaks_the_process_and_its_guards_block() {
    if !has_node() {
        return;
    }
    for garbage in ["garbage\\n", "{\\\"type\\\": \\\"hook-ans\\n"] {
        let writes = format!(
            "import {{ writeSync }} from 'node:fs'; export default (pi) => \
             pi.on('session_start', () => {{ writeSync(3, \"{garbage}\"); }})"
        );
        let project =
            project(&[("writes.mjs", &writes, json!({})), ("guard.mjs", SLOW, json!({}))]);
        let system = project.system();
        let fire = async |event: &str, input: Value| {
            system.bus().request(HookExecutionRequest::new(event, fields(input))).await
        };
        let slow = fire("BeforeTool", shell("ls"));
        let wrong = async {
            while !project.path().join("called").exists() {
                tokio::task::yield_now().await;
            }
            fire("SessionStart", json!({"source": "startup"})).await
        };
        let (response, _) = futures::join!(slow, wrong);
        let failure = response.hooks[0].failure.as_ref().map(ToString::to_string);
        let failure = failure.unwrap_or_default();
        assert!(response.processed.is_blocking_decision(), "{garbage}: {response:?}");
        assert!(!failure.contains("time"), "{garbage}: {failure}");
        system.shutdown(std::time::Duration::ZERO).await;
        assert_eq!(project.processes(), []);
    }
}

/// A guard that never answers.
const SLOW: &str = "import { writeFileSync } from 'node:fs'; export default (pi) => \
    pi.on('tool_call', () => { writeFileSync('called', ''); return new Promise(() => {}); })";

#[test]
fn an_answer_that_is_no_plain_object_is_none() {
    if !has_node() {
        return;
    }
    for (value, why) in [
        ("new Error('no')", "an object of the class Error"),
        ("new Map([['block', true]])", "an object of the class Map"),
        ("new (class Answer { block = true })()", "an object of the class Answer"),
        ("({ get block() { return true; } })", "a getter"),
        ("Object.defineProperty({}, 'block', {value: true})", "hidden property"),
        ("({ block: true, toJSON: () => ({}) })", "`toJSON` of what it returned is a function"),
        ("Object.create({ block: true })", "no plain object"),
        ("new Proxy({ block: true }, {})", "a proxy"),
        ("({ block: true, reason: new Error('no') })", "`reason` of what it returned"),
        ("[{ block: true }]", "an array"),
        ("true", "a boolean"),
        ("(() => { const a = {}; a.a = a; return a; })()", "deeper than"),
        ("({ block: NaN })", "which JSON has no word for"),
        ("(() => { throw { toString() { throw 1; } }; })()", "cannot be read"),
    ] {
        let text = format!("export default (pi) => pi.on('tool_call', () => {value})");
        let project = project(&[("m.mjs", &text, json!({}))]);
        let response = fire(&project, "BeforeTool", &shell("ls"));
        let (decision, reason) = verdict(&response);
        assert!(decision == "block" && reason.contains(why), "{value}: {response}");
    }
}

#[test]
fn many_programs_and_messages_at_once_have_their_turns() {
    if !has_node() {
        return;
    }
    let text = "export default (pi) => pi.registerCommand('many', {handler: async () => { \
        const limits = [undefined, 0, -1, 'none', 60000.5, '60000', Infinity]; \
        const ran = await Promise.all(Array.from({length: 40}, (_, at) => \
            pi.exec('echo', [at], {timeout: limits[at % limits.length]}))); \
        return ran.map((it) => it.stdout.trim()).join(); }})";
    let project = project(&[("m.mjs", text, json!({}))]);
    let finished = run(&project, &["command", "--settings", "settings.json", "many"]);
    let expected: Vec<String> = (0..40).map(|it| it.to_string()).collect();
    assert_eq!(finished.stdout.trim(), expected.join(","), "{finished:?}");
}

#[test]
fn what_an_agent_offers_and_this_host_does_not_is_named() {
    if !has_node() {
        return;
    }
    for (text, what) in [
        (
            "export default (pi) => pi.typebox.Object({})",
            "`pi.typebox` is not offered by this host",
        ),
        (
            "export default (pi) => pi.on('tool_call', (_, ctx) => { ctx.ui.setWidget('a'); })",
            "`ctx.ui.setWidget` is not offered by this host",
        ),
        (
            "export default (pi) => pi.on('tool_call', (_, ctx) => ctx.shutdown())",
            "`ctx.shutdown` is not offered by this host",
        ),
    ] {
        let project = project(&[("m.mjs", text, json!({}))]);
        let response = fire(&project, "BeforeTool", &shell("ls"));
        let said = format!("{}{}", warnings(&response), verdict(&response).1);
        assert!(said.contains(what), "{text}: {response}");
    }
}

#[tokio::test]
async fn what_is_said_to_the_user_at_once_arrives_as_a_whole_and_in_its_order() {
    if !has_node() {
        return;
    }
    let text = "export default (pi) => pi.on('tool_call', (_, ctx) => { \
        for (let at = 0; at < 40; at++) ctx.ui.notify('note ' + at); })";
    let project = project(&[("m.mjs", text, json!({}))]);
    let mut served = Served::start(&project).await;
    let hello = json!({"type": "hook-hello", "hostServices": ["ui.confirm", "ui.notify"]});
    served.send(format!("{hello}\n")).await;
    served.send(format!("{}\n", request("BeforeTool", &shell("ls"), "c-1"))).await;
    let mut heard = Vec::new();
    let response = loop {
        let message = served.receive().await;
        if message["type"] == "hook-host-call" {
            heard.push(message["params"]["message"].clone());
            let id = &message["hostCallId"];
            let result = json!({"type": "hook-host-result", "hostCallId": id, "result": null});
            served.send(format!("{result}\n")).await;
        } else if message["type"] == "hook-execution-response" {
            break message;
        }
    };
    let expected: Vec<Value> = (0..40).map(|at| json!(format!("note {at}"))).collect();
    assert_eq!(heard, expected, "{response}");
    served.finish().await;
}

#[tokio::test]
async fn questions_that_are_open_keep_no_other_call_waiting() {
    if !has_node() {
        return;
    }
    let text = "export default (pi) => pi.on('tool_call', async (event, ctx) => { \
        if (event.input.command.startsWith('rm') && !(await ctx.ui.confirm('t', 'm'))) return {block: true}; })";
    let project = project(&[("m.mjs", text, json!({}))]);
    let mut served = Served::start(&project).await;
    let hello = json!({"type": "hook-hello", "hostServices": ["ui.confirm"]});
    served.send(format!("{hello}\n")).await;
    // More than may be called at once.
    for number in 0..70 {
        let id = format!("q-{number}");
        served.send(format!("{}\n", request("BeforeTool", &shell("rm x"), &id))).await;
    }
    let mut asked = 0;
    while asked < 70 {
        asked += usize::from(served.receive().await["type"] == "hook-host-call");
    }
    served.send(format!("{}\n", request("BeforeTool", &shell("ls"), "c-1"))).await;
    let response = served.receive().await;
    assert_eq!(
        (response["correlationId"].as_str(), verdict(&response).0),
        (Some("c-1"), "proceed")
    );
    served.finish().await;
}
