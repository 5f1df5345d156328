//! Diagnostic logging on standard error.

use tracing::Level;
use tracing_subscriber::filter::{FilterExt, LevelFilter, Targets, filter_fn};
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

use crate::output::Printer;

/// The first segments of the engine's own log targets: `hook`, and its crates.
const OWN_CRATES: [&str; 15] = [
    "hook",
    "hook_agents",
    "hook_bus",
    "hook_core",
    "hook_files",
    "hook_json",
    "hook_protocol",
    "hook_record",
    "hook_remote",
    "hook_rules",
    "hook_run",
    "hook_settings",
    "hook_shell",
    "hook_translate",
    "hook_trust",
];

/// Starts logging to stderr, filtered by `HOOK_LOG`, else by the number of `-v` flags.
pub(crate) fn start(verbose: u8, printer: &mut Printer) {
    let by_flag = match verbose {
        0 => None,
        1 => Some("hook=debug".to_owned()),
        _ => Some("trace".to_owned()),
    };
    let from_env = std::env::var("HOOK_LOG").ok().filter(|filter| !filter.is_empty());
    let Some(text) = from_env.or(by_flag) else { return };
    let directives: Vec<&str> = text.split(',').map(str::trim).collect();
    let filter = match directives.join(",").parse::<Targets>() {
        Ok(filter) => filter,
        Err(error) => {
            printer
                .warning(&format!("HOOK_LOG={text} is no filter, and nothing is logged: {error}"));
            return;
        }
    };
    let ignored = ignored_directives(&text);
    if !ignored.is_empty() {
        printer.warning(&format!(
            "HOOK_LOG names {}: what libraries say below `info` is not shown, since it holds what they send and \
             receive",
            ignored.join(", ")
        ));
    }
    let layer = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        // Printing internal errors to a closed stderr panics.
        .log_internal_errors(false)
        .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()));
    let filter = filter.and(filter_fn(is_shown));
    tracing_subscriber::registry().with(layer.with_filter(filter)).init();
}

/// Returns `true` if a record is the engine's own or of a general level. Finer records of network
/// libraries contain transferred data and credentials.
fn is_shown(record: &tracing::Metadata<'_>) -> bool {
    is_own(record.target()) || *record.level() <= Level::INFO
}

fn is_own(target: &str) -> bool {
    OWN_CRATES.contains(&target.split("::").next().unwrap_or(target))
}

/// Returns the filter's directives for finer records of libraries, which are never shown.
fn ignored_directives(filter: &str) -> Vec<&str> {
    let is_finer = |directive: &&str| {
        let (target, level) = match directive.rsplit_once('=') {
            Some((target, level)) => (target, level.parse::<LevelFilter>().ok()),
            // A level alone applies to all targets; a target alone enables all of its records.
            None if directive.parse::<LevelFilter>().is_ok() => return false,
            None => (*directive, Some(LevelFilter::TRACE)),
        };
        let target = target.split('[').next().unwrap_or(target).trim();
        let may_be_own = is_own(target) || OWN_CRATES.iter().any(|own| own.starts_with(target));
        !may_be_own && level.is_some_and(|level| level > LevelFilter::INFO)
    };
    filter.split(',').map(str::trim).filter(is_finer).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_told_from_those_of_crates_whose_names_begin_alike() {
        for own in ["hook", "hook::nats", "hook_run", "hook_bus", "hook_remote::nats::fleet"] {
            assert!(is_own(own), "{own}");
        }
        for other in ["hookable", "hook_rs::nats", "hooks", "async_nats", "", "h2::hook"] {
            assert!(!is_own(other), "{other}");
        }
    }

    #[test]
    fn every_crate_of_the_workspace_is_own() {
        for folder in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).unwrap() {
            let name = folder.unwrap().file_name().into_string().unwrap().replace('-', "_");
            assert!(is_own(&name) || name == "hook_cli", "{name}");
        }
    }

    #[test]
    fn what_is_not_shown_of_libraries_is_known() {
        for (filter, unheeded) in [
            ("async_nats=debug", &["async_nats=debug"][..]),
            ("warn, h2=TRACE ,hook::nats=debug,tokio=info", &["h2=TRACE"]),
            ("async_nats", &["async_nats"]),
            ("h2[send]=5,hookable=debug", &["h2[send]=5", "hookable=debug"]),
            ("debug", &[]),
            ("trace,hook=debug,hook_bus=trace,async_nats=info,h2=off", &[]),
        ] {
            assert_eq!(ignored_directives(filter), unheeded, "{filter}");
        }
    }
}
