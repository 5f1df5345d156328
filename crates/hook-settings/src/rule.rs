//! The rules for settings: one row for each kind of problem, with a stable id.

use std::fmt;

use super::keywords::Severity;

macro_rules! rules {
    ($($rule:ident $id:literal $severity:ident, $about:literal, $help:literal;)+) => {
        /// A kind of problem in settings.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Rule {
            $(#[doc = concat!("`", $id, "`: ", $about, ".")] $rule,)+
        }

        impl Rule {
            /// All rules: first those of the reader, then those of checks of the environment.
            pub const ALL: &'static [Self] = &[$(Self::$rule,)+];

            /// Returns the stable id, in kebab case.
            pub fn id(self) -> &'static str {
                match self {
                    $(Self::$rule => $id,)+
                }
            }

            /// Returns the default severity.
            pub fn severity(self) -> Severity {
                match self {
                    $(Self::$rule => Severity::$severity,)+
                }
            }

            /// Returns a short description of the problem.
            pub fn about(self) -> &'static str {
                match self {
                    $(Self::$rule => $about,)+
                }
            }

            /// Returns the default fix.
            pub fn help(self) -> &'static str {
                match self {
                    $(Self::$rule => $help,)+
                }
            }
        }
    };
}

rules! {
    UnreadableFile "unreadable-file" Error,
        "the file cannot be read, is no regular file, or is longer than 16 MiB",
        "give the name of a settings file that can be read";
    NotJson "not-json" Error,
        "the file is not JSON",
        "fix the syntax here; JSON may have comments and trailing commas";
    WrongType "wrong-type" Error,
        "a value is of another type than it must be",
        "write a value of the type that is expected";
    DuplicateKey "duplicate-key" Warning,
        "a key stands twice in an object",
        "remove one of them";
    UnknownSection "unknown-section" Hint,
        "a top-level key looks like `hooks` or `hooksConfig`, and is neither",
        "rename it, or leave it if it belongs to the agent";
    MisspeltSection "misspelt-section" Error,
        "a top-level key is `hook`, or `hooks` or `hooksConfig` in another case, and is not read",
        "write it as `hooks` or `hooksConfig`";
    UnknownKey "unknown-key" Warning,
        "a key is not known",
        "rename or remove it";
    UnknownEvent "unknown-event" Error,
        "there is no event of that name",
        "use the name of an event, which `hook help events` lists, or declare it under `hooksConfig.events`";
    InvalidEvent "invalid-event" Error,
        "an event under `hooksConfig.events` is not declared as it should be, or is there and means something else",
        "declare it with `matching`, `merge` and `blockMeans`, by a name that no other event has";
    MisplacedKey "misplaced-key" Hint,
        "a key under `hooks` belongs under `hooksConfig`, or beside `hooks`",
        "move it to `hooksConfig`";
    MissingHooks "missing-hooks" Error,
        "a definition has no `hooks`",
        "add `\"hooks\": [...]` to the definition";
    MissingType "missing-type" Error,
        "a hook has no `type`",
        "add `\"type\": \"command\"`";
    UnknownAgent "unknown-agent" Error,
        "`agents` names an agent that is not known",
        "write the word of an agent, such as \"claude\"";
    ForeignSkipped "foreign-skipped" Error,
        "a hook of another agent's is not run, though it would be there",
        "write it as a command, or leave it to its own agent";
    ForeignLost "foreign-lost" Warning,
        "a hook of another agent's does less here than there, or fails",
        "write it as a command, or leave it to its own agent";
    ForeignRefused "foreign-refused" Error,
        "an agent refuses its own settings file, and runs none of the hooks in it",
        "correct what the agent names";
    ForeignUnused "foreign-unused" Hint,
        "something in another agent's settings does nothing there, and nothing here",
        "use a name that the agent knows, or leave it";
    UnknownLanguage "unknown-language" Error,
        "hooks are in a language that is not known here, and are not run",
        "write the name of the agent whose hooks they are";
    UnknownType "unknown-type" Error,
        "a hook has a `type` other than `command`, `worker` and `module`",
        "write `\"type\": \"command\"`";
    WorkerIsCommand "worker-is-command" Hint,
        "a worker's command stands as a command hook, too, and one program is hardly both",
        "leave one of the two: a command answers once and ends, a worker stays and answers calls";
    AsyncGuard "async-guard" Error,
        "a hook with `failBehavior: block` is `async`, which is ignored",
        "remove `async`: a guard has to be waited for";
    AsyncCannotBlock "async-cannot-block" Hint,
        "a hook is `async` on an event that can be blocked, and cannot block it",
        "remove `async` if the hook is to decide";
    MissingCommand "missing-command" Error,
        "a hook has no `command`, or a blank one; or a module no `path`",
        "add `\"command\": \"...\"` with what is to run, or `\"path\": \"...\"` with the module's file";
    RepeatedModule "repeated-module" Warning,
        "a module stands in a file twice, and is loaded once, as it is first",
        "remove one of them";
    ModuleNotLoaded "module-not-loaded" Error,
        "a module that may run cannot be loaded, so that tools are blocked that it may have guarded",
        "fix it, or switch it off with `hook disable`";
    UnusedFile "unused-file" Warning,
        "a file in a folder of hooks can neither be executed nor is it a module",
        "make it executable, move it elsewhere, or give it one of the extensions ts, js and mjs";
    InvalidVariable "invalid-variable" Error,
        "a name or value in `env` cannot be an environment variable",
        "use a name that is not empty and has no `=`, and no NUL anywhere";
    RefusedVariable "refused-variable" Warning,
        "hooks of a project set no variable that says what programs load (`PATH`, `PYTHONPATH`, `NODE_OPTIONS`, …)",
        "name the program and its files by their paths, or set it in the user's settings";
    InvalidNumber "invalid-number" Warning,
        "a number is not a whole one, or out of its range",
        "write a whole number";
    InvalidTimeout "invalid-timeout" Warning,
        "a timeout is no whole number of milliseconds from 1 to 86400000",
        "write whole milliseconds, such as 5000 for five seconds";
    InvalidFailBehavior "invalid-fail-behavior" Error,
        "a `failBehavior` is neither `continue` nor `block`",
        "write \"continue\" or \"block\"";
    InvalidPattern "invalid-pattern" Warning,
        "a matcher is no regular expression, and is compared literally",
        "fix the expression; `*` alone stands for everything, and `.*` in an expression for any text";
    MatcherNeverMatches "matcher-never-matches" Warning,
        "a matcher can match nothing, or hardly anything",
        "leave the matcher out to match everything";
    InvalidMatcher "invalid-matcher" Error,
        "a matcher cannot be read, or a part of one that is an object cannot be used",
        "write a string, or an object of `kind`, `tool`, `toolPattern`, `pathPattern`, `commandPattern`, `agent`, `subagent`, `permissionMode` and `model`";
    UnknownTool "unknown-tool" Warning,
        "a matcher names a tool that no known agent has",
        "leave it as it is if your own agent has such a tool; `kind` asks for what a tool does, whatever it is called";
    TooManyProblems "too-many-problems" Warning,
        "a file has more problems than are listed one by one",
        "fix those that are listed, and check again";
    TrustStore "trust-store" Error,
        "what the user agreed to cannot be read",
        "trust the project's hooks again";
    MatcherIgnored "matcher-ignored" Warning,
        "a matcher is given for an event that has nothing to match",
        "remove the matcher; the hooks run each time";
    EmptyHooks "empty-hooks" Warning,
        "a list of hooks is empty",
        "add a hook, or remove the definition";
    TimeoutInSeconds "timeout-in-seconds" Warning,
        "a timeout in milliseconds looks like one in seconds",
        "write it in milliseconds";
    DisabledUnknown "disabled-unknown" Warning,
        "a name in `disabled` names no hook that it could switch off",
        "write the hook's `name`, or its command where it has none; or remove the entry";
    DuplicateHook "duplicate-hook" Warning,
        "the same hook stands twice for the same event and matcher",
        "remove one of them";
    ScriptMissing "script-missing" Error,
        "the script that a command starts does not exist",
        "write the script, or fix its path; \"$HOOK_PROJECT_DIR\"/... begins at the project, wherever the agent works";
    ScriptNotExecutable "script-not-executable" Error,
        "the script that a command starts is not executable",
        "make it executable with `chmod +x`";
    ScriptWithoutShebang "script-without-shebang" Warning,
        "a script that is started by itself does not say what runs it",
        "begin the script with a line such as `#!/usr/bin/env bash`";
    ScriptRelative "script-relative" Warning,
        "a script in a project's settings has a relative path",
        "begin its path with \"$HOOK_PROJECT_DIR\"/";
    InterpreterMissing "interpreter-missing" Error,
        "the interpreter in a script's first line does not exist",
        "install it, or fix the script's first line";
    ProgramNotFound "program-not-found" Warning,
        "the program that a command starts is not on PATH",
        "install it, or write its path";
    NotText "not-text" Error,
        "the file is not UTF-8, and what is not is replaced by U+FFFD",
        "save the file as UTF-8";
    BlankName "blank-name" Warning,
        "a hook's `name` is blank, and is ignored",
        "write a name, or leave it out: the hook is shown by its command then";
    InvalidCommand "invalid-command" Error,
        "a command has a NUL in it, and cannot be started",
        "remove the NUL (`\\u0000`)";
    OpenQuote "open-quote" Error,
        "a quote in a command is not closed, so the shell refuses all of it",
        "close the quote, or write a backslash before it; in JSON that is `\\\\`";
    InvalidRedaction "invalid-redaction" Error,
        "something in `redact` cannot be used, so recordings and audits have no values at all",
        "fix it: `patterns` is a list of regular expressions that do not match the empty text, `fields` one of names";
    InvalidUpstream "invalid-upstream" Error,
        "something in `upstream` cannot be used, so its events are blocked",
        "fix it: `nats` is a URL, `events` a list of events that there are";
    UpstreamUnsupported "upstream-unsupported" Error,
        "`upstream` names a fleet, and this build cannot ask one, so its hooks fail",
        "use a build that can, by `cargo build --release -p hook-cli --features remote`; or remove `upstream`";
    UpstreamGone "upstream-gone" Error,
        "a settings file is gone, and with it the fleet that was asked behind the hooks",
        "put the file back, or start the engine again without it";
    InvalidAuditLevel "invalid-audit-level" Warning,
        "an `auditLevel` is none of `off`, `info`, `decisions` and `verbose`",
        "write \"off\", \"info\", \"decisions\" or \"verbose\"";
    NotForProjects "not-for-projects" Warning,
        "a key has no effect in this file, since only the user's and the machine's settings may have it",
        "move it to the user's settings, or remove it";
    InvalidRule "invalid-rule" Error,
        "a rule, or a file of rules, is not as it must be, and is left out",
        "fix it, and see what it does with `hook rules try`";
    PackChanged "pack-changed" Error,
        "a pack is not there, or not what was added, so nothing of it runs and its guards block",
        "put it back with `hook add`, or take it out with `hook remove`";
    PackNotAdded "pack-not-added" Warning,
        "the project's packs.lock names a pack that you did not add",
        "review and add the packs of the project with `hook add`";
    PackForgotten "pack-forgotten" Warning,
        "a pack was added, but packs.lock does not name it any more, so nothing of it runs",
        "add it again with `hook add` and its source, or remove its copy with `hook remove`";
    UnsetVariable "unset-variable" Warning,
        "a command begins with a variable that is not set",
        "set it in the hook's `env`; for the project's directory there is $HOOK_PROJECT_DIR";
}

impl fmt::Display for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_is_in_kebab_case_and_names_one_rule() {
        for rule in Rule::ALL {
            let id = rule.id();
            assert!(id.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{id}");
            assert_eq!(Rule::ALL.iter().filter(|other| other.id() == id).count(), 1, "{id}");
        }
    }
}
