//! `hook serve --metrics`: numbers for whoever watches, in builds that have it.

#[cfg(not(feature = "remote"))]
pub(super) use absent::Server;
#[cfg(feature = "remote")]
pub(super) use present::Server;

/// Where the numbers are where no address is named.
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

    /// A server of numbers.
    pub(in super::super) struct Server(MetricsServer);

    impl Server {
        /// Listens where the arguments say, if they do, and counts from now on.
        pub(in super::super) async fn bind(
            arguments: &Arguments,
            system: &Arc<HookSystem>,
            engine: Option<&nats::Server>,
        ) -> Result<Option<Self>, CommandError> {
            let Some(address) = &arguments.metrics else { return Ok(None) };
            let numbers = engine.map(nats::Server::numbers);
            Ok(Some(Self(MetricsServer::bind(address, system, numbers).await?)))
        }

        /// Says where they are, and who can read them.
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

    /// There is none in this build.
    pub(in super::super) enum Server {}

    impl Server {
        /// Says what to build, where one is asked for.
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
