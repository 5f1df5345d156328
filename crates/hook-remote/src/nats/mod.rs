//! A fleet of engines behind a NATS broker (docs/fleet.md).
//!
//! | file | what it holds |
//! | --- | --- |
//! | `error` | why a broker cannot be used |
//! | `options`, `credentials` | which broker, how it may be reached, and who one is there |
//! | `subjects` | what is said where |
//! | `connection` | a connection that is kept, and what is known of it |
//! | `message` | what is said beside requests and responses |
//! | `consistent` | whether a response is one to its request, and says one thing |
//! | `engine` | an engine: it joins the group, takes requests, leaves |
//! | `taken`, `serving` | the requests that an engine has taken, and one of them |
//! | `group` | that the engines of a subject are in one queue group |
//! | `fitness` | whether an engine may decide for its fleet |
//! | `own_fleet` | that an engine does not ask itself |
//! | `status` | what an engine says of itself, also as a NATS service |
//! | `events` | what happens in an engine, for subscribers elsewhere |
//! | `bus` | `NatsBus`: the bus of those who ask |
//! | `fleet`, `replies` | one request of theirs: its attempts, and what is said to it |
//! | `roll_call` | who is there |
//! | `upstream` | fleets that settings name |

mod bus;
mod connection;
mod consistent;
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
mod taken;
mod upstream;

pub use bus::{FleetMessage, NatsBus};
pub use engine::NatsEngine;
pub use error::NatsError;
pub use options::NatsOptions;
pub use roll_call::EngineStatus;
pub use upstream::NatsUpstreams;
