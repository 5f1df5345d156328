//! The bus: it passes requests to its one handler, and all messages to subscribers.
//!
//! | file | contents |
//! | --- | --- |
//! | `message_bus` | the bus, for publishers and subscribers |
//! | `core` | the shared state of all handles of a bus |
//! | `request_handler` | the trait of the handler |
//! | `accepted` | one accepted request, which is answered exactly once |
//! | `published` | a published request, for its publisher |
//! | `client` | one of several clients, with its fair share |
//! | `limits`, `permits` | the limits on requests in flight |
//! | `origin` | whether a request comes from a running hook |
//! | `subscription` | bounded queues for subscribers |

mod accepted;
mod client;
mod core;
mod limits;
mod message_bus;
mod origin;
mod permits;
mod published;
mod request_handler;
mod subscription;

pub(crate) use accepted::ServeBy;
pub use client::BusClient;
pub use core::AlreadyServed;
pub(crate) use core::BusCore;
pub use limits::{BusLimits, PublishError};
pub use message_bus::MessageBus;
pub use published::PublishedRequest;
pub(crate) use published::Submitted;
pub(crate) use request_handler::{RequestContext, RequestHandler, Served};
pub(crate) use subscription::{AuditGuard, Topics, sealed};
pub use subscription::{Lagged, Message, Subscription, SubscriptionLimits};
