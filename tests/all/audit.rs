//! The audit: what happened to hooks, as a stream, in a file and over the wire; and what is left out of
//! it and of recordings.

#[cfg(unix)]
mod chain;
#[cfg(target_os = "linux")]
mod file;
mod redaction;
mod stream;
