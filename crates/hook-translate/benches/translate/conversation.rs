//! A conversation of about 1 MB, and how each SDK writes it.

use serde_json::{Value, json};

/// How many rounds of question, tool call and answer there are.
const ROUNDS: usize = 200;

/// One thing that is said or done.
#[derive(Debug)]
pub(crate) enum Turn {
    /// The user says something.
    Question(String),
    /// The model says something and calls a tool with that path.
    Call { id: String, text: String, path: String },
    /// What the tool gave.
    Result { id: String, text: String },
    /// The model says something.
    Answer(String),
}

/// The conversation. Most of what is said is short, some of it is as long as a file.
pub(crate) fn turns() -> Vec<Turn> {
    let round = |round: usize| {
        let id = format!("call_{round:04}");
        let long = if round.is_multiple_of(20) { 20 } else { 1 };
        [
            Turn::Question(prose(round, 400 * long)),
            Turn::Call {
                id: id.clone(),
                text: prose(round + 1, 300),
                path: format!("src/module_{round}/file.rs"),
            },
            Turn::Result { id, text: prose(round + 2, 2_400 * long.min(8)) },
            Turn::Answer(prose(round + 3, 900)),
        ]
    };
    (0..ROUNDS).flat_map(round).collect()
}

/// About that many bytes of text as models and tools write it: lines, quotes, now and then an
/// accent.
fn prose(seed: usize, length: usize) -> String {
    let mut text = String::with_capacity(length + 80);
    let mut line = 0;
    while text.len() < length {
        text.push_str(&format!(
            "{seed}.{line}: the \"value\" of field_{line} is read again, à la carte\n"
        ));
        line += 1;
    }
    text
}

pub(crate) fn genai(turns: &[Turn]) -> Value {
    let content = |turn: &Turn| match turn {
        Turn::Question(text) => json!({ "role": "user", "parts": [{ "text": text }] }),
        Turn::Call { id, text, path } => json!({ "role": "model", "parts": [
            { "text": text },
            { "functionCall": { "id": id, "name": "read", "args": { "path": path, "limit": 100 } } },
        ] }),
        Turn::Result { id, text } => json!({ "role": "user", "parts": [
            { "functionResponse": { "id": id, "name": "read", "response": { "output": text } } },
        ] }),
        Turn::Answer(text) => json!({ "role": "model", "parts": [{ "text": text }] }),
    };
    json!({
        "model": "gemini-2.5-pro",
        "contents": turns.iter().map(content).collect::<Vec<_>>(),
        "config": { "temperature": 0.2, "systemInstruction": prose(0, 4_000) },
    })
}

pub(crate) fn openai_chat(turns: &[Turn]) -> Value {
    let message = |turn: &Turn| match turn {
        Turn::Question(text) => json!({ "role": "user", "content": text }),
        Turn::Call { id, text, path } => json!({ "role": "assistant", "content": text,
        "tool_calls": [{ "id": id, "type": "function", "function": {
            "name": "read", "arguments": json!({ "path": path, "limit": 100 }).to_string(),
        } }] }),
        Turn::Result { id, text } => json!({ "role": "tool", "tool_call_id": id, "content": text }),
        Turn::Answer(text) => json!({ "role": "assistant", "content": text }),
    };
    let mut messages = vec![json!({ "role": "developer", "content": prose(0, 4_000) })];
    messages.extend(turns.iter().map(message));
    json!({ "model": "gpt-5", "temperature": 0.2, "messages": messages })
}

pub(crate) fn openai_responses(turns: &[Turn]) -> Value {
    let says = |role: &str, kind: &str, text: &str| json!({ "type": "message", "role": role, "content": [{ "type": kind, "text": text }] });
    let items = |turn: &Turn| match turn {
        Turn::Question(text) => vec![says("user", "input_text", text)],
        Turn::Call { id, text, path } => vec![
            says("assistant", "output_text", text),
            json!({ "type": "function_call", "call_id": id, "name": "read",
                "arguments": json!({ "path": path, "limit": 100 }).to_string() }),
        ],
        Turn::Result { id, text } => {
            vec![json!({ "type": "function_call_output", "call_id": id, "output": text })]
        }
        Turn::Answer(text) => vec![says("assistant", "output_text", text)],
    };
    json!({
        "model": "gpt-5", "temperature": 0.2, "instructions": prose(0, 4_000),
        "input": turns.iter().flat_map(items).collect::<Vec<_>>(),
    })
}

pub(crate) fn anthropic(turns: &[Turn]) -> Value {
    let message = |turn: &Turn| match turn {
        Turn::Question(text) => {
            json!({ "role": "user", "content": [{ "type": "text", "text": text }] })
        }
        Turn::Call { id, text, path } => json!({ "role": "assistant", "content": [
            { "type": "text", "text": text },
            { "type": "tool_use", "id": id, "name": "read", "input": { "path": path, "limit": 100 } },
        ] }),
        Turn::Result { id, text } => json!({ "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": id, "content": text },
        ] }),
        Turn::Answer(text) => json!({ "role": "assistant", "content": text }),
    };
    json!({
        "model": "claude-sonnet-4-5", "max_tokens": 4096, "temperature": 0.2,
        "system": prose(0, 4_000),
        "messages": turns.iter().map(message).collect::<Vec<_>>(),
    })
}
