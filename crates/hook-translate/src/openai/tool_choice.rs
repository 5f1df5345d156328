//! The tools that the model may call: a request's `tool_choice`.
//!
//! | `tool_choice` | stable |
//! | --- | --- |
//! | `"none"`, `"auto"`, `"required"` | mode `NONE`, `AUTO`, `ANY` |
//! | one function or custom tool | `ANY` and its name |
//! | `allowed_tools` | `AUTO` or `ANY`, and the names of functions and custom tools |
//! | a hosted tool | `ANY`; the tool itself is not shown |
//!
//! An empty list of names, the result of hooks without a common name, permits no call. The SDK's
//! form of a tool config is any object with a `tool_choice`, such as the request itself.

use std::collections::{HashMap, HashSet};

use hook_json::shape::{FieldReader, ShapeError};
use hook_json::{JsonObject, RawJson, RawObject};
use hook_protocol::model::ToolConfig;

use crate::{TranslateError, Translated, Warning, json};

const FIELD: &str = "tool_choice";
const ALLOWED: &str = "allowed_tools";

/// The modes: the stable name and the SDK's.
const MODES: [(&str, &str); 3] = [("NONE", "none"), ("AUTO", "auto"), ("ANY", "required")];

/// The types of tools that have names.
const NAMED_TYPES: [&str; 2] = ["function", "custom"];

/// The position of the fields of a type of choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nesting {
    /// In a field with the type's name, as in chat.
    ByType,
    /// Next to the type, as in the responses API.
    Flat,
}

/// A parsed `tool_choice`.
#[derive(Debug, Default)]
struct Choice {
    shown: ToolConfig,
    /// The type, if it is an object.
    kind: Option<String>,
    fields: JsonObject,
    /// The tools in the choice.
    tools: Vec<Tool>,
}

/// A tool in a choice.
#[derive(Debug)]
struct Tool {
    raw: RawJson,
    /// Its name, unless it is a hosted tool.
    name: Option<String>,
}

/// Translates the tool config of an object with a `tool_choice` into the stable form.
pub(super) fn to_stable(nesting: Nesting, config: &RawObject) -> Result<RawObject, TranslateError> {
    Ok(nesting.read(&config.fields())?.shown.to_raw())
}

/// Translates a stable tool config, applied to the `tool_choice` of `base` if there is one.
pub(super) fn from_stable(
    nesting: Nesting,
    config: &RawObject,
    base: Option<&RawObject>,
) -> Result<Translated, TranslateError> {
    let given = ToolConfig::read(config.fields())?;
    let base = base.cloned().unwrap_or_else(RawObject::empty);
    let mut warnings = Vec::new();
    let changes = changes(nesting, &given, "mode", &base.fields(), &mut warnings)?;
    Ok(Translated { value: base.merged(&changes), warnings })
}

/// Returns the tool config of a request, if it is not the default.
pub(super) fn shown(
    nesting: Nesting,
    request: &JsonObject,
) -> Result<Option<ToolConfig>, ShapeError> {
    let shown = nesting.read(request)?.shown;
    Ok((shown != ToolConfig::default()).then_some(shown))
}

