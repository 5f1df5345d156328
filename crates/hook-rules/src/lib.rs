//! Rules in files: what commands and file accesses are refused, asked about or commented on.
//!
//! A rule runs nothing and can only restrict. Commands are parsed, not searched: a rule about
//! `git push --force` sees `git -C x push -f`, `sudo sh -c '…'` and `$g push -f`, and does not see
//! `git commit -m "never git push --force"`.
//!
//! | module | contents |
//! | --- | --- |
//! | `by_name` | lists that are looked up by names |
//! | `call` | calls, with their commands as they were read |
//! | `candidate` | subjects of rules, which may match a call |
//! | `decide` | what rules say of a call |
//! | `decision` | decisions: the rules that match |
//! | `deferred` | rules about named programs, parsed when such a program is called |
//! | `directories` | the directories of a call |
//! | `file` | the format: TOML to rules and tests, with problems and their lines |
//! | `narrowing` | agents, modes and fields of the input |
//! | `outline` | where in a file its rules are, found without parsing |
//! | `packs` | the packs that are part of the engine |
//! | `paths` | patterns of paths |
//! | `program_index` | rules about commands by their programs |
//! | `regex` | regular expressions |
//! | `shell_match` | comparison of rules about commands with what is started |
//! | `words` | patterns of words |
//!
//! # Example
//!
//! ```
//! use hook_rules::{Call, Effect, Directories, RuleFile, Rules};
//!
//! let text = r#"
//! [[rule]]
//! id = "force-push"
//! shell = { program = "git", args = ["push", { any = ["--force", "-f"] }] }
//! deny = "a force push rewrites what others have; push to a new branch"
//! "#;
//! let file = RuleFile::parse("git.toml", text);
//! assert!(file.problems.is_empty());
//! let rules = Rules::new([file]);
//! let directories = Directories::new("/code/thing", "/code/thing", "/home/me");
//! let decision = rules.decide(&Call::shell("cd x && sudo git push -f origin"), &directories);
//! assert_eq!(decision.effect(), Some(Effect::Deny));
//! assert!(rules.decide(&Call::shell("git push"), &directories).effect().is_none());
//! ```

mod by_name;
mod call;
mod candidate;
mod decide;
mod decision;
mod deferred;
mod directories;
mod file;
mod links;
mod narrowing;
mod outline;
pub mod packs;
mod paths;
mod program_index;
mod regex;
mod shell_match;
mod words;

pub use call::{Call, Commands};
pub use decide::Rules;
pub use decision::{Decision, Match};
pub use directories::{Directories, test_directories};
pub use file::{
    Effect, Expectation, MAX_FILE, NameInRule, Problem, RuleFile, RuleSummary, RuleTest, TestKind,
};
pub use narrowing::{AGENT, CalledTool, InputFields, Name};
