//! When a worker ends and is started again.

use std::time::{Duration, Instant};

use hook_run::HandlerHook;
use serde_json::json;

use super::{end, fire, is_blocked, project, request, started, status, until, why};

#[tokio::test]
async fn one_that_is_not_used_ends_and_comes_back() {
    let project = project(
        "
ready()
for call in calls():
    time.sleep(0.6)
    answer(call)
note('closed', 'x')
",
        json!({"idleTimeout": 200}),
    );
    let system = project.system();
    for count in 1..=2 {
        // A call takes longer than it may be idle: it is in use.
        assert_eq!(why(&fire(&system, "t").await), "");
        assert_eq!(started(&project).len(), count);
        let status = until(&system, "stopped").await;
        assert_eq!((status.process, status.failure), (None, None));
        project.assert_nothing_runs().await;
        assert_eq!(project.read("closed").lines().count(), count, "it ended by itself");
    }
    end(&project, system).await;
}

const DIES_WHEN_TOLD: &str = "
ready()
for call in calls():
    if tool(call) == 'die':
        print('the last words', file=sys.stderr, flush=True)
        os._exit(3)
    if tool(call) != 'hang':
        answer(call)
    note('called', tool(call))
";

#[tokio::test]
async fn one_that_dies_fails_its_calls_and_is_started_again_later_each_time() {
    for behavior in ["continue", "block"] {
        let project = project(DIES_WHEN_TOLD, json!({"failBehavior": behavior}));
        let system = project.system();
        let hanging = tokio::spawn({
            let bus = system.bus().clone();
            async move { bus.request(request("hang")).await }
        });
        project.appears("called").await;
        let response = fire(&system, "die").await;
        let said = "it exited with code 3; its standard error ends with:\nthe last words";
        assert!(why(&response).contains(said), "{}", why(&response));
        // What it was asked before fails with it, long before its own timeout.
        let hanging = tokio::time::timeout(super::PROMPT, hanging).await.unwrap().unwrap();
        assert!(why(&hanging).contains(said), "{}", why(&hanging));
        for response in [response, hanging] {
            assert_eq!(is_blocked(&response), behavior == "block");
        }
        let dead = status(&system);
        assert_eq!((dead.state, dead.process), ("stopped", None));
        assert!(dead.failure.unwrap().contains("code 3"));
        // An answer in between does not shorten the wait: a worker that dies often is not to be
        // started all the time.
        let mut waits = Vec::new();
        for _ in 0..3 {
            let begun = Instant::now();
            let response = fire(&system, "answer").await;
            waits.push(begun.elapsed());
            assert_eq!(why(&response), "");
            fire(&system, "die").await;
        }
        for (wait, least) in waits.iter().zip([60, 160, 360]) {
            assert!(*wait >= Duration::from_millis(least), "{waits:?}");
        }
        assert_eq!((status(&system).restarts, started(&project).len()), (3, 4));
        end(&project, system).await;
    }
}

/// Its calls wait for the process, and that is the hook's own time.
#[tokio::test]
async fn waiting_for_the_start_counts_as_the_hook_s_time() {
    let project = project("time.sleep(1000)", json!({"timeout": 300, "failBehavior": "block"}));
    let system = project.system();
    let begun = Instant::now();
    let response = fire(&system, "t").await;
    assert_eq!(why(&response), "Hook timed out after 300ms");
    let warnings = response.processed.warnings.join("\n");
    assert!(warnings.contains("had not yet said that it is ready"), "{warnings}");
    assert!(is_blocked(&response) && begun.elapsed() < Duration::from_secs(9));
    end(&project, system).await;
}

#[tokio::test]
async fn five_deaths_in_a_row_break_it_until_a_reload() {
    let project = project(
        "
ready()
for call in calls():
    if os.path.exists('well'): answer(call)
    else: sys.exit(9)
",
        json!({"failBehavior": "block"}),
    );
    // A hook that nothing is wrong with is asked all the same.
    let event = hook_protocol::HookEventName::BeforeTool;
    let other = HandlerHook::inline(event, "other", |_| Ok(None));
    let system = project.builder().handler(other).build().unwrap();
    for death in 1..=5 {
        let response = fire(&system, "t").await;
        assert!(why(&response).contains("code 9"), "{death}: {}", why(&response));
        assert!(is_blocked(&response));
        assert_eq!(status(&system).is_broken(), death == 5, "{death}");
    }
    project.write("well", "");
    for _ in 0..2 {
        let response = fire(&system, "t").await;
        assert!(why(&response).starts_with("it died 5 times in a row"), "{}", why(&response));
        assert!(is_blocked(&response));
        let said = response.processed.warnings.iter().filter(|it| it.contains("died 5 times"));
        assert_eq!(said.count(), 1, "{:?}", response.processed.warnings);
    }
    assert_eq!(started(&project).len(), 5, "it is started no more");
    // A guard that is switched off is not missed.
    system.set_hook_enabled("w", false).unwrap();
    let response = fire(&system, "t").await;
    assert!(!is_blocked(&response) && response.processed.warnings.is_empty());
    system.set_hook_enabled("w", true).unwrap();

    system.reload().await.unwrap();
    assert!(!status(&system).is_broken());
    let response = fire(&system, "t").await;
    assert_eq!((why(&response).as_str(), response.processed.warnings.len()), ("", 0));
    end(&project, system).await;
}

