//! A scripted host, which returns predefined results to hooks.

use std::collections::BTreeMap;

use futures::FutureExt;
use futures::future::{self, BoxFuture};
use hook_json::text::shortened;
use hook_json::{JsonKind, RawJson, RawObject};
use hook_run::{HOST_METHODS, HostCall, HostCallError, HostServices};

/// A host that offers the methods that it has results for, and returns each any number of times.
#[derive(Debug, Clone, Default)]
pub struct ScriptedHost {
    results: BTreeMap<String, RawJson>,
}

/// An invalid result of a host's method.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptedHostError {
    /// The method is unknown.
    #[error("hosts have no method {method:?}; they have {}", known())]
    UnknownMethod {
        /// The unknown method.
        method: String,
    },
    /// The result has the wrong type.
    #[error("the result of `{method}` is {expected}, and not {found}")]
    WrongResult {
        /// The method.
        method: &'static str,
        /// The expected type.
        expected: &'static str,
        /// The given type.
        found: JsonKind,
    },
}

fn known() -> String {
    let names: Vec<&str> = HOST_METHODS.iter().map(|method| method.name).collect();
    names.join(", ")
}

impl ScriptedHost {
    /// Creates a host with a result for each of these methods.
    ///
    /// # Errors
    /// If a method is unknown, or its result has the wrong type.
    pub fn new(
        results: impl IntoIterator<Item = (String, RawJson)>,
    ) -> Result<Self, ScriptedHostError> {
        let results: BTreeMap<String, RawJson> = results.into_iter().collect();
        for (name, result) in &results {
            let method = HOST_METHODS.iter().find(|method| method.name == name);
            let method = method
                .ok_or_else(|| ScriptedHostError::UnknownMethod { method: shortened(name) })?;
            if !method.accepts_result(result) {
                return Err(ScriptedHostError::WrongResult {
                    method: method.name,
                    expected: method.result,
                    found: result.kind(),
                });
            }
        }
        Ok(Self { results })
    }

    /// Parses a line of a script like `{"type": "hook-host-results", "results": {…}}`. Returns
    /// `None` for other lines, and an error message for an invalid one.
    pub(super) fn from_line(line: &str) -> Option<Result<Self, String>> {
        const TYPE: &str = "hook-host-results";
        // A quick check, since most lines are requests.
        if !line.contains(TYPE) {
            return None;
        }
        let fields = RawObject::parse(line.to_owned()).ok()?.fields();
        let kind = fields.get("type").and_then(RawJson::to_text);
        (kind.as_deref() == Some(TYPE)).then(|| {
            let results = fields.get("results").and_then(|results| results.to_object().ok());
            let results = results.ok_or("`results` must be an object: a result for each method")?;
            if let Some(duplicate) = fields.duplicate_key().or_else(|| results.duplicate_key()) {
                return Err(format!("`{}` stands there twice", shortened(duplicate)));
            }
            let results = results.iter().map(|(name, result)| (name.to_owned(), result.clone()));
            Self::new(results).map_err(|error| error.to_string())
        })
    }
}

impl HostServices for ScriptedHost {
    fn offers(&self, method: &str) -> bool {
        self.results.contains_key(method)
    }

    fn call(&self, call: HostCall) -> BoxFuture<'static, Result<RawJson, HostCallError>> {
        let result = self.results.get(&call.method).cloned();
        let unsupported = || HostCallError::unsupported(&call.method);
        future::ready(result.ok_or_else(unsupported)).boxed()
    }
}
