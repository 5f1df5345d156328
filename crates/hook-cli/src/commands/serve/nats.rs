//! `hook serve --nats`: an engine of a fleet, in builds with that feature.

#[cfg(not(feature = "remote"))]
pub(super) use absent::Server;
#[cfg(feature = "remote")]
pub(super) use present::Server;

/// The maximum number of pending messages to print.
#[cfg(feature = "remote")]
const MAX_NOTICES: usize = 64;

#[cfg(feature = "remote")]
mod present {
    use std::sync::Arc;

    use hook_bus::HookSystem;
    use hook_remote::metrics::FleetMetrics;
    use hook_remote::nats::NatsEngine;
    use tokio::sync::mpsc;
    use tokio_util::sync::CancellationToken;

    use super::super::Arguments;
    use super::MAX_NOTICES;
    use crate::error::CommandError;

    /// An engine of a fleet.
    pub(in super::super) struct Server {
        engine: NatsEngine,
        notices: mpsc::Sender<String>,
    }

    impl Server {
        /// Creates an engine for the named broker, if any, and the receiver of its messages.
        pub(in super::super) fn of(
            arguments: &Arguments,
        ) -> Result<Option<(Self, mpsc::Receiver<String>)>, CommandError> {
            let Some(options) = arguments.fleet.options() else { return Ok(None) };
            let engine = NatsEngine::new(&options)?.events(arguments.nats_events);
            let engine = engine.may_be_empty(arguments.allow_empty);
            let engine = engine.queue_group(&arguments.queue)?;
            let (notices, receiver) = mpsc::channel(MAX_NOTICES);
            Ok(Some((Self { engine, notices }, receiver)))
        }

        /// Returns the metrics of this engine within the fleet.
        pub(in super::super) fn metrics(&self) -> Arc<dyn FleetMetrics> {
            self.engine.metrics()
        }

        pub(in super::super) async fn serve(
            self,
            system: &Arc<HookSystem>,
            stop: &CancellationToken,
        ) -> Result<(), CommandError> {
            Ok(self.engine.serve(system, stop, &self.notices).await?)
        }
    }
}

#[cfg(not(feature = "remote"))]
mod absent {
    use std::sync::Arc;

    use hook_bus::HookSystem;
    use tokio::sync::mpsc;
    use tokio_util::sync::CancellationToken;

    use super::super::Arguments;
    use crate::error::CommandError;
    use crate::fleet;

    /// A placeholder for builds without NATS.
    pub(in super::super) enum Server {}

    impl Server {
        /// Returns an error if a broker is named.
        pub(in super::super) fn of(
            arguments: &Arguments,
        ) -> Result<Option<(Self, mpsc::Receiver<String>)>, CommandError> {
            match &arguments.fleet.nats {
                None => Ok(None),
                Some(_) => Err(fleet::absent()),
            }
        }

        pub(in super::super) async fn serve(
            self,
            _: &Arc<HookSystem>,
            _: &CancellationToken,
        ) -> Result<(), CommandError> {
            match self {}
        }
    }
}
