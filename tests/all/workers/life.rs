//! Which process a call goes to: one for equal entries, another one where something changed.

use hook_bus::message::HookProgress;
use hook_bus::{HookExecutionRequest, HookSystem};
use hook_settings::HookSource;
use hook_settings::parse;
use hook_tests::{Project, fields};
use hook_trust::{TrustPolicy, TrustStore};
use serde_json::{Value, json};
use tokio_stream::StreamExt;

use super::{end, fire, is_blocked, project, settings, started, until, why, with, worker};

const ANSWERS: &str = "
ready()
for call in calls():
    note('called', call['eventName'])
    answer(call)
";

async fn fire_agent(system: &HookSystem) {
    let request = HookExecutionRequest::new("BeforeAgent", fields(json!({"prompt": "p"})));
    let response = system.bus().request(request).await;
    assert_eq!(why(&response), "");
}

#[tokio::test]
async fn equal_entries_share_a_process_also_over_a_reload() {
    let project = Project::new();
    let entry = worker(&project, ANSWERS);
    let shared = json!({"hooks": {
        "BeforeTool": [{"hooks": [entry]}],
        "BeforeAgent": [{"priority": 7, "hooks": [with(entry.clone(),
            &json!({"name": "other", "timeout": 7_000, "failBehavior": "block"}))]}],
    }});
    project.write("settings.json", &shared.to_string());
    let system = project.system();
    fire(&system, "t").await;
    fire_agent(&system).await;
    system.reload().await.unwrap();
    fire(&system, "t").await;
    fire_agent(&system).await;
    assert_eq!(project.read("called").lines().count(), 4);
    assert_eq!(started(&project).len(), 1);

    // Another command, environment or life is another process, and the one before goes.
    for (count, change) in [
        (2, json!({"env": {"A": "1"}})),
        (3, json!({"command": "exec python3 -B  worker.py"})),
        (4, json!({"idleTimeout": 60_000})),
        (5, json!({"startTimeout": 9_000})),
    ] {
        settings(&project, &with(entry.clone(), &change));
        system.reload().await.unwrap();
        assert_eq!(why(&fire(&system, "t").await), "");
        assert_eq!(started(&project).len(), count, "{change}");
        let begun = std::time::Instant::now();
        while project.processes().len() > 1 {
            assert!(begun.elapsed() < super::PROMPT, "{:?}", project.processes());
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    }
    end(&project, system).await;
}

#[tokio::test]
async fn a_call_in_flight_outlives_the_entry_that_it_was_made_for() {
    let project = project(
        "
ready()
for call in calls():
    note('called', 'x')
    while not os.path.exists('go'): time.sleep(0.01)
    answer(call, action='block', reason='after all')
",
        json!({}),
    );
    let system = project.system();
    let asked = system.bus().request(super::request("t"));
    let reloaded = async {
        project.appears("called").await;
        project.write("settings.json", "{}");
        system.reload().await.unwrap();
        project.write("go", "");
    };
    let (response, ()) = tokio::join!(asked, reloaded);
    assert!(is_blocked(&response), "{}", why(&response));
    project.assert_nothing_runs().await;
    end(&project, system).await;
}

const SETTINGS: &str = ".hooks/settings.json";

fn trusting(project: &Project, store: &TrustStore) -> HookSystem {
    let builder = HookSystem::builder(project.path()).native_settings(None);
    builder.trust(TrustPolicy::Store(store.clone())).build().unwrap()
}

fn trust(project: &Project, store: &TrustStore) {
    let hooks = parse(&project.read(SETTINGS), HookSource::Project, None).hooks;
    store.grant(&project.path(), &hooks).unwrap();
}

/// A project's worker shares as any other, and is another one when what it runs was trusted anew; until
/// then a guard blocks and nothing is started.
#[tokio::test]
async fn a_change_of_what_was_trusted_is_another_process() {
    let project = Project::new();
    let entry: Value = with(worker(&project, ANSWERS), &json!({"failBehavior": "block"}));
    let shared = json!({"hooks": {
        "BeforeTool": [{"hooks": [entry]}], "BeforeAgent": [{"hooks": [entry]}]}});
    project.write(SETTINGS, &shared.to_string());
    let store = TrustStore::new(project.home().join("trust.json"));
    let system = trusting(&project, &store);
    fire(&system, "t").await;
    assert_eq!(started(&project).len(), 0, "nobody trusted it");
    trust(&project, &store);
    system.reload().await.unwrap();
    fire(&system, "t").await;
    fire_agent(&system).await;
    assert_eq!(started(&project).len(), 1);

    worker(&project, &format!("{ANSWERS}# changed"));
    for reload in [false, true] {
        if reload {
            system.reload().await.unwrap();
        }
        let refused = fire(&system, "t").await;
        assert!(is_blocked(&refused));
        assert_eq!(started(&project).len(), 1, "{reload}");
    }
    trust(&project, &store);
    system.reload().await.unwrap();
    assert_eq!(why(&fire(&system, "t").await), "");
    fire_agent(&system).await;
    assert_eq!(started(&project).len(), 2);
    end(&project, system).await;
}

/// What is changed while a restart waits is seen when the process is started.
#[tokio::test]
async fn what_is_changed_while_a_restart_waits_is_not_run() {
    let project = Project::new();
    let dies = "ready()\nfor call in calls():\n    os._exit(1)\n";
    let entry: Value = with(worker(&project, dies), &json!({"failBehavior": "block"}));
    project.write(SETTINGS, &json!({"hooks": {"BeforeTool": [{"hooks": [entry]}]}}).to_string());
    let store = TrustStore::new(project.home().join("trust.json"));
    trust(&project, &store);
    let system = trusting(&project, &store);
    // The wait is twice as long after each.
    for _ in 0..3 {
        assert!(is_blocked(&fire(&system, "t").await));
    }
    let mut progress = system.bus().subscribe::<HookProgress>();
    let swapped = async {
        // The hook has been looked at, and waits for its process.
        progress.next().await.unwrap().unwrap();
        worker(&project, "note('evil', 1)\nready()\nfor call in calls():\n    answer(call)\n");
    };
    let (response, ()) = tokio::join!(fire(&system, "t"), swapped);
    assert!(is_blocked(&response), "{}", why(&response));
    assert!(!project.path().join("evil").exists());
    end(&project, system).await;
}

/// The same for one that says itself which hooks it has, and is started for that.
#[tokio::test]
async fn a_changed_worker_is_not_even_asked_which_hooks_it_has() {
    let project = Project::new();
    let none = "say(type='hook-worker', protocol=1, hooks=[])\nfor _ in messages(): pass\n";
    let entry: Value = with(worker(&project, none), &json!({"failBehavior": "block"}));
    project.write(SETTINGS, &json!({"hooks": {"*": [{"hooks": [entry]}]}}).to_string());
    let store = TrustStore::new(project.home().join("trust.json"));
    trust(&project, &store);
    let system = trusting(&project, &store);
    system.initialize().await.unwrap();
    worker(&project, &format!("note('evil', 1)\n{none}"));
    assert!(is_blocked(&fire(&system, "t").await));
    assert!(!project.path().join("evil").exists());
    end(&project, system).await;
}

#[tokio::test]
async fn it_runs_in_the_project_with_a_command_s_environment() {
    let project = project(
        "
ready()
for call in calls():
    answer(call, output={'systemMessage': json.dumps({'cwd': os.getcwd(), 'env': dict(os.environ)})})
",
        json!({"env": {"OWN": "1", "HOOK_SESSION_ID": "mine"}}),
    );
    let own = json!({"hooksConfig": {"environment": {"deny": ["DENIED"]}}});
    let mut written: Value = serde_json::from_str(&project.read("settings.json")).unwrap();
    written["hooksConfig"] = own["hooksConfig"].clone();
    project.write("settings.json", &written.to_string());
    let environment = [
        ("PATH", std::env::var("PATH").unwrap()),
        ("DENIED", "x".to_owned()),
        ("KEPT", "y".to_owned()),
        ("BASH_ENV", "/nowhere".to_owned()),
    ];
    let environment = environment.map(|(name, value)| (name.into(), value.into()));
    let system = project.builder().environment(environment).build().unwrap();
    // Where the agent works means nothing to it.
    let input = json!({"tool_name": "t", "tool_input": {}, "cwd": "/"});
    let request = HookExecutionRequest::new("BeforeTool", fields(input));
    let response = system.bus().request(request).await;
    let said = response
        .processed
        .system_message
        .as_deref()
        .unwrap_or_else(|| panic!("{}", why(&response)));
    let said: Value = serde_json::from_str(said).unwrap();
    let path = project.path().display().to_string();
    assert_eq!(said["cwd"], json!(path));
    let env = &said["env"];
    for (name, value) in [
        ("HOOK_PROJECT_DIR", json!(path)),
        ("GEMINI_PROJECT_DIR", json!(path)),
        ("CLAUDE_PROJECT_DIR", json!(path)),
        ("OWN", json!("1")),
        ("KEPT", json!("y")),
        ("HOOK_SESSION_ID", json!("mine")),
        ("HOOK_DEPTH", json!("1")),
    ] {
        assert_eq!(env[name], value, "{name} in {env}");
    }
    for name in ["DENIED", "BASH_ENV", "HOOK_EVENT_NAME", "GEMINI_SESSION_ID", "GEMINI_CWD"] {
        assert_eq!(env.get(name), None, "{name}");
    }
    end(&project, system).await;
}

#[tokio::test]
async fn it_is_started_at_its_first_call_or_before() {
    let lazy = project(ANSWERS, json!({}));
    let system = lazy.system();
    system.initialize().await.unwrap();
    assert_eq!(super::status(&system).state, "stopped");
    assert_eq!(lazy.processes(), []);
    end(&lazy, system).await;

    let eager = project(ANSWERS, json!({"start": "eager"}));
    let system = eager.system();
    system.initialize().await.unwrap();
    let status = until(&system, "ready").await;
    assert_eq!((status.restarts, status.failure), (0, None));
    assert_eq!(started(&eager), [status.process.unwrap().to_string()]);
    fire(&system, "t").await;
    system.reload().await.unwrap();
    assert_eq!(started(&eager).len(), 1);
    end(&eager, system).await;

    // One that a reload brings; one that is switched off; one in a program that only looks.
    let later = Project::with_settings(&json!({}));
    let system = later.system();
    system.initialize().await.unwrap();
    let entry = with(worker(&later, ANSWERS), &json!({"start": "eager"}));
    settings(&later, &entry);
    system.reload().await.unwrap();
    until(&system, "ready").await;
    end(&later, system).await;
    let off =
        json!({"hooksConfig": {"disabled": ["w"]}, "hooks": {"BeforeTool": [{"hooks": [entry]}]}});
    later.write("settings.json", &off.to_string());
    let system = later.system();
    system.initialize().await.unwrap();
    assert_eq!(super::status(&system).state, "stopped");
    end(&later, system).await;
    settings(&later, &entry);
    let system = later.system();
    system.initialize_blocking().await.unwrap();
    assert_eq!(super::status(&system).state, "stopped");
    system.start_workers();
    until(&system, "ready").await;
    end(&later, system).await;
}

/// A worker that cannot start keeps nothing from being built, and says why.
#[tokio::test]
async fn a_failure_of_an_early_start_blocks_nothing_but_its_own_calls() {
    let project = project("sys.exit(7)", json!({"start": "eager", "failBehavior": "block"}));
    let system = project.system();
    system.initialize().await.unwrap();
    let begun = std::time::Instant::now();
    while super::status(&system).failure.is_none() {
        assert!(begun.elapsed() < super::PROMPT);
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    assert!(
        super::status(&system).failure.unwrap().contains("code 7"),
        "{:?}",
        super::status(&system)
    );
    let response = fire(&system, "t").await;
    assert!(is_blocked(&response), "{}", why(&response));
    end(&project, system).await;
}
