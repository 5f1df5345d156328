//! Patterns of paths: `**` for any number of components, `*` and `?` within one; `~/`, `{project}`
//! and `{temp}` stand for directories, and `!` excludes.

use std::ops::Range;

use hook_shell::glob_matches;
use hook_shell::invocations::{Access, Invocation, UNKNOWN};

use crate::by_name::ByName;
use crate::directories::Directories;
use crate::words::WordPattern;

/// Patterns of paths, of which some exclude.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PathPatterns {
    /// The patterns by a name that all of their paths have.
    named: ByName<PathPattern>,
    unnamed: Vec<PathPattern>,
    /// The parts of the patterns up to each name that others follow, by that.
    folders: ByName<PathPattern>,
    excluded: Vec<PathPattern>,
}

/// The directory in which a pattern begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Base {
    Root,
    Home,
    Project,
    Temp,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct PathPattern {
    base: Base,
    components: Vec<Component>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Component {
    /// `**`
    Any,
    One(WordPattern),
}

impl PathPatterns {
    /// Parses patterns; the error says what is wrong with one of them.
    pub(crate) fn parse(patterns: &[String]) -> Result<Self, String> {
        if patterns.is_empty() {
            return Err("there must be a pattern".to_owned());
        }
        let (mut named, mut unnamed, mut excluded) = (Vec::new(), Vec::new(), Vec::new());
        for pattern in patterns {
            let (is_excluded, text) = match pattern.strip_prefix('!') {
                Some(text) => (true, text),
                None => (false, pattern.as_str()),
            };
            for text in alternatives(text)? {
                let pattern = PathPattern::parse(&text)?;
                match pattern.name().map(Box::from) {
                    _ if is_excluded => excluded.push(pattern),
                    Some(name) => named.push((name, pattern)),
                    None => unnamed.push(pattern),
                }
            }
        }
        let wanted = named.iter().map(|(_, pattern)| pattern).chain(&unnamed);
        let folders = wanted.flat_map(PathPattern::folders).collect();
        Ok(Self { named: named.into_iter().collect(), unnamed, folders, excluded })
    }

    /// Returns `true` if there are patterns that only exclude.
    fn only_excludes(&self) -> bool {
        self.unnamed.is_empty() && self.named.is_empty()
    }

    /// Returns the patterns that may match a path: most have a name, and most paths do not have it.
    fn candidates<'p>(&'p self, path: &'p SplitPath) -> impl Iterator<Item = &'p PathPattern> {
        self.unnamed.iter().chain(self.named.candidates(path.names().iter(), !path.is_pattern))
    }

    /// Returns `true` if a pattern names something below a path, whose last component it names.
    fn is_above(&self, path: &SplitPath) -> bool {
        let folders = path.names().iter().last().map_or(&[][..], |last| self.folders.get(last));
        folders.iter().any(|(_, folder)| {
            path.behind(folder.base).is_some_and(|rest| {
                !rest.is_empty() && matches(&folder.components, rest, Comparison::Must)
            })
        })
    }

    /// Returns `true` if a file matches that a program of a command uses.
    pub(crate) fn matches_access(
        &self,
        access: Access,
        path: &SplitPath,
        invocation: &Invocation,
    ) -> bool {
        const WHOLE: [&str; 12] = [
            "rm", "rmdir", "mv", "cp", "chmod", "chown", "chgrp", "rsync", "ln", "shred", "find",
            "trash",
        ];
        // On another machine nothing tells what is inside of a project.
        if invocation.is_remote && self.only_excludes() {
            return false;
        }
        // Whoever moves a folder moves what is in it.
        let is_whole =
            || path.is_absolute && access == Access::Write && WHOLE.contains(&invocation.program());
        self.matches(path) || is_whole() && self.is_above(path)
    }

    /// Returns `true` if a path is one of a person's or a project's files that are named. Programs get
    /// names of files of the system all the time.
    pub(crate) fn guards(&self, path: &SplitPath, invocation: &Invocation) -> bool {
        let is_of_system = |pattern: &PathPattern| {
            pattern.base == Base::Root && pattern.components.first() != Some(&Component::Any)
        };
        !invocation.is_remote
            && path.is_absolute
            && self.candidates(path).any(|pattern| !is_of_system(pattern) && pattern.matches(path))
            && !self.excluded.iter().any(|pattern| pattern.excludes(path))
    }

    /// Returns `true` if a path matches. A path that is not known matches where only exclusions are
    /// given, since nothing shows that it is excluded.
    pub(crate) fn matches(&self, path: &SplitPath) -> bool {
        let is_wanted = self.only_excludes()
            || path.is_absolute && self.candidates(path).any(|pattern| pattern.matches(path));
        is_wanted
            && (!path.is_absolute || !self.excluded.iter().any(|pattern| pattern.excludes(path)))
    }
}

/// A path, split once for all patterns that it is compared with.
#[derive(Debug, Clone)]
pub(crate) struct SplitPath {
    text: Box<str>,
    /// The ranges of the components.
    components: Vec<Range<usize>>,
    is_absolute: bool,
    /// `true` if it may stand for several names.
    is_pattern: bool,
    /// The number of components of the directories that it is in.
    in_home: Option<usize>,
    in_project: Option<usize>,
    in_temp: Option<usize>,
}

/// Components of a path.
#[derive(Debug, Clone, Copy)]
struct Names<'p> {
    text: &'p str,
    ranges: &'p [Range<usize>],
}

