//! Decisions: what rules say of a call.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use hook_shell::invocations::{
    Access, Argument, FileAccess, Input, Invocation, Opaque, Reading, UNKNOWN, is_option,
    made_links, operand_indices, option_indices, option_values, path_of_url, read, value_letters,
};

use crate::directories::Directories;
use crate::file::{Condition, Effect, Rule, RuleFile, RuleTest, ShellRule, Subject, TestKind};
use crate::links::Links;
use crate::narrowing::{CalledTool, InputFields};
use crate::paths::SplitPath;
use crate::words::WordPattern;

/// The maximum number of programs whose rules are remembered.
const MAX_REMEMBERED: usize = 1_000;
/// The longest time for one decision.
const MAX_TIME: Duration = Duration::from_secs(2);

/// A call about which rules are asked.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Call<'c> {
    /// Shell commands.
    pub commands: Vec<Cow<'c, str>>,
    /// Files that a tool reads.
    pub reads: Vec<Cow<'c, str>>,
    /// Files that a tool writes.
    pub writes: Vec<Cow<'c, str>>,
    /// URLs that a tool fetches.
    pub urls: Vec<Cow<'c, str>>,
    /// The user's prompt.
    pub prompt: Option<Cow<'c, str>>,
    /// The output of a tool.
    pub output: Option<Cow<'c, str>>,
    /// The tool.
    pub tool: Option<CalledTool>,
    /// The reason why a part of the call is not known, if so.
    pub unread: Option<String>,
}

impl<'c> Call<'c> {
    /// Creates a call of a shell command.
    pub fn shell(command: &'c str) -> Self {
        Self { commands: vec![command.into()], ..Self::default() }
    }

    /// Creates a call that reads a file.
    pub fn read(path: &'c str) -> Self {
        Self { reads: vec![path.into()], ..Self::default() }
    }

    /// Creates a call that writes a file.
    pub fn write(path: &'c str) -> Self {
        Self { writes: vec![path.into()], ..Self::default() }
    }
}

/// The commands of a call as they were read, for all rules that are asked about it.
#[derive(Debug, Clone)]
pub struct Commands(Vec<ReadCommand>);

#[derive(Debug, Clone)]
struct ReadCommand {
    reading: Reading,
    /// For each invocation.
    facts: Vec<Facts>,
}

/// The facts about an invocation that all rules are compared with.
#[derive(Debug, Clone)]
struct Facts {
    program: Box<str>,
    /// The indices of its operands among the arguments.
    operands: Vec<usize>,
    /// The letters of its short options with a value.
    value_letters: Box<str>,
    /// The paths of its files, each with the file's index. A file has several behind links.
    paths: Vec<(usize, SplitPath)>,
    /// Whether a part of an argument is not known.
    has_unknown: bool,
    /// Whether it only asks for help.
    asks_for_help: bool,
    /// Whether an argument may be a URL.
    has_url: bool,
}

impl Facts {
    /// Returns the files with their paths.
    fn files<'f>(
        &'f self,
        invocation: &'f Invocation,
    ) -> impl Iterator<Item = (&'f FileAccess, &'f SplitPath)> {
        self.paths.iter().filter_map(|(index, path)| Some((invocation.files.get(*index)?, path)))
    }

    fn of(invocation: &Invocation, directories: &Directories, links: &mut Links<'_>) -> Self {
        // Of a link, these use the link itself.
        const OF_LINKS: [&str; 9] =
            ["find", "git", "link", "ln", "rm", "rmdir", "trash", "trash-put", "unlink"];
        let arguments = &invocation.arguments;
        let follows_last = !OF_LINKS.contains(&invocation.program());
        let made = made_links(invocation);
        let mut paths = Vec::with_capacity(invocation.files.len());
        for (index, file) in invocation.files.iter().enumerate() {
            paths.push((index, SplitPath::new(&file.path, directories)));
            if !invocation.is_remote {
                let path = file.before_dots.as_ref().unwrap_or(&file.path);
                let others = links.others(path, follows_last, &made);
                let others = others.iter().filter(|other| **other != file.path);
                paths.extend(others.map(|path| (index, SplitPath::new(path, directories))));
            }
        }
        let is_help = |argument: &Argument| argument.text == "--help";
        Self {
            program: invocation.program().into(),
            operands: operand_indices(invocation.program(), arguments),
            value_letters: value_letters(invocation.program(), arguments).into(),
            paths,
            has_unknown: arguments.iter().any(|argument| argument.text.contains(UNKNOWN)),
            has_url: arguments.iter().any(|argument| argument.text.contains("://")),
            asks_for_help: arguments.len() <= 3 && arguments.iter().any(is_help),
        }
    }
}

