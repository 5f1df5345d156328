//! P1, P2, P9 and P10: what a fire through the bus costs beside the bare pipeline, with no hook
//! to run and with one function of the host.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BenchmarkGroup, Criterion, measurement::WallTime};
use futures::FutureExt;
use futures::stream::{FuturesUnordered, StreamExt};
use hook_bus::HookSystem;
use hook_core::{
    Aggregator, BeforeToolInput, HandlerHook, HookEventName, HookOutput, HookRegistry, HostContext,
    Pipeline, PipelineOutcome, Planner, RawJson, RawObject, RequestInput, RunScope, Runner,
    RunnerHost, RunnerLimits, ToolName, TrustPolicy,
};
use tokio::runtime::Runtime;

const IN_FLIGHT: u64 = 1_000;

pub(crate) fn benchmarks(criterion: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let _entered = runtime.enter();
    for (name, handlers) in [("P1", others(8)), ("P2", one_among(1))] {
        let mut group = criterion.benchmark_group(name);
        limit(&mut group, &handlers);
        fire(&mut group, &runtime, "ours", handlers);
        group.finish();
    }

    let mut group = criterion.benchmark_group("P9");
    fire(&mut group, &runtime, "limit", one_among(10));
    fire(&mut group, &runtime, "ours", one_among(10_000));
    group.finish();

    let mut group = criterion.benchmark_group("P10");
    fire(&mut group, &runtime, "limit", one_among(1));
    many_in_flight(&mut group, &runtime);
    group.finish();
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
    BeforeToolInput {
        tool_name: ToolName::new("write_file").unwrap(),
        tool_input: RawObject::try_from(arguments).unwrap(),
        mcp_context: None,
    }
}

/// The pipeline alone: no bus, no message, no correlation id, no response, no log.
fn limit(group: &mut BenchmarkGroup<'_, WallTime>, handlers: &[HandlerHook]) {
    let runner = Runner::new(RunnerHost {
        project: ".".into(),
        environment: std::env::vars_os().collect(),
        limits: RunnerLimits::default(),
    });
    let runner = Arc::new(runner.unwrap());
    let registry = HookRegistry::new(&[], handlers, &runner, ".".as_ref(), &TrustPolicy::Nothing);
    let pipeline = Pipeline::new(Planner::new(Arc::new(registry)), runner, Aggregator);
    let host = HostContext { session_id: "s".into(), cwd: ".".into(), transcript_path: "".into() };
    let (input, scope) = (input(), RunScope::default());
    group.bench_function("limit", |bencher| {
        bencher.iter(|| {
            let input = RequestInput::from(black_box(&input).clone());
            let plan = pipeline.plan(&input.payload);
            if plan.is_empty() {
                return PipelineOutcome::empty_success();
            }
            let run = pipeline.run(&plan, input.complete(&host), &scope);
            run.now_or_never().unwrap().unwrap()
        });
    });
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

fn fire(
    group: &mut BenchmarkGroup<'_, WallTime>,
    runtime: &Runtime,
    name: &str,
    handlers: Vec<HandlerHook>,
) {
    let (system, input) = (system(runtime, handlers), input());
    group.bench_function(name, |bencher| {
        bencher.to_async(runtime).iter(|| system.fire_before_tool(black_box(&input).clone()));
    });
}

fn many_in_flight(group: &mut BenchmarkGroup<'_, WallTime>, runtime: &Runtime) {
    let (system, input) = (system(runtime, one_among(1)), input());
    // Each iteration is one request, so that the figures compare; a round has many in flight.
    group.bench_function("ours", |bencher| {
        bencher.to_async(runtime).iter_custom(async |iterations| {
            let started = std::time::Instant::now();
            let mut left = iterations;
            while left > 0 {
                let round = left.min(IN_FLIGHT);
                let mut in_flight = FuturesUnordered::new();
                for _ in 0..round {
                    in_flight.push(system.fire_before_tool(black_box(&input).clone()));
                }
                while let Some(result) = in_flight.next().await {
                    black_box(result);
                }
                left -= round;
            }
            started.elapsed()
        });
    });
}
