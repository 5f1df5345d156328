//! That no engine asks the fleet that it is in: the `upstream` of its settings.
//!
//! Here is seen what the settings say. A circle over several fleets, or over another name of a server, ends
//! with the hops of its requests (`message::MAX_HOPS`).

use async_nats::ServerAddr;
use hook_bus::HookSystem;
use hook_core::settings::UpstreamRules;

use super::error::NatsError;
use super::options::{Broker, NatsOptions, SUBJECT, is_loopback};

/// Refuses settings whose `upstream` is the fleet at that broker.
pub(super) fn refuse(system: &HookSystem, broker: &Broker) -> Result<(), NatsError> {
    // Where settings could not be read, all is blocked, and nobody is asked.
    let hooks = system.hooks().unwrap_or_default();
    let own = hooks.iter().filter_map(|listing| listing.hook.upstream()).find(|rules| {
        let subject = rules.subject.as_deref().unwrap_or(SUBJECT);
        subject == broker.subjects.prefix() && names_one_of(rules, &broker.servers)
    });
    match own {
        None => Ok(()),
        Some(rules) => Err(NatsError::OwnFleet {
            upstream: rules.nats.clone(),
            subject: broker.subjects.prefix().to_owned(),
        }),
    }
}

fn names_one_of(rules: &UpstreamRules, servers: &[ServerAddr]) -> bool {
    // What cannot be read of it cannot be asked.
    let named = NatsOptions::new(&rules.nats).servers().unwrap_or_default();
    named.iter().any(|named| servers.iter().any(|server| is_same(named, server)))
}

fn is_same(one: &ServerAddr, other: &ServerAddr) -> bool {
    let is_same_host = one.host().eq_ignore_ascii_case(other.host())
        || (is_loopback(one.host()) && is_loopback(other.host()));
    is_same_host && one.port() == other.port()
}
