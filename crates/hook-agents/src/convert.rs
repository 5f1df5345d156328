//! Conversion between the agents' inputs and native ones.

use hook_json::{JsonObject, RawJson, RawObject};
use hook_protocol::HookEventName;
use hook_protocol::event::input::{CALLER, EventInput, EventPayload};
use hook_settings::language::{ForeignHook, OriginalMessage};

use super::table::{Agent, AgentEvent, BaseField, Coverage, NativeEvent, with_field};
use super::{self as agents};

/// The start of the names of a tool's arguments among the fields of an event.
pub(super) const ARGUMENT: &str = "tool_input.";

/// The name of the field with the server of an MCP tool, for agents that send it beside the tool.
pub(super) const MCP_SERVER: &str = "mcp_server";

/// The name of the argument with the edits of a file.
const EDITS: &str = "tool_input.edits";

/// Returns the input of a hook for an event.
pub(super) fn foreign_input(
    agent: &Agent,
    hook: &ForeignHook,
    input: &EventInput,
) -> Option<RawObject> {
    let event = agent.event_in_settings(&hook.event)?;
    let client = input.original.as_deref().and_then(|original| agents::agent(original.agent));
    if client.is_some_and(|client| client.runs_natively(hook)) {
        return None;
    }
    if let Some(original) =
        input.original.as_deref().filter(|original| original.agent == agent.name)
    {
        if original.event != event.name {
            // The agent requests its other events itself; but some have a second name and form.
            let is_other_form = event.base_fields.is_some()
                && event.base_fields != agent.event(&original.event)?.base_fields;
            return is_other_form.then(|| from_native(agent, event, input)).flatten();
        }
        let Some(changed) = original.changed_tool_input(&input.payload) else {
            return Some(original.message.clone());
        };
        let tool = tool_name(&input.payload)?;
        let foreign_arguments = agent.arguments(event.name, tool, changed, &original.message);
        return Some(replace_arguments(event, &original.message, &foreign_arguments));
    }
    from_native(agent, event, input)
}

/// Describes two arguments of a tool that are one in the agent's form, and differ: one would hide
/// the other. An agent's own request hides nothing from its own hooks.
pub(super) fn contradiction(
    agent: &Agent,
    hook: &ForeignHook,
    input: &EventInput,
) -> Option<String> {
    let is_same_agent = |original: &OriginalMessage| original.agent == agent.name;
    if input.original.as_deref().is_some_and(is_same_agent) {
        return None;
    }
    let (name, arguments) = tool_name(&input.payload).zip(input.payload.tool_input())?;
    let tools = agent.tools_of(agent.event_in_settings(&hook.event));
    // Most tools have the same arguments in all agents.
    let tool = tools.iter().find(|tool| tool.native == name && !tool.fields.is_empty())?;
    let arguments = arguments.fields();
    let conflict = |(native, foreign): &&(&str, &str)| {
        let is_renamed = !tool.fields.iter().any(|(other, _)| other == foreign);
        let (one, other) = (arguments.get(native), arguments.get(foreign));
        is_renamed && one.zip(other).is_some_and(|(one, other)| one != other)
    };
    let (native, foreign) = tool.fields.iter().find(conflict)?;
    Some(format!(
        "{name} has both `{native}` and `{foreign}`, which are one argument to hooks in the words of \
         {}, and they differ; leave one out",
        agent.title
    ))
}

/// Replaces the tool's arguments in an agent's request, in the field that holds them.
fn replace_arguments(
    event: &AgentEvent,
    message: &RawObject,
    new_arguments: &RawObject,
) -> RawObject {
    let mut fields = message.fields();
    let nested = event.fields.iter().find(|(native, _)| *native == "tool_input");
    if let Some((_, name)) = nested.filter(|(_, name)| name.contains('.')) {
        insert_at(&mut fields, name, new_arguments.clone().into());
        return fields.to_raw();
    }
    for name in ["tool_input", "toolArgs"] {
        if fields.get(name).is_some() {
            return with_field(message, name, new_arguments);
        }
    }
    // Without an object of their own, the arguments are among the other fields.
    let mut changed = fields;
    for (name, value) in new_arguments.fields().iter() {
        if changed.get(name).is_some() {
            changed.insert(name, value.clone());
        }
    }
    changed.to_raw()
}

