//! P7, P8 and P13: what a call to a process that stays alive costs, beside passing the same bytes by
//! hand, and beside a process for each event.

use std::io::{stdin, stdout};
use std::process::Command;
use std::time::Duration;

use futures::stream::{FuturesUnordered, StreamExt};
use hook_bus::HookSystem;
use hook_protocol::RequestInput;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::by_hand;
use crate::commands::{before_tool, runtime, stdin_of_a_hook};
use crate::processors::{Placement, Processors};
use crate::project::Project;
use crate::server::Server;
use crate::table::{self, P7_TOGETHER};
use crate::turns::{Request, Side};

/// What makes this program a [worker](be_worker); its value is the file that keeps what it was told, if
/// it is not empty.
const WORKER: &str = "HOOK_BENCH_WORKER";

const IN_FLIGHT: usize = 1_000;

const PYTHON_WORKER: &str = r#"import json, sys
print('{"type": "hook-worker", "protocol": 1}', flush=True)
for line in sys.stdin:
    call = json.loads(line)
    if call["type"] == "hook-call":
        print(json.dumps({"type": "hook-answer", "callId": call["callId"], "output": {}}), flush=True)
"#;

const PYTHON_HOOK: &str = "import json, sys\njson.load(sys.stdin)\nprint('{}')\n";

/// Whether this process is a worker.
pub(crate) fn is_worker() -> bool {
    std::env::var_os(WORKER).is_some()
}

/// Answers each call with `{}`: the least that a worker can do.
pub(crate) fn be_worker() {
    const ID: &[u8] = b"\"callId\":\"";
    let kept = std::env::var(WORKER).unwrap();
    rustix::io::write(stdout(), b"{\"type\":\"hook-worker\",\"protocol\":1}\n").unwrap();
    let (mut buffer, mut filled, mut answers) = (vec![0; 1 << 20], 0, Vec::new());
    loop {
        let read = rustix::io::read(stdin(), &mut buffer[filled..]).unwrap();
        if read == 0 {
            return;
        }
        filled += read;
        let mut begin = 0;
        while let Some(length) = buffer[begin..filled].iter().position(|byte| *byte == b'\n') {
            let line = &buffer[begin..begin + length];
            begin += length + 1;
            if !kept.is_empty() {
                std::fs::write(&kept, line).unwrap();
            }
            // Messages that are no calls have none, or one that is answered in vain.
            let Some(at) = line.windows(ID.len()).position(|window| window == ID) else { continue };
            let id = line[at + ID.len()..].split(|byte| *byte == b'"').next().unwrap();
            answers.extend_from_slice(b"{\"type\":\"hook-answer\",\"callId\":\"");
            answers.extend_from_slice(id);
            answers.extend_from_slice(b"\",\"output\":{}}\n");
        }
        buffer.copy_within(begin..filled, 0);
        filled -= begin;
        let mut written = 0;
        while written < answers.len() {
            written += rustix::io::write(stdout(), &answers[written..]).unwrap();
        }
        answers.clear();
    }
}

/// The program that is one.
fn own() -> String {
    std::env::current_exe().unwrap().display().to_string()
}

fn rust_worker(kept: &str) -> Value {
    json!({"type": "worker", "command": format!("exec '{}'", own()), "env": {WORKER: kept}})
}

/// A project with a worker that does the least that one can do.
pub(crate) fn project() -> Project {
    with_hook(&rust_worker(""))
}

/// A project with that one hook.
fn with_hook(hook: &Value) -> Project {
    let project = Project::new();
    let settings = json!({"hooks": {"BeforeTool": [{"hooks": [hook]}]}});
    std::fs::write(project.settings(), settings.to_string()).unwrap();
    project
}

fn fire(runtime: &Runtime, system: &HookSystem, input: &RequestInput) {
    let result = runtime.block_on(system.fire(input.clone()));
    assert!(result.aggregated.success, "{:?}", result.warnings);
}

fn end(runtime: &Runtime, system: &HookSystem) {
    runtime.block_on(system.shutdown(Duration::from_secs(5)));
}

/// What a worker is told of an event.
fn call(runtime: &Runtime, input: &RequestInput) -> Vec<u8> {
    let folder = Project::new();
    let kept = folder.path().join("call");
    let project = with_hook(&rust_worker(&kept.display().to_string()));
    let system = project.system();
    fire(runtime, &system, input);
    let mut line = std::fs::read(kept).unwrap();
    end(runtime, &system);
    line.push(b'\n');
    line
}

pub(crate) fn measure(request: &Request) {
    let (runtime, input) = (runtime(), before_tool());
    let project = project();
    let processors = Processors::take();
    for (name, placement) in [("P7", Placement::Apart), (P7_TOGETHER, Placement::Together)] {
        if request.wants("P7") && processors.allow(placement) {
            let line = call(&runtime, &input);
            let system = project.system();
            // The first call starts it.
            processors.start(placement, || fire(&runtime, &system, &input));
            let mut peer = Command::new(own());
            peer.env(WORKER, "");
            let mut peer = processors.start(placement, || Server::start(peer));
            assert!(peer.receive().starts_with(b"{\"type\":\"hook-worker\""));
            let mut limit = || {
                peer.ask(&line);
            };
            let mut ours = || fire(&runtime, &system, &input);
            let figures =
                request.measure(Duration::from_secs(6), Side::of(&mut limit), Side::of(&mut ours));
            table::print(name, figures);
            peer.end();
            end(&runtime, &system);
        }
    }
    drop(processors);
    if request.wants("P8") {
        let project = with_hook(&json!({"type": "worker", "command": "exec python3 worker.py"}));
        for (name, text) in [("worker.py", PYTHON_WORKER), ("hook.py", PYTHON_HOOK)] {
            std::fs::write(project.path().join(name), text).unwrap();
        }
        let hook = format!("python3 '{}'", project.path().join("hook.py").display());
        let system = project.system();
        fire(&runtime, &system, &input);
        let told = stdin_of_a_hook();
        let mut limit = || drop(by_hand::finish(by_hand::start(&hook), &told));
        let mut ours = || fire(&runtime, &system, &input);
        let figures =
            request.measure(Duration::from_secs(8), Side::of(&mut limit), Side::of(&mut ours));
        table::print("P8", figures);
        end(&runtime, &system);
    }
    if request.wants("P13") {
        let system = project.system();
        fire(&runtime, &system, &input);
        let mut limit = || (0..100).for_each(|_| fire(&runtime, &system, &input));
        let mut ours = || {
            runtime.block_on(async {
                let in_flight: FuturesUnordered<_> =
                    (0..IN_FLIGHT).map(|_| system.fire(input.clone())).collect();
                in_flight.for_each(async |result| assert!(result.aggregated.success)).await;
            });
        };
        let figures = request.measure(
            Duration::from_secs(6),
            Side::batch(100, &mut limit),
            Side::batch(IN_FLIGHT, &mut ours),
        );
        table::print("P13", figures);
        end(&runtime, &system);
    }
}