/// Also where the hook itself is not asked: whoever fires its event is to know.
#[tokio::test]
async fn a_broken_worker_is_a_warning_in_every_response_of_its_event() {
    let project = hook_tests::Project::new();
    let entry = super::worker(&project, "sys.exit(1)");
    let settings = json!({"hooks": {"BeforeTool": [{"matcher": "^mine$", "hooks": [entry]}]}});
    project.write("settings.json", &settings.to_string());
    let system = project.system();
    for _ in 0..5 {
        fire(&system, "mine").await;
    }
    let response = fire(&system, "other").await;
    assert_eq!(response.hooks.len(), 0);
    assert_eq!(response.processed.warnings.len(), 1, "{:?}", response.processed.warnings);
    assert!(response.processed.warnings[0].starts_with("hook w: it died 5 times in a row"));
    let request = hook_bus::HookExecutionRequest::new(
        "BeforeAgent",
        hook_tests::fields(json!({"prompt": "p"})),
    );
    assert_eq!(system.bus().request(request).await.processed.warnings.len(), 0);
    end(&project, system).await;
}

#[tokio::test]
async fn an_answer_makes_deaths_count_anew() {
    let project = project(DIES_WHEN_TOLD, json!({}));
    let system = project.system();
    for tool in ["die", "die", "answer", "die", "die", "die", "answer"] {
        fire(&system, tool).await;
        assert!(!status(&system).is_broken(), "{tool}");
    }
    end(&project, system).await;
}

/// The last words before an end are heard.
#[tokio::test]
async fn one_that_answers_and_ends_has_answered() {
    let project = project(
        "
ready()
for call in calls():
    answer(call, action='block', reason='r')
    os._exit(0)
",
        json!({}),
    );
    let system = project.system();
    for _ in 0..4 {
        let response = fire(&system, "t").await;
        assert!(is_blocked(&response), "{}", why(&response));
        until(&system, "stopped").await;
    }
    assert!(!status(&system).is_broken());
    end(&project, system).await;
}

const HANGS_WHEN_TOLD: &str = "
ready()
for call in calls():
    if tool(call) != 'hang':
        answer(call)
";

#[tokio::test]
async fn three_timeouts_in_a_row_end_it() {
    let project = project(HANGS_WHEN_TOLD, json!({"timeout": 1_000, "start": "eager"}));
    let system = project.system();
    system.initialize().await.unwrap();
    until(&system, "ready").await;
    for tool in ["hang", "hang", "answer", "hang", "hang", "answer"] {
        let response = fire(&system, tool).await;
        assert_eq!(why(&response).is_empty(), tool == "answer", "{tool}: {}", why(&response));
    }
    assert_eq!(started(&project).len(), 1);
    for _ in 0..3 {
        assert_eq!(why(&fire(&system, "hang").await), "Hook timed out after 1000ms");
    }
    let status = until(&system, "stopped").await;
    assert_eq!(status.failure.unwrap(), "it did not answer in time, three times in a row");
    // Whoever comes next has another process.
    system.start_workers();
    until(&system, "ready").await;
    assert_eq!(why(&fire(&system, "answer").await), "");
    assert_eq!(started(&project).len(), 2);
    end(&project, system).await;
}

/// Both say which version they speak, and the lower one is spoken.
#[tokio::test]
async fn a_worker_finds_the_version_of_the_engine_in_its_environment() {
    let project = project(
        "
note('version', os.environ['HOOK_PROTOCOL'])
say(type='hook-worker', protocol=2)
for call in calls(): answer(call, action='block', reason='heard')
",
        json!({}),
    );
    let system = project.system();
    let response = fire(&system, "t").await;
    assert!(is_blocked(&response), "{}", why(&response));
    assert_eq!(project.read("version"), "1\n");
    end(&project, system).await;
}
