//! Asking the project's own server, where one runs: a call then costs no start of an engine, and what lives
//! in the server answers, too.

use hook_bus::bridge::Bridged;
use hook_core::RawObject;
use hook_translate::agents::{Agent, Asked};

use crate::context::Context;

/// What the project's own server answers; `None` where there is none.
///
/// # Errors
/// When it is not one that would answer as an engine here, or does not answer in time. It says why.
#[cfg(unix)]
pub(super) async fn ask(
    agent: &'static Agent,
    asked: &Asked,
    said: &RawObject,
    context: &Context,
) -> Result<Option<Bridged>, String> {
    use hook_bus::wire::{self, BridgeMessage, Expected};
    use hook_core::trust::settings_hash;

    use crate::context::MARGIN;

    let Some(path) = wire::socket_of(context.project()).filter(|path| path.exists()) else {
        return Ok(None);
    };
    let deadline = asked.patience().saturating_sub(MARGIN);
    let mut message = BridgeMessage::new(agent, Some(asked.home_event().to_owned()), said.clone());
    message.deadline = Some(deadline);
    let project = context.project();
    let project = std::fs::canonicalize(project).unwrap_or_else(|_| project.to_path_buf());
    let expected = Expected {
        project: project.to_string_lossy().into_owned(),
        settings_hash: settings_hash(&context.sources(), &context.trust_policy()),
    };
    let asking = async {
        let stream = wire::connect(&path).await.map_err(|error| error.to_string())?;
        let (reader, writer) = stream.into_split();
        let bridged = wire::ask(reader, writer, &expected, &message).await;
        bridged.map(Some).map_err(|error| format!("{}: {error}", path.display()))
    };
    match tokio::time::timeout(deadline, asking).await {
        Ok(answered) => answered,
        Err(_) => Err(format!("{} has not answered in time", path.display())),
    }
}

#[cfg(not(unix))]
pub(super) async fn ask(
    _: &'static Agent,
    _: &Asked,
    _: &RawObject,
    _: &Context,
) -> Result<Option<Bridged>, String> {
    Ok(None)
}
