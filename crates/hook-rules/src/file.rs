//! The format of rule files.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use crate::narrowing::{AGENT, FieldCondition, NarrowingText, ToolRule, ToolText};
use crate::paths::PathPatterns;
use crate::regex::LazyRegex;
use crate::words::{OneOrMany, WordPattern};

/// The maximum length of a file of rules in bytes: 4 MiB.
pub const MAX_FILE: u64 = 4 << 20;
/// The maximum length of a reason, in characters; a longer one is cut.
const MAX_MESSAGE: usize = 1_000;
/// The maximum number of rules in a file.
const MAX_RULES: usize = 10_000;

/// What a rule does to a call.
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
    /// Returns `true` if an effect is the expected one.
    pub fn is_met_by(self, effect: Option<Effect>) -> bool {
        let expected = match self {
            Self::Pass => None,
            Self::Warn => Some(Effect::Warn),
            Self::Context => Some(Effect::Context),
            Self::Ask => Some(Effect::Ask),
            Self::Deny => Some(Effect::Deny),
        };
        effect == expected
    }
}

/// A file of rules.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct RuleFile {
    /// The name under which its rules are shown, such as `git.toml`.
    pub name: String,
    pub(crate) rules: Vec<Rule>,
    /// The tests of the file.
    pub tests: Vec<RuleTest>,
    /// What is wrong with it. A rule with a problem is left out; the others hold.
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

