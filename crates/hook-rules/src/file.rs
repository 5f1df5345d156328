//! The format of rule files.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::sync::{Arc, OnceLock};

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{self, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use crate::narrowing::{AGENT, FieldCondition, Name, NarrowingText, ToolRule, ToolText};
use crate::outline::Outline;
use crate::paths::PathPatterns;
use crate::regex::LazyRegex;
use crate::words::{OneOrMany, WordPattern};

/// The maximum length of a file of rules in bytes: 4 MiB.
pub const MAX_FILE: u64 = 4 << 20;
/// The maximum length of a reason, in characters; a longer one is cut.
const MAX_MESSAGE: usize = 1_000;
/// The maximum number of rules in a file.
const MAX_RULES: usize = 10_000;

/// The effect of a rule on a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Effect {
    /// The user sees a warning.
    Warn,
    /// The model gets a context.
    Context,
    /// The user is asked.
    Ask,
    /// The call is refused.
    Deny,
}

impl Effect {
    /// Returns the name in rule files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Warn => "warn",
            Self::Context => "context",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// The outcome that a test expects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Expectation {
    /// No rule matches.
    Pass,
    /// A rule warns.
    Warn,
    /// A rule adds a context.
    Context,
    /// A rule asks.
    Ask,
    /// A rule denies.
    Deny,
}

impl Expectation {
    /// Returns the expected effect; `None` if no rule is to match.
    pub fn effect(self) -> Option<Effect> {
        match self {
            Self::Pass => None,
            Self::Warn => Some(Effect::Warn),
            Self::Context => Some(Effect::Context),
            Self::Ask => Some(Effect::Ask),
            Self::Deny => Some(Effect::Deny),
        }
    }
}

/// A file of rules.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct RuleFile {
    /// The name under which its rules are shown, such as `git.toml`.
    pub name: String,
    pub(crate) rules: Vec<Arc<Rule>>,
    /// The other rules, of a file that is known to have no mistakes.
    pub(crate) deferred: Option<Outline>,
    all: OnceLock<Box<Self>>,
    /// The tests of the file; only [`whole`](Self::whole) has those of one whose rules are deferred.
    pub tests: Vec<RuleTest>,
    /// The mistakes in it. A rule with a problem is left out; the others hold.
    pub problems: Vec<Problem>,
    pub(crate) opaque: Option<Effect>,
    /// Rules of other files that do not hold, `FILE:id`, with the reason.
    pub except: BTreeMap<String, String>,
}

/// A rule as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuleSummary<'r> {
    /// The name, as `FILE:id`.
    pub name: String,
    /// The effect.
    pub effect: Effect,
    /// The message.
    pub message: &'r str,
    /// The conditions that narrow it, such as `agent codex`; empty if it always holds.
    pub only: String,
}

/// A name in a rule, and where it stands.
#[derive(Debug, Clone, Copy)]
pub struct NameInRule<'r> {
    rule: &'r Rule,
    /// The name.
    pub name: Name<'r>,
}

impl NameInRule<'_> {
    /// Returns the id of the rule.
    pub fn rule(&self) -> &str {
        &self.rule.id
    }

    /// Returns the line of the rule, from 1.
    pub fn line(&self) -> usize {
        self.rule.line
    }
}

/// A mistake in a rule file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// The line, from 1.
    pub line: usize,
    /// The id of the rule, if it has one.
    pub rule: Option<String>,
    /// The message.
    pub message: String,
}

/// A test in a rule file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuleTest {
    /// The kind of call: `shell`, `read`, `write`, `fetch`, `prompt`, `output`, `tool` or `mcp`.
    pub kind: TestKind,
    /// The command, path, URL or text.
    pub subject: String,
    /// The outcome.
    pub expect: Expectation,
    /// The line, from 1.
    pub line: usize,
    /// Fields of the input by their paths.
    pub fields: BTreeMap<String, String>,
}

/// The kind of call of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TestKind {
    /// A command.
    Shell,
    /// A file that a tool reads.
    Read,
    /// A file that a tool writes.
    Write,
    /// A URL that a tool fetches.
    Fetch,
    /// A prompt of the user.
    Prompt,
    /// The output of a tool.
    Output,
    /// A tool, by its name.
    Tool,
    /// A tool of an MCP server, as `SERVER/TOOL`.
    Mcp,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rule {
    pub(crate) id: String,
    pub(crate) line: usize,
    pub(crate) effect: Effect,
    pub(crate) message: String,
    pub(crate) subjects: Vec<Subject>,
    /// The conditions that all must hold, too.
    pub(crate) narrowing: Vec<FieldCondition>,
}

