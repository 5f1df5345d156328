//! Globs of `pathPattern`: the directories they begin in, and the paths they match.

use std::collections::BTreeMap;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use super::class::without_slash;
use super::path;

/// The maximum length of one glob, and of all globs of one matcher together, in bytes.
const MAX_GLOB: usize = 4 * 1024;
const MAX_GLOBS: usize = 32 * 1024;
/// The limit on the work for one input: bytes of globs times bytes of paths. Globs with many
/// wildcards take about a second at this limit.
const WORK_LIMIT: usize = 64 << 20;
/// The maximum depth of nested braces, since compiling them recurses.
const MAX_BRACES: usize = 8;

/// The directory in which a glob begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Anchor {
    /// None: the glob has no `/`, and is compared with the last component.
    Name,
    /// The root.
    Root,
    /// The home directory.
    Home,
    /// The directory this many levels above the working directory.
    Above(usize),
}

/// The directories in which relative paths and globs begin. All are absolute and normalized.
#[derive(Debug, Clone)]
pub(super) struct Directories {
    pub(super) cwd: String,
    /// The project. Relative globs begin there too, since an agent may work in a subdirectory.
    pub(super) project: String,
    pub(super) home: Option<String>,
}

impl Directories {
    /// Returns the project if the agent works in it, else the working directory.
    fn outermost(&self) -> &str {
        match path::strip_directory(&self.cwd, &self.project) {
            Some(_) => &self.project,
            None => &self.cwd,
        }
    }
}

/// A path of an input, in the forms that tools may give it.
#[derive(Debug)]
pub(super) struct PathForms {
    given: String,
    absolute: String,
    pub(super) normalized: String,
}

impl PathForms {
    pub(super) fn of(given: &str, directories: &Directories) -> Self {
        let given = path::with_slashes(given).into_owned();
        let absolute = path::absolute(&given, &directories.cwd);
        let normalized = path::normalized(&absolute);
        Self { given, absolute, normalized }
    }

    /// Returns the path with `~` as the home directory; `None` for a path without `~`, and an error
    /// if the directory that `~` stands for is unknown.
    pub(super) fn expand_tilde(given: &str, directories: &Directories) -> Result<Option<Self>, ()> {
        let given = path::with_slashes(given);
        let Some(rest) = given.strip_prefix('~') else { return Ok(None) };
        match &directories.home {
            Some(home) if rest.is_empty() || rest.starts_with('/') => {
                Ok(Some(Self::of(&format!("{home}{rest}"), directories)))
            }
            _ => Err(()),
        }
    }
}

/// The forms of a path that are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compared {
    /// Any of them.
    Any,
    /// Only the normalized one.
    Normalized,
}

/// Globs, grouped by the directory in which they begin.
#[derive(Debug, Clone, Default)]
pub(super) struct Globs {
    sets: Vec<(Anchor, GlobSet)>,
}

impl Globs {
    pub(super) fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// Returns `true` if all are compared with the last component only.
    pub(super) fn are_names(&self) -> bool {
        self.sets.iter().all(|(anchor, _)| *anchor == Anchor::Name)
    }

    /// Returns `true` if one matches a path. A glob that begins in an unknown home directory gives
    /// `unknown`.
    pub(super) fn match_path(
        &self,
        forms: &PathForms,
        compared: Compared,
        directories: &Directories,
        unknown: bool,
    ) -> bool {
        let matches_forms = |set: &GlobSet, part: &dyn Fn(&str) -> Option<String>, other: &str| {
            let in_case = |part: String| match path::IGNORES_CASE && compared == Compared::Any {
                true => part.to_lowercase(),
                false => part,
            };
            let matches = |text: &str| part(text).is_some_and(|part| set.is_match(in_case(part)));
            matches(&forms.normalized) || (compared == Compared::Any && matches(other))
        };
        let below = |set: &GlobSet, base: &str| {
            matches_forms(
                set,
                &|text| path::strip_directory(text, base).map(str::to_owned),
                &forms.absolute,
            )
        };
        self.sets.iter().any(|(anchor, set)| match anchor {
            Anchor::Name => {
                matches_forms(set, &|text| Some(path::name(text).to_owned()), &forms.given)
            }
            Anchor::Root => matches_forms(set, &|text| Some(text.to_owned()), &forms.absolute),
            Anchor::Home => match &directories.home {
                Some(home) => below(set, home),
                None => unknown,
            },
            Anchor::Above(levels) => {
                let below_base = |base: &str| below(set, path::ancestor(base, *levels));
                match compared {
                    Compared::Any => {
                        below_base(&directories.cwd) || below_base(&directories.project)
                    }
                    // Exclusions count from the outermost directory on.
                    Compared::Normalized => below_base(directories.outermost()),
                }
            }
        })
    }
}

