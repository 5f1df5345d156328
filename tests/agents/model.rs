//! A model on loopback that calls one tool and then answers: GenAI's streams, OpenAI's responses and
//! chat completions.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// The tool that the model calls.
#[derive(Debug, Clone)]
pub(super) enum Call {
    /// The agent's shell.
    Shell(String),
    /// A tool by the agent's own name; arguments that are a text are one text without names.
    Tool(&'static str, Value),
}

/// A model that was started; it ends with the process.
pub(super) struct Model {
    pub(super) url: String,
    requests: Arc<Mutex<Vec<Value>>>,
}

impl Model {
    pub(super) fn start(call: Call) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests: Arc<Mutex<Vec<Value>>> = Arc::default();
        let kept = Arc::clone(&requests);
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (kept, call) = (Arc::clone(&kept), call.clone());
                std::thread::spawn(move || client.map(|client| serve(client, &call, &kept)));
            }
        });
        Self { url, requests }
    }

    /// What the agent asked the model with tools, in order.
    pub(super) fn requests(&self) -> Vec<Value> {
        self.requests.lock().unwrap().clone()
    }
}

fn serve(client: TcpStream, call: &Call, requests: &Mutex<Vec<Value>>) -> Option<()> {
    let mut reader = BufReader::new(client.try_clone().ok()?);
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        match line.trim() {
            "" => break,
            line => head.push(line.to_owned()),
        }
    }
    let header = |name: &str| {
        let mut lines = head.iter().filter_map(|line| line.split_once(':'));
        lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    };
    let body = match header("transfer-encoding") {
        Some(_) => chunks(&mut reader)?,
        None => {
            let length = header("content-length").and_then(|it| it.parse().ok()).unwrap_or(0);
            let mut body = vec![0; length];
            reader.read_exact(&mut body).ok()?;
            body
        }
    };
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let path = head.first()?.split(' ').nth(1)?.split('?').next()?.to_owned();
    let has_tools = body["tools"].as_array().is_some_and(|tools| !tools.is_empty());
    if has_tools {
        requests.lock().unwrap().push(body.clone());
    }
    let (kind, text) = answer(&path, &body, call, has_tools);
    let mut client = client;
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        text.len()
    );
    client.write_all(head.as_bytes()).ok()?;
    client.write_all(text.as_bytes()).ok()
}

fn chunks(reader: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let length = usize::from_str_radix(line.trim(), 16).ok()?;
        let mut chunk = vec![0; length + "\r\n".len()];
        reader.read_exact(&mut chunk).ok()?;
        if length == 0 {
            return Some(body);
        }
        body.extend_from_slice(chunk.get(..length)?);
    }
}

const STREAM: &str = "text/event-stream";
const JSON: &str = "application/json";

