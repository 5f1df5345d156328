//! Model payloads of SDKs, there and back.

use hook_bus::{HookExecutionRequest, HookSystem};
use hook_json::{RawJson, RawObject};
use hook_protocol::{FailureCode, HookEventName};
use hook_run::HandlerHook;
use hook_translate::{
    Sdk, TranslateError, Translated, from_stable_request, from_stable_response,
    from_stable_tool_config, to_stable_request, to_stable_response, to_stable_tool_config,
};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;

use super::generate::{Tree, altered, example_requests, lines_of, object, recorded_cases};
use super::{LONGEST_MESSAGE, VERY_DEEP, check, runtime};

const WORDS: &[&str] = &[
    "model",
    "contents",
    "role",
    "user",
    "system",
    "function",
    "parts",
    "text",
    "thought",
    "functionCall",
    "functionResponse",
    "inlineData",
    "name",
    "args",
    "config",
    "temperature",
    "topK",
    "tools",
    "systemInstruction",
    "toolConfig",
    "functionCallingConfig",
    "mode",
    "ANY",
    "NONE",
    "allowedFunctionNames",
    "candidates",
    "content",
    "finishReason",
    "index",
    "safetyRatings",
    "category",
    "probability",
    "blocked",
    "usageMetadata",
    "promptTokenCount",
    "totalTokenCount",
    "messages",
    "later",
];

type ToStable = fn(Sdk, &RawObject) -> Result<Translated, TranslateError>;
type FromStable = fn(Sdk, &RawObject, Option<&RawObject>) -> Result<Translated, TranslateError>;

/// The three kinds of payloads, each with its way there and back.
const KINDS: [(ToStable, FromStable); 3] = [
    (to_stable_request, from_stable_request),
    (to_stable_response, from_stable_response),
    (to_stable_tool_config, from_stable_tool_config),
];

/// Bodies that some translation of the recorded ones takes, in both forms.
fn valid_bodies() -> Vec<Tree> {
    let recorded = lines_of("tests/conformance/translate.jsonl").into_iter();
    let recorded = recorded.flat_map(|case| [case["value"].clone(), case["expected"].clone()]);
    let inputs = recorded_cases().into_iter().chain(example_requests());
    let payloads = inputs.flat_map(|case| {
        [case["input"]["llm_request"].clone(), case["input"]["llm_response"].clone()]
    });
    let rich = json!({"model": "m", "later": 1, "contents": [
        {"role": "user", "parts": [{"text": "a"}, {"inlineData": {"data": "AAAA"}}, {"text": "b"}]},
        {"role": "model", "parts": [{"text": "hm", "thought": true}, {"functionCall": {"name": "f"}}]},
        {"role": "function", "parts": [{"functionResponse": {"name": "f"}}]}, "text", null],
        "config": {"temperature": 0.5, "tools": [], "toolConfig": {"functionCallingConfig":
            {"mode": "ANY", "allowedFunctionNames": ["a", "b"]}}},
        "candidates": [{"content": {"role": "model", "parts": [{"text": "a"}, {"text": "b"}]},
            "index": 0, "finishReason": "STOP", "safetyRatings": [{"category": "c", "blocked": true}]}],
        "usageMetadata": {"totalTokenCount": 1.0, "thoughtsTokenCount": 2}});
    let all = recorded.chain(payloads).chain([rich]).filter(|body| body.is_object());
    all.map(|body| (&body).into()).collect()
}

fn any_body() -> impl Strategy<Value = Tree> {
    prop_oneof![1 => object(WORDS), 3 => altered(valid_bodies(), WORDS)]
}

fn raw(body: &Tree) -> RawObject {
    RawObject::try_from(RawJson::parse(body.to_string()).unwrap()).unwrap()
}

/// Whether a path such as `contents[2].parts[0].text` leads to something in one of the bodies, or
/// to a field that is not there.
fn leads_into(path: &str, body: &RawObject) -> bool {
    let mut value = RawJson::from(body.clone());
    let mut names = path.split('.').peekable();
    while let Some(step) = names.next() {
        let (name, indices) = step.split_once('[').unwrap_or((step, ""));
        let Ok(fields) = value.to_object() else { return false };
        let Some(field) = fields.get(name) else { return names.peek().is_none() };
        value = field.clone();
        for index in indices.split('[').filter(|index| !index.is_empty()) {
            let index: usize = index.trim_end_matches(']').parse().unwrap();
            let item = value.to_items().and_then(|items| items.get(index).cloned());
            let Some(item) = item else { return false };
            value = item;
        }
    }
    true
}

fn sdks() -> impl Strategy<Value = Sdk> {
    select(vec![Sdk::GenAi, Sdk::GenAi, Sdk::Stable])
}

#[test]
fn what_hooks_did_not_change_comes_back_byte_for_byte_and_what_they_see_is_stable() {
    check(1_000, (any_body(), sdks(), 0..KINDS.len()), |(body, sdk, kind)| {
        let (to_stable, from_stable) = KINDS[kind];
        let base = raw(&body);
        let shown = match to_stable(sdk, &base) {
            Ok(shown) => shown,
            Err(TranslateError::Shape(error)) => {
                prop_assert!(leads_into(error.path(), &base), "{error}");
                return Ok(());
            }
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        };
        prop_assert!(shown.warnings.is_empty());
        let stable = to_stable(Sdk::Stable, &shown.value);
        prop_assert_eq!(stable.map(|stable| stable.value), Ok(shown.value.clone()));
        let same = from_stable(sdk, &shown.value, Some(&base)).unwrap();
        prop_assert_eq!(same.value.as_str(), base.as_str());
        prop_assert!(same.warnings.is_empty(), "{:?}", same.warnings);
        Ok(())
    });
}

