//! Which processors client and server run on. To wake a process takes many times as long where
//! another processor must be woken for it, and the scheduler's choice would be luck, and not the
//! same for limit and ours.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The processors that this thread may use, put back when this is dropped.
pub(crate) struct Processors {
    all: CpuSet,
}

/// How client and server share processors.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Placement {
    /// Each has one of its own.
    Apart,
    /// Both are on the same one.
    Together,
}

impl Processors {
    pub(crate) fn take() -> Self {
        Self { all: sched_getaffinity(None).unwrap() }
    }

    /// Whether there are as many as that takes.
    pub(crate) fn allow(&self, placement: Placement) -> bool {
        placement == Placement::Together || self.all.count() > 1
    }

    /// Starts a server. The thread that calls is the client from here on.
    pub(crate) fn start<T>(&self, placement: Placement, start: impl FnOnce() -> T) -> T {
        let of_server = match placement {
            Placement::Apart => 1,
            Placement::Together => 0,
        };
        self.bind(of_server);
        let server = start();
        self.bind(0);
        server
    }

    /// Binds this thread, and what it starts, to one of the processors.
    fn bind(&self, position: usize) {
        let mut usable = (0..CpuSet::MAX_CPU).filter(|number| self.all.is_set(*number));
        let mut one = CpuSet::new();
        one.set(usable.nth(position).unwrap());
        sched_setaffinity(None, &one).unwrap();
    }
}

impl Drop for Processors {
    fn drop(&mut self) {
        sched_setaffinity(None, &self.all).unwrap();
    }
}
