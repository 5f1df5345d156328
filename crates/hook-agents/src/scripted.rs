//! A scripted model on loopback, for runs of agents without a network. It has one tool called, and ends the turn once
//! that call has been answered. It speaks GenAI, OpenAI's responses and chat completions, and Anthropic's messages.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};

/// The maximum size of a request, in bytes.
const MAX_REQUEST: u64 = 16 << 20;

/// The maximum number of requests that are kept.
const MAX_KEPT: usize = 64;

/// The time limit for the next bytes of a client.
const READ_TIMEOUT: Duration = Duration::from_secs(10);

/// The tool that the model calls.
#[derive(Debug, Clone)]
pub enum ScriptedCall {
    /// The agent's shell, under whichever name it is offered, with this command.
    Shell(String),
    /// A tool by the agent's own name. Arguments that are a text are one text without names.
    Tool(&'static str, Value),
}

/// A running model. Dropping it ends its threads.
#[derive(Debug)]
pub struct ScriptedModel {
    address: SocketAddr,
    script: Arc<Script>,
    thread: Option<JoinHandle<()>>,
}

/// The state that the model's threads share.
#[derive(Debug)]
struct Script {
    call: ScriptedCall,
    requests: Mutex<Vec<Value>>,
    is_ending: AtomicBool,
}

impl ScriptedModel {
    /// Starts a model on a free port.
    ///
    /// # Errors
    /// Returns an error if there is no port or no thread for it.
    pub fn start(call: ScriptedCall) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let requests = Mutex::default();
        let script = Arc::new(Script { call, requests, is_ending: AtomicBool::new(false) });
        let shared = Arc::clone(&script);
        let thread = std::thread::Builder::new().name("model".to_owned());
        let thread = thread.spawn(move || shared.serve(&listener))?;
        Ok(Self { address, script, thread: Some(thread) })
    }

