//! What is possible at a point of a text: values of variables, directories, functions.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use super::{Argument, UNKNOWN};
use crate::script::Command;

/// The maximum number of values of a variable.
pub(super) const MAX_VALUES: usize = 16;

/// One of several things that a name may mean.
pub(super) trait Meaning: Clone + PartialEq + 'static {
    /// The one meaning of a name that the text does not mention.
    const ABSENT: &'static [Self];

    /// Returns the meaning that stands for any.
    fn unknown() -> Self;
}

/// A value of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    /// That of the environment.
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
}

impl Meaning for Option<String> {
    const ABSENT: &'static [Self] = &[None];

    fn unknown() -> Self {
        Some(UNKNOWN.to_string())
    }
}

/// The possible meanings of names. Copies share the table until one changes.
#[derive(Debug, Clone)]
pub(super) struct Table<T>(Rc<HashMap<String, Vec<T>>>);

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self(Rc::default())
    }
}

impl<T: Meaning> Table<T> {
    pub(super) fn get(&self, name: &str) -> &[T] {
        self.0.get(name).map_or(T::ABSENT, Vec::as_slice)
    }

    pub(super) fn set(&mut self, name: &str, meanings: Vec<T>) {
        if self.get(name) != meanings {
            Rc::make_mut(&mut self.0).insert(name.to_owned(), meanings);
        }
    }

    /// Adds a meaning to those of a name.
    pub(super) fn add(&mut self, name: &str, meaning: T) {
        let mut meanings = self.get(name).to_vec();
        add(&mut meanings, meaning);
        self.set(name, meanings);
    }

    /// Adds a meaning to those of every name that has one.
    pub(super) fn add_to_all(&mut self, meaning: &T, excepted: &HashSet<String>) {
        for name in self.names() {
            if !excepted.contains(&name) {
                self.add(&name, meaning.clone());
            }
        }
    }

    fn names(&self) -> Vec<String> {
        self.0.keys().cloned().collect()
    }

    fn join(&mut self, other: &Self) -> bool {
        if Rc::ptr_eq(&self.0, &other.0) {
            return false;
        }
        let mut names = self.names();
        names.extend(other.0.keys().filter(|name| !self.0.contains_key(*name)).cloned());
        let mut has_changed = false;
        for name in names {
            let mut meanings = self.get(&name).to_vec();
            let mut is_new = false;
            for meaning in other.get(&name) {
                is_new |= add(&mut meanings, meaning.clone());
            }
            if is_new {
                self.set(&name, meanings);
                has_changed = true;
            }
        }
        has_changed
    }

    /// Gives up on the names whose meanings are not those of an earlier table.
    fn widen(&mut self, before: &Self) {
        for name in self.names() {
            if self.get(&name) != before.get(&name) {
                self.set(&name, anything());
            }
        }
    }
}

/// Adds a meaning; at the limit, only the unknown one is left.
fn add<T: Meaning>(meanings: &mut Vec<T>, meaning: T) -> bool {
    if meanings.contains(&meaning) || *meanings == anything::<T>() {
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

/// What is possible at a point of a text.
#[derive(Debug, Clone, Default)]
pub(super) struct State {
    pub(super) variables: Table<Value>,
    pub(super) functions: Table<Definition>,
    /// Aliases; `None` for a name that is none.
    pub(super) aliases: Table<Option<String>>,
    /// Variables that are exported for certain.
    pub(super) exported: Rc<HashSet<String>>,
    /// Working directories; `None` for an unknown one.
    pub(super) directories: Rc<Vec<Option<String>>>,
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
