//! Settings: hooks, their locations, and the problems of settings files (reference/settings.md).
//!
//! A [`SettingsSource`] names a file, [`load()`] loads a source and [`parse`] parses a text into a
//! [`SettingsFile`]. All problems of a file are reported together; a broken entry does not affect
//! others. [`edit`] enables and disables hooks in settings files, and [`starter`] creates a first
//! settings file. [`crate::check`] also checks the environment of settings.
//!
//! # Example
//!
//! ```
//! use hook_settings::{FailBehavior, HookSource, parse};
//!
//! let text = r#"{"hooks": {"BeforeTool": [{"hooks": [
//!     {"type": "command", "command": "./guard.sh", "failBehavior": "block"}]}]}}"#;
//! let file = parse(text, HookSource::User, None);
//! assert!(file.diagnostics.is_empty());
//! assert_eq!(file.hooks[0].fail_behavior, FailBehavior::Block);
//! ```
//!
//! # Map
//!
//! | module | contents |
//! | --- | --- |
//! | `source`, `discovery`, `paths`, `folders` | settings files, and where they are found |
//! | `document`, `fields`, `values`, `values_reader`, `file`, `load`, `reload` | reading them, by tables of fields |
//! | `definition`, `keywords`, `rule`, `diagnostic` | hooks, and the problems of a file |
//! | [`matcher`], `javascript` | matchers, and the regular expressions of JavaScript |
//! | [`language`], `foreign`, `foreign_definitions` | hooks in the formats of other agents |
//! | [`edit`], [`starter`] | editing and creating settings files |
//! | [`check`] | diagnostics for settings and for the files that they name |
//! | [`redact`] | keeping secrets out of records and logs |
//! | [`schema`] | JSON Schemas of everything that is read and written |

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod agents;
mod all_files;
pub mod check;
mod declaring;
mod definition;
mod diagnostic;
mod discovered_hooks;
mod discovery;
mod document;
pub mod edit;
mod events;
mod fields;
mod file;
mod folders;
mod foreign;
mod foreign_definitions;
mod javascript;
mod keywords;
pub mod language;
mod language_field;
mod load;
pub mod matcher;
mod matcher_definition;
mod pack;
mod paths;
pub mod redact;
mod redaction;
mod registration;
mod reload;
mod rule;
mod rule_set;
pub mod schema;
mod source;
pub mod starter;
mod switch;
mod upstream;
mod upstream_reader;
mod values;
mod values_reader;

pub use agents::{Agents, agents_of};
pub use all_files::{audit_level, logs_calls, redaction, registration_limits, starts_server};
pub(crate) use definition::FileSpans;
pub use definition::{
    EnvironmentRules, HookEntry, HooksConfig, SettingsFile, WorkerRules, variables,
};
pub use diagnostic::{Diagnostic, Location};
pub use discovery::{
    MAX_PROJECT_DEPTH, discover, guarded_directories, has_settings, is_searchable, nearest_project,
    project_sources, searched_directories,
};
pub(crate) use document::Document;
pub(crate) use fields::TOP_LEVEL;
pub use fields::{CONFIG_FIELDS, DEFAULT_PRIORITY, DEFINITION_FIELDS, HOOK_FIELDS, MATCHER_FIELDS};
pub use file::{parse, parse_source};
pub use folders::{has_hook_folder, listing};
pub use keywords::{AuditLevel, FailBehavior, Severity, TimeoutOrigin};
pub(crate) use load::load_all;
pub use load::{MAX_SETTINGS, declare_events, load};
pub use matcher::MatchInput;
pub(crate) use matcher_definition::{COMMAND_PATTERN, KIND, PATH_PATTERN, TOOL, TOOL_PATTERN};
pub use matcher_definition::{MatcherDefinition, MatcherFields};
pub use pack::{
    LockedPack, MAX_PACK_LOCK, PACK_HOOKS, PROJECT_RULES, Pack, PackLock, check_pack_name,
    packs_folder,
};
pub(crate) use paths::project_of;
pub use paths::{IN_PROJECT, config_home, data_home, state_home, unsafe_user_folder};
pub use registration::RegistrationLimits;
pub use reload::reload_files;
pub use rule::Rule;
pub use rule_set::{RuleSet, excepted_rules};
pub use source::{HookSource, SettingsSource};
pub use switch::Switches;
pub use upstream::UpstreamRules;
