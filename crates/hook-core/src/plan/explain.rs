//! The reasons why hooks run for an event or not, computed from the same matching, identity and
//! trust as a [`Plan`](crate::Plan).

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::groups::Group;
use super::hook::Hook;
use super::selection::Selection;
use super::switched_off::SwitchedOff;
use hook_json::text::{PathText, shortened};
use hook_protocol::event::{HookEventName, Matching};
use hook_settings::matcher::{
    Facts, FilterOutcome, HostDirectories, MatchInput, MatchOutcome, Matcher, Unmatched,
};

/// The hooks that an event would run, and why it would not run the others; see
/// [`HookRegistry::explain`](crate::HookRegistry::explain).
#[derive(Debug, Clone)]
pub struct Explanation {
    /// The event.
    pub event: HookEventName,
    /// The text that matchers are compared with; `None` if the event has none.
    pub subject: Option<String>,
    /// For each priority whose hooks run one after the other, the first hook that is `sequential`.
    /// The hooks of any other priority start concurrently.
    pub sequential_because: BTreeMap<i32, Arc<Hook>>,
    /// The groups of the plan, in run order.
    pub groups: Vec<Group>,
    /// All hooks: those of the event in run order, then the others. Of duplicates, the copy that
    /// runs is listed at the position where it runs.
    pub hooks: Vec<ExplainedHook>,
}

impl Explanation {
    /// Returns the hooks that would run, in plan order.
    pub fn running(&self) -> impl Iterator<Item = &ExplainedHook> {
        self.hooks.iter().filter(|hook| hook.runs())
    }

    /// Returns the index of a hook's group, if the hook is in the plan.
    pub fn group_of(&self, hook: &ExplainedHook) -> Option<usize> {
        let plan_index = hook.plan_index?;
        self.groups.iter().position(|group| group.hooks.contains(&plan_index))
    }

    /// Returns the guards that would block the event without running, in plan order.
    pub fn blocking(&self) -> impl Iterator<Item = &ExplainedHook> {
        self.hooks.iter().filter(|hook| hook.blocks().is_some())
    }
}

/// The outcome of one hook for an event.
#[derive(Debug, Clone)]
pub struct ExplainedHook {
    /// The hook.
    pub hook: Arc<Hook>,
    /// Its index in the plan, if it is in the plan.
    pub plan_index: Option<usize>,
    /// The rules that match, each with its effect and reason, if it is a file of rules that runs.
    pub rules: Vec<String>,
    /// Everything that keeps it out of the plan; empty if it is in the plan.
    pub reasons: Vec<NotRun>,
    /// Warnings for its author, such as a matcher that does not compile or exceeds its limits.
    pub warnings: Vec<String>,
    /// A replacement for a matcher that does not mean what it seems to.
    pub hint: Option<String>,
}

impl ExplainedHook {
    /// Returns `true` if it runs.
    pub fn runs(&self) -> bool {
        self.plan_index.is_some() && !self.hook.blocks_without_running()
    }

    /// Returns the reason why it blocks the event without running (`Hook::blocks_unrun`).
    pub fn blocks(&self) -> Option<String> {
        self.plan_index.and_then(|_| self.hook.suspension())
    }
}

/// The reason why a hook does not run. Its text completes "does not run: ".
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum NotRun {
    /// It listens to another event.
    OtherEvent {
        /// The event it listens to.
        event: HookEventName,
    },
    /// It is a project's hook, and not trusted in its present form.
    Untrusted {
        /// `true` if an earlier form was trusted.
        changed: bool,
    },
    /// It is disabled.
    Disabled(SwitchedOff),
    /// Its matcher does not match.
    NotMatched {
        /// The matcher as written in settings.
        matcher: String,
        /// The input field that it is compared with.
        field: &'static str,
        /// The value of that field.
        subject: String,
        /// `true` if both are compared exactly, not by pattern.
        exactly: bool,
    },
    /// Its matcher cannot be used; a warning gives the reason.
    UnusableMatcher,
    /// A part of its object matcher does not match.
    PartNotMatched {
        /// The part's key in settings.
        part: &'static str,
        /// The part's pattern, shortened.
        pattern: String,
        /// The kind of values compared, in singular and plural.
        subjects: (&'static str, &'static str),
        /// The first few values compared, each shortened.
        compared: Vec<String>,
        /// The number of values.
        total: usize,
    },
    /// It is a duplicate of another hook, which runs instead.
    Duplicate {
        /// The copy that runs: that of the most trusted source, and the first among equals.
        of: Arc<Hook>,
    },
}