fn tool_name(payload: &EventPayload) -> Option<&str> {
    payload.tool_input()?;
    payload.match_subject()
}

/// Builds a hook's input from a request of another agent or a native host.
fn from_native(agent: &Agent, event: &AgentEvent, input: &EventInput) -> Option<RawObject> {
    let is_same_event = match event.native {
        NativeEvent::BuiltIn(native) => native == input.event(),
        NativeEvent::Declared => event.name == input.event().as_str(),
    };
    if !is_same_event || !is_covered(event.coverage, input) {
        return None;
    }
    let native_fields = input.fields_without_files();
    let mut foreign_fields = JsonObject::new();
    for (base, name) in event.base_fields.unwrap_or(agent.base_fields) {
        foreign_fields.insert(*name, base_value(*base, event, input));
    }
    let tool = tool_name(&input.payload).zip(input.payload.tool_input());
    let tool = tool.map(|(name, arguments)| agent.foreign_call(Some(event), name, arguments));
    let computed = |name: &str| event.foreign_value.and_then(|value| value(name, &native_fields));
    let server = tool.as_ref().and_then(|(name, _)| mcp_parts(agent, event, name));
    for (our_name, foreign_name) in event.fields {
        let value = match (*our_name, &tool) {
            (MCP_SERVER, _) => server.map(|(server, _)| RawJson::from_text(server)),
            ("tool_name", Some((name, _))) => {
                Some(RawJson::from_text(server.map_or(name, |(_, tool)| tool)))
            }
            ("tool_input", Some((_, arguments))) => {
                computed(foreign_name).or_else(|| Some(arguments.clone().into()))
            }
            (EDITS, Some((_, arguments))) => edits(&arguments.fields()),
            (name, Some((_, arguments))) if name.starts_with(ARGUMENT) => {
                arguments.fields().get(&name[ARGUMENT.len()..]).cloned()
            }
            (name, _) => computed(foreign_name).or_else(|| field_at(&native_fields, name)),
        };
        // Native inputs only report failures.
        let value = match *foreign_name {
            "result.success" => value.or_else(|| Some(RawJson::from_bool(false))),
            _ => value,
        };
        if let Some(value) = value {
            insert_at(
                &mut foreign_fields,
                foreign_name,
                super::a3s::foreign_value(foreign_name, value),
            );
        }
    }
    // Extra fields of the host may be fields of this agent.
    for (name, value) in input.extra.iter().filter(|(name, _)| !["sdk", CALLER.name].contains(name))
    {
        if foreign_fields.get(name).is_none() {
            foreign_fields.insert(name, value.clone());
        }
    }
    for name in event.extra_fields {
        if foreign_fields.get(name).is_none()
            && let Some(value) = computed(name)
        {
            foreign_fields.insert(*name, value);
        }
    }
    Some(foreign_fields.to_raw())
}

/// Returns the server and the name of an MCP tool for an event that has both.
fn mcp_parts<'n>(agent: &Agent, event: &AgentEvent, name: &'n str) -> Option<(&'n str, &'n str)> {
    event.fields.iter().find(|(native, _)| *native == MCP_SERVER)?;
    name.strip_prefix(agent.mcp.0)?.split_once(agent.mcp.1)
}

/// Returns the edits of a call: those that it has, the replacement, or all of the written content.
fn edits(arguments: &JsonObject) -> Option<RawJson> {
    if let Some(edits) = arguments.get("edits") {
        return Some(edits.clone());
    }
    let old = arguments.get("old_string").cloned();
    let new = arguments.get("new_string").or_else(|| arguments.get("content"))?;
    let mut edit = JsonObject::new();
    edit.insert("old_string", old.unwrap_or_else(|| RawJson::from_text("")));
    edit.insert("new_string", new.clone());
    Some(RawJson::from_items([&edit.to_raw().into()]))
}

/// The text between the places of a field, of which versions of an agent use one or another.
const OR: &str = " or ";

/// Returns the names of the outer fields of a field's places.
pub(super) fn outer_names(name: &str) -> impl Iterator<Item = &str> {
    name.split(OR).map(|place| place.split_once('.').map_or(place, |(outer, _)| outer))
}