impl Commands {
    /// Reads the commands of a call.
    pub fn read(call: &Call<'_>, directories: &Directories) -> Self {
        let surroundings = directories.surroundings();
        let readings: Vec<Reading> =
            call.commands.iter().map(|command| read(command, &surroundings)).collect();
        let mut links = Links::new(directories);
        let invocations = readings.iter().flat_map(|reading| &reading.invocations);
        invocations.for_each(|invocation| links.extend(made_links(invocation)));
        let mut read = |mut reading: Reading| {
            let invocations = reading.invocations.iter();
            let facts =
                invocations.map(|invocation| Facts::of(invocation, directories, &mut links));
            let facts = facts.collect();
            if links.is_exhausted() {
                let reason = "its paths lead through too many links".to_owned();
                reading.opaque.push(Opaque { reason, range: 0..0 });
            }
            ReadCommand { reading, facts }
        };
        Self(readings.into_iter().map(&mut read).collect())
    }
}

/// What rules say of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Decision {
    /// The rules that match, in the order of their files.
    pub matches: Vec<Match>,
}

impl Decision {
    /// Returns the strictest effect; `None` if no rule matches.
    pub fn effect(&self) -> Option<Effect> {
        self.matches.iter().map(|found| found.effect).max()
    }
}

/// A rule that matches a call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Match {
    /// The rule, as `FILE:id`; `FILE:opaque` for a command that cannot be read.
    pub rule: String,
    /// The effect.
    pub effect: Effect,
    /// The rule's message, or the reason why the command cannot be read.
    pub message: String,
    /// The part of the command, a path, or the like.
    pub subject: String,
    /// The byte range of the part in the command.
    pub range: Option<Range<usize>>,
}

impl RuleTest {
    /// Returns the outcome for rules in directories.
    pub fn decide(&self, rules: &Rules, directories: &Directories) -> Decision {
        let mut call = Call::default();
        let subject = self.subject.as_str().into();
        match self.kind {
            TestKind::Shell => call.commands.push(subject),
            TestKind::Read => call.reads.push(subject),
            TestKind::Write => call.writes.push(subject),
            TestKind::Fetch => call.urls.push(subject),
            TestKind::Prompt => call.prompt = Some(subject),
            TestKind::Output => call.output = Some(subject),
            TestKind::Tool => call.tool = Some(CalledTool::new(subject, None)),
            TestKind::Mcp => {
                let (server, tool) = self.subject.split_once('/').unwrap_or((&self.subject, ""));
                call.tool = Some(CalledTool::new(tool, Some(server.to_owned())));
            }
        }
        let fields = |path: &str| self.fields.get(path).cloned();
        rules.decide_read(&call, &Commands::read(&call, directories), directories, &fields)
    }
}

/// Rules of some files, compiled.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    files: Vec<Arc<RuleFile>>,
    /// Shell rules by program: indices of file, rule and subject.
    by_program: HashMap<String, Vec<RuleIndex>>,
    /// Shell rules about other programs.
    of_any: Vec<RuleIndex>,
    reads: Vec<RuleIndex>,
    writes: Vec<RuleIndex>,
    others: Vec<RuleIndex>,
    /// Shell rules by program that are not parsed yet.
    deferred: Option<Arc<DeferredRules>>,
}

/// The deferred rules of files about the programs that were called so far.
#[derive(Debug, Default)]
struct DeferredRules {
    files: Vec<Arc<RuleFile>>,
    excepted: BTreeSet<String>,
    by_program: Mutex<HashMap<Box<str>, Option<Arc<Rules>>>>,
}

impl DeferredRules {
    /// Returns the deferred rules of these files; `None` if there are none.
    fn of(files: &[Arc<RuleFile>], excepted: &BTreeSet<String>) -> Option<Self> {
        let files: Vec<_> = files.iter().filter(|file| file.deferred.is_some()).cloned().collect();
        let excepted = excepted.clone();
        (!files.is_empty()).then(|| Self { files, excepted, by_program: Mutex::default() })
    }

