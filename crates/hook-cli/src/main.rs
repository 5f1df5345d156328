//! The `hook` command: the hook engine for authors of hooks, users of agents, and agents in any
//! language. Nothing is implemented here that a library user would also need: arguments are
//! parsed, `hook-bus` is called, results are rendered.
//!
//! | module | contents |
//! | --- | --- |
//! | `args` | the command line's definition |
//! | `deferred` | arguments that are defined only when needed |
//! | `context` | the project, settings, trust and hook system that the options select |
//! | `commands` | one file for each command |
//! | `complete` | shell completion of the command line |
//! | `render` | results for people |
//! | `output` | printing to stdout and stderr |
//! | `progress` | the display of hooks that take long |
//! | `recording` | a recording made while serving |
//! | `signals` | signal handling |
//! | `terminal` | the user at the terminal, for hooks that ask |
//! | `stdout` | non-blocking writes to standard output |
//! | `log` | diagnostic logging on standard error |
//! | `not_fired` | the response for an event that no engine received |
//! | `installation` | how this binary was installed, and the path that agents call |
//! | `handles` | standard streams that hooks on Windows do not inherit |
//! | `guards` | checks for guards that may be missing |
//! | `search_path` | the folders in which the command looks for programs |
//! | `exit_code`, `error`, `panics` | exit codes and failures |

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod args;
mod auditing;
mod commands;
mod complete;
mod completing;
mod context;
mod deferred;
mod dispatch;
mod error;
mod exit_code;
mod fleet;
#[cfg(test)]
mod generated;
mod guards;
#[cfg(windows)]
mod handles;
mod installation;
mod log;
mod not_fired;
mod options;
mod output;
mod panics;
mod progress;
mod recording;
#[cfg(test)]
mod reference;
mod render;
mod search_path;
mod server;
mod signals;
mod stdout;
mod terminal;

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use tokio::runtime::Builder;

use args::Cli;
use error::CommandError;
use exit_code::{ExitPolicy, Failure, Status};
use output::Printer;

fn main() -> ExitCode {
    panics::print_in_one_line();
    let exit_policy = ExitPolicy::new();
    if let Some(status) = panics::catch(completing::answer).unwrap_or(Some(exit_code::FAILURE)) {
        return status.into();
    }
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let cli = match panics::catch(|| Cli::read(&arguments)) {
        Some(Ok(cli)) => cli,
        Some(Err(mut error)) => {
            escape_names(&mut error);
            let status = print_usage_error(&error);
            if error.use_stderr() && not_fired::is_wanted(&arguments) {
                not_fired::print(None, Failure::Usage, &error.to_string(), status);
            }
            return status.into();
        }
        None => return Failure::Panic.status(true).into(),
    };
    let event = cli.event_to_answer();
    exit_policy.set_guarded(cli.command.gives_verdict());
    #[cfg(unix)]
    if cli.command.gives_verdict() {
        exit_policy.refuse_when_aborted();
    }
    let mut printer = Printer::new(cli.common.color, cli.common.json);
    let (status, failure, reason) = match panics::catch(|| run(cli, &exit_policy, &mut printer)) {
        Some(Ok(status)) => (status, Failure::Internal, "it was ended before".to_owned()),
        Some(Err(error)) => {
            let failure = error.failure();
            if failure != Failure::ClosedOutput {
                printer.problem(&error.to_string());
            }
            (failure_status(failure, &exit_policy, &mut printer), failure, error.to_string())
        }
        None => {
            let why = "`hook` itself failed; standard error says where".to_owned();
            (failure_status(Failure::Panic, &exit_policy, &mut printer), Failure::Panic, why)
        }
    };
    if let Some(event) = event
        && !printer.has_answered()
    {
        not_fired::print(Some(&event), failure, &reason, status);
    }
    status.into()
}

/// Prints the parser's message and returns the exit code. Requested help and version go to stdout;
/// everything else is a usage error on stderr.
fn print_usage_error(error: &clap::Error) -> Status {
    let text = hook_json::text::escaped_lines(&error.render().to_string());
    if error.use_stderr() {
        // A closed stderr leaves no way to report this.
        let _ = write!(std::io::stderr(), "{text}");
        return exit_code::USAGE;
    }
    let mut stdout = std::io::stdout();
    match write!(stdout, "{text}").and_then(|()| stdout.flush()) {
        Ok(()) => exit_code::PROCEED,
        Err(error) => CommandError::Output(error).failure().status(false),
    }
}

