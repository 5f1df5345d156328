//! Panic handling: a bug in the command is reported in one line, with a documented exit code.

use std::any::Any;
use std::io::Write;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook, take_hook};

use hook_json::text::OneLine;

/// Reports panics of all threads in one line on stderr; with `RUST_BACKTRACE` set, as Rust does.
pub(crate) fn print_in_one_line() {
    if std::env::var_os("RUST_BACKTRACE").is_some_and(|value| value != "0") {
        return;
    }
    // A closed stderr leaves no way to report this.
    drop(take_hook());
    set_hook(Box::new(|info| drop(writeln!(std::io::stderr(), "{}", line(info)))));
}

/// Runs `work`. Returns `None` if it panicked; the panic has then been reported.
pub(crate) fn catch<T>(work: impl FnOnce() -> T) -> Option<T> {
    // Nothing that the work held is used afterwards.
    catch_unwind(AssertUnwindSafe(work)).ok()
}

fn line(info: &PanicHookInfo<'_>) -> String {
    let location = info.location().map(|location| format!(" at {location}")).unwrap_or_default();
    let text = OneLine(message(info.payload()));
    format!(
        "error: hook itself failed{location}: {text}; this is a mistake in hook, please report it \
         with RUST_BACKTRACE=1"
    )
}

fn message(payload: &dyn Any) -> &str {
    let owned = || payload.downcast_ref::<String>().map(String::as_str);
    payload.downcast_ref::<&str>().copied().or_else(owned).unwrap_or("for a reason it does not say")
}
