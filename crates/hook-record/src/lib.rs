//! Recordings of a bus, and scripted messages for it.
//!
//! A [`Recorder`](recording::Recorder) writes all messages of a bus to a file, from which each request
//! can be sent again. A [`Scenario`](script::Scenario) sends the requests of a file and compares the
//! responses with the expected ones.
//!
//! # Example
//! ```
//! use hook_bus::HookSystem;
//! use hook_record::script::play;
//! use tokio_stream::StreamExt;
//! use tokio_util::sync::CancellationToken;
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!
//! let system = HookSystem::builder(".").build()?;
//! let script = r#"{"type": "hook-execution-request", "eventName": "BeforeAgent",
//!     "correlationId": "c-1", "input": {"prompt": "Hi"}}"#.replace('\n', "");
//! let stop = CancellationToken::new();
//! let mut responses = std::pin::pin!(play(system.bus(), script.as_bytes(), 1, &stop));
//! let response = responses.next().await.unwrap()?;
//! assert_eq!(response.correlation_id.as_str(), "c-1");
//! # Ok(())
//! # }
//! ```
//!
//! # Map
//!
//! | module | contents |
//! | --- | --- |
//! | [`recording`] | recordings of a bus: writing, reading, replaying, comparing |
//! | [`script`] | scripted messages, and tests of hooks with them |

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod recording;
pub mod script;
