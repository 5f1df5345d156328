//! The programs that were read of a text.

use std::ops::Range;

use super::invocation::Invocation;

/// The directories of a text that runs.
#[derive(Debug, Clone, Copy)]
pub struct Surroundings<'s> {
    /// The working directory, absolute.
    pub cwd: &'s str,
    /// The project, absolute.
    pub project: &'s str,
    /// The home directory, absolute.
    pub home: &'s str,
}

/// The programs that a text may start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reading {
    /// The invocations in the order of the text; a program that starts another comes first.
    pub invocations: Vec<Invocation>,
    /// Parts whose effect only running them can tell.
    pub opaque: Vec<Opaque>,
}

/// A part of a text whose effect is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opaque {
    /// The reason, as a clause: "`sh` runs what it reads".
    pub reason: String,
    /// The byte range in the text.
    pub range: Range<usize>,
}
