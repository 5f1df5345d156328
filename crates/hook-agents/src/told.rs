//! Conversion between the agents' inputs and native ones.

use hook_json::{JsonObject, RawJson, RawObject};
use hook_protocol::HookEventName;
use hook_protocol::event::input::{EventInput, EventPayload};
use hook_settings::language::{AskedBy, ForeignHook};

use super::table::{Agent, AgentEvent, Base, Ours, Part, with_field};
use super::{self as agents};

/// Returns the input of a hook for an event.
pub(super) fn told(agent: &Agent, hook: &ForeignHook, input: &EventInput) -> Option<RawObject> {
    let event = agent.written_event(&hook.event)?;
    let asks = input.asked.as_deref().and_then(|asked| agents::agent(asked.agent));
    if asks.is_some_and(|asks| asks.runs_itself(hook)) {
        return None;
    }
    if let Some(asked) = input.asked.as_deref().filter(|asked| asked.agent == agent.name) {
        if asked.event != event.name {
            // The agent requests its other events itself; but some have a second name and form.
            let is_other_form =
                event.base.is_some() && event.base != agent.event(&asked.event)?.base;
            return is_other_form.then(|| from_ours(agent, event, input)).flatten();
        }
        let Some(changed) = asked.changed_tool_input(&input.payload) else {
            return Some(asked.said.clone());
        };
        let tool = tool_of(&input.payload)?;
        let theirs = agent.arguments(event.name, tool, changed, &asked.said);
        return Some(laid_into(&asked.said, &theirs));
    }
    from_ours(agent, event, input)
}

/// Describes two arguments of a tool that are one in the agent's form, and differ: one would hide
/// the other. An agent's own request hides nothing from its own hooks.
pub(super) fn contradiction(
    agent: &Agent,
    hook: &ForeignHook,
    input: &EventInput,
) -> Option<String> {
    let is_own = |asked: &AskedBy| asked.agent == agent.name;
    if input.asked.as_deref().is_some_and(is_own) {
        return None;
    }
    let (name, arguments) = tool_of(&input.payload).zip(input.payload.tool_input())?;
    let tools = agent.tools_of(agent.written_event(&hook.event));
    // Most tools have the same arguments in all agents.
    let tool = tools.iter().find(|tool| tool.ours == name && !tool.fields.is_empty())?;
    let arguments = arguments.fields();
    let are_two = |(ours, theirs): &&(&str, &str)| {
        let is_other = !tool.fields.iter().any(|(other, _)| other == theirs);
        let (one, other) = (arguments.get(ours), arguments.get(theirs));
        is_other && one.zip(other).is_some_and(|(one, other)| one != other)
    };
    let (ours, theirs) = tool.fields.iter().find(are_two)?;
    Some(format!(
        "{name} has both `{ours}` and `{theirs}`, which are one argument to hooks in the words of \
         {}, and they differ; leave one out",
        agent.title
    ))
}

/// Replaces the tool's arguments in an agent's request, in the field that holds them.
fn laid_into(said: &RawObject, tool_input: &RawObject) -> RawObject {
    let fields = said.fields();
    for name in ["tool_input", "toolArgs"] {
        if fields.get(name).is_some() {
            return with_field(said, name, tool_input);
        }
    }
    // Without an object of their own, the arguments are among the other fields.
    let mut changed = fields;
    for (name, value) in tool_input.fields().iter() {
        if changed.get(name).is_some() {
            changed.insert(name, value.clone());
        }
    }
    changed.to_raw()
}

fn tool_of(payload: &EventPayload) -> Option<&str> {
    payload.tool_input()?;
    payload.match_subject()
}

