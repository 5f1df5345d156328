//! Hooks over a network: the engine's services for clients that do not use its pipes.
//!
//! This crate adds transports other than JSON lines to `hook-bus`, by its public functions only.
//! Each is a feature, off by default because of its large dependencies.
//!
//! | feature | module | contents |
//! | --- | --- | --- |
//! | `metrics` | `metrics` | metrics of an engine, for Prometheus |
//! | `grpc` | `grpc` | the services of `proto/`: register and answer hooks, call and follow the bus |
//! | `nats` | `nats` | a fleet of engines behind a NATS broker |

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

#[cfg(feature = "grpc")]
pub mod grpc;
#[cfg(feature = "metrics")]
pub mod metrics;
#[cfg(feature = "nats")]
pub mod nats;