/// A compiled `pathPattern`.
#[derive(Debug, Clone)]
pub(super) struct PathGlobs {
    /// The globs of wanted paths; without one, all paths are wanted.
    pub(super) wanted: Globs,
    /// The globs of excluded paths, written with a leading `!`.
    pub(super) excluded: Globs,
    /// The maximum number of bytes of paths that they are compared with.
    pub(super) max_bytes: usize,
}

impl PathGlobs {
    /// Compiles globs.
    ///
    /// # Errors
    /// Returns the index of a glob that cannot be used, and the reason.
    pub(super) fn compile(globs: &[String]) -> Result<Self, (usize, String)> {
        let (mut wanted, mut excluded) = (BTreeMap::new(), BTreeMap::new());
        let mut size = 0;
        for (index, written) in globs.iter().enumerate() {
            let with_index = |reason: String| (index, reason);
            size += written.len();
            if size > MAX_GLOBS {
                return Err(with_index(format!(
                    "all globs together are longer than {MAX_GLOBS} bytes"
                )));
            }
            let (builders, glob) = match written.strip_prefix('!') {
                Some(glob) => (&mut excluded, glob),
                None => (&mut wanted, written.as_str()),
            };
            let Parsed { anchor, glob } = Parsed::of(glob).map_err(with_index)?;
            let is_excluded = written.starts_with('!');
            if is_excluded && anchor == Anchor::Name && glob.bytes().all(|byte| byte == b'*') {
                let reason = "it excludes every path; `!./**` is for paths outside of `cwd`";
                return Err(with_index(reason.to_owned()));
            }
            let builder: &mut (usize, GlobSetBuilder) =
                builders.entry(anchor).or_insert_with(|| (index, GlobSetBuilder::new()));
            // If the content of a directory is wanted, so is the directory: moving or removing it
            // moves or removes all of its content.
            let directory =
                glob.strip_suffix("/**").filter(|prefix| !prefix.is_empty() && !is_excluded);
            for glob in directory.into_iter().chain([&*glob]) {
                // An exclusion of another case is no reason not to ask.
                let glob = match path::IGNORES_CASE && !is_excluded {
                    true => glob.to_lowercase(),
                    false => glob.to_owned(),
                };
                let compiled = GlobBuilder::new(&glob)
                    .literal_separator(true)
                    .backslash_escape(true)
                    .empty_alternates(true)
                    .build()
                    .map_err(|error| with_index(error.kind().to_string()))?;
                builder.1.add(compiled);
            }
        }
        let built = |builders: BTreeMap<Anchor, (usize, GlobSetBuilder)>| {
            let sets = builders.into_iter().map(|(anchor, (index, builder))| {
                let set = builder.build().map_err(|error| (index, error.kind().to_string()))?;
                Ok((anchor, set))
            });
            Ok(Globs { sets: sets.collect::<Result<_, _>>()? })
        };
        let (wanted, excluded) = (built(wanted)?, built(excluded)?);
        Ok(Self { wanted, excluded, max_bytes: WORK_LIMIT / size.max(1) })
    }
}

/// A glob without `.` and `..`, and the directory in which it begins.
#[derive(Debug, PartialEq, Eq)]
struct Parsed {
    anchor: Anchor,
    glob: String,
}

