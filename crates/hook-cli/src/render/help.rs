//! Pages of `hook help` about topics. They fit a terminal of 80 columns.

use std::fmt::Write;

use hook_protocol::HookEventName;
use hook_protocol::event::input::{BASE_FIELDS, CALLER, TOOL_FIELDS};
use hook_protocol::event::output::{COMMON_FIELDS, SPECIFIC_FIELDS};
use hook_protocol::event::{EventRow, Matching, Topic};
use hook_settings::schema::Field;
use hook_settings::{CONFIG_FIELDS, DEFINITION_FIELDS, HOOK_FIELDS, MATCHER_FIELDS};
use serde_json::{Value, json};

use crate::exit_code;
use crate::output::{Printer, Tone};

/// The width of a page, in columns.
const WIDTH: usize = 80;

/// Returns the page about exit codes.
pub(crate) fn exit_codes(printer: &Printer) -> String {
    let mut page = Page::new(printer);
    page.title("Exit codes of hook");
    for row in &exit_code::TABLE {
        page.entry(2, &row.code(), 9, &row.text());
    }
    page.title("Where something of its own fails");
    for row in &exit_code::FAILURES {
        page.entry(2, &row.codes(), 9, row.meaning);
    }
    page.paragraph(
        "Of two codes, the second is that of `hook fire` if a hook of the event has \
        `failBehavior: block`, or may have. A verdict keeps its code.",
    );
    page.paragraph(
        "A closed output pipe is no failure. `hook COMMAND --help` says more where it \
        differs, docs/exit-codes.md says it for each command.",
    );
    page.out
}

/// Returns the page about settings.
pub(crate) fn settings(printer: &Printer) -> String {
    let mut page = Page::new(printer);
    page.title("Settings");
    page.paragraph(
        "A JSON file: .hooks/settings.json of a project, hooks/settings.json in ~/.config for \
        yourself, /etc/hooks/settings.json for everyone. `hook init --worker python` writes one with a \
        hook, `hook check` says what is wrong with it.",
    );
    page.out.push_str(EXAMPLE_SETTINGS);
    page.paragraph("Each event has a list of definitions, each with hooks. A definition:");
    keys(&mut page, &DEFINITION_FIELDS);
    page.title("A matcher that is an object: all of its keys must match");
    keys(&mut page, &MATCHER_FIELDS);
    page.title("A hook");
    keys(&mut page, &HOOK_FIELDS);
    page.title("hooksConfig: what holds for all hooks of the file");
    keys(&mut page, &CONFIG_FIELDS);
    page.paragraph(
        "`hook schema settings` prints the JSON Schema, for editors. docs/reference has every \
        detail.",
    );
    page.out
}

fn keys(page: &mut Page<'_>, fields: &[Field]) {
    for field in fields {
        let mut about = field.about.to_owned();
        if let Some(default) = field.default {
            let _ = write!(about, " Default: {default}.");
        }
        page.entry(2, &name_and_type(field), 26, &about);
    }
}

/// Returns the keys of settings as JSON.
pub(crate) fn settings_json() -> Value {
    let keys = |fields: &[Field]| -> Vec<Value> {
        let key = |field: &Field| {
            json!({"name": field.name, "type": field.kind.type_name(), "required": field.required,
                "default": field.default, "meaning": field.about})
        };
        fields.iter().map(key).collect()
    };
    json!({
        "definition": keys(&DEFINITION_FIELDS),
        "matcher": keys(&MATCHER_FIELDS),
        "hook": keys(&HOOK_FIELDS),
        "hooksConfig": keys(&CONFIG_FIELDS),
    })
}

const EXAMPLE_SETTINGS: &str = r#"
  {
    "hooks": {
      "BeforeTool": [
        {
          "matcher": {"pathPattern": ["*.env", ".env.*"]},
          "priority": 10,
          "hooks": [
            {
              "type": "command",
              "name": "secrets",
              "command": "echo 'secrets stay where they are' >&2; exit 2",
              "failBehavior": "block"
            }
          ]
        }
      ]
    }
  }
