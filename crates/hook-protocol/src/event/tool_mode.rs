//! Merging of tool configurations: NONE beats ANY beats AUTO, lists are intersected.

use crate::model::ToolConfig;
use hook_json::JsonObject;

pub(crate) const RANKED_MODES: [&str; 3] = ["AUTO", "ANY", "NONE"];

impl ToolConfig {
    /// Reads the fields that have the right shape and ignores the others.
    pub fn read_leniently(config: &JsonObject) -> Self {
        let names = config.get("allowedFunctionNames").and_then(|names| names.to_items());
        Self {
            mode: config.get("mode").and_then(|mode| mode.to_text()),
            allowed_function_names: names
                .map(|names| names.iter().filter_map(|name| name.to_text()).collect()),
        }
    }
}

/// Returns the strongest mode, and the names that every list contains, sorted.
pub fn narrow_tool_config<'a>(configs: impl Iterator<Item = &'a ToolConfig> + Clone) -> ToolConfig {
    let ranked = configs
        .clone()
        .filter_map(|config| {
            RANKED_MODES.iter().position(|mode| Some(*mode) == config.mode.as_deref())
        })
        .max();
    // A mode that only one SDK knows is kept if no ranked mode was named.
    let mode = match ranked {
        Some(rank) => Some(RANKED_MODES[rank]),
        None => configs.clone().find_map(|config| config.mode.as_deref()),
    };
    let mut lists = configs.filter_map(|config| config.allowed_function_names.as_ref());
    let allowed_function_names = lists.next().map(|first| {
        let mut names = first.clone();
        for list in lists {
            let list: std::collections::HashSet<&String> = list.iter().collect();
            names.retain(|name| list.contains(name));
        }
        names.sort();
        names.dedup();
        names
    });
    ToolConfig { mode: mode.map(str::to_owned), allowed_function_names }
}
