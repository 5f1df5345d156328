//! Tool outputs, in any agent's form.

use hook_json::RawJson;

/// The fields of a tool's response that can hold its output, the most common one first.
pub(super) const OUTPUT_FIELDS: [&str; 5] =
    ["output", "llmContent", "text", "textResultForLlm", "text_result_for_llm"];

/// Returns a tool's output as text, as a user would read it.
pub(super) fn output_text(result: &RawJson) -> String {
    let fields = result.to_object().unwrap_or_default();
    let text = |name: &str| fields.get(name).and_then(RawJson::to_text);
    let shell_output = || {
        let (stdout, stderr) = (text("stdout")?, text("stderr").unwrap_or_default());
        let separator = if stdout.is_empty() || stderr.is_empty() || stdout.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        Some(format!("{stdout}{separator}{stderr}"))
    };
    let plain_text = result.to_text().or_else(|| OUTPUT_FIELDS.iter().find_map(|name| text(name)));
    plain_text.or_else(shell_output).unwrap_or_else(|| result.as_str().to_owned())
}
