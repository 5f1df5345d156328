//! Events that somebody declares.
