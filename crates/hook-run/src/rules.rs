//! Hooks that are files of rules: they run nothing and answer at once.

use std::borrow::Cow;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use hook_json::{JsonKind, JsonObject, RawJson};
use hook_protocol::event::EventPayload;
use hook_protocol::event::input::HookInput;
use hook_protocol::event::output::HookOutput;
use hook_protocol::tool::{FileAccess, ShellCommand};
use hook_rules::{Call, CalledTool, Commands, Decision, Directories, Effect, Match, Rules};

use super::answer::Answer;
use super::executor::{Execution, HookCall, HookExecutor, HookKind, HookStart};

/// The maximum length of a tool's output that rules look at, in bytes.
const MAX_OUTPUT: usize = 1 << 20;

/// Decides by a file of rules.
#[derive(Debug)]
pub(super) struct RulesExecutor {
    label: String,
    rules: Arc<Rules>,
    /// The index of its file among those of the rules.
    file: usize,
    project: String,
    home: String,
}

impl RulesExecutor {
    pub(super) fn new(
        label: &str,
        (rules, file): (Arc<Rules>, usize),
        project: &Path,
        home: Option<&Path>,
    ) -> Self {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        Self {
            label: label.to_owned(),
            rules,
            file,
            project: text(project),
            home: home.map(text).unwrap_or_default(),
        }
    }
}

impl RulesExecutor {
    fn decide(&self, input: &HookInput) -> Decision {
        let facts = input.derived(
            |facts: &Facts| facts.directories.project() == self.project,
            || Facts::of(input, &self.project, &self.home),
        );
        facts.decision(&self.rules, input).of_file(self.file)
    }
}

impl HookExecutor for RulesExecutor {
    fn kind(&self) -> HookKind {
        HookKind::Rule
    }

    fn label(&self) -> &str {
        &self.label
    }

    fn start(&self) -> HookStart<'_> {
        HookStart::InProcess
    }

    fn preview(&self, input: &HookInput) -> Vec<String> {
        let mut matches = self.decide(input).matches;
        matches.sort_by_key(|found| std::cmp::Reverse(found.effect));
        matches
            .iter()
            .map(|found| format!("{}: {}", found.effect.as_str(), reason(found)))
            .collect()
    }

    fn execute(&self, call: HookCall) -> Execution {
        let input = &call.input;
        let decision = self.decide(input);
        let output = output(&decision);
        let mut answer = Answer::of_handler(input.event(), output);
        answer.warnings.extend(
            decision.matches.iter().filter(|found| found.effect == Effect::Warn).map(reason),
        );
        Execution::Done(answer.into())
    }
}

/// The parts of an event that rules are about, read once for all files of rules, and what these decided.
struct Facts {
    call: Call<'static>,
    commands: Commands,
    directories: Directories,
    decisions: Mutex<Vec<(Arc<Rules>, Arc<Decision>)>>,
}

impl Facts {
    fn of(input: &HookInput, project: &str, home: &str) -> Self {
        let directories = Directories::new(&*input.cwd, project, home);
        let call = call(input);
        let commands = Commands::read(&call, &directories);
        Self { call, commands, directories, decisions: Mutex::default() }
    }

    /// Returns what rules decide, which other files among them may have asked before.
    fn decision(&self, rules: &Arc<Rules>, input: &HookInput) -> Arc<Decision> {
        let mut decisions = self.decisions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = decisions.iter().find(|(known, _)| Arc::ptr_eq(known, rules)) {
            return Arc::clone(known);
        }
        let fields = |path: &str| field(input, path);
        let decision = rules.decide_read(&self.call, &self.commands, &self.directories, &fields);
        let decision = Arc::new(decision);
        decisions.push((Arc::clone(rules), Arc::clone(&decision)));
        decision
    }
}

