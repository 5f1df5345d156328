//! `hook schema`, and that schemas say what the engine does.

use std::fs;

use boon::{Compiler, Draft, SchemaIndex, Schemas};
use futures::{StreamExt, stream};
use hook_bus::{HookExecutionRequest, HookSystem};
use hook_protocol::{Events, HookEventName, HookOutput};
use hook_settings::HookSource;
use hook_settings::parse;
use hook_settings::schema::{Field, FieldKind};
use hook_tests::{Hook, Project, Served, fields, json, request, workspace};
use serde_json::{Map, Value, json};

const NAMES: [&str; 3] = ["settings", "messages", "payloads"];

fn schema(name: &str) -> Value {
    hook_bus::schema::named(name, &Events::built_in()).unwrap()
}

/// Whether a document is as its schema says.
pub(super) struct Validator {
    schemas: Schemas,
    index: SchemaIndex,
}

impl Validator {
    /// A schema that is one by its own schema.
    pub(super) fn new(schema: &Value) -> Self {
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        compiler.set_default_draft(Draft::V2020_12);
        compiler.add_resource("schema.json", schema.clone()).unwrap();
        let index = compiler.compile("schema.json", &mut schemas).unwrap();
        Self { schemas, index }
    }

    pub(super) fn is_valid(&self, value: &Value) -> bool {
        self.schemas.validate(value, self.index).is_ok()
    }

    #[track_caller]
    pub(super) fn assert_valid(&self, value: &Value) {
        if let Err(error) = self.schemas.validate(value, self.index) {
            panic!("{error:#}\n{value:#}");
        }
    }
}

/// The validator of something that a schema defines.
fn validator_of(schema: &Value, name: &str) -> Validator {
    Validator::new(&json!({"$ref": format!("#/$defs/{name}"), "$defs": schema["$defs"]}))
}

/// A schema that allows no field it does not name: what the engine writes has no others.
fn closed(mut schema: Value) -> Value {
    close(&mut schema);
    schema
}

