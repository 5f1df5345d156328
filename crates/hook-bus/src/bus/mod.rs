//! The bus: requests go to the one handler, everything goes to subscribers.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `message_bus` | the bus, as those who publish and subscribe see it |
//! | `core` | what all handles of a bus share |
//! | `request_handler` | what serves its requests: the trait |
//! | `accepted` | one accepted request, which is answered exactly once |
//! | `published` | a request that was published, for its publisher |
//! | `client` | one of several clients, with its share |
//! | `limits`, `places` | how much may be in flight |
//! | `origin` | whether a request comes from inside of a hook |
//! | `subscription` | bounded queues for subscribers |

mod accepted;
mod client;
mod core;
mod limits;
mod message_bus;
mod origin;
mod places;
mod published;
mod request_handler;
mod subscription;

pub(crate) use accepted::ServeBy;
pub use client::BusClient;
pub use core::AlreadyServed;
pub(crate) use core::BusCore;
pub use limits::{BusLimits, PublishError};
pub use message_bus::MessageBus;
pub(crate) use message_bus::Publication;
pub(crate) use origin::Origin;
pub use published::PublishedRequest;
pub(crate) use published::Submitted;
pub(crate) use request_handler::{RequestControl, RequestHandler, Served};
pub(crate) use subscription::{Audited, Topics, sealed};
pub use subscription::{Lagged, Message, Subscription, SubscriptionLimits};
