//! The reader of `hooksConfig.redact`.

use super::document::{Document, Node};
use super::fields::REDACT_FIELDS;
use super::redaction::RedactionRules;
use super::rule::Rule;
use crate::redact::pattern_error;
use hook_json::field;
use hook_json::text::shortened;

/// Reads the object. Unknown keys and values are errors, since they were meant to hide something.
pub(super) fn read(document: &mut Document<'_>, node: &Node, rules: &mut RedactionRules) {
    let Some(fields) = document.fields(node) else {
        report_invalid(document, node, rules, "expected an object with `patterns` and `fields`");
        return;
    };
    for field in &fields {
        if !field::has_field(&REDACT_FIELDS, &field.name) {
            let problem = format!("unknown key `{}`", shortened(&field.name));
            report_invalid(document, &field.value, rules, &problem);
            continue;
        }
        let Some(items) = document.items(&field.value) else {
            let problem = format!("`{}`: expected an array of strings", field.name);
            report_invalid(document, &field.value, rules, &problem);
            continue;
        };
        for item in &items {
            let Some(text) = item.value.to_text() else {
                let problem = format!("`{}`: expected a string", field.name);
                report_invalid(document, item, rules, &problem);
                continue;
            };
            match field.name.as_str() {
                "fields" => rules.fields.push(text),
                _ => match pattern_error(&text) {
                    None => rules.patterns.push(text),
                    Some(reason) => {
                        let problem = format!("the pattern `{}` {reason}", shortened(&text));
                        // The stored problem does not contain the pattern, which may be a secret.
                        let stored = "one of `redact.patterns` cannot be used";
                        rules.problem.get_or_insert_with(|| stored.to_owned());
                        report_invalid(document, item, rules, &problem);
                    }
                },
            }
        }
    }
}

fn report_invalid(
    document: &mut Document<'_>,
    node: &Node,
    rules: &mut RedactionRules,
    problem: &str,
) {
    let message =
        format!("{problem}; recordings and audits leave out all values until it is fixed");
    document.report(Rule::InvalidRedaction, node, message);
    rules.problem.get_or_insert_with(|| problem.to_owned());
}
