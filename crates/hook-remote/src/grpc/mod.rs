//! The services of `proto/` over gRPC (docs/grpc.md).
//!
//! | file | what it holds |
//! | --- | --- |
//! | `proto` | the messages and services, generated from `proto/` |
//! | `names` | metadata, and how long messages may be |
//! | `place`, `token` | where a server listens, and what a client must prove |
//! | `server` | connections, one task each, from the first to the last |
//! | `routes`, `body` | whom a call is for, and how much of it may be held |
//! | `hook_service` | `HookService`: the calls, and the stream |
//! | `caller` | whose connection a call comes over |
//! | `clients`, `client` | the clients that have hooks or a stream, one task each |
//! | `stream` | a client's stream: answers that come in, and events that go out |
//! | `register`, `event`, `answer` | messages of `proto/` as those of the engine, and back |
//! | `bus_service` | `hook.v1.HookBus` |

mod answer;
mod body;
mod bus_service;
mod caller;
mod client;
mod clients;
mod event;
mod hook_service;
mod names;
mod place;
pub mod proto;
mod register;
mod routes;
mod server;
mod stream;
mod token;

/// What generated code, and clients made of it, stand on.
pub use tonic;

pub use place::{GrpcError, GrpcPlace, TlsFiles};
pub use server::GrpcServer;
