//! The last line of defence: a mistake in the command itself is said in one line, and ends it with a
//! code that stands in the table.

use std::any::Any;
use std::io::Write;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook, take_hook};

use hook_core::text::OneLine;

/// Makes a panic, on any thread, one line on stderr; with `RUST_BACKTRACE` set, all that Rust says.
pub(crate) fn are_said_in_one_line() {
    if std::env::var_os("RUST_BACKTRACE").is_some_and(|value| value != "0") {
        return;
    }
    // A closed stderr leaves no way to report this.
    drop(take_hook());
    set_hook(Box::new(|info| drop(writeln!(std::io::stderr(), "{}", line(info)))));
}

/// What work gives, or `None` where it panicked, which has been said then.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Option<T> {
    // What the work held is not looked at again.
    catch_unwind(AssertUnwindSafe(work)).ok()
}

fn line(info: &PanicHookInfo<'_>) -> String {
    let place = info.location().map(|place| format!(" at {place}")).unwrap_or_default();
    let text = OneLine(message(info.payload()));
    format!(
        "error: hook itself failed{place}: {text}; this is a mistake in hook, please report it \
         with RUST_BACKTRACE=1"
    )
}

fn message(payload: &dyn Any) -> &str {
    let owned = || payload.downcast_ref::<String>().map(String::as_str);
    payload.downcast_ref::<&str>().copied().or_else(owned).unwrap_or("for a reason it does not say")
}
