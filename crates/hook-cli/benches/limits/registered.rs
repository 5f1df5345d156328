//! P14: what a call to a hook costs that a client registered, beside a call to a worker of the same
//! work. Over gRPC in builds that have it: `cargo limits --features remote P14`.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::Duration;

use hook_bus::HookSystem;
use hook_bus::wire::SocketServer;
use hook_protocol::RequestInput;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use crate::commands::{before_tool, runtime};
use crate::processors::{Placement, Processors};
use crate::project::Project;
use crate::table::{self, P14_GRPC};
use crate::turns::{Request, Side};
use crate::workers;

/// What makes this program a [client](be_client); its value is where the server listens.
const CLIENT: &str = "HOOK_BENCH_CLIENT";

const REGISTER: &[u8] =
    b"{\"type\":\"hook-register\",\"hookId\":\"bench\",\"eventName\":\"BeforeTool\"}\n";

/// Whether this process is a client.
pub(crate) fn is_client() -> bool {
    std::env::var_os(CLIENT).is_some()
}

/// Registers a hook, and answers each call with `{}`: the least that a client can do.
pub(crate) fn be_client() {
    let place = std::env::var(CLIENT).unwrap();
    match place.strip_prefix("grpc:") {
        Some(place) => grpc::be_client(place),
        None => over_socket(&place),
    }
}

fn over_socket(place: &str) {
    const ID: &str = "\"callId\":\"";
    let mut stream = UnixStream::connect(place).unwrap();
    stream.write_all(REGISTER).unwrap();
    let mut lines = BufReader::new(stream.try_clone().unwrap());
    let mut line = String::new();
    while lines.read_line(&mut line).is_ok_and(|read| read > 0) {
        if let Some((_, rest)) = line.split_once(ID) {
            let id = rest.split('"').next().unwrap();
            let answer =
                format!("{{\"type\":\"hook-answer\",\"callId\":\"{id}\",\"output\":{{}}}}\n");
            stream.write_all(answer.as_bytes()).unwrap();
        }
        line.clear();
    }
}

/// An engine that a client has registered its hook with.
struct Served {
    system: Arc<HookSystem>,
    client: Child,
    stop: CancellationToken,
    _project: Project,
}

impl Served {
    /// Waits until the client's hook is there.
    fn start(
        runtime: &Runtime,
        processors: &Processors,
        serve: impl FnOnce(&Project, Arc<HookSystem>, CancellationToken) -> String,
    ) -> Self {
        let project = Project::new();
        let system = Arc::new(project.system());
        let stop = CancellationToken::new();
        let place = serve(&project, Arc::clone(&system), stop.clone());
        let mut client = Command::new(std::env::current_exe().unwrap());
        client.env(CLIENT, place);
        let client = processors.start(Placement::Apart, || client.spawn().unwrap());
        runtime.block_on(async {
            while system.registrations().is_empty() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        });
        Self { system, client, stop, _project: project }
    }

    fn end(mut self, runtime: &Runtime) {
        self.client.kill().unwrap();
        self.client.wait().unwrap();
        self.stop.cancel();
        runtime.block_on(self.system.shutdown(Duration::from_secs(5)));
    }
}

fn fire(runtime: &Runtime, system: &HookSystem, input: &RequestInput) {
    let result = runtime.block_on(system.fire(input.clone()));
    assert!(
        result.aggregated.success && !result.aggregated.all_outputs.is_empty(),
        "{:?}",
        result.warnings
    );
}

pub(crate) fn measure(request: &Request) {
    if !request.wants("P14") {
        return;
    }
    let (runtime, input) = (runtime(), before_tool());
    let processors = Processors::take();
    if !processors.allow(Placement::Apart) {
        return;
    }
    let with_worker = workers::project();
    let worker = with_worker.system();
    processors.start(Placement::Apart, || fire(&runtime, &worker, &input));
    let socket = Served::start(&runtime, &processors, |project, system, stop| {
        let place = project.path().join("bench.sock");
        let server = runtime.block_on(SocketServer::bind(&place)).unwrap();
        runtime.spawn(async move { server.serve(&system, &stop).await });
        place.display().to_string()
    });
    compare(request, "P14", &runtime, &input, &worker, &socket);
    socket.end(&runtime);
    if let Some(grpc) = grpc::serve(&runtime, &processors) {
        compare(request, P14_GRPC, &runtime, &input, &worker, &grpc);
        grpc.end(&runtime);
    }
    runtime.block_on(worker.shutdown(Duration::from_secs(5)));
}

fn compare(
    request: &Request,
    row: &str,
    runtime: &Runtime,
    input: &RequestInput,
    worker: &HookSystem,
    served: &Served,
) {
    let mut limit = || fire(runtime, worker, input);
    let mut ours = || fire(runtime, &served.system, input);
    let figures =
        request.measure(Duration::from_secs(6), Side::of(&mut limit), Side::of(&mut ours));
    table::print(row, figures);
}

#[cfg(feature = "remote")]
mod grpc {
    use futures::StreamExt;
    use hook_remote::grpc::proto::hooks::hook_service_client::HookServiceClient;
    use hook_remote::grpc::proto::hooks::{HookAction, HookResponse, RegisterHookRequest};
    use hook_remote::grpc::tonic::Request;
    use hook_remote::grpc::tonic::metadata::MetadataValue;
    use hook_remote::grpc::tonic::transport::Endpoint;
    use hook_remote::grpc::{GrpcEndpoint, GrpcServer};

    use super::{Processors, Runtime, Served};

    fn call<T>(message: T) -> Request<T> {
        let mut request = Request::new(message);
        request.metadata_mut().insert("hook-client-id", MetadataValue::from_static("bench"));
        request
    }

    pub(super) fn serve(runtime: &Runtime, processors: &Processors) -> Option<Served> {
        Some(Served::start(runtime, processors, |project, system, stop| {
            let place = format!("unix:{}", project.path().join("grpc.sock").display());
            let parsed: GrpcEndpoint = place.parse().unwrap();
            let server = runtime.block_on(GrpcServer::bind(&parsed, None, None)).unwrap();
            runtime.spawn(async move { server.serve(&system, &stop).await });
            format!("grpc:{place}")
        }))
    }

    pub(super) fn be_client(place: &str) {
        super::runtime().block_on(async {
            let channel = Endpoint::from_shared(place.to_owned()).unwrap().connect().await.unwrap();
            let mut hooks = HookServiceClient::new(channel);
            let register = RegisterHookRequest {
                hook_id: "bench".to_owned(),
                event_type: "PreToolUse".to_owned(),
                ..RegisterHookRequest::default()
            };
            hooks.register_hook(call(register)).await.unwrap();
            let (answers, sent) = futures::channel::mpsc::unbounded();
            let mut events = hooks.hook_stream(call(sent)).await.unwrap().into_inner();
            while let Some(Ok(event)) = events.next().await {
                let answer = HookResponse {
                    call_id: event.call_id,
                    action: HookAction::Continue.into(),
                    ..HookResponse::default()
                };
                answers.unbounded_send(answer).unwrap();
            }
        });
    }
}

#[cfg(not(feature = "remote"))]
mod grpc {
    use super::{Processors, Runtime, Served};

    pub(super) fn serve(_: &Runtime, _: &Processors) -> Option<Served> {
        None
    }

    pub(super) fn be_client(_: &str) {}
}
