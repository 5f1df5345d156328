//! The tool calls that a foreign hook is given. It was written for the tools of its own agent,
//! which may change one file per call where the client sends a patch of many, or the reverse.

use super::ForeignHook;
use hook_json::{JsonObject, RawJson, RawObject};
use hook_protocol::event::input::{EventInput, HookInput};
use hook_protocol::tool::{
    APPLY_PATCH, FileCall, FileCalls, ShellCommand, ToolCall, ToolKind, file_calls,
    is_expressed_by_file_calls, native_name, with_patch,
};

const RUN_SHELL: &str = "run_shell_command";

/// The tool calls that a foreign hook is given.
#[derive(Debug)]
pub enum Calls {
    /// No call: the hook does not match.
    None,
    /// The unchanged event.
    Unchanged,
    /// Several calls, one after the other.
    Each {
        /// The calls that the hook matches.
        parts: Vec<PartialCall>,
        /// The number of parts of the whole call.
        total: usize,
    },
    /// The hook would match, but the call cannot be read, for this reason.
    Unreadable(String),
}

/// A part of a call, or the whole call in a different form.
#[derive(Debug)]
pub struct PartialCall {
    /// The event with that part.
    pub input: HookInput,
    form: PartForm,
}

/// The relation of a part to the whole call.
#[derive(Debug)]
enum PartForm {
    /// One of the call's files.
    File(FileCall),
    /// The whole call, as a patch.
    Patch,
    /// The whole call, under the tool's native name.
    Renamed,
    /// The whole call, as a native shell call.
    Command(ShellCommand),
}

impl PartialCall {
    /// Returns `true` if the part has all arguments of the call.
    fn is_whole(&self) -> bool {
        !matches!(&self.form, PartForm::File(file) if !file.has_all_arguments())
    }

    /// Returns `true` if an allow of this part allows the part's action. A deletion is presented as
    /// an edit, and a hook that allows edits need not allow deletions.
    pub fn may_be_approved(&self) -> bool {
        !matches!(&self.form, PartForm::File(file) if file.is_deletion())
    }

    /// Returns the arguments of the whole call with the changed arguments of this part, or `None`
    /// if they cannot be merged.
    pub fn put_back(&self, whole: &RawObject, changed: &RawObject) -> Option<RawObject> {
        match &self.form {
            PartForm::File(file) => file.merge_changes(whole, changed),
            PartForm::Renamed => Some(whole.merged(&changed.fields())),
            PartForm::Command(command) => command.merge_changes(whole, changed),
            PartForm::Patch => {
                if let Some(whole) = with_patch(whole, changed) {
                    return Some(whole);
                }
                let patch = ToolCall::new(APPLY_PATCH, changed);
                let FileCalls::PerFile(calls) = file_calls(&patch, &self.input.directory) else {
                    return None;
                };
                let [call] = calls.as_slice() else { return None };
                let whole_fields = whole.fields();
                // Only a call of the same tool has these arguments.
                let is_same = call
                    .arguments
                    .fields()
                    .iter()
                    .all(|(name, _)| whole_fields.get(name).is_some());
                is_same.then(|| whole.merged(&call.arguments.fields()))
            }
        }
    }
}

/// Returns the tool calls that a hook is given for an event, by its matcher.
pub fn calls(hook: &ForeignHook, input: &HookInput) -> Calls {
    let is_own_call =
        input.original.as_deref().is_some_and(|original| original.agent == hook.language.name());
    let Some(call) = input.tool_call().filter(|_| !is_own_call) else {
        return if hook_matches(hook, input) { Calls::Unchanged } else { Calls::None };
    };
    match matching_parts(hook, input, &call) {
        Ok(Some((parts, total))) => Calls::Each { parts, total },
        Ok(None) if hook_matches(hook, input) => Calls::Unchanged,
        Ok(None) => Calls::None,
        Err(reason) if hook_matches_any_form(hook, input, call.kind) => Calls::Unreadable(reason),
        Err(_) => Calls::None,
    }
}