"#;

/// Returns the exit codes as JSON.
pub(crate) fn exit_codes_json() -> Value {
    let row = |row: &exit_code::ExitCodeRow| json!({"code": row.code(), "meaning": row.meaning});
    json!({"exitCodes": exit_code::TABLE.iter().map(row).collect::<Vec<_>>()})
}

/// Returns the page about a hook's input and output.
pub(crate) fn protocol(printer: &Printer) -> String {
    let mut page = Page::new(printer);
    page.title("What a hook reads");
    page.paragraph("One JSON object on standard input, which it need not read. Every event has:");
    for field in &BASE_FIELDS {
        page.entry(2, field.name, 19, field.about);
    }
    page.paragraph("Every event about a tool has:");
    for field in &TOOL_FIELDS {
        page.entry(2, field.name, 19, field.about);
    }
    page.paragraph("Every event of a connected agent has:");
    page.entry(2, CALLER.name, 19, CALLER.about);
    page.paragraph("And it has fields of its own. Unknown fields are passed on.");
    page.title("Events");
    page.paragraph("`hook help events` says of each when it comes, and what a block means.");
    for (topic, events) in by_topic() {
        let names: Vec<&str> = events.iter().map(|event| event.as_str()).collect();
        page.entry(2, topic.title(), 25, &names.join(", "));
    }
    page.paragraph(DECLARED);
    page.paragraph(MATCHERS);
    page.title("What its exit code means");
    for (code, meaning) in ENDINGS {
        page.entry(2, code, 9, meaning);
    }
    page.title("What it writes to standard output");
    page.paragraph(
        "Nothing, or one JSON object. All of it is optional. Anything else is a message \
        to the user and the model. Logs go to standard error.",
    );
    for field in &COMMON_FIELDS {
        page.entry(2, &name_and_type(field), 28, field.about);
    }
    page.paragraph("Fields of hookSpecificOutput:");
    for field in &SPECIFIC_FIELDS {
        page.entry(2, &name_and_type(field), 28, &meaning(field));
    }
    page.title("Its environment");
    for (name, meaning) in ENVIRONMENT {
        page.entry(2, name, 19, meaning);
    }
    page.title("A hook in sh");
    page.out.push_str(EXAMPLE);
    page.title("A hook in Python");
    page.out.push_str(EXAMPLE_PYTHON);
    page.title("A worker");
    page.paragraph(WORKER);
    page.paragraph("Try it with `hook fire`. docs/reference has every detail.");
    page.out
}

const WORKER: &str = "A hook of type worker is started once and stays. It writes a line {\"type\": \
    \"hook-worker\"}; for each event it reads a line with type hook-call, callId, eventName and \
    input, and answers with a line: type hook-answer, the callId, and as output what a hook writes. \
    `hook init --worker python` writes one.";

const DECLARED: &str = "Settings declare more, under hooksConfig.events, as hosts and clients do: \
    what matchers are compared with, how answers are merged, and what a block means. Their \
    fields are whatever the caller sends.";

const MATCHERS: &str = "A matcher that is a text is compared with one field, exactly or as a \
    JavaScript regular expression that may match anywhere in it. One that is an object asks for \
    tools, paths and commands, too (`hook help settings`). Without one, or with *, a hook is for all.";

/// Returns the built-in events by topic.
fn by_topic() -> impl Iterator<Item = (Topic, Vec<HookEventName>)> {
    let about = |topic| HookEventName::all().filter(move |event| event.row().topic == topic);
    Topic::ALL
        .into_iter()
        .map(move |topic| (topic, about(topic).collect()))
        .filter(|(_, events): &(_, Vec<_>)| !events.is_empty())
}

