//! Many at once, none lost, none mixed up.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use hook_bus::{CorrelationId, HookExecutionRequest, HookExecutionResponse, HookSystem};
use hook_protocol::{BeforeAgentInput, SessionEndInput, SessionEndReason};
use hook_run::RunnerLimits;
use hook_tests::{Project, Served, fields, json, request};
use serde_json::{Value, json};
use tokio::io::AsyncBufReadExt;

use super::{PROMPT, project_with};

fn prompt(id: &str) -> HookExecutionRequest {
    let id = CorrelationId::new(id).unwrap();
    HookExecutionRequest::new("BeforeAgent", fields(json!({"prompt": id.as_str()})))
        .with_correlation_id(id)
}

/// Publishes a hundred requests and does something to the system; every one is answered once.
async fn hundred(
    project: &Project,
    then: impl AsyncFnOnce(&HookSystem),
) -> Vec<std::sync::Arc<HookExecutionResponse>> {
    let system = project.system();
    let mut responses = system.bus().subscribe::<HookExecutionResponse>();
    for index in 0..100 {
        system.bus().publish(prompt(&index.to_string())).await.unwrap();
    }
    then(&system).await;
    let mut answered = Vec::new();
    while answered.len() < 100 {
        let response = tokio::time::timeout(PROMPT, responses.next()).await.expect("a response");
        answered.push(response.unwrap().unwrap());
    }
    // No second answer to any of them.
    let more = tokio::time::timeout(Duration::from_millis(50), responses.next()).await;
    assert!(!matches!(more, Ok(Some(_))), "{more:?}");
    let ids: BTreeSet<_> =
        answered.iter().map(|response| response.correlation_id.to_string()).collect();
    assert_eq!(ids.len(), 100);
    project.assert_nothing_runs().await;
    answered
}

#[tokio::test]
async fn fault_22_shutdown_answers_a_hundred_requests_in_flight() {
    let project = project_with(&[json!({"command": "sleep 1000"})]);
    let answered = hundred(&project, async |system| {
        system.shutdown(Duration::from_millis(100)).await;
    });
    for response in answered.await {
        assert_eq!(response.error().unwrap().code.as_str(), "shutting_down");
    }
}

