//! The signal that asks processes to end.

/// The signal that asks a hook to end before it is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum EndSignal {
    /// SIGTERM, as after a timeout or cancellation.
    Terminate,
    /// SIGINT, as from Ctrl-C.
    Interrupt,
    /// SIGQUIT.
    Quit,
    /// SIGHUP, as after the loss of the terminal.
    HangUp,
}

impl EndSignal {
    pub(crate) const ALL: [Self; 4] = [Self::Terminate, Self::Interrupt, Self::Quit, Self::HangUp];
}
