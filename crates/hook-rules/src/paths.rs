//! Patterns of paths: `**` for any number of components, `*` and `?` within one; `~/`, `{project}`
//! and `{temp}` stand for directories, and `!` excludes.

use hook_shell::invocations::{Access, Invocation, UNKNOWN};

use crate::directories::Directories;
use crate::words::{WordPattern, glob_matches};

/// Patterns of paths, of which some exclude.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PathPatterns {
    wanted: Vec<PathPattern>,
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
        let mut parsed = Self::default();
        if patterns.is_empty() {
            return Err("there must be a pattern".to_owned());
        }
        for pattern in patterns {
            let (list, text) = match pattern.strip_prefix('!') {
                Some(text) => (&mut parsed.excluded, text),
                None => (&mut parsed.wanted, pattern.as_str()),
            };
            for text in alternatives(text)? {
                list.push(PathPattern::parse(&text)?);
            }
        }
        Ok(parsed)
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
        if invocation.is_remote && self.wanted.is_empty() {
            return false;
        }
        // Whoever moves a folder moves what is in it.
        let is_whole =
            || path.is_absolute && access == Access::Write && WHOLE.contains(&invocation.program());
        self.matches(path)
            || !self.wanted.is_empty()
                && is_whole()
                && self.wanted.iter().any(|pattern| pattern.is_below(path))
    }

    /// Returns `true` if a path is one of a person's or a project's files that are named. Programs get
    /// names of files of the system all the time.
    pub(crate) fn guards(&self, path: &SplitPath, invocation: &Invocation) -> bool {
        let is_of_system = |pattern: &PathPattern| {
            pattern.base == Base::Root && pattern.components.first() != Some(&Component::Any)
        };
        !invocation.is_remote
            && path.is_absolute
            && self.wanted.iter().any(|pattern| !is_of_system(pattern) && pattern.matches(path))
            && !self.excluded.iter().any(|pattern| pattern.excludes(path))
    }

    /// Returns `true` if a path matches. A path that is not known matches where only exclusions are
    /// given, since nothing shows that it is excluded.
    pub(crate) fn matches(&self, path: &SplitPath) -> bool {
        let is_wanted = self.wanted.is_empty()
            || path.is_absolute && self.wanted.iter().any(|pattern| pattern.matches(path));
        is_wanted
            && (!path.is_absolute || !self.excluded.iter().any(|pattern| pattern.excludes(path)))
    }
}

/// A path, split once for all patterns that it is compared with.
#[derive(Debug, Clone)]
pub(crate) struct SplitPath {
    components: Vec<Box<str>>,
    is_absolute: bool,
    /// Whether it may stand for several names.
    is_pattern: bool,
    /// The number of components of the directories that it is in.
    in_home: Option<usize>,
    in_project: Option<usize>,
    in_temp: Option<usize>,
}

impl SplitPath {
    pub(crate) fn new(path: &str, directories: &Directories) -> Self {
        let components: Vec<Box<str>> = split(path).map(Box::from).collect();
        let below = |directory: &str| {
            let mut length = 0;
            for component in split(directory) {
                if components.get(length).is_none_or(|found| **found != *component) {
                    return None;
                }
                length += 1;
            }
            Some(length)
        };
        let (in_home, in_project) = (below(directories.home()), below(directories.project()));
        // A home or project that lies there is not temporary, nor is a folder around it.
        let is_around = |directory: &str| {
            let mut names = split(directory);
            components.iter().all(|component| {
                names
                    .next()
                    .is_some_and(|name| name == &**component || component.contains(['*', '?']))
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
        Self { components, is_absolute, is_pattern, in_home, in_project, in_temp }
    }

    /// Returns the components behind a directory.
    fn behind(&self, base: Base) -> Option<&[Box<str>]> {
        let length = match base {
            Base::Root => 0,
            Base::Home => self.in_home?,
            Base::Project => self.in_project?,
            Base::Temp => self.in_temp?,
        };
        self.components.get(length..)
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

    fn matches(&self, path: &SplitPath) -> bool {
        self.matches_as(path, Comparison::May)
    }

    /// Excluding wants certainty: something unknown is not excluded by a name.
    fn excludes(&self, path: &SplitPath) -> bool {
        self.matches_as(path, Comparison::Must)
    }

    fn matches_as(&self, path: &SplitPath, comparison: Comparison) -> bool {
        let comparison = if path.is_pattern { comparison } else { Comparison::Must };
        // Most patterns end in a name, by which most paths differ.
        if let (Some(Component::One(word)), Some(last)) =
            (self.components.last(), path.components.last())
            && !is_same(word, last, comparison)
        {
            return false;
        }
        path.behind(self.base).is_some_and(|rest| matches(&self.components, rest, comparison))
    }

    /// Returns `true` if the pattern names something below a path, whose last component it names.
    fn is_below(&self, path: &SplitPath) -> bool {
        let Some(last) = path.components.last() else { return false };
        (1..self.components.len()).rev().any(|length| {
            let (begin, behind) = self.components.split_at(length);
            let names_last = matches!(
                begin.last(),
                Some(Component::One(WordPattern::Literal(name))) if *name == **last
            );
            names_last
                && !behind.is_empty()
                && path
                    .behind(self.base)
                    .is_some_and(|rest| !rest.is_empty() && matches(begin, rest, Comparison::Must))
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    /// Patterns of the shell may stand for a name.
    May,
    Must,
}

fn matches(pattern: &[Component], path: &[Box<str>], comparison: Comparison) -> bool {
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
