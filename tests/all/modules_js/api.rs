//! What modules are given, `pi` and `ctx`, with a user and without one.

use hook_bus::module::{RenderOptions, StyledLine};
use hook_json::RawObject;
use hook_tests::{Project, request};
use serde_json::{Value, json};

use super::host::{asked_for, conversation};
use super::{fire, has_node, project, shell, verdict};

/// A module whose handler of `tool_call` answers with what this gives, as JSON.
fn telling(body: &str) -> Project {
    let text = format!(
        "export default (pi) => pi.on('tool_call', async (event, ctx) => {{
            const tell = async () => {{ {body} }};
            return {{ block: true, reason: JSON.stringify(await tell()) }};
        }});"
    );
    project(&[("m.mjs", &text, json!({}))])
}

fn told(response: &Value) -> Value {
    let (decision, reason) = verdict(response);
    assert_eq!(decision, "block", "{response}");
    serde_json::from_str(reason).unwrap_or_else(|_| panic!("{response}"))
}

fn tool_call() -> Value {
    request("BeforeTool", &shell("ls"), "c-1")
}

/// Each entry of `ctx.ui`; `undefined` is a text, since JSON has none.
const ALL_OF_UI: &str = "const ui = ctx.ui;
    const said = (value) => value === undefined ? 'undefined' : value;
    return {
        hasUI: ctx.hasUI,
        select: said(await ui.select('Which?', ['a', 'b'])),
        confirm: said(await ui.confirm('Sure?', 'Really')),
        input: said(await ui.input('Name?', 'me')),
        editor: said(await ui.editor('Text?', 'draft')),
        notify: said(ui.notify('Look', 'warning')),
        setStatus: said(ui.setStatus('key', 'text')),
        before: ui.getEditorText(),
        setEditorText: said(ui.setEditorText('after')),
        getEditorText: ui.getEditorText(),
        custom: said(await ui.custom((tui, theme, done) => ({
            render: (width) => ['Pick', theme.bold(String(width))], handleInput: (key) => key === 'x' && done('chosen'),
        }))),
        theme: [ui.theme.fg('accent', 'a'), ui.theme.bg('accent', 'b'), ui.theme.bold('c'), ui.theme.dim('d'),
            ui.theme.italic('e'), ui.theme.underline('f'), ui.theme.inverse('g'), ui.theme.strikethrough('h')].join(''),
    };";

#[test]
fn without_a_user_each_part_of_the_ui_gives_what_the_table_says() {
    if !has_node() {
        return;
    }
    let response = fire(&telling(ALL_OF_UI), "BeforeTool", &shell("ls"));
    let expected = json!({
        "hasUI": false, "select": "undefined", "confirm": false, "input": "undefined", "editor": "undefined",
        "notify": "undefined", "setStatus": "undefined", "before": "", "setEditorText": "undefined",
        "getEditorText": "", "custom": "undefined", "theme": "abcdefgh",
    });
    assert_eq!(told(&response), expected);
    assert_eq!(response["warnings"], Value::Null, "{response}");
}

#[tokio::test]
async fn a_host_without_a_user_is_asked_nothing_of_the_ui() {
    if !has_node() {
        return;
    }
    let services = json!({"session.get": {}});
    let (response, asked) = conversation(&telling(ALL_OF_UI), &services, &tool_call()).await;
    assert_eq!(told(&response)["confirm"], false);
    let methods: Vec<&Value> = asked.iter().map(|it| &it["method"]).collect();
    assert_eq!(methods, ["session.get"]);
}

#[tokio::test]
async fn with_a_user_each_part_of_the_ui_reaches_them_and_the_editors_text_is_what_was_set() {
    if !has_node() {
        return;
    }
    let services = json!({
        "session.get": {}, "ui.select": "b", "ui.confirm": true, "ui.input": "you", "ui.editor": "done",
        "ui.notify": null, "ui.setStatus": null, "ui.setEditorText": null, "ui.getEditorText": "before",
        "ui.custom": "x",
    });
    let (response, asked) = conversation(&telling(ALL_OF_UI), &services, &tool_call()).await;
    let expected = json!({
        "hasUI": true, "select": "b", "confirm": true, "input": "you", "editor": "done",
        "notify": "undefined", "setStatus": "undefined", "before": "before", "setEditorText": "undefined",
        "getEditorText": "after", "custom": "chosen", "theme": "abcdefgh",
    });
    assert_eq!(told(&response), expected);
    for (method, params) in [
        ("ui.select", json!({"title": "Which?", "options": ["a", "b"]})),
        ("ui.confirm", json!({"title": "Sure?", "message": "Really"})),
        ("ui.input", json!({"title": "Name?", "placeholder": "me"})),
        ("ui.editor", json!({"title": "Text?", "prefill": "draft"})),
        ("ui.notify", json!({"message": "Look", "type": "warning"})),
        ("ui.setStatus", json!({"key": "key", "text": "text"})),
        ("ui.setEditorText", json!({"text": "after"})),
        ("ui.custom", json!({"lines": ["Pick", "80"]})),
    ] {
        assert_eq!(asked_for(&asked, method), [params], "{method}");
    }
}

