//! Standard input and output as a client's connection, read and written on the engine's thread
//! wherever the system can report their readiness.
//!
//! Nothing here sets `O_NONBLOCK` on an inherited open file description, since the parent, or a
//! shell, shares it. A pipe is opened again, which gives it a new description; a socket is used
//! with `MSG_DONTWAIT`. Files, terminals and everything else go through tokio's blocking threads.

use std::io;

use hook_run::lines::LineReader;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use super::client::{ClientEnd, serve_until_disconnected};
use crate::system::HookSystem;

/// Serves the client on the other end of standard input and output, as [`serve_client`](super::serve_client) does.
///
/// # Errors
/// If standard input cannot be read. A client that does not read is no error.
///
/// # Cancellation
/// Dropping the future cancels the client's requests. If the input is neither a pipe nor a socket,
/// a read already started on a blocking thread goes on until it returns.
pub async fn serve_stdio(system: &HookSystem, stop: &CancellationToken) -> io::Result<ClientEnd> {
    let lines = LineReader::new(input());
    serve_until_disconnected(system, lines, output(), stop, None, disconnected()).await
}

type Input = Box<dyn AsyncRead + Send + Unpin>;
type Output = Box<dyn AsyncWrite + Send + Unpin>;

fn input() -> Input {
    #[cfg(target_os = "linux")]
    if let Some(input) = linux::input() {
        return input;
    }
    Box::new(tokio::io::stdin())
}

fn output() -> Output {
    #[cfg(target_os = "linux")]
    if let Some(output) = linux::output() {
        return output;
    }
    Box::new(tokio::io::stdout())
}

/// Waits until nobody can read standard output any more, where the system reports that.
async fn disconnected() {
    #[cfg(target_os = "linux")]
    linux::disconnected().await;
    #[cfg(not(target_os = "linux"))]
    std::future::pending::<()>().await;
}

#[cfg(target_os = "linux")]
mod linux {
    use std::io;
    use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
    use std::pin::Pin;
    use std::task::{Context, Poll, ready};

    use rustix::fs::FileType;
    use rustix::net::{RecvFlags, SendFlags, recv, send};
    use tokio::io::unix::AsyncFd;
    use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
    use tokio::net::unix::pipe;

    use super::{Input, Output};

    /// The number of bytes read from a socket at once.
    const READ_SIZE: usize = 64 * 1024;

    /// Returns standard input, if it is a pipe or a socket.
    pub(super) fn input() -> Option<Input> {
        let stdin = io::stdin();
        match kind(stdin.as_fd())? {
            Kind::Pipe => {
                let pipe = pipe::OpenOptions::new().open_receiver("/proc/self/fd/0").ok()?;
                Some(Box::new(pipe))
            }
            Kind::Socket => {
                let socket = Socket::new(stdin.as_fd(), Interest::READABLE).ok()?;
                Some(Box::new(SocketReader { socket, read: vec![0; READ_SIZE] }))
            }
        }
    }

    /// Returns standard output, if it is a pipe or a socket.
    pub(super) fn output() -> Option<Output> {
        let stdout = io::stdout();
        match kind(stdout.as_fd())? {
            Kind::Pipe => {
                let pipe = pipe::OpenOptions::new().open_sender("/proc/self/fd/1").ok()?;
                Some(Box::new(pipe))
            }
            Kind::Socket => Some(Box::new(Socket::new(stdout.as_fd(), Interest::WRITABLE).ok()?)),
        }
    }

    /// Waits until standard output is a pipe or a socket that nobody can read any more.
    pub(super) async fn disconnected() {
        let stdout = io::stdout();
        let socket = match kind(stdout.as_fd()) {
            Some(_) => Socket::new(stdout.as_fd(), Interest::WRITABLE),
            None => return std::future::pending().await,
        };
        let Ok(Socket(descriptor)) = socket else { return std::future::pending().await };
        while let Ok(mut ready) = descriptor.ready(Interest::WRITABLE | Interest::ERROR).await {
            if ready.ready().is_write_closed() || ready.ready().is_error() {
                return;
            }
            ready.clear_ready();
        }
        std::future::pending().await
    }

    enum Kind {
        Pipe,
        Socket,
    }

    fn kind(descriptor: BorrowedFd<'_>) -> Option<Kind> {
        match FileType::from_raw_mode(rustix::fs::fstat(descriptor).ok()?.st_mode) {
            // A named pipe does not report its writer's end if that came before it was opened.
            FileType::Fifo if is_nameless(descriptor) => Some(Kind::Pipe),
            FileType::Socket => Some(Kind::Socket),
            _ => None,
        }
    }

    fn is_nameless(pipe: BorrowedFd<'_>) -> bool {
        use std::os::fd::AsRawFd;
        let link = format!("/proc/self/fd/{}", pipe.as_raw_fd());
        std::fs::read_link(link).is_ok_and(|name| name.to_string_lossy().starts_with("pipe:["))
    }

    /// A pipe or stream socket whose description may be blocking, and is left so.
    struct Socket(AsyncFd<OwnedFd>);

    impl Socket {
        fn new(descriptor: BorrowedFd<'_>, interest: Interest) -> io::Result<Self> {
            let descriptor_copy = descriptor.try_clone_to_owned()?;
            #[expect(
                deprecated,
                reason = "what takes its place is unsafe; an owned descriptor is what that asks for"
            )]
            AsyncFd::with_interest(descriptor_copy, interest).map(Self)
        }
    }

    struct SocketReader {
        socket: Socket,
        /// The buffer of the last read.
        read: Vec<u8>,
    }

    impl AsyncRead for SocketReader {
        fn poll_read(
            self: Pin<&mut Self>,
            context: &mut Context<'_>,
            buffer: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            let Self { socket, read } = self.get_mut();
            let max_len = buffer.remaining().min(read.len());
            let Some(target) = read.get_mut(..max_len) else { return Poll::Ready(Ok(())) };
            loop {
                let mut ready = ready!(socket.0.poll_read_ready(context))?;
                let received = ready.try_io(|socket| {
                    let received = recv(socket.get_ref(), &mut *target, RecvFlags::DONTWAIT)?;
                    Ok(received.1)
                });
                match received {
                    Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                    Ok(received) => {
                        let received = received?;
                        // A short read: nothing is left. The end of input is never cleared.
                        if received > 0 && received < max_len {
                            ready.clear_ready();
                        }
                        buffer.put_slice(target.get(..received).unwrap_or_default());
                        return Poll::Ready(Ok(()));
                    }
                    Err(_not_ready) => {}
                }
            }
        }
    }

    impl AsyncWrite for Socket {
        fn poll_write(
            self: Pin<&mut Self>,
            context: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            const FLAGS: SendFlags = SendFlags::DONTWAIT.union(SendFlags::NOSIGNAL);
            loop {
                let mut ready = ready!(self.0.poll_write_ready(context))?;
                match ready.try_io(|socket| Ok(send(socket.get_ref(), bytes, FLAGS)?)) {
                    Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                    Ok(sent) => return Poll::Ready(sent),
                    Err(_not_ready) => {}
                }
            }
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }
}
