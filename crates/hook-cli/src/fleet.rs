//! `--nats` and its options: a broker with a fleet of engines, in builds with that feature.

use std::path::PathBuf;

use clap::Args;
use hook_bus::HookSystemBuilder;

#[cfg(not(feature = "remote"))]
use crate::error::CommandError;

/// `true` if this build can connect to fleets of engines.
pub(crate) const IS_SUPPORTED: bool = cfg!(feature = "remote");

// The broker options of several commands. Not a doc comment: clap would show it as their help.
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
    /// Returns the settings hash that engines must have.
    pub(crate) fn expected_settings(&self) -> Option<&str> {
        self.expect_settings.as_deref()
    }

    /// Returns `true` if credentials are named.
    pub(crate) fn has_credentials(&self) -> bool {
        self.nats_creds.is_some()
    }

    /// Returns the broker's options, if a broker is named.
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

/// Lets an engine call the fleets that its settings name.
#[cfg(feature = "remote")]
pub(crate) fn with_upstreams(builder: HookSystemBuilder) -> HookSystemBuilder {
    builder.upstreams(std::sync::Arc::new(hook_remote::nats::NatsUpstreams::default()))
}

/// Returns the builder unchanged. Hooks of fleets fail with an explanation.
#[cfg(not(feature = "remote"))]
pub(crate) fn with_upstreams(builder: HookSystemBuilder) -> HookSystemBuilder {
    builder
}

/// Returns the error for a build without NATS.
#[cfg(not(feature = "remote"))]
pub(crate) fn absent() -> CommandError {
    CommandError::Usage(
        "this build has no NATS; build one that has with `cargo build --release -p hook-cli --features \
         remote`"
            .to_owned(),
    )
}