impl Rule {
    fn names(&self) -> impl Iterator<Item = Name<'_>> {
        let tools = self.subjects.iter().filter_map(|subject| match subject {
            Subject::Tool(tool) => Some(tool.tools()),
            _ => None,
        });
        tools.flatten().map(Name::Tool).chain(self.narrowing.iter().flat_map(FieldCondition::names))
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Subject {
    Shell(Box<ShellRule>),
    Read(PathPatterns),
    Write(PathPatterns),
    Fetch(Vec<WordPattern>),
    Prompt(LazyRegex),
    Output(LazyRegex),
    Tool(ToolRule),
}

impl Subject {
    /// Returns what makes it match everything or nothing.
    fn mistakes(&self) -> Vec<String> {
        let (expression, programs): (_, &[WordPattern]) = match self {
            Self::Shell(shell) => (shell.text.as_ref(), &shell.programs),
            Self::Prompt(regex) | Self::Output(regex) => (Some(regex), &[]),
            _ => (None, &[]),
        };
        let broken = expression.and_then(LazyRegex::problem);
        let broken = broken.map(|problem| {
            format!("it matches everything, since an expression in it is broken: {problem}")
        });
        let programs = programs.iter().filter_map(WordPattern::literals).flatten();
        let no_program = programs.filter_map(|name| {
            let why = match name {
                _ if name.contains(' ') => "arguments belong into `args`",
                _ if name.contains(['{', '}']) => "alternatives are written as `{a,b}`",
                _ => return None,
            };
            Some(format!("no program is called `{name}`: {why}"))
        });
        broken.into_iter().chain(no_program).collect()
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ShellRule {
    /// The programs; empty for all.
    pub(crate) programs: Vec<WordPattern>,
    /// The first operands, in order.
    pub(crate) operands: Vec<WordPattern>,
    pub(crate) conditions: Vec<Condition>,
    pub(crate) files: Option<PathPatterns>,
    pub(crate) reads: Option<PathPatterns>,
    pub(crate) writes: Option<PathPatterns>,
    /// Searched in each argument and in the input.
    pub(crate) text: Option<LazyRegex>,
    pub(crate) env: Vec<(String, WordPattern)>,
    /// Programs whose output it reads.
    pub(crate) fed_by: Vec<WordPattern>,
    /// Variables of the environment that it prints.
    pub(crate) prints: Vec<WordPattern>,
}

/// A condition on arguments.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Condition {
    Any(Vec<WordPattern>),
    All(Vec<WordPattern>),
    None(Vec<WordPattern>),
    Option { names: Vec<String>, values: Vec<WordPattern> },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleText {
    id: String,
    shell: Option<OneOrMany<ShellText>>,
    read: Option<OneOrMany>,
    write: Option<OneOrMany>,
    fetch: Option<OneOrMany>,
    prompt: Option<String>,
    output: Option<String>,
    tool: Option<ToolText>,
    mcp: Option<ToolText>,
    deny: Option<String>,
    ask: Option<String>,
    context: Option<String>,
    warn: Option<String>,
    agent: Option<toml::Value>,
    subagent: Option<toml::Value>,
    #[serde(rename = "permissionMode")]
    permission_mode: Option<toml::Value>,
    when: Option<toml::Value>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ShellText {
    program: Option<OneOrMany>,
    #[serde(default)]
    args: Vec<ArgumentText>,
    files: Option<OneOrMany>,
    reads: Option<OneOrMany>,
    writes: Option<OneOrMany>,
    text: Option<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    fed_by: Option<OneOrMany>,
    prints: Option<OneOrMany>,
}

/// An item of `args`: an operand, or a condition on all arguments.
#[derive(Debug)]
enum ArgumentText {
    Operand(Vec<String>),
    Condition(ConditionText),
}

impl<'de> Deserialize<'de> for ArgumentText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ArgumentVisitor)
    }
}

struct ArgumentVisitor;

impl<'de> Visitor<'de> for ArgumentVisitor {
    type Value = ArgumentText;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an operand, a list of some, or a table of conditions")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(ArgumentText::Operand(vec![text.to_owned()]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(list)).map(ArgumentText::Operand)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        ConditionText::deserialize(MapAccessDeserializer::new(map)).map(ArgumentText::Condition)
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ConditionText {
    any: Option<OneOrMany>,
    all: Option<OneOrMany>,
    none: Option<OneOrMany>,
    option: Option<OneOrMany>,
    value: Option<OneOrMany>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TestText {
    shell: Option<String>,
    read: Option<String>,
    write: Option<String>,
    fetch: Option<String>,
    prompt: Option<String>,
    output: Option<String>,
    tool: Option<String>,
    mcp: Option<String>,
    /// Fields of the input by their paths.
    #[serde(default)]
    input: BTreeMap<String, String>,
    agent: Option<String>,
    expect: Expectation,
}

impl RuleFile {
    /// Parses a file. What is wrong is among its problems.
    pub fn parse(name: &str, text: &str) -> Self {
        let mut file = Self { name: name.to_owned(), ..Self::default() };
        if text.len() as u64 > MAX_FILE {
            file.problem(1, None, format!("the file is longer than {} MiB", MAX_FILE >> 20));
            return file;
        }
        if let Err((at, message)) = file.read(text) {
            file.problem(line_of(text, at), None, message);
        }
        file
    }

    /// Reads the text of a file. The error is about all of it, and has its place.
    fn read(&mut self, text: &str) -> Result<(), (usize, String)> {
        let error = |error: toml::de::Error| {
            (error.span().map_or(0, |span| span.start), first_line(error.message()))
        };
        let mut document = DeTable::parse(text).map_err(error)?.into_inner();
        let rules = tables("rule", document.remove("rule"))?;
        let tests = tables("test", document.remove("test"))?;
        let (opaque, except) = (document.remove("opaque"), document.remove("except"));
        if let Some((key, _)) = document.iter().next() {
            let name = key.get_ref();
            let message =
                format!("unknown field `{name}`, expected `rule`, `test`, `opaque` or `except`");
            return Err((key.span().start, message));
        }
        if let Some(except) = except {
            self.except =
                Deserialize::deserialize(ValueDeserializer::from(except)).map_err(error)?;
        }
        match &opaque {
            Some(opaque) => match opaque.get_ref().as_str() {
                Some("pass") => {}
                Some("ask") => self.opaque = Some(Effect::Ask),
                Some("deny") => self.opaque = Some(Effect::Deny),
                other => {
                    let other = other.unwrap_or_default();
                    let message =
                        format!("`opaque` is \"ask\", \"deny\" or \"pass\", not \"{other}\"");
                    self.problem(line_of(text, opaque.span().start), None, message);
                    self.opaque = Some(Effect::Ask);
                }
            },
            // Where commands are refused, one that cannot be read is asked about.
            None => {
                let denies = |(_, rule): &(_, DeTable<'_>)| {
                    rule.contains_key("shell") && rule.contains_key("deny")
                };
                self.opaque = rules.iter().any(denies).then_some(Effect::Ask);
            }
        }
        let mut lines = Lines { text, at: 0, line: 1 };
        for (at, test) in tests {
            self.test(test, lines.line_at(at));
        }
        let mut ids = HashSet::with_capacity(rules.len().min(MAX_RULES));
        for (at, rule) in rules {
            self.rule(rule, lines.line_at(at), &mut lines, &mut ids);
        }
        Ok(())
    }

    /// Adds the mistakes that parsing does not look for, since it would take too long at each start:
    /// in regular expressions, and names that no program has.
    pub fn check(&mut self) {
        self.parse_rest();
        let problems = self.rules.iter().flat_map(|rule| {
            let problem =
                |message| Problem { line: rule.line, rule: Some(rule.id.clone()), message };
            rule.subjects.iter().flat_map(Subject::mistakes).map(problem)
        });
        let problems: Vec<Problem> = problems.collect();
        self.problems.extend(problems);
    }

    /// Returns the names in the rules that only a host can compare with those that exist.
    pub fn names(&self) -> Vec<NameInRule<'_>> {
        let rules = self.whole().rules.iter();
        rules.flat_map(|rule| rule.names().map(|name| NameInRule { rule, name })).collect()
    }

    /// Returns `true` if rules are about calls of tools.
    pub fn is_about_tools(&self) -> bool {
        self.opaque.is_some()
            || self.deferred.is_some()
            || self
                .subjects()
                .any(|subject| !matches!(subject, Subject::Prompt(_) | Subject::Output(_)))
    }

    /// Returns `true` if rules are about prompts.
    pub fn is_about_prompts(&self) -> bool {
        self.subjects().any(|subject| matches!(subject, Subject::Prompt(_)))
    }

    /// Returns `true` if rules are about outputs of tools.
    pub fn is_about_outputs(&self) -> bool {
        self.subjects().any(|subject| matches!(subject, Subject::Output(_)))
    }

    fn subjects(&self) -> impl Iterator<Item = &Subject> {
        self.rules.iter().flat_map(|rule| &rule.subjects)
    }

    /// Removes the rules that put words into the conversation, and returns their number.
    pub fn remove_comments(&mut self) -> usize {
        self.parse_rest();
        let before = self.rules.len();
        self.rules.retain(|rule| matches!(rule.effect, Effect::Ask | Effect::Deny));
        before - self.rules.len()
    }

    /// Returns the file with all of its rules, its tests and its problems.
    pub fn whole(&self) -> &Self {
        let parse = |outline: &Outline| Box::new(Self::parse(&self.name, outline.text()));
        self.deferred.as_ref().map_or(self, |outline| self.all.get_or_init(|| parse(outline)))
    }

    /// Parses the rules that are deferred.
    fn parse_rest(&mut self) {
        if self.deferred.is_some() {
            *self = self.whole().clone();
        }
    }

    /// Returns the rules as they are shown, in order.
    pub fn summaries(&self) -> impl Iterator<Item = RuleSummary<'_>> {
        self.whole().rules.iter().map(|rule| RuleSummary {
            name: format!("{}:{}", self.name, rule.id),
            effect: rule.effect,
            message: &rule.message,
            only: rule
                .narrowing
                .iter()
                .map(FieldCondition::to_string)
                .collect::<Vec<_>>()
                .join(", "),
        })
    }

