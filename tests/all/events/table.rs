//! Every row of the event table, as the specification has it: what the row says, and what firing
//! the event does.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use hook_bus::HookSystem;
use hook_protocol::HookEventName;
use hook_protocol::event::{Matching, MergeStrategy};
use hook_run::HandlerHook;
use hook_tests::json;
use serde_json::{Map, Value, json};

use super::{answering, code, decision, fire, warned};

/// The rows: name | matching | merge | what a decision means | answers | input.
///
/// Written by hand from the specification. An input field is `name:type`, and `name?:type` where it may
/// be absent.
const ROWS: &str = "
BeforeTool | pattern tool_name | OrDecision | block retry | permissionDecision permissionDecisionReason toolInputReplaces tool_input | tool_name:tool tool_input:object mcp_context?:mcp tool_call_id?:string recent_tools?:strings token_usage?:object
AfterTool | pattern tool_name | OrDecision | block | tool_response | tool_name:tool tool_input:object tool_response:any mcp_context?:mcp tool_call_id?:string duration_ms?:number exit_code?:integer is_error?:bool
BeforeAgent | - | OrDecision | block | message | prompt:string images?:array
AfterAgent | - | OrDecision | block | clearContext | prompt:string prompt_response:string stop_hook_active:bool messages?:array
SessionStart | exact source startup,resume,clear,compress | OrDecision | | env | source:word model?:string system_prompt?:string
SessionEnd | exact reason exit,clear,logout,prompt_input_exit,other | Simple | | | reason:word total_tokens?:number total_tool_calls?:number duration_ms?:number
PreCompress | exact trigger manual,auto | Simple | block | cancel compaction | trigger:word messages?:array preparation?:object custom_instructions?:string used_tokens?:count max_tokens?:count
BeforeModel | - | FieldReplacement | block | llm_request llm_response messages | llm_request:request messages?:array prompt?:string system_prompt?:string tools?:array
AfterModel | - | FieldReplacement | block | llm_response | llm_request:request llm_response:response prompt?:string tool_calls?:array usage?:object duration_ms?:number
BeforeToolSelection | - | ToolSelection | block | toolConfig | llm_request:request available_tools?:array
Notification | - | Simple | | | message:string notification_type?:string details?:object level?:string
ToolError | pattern tool_name | OrDecision | retry | | tool_name:tool tool_input:object error:string tool_call_id?:string exit_code?:integer
ToolBatch | - | OrDecision | block | | calls:array
PermissionRequest | pattern tool_name | Permission | block | permissionDecision permissionDecisionReason | tool_name:tool tool_input:object tool_call_id?:string suggestions?:array
PermissionGranted | pattern tool_name | Observe | | | tool_name:tool tool_input:object by:string
PermissionDenied | pattern tool_name | OrDecision | retry | | tool_name:tool tool_input:object by:string reason?:string
PromptExpansion | exact command_name | OrDecision | block | | command_name:string prompt:string command_args?:string
AgentStart | - | Observe | | |
TurnStart | - | Observe | | | turn_index:count turn_timestamp?:number
TurnEnd | - | Observe | | | turn_index:count message:any tool_results:array turn_timestamp?:number
TurnFailed | - | Observe | | | error:string error_details?:any
Interrupt | - | Observe | | |
SubagentStart | exact agent_type | OrDecision | block | | agent_id:string agent_type:string task?:string
SubagentStop | exact agent_type | OrDecision | block | | agent_id:string agent_type:string task?:string prompt_response?:string stop_hook_active?:bool
PostCompress | exact trigger manual,auto | Observe | | | trigger:word summary?:string message_count_before?:count message_count_after?:count
Compacting | - | Last | | context prompt preserveData | messages:array
ContextWarning | - | Observe | | | used_tokens:count max_tokens:count threshold:number
BeforeSessionSwitch | exact reason new,resume,fork | Last | block | cancel | reason:word target?:string
SessionSwitch | exact reason new,resume,fork | Observe | | | reason:word previous?:string
BeforeSessionBranch | - | Last | block | cancel skipConversationRestore | entry_id:string
SessionBranch | - | Observe | | | entry_id:string previous?:string
BeforeSessionTree | - | Last | block | cancel summary | preparation:object
SessionTree | - | Observe | | | new_leaf_id:string old_leaf_id:string summary_entry?:any
AutoCompactionStart | exact reason threshold,overflow,idle,incomplete | Observe | | | reason:word
AutoCompactionEnd | - | Observe | | | aborted:bool will_retry:bool result?:any
AutoRetryStart | - | Observe | | | attempt:count max_attempts:count delay_ms:count error:string
AutoRetryEnd | - | Observe | | | success:bool attempt:count
RuleTriggered | - | Observe | | | rules:array
TodoReminder | - | Observe | | | todos:array attempt:count max_attempts:count
Command | exact command_name | First | | text prompt | command_name:string arguments:string
";

