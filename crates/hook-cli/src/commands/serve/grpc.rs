//! `hook serve --grpc`: clients over gRPC, in builds with that feature.

#[cfg(not(feature = "remote"))]
pub(super) use absent::Server;
#[cfg(feature = "remote")]
pub(super) use present::Server;

#[cfg(feature = "remote")]
mod present {
    use std::path::{Path, PathBuf};
    use std::sync::Arc;

    use hook_bus::HookSystem;
    use hook_json::text::PathText;
    use hook_remote::grpc::{GrpcEndpoint, GrpcServer, TlsFiles};
    use tokio_util::sync::CancellationToken;

    use super::super::{Arguments, own_socket};
    use crate::error::CommandError;
    use crate::output::Printer;

    /// A server for clients over gRPC.
    pub(in super::super) struct Server(GrpcServer);

    impl Server {
        /// Listens at the address in the arguments, if there is one.
        pub(in super::super) async fn bind(
            arguments: &Arguments,
            project: &Path,
        ) -> Result<Option<Self>, CommandError> {
            let Some(text) = &arguments.grpc else { return Ok(None) };
            let endpoint: GrpcEndpoint = text.parse()?;
            let files = arguments.tls_cert.clone().zip(arguments.tls_key.clone());
            let tls = files.map(|(certificate, key)| TlsFiles { certificate, key });
            let token_file = match (&arguments.grpc_token_file, &endpoint) {
                (Some(path), _) => Some(path.clone()),
                (None, GrpcEndpoint::Unix(_)) => None,
                (None, _) => Some(own_socket(project)?.with_extension("grpc-token")),
            };
            let server = GrpcServer::bind(&endpoint, tls.as_ref(), token_file.as_deref()).await?;
            Ok(Some(Self(server)))
        }

        /// Returns the address as the place by which the guards of its clients are remembered.
        pub(in super::super) fn place(&self) -> PathBuf {
            match self.0.endpoint() {
                GrpcEndpoint::Unix(path) => path,
                endpoint => PathBuf::from(format!("grpc:{endpoint}")),
            }
        }

        /// Prints the address, and the file with the token.
        pub(in super::super) fn announce(&self, printer: &mut Printer) {
            printer.note(&format!("listening for gRPC on {}", self.0.endpoint()));
            if let Some(path) = self.0.token_file() {
                printer.note(&format!("the token for gRPC is in {}", path.shown()));
            }
        }

        pub(in super::super) async fn serve(
            self,
            system: &Arc<HookSystem>,
            stop: &CancellationToken,
        ) {
            self.0.serve(system, stop).await;
        }
    }
}

#[cfg(not(feature = "remote"))]
mod absent {
    use std::path::{Path, PathBuf};
    use std::sync::Arc;

    use hook_bus::HookSystem;
    use tokio_util::sync::CancellationToken;

    use super::super::Arguments;
    use crate::error::CommandError;
    use crate::output::Printer;

    /// A placeholder for builds without gRPC.
    pub(in super::super) enum Server {}

    impl Server {
        /// Returns an error if an address is given.
        #[expect(clippy::unused_async, reason = "where there is one, it waits")]
        pub(in super::super) async fn bind(
            arguments: &Arguments,
            _: &Path,
        ) -> Result<Option<Self>, CommandError> {
            match &arguments.grpc {
                None => Ok(None),
                Some(_) => Err(CommandError::Usage(
                    "this build has no gRPC; build one that has with `cargo build --release -p hook-cli \
                     --features remote`, or use --socket"
                        .to_owned(),
                )),
            }
        }

        pub(in super::super) fn place(&self) -> PathBuf {
            match *self {}
        }

        pub(in super::super) fn announce(&self, _: &mut Printer) {
            match *self {}
        }

        pub(in super::super) async fn serve(self, _: &Arc<HookSystem>, _: &CancellationToken) {
            match self {}
        }
    }
}