#[test]
fn an_answer_of_any_shape_is_laid_over_any_payload_or_refused_with_a_path() {
    let inputs = (any_body(), any_body(), any::<bool>(), 0..KINDS.len());
    check(1_000, inputs, |(answer, base, on_base, kind)| {
        let (to_stable, from_stable) = KINDS[kind];
        let (answer, base) = (raw(&answer), raw(&base));
        let base = Some(&base).filter(|_| on_base);
        let was_shown = base.is_none_or(|base| to_stable(Sdk::GenAi, base).is_ok());
        match from_stable(Sdk::GenAi, &answer, base) {
            // What is wrong with a payload that no hook saw is looked at as far as it is changed.
            Ok(_) if !was_shown => {}
            Ok(laid) => {
                // What was made of it is a payload of the SDK again.
                let shown = to_stable(Sdk::GenAi, &laid.value);
                prop_assert!(
                    shown.is_ok(),
                    "{} became {}: {:?}",
                    answer.as_str(),
                    laid.value.as_str(),
                    shown
                );
                for warning in &laid.warnings {
                    prop_assert!(!warning.to_string().is_empty());
                }
                // Doing it again changes nothing more.
                let again = from_stable(Sdk::GenAi, &shown.unwrap().value, Some(&laid.value));
                prop_assert_eq!(again.unwrap().value, laid.value);
            }
            Err(TranslateError::Shape(error)) => {
                let leads = [Some(&answer), base];
                let leads = leads.into_iter().flatten().any(|body| leads_into(error.path(), body));
                prop_assert!(leads, "{error}");
            }
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        }
        Ok(())
    });
}

#[test]
fn model_events_with_any_payload_are_answered_with_a_result_or_the_field_that_is_wrong() {
    let events =
        [HookEventName::BeforeModel, HookEventName::AfterModel, HookEventName::BeforeToolSelection];
    let builder = events.iter().fold(HookSystem::builder("."), |builder, event| {
        builder.handler(HandlerHook::inline(*event, "listens", |_| Ok(None)))
    });
    let system = builder.build().unwrap();
    let runtime = runtime();
    let sdk = object(&["genai", "stable", "openai-chat", "gpt"]).prop_map(|object| {
        object
            .fields()
            .first()
            .map(|(name, value)| if name.len() % 2 == 0 { value.clone() } else { Tree::text(name) })
    });
    let inputs = (select(events.to_vec()), any_body(), any_body(), sdk);
    check(500, inputs, |(event, request, response, sdk)| {
        let mut input = vec![
            ("llm_request".to_owned(), request.clone()),
            ("llm_response".to_owned(), response.clone()),
        ];
        input.extend(sdk.clone().map(|sdk| ("sdk".to_owned(), sdk)));
        let input = RawJson::parse(Tree::Object(input).to_string()).unwrap();
        let asked = HookExecutionRequest::unchecked(event.as_str(), input);
        let answered = runtime.block_on(system.bus().request(asked));

        let name = sdk.filter(|sdk| sdk.to_string() != "null").map(|sdk| {
            RawJson::parse(sdk.to_string()).unwrap().to_text().unwrap_or(sdk.to_string())
        });
        let form = Sdk::of_request(name.as_deref(), &raw(&request));
        let fails = |to_stable: ToStable, body: &Tree| {
            form.as_ref().map_or(true, |form| to_stable(*form, &raw(body)).is_err())
        };
        let wrong = if fails(to_stable_request, &request) {
            Some("llm_request")
        } else if event == HookEventName::AfterModel && fails(to_stable_response, &response) {
            Some("llm_response")
        } else {
            None
        };
        let failure = answered.error();
        let message = failure.map_or("", |failure| failure.message.as_str());
        prop_assert!(message.len() < LONGEST_MESSAGE, "{message}");
        let field = failure.and_then(|failure| failure.details.get("field")?.to_text());
        prop_assert_eq!(field.as_deref(), wrong, "{:?}", failure);
        let expected = wrong.map(|_| FailureCode::TranslationFailed);
        prop_assert_eq!(failure.map(|failure| failure.code), expected);
        Ok(())
    });
}

#[test]
fn very_deep_payloads_overflow_no_stack_and_keep_what_is_deep() {
    let deep = format!("{}{}", "[".repeat(VERY_DEEP), "]".repeat(VERY_DEEP));
    let text = format!(
        r#"{{"contents":[{{"role":"user","parts":[{{"text":"a"}},{{"functionCall":{deep}}}]}}],"config":{{"tools":{deep},"topK":{deep}}}}}"#
    );
    let base = RawObject::try_from(RawJson::parse(text.as_str()).unwrap()).unwrap();
    let shown = to_stable_request(Sdk::GenAi, &base).unwrap().value;
    let same = from_stable_request(Sdk::GenAi, &shown, Some(&base)).unwrap().value;
    assert_eq!(same.as_str(), text);
    let answer = r#"{"messages":[{"role":"user","content":"b"}]}"#;
    let answer = RawObject::try_from(RawJson::parse(answer).unwrap()).unwrap();
    let edited = from_stable_request(Sdk::GenAi, &answer, Some(&base)).unwrap().value;
    assert_eq!(edited.as_str(), text.replace(r#"{"text":"a"}"#, r#"{"text":"b"}"#));
    for broken in [
        format!(r#"{{"contents":{deep}}}"#),
        format!(r#"{{"contents":[{{"parts":{deep}}}]}}"#),
        format!(r#"{{"contents":[],"config":{deep}}}"#),
    ] {
        let broken = RawObject::try_from(RawJson::parse(broken).unwrap()).unwrap();
        assert!(to_stable_request(Sdk::GenAi, &broken).is_err());
    }
}
