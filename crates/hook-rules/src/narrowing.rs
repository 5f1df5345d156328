//! Conditions on the fields of an input, by which rules are narrowed and tools told apart.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;

use crate::words::{OneOrMany, WordPattern};

/// Returns a field of the input as text, by its path, such as `tool_input.url`.
pub type InputFields<'f> = &'f dyn Fn(&str) -> Option<String>;

/// The path of the field with the agent's name, such as `claude`.
pub const AGENT: &str = "caller.agent";

/// The permission mode, and the subagent that calls; the caller's own field where an agent's request
/// was not read as such.
const PERMISSION_MODE: [&str; 2] = ["caller.permissionMode", "permission_mode"];
const SUBAGENT: [&str; 5] =
    ["caller.subagent", "agent_type", "agent_id", "subagent_type", "subagent_id"];

/// A name in a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Name<'r> {
    /// An agent.
    Agent(&'r str),
    /// A tool that is of no MCP server.
    Tool(&'r str),
    /// A field of the input, by its path.
    Field(&'r str),
}

/// A condition on one of some fields.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FieldCondition {
    /// The paths of which the first counts that the input has.
    paths: Vec<String>,
    patterns: Vec<WordPattern>,
    /// `true` if it holds although the input has none of the fields.
    without: bool,
    /// `true` if it holds where no pattern matches.
    is_negated: bool,
}

impl fmt::Display for FieldCondition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.paths.first().map(String::as_str).unwrap_or_default();
        let name = path.strip_prefix("caller.").unwrap_or(path);
        write!(formatter, "{name} {}", if self.is_negated { "not " } else { "" })?;
        let patterns: Vec<_> = self.patterns.iter().map(WordPattern::to_string).collect();
        formatter.write_str(&patterns.join(" or "))
    }
}

impl FieldCondition {
    fn of(path: &str, patterns: Vec<WordPattern>) -> Self {
        Self { paths: vec![path.to_owned()], patterns, without: false, is_negated: false }
    }

    /// Returns the agents that it names, or the field that a rule names by its path.
    pub(crate) fn names(&self) -> Vec<Name<'_>> {
        match self.paths.as_slice() {
            [path] if path == AGENT => names_in(&self.patterns).map(Name::Agent).collect(),
            [path] => vec![Name::Field(path)],
            _ => Vec::new(),
        }
    }

    pub(crate) fn holds(&self, fields: InputFields<'_>) -> bool {
        match self.paths.iter().find_map(|path| fields(path)) {
            None => self.without,
            Some(text) => {
                self.patterns.iter().any(|pattern| pattern.matches(&text)) != self.is_negated
            }
        }
    }
}

/// The keys that narrow a rule.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct NarrowingText {
    agent: Option<OneOrMany>,
    subagent: Option<SubagentText>,
    #[serde(rename = "permissionMode")]
    permission_mode: Option<OneOrMany>,
    #[serde(default)]
    when: BTreeMap<String, OneOrMany>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum SubagentText {
    Any(bool),
    Named(OneOrMany),
}

impl NarrowingText {
    pub(crate) fn compile(self) -> Result<Vec<FieldCondition>, String> {
        let mut conditions: Vec<FieldCondition> = fields(self.when)?;
        let agent = self.agent.map(OneOrMany::into_patterns).transpose()?;
        conditions.extend(agent.map(|agent| FieldCondition::of(AGENT, agent)));
        let named = |patterns, is_negated| FieldCondition {
            paths: SUBAGENT.map(str::to_owned).into(),
            patterns,
            without: is_negated,
            is_negated,
        };
        conditions.extend(match self.subagent {
            None => None,
            Some(SubagentText::Any(wanted)) => Some(named(vec![WordPattern::new("?*")], !wanted)),
            Some(SubagentText::Named(names)) => Some(named(names.into_patterns()?, false)),
        });
        // Where the agent does not report its mode, it may be any.
        let modes = self.permission_mode.map(OneOrMany::into_patterns).transpose()?;
        conditions.extend(modes.map(|patterns| FieldCondition {
            paths: PERMISSION_MODE.map(str::to_owned).into(),
            patterns,
            without: true,
            is_negated: false,
        }));
        Ok(conditions)
    }
}

/// A subject that is a tool: its name or names, or a table.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum ToolText {
    Names(OneOrMany),
    Table(Box<ToolTable>),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ToolTable {
    /// The server, of tools of MCP servers.
    server: Option<OneOrMany>,
    #[serde(alias = "name")]
    tool: Option<OneOrMany>,
    /// The arguments.
    #[serde(default)]
    fields: BTreeMap<String, OneOrMany>,
}

/// A tool by its name, server and arguments.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ToolRule {
    /// `true` if only tools of MCP servers are meant.
    is_mcp: bool,
    servers: Vec<WordPattern>,
    names: Vec<WordPattern>,
    fields: Vec<FieldCondition>,
}

impl ToolText {
    pub(crate) fn compile(self, is_mcp: bool) -> Result<ToolRule, String> {
        let table = match self {
            Self::Names(names) if is_mcp => {
                ToolTable { server: Some(names), tool: None, fields: BTreeMap::new() }
            }
            Self::Names(names) => {
                ToolTable { server: None, tool: Some(names), fields: BTreeMap::new() }
            }
            Self::Table(table) => *table,
        };
        if table.server.is_some() && !is_mcp {
            return Err("a `server` is one of `mcp`, and not of `tool`".to_owned());
        }
        let arguments =
            table.fields.into_iter().map(|(name, value)| (format!("tool_input.{name}"), value));
        Ok(ToolRule {
            is_mcp,
            servers: table.server.map(OneOrMany::into_patterns).transpose()?.unwrap_or_default(),
            names: table.tool.map(OneOrMany::into_patterns).transpose()?.unwrap_or_default(),
            fields: fields(arguments.collect())?,
        })
    }
}

/// A tool that is called.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CalledTool {
    /// The names that it has.
    pub names: Vec<String>,
    /// The MCP server that it comes from.
    pub server: Option<String>,
}

impl CalledTool {
    /// Creates a tool with one name.
    pub fn new(name: impl Into<String>, server: Option<String>) -> Self {
        Self { names: vec![name.into()], server }
    }
}

impl ToolRule {
    /// Returns the names of tools that are of no MCP server.
    pub(crate) fn tools(&self) -> impl Iterator<Item = &str> {
        names_in(&self.names).filter(|_| !self.is_mcp)
    }

    pub(crate) fn matches(&self, tool: &CalledTool, fields: InputFields<'_>) -> bool {
        let is_server = match &tool.server {
            Some(server) => {
                self.servers.is_empty()
                    || self.servers.iter().any(|pattern| pattern.matches(server))
            }
            None => !self.is_mcp,
        };
        let is_named = |name: &String| self.names.iter().any(|pattern| pattern.matches(name));
        is_server
            && (self.names.is_empty() || tool.names.iter().any(is_named))
            && self.fields.iter().all(|condition| condition.holds(fields))
    }
}

/// Returns the names that patterns spell out.
fn names_in(patterns: &[WordPattern]) -> impl Iterator<Item = &str> {
    patterns.iter().filter_map(WordPattern::literals).flatten()
}

fn fields(texts: BTreeMap<String, OneOrMany>) -> Result<Vec<FieldCondition>, String> {
    texts
        .into_iter()
        .map(|(path, values)| Ok(FieldCondition::of(&path, values.into_patterns()?)))
        .collect()
}
