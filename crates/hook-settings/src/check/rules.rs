//! Rules that do not have their apparent effect.

use std::collections::HashSet;

use hook_json::text::{nearest, shortened};
use hook_protocol::event::HookEventName;
use hook_protocol::event::input::{BASE_FIELDS, CALLER, TOOL_FIELDS};
use hook_protocol::tool::{is_mcp_tool_name, native_name, nearest_name};
use hook_rules::{Name, NameInRule, RuleFile};

use super::findings::CheckedFile;
use crate::language::Languages;
use crate::values::language_help;
use crate::{Diagnostic, Location, Rule, RuleSet, Severity};

/// Returns the problems of the rules beside each of the files.
pub(super) fn check(files: &[CheckedFile], languages: &Languages) -> Vec<Vec<Diagnostic>> {
    let sets = || files.iter().flat_map(|checked| &checked.file.rules);
    let names: HashSet<String> =
        sets().flat_map(|set| set.file.summaries().map(|rule| rule.name)).collect();
    let problems = |checked: &CheckedFile| {
        let of_set = |set| problems_of(set, languages).chain(exceptions(set, &names));
        checked.file.rules.iter().flat_map(of_set).collect()
    };
    files.iter().map(problems).collect()
}

fn problems_of(set: &RuleSet, languages: &Languages) -> impl Iterator<Item = Diagnostic> + use<> {
    let mut file = RuleFile::clone(&set.file);
    let known = file.problems.len();
    file.check();
    let broken = file.problems.split_off(known).into_iter().map(|problem| {
        let message =
            format!("the rule `{}`: {}", problem.rule.unwrap_or_default(), problem.message);
        Diagnostic::new(Rule::InvalidRule, line(set, problem.line), message)
    });
    let names = file.names();
    let unknown = names.iter().filter_map(|name| unknown(set, name, languages));
    broken.chain(unknown).collect::<Vec<_>>().into_iter()
}

fn line(set: &RuleSet, line: usize) -> Location {
    Location { line, column: 1, ..Location::of_file(&set.path) }
}

/// Reports a name that only a custom agent can have, so that the rule may never match.
fn unknown(set: &RuleSet, found: &NameInRule<'_>, languages: &Languages) -> Option<Diagnostic> {
    let (rule, what, name, help, is_near) = match found.name {
        Name::Agent(name) if !languages.has_agent(name) => {
            let help = language_help(name, languages);
            (Rule::UnknownAgent, "agent", name, help, true)
        }
        Name::Tool(name) if native_name(name).is_none() && !is_mcp_tool_name(name) => {
            let nearest = nearest_name(name);
            let help = nearest.map(|nearest| format!("write `{nearest}`")).unwrap_or_default();
            (Rule::UnknownTool, "tool", name, help, nearest.is_some())
        }
        Name::Field(path) => {
            let root = path.split('.').next().unwrap_or_default();
            let nearest = nearest(root, fields()).filter(|nearest| *nearest != root)?;
            (Rule::UnknownKey, "field", path, format!("write `{nearest}`"), true)
        }
        _ => return None,
    };
    let message = format!(
        "the rule `{}` names the {what} `{}`, which is not known",
        found.rule(),
        shortened(name)
    );
    let mut problem = Diagnostic::new(rule, line(set, found.line()), message);
    // A name similar to no other may be one of a custom agent.
    problem.severity = if is_near { Severity::Warning } else { Severity::Hint };
    problem.help = Some(help).filter(|help| !help.is_empty());
    Some(problem)
}

/// Returns the first names of fields that an input can have.
fn fields() -> impl Iterator<Item = &'static str> {
    let of_events = HookEventName::all().flat_map(|event| event.row().fields);
    let fields = of_events.chain(&BASE_FIELDS).chain(&TOOL_FIELDS).chain([&CALLER]);
    fields.map(|field| field.name)
}

/// Reports exceptions of rules that there are not, and those without a reason.
fn exceptions(set: &RuleSet, names: &HashSet<String>) -> Vec<Diagnostic> {
    let problem = |(name, reason): (&String, &String)| {
        let why = match names.contains(name) {
            true if reason.trim().is_empty() => "has no reason",
            true => return None,
            false => "is of a rule that is not found here",
        };
        let message = format!("the exception of `{}` {why}", shortened(name));
        let mut problem = Diagnostic::new(Rule::InvalidRule, Location::of_file(&set.path), message);
        problem.severity = Severity::Warning;
        Some(problem)
    };
    set.file.except.iter().filter_map(problem).collect()
}
