//! The calls with which a foreign hook is asked about a tool: it was written for the tools of its own agent,
//! which may change one file at a time where the asking agent sends a patch of many, or the other way round.

use super::HomeHook;
use crate::event::input::EventInput;
use crate::json::{JsonObject, RawObject};
use crate::tool::{APPLY_PATCH, FileCall, FileCalls, ToolKind, as_patch, file_calls, with_patch};

/// The calls with which a foreign hook is asked.
#[derive(Debug)]
pub(crate) enum Calls {
    /// None: it is not for this.
    None,
    /// The event as it is.
    AsItIs,
    /// One call after the other.
    Each(Vec<PartialCall>),
    /// It would be asked, but the call cannot be read, with the reason.
    Unreadable(String),
}

/// A part of a call, or all of it in another form.
#[derive(Debug)]
pub(crate) struct PartialCall {
    /// The event with that part.
    pub(crate) input: EventInput,
    /// The file; absent where it is the whole call as a patch.
    file: Option<FileCall>,
}

impl PartialCall {
    /// The arguments of the whole call, in which this part has other arguments; `None` where they cannot be
    /// put back.
    pub(crate) fn put_back(&self, whole: &RawObject, changed: &RawObject) -> Option<RawObject> {
        match &self.file {
            Some(file) => file.put_back(whole, changed),
            None => {
                if let Some(whole) = with_patch(whole, changed) {
                    return Some(whole);
                }
                let FileCalls::Each(calls) =
                    file_calls(APPLY_PATCH, changed, &self.input.directory)
                else {
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
    let as_it_is = || if is_for(hook, input) { Calls::AsItIs } else { Calls::None };
    let is_own = input.asked.as_deref().is_some_and(|asked| asked.agent == hook.language.name());
    let called = input.payload.match_subject().zip(input.payload.tool_input());
    let Some((tool, arguments)) = called.filter(|_| !is_own) else { return as_it_is() };
    let directory = &*input.directory;
    let with = |tool: &str, arguments: &RawObject| with_call(input, tool, arguments);
    let unreadable = |why| match is_for_any_form(hook, input, ToolKind::of_tool(tool)) {
        true => Calls::Unreadable(why),
        false => Calls::None,
    };
    if hook.language.edits_by_patch() {
        let patched = match as_patch(tool, arguments, directory) {
            Ok(patch) => patch.and_then(|patch| with(APPLY_PATCH, &patch)),
            Err(why) => return unreadable(why),
        };
        return match patched.filter(|patched| is_for(hook, patched)) {
            Some(input) => Calls::Each(vec![PartialCall { input, file: None }]),
            None => as_it_is(),
        };
    }
    let files = match file_calls(tool, arguments, directory) {
        FileCalls::Unreadable(why) => return unreadable(why),
        FileCalls::AsItIs => Vec::new(),
        FileCalls::Each(files) => files,
    };
    // A tool of a server, and a shell that applies a patch, may be what the hook is for.
    let is_other = matches!(ToolKind::of_tool(tool), ToolKind::Mcp | ToolKind::Shell);
    if files.is_empty() || (is_other && is_for(hook, input)) {
        return as_it_is();
    }
    let parts = files.into_iter().filter_map(|file| {
        let input = with(file.tool, &file.arguments)?;
        is_for(hook, &input).then_some(PartialCall { input, file: Some(file) })
    });
    let parts: Vec<PartialCall> = parts.collect();
    if parts.is_empty() { as_it_is() } else { Calls::Each(parts) }
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
        ToolKind::FileWrite => [writing, &[]],
        _ => [reading, writing],
    };
    let mut forms = forms.concat().into_iter().filter_map(|tool| with_call(input, tool, &nothing));
    is_for(&hook, input) || forms.any(|form| is_for(&hook, &form))
}

/// The same event about another call.
fn with_call(input: &EventInput, tool: &str, arguments: &RawObject) -> Option<EventInput> {
    let mut fields: JsonObject = RawObject::of(|out| input.payload.write(out)).fields();
    fields.insert("tool_name", crate::json::RawJson::from_text(tool));
    fields.insert("tool_input", arguments.clone());
    fields.remove("mcp_context");
    let payload = input.payload.with_fields(fields)?;
    Some(EventInput { payload, ..input.clone() })
}
