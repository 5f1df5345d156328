//! Playing a script.

use std::io;
use std::sync::Arc;

use futures::{Stream, StreamExt, stream};
use hook_run::lines::Line;
use tokio::io::AsyncRead;
use tokio_util::sync::CancellationToken;

use super::host::ScriptedHost;
use hook_bus::MessageBus;
use hook_bus::wire::{LineReader, parse_request};
use hook_bus::{HookExecutionRequest, HookExecutionResponse};

/// Sends each request of a script and returns the responses in the script's order, with at most
/// `concurrent` requests in flight. An invalid line is answered like any other. Once `stop` is
/// cancelled, no further line is read.
///
/// A line `{"type": "hook-host-results", "results": {"ui.confirm": true}}` is not answered: it sets
/// the results that hooks of later requests get from their host ([`ScriptedHost`]).
///
/// # Errors
/// An item is an error if the script cannot be read any further, or has invalid host results; it is
/// the last item.
pub fn play<'b, R>(
    bus: &'b MessageBus,
    script: R,
    concurrent: usize,
    stop: &'b CancellationToken,
) -> impl Stream<Item = io::Result<HookExecutionResponse>> + 'b
where
    R: AsyncRead + Unpin + 'b,
{
    let script = Script { lines: LineReader::new(script), host: None };
    let requests = stream::unfold(Some(script), move |script| async move {
        let mut script = script?;
        let next = tokio::select! {
            biased;
            () = stop.cancelled() => return None,
            next = script.next() => next,
        };
        match next {
            Ok(Some(request)) => Some((Ok(request), Some(script))),
            Ok(None) => None,
            Err(error) => Some((Err(error), None)),
        }
    });
    requests.map(|request| async { Ok(bus.request(request?).await) }).buffered(concurrent.max(1))
}

/// A script being read.
struct Script<R> {
    lines: LineReader<R>,
    /// The host for the following requests, if the script sets one.
    host: Option<Arc<ScriptedHost>>,
}

impl<R: AsyncRead + Unpin> Script<R> {
    /// Returns the next request.
    async fn next(&mut self) -> io::Result<Option<HookExecutionRequest>> {
        while let Some(line) = self.lines.next().await? {
            if let Line::Text { number, text } = &line
                && let Some(host) = ScriptedHost::from_line(text)
            {
                match host {
                    Ok(host) => self.host = Some(Arc::new(host)),
                    // Do not run requests with other results than intended.
                    Err(error) => {
                        let message = format!("line {number}: hook-host-results: {error}");
                        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
                    }
                }
                continue;
            }
            let request = parse_request(line);
            return Ok(Some(match &self.host {
                Some(host) => request.with_host_services(Arc::clone(host) as _),
                None => request,
            }));
        }
        Ok(None)
    }
}