    /// Returns the rules about a program.
    fn about(&self, program: &str) -> Option<Arc<Rules>> {
        let known = || self.by_program.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(rules) = known().get(program) {
            return rules.clone();
        }
        let files = self.files.iter().filter_map(|file| file.deferred_about(program));
        let files: Vec<_> = files.map(Arc::new).collect();
        let rules =
            (!files.is_empty()).then(|| Arc::new(Rules::with_exceptions(files, &self.excepted)));
        let mut known = known();
        if known.len() >= MAX_REMEMBERED {
            known.clear();
        }
        known.insert(program.into(), rules.clone());
        rules
    }
}

/// The indices of a file, a rule and a subject.
type RuleIndex = (usize, usize, usize);

impl Rules {
    /// Compiles the rules of files.
    pub fn new(files: impl IntoIterator<Item = RuleFile>) -> Self {
        Self::with_exceptions(files.into_iter().map(Arc::new), &BTreeSet::new())
    }

    /// Compiles the rules of files, without those that are named as `FILE:id`.
    pub fn with_exceptions(
        files: impl IntoIterator<Item = Arc<RuleFile>>,
        excepted: &BTreeSet<String>,
    ) -> Self {
        let mut rules = Self { files: files.into_iter().collect(), ..Self::default() };
        let files: Vec<Arc<RuleFile>> = rules.files.clone();
        rules.deferred = DeferredRules::of(&files, excepted).map(Arc::new);
        for (file_index, file) in files.iter().enumerate() {
            for (rule_index, rule) in file.rules.iter().enumerate() {
                if excepted.contains(&format!("{}:{}", file.name, rule.id)) {
                    continue;
                }
                for (subject_index, subject) in rule.subjects.iter().enumerate() {
                    rules.add(subject, (file_index, rule_index, subject_index));
                }
            }
        }
        rules
    }

    /// Adds a subject to the indices.
    fn add(&mut self, subject: &Subject, index: RuleIndex) {
        let shell = match subject {
            Subject::Shell(shell) => shell,
            Subject::Read(_) => return self.reads.push(index),
            Subject::Write(_) => return self.writes.push(index),
            Subject::Fetch(_) | Subject::Prompt(_) | Subject::Output(_) | Subject::Tool(_) => {
                return self.others.push(index);
            }
        };
        let programs: Option<Vec<&str>> = shell.programs.iter().map(WordPattern::literal).collect();
        match programs.filter(|programs| !programs.is_empty()) {
            Some(programs) => {
                for program in programs {
                    self.by_program.entry(program.to_owned()).or_default().push(index);
                }
            }
            None => self.of_any.push(index),
        }
    }

    /// Returns the files.
    pub fn files(&self) -> impl Iterator<Item = &RuleFile> {
        self.files.iter().map(|file| &**file)
    }

    /// Returns `true` if there is no rule.
    pub fn is_empty(&self) -> bool {
        self.files.iter().all(|file| file.is_empty())
    }

    /// Decides about a call.
    pub fn decide(&self, call: &Call<'_>, directories: &Directories) -> Decision {
        self.decide_read(call, &Commands::read(call, directories), directories, &|_| None)
    }