/// Builds a hook's input from a request of another agent or a native host.
fn from_ours(agent: &Agent, event: &AgentEvent, input: &EventInput) -> Option<RawObject> {
    let is_ours = match event.ours {
        Ours::BuiltIn(ours) => ours == input.event(),
        Ours::Declared => event.name == input.event().as_str(),
    };
    if !is_ours || !is_part(event.part, input) {
        return None;
    }
    let ours = input.fields_without_files();
    let mut told = JsonObject::new();
    for (base, name) in event.base.unwrap_or(agent.base) {
        told.insert(*name, base_value(*base, event, input));
    }
    let tool = tool_of(&input.payload).zip(input.payload.tool_input());
    let tool = tool.map(|(name, arguments)| agent.theirs(Some(event), name, arguments));
    let own = |name: &str| event.value.and_then(|value| value(name, &ours));
    for (our_name, their_name) in event.fields {
        let value = match (*our_name, &tool) {
            ("tool_name", Some((name, _))) => Some(RawJson::from_text(name)),
            ("tool_input", Some((_, arguments))) => {
                own(their_name).or_else(|| Some(arguments.clone().into()))
            }
            (name, Some((_, arguments))) if name.starts_with("tool_input.") => {
                arguments.fields().get(&name["tool_input.".len()..]).cloned()
            }
            (name, _) => own(their_name).or_else(|| our_value(&ours, name)),
        };
        // Native inputs only report failures.
        let value = match *their_name {
            "result.success" => value.or_else(|| Some(RawJson::from_bool(false))),
            _ => value,
        };
        if let Some(value) = value {
            put_at(&mut told, their_name, super::a3s::value_of(their_name, value));
        }
    }
    // Extra fields of the host may be fields of this agent.
    for (name, value) in input.extra.iter().filter(|(name, _)| *name != "sdk") {
        if told.get(name).is_none() {
            told.insert(name, value.clone());
        }
    }
    for name in event.beside {
        if told.get(name).is_none()
            && let Some(value) = own(name)
        {
            told.insert(*name, value);
        }
    }
    Some(told.to_raw())
}

/// Returns a field; after a dot, a field of that field.
fn our_value(ours: &JsonObject, name: &str) -> Option<RawJson> {
    match name.split_once('.') {
        Some((outer, inner)) => ours.get(outer)?.to_object().ok()?.get(inner).cloned(),
        None => ours.get(name).cloned(),
    }
}

/// Sets a field, or, after a dot, a field of that field.
fn put_at(told: &mut JsonObject, name: &str, value: RawJson) {
    let Some((outer, inner)) = name.split_once('.') else { return told.insert(name, value) };
    let fields = told.get(outer).and_then(|it| it.to_object().ok());
    let mut fields = fields.unwrap_or_default();
    fields.insert(inner, value);
    told.insert(outer, fields.to_raw());
}

fn is_part(part: Part, input: &EventInput) -> bool {
    let tool = tool_of(&input.payload).unwrap_or_default();
    match part {
        Part::All => true,
        Part::Tools(tools) => tools.contains(&tool),
        Part::Mcp => tool.starts_with("mcp_"),
        Part::Succeeded => {
            !matches!(&input.payload, EventPayload::AfterTool(ran) if ran.has_failed())
        }
    }
}

fn base_value(base: Base, event: &AgentEvent, input: &EventInput) -> RawJson {
    match base {
        Base::Session => RawJson::from_text(&input.session_id),
        Base::TranscriptOrNull if input.transcript_path.is_empty() => RawJson::null(),
        Base::Transcript | Base::TranscriptOrNull => RawJson::from_text(&input.transcript_path),
        Base::Cwd => RawJson::from_text(&input.cwd),
        Base::Roots => RawJson::from_items([&RawJson::from_text(&input.cwd)]),
        Base::Event => RawJson::from_text(event.name),
        Base::Timestamp => RawJson::from_text(&input.timestamp),
        Base::Empty => RawObject::empty().into(),
        Base::Milliseconds => RawJson::from_integer(
            std::time::SystemTime::now()
                .duration_since(std::time::UNIX_EPOCH)
                .map(|since| u64::try_from(since.as_millis()).unwrap_or_default())
                .unwrap_or_default(),
        ),
    }
}