impl NotRun {
    /// Returns the code in messages.
    pub fn code(&self) -> &'static str {
        match self {
            Self::OtherEvent { .. } => "other_event",
            Self::Untrusted { .. } => "untrusted",
            Self::Disabled(_) => "disabled",
            Self::NotMatched { .. } | Self::PartNotMatched { .. } | Self::UnusableMatcher => {
                "not_matched"
            }
            Self::Duplicate { .. } => "duplicate",
        }
    }
}

impl fmt::Display for NotRun {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherEvent { event } => write!(formatter, "it listens to {event}"),
            Self::Untrusted { changed: false } => {
                formatter.write_str("it is the project's, and not trusted")
            }
            Self::Untrusted { changed: true } => {
                formatter.write_str(
                    "it is the project's, and has changed since it was trusted; `hook trust` shows what changed",
                )
            }
            Self::Disabled(by) => {
                write!(formatter, "off by {by}")?;
                match &by.file {
                    Some(file) => write!(formatter, ", {}", file.shown()),
                    None => Ok(()),
                }
            }
            Self::NotMatched { matcher, field, subject, exactly } => {
                let matcher = shortened(matcher.trim());
                let subject = shortened(subject);
                match exactly {
                    true => {
                        write!(formatter, "its matcher `{matcher}` is not the {field} `{subject}`")
                    }
                    false => write!(
                        formatter,
                        "its matcher `{matcher}` does not match the {field} `{subject}`"
                    ),
                }
            }
            Self::UnusableMatcher => formatter.write_str("its matcher cannot be used"),
            Self::PartNotMatched { part, pattern, subjects: (one, several), compared, total } => {
                write!(formatter, "its {part} `{pattern}` does not match: ")?;
                match compared.as_slice() {
                    [] => write!(formatter, "the input has no {one}"),
                    [only] if *total == 1 => write!(formatter, "the {one} is `{only}`"),
                    some => {
                        write!(formatter, "the {several} are `{}`", some.join("`, `"))?;
                        match total.saturating_sub(some.len()) {
                            0 => Ok(()),
                            more => write!(formatter, " and {more} more"),
                        }
                    }
                }
            }
            Self::Duplicate { of } => {
                let source = &of.source;
                write!(formatter, "it is the same hook as one of the {source} settings")?;
                if let Some(location) = &of.location {
                    write!(formatter, ", {location}")?;
                }
                formatter.write_str(", which runs in its place")
            }
        }
    }
}