/// Returns the page about events: when each is fired, its fields, and the effect of a block.
pub(crate) fn events(printer: &Printer) -> String {
    let mut page = Page::new(printer);
    page.title("Events");
    page.paragraph(
        "What stands behind reads are its own fields: ? marks what may be missing, () a type \
        other than string. Where nothing is said of a block, it means nothing.",
    );
    for (topic, events) in by_topic() {
        page.title(topic.title());
        for event in events {
            event_entry(&mut page, event.row());
        }
    }
    page.title("Declared events");
    page.paragraph(DECLARED);
    page.paragraph(MATCHERS);
    page.paragraph(
        "`hook schema EVENT` describes the fields, `hook fire EVENT` fires a sample, and `hook \
        help protocol` says what a hook answers.",
    );
    page.out
}

/// Returns all events as JSON.
pub(crate) fn events_json() -> Value {
    json!({"events": HookEventName::all().map(event_json).collect::<Vec<_>>()})
}

/// The meaning of a hook's exit codes (reference/answers.md).
const ENDINGS: [(&str, &str); 4] = [
    ("0", "its standard output is its answer"),
    ("2", "a denial; standard error is the reason"),
    ("other", "it failed; standard error is a warning for user and model"),
    (
        "none",
        "killed or too slow: it failed. Things go on after a failure; with failBehavior block it is \
        a denial",
    ),
];

/// The variables in a hook's environment (reference/answers.md).
const ENVIRONMENT: [(&str, &str); 4] = [
    ("HOOK_PROJECT_DIR", "the project directory; also as CLAUDE_, GEMINI_ and LLXPRT_PROJECT_DIR"),
    ("HOOK_EVENT_NAME", "the event"),
    ("HOOK_SESSION_ID", "the session"),
    ("HOOK_DEPTH", "1, and one more for each engine around this one"),
];

const EXAMPLE: &str = r#"
  #!/bin/sh
  # Keeps the agent out of /etc. Settings: "matcher": "write_file|edit"
  grep -Eq '"(file_)?path": *"/etc/' || exit 0
  echo "/etc is off limits" >&2
  exit 2
"#;

const EXAMPLE_PYTHON: &str = r#"
  #!/usr/bin/env python3
  # Denies /etc, and reminds the model of the tests. For BeforeTool.
  import json, sys
  event = json.load(sys.stdin)
  given = event["tool_input"]
  path = str(given.get("file_path") or given.get("path") or "")
  if path.startswith("/etc/"):
      answer = {"decision": "deny", "reason": path + " is off limits"}
  elif path.endswith(".py"):
      context = "Run the tests after changing " + path
      answer = {"hookSpecificOutput": {"additionalContext": context}}
  else:
      answer = {}
  print(json.dumps(answer))
"#;

/// Returns a hook's input and output fields as JSON.
pub(crate) fn protocol_json() -> Value {
    let named = |field: &Field| json!({"name": field.name, "meaning": field.about});
    let output = |fields: &[Field]| -> Vec<Value> {
        let field = |field: &Field| {
            json!({"name": field.name, "type": field.kind.type_name(), "events": events_of(field),
                "meaning": field.about})
        };
        fields.iter().map(field).collect()
    };
    json!({
        "baseFields": BASE_FIELDS.iter().map(named).collect::<Vec<_>>(),
        "toolFields": TOOL_FIELDS.iter().map(named).collect::<Vec<_>>(),
        "events": HookEventName::all().map(event_json).collect::<Vec<_>>(),
        "output": output(&COMMON_FIELDS),
        "hookSpecificOutput": output(&SPECIFIC_FIELDS),
    })
}

fn event_json(event: HookEventName) -> Value {
    let row = event.row();
    let fields = row.fields.iter().map(|field| {
        json!({"name": field.name, "type": field.kind.type_name(), "required": field.required,
            "meaning": field.about})
    });
    json!({
        "name": row.name,
        "aliases": row.aliases,
        "topic": row.topic.title(),
        "moment": row.moment,
        "fields": fields.collect::<Vec<_>>(),
        "matcher": matcher(row.matching).map(|(field, how)| json!({"field": field, "compared": how})),
        "blockMeans": row.block_means,
        "retryMeans": row.retry_means,
    })
}

