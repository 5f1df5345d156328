//! Routing of calls to services, and the check of their token.

use std::convert::Infallible;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use hook_bus::HookSystem;
use http::{Request, Response};
use hyper::body::Incoming;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::Service;
use tonic::server::NamedService;
use tonic_health::ServingStatus;
use tonic_health::pb::health_server::HealthServer;
use tonic_health::server::{HealthReporter, HealthService};

use super::body::{CallBody, EndedBody, MemoryBudget, shutting_down};
use super::bus_service::{Bus, MAX_FOLLOWERS};
use super::caller::Caller;
use super::clients::RemoteClients;
use super::hook_service::Hooks;
use super::names::{MAX_REQUEST, MAX_STREAM_MESSAGE};
use super::proto::DESCRIPTORS;
use super::proto::hook_bus::hook_bus_server::HookBusServer;
use super::proto::hooks::hook_service_server::HookServiceServer;
use super::token::BearerToken;

/// The path of the call that opens a client's stream.
const STREAM: &str = "/HookService/HookStream";

/// All services of a server, for all connections.
pub(super) struct Routes {
    hooks: HookServiceServer<Hooks>,
    bus: HookBusServer<Bus>,
    health: HealthServer<HealthService>,
    reporter: HealthReporter,
    reflection: Option<Reflection>,
    budget: MemoryBudget,
    /// The token that calls must have, if one is required.
    token: Option<Arc<BearerToken>>,
    stop: CancellationToken,
    end: CancellationToken,
}

/// A service whose type cannot be named.
type RequestHandler =
    Box<dyn Fn(Request<CallBody>) -> BoxFuture<'static, Response<Body>> + Send + Sync>;

/// The reflection services: the current one, and the one that older clients call.
struct Reflection {
    v1: RequestHandler,
    v1alpha: RequestHandler,
}

impl Reflection {
    fn new() -> Result<Self, tonic_reflection::server::Error> {
        let builder = || {
            tonic_reflection::server::Builder::configure()
                .register_encoded_file_descriptor_set(DESCRIPTORS)
                .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
        };
        let (v1, v1alpha) = (builder().build_v1()?, builder().build_v1alpha()?);
        Ok(Self {
            v1: Box::new(move |request| call_service(v1.clone(), request)),
            v1alpha: Box::new(move |request| call_service(v1alpha.clone(), request)),
        })
    }
}

/// The phases of a server's shutdown.
pub(super) struct Shutdown {
    /// Cancelled when no new work may begin.
    pub(super) stop: CancellationToken,
    /// Cancelled when all work ends at once.
    pub(super) end: CancellationToken,
    /// Tracks the work between the two: unanswered calls and clients' tasks.
    pub(super) tasks: TaskTracker,
}

impl Routes {
    pub(super) async fn new(
        system: &Arc<HookSystem>,
        token: Option<Arc<BearerToken>>,
        shutdown: &Shutdown,
    ) -> Self {
        let Shutdown { stop, end, tasks } = shutdown;
        let clients = RemoteClients::new(system.live_clients(), tasks, stop, end);
        let bus = Bus {
            system: Arc::clone(system),
            followers: Arc::new(Semaphore::new(MAX_FOLLOWERS)),
            tasks: tasks.clone(),
            end: end.clone(),
        };
        let reporter = HealthReporter::new();
        for service in [HookServiceServer::<Hooks>::NAME, HookBusServer::<Bus>::NAME] {
            reporter.set_service_status(service, ServingStatus::Serving).await;
        }
        let reflection = Reflection::new();
        if let Err(error) = &reflection {
            tracing::error!(target: "hook::grpc", "no reflection: {error}");
        }
        Self {
            hooks: HookServiceServer::new(Hooks { clients })
                .max_decoding_message_size(MAX_STREAM_MESSAGE),
            bus: HookBusServer::new(bus).max_decoding_message_size(MAX_REQUEST),
            health: HealthServer::new(HealthService::from_health_reporter(reporter.clone())),
            reporter,
            reflection: reflection.ok(),
            budget: MemoryBudget::new(),
            token,
            stop: stop.clone(),
            end: end.clone(),
        }
    }