struct Row {
    name: &'static str,
    /// `-`, or `pattern` or `exact`, the field, and the words that the field can be.
    matching: Vec<&'static str>,
    merge: &'static str,
    decides: Vec<&'static str>,
    answers: BTreeSet<&'static str>,
    fields: Vec<Field>,
}

struct Field {
    name: &'static str,
    required: bool,
    kind: &'static str,
}

fn rows() -> Vec<Row> {
    let row = |line: &'static str| {
        let mut cells = line.split('|').map(str::trim);
        let mut words = || cells.next().unwrap_or_default().split_whitespace().collect::<Vec<_>>();
        Row {
            name: words()[0],
            matching: words(),
            merge: words()[0],
            decides: words(),
            answers: words().into_iter().collect(),
            fields: words().into_iter().map(field).collect(),
        }
    };
    ROWS.trim().lines().map(row).collect()
}

fn field(text: &'static str) -> Field {
    let (name, kind) = text.split_once(':').unwrap();
    Field { name: name.trim_end_matches('?'), required: !name.ends_with('?'), kind }
}

impl Row {
    fn event(&self) -> HookEventName {
        HookEventName::from_name(self.name).unwrap()
    }

    /// The words that the field of matchers can be; none where it is any text.
    fn words(&self) -> Vec<&'static str> {
        self.matching.get(2).map(|words| words.split(',').collect()).unwrap_or_default()
    }

    fn value(&self, kind: &str) -> Value {
        match kind {
            "tool" | "string" => json!("alpha"),
            "word" => json!(self.words()[0]),
            "object" => json!({"a": 1}),
            "mcp" => json!({"server_name": "s"}),
            "array" => json!([{"a": 1}]),
            "strings" => json!(["a"]),
            "bool" => json!(true),
            "count" => json!(7),
            "integer" => json!(-7),
            "number" => json!(1.5),
            "any" => json!(null),
            "request" => {
                json!({"model": "m", "messages": [{"role": "user", "content": "hello"}]})
            }
            "response" => json!({"text": "hi", "candidates": [
                {"content": {"role": "model", "parts": ["hi"]}, "finishReason": "STOP"}]}),
            other => panic!("{other}"),
        }
    }

    /// An input with these of its fields.
    fn input(&self, has: impl Fn(&Field) -> bool) -> Value {
        let fields = self.fields.iter().filter(|field| has(field));
        let input: Map<String, Value> =
            fields.map(|field| (field.name.to_owned(), self.value(field.kind))).collect();
        Value::Object(input)
    }
}

/// What a field of that kind cannot be.
fn wrong(kind: &str) -> Vec<Value> {
    match kind {
        "tool" => vec![json!(7), json!(""), json!("x".repeat(1025))],
        "string" => vec![json!(7), json!(["x"])],
        "word" => vec![json!("no such word"), json!("ALPHA"), json!(7)],
        "object" | "mcp" | "request" | "response" => vec![json!("x"), json!([1])],
        "array" => vec![json!({}), json!("x")],
        "strings" => vec![json!([1]), json!("x")],
        "bool" => vec![json!("true"), json!(1)],
        "count" => vec![json!("7"), json!(-1), json!(1.5)],
        "integer" => vec![json!("7"), json!(1.5)],
        "number" => vec![json!("7"), json!(true)],
        "any" => vec![],
        other => panic!("{other}"),
    }
}

fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

#[test]
fn the_table_has_the_rows_of_the_specification_and_no_others() {
    let expected: BTreeSet<&str> = rows().iter().map(|row| row.name).collect();
    let found: BTreeSet<&str> = HookEventName::all().map(HookEventName::as_str).collect();
    assert_eq!(found, expected);
    for row in rows() {
        let found = row.event().row();
        assert_eq!(HookEventName::from_name(&snake_case(row.name)), Some(row.event()));
        let matching = match found.matching {
            Matching::Always => vec!["-".to_owned()],
            Matching::Pattern { field } => vec!["pattern".to_owned(), field.to_owned()],
            Matching::Exact { field, keywords: [] } => vec!["exact".to_owned(), field.to_owned()],
            Matching::Exact { field, keywords: words } => {
                vec!["exact".to_owned(), field.to_owned(), words.join(",")]
            }
        };
        assert_eq!(matching, row.matching, "{}", row.name);
        assert_eq!(format!("{:?}", found.merge), row.merge, "{}", row.name);
        let decides: Vec<&str> = [("block", found.block_means), ("retry", found.retry_means)]
            .into_iter()
            .filter_map(|(word, means)| means.map(|_| word))
            .collect();
        assert_eq!(decides, row.decides, "{}", row.name);
        let answers: BTreeSet<&str> = found.answers.iter().copied().collect();
        assert_eq!(answers, row.answers, "{}", row.name);
        let fields: BTreeSet<&str> = found.fields.iter().map(|field| field.name).collect();
        let expected: BTreeSet<&str> = row.fields.iter().map(|field| field.name).collect();
        assert_eq!(fields, expected, "{}", row.name);
    }
}

/// A system that keeps what its hooks were told, of all events.
fn listening() -> (HookSystem, Arc<Mutex<Vec<Value>>>) {
    let told: Arc<Mutex<Vec<Value>>> = Arc::default();
    let mut builder = HookSystem::builder("/");
    for event in HookEventName::all() {
        let told = Arc::clone(&told);
        builder = builder.handler(HandlerHook::inline(event, "listener", move |input| {
            told.lock().unwrap().push(json(input.json()));
            Ok(None)
        }));
    }
    (builder.build().unwrap(), told)
}

#[tokio::test]
async fn every_field_is_checked_by_its_type_and_reaches_the_hooks() {
    let (system, told) = listening();
    let last = || told.lock().unwrap().pop().unwrap_or_default();
    for row in rows() {
        let name = row.name;
        let least = row.input(|field| field.required);
        let response = fire(&system, name, least.clone()).await;
        assert_eq!(code(&response), None, "{name} {least}");
        assert_eq!(last()["hook_event_name"], name);

        let mut all = row.input(|_| true);
        all["of_the_host"] = json!([1, {"a": null}]);
        assert_eq!(code(&fire(&system, name, all.clone()).await), None, "{name} {all}");
        let heard = last();
        assert_eq!(heard["of_the_host"], json!([1, {"a": null}]), "{name}");
        // Of model payloads, hooks see the stable form.
        for field in row.fields.iter().filter(|it| !matches!(it.kind, "request" | "response")) {
            assert_eq!(heard[field.name], all[field.name], "{name}.{}", field.name);
        }

        for field in &row.fields {
            let path = format!("{name}.{}", field.name);
            if field.required {
                let mut without = least.clone();
                without.as_object_mut().unwrap().remove(field.name);
                refused(&system, name, without, &path).await;
            }
            if field.required && field.kind != "any" {
                let mut null = least.clone();
                null[field.name] = Value::Null;
                refused(&system, name, null, &path).await;
            }
            if !field.required {
                let mut null = all.clone();
                null[field.name] = Value::Null;
                assert_eq!(code(&fire(&system, name, null).await), None, "{path} null");
            }
            for wrong in wrong(field.kind) {
                let mut input = all.clone();
                input[field.name] = wrong;
                refused(&system, name, input, &path).await;
            }
        }
        told.lock().unwrap().clear();
    }
}