    /// Decides about a call whose commands were read before. `fields` has the fields of the input, by
    /// which rules are narrowed.
    pub fn decide_read(
        &self,
        call: &Call<'_>,
        commands: &Commands,
        directories: &Directories,
        fields: InputFields<'_>,
    ) -> Decision {
        let mut found = Found { matches: Vec::new(), fields };
        let deadline = Instant::now() + MAX_TIME;
        for (command, ReadCommand { reading, facts }) in call.commands.iter().zip(&commands.0) {
            for (count, invocation) in reading.invocations.iter().zip(facts).enumerate() {
                if is_late(count, deadline) {
                    self.too_long(&mut found);
                    break;
                }
                self.invocation(invocation, command, deadline, &mut found);
            }
            if let Some(opaque) = reading.opaque.first() {
                self.opaque(
                    &opaque.reason,
                    part(command, &opaque.range),
                    Some(opaque.range.clone()),
                    &mut found,
                );
            }
        }
        if let Some(reason) = &call.unread {
            self.opaque(reason, String::new(), None, &mut found);
        }
        let mut links = Links::new(directories);
        let urls = call.urls.iter().filter_map(|url| path_of_url(url).map(Cow::Owned));
        let urls: Vec<Cow<'_, str>> = urls.collect();
        for (paths, indices, is_read) in [
            (&call.reads, &self.reads, true),
            (&urls, &self.reads, true),
            (&call.writes, &self.writes, false),
        ] {
            for path in paths {
                let absolute = self.absolute(path, directories);
                let others = links.others(&self.with_dots(path, directories), true, &[]);
                let paths: Vec<SplitPath> = std::iter::once(&absolute)
                    .chain(&others)
                    .map(|path| SplitPath::new(path, directories))
                    .collect();
                for at in indices {
                    let (file, rule, subject) = self.get(*at);
                    let patterns = match subject {
                        Subject::Read(patterns) if is_read => patterns,
                        Subject::Write(patterns) if !is_read => patterns,
                        _ => continue,
                    };
                    if paths.iter().any(|path| patterns.matches(path)) {
                        found.push_rule(rule, || matched(file, rule, path.to_string(), None));
                    }
                }
            }
        }
        if links.is_exhausted() {
            self.opaque("a path leads through too many links", String::new(), None, &mut found);
        }
        for at in &self.others {
            let (file, rule, subject) = self.get(*at);
            let hit = match subject {
                Subject::Tool(tool) => call
                    .tool
                    .as_ref()
                    .filter(|called| tool.matches(called, fields))
                    .and_then(|called| called.names.first().map(String::as_str)),
                Subject::Fetch(hosts) => {
                    call.urls.iter().map(|url| &**url).find(|url| names_host(url, hosts))
                }
                Subject::Prompt(regex) => {
                    call.prompt.as_deref().filter(|text| regex.is_match(text))
                }
                Subject::Output(regex) => {
                    call.output.as_deref().filter(|text| regex.is_match(text))
                }
                Subject::Shell(_) | Subject::Read(_) | Subject::Write(_) => None,
            };
            if let Some(text) = hit {
                let shown = || text.chars().take(200).collect();
                found.push_rule(rule, || matched(file, rule, shown(), None));
            }
        }
        Decision { matches: found.matches }
    }

    /// Adds what files say of a call that cannot be read.
    fn opaque(
        &self,
        reason: &str,
        subject: String,
        range: Option<Range<usize>>,
        found: &mut Found<'_>,
    ) {
        let message = format!("this cannot be read: {reason}");
        for (file, effect) in self.files.iter().filter_map(|file| Some((file, file.opaque?))) {
            let rule = format!("{}:opaque", file.name);
            let (message, subject, range) = (message.clone(), subject.clone(), range.clone());
            found.push(Match { rule, effect, message, subject, range });
        }
    }

    /// Adds that not all rules were asked in time: the user is asked, whatever the files say.
    fn too_long(&self, found: &mut Found<'_>) {
        for file in &self.files {
            let rule = format!("{}:time", file.name);
            let effect = file.opaque.map_or(Effect::Ask, |effect| effect.max(Effect::Ask));
            let message = format!("not all rules could be asked within {MAX_TIME:?}");
            found.push(Match { rule, effect, message, subject: String::new(), range: None });
        }
    }

    fn get(&self, (file, rule, subject): RuleIndex) -> (&RuleFile, &Rule, &Subject) {
        let file = &self.files[file];
        let rule = &file.rules[rule];
        (file, rule, &rule.subjects[subject])
    }

