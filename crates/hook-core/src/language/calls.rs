//! The calls with which a foreign hook is asked about a tool: it was written for the tools of its own agent,
//! which may change one file at a time where the asking agent sends a patch of many, or the other way round.

use super::HomeHook;
use crate::event::input::EventInput;
use crate::json::{JsonObject, RawJson, RawObject};
use crate::tool::{
    APPLY_PATCH, FileCall, FileCalls, ToolCall, ToolKind, as_patch, file_calls, our_name,
    with_patch,
};

/// The calls with which a foreign hook is asked.
#[derive(Debug)]
pub(crate) enum Calls {
    /// None: it is not for this.
    None,
    /// The event as it is.
    AsItIs,
    /// One call after the other.
    Each {
        /// Those that it is for.
        parts: Vec<PartialCall>,
        /// How many there are of the whole call.
        of: usize,
    },
    /// It would be asked, but the call cannot be read, with the reason.
    Unreadable(String),
}

/// A part of a call, or all of it in another form.
#[derive(Debug)]
pub(crate) struct PartialCall {
    /// The event with that part.
    pub(crate) input: EventInput,
    form: Form,
}

/// What a part is of the whole call.
#[derive(Debug)]
enum Form {
    /// One of its files.
    File(FileCall),
    /// All of it, as a patch.
    Patch,
    /// All of it, under the name that the tool has here.
    Renamed,
}

impl PartialCall {
    /// The arguments of the whole call, in which this part has other arguments; `None` where they cannot be
    /// put back.
    pub(crate) fn put_back(&self, whole: &RawObject, changed: &RawObject) -> Option<RawObject> {
        match &self.form {
            Form::File(file) => file.put_back(whole, changed),
            Form::Renamed => Some(whole.overlaid(&changed.fields())),
            Form::Patch => {
                if let Some(whole) = with_patch(whole, changed) {
                    return Some(whole);
                }
                let patch = ToolCall::of(APPLY_PATCH, changed);
                let FileCalls::Each(calls) = file_calls(&patch, &self.input.directory) else {
                    return None;
                };
                let [call] = calls.as_slice() else { return None };
                let of_whole = whole.fields();
                // The same tool still, with the arguments that it has.
                let is_same =
                    call.arguments.fields().iter().all(|(name, _)| of_whole.get(name).is_some());
                is_same.then(|| whole.overlaid(&call.arguments.fields()))
            }
        }
    }
}

/// The calls with which a hook is asked about an event, as its matcher says.
pub(crate) fn calls(hook: &HomeHook, input: &EventInput) -> Calls {
    let is_own = input.asked.as_deref().is_some_and(|asked| asked.agent == hook.language.name());
    let Some(call) = input.tool_call().filter(|_| !is_own) else {
        return if is_for(hook, input) { Calls::AsItIs } else { Calls::None };
    };
    let whole = |form, tool: &str, arguments: &RawObject| {
        let input = with_call(input, tool, arguments)?;
        is_for(hook, &input)
            .then(|| Calls::Each { parts: vec![PartialCall { input, form }], of: 1 })
    };
    let as_it_is = || match is_for(hook, input) {
        true => Calls::AsItIs,
        // By whatever name a host calls it.
        false => renamed(&call)
            .and_then(|(tool, arguments)| whole(Form::Renamed, tool, &arguments))
            .unwrap_or(Calls::None),
    };
    let directory = &*input.directory;
    let unreadable = |why| match is_for_any_form(hook, input, call.kind) {
        true => Calls::Unreadable(why),
        false => as_it_is(),
    };
    if hook.language.edits_by_patch() {
        return match as_patch(&call, directory) {
            Ok(Some(patch)) => whole(Form::Patch, APPLY_PATCH, &patch).unwrap_or_else(as_it_is),
            Ok(None) => as_it_is(),
            Err(why) => unreadable(why),
        };
    }
    let files = match file_calls(&call, directory) {
        FileCalls::Unreadable(why) => return unreadable(why),
        FileCalls::AsItIs => Vec::new(),
        FileCalls::Each(files) => files,
    };
    // A tool of a server, and a shell that applies a patch, may be what the hook is for.
    let is_other = matches!(call.kind, ToolKind::Mcp | ToolKind::Shell);
    if files.is_empty() || (is_other && is_for(hook, input)) {
        return as_it_is();
    }
    // A command does more than to apply its patch: what is said of the patch approves none.
    let of = files.len() + usize::from(call.kind == ToolKind::Shell);
    let mut parts = Vec::new();
    for file in files {
        let Some(input) = with_call(input, file.tool, &file.arguments) else {
            return unreadable(format!("what it does to `{}` cannot be said", file.path()));
        };
        if is_for(hook, &input) {
            parts.push(PartialCall { input, form: Form::File(file) });
        }
    }
    if parts.is_empty() { as_it_is() } else { Calls::Each { parts, of } }
}

/// A call of a known tool under the name that it has here, with a command as a text.
fn renamed(call: &ToolCall<'_>) -> Option<(&'static str, RawObject)> {
    let name = our_name(call.name).filter(|name| *name != call.name)?;
    let mut fields = call.arguments.fields();
    if call.kind == ToolKind::Shell {
        let given = ["command", "cmd", "script"].iter().find_map(|name| fields.get(name))?;
        let words = || {
            let words: Option<Vec<String>> =
                given.to_items()?.iter().map(RawJson::to_text).collect();
            words.map(|words| words.join(" "))
        };
        let command = given.to_text().or_else(words)?;
        fields.insert("command", RawJson::from_text(&command));
    }
    Some((name, fields.to_raw()))
}

/// Whether a hook is for an event as it is.
fn is_for(hook: &HomeHook, input: &EventInput) -> bool {
    let input = hook.language.told(hook, input);
    input.is_some_and(|input| hook.language.matches(hook, &input))
}

/// Whether a hook is for any form that a call of that kind may have, whatever its condition says of the
/// arguments.
fn is_for_any_form(hook: &HomeHook, input: &EventInput, kind: ToolKind) -> bool {
    let hook = HomeHook { condition: None, ..hook.clone() };
    let nothing = RawObject::empty();
    let reading = ["read_file"].as_slice();
    let writing = ["write_file", "replace", APPLY_PATCH].as_slice();
    let forms = match kind {
        ToolKind::FileRead => [reading, &[]],
        ToolKind::FileWrite | ToolKind::Shell => [writing, &[]],
        _ => [reading, writing],
    };
    let mut forms = forms.concat().into_iter().filter_map(|tool| with_call(input, tool, &nothing));
    is_for(&hook, input) || forms.any(|form| is_for(&hook, &form))
}

/// The same event about another call.
fn with_call(input: &EventInput, tool: &str, arguments: &RawObject) -> Option<EventInput> {
    let mut fields: JsonObject = RawObject::of(|out| input.payload.write(out)).fields();
    fields.insert("tool_name", RawJson::from_text(tool));
    fields.insert("tool_input", arguments.clone());
    fields.remove("mcp_context");
    let payload = input.payload.with_fields(fields)?;
    Some(EventInput { payload, ..input.clone() })
}
