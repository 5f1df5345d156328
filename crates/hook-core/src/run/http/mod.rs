//! Hooks that are a server's answer: what they are told is posted, and what comes back is theirs.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `address` | where a URL leads, and how it is shown |
//! | `client` | one request, from the name of its server to the end of the answer |
//! | `stream` | a connection, encrypted or not, as the HTTP library wants it |
//! | `executor` | a hook |

mod address;
mod client;
mod executor;
mod stream;

pub(super) use client::Client;
pub(super) use executor::HttpExecutor;
