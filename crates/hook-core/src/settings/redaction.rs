//! `hooksConfig.redact`: what is left out of what is written down.

use super::document::{Document, Node};
use super::fields::REDACT_FIELDS;
use super::{Rule, SettingsFile};
use crate::field;
use crate::redact::{Redaction, pattern_problem};
use crate::text::shortened;

/// What one file wants to be left out of audits and recordings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RedactionRules {
    /// Regular expressions: what they match in a text is replaced.
    pub patterns: Vec<String>,
    /// Names of fields whose values are replaced.
    pub fields: Vec<String>,
    /// Why the rules are not all of what was meant, if they are not.
    pub problem: Option<String>,
}

/// What all files together want to be left out.
///
/// Where it cannot be known (a pattern that does not compile, a file that cannot be read), it
/// [withholds](Redaction::withheld) all values.
pub fn redaction(files: &[SettingsFile]) -> Redaction {
    let ruling = || files.iter().filter(|file| file.source.may_rule_records());
    let problem = ruling().find_map(|file| {
        let name = || match &file.path {
            Some(path) => shortened(&path.to_string_lossy()),
            None => "settings".to_owned(),
        };
        match &file.config.redact.problem {
            Some(problem) => Some(format!("{problem}, in {}", name())),
            None if !file.was_read => {
                Some(format!("{} cannot be read, and may say what to redact", name()))
            }
            None => None,
        }
    });
    let rules = || ruling().map(|file| &file.config.redact);
    match problem {
        Some(problem) => Redaction::withholding(problem),
        None => Redaction::new(
            rules().flat_map(|rules| rules.patterns.iter().map(String::as_str)),
            rules().flat_map(|rules| rules.fields.iter().map(String::as_str)),
        ),
    }
}

/// Reads the object. What is not understood was meant to hide something, so it is an error.
pub(super) fn read(document: &mut Document<'_>, node: &Node, rules: &mut RedactionRules) {
    let Some(fields) = document.fields(node) else {
        wrong(document, node, rules, "expected an object with `patterns` and `fields`");
        return;
    };
    for field in &fields {
        if !field::has(&REDACT_FIELDS, &field.name) {
            let what = format!("unknown key `{}`", shortened(&field.name));
            wrong(document, &field.value, rules, &what);
            continue;
        }
        let Some(items) = document.items(&field.value) else {
            let what = format!("`{}`: expected an array of strings", field.name);
            wrong(document, &field.value, rules, &what);
            continue;
        };
        for item in &items {
            let Some(text) = item.value.to_text() else {
                let what = format!("`{}`: expected a string", field.name);
                wrong(document, item, rules, &what);
                continue;
            };
            match field.name.as_str() {
                "fields" => rules.fields.push(text),
                _ => match pattern_problem(&text) {
                    None => rules.patterns.push(text),
                    Some(why) => {
                        let what = format!("the pattern `{}` {why}", shortened(&text));
                        wrong(document, item, rules, &what);
                    }
                },
            }
        }
    }
}

fn wrong(document: &mut Document<'_>, node: &Node, rules: &mut RedactionRules, what: &str) {
    let message = format!("{what}; recordings and audits leave out all values until it is fixed");
    document.report(Rule::InvalidRedaction, node, message);
    rules.problem.get_or_insert_with(|| what.to_owned());
}
