//! The services of `proto/` over gRPC (docs/grpc.md).
//!
//! | file | contents |
//! | --- | --- |
//! | `proto` | messages and services, generated from `proto/` |
//! | `names` | metadata keys and size limits of messages |
//! | `endpoint`, `token` | endpoints of a server and the token of its clients |
//! | `server` | connections, one task each |
//! | `routes`, `body` | routing of calls, and the memory limit of their bodies |
//! | `hook_service` | `HookService`: its calls and its stream |
//! | `caller` | the connection of a call |
//! | `clients`, `client` | clients with hooks or a stream, one task each |
//! | `stream` | a client's stream: incoming answers and outgoing events |
//! | `register`, `event`, `answer` | conversion between messages of `proto/` and of the engine |
//! | `bus_service` | `hook.v1.HookBus` |

mod answer;
mod body;
mod bus_service;
mod caller;
mod client;
mod clients;
mod endpoint;
mod event;
mod hook_service;
mod names;
pub mod proto;
mod register;
mod routes;
mod server;
mod stream;
mod token;

/// The gRPC crate of the generated code, for clients built from that code.
pub use tonic;

pub use endpoint::{GrpcEndpoint, GrpcError, TlsFiles};
pub use server::GrpcServer;