#[tokio::test]
async fn messages_and_entries_are_for_the_time_after_loading_and_reach_the_host() {
    if !has_node() {
        return;
    }
    let text = "const message = { customType: 'note', content: 'hi', display: true };
        export default async (pi) => {
            const early = [];
            const tries = () => {
                for (const what of [() => pi.sendMessage(message), () => pi.appendEntry('kept', 1)]) {
                    try { what(); early.push('nothing was thrown'); } catch (error) { early.push(error.message); }
                }
            };
            tries();
            await new Promise((done) => setTimeout(done, 1));
            tries();
            pi.on('tool_call', () => {
                pi.sendMessage(message, { triggerTurn: true, deliverAs: 'followUp' });
                pi.sendMessage(message, null);
                pi.sendMessage(message);
                pi.appendEntry('kept', { count: 2 });
                pi.appendEntry('empty');
                return { block: true, reason: JSON.stringify(early) };
            });
        };";
    let project = project(&[("m.mjs", text, json!({}))]);
    let services = json!({"session.sendMessage": null, "session.appendEntry": null});
    let (response, asked) = conversation(&project, &services, &tool_call()).await;
    let early = |what: &str| {
        format!("{what} is possible only once all modules are loaded: call it in a handler")
    };
    let early = [early("sendMessage"), early("appendEntry")];
    assert_eq!(told(&response), json!([&early[..], &early[..]].concat()));
    let message = json!({"customType": "note", "content": "hi", "display": true});
    let plain = json!({"message": message});
    let whole = json!({"message": message, "triggerTurn": true, "deliverAs": "followUp"});
    assert_eq!(asked_for(&asked, "session.sendMessage"), [whole, plain.clone(), plain]);
    let entries =
        [json!({"customType": "kept", "data": {"count": 2}}), json!({"customType": "empty"})];
    assert_eq!(asked_for(&asked, "session.appendEntry"), entries);
}

const SESSION: &str = "const it = ctx.sessionManager;
    const said = (value) => value === undefined ? 'undefined' : value;
    const ids = (entries) => entries.map(({ id }) => id);
    const tree = (nodes) => nodes.map(({ entry, children }) => [entry.id, ...tree(children)]);
    ctx.abort();
    return {
        idle: ctx.isIdle(), queued: ctx.hasQueuedMessages(), model: said(ctx.model),
        cwd: it.getCwd(), id: said(it.getSessionId()), file: said(it.getSessionFile()), dir: said(it.getSessionDir()),
        name: said(it.getSessionName()), header: it.getHeader(), entries: ids(it.getEntries()),
        entry: said(it.getEntry('e2')?.text), none: said(it.getEntry('e9')), leaf: it.getLeafId(),
        leafEntry: said(it.getLeafEntry()?.id), label: said(it.getLabel('e2')), unlabelled: said(it.getLabel('e1')),
        branch: ids(it.getBranch()), other: ids(it.getBranch('e3')), nowhere: ids(it.getBranch('e9')), tree: tree(it.getTree()),
    };";

#[tokio::test]
async fn the_session_is_what_the_host_said_of_it() {
    if !has_node() {
        return;
    }
    let session = json!({
        "isIdle": false, "hasQueuedMessages": true, "model": {"id": "m"}, "sessionId": "s-1", "sessionFile": "/s/1.jsonl",
        "sessionDir": "/s", "sessionName": "first", "cwd": "/there", "header": {"version": 3}, "leafId": "l2",
        "entries": [
            {"id": "e1", "type": "message", "parentId": null},
            {"id": "e2", "type": "message", "parentId": "e1", "text": "two"},
            {"id": "e3", "type": "message", "parentId": "e1"},
            {"id": "l1", "type": "label", "parentId": "e2", "targetId": "e2", "label": "before"},
            {"id": "l2", "type": "label", "parentId": "l1", "targetId": "e2", "label": "now"},
            {"id": "e4", "type": "message", "parentId": "gone"},
        ],
    });
    let services = json!({"session.get": session, "session.abort": null});
    let (response, asked) = conversation(&telling(SESSION), &services, &tool_call()).await;
    let expected = json!({
        "idle": false, "queued": true, "model": {"id": "m"}, "cwd": "/there", "id": "s-1", "file": "/s/1.jsonl", "dir": "/s",
        "name": "first", "header": {"version": 3}, "entries": ["e1", "e2", "e3", "l1", "l2", "e4"],
        "entry": "two", "none": "undefined", "leaf": "l2", "leafEntry": "l2", "label": "now", "unlabelled": "undefined",
        "branch": ["e1", "e2", "l1", "l2"], "other": ["e1", "e3"], "nowhere": [],
        "tree": [["e1", ["e2", ["l1", ["l2"]]], ["e3"]], ["e4"]],
    });
    assert_eq!(told(&response), expected);
    assert_eq!(asked_for(&asked, "session.abort"), [json!({})]);
}

