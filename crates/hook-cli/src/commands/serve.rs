//! `hook serve`: a long-lived engine for agents in any language.

mod grpc;
mod idle;
mod metrics;
mod nats;

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgGroup, Args};
use futures::StreamExt;
use hook_bus::bridge::BridgeState;
use hook_bus::wire::{self, ClientEnd, SocketServer, default_socket_path, serve_stdio};
use hook_bus::{HookRegistration, HookSystem, RegistrationChange, Subscription, live};
use hook_json::text::{PathText, shortened};
use hook_protocol::HookEventName;
use hook_settings::AuditLevel;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::auditing::{self, Auditing};
use crate::context::{self, Context};
use crate::error::CommandError;
use crate::exit_code::{self, Status};
use crate::fleet::FleetArguments;
use crate::guards;
use crate::output::Printer;
use crate::recording::{self, Recording};
use crate::signals::{Hangup, until_drained};

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("way").required(true).multiple(true))]
#[command(after_help = "\
Examples:
  hook serve --stdio --project ~/code/thing
  hook serve --socket $XDG_RUNTIME_DIR/hook.sock --record session.hookrec
  hook serve --stdio --audit ~/.local/state/hook-audit.jsonl
  hook serve --grpc 127.0.0.1:50051 --grpc-token-file ~/.hook-token
  hook serve --nats tls://broker.example --nats-creds engine.creds --metrics