    /// Reports to health checks that the server is shutting down.
    pub(super) async fn set_not_serving(&self) {
        for service in ["", HookServiceServer::<Hooks>::NAME, HookBusServer::<Bus>::NAME] {
            self.reporter.set_service_status(service, ServingStatus::NotServing).await;
        }
    }

    /// Returns `true` if a call has the token, or if none is required.
    pub(super) fn is_authorized(&self, request: &Request<Incoming>) -> bool {
        let Some(token) = &self.token else { return true };
        let header = request.headers().get(http::header::AUTHORIZATION);
        header.is_some_and(|value| token.matches(value.as_bytes()))
    }

    /// Answers a permitted call.
    pub(super) fn call(
        &self,
        request: Request<Incoming>,
        caller: Arc<Caller>,
    ) -> BoxFuture<'static, Response<Body>> {
        let path = request.uri().path();
        let is_stream = path == STREAM;
        let service = path.strip_prefix('/').and_then(|path| path.split_once('/'));
        let service = service.map(|(service, _)| service.to_owned()).unwrap_or_default();
        let (mut parts, body) = request.into_parts();
        let reservation = (!is_stream).then(|| self.budget.reserve());
        parts.extensions.insert(caller);
        if let Some(reservation) = &reservation {
            parts.extensions.insert(reservation.clone());
        }
        let request = Request::from_parts(parts, CallBody::new(body, reservation));
        let reflection = self.reflection.as_ref();
        match service.as_str() {
            HookServiceServer::<Hooks>::NAME | HookBusServer::<Bus>::NAME
                if self.stop.is_cancelled() =>
            {
                futures::future::ready(shutting_down().into_http()).boxed()
            }
            HookServiceServer::<Hooks>::NAME => call_service(self.hooks.clone(), request),
            HookBusServer::<Bus>::NAME => call_service(self.bus.clone(), request),
            HealthServer::<HealthService>::NAME => {
                self.until_end(call_service(self.health.clone(), request))
            }
            V1 | V1_ALPHA => self.until_end(match reflection {
                Some(handlers) if service == V1 => (handlers.v1)(request),
                Some(handlers) => (handlers.v1alpha)(request),
                None => unknown_service(&service),
            }),
            _ => unknown_service(&service),
        }
    }

    /// Ends a response without an end of its own when the server ends.
    fn until_end(
        &self,
        answer: BoxFuture<'static, Response<Body>>,
    ) -> BoxFuture<'static, Response<Body>> {
        let end = self.end.clone();
        async move {
            let ended = end.cancelled_owned();
            answer.await.map(|body| Body::new(EndedBody::new(body, ended)))
        }
        .boxed()
    }
}

const V1: &str = tonic_reflection::pb::v1::server_reflection_server::SERVICE_NAME;
const V1_ALPHA: &str = tonic_reflection::pb::v1alpha::server_reflection_server::SERVICE_NAME;

fn unknown_service(service: &str) -> BoxFuture<'static, Response<Body>> {
    let service = hook_json::text::shortened(service);
    let status = Status::unimplemented(format!("this server has no service `{service}`"));
    futures::future::ready(status.into_http()).boxed()
}

/// Returns the response to a call without the token.
pub(super) fn unauthenticated() -> Response<Body> {
    Status::unauthenticated(
        "this server wants its token: metadata `authorization: Bearer …`, from the file that it named at \
         its start",
    )
    .into_http()
}

fn call_service<S>(mut service: S, request: Request<CallBody>) -> BoxFuture<'static, Response<Body>>
where
    S: Service<Request<CallBody>, Response = Response<Body>, Error = Infallible>,
    S::Future: Send + 'static,
{
    // These services are always ready.
    let answer = service.call(request);
    async move {
        match answer.await {
            Ok(response) => response,
            Err(never) => match never {},
        }
    }
    .boxed()
}