#[test]
fn where_the_host_says_nothing_of_the_session_it_is_idle_and_empty() {
    if !has_node() {
        return;
    }
    let project = telling(SESSION);
    let mut input = shell("ls");
    input["session_id"] = json!("s-2");
    let response = fire(&project, "BeforeTool", &input);
    let mut said = told(&response);
    let cwd = said.as_object_mut().unwrap().remove("cwd").unwrap();
    assert_eq!(cwd, json!(project.path()));
    let expected = json!({
        "idle": true, "queued": false, "model": "undefined", "id": "s-2", "file": "undefined", "dir": "undefined",
        "name": "undefined", "header": null, "entries": [], "entry": "undefined", "none": "undefined", "leaf": null,
        "leafEntry": "undefined", "label": "undefined", "unlabelled": "undefined", "branch": [], "other": [], "nowhere": [],
        "tree": [],
    });
    assert_eq!(said, expected);
}

#[tokio::test]
async fn commands_change_the_session_by_its_host() {
    if !has_node() {
        return;
    }
    let text = "export default (pi) => pi.registerCommand('go', { handler: async (_, ctx) => {
        await ctx.waitForIdle();
        const done = [
            await ctx.branch('e1'), await ctx.navigateTree('e2'), await ctx.navigateTree('e3', { summarize: true }),
            await ctx.navigateTree('e4', null), await ctx.newSession(), await ctx.newSession(null),
            await ctx.newSession({ parentSession: '/s', setup: async (session) => {
                session.appendMessage({ role: 'user', content: 'u' });
                session.appendCustomEntry('kept', 1);
                session.appendCustomMessageEntry('note', 'n', true, { d: 1 });
            } }),
        ];
        return done.map(({ cancelled }) => cancelled).join();
    } });";
    let project = project(&[("m.mjs", text, json!({}))]);
    let services = json!({"session.waitForIdle": null, "session.branch": {"cancelled": true},
        "session.navigateTree": {"cancelled": false}, "session.new": {"cancelled": true}});
    let command = request("Command", &json!({"command_name": "go", "arguments": ""}), "c-1");
    let (response, asked) = conversation(&project, &services, &command).await;
    assert!(response.to_string().contains("true,false,false,false,true,true,true"), "{response}");
    assert_eq!(asked_for(&asked, "session.waitForIdle"), [json!({})]);
    assert_eq!(asked_for(&asked, "session.branch"), [json!({"entryId": "e1"})]);
    let target = |id: &str, summarize: bool| json!({"targetId": id, "summarize": summarize});
    let targets = [target("e2", false), target("e3", true), target("e4", false)];
    assert_eq!(asked_for(&asked, "session.navigateTree"), targets);
    let setup = json!([
        {"message": {"role": "user", "content": "u"}},
        {"customType": "kept", "data": 1},
        {"message": {"role": "custom", "customType": "note", "content": "n", "display": true, "details": {"d": 1}}},
    ]);
    let (empty, whole) = (json!({"setup": []}), json!({"parentSession": "/s", "setup": setup}));
    assert_eq!(asked_for(&asked, "session.new"), [empty.clone(), empty, whole]);
}

#[tokio::test]
async fn of_two_renderers_of_a_type_the_first_is_the_one() {
    if !has_node() {
        return;
    }
    let one = "export default (pi) => {
        pi.registerMessageRenderer('note', () => ['first']);
        pi.registerMessageRenderer('note', () => ['second']);
    }";
    let two = "export default (pi) => {
        pi.registerMessageRenderer('note', () => ['third']);
        pi.registerMessageRenderer('own', () => ['own']);
    }";
    let project = project(&[("one.mjs", one, json!({})), ("two.mjs", two, json!({}))]);
    let system = project.system();
    system.initialize().await.unwrap();
    system.load_modules().await.unwrap();
    for (name, expected) in [("note", "first"), ("own", "own")] {
        let (empty, options) = (RawObject::empty(), RenderOptions::new(80, false));
        let lines = system.render_message(name, &empty, options).await.unwrap().unwrap();
        assert_eq!(lines, [StyledLine::from(expected)]);
    }
    system.shutdown(std::time::Duration::ZERO).await;
}

#[test]
fn options_that_are_null_are_none_and_a_signal_counts_whenever_it_comes() {
    if !has_node() {
        return;
    }
    let project = telling(
        "const said = async (options, ...args) => pi.exec('echo', ...args, options);
        const before = new AbortController();
        before.abort();
        const after = new AbortController();
        const running = pi.exec('sleep', ['1000'], { signal: after.signal });
        after.abort();
        const never = await pi.exec('touch', ['never'], { signal: before.signal });
        return [await said(null, ['a']), await said(undefined, null), never, await running];",
    );
    let response = fire(&project, "BeforeTool", &shell("ls"));
    let done = |stdout: &str| json!({"stdout": stdout, "stderr": "", "code": 0, "killed": false});
    let ended = json!({"stdout": "", "stderr": "", "code": 143, "killed": true});
    assert_eq!(told(&response), json!([done("a\n"), done("\n"), ended, ended]));
    assert!(!project.path().join("never").exists());
    assert_eq!(project.processes(), []);
}
