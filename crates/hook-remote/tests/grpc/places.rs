//! Where a server may be, and who may come in there.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use hook_bus::HookSystem;
use hook_remote::grpc::proto::hook_bus::{FollowRequest, HookExecutionRequest};
use hook_remote::grpc::{GrpcEndpoint, GrpcServer, TlsFiles};
use tokio_util::sync::CancellationToken;
use tonic::metadata::MetadataValue;
use tonic::transport::{Certificate, ClientTlsConfig, Endpoint};
use tonic::{Code, Request};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

use crate::support::{Server, before_tool, pre_tool_use, within};

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[tokio::test]
async fn over_tcp_every_call_needs_the_token() {
    let mut server = Server::tcp().await;
    let (mut hooks, mut bus) = (server.hooks().await, server.bus().await);
    let mut health = HealthClient::new(server.channel().await);
    for token in [None, Some("0".repeat(64))] {
        let right = std::mem::replace(&mut server.token, token);
        let refused = [
            server.register(&mut hooks, pre_tool_use("h"), &[]).await.unwrap_err(),
            server.stream(&mut hooks, &[]).await.err().unwrap(),
            bus.request(server.call(HookExecutionRequest::default(), &[])).await.unwrap_err(),
            bus.follow(server.call(FollowRequest {}, &[])).await.err().unwrap(),
            health.check(server.call(HealthCheckRequest::default(), &[])).await.unwrap_err(),
        ];
        for status in refused {
            assert_eq!(status.code(), Code::Unauthenticated, "{status}");
        }
        server.token = right;
    }
    server.register(&mut hooks, pre_tool_use("h"), &[]).await.unwrap();
    server.end().await;
}

#[tokio::test]
async fn a_token_is_for_its_user_alone_and_goes_with_the_server() {
    let server = Server::tcp().await;
    let path = server.folder.path().join("token");
    assert_eq!(mode(&path), 0o600);
    assert_eq!(server.token.as_ref().unwrap().len(), 64);
    let (stop, served) = (server.stop.clone(), server.served);
    stop.cancel();
    within(served).await.unwrap();
    assert!(!path.exists());

    // One that is left behind is replaced; what is none stays.
    let place: GrpcEndpoint = "127.0.0.1:0".parse().unwrap();
    std::fs::write(&path, format!("{}\n", "a".repeat(64))).unwrap();
    drop(GrpcServer::bind(&place, None, Some(&path)).await.unwrap());
    std::fs::write(&path, "my diary").unwrap();
    let error = GrpcServer::bind(&place, None, Some(&path)).await.unwrap_err().to_string();
    assert!(error.contains("something else"), "{error}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "my diary");
}

#[tokio::test]
async fn a_socket_is_for_its_user_alone_and_goes_with_the_server() {
    let server = Server::unix().await;
    let path = server.folder.path().join("grpc.sock");
    assert_eq!(mode(&path), 0o600);
    let taken = GrpcServer::bind(&server.place.parse().unwrap(), None, None).await.unwrap_err();
    assert!(taken.to_string().contains("listens there already"), "{taken}");
    let folder = server.folder.path().to_owned();
    server.stop.cancel();
    within(server.served).await.unwrap();
    assert!(!path.exists());

    let open = folder.join("open");
    std::fs::create_dir(&open).unwrap();
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o777)).unwrap();
    let place = format!("unix:{}", open.join("s").display()).parse().unwrap();
    let error = GrpcServer::bind(&place, None, None).await.unwrap_err().to_string();
    assert!(error.contains("other users can write"), "{error}");
}

#[tokio::test]
async fn outside_of_loopback_it_must_be_encrypted() {
    let folder = tempfile::tempdir().unwrap();
    let token = folder.path().join("token");
    let everywhere: GrpcEndpoint = "0.0.0.0:0".parse().unwrap();
    let error = GrpcServer::bind(&everywhere, None, Some(&token)).await.unwrap_err();
    assert!(error.to_string().contains("--tls-cert"), "{error}");
    for wrong in ["", "unix:", "7000", ":7000", "host:port", "host:70000"] {
        assert!(wrong.parse::<GrpcEndpoint>().is_err(), "{wrong}");
    }

    let certificates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/certificate");
    let tls = TlsFiles {
        certificate: certificates.join("localhost.pem"),
        key: certificates.join("localhost.key.pem"),
    };
    let server = GrpcServer::bind(&everywhere, Some(&tls), Some(&token)).await.unwrap();
    let port = server.endpoint().to_string().rsplit_once(':').unwrap().1.to_owned();
    let system = Arc::new(HookSystem::builder(folder.path()).build().unwrap());
    let stop = CancellationToken::new();
    let served = tokio::spawn({
        let (system, stop) = (Arc::clone(&system), stop.clone());
        async move { server.serve(&system, &stop).await }
    });
    let trusted = ClientTlsConfig::new()
        .ca_certificate(Certificate::from_pem(std::fs::read(&tls.certificate).unwrap()))
        .domain_name("localhost");
    let channel = Endpoint::from_shared(format!("https://127.0.0.1:{port}")).unwrap();
    let channel = within(channel.tls_config(trusted).unwrap().connect()).await.unwrap();
    let mut bus = hook_remote::grpc::proto::hook_bus::hook_bus_client::HookBusClient::new(channel);
    let mut request = Request::new(HookExecutionRequest {
        json: before_tool("ls", "c").to_string().into_bytes(),
    });
    let bearer = format!("Bearer {}", std::fs::read_to_string(&token).unwrap().trim());
    request.metadata_mut().insert("authorization", MetadataValue::try_from(bearer).unwrap());
    within(bus.request(request)).await.unwrap();
    // In the clear nothing is said.
    let clear = Endpoint::from_shared(format!("http://127.0.0.1:{port}")).unwrap();
    if let Ok(channel) = within(clear.connect()).await {
        let mut bus =
            hook_remote::grpc::proto::hook_bus::hook_bus_client::HookBusClient::new(channel);
        within(bus.request(HookExecutionRequest::default())).await.unwrap_err();
    }
    stop.cancel();
    within(served).await.unwrap();
}
