//! The standard input of a worker, to which callers write short messages directly.

use std::io;
use std::sync::Arc;

use crate::live::MessagePipe;
use crate::tree::StdinPipe;

/// Standard input; `None` once closed, or if there is none.
#[derive(Debug)]
pub(super) struct Input(Option<Arc<Pipe>>);

#[cfg(unix)]
type PipeOf = tokio::net::unix::pipe::Sender;

#[cfg(windows)]
type PipeOf = StdinPipe;

#[derive(Debug)]
struct Pipe(PipeOf);

impl Input {
    /// Takes the standard input of a process that was just started.
    ///
    /// # Errors
    /// Returns an error if the pipe cannot be made nonblocking.
    pub(super) fn of(stdin: Option<StdinPipe>) -> io::Result<Self> {
        #[cfg(unix)]
        let pipe = |stdin: StdinPipe| PipeOf::from_owned_fd(stdin.into_owned_fd()?);
        #[cfg(windows)]
        let pipe = io::Result::Ok;
        Ok(Self(stdin.map(pipe).transpose()?.map(|pipe| Arc::new(Pipe(pipe)))))
    }

    /// Returns the pipe for direct writes of callers.
    pub(super) fn shared(&self) -> Option<Arc<dyn MessagePipe>> {
        Some(Arc::clone(self.0.as_ref()?) as Arc<dyn MessagePipe>)
    }

    /// Writes a prefix of the bytes; never ready for no bytes, or once closed.
    ///
    /// # Errors
    /// Returns an error if the process does not read any more.
    ///
    /// # Cancellation
    /// Dropping the future writes nothing.
    pub(super) async fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        match &self.0 {
            Some(pipe) if !bytes.is_empty() => pipe.write(bytes).await,
            _ => std::future::pending().await,
        }
    }

    /// Waits until the reader is closed; never ready if the system does not report it.
    pub(super) fn unread(&self) -> impl Future<Output = ()> + Send + use<> {
        let pipe = self.0.clone();
        async move {
            match pipe {
                Some(pipe) => pipe.unread().await,
                None => std::future::pending().await,
            }
        }
    }

    /// Closes this handle.
    pub(super) fn close(&mut self) {
        self.0 = None;
    }
}

impl Pipe {
    async fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            self.0.writable().await?;
            match self.0.try_write(bytes) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                wrote => return wrote,
            }
        }
    }

    async fn unread(&self) {
        #[cfg(target_os = "linux")]
        if self.0.ready(tokio::io::Interest::ERROR).await.is_ok() {
            return;
        }
        std::future::pending().await
    }
}

impl MessagePipe for Pipe {
    fn try_write(&self, bytes: &[u8]) -> usize {
        // The transport writes the rest, and gets the error.
        self.0.try_write(bytes).unwrap_or(0)
    }
}
