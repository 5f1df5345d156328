//! Answers in the forms of templates, read and rendered.

use hook_json::{JsonObject, RawJson};
use hook_protocol::HookEventName;
use hook_protocol::event::output::{Decision, HookOutput};
use hook_protocol::failure::HookFailure;
use hook_settings::language::{ForeignAnswer, ProcessOutput};

use super::UPDATED_INPUT;
use super::claude::{apply_exit_two, parse_object, stderr_reason};
use super::table::{AgentEvent, ExitTwo, NativeEvent};
use super::template::{Forms, Template, Value};
use super::verdict::{AgentResponse, Verdict};

/// Reads the answer of one of the agent's own hooks.
pub(super) fn read_answer(event: &AgentEvent, process: &ProcessOutput<'_>) -> ForeignAnswer {
    let code = process.code.unwrap_or(1);
    let counts = code == 0 || event.answers.counts_at_any_code;
    let object = parse_object(process.stdout).filter(|_| counts);
    let text = process.stdout.trim();
    let output = match object.as_ref().and_then(|fields| read_object(event, fields)) {
        Some(output) => Some(output),
        // An object that decides nothing may be text like any other.
        None if object.is_some() && !event.answers.context.iter().any(|form| form.is_text) => None,
        None if code == 0 && event.text_is_context && !text.is_empty() => {
            Some(HookOutput::default().with_additional_context(text))
        }
        None => None,
    };
    if code == 2 && event.exit_two != ExitTwo::Nothing {
        let output = apply_exit_two(event, output, process.stderr);
        return ForeignAnswer { output, ..ForeignAnswer::default() };
    }
    if event.answers.stop.iter().any(|form| form.is_code(code)) {
        let output = HookOutput {
            should_continue: Some(false),
            stop_reason: Some(stderr_reason(process.stderr)),
            ..output.unwrap_or_default()
        };
        return ForeignAnswer { output: Some(output), ..ForeignAnswer::default() };
    }
    let failure = (code != 0 && output.is_none()).then_some(HookFailure::ExitCode { code });
    ForeignAnswer { output, failure, ..ForeignAnswer::default() }
}

/// Reads the parts of an answer object that the agent obeys; `None` if there are none.
fn read_object(event: &AgentEvent, fields: &JsonObject) -> Option<HookOutput> {
    let mut output = HookOutput::default();
    let mut is_empty = true;
    let answers = &event.answers;
    let captured = |forms: Forms, value| forms.iter().find_map(|form| form.captured(value, fields));
    let text = |forms, value| text_of(&captured(forms, value)?);
    // If several forms are there, the one that restricts most counts.
    let decisions = answers.deny.iter().map(|form| (form, Decision::Deny));
    let decisions = decisions.chain(answers.ask.iter().map(|form| (form, Decision::Ask)));
    let mut decisions = decisions.chain(answers.allow.iter().map(|form| (form, Decision::Allow)));
    if let Some((form, decision)) = decisions.find(|(form, _)| form.is_in(fields)) {
        output.decision = Some(decision);
        output.reason = form.captured(Value::Reason, fields).and_then(|reason| reason.to_text());
        is_empty = false;
    }
    if let Some(form) = answers.stop.iter().find(|form| form.is_in(fields)) {
        output.should_continue = Some(false);
        output.stop_reason = form.captured(Value::Reason, fields).and_then(|it| it.to_text());
        is_empty = false;
    }
    if let Some(context) = text(answers.context, Value::Context) {
        output = output.with_additional_context(&context);
        is_empty = false;
    }
    if let Some(message) = text(answers.message, Value::Message) {
        output = output.with_system_message(message);
        is_empty = false;
    }
    if let Some(input) = captured(answers.input, Value::Input) {
        output = output.with_specific(UPDATED_INPUT, input);
        is_empty = false;
    }
    (!is_empty).then_some(output)
}

/// Returns a text, or the lines of several.
fn text_of(value: &RawJson) -> Option<String> {
    let lines = || {
        let lines: Option<Vec<String>> = value.to_items()?.iter().map(RawJson::to_text).collect();
        lines.map(|lines| lines.join("\n")).filter(|text| !text.is_empty())
    };
    value.to_text().or_else(lines)
}