impl<'p> Names<'p> {
    fn get(self, index: usize) -> Option<&'p str> {
        self.text.get(self.ranges.get(index)?.clone())
    }

    fn is_empty(self) -> bool {
        self.ranges.is_empty()
    }

    fn iter(self) -> impl ExactSizeIterator<Item = &'p str> {
        self.ranges.iter().map(move |range| self.text.get(range.clone()).unwrap_or_default())
    }
}

impl SplitPath {
    pub(crate) fn new(path: &str, directories: &Directories) -> Self {
        let mut begin = 0;
        let components = path.split('/').map(|component| {
            begin += component.len() + 1;
            begin - 1 - component.len()..begin - 1
        });
        let components: Vec<_> = components.filter(|component| !component.is_empty()).collect();
        let names = Names { text: path, ranges: &components };
        let below = |directory: &str| {
            let mut length = 0;
            for component in split(directory) {
                names.get(length).filter(|found| *found == component)?;
                length += 1;
            }
            Some(length)
        };
        let (in_home, in_project) = (below(directories.home()), below(directories.project()));
        // A home or project that lies there is not temporary, nor is a folder around it.
        let is_around = |directory: &str| {
            let mut inside = split(directory);
            names.iter().all(|component| {
                inside
                    .next()
                    .is_some_and(|name| name == component || component.contains(['*', '?']))
            })
        };
        let in_temp =
            directories.temp().iter().find_map(|directory| below(directory)).filter(|_| {
                in_home.is_none()
                    && !is_around(directories.home())
                    && !is_around(directories.project())
            });
        let is_absolute = path.starts_with('/');
        let is_pattern = path.contains(['*', '?', '[', UNKNOWN]);
        let text = path.into();
        Self { text, components, is_absolute, is_pattern, in_home, in_project, in_temp }
    }

    fn names(&self) -> Names<'_> {
        Names { text: &self.text, ranges: &self.components }
    }

    /// Returns the components behind a directory.
    fn behind(&self, base: Base) -> Option<Names<'_>> {
        let length = match base {
            Base::Root => 0,
            Base::Home => self.in_home?,
            Base::Project => self.in_project?,
            Base::Temp => self.in_temp?,
        };
        Some(Names { text: &self.text, ranges: self.components.get(length..)? })
    }
}

fn split(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|component| !component.is_empty())
}

/// Expands braces.
fn alternatives(text: &str) -> Result<Vec<String>, String> {
    let mut rest = vec![text.to_owned()];
    let mut done = Vec::new();
    while let Some(text) = rest.pop() {
        if done.len() + rest.len() > 64 {
            return Err(format!("`{text}` has too many alternatives"));
        }
        let open = text.char_indices().find(|(at, character)| {
            *character == '{'
                && !["{project}", "{temp}"]
                    .iter()
                    .any(|base| text.get(*at..).is_some_and(|rest| rest.starts_with(base)))
        });
        let Some((open, _)) = open else {
            done.push(text);
            continue;
        };
        let Some(length) = text.get(open..).and_then(|rest| rest.find('}')) else {
            return Err(format!("the brace in `{text}` is not closed"));
        };
        let inside = text.get(open + 1..open + length).unwrap_or_default();
        for alternative in inside.split(',') {
            let (before, after) = (text.get(..open), text.get(open + length + 1..));
            rest.push(format!(
                "{}{alternative}{}",
                before.unwrap_or_default(),
                after.unwrap_or_default()
            ));
        }
    }
    Ok(done)
}