/// Returns a field at the first of its places that has it; after a dot, a field of that field.
pub(super) fn field_at(fields: &JsonObject, name: &str) -> Option<RawJson> {
    name.split(OR).find_map(|place| match place.split_once('.') {
        Some((outer, inner)) => fields.get(outer)?.to_object().ok()?.get(inner).cloned(),
        None => fields.get(place).cloned(),
    })
}

/// Sets a field where it is, or else at the first of its places.
fn insert_at(object: &mut JsonObject, name: &str, value: RawJson) {
    let is_there = |place: &&str| field_at(object, place).is_some();
    let name = name.split(OR).find(is_there).or_else(|| name.split(OR).next()).unwrap_or(name);
    let Some((outer, inner)) = name.split_once('.') else { return object.insert(name, value) };
    let fields = object.get(outer).and_then(|field| field.to_object().ok());
    let mut fields = fields.unwrap_or_default();
    fields.insert(inner, value);
    object.insert(outer, fields.to_raw());
}

fn is_covered(coverage: Coverage, input: &EventInput) -> bool {
    let tool = tool_name(&input.payload).unwrap_or_default();
    match coverage {
        Coverage::All => true,
        Coverage::Tools(tools) => tools.contains(&tool),
        Coverage::Mcp => tool.starts_with("mcp_"),
        Coverage::Succeeded => {
            !matches!(&input.payload, EventPayload::AfterTool(ran) if ran.has_failed())
        }
    }
}

fn base_value(base: BaseField, event: &AgentEvent, input: &EventInput) -> RawJson {
    match base {
        BaseField::Session => RawJson::from_text(&input.session_id),
        BaseField::TranscriptOrNull if input.transcript_path.is_empty() => RawJson::null(),
        BaseField::Transcript | BaseField::TranscriptOrNull => {
            RawJson::from_text(&input.transcript_path)
        }
        BaseField::Cwd => RawJson::from_text(&input.cwd),
        BaseField::Roots => RawJson::from_items([&RawJson::from_text(&input.cwd)]),
        BaseField::Event => RawJson::from_text(event.name),
        BaseField::Timestamp => RawJson::from_text(&input.timestamp),
        BaseField::Empty => RawObject::empty().into(),
        BaseField::Milliseconds => RawJson::from_u64(
            std::time::SystemTime::now()
                .duration_since(std::time::UNIX_EPOCH)
                .map(|elapsed| u64::try_from(elapsed.as_millis()).unwrap_or_default())
                .unwrap_or_default(),
        ),
    }
}

