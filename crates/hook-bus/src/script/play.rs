//! Playing a script.

use std::io;

use futures::{Stream, StreamExt, stream};
use tokio::io::AsyncRead;
use tokio_util::sync::CancellationToken;

use crate::bus::MessageBus;
use crate::message::HookExecutionResponse;
use crate::wire::{LineReader, request_of};

/// Sends each request of a script and gives the responses in the script's order, with at most
/// `concurrent` requests in flight. A line that is no request is answered like any other. Once
/// `stop` is cancelled, no further line is read.
///
/// # Errors
/// An item is an error when the script cannot be read on; it is the last one.
pub fn play<'b, R>(
    bus: &'b MessageBus,
    script: R,
    concurrent: usize,
    stop: &'b CancellationToken,
) -> impl Stream<Item = io::Result<HookExecutionResponse>> + 'b
where
    R: AsyncRead + Unpin + 'b,
{
    let lines = stream::unfold(Some(LineReader::new(script)), move |lines| async move {
        let mut lines = lines?;
        let next = tokio::select! {
            biased;
            () = stop.cancelled() => return None,
            next = lines.next() => next,
        };
        match next {
            Ok(Some(line)) => Some((Ok(line), Some(lines))),
            Ok(None) => None,
            Err(error) => Some((Err(error), None)),
        }
    });
    lines.map(|line| async { Ok(bus.request(request_of(line?)).await) }).buffered(concurrent.max(1))
}
