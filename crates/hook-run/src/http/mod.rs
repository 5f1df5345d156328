//! HTTP hooks: the input is posted to a server, and the response is the answer.
//!
//! | file | contents |
//! | --- | --- |
//! | `address` | parsing and displaying URLs |
//! | `client` | one request, from name lookup to the end of the response |
//! | `stream` | a connection, encrypted or not, for the HTTP library |
//! | `executor` | the executor |

mod address;
mod client;
mod executor;
mod stream;

pub(super) use client::Client;
pub(super) use executor::HttpExecutor;