fn answer(path: &str, body: &Value, call: &Call, has_tools: bool) -> (&'static str, String) {
    if path.ends_with(":countTokens") {
        return (JSON, json!({"totalTokens": 1}).to_string());
    }
    if path.ends_with(":generateContent") || path.ends_with(":streamGenerateContent") {
        let answered = body["contents"].to_string().contains("\"functionResponse\"");
        let (name, arguments) = match call {
            Call::Tool(name, arguments) => (*name, arguments.clone()),
            Call::Shell(shell) => {
                ("run_shell_command", json!({"command": shell, "description": "scripted"}))
            }
        };
        let part = match has_tools && !answered {
            true => json!({"functionCall": {"id": "call_1", "name": name, "args": arguments}}),
            false => json!({"text": "done"}),
        };
        let response = json!({"candidates": [{"content": {"role": "model", "parts": [part]},
            "finishReason": "STOP", "index": 0}],
            "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}});
        return match path.ends_with(":generateContent") {
            true => (JSON, response.to_string()),
            false => (STREAM, format!("data: {response}\n\n")),
        };
    }
    if path.ends_with("/responses") {
        return (STREAM, responses(body, call, has_tools));
    }
    if path.ends_with("/chat/completions") {
        return chat(body, call, has_tools);
    }
    (JSON, json!({"object": "list", "data": [], "models": []}).to_string())
}

fn responses(body: &Value, call: &Call, has_tools: bool) -> String {
    let answered = body["input"].to_string().contains("_call_output\"");
    let tools: Vec<&str> = body["tools"]
        .as_array()
        .map(|tools| tools.iter().filter_map(|tool| tool["name"].as_str()).collect())
        .unwrap_or_default();
    let item = match has_tools && !answered {
        true => {
            let (name, arguments) = match call {
                Call::Tool(name, arguments) => (*name, arguments.clone()),
                Call::Shell(shell) if tools.contains(&"exec_command") => {
                    ("exec_command", json!({"cmd": shell}))
                }
                Call::Shell(shell) => ("shell_command", json!({"command": shell})),
            };
            match &arguments {
                Value::String(text) => json!({"type": "custom_tool_call", "id": "ctc_1",
                    "call_id": "call_1", "name": name, "input": text, "status": "completed"}),
                arguments => {
                    json!({"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": name,
                    "arguments": arguments.to_string(), "status": "completed"})
                }
            }
        }
        false => {
            json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": "done", "annotations": []}]})
        }
    };
    let response = |status: &str, output: Value| {
        json!({"id": "resp_1", "object": "response", "created_at": 1, "model": body["model"],
            "status": status, "output": output, "usage": {"input_tokens": 1,
            "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 1,
            "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 2}})
    };
    let events = [
        ("response.created", json!({"response": response("in_progress", json!([]))})),
        ("response.output_item.done", json!({"output_index": 0, "item": item})),
        ("response.completed", json!({"response": response("completed", json!([item]))})),
    ];
    let mut text = String::new();
    for (number, (kind, mut event)) in events.into_iter().enumerate() {
        event["type"] = json!(kind);
        event["sequence_number"] = json!(number);
        text.push_str(&format!("event: {kind}\ndata: {event}\n\n"));
    }
    text
}

fn chat(body: &Value, call: &Call, has_tools: bool) -> (&'static str, String) {
    let answered = body["messages"].to_string().contains("\"role\":\"tool\"");
    let is_called =
        |name: &str| body["tools"].to_string().contains(&format!("\"name\":\"{name}\""));
    let (delta, finished) = match has_tools && !answered {
        true => {
            let (name, arguments) = match call {
                Call::Tool(name, arguments) => (*name, arguments.clone()),
                Call::Shell(shell) if is_called("run_shell_command") => {
                    ("run_shell_command", json!({"command": shell, "description": "scripted"}))
                }
                Call::Shell(shell) => ("bash", json!({"command": shell})),
            };
            let call = json!({"index": 0, "id": "call_1", "type": "function",
                "function": {"name": name, "arguments": arguments.to_string()}});
            (json!({"role": "assistant", "content": null, "tool_calls": [call]}), "tool_calls")
        }
        false => (json!({"role": "assistant", "content": "done"}), "stop"),
    };
    let usage = json!({"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2});
    let whole = |kind: &str, choices: Value, usage: Value| {
        json!({"id": "chatcmpl-1", "object": kind, "created": 1, "model": body["model"],
            "choices": choices, "usage": usage})
    };
    if body["stream"] != true {
        let choices = json!([{"index": 0, "message": delta, "finish_reason": finished}]);
        return (JSON, whole("chat.completion", choices, usage).to_string());
    }
    let chunks = [
        (json!([{"index": 0, "delta": delta, "finish_reason": null}]), Value::Null),
        (json!([{"index": 0, "delta": {}, "finish_reason": finished}]), Value::Null),
        (json!([]), usage),
    ];
    let chunks = chunks.map(|(choices, usage)| whole("chat.completion.chunk", choices, usage));
    let lines: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    (STREAM, lines + "data: [DONE]\n\n")
}
