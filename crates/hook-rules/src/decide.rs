//! Decisions: what rules say of a call.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hook_shell::invocations::{Access, Invocation, path_of_url};

use crate::call::{Call, Commands, Facts, ReadCommand};
use crate::candidate::Candidate;
use crate::decision::{Decision, Found, Match};
use crate::directories::Directories;
use crate::file::{Effect, RuleFile, RuleTest, Subject, TestKind};
use crate::links::Links;
use crate::narrowing::{CalledTool, InputFields};
use crate::paths::SplitPath;
use crate::program_index::ProgramIndex;
use crate::shell_match::{Verdict, shell_matches};
use crate::words::WordPattern;

/// The longest time for one decision.
const MAX_TIME: Duration = Duration::from_secs(2);

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

/// Rules of some files, compiled: one index over all of them.
#[derive(Debug, Default)]
pub struct Rules {
    files: Vec<Arc<RuleFile>>,
    programs: ProgramIndex,
    reads: Vec<Candidate>,
    writes: Vec<Candidate>,
    others: Vec<Candidate>,
}

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
        let files: Vec<Arc<RuleFile>> = files.into_iter().collect();
        let mut rules = Self { programs: ProgramIndex::of(&files, excepted), ..Self::default() };
        for (index, file) in files.iter().enumerate() {
            for candidate in file.candidates(index, excepted) {
                match candidate.subject() {
                    Some(Subject::Shell(_)) => rules.programs.push(candidate),
                    Some(Subject::Read(_)) => rules.reads.push(candidate),
                    Some(Subject::Write(_)) => rules.writes.push(candidate),
                    _ => rules.others.push(candidate),
                }
            }
        }
        rules.files = files;
        rules
    }

    /// Returns the files.
    pub fn files(&self) -> impl Iterator<Item = &Arc<RuleFile>> {
        self.files.iter()
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
        for (paths, candidates) in
            [(&call.reads, &self.reads), (&urls, &self.reads), (&call.writes, &self.writes)]
        {
            for path in paths {
                let absolute = self.absolute(path, directories);
                let others = links.others(&self.with_dots(path, directories), true, &[]);
                let paths: Vec<SplitPath> = std::iter::once(&absolute)
                    .chain(&others)
                    .map(|path| SplitPath::new(path, directories))
                    .collect();
                for candidate in candidates {
                    let Some(Subject::Read(patterns) | Subject::Write(patterns)) =
                        candidate.subject()
                    else {
                        continue;
                    };
                    if paths.iter().any(|path| patterns.matches(path)) {
                        let shown = || self.matched(candidate, path.to_string(), None);
                        found.push_rule(&candidate.rule, shown);
                    }
                }
            }
        }
        if links.is_exhausted() {
            self.opaque("a path leads through too many links", String::new(), None, &mut found);
        }
        for candidate in &self.others {
            let Some(subject) = candidate.subject() else { continue };
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
                found.push_rule(&candidate.rule, || self.matched(candidate, shown(), None));
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
        for (index, file) in self.files.iter().enumerate() {
            let Some(effect) = file.opaque else { continue };
            let rule = format!("{}:opaque", file.name);
            let (message, subject, range) = (message.clone(), subject.clone(), range.clone());
            found.push(Match { file: index, rule, effect, message, subject, range });
        }
    }

    /// Adds that not all rules were asked in time: the user is asked, whatever the files say.
    fn too_long(&self, found: &mut Found<'_>) {
        for (index, file) in self.files.iter().enumerate() {
            let rule = format!("{}:time", file.name);
            let effect = file.opaque.map_or(Effect::Ask, |effect| effect.max(Effect::Ask));
            let message = format!("not all rules could be asked within {MAX_TIME:?}");
            let subject = String::new();
            found.push(Match { file: index, rule, effect, message, subject, range: None });
        }
    }

    fn matched(
        &self,
        candidate: &Candidate,
        subject: String,
        range: Option<Range<usize>>,
    ) -> Match {
        let Candidate { file, rule, .. } = candidate;
        let name = self.files.get(*file).map_or("", |file| &file.name);
        Match {
            file: *file,
            rule: format!("{name}:{}", rule.id),
            effect: rule.effect,
            message: rule.message.clone(),
            subject,
            range,
        }
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
        let matched_here = |candidate: &Candidate| {
            let range = invocation.range.clone();
            self.matched(candidate, part(command, &range), Some(range))
        };
        // Who asks for help runs nothing else.
        let names = std::iter::once(invocation.program()).chain(facts.called.as_deref());
        let rules = names.filter(|_| !facts.asks_for_help).map(|name| self.programs.about(name));
        let rules: Vec<_> = rules.collect();
        let candidates = rules.iter().flat_map(|rules| rules.candidates(invocation, facts));
        for (count, candidate) in candidates.enumerate() {
            if is_late(count, deadline) {
                self.too_long(found);
                return;
            }
            let rule = &candidate.rule;
            let Some(Subject::Shell(shell)) = candidate.subject() else { continue };
            let verdict = shell_matches(shell, (invocation, facts));
            if verdict == Verdict::May && rule.effect >= Effect::Ask {
                // Only running it tells; then it is asked about, whatever the rule does.
                let message = format!("an argument is not known, and {}", rule.message);
                found.push_rule(rule, || Match {
                    effect: Effect::Ask,
                    message,
                    ..matched_here(candidate)
                });
            }
            if verdict == Verdict::Must {
                found.push_rule(rule, || matched_here(candidate));
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
            for candidate in reads.iter().chain(writes) {
                let rule = &candidate.rule;
                let (patterns, is_write) = match candidate.subject() {
                    Some(Subject::Read(patterns)) => (patterns, false),
                    Some(Subject::Write(patterns)) => (patterns, true),
                    _ => continue,
                };
                if access.access != Access::Unknown || !is_write {
                    if patterns.matches_access(access.access, path, invocation) {
                        found.push_rule(rule, || matched_here(candidate));
                    }
                } else if rule.effect >= Effect::Ask && patterns.guards(path, invocation) {
                    // Whether it changes the file is not known.
                    let program = invocation.program();
                    let message = format!("`{program}` may change a file, and {}", rule.message);
                    found.push_rule(rule, || Match {
                        effect: Effect::Ask,
                        message,
                        ..matched_here(candidate)
                    });
                }
            }
        }
        for argument in invocation.arguments.iter().filter(|_| facts.has_url) {
            for candidate in &self.others {
                let Some(Subject::Fetch(hosts)) = candidate.subject() else { continue };
                if names_host(&argument.text, hosts) {
                    found.push_rule(&candidate.rule, || matched_here(candidate));
                }
            }
        }
    }
}

/// Returns `true` if the time is over. The clock is read for each sixteenth only.
fn is_late(count: usize, deadline: Instant) -> bool {
    count % 16 == 15 && Instant::now() > deadline
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
