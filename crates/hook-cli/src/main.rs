//! The `hook` command: the hook engine for authors of hooks, users of agents, and agents in any
//! language. Nothing is implemented here that a library user would also need: arguments are
//! parsed, `hook-bus` is called, results are rendered.
//!
//! | module | what it holds |
//! | --- | --- |
//! | `args` | what can be said on the command line |
//! | `deferred` | why not all of it is defined at each start |
//! | `context` | what it means: project, settings, trust, the hook system |
//! | `commands` | one file for each command |
//! | `complete` | what a shell is told that completes a command line |
//! | `render` | results for people |
//! | `output` | the one way to the terminal |
//! | `progress` | which hooks take long, while they do |
//! | `recording` | a recording that is made meanwhile |
//! | `signals` | what a signal does |
//! | `stdout` | writing without being held up |
//! | `exit_code`, `error` | how it ends |

mod args;
mod commands;
mod complete;
mod context;
mod deferred;
mod error;
mod exit_code;
#[cfg(test)]
mod generated;
mod output;
mod progress;
mod recording;
#[cfg(test)]
mod reference;
mod render;
mod signals;
mod stdout;

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use tokio::runtime::Builder;

use args::Cli;
use output::Printer;

fn main() -> ExitCode {
    run().into()
}

fn run() -> exit_code::Status {
    if let Some(answered) = complete::answer() {
        return answered;
    }
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let cli = match Cli::read(&arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are asked for and go to stdout; everything else is wrong usage.
            let text = output::harmless(&error.render().to_string());
            let written = match error.use_stderr() {
                true => write!(std::io::stderr(), "{text}").map(|()| exit_code::USAGE),
                false => write!(std::io::stdout(), "{text}").map(|()| exit_code::PROCEED),
            };
            return match written {
                Ok(code) => code,
                // Nobody reads it any more, which is no failure of what was asked for.
                Err(closed) if closed.kind() == std::io::ErrorKind::BrokenPipe => {
                    if error.use_stderr() { exit_code::USAGE } else { exit_code::PROCEED }
                }
                Err(_) => exit_code::FAILURE,
            };
        }
    };
    keep_inherited_descriptors_from_hooks();
    let mut printer = Printer::new(cli.common.color);
    start_log(cli.common.verbose);
    let runtime = match runtime(&cli.command) {
        Ok(runtime) => runtime,
        Err(error) => {
            printer.problem(&format!("failed to start the async runtime: {error}"));
            return exit_code::FAILURE;
        }
    };
    let ended = runtime.block_on(commands::dispatch(cli, &mut printer));
    // A read of standard input that never ends must not keep the process.
    runtime.shutdown_background();
    match ended {
        Ok(code) => code,
        Err(error) if error.is_closed_pipe() => exit_code::PROCEED,
        Err(error) => {
            printer.problem(&error.to_string());
            error.exit_code()
        }
    }
}

/// Whatever this process was started with beyond the standard streams is not for hooks.
#[cfg(unix)]
fn keep_inherited_descriptors_from_hooks() {
    close_fds::set_fds_cloexec(3, &[]);
}

#[cfg(not(unix))]
fn keep_inherited_descriptors_from_hooks() {}

/// One thread for everything, so that a request and its answer need no other to wake up; a socket
/// has many clients, which are served on two, so that what one asks does not hold up another.
/// Scenarios run beside the engine, since they may be waited for on the main thread.
fn runtime(command: &args::Command) -> std::io::Result<tokio::runtime::Runtime> {
    let (mut builder, workers) = match command {
        args::Command::Serve(arguments) if arguments.has_many_clients() => {
            (Builder::new_multi_thread(), 2)
        }
        args::Command::Run(_) | args::Command::Test(_) | args::Command::Replay(_) => {
            (Builder::new_multi_thread(), 1)
        }
        _ => (Builder::new_current_thread(), 1),
    };
    // Settings and files take a thread, and so do standard input and output where they are no
    // pipes. More come and go with every line, and each keeps its memory.
    builder.worker_threads(workers).max_blocking_threads(4).enable_all().build()
}

/// Diagnostics go to stderr: `HOOK_LOG` filters, `-v` raises.
fn start_log(verbose: u8) {
    let raised = match verbose {
        0 => None,
        1 => Some("hook=debug".to_owned()),
        _ => Some("trace".to_owned()),
    };
    let given = std::env::var("HOOK_LOG").ok().filter(|filter| !filter.is_empty());
    let Some(filter) = given.or(raised) else { return };
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::new(filter))
        .with_writer(std::io::stderr)
        .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()))
        .init();
}
