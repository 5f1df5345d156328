//! Recordings as `hook serve --record` writes them, put together line by line.

use serde_json::{Value, json};

/// A recording's text.
pub(super) struct Recorded {
    lines: Vec<String>,
}

impl Recorded {
    pub(super) fn new() -> Self {
        let header = json!({"type": "hook-recording", "version": 1, "engine": "0.1.0",
            "startedAt": "2026-03-14T09:26:53.589Z", "project": "/home/ada/thing"});
        Self { lines: vec![header.to_string()] }
    }

    /// A line as it is.
    pub(super) fn line(mut self, line: &str) -> Self {
        self.lines.push(line.to_owned());
        self
    }

    pub(super) fn message(self, at: u64, request: u64, message: &Value) -> Self {
        let line = json!({"at": at, "request": request, "message": message});
        self.line(&line.to_string())
    }

    pub(super) fn request(self, at: u64, request: u64, event: &str, input: &Value) -> Self {
        let id = format!("c-{request}");
        let message = json!({"type": "hook-execution-request", "eventName": event, "input": input,
            "correlationId": id});
        self.message(at, request, &message)
    }

    pub(super) fn started(self, at: u64, request: u64, name: &str) -> Self {
        let message = json!({"type": "hook-started", "correlationId": format!("c-{request}"),
            "hook": {"name": name, "type": "command", "source": "project", "timeout": 60_000}});
        self.message(at, request, &message)
    }

    pub(super) fn finished(self, at: u64, request: u64, hook: &Value) -> Self {
        let message = json!({"type": "hook-finished", "correlationId": format!("c-{request}"),
            "hook": hook});
        self.message(at, request, &message)
    }

    /// A response with a decision and a reason, which is a string or null.
    pub(super) fn decided(
        self,
        at: u64,
        request: u64,
        event: &str,
        (decision, reason): (&str, Value),
        hooks: &[Value],
    ) -> Self {
        let message = json!({"type": "hook-execution-response",
            "correlationId": format!("c-{request}"), "eventName": event, "success": true,
            "output": {"success": true, "allOutputs": [], "errors": [], "totalDuration": 1},
            "processed": {"decision": decision, "reason": reason, "suppressOutput": false,
                "shouldStop": false},
            "hooks": hooks});
        self.message(at, request, &message)
    }

    pub(super) fn text(&self) -> String {
        self.lines.join("\n") + "\n"
    }
}

/// What became of a hook, with its duration in milliseconds and what it wrote to stdout.
pub(super) fn hook(name: &str, exit: i64, duration: f64, stdout: &str) -> Value {
    json!({"name": name, "type": "command", "source": "project", "success": exit == 0,
        "exitCode": exit, "duration": duration, "queued": 0.01, "warnings": [],
        "decision": if exit == 2 || stdout.contains("\"deny\"") { "block" } else { "proceed" },
        "stdout": stdout, "stderr": ""})
}

/// A hook that failed.
pub(super) fn failed(mut hook: Value, error: &str) -> Value {
    hook["error"] = json!(error);
    hook["success"] = json!(false);
    hook
}

/// A short session in which everything happens once: hooks side by side, a denial, a failure, a
/// timeout, requests that overlap, messages that are missing, and a request that is never answered.
pub(super) fn session() -> Recorded {
    let tool = |name: &str| json!({"tool_name": name, "tool_input": {"path": "a.txt"}});
    let deny = r#"{"decision":"deny","reason":"no shell today"}"#;
    let guard = hook("guard", 0, 40.0, deny);
    let audit = failed(hook("audit", 1, 12.5, ""), "Hook exited with code 1");
    let slow = {
        let mut slow = failed(hook("slow", 0, 500.0, ""), "Hook timed out after 500ms");
        slow["timedOut"] = json!(true);
        slow["signal"] = json!("SIGTERM");
        slow.as_object_mut().unwrap().remove("exitCode");
        slow
    };
    let said = json!("no shell today");
    Recorded::new()
        .request(0, 1, "SessionStart", &json!({"source": "startup"}))
        .decided(900, 1, "SessionStart", ("proceed", Value::Null), &[])
        .request(100_000, 2, "BeforeTool", &tool("shell"))
        .started(100_500, 2, "guard")
        .started(101_000, 2, "audit")
        .finished(113_500, 2, &audit)
        .finished(140_500, 2, &guard)
        .decided(141_000, 2, "BeforeTool", ("block", said), &[guard, audit])
        .request(200_000, 3, "AfterTool", &tool("read"))
        .started(200_400, 3, "slow")
        .request(250_000, 4, "BeforeTool", &tool("read"))
        .decided(250_400, 4, "BeforeTool", ("proceed", Value::Null), &[hook("hasty", 0, 0.3, "")])
        .line(r#"{"at":300000,"missed":3}"#)
        .finished(700_400, 3, &slow)
        .decided(701_000, 3, "AfterTool", ("proceed", Value::Null), &[slow])
        .message(
            710_000,
            5,
            &json!({"type": "hook-execution-response", "correlationId": "c-5", "success": false,
                "error": {"code": "invalid_request", "message": "expected a request"}}),
        )
        .request(800_000, 6, "BeforeAgent", &json!({"prompt": "hello"}))
        .started(800_600, 6, "endless")
        .line(r#"{"at":1000000,"request":6,"message":{"type":"hook-later","new":true}}"#)
        .line(r#"{"at":1000000,"note":"of a later version"}"#)
}
