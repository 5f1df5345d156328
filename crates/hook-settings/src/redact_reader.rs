//! The reader of `hooksConfig.redact`.

use super::document::{Document, Node};
use super::fields::REDACT_FIELDS;
use super::redaction::RedactionRules;
use super::rule::Rule;
use crate::redact::pattern_problem;
use hook_json::field;
use hook_json::text::shortened;

/// Reads the object. Unknown keys and values are errors, since they were meant to hide something.
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
                        // The stored problem does not contain the pattern, which may be a secret.
                        let kept = "one of `redact.patterns` cannot be used";
                        rules.problem.get_or_insert_with(|| kept.to_owned());
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
