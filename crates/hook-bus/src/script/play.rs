//! Playing a script.

use std::io;

use futures::{Stream, StreamExt, stream};
use tokio::io::AsyncRead;

use crate::bus::MessageBus;
use crate::message::HookExecutionResponse;
use crate::wire::{LineReader, request_of};

/// Sends each request of a script and gives the responses in the script's order, with at most
/// `concurrent` requests in flight. A line that is no request is answered like any other.
///
/// # Errors
/// An item is an error when the script cannot be read on; it is the last one.
pub fn play<'b, R>(
    bus: &'b MessageBus,
    script: R,
    concurrent: usize,
) -> impl Stream<Item = io::Result<HookExecutionResponse>> + 'b
where
    R: AsyncRead + Unpin + 'b,
{
    let lines = stream::unfold(Some(LineReader::new(script)), async |lines| {
        let mut lines = lines?;
        match lines.next().await {
            Ok(Some(line)) => Some((Ok(line), Some(lines))),
            Ok(None) => None,
            Err(error) => Some((Err(error), None)),
        }
    });
    lines.map(|line| async { Ok(bus.request(request_of(line?)).await) }).buffered(concurrent.max(1))
}