/// Renders the response to an event.
pub(super) fn render(event: &AgentEvent, verdict: &Verdict<'_>) -> AgentResponse {
    let answers = &event.answers;
    let (deny, stop) = (answers.deny.first(), answers.stop.first());
    let is_turn_end = matches!(event.native, NativeEvent::BuiltIn(own) if own.is_turn_end());
    let mut response = Response { event, verdict, answer: JsonObject::new(), text: None, code: 0 };
    let mut lost = Vec::new();
    let refuses = verdict.forbids() || verdict.asks() && answers.ask.is_empty();
    match (verdict.stops(), stop, deny) {
        // A stop lets the turn end.
        (true, None, _) if is_turn_end => {}
        (true, Some(stop), deny) => {
            response.add(stop);
            if let Some(deny) = deny.filter(|deny| deny.code == stop.code && !is_turn_end) {
                response.add(deny);
            }
        }
        (_, _, Some(deny)) if refuses => response.add(deny),
        _ if refuses => lost.push("a refusal there"),
        _ => {
            let decision = match () {
                () if verdict.asks() => answers.ask,
                () if verdict.allowed && !answers.allow.is_empty() => answers.allow,
                () => answers.neutral,
            };
            if let Some(decision) = decision.first() {
                response.add(decision);
            }
        }
    }
    if verdict.tool_input.is_some() && !refuses && event.maps_to(HookEventName::BeforeTool) {
        match answers.input.first() {
            Some(input) => response.add(input),
            None => lost.push("changed arguments: the tool runs with those of the model"),
        }
    }
    for (part, template, name) in [
        (verdict.additional_context, answers.context, "context there"),
        (verdict.system_message, answers.message, "messages to the user there"),
    ] {
        match (part, template.first()) {
            (None, _) => {}
            // A bare text and an object cannot share standard output, nor a refusal by exit code.
            (Some(_), Some(template)) if response.takes(template) => response.add(template),
            (Some(_), _) => lost.push(name),
        }
    }
    response.finish(lost)
}

/// Returns the parts of an answer that the agent ignores at an event, besides denials.
pub(super) fn ignored_parts(event: &AgentEvent) -> impl Iterator<Item = &'static str> {
    let answers = &event.answers;
    let is_call = event.maps_to(HookEventName::BeforeTool);
    let asks = is_call && answers.ask.is_empty();
    let ask = asks.then_some(match answers.deny {
        [] => "an ask",
        _ => "an ask: it is a denial",
    });
    let input = (is_call && answers.input.is_empty()).then_some("changed arguments");
    let context = answers.context.is_empty().then_some("context");
    [ask, input, context].into_iter().flatten()
}

/// A response in the making.
struct Response<'r> {
    event: &'r AgentEvent,
    verdict: &'r Verdict<'r>,
    answer: JsonObject,
    text: Option<&'r str>,
    code: u8,
}

impl Response<'_> {
    fn takes(&self, template: &Template) -> bool {
        self.code == 0 && self.text.is_none() && (!template.is_text || self.answer.is_empty())
    }

    /// Adds a part of the answer.
    fn add(&mut self, template: &Template) {
        self.code = self.code.max(template.code);
        if template.is_text {
            self.text = self.verdict.additional_context;
        }
        for (path, value) in template.fields {
            let text = |text: &str| RawJson::from_text(text);
            let value = match value {
                Value::OneOf(constants) => {
                    constants.first().and_then(|constant| RawJson::parse(*constant).ok())
                }
                Value::Event => Some(text(self.event.name)),
                Value::Reason => Some(text(self.verdict.reason_or_default())),
                Value::Context => {
                    // A refusal may be told as context.
                    let refused = || self.verdict.reason_or_default();
                    Some(text(self.verdict.additional_context.unwrap_or_else(refused)))
                }
                Value::Input => self.verdict.tool_input.map(|input| input.clone().into()),
                Value::Message => self.verdict.system_message.map(text),
            };
            if let Some(value) = value {
                insert(&mut self.answer, path, value);
            }
        }
    }

    fn finish(self, lost: Vec<&'static str>) -> AgentResponse {
        let mut response = AgentResponse::json(&self.answer);
        if let Some(text) = self.text {
            text.clone_into(&mut response.stdout);
        }
        if self.code != 0 {
            self.verdict.reason_or_default().clone_into(&mut response.stderr);
        }
        AgentResponse { code: self.code, lost, ..response }
    }
}

impl Template {
    /// Checks whether an answer has all constants of the form.
    pub(super) fn is_in(&self, fields: &JsonObject) -> bool {
        self.is_readable()
            && self.fields.iter().all(|(path, value)| match value {
                Value::OneOf(constants) => find(fields, path).is_some_and(|found| {
                    let is_equal = |constant: &&str| found.as_str().trim() == *constant;
                    constants.iter().any(is_equal)
                }),
                _ => true,
            })
    }

    /// Returns the value of a placeholder in an answer.
    pub(super) fn captured(&self, wanted: Value, fields: &JsonObject) -> Option<RawJson> {
        let (path, _) = self.fields.iter().find(|(_, value)| *value == wanted)?;
        find(fields, path).filter(|found| !found.is_null())
    }
}

fn find(fields: &JsonObject, path: &[&str]) -> Option<RawJson> {
    match path {
        [] => None,
        [name] => fields.get(name).cloned(),
        [name, rest @ ..] => find(&fields.get(name)?.to_object().ok()?, rest),
    }
}

fn insert(fields: &mut JsonObject, path: &[&'static str], value: RawJson) {
    match path {
        [] => {}
        [name] => fields.insert(*name, value),
        [name, rest @ ..] => {
            let inner = fields.get(name).and_then(|inner| inner.to_object().ok());
            let mut inner = inner.unwrap_or_default();
            insert(&mut inner, rest, value);
            fields.insert(*name, inner.to_raw());
        }
    }
}
