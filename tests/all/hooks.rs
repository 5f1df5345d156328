//! What docs/reference promises to hook scripts: input, environment, directory, chaining, identity,
//! who may switch what off, model payloads.

use std::fs;
use std::time::{Duration, Instant};

use hook_bus::{HookExecutionRequest, HookExecutionResponse, HookSystem};
use hook_protocol::{
    BeforeAgentInput, HookEventName, HookOutput, NotificationInput, RequestInput,
    event::output::{BeforeModelOutput, BeforeToolOutput, BeforeToolSelectionOutput},
};
use hook_run::{HandlerHook, RunnerLimits};
use hook_settings::{HookSource, SettingsSource};
use hook_tests::{Project, fields, json, object, value};
use hook_trust::{TrustPolicy, TrustStore};
use serde_json::{Value, json};

async fn fire(system: &HookSystem, event: &str, input: Value) -> HookExecutionResponse {
    system.bus().request(HookExecutionRequest::new(event, fields(input))).await
}

fn command(name: &str, command: &str) -> Value {
    json!({"type": "command", "name": name, "command": command})
}

fn settings(event: &str, sequential: bool, hooks: &[Value]) -> Value {
    json!({"hooks": {event: [{"sequential": sequential, "hooks": hooks}]}})
}

#[tokio::test]
async fn a_script_reads_base_fields_payload_and_unknown_fields() {
    let project = Project::with_hook("BeforeTool", "pwd > \"$HOOK_PROJECT_DIR\"/where; cat");
    project.write("inner/.keep", "");
    let inner = project.path().join("inner");
    let input = json!({"tool_name": "t", "tool_input": {"a": 1}, "later": {"b": [2]}});
    let system = project.builder().working_directory(&inner).build().unwrap();
    let response = fire(&system, "BeforeTool", input).await;
    let told = value(response.processed.aggregated.all_outputs[0].to_raw().as_raw());
    assert_eq!(told["session_id"], "test");
    assert_eq!(told["transcript_path"], "");
    assert_eq!(told["cwd"], json!(inner), "the working directory, which is not the project's");
    assert_eq!(project.read("where").trim_end(), inner.to_str().unwrap(), "and it runs there");
    assert_eq!(told["hook_event_name"], "BeforeTool");
    assert!(told["timestamp"].as_str().unwrap().ends_with('Z'));
    assert_eq!(told["later"], json!({"b": [2]}));
}