/// Converts an agent's request to the fields of a native one.
pub(super) fn to_native(
    agent: &Agent,
    event: &AgentEvent,
    native: HookEventName,
    message: &RawObject,
) -> JsonObject {
    let fields = message.fields();
    let mut request = JsonObject::new();
    let mut known: Vec<&str> = Vec::new();
    for (base, name) in event.base_fields.unwrap_or(agent.base_fields) {
        known.push(name);
        let Some(value) = fields.get(name).filter(|value| !value.is_null()) else { continue };
        match base {
            BaseField::Session => request.insert("session_id", value.clone()),
            BaseField::Transcript | BaseField::TranscriptOrNull => {
                request.insert("transcript_path", value.clone());
            }
            BaseField::Cwd => request.insert("cwd", value.clone()),
            BaseField::Roots => {
                let first = value.to_items().and_then(|roots| roots.into_iter().next());
                if let (None, Some(first)) = (request.get("cwd"), first) {
                    request.insert("cwd", first);
                }
            }
            BaseField::Timestamp => request.insert("timestamp", value.clone()),
            BaseField::Event | BaseField::Milliseconds | BaseField::Empty => {}
        }
    }
    let text_of = |native: &str| {
        let name = event.fields.iter().find(|(known, _)| *known == native)?.1;
        field_at(&fields, name)?.to_text()
    };
    let foreign_tool = text_of("tool_name").map(|name| match text_of(MCP_SERVER) {
        Some(server) => format!("{}{server}{}{name}", agent.mcp.0, agent.mcp.1),
        None => name,
    });
    let arguments = event.fields.iter().find(|(native, _)| *native == "tool_input");
    let sent = arguments.and_then(|(_, foreign)| field_at(&fields, foreign));
    let sent = sent.as_ref();
    let arguments = sent.and_then(parse_arguments);
    // Arguments that are no object become those of a command or a patch, so that hooks still run.
    let arguments = arguments.or_else(|| {
        let sent = sent.filter(|sent| !sent.is_null())?;
        let mut arguments = JsonObject::new();
        arguments.insert("command", sent.clone());
        Some(arguments.to_raw())
    });
    let tool = match (foreign_tool, arguments) {
        (Some(name), arguments) => {
            Some(agent.native_call(Some(event), &name, &arguments.unwrap_or_else(RawObject::empty)))
        }
        (None, _) => only_tool(event).map(|tool| {
            let mut arguments = JsonObject::new();
            for (native_name, foreign_name) in event.fields {
                if let (Some(argument), Some(value)) =
                    (native_name.strip_prefix(ARGUMENT), field_at(&fields, foreign_name))
                {
                    arguments.insert(argument, value);
                }
            }
            (tool.to_owned(), arguments.to_raw())
        }),
    };
    for (native_name, foreign_name) in event.fields {
        known.extend(outer_names(foreign_name));
        let value = match (*native_name, &tool) {
            ("tool_name", Some((name, _))) => Some(RawJson::from_text(name)),
            ("tool_input", Some((_, arguments))) => Some(arguments.clone().into()),
            (name, _) if name.contains('.') || name == MCP_SERVER => None,
            ("error", _) => field_at(&fields, foreign_name).as_ref().map(error_text),
            ("prompt", _) => field_at(&fields, foreign_name).map(prompt_text),
            ("is_error", _) if *foreign_name == "result.success" => field_at(&fields, foreign_name)
                .map(|success| RawJson::from_bool(success.to_bool() != Some(true))),
            (_, _) => field_at(&fields, foreign_name).filter(|value| !value.is_null()),
        };
        if let Some(value) = value {
            request.insert(*native_name, value);
        }
    }
    if let (Some((name, arguments)), None) = (&tool, request.get("tool_name")) {
        request.insert("tool_name", RawJson::from_text(name));
        request.insert("tool_input", arguments.clone());
    }
    if let Some(add_native_fields) = event.native_fields {
        add_native_fields(&fields, &mut request);
    }
    for (name, value) in event.defaults {
        if request.get(name).is_none()
            && let Ok(value) = RawJson::parse(*value)
        {
            request.insert(*name, value);
        }
    }
    // Other fields reach hooks unchanged, unless they would pass for native ones.
    let definition = native.row();
    for (name, value) in fields.iter() {
        let is_native_field = definition.fields.iter().any(|field| field.name == name);
        if !known.contains(&name) && !is_native_field && request.get(name).is_none() {
            request.insert(name, value.clone());
        }
    }
    request
}

/// Returns a prompt as text: some agents send a list of parts.
fn prompt_text(value: RawJson) -> RawJson {
    let Some(parts) = value.to_items() else { return value };
    let text = |part: &RawJson| part.to_object().ok()?.get("text")?.to_text();
    let texts: Vec<String> = parts.iter().filter_map(text).collect();
    RawJson::from_text(&texts.join("\n"))
}

/// Returns an error as text: some agents send an object with a message.
fn error_text(value: &RawJson) -> RawJson {
    let message = || value.to_object().ok()?.get("message")?.to_text();
    match value.to_text() {
        Some(_) => value.clone(),
        None => RawJson::from_text(&message().unwrap_or_else(|| value.as_str().to_owned())),
    }
}

/// Parses a tool's arguments, which some agents send as a string.
fn parse_arguments(value: &RawJson) -> Option<RawObject> {
    match value.to_text() {
        Some(text) => RawObject::parse(text).ok(),
        None => RawObject::try_from(value.clone()).ok(),
    }
}

/// Returns the tool of an event that names none.
fn only_tool(event: &AgentEvent) -> Option<&'static str> {
    match event.coverage {
        Coverage::Tools([tool, ..]) => Some(tool),
        _ => None,
    }
}
