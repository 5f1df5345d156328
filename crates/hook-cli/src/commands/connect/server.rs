//! The setting by which calls of `hook bridge` start a server.

use hook_json::text::PathText;
use hook_settings::HookSource;
use hook_settings::edit::{AbsentFile, EditMode, edit_file, with_server};
use serde_json::json;

use crate::context::Context;
use crate::error::Result;
use crate::output::Printer;

/// Adds the setting to the user's settings, unless they have it, and reports the change.
pub(super) async fn enable_auto_start(
    dry_run: bool,
    context: &Context,
    printer: &mut Printer,
) -> Result<()> {
    let files = context.settings_files().unwrap_or_default();
    let is_on =
        files.iter().any(|file| file.source != HookSource::Project && file.config.starts_server);
    // Without a folder the user has no settings, and excluded settings must not change.
    if is_on || context.excludes_user() || !context.named_paths().is_empty() {
        return Ok(());
    }
    let Ok(path) = context.user_file() else { return Ok(()) };
    let mode = if dry_run { EditMode::Preview } else { EditMode::Write };
    let change = match edit_file(&path, AbsentFile::Create, mode, &with_server) {
        Ok(change) => change,
        // The agents are connected all the same.
        Err(error) => {
            printer.warning(&format!("no server will be started by itself: {error}"));
            return Ok(());
        }
    };
    if !change.is_change() {
        return Ok(());
    }
    let (verb, shown) = (if dry_run { "would write" } else { "wrote" }, path.shown());
    let text = |_: &Printer| {
        format!(
            "{verb} \"server\": \"auto\" into {shown}: the first call starts a server, which answers \
             the next ones faster\n"
        )
    };
    printer.show(&(json!({"file": path, "server": "auto", "changed": true}), text)).await
}