/// Escapes the typed values in the message, which may be names of other people's files.
fn escape_names(error: &mut clap::Error) {
    use clap::error::ContextValue::{String as One, Strings};

    let escaped = |text: &String| hook_json::text::one_line(text).into_owned();
    let names: Vec<_> = error
        .context()
        .filter_map(|(kind, value)| match value {
            One(text) => Some((kind, One(escaped(text)))),
            Strings(texts) => Some((kind, Strings(texts.iter().map(escaped).collect()))),
            _ => None,
        })
        .collect();
    for (kind, value) in names {
        error.insert(kind, value);
    }
}

/// Returns the exit code of a failed command, with a note if it counts as a block.
fn failure_status(failure: Failure, exit_policy: &ExitPolicy, printer: &mut Printer) -> Status {
    let status = failure.status(exit_policy.is_guarded());
    if status == exit_code::BLOCKED {
        printer.remark(
            "a hook of this event has `failBehavior: block`, or may have, so this counts as a \
             block (exit code 2)",
        );
    }
    status
}

fn run(cli: Cli, exit_policy: &ExitPolicy, printer: &mut Printer) -> Result<Status, CommandError> {
    keep_inherited_descriptors_from_hooks();
    log::start(cli.common.verbose, printer);
    let runtime = runtime(&cli.command)?;
    keep_going_at_the_limit_of_files(&runtime);
    let ended = runtime.block_on(dispatch::dispatch(cli, exit_policy, printer));
    // A pending read of standard input must not keep the process alive.
    runtime.shutdown_background();
    ended
}

/// Keeps descriptors that this process inherited, except standard streams, from hooks.
#[cfg(unix)]
fn keep_inherited_descriptors_from_hooks() {
    close_fds::set_fds_cloexec(3, &[]);
}

#[cfg(windows)]
fn keep_inherited_descriptors_from_hooks() {
    handles::keep_from_children();
}

/// Builds the runtime. One thread is enough in general, so that an answer wakes no other thread. A
/// server on a socket has two, so that one client does not delay another. Scenarios run on a thread
/// beside the engine.
fn runtime(command: &args::Command) -> Result<tokio::runtime::Runtime, CommandError> {
    use args::Command::{Replay, Run, Serve, Tail, Test, Trace, Trust};

    // The runtime panics if the system gives it no descriptor.
    room_for_descriptors().map_err(CommandError::Runtime)?;
    if matches!(command, Run(_) | Serve(_) | Test(_) | Replay(_) | Tail(_) | Trace(_) | Trust(_)) {
        // The runtime panics if the system gives it no thread.
        let thread = std::thread::Builder::new().spawn(|| ()).map_err(CommandError::Thread)?;
        let _ = thread.join();
    }
    let (mut builder, workers) = match command {
        Serve(arguments) if arguments.has_many_clients() => (Builder::new_multi_thread(), 2),
        Run(_) | Test(_) | Replay(_) => (Builder::new_multi_thread(), 1),
        _ => (Builder::new_current_thread(), 1),
    };
    // Files take a thread, and so do standard streams that are neither pipes nor sockets. More
    // threads would come and go with every line, and each keeps its memory.
    builder.worker_threads(workers).max_blocking_threads(4).enable_all();
    builder.build().map_err(CommandError::Runtime)
}

/// Makes exceeding the file size limit an error. By default, the signal ends the process.
#[cfg(unix)]
fn keep_going_at_the_limit_of_files(runtime: &tokio::runtime::Runtime) {
    use tokio::signal::unix::{SignalKind, signal};

    let _runtime = runtime.enter();
    let kind = SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw());
    // Everything else works without this handler.
    let _ = signal(kind);
}

#[cfg(not(unix))]
fn keep_going_at_the_limit_of_files(_: &tokio::runtime::Runtime) {}

/// Checks that the descriptors that a runtime needs are available.
#[cfg(unix)]
fn room_for_descriptors() -> std::io::Result<()> {
    let pipe = std::io::pipe;
    // Four pairs cover events, timers and signals.
    let _room = [pipe()?, pipe()?, pipe()?, pipe()?];
    Ok(())
}

#[cfg(not(unix))]
fn room_for_descriptors() -> std::io::Result<()> {
    Ok(())
}
