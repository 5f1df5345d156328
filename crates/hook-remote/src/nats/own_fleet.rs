//! Rejects an engine whose settings name its own fleet as `upstream`.
//!
//! Only the settings are compared. A loop over several fleets, or over another name of a server,
//! ends with the hop limit of requests (`message::MAX_HOPS`).

use async_nats::ServerAddr;
use hook_bus::HookSystem;
use hook_settings::UpstreamRules;

use super::error::NatsError;
use super::options::{Broker, NatsOptions, SUBJECT, is_loopback};

/// Rejects settings whose `upstream` is the fleet at that broker.
pub(super) fn refuse(system: &HookSystem, broker: &Broker) -> Result<(), NatsError> {
    // With unreadable settings everything is blocked, so no upstream is called.
    let hooks = system.hooks().unwrap_or_default();
    let own = hooks.iter().filter_map(|listing| listing.hook.upstream()).find(|rules| {
        let subject = rules.subject.as_deref().unwrap_or(SUBJECT);
        subject == broker.subjects.prefix() && names_any(rules, &broker.servers)
    });
    match own {
        None => Ok(()),
        Some(rules) => Err(NatsError::OwnFleet {
            upstream: rules.nats.clone(),
            subject: broker.subjects.prefix().to_owned(),
        }),
    }
}

fn names_any(rules: &UpstreamRules, servers: &[ServerAddr]) -> bool {
    // An unreadable address cannot be called.
    let named = NatsOptions::new(&rules.nats).servers().unwrap_or_default();
    named.iter().any(|named| servers.iter().any(|server| is_same_server(named, server)))
}

fn is_same_server(one: &ServerAddr, other: &ServerAddr) -> bool {
    let is_same_host = one.host().eq_ignore_ascii_case(other.host())
        || (is_loopback(one.host()) && is_loopback(other.host()));
    is_same_host && one.port() == other.port()
}
