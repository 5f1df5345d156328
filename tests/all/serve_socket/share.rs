//! Where places are few, each client has its share: those who ask for much come first no more often
//! than those who ask for little.

use std::sync::Arc;

use hook_bus::wire::SocketServer;
use hook_bus::{BusLimits, MessageBus};
use hook_run::RunnerLimits;
use hook_tests::{Project, SocketClient};
use tokio_util::sync::CancellationToken;

use super::prompt;

/// Says who it is once it may go on.
const HOOK: &str = "id=$(grep -o 'greedy\\|modest'); until [ -e go ]; do sleep 0.01; done; \
                    echo $id >> order; echo '{}'";

/// A greedy client asks a hundred times before a modest one asks once; how many of the greedy one's
/// hooks came before that of the modest one.
async fn greedy_before_modest(limits: BusLimits) -> usize {
    const GREEDY: usize = 100;
    let project = Project::with_hook("BeforeAgent", HOOK);
    let system = project
        .builder()
        .bus(MessageBus::with_limits(limits))
        .limits(RunnerLimits { max_concurrent: 1, ..RunnerLimits::default() })
        .build()
        .unwrap();
    let system = Arc::new(system);
    let server = SocketServer::bind(project.home().join("hook.sock")).await.unwrap();
    let (socket, stop) = (server.path().to_owned(), CancellationToken::new());
    let play = async {
        let mut greedy = SocketClient::connect(&socket).await;
        let mut modest = SocketClient::connect(&socket).await;
        for client in [&mut greedy, &mut modest] {
            assert_eq!(client.receive().await["type"], "hook-hello");
        }
        for _ in 0..GREEDY {
            greedy.send(format!("{}\n", prompt("greedy", "g"))).await;
        }
        // Once this is answered, all before it was read; the bus has then what it takes.
        greedy.send("{\"type\":\"hook-reload\"}\n").await;
        assert_eq!(greedy.receive().await["type"], "hook-reloaded");
        while system.status().in_flight < limits.in_flight.min(GREEDY) {
            tokio::task::yield_now().await;
        }
        modest.send(format!("{}\n", prompt("modest", "m"))).await;
        modest.send("{\"type\":\"hook-reload\"}\n").await;
        assert_eq!(modest.receive().await["type"], "hook-reloaded");
        project.write("go", "");
        assert_eq!(modest.receive().await["correlationId"], "m");
        for _ in 0..GREEDY {
            assert_eq!(greedy.receive().await["correlationId"], "g");
        }
        stop.cancel();
    };
    tokio::join!(server.serve(&system, &stop), play);
    let order = project.read("order");
    order.lines().position(|line| line == "modest").unwrap()
}

#[tokio::test]
async fn a_client_with_a_hundred_requests_in_flight_starves_no_other_of_processes() {
    let before = greedy_before_modest(BusLimits::default()).await;
    assert!(before <= 2, "{before} hooks of the other client came first");
}

#[tokio::test]
async fn a_client_that_fills_the_bus_starves_no_other() {
    let limits = BusLimits { in_flight: 3, ..BusLimits::default() };
    // Those in flight already, the one that waited before it, and a few for chance.
    let before = greedy_before_modest(limits).await;
    assert!(before <= 10, "{before} hooks of the other client came first");
}
