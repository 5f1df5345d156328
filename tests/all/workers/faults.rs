//! Everything that a worker can do wrong: the call fails, a guard blocks, nothing hangs.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{PROMPT, end, fire, is_blocked, project, why};

/// What it does, how its settings differ, and what is said of it.
fn faults() -> Vec<(&'static str, Value, &'static str)> {
    let none = || json!({});
    vec![
        ("print('hello')", none(), "it sent a line that is no message: "),
        ("ready()\nnext(calls())\nprint('hello', flush=True)\ntime.sleep(1000)", none(), "(hello)"),
        (
            "ready()\nnext(calls())\nsay(type='hook-nonsense')",
            none(),
            "no message \"hook-nonsense\"",
        ),
        ("ready()\nnext(calls())\nsay(no='type')", none(), "it has no `type`"),
        ("ready()\nnext(calls())\nprint('[]', flush=True)", none(), "is no message"),
        (
            "ready()\nprint('{\"type\":\"hook-log\",\"type\":\"hook-log\"}', flush=True)\ntime.sleep(9)",
            none(),
            "`type` stands twice",
        ),
        ("ready()\nanswer(next(calls()), output='text')", none(), "`output` is no object"),
        (
            "ready()\nnext(calls())\nsys.stdout.buffer.write(b'\\xff\\xfe\\n')\nsys.stdout.flush()",
            none(),
            "is no message",
        ),
        (
            "ready()\nnext(calls())\nprint('x' * 5_000_000, flush=True)\ntime.sleep(1000)",
            none(),
            "it sent a line of 5000000 bytes, and a line may have 4194304",
        ),
        (
            "ready()\nnext(calls())\nwhile True: sys.stdout.write('x' * 100_000)",
            json!({"timeout": 1_500}),
            "timed out",
        ),
        (
            "ready()\nnext(calls())\nsys.stdout.write('{\"type\":'); sys.stdout.flush(); os._exit(4)",
            none(),
            "is no message",
        ),
        (
            "say(type='hook-answer', callId='1')",
            none(),
            "it answered before it had said that it is ready",
        ),
        (
            "time.sleep(1000)",
            json!({"startTimeout": 300}),
            "it did not say that it is ready within 300ms",
        ),
        (
            "while True: say(type='hook-log', message='soon')",
            json!({"startTimeout": 300}),
            "it did not say that it is ready within 300ms",
        ),
        ("ready()\nos.close(0)\ntime.sleep(1000)", none(), "it closed its standard input"),
        ("ready()\nos.close(0)\nprint('bye', flush=True)\ntime.sleep(9)", none(), "(bye)"),
        ("ready()\nos.close(0)\nos.close(1)\ntime.sleep(9)", none(), "it closed its standard"),
        ("sys.exit(5)", none(), "it exited with code 5"),
        ("ready()\nsys.exit(0)", none(), "it exited with code 0"),
        ("os.kill(os.getpid(), 9)", none(), "it was ended by SIGKILL"),
        ("ready()\nnext(calls())\nraise KeyError('path')", none(), "KeyError: 'path'"),
        (
            "say(type='hook-worker', protocol=0)\ntime.sleep(9)",
            none(),
            "it speaks protocol 0, and this engine speaks 1",
        ),
        (
            "say(type='hook-worker', protocol='zwei')\ntime.sleep(9)",
            none(),
            "it speaks protocol \"zwei\", and this engine speaks 1",
        ),
        (
            "ready()\nnext(calls())\nsay(type='hook-answer', callId=7)\ntime.sleep(1000)",
            none(),
            "no message: field `callId`: expected a string, found 7",
        ),
        ("say(type='hook-worker', hooks=7)\ntime.sleep(9)", none(), "its `hooks` are no array"),
        (
            "say(type='hook-worker', hooks=[{}] * 300)\ntime.sleep(9)",
            none(),
            "it has 300 hooks, and may have 256",
        ),
        ("", json!({"command": "exec /does/not/exist"}), "it exited with code 127"),
        ("", json!({"command": "exit 3"}), "it exited with code 3"),
        ("", json!({"command": "echo; echo '  '; echo no"}), "is no message"),
    ]
}

#[tokio::test]
async fn each_fault_fails_its_call_and_a_guard_blocks() {
    for (body, more, part) in faults() {
        for behavior in ["block", "continue"] {
            let mut more = more.clone();
            more["failBehavior"] = json!(behavior);
            let project = project(body, more);
            let system = project.system();
            for time in ["first", "second"] {
                let begun = Instant::now();
                let response = fire(&system, "t").await;
                assert!(begun.elapsed() < PROMPT);
                assert!(why(&response).contains(part), "{time} {body}: {}", why(&response));
                assert_eq!(is_blocked(&response), behavior == "block", "{body}");
                let said = response.processed.warnings.iter().any(|it| it.contains(part));
                assert!(said, "{body}: {:?}", response.processed.warnings);
            }
            end(&project, system).await;
        }
    }
}

/// Workers in other languages; one line is all that a shell needs.
#[tokio::test]
async fn a_shell_script_can_be_one() {
    let script = r#"echo '{"type":"hook-worker"}'
while IFS= read -r line; do
  case $line in
  *'"hook-call"'*) id=${line#*'"callId":"'}; id=${id%%'"'*}
    echo '{"type":"hook-answer","callId":"'"$id"'","action":"block","reason":"sh"}' ;;
  esac
done"#;
    for shell in ["sh", "bash"] {
        let project =
            project("", json!({"command": format!("{shell} \"$HOOK_PROJECT_DIR/w.sh\"")}));
        project.write("w.sh", script);
        let system = project.system();
        for _ in 0..3 {
            let response = fire(&system, "t").await;
            assert_eq!(response.processed.reason.as_deref(), Some("sh"), "{}", why(&response));
        }
        end(&project, system).await;
    }
}

/// The end of a long standard error is what is shown.
#[tokio::test]
async fn the_end_of_its_standard_error_is_in_its_failure() {
    let project = project(
        "
ready()
next(calls())
for line in range(10_000): print('line', line, file=sys.stderr)
sys.stderr.flush()
os._exit(1)
",
        json!({}),
    );
    let system = project.system();
    let said = why(&fire(&system, "t").await);
    assert!(said.contains("line 9999"), "{said}");
    assert!(!said.contains("line 1\\n") && said.len() < 40_000, "{}", said.len());
    end(&project, system).await;
}

/// The engine goes on when one of two workers does not.
#[tokio::test]
async fn a_broken_one_does_not_harm_another() {
    let project = hook_tests::Project::new();
    let bad = super::worker(&project, "ready()\nnext(calls())\nprint('no')");
    project.write("good.py", "from prelude import *\nready()\nfor call in calls(): answer(call, action='block', reason='good')\n");
    let good = json!({"type": "worker", "name": "good", "command": "exec python3 -B good.py"});
    let settings = json!({"hooks": {"BeforeTool": [{"hooks": [bad, good]}]}});
    project.write("settings.json", &settings.to_string());
    let system = project.system();
    for _ in 0..3 {
        let response = fire(&system, "t").await;
        assert_eq!(response.processed.reason.as_deref(), Some("good"));
        assert_eq!(response.hooks.iter().filter(|it| it.success).count(), 1);
    }
    tokio::time::timeout(Duration::from_secs(20), end(&project, system)).await.unwrap();
}