#[tokio::test]
async fn what_the_engine_does_not_interpret_passes_byte_for_byte_however_deep() {
    let project = Project::with_hook("AfterTool", "cat > told; echo '{}'");
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let text = format!(
        r#"{{"type":"hook-execution-request","eventName":"AfterTool","input":{{"tool_name":"t","tool_input":{{ "n" : 1.0e0 }},"tool_response":{deep},"x":"\ud800"}}}}"#
    );
    let system = project.system();
    let response = system.bus().request(HookExecutionRequest::from_json(&text)).await;
    assert!(response.success(), "{:?}", response.error());
    let told = project.read("told");
    assert!(told.contains(&deep) && told.contains(r#"{ "n" : 1.0e0 }"#));
    assert!(told.contains(r#""x":"\ud800""#));
}

#[tokio::test]
async fn the_environment_says_where_and_what_and_carries_no_payload() {
    let project = Project::with_settings(&json!({
        "hooksConfig": {"environment": {"deny": ["SECRET_*"], "allow": ["SECRET_BUT_FINE"]}},
        "hooks": {"BeforeAgent": [{"hooks": [{"type": "command", "command": "env > seen",
            "env": {"OWN": "value"}}]}]}}));
    let host = [
        ("PATH", std::env::var("PATH").unwrap()),
        ("SECRET_KEY", "x".into()),
        ("SECRET_BUT_FINE", "y".into()),
        ("BASH_ENV", "/tmp/evil".into()),
        ("SHELLOPTS", "xtrace".into()),
        ("BASH_FUNC_cat%%", "() { echo evil; }".into()),
    ];
    let host = host.map(|(name, value)| (name.into(), value.into()));
    let system = project.builder().environment(host).build().unwrap();
    fire(&system, "BeforeAgent", json!({"prompt": "PAYLOAD"})).await;
    let seen = project.read("seen");
    let folder = project.path();
    let folder = folder.display();
    for line in [
        format!("HOOK_PROJECT_DIR={folder}"),
        format!("LLXPRT_PROJECT_DIR={folder}"),
        format!("GEMINI_PROJECT_DIR={folder}"),
        format!("CLAUDE_PROJECT_DIR={folder}"),
        format!("GEMINI_CWD={folder}"),
        "HOOK_EVENT_NAME=BeforeAgent".to_owned(),
        "HOOK_SESSION_ID=test".to_owned(),
        "GEMINI_SESSION_ID=test".to_owned(),
        "HOOK_DEPTH=1".to_owned(),
        "OWN=value".to_owned(),
        "SECRET_BUT_FINE=y".to_owned(),
    ] {
        assert!(seen.lines().any(|seen| seen == line), "{line} in {seen}");
    }
    for absent in ["SECRET_KEY", "BASH_ENV", "SHELLOPTS", "BASH_FUNC", "PAYLOAD", "evil"] {
        assert!(!seen.contains(absent), "{absent} in {seen}");
    }
}

#[tokio::test]
async fn nested_engines_are_refused_beyond_eight() {
    let project = Project::with_hook("BeforeAgent", "echo ran");
    for (depth, runs) in [("7", true), ("8", false), ("99999999999", false), ("4294967295", false)]
    {
        let host = [
            ("PATH".into(), std::env::var_os("PATH").unwrap()),
            ("HOOK_DEPTH".into(), depth.into()),
        ];
        let system = project.builder().environment(host).build().unwrap();
        let response = fire(&system, "BeforeAgent", json!({"prompt": ""})).await;
        assert_eq!(response.processed.aggregated.success, runs, "{depth}");
    }
}

#[tokio::test]
async fn an_unquoted_project_directory_with_blanks_works() {
    let outer = Project::new();
    for (folder, written) in
        [("with blanks", "$HOOK_PROJECT_DIR/hook.sh"), ("quo'ted", "${CLAUDE_PROJECT_DIR}/hook.sh")]
    {
        outer
            .write(&format!("{folder}/hook.sh"), "#!/bin/sh\necho '{\"systemMessage\":\"ran\"}'\n");
        let project = outer.path().join(folder);
        let script = project.join("hook.sh");
        fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let file = outer.write(
            "settings.json",
            &settings("BeforeAgent", false, &[command("h", written)]).to_string(),
        );
        let system =
            HookSystem::builder(&project).settings(SettingsSource::explicit(file)).build().unwrap();
        let response = fire(&system, "BeforeAgent", json!({"prompt": ""})).await;
        assert_eq!(response.processed.system_message.as_deref(), Some("ran"), "{folder}");
    }
}

#[tokio::test]
async fn a_guard_does_not_vanish_with_its_folder() {
    let project = Project::with_hook("BeforeAgent", "pwd; exit 2 >&2");
    let system = project.system();
    let response =
        fire(&system, "BeforeAgent", json!({"prompt": "", "cwd": "/no/such/folder"})).await;
    assert!(response.processed.is_blocking_decision());
    assert!(
        response.hooks[0].warnings[0].contains("/no/such/folder"),
        "{:?}",
        response.hooks[0].warnings
    );

    let gone = Project::with_hook("BeforeAgent", "true");
    let system = gone.system();
    system.initialize().await.unwrap();
    fs::remove_dir_all(gone.path()).unwrap();
    let response = fire(&system, "BeforeAgent", json!({"prompt": ""})).await;
    let error = &response.processed.aggregated.errors[0].message;
    assert!(error.contains("working directory") && error.contains("project"), "{error}");
}

#[tokio::test]
async fn a_sequential_plan_hands_on_what_each_hook_changed() {
    let tool = Project::with_settings(&settings(
        "BeforeTool",
        true,
        &[
            command("one", r#"echo '{"hookSpecificOutput":{"tool_input":{"b":2,"c":3}}}'"#),
            command("two", "cat"),
        ],
    ));
    let input = json!({"tool_name": "t", "tool_input": {"a": 1, "b": 1}});
    let response = fire(&tool.system(), "BeforeTool", input).await;
    let seen = value(response.processed.aggregated.all_outputs[1].to_raw().as_raw());
    assert_eq!(seen["tool_input"], json!({"a": 1, "b": 2, "c": 3}));

    let prompt = Project::with_settings(&settings(
        "BeforeAgent",
        true,
        &[
            command("one", r#"echo '{"hookSpecificOutput":{"additionalContext":"more"}}'"#),
            command("denies", "exit 2"),
            command("two", "cat"),
        ],
    ));
    let response = fire(&prompt.system(), "BeforeAgent", json!({"prompt": "first"})).await;
    assert_eq!(response.hooks.len(), 3, "a denial does not end the plan");
    let seen = value(response.processed.aggregated.all_outputs[2].to_raw().as_raw());
    assert_eq!(seen["prompt"], "first\n\nmore");

    let model = Project::with_settings(&settings(
        "AfterModel",
        true,
        &[
            command("one", r#"echo '{"hookSpecificOutput":{"llm_response":{"text":"redacted"}}}'"#),
            command("two", "cat"),
        ],
    ));
    let response = fire(
        &model.system(),
        "AfterModel",
        json!({
        "llm_request": {"messages": []}, "sdk": "stable",
        "llm_response": {"text": "secret", "candidates": []}}),
    )
    .await;
    let seen = value(response.processed.aggregated.all_outputs[1].to_raw().as_raw());
    assert_eq!(seen["llm_response"]["text"], "redacted");
    assert_eq!(seen.get("sdk"), None, "what hooks see is stable, whatever it was");
}

#[tokio::test]
async fn parallel_hooks_run_at_once_and_answer_in_plan_order() {
    // Each waits for the other, which only works side by side.
    let meet = |own: &str, other: &str| {
        format!(
            "touch {own}; until [ -e {other} ]; do sleep 0.01; done; echo '{{\"reason\":\"{own}\"}}'"
        )
    };
    let project = Project::with_settings(&settings(
        "BeforeAgent",
        false,
        &[command("one", &meet("one", "two")), command("two", &meet("two", "one"))],
    ));
    let response = fire(&project.system(), "BeforeAgent", json!({"prompt": ""})).await;
    let reasons: Vec<_> = response
        .processed
        .aggregated
        .all_outputs
        .iter()
        .map(|out| out.reason.clone().unwrap())
        .collect();
    assert_eq!(reasons, ["one", "two"]);
}

#[tokio::test]
async fn a_timeout_is_a_failure_that_says_so() {
    let project = Project::with_settings(&json!({"hooks": {"BeforeAgent": [{"hooks": [
        {"type": "command", "command": "echo partial; sleep 1000; true", "timeout": 2_000}]}]}}));
    let started = Instant::now();
    let system = project.system();
    let response = fire(&system, "BeforeAgent", json!({"prompt": ""})).await;
    assert!(started.elapsed() < Duration::from_secs(20));
    let hook = &response.hooks[0];
    assert!(hook.timed_out() && !hook.success);
    assert_eq!(hook.process.stdout.bytes, b"partial\n");
    assert_eq!(response.processed.aggregated.errors[0].message, "Hook timed out after 2000ms");
}

#[tokio::test]
async fn replacing_the_same_key_is_a_warning_that_names_both() {
    let project = Project::with_settings(&settings(
        "BeforeTool",
        false,
        &[
            command("one", r#"echo '{"hookSpecificOutput":{"tool_input":{"path":"a","x":1}}}'"#),
            command("two", r#"echo '{"hookSpecificOutput":{"tool_input":{"path":"b"}}}'"#),
        ],
    ));
    let response =
        fire(&project.system(), "BeforeTool", json!({"tool_name": "t", "tool_input": {"y": 2}}))
            .await;
    assert!(response.hooks[0].warnings.is_empty());
    let warning = &response.hooks[1].warnings[0];
    assert!(
        ["tool_input.path", "one", "two"].iter().all(|part| warning.contains(part)),
        "{warning}"
    );
    let original = object(json!({"y": 2}));
    let modified = BeforeToolOutput::new(&response.processed.aggregated)
        .modified_tool_input(&original)
        .unwrap();
    assert_eq!(value(modified.as_raw()), json!({"y": 2, "path": "b", "x": 1}), "in plan order");
}

#[tokio::test]
async fn the_same_hook_twice_runs_once_as_the_most_trusted_wrote_it() {
    let project = Project::new();
    let file = |name: &str, timeout: u64| {
        let hook =
            json!({"type": "command", "name": "same", "command": "true", "timeout": timeout});
        project
            .write(name, &json!({"hooks": {"BeforeAgent": [{"hooks": [hook, hook]}]}}).to_string())
    };
    let system = HookSystem::builder(project.path())
        .settings(SettingsSource::optional(HookSource::Project, file("project.json", 1_000)))
        .settings(SettingsSource::optional(HookSource::User, file("user.json", 2_000)))
        .settings(SettingsSource::optional(HookSource::System, file("system.json", 3_000)))
        .trust(TrustPolicy::Everything)
        .build()
        .unwrap();
    let response = fire(&system, "BeforeAgent", json!({"prompt": ""})).await;
    assert_eq!(response.hooks.len(), 1);
    assert_eq!(response.hooks[0].hook.source(), "system");
    assert_eq!(system.status().total_hooks, 6);
}

#[tokio::test]
async fn a_source_governs_its_own_hooks_and_those_it_outranks() {
    let project = Project::new();
    let names = ["of-project", "of-user", "of-system"];
    let file = |name: &str| {
        let text = json!({
            "hooksConfig": {"disabled": names.iter().filter(|other| **other != name).collect::<Vec<_>>()},
            "hooks": {"BeforeAgent": [{"hooks": [command(name, &format!("echo {name}"))]}]}});
        project.write(&format!("{name}.json"), &text.to_string())
    };
    let system = HookSystem::builder(project.path())
        .settings(SettingsSource::optional(HookSource::Project, file(names[0])))
        .settings(SettingsSource::optional(HookSource::User, file(names[1])))
        .settings(SettingsSource::optional(HookSource::System, file(names[2])))
        .trust(TrustPolicy::Everything)
        .build()
        .unwrap();
    system.initialize().await.unwrap();
    let enabled: Vec<bool> =
        system.hooks().unwrap().iter().map(|listing| listing.enabled).collect();
    // Each wants the other two off; only downwards does that count.
    assert_eq!(enabled, [false, false, true]);

    // At run time the host has the last word, until the settings are read anew and after.
    assert_eq!(system.set_hook_enabled("of-user", true).unwrap(), 1);
    assert_eq!(system.set_hook_enabled("nobody", true).unwrap(), 0);
    system.reload().await.unwrap();
    let response = fire(&system, "BeforeAgent", json!({"prompt": ""})).await;
    let ran: Vec<_> = response.hooks.iter().map(|result| result.hook.display_name()).collect();
    assert_eq!(ran, ["of-user", "of-system"]);
}

/// A system that trusts the hooks of these settings as they are now.
fn trusting(project: &Project, settings: &str) -> HookSystem {
    let store = TrustStore::new(project.home().join("trust.json"));
    let entries = hook_settings::parse(settings, HookSource::Project, None).hooks;
    store.grant(&project.path(), &entries).unwrap();
    let builder = HookSystem::builder(project.path()).native_settings(None);
    builder.trust(TrustPolicy::Store(store)).build().unwrap()
}

#[tokio::test]
async fn fault_84_a_trusted_hook_that_changes_before_it_runs_runs_as_it_was_trusted() {
    let project = Project::new();
    project.write("guard.sh", "exit 0");
    let text = settings("BeforeAgent", false, &[command("guard", "sh guard.sh; ./guard.sh")]);
    let direct = settings("BeforeAgent", false, &[command("guard", "./guard.sh")]);
    project.write("guard.sh", "#!/bin/sh\necho '{\"systemMessage\":\"trusted\"}'\n");
    fs::set_permissions(
        project.path().join("guard.sh"),
        std::os::unix::fs::PermissionsExt::from_mode(0o755),
    )
    .unwrap();
    project.write(".hooks/settings.json", &direct.to_string());
    let system = trusting(&project, &direct.to_string());
    for cwd in [project.path(), "/no/such/folder".into()] {
        let before = fire(&system, "BeforeAgent", json!({"prompt": "", "cwd": cwd})).await;
        assert_eq!(before.processed.system_message.as_deref(), Some("trusted"), "in {cwd:?}");
    }
    project.write("guard.sh", "#!/bin/sh\necho '{\"systemMessage\":\"changed\"}'\n");
    let after = fire(&system, "BeforeAgent", json!({"prompt": ""})).await;
    assert_eq!(after.processed.system_message.as_deref(), Some("trusted"));
    assert!(after.processed.warnings[0].contains("changed since you trusted them"));
    // Another command is another decision.
    project.write(".hooks/settings.json", &text.to_string());
    system.reload().await.unwrap();
    assert!(!system.hooks().unwrap()[0].trusted);
}

#[tokio::test]
async fn model_payloads_are_translated_and_answers_are_stable() {
    let project = Project::with_settings(&json!({"hooks": {
        "BeforeModel": [{"hooks": [command("edit",
            r#"echo '{"hookSpecificOutput":{"llm_request":{"model":"other"}}}'"#), command("echo", "cat")]}],
        "BeforeToolSelection": [{"hooks": [command("narrow",
            r#"echo '{"hookSpecificOutput":{"toolConfig":{"mode":"ANY","allowedFunctionNames":["b","a"]}}}'"#)]}],
    }}));
    let system = project.system();
    let genai = json!({"model": "m", "contents": [{"role": "user", "parts": [{"text": "hi"}]}]});
    let response = fire(&system, "BeforeModel", json!({"llm_request": genai})).await;
    let seen = value(response.processed.aggregated.all_outputs[1].to_raw().as_raw());
    assert_eq!(seen["llm_request"]["messages"], json!([{"role": "user", "content": "hi"}]));
    let original = object(seen["llm_request"].clone());
    let modified =
        BeforeModelOutput::new(&response.processed.aggregated).modified_llm_request(&original);
    assert_eq!(value(modified.unwrap().as_raw())["model"], "other");

    let selection = fire(&system, "BeforeToolSelection", json!({"llm_request": genai})).await;
    let view = BeforeToolSelectionOutput::new(&selection.processed.aggregated);
    for (base, mode, names) in [
        (json!({}), "ANY", json!(["a", "b"])),
        (json!({"mode": "NONE"}), "NONE", json!(["a", "b"])),
        (json!({"allowedFunctionNames": ["a", "c"]}), "ANY", json!(["a"])),
        (json!({"allowedFunctionNames": ["c"]}), "NONE", json!([])),
    ] {
        let base = hook_protocol::ToolConfig::read(fields(base)).unwrap();
        let config = value(view.tool_config(&base).unwrap().to_raw().as_raw());
        assert_eq!((&config["mode"], &config["allowedFunctionNames"]), (&json!(mode), &names));
    }
}

#[tokio::test]
async fn a_payload_of_no_clear_sdk_fails_only_where_a_hook_would_see_it() {
    let input = json!({"llm_request": {"messages": [{"role": "assistant", "content": "hi"}]}});
    let idle = HookSystem::builder(".").build().unwrap();
    assert!(fire(&idle, "BeforeModel", input.clone()).await.success());
    let busy = HookSystem::builder(".")
        .handler(HandlerHook::inline(HookEventName::BeforeModel, "h", |_| {
            Ok(Some(HookOutput::allow()))
        }))
        .build()
        .unwrap();
    let response = fire(&busy, "BeforeModel", input).await;
    let failure = json(&response.to_json())["error"].clone();
    assert_eq!(failure["code"], "translation_failed");
    assert!(failure["message"].as_str().unwrap().contains("sdk"), "{failure}");
    assert_eq!(response.processed.aggregated.errors[0].stage.as_deref(), Some("translate"));
}

#[tokio::test]
async fn a_denial_outlives_the_deadline_of_its_request() {
    let project = Project::with_settings(&settings(
        "BeforeAgent",
        false,
        &[
            command("slow", "sleep 1000"),
            command("guard", r#"echo '{"decision":"deny","reason":"no"}'"#),
        ],
    ));
    let system = project.system();
    let request = HookExecutionRequest::new("BeforeAgent", fields(json!({"prompt": ""})))
        .with_deadline(Duration::from_secs(2));
    let response = system.bus().request(request).await;
    assert_eq!(response.error().unwrap().code.as_str(), "deadline_exceeded");
    assert!(response.processed.is_blocking_decision());
    assert_eq!(response.processed.reason.as_deref(), Some("no"));
    assert_eq!(json(&response.to_json())["processed"]["decision"], "block");
}

#[tokio::test]
async fn the_reason_of_a_block_is_not_that_of_a_hook_that_allowed() {
    for event in ["BeforeAgent", "BeforeModel"] {
        let project = Project::with_settings(&settings(
            event,
            false,
            &[
                command("allows", r#"echo '{"decision":"allow","reason":"fine by me"}'"#),
                command("denies", r#"echo '{"decision":"deny"}'"#),
            ],
        ));
        let input = json!({"prompt": "", "llm_request": {"messages": []}});
        let response = fire(&project.system(), event, input).await;
        assert_eq!(response.processed.reason.as_deref(), Some("No reason provided"));
    }
}

#[tokio::test]
async fn names_that_are_known_elsewhere_are_not_renamed_or_forged() {
    let project = Project::with_hook("BeforeTool", "cat");
    let system = project.system();
    let input = json!({"tool_name": "t", "tool_input": {}, "model_request": {"n": 1}});
    let response = fire(&system, "BeforeTool", input).await;
    let told = value(response.processed.aggregated.all_outputs[0].to_raw().as_raw());
    assert_eq!(told["model_request"], json!({"n": 1}));
    assert_eq!(told.get("llm_request"), None);

    let mut forged = RequestInput::from(BeforeAgentInput::new("true"));
    forged.extra = fields(json!({"prompt": "forged"}));
    let fired = system.fire(forged).await;
    assert_eq!(fired.failure.unwrap().code.as_str(), "invalid_payload");
    let mut absent = RequestInput::from(NotificationInput::new("m"));
    absent.extra = fields(json!({"level": 7}));
    assert_eq!(system.fire(absent).await.failure.unwrap().code.as_str(), "invalid_payload");
    let mut long = RequestInput::from(BeforeAgentInput::new("true"));
    long.base.session_id = Some("x".repeat(5_000).into());
    assert_eq!(system.fire(long).await.failure.unwrap().code.as_str(), "invalid_payload");
}

#[tokio::test]
async fn fault_84_another_file_of_the_same_name_does_not_run_in_place_of_the_trusted_one() {
    let project = Project::new();
    let script = |path: &str, text: &str| {
        let script =
            project.write(path, &format!("#!/bin/sh\necho '{{\"systemMessage\":\"{text}\"}}'\n"));
        fs::set_permissions(script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    };
    script("guard.sh", "trusted");
    script("sub/guard.sh", "another");
    let text = settings("BeforeAgent", false, &[command("guard", "./guard.sh")]).to_string();
    project.write(".hooks/settings.json", &text);
    let system = trusting(&project, &text);
    let input = json!({"prompt": "", "cwd": project.path().join("sub")});
    let response = fire(&system, "BeforeAgent", input).await;
    assert_eq!(response.processed.system_message.as_deref(), Some("trusted"));
}

#[tokio::test]
async fn settings_that_are_no_regular_file_are_an_error_and_not_read() {
    let system =
        HookSystem::builder(".").settings(SettingsSource::explicit("/dev/zero")).build().unwrap();
    let response = fire(&system, "BeforeAgent", json!({"prompt": ""})).await;
    assert!(
        response.processed.warnings[0].contains("not a regular file"),
        "{:?}",
        response.processed.warnings
    );
}

#[tokio::test]
async fn a_denial_by_exit_code_survives_a_flood() {
    let flood = "head -c 5000000 /dev/zero; echo no >&2; exit 2";
    let project = Project::with_hook("BeforeAgent", flood);
    let response = fire(&project.system(), "BeforeAgent", json!({"prompt": ""})).await;
    assert!(response.processed.is_blocking_decision());
    assert_eq!(response.processed.reason.as_deref(), Some("no"));
    assert!(response.hooks[0].warnings.iter().any(|warning| warning.contains("stdout were cut")));

    let project = Project::with_hook("BeforeAgent", "head -c 5000000 /dev/zero");
    let response = fire(&project.system(), "BeforeAgent", json!({"prompt": ""})).await;
    assert!(response.processed.aggregated.errors[0].message.contains("output_too_large"));
    assert_eq!(response.hooks[0].process.stdout.bytes.len(), 4 * 1024 * 1024);
}

#[tokio::test]
async fn a_source_never_has_more_processes_than_it_allows_itself() {
    // Each outlives its timeout, and counts until it is gone.
    let hook = |index| {
        let script = format!("trap '' TERM; touch running-{index}; sleep 1000 & wait; sleep 1000");
        json!({"type": "command", "command": script, "timeout": 1_000})
    };
    let project = Project::with_settings(&json!({
        "hooksConfig": {"maxConcurrent": 1},
        "hooks": {"BeforeAgent": [{"hooks": (0..3).map(hook).collect::<Vec<_>>()}]}}));
    let limits = RunnerLimits { grace: Duration::from_secs(60), ..RunnerLimits::default() };
    let system = project.builder().limits(limits).build().unwrap();
    let request = HookExecutionRequest::new("BeforeAgent", fields(json!({"prompt": ""})))
        .with_deadline(Duration::from_secs(3));
    system.bus().request(request).await;
    let running = (0..3).filter(|index| project.path().join(format!("running-{index}")).exists());
    assert_eq!(running.count(), 1);
    system.kill();
    system.shutdown(Duration::ZERO).await;
}

#[tokio::test]
async fn a_stop_has_its_own_reason() {
    let project = Project::with_hook(
        "BeforeTool",
        r#"echo '{"continue":false,"stopReason":"S",
        "hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"P"}}'"#,
    );
    let input = json!({"tool_name": "t", "tool_input": {}});
    let response = fire(&project.system(), "BeforeTool", input).await;
    assert_eq!(response.processed.stop_reason.as_deref(), Some("S"));
}

#[tokio::test]
async fn a_trusted_source_may_allow_itself_more_than_the_engine_would() {
    // Each waits for all the others.
    const COUNT: usize = 4;
    let meet = format!(
        "touch running-$$; until [ $(ls | grep -c running-) -ge {COUNT} ]; do sleep 0.01; done"
    );
    let hook = |index: usize| command(&index.to_string(), &format!("{meet} # {index}"));
    let project = Project::with_settings(&json!({
        "hooksConfig": {"maxConcurrent": COUNT},
        "hooks": {"BeforeAgent": [{"hooks": (0..COUNT).map(hook).collect::<Vec<_>>()}]}}));
    let limits = RunnerLimits { max_concurrent: 1, ..RunnerLimits::default() };
    let system = project.builder().limits(limits).build().unwrap();
    let response = fire(&system, "BeforeAgent", json!({"prompt": ""})).await;
    assert!(response.processed.aggregated.success);
    assert_eq!(response.hooks.len(), COUNT);
}

#[tokio::test]
async fn a_plain_command_starts_without_a_shell() {
    let host = || [("PATH".into(), std::env::var_os("PATH").unwrap())];
    // What bash adds to an environment that had none.
    for (command, through_bash) in [("env", false), ("env; true", true)] {
        let project = Project::with_hook("BeforeAgent", command);
        let system = project.builder().environment(host()).build().unwrap();
        let response = fire(&system, "BeforeAgent", json!({"prompt": ""})).await;
        let environment = response.processed.system_message.unwrap();
        assert_eq!(environment.contains("SHLVL="), through_bash, "{environment}");
        assert!(environment.contains(&format!("PWD={}", project.path().display())));
    }
}

#[tokio::test]
async fn what_a_hook_had_printed_counts_at_the_deadline_of_its_request() {
    let denial = r#"echo '{"decision":"deny","reason":"no"}'; sleep 1000"#;
    let project = Project::with_hook("BeforeAgent", denial);
    let request = HookExecutionRequest::new("BeforeAgent", fields(json!({"prompt": ""})))
        .with_deadline(Duration::from_secs(2));
    let response = project.system().bus().request(request).await;
    assert_eq!(response.error().unwrap().code.as_str(), "deadline_exceeded");
    assert!(response.processed.is_blocking_decision());
    assert_eq!(response.processed.reason.as_deref(), Some("no"));
    project.assert_nothing_runs().await;
}
