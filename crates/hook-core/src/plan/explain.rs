//! Why each hook runs for an event, or does not: what stands behind a [`Plan`](crate::Plan), made
//! of the same matching, identity and trust.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::groups::Group;
use super::hook::Hook;
use super::selection::Selection;
use super::switched_off::SwitchedOff;
use crate::event::{HookEventName, Matching};
use crate::matcher::{
    Facts, FilterOutcome, MatchInput, MatchOutcome, Matcher, Surroundings, Unmatched,
};
use crate::text::PathText;
use crate::text::shortened;

/// What an event would run, and why not the rest; see
/// [`HookRegistry::explain`](crate::HookRegistry::explain).
#[derive(Debug, Clone)]
pub struct Explanation {
    /// The event.
    pub event: HookEventName,
    /// What matchers were compared with; absent where the event has nothing.
    pub subject: Option<String>,
    /// For each priority whose hooks run one after the other the first hook whose definition says
    /// so; the hooks of any other priority start at once.
    pub sequential_because: BTreeMap<i32, Arc<Hook>>,
    /// The groups of the plan, in the order in which they run.
    pub groups: Vec<Group>,
    /// Every hook there is: those of the event in the order in which they run, then all others. A
    /// hook that is there twice stands where it runs in the copy that runs.
    pub hooks: Vec<ExplainedHook>,
}

impl Explanation {
    /// The hooks that would run, in plan order.
    pub fn running(&self) -> impl Iterator<Item = &ExplainedHook> {
        self.hooks.iter().filter(|hook| hook.runs())
    }

    /// The number of the group that a hook runs with, from 0, if it is in the plan.
    #[doc(hidden)]
    pub fn group_of(&self, hook: &ExplainedHook) -> Option<usize> {
        let place = hook.place?;
        self.groups.iter().position(|group| group.hooks.contains(&place))
    }

    /// The guards that would block the event without being run, in plan order.
    pub fn blocking(&self) -> impl Iterator<Item = &ExplainedHook> {
        self.hooks.iter().filter(|hook| hook.blocks().is_some())
    }
}

/// What becomes of one hook when the event comes.
#[derive(Debug, Clone)]
pub struct ExplainedHook {
    /// The hook.
    pub hook: Arc<Hook>,
    /// Its position in the plan, from 0, if it is in the plan.
    pub place: Option<usize>,
    /// Everything that keeps it out of the plan; empty if it is in the plan.
    pub reasons: Vec<NotRun>,
    /// What its author should know, such as a matcher that does not compile or was given up.
    pub warnings: Vec<String>,
    /// What to write instead of a matcher that cannot mean what it seems to.
    pub hint: Option<String>,
}

impl ExplainedHook {
    /// Whether it runs.
    pub fn runs(&self) -> bool {
        self.place.is_some() && !self.hook.blocks_unrun()
    }

    /// Why it blocks the event instead of running, if it does
    /// ([`Hook::blocks_unrun`]).
    pub fn blocks(&self) -> Option<String> {
        self.place.and_then(|_| self.hook.suspension())
    }
}

/// Why a hook does not run. Its text completes "does not run: ".
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum NotRun {
    /// It listens to another event.
    OtherEvent {
        /// The one it listens to.
        event: HookEventName,
    },
    /// It comes from a project, and is not trusted as it is now.
    Untrusted {
        /// Whether it was trusted as it was before.
        changed: bool,
    },
    /// It is switched off.
    Disabled(SwitchedOff),
    /// Its matcher does not match.
    NotMatched {
        /// The matcher as it was written.
        matcher: String,
        /// The field of the input that it is compared with.
        field: &'static str,
        /// What that field holds.
        subject: String,
        /// Whether the two are compared exactly, and not by pattern.
        exactly: bool,
    },
    /// Its matcher cannot be used, which a warning says.
    UnusableMatcher,
    /// A part of its matcher, which is an object, does not match.
    PartNotMatched {
        /// The part's key in settings.
        part: &'static str,
        /// What it says, shortened.
        pattern: String,
        /// What it is compared with: one such, and several.
        subjects: (&'static str, &'static str),
        /// The first few that it was compared with, each shortened.
        compared: Vec<String>,
        /// How many there were.
        total: usize,
    },
    /// It is the same hook as another one, which runs in its place.
    Duplicate {
        /// The copy that runs: that of the most trusted source, and of equals the first.
        of: Arc<Hook>,
    },
}

