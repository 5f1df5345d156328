//! A fleet of engines behind a NATS broker (docs/fleet.md).
//!
//! | file | contents |
//! | --- | --- |
//! | `error` | reasons why a broker cannot be used |
//! | `options`, `credentials` | address, connection settings and user of a broker |
//! | `subjects` | subjects of messages |
//! | `connection` | a connection that reconnects, and its state |
//! | `message` | messages other than requests and responses |
//! | `consistency` | check of a response against its request and itself |
//! | `engine` | an engine: it joins the group, takes requests, leaves |
//! | `admission`, `serving` | requests that an engine has taken, and the run of one |
//! | `group` | check that all engines of a subject share one queue group |
//! | `fitness` | check that an engine may decide for its fleet |
//! | `own_fleet` | check that an engine does not call its own fleet |
//! | `status` | an engine's status, also as a NATS service |
//! | `events` | events of an engine, for remote subscribers |
//! | `bus` | `NatsBus`: the bus of clients |
//! | `fleet`, `replies` | one request of a client: its attempts and its replies |
//! | `roll_call` | list of present engines |
//! | `upstream` | fleets that settings name |

mod admission;
mod bus;
mod connection;
mod consistency;
mod credentials;
mod engine;
mod error;
mod events;
mod fitness;
mod fleet;
mod group;
mod message;
mod options;
mod own_fleet;
mod replies;
mod roll_call;
mod serving;
mod status;
mod subjects;
mod upstream;

pub use bus::{FleetMessage, NatsBus};
pub use engine::NatsEngine;
pub use error::NatsError;
pub use options::NatsOptions;
pub use roll_call::EngineStatus;
pub use upstream::NatsUpstreams;
