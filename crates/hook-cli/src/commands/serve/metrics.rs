//! `hook serve --metrics`: metrics for Prometheus, in builds with that feature.

#[cfg(not(feature = "remote"))]
pub(super) use absent::Server;
#[cfg(feature = "remote")]
pub(super) use present::Server;

/// The default address.
pub(super) const ADDRESS: &str = "127.0.0.1:9464";

#[cfg(feature = "remote")]
mod present {
    use std::sync::Arc;

    use hook_bus::HookSystem;
    use hook_remote::metrics::MetricsServer;
    use tokio_util::sync::CancellationToken;

    use super::super::{Arguments, nats};
    use crate::error::CommandError;
    use crate::output::Printer;

    /// A server for metrics.
    pub(in super::super) struct Server(MetricsServer);

    impl Server {
        /// Listens at the address in the arguments, if there is one, and starts counting.
        pub(in super::super) async fn bind(
            arguments: &Arguments,
            system: &Arc<HookSystem>,
            engine: Option<&nats::Server>,
        ) -> Result<Option<Self>, CommandError> {
            let Some(address) = &arguments.metrics else { return Ok(None) };
            let fleet_metrics = engine.map(nats::Server::metrics);
            Ok(Some(Self(MetricsServer::bind(address, system, fleet_metrics).await?)))
        }

        /// Prints the address, and a warning if other machines can reach it.
        pub(in super::super) fn announce(&self, printer: &mut Printer) {
            let address = self.0.address();
            printer.note(&format!("metrics are at http://{address}/metrics"));
            if !address.ip().is_loopback() {
                printer.warning(&format!("whoever reaches {address} can read the metrics"));
            }
        }

        pub(in super::super) async fn serve(self, stop: &CancellationToken) {
            self.0.serve(stop).await;
        }
    }
}

#[cfg(not(feature = "remote"))]
mod absent {
    use std::sync::Arc;

    use hook_bus::HookSystem;
    use tokio_util::sync::CancellationToken;

    use super::super::{Arguments, nats};
    use crate::error::CommandError;
    use crate::output::Printer;

    /// A placeholder for builds without metrics.
    pub(in super::super) enum Server {}

    impl Server {
        /// Returns an error if an address is given.
        #[expect(clippy::unused_async, reason = "where there is one, it waits")]
        pub(in super::super) async fn bind(
            arguments: &Arguments,
            _: &Arc<HookSystem>,
            _: Option<&nats::Server>,
        ) -> Result<Option<Self>, CommandError> {
            match &arguments.metrics {
                None => Ok(None),
                Some(_) => Err(CommandError::Usage(
                    "this build has no metrics; build one that has with `cargo build --release -p hook-cli \
                     --features remote`"
                        .to_owned(),
                )),
            }
        }

        pub(in super::super) fn announce(&self, _: &mut Printer) {
            match *self {}
        }

        pub(in super::super) async fn serve(self, _: &CancellationToken) {
            match self {}
        }
    }
}
