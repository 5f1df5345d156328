//! Matchers as defined in settings: a string, or an object all of whose fields must match.

use std::collections::BTreeMap;

use serde_json::Value;

use hook_json::{ObjectWriter, RawObject};
use hook_protocol::event::input::CallerField;
use hook_protocol::tool::ToolKind;

/// A matcher as defined in settings or by the host. A string is its text form, a [`MatcherFields`]
/// its object form.
///
/// ```
/// use hook_settings::{MatcherDefinition, MatcherFields};
///
/// let tools = MatcherDefinition::from("write_file|edit");
/// let secrets = MatcherDefinition::from(MatcherFields::new().tool("write_file").path("*.env"));
/// assert_eq!(tools.to_text(), "write_file|edit");
/// assert_eq!(secrets.to_text(), r#"{"tool":"write_file","pathPattern":"*.env"}"#);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MatcherDefinition {
    /// A text, compared as the event requires: a regular expression or a keyword.
    Text(String),
    /// An object, all of whose fields must match.
    Fields(MatcherFields),
    /// A value in settings that is not a valid matcher, as JSON text.
    Unreadable(String),
}

/// The object form of a matcher: all fields that are set must match.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct MatcherFields {
    pub(crate) kinds: Vec<String>,
    pub(crate) tools: Vec<String>,
    pub(crate) tool_pattern: Option<String>,
    pub(crate) paths: Vec<String>,
    pub(crate) command_pattern: Option<String>,
    /// The names of each field of the caller, in the order of [`CallerField::ALL`].
    pub(crate) callers: [Vec<String>; 4],
}

/// The keys of the object form.
pub(crate) const KIND: &str = "kind";
pub(crate) const TOOL: &str = "tool";
pub(crate) const TOOL_PATTERN: &str = "toolPattern";
pub(crate) const PATH_PATTERN: &str = "pathPattern";
pub(crate) const COMMAND_PATTERN: &str = "commandPattern";

/// The prefix of the object form's keys in trust decisions.
const SPEC_PREFIX: &str = "matcher.";
const UNREADABLE_KEY: &str = "matcher.unreadable";

impl MatcherFields {
    /// Creates a matcher without fields, which matches everything.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Requires a tool of this kind, regardless of its name; of several kinds, any one.
    #[must_use]
    pub fn kind(mut self, kind: ToolKind) -> Self {
        self.kinds.push(kind.as_str().to_owned());
        self
    }

    /// Requires a tool with this name in any agent: `Bash` also matches `run_shell_command`. Of
    /// several names, any one.
    #[must_use]
    pub fn tool(mut self, name: impl Into<String>) -> Self {
        self.tools.push(name.into());
        self
    }

    /// Requires a tool with a name that matches this regular expression, as in the text form.
    #[must_use]
    pub fn tool_pattern(mut self, pattern: impl Into<String>) -> Self {
        self.tool_pattern = Some(pattern.into());
        self
    }

    /// Requires that a path of the input matches this glob. Of several globs, one must match; a
    /// glob that begins with `!` excludes paths.
    #[must_use]
    pub fn path(mut self, glob: impl Into<String>) -> Self {
        self.paths.push(glob.into());
        self
    }

    /// Requires a command of the input that matches this regular expression, as in the text form.
    #[must_use]
    pub fn command_pattern(mut self, pattern: impl Into<String>) -> Self {
        self.command_pattern = Some(pattern.into());
        self
    }

    /// Requires a caller of which this field has this value, in which `*` stands for any text. Of several values, any
    /// one. A caller that does not say the field counts as a match.
    #[must_use]
    pub fn caller(mut self, field: CallerField, value: impl Into<String>) -> Self {
        if let Some((_, values)) = self.callers_mut().find(|(known, _)| *known == field) {
            values.push(value.into());
        }
        self
    }

    /// Returns the values of each field of the caller.
    pub(crate) fn callers(&self) -> impl Iterator<Item = (CallerField, &Vec<String>)> {
        CallerField::ALL.into_iter().zip(&self.callers)
    }

    fn callers_mut(&mut self) -> impl Iterator<Item = (CallerField, &mut Vec<String>)> {
        CallerField::ALL.into_iter().zip(&mut self.callers)
    }

    /// Returns the object as it is written in settings.
    pub fn to_raw(&self) -> RawObject {
        let list = |out: &mut ObjectWriter<'_>, key, list: &[String]| match list {
            [] => {}
            [one] => out.text(key, one),
            several => out.texts(key, several),
        };
        RawObject::build(|out| {
            list(out, KIND, &self.kinds);
            list(out, TOOL, &self.tools);
            out.optional_text(TOOL_PATTERN, self.tool_pattern.as_deref());
            list(out, PATH_PATTERN, &self.paths);
            out.optional_text(COMMAND_PATTERN, self.command_pattern.as_deref());
            for (field, values) in self.callers() {
                list(out, field.as_str(), values);
            }
        })
    }
}

impl MatcherDefinition {
    /// Returns the text form, or the JSON of the object form.
    pub fn to_text(&self) -> String {
        match self {
            Self::Text(text) | Self::Unreadable(text) => text.clone(),
            Self::Fields(fields) => fields.to_raw().as_str().to_owned(),
        }
    }