Beside requests a client may send:
  {\"type\":\"hook-subscribe\"}                     be told of its requests' hooks
  {\"type\":\"hook-tail\"}                          be told all that happens
  {\"type\":\"hook-audit\",\"level\":\"info\"}         be told what hooks decided
  {\"type\":\"hook-cancel\",\"correlationId\":\"c-1\"}  end a request's hooks
  {\"type\":\"hook-define-event\",\"eventName\":\"Built\"}  declare an event
  {\"type\":\"hook-reload\"}                        reread settings, as SIGHUP does

Exit code: 0 when its input has ended; 1 if it cannot serve; 128 + n when
signal n ended it.")]
pub(crate) struct Arguments {
    /// Talk over standard input and output
    #[arg(long, group = "way")]
    stdio: bool,
    /// Serve many clients at once over a socket, which is made there for this user alone (a Unix socket; on Windows a named pipe, and a file that leads to it); without a path at the project's own place, where `hook bridge` and `hook tail` look for it
    #[arg(long, value_name = "PATH", group = "way", num_args = 0..=1)]
    socket: Option<Option<PathBuf>>,
    /// Serve clients over gRPC at `unix:PATH`, or at `HOST:PORT` with a token that they must have; in builds with `--features remote`
    #[arg(long, value_name = "PLACE", group = "way")]
    grpc: Option<String>,
    /// Where the token is written for clients at `HOST:PORT`; beside the project's own socket without it
    #[arg(long, value_name = "FILE", requires = "grpc")]
    grpc_token_file: Option<PathBuf>,
    /// Encrypt what goes over `HOST:PORT`, with this certificate (PEM); needed but for loopback addresses
    #[arg(long, value_name = "FILE", requires_all = ["grpc", "tls_key"])]
    tls_cert: Option<PathBuf>,
    /// The certificate's key (PEM)
    #[arg(long, value_name = "FILE", requires_all = ["grpc", "tls_cert"])]
    tls_key: Option<PathBuf>,
    #[command(flatten)]
    fleet: FleetArguments,
    /// The queue group of engines to join: each request goes to one of it
    #[arg(long, value_name = "GROUP", requires = "nats", default_value = "engines")]
    queue: String,
    /// Join also without hooks that run, or with hooks that nobody has trusted
    #[arg(long, requires = "nats")]
    allow_empty: bool,
    /// Publish responses and progress there, for subscribers anywhere
    #[arg(long, requires = "nats")]
    nats_events: bool,
    /// Tell Prometheus, at `http://ADDRESS/metrics`, of requests, decisions, latency, hooks, queue and workers: at HOST:PORT, or at a port of this machine; in builds with `--features remote`
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = metrics::ADDRESS)]
    metrics: Option<String>,
    /// End after so many seconds without a client, and when the binary is replaced or the socket taken away
    #[arg(long, value_name = "SECONDS", requires = "socket")]
    idle_exit: Option<u64>,
    /// Write everything that happens into this file, which must not be there yet
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Append to this file what happens to hooks; SIGHUP opens it again
    #[arg(long, value_name = "FILE")]
    audit: Option<PathBuf>,
    /// How much the audit's file tells; `auditLevel` of the settings without it
    #[arg(long, value_name = "LEVEL", requires = "audit", value_parser = level())]
    audit_level: Option<AuditLevel>,
}

fn level() -> impl TypedValueParser<Value = AuditLevel> {
    let names = PossibleValuesParser::new(AuditLevel::NAMES);
    names.map(|name| AuditLevel::from_name(&name).unwrap_or_default())
}

impl Arguments {
    /// Returns `true` if there may be more clients than one.
    pub(crate) fn has_many_clients(&self) -> bool {
        self.socket.is_some() || self.grpc.is_some() || self.fleet.nats.is_some()
    }
}

pub(crate) async fn run(
    arguments: &Arguments,
    context: &Context,
    printer: &mut Printer,
) -> Result<Status, CommandError> {
    let state = BridgeState::for_user().map(BridgeState::for_server);
    let system = &Arc::new(context.builder()?.hash_settings().bridge_state(state).build()?);
    context.initialize(system, printer).await?;
    if context.has_no_settings() {
        printer.remark(&format!(
            "no settings found in {} or its parents; only hooks registered by clients will run; `--project` \
             names another project, and `hook init` writes a first guard",
            context.project().shown()
        ));
    }
    let path = match &arguments.socket {
        Some(Some(path)) => Some(path.clone()),
        Some(None) => Some(own_socket(context.project())?),
        None => None,
    };
    let registrations = system.bus().subscribe::<HookRegistration>();
    let socket = match &path {
        Some(path) => Some(SocketServer::bind(path).await?),
        None => None,
    };
    let remote = grpc::Server::bind(arguments, context.project()).await?;
    match path.clone().or_else(|| remote.as_ref().map(grpc::Server::place)) {
        Some(place) => restore_guards(system, &place, printer),
        None => block_for_guards(system, context, printer).await,
    }
    let (engine, notices) = nats::Server::of(arguments)?.unzip();
    let metrics = metrics::Server::bind(arguments, system, engine.as_ref()).await?;
    let mut recording = match &arguments.record {
        Some(path) => Some(Recording::start(path, system)?),
        None => None,
    };
    let mut auditing = match &arguments.audit {
        Some(path) => Some(Auditing::start(path, system, arguments.audit_level)?),
        None => None,
    };
    // A hangup right after the announcement must not end the server.
    let hangups = Hangups::listen().map_err(CommandError::Signals)?;
    // Workers start only once nothing can prevent serving.
    system.start_workers();
    if let Some(path) = &path {
        match own_socket(context.project()) {
            Ok(default) if default != *path => printer.remark(&format!(
                "`hook bridge` asks {} for this project, and not this server; `--socket` without a path \
                 listens there",
                default.shown()
            )),
            _ => {}
        }
        printer.note(&format!("listening on {}", path.shown()));
    }
    if let Some(remote) = &remote {
        remote.announce(printer);
    }
    if let Some(metrics) = &metrics {
        metrics.announce(printer);
    }
    // Whoever starts a server for one client alone hears of its hooks from that.
    let news = News {
        fleet: notices,
        registrations: (socket.is_some() && !arguments.stdio).then_some(registrations),
        shown_registrations: 0,
        save_problems: system.live_clients().save_problems(),
    };
    let stop = &CancellationToken::new();
    let idle = idle::end_unused(arguments.idle_exit, socket.as_ref(), stop);
    // Without a fleet to leave, draining ends at once.
    let drained = &CancellationToken::new();
    let serving = Serving { stdio: arguments.stdio, socket, remote, engine, metrics };
    let work = async {
        let served = serving.serve(system, stop, drained);
        tokio::select! {
            ended = served => ended,
            never = supervise(system, hangups, &mut recording, &mut auditing, news, printer) => match never {},
            never = idle => match never {},
        }
    };
    let drain = drained.cancelled();
    let ended = until_drained(system, Hangup::HandledElsewhere, stop, drain, work).await;
    super::warn_of_killed(system, printer);
    // Recordings end last, so that they contain everything that ended with the command.
    if let Some(recording) = recording {
        recording.end(printer).await;
    }
    if let Some(auditing) = auditing {
        auditing.end(printer).await;
    }
    ended
}

/// Blocks for the guards of the project's own server, if that has ended: whoever starts this one may
/// do so in its place.
async fn block_for_guards(system: &HookSystem, context: &Context, printer: &mut Printer) {
    let Ok(socket) = own_socket(context.project()) else { return };
    if !context.has_only_defaults() || wire::connect(&socket).await.is_ok() {
        return;
    }
    guards::block_for_remembered(system, &socket, "the project's own server has ended", printer);
}

/// Activates guards of the previous server that clients have not registered again yet.
fn restore_guards(system: &HookSystem, place: &Path, printer: &mut Printer) {
    let Some(file) = live::guard_file(place) else {
        printer.problem(
            "guards that clients register will not outlive this server: neither HOME nor \
             XDG_STATE_HOME names a folder to remember them in; set one",
        );
        return;
    };
    match system.live_clients().save_guards_in(file.clone()) {
        Ok(warnings) => warnings.iter().for_each(|warning| printer.problem(warning)),
        Err(error) => printer.problem(&format!(
            "guards that clients register may not outlive this server, and those of the server before \
             are not in force: {}: {error}",
            file.shown()
        )),
    }
}

/// Returns the path of the project's own socket.
pub(crate) fn own_socket(project: &Path) -> Result<PathBuf, CommandError> {
    default_socket_path(project).ok_or(CommandError::NoHome)
}

/// The transports for clients: standard input and output, a socket, gRPC, a broker, or several.
struct Serving {
    stdio: bool,
    socket: Option<SocketServer>,
    remote: Option<grpc::Server>,
    engine: Option<nats::Server>,
    metrics: Option<metrics::Server>,
}

impl Serving {
    /// Serves until `stop`. Cancels `drained` once the fleet is left.
    async fn serve(
        self,
        system: &Arc<HookSystem>,
        stop: &CancellationToken,
        drained: &CancellationToken,
    ) -> Result<Status, CommandError> {
        let Self { stdio, socket, remote, engine, metrics } = self;
        let over_stdio = async {
            let ended = match stdio {
                true => serve_stdio(system, stop).await,
                false => {
                    stop.cancelled().await;
                    Ok(ClientEnd::Finished)
                }
            };
            // The client on standard input is done; requests of others are still answered.
            stop.cancel();
            ended
        };
        let over_socket = async {
            if let Some(socket) = socket {
                socket.serve(system, stop).await;
            }
        };
        let over_grpc = async {
            if let Some(remote) = remote {
                remote.serve(system, stop).await;
            }
        };
        let over_nats = async {
            let ended = match engine {
                Some(engine) => engine.serve(system, stop).await,
                None => Ok(()),
            };
            drained.cancel();
            if ended.is_err() {
                // Without its broker, the engine is of no use to its fleet.
                stop.cancel();
            }
            ended
        };
        let served = async { tokio::join!(over_stdio, over_socket, over_grpc, over_nats) };
        // Metrics are served as long as anything else, so that the end can be observed.
        let finished = CancellationToken::new();
        let metrics_served = async {
            if let Some(metrics) = metrics {
                metrics.serve(&finished).await;
            }
        };
        let served = async {
            let served = served.await;
            finished.cancel();
            served
        };
        let ((ended, (), (), engine), ()) = tokio::join!(served, metrics_served);
        engine?;
        // A disconnected client is ordinary: its agent may have been killed.
        ended.map(|_| exit_code::PROCEED).map_err(CommandError::Input)
    }
}

/// Handles events while serving: reloads, reopens the audit file, and prints problems of the audit
/// and the recording, and news of the fleet.
async fn supervise(
    system: &HookSystem,
    mut hangups: Hangups,
    recording: &mut Option<Recording>,
    auditing: &mut Option<Auditing>,
    mut news: News,
    printer: &mut Printer,
) -> Infallible {
    loop {
        tokio::select! {
            () = hangups.next() => {
                if let Some(auditing) = auditing {
                    auditing.reopen();
                }
                match system.reload().await {
                    Ok(()) => context::show_settings_problems(system, printer),
                    // A running system keeps its previous settings.
                    Err(error) => printer.problem(&error.to_string()),
                }
            }
            text = news.next() => printer.note(&text),
            problem = auditing::next_problem(auditing) => printer.problem(&problem),
            problem = recording::next_problem(recording) => printer.problem(&problem),
        }
    }
}

/// The maximum number of shown registrations: nobody may read standard error.
const MAX_REGISTRATIONS: usize = 200;

/// News of the fleet, and of hooks that clients register and that cannot be saved.
struct News {
    fleet: Option<mpsc::Receiver<String>>,
    registrations: Option<Subscription<HookRegistration>>,
    shown_registrations: usize,
    save_problems: watch::Receiver<Option<String>>,
}

impl News {
    /// Returns the next message. Never completes if there is none.
    async fn next(&mut self) -> String {
        let of_fleet = async {
            match &mut self.fleet {
                Some(receiver) => receiver.recv().await,
                None => std::future::pending().await,
            }
        };
        let of_hooks = async {
            while let Some(registrations) = &mut self.registrations {
                match registrations.next().await {
                    Some(Ok(registration)) if registration.is_by_client() => {
                        self.shown_registrations += 1;
                        if self.shown_registrations == MAX_REGISTRATIONS {
                            self.registrations = None;
                            return Some(
                                "further hooks of clients are in the audit alone".to_owned(),
                            );
                        }
                        return Some(registration_text(&registration));
                    }
                    Some(_) => {}
                    None => break,
                }
            }
            std::future::pending().await
        };
        let of_saving = async {
            while self.save_problems.changed().await.is_ok() {
                if let Some(text) = &*self.save_problems.borrow_and_update() {
                    return Some(format!("error: {text}"));
                }
            }
            std::future::pending().await
        };
        let news = tokio::select! {
            text = of_fleet => text,
            text = of_hooks => text,
            text = of_saving => text,
        };
        match news {
            Some(text) => text,
            None => std::future::pending().await,
        }
    }
}

fn registration_text(registration: &HookRegistration) -> String {
    let hook = &registration.hook;
    let event = hook.event().map_or("an unknown event", HookEventName::as_str);
    let name = shortened(hook.display_name());
    match registration.change {
        RegistrationChange::Registered => {
            format!("a client registered the hook `{name}` of {event}")
        }
        RegistrationChange::Unregistered => {
            format!("the registered hook `{name}` of {event} is gone")
        }
    }
}

#[cfg(unix)]
struct Hangups(tokio::signal::unix::Signal);

#[cfg(unix)]
impl Hangups {
    fn listen() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        signal(SignalKind::hangup()).map(Self)
    }

    async fn next(&mut self) {
        self.0.recv().await;
    }
}

#[cfg(not(unix))]
struct Hangups;

#[cfg(not(unix))]
impl Hangups {
    fn listen() -> std::io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) {
        std::future::pending().await
    }
}