impl PathPattern {
    fn parse(text: &str) -> Result<Self, String> {
        let (base, rest) = match text {
            _ if text.is_empty() => return Err("a pattern is empty".to_owned()),
            _ if text.starts_with("{project}") => {
                (Base::Project, text.trim_start_matches("{project}"))
            }
            _ if text.starts_with("{temp}") => (Base::Temp, text.trim_start_matches("{temp}")),
            _ if text == "~" || text.starts_with("~/") => (Base::Home, &text[1..]),
            _ if text.starts_with('/') => (Base::Root, text),
            // Anywhere, as in a `.gitignore`.
            _ => (Base::Root, text),
        };
        let mut components = Vec::new();
        if base == Base::Root && !text.starts_with('/') {
            components.push(Component::Any);
        }
        for component in
            rest.split('/').filter(|component| !component.is_empty() && *component != ".")
        {
            match component {
                ".." => return Err(format!("`{text}` goes up with `..`")),
                "**" if components.last() == Some(&Component::Any) => {}
                "**" => components.push(Component::Any),
                _ if component.contains('[') && !component.contains(']') => {
                    return Err(format!("the `[` in `{text}` is not closed"));
                }
                _ => components.push(Component::One(WordPattern::new(component))),
            }
        }
        Ok(Self { base, components })
    }

    /// Returns the parts up to each name that something follows.
    fn folders(&self) -> impl Iterator<Item = (Box<str>, Self)> {
        let before_last = self.components.len().saturating_sub(1);
        let folders = self.components.iter().take(before_last).enumerate();
        folders.filter_map(|(index, component)| {
            let components = self.components.get(..=index)?.to_vec();
            Some((component.name()?.into(), Self { base: self.base, components }))
        })
    }

    /// Returns the last name, which all paths have that match.
    fn name(&self) -> Option<&str> {
        self.components.iter().rev().find_map(Component::name)
    }

    fn matches(&self, path: &SplitPath) -> bool {
        self.matches_as(path, Comparison::May)
    }

    /// Excluding wants certainty: something unknown is not excluded by a name.
    fn excludes(&self, path: &SplitPath) -> bool {
        self.matches_as(path, Comparison::Must)
    }

    fn matches_as(&self, path: &SplitPath, comparison: Comparison) -> bool {
        let comparison = if path.is_pattern { comparison } else { Comparison::Must };
        path.behind(self.base).is_some_and(|rest| matches(&self.components, rest, comparison))
    }
}

impl Component {
    fn name(&self) -> Option<&str> {
        match self {
            Self::One(word) => word.literal(),
            Self::Any => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    /// Patterns of the shell may stand for a name.
    May,
    Must,
}

fn matches(pattern: &[Component], path: Names<'_>, comparison: Comparison) -> bool {
    let (mut at, mut read, mut last) = (0, 0, None);
    while let Some(component) = path.get(read) {
        match pattern.get(at) {
            Some(Component::Any) => {
                last = Some((at, read));
                at += 1;
            }
            Some(Component::One(word)) if is_same(word, component, comparison) => {
                at += 1;
                read += 1;
            }
            _ => match last {
                Some((star, begun)) => {
                    at = star + 1;
                    read = begun + 1;
                    last = Some((star, read));
                }
                None => return false,
            },
        }
    }
    pattern.iter().skip(at).all(|rest| *rest == Component::Any)
}

fn is_same(word: &WordPattern, component: &str, comparison: Comparison) -> bool {
    if word.matches(component) {
        return true;
    }
    if comparison == Comparison::Must || !component.contains(['*', '?', '[', UNKNOWN]) {
        return false;
    }
    // A pattern of the shell, or a name of which a part is known.
    let is_all_unknown =
        component.chars().all(|character| character == UNKNOWN || character == '*');
    if is_all_unknown {
        return false;
    }
    let shell: Vec<char> = component
        .chars()
        .map(|character| if character == UNKNOWN { '*' } else { character })
        .collect();
    match word.literal() {
        Some(literal) => glob_matches(&shell, literal),
        None => word.matches(&component.replace(['*', '?', '[', UNKNOWN], "")),
    }
}
