//! `hook serve --grpc`, through the binary.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that finds something else fails"
)]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use hook_remote::grpc::proto::hook_bus::HookExecutionRequest;
use hook_remote::grpc::proto::hook_bus::hook_bus_client::HookBusClient;
use hook_remote::grpc::proto::hooks::hook_service_client::HookServiceClient;
use hook_remote::grpc::proto::hooks::{HookAction, HookConfig, HookResponse, RegisterHookRequest};
use hook_remote::grpc::tonic::metadata::MetadataValue;
use hook_remote::grpc::tonic::transport::Endpoint;
use hook_remote::grpc::tonic::{Code, Request};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// A server that ends with the test.
struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts `hook serve` in a folder, and gives the last words of so many lines that it says at its start.
fn serve(folder: &Path, arguments: &[&str], lines: usize) -> (Served, Vec<String>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hook"));
    command.arg("serve").args(arguments).arg("--project").arg(folder);
    command.env("XDG_RUNTIME_DIR", folder.join("run")).env("HOME", folder);
    command.env("XDG_CONFIG_HOME", folder.join("config"));
    let mut server = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(server.stderr.take().unwrap()).lines();
    let said = said.by_ref().map(Result::unwrap).filter(|line| line.contains("gRPC"));
    let said = said.take(lines).map(|line| line.rsplit(' ').next().unwrap().to_owned());
    let said = said.collect();
    (Served(server), said)
}

fn end(mut server: Served) -> std::process::ExitStatus {
    let id = Pid::from_raw(server.0.id().try_into().unwrap()).unwrap();
    kill_process(id, Signal::TERM).unwrap();
    server.0.wait().unwrap()
}

fn before_tool() -> HookExecutionRequest {
    let json = br#"{"type":"hook-execution-request","eventName":"BeforeTool","correlationId":"c-1",
        "input":{"tool_name":"run_shell_command","tool_input":{"command":"rm -rf /"}}}"#;
    HookExecutionRequest { json: json.to_vec() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hook_over_grpc_blocks_what_another_client_asks() {
    let folder = tempfile::tempdir().unwrap();
    let (server, said) = serve(folder.path(), &["--grpc", "127.0.0.1:0"], 2);
    let token = std::fs::read_to_string(&said[1]).unwrap();
    let bearer = MetadataValue::try_from(format!("Bearer {}", token.trim())).unwrap();
    let endpoint = Endpoint::from_shared(format!("http://{}", said[0])).unwrap();
    let channel = endpoint.connect().await.unwrap();
    let mut unknown = HookBusClient::new(channel.clone());
    let status = unknown.request(before_tool()).await.unwrap_err();
    assert_eq!(status.code(), Code::Unauthenticated);

    let say = |mut request: Request<()>| {
        request.metadata_mut().insert("authorization", bearer.clone());
        Ok(request)
    };
    let mut hooks = HookServiceClient::with_interceptor(channel.clone(), say);
    let register =
        RegisterHookRequest { event_type: "PreToolUse".to_owned(), ..Default::default() };
    hooks.register_hook(register).await.unwrap();
    let (answers, received) = futures::channel::mpsc::channel(4);
    let mut events = hooks.hook_stream(received).await.unwrap().into_inner();
    let answering = async {
        let event = events.message().await.unwrap().unwrap();
        let answer = HookResponse {
            hook_id: event.hook_id,
            call_id: event.call_id,
            action: HookAction::Block.into(),
            reason: Some("never".to_owned()),
            ..HookResponse::default()
        };
        answers.clone().try_send(answer).unwrap();
    };
    let mut bus = HookBusClient::with_interceptor(channel, say);
    let (response, ()) = tokio::join!(bus.request(before_tool()), answering);
    let response: Value = serde_json::from_slice(&response.unwrap().into_inner().json).unwrap();
    assert_eq!(response["processed"]["reason"], "never", "{response}");

    // The end is told, and the token goes.
    let ended = tokio::task::spawn_blocking(move || end(server));
    let status = events.message().await.unwrap_err();
    assert_eq!(status.code(), Code::Unavailable, "{status}");
    let ended = tokio::time::timeout(Duration::from_secs(30), ended).await.unwrap().unwrap();
    assert!(!ended.success());
    assert!(!Path::new(&said[1]).exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_a_socket_it_is_beside_the_lines() {
    let folder = tempfile::tempdir().unwrap();
    let (lines, grpc) = (folder.path().join("lines.sock"), folder.path().join("grpc.sock"));
    let place = format!("unix:{}", grpc.display());
    let arguments = ["--socket", lines.to_str().unwrap(), "--grpc", &place];
    let (server, said) = serve(folder.path(), &arguments, 1);
    assert_eq!(said[0], place);
    assert!(lines.exists() && grpc.exists());
    let channel = Endpoint::from_shared(place).unwrap().connect().await.unwrap();
    HookBusClient::new(channel).request(before_tool()).await.unwrap();
    end(server);
    assert!(!lines.exists() && !grpc.exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fault_102_guards_over_grpc_alone_block_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let place = format!("unix:{}", folder.path().join("grpc.sock").display());
    let ask = async || {
        let channel = Endpoint::from_shared(place.clone()).unwrap().connect().await.unwrap();
        let response = HookBusClient::new(channel).request(before_tool()).await.unwrap();
        let response: Value = serde_json::from_slice(&response.into_inner().json).unwrap();
        response["processed"].clone()
    };
    let (mut server, _) = serve(folder.path(), &["--grpc", &place], 1);
    assert_eq!(ask().await["decision"], "proceed");
    let channel = Endpoint::from_shared(place.clone()).unwrap().connect().await.unwrap();
    let config = HookConfig { fail_behavior: "block".to_owned(), ..HookConfig::default() };
    let register = RegisterHookRequest {
        event_type: "BeforeTool".to_owned(),
        vocabulary: "native".to_owned(),
        config: Some(config),
        ..RegisterHookRequest::default()
    };
    HookServiceClient::new(channel).register_hook(register).await.unwrap();
    server.0.kill().unwrap();
    server.0.wait().unwrap();
    let (_server, _) = serve(folder.path(), &["--grpc", &place], 1);
    let processed = ask().await;
    assert_eq!(processed["decision"], "block", "{processed}");
    let reason = processed["reason"].as_str().unwrap();
    assert!(reason.contains("its client has not come back yet"), "{reason}");
}

#[test]
fn what_cannot_be_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hook"));
        command.arg("serve").args(arguments).arg("--project").arg(folder.path());
        let output = command.env("HOME", folder.path()).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, said) = run(&["--grpc", "0.0.0.0:0"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("--tls-cert"), "{said}");
    let (code, said) = run(&["--grpc", "nonsense"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("unix:PATH or HOST:PORT"), "{said}");
    let (code, _) = run(&["--grpc", "127.0.0.1:0", "--tls-cert", "cert.pem"]);
    assert_eq!(code, Some(64));
}
