//! The state at a point of a text, with all that is possible there: values of variables, directories, functions.

use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

use super::argument::{Argument, UNKNOWN};
use crate::script::Command;

/// The maximum number of values of a variable.
pub(super) const MAX_VALUES: usize = 16;

/// One of several things that a name may mean.
pub(super) trait Meaning: Clone + PartialEq + 'static {
    /// The one meaning of a name that the text does not mention.
    const ABSENT: &'static [Self];

    /// Returns the meaning that stands for any.
    fn unknown() -> Self;

    /// Returns `true` for the meaning that stands for any.
    fn is_unknown(&self) -> bool;
}

/// A value of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    /// The value of the environment.
    Initial,
    Unset,
    /// A number that is not known.
    Number,
    /// A text, in which [`UNKNOWN`] stands for what is not known.
    Text(String),
    /// The values of an array.
    List(Vec<Argument>),
}

impl Meaning for Value {
    const ABSENT: &'static [Self] = &[Self::Initial];

    fn unknown() -> Self {
        Self::Text(UNKNOWN.to_string())
    }

    fn is_unknown(&self) -> bool {
        matches!(self, Self::Text(text) if text.chars().eq([UNKNOWN]))
    }
}

/// A meaning of the name of a program.
#[derive(Debug, Clone)]
pub(super) enum Definition {
    /// The program or builtin.
    Program,
    Function(Arc<Command>),
    /// One of too many functions.
    Unknown,
}

impl PartialEq for Definition {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Function(one), Self::Function(two)) => Arc::ptr_eq(one, two),
            (Self::Program, Self::Program) | (Self::Unknown, Self::Unknown) => true,
            _ => false,
        }
    }
}

impl Meaning for Definition {
    const ABSENT: &'static [Self] = &[Self::Program];

    fn unknown() -> Self {
        Self::Unknown
    }

    fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown)
    }
}

impl Meaning for Option<String> {
    const ABSENT: &'static [Self] = &[None];

    fn unknown() -> Self {
        Some(UNKNOWN.to_string())
    }

    fn is_unknown(&self) -> bool {
        matches!(self, Some(text) if text.chars().eq([UNKNOWN]))
    }
}

/// The possible meanings of a name.
type Entry<T> = (Rc<str>, Rc<[T]>);

/// The possible meanings of names, sorted by name. Copies share the table until one changes; most texts
/// have few names.
#[derive(Debug, Clone)]
pub(super) struct Table<T>(Rc<Vec<Entry<T>>>);

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self(Rc::default())
    }
}

impl<T: Meaning> Table<T> {
    fn find(&self, name: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(known, _)| (**known).cmp(name))
    }

    pub(super) fn get(&self, name: &str) -> &[T] {
        let entry = self.find(name).ok().and_then(|at| self.0.get(at));
        entry.map_or(T::ABSENT, |(_, meanings)| meanings)
    }

    pub(super) fn set(&mut self, name: &str, meanings: Vec<T>) {
        if self.get(name) == meanings {
            return;
        }
        let at = self.find(name);
        let entries = Rc::make_mut(&mut self.0);
        match at {
            Err(at) => entries.insert(at, (name.into(), meanings.into())),
            Ok(at) => entries[at].1 = meanings.into(),
        }
    }

    /// Adds a meaning to those of a name.
    pub(super) fn add(&mut self, name: &str, meaning: T) {
        let mut meanings = self.get(name).to_vec();
        if add(&mut meanings, meaning) {
            self.set(name, meanings);
        }
    }

    /// Adds a meaning to those of every name that has one.
    pub(super) fn add_to_all(&mut self, meaning: &T, excepted: &HashSet<String>) {
        for (name, _) in Rc::clone(&self.0).iter() {
            if !excepted.contains(&**name) {
                self.add(name, meaning.clone());
            }
        }
    }

    /// Adds the meanings in another table; `true` if that is more.
    fn join(&mut self, other: &Self) -> bool {
        if Rc::ptr_eq(&self.0, &other.0) {
            return false;
        }
        let is_more = |name: &&Rc<str>| {
            let (before, others) = (self.get(name), other.get(name));
            !std::ptr::eq(before, others) && others.iter().any(|it| !contains(before, it))
        };
        let names = self.0.iter().chain(other.0.iter()).map(|(name, _)| name);
        let names: Vec<Rc<str>> = names.filter(is_more).cloned().collect();
        for name in &names {
            other.get(name).iter().for_each(|meaning| self.add(name, meaning.clone()));
        }
        !names.is_empty()
    }

    /// Gives up on the names whose meanings are not those of an earlier table.
    fn widen(&mut self, before: &Self) {
        for (name, meanings) in Rc::clone(&self.0).iter() {
            if **meanings != *before.get(name) {
                self.set(name, anything());
            }
        }
    }
}

