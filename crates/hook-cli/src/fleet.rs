//! `--nats` and what belongs to it: a broker with a fleet of engines, in builds that have it.

use std::path::PathBuf;

use clap::Args;
use hook_bus::HookSystemBuilder;

#[cfg(not(feature = "remote"))]
use crate::error::CommandError;

/// Whether this build can ask fleets of engines.
pub(crate) const IS_KNOWN: bool = cfg!(feature = "remote");

// A broker, as all commands name it that may use one. No documentation: clap would take it for theirs.
#[derive(Debug, Clone, Args)]
pub(crate) struct FleetArguments {
    /// The NATS server at which a fleet of engines is: `tls://HOST:PORT`, or `nats://` on this machine; in builds with `--features remote`
    #[arg(long, value_name = "URL", group = "way")]
    pub(crate) nats: Option<String>,
    /// Who one is there: a file of mode 600 with NATS credentials, or with the seed of an NKey
    #[arg(long, value_name = "FILE", requires = "nats")]
    nats_creds: Option<PathBuf>,
    /// Whose certificates are believed beside those that the system believes (PEM)
    #[arg(long, value_name = "FILE", requires = "nats")]
    nats_ca: Option<PathBuf>,
    /// Talk in plain text to a server that is not on this machine; for tests
    #[arg(long, requires = "nats")]
    nats_insecure: bool,
    /// What the fleet's subjects begin with, which keeps tenants apart
    #[arg(long, value_name = "SUBJECT", requires = "nats", default_value = "hooks")]
    subject: String,
    /// The settings that engines must have, as their `settingsHash`: one with others does not join, and is not heard
    #[arg(long, value_name = "HASH", requires = "nats")]
    expect_settings: Option<String>,
}

#[cfg(feature = "remote")]
impl FleetArguments {
    /// The settings that engines must have.
    pub(crate) fn expected_settings(&self) -> Option<&str> {
        self.expect_settings.as_deref()
    }

    /// The broker, if one is named.
    pub(crate) fn options(&self) -> Option<hook_remote::nats::NatsOptions> {
        let options = hook_remote::nats::NatsOptions::new(self.nats.as_ref()?.as_str());
        let mut options = options.subject(&self.subject).insecure(self.nats_insecure);
        if let Some(file) = &self.nats_creds {
            options = options.credentials(file);
        }
        if let Some(file) = &self.nats_ca {
            options = options.certificate_authority(file);
        }
        if let Some(hash) = &self.expect_settings {
            options = options.expect_settings(hash);
        }
        Some(options)
    }
}

/// Has an engine ask the fleets that its settings name.
#[cfg(feature = "remote")]
pub(crate) fn with_upstreams(builder: HookSystemBuilder) -> HookSystemBuilder {
    builder.upstreams(std::sync::Arc::new(hook_remote::nats::NatsUpstreams::default()))
}

/// The hooks that stand for them fail here, and say why.
#[cfg(not(feature = "remote"))]
pub(crate) fn with_upstreams(builder: HookSystemBuilder) -> HookSystemBuilder {
    builder
}

/// Says what to build.
#[cfg(not(feature = "remote"))]
pub(crate) fn absent() -> CommandError {
    CommandError::Usage(
        "this build has no NATS; build one that has with `cargo build --release -p hook-cli --features \
         remote`"
            .to_owned(),
    )
}