#[derive(Debug, Clone, PartialEq)]
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
struct FileText {
    opaque: Option<Spanned<String>>,
    #[serde(default)]
    rule: Vec<Spanned<toml::Table>>,
    #[serde(default)]
    test: Vec<Spanned<toml::Table>>,
    #[serde(default)]
    except: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleText {
    id: String,
    shell: Option<OneOrManyShell>,
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
    #[serde(default)]
    test: Vec<toml::Table>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum OneOrManyShell {
    One(Box<ShellText>),
    Many(Vec<ShellText>),
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
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum ArgumentText {
    Operand(OneOrMany),
    Condition(ConditionText),
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
        let parsed: FileText = match toml::from_str(text) {
            Ok(parsed) => parsed,
            Err(error) => {
                let line = error.span().map_or(1, |span| line_of(text, span.start));
                file.problem(line, None, first_line(error.message()));
                return file;
            }
        };
        file.except = parsed.except;
        if let Some(opaque) = parsed.opaque {
            match opaque.get_ref().as_str() {
                "pass" => {}
                "ask" => file.opaque = Some(Effect::Ask),
                "deny" => file.opaque = Some(Effect::Deny),
                other => {
                    let message =
                        format!("`opaque` is \"ask\", \"deny\" or \"pass\", not \"{other}\"");
                    file.problem(line_of(text, opaque.span().start), None, message);
                    file.opaque = Some(Effect::Ask);
                }
            }
        } else {
            // Where commands are refused, one that cannot be read is asked about.
            file.opaque = parsed
                .rule
                .iter()
                .any(|rule| {
                    rule.get_ref().contains_key("shell") && rule.get_ref().contains_key("deny")
                })
                .then_some(Effect::Ask);
        }
        for test in parsed.test {
            let line = line_of(text, test.span().start);
            file.test(test.into_inner(), line);
        }
        for table in parsed.rule {
            let line = line_of(text, table.span().start);
            file.rule(table.into_inner(), line);
        }
        file
    }

    /// Adds the mistakes that parsing does not look for, since it would take too long at each start:
    /// in regular expressions. A rule with one matches whatever the expression is searched in.
    pub fn check(&mut self) {
        let problems = self.rules.iter().flat_map(|rule| {
            let expressions = rule.subjects.iter().filter_map(|subject| match subject {
                Subject::Shell(shell) => shell.text.as_ref(),
                Subject::Prompt(regex) | Subject::Output(regex) => Some(regex),
                _ => None,
            });
            let problem =
                |message| Problem { line: rule.line, rule: Some(rule.id.clone()), message };
            expressions.filter_map(LazyRegex::problem).map(problem)
        });
        let problems: Vec<Problem> = problems.collect();
        self.problems.extend(problems);
    }

    /// Returns `true` if rules are about calls of tools.
    pub fn is_about_tools(&self) -> bool {
        self.opaque.is_some()
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
        let before = self.rules.len();
        self.rules.retain(|rule| matches!(rule.effect, Effect::Ask | Effect::Deny));
        before - self.rules.len()
    }

    /// Returns the rules as they are shown, in order.
    pub fn summaries(&self) -> impl Iterator<Item = RuleSummary<'_>> {
        self.rules.iter().map(|rule| RuleSummary {
            name: format!("{}:{}", self.name, rule.id),
            effect: rule.effect,
            message: &rule.message,
        })
    }

    /// Returns the rules that files of another version do not have, or have with another subject
    /// or a weaker effect.
    pub fn lost_rules(&self, others: &[&Self]) -> Vec<String> {
        let other = others.iter().find(|other| other.name == self.name);
        let keeps = |rule: &&Rule| {
            other.into_iter().flat_map(|other| &other.rules).any(|other| {
                other.id == rule.id
                    && other.effect >= rule.effect
                    && other.subjects == rule.subjects
                    && (other.narrowing.is_empty() || other.narrowing == rule.narrowing)
            })
        };
        let lost = self.rules.iter().filter(|rule| !keeps(rule));
        let mut lost: Vec<String> = lost.map(|rule| format!("{}:{}", self.name, rule.id)).collect();
        if self.opaque > other.and_then(|other| other.opaque) {
            lost.push(format!("{}:opaque", self.name));
        }
        lost
    }

    /// Returns the number of rules.
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Returns `true` if there is no rule.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    fn problem(&mut self, line: usize, rule: Option<&str>, message: String) {
        self.problems.push(Problem { line, rule: rule.map(str::to_owned), message });
    }

    fn rule(&mut self, table: toml::Table, line: usize) {
        let id = table.get("id").and_then(toml::Value::as_str).map(str::to_owned);
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
        let text: RuleText = match RuleText::deserialize(table) {
            Ok(text) => text,
            Err(error) => return self.problem(line, id.as_deref(), first_line(error.message())),
        };
        if self.rules.iter().any(|rule| rule.id == text.id) {
            return self.problem(line, id.as_deref(), format!("there are two rules `{}`", text.id));
        }
        for test in &text.test {
            self.test(test.clone(), line);
        }
        match compile(text, line) {
            Ok(rule) => self.rules.push(rule),
            Err(message) => self.problem(line, id.as_deref(), message),
        }
    }

    fn test(&mut self, table: toml::Table, line: usize) {
        let test: TestText = match TestText::deserialize(table) {
            Ok(test) => test,
            Err(error) => return self.problem(line, None, first_line(error.message())),
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
    text.get(..at).unwrap_or_default().matches('\n').count() + 1
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
    match text.shell {
        Some(OneOrManyShell::One(shell)) => subjects.push(compile_shell(*shell)?),
        Some(OneOrManyShell::Many(shells)) => {
            for shell in shells {
                subjects.push(compile_shell(shell)?);
            }
        }
        None => {}
    }
    if let Some(patterns) = text.read {
        subjects.push(Subject::Read(PathPatterns::parse(&patterns.into_vec())?));
    }
    if let Some(patterns) = text.write {
        subjects.push(Subject::Write(PathPatterns::parse(&patterns.into_vec())?));
    }
    if let Some(hosts) = text.fetch {
        subjects.push(Subject::Fetch(hosts.into_patterns()));
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
        false => {
            NarrowingText::deserialize(keys).map_err(|error| first_line(error.message()))?.compile()
        }
    };
    Ok(Rule { id: text.id, line, effect, message, subjects, narrowing })
}

fn compile_shell(text: ShellText) -> Result<Subject, String> {
    let mut rule = ShellRule {
        programs: text.program.map(OneOrMany::into_patterns).unwrap_or_default(),
        operands: Vec::new(),
        conditions: Vec::new(),
        files: None,
        reads: None,
        writes: None,
        text: None,
        env: text.env.iter().map(|(name, value)| (name.clone(), WordPattern::new(value))).collect(),
        fed_by: text.fed_by.map(OneOrMany::into_patterns).unwrap_or_default(),
    };
    for argument in text.args {
        match argument {
            ArgumentText::Operand(OneOrMany::One(word)) => {
                rule.operands.push(WordPattern::new(&word));
            }
            ArgumentText::Operand(many) => {
                rule.operands.push(WordPattern::Any(many.into_patterns()))
            }
            ArgumentText::Condition(condition) => {
                let ConditionText { any, all, none, option, value } = condition;
                let before = rule.conditions.len();
                rule.conditions.extend(any.map(OneOrMany::into_patterns).map(Condition::Any));
                rule.conditions.extend(all.map(OneOrMany::into_patterns).map(Condition::All));
                rule.conditions.extend(none.map(OneOrMany::into_patterns).map(Condition::None));
                match (option, value) {
                    (Some(names), Some(values)) => rule.conditions.push(Condition::Option {
                        names: names.into_vec(),
                        values: values.into_patterns(),
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
        && rule.files.is_none()
        && rule.reads.is_none()
        && rule.writes.is_none();
    match is_empty {
        true => Err("`shell` needs a `program`, files, a `text` or `env`".to_owned()),
        false => Ok(Subject::Shell(Box::new(rule))),
    }
}