/// Explains an event. `on` are the hooks that are trusted and enabled; `obstacles` returns the
/// reasons against any other hook.
pub(super) fn explain(
    all: &[Arc<Hook>],
    on: &[Arc<Hook>],
    obstacles: impl Fn(&Hook) -> Vec<NotRun>,
    event: HookEventName,
    (input, surroundings): (&MatchInput, &HostDirectories),
) -> Explanation {
    let selection = Selection::matching(on, input, surroundings);
    let facts = Facts::of(input, surroundings);
    let subject = input.subject();
    let mut selected = on.iter().zip(&selection.plan_indices).peekable();
    let (of_event, others): (Vec<_>, Vec<_>) = all.iter().partition(|hook| hook.event == event);
    let mut hooks: Vec<ExplainedHook> = Vec::with_capacity(all.len());
    // The index in `hooks` of the first copy of each planned hook.
    let mut first = vec![None; selection.planned.len()];
    for hook in of_event {
        let mut explained = ExplainedHook {
            hook: Arc::clone(hook),
            plan_index: None,
            rules: Vec::new(),
            reasons: Vec::new(),
            warnings: hook.warnings.clone(),
            hint: hook.matcher.hint(event.row().matching),
        };
        let plan_index = match selected.next_if(|(on, _)| Arc::ptr_eq(on, hook)) {
            Some((_, plan_index)) => *plan_index,
            None => {
                explained.reasons = obstacles(hook);
                None
            }
        };
        match plan_index.and_then(|place| Some((place, selection.planned.get(place)?))) {
            None => explained.reasons.extend(not_matched(hook, subject, &facts)),
            Some((plan_index, planned)) => {
                if let Some(first) = first.get_mut(plan_index) {
                    first.get_or_insert(hooks.len());
                }
                if Arc::ptr_eq(&planned.hook, hook) {
                    explained.plan_index = Some(plan_index);
                    explained.rules = hook.preview(input.event());
                    explained.warnings.extend(planned.warning.clone());
                } else {
                    explained.reasons.push(NotRun::Duplicate { of: Arc::clone(&planned.hook) });
                }
            }
        }
        hooks.push(explained);
    }
    // List the copy that runs in place of the first.
    for index in 0..hooks.len() {
        let first =
            hooks[index].plan_index.and_then(|plan_index| first.get(plan_index).copied().flatten());
        if let Some(first) = first.filter(|first| *first < index) {
            hooks.swap(first, index);
        }
    }
    // List hooks that do not run among those of their priority.
    hooks.sort_by_key(|explained| explained.hook.priority);
    hooks.extend(others.into_iter().map(|hook| ExplainedHook {
        hook: Arc::clone(hook),
        plan_index: None,
        rules: Vec::new(),
        reasons:
            [NotRun::OtherEvent { event: hook.event }].into_iter().chain(obstacles(hook)).collect(),
        warnings: hook.warnings.clone(),
        hint: None,
    }));
    Explanation {
        event,
        subject: subject.map(str::to_owned),
        groups: selection.groups(),
        sequential_because: selection.sequential,
        hooks,
    }
}

/// Returns the reason if a hook's matcher does not match. Matchers of untrusted hooks are compiled
/// only here.
fn not_matched(hook: &Hook, subject: Option<&str>, facts: &Facts<'_>) -> Option<NotRun> {
    let matching = hook.event.row().matching;
    let compiled;
    let matcher = match hook.is_trusted() || hook.blocks_without_running() {
        true => &hook.matcher,
        false => {
            let definition = hook.matcher.definition().cloned();
            compiled = Matcher::compile(definition, matching, hook.fail_behavior).0;
            &compiled
        }
    };
    if matcher.is_unusable() {
        return Some(NotRun::UnusableMatcher);
    }
    let by_subject = || {
        let (subject, field) = (subject?, matching.field()?);
        if matcher.matches(Some(subject)) != MatchOutcome::No {
            return None;
        }
        Some(match matcher.unmatched_tool(subject) {
            Some((part, pattern)) => NotRun::PartNotMatched {
                part,
                pattern: shortened(&pattern),
                subjects: (field, field),
                compared: vec![shortened(subject)],
                total: 1,
            },
            None => NotRun::NotMatched {
                matcher: matcher.text().unwrap_or_default().to_owned(),
                field,
                subject: subject.to_owned(),
                exactly: matches!(matching, Matching::Exact { .. }),
            },
        })
    };
    by_subject().or_else(|| match matcher.check(facts) {
        FilterOutcome::No(Unmatched::Foreign) => Some(foreign_mismatch(hook, subject)),
        FilterOutcome::No(part) => Some(part_mismatch(matcher, part, facts)),
        FilterOutcome::Yes | FilterOutcome::GaveUp(_) => None,
    })
}

/// Returns the mismatch of a foreign hook: its matcher, or its own agent's event.
fn foreign_mismatch(hook: &Hook, subject: Option<&str>) -> NotRun {
    let (matcher, field, subject) = match (hook.matcher.text(), subject) {
        (Some(text), Some(subject)) => {
            (text, hook.event.row().matching.field().unwrap_or("event"), subject)
        }
        _ => (hook.matcher.foreign_event().unwrap_or_default(), "event", hook.event.as_str()),
    };
    let (matcher, subject) = (matcher.to_owned(), subject.to_owned());
    NotRun::NotMatched { matcher, field, subject, exactly: false }
}

fn part_mismatch(matcher: &Matcher, part: Unmatched, facts: &Facts<'_>) -> NotRun {
    let (compared, total) = part.shown(facts);
    NotRun::PartNotMatched {
        part: part.key(),
        pattern: matcher.part(part),
        subjects: part.nouns(),
        compared,
        total,
    }
}
