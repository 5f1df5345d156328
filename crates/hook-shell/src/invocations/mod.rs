//! The programs that a shell text starts, with their arguments, files and input.
//!
//! A text is read as a careful person reads it: every branch may run, and at each point variables,
//! directories and functions are all that they may be there, and programs that start others (`sudo`,
//! `xargs`, `sh -c`, `ssh`) are followed. What only running the text can tell is unknown, or makes it
//! [opaque](Reading::opaque).
//!
//! | module | contents |
//! | --- | --- |
//! | `argument` | arguments as a shell passes them |
//! | `files` | the files that programs read and write |
//! | `find` | folders and files that `find` looks for |
//! | `git` | programs that git starts |
//! | `inline` | programs of other languages in arguments and here-documents |
//! | `inputs` | programs that `xargs` and `parallel` start |
//! | `invocation` | programs with what they are given |
//! | `links` | links that programs make |
//! | `options` | options and operands |
//! | `paths` | paths of files, and their use |
//! | `program` | what is known about programs: the table |
//! | `reader` | scripts to invocations |
//! | `reading` | what was read of a text |
//! | `sed` | scripts of `sed` |
//! | `shells` | texts and scripts that shells start |
//! | `started` | what programs start |
//! | `starters` | programs that start other programs |
//! | `state` | what is possible at a point of a text |

mod argument;
mod files;
mod find;
mod git;
mod inline;
mod inputs;
mod invocation;
mod links;
mod options;
mod paths;
mod program;
mod reader;
mod reading;
mod sed;
mod shells;
mod started;
mod starters;
mod state;
#[cfg(test)]
mod tests;

pub use argument::{Argument, UNKNOWN};
pub use invocation::{Input, Invocation};
pub use links::made_links;
pub use options::is_option;
pub use paths::{Access, FileAccess, join, path_of_url};
pub use reading::{Opaque, Reading, Surroundings};

/// Reads a text.
pub fn read(text: &str, surroundings: &Surroundings<'_>) -> Reading {
    reader::Reader::new(surroundings).read(text)
}
