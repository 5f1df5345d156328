//! How processes are told to end.

/// How a hook that has to go is told so, before it is killed.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum EndSignal {
    /// SIGTERM: what its timeout or cancellation means to a hook.
    Terminate,
    /// SIGINT, as from Ctrl-C.
    Interrupt,
    /// SIGQUIT.
    Quit,
    /// SIGHUP: the terminal is gone.
    HangUp,
}

impl EndSignal {
    pub(in crate::run) const ALL: [Self; 4] =
        [Self::Terminate, Self::Interrupt, Self::Quit, Self::HangUp];
}
