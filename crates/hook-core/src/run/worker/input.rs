//! A worker's standard input, to which callers write short messages themselves.

use std::io;
use std::sync::Arc;

use tokio::process::ChildStdin;

use crate::run::live::MessagePipe;

/// Standard input; `None` once it is closed, or where it could not be had.
#[derive(Debug)]
pub(super) struct Input(Option<Arc<Pipe>>);

#[cfg(unix)]
type PipeOf = tokio::net::unix::pipe::Sender;

/// Elsewhere one task writes it.
#[cfg(not(unix))]
type PipeOf = tokio::sync::Mutex<ChildStdin>;

#[derive(Debug)]
struct Pipe(PipeOf);

impl Input {
    /// That of a process that was just started.
    ///
    /// # Errors
    /// When it cannot be written without waiting.
    pub(super) fn of(stdin: Option<ChildStdin>) -> io::Result<Self> {
        #[cfg(unix)]
        let pipe = |stdin: ChildStdin| PipeOf::from_owned_fd(stdin.into_owned_fd()?);
        #[cfg(not(unix))]
        let pipe = |stdin: ChildStdin| Ok(PipeOf::new(stdin));
        Ok(Self(stdin.map(pipe).transpose()?.map(|pipe| Arc::new(Pipe(pipe)))))
    }

    /// Where callers write, if they can.
    pub(super) fn shared(&self) -> Option<Arc<dyn MessagePipe>> {
        let pipe = self.0.as_ref().filter(|_| cfg!(unix))?;
        Some(Arc::clone(pipe) as Arc<dyn MessagePipe>)
    }

    /// Writes the first piece of these bytes; never ready for none, nor once it is closed.
    ///
    /// # Errors
    /// When nobody reads.
    ///
    /// # Cancellation
    /// Dropping the future writes nothing.
    pub(super) async fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        match &self.0 {
            Some(pipe) if !bytes.is_empty() => pipe.write(bytes).await,
            _ => std::future::pending().await,
        }
    }

    /// Waits until nobody reads it any more; never ready where the system does not tell.
    pub(super) fn unread(&self) -> impl Future<Output = ()> + Send + use<> {
        let pipe = self.0.clone();
        async move {
            match pipe {
                Some(pipe) => pipe.unread().await,
                None => std::future::pending().await,
            }
        }
    }

    /// Closes it, as far as it is this one's.
    pub(super) fn close(&mut self) {
        self.0 = None;
    }
}

#[cfg(unix)]
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

#[cfg(not(unix))]
impl Pipe {
    async fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        use tokio::io::AsyncWriteExt;
        match self.0.lock().await.write(bytes).await? {
            0 => Err(io::ErrorKind::WriteZero.into()),
            wrote => Ok(wrote),
        }
    }

    async fn unread(&self) {
        std::future::pending().await
    }
}

impl MessagePipe for Pipe {
    fn try_write(&self, bytes: &[u8]) -> usize {
        #[cfg(unix)]
        // What cannot be written now is left to the carrier, which sees why.
        return self.0.try_write(bytes).unwrap_or(0);
        #[cfg(not(unix))]
        {
            let _ = bytes;
            0
        }
    }
}