/// Returns the fields of a request that `given` changes. `path` is the path of the hook's mode.
pub(super) fn changes(
    nesting: Nesting,
    given: &ToolConfig,
    path: &str,
    request: &JsonObject,
    warnings: &mut Vec<Warning>,
) -> Result<JsonObject, TranslateError> {
    let base = nesting.read(request)?;
    let is_known = |mode: &&String| MODES.iter().any(|(known, _)| known == mode);
    let same = given.mode == base.shown.mode;
    if given.mode.as_ref().is_some_and(|mode| !same && !is_known(&mode)) {
        warnings.push(Warning::new(path, "not a mode of this sdk; it is ignored"));
    }
    let mode = given.mode.as_ref().filter(is_known).or(base.shown.mode.as_ref());
    let names = match &given.allowed_function_names {
        None if given.mode.as_deref() == Some("NONE") => None,
        None => base.shown.allowed_function_names.as_ref(),
        given => given.as_ref(),
    };
    let mut changes = JsonObject::new();
    if mode == base.shown.mode.as_ref() && names == base.shown.allowed_function_names.as_ref() {
        return Ok(changes);
    }
    let sdk_mode = mode.and_then(|mode| MODES.iter().find(|(known, _)| known == mode));
    let sdk_mode = sdk_mode.map(|(_, word)| *word);
    let choice = match (sdk_mode, names) {
        (Some("none"), _) => Some(RawJson::from_text("none")),
        (_, Some(names)) if names.is_empty() => Some(RawJson::from_text("none")),
        (sdk_mode, Some(names)) => Some(nesting.choice_of(&base, sdk_mode, names, request)?),
        (Some(sdk_mode), None) => Some(RawJson::from_text(sdk_mode)),
        (None, None) => None,
    };
    if let Some(choice) = choice {
        changes.insert(FIELD, choice);
    }
    Ok(changes)
}

impl Nesting {
    fn read(self, request: &JsonObject) -> Result<Choice, ShapeError> {
        let Some(value) = json::given(request, FIELD) else { return Ok(Choice::default()) };
        if let Some(mode) = value.to_text() {
            let shown = ToolConfig { mode: Some(shown_mode(mode)), allowed_function_names: None };
            return Ok(Choice { shown, ..Choice::default() });
        }
        let fields = value
            .to_object()
            .map_err(|_| ShapeError::new(FIELD, "a string or an object", value.kind()))?;
        self.read_object(value, fields).map_err(|error| error.within(FIELD))
    }

    fn read_object(self, raw: &RawJson, fields: JsonObject) -> Result<Choice, ShapeError> {
        let kind = FieldReader::new(fields.clone()).text("type")?;
        if kind.as_deref() != Some(ALLOWED) {
            let name = self.name_of(&fields)?;
            let shown = ToolConfig {
                mode: Some("ANY".to_owned()),
                allowed_function_names: name.clone().map(|name| vec![name]),
            };
            let tools = vec![Tool { raw: raw.clone(), name }];
            return Ok(Choice { shown, kind, fields, tools });
        }
        let inner = self.inner(&fields, ALLOWED)?;
        let tools = self.read_tools(inner).map_err(|error| self.within(error, ALLOWED))?;
        let (mode, tools) = tools;
        let names = tools.iter().filter_map(|tool| tool.name.clone()).collect();
        let shown = ToolConfig { mode, allowed_function_names: Some(names) };
        Ok(Choice { shown, kind, fields, tools })
    }

    fn read_tools(self, inner: JsonObject) -> Result<(Option<String>, Vec<Tool>), ShapeError> {
        let mut reader = FieldReader::new(inner);
        let mode = reader.text("mode")?.map(shown_mode);
        let read = |(index, raw): (usize, &RawJson)| {
            let path = || format!("tools[{index}]");
            let fields =
                raw.to_object().map_err(|_| ShapeError::new(path(), "an object", raw.kind()))?;
            let name = self.name_of(&fields).map_err(|error| error.within(&path()))?;
            Ok(Tool { raw: raw.clone(), name })
        };
        let tools = reader.items("tools")?.unwrap_or_default();
        Ok((mode, tools.iter().enumerate().map(read).collect::<Result<_, _>>()?))
    }

    /// Returns the name of a tool, unless it is a hosted one.
    fn name_of(self, tool: &JsonObject) -> Result<Option<String>, ShapeError> {
        let kind = FieldReader::new(tool.clone()).text("type")?;
        let Some(kind) = kind.filter(|kind| NAMED_TYPES.contains(&kind.as_str())) else {
            return Ok(None);
        };
        let name = FieldReader::new(self.inner(tool, &kind)?).text("name");
        name.map_err(|error| self.within(error, &kind))
    }