/// Converts an agent's request to the fields of a native one.
pub(super) fn to_ours(
    agent: &Agent,
    event: &AgentEvent,
    ours: HookEventName,
    said: &RawObject,
) -> JsonObject {
    let fields = said.fields();
    let mut request = JsonObject::new();
    let mut known: Vec<&str> = Vec::new();
    for (base, name) in event.base.unwrap_or(agent.base) {
        known.push(name);
        let Some(value) = fields.get(name).filter(|value| !value.is_null()) else { continue };
        match base {
            Base::Session => request.insert("session_id", value.clone()),
            Base::Transcript | Base::TranscriptOrNull => {
                request.insert("transcript_path", value.clone());
            }
            Base::Cwd => request.insert("cwd", value.clone()),
            Base::Roots => {
                let first = value.to_items().and_then(|roots| roots.into_iter().next());
                if let (None, Some(first)) = (request.get("cwd"), first) {
                    request.insert("cwd", first);
                }
            }
            Base::Timestamp => request.insert("timestamp", value.clone()),
            Base::Event | Base::Milliseconds | Base::Empty => {}
        }
    }
    let tool_name = |fields: &JsonObject| {
        let name = event.fields.iter().find(|(ours, _)| *ours == "tool_name")?.1;
        fields.get(name)?.to_text()
    };
    let arguments = event.fields.iter().find(|(ours, _)| *ours == "tool_input");
    let written = arguments.and_then(|(_, theirs)| fields.get(theirs));
    let arguments = written.and_then(object_of);
    // Arguments that are no object become those of a command or a patch, so that hooks still run.
    let arguments = arguments.or_else(|| {
        let written = written.filter(|written| !written.is_null())?;
        let mut arguments = JsonObject::new();
        arguments.insert("command", written.clone());
        Some(arguments.to_raw())
    });
    let tool = match (tool_name(&fields), arguments) {
        (Some(name), arguments) => {
            Some(agent.ours(Some(event), &name, &arguments.unwrap_or_else(RawObject::empty)))
        }
        (None, _) => only_tool(event).map(|tool| {
            let mut arguments = JsonObject::new();
            for (our_name, their_name) in event.fields {
                if let (Some(argument), Some(value)) =
                    (our_name.strip_prefix("tool_input."), fields.get(their_name))
                {
                    arguments.insert(argument, value.clone());
                }
            }
            (tool.to_owned(), arguments.to_raw())
        }),
    };
    for (our_name, their_name) in event.fields {
        // A name with a dot is part of a field.
        known.push(their_name.split_once('.').map_or(their_name, |(outer, _)| outer));
        let value = match (*our_name, &tool) {
            ("tool_name", Some((name, _))) => Some(RawJson::from_text(name)),
            ("tool_input", Some((_, arguments))) => Some(arguments.clone().into()),
            (name, _) if name.contains('.') => None,
            ("error", _) => fields.get(their_name).map(error_of),
            ("is_error", _) if *their_name == "result.success" => our_value(&fields, their_name)
                .map(|it| RawJson::from_bool(it.to_bool() != Some(true))),
            (_, _) => our_value(&fields, their_name).filter(|value| !value.is_null()),
        };
        if let Some(value) = value {
            request.insert(*our_name, value);
        }
    }
    if let (Some((name, arguments)), None) = (&tool, request.get("tool_name")) {
        request.insert("tool_name", RawJson::from_text(name));
        request.insert("tool_input", arguments.clone());
    }
    if let Some(made) = event.made {
        made(&fields, &mut request);
    }
    for (name, value) in event.missing {
        if request.get(name).is_none()
            && let Ok(value) = RawJson::parse(*value)
        {
            request.insert(*name, value);
        }
    }
    // Other fields reach hooks unchanged, unless they would pass for native ones.
    let row = ours.row();
    for (name, value) in fields.iter() {
        let is_ours = row.fields.iter().any(|field| field.name == name);
        if !known.contains(&name) && !is_ours && request.get(name).is_none() {
            request.insert(name, value.clone());
        }
    }
    request
}

/// Returns an error as text: some agents send an object with a message.
fn error_of(value: &RawJson) -> RawJson {
    let message = || value.to_object().ok()?.get("message")?.to_text();
    match value.to_text() {
        Some(_) => value.clone(),
        None => RawJson::from_text(&message().unwrap_or_else(|| value.as_str().to_owned())),
    }
}

/// Parses a tool's arguments, which some agents send as a string.
fn object_of(value: &RawJson) -> Option<RawObject> {
    match value.to_text() {
        Some(text) => RawObject::parse(text).ok(),
        None => RawObject::try_from(value.clone()).ok(),
    }
}

/// Returns the tool of an event that names none.
fn only_tool(event: &AgentEvent) -> Option<&'static str> {
    match event.part {
        Part::Tools([tool, ..]) => Some(tool),
        _ => None,
    }
}
