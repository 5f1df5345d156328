//! The pipe, and connections that clients make.

use std::io;
use std::path::Path;
use std::pin::Pin;
use std::task::{Context, Poll};

use interprocess::os::windows::named_pipe::PipeListenerOptions;
use interprocess::os::windows::named_pipe::pipe_mode::Bytes;
use interprocess::os::windows::named_pipe::tokio::{
    DuplexPipeStream, PipeListener, RecvPipeStream, SendPipeStream,
};
use interprocess::os::windows::security_descriptor::SecurityDescriptor;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio_util::sync::CancellationToken;
use widestring::u16cstr;

use super::SocketError;
use super::pipe_file::PipeFile;

/// The size of the system's buffers, in each direction.
const BUFFER: u32 = 64 * 1024;

/// The error if the first instance of a pipe is not the first one: `ERROR_ACCESS_DENIED`.
const ACCESS_DENIED: i32 = 5;

/// A named pipe that only its owner can use. Dropping it removes its file.
#[derive(Debug)]
pub struct SocketListener {
    file: PipeFile,
    pipe: PipeListener<Bytes, Bytes>,
}

impl SocketListener {
    /// Creates the pipe as [`SocketServer::bind`](super::super::SocketServer::bind) does.
    ///
    /// # Errors
    /// If the pipe cannot be created, or not safely.
    pub async fn bind(path: impl AsRef<Path>) -> Result<Self, SocketError> {
        let file = PipeFile::new(path.as_ref())?;
        // Windows refuses the second server below; wine would create another instance.
        if super::connect(file.path()).await.is_ok() {
            return Err(SocketError::AlreadyServed { path: file.path().to_owned() });
        }
        let created = || {
            // Full access for the owner, inherited by nobody.
            let owner_only = SecurityDescriptor::deserialize(u16cstr!("D:P(A;;GA;;;OW)"))?;
            PipeListenerOptions::new()
                .path(file.pipe.as_str())
                .security_descriptor(Some(owner_only))
                .input_buffer_size_hint(BUFFER)
                .output_buffer_size_hint(BUFFER)
                .create_tokio_duplex::<Bytes>()
        };
        let pipe = created().map_err(|source| match source.raw_os_error() {
            Some(ACCESS_DENIED) => SocketError::AlreadyServed { path: file.path().to_owned() },
            _ => SocketError::Make { path: file.path().to_owned(), doing: "the pipe", source },
        })?;
        file.write()?;
        Ok(Self { file, pipe })
    }

    /// Returns the path of the file that leads to the pipe.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Returns the next connection.
    ///
    /// # Cancellation
    /// Dropping the future loses nothing.
    pub(in super::super) async fn accept_any(&self) -> io::Result<Accepted> {
        let pipe = self.pipe.accept().await?;
        Ok(Accepted { pipe, proof: self.file.proof.clone(), gone: CancellationToken::new() })
    }
}

impl Drop for SocketListener {
    fn drop(&mut self) {
        self.file.remove();
    }
}

/// A connection that a client made.
pub(in super::super) struct Accepted {
    pipe: DuplexPipeStream<Bytes>,
    proof: String,
    gone: CancellationToken,
}

impl Accepted {
    /// Checks whether the client may use this server: the system has checked that already.
    #[expect(clippy::unused_self, reason = "a Unix socket asks who is on the other end")]
    pub(in super::super) fn is_permitted(&self) -> bool {
        true
    }

    /// Returns no process group: this system has none.
    #[expect(clippy::unused_self, reason = "a Unix socket asks who is on the other end")]
    pub(in super::super) fn process_group(&self) -> Option<u32> {
        None
    }

    /// Returns a future that ends once reading has found that the client is gone.
    #[expect(clippy::unnecessary_wraps, reason = "a Unix socket needs another descriptor")]
    pub(in super::super) fn disconnection(
        &self,
    ) -> io::Result<impl Future<Output = ()> + Send + use<>> {
        Ok(self.gone.clone().cancelled_owned())
    }

    /// Sends the proof of this server; returns the messages of the client, and for it.
    pub(in super::super) async fn open(mut self) -> io::Result<(Reader, Writer)> {
        self.pipe.write_all(self.proof.as_bytes()).await?;
        let (reader, writer) = self.pipe.split();
        Ok((Reader { pipe: reader, gone: self.gone }, Writer(writer)))
    }
}

/// A client's messages. Their end means that the client is gone: a pipe is closed as a whole.
pub(in super::super) struct Reader {
    pipe: RecvPipeStream<Bytes>,
    gone: CancellationToken,
}

impl AsyncRead for Reader {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.pipe).poll_read(context, buffer);
        if matches!(&read, Poll::Ready(read) if read.is_err() || buffer.filled().len() == before) {
            self.gone.cancel();
        }
        read
    }
}

/// The messages for a client. The pipe keeps nothing back that a flush would have to send; that of
/// the library waits, on a thread, until the client has read everything.
pub(in super::super) struct Writer(SendPipeStream<Bytes>);

impl AsyncWrite for Writer {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
