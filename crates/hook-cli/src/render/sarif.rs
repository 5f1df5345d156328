//! Problems as SARIF 2.1.0, for code scanning.

use std::path::Path;

use hook_settings::{Diagnostic, Rule, Severity};
use serde_json::{Value, json};

/// The base of relative paths, which is the project.
const ROOT: &str = "%SRCROOT%";

/// Returns all problems as one document. Paths of project files are relative.
pub(crate) fn document<'d>(
    problems: impl Iterator<Item = &'d Diagnostic>,
    project: &Path,
) -> Value {
    let project = std::path::absolute(project).unwrap_or_else(|_| project.to_path_buf());
    let rules: Vec<Value> = Rule::ALL.iter().map(|rule| rule_of(*rule)).collect();
    let results: Vec<Value> = problems.map(|problem| result_of(problem, &project)).collect();
    json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "hook",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "columnKind": "unicodeCodePoints",
            "originalUriBaseIds": {ROOT: {"uri": format!("{}/", uri_of(&project).trim_end_matches('/'))}},
            "results": results,
        }],
    })
}

fn rule_of(rule: Rule) -> Value {
    json!({
        "id": rule.id(),
        "shortDescription": {"text": rule.about()},
        "help": {"text": rule.help()},
        "defaultConfiguration": {"level": level_of(rule.severity())},
    })
}

fn level_of(severity: Severity) -> &'static str {
    match severity {
        Severity::Hint => "note",
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}

fn result_of(problem: &Diagnostic, project: &Path) -> Value {
    let position = &problem.location;
    let mut text = problem.message.clone();
    if let Some(suggestion) = &problem.suggestion {
        text.push_str(&format!("; did you mean `{suggestion}`?"));
    }
    if problem.suggestion.is_none() || problem.help.is_some() {
        text.push_str(&format!("; to fix it: {}", problem.help()));
    }
    let mut result = json!({
        "ruleId": problem.rule.id(),
        "ruleIndex": Rule::ALL.iter().position(|rule| *rule == problem.rule),
        "level": level_of(problem.severity),
        "message": {"text": text},
    });
    if let Some(file) = &position.file {
        let mut location =
            json!({"physicalLocation": {"artifactLocation": artifact_of(file, project)}});
        if position.line > 0 {
            location["physicalLocation"]["region"] = json!({
                "startLine": position.line,
                "startColumn": position.column,
                "endLine": position.end_line,
                "endColumn": position.end_column,
            });
        }
        if !position.path.is_empty() {
            location["logicalLocations"] = json!([{"fullyQualifiedName": position.path}]);
        }
        result["locations"] = json!([location]);
    }
    result
}

fn artifact_of(file: &Path, project: &Path) -> Value {
    let file = std::path::absolute(file).unwrap_or_else(|_| file.to_path_buf());
    match file.strip_prefix(project) {
        Ok(relative) => {
            json!({"uri": escaped(&relative.to_string_lossy()), "uriBaseId": ROOT})
        }
        Err(_) => json!({"uri": uri_of(&file)}),
    }
}

fn uri_of(path: &Path) -> String {
    let path = path.to_string_lossy().replace('\\', "/");
    format!("file://{}{}", if path.starts_with('/') { "" } else { "/" }, escaped(&path))
}

/// Escapes a path for a URI.
fn escaped(path: &str) -> String {
    path.bytes().fold(String::with_capacity(path.len()), |mut uri, byte| {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
        uri
    })
}
