//! How a worker ends when it is needed no more; nothing of it is left.

use std::time::{Duration, Instant};

use hook_run::RunnerLimits;
use serde_json::json;

use super::{PROMPT, fire, project, until, why};

#[tokio::test]
async fn one_that_listens_ends_by_itself() {
    for (name, body) in [
        (
            "told",
            "
ready()
for message in messages():
    if message['type'] == 'hook-close':
        note('end', message['reason'])
        sys.exit(0)
    if message['type'] == 'hook-call': answer(message)
",
        ),
        (
            "end of input",
            "
ready()
for call in calls(): answer(call)
note('end', 'shutdown')
",
        ),
        (
            "TERM",
            "
def end(*_):
    note('end', 'shutdown')
    os._exit(0)
signal.signal(signal.SIGTERM, end)
ready()
for call in calls(): answer(call)
while True: time.sleep(1)
",
        ),
    ] {
        let project = project(body, json!({}));
        let limits = RunnerLimits { grace: Duration::from_secs(60), ..RunnerLimits::default() };
        let system = project.builder().limits(limits).build().unwrap();
        assert_eq!(why(&fire(&system, "t").await), "", "{name}");
        let begun = Instant::now();
        system.shutdown(Duration::from_secs(5)).await;
        assert!(begun.elapsed() < PROMPT, "{name}");
        assert_eq!(project.read("end"), "shutdown\n", "{name}");
        assert_eq!(project.processes(), [], "{name}");
    }
}

/// Whatever it does, it is gone when the shutdown is.
#[tokio::test]
async fn one_that_does_not_listen_is_killed_with_all_that_it_started() {
    for (name, body) in [
        (
            "ignores TERM",
            "
signal.signal(signal.SIGTERM, signal.SIG_IGN)
ready()
for call in calls(): answer(call)
while True: time.sleep(1)
",
        ),
        (
            "has children that have children",
            "
child = 'trap \"\" TERM; (trap \"\" TERM; while :; do sleep 1; done) & while :; do sleep 1; done'
subprocess.Popen(['bash', '-c', child], stdin=subprocess.DEVNULL)
ready()
for call in calls(): answer(call)
",
        ),
        (
            "floods standard error",
            "
def flood():
    while True: os.write(2, b'x' * 60000 + b'\\n')
threading.Thread(target=flood, daemon=True).start()
ready()
for call in calls(): answer(call)
while True: time.sleep(1)
",
        ),
        (
            "floods standard output",
            "
ready()
for call in calls():
    answer(call)
    while True: say(type='hook-log', level='debug', message='x')
",
        ),
    ] {
        let project = project(body, json!({}));
        let limits = RunnerLimits { grace: Duration::from_millis(300), ..RunnerLimits::default() };
        let system = project.builder().limits(limits).build().unwrap();
        assert_eq!(why(&fire(&system, "t").await), "", "{name}");
        let begun = Instant::now();
        system.shutdown(Duration::from_secs(5)).await;
        assert!(begun.elapsed() < PROMPT, "{name}");
        let left = project.processes();
        project.kill_processes();
        assert_eq!(left, [], "{name}");
    }
}

/// Closing its output is the end of the conversation, and of the process with it.
#[tokio::test]
async fn one_that_closes_its_output_and_lives_on_is_ended() {
    let project = project(
        "
ready()
next(calls())
os.close(1)
while True: time.sleep(1)
",
        json!({"failBehavior": "block"}),
    );
    let limits = RunnerLimits { grace: Duration::from_millis(300), ..RunnerLimits::default() };
    let system = project.builder().limits(limits).build().unwrap();
    let response = fire(&system, "t").await;
    assert_eq!(why(&response), "it closed its standard output");
    assert!(super::is_blocked(&response));
    project.assert_nothing_runs().await;
    system.shutdown(Duration::ZERO).await;
}

/// What it left running in its group goes with it, also when it ended by itself.
#[tokio::test]
async fn children_of_one_that_died_are_ended() {
    let project = project(
        "
subprocess.Popen(['bash', '-c', 'while :; do sleep 1; done'], stdin=subprocess.DEVNULL,
    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
ready()
next(calls())
os._exit(1)
",
        json!({}),
    );
    let system = project.system();
    assert!(why(&fire(&system, "t").await).contains("code 1"));
    project.assert_nothing_runs().await;
    system.shutdown(Duration::ZERO).await;
}

#[tokio::test]
async fn a_shutdown_ends_one_that_is_starting_or_waits_to_be() {
    let slow = project("time.sleep(1000)", json!({"start": "eager"}));
    let system = slow.system();
    system.initialize().await.unwrap();
    slow.appears("started").await;
    super::end(&slow, system).await;

    let dead = project("sys.exit(1)", json!({}));
    let system = dead.system();
    for _ in 0..4 {
        fire(&system, "t").await;
    }
    // Its next start is most of a second away.
    let waiting = tokio::spawn({
        let bus = system.bus().clone();
        async move { bus.request(super::request("t")).await }
    });
    until(&system, "starting").await;
    system.shutdown(Duration::ZERO).await;
    let response = tokio::time::timeout(PROMPT, waiting).await.unwrap().unwrap();
    assert!(response.processed.failure.is_some() || !why(&response).is_empty());
    assert_eq!(super::started(&dead).len(), 4);
}

/// A system that is only dropped ends its workers, too.
#[tokio::test]
async fn a_dropped_system_leaves_nothing() {
    let project = project("ready()\nfor call in calls(): answer(call)\n", json!({}));
    let system = project.system();
    fire(&system, "t").await;
    drop(system);
    project.assert_nothing_runs().await;
}