/// Returns `true` if a meaning is among some, or if these are any.
fn contains<T: Meaning>(meanings: &[T], meaning: &T) -> bool {
    let is_anything =
        || matches!(meanings, [first, rest @ ..] if first.is_unknown() && rest == T::ABSENT);
    meanings.contains(meaning) || is_anything()
}

/// Adds a meaning; at the limit, only the unknown one is left.
fn add<T: Meaning>(meanings: &mut Vec<T>, meaning: T) -> bool {
    if contains(meanings, &meaning) {
        return false;
    }
    match meanings.len() < MAX_VALUES {
        true => meanings.push(meaning),
        false => *meanings = anything(),
    }
    true
}

/// Returns the meanings of a name of which nothing is known.
fn anything<T: Meaning>() -> Vec<T> {
    std::iter::once(T::unknown()).chain(T::ABSENT.iter().cloned()).collect()
}

/// All that is possible at a point of a text.
#[derive(Debug, Clone, Default)]
pub(super) struct State {
    pub(super) variables: Table<Value>,
    pub(super) functions: Table<Definition>,
    /// Aliases; `None` for a name that is none.
    pub(super) aliases: Table<Option<String>>,
    /// Variables that are exported for certain.
    pub(super) exported: Rc<HashSet<String>>,
    /// Working directories; `None` for an unknown one.
    pub(super) directories: Rc<Vec<Option<Arc<str>>>>,
    /// Lists of positional parameters; `None` for an unknown one.
    pub(super) parameters: Rc<Vec<Option<Vec<Argument>>>>,
    /// `true` if `exec` may have replaced the standard input.
    pub(super) has_other_input: bool,
    /// `true` if a command that fails ends the shell for certain.
    pub(super) ends_on_failure: bool,
    /// `true` behind `exit` and the like.
    pub(super) is_dead: bool,
}

impl State {
    /// Adds what is possible in another state; `true` if that is more.
    pub(super) fn join(&mut self, other: &Self) -> bool {
        if other.is_dead {
            return false;
        }
        if self.is_dead {
            *self = other.clone();
            return true;
        }
        let mut has_changed = self.variables.join(&other.variables);
        has_changed |= self.functions.join(&other.functions);
        has_changed |= self.aliases.join(&other.aliases);
        if !Rc::ptr_eq(&self.exported, &other.exported) && !self.exported.is_subset(&other.exported)
        {
            Rc::make_mut(&mut self.exported).retain(|name| other.exported.contains(name));
            has_changed = true;
        }
        has_changed |= join_lists(&mut self.directories, &other.directories);
        has_changed |= join_lists(&mut self.parameters, &other.parameters);
        has_changed |= other.has_other_input && !self.has_other_input;
        has_changed |= self.ends_on_failure && !other.ends_on_failure;
        self.has_other_input |= other.has_other_input;
        self.ends_on_failure &= other.ends_on_failure;
        has_changed
    }

    /// Gives up on what is not as in an earlier state.
    pub(super) fn widen(&mut self, before: &Self) {
        self.variables.widen(&before.variables);
        self.aliases.widen(&before.aliases);
        self.functions.widen(&before.functions);
        if self.directories != before.directories {
            self.directories = Rc::new(vec![None]);
        }
        if self.parameters != before.parameters {
            self.parameters = Rc::new(vec![None]);
        }
    }
}

fn join_lists<T: Clone + PartialEq>(
    list: &mut Rc<Vec<Option<T>>>,
    other: &Rc<Vec<Option<T>>>,
) -> bool {
    if Rc::ptr_eq(list, other) {
        return false;
    }
    let mut has_changed = false;
    for value in other.iter() {
        if !list.contains(value) {
            has_changed = true;
            let values = Rc::make_mut(list);
            match values.len() < MAX_VALUES {
                true => values.push(value.clone()),
                false => *values = vec![None],
            }
        }
    }
    has_changed
}