    /// Returns the fields of a type.
    fn inner(self, fields: &JsonObject, kind: &str) -> Result<JsonObject, ShapeError> {
        match self {
            Self::Flat => Ok(fields.clone()),
            Self::ByType => {
                let inner = FieldReader::new(fields.clone()).object(kind)?;
                Ok(inner.map(|inner| inner.fields()).unwrap_or_default())
            }
        }
    }

    fn within(self, error: ShapeError, kind: &str) -> ShapeError {
        match self {
            Self::Flat => error,
            Self::ByType => error.within(kind),
        }
    }

    /// Returns a choice of these tools. Hosted tools that `base` permits stay permitted, since the
    /// stable form does not contain them.
    fn choice_of(
        self,
        base: &Choice,
        sdk_mode: Option<&str>,
        names: &[String],
        request: &JsonObject,
    ) -> Result<RawJson, TranslateError> {
        let known: HashMap<&str, &RawJson> =
            base.tools.iter().filter_map(|tool| Some((tool.name.as_deref()?, &tool.raw))).collect();
        let custom = self.custom_tools(request);
        let tool = |name: &String| {
            let kind = if custom.contains(name) { "custom" } else { "function" };
            let known = known.get(name.as_str()).copied().cloned();
            known.unwrap_or_else(|| self.tool(kind, name))
        };
        let mut tools: Vec<RawJson> = names.iter().map(tool).collect();
        let is_list = base.kind.as_deref() == Some(ALLOWED);
        if let ([tool], Some("required"), false) = (tools.as_slice(), sdk_mode, is_list) {
            return Ok(tool.clone());
        }
        let mut fields = JsonObject::new();
        if is_list {
            fields.clone_from(&base.fields);
            tools.extend(
                base.tools.iter().filter(|tool| tool.name.is_none()).map(|tool| tool.raw.clone()),
            );
        }
        let mut inner = JsonObject::new();
        inner.insert("mode", RawJson::from_text(sdk_mode.unwrap_or("auto")));
        inner.insert("tools", RawJson::from_items(&tools));
        fields.insert("type", RawJson::from_text(ALLOWED));
        Ok(self.with_inner(fields, ALLOWED, &inner)?.to_raw().into())
    }

    fn tool(self, kind: &str, name: &str) -> RawJson {
        let kind_and_name =
            [("type", kind), ("name", name)].map(|(field, text)| (field, RawJson::from_text(text)));
        match (self, kind_and_name) {
            (Self::Flat, fields) => json::object(fields).into(),
            (Self::ByType, [kind_field, name_field]) => {
                let inner = json::object([name_field]);
                json::object([kind_field, (kind, inner.into())]).into()
            }
        }
    }

    fn with_inner(
        self,
        mut fields: JsonObject,
        kind: &str,
        changes: &JsonObject,
    ) -> Result<JsonObject, ShapeError> {
        match self {
            Self::Flat => fields.merge(changes),
            Self::ByType => {
                let mut inner = self.inner(&fields, kind)?;
                inner.merge(changes);
                fields.insert(kind, inner.to_raw());
            }
        }
        Ok(fields)
    }

    /// Returns the names of the request's custom tools. Hooks do not see other content of `tools`,
    /// so it is not checked.
    fn custom_tools(self, request: &JsonObject) -> HashSet<String> {
        let name = |tool: &RawJson| {
            let tool = tool.to_object().ok()?;
            let is_custom = tool.get("type")?.to_text()? == "custom";
            self.name_of(&tool).ok()?.filter(|_| is_custom)
        };
        let tools = json::given(request, "tools").and_then(RawJson::to_items).unwrap_or_default();
        tools.iter().filter_map(name).collect()
    }
}

fn shown_mode(sdk_mode: String) -> String {
    match MODES.iter().find(|(_, known)| *known == sdk_mode) {
        Some((mode, _)) => (*mode).to_owned(),
        None => sdk_mode,
    }
}
