//! Regular expressions that are compiled when they are first needed.

use std::sync::{Arc, OnceLock};

use regex_automata::meta::Regex;

/// The maximum size of a compiled regular expression in bytes.
const MAX_SIZE: usize = 4 << 20;

/// A regular expression that is compiled at its first use.
#[derive(Debug, Clone)]
pub(crate) struct LazyRegex {
    pattern: Arc<str>,
    compiled: Arc<OnceLock<Option<Regex>>>,
}

impl PartialEq for LazyRegex {
    fn eq(&self, other: &Self) -> bool {
        self.pattern == other.pattern
    }
}

impl LazyRegex {
    pub(crate) fn new(pattern: &str) -> Self {
        Self { pattern: pattern.into(), compiled: Arc::new(OnceLock::new()) }
    }

    /// Returns what is wrong with the pattern.
    pub(crate) fn problem(&self) -> Option<String> {
        let error = self.compile().err()?;
        let error = error.lines().next().unwrap_or_default();
        Some(format!("`{}` is no regular expression: {error}", self.pattern))
    }

    fn compile(&self) -> Result<Regex, String> {
        let config = Regex::config().nfa_size_limit(Some(MAX_SIZE)).hybrid_cache_capacity(MAX_SIZE);
        Regex::builder().configure(config).build(&self.pattern).map_err(|error| error.to_string())
    }

    /// Returns `true` if it is found in a text. One that cannot be compiled is found in any.
    pub(crate) fn is_match(&self, text: &str) -> bool {
        let compiled = self.compiled.get_or_init(|| self.compile().ok());
        compiled.as_ref().is_none_or(|regex| regex.is_match(text))
    }
}
