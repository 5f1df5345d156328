//! Generation settings, which are top-level fields of a request.

use hook_json::{JsonObject, RawJson};

use crate::{Warning, json};

/// A setting that hooks see.
#[derive(Debug)]
pub(super) struct Setting {
    /// Its name in a stable `config`.
    pub(super) stable: &'static str,
    /// The SDK's names; the first that the request has counts.
    pub(super) names: &'static [&'static str],
    /// The name in a request that has none of them; `None` if the official API does not have it.
    pub(super) new: Option<&'static str>,
}

impl Setting {
    fn find<'r>(&self, request: &'r JsonObject) -> Option<(&'static str, &'r RawJson)> {
        self.names.iter().find_map(|name| Some((*name, json::given(request, name)?)))
    }
}

/// Returns the settings of a request that hooks see.
pub(super) fn shown(settings: &[Setting], request: &JsonObject) -> JsonObject {
    let shown = |setting: &Setting| {
        let (_, value) = setting.find(request)?;
        Some((setting.stable.to_owned(), value.clone()))
    };
    settings.iter().filter_map(shown).collect()
}

/// Returns the fields of a request that a hook's `config` changes.
pub(super) fn changes(
    settings: &[Setting],
    given: &JsonObject,
    request: &JsonObject,
    warnings: &mut Vec<Warning>,
) -> JsonObject {
    let mut changes = JsonObject::new();
    for (name, value) in given.iter().filter(|(_, value)| !value.is_null()) {
        let setting = settings.iter().find(|setting| setting.stable == name);
        let found = setting.and_then(|setting| setting.find(request));
        match (found, setting.and_then(|setting| setting.new)) {
            (Some((_, old)), _) if old == value => {}
            (Some((name, _)), _) | (None, Some(name)) => changes.insert(name, value.clone()),
            (None, None) => warnings.push(Warning::new(
                format!("config.{name}"),
                "not a setting that a hook can change in a request of this sdk; it is ignored",
            )),
        }
    }
    changes
}