/// Returns the parts that a hook matches and the number of all; `None` without a split.
///
/// # Errors
/// If the effect of the call is unknown; the error is the reason.
fn matching_parts(
    hook: &ForeignHook,
    input: &HookInput,
    call: &ToolCall<'_>,
) -> Result<Option<(Vec<PartialCall>, usize)>, String> {
    let file_parts = match hook.language.edits_by_patch() {
        true => {
            let patch = input.as_patch().clone()?;
            let patch = patch.and_then(|patch| with_call(input, APPLY_PATCH, &patch));
            patch.into_iter().map(|input| PartialCall { input, form: PartForm::Patch }).collect()
        }
        false => match input.file_calls() {
            FileCalls::Unchanged => Vec::new(),
            FileCalls::Unreadable(reason) => return Err(reason.clone()),
            FileCalls::PerFile(files)
                if hook.language.accepts_relative_paths()
                    && files.iter().any(FileCall::has_all_arguments) =>
            {
                Vec::new()
            }
            FileCalls::PerFile(files) => {
                let part = |file: &FileCall| {
                    let input = with_call(input, file.tool, &file.arguments);
                    let unrepresentable =
                        || format!("what it does to `{}` cannot be said", file.path());
                    let form = PartForm::File(file.clone());
                    Ok(PartialCall { input: input.ok_or_else(unrepresentable)?, form })
                };
                files.iter().map(part).collect::<Result<Vec<_>, String>>()?
            }
        },
    };
    // A tool of a server, or a shell that applies a patch, may do more than change these files.
    let does_more = matches!(call.kind, ToolKind::Mcp | ToolKind::Shell | ToolKind::Other);
    // Without a part for the rest, the hook's answers never decide about the whole call.
    let total = file_parts.len()
        + usize::from(does_more)
        + usize::from(
            !is_expressed_by_file_calls(call) && !file_parts.iter().all(PartialCall::is_whole),
        );
    let mut parts: Vec<_> =
        file_parts.into_iter().filter(|part| hook_matches(hook, &part.input)).collect();
    if parts.is_empty() || does_more {
        let whole = renamed(input, call)?.filter(|whole| hook_matches(hook, &whole.input));
        let matches_unchanged = hook_matches(hook, input);
        // A command of a tool that is not a shell does not tell what the tool is.
        let is_shell_command = whole.is_some() && call.kind == ToolKind::Shell;
        if matches_unchanged && parts.is_empty() && whole.is_none() {
            return Ok(None);
        }
        let unchanged = (matches_unchanged && !is_shell_command)
            .then(|| PartialCall { input: input.clone(), form: PartForm::Renamed });
        parts.splice(0..0, unchanged.into_iter().chain(whole));
    }
    Ok((!parts.is_empty()).then_some((parts, total.max(1))))
}

/// Returns a call of a known tool under its native name, with a shell's command as one text, or
/// `None` if it already has that form.
///
/// # Errors
/// If the command of a shell is unknown; the error is the reason.
fn renamed(input: &HookInput, call: &ToolCall<'_>) -> Result<Option<PartialCall>, String> {
    let command = ShellCommand::from_call(call)?;
    let name = match &command {
        Some(_) => RUN_SHELL,
        None => native_name(call.name).unwrap_or(call.name),
    };
    let mcp_name = input.qualified_mcp_name();
    let name = mcp_name.as_deref().filter(|_| command.is_none()).unwrap_or(name);
    let is_plain = command.as_ref().is_none_or(ShellCommand::is_native);
    if name == call.name && is_plain {
        return Ok(None);
    }
    let (arguments, form) = match command {
        Some(command) => (command.with_native_name(call.arguments), PartForm::Command(command)),
        None => (call.arguments.clone(), PartForm::Renamed),
    };
    Ok(with_call(input, name, &arguments).map(|input| PartialCall { input, form }))
}

/// Returns `true` if a hook matches the unchanged event.
fn hook_matches(hook: &ForeignHook, input: &EventInput) -> bool {
    let input = hook.language.foreign_input(hook, input);
    input.is_some_and(|input| hook.language.matches(hook, &input))
}

/// Returns `true` if a hook matches any form that a call of that kind may take, without its
/// condition on the arguments.
fn hook_matches_any_form(hook: &ForeignHook, input: &EventInput, kind: ToolKind) -> bool {
    let hook = ForeignHook { condition: None, ..hook.clone() };
    let no_arguments = RawObject::empty();
    let read_tools = ["read_file"].as_slice();
    let write_tools = ["write_file", "replace", APPLY_PATCH].as_slice();
    let shell_tools = [RUN_SHELL].as_slice();
    let forms = match kind {
        ToolKind::FileRead => [read_tools, &[]],
        ToolKind::FileWrite => [write_tools, &[]],
        ToolKind::Shell => [write_tools, shell_tools],
        _ => [read_tools, write_tools],
    };
    let mut forms =
        forms.concat().into_iter().filter_map(|tool| with_call(input, tool, &no_arguments));
    hook_matches(&hook, input) || forms.any(|form| hook_matches(&hook, &form))
}

/// Returns the same event with a different tool call.
fn with_call(input: &EventInput, tool: &str, arguments: &RawObject) -> Option<HookInput> {
    let mut fields: JsonObject = RawObject::build(|out| input.payload.write(out)).fields();
    fields.insert("tool_name", RawJson::from_text(tool));
    fields.insert("tool_input", arguments.clone());
    fields.remove("mcp_context");
    let payload = input.payload.with_fields(fields)?;
    Some(HookInput::new(EventInput { payload, ..input.clone() }))
}
