//! Hooks over a network: the engine's services for clients that are not on its pipes.
//!
//! It knows `hook-bus` by its public functions only, and brings to it what came by another way than JSON
//! lines. Each way is a feature, and off unless it is asked for: what it stands on is large.
//!
//! | feature | module | what it holds |
//! | --- | --- | --- |
//! | `metrics` | `metrics` | numbers of an engine, for Prometheus |
//! | `grpc` | `grpc` | the services of `proto/`: registering and answering hooks, asking and following the bus |

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

#[cfg(feature = "grpc")]
pub mod grpc;
#[cfg(feature = "metrics")]
pub mod metrics;
#[cfg(feature = "nats")]
pub mod nats;
