//! P1, P2, P9, P10 and P15: what a fire through the bus costs beside the bare pipeline, with no hook
//! to run and with one function of the host.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::stream::{FuturesUnordered, StreamExt};
use hook_bus::HookSystem;
use hook_core::{HookRegistry, Pipeline, PipelineOutcome};
use hook_json::{RawJson, RawObject};
use hook_protocol::{
    BeforeToolInput, Events, HookEventName, HookOutput, HostContext, RequestInput, ToolName,
};
use hook_run::{HandlerHook, RunScope, Runner, RunnerHost, RunnerLimits};
use hook_settings::Agents;
use hook_trust::TrustPolicy;
use tokio::runtime::Runtime;

use crate::table;
use crate::turns::{Request, Side};

/// How many fires make a turn, so that a turn takes much longer than looking at the clock.
const TOGETHER: usize = 200;

const IN_FLIGHT: usize = 1_000;

pub(crate) fn measure(request: &Request) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let _entered = runtime.enter();
    let compare = |name: &str, limit: &mut dyn FnMut(usize), ours: &mut dyn FnMut(usize)| {
        let pieces = if name == "P10" { IN_FLIGHT } else { TOGETHER };
        let (mut limit, mut ours) = (|| limit(pieces), || ours(pieces));
        let (limit, ours) = (Side::batch(pieces, &mut limit), Side::batch(pieces, &mut ours));
        table::print(name, request.measure(Duration::from_secs(4), limit, ours));
    };
    for (name, handlers) in [("P1", others(8)), ("P2", one_among(1))] {
        if request.wants(name) {
            compare(name, &mut pipeline(&handlers), &mut fire(&runtime, handlers));
        }
    }
    if request.wants("P9") {
        let few = &mut fire(&runtime, one_among(10));
        compare("P9", few, &mut fire(&runtime, one_among(10_000)));
    }
    if request.wants("P15") {
        let few = &mut register(&runtime, one_among(10));
        compare("P15", few, &mut register(&runtime, one_among(10_000)));
    }
    if request.wants("P10") {
        let one = &mut fire(&runtime, one_among(1));
        compare("P10", one, &mut many_in_flight(&runtime));
    }
}

/// Handlers for other tools than the one that is asked about.
fn others(count: usize) -> Vec<HandlerHook> {
    let name = |index| format!("tool_{index}");
    let of_tool = |index| answering(&name(index)).matcher(format!("^{}$", name(index)));
    (0..count).map(of_tool).collect()
}

/// One handler that matches, among others that do not.
fn one_among(count: usize) -> Vec<HandlerHook> {
    let mut handlers = others(count - 1);
    handlers.insert(handlers.len() / 2, answering("guard").matcher("write_file|edit"));
    handlers
}

fn answering(name: &str) -> HandlerHook {
    HandlerHook::inline(HookEventName::BeforeTool, name, |_| Ok(Some(HookOutput::allow())))
}

fn input() -> BeforeToolInput {
    let arguments = RawJson::parse(r#"{"path":"src/main.rs","content":"fn main() {}"}"#).unwrap();
    BeforeToolInput::new(
        ToolName::new("write_file").unwrap(),
        RawObject::try_from(arguments).unwrap(),
    )
}

/// The pipeline alone: no bus, no message, no correlation id, no response, no log.
fn pipeline(handlers: &[HandlerHook]) -> impl FnMut(usize) + use<> {
    let runner = Runner::new(RunnerHost {
        project: ".".into(),

        workspace: Vec::new(),
        environment: std::env::vars_os().collect(),
        limits: RunnerLimits::default(),
    });
    let runner = Arc::new(runner.unwrap());
    let registry = HookRegistry::new(
        &[],
        handlers,
        &runner,
        &TrustPolicy::Nothing,
        &Agents::known([]),
        &mut Events::built_in(),
    );
    let pipeline = Pipeline::new(Arc::new(registry), runner);
    let host = HostContext { session_id: "s".into(), cwd: ".".into(), transcript_path: "".into() };
    let (input, scope) = (input(), RunScope::default());
    move |times| {
        for _ in 0..times {
            let input = RequestInput::from(black_box(&input).clone());
            let plan = pipeline.registry().plan(&input, &host);
            black_box(if plan.is_empty() {
                PipelineOutcome::empty_success()
            } else {
                let run = pipeline.run(&plan, input.complete(&host), &scope);
                run.now_or_never().unwrap().unwrap()
            });
        }
    }
}

fn system(runtime: &Runtime, handlers: Vec<HandlerHook>) -> HookSystem {
    let mut builder = HookSystem::builder(".");
    for handler in handlers {
        builder = builder.handler(handler);
    }
    let system = builder.build().unwrap();
    runtime.block_on(system.initialize()).unwrap();
    system
}

fn fire(runtime: &Runtime, handlers: Vec<HandlerHook>) -> impl FnMut(usize) {
    let (system, input) = (system(runtime, handlers), input());
    move |times| {
        runtime.block_on(async {
            for _ in 0..times {
                black_box(system.fire_before_tool(black_box(&input).clone()).await);
            }
        });
    }
}

/// Registers a hook and drops it again.
fn register(runtime: &Runtime, handlers: Vec<HandlerHook>) -> impl FnMut(usize) {
    let (system, hook) = (system(runtime, handlers), answering("late").matcher("edit"));
    move |times| {
        for _ in 0..times {
            drop(black_box(system.register(black_box(&hook).clone()).unwrap()));
        }
    }
}

fn many_in_flight(runtime: &Runtime) -> impl FnMut(usize) {
    let (system, input) = (system(runtime, one_among(1)), input());
    move |times| {
        runtime.block_on(async {
            let in_flight: FuturesUnordered<_> =
                (0..times).map(|_| system.fire_before_tool(black_box(&input).clone())).collect();
            in_flight.for_each(async |result| drop(black_box(result))).await;
        });
    }
}
