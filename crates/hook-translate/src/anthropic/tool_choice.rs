//! The tools that the model may call.

use hook_json::shape::{FieldReader, ShapeError};
use hook_json::{JsonObject, RawJson, RawObject};
use hook_protocol::model::ToolConfig;

use crate::{TranslateError, Translated, Warning};

/// The modes: the stable name, and the `type` of a tool choice.
const MODES: [(&str, &str); 3] = [("AUTO", "auto"), ("ANY", "any"), ("NONE", "none")];

/// The `type` of a choice of one tool.
const ONE_TOOL: &str = "tool";

/// Translates a tool choice into the stable form.
pub(crate) fn to_stable_tool_config(choice: &RawObject) -> Result<RawObject, TranslateError> {
    Ok(read(choice.fields())?.to_raw())
}

/// Translates a stable tool config, applied to `base` if there is one.
pub(crate) fn from_stable_tool_config(
    config: &RawObject,
    base: Option<&RawObject>,
) -> Result<Translated, TranslateError> {
    let given = ToolConfig::read(config.fields())?;
    let mut warnings = Vec::new();
    let value = match (overlaid(base, &given, "", &mut warnings)?, base) {
        (Some(choice), _) => choice,
        (None, Some(base)) => base.clone(),
        (None, None) => with_choice(JsonObject::new(), "auto", None),
    };
    Ok(Translated { value, warnings })
}

/// Returns the tool choice of a request, if it is not the default.
pub(super) fn shown_in(request: &mut FieldReader) -> Result<Option<ToolConfig>, ShapeError> {
    let Some(choice) = request.object("tool_choice")? else { return Ok(None) };
    let shown = read(choice.fields()).map_err(|error| error.within("tool_choice"))?;
    Ok((shown != ToolConfig::default()).then_some(shown))
}

/// Returns the tool choice of a request with `given` applied, or `None` if nothing changes.
pub(super) fn overlaid_in(
    base: Option<&RawObject>,
    given: &ToolConfig,
    warnings: &mut Vec<Warning>,
) -> Result<Option<RawObject>, ShapeError> {
    overlaid(base, given, "toolConfig.", warnings).map_err(|error| error.within("tool_choice"))
}

fn read(choice: JsonObject) -> Result<ToolConfig, ShapeError> {
    let mut reader = FieldReader::new(choice);
    let kind = reader.text("type")?;
    let name = reader.text("name")?;
    if kind.as_deref() == Some(ONE_TOOL) {
        let allowed_function_names = name.map(|name| vec![name]);
        return Ok(ToolConfig { mode: Some("ANY".to_owned()), allowed_function_names });
    }
    let known = MODES.into_iter().find(|mode| Some(mode.1) == kind.as_deref());
    let mode = known.map(|mode| mode.0.to_owned()).or(kind);
    Ok(ToolConfig { mode, allowed_function_names: None })
}

/// Returns the base with `given` applied, or `None` if nothing changes. `path` is the prefix of the
/// paths of the hook's fields.
fn overlaid(
    base: Option<&RawObject>,
    given: &ToolConfig,
    path: &str,
    warnings: &mut Vec<Warning>,
) -> Result<Option<RawObject>, ShapeError> {
    let fields = base.map(RawObject::fields).unwrap_or_default();
    let shown = read(fields.clone())?;
    let wanted = ToolConfig {
        mode: given.mode.clone().or_else(|| shown.mode.clone()),
        allowed_function_names: given
            .allowed_function_names
            .clone()
            .or_else(|| shown.allowed_function_names.clone()),
    };
    if wanted == shown {
        return Ok(None);
    }
    let mode = wanted.mode.as_deref().unwrap_or("AUTO");
    let names = wanted.allowed_function_names.as_deref();
    let message = match (mode, names) {
        ("ANY", Some([name])) => return Ok(Some(with_choice(fields, ONE_TOOL, Some(name)))),
        // The only name that the base permits is among them, and the choice must not become wider.
        ("ANY", Some(names)) if is_one_of(&shown, names) => return Ok(None),
        // No tool may be called, so no name is lost.
        ("NONE", _) | (_, None) => None,
        (_, Some([])) => Some("a list without names restricts nothing; it is not carried over"),
        ("ANY", Some(_)) => Some(
            "the sdk's tool choice holds one name at most; these are not carried over, \
             and any tool may be called",
        ),
        (_, Some(_)) => Some(
            "the sdk's tool choice holds a name only with mode `ANY`; these are not carried over, \
             and any tool may be called",
        ),
    };
    if let Some(message) = message {
        warnings.push(Warning::new(format!("{path}allowedFunctionNames"), message));
    }
    if wanted.mode == shown.mode && shown.allowed_function_names.is_none() {
        return Ok(None);
    }
    let known = MODES.into_iter().find(|known| known.0 == mode);
    if known.is_none() {
        let message = "not a mode of this sdk; it is given on as written";
        warnings.push(Warning::new(format!("{path}mode"), message));
    }
    Ok(Some(with_choice(fields, known.map_or(mode, |known| known.1), None)))
}

fn is_one_of(shown: &ToolConfig, names: &[String]) -> bool {
    match shown.allowed_function_names.as_deref() {
        Some([name]) => names.contains(name),
        _ => false,
    }
}

/// Returns the fields of a choice with this `type` and `name`.
fn with_choice(mut fields: JsonObject, kind: &str, name: Option<&str>) -> RawObject {
    fields.insert("type", RawJson::from_text(kind));
    fields.remove("name");
    if let Some(name) = name {
        fields.insert("name", RawJson::from_text(name));
    }
    if kind == "none" {
        // The API rejects the parallel setting for a choice without calls.
        fields.remove("disable_parallel_tool_use");
    }
    fields.to_raw()
}