    /// Returns an absolute path in which `..` is left: behind a link it leads elsewhere.
    fn with_dots(&self, path: &str, directories: &Directories) -> String {
        match path.strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => {
                format!("{}{rest}", directories.home())
            }
            _ if path.starts_with('/') => path.to_owned(),
            _ => format!("{}/{path}", directories.cwd()),
        }
    }

    fn absolute(&self, path: &str, directories: &Directories) -> String {
        let path = self.with_dots(path, directories);
        hook_shell::invocations::join(None, &path).unwrap_or(path)
    }

    fn invocation(
        &self,
        (invocation, facts): (&Invocation, &Facts),
        command: &str,
        deadline: Instant,
        found: &mut Found<'_>,
    ) {
        let program = &*facts.program;
        if let Some(rules) = self.deferred.as_ref().and_then(|deferred| deferred.about(program)) {
            rules.invocation((invocation, facts), command, deadline, found);
        }
        let matched_here = |file: &RuleFile, rule: &Rule| {
            let range = invocation.range.clone();
            matched(file, rule, part(command, &range), Some(range))
        };
        let of_program = self.by_program.get(program).map_or(&[][..], Vec::as_slice);
        let operand = |index: &usize| invocation.arguments.get(*index).map(|it| it.text.as_str());
        let has_rules = !of_program.is_empty() || !self.of_any.is_empty();
        let operands: Vec<&str> = match has_rules && !facts.asks_for_help {
            true => facts.operands.iter().filter_map(operand).collect(),
            false => Vec::new(),
        };
        // Who asks for help runs nothing else.
        let rules = of_program.iter().chain(&self.of_any).filter(|_| !facts.asks_for_help);
        for (count, at) in rules.enumerate() {
            if is_late(count, deadline) {
                self.too_long(found);
                return;
            }
            let (file, rule, Subject::Shell(shell)) = self.get(*at) else { continue };
            let verdict = shell_matches(shell, (invocation, facts), &operands);
            if verdict == Verdict::May && rule.effect >= Effect::Ask {
                // Only running it tells; then it is asked about, whatever the rule does.
                let message = format!("an argument is not known, and {}", rule.message);
                found.push_rule(rule, || Match {
                    effect: Effect::Ask,
                    message,
                    ..matched_here(file, rule)
                });
            }
            if verdict == Verdict::Must {
                found.push_rule(rule, || matched_here(file, rule));
            }
        }
        for (count, (access, path)) in facts.files(invocation).enumerate() {
            if is_late(count, deadline) {
                self.too_long(found);
                return;
            }
            let (reads, writes) = match access.access {
                Access::Read => (&self.reads[..], &[][..]),
                Access::Write => (&[][..], &self.writes[..]),
                Access::Unknown => (&self.reads[..], &self.writes[..]),
            };
            for at in reads.iter().chain(writes) {
                let (file, rule, subject) = self.get(*at);
                let (Subject::Read(patterns) | Subject::Write(patterns)) = subject else {
                    continue;
                };
                let may_write =
                    access.access == Access::Unknown && matches!(subject, Subject::Write(_));
                if !may_write {
                    if patterns.matches_access(access.access, path, invocation) {
                        found.push_rule(rule, || matched_here(file, rule));
                    }
                } else if rule.effect >= Effect::Ask && patterns.guards(path, invocation) {
                    // Whether it changes the file is not known.
                    let message = format!("`{program}` may change a file, and {}", rule.message);
                    found.push_rule(rule, || Match {
                        effect: Effect::Ask,
                        message,
                        ..matched_here(file, rule)
                    });
                }
            }
        }
        for argument in invocation.arguments.iter().filter(|_| facts.has_url) {
            for at in &self.others {
                let (file, rule, Subject::Fetch(hosts)) = self.get(*at) else { continue };
                if names_host(&argument.text, hosts) {
                    found.push_rule(rule, || matched_here(file, rule));
                }
            }
        }
    }
}

/// The rules that match so far.
struct Found<'f> {
    matches: Vec<Match>,
    fields: InputFields<'f>,
}

impl Found<'_> {
    fn push(&mut self, new: Match) {
        match self.matches.iter_mut().find(|old| old.rule == new.rule) {
            Some(old) if old.effect < new.effect => *old = new,
            Some(_) => {}
            None => self.matches.push(new),
        }
    }

    /// Adds a rule whose subject matches, if it is not narrowed to other inputs.
    fn push_rule(&mut self, rule: &Rule, new: impl FnOnce() -> Match) {
        if rule.narrowing.iter().all(|condition| condition.holds(self.fields)) {
            self.push(new());
        }
    }
}

/// Returns `true` if the time is over. The clock is read for each sixteenth only.
fn is_late(count: usize, deadline: Instant) -> bool {
    count % 16 == 15 && Instant::now() > deadline
}