fn event_entry(page: &mut Page<'_>, row: &EventRow) {
    page.entry(2, row.name, 21, row.moment);
    let fields: Vec<String> = row.fields.iter().map(|field| payload_field(field, row)).collect();
    if !fields.is_empty() {
        page.entry(4, "reads", 9, &fields.join(", "));
    }
    if let Some((field, how)) = matcher(row.matching) {
        page.entry(4, "matcher", 9, &format!("{field}, {how}"));
    }
    if let Some(meaning) = row.block_means {
        page.entry(4, "block", 9, meaning);
    }
    if let Some(meaning) = row.retry_means {
        page.entry(4, "retry", 9, meaning);
    }
}

fn payload_field(field: &Field, row: &EventRow) -> String {
    let kind = match (field.kind.type_name(), row.matching) {
        (_, Matching::Exact { field: name, keywords: words })
            if name == field.name && !words.is_empty() =>
        {
            format!(" ({})", words.join(", "))
        }
        ("string", _) => String::new(),
        (type_name, _) => format!(" ({type_name})"),
    };
    format!("{}{}{kind}", field.name, if field.required { "" } else { "?" })
}

/// Returns the field that matchers are compared with, and the kind of comparison.
pub(super) fn matcher(matching: Matching) -> Option<(&'static str, &'static str)> {
    let how =
        if matches!(matching, Matching::Pattern { .. }) { "regular expression" } else { "exactly" };
    Some((matching.field()?, how))
}

fn name_and_type(field: &Field) -> String {
    match field.kind.type_name() {
        "string" => field.name.to_owned(),
        type_name => format!("{} ({type_name})", field.name),
    }
}

fn meaning(field: &Field) -> String {
    match &events_of(field)[..] {
        [] => field.about.to_owned(),
        events => format!("{}: {}", events.join(", "), field.about),
    }
}

/// Returns the events for which a field of `hookSpecificOutput` has an effect, if not all.
fn events_of(field: &Field) -> Vec<&'static str> {
    let acts_on = |event: &HookEventName| event.row().answers.contains(&field.name);
    HookEventName::all().filter(acts_on).map(HookEventName::as_str).collect()
}

/// A page under construction.
struct Page<'p> {
    printer: &'p Printer,
    out: String,
}

impl<'p> Page<'p> {
    fn new(printer: &'p Printer) -> Self {
        Self { printer, out: String::new() }
    }

    fn title(&mut self, title: &str) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        let _ = writeln!(self.out, "{}", self.printer.paint(Tone::Strong, title));
    }

    fn paragraph(&mut self, text: &str) {
        if !self.out.ends_with(":\n")
            && self.out.lines().last().is_some_and(|line| line.starts_with(' '))
        {
            self.out.push('\n');
        }
        for line in wrapped(text, WIDTH - 2) {
            let _ = writeln!(self.out, "  {line}");
        }
    }

    /// Writes a term and its meaning in two columns.
    fn entry(&mut self, indent: usize, key: &str, width: usize, text: &str) {
        let start = indent + width;
        let gap = width.saturating_sub(key.chars().count());
        let key = self.printer.paint(Tone::Good, key);
        let mut lines = wrapped(text, WIDTH - start).into_iter();
        let _ = match gap {
            // A term that is too wide goes on its own line above the text.
            0 => writeln!(self.out, "{:indent$}{key}", ""),
            _ => {
                let first = lines.next().unwrap_or_default();
                writeln!(self.out, "{:indent$}{key}{:gap$}{first}", "", "")
            }
        };
        for line in lines {
            let _ = writeln!(self.out, "{:start$}{line}", "");
        }
    }
}

/// Wraps a text into lines of at most `width` characters, except for longer words.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let Some(line) = lines.last_mut() else { break };
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}
