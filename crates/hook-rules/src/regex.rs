//! Regular expressions that are compiled when they are first needed.

use std::sync::{Arc, OnceLock};

use regex_automata::meta::Regex;
use regex_automata::util::syntax;

use crate::file::first_line;

/// The maximum size of a compiled regular expression in bytes.
const MAX_SIZE: usize = 4 << 20;

/// A regular expression that is parsed, and compiled at its first use.
#[derive(Debug, Clone)]
pub(crate) struct LazyRegex {
    pattern: Arc<str>,
    compiled: Arc<OnceLock<Option<Regex>>>,
}

impl LazyRegex {
    /// Parses a pattern; the error says what is wrong with it.
    pub(crate) fn new(pattern: &str) -> Result<Self, String> {
        let error =
            |error: String| format!("`{pattern}` is no regular expression: {}", first_line(&error));
        syntax::parse(pattern).map_err(|parse| error(parse.to_string()))?;
        Ok(Self { pattern: pattern.into(), compiled: Arc::new(OnceLock::new()) })
    }

    /// Returns `true` if it is found in a text. One that is too large to compile is found in any.
    pub(crate) fn is_match(&self, text: &str) -> bool {
        let config =
            Regex::config().nfa_size_limit(Some(MAX_SIZE)).hybrid_cache_capacity(MAX_SIZE);
        let compile = || Regex::builder().configure(config).build(&self.pattern).ok();
        self.compiled.get_or_init(compile).as_ref().is_none_or(|regex| regex.is_match(text))
    }
}
