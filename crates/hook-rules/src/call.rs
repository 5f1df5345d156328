//! Calls, with their commands as they were read for all rules.

use std::borrow::Cow;

use hook_shell::invocations::{
    Argument, FileAccess, Invocation, Opaque, Reading, UNKNOWN, made_links, read,
};

use crate::directories::Directories;
use crate::links::Links;
use crate::narrowing::CalledTool;
use crate::paths::SplitPath;

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
pub struct Commands(pub(crate) Vec<ReadCommand>);

#[derive(Debug, Clone)]
pub(crate) struct ReadCommand {
    pub(crate) reading: Reading,
    /// For each invocation.
    pub(crate) facts: Vec<Facts>,
}

/// The facts about an invocation that all rules are compared with.
#[derive(Debug, Clone)]
pub(crate) struct Facts {
    /// The name that the program was called by, if it is known by another.
    pub(crate) called: Option<Box<str>>,
    /// The paths of its files, each with the file's index. A file has several behind links.
    paths: Vec<(usize, SplitPath)>,
    /// `true` if a part of an argument is not known.
    pub(crate) has_unknown: bool,
    /// `true` if it only asks for help.
    pub(crate) asks_for_help: bool,
    /// `true` if an argument may be a URL.
    pub(crate) has_url: bool,
}

impl Facts {
    /// Returns the files with their paths.
    pub(crate) fn files<'f>(
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
        let made = if links.are_made() { made_links(invocation) } else { Vec::new() };
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
        let called = invocation.called_name();
        Self {
            called: (called != invocation.program()).then(|| called.into()),
            paths,
            has_unknown: arguments.iter().any(|argument| argument.text.contains(UNKNOWN)),
            has_url: arguments.iter().any(|argument| argument.text.contains("://")),
            asks_for_help: arguments.len() <= 3
                && arguments.iter().take_while(|argument| argument.text != "--").any(is_help),
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