    /// Returns the rules that files of another version do not have, or have with another subject
    /// or a weaker effect.
    pub fn lost_rules(&self, others: &[&Self]) -> Vec<String> {
        let other = others.iter().map(|other| other.whole()).find(|other| other.name == self.name);
        let keeps = |rule: &&Arc<Rule>| {
            other.into_iter().flat_map(|other| &other.rules).any(|other| {
                other.id == rule.id
                    && other.effect >= rule.effect
                    && other.subjects == rule.subjects
                    && (other.narrowing.is_empty() || other.narrowing == rule.narrowing)
            })
        };
        let lost = self.whole().rules.iter().filter(|rule| !keeps(rule));
        let mut lost: Vec<String> = lost.map(|rule| format!("{}:{}", self.name, rule.id)).collect();
        if self.opaque > other.and_then(|other| other.opaque) {
            lost.push(format!("{}:opaque", self.name));
        }
        lost
    }

    /// Returns the number of rules.
    pub fn len(&self) -> usize {
        self.whole().rules.len()
    }

    /// Returns `true` if there is no rule.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty() && self.deferred.is_none()
    }

    fn problem(&mut self, line: usize, rule: Option<&str>, message: String) {
        self.problems.push(Problem { line, rule: rule.map(str::to_owned), message });
    }

