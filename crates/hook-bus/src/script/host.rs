//! A host that is scripted: what hooks ask it has results that were written down.

use std::collections::BTreeMap;

use futures::FutureExt;
use futures::future::{self, BoxFuture};
use hook_core::run::{HOST_METHODS, HostCall, HostCallError, HostServices};
use hook_core::text::shortened;
use hook_core::{RawJson, RawObject};

/// A host that offers the methods that it has results for, and gives each as often as it is asked.
#[derive(Debug, Clone, Default)]
pub struct ScriptedHost {
    results: BTreeMap<String, RawJson>,
}

/// Something is no method of hosts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("hosts have no method {method:?}; they have {}", known())]
pub struct UnknownHostMethod {
    /// What it is.
    method: String,
}

fn known() -> String {
    let names: Vec<&str> = HOST_METHODS.iter().map(|method| method.name).collect();
    names.join(", ")
}

impl ScriptedHost {
    /// With a result for each of these methods.
    ///
    /// # Errors
    /// When one is no method of hosts.
    pub fn new(
        results: impl IntoIterator<Item = (String, RawJson)>,
    ) -> Result<Self, UnknownHostMethod> {
        let results: BTreeMap<String, RawJson> = results.into_iter().collect();
        let is_method = |name: &String| HOST_METHODS.iter().any(|method| method.name == name);
        match results.keys().find(|name| !is_method(name)) {
            Some(name) => Err(UnknownHostMethod { method: shortened(name) }),
            None => Ok(Self { results }),
        }
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
