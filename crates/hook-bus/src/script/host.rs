//! A host that is scripted: what hooks ask it has results that were written down.

use std::collections::BTreeMap;

use futures::FutureExt;
use futures::future::{self, BoxFuture};
use hook_core::json::JsonKind;
use hook_core::run::{HOST_METHODS, HostCall, HostCallError, HostServices};
use hook_core::text::shortened;
use hook_core::{RawJson, RawObject};

/// A host that offers the methods that it has results for, and gives each as often as it is asked.
#[derive(Debug, Clone, Default)]
pub struct ScriptedHost {
    results: BTreeMap<String, RawJson>,
}

/// A result is none that a host could give.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptedHostError {
    /// Something is no method of hosts.
    #[error("hosts have no method {method:?}; they have {}", known())]
    UnknownMethod {
        /// What it is.
        method: String,
    },
    /// A method has another result.
    #[error("the result of `{method}` is {expected}, and not {found}")]
    WrongResult {
        /// The method.
        method: &'static str,
        /// What its result is.
        expected: &'static str,
        /// What it was to be.
        found: JsonKind,
    },
}

fn known() -> String {
    let names: Vec<&str> = HOST_METHODS.iter().map(|method| method.name).collect();
    names.join(", ")
}

impl ScriptedHost {
    /// With a result for each of these methods.
    ///
    /// # Errors
    /// When one is no method of hosts, or has another result.
    pub fn new(
        results: impl IntoIterator<Item = (String, RawJson)>,
    ) -> Result<Self, ScriptedHostError> {
        let results: BTreeMap<String, RawJson> = results.into_iter().collect();
        for (name, result) in &results {
            let method = HOST_METHODS.iter().find(|method| method.name == name);
            let method = method
                .ok_or_else(|| ScriptedHostError::UnknownMethod { method: shortened(name) })?;
            if !method.may_be(result) {
                return Err(ScriptedHostError::WrongResult {
                    method: method.name,
                    expected: method.result,
                    found: result.kind(),
                });
            }
        }
        Ok(Self { results })
    }

    /// The one that a line of a script describes: `{"type": "hook-host-results", "results": {…}}`. `None` for
    /// every other line; for one that is wrong, what is.
    pub(super) fn of_line(line: &str) -> Option<Result<Self, String>> {
        const TYPE: &str = "hook-host-results";
        // Most lines are requests.
        if !line.contains(TYPE) {
            return None;
        }
        let fields = RawObject::parse(line.to_owned()).ok()?.fields();
        let kind = fields.get("type").and_then(RawJson::to_text);
        (kind.as_deref() == Some(TYPE)).then(|| {
            let results = fields.get("results").and_then(|results| results.to_object().ok());
            let results = results.ok_or("`results` must be an object: a result for each method")?;
            if let Some(twice) = fields.repeated().or_else(|| results.repeated()) {
                return Err(format!("`{}` stands there twice", shortened(twice)));
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