fn close(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            if fields.contains_key("properties") && fields.contains_key("additionalProperties") {
                fields.insert("additionalProperties".to_owned(), json!(false));
            }
            // What hooks answered has any fields.
            fields.iter_mut().filter(|(name, _)| *name != "output").for_each(|(_, it)| close(it));
            if let Some(aggregated) =
                fields.get_mut("output").filter(|it| it["required"][0] == "success")
            {
                close(aggregated);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

#[test]
fn every_schema_is_printed_and_is_one() {
    let project = Project::new();
    let events = HookEventName::all().map(HookEventName::as_str);
    for name in NAMES.into_iter().chain(events) {
        let finished = Hook::new(&project, &["schema", name]).run();
        assert_eq!((finished.status, finished.stderr.as_str()), (0, ""));
        let printed: Value = serde_json::from_str(&finished.stdout).unwrap();
        assert_eq!(printed, schema(name));
        Validator::new(&printed);
        assert_eq!(Hook::new(&project, &["schema", name, "--json"]).run().stdout, finished.stdout);
    }
    let default = Hook::new(&project, &["schema"]).run().stdout;
    assert_eq!(default, Hook::new(&project, &["schema", "settings"]).run().stdout);
}

#[test]
fn a_schema_that_is_not_there_is_wrong_usage() {
    let project = Project::new();
    let finished = Hook::new(&project, &["schema", "BeforeTools"]).run();
    insta::assert_snapshot!(finished.shown(&project), @r#"
status: 64
----- stdout -----
----- stderr -----
error: there is no schema "BeforeTools"; did you mean BeforeTool?
"#);
    let finished = Hook::new(&project, &["schema", "xyzzy"]).run();
    insta::assert_snapshot!(finished.shown(&project), @r#"
status: 64
----- stdout -----
----- stderr -----
error: there is no schema "xyzzy"; name settings, messages, payloads or an event
"#);
}

#[test]
fn the_committed_schemas_are_those_of_the_engine() {
    let folder = workspace().join("docs/schema");
    for name in NAMES {
        let path = folder.join(format!("{name}.json"));
        let text = format!("{:#}\n", schema(name));
        if std::env::var_os("HOOK_GENERATE").is_some_and(|value| value == "1") {
            fs::create_dir_all(&folder).unwrap();
            fs::write(&path, text).unwrap();
            continue;
        }
        assert!(
            fs::read_to_string(&path).unwrap_or_default() == text,
            "{} is not what the engine says; rewrite it with HOOK_GENERATE=1 cargo test -p hook-tests \
             --test all cli::schema, and look at the difference",
            path.display()
        );
    }
}

fn settings_of_examples() -> Vec<Value> {
    let example = workspace().join("docs/examples/agent-session/.hooks/settings.json");
    let example = json(&fs::read(example).unwrap());
    let recorded =
        fs::read_to_string(workspace().join("tests/conformance/pipeline.jsonl")).unwrap();
    let recorded = recorded.lines().map(|line| json(line.as_bytes())["settings"].take());
    std::iter::once(example).chain(recorded).collect()
}

#[test]
fn settings_that_are_right_fit_the_schema() {
    let schema = Validator::new(&schema("settings"));
    for settings in settings_of_examples() {
        schema.assert_valid(&settings);
    }
    let named =
        json!({"$schema": "https://example.org/settings.json", "theme": "dark", "hooks": {}});
    schema.assert_valid(&named);
    let file = parse(&named.to_string(), HookSource::User, None);
    assert!(file.diagnostics.is_empty(), "{:?}", file.diagnostics);
}

/// Values of every kind, among them those that stand at a limit of some field.
fn values() -> Vec<Value> {
    vec![
        json!(null),
        json!(true),
        json!(0),
        json!(1),
        json!(-1),
        json!(1.5),
        json!(5000.0),
        json!(86_400_000),
        json!(86_400_001_u64),
        json!(""),
        json!(" "),
        json!("text"),
        json!("command"),
        json!("block"),
        json!("continue"),
        json!("BeforeTool"),
        json!("startup"),
        json!("exit"),
        json!("auto"),
        json!("allow"),
        json!("deny"),
        json!("genai"),
        json!("a\u{0}b"),
        json!("x".repeat(5_000)),
        json!([]),
        json!(["text"]),
        json!([1]),
        json!([null]),
        json!([{}]),
        json!({}),
        json!({"A": "b"}),
        json!({"A": 1}),
        json!({"A": null}),
        json!({"A=B": "c"}),
        json!({"": "c"}),
        json!({"A": "\u{0}"}),
        json!({"unknown": 1}),
        json!({"server_name": "s"}),
        json!({"server_name": 1}),
        json!({"server_name": "s", "server_uri": 1}),
        json!({"allow": ["A"], "deny": 1}),
        json!({"allow": ["A"], "deny": []}),
    ]
}

/// The value with each of [`values`] at each place of it, and with each field left out.
fn variants(value: &Value) -> Vec<Value> {
    let mut variants = values();
    match value {
        Value::Object(fields) => {
            for (name, inner) in fields {
                let with = |inner: Value| {
                    let mut fields = fields.clone();
                    fields.insert(name.clone(), inner);
                    Value::Object(fields)
                };
                variants.extend(self::variants(inner).into_iter().map(with));
                let mut without = fields.clone();
                without.shift_remove(name);
                variants.push(Value::Object(without));
            }
            let mut more = fields.clone();
            more.insert("unknown".to_owned(), json!(1));
            variants.push(Value::Object(more));
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                for variant in self::variants(item) {
                    let mut items = items.clone();
                    items[index] = variant;
                    variants.push(Value::Array(items));
                }
            }
        }
        _ => {}
    }
    variants
}

#[test]
fn the_schema_of_settings_knows_hooks_in_languages_of_agents() {
    let schema = Validator::new(&schema("settings"));
    let hook = json!({"type": "command", "command": "x", "shell": "bash"});
    let mut own = hook.clone();
    own["language"] = json!("claude");
    let settings = |event: &str, definition: Value| json!({"hooks": {event: [definition]}});
    for (event, definition, is_valid) in [
        ("PreToolUse", json!({"language": "claude", "matcher": "Bash", "hooks": [hook]}), true),
        ("SessionStart", json!({"language": "claude", "hooks": [hook]}), true),
        ("SessionStart", json!({"hooks": [own, {"type": "command", "command": "y"}]}), true),
        ("Stop", json!({"hooks": [own]}), true),
        ("stop", json!({"language": "cursor", "command": "x", "failBehavior": "block"}), true),
        // Files of the user define agents, too: `hook check` says which name is unknown.
        ("PreToolUse", json!({"language": "mine", "hooks": [hook]}), true),
        ("PreToolUse", json!({"language": "", "hooks": [hook]}), false),
        ("PreToolUse", json!({"language": 1, "hooks": [hook]}), false),
        ("PreToolUse", json!({"language": "claude", "failBehavior": "blok", "hooks": []}), false),
        ("PreToolUse", json!({"hooks": [hook]}), false),
        ("SessionStart", json!({"hooks": [hook]}), false),
    ] {
        let settings = settings(event, definition);
        assert_eq!(schema.is_valid(&settings), is_valid, "{settings}");
    }
}

#[test]
fn the_schema_of_settings_accepts_what_the_reader_accepts() {
    let schema = Validator::new(&schema("settings"));
    let hook = json!({"type": "command", "command": "true", "name": "n", "description": "d", "timeout": 5000,
        "failBehavior": "block", "env": {"A": "b"}});
    let config = json!({"enabled": true, "disabled": ["a"], "defaultTimeout": 5000, "failBehavior": "continue",
        "maxConcurrent": 3, "environment": {"allow": ["A"], "deny": ["B*"]}});
    let mut settings = vec![json!({"$schema": "s", "hooksConfig": config, "mine": 1})];
    for event in ["BeforeTool", "before_tool", "SessionStart", "BeforeAgent", "BeforeTools"] {
        settings.push(json!({"hooks": {event: [{"matcher": "startup", "sequential": true, "hooks": [hook]}]}}));
    }
    let mut counts = [0, 0];
    for variant in settings.iter().flat_map(variants) {
        // `null` is absence, also of a key that nobody knows; a schema that said so would say only
        // that to whoever misspelt one.
        let text = variant.to_string();
        let unknown = [r#""A":null"#, r#""BeforeTools":null"#];
        let elsewhere = text.replace(r#""env":{"A":null}"#, "");
        if unknown.into_iter().any(|unknown| elsewhere.contains(unknown)) {
            continue;
        }
        let file = parse(&text, HookSource::User, None);
        let accepted = file.diagnostics.is_empty();
        assert_eq!(schema.is_valid(&variant), accepted, "{variant}: {:?}", file.diagnostics);
        counts[usize::from(accepted)] += 1;
    }
    assert!(counts[0] > 1_000 && counts[1] > 100, "{counts:?}");
}

/// An input that has every field of its event.
fn input(event: HookEventName) -> Value {
    let request = json!({"model": "m", "messages": [{"role": "user", "content": "hi"}]});
    let response = json!({"text": "hi", "candidates": [{"content": {"role": "model", "parts": ["hi"]},
        "finishReason": "STOP", "index": 0}], "usageMetadata": {"totalTokenCount": 3}});
    let tool = json!({"tool_name": "t", "tool_input": {"a": 1}, "mcp_context": {"server_name": "s", "server_uri": "u"}});
    let mut input = match event.as_str() {
        "BeforeTool" => tool,
        "AfterTool" => {
            let mut tool = tool;
            tool["tool_response"] = json!({"llmContent": "x"});
            tool
        }
        "BeforeAgent" => json!({"prompt": "p"}),
        "AfterAgent" => json!({"prompt": "p", "prompt_response": "r", "stop_hook_active": false}),
        "SessionStart" => json!({"source": "startup"}),
        "SessionEnd" => json!({"reason": "exit"}),
        "PreCompress" => json!({"trigger": "auto"}),
        "BeforeModel" => json!({"llm_request": request, "sdk": "stable"}),
        "AfterModel" => json!({"llm_request": request, "llm_response": response, "sdk": "stable"}),
        "BeforeToolSelection" => {
            json!({"llm_request": request, "available_tools": ["t"], "sdk": "stable"})
        }
        "Notification" => {
            json!({"message": "m", "notification_type": "n", "details": {"d": 1}, "level": "l"})
        }
        _ => {
            let field = |field: &Field| (field.name.to_owned(), example_of(&field.kind));
            event.row().fields.iter().map(field).collect()
        }
    };
    for (name, value) in
        [("session_id", "s"), ("cwd", "/"), ("transcript_path", "t"), ("timestamp", "now")]
    {
        input[name] = json!(value);
    }
    input
}

/// A value of that kind.
fn example_of(kind: &FieldKind) -> Value {
    match kind {
        FieldKind::Any | FieldKind::Text | FieldKind::NonEmpty(_) => json!("t"),
        FieldKind::Bool => json!(true),
        FieldKind::Number => json!(1.5),
        FieldKind::Unsigned(..) | FieldKind::Integer(..) => json!(7),
        FieldKind::OneOf(words) => json!(words[0]),
        FieldKind::List | FieldKind::ListOf(_) => json!(["t"]),
        FieldKind::AnyObject => json!({"k": "v"}),
        other => panic!("a value of {other:?} is wanted here"),
    }
}

#[tokio::test]
async fn the_schema_of_requests_accepts_what_the_engine_accepts() {
    let schema = validator_of(&schema("messages"), "request");
    let system = HookSystem::builder(Project::new().path()).build().unwrap();
    let mut counts = [0, 0];
    for event in HookEventName::all() {
        let mut message = request(event.as_str(), &input(event), "c");
        message["deadlineMs"] = json!(60_000);
        message["streams"] = json!(false);
        // What is inside of a model payload is the SDK's.
        let opaque = ["llm_request", "llm_response", "tool_input", "tool_response", "details"];
        for name in opaque {
            if let Some(inner) = message["input"].get_mut(name) {
                *inner = json!({});
            }
        }
        for variant in variants(&message) {
            if variant
                .get("deadlineMs")
                .and_then(Value::as_u64)
                .is_some_and(|deadline| deadline < 1_000)
            {
                continue;
            }
            // An `sdk` is only looked at where a hook matches.
            let sdk = variant["input"].get("sdk");
            if sdk.is_some_and(|sdk| !matches!(sdk.as_str(), Some("genai" | "stable"))) {
                continue;
            }
            // Whether an event of another name was declared is not for the schema to say.
            let event = variant.get("eventName").and_then(Value::as_str);
            if event.is_some_and(|name| HookEventName::from_name(name).is_none()) {
                continue;
            }
            let asked = HookExecutionRequest::from_json(&variant.to_string());
            let response = system.bus().request(asked).await;
            let accepted = response.error().is_none();
            assert_eq!(schema.is_valid(&variant), accepted, "{variant}: {:?}", response.error());
            counts[usize::from(accepted)] += 1;
        }
        let mut older = request(event.as_str(), &json!({}), "c");
        older["payload"] = input(event);
        older.as_object_mut().unwrap().shift_remove("input");
        for (name, alias) in [("llm_request", "model_request"), ("llm_response", "model_response")]
        {
            if let Some(value) = older["payload"].as_object_mut().unwrap().shift_remove(name) {
                older["payload"][alias] = value;
            }
        }
        schema.assert_valid(&older);
        assert!(
            system
                .bus()
                .request(HookExecutionRequest::from_json(&older.to_string()))
                .await
                .success()
        );
    }
    assert!(counts[0] > 1_000 && counts[1] > 500, "{counts:?}");
}

#[test]
fn the_schema_of_answers_accepts_what_is_read_without_a_warning() {
    let specific: Map<String, Value> = [
        ("hookEventName", json!("BeforeTool")),
        ("additionalContext", json!("a")),
        ("permissionDecision", json!("deny")),
        ("permissionDecisionReason", json!("r")),
        ("tool_input", json!({})),
        ("llm_request", json!({})),
        ("llm_response", json!({})),
        ("toolConfig", json!({})),
        ("clearContext", json!(true)),
        ("tool_response", json!({"llmContent": "t"})),
        ("message", json!({"customType": "c", "content": "t", "display": true})),
        ("messages", json!([])),
        ("env", json!({"NAME": "value"})),
        ("cancel", json!(false)),
        ("compaction", json!({})),
        ("context", json!(["t"])),
        ("prompt", json!("p")),
        ("preserveData", json!({})),
        ("skipConversationRestore", json!(true)),
        ("summary", json!({"summary": "s"})),
        ("text", json!("t")),
        ("toolInputReplaces", json!(true)),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect();
    let payloads = schema("payloads");
    let mut known = 0;
    for event in HookEventName::all() {
        let name = format!("{event}Output");
        let schema = validator_of(&payloads, &name);
        // What the event does not act on is not described.
        let described = &payloads["$defs"][&name]["properties"]["hookSpecificOutput"]["properties"];
        let mut specific = specific.clone();
        specific.retain(|name, _| described.get(name).is_some());
        assert_eq!(described.as_object().unwrap().len(), specific.len());
        known += specific.len();
        let answer = json!({"continue": true, "stopReason": "s", "suppressOutput": false, "systemMessage": "m",
            "decision": "deny", "reason": "r", "retryAfterMs": 5, "skipRemaining": true,
            "hookSpecificOutput": specific});
        for variant in variants(&answer).into_iter().filter(Value::is_object) {
            let mut warnings = Vec::new();
            HookOutput::read(fields(variant.clone()), &mut warnings);
            assert_eq!(
                schema.is_valid(&variant),
                warnings.is_empty(),
                "{event} {variant}: {warnings:?}"
            );
        }
    }
    let own: usize = HookEventName::all().map(|event| event.row().answers.len()).sum();
    assert_eq!(known, 2 * HookEventName::COUNT + own);
}

#[tokio::test]
async fn every_payload_that_a_hook_reads_fits_its_schema() {
    let hook = json!([{"hooks": [{"type": "command", "command": "cat >> seen; echo >> seen"}]}]);
    let hooks: Map<String, Value> =
        HookEventName::all().map(|event| (event.as_str().to_owned(), hook.clone())).collect();
    let project = Project::with_settings(&json!({"hooks": hooks}));
    let system = project.system();
    let payloads = closed(schema("payloads"));
    let conversation = json!({"model": "m", "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
        "config": {"temperature": 0.5, "tools": []}});
    let answered = json!({"candidates": [{"content": {"role": "model", "parts": [{"text": "hi"}]},
        "finishReason": "STOP", "index": 0, "safetyRatings": [{"category": "c", "probability": "LOW", "blocked": false}]}],
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 2, "totalTokenCount": 3}});
    for event in HookEventName::all() {
        let mut inputs = vec![input(event)];
        for base in ["cwd", "session_id", "transcript_path", "timestamp"] {
            inputs[0].as_object_mut().unwrap().shift_remove(base);
        }
        if inputs[0].get("llm_request").is_some() {
            let mut of_sdk = inputs[0].clone();
            of_sdk["sdk"] = json!("genai");
            of_sdk["llm_request"] = conversation.clone();
            if of_sdk.get("llm_response").is_some() {
                of_sdk["llm_response"] = answered.clone();
            }
            inputs.push(of_sdk);
        }
        for name in ["mcp_context", "notification_type", "details", "level", "available_tools"] {
            let mut without = inputs[0].clone();
            if without.as_object_mut().unwrap().shift_remove(name).is_some() {
                inputs.push(without);
            }
        }
        let count = inputs.len();
        for input in inputs {
            let asked = HookExecutionRequest::new(event.as_str(), fields(input));
            let response = system.bus().request(asked).await;
            assert!(response.success() && response.hooks[0].success, "{response:?}");
        }
        let seen = project.read("seen");
        assert_eq!(seen.lines().count(), count);
        let of_all = Validator::new(&payloads);
        let of_event = Validator::new(&closed(schema(event.as_str())));
        for line in seen.lines() {
            of_event.assert_valid(&json(line.as_bytes()));
            assert!(of_all.is_valid(&json(line.as_bytes())), "{line}");
        }
        fs::remove_file(project.path().join("seen")).unwrap();
    }
}

/// Hooks that end in every way there is.
fn many_ends() -> Value {
    let command = |command: &str| json!({"type": "command", "command": command, "name": command});
    let hooks = [
        "true",
        "echo plain",
        "echo no >&2; exit 2",
        "exit 7",
        "echo odd >&2; exit 3",
        "kill -9 $$",
        r#"echo '{"decision":"maybe","mine":[1],"hookSpecificOutput":{"tool_input":{"a":2},"mine":1}}'"#,
        r#"echo '{"continue":false,"stopReason":"enough","systemMessage":"m","suppressOutput":true}'"#,
        r#"echo '{"hookSpecificOutput":{"additionalContext":"c","permissionDecision":"ask"}}'"#,
        "head -c 5000000 /dev/zero",
    ];
    let slow = json!({"type": "command", "command": "sleep 1000", "timeout": 100, "failBehavior": "block"});
    let hooks: Vec<Value> = hooks.into_iter().map(command).chain([slow]).collect();
    json!({"hooks": {"BeforeTool": [{"hooks": hooks}]}})
}

#[tokio::test]
async fn every_message_of_a_server_fits_the_schema() {
    let project = Project::with_settings(&many_ends());
    let messages = schema("messages");
    let (client, engine) =
        (validator_of(&messages, "client"), validator_of(&closed(messages.clone()), "engine"));
    let either = Validator::new(&messages);
    let call = |id: &str| request("BeforeTool", &json!({"tool_name": "t", "tool_input": {}}), id);
    let mut streams = call("streams");
    streams["streams"] = json!(true);
    streams["inputs"] = json!(true);
    let mut hurried = call("hurried");
    hurried["deadlineMs"] = json!(1);
    let sent = [
        json!({"type": "hook-subscribe"}),
        json!({"type": "hook-tail"}),
        json!({"type": "hook-audit", "level": "verbose"}),
        call("plain"),
        streams,
        hurried,
        call("cancelled"),
        json!({"type": "hook-cancel", "correlationId": "cancelled"}),
        json!({"type": "hook-reload"}),
        request("SessionEnd", &json!({"reason": "exit"}), "no hook"),
        json!({"type": "hook-trigger", "triggerId": "t", "trigger": "prompt", "deadlineMs": 600_000,
            "call": {"prompt": "p"}, "session": {"session_id": "s", "maxContinuations": 3}}),
        json!({"type": "hook-trigger-chunk", "triggerId": "u", "chunk": {}}),
        json!({"type": "hook-trigger-cancel", "triggerId": "u"}),
    ];
    let mut served = Served::start(&project).await;
    for message in &sent {
        client.assert_valid(message);
        served.send(format!("{message}\n")).await;
    }
    for broken in [
        json!({"type": "hook-cancel"}),
        json!({"type": "hook-audit", "level": "loud"}),
        json!({"type": "hook-audit"}),
        request("Before Tools", &json!({}), "no event"),
        request("BeforeTool", &json!({"tool_name": ""}), "no payload"),
        json!({"type": "hook-trigger", "triggerId": "v", "trigger": "tea", "call": {}}),
    ] {
        assert!(!client.is_valid(&broken), "{broken}");
        served.send(format!("{broken}\n")).await;
    }
    served.send("nonsense\n").await;
    let (received, status) = served.finish().await;
    assert_eq!(status, Some(0));
    let mut kinds = std::collections::BTreeSet::new();
    for message in &received {
        engine.assert_valid(message);
        assert!(either.is_valid(message));
        // The lines of a recording have no type, but for the first.
        kinds.insert(message["type"].as_str().unwrap_or("line"));
    }
    let expected = [
        "hook-audit",
        "hook-execution-response",
        "hook-finished",
        "hook-recording",
        "hook-reloaded",
        "hook-started",
        "hook-trigger-result",
        "line",
    ];
    assert_eq!(kinds, expected.into());
    assert_eq!(received.iter().filter(|it| it["type"] == "hook-execution-response").count(), 11);
    // The greeting is read by whoever starts the server; what was missed, by one who does not read.
    let hello = Hook::new(&project, &["serve", "--stdio", "--settings=settings.json"]).run();
    engine.assert_valid(&hello.lines()[0]);
    engine.assert_valid(&json!({"type": "hook-lagged", "missed": 12}));
    engine.assert_valid(&json!({"at": 7, "missed": 12}));
    engine.assert_valid(&json!({"at": 7, "request": 1, "message": {}, "withheld": "why"}));
    engine.assert_valid(&json!({"type": "hook-refused", "message": "full"}));
    engine.assert_valid(&json!({"type": "hook-host-call", "hostCallId": "1", "triggerId": "t",
        "method": "tool.run", "params": {"tool_input": {}}}));
    engine.assert_valid(&json!({"type": "hook-trigger-chunk", "triggerId": "t", "chunk": {}}));
    engine.assert_valid(&json!({"type": "hook-trigger-chunk", "triggerId": "t", "complete": {}}));
}

#[tokio::test]
async fn every_recorded_answer_fits_the_schema() {
    let messages = schema("messages");
    let (engine, client) =
        (validator_of(&closed(messages.clone()), "engine"), validator_of(&messages, "client"));
    let recorded =
        fs::read_to_string(workspace().join("tests/conformance/pipeline.jsonl")).unwrap();
    let cases: Vec<Value> = recorded.lines().map(|line| json(line.as_bytes())).step_by(4).collect();
    let ask = |case: Value| async move {
        let project = Project::with_settings(&case["settings"]);
        let asked = request(case["event"].as_str().unwrap(), &case["input"], "c");
        let system = project.system();
        let mut progress = system.bus().subscribe::<hook_bus::message::HookProgress>();
        let response =
            system.bus().request(HookExecutionRequest::from_json(&asked.to_string())).await;
        let mut said = vec![json(&response.to_json())];
        system.shutdown(std::time::Duration::from_secs(5)).await;
        drop(system);
        while let Some(Some(Ok(message))) = futures::FutureExt::now_or_never(progress.next()) {
            said.push(json(&message.to_json()));
        }
        (asked, said)
    };
    let mut answers = stream::iter(cases).map(ask).buffer_unordered(8);
    while let Some((asked, said)) = answers.next().await {
        client.assert_valid(&asked);
        said.iter().for_each(|message| engine.assert_valid(message));
    }
}

#[test]
fn requests_of_the_example_fit_the_schema() {
    let client = validator_of(&schema("messages"), "client");
    let session = workspace().join("docs/examples/agent-session/session.jsonl");
    let mut broken = Vec::new();
    for line in fs::read_to_string(session).unwrap().lines() {
        let message = json(line.as_bytes());
        if !client.is_valid(&message) {
            broken.push(message["correlationId"].as_str().unwrap_or(line).to_owned());
        }
    }
    insta::assert_snapshot!(broken.join("\n"), @r#"
16-invalid-source
17-invalid-and-guarded
"#);
}