impl Parsed {
    fn of(glob: &str) -> Result<Self, String> {
        let error = |reason: &str| Err(reason.to_owned());
        if glob.is_empty() {
            return error("it is empty");
        }
        if glob.len() > MAX_GLOB {
            return Err(format!("it is longer than {MAX_GLOB} bytes"));
        }
        let Components { list, has_slash } = Components::of(glob)?;
        if !has_slash {
            return match list.as_slice() {
                [name] if name != "." && name != ".." => {
                    Ok(Self { anchor: Anchor::Name, glob: name.clone() })
                }
                _ => error("`.` and `..` are the last component of no path; write a path with `/`"),
            };
        }
        if list.last().is_some_and(String::is_empty) {
            return error("it ends with `/`; write `/**` for all that is in a directory");
        }
        let mut list = list.as_slice();
        let mut anchor = Anchor::Above(0);
        match list {
            [first, rest @ ..] if first.is_empty() => (anchor, list) = (Anchor::Root, rest),
            [first, rest @ ..] if first == "~" => (anchor, list) = (Anchor::Home, rest),
            [first, ..] if first.starts_with('~') => {
                return error("only one's own home directory is known, as `~/`");
            }
            [first, ..] if path::is_absolute(first) => anchor = Anchor::Root,
            _ => {}
        }
        let mut components: Vec<&str> = Vec::new();
        for component in list {
            match component.as_str() {
                "" | "." => {}
                ".." => match (components.pop(), &mut anchor) {
                    (Some(name), _) if name.contains(['*', '?', '[', '{', '\\']) => {
                        return error("`..` stands behind a wildcard");
                    }
                    (Some(_), _) | (None, Anchor::Root) => {}
                    (None, Anchor::Above(levels)) => *levels += 1,
                    (None, _) => return error("`..` leads out of the home directory"),
                },
                name => components.push(name),
            }
        }
        let root = match anchor {
            Anchor::Root if components.first().is_none_or(|first| !path::is_absolute(first)) => "/",
            _ => "",
        };
        Ok(Self { anchor, glob: format!("{root}{}", components.join("/")) })
    }
}

/// A glob split at each `/` outside braces.
struct Components {
    list: Vec<String>,
    /// `true` if there is a `/`, in braces or not.
    has_slash: bool,
}