fn matched(file: &RuleFile, rule: &Rule, subject: String, range: Option<Range<usize>>) -> Match {
    Match {
        rule: format!("{}:{}", file.name, rule.id),
        effect: rule.effect,
        message: rule.message.clone(),
        subject,
        range,
    }
}

fn part(command: &str, range: &Range<usize>) -> String {
    let part = command.get(range.clone()).filter(|part| !part.is_empty()).unwrap_or(command);
    part.chars().take(200).collect()
}

/// Returns `true` if the host of a URL is one of these.
fn names_host(url: &str, hosts: &[WordPattern]) -> bool {
    host(url).is_some_and(|host| hosts.iter().any(|pattern| pattern.matches(host)))
}

/// Returns the host of a URL.
fn host(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    Some(host.split(':').next().unwrap_or(host))
}

/// Whether a rule matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    No,
    /// It depends on an argument of which a part is not known.
    May,
    Must,
}

/// Returns `true` if a word with an unknown part may be what a pattern names. A word of which nothing
/// is known counts as none, since nearly all variables hold names of files and the like.
fn may_be(word: &str, pattern: &WordPattern) -> bool {
    let Some(literal) = pattern.literal().filter(|_| word.contains(UNKNOWN)) else { return false };
    let Some((before, after)) = word.split_once(UNKNOWN) else { return false };
    let after = after.rsplit(UNKNOWN).next().unwrap_or_default();
    let is_part = before.len() >= 2 || after.len() >= 2;
    is_part
        && before.len() + after.len() <= literal.len()
        && literal.starts_with(before)
        && literal.ends_with(after)
}

fn shell_matches(
    rule: &ShellRule,
    (invocation, facts): (&Invocation, &Facts),
    operands: &[&str],
) -> Verdict {
    let is_named = |pattern: &WordPattern| pattern.matches(&facts.program);
    if !rule.programs.is_empty() && !rule.programs.iter().any(is_named) {
        return Verdict::No;
    }
    let arguments = &invocation.arguments;
    let holds_for = |pattern: &WordPattern, argument: &Argument| match option_of(pattern) {
        Some(option) => is_option(&argument.text, option, &facts.value_letters),
        None => pattern.matches(&argument.text),
    };
    let holds = |pattern: &WordPattern| arguments.iter().any(|it| holds_for(pattern, it));
    let is_sure = operands_match(&rule.operands, operands, false);
    // An operand of which nothing is known may be any, if something else speaks for the rule. Of git,
    // most commands have rules.
    let is_likely = || {
        if &*facts.program == "git" {
            return true;
        }
        let mut known = rule.operands.iter().zip(operands);
        known.any(|(pattern, operand)| {
            let is_star =
                matches!(pattern, WordPattern::Glob(stars) if stars.iter().all(|it| *it == '*'));
            !is_star && !operand.contains(UNKNOWN) && pattern.matches(operand)
                || may_be(operand, pattern)
        }) || rule.conditions.iter().any(
            |condition| matches!(condition, Condition::Any(patterns) if patterns.iter().any(holds)),
        )
    };
    let may_match =
        || facts.has_unknown && operands_match(&rule.operands, operands, true) && is_likely();
    if !is_sure && !may_match() {
        return Verdict::No;
    }
    let mut verdict = if is_sure { Verdict::Must } else { Verdict::May };
    let may_hold =
        |pattern: &WordPattern| arguments.iter().any(|argument| may_be(&argument.text, pattern));
    for condition in rule.conditions.iter().filter(|_| facts.has_unknown) {
        if let Condition::Any(patterns) = condition
            && !patterns.iter().any(holds)
            && patterns.iter().any(may_hold)
        {
            verdict = Verdict::May;
        }
    }
    let all_hold = rule.conditions.iter().all(|condition| match condition {
        Condition::Any(patterns) => {
            patterns.iter().any(holds) || facts.has_unknown && patterns.iter().any(may_hold)
        }
        Condition::All(patterns) => patterns.iter().all(holds),
        Condition::None(patterns) => !has_for_certain(patterns, invocation, facts),
        Condition::Option { names, values } => option_values(arguments, names)
            .iter()
            .any(|value| values.iter().any(|pattern| pattern.matches(value))),
    });
    if !all_hold {
        return Verdict::No;
    }
    let uses = |patterns: &crate::paths::PathPatterns, access: Option<Access>| {
        facts
            .files(invocation)
            .filter(|(file, _)| match access {
                Some(Access::Read) => file.access != Access::Write,
                Some(access) => file.access == access,
                None => true,
            })
            .any(|(file, path)| patterns.matches_access(file.access, path, invocation))
    };
    if rule.files.as_ref().is_some_and(|patterns| !uses(patterns, None))
        || rule.reads.as_ref().is_some_and(|patterns| !uses(patterns, Some(Access::Read)))
        || rule.writes.as_ref().is_some_and(|patterns| !uses(patterns, Some(Access::Write)))
    {
        return Verdict::No;
    }
    let sets = |(name, pattern): &(String, WordPattern)| {
        invocation.variables.iter().any(|(set, value)| {
            set == name && value.as_deref().is_none_or(|value| pattern.matches(value))
        })
    };
    if !rule.env.iter().all(sets) {
        return Verdict::No;
    }
    let is_fed =
        |pattern: &WordPattern| invocation.fed_by.iter().any(|program| pattern.matches(program));
    if !rule.fed_by.is_empty() && !rule.fed_by.iter().any(is_fed) {
        return Verdict::No;
    }
    let has_text = rule.text.as_ref().is_none_or(|regex| {
        arguments.iter().any(|argument| regex.is_match(&argument.text))
            || matches!(&invocation.input, Input::Text(text) if regex.is_match(text))
    });
    if has_text { verdict } else { Verdict::No }
}