    /// Returns the text, if this is the text form.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Fields(_) | Self::Unreadable(_) => None,
        }
    }

    /// Returns the object form's entries in a trust decision, by key; empty for the text form,
    /// which is stored separately.
    pub fn spec(&self) -> BTreeMap<String, String> {
        let fields = match self {
            Self::Text(_) => return BTreeMap::new(),
            Self::Unreadable(text) => {
                return BTreeMap::from([(UNREADABLE_KEY.to_owned(), text.clone())]);
            }
            Self::Fields(fields) => fields,
        };
        let entries = [
            (KIND, encode_list(&fields.kinds)),
            (TOOL, encode_list(&fields.tools)),
            (TOOL_PATTERN, fields.tool_pattern.clone()),
            (PATH_PATTERN, encode_list(&fields.paths)),
            (COMMAND_PATTERN, fields.command_pattern.clone()),
        ];
        let callers = fields.callers().map(|(field, values)| (field.as_str(), encode_list(values)));
        let entries = entries
            .into_iter()
            .chain(callers)
            .filter_map(|(key, value)| Some((format!("{SPEC_PREFIX}{key}"), value?)));
        entries.collect()
    }

    /// Returns the matcher of a text and `terms`; `Err` if an entry is unknown.
    pub fn from_spec(
        text: Option<&str>,
        spec: &BTreeMap<String, String>,
    ) -> Result<Option<Self>, UnknownSpecKey> {
        let mut fields = None;
        for (name, value) in spec {
            let Some(key) = name.strip_prefix(SPEC_PREFIX) else { continue };
            let fields: &mut MatcherFields = fields.get_or_insert_default();
            match key {
                KIND => fields.kinds = decode_list(value)?,
                TOOL => fields.tools = decode_list(value)?,
                TOOL_PATTERN => fields.tool_pattern = Some(value.clone()),
                PATH_PATTERN => fields.paths = decode_list(value)?,
                COMMAND_PATTERN => fields.command_pattern = Some(value.clone()),
                _ => {
                    let field = CallerField::from_name(key).ok_or(UnknownSpecKey)?;
                    for name in decode_list(value)? {
                        *fields = std::mem::take(fields).caller(field, name);
                    }
                }
            }
        }
        match (text, fields) {
            (Some(_), Some(_)) => Err(UnknownSpecKey),
            (Some(text), None) => Ok(Some(text.into())),
            (None, fields) => Ok(fields.map(Self::Fields)),
        }
    }
}

/// The error of a trust decision with matcher entries that this version does not know.
#[derive(Debug)]
pub struct UnknownSpecKey;

/// Returns a single text unchanged, unless it looks like a list; several texts as a JSON list.
fn encode_list(list: &[String]) -> Option<String> {
    match list {
        [] => None,
        [one] if !one.starts_with('[') => Some(one.clone()),
        several => Some(Value::from(several).to_string()),
    }
}

fn decode_list(text: &str) -> Result<Vec<String>, UnknownSpecKey> {
    match text.starts_with('[') {
        true => serde_json::from_str(text).map_err(|_| UnknownSpecKey),
        false => Ok(vec![text.to_owned()]),
    }
}

impl From<&str> for MatcherDefinition {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for MatcherDefinition {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&String> for MatcherDefinition {
    fn from(text: &String) -> Self {
        Self::Text(text.clone())
    }
}

impl From<MatcherFields> for MatcherDefinition {
    fn from(fields: MatcherFields) -> Self {
        Self::Fields(fields)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_fields() -> impl Strategy<Value = MatcherFields> {
        let texts = || prop::collection::vec("[\\[\\]\"a,]{0,6}", 0..3);
        let text = || proptest::option::of("[\\[\"a]{0,4}");
        (texts(), text(), texts(), text(), texts()).prop_map(
            |(tools, tool_pattern, paths, command_pattern, subagents)| MatcherFields {
                kinds: Vec::new(),
                tools,
                tool_pattern,
                paths,
                command_pattern,
                callers: [Vec::new(), subagents, Vec::new(), Vec::new()],
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_decision_says_all_of_an_object(fields in any_fields(), other in any_fields()) {
            let definition = MatcherDefinition::from(fields.clone());
            let spec = definition.spec();
            let read = MatcherDefinition::from_spec(None, &spec).unwrap();
            // An object without fields matches what no matcher matches.
            let expected = (fields != MatcherFields::new()).then_some(definition);
            prop_assert_eq!(read, expected);
            let same = MatcherDefinition::from(other.clone()).spec() == spec;
            prop_assert_eq!(same, other == fields);
        }
    }

    #[test]
    fn what_a_decision_says_beyond_this_version_is_not_taken_for_less() {
        let spec = |key: &str| BTreeMap::from([(key.to_owned(), "[".to_owned())]);
        for key in ["matcher.tool", "matcher.later", "matcher.unreadable"] {
            assert!(MatcherDefinition::from_spec(None, &spec(key)).is_err(), "{key}");
        }
        assert!(MatcherDefinition::from_spec(Some("a"), &spec("matcher.toolPattern")).is_err());
        assert!(MatcherDefinition::from_spec(Some("a"), &spec("timeout")).is_ok());
    }
}