/// Returns a field of the input, or of the agent's own message, as text.
fn field(input: &HookInput, path: &str) -> Option<String> {
    let original = input.original.as_ref();
    let in_object = |object: &JsonObject| {
        let mut names = path.split('.');
        let mut value = object.get(names.next()?)?.clone();
        for name in names {
            value = value.to_object().ok()?.get(name)?.clone();
        }
        (!value.is_null()).then(|| value.to_text().unwrap_or_else(|| value.as_str().to_owned()))
    };
    in_object(&input.to_raw().fields()).or_else(|| in_object(&original?.fields()))
}

fn call(input: &HookInput) -> Call<'static> {
    let mut call = Call::default();
    match &input.payload {
        EventPayload::BeforeAgent(payload) => {
            call.prompt = Some(Cow::Owned(payload.prompt.clone()))
        }
        EventPayload::AfterTool(payload) => {
            let text = payload.tool_response.to_text();
            let text = text.unwrap_or_else(|| payload.tool_response.as_str().to_owned());
            let end =
                (0..=MAX_OUTPUT.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
            call.output = Some(Cow::Owned(
                text.get(..end.unwrap_or_default()).unwrap_or_default().to_owned(),
            ));
        }
        _ => {}
    }
    let Some(tool) = input.tool_call().filter(|_| input.event().is_before_tool()) else {
        return call;
    };
    match ShellCommand::from_call(&tool) {
        Ok(Some(command)) => call.commands.push(Cow::Owned(command.quoted(&tool))),
        Ok(None) => {}
        Err(reason) => call.unread = Some(reason),
    }
    let server = match &input.payload {
        EventPayload::BeforeTool(payload) => payload.mcp_context.as_ref(),
        _ => None,
    };
    let server = server.map(|context| context.server_name.clone());
    let server = server.or_else(|| mcp_server(tool.name).map(str::to_owned));
    let mut called = CalledTool::new(tool.name, server);
    called.names.extend(tool.name.rsplit_once("__").map(|(_, name)| name.to_owned()));
    called.names.extend(input.qualified_mcp_name());
    call.tool = Some(called);
    let files = input.files();
    for (path, access) in &files.list {
        let list = match access {
            FileAccess::Read => &mut call.reads,
            FileAccess::Write => &mut call.writes,
        };
        list.push(Cow::Owned(path.clone()));
    }
    if !files.complete {
        call.unread.get_or_insert_with(|| "not all files are known that it names".to_owned());
    }
    for (name, value) in tool.arguments.fields().iter() {
        if matches!(name, "url" | "urls" | "uri") {
            call.urls.extend(texts(value).into_iter().map(Cow::Owned));
        }
    }
    call
}

/// Returns the server in the name of a tool, as in `mcp__SERVER__TOOL`.
fn mcp_server(name: &str) -> Option<&str> {
    Some(name.strip_prefix("mcp__")?.split_once("__")?.0)
}

fn texts(value: &RawJson) -> Vec<String> {
    match value.kind() {
        JsonKind::String => value.to_text().into_iter().collect(),
        JsonKind::Array => {
            value.to_items().unwrap_or_default().iter().filter_map(RawJson::to_text).collect()
        }
        _ => Vec::new(),
    }
}

fn reason(found: &Match) -> String {
    let Match { message, rule, subject, .. } = found;
    // What cannot be read is the same for all files, so that it is said once.
    match rule.ends_with(":opaque") {
        true => format!("{message} (`{subject}`)"),
        false => format!("{message} (rule {rule}: `{subject}`)"),
    }
}

/// Returns the answer to a call: of several rules the strictest effect, with all its reasons.
fn output(decision: &Decision) -> Option<HookOutput> {
    let of = |effect: Effect| {
        let reasons = decision.matches.iter().filter(|found| found.effect == effect).map(reason);
        reasons.take(5).collect::<Vec<_>>().join("; ")
    };
    match decision.effect()? {
        Effect::Deny => Some(HookOutput::deny(of(Effect::Deny))),
        Effect::Ask => Some(HookOutput::ask(of(Effect::Ask))),
        Effect::Context => {
            Some(HookOutput::default().with_additional_context(&of(Effect::Context)))
        }
        _ => Some(HookOutput::default().with_system_message(of(Effect::Warn))),
    }
}