/// Returns the option that a pattern names.
fn option_of(pattern: &WordPattern) -> Option<&str> {
    pattern.literal().filter(|literal| literal.starts_with('-'))
}

/// Returns `true` if an argument matches that excludes a rule. An option counts only if it is none of
/// the values of others, and if no later one takes it back, as `--no-dry-run` does `--dry-run`.
fn has_for_certain(patterns: &[WordPattern], invocation: &Invocation, facts: &Facts) -> bool {
    let arguments = &invocation.arguments;
    let is_operand = |pattern: &WordPattern| {
        option_of(pattern).is_none() && arguments.iter().any(|it| pattern.matches(&it.text))
    };
    if patterns.iter().any(is_operand) {
        return true;
    }
    let options: Vec<&str> = patterns.iter().filter_map(option_of).collect();
    let mut holds = false;
    let mut is_value = false;
    let mut last = None;
    for index in option_indices(&facts.program, arguments) {
        let Some(Argument { text, .. }) = arguments.get(index) else { continue };
        // Of a cluster, the last letter may take the next argument.
        if is_value && last == index.checked_sub(1) {
            is_value = false;
            continue;
        }
        last = Some(index);
        is_value = !text.starts_with("--")
            && text.chars().skip(1).find(|letter| facts.value_letters.contains(*letter)).is_some()
            && text.ends_with(|end| facts.value_letters.contains(end));
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        if let Some(taken) = name.strip_prefix("--no-") {
            let taken = format!("--{taken}");
            holds &= !options.iter().any(|option| is_option(&taken, option, ""));
        }
        let is_one = |option: &&str| {
            is_option(text, option, &facts.value_letters)
                && (*option == name || name.len() > 3 || !name.starts_with("--"))
        };
        if options.iter().any(is_one) {
            holds = !matches!(value, "none" | "no" | "0" | "off");
        }
    }
    holds
}

/// Compares the first operands with patterns, in which `**` stands for any number. With `may`, an
/// operand that is not known may be what a pattern names.
fn operands_match(patterns: &[WordPattern], operands: &[&str], may: bool) -> bool {
    match patterns.split_first() {
        None => true,
        Some((WordPattern::Glob(stars), rest)) if stars.as_slice() == ['*', '*'] => (0..=operands
            .len())
            .any(|skipped| operands_match(rest, operands.get(skipped..).unwrap_or_default(), may)),
        Some((pattern, rest)) => match operands.split_first() {
            Some((operand, after)) => {
                let is_all_unknown = || operand.chars().all(|character| character == UNKNOWN);
                let is_same = pattern.matches(operand) && !operand.contains(UNKNOWN)
                    || may && (is_all_unknown() || may_be(operand, pattern));
                is_same && operands_match(rest, after, may)
            }
            None => false,
        },
    }
}