impl Components {
    fn of(glob: &str) -> Result<Self, String> {
        let mut list = vec![String::new()];
        let (mut has_slash, mut braces) = (false, 0_usize);
        // The number of dots in the current component in braces; `None` after any other character.
        let mut dots = Some(0_usize);
        let mut characters = glob.chars();
        let current = |list: &mut Vec<String>, text: char| {
            if let Some(last) = list.last_mut() {
                last.push(text);
            }
        };
        while let Some(character) = characters.next() {
            let ends_component = matches!(character, '/' | ',' | '}');
            if braces > 0 && ends_component && matches!(dots, Some(1 | 2)) {
                return Err("`.` or `..` stands in braces; write one glob for each".to_owned());
            }
            match character {
                '\\' => {
                    current(&mut list, character);
                    if let Some(escaped) = characters.next() {
                        if escaped == '/' {
                            return Err("a `/` stands behind a backslash".to_owned());
                        }
                        current(&mut list, escaped);
                    }
                    dots = None;
                }
                '[' => {
                    dots = None;
                    let set = without_slash(&mut characters);
                    set.chars().for_each(|character| current(&mut list, character));
                }
                '{' => {
                    braces += 1;
                    if braces > MAX_BRACES {
                        return Err(format!("braces stand in braces more than {MAX_BRACES} deep"));
                    }
                    current(&mut list, character);
                    dots = Some(0);
                }
                '}' => {
                    braces = braces.saturating_sub(1);
                    current(&mut list, character);
                    dots = None;
                }
                ',' if braces > 0 => {
                    current(&mut list, character);
                    dots = Some(0);
                }
                '/' => {
                    has_slash = true;
                    if braces == 0 {
                        list.push(String::new());
                    } else if dots == Some(0) {
                        let reason =
                            "an alternative in braces begins with `/`; write one glob for each";
                        return Err(reason.to_owned());
                    } else {
                        current(&mut list, character);
                    }
                    dots = Some(0);
                }
                '.' => {
                    current(&mut list, character);
                    dots = dots.map(|dots| dots + 1);
                }
                other => {
                    current(&mut list, other);
                    dots = None;
                }
            }
        }
        Ok(Self { list, has_slash })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn directories() -> Directories {
        Directories {
            cwd: "/work/app".to_owned(),
            project: "/work/app".to_owned(),
            home: Some("/home/me".to_owned()),
        }
    }

    fn wants(glob: &str, path: &str) -> bool {
        let globs = PathGlobs::compile(&[glob.to_owned()]).unwrap();
        let directories = directories();
        let forms = PathForms::of(path, &directories);
        match globs.wanted.is_empty() {
            false => globs.wanted.match_path(&forms, Compared::Any, &directories, true),
            true => !globs.excluded.match_path(&forms, Compared::Normalized, &directories, false),
        }
    }

    #[test]
    fn globs_match_paths_however_they_are_written() {
        for (glob, path, expected) in [
            ("*.env", ".env", true),
            ("*.env", "a/b/x.env", true),
            ("*.env", "/etc/x.env", true),
            ("*.env", "./.env", true),
            ("*.env", "a/../.env", true),
            ("*.env", "a/.env/.", true),
            ("*.env", "a/.env/", true),
            ("*.env", ".env/x", false),
            ("*.env", ".ENV", false),
            (".env", "x.env", false),
            ("*.{env,key}", "a/x.key", true),
            ("**", "/anywhere", true),
            ("src/**", "src/a/b.rs", true),
            ("./src/**", "src/a.rs", true),
            ("src/**", "/work/app/src/a.rs", true),
            ("src/**", "/work/app/x/../src/a.rs", true),
            ("src/**", "lib/../src/a.rs", true),
            ("src/**", "/work/src/a.rs", false),
            ("src/**", "other/src/a.rs", false),
            ("src/**", "srcs/a.rs", false),
            ("src/**", "src", true),
            ("src/**", "./src/", true),
            ("src/**", "srcs", false),
            ("/etc/**", "/etc", true),
            ("/etc/**", "/", false),
            ("/**", "/", true),
            ("./**", ".", true),
            ("~/.ssh/**", "/home/me/.ssh", true),
            ("**/secret/**", "a/secret", true),
            ("!src/**", "src", true),
            // The path as given is inside, which is enough for a glob of wanted paths.
            ("src/**", "src/../../etc/passwd", true),
            ("src/*", "src/a/b", false),
            ("**/secret/*", "a/secret/x", true),
            ("**/secret/*", "/work/secret/x", false),
            ("../lib/*", "/work/lib/x", true),
            ("../lib/*", "../lib/x", true),
            ("../lib/*", "lib/x", false),
            ("../../../../x/*", "/x/y", true),
            ("/etc/**", "/etc/passwd", true),
            ("/etc/**", "../../etc/passwd", true),
            ("/etc/**", "etc/passwd", false),
            ("/etc/../etc/./passwd", "/etc/passwd", true),
            ("/{etc,usr}/**", "/usr/bin/x", true),
            ("~/.ssh/*", "/home/me/.ssh/id", true),
            ("~/.ssh/*", "/home/you/.ssh/id", false),
            ("data/[!-_]*", "data/README", true),
            ("[!-x]*.key", "Secret.key", true),
            ("!tmp/a[ -~]*", "tmp/a/secret", true),
            ("a[!b]c", "abc", false),
            ("x/a[!b]c", "x/a/c", false),
            ("x/a[!]]c", "x/a/c", false),
            ("x/a[!]]c", "x/adc", true),
            ("a?c/x", "a/c/x", false),
            ("foo{,.bak}", "foo", true),
            ("\\!important", "!important", true),
            ("a\\*/b", "a*/b", true),
            ("!src/**", "src/a.rs", false),
            ("!src/**", "src/../../etc/passwd", true),
            ("!src/**", "x/../src/a.rs", false),
            ("!src/**", "src/../src/a.rs", false),
            ("!src/**", "/work/app/src/a", false),
            ("!./**", "../x", true),
            ("!./**", "x", false),
            ("!**/*", "/etc/passwd", true),
            ("!**/*", "x", false),
            ("!*.md", "a.md", false),
            ("!*.md", "a.md/../b.rs", true),
        ] {
            assert_eq!(wants(glob, path), expected, "{glob} of {path}");
        }
    }

    #[test]
    fn what_is_no_glob_is_refused_with_its_reason() {
        for (glob, reason) in [
            ("", "empty"),
            ("!", "empty"),
            ("a[b", "unclosed"),
            ("a{b", "unclosed"),
            ("a}b", "alternate"),
            ("src/", "ends with `/`"),
            ("a\\/b", "behind a backslash"),
            ("{a,b\\/c}", "behind a backslash"),
            ("/", "ends with `/`"),
            (".", "last component"),
            ("..", "last component"),
            ("a*/../b", "behind a wildcard"),
            ("{../a,b}/c", "in braces"),
            ("a/{./x,b}", "in braces"),
            ("{/a,/b}/c", "begins with `/`"),
            ("~you/x", "home directory"),
            ("~/../x", "home directory"),
            ("!**", "excludes every path"),
            ("!*", "excludes every path"),
            ("{{{{{{{{{a}}}}}}}}}", "deep"),
        ] {
            let (_, error) = PathGlobs::compile(&[glob.to_owned()]).unwrap_err();
            assert!(error.contains(reason), "{glob}: {error}");
        }
        let long = "a".repeat(MAX_GLOB + 1);
        assert_eq!(PathGlobs::compile(&["a".to_owned(), long]).unwrap_err().0, 1);
    }

    #[test]
    fn a_home_directory_that_is_not_known_is_as_is_said() {
        let globs = PathGlobs::compile(&["~/x".to_owned()]).unwrap();
        let directories = Directories { home: None, ..directories() };
        let forms = PathForms::of("y", &directories);
        for unknown in [true, false] {
            let matched = globs.wanted.match_path(&forms, Compared::Any, &directories, unknown);
            assert_eq!(matched, unknown);
        }
        assert!(PathForms::expand_tilde("~/x", &directories).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_glob_and_any_path_get_through(
            glob in "([a-c.~]|/|\\*|\\?|\\{|\\}|,|\\[|\\]|!|\\\\|\\.\\.|\\PC){0,14}",
            path in "([a-c.~]|/|\\.\\.|\\PC){0,12}",
        ) {
            let directories = directories();
            if let Ok(globs) = PathGlobs::compile(&[glob]) {
                let forms = PathForms::of(&path, &directories);
                globs.wanted.match_path(&forms, Compared::Any, &directories, true);
                globs.excluded.match_path(&forms, Compared::Normalized, &directories, false);
            }
            let _ = PathForms::expand_tilde(&path, &directories);
        }

        #[test]
        fn a_path_that_leads_out_of_a_directory_is_not_in_it(
            steps in prop::collection::vec(prop::sample::select(&["a", "src", "..", ".", "", "b.rs"][..]), 0..9),
            absolute in any::<bool>(),
        ) {
            let path = format!("{}{}", if absolute { "/work/app/" } else { "" }, steps.join("/"));
            // The directory that the path leads to, step by step.
            let mut at = vec!["work", "app"];
            let from_root = path.starts_with('/') && !absolute;
            if from_root {
                at.clear();
            }
            for step in &steps {
                match *step {
                    ".." => drop(at.pop()),
                    "." | "" => {}
                    name => at.push(name),
                }
            }
            let inside = at.len() > 3 && at[..3] == ["work", "app", "src"];
            prop_assert_eq!(wants("!src/**", &path), !inside, "{} is {:?}", path, at);
        }
    }
}
