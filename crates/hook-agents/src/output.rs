//! Tool outputs, in any agent's form.

use hook_json::RawJson;

/// The fields of a tool's response that can hold its output, the most common one first.
pub(super) const OUTPUTS: [&str; 5] =
    ["output", "llmContent", "text", "textResultForLlm", "text_result_for_llm"];

/// Returns a tool's output as text, as a user would read it.
pub(super) fn text_of(result: &RawJson) -> String {
    let fields = result.to_object().unwrap_or_default();
    let text = |name: &str| fields.get(name).and_then(RawJson::to_text);
    let of_shell = || {
        let (out, err) = (text("stdout")?, text("stderr").unwrap_or_default());
        let line = if out.is_empty() || err.is_empty() || out.ends_with('\n') { "" } else { "\n" };
        Some(format!("{out}{line}{err}"))
    };
    let found = result.to_text().or_else(|| OUTPUTS.iter().find_map(|name| text(name)));
    found.or_else(of_shell).unwrap_or_else(|| result.as_str().to_owned())
}