    fn rule(
        &mut self,
        mut table: DeTable<'_>,
        line: usize,
        lines: &mut Lines<'_>,
        ids: &mut HashSet<String>,
    ) {
        let id = table.get("id").and_then(|id| id.get_ref().as_str()).map(str::to_owned);
        if self.rules.len() >= MAX_RULES {
            return self.problem(
                line,
                id.as_deref(),
                format!("a file has at most {MAX_RULES} rules"),
            );
        }
        if table.contains_key("allow") {
            let message =
                "a rule cannot allow, it only restricts: remove it, or write an exception"
                    .to_owned();
            return self.problem(line, id.as_deref(), message);
        }
        let tests = match tables("test", table.remove("test")) {
            Ok(tests) => tests,
            Err((_, message)) => return self.problem(line, id.as_deref(), message),
        };
        let text: RuleText = match deserialize(table) {
            Ok(text) => text,
            Err((at, message)) => {
                let line = at.map_or(line, |at| line_of(lines.text, at));
                return self.problem(line, id.as_deref(), message);
            }
        };
        if ids.contains(&text.id) {
            return self.problem(line, id.as_deref(), format!("there are two rules `{}`", text.id));
        }
        for (at, test) in tests {
            self.test(test, lines.line_at(at));
        }
        match compile(text, line) {
            Ok(rule) => {
                ids.insert(rule.id.clone());
                self.rules.push(Arc::new(rule));
            }
            Err(message) => self.problem(line, id.as_deref(), message),
        }
    }

