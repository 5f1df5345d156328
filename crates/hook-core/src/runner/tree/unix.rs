//! On Unix a tree is a process group, whose name is its leader's id.
//!
//! Out of reach are processes that left the group (`setsid`), that changed their user, or that are
//! stuck in the kernel.

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, kill_process_group, waitid,
};
use tokio::process::{Child, Command};

use super::EndSignal;

/// The group of a child, which must be given with every call: signals go out only while it has not
/// been reaped.
#[derive(Debug)]
pub(super) struct Group;

impl Group {
    pub(super) fn prepare(command: &mut Command) {
        command.process_group(0);
    }

    pub(super) fn of(_leader: &Child) -> Self {
        Self
    }

    pub(super) fn tell_to_end(&self, leader: &Child, how: EndSignal) {
        let how = match how {
            EndSignal::Terminate => Signal::TERM,
            EndSignal::Interrupt => Signal::INT,
            EndSignal::Quit => Signal::QUIT,
            EndSignal::HangUp => Signal::HUP,
        };
        signal(leader, how);
        // What was stopped hears of it only when it goes on.
        signal(leader, Signal::CONT);
    }

    pub(super) fn kill(&self, leader: &Child) {
        signal(leader, Signal::KILL);
    }

    pub(super) fn leader_runs(&self, leader: &Child) -> bool {
        let Some(leader) = id(leader) else { return false };
        matches!(look(leader), Ok(None))
    }

    /// Whether a process of the group is neither ended nor about to be reaped.
    pub(super) fn runs(&self, leader: &Child) -> bool {
        let Some(id) = id(leader) else { return false };
        self.leader_runs(leader) || has_members(id)
    }
}

/// The leader's id; `None` once it was reaped.
fn id(leader: &Child) -> Option<Pid> {
    leader.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw)
}

/// Whether a child has ended, without reaping it; an error where it is no child any more.
fn look(leader: Pid) -> rustix::io::Result<Option<WaitIdStatus>> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    waitid(WaitId::Pid(leader), options)
}

fn signal(leader: &Child, signal: Signal) {
    // A host that reaps every child may have reaped this one.
    if let Some(leader) = id(leader)
        && look(leader).is_ok()
    {
        // A group that is gone already is what was wanted.
        let _ = kill_process_group(leader, signal);
    }
}

#[cfg(target_os = "linux")]
fn has_members(group: Pid) -> bool {
    let group = group.as_raw_nonzero().get().to_string();
    // What cannot be looked at may run.
    let Ok(processes) = std::fs::read_dir("/proc") else { return true };
    processes.flatten().any(|process| {
        let stat = std::fs::read_to_string(process.path().join("stat")).unwrap_or_default();
        // After the name in parentheses, which may hold anything: state, parent, group.
        let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
        let mut fields = fields.split_ascii_whitespace();
        let state = fields.next();
        fields.nth(1) == Some(&group) && !matches!(state, Some("Z" | "X"))
    })
}

/// Elsewhere there is no cheap way to know; the group is given its whole grace.
#[cfg(not(target_os = "linux"))]
fn has_members(_group: Pid) -> bool {
    true
}