impl NotRun {
    /// The word in messages.
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
                if let Some(place) = &of.place {
                    write!(formatter, ", {place}")?;
                }
                formatter.write_str(", which runs in its place")
            }
        }
    }
}

/// Explains what `on`, the event's hooks that are neither untrusted nor switched off, make of it;
/// `obstacles` says of the others which of the two they are.
pub(super) fn explain(
    all: &[Arc<Hook>],
    on: &[Arc<Hook>],
    obstacles: impl Fn(&Hook) -> Vec<NotRun>,
    event: HookEventName,
    (input, surroundings): (&MatchInput, &Surroundings),
) -> Explanation {
    let selection = Selection::matching(on, input, surroundings);
    let facts = Facts::of(input, surroundings);
    let subject = input.subject();
    let mut selected = on.iter().zip(&selection.places).peekable();
    let (of_event, others): (Vec<_>, Vec<_>) = all.iter().partition(|hook| hook.event == event);
    let mut hooks: Vec<ExplainedHook> = Vec::with_capacity(all.len());
    // Where in `hooks` the first copy of each planned hook stands.
    let mut first = vec![None; selection.planned.len()];
    for hook in of_event {
        let mut explained = ExplainedHook {
            hook: Arc::clone(hook),
            place: None,
            reasons: Vec::new(),
            warnings: hook.warnings.clone(),
            hint: hook.matcher.hint(event.row().matching),
        };
        let place = match selected.next_if(|(on, _)| Arc::ptr_eq(on, hook)) {
            Some((_, place)) => *place,
            None => {
                explained.reasons = obstacles(hook);
                None
            }
        };
        match place.and_then(|place| Some((place, selection.planned.get(place)?))) {
            None => explained.reasons.extend(not_matched(hook, subject, &facts)),
            Some((place, planned)) => {
                if let Some(first) = first.get_mut(place) {
                    first.get_or_insert(hooks.len());
                }
                if Arc::ptr_eq(&planned.hook, hook) {
                    explained.place = Some(place);
                    explained.warnings.extend(planned.warning.clone());
                } else {
                    explained.reasons.push(NotRun::Duplicate { of: Arc::clone(&planned.hook) });
                }
            }
        }
        hooks.push(explained);
    }
    // The copy that runs takes the place of the first.
    for index in 0..hooks.len() {
        let first = hooks[index].place.and_then(|place| first.get(place).copied().flatten());
        if let Some(first) = first.filter(|first| *first < index) {
            hooks.swap(first, index);
        }
    }
    // Those that do not run stand among those of their priority.
    hooks.sort_by_key(|explained| explained.hook.priority);
    hooks.extend(others.into_iter().map(|hook| ExplainedHook {
        hook: Arc::clone(hook),
        place: None,
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

/// That a hook's matcher does not match, if it does not. That of a hook that is not trusted is
/// compiled only here.
fn not_matched(hook: &Hook, subject: Option<&str>, facts: &Facts<'_>) -> Option<NotRun> {
    let matching = hook.event.row().matching;
    let compiled;
    let matcher = match hook.is_trusted() || hook.blocks_unrun() {
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
    by_subject().or_else(|| match matcher.ask(facts) {
        FilterOutcome::No(Unmatched::Home) => Some(not_matched_at_home(hook, subject)),
        FilterOutcome::No(part) => Some(filtered(matcher, part, facts)),
        FilterOutcome::Yes | FilterOutcome::GaveUp(_) => None,
    })
}

/// What a hook of another agent does not match: the input, or the part of the event that its own event is.
fn not_matched_at_home(hook: &Hook, subject: Option<&str>) -> NotRun {
    let (matcher, field, subject) = match (hook.matcher.text(), subject) {
        (Some(text), Some(subject)) => {
            (text, hook.event.row().matching.field().unwrap_or("event"), subject)
        }
        _ => (hook.matcher.foreign_event().unwrap_or_default(), "event", hook.event.as_str()),
    };
    let (matcher, subject) = (matcher.to_owned(), subject.to_owned());
    NotRun::NotMatched { matcher, field, subject, exactly: false }
}

fn filtered(matcher: &Matcher, part: Unmatched, facts: &Facts<'_>) -> NotRun {
    let (compared, total) = part.shown(facts);
    NotRun::PartNotMatched {
        part: part.key(),
        pattern: matcher.part(part),
        subjects: part.compared_with(),
        compared,
        total,
    }
}