    fn test(&mut self, table: DeTable<'_>, line: usize) {
        let test: TestText = match deserialize(table) {
            Ok(test) => test,
            Err((_, message)) => return self.problem(line, None, message),
        };
        let subjects = [
            (TestKind::Shell, test.shell),
            (TestKind::Read, test.read),
            (TestKind::Write, test.write),
            (TestKind::Fetch, test.fetch),
            (TestKind::Prompt, test.prompt),
            (TestKind::Output, test.output),
            (TestKind::Tool, test.tool),
            (TestKind::Mcp, test.mcp),
        ];
        let mut given = subjects.into_iter().filter_map(|(kind, subject)| Some((kind, subject?)));
        match (given.next(), given.next()) {
            (Some((kind, subject)), None) => {
                let mut fields = test.input;
                fields.extend(test.agent.map(|agent| (AGENT.to_owned(), agent)));
                self.tests.push(RuleTest { kind, subject, expect: test.expect, line, fields });
            }
            _ => self.problem(
                line,
                None,
                "a test has one of `shell`, `read`, `write`, `fetch`, `prompt`, `output`, `tool` and `mcp`"
                    .to_owned(),
            ),
        }
    }
}

fn first_line(message: &str) -> String {
    message.lines().next().unwrap_or_default().to_owned()
}

fn line_of(text: &str, at: usize) -> usize {
    Lines { text, at: 0, line: 1 }.line_at(at)
}

/// Counts the lines up to places that are asked for one behind the other.
struct Lines<'t> {
    text: &'t str,
    at: usize,
    line: usize,
}

impl Lines<'_> {
    fn line_at(&mut self, at: usize) -> usize {
        if at < self.at {
            (self.at, self.line) = (0, 1);
        }
        self.line += self.text.get(self.at..at).unwrap_or_default().matches('\n').count();
        self.at = at;
        self.line
    }
}

/// Returns the tables of a list, each with its place.
fn tables<'t>(
    name: &str,
    list: Option<Spanned<DeValue<'t>>>,
) -> Result<Vec<(usize, DeTable<'t>)>, (usize, String)> {
    let Some(list) = list else { return Ok(Vec::new()) };
    let no_list = (list.span().start, format!("`{name}` is no list: write `[[{name}]]`"));
    let DeValue::Array(list) = list.into_inner() else { return Err(no_list) };
    let table = |value: Spanned<DeValue<'t>>| {
        let at = value.span().start;
        match value.into_inner() {
            DeValue::Table(table) => Ok((at, table)),
            _ => Err((at, format!("a `{name}` is a table"))),
        }
    };
    list.into_iter().map(table).collect()
}

/// Reads a table into a type. The error has its place, if it is in a part of the table.
fn deserialize<'t, T: Deserialize<'t>>(table: DeTable<'t>) -> Result<T, (Option<usize>, String)> {
    let value = Spanned::new(0..0, DeValue::Table(table));
    T::deserialize(ValueDeserializer::from(value)).map_err(|error| {
        let at = error.span().map(|span| span.start).filter(|at| *at > 0);
        (at, first_line(error.message()))
    })
}