#[tokio::test]
async fn fault_22_dispose_lets_a_hundred_requests_in_flight_finish() {
    let command = r#"echo '{"systemMessage":"ran"}'"#;
    let project = project_with(&[json!({"command": command})]);
    for response in hundred(&project, async |system| system.dispose()).await {
        assert!(response.success());
        assert_eq!(response.processed.system_message.as_deref(), Some("ran"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fault_23_a_thousand_requests_share_eight_places() {
    const COUNT: usize = 1_000;
    // Each hook says who is there with it, and gives back what it was told.
    let command = "touch here/$$; ls here | wc -l >> seen; cat; rm here/$$";
    let project = project_with(&[json!({"command": command, "timeout": 600_000})]);
    project.write("here/.keep", "");
    let limits = RunnerLimits { max_concurrent: 8, ..RunnerLimits::default() };
    let system = project.builder().limits(limits).build().unwrap();
    let mut running: FuturesUnordered<_> =
        (0..COUNT).map(|index| system.bus().request(prompt(&index.to_string()))).collect();
    let mut queued = 0;
    while let Some(response) = running.next().await {
        let said = json(response.processed.aggregated.all_outputs[0].to_raw().as_str().as_bytes());
        assert_eq!(said["prompt"], response.correlation_id.as_str());
        queued += usize::from(response.hooks[0].queued > response.hooks[0].duration);
    }
    let seen = project.read("seen");
    let at_once: Vec<usize> = seen.lines().map(|line| line.trim().parse().unwrap()).collect();
    assert_eq!(at_once.len(), COUNT);
    assert!((2..=8).contains(at_once.iter().max().unwrap()), "{:?}", at_once.iter().max());
    assert!(queued > COUNT / 2, "waiting is reported: {queued}");
}

#[tokio::test]
async fn fault_24_a_subscriber_that_never_reads_holds_64_mebibytes_and_delays_nobody() {
    const SIZE: usize = 100_000;
    const COUNT: usize = 2_000;
    let system = HookSystem::builder(".").build().unwrap();
    let mut sleeper = system.bus().subscribe::<HookExecutionRequest>();
    for _ in 0..COUNT {
        let input = BeforeAgentInput::new("x".repeat(SIZE));
        let request = system.bus().request(HookExecutionRequest::typed(input));
        assert!(tokio::time::timeout(PROMPT, request).await.expect("on time").success());
    }
    let missed = sleeper.next().await.unwrap().unwrap_err().missed();
    let mut kept = 0;
    while let Ok(Some(message)) =
        tokio::time::timeout(Duration::from_millis(50), sleeper.next()).await
    {
        message.unwrap();
        kept += 1;
    }
    assert_eq!(missed + kept, COUNT as u64);
    let fitting = (64 * 1024 * 1024 / SIZE) as u64;
    assert!((fitting / 2..=fitting).contains(&kept), "{kept} of at most {fitting}");
}

#[tokio::test]
async fn fault_25_requests_with_the_same_id_on_one_bus_are_each_answered() {
    let project = project_with(&[json!({"command": "cat"})]);
    let system = project.system();
    let asked = |prompt: &str| {
        let input = fields(json!({"prompt": prompt}));
        HookExecutionRequest::new("BeforeAgent", input)
            .with_correlation_id(CorrelationId::new("same").unwrap())
    };
    let (one, other) =
        tokio::join!(system.bus().request(asked("one")), system.bus().request(asked("other")));
    for (response, prompt) in [(one, "one"), (other, "other")] {
        assert_eq!(response.correlation_id.as_str(), "same");
        let said = json(response.processed.aggregated.all_outputs[0].to_raw().as_str().as_bytes());
        assert_eq!(said["prompt"], prompt);
    }
}

/// Lines of whatever bytes, the same in every run.
fn random_lines(count: usize) -> Vec<Vec<u8>> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    let alphabet = b"{}[]\",:\\ \t\r\0\xff\xc3azAZ019-.truefalsenull";
    (0..count)
        .map(|_| match next(4) {
            0 => br#"{"type":"hook-execution-request","eventName":"#.to_vec(),
            _ => (0..next(60)).map(|_| alphabet[next(alphabet.len() as u64) as usize]).collect(),
        })
        .collect()
}

#[tokio::test]
async fn fault_28_ten_thousand_random_lines_get_a_response_each() {
    const COUNT: usize = 10_000;
    let project = project_with(&[json!({"command": "cat"})]);
    let mut served = Served::start(&project).await;
    let mut lines = random_lines(COUNT);
    let is_blank = |line: &Vec<u8>| String::from_utf8_lossy(line).trim().is_empty();
    let expected = lines.iter().filter(|line| !is_blank(line)).count();
    assert!((COUNT / 2..COUNT).contains(&expected), "some are blank: {expected}");
    let mut stdin = served.stdin.take().unwrap();
    let sent = async move {
        for line in &mut lines {
            line.push(b'\n');
            tokio::io::AsyncWriteExt::write_all(&mut stdin, line).await.unwrap();
        }
        stdin
    };
    let answered = async {
        for _ in 0..expected {
            let response = served.receive().await;
            assert_eq!(response["type"], "hook-execution-response");
            assert_eq!(response["success"], false, "{response}");
        }
    };
    let (stdin, ()) = tokio::join!(sent, answered);
    served.stdin = Some(stdin);
    let alive = served.ask(&request("SessionEnd", &json!({"reason": "exit"}), "alive")).await;
    assert_eq!(alive["correlationId"], "alive");
    assert_eq!(served.finish().await, (Vec::new(), Some(0)));
}

#[tokio::test]
async fn a_client_of_serve_that_reads_late_still_gets_every_answer() {
    const COUNT: usize = 1_000;
    let project = Project::new();
    project.write("settings.json", "{}");
    let mut served = Served::start(&project).await;
    let mut stdin = served.stdin.take().unwrap();
    // Long enough that pipes and queues fill up while nobody reads.
    let padding = "x".repeat(10_000);
    let mut sending = tokio::spawn(async move {
        for index in 0..COUNT {
            let input = json!({"prompt": padding});
            let line = format!("{}\n", request("BeforeAgent", &input, &index.to_string()));
            tokio::io::AsyncWriteExt::write_all(&mut stdin, line.as_bytes()).await.unwrap();
        }
    });
    // As much as fits is sent before anything is read.
    let _ = tokio::time::timeout(Duration::from_secs(1), &mut sending).await;
    let mut answered = BTreeMap::<String, usize>::new();
    let mut line = String::new();
    while let Ok(Ok(1..)) = tokio::time::timeout(PROMPT, served.stdout.read_line(&mut line)).await {
        let response: Value = json(line.as_bytes());
        *answered.entry(response["correlationId"].as_str().unwrap().to_owned()).or_default() += 1;
        line.clear();
    }
    assert_eq!(answered.len(), COUNT);
    assert!(answered.values().all(|count| *count == 1));
}

#[tokio::test]
async fn waiting_for_a_place_uses_up_no_timeout_but_the_deadline_of_the_request() {
    let hook = |command: &str| json!({"command": command, "timeout": 2_000});
    let project = project_with(&[hook("sleep 1.2"), hook("sleep 1.2 # too")]);
    let limits = RunnerLimits { max_concurrent: 1, ..RunnerLimits::default() };
    let system = project.builder().limits(limits).build().unwrap();
    let response = system.bus().request(prompt("patient")).await;
    let mut queued: Vec<Duration> = response.hooks.iter().map(|hook| hook.queued).collect();
    queued.sort();
    assert!(response.hooks.iter().all(|hook| hook.success), "{:?}", response.hooks);
    // One waited until the other was through, longer than is left of its timeout.
    assert!(queued[0] < queued[1] && queued[1] > Duration::from_secs(1), "{queued:?}");

    let hurried = prompt("hurried").with_deadline(Duration::from_millis(1_500));
    let response = system.bus().request(hurried).await;
    assert_eq!(response.error().unwrap().code.as_str(), "deadline_exceeded");
    project.assert_nothing_runs().await;
}

/// How long twenty hooks take, one after the other.
async fn twenty(system: &HookSystem) -> Duration {
    let begun = Instant::now();
    for _ in 0..20 {
        let end = SessionEndInput::new(SessionEndReason::Exit);
        let response = system.bus().request(HookExecutionRequest::typed(end)).await;
        assert!(response.success() && response.hooks.len() == 1);
    }
    begun.elapsed()
}

#[tokio::test]
async fn two_hundred_groups_on_their_way_out_delay_no_verdict() {
    // The leader goes when it is told to, and something it started does not.
    let command = "(trap '' TERM; exec sleep 1000) & exec sleep 1000";
    let project = Project::with_settings(&json!({"hooks": {
        "BeforeAgent": [{"hooks": [{"type": "command", "command": command, "timeout": 1_000}]}],
        "SessionEnd": [{"hooks": [{"type": "command", "command": "exit 0"}]}]}}));
    let grace = Duration::from_secs(600);
    let limits = RunnerLimits { max_concurrent: 200, grace, ..RunnerLimits::default() };
    let system = project.builder().limits(limits).build().unwrap();
    let alone = twenty(&system).await;
    let fired = (0..200).map(|index| system.bus().request(prompt(&index.to_string())));
    for response in futures::future::join_all(fired).await {
        assert!(response.hooks[0].timed_out());
    }
    let beside = twenty(&system).await;
    assert!(beside < alone * 10 + Duration::from_secs(2), "{beside:?}, alone {alone:?}");
    system.kill();
    system.clean_up().await;
    project.assert_nothing_runs().await;
}