async fn refused(system: &HookSystem, event: &str, input: Value, path: &str) {
    let shown = input.to_string();
    let response = fire(system, event, input).await;
    let Some(failure) = response.error() else { panic!("{path}: {shown} was accepted") };
    assert_eq!(failure.code.as_str(), "invalid_payload", "{path} {shown}");
    assert!(response.hooks.is_empty(), "{path}: what is refused is never planned");
    let field = failure.details.get("field").and_then(|field| field.to_text()).unwrap();
    let (_, expected) = path.split_once('.').unwrap();
    assert!(field.starts_with(expected), "{path}: {field}");
}

#[tokio::test]
async fn matchers_are_compared_as_each_row_says() {
    for row in rows() {
        let input = row.input(|field| field.required);
        let subject = row.matching.get(1).map(|field| input[*field].as_str().unwrap().to_owned());
        let cases: Vec<(String, bool)> = match (row.matching[0], subject) {
            ("pattern", Some(subject)) => vec![
                (subject.clone(), true),
                (format!("^{}", &subject[..2]), true),
                (subject[1..].to_owned(), true),
                ("^lpha".to_owned(), false),
                ("other".to_owned(), false),
            ],
            ("exact", Some(subject)) => vec![
                (subject.clone(), true),
                (subject[1..].to_owned(), false),
                (format!("{subject}.*"), false),
                (subject.to_uppercase(), false),
            ],
            _ => vec![("anything".to_owned(), true)],
        };
        for (matcher, matches) in cases {
            let listener = HandlerHook::inline(row.event(), "listener", |_| Ok(None));
            let builder = HookSystem::builder("/").handler(listener.matcher(matcher.as_str()));
            let response = fire(&builder.build().unwrap(), row.name, input.clone()).await;
            assert_eq!(response.hooks.len(), usize::from(matches), "{} {matcher}", row.name);
        }
    }
}

#[tokio::test]
async fn a_decision_means_what_each_row_says() {
    for row in rows() {
        let event = row.event();
        let input = row.input(|field| field.required);
        let only_observes = event.row().merge == MergeStrategy::Observe;
        for (word, reached) in
            [("deny", "block"), ("block", "block"), ("retry", "retry"), ("ask", "ask")]
        {
            let means = reached == "ask" || row.decides.contains(&reached);
            let answer = json!({"decision": word, "reason": "r"});
            let hooks = [
                answering(event, "no", answer),
                answering(event, "yes", json!({"decision": "allow"})),
            ];
            let builder =
                hooks.into_iter().fold(HookSystem::builder("/"), |it, hook| it.handler(hook));
            let response = fire(&builder.build().unwrap(), row.name, input.clone()).await;
            let shown = format!("{} {word}", row.name);
            let expected = match reached {
                _ if only_observes => "proceed",
                // Who asks for a retry where there is none asks for nothing.
                "retry" if !means => "proceed",
                // A block that means nothing is still told.
                other => other,
            };
            assert_eq!(decision(&response), expected, "{shown}");
            let is_useless = only_observes || !means;
            assert_eq!(
                warned(&response, &format!("{reached} has no effect on {}", row.name)),
                is_useless,
                "{shown} {:?}",
                response.processed.warnings
            );
            assert_eq!(response.processed.aggregated.all_outputs.len(), 2, "{shown}");
            assert_eq!(response.processed.aggregated.final_output.is_none(), only_observes);
        }
    }
}