fn compile(text: RuleText, line: usize) -> Result<Rule, String> {
    let effects = [
        (Effect::Deny, text.deny),
        (Effect::Ask, text.ask),
        (Effect::Context, text.context),
        (Effect::Warn, text.warn),
    ];
    let mut given = effects.into_iter().filter_map(|(effect, message)| Some((effect, message?)));
    let (effect, message) = match (given.next(), given.next()) {
        (Some(effect), None) => effect,
        (None, _) => {
            return Err(
                "it has no effect: `deny`, `ask`, `context` or `warn`, with the reason".to_owned()
            );
        }
        (Some(_), Some(_)) => return Err("it has more than one effect".to_owned()),
    };
    let mut subjects = Vec::new();
    for shell in text.shell.map(OneOrMany::into_vec).unwrap_or_default() {
        subjects.push(compile_shell(shell)?);
    }
    if let Some(patterns) = text.read {
        subjects.push(Subject::Read(PathPatterns::parse(&patterns.into_vec())?));
    }
    if let Some(patterns) = text.write {
        subjects.push(Subject::Write(PathPatterns::parse(&patterns.into_vec())?));
    }
    if let Some(hosts) = text.fetch {
        subjects.push(Subject::Fetch(hosts.into_patterns()?));
    }
    if let Some(pattern) = text.prompt {
        subjects.push(Subject::Prompt(LazyRegex::new(&pattern)));
    }
    if let Some(pattern) = text.output {
        subjects.push(Subject::Output(LazyRegex::new(&pattern)));
    }
    if let Some(tool) = text.tool {
        subjects.push(Subject::Tool(tool.compile(false)?));
    }
    if let Some(tool) = text.mcp {
        subjects.push(Subject::Tool(tool.compile(true)?));
    }
    if subjects.is_empty() {
        return Err(
            "it has no subject: `shell`, `read`, `write`, `fetch`, `prompt`, `output`, `tool` or `mcp`".to_owned()
        );
    }
    // A project's reason reaches the model and the terminal.
    let message = message.chars().take(MAX_MESSAGE).collect();
    let keys = [
        ("agent", text.agent),
        ("subagent", text.subagent),
        ("permissionMode", text.permission_mode),
        ("when", text.when),
    ];
    let keys = keys.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    let keys: toml::Table = keys.collect();
    let narrowing = match keys.is_empty() {
        true => Vec::new(),
        false => NarrowingText::deserialize(keys)
            .map_err(|error| first_line(error.message()))?
            .compile()?,
    };
    Ok(Rule { id: text.id, line, effect, message, subjects, narrowing })
}

fn compile_shell(text: ShellText) -> Result<Subject, String> {
    let mut rule = ShellRule {
        programs: text.program.map(OneOrMany::into_patterns).transpose()?.unwrap_or_default(),
        operands: Vec::new(),
        conditions: Vec::new(),
        files: None,
        reads: None,
        writes: None,
        text: None,
        env: text
            .env
            .iter()
            .map(|(name, value)| Ok((name.clone(), WordPattern::parse(value)?)))
            .collect::<Result<_, String>>()?,
        fed_by: text.fed_by.map(OneOrMany::into_patterns).transpose()?.unwrap_or_default(),
        prints: text.prints.map(OneOrMany::into_patterns).transpose()?.unwrap_or_default(),
    };
    for argument in text.args {
        match argument {
            ArgumentText::Operand(words) => {
                let patterns: Result<Vec<_>, String> =
                    words.iter().map(|word| WordPattern::parse(word)).collect();
                let mut patterns = patterns?;
                // Operands have no options among them.
                if words.iter().any(|word| word.starts_with('-') && word.len() > 1) {
                    rule.conditions.push(Condition::Any(patterns));
                    continue;
                }
                rule.operands.push(match patterns.len() {
                    1 => patterns.remove(0),
                    _ => WordPattern::Any(patterns),
                });
            }
            ArgumentText::Condition(condition) => {
                let ConditionText { any, all, none, option, value } = condition;
                let before = rule.conditions.len();
                rule.conditions
                    .extend(any.map(OneOrMany::into_patterns).transpose()?.map(Condition::Any));
                rule.conditions
                    .extend(all.map(OneOrMany::into_patterns).transpose()?.map(Condition::All));
                rule.conditions
                    .extend(none.map(OneOrMany::into_patterns).transpose()?.map(Condition::None));
                match (option, value) {
                    (Some(names), Some(values)) => rule.conditions.push(Condition::Option {
                        names: names.into_vec(),
                        values: values.into_patterns()?,
                    }),
                    (None, None) => {}
                    _ => return Err("`option` and `value` belong together".to_owned()),
                }
                if rule.conditions.len() == before {
                    return Err(
                        "a table in `args` has `any`, `all`, `none`, or `option` and `value`"
                            .to_owned(),
                    );
                }
            }
        }
    }
    let patterns = |patterns: Option<OneOrMany>| {
        patterns.map(|patterns| PathPatterns::parse(&patterns.into_vec())).transpose()
    };
    rule.files = patterns(text.files)?;
    rule.reads = patterns(text.reads)?;
    rule.writes = patterns(text.writes)?;
    rule.text = text.text.map(|text| LazyRegex::new(&text));
    let is_empty = rule.programs.is_empty()
        && rule.text.is_none()
        && rule.env.is_empty()
        && rule.prints.is_empty()
        && rule.files.is_none()
        && rule.reads.is_none()
        && rule.writes.is_none();
    match is_empty {
        true => Err("`shell` needs a `program`, files, a `text`, `env` or `prints`".to_owned()),
        false => Ok(Subject::Shell(Box::new(rule))),
    }
}