    /// Returns the URL, without a path.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the requests with tools, in order: those of an agent's turns. The first ones are kept.
    pub fn requests(&self) -> Vec<Value> {
        self.script.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for ScriptedModel {
    fn drop(&mut self) {
        self.script.is_ending.store(true, Ordering::SeqCst);
        // Wakes the thread that waits for clients.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Script {
    fn serve(&self, listener: &TcpListener) {
        std::thread::scope(|scope| {
            for client in listener.incoming() {
                if self.is_ending.load(Ordering::SeqCst) {
                    return;
                }
                let Ok(client) = client else { continue };
                let thread = std::thread::Builder::new();
                // Without a thread the agent sees a closed connection, and asks again.
                let _ = thread.spawn_scoped(scope, move || self.answer_client(client));
            }
        });
    }

    fn answer_client(&self, mut client: TcpStream) -> io::Result<()> {
        client.set_read_timeout(Some(READ_TIMEOUT))?;
        let mut reader = BufReader::new(client.try_clone()?.take(MAX_REQUEST));
        let Some((path, request)) = read_request(&mut reader)? else { return Ok(()) };
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        if has_tools(&request) && requests.len() < MAX_KEPT {
            requests.push(request.clone());
        }
        drop(requests);
        let (content_type, text) = answer(&path, &request, &self.call, has_tools(&request));
        let length = text.len();
        write!(
            client,
            "HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
        )?;
        client.write_all(text.as_bytes())
    }
}

/// Reads a request: its path without a query, and its body, `null` if that is no JSON. `None` if nothing comes.
fn read_request(reader: &mut impl BufRead) -> io::Result<Option<(String, Value)>> {
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        match line.trim() {
            "" => break,
            line => head.push(line.to_owned()),
        }
    }
    let header = |name: &str| {
        let mut lines = head.iter().filter_map(|line| line.split_once(':'));
        lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    };
    let mut body = Vec::new();
    if header("transfer-encoding").is_some() {
        read_chunks(reader, &mut body)?;
    } else {
        let length = header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        reader.take(length).read_to_end(&mut body)?;
    }
    let target = head.first().and_then(|line| line.split(' ').nth(1)).unwrap_or_default();
    let path = target.split('?').next().unwrap_or_default().to_owned();
    Ok(Some((path, serde_json::from_slice(&body).unwrap_or_default())))
}

fn read_chunks(reader: &mut impl BufRead, body: &mut Vec<u8>) -> io::Result<()> {
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let length = u64::from_str_radix(line.trim(), 16).map_err(io::Error::other)?;
        reader.take(length).read_to_end(body)?;
        reader.read_line(&mut line)?;
        if length == 0 {
            return Ok(());
        }
    }
}

/// The names by which agents offer their shell, with their names for its command.
const SHELLS: [(&str, &str); 7] = [
    ("run_shell_command", "command"),
    ("exec_command", "cmd"),
    ("shell_command", "command"),
    ("bash", "command"),
    ("Bash", "command"),
    ("Execute", "command"),
    ("terminal", "command"),
];

impl ScriptedCall {
    /// Returns the tool to call, with its arguments.
    fn tool(&self, request: &Value) -> (&'static str, Value) {
        let shell = match self {
            Self::Tool(name, arguments) => return (name, arguments.clone()),
            Self::Shell(command) => command,
        };
        let offered = request["tools"].to_string();
        let is_offered = |name: &str| offered.contains(&format!("\"name\":\"{name}\""));
        let (name, argument) =
            SHELLS.into_iter().find(|(name, _)| is_offered(name)).unwrap_or(("bash", "command"));
        let mut arguments = json!({argument: shell});
        if argument == "command" {
            arguments["description"] = json!("scripted");
        }
        (name, arguments)
    }
}

/// Returns `true` if a request offers the model tools, as those of an agent's turns do.
fn has_tools(request: &Value) -> bool {
    request["tools"].as_array().is_some_and(|tools| !tools.is_empty())
}

const STREAM: &str = "text/event-stream";
const JSON: &str = "application/json";

fn answer(
    path: &str,
    body: &Value,
    call: &ScriptedCall,
    has_tools: bool,
) -> (&'static str, String) {
    if path.ends_with(":countTokens") {
        return (JSON, json!({"totalTokens": 1}).to_string());
    }
    if path.ends_with(":generateContent") || path.ends_with(":streamGenerateContent") {
        let answered = body["contents"].to_string().contains("\"functionResponse\"");
        let (name, arguments) = call.tool(body);
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
    if path.ends_with("/messages/count_tokens") {
        return (JSON, json!({"input_tokens": 1}).to_string());
    }
    if path.ends_with("/messages") {
        return messages(body, call, has_tools);
    }
    (JSON, json!({"object": "list", "data": [], "models": []}).to_string())
}

fn responses(body: &Value, call: &ScriptedCall, has_tools: bool) -> String {
    let answered = body["input"].to_string().contains("_call_output\"");
    let item = match has_tools && !answered {
        true => {
            let (name, arguments) = call.tool(body);
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

fn chat(body: &Value, call: &ScriptedCall, has_tools: bool) -> (&'static str, String) {
    let answered = body["messages"].to_string().contains("\"role\":\"tool\"");
    let (delta, finished) = match has_tools && !answered {
        true => {
            let (name, arguments) = call.tool(body);
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

fn messages(body: &Value, call: &ScriptedCall, has_tools: bool) -> (&'static str, String) {
    let answered = body["messages"].to_string().contains("\"type\":\"tool_result\"");
    let (block, start, delta, reason) = match has_tools && !answered {
        true => {
            let (name, arguments) = call.tool(body);
            let block =
                json!({"type": "tool_use", "id": "toolu_1", "name": name, "input": arguments});
            let start = json!({"type": "tool_use", "id": "toolu_1", "name": name, "input": {}});
            let delta = json!({"type": "input_json_delta", "partial_json": arguments.to_string()});
            (block, start, delta, "tool_use")
        }
        false => {
            let text = |text: &str| json!({"type": "text", "text": text});
            (text("done"), text(""), json!({"type": "text_delta", "text": "done"}), "end_turn")
        }
    };
    let usage = json!({"input_tokens": 1, "output_tokens": 1, "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0});
    let message = |content: Value, reason: Value| {
        json!({"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"],
            "content": content, "stop_reason": reason, "stop_sequence": null, "usage": usage})
    };
    if body["stream"] != true {
        return (JSON, message(json!([block]), json!(reason)).to_string());
    }
    let events = [
        json!({"type": "message_start", "message": message(json!([]), Value::Null)}),
        json!({"type": "content_block_start", "index": 0, "content_block": start}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null},
            "usage": {"output_tokens": 1}}),
        json!({"type": "message_stop"}),
    ];
    let line = |event: &Value| {
        format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default())
    };
    (STREAM, events.iter().map(line).collect())
}
