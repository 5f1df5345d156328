//! The forms of an agent's answers in its file.

use std::ops::Range;

use hook_json::text::nearest;
use serde_json::{Map, Value as Json, json};
use toml::Spanned;

use super::builder::{Builder, leak, leak_text};
use super::model::Event;
use crate::template::{EventAnswers, Template, Value};

/// The maximum depth of a form.
const MAX_DEPTH: usize = 8;

/// The key of a form that is its exit code, and no field.
const EXIT_CODE: &str = "exit";

/// The forms with a name, each in the words of Claude Code.
fn named(part: &str, name: &str) -> Option<Json> {
    let specific = |field: &str, value: Json| json!({"hookSpecificOutput": {"hookEventName": "{event}", field: value}});
    Some(match (part, name) {
        ("deny" | "ask" | "allow", "permission") => json!({"hookSpecificOutput": {
            "hookEventName": "{event}", "permissionDecision": part, "permissionDecisionReason": "{reason}",
        }}),
        ("deny", "permission and exit 2") => json!({"hookSpecificOutput": {
            "hookEventName": "{event}", "permissionDecision": "deny", "permissionDecisionReason": "{reason}",
        }, "exit": 2}),
        ("deny", "block") => json!({"decision": "block", "reason": "{reason}"}),
        ("deny", "exit 2") => json!({"exit": 2}),
        ("stop", "continue") => json!({"continue": false, "stopReason": "{reason}"}),
        ("input", "updatedInput") => specific("updatedInput", json!("{input}")),
        ("deny" | "context", "additionalContext") => {
            specific("additionalContext", json!("{context}"))
        }
        ("context", "text") => Json::Null,
        ("message", "systemMessage") => json!({"systemMessage": "{message}"}),
        _ => return None,
    })
}

/// The names of the forms of a part of an answer.
fn names_of(part: &str) -> &'static [&'static str] {
    match part {
        "deny" => &["permission", "permission and exit 2", "block", "exit 2", "additionalContext"],
        "ask" | "allow" => &["permission"],
        "stop" => &["continue"],
        "input" => &["updatedInput"],
        "context" => &["additionalContext", "text"],
        "neutral" => &[],
        _ => &["systemMessage"],
    }
}

/// Returns the answers of an event.
pub(super) fn answers_of(
    event: &Event,
    counts_at_any_code: bool,
    builder: &mut Builder,
) -> EventAnswers {
    let mut read = |part: &'static str, written: &Option<Spanned<Json>>, holes: &[Value]| {
        let read = forms(written).into_iter().filter_map(|form| {
            let mut reader = Reader { builder: &mut *builder, part, holes, at: form.span() };
            reader.template(form.get_ref())
        });
        leak(read.collect())
    };
    use Value::{Context, Event as EventName, Input, Message, Reason};
    EventAnswers {
        deny: read("deny", &event.deny, &[EventName, Reason, Context]),
        ask: read("ask", &event.ask, &[EventName, Reason]),
        allow: read("allow", &event.allow, &[EventName, Reason]),
        stop: read("stop", &event.stop, &[EventName, Reason]),
        input: read("input", &event.input, &[EventName, Input]),
        context: read("context", &event.context, &[EventName, Context]),
        neutral: read("neutral", &event.neutral, &[EventName]),
        message: read("message", &event.message, &[EventName, Message]),
        counts_at_any_code,
    }
}

/// Returns a form, or each of a list.
fn forms(form: &Option<Spanned<Json>>) -> Vec<Spanned<Json>> {
    let Some(form) = form else { return Vec::new() };
    match form.get_ref() {
        Json::Array(forms) => {
            forms.iter().map(|it| Spanned::new(form.span(), it.clone())).collect()
        }
        _ => vec![form.clone()],
    }
}

struct Reader<'r> {
    builder: &'r mut Builder,
    part: &'static str,
    /// The allowed placeholders.
    holes: &'r [Value],
    at: Range<usize>,
}

impl Reader<'_> {
    fn mistake(&mut self, message: String) {
        self.builder.mistake(self.at.clone(), format!("`{}`: {message}", self.part));
    }

    fn template(&mut self, form: &Json) -> Option<Template> {
        let named = form.as_str().map(|name| (name, named(self.part, name)));
        let form = match named {
            Some((_, Some(form))) => form,
            Some((name, None)) => {
                let names = names_of(self.part);
                let suggestion = match nearest(name, names.iter().copied()) {
                    Some(nearest) => format!("; did you mean `{nearest}`?"),
                    None => String::new(),
                };
                self.mistake(format!(
                    "there is no form `{name}`; there are `{}`, or write the object that the agent \
                     obeys{suggestion}",
                    names.join("`, `")
                ));
                return None;
            }
            None => form.clone(),
        };
        let Json::Object(mut object) = form else {
            if form.is_null() {
                return Some(Template { fields: &[], code: 0, is_text: true });
            }
            self.mistake("expected the name of a form or an object".to_owned());
            return None;
        };
        let code = match object.remove(EXIT_CODE) {
            None => 0,
            Some(code) => match code.as_u64().and_then(|code| u8::try_from(code).ok()) {
                Some(code @ 1..=125) => code,
                _ => {
                    self.mistake("`exit` is an exit code from 1 to 125".to_owned());
                    return None;
                }
            },
        };
        let mut fields = Vec::new();
        self.collect(&object, &mut Vec::new(), &mut fields);
        if fields.is_empty() && code == 0 {
            self.mistake("an empty object says nothing".to_owned());
            return None;
        }
        Some(Template { fields: leak(fields), code, is_text: false })
    }

    fn collect(
        &mut self,
        object: &Map<String, Json>,
        path: &mut Vec<&'static str>,
        fields: &mut Vec<(&'static [&'static str], Value)>,
    ) {
        if path.len() == MAX_DEPTH {
            self.mistake(format!("deeper than {MAX_DEPTH} objects"));
            return;
        }
        for (name, value) in object {
            path.push(leak_text(name));
            match value {
                Json::Object(inner) => self.collect(inner, path, fields),
                value => {
                    if let Some(value) = self.value(value) {
                        fields.push((leak(path.clone()), value));
                    }
                }
            }
            path.pop();
        }
    }

    fn value(&mut self, value: &Json) -> Option<Value> {
        if let Some(text) = value.as_str().filter(|text| text.starts_with('{')) {
            let allowed = Value::PLACEHOLDERS.iter().filter(|(_, hole)| self.holes.contains(hole));
            let found = allowed.clone().find(|(name, _)| *name == text).map(|(_, hole)| *hole);
            if found.is_none() {
                let names: Vec<&str> = allowed.map(|(name, _)| *name).collect();
                self.mistake(format!(
                    "`{text}` is no placeholder here; there are `{}`",
                    names.join("`, `")
                ));
            }
            return found;
        }
        let constants = match value {
            Json::Array(constants) if !constants.is_empty() => constants.clone(),
            constant => vec![constant.clone()],
        };
        let constants = constants.iter().map(|constant| leak_text(&constant.to_string()));
        Some(Value::OneOf(leak(constants.collect())))
    }
}
