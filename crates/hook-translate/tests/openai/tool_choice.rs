//! Tool configs: a `tool_choice` of either API.

use hook_translate::{Sdk, from_stable_request, from_stable_tool_config, to_stable_tool_config};
use serde_json::{Value, json};

use crate::common::json::{object, value};
use crate::warnings;

const APIS: [Sdk; 2] = [Sdk::OpenAiChat, Sdk::OpenAiResponses];

/// One tool, as the API names it.
fn tool(sdk: Sdk, kind: &str, name: &str) -> Value {
    match sdk {
        Sdk::OpenAiChat => json!({ "type": kind, kind: { "name": name } }),
        _ => json!({ "type": kind, "name": name }),
    }
}

fn allowed(sdk: Sdk, mode: &str, tools: &[Value]) -> Value {
    let inner = json!({ "mode": mode, "tools": tools });
    if sdk == Sdk::OpenAiChat {
        return json!({ "type": "allowed_tools", "allowed_tools": inner });
    }
    json!({ "type": "allowed_tools", "mode": mode, "tools": tools })
}

#[test]
fn a_choice_is_shown_as_mode_and_names() {
    for sdk in APIS {
        for (choice, expected) in [
            (json!(null), json!({})),
            (json!("none"), json!({ "mode": "NONE" })),
            (json!("auto"), json!({ "mode": "AUTO" })),
            (json!("required"), json!({ "mode": "ANY" })),
            (json!("later"), json!({ "mode": "later" })),
            (tool(sdk, "function", "f"), json!({ "mode": "ANY", "allowedFunctionNames": ["f"] })),
            (tool(sdk, "custom", "c"), json!({ "mode": "ANY", "allowedFunctionNames": ["c"] })),
            (json!({ "type": "file_search" }), json!({ "mode": "ANY" })),
            (
                allowed(sdk, "auto", &[tool(sdk, "function", "f"), json!({ "type": "mcp" })]),
                json!({ "mode": "AUTO", "allowedFunctionNames": ["f"] }),
            ),
        ] {
            let base = object(&json!({ "tool_choice": choice, "tools": [], "model": "m" }));
            let shown = to_stable_tool_config(sdk, &base).unwrap().value;
            assert_eq!(value(&shown), expected, "{sdk}: {choice}");
            let same = from_stable_tool_config(sdk, &shown, Some(&base)).unwrap();
            assert_eq!((same.value, same.warnings), (base, vec![]), "{sdk}: {choice}");
        }
    }
}

#[test]
fn a_hooks_tool_config_becomes_a_choice() {
    for sdk in APIS {
        let (f, g) = (tool(sdk, "function", "f"), tool(sdk, "function", "g"));
        let look = tool(sdk, "custom", "look");
        let hosted = json!({ "type": "web_search" });
        for (choice, given, expected) in [
            (json!(null), json!({ "mode": "NONE" }), json!("none")),
            (json!("auto"), json!({ "mode": "ANY" }), json!("required")),
            (f.clone(), json!({ "mode": "NONE" }), json!("none")),
            (f.clone(), json!({ "mode": "AUTO" }), allowed(sdk, "auto", std::slice::from_ref(&f))),
            (f.clone(), json!({ "allowedFunctionNames": ["g"] }), g.clone()),
            (json!("auto"), json!({ "allowedFunctionNames": [] }), json!("none")),
            (
                json!("required"),
                json!({ "allowedFunctionNames": ["g", "look"] }),
                allowed(sdk, "required", &[g.clone(), look.clone()]),
            ),
            (
                json!(null),
                json!({ "allowedFunctionNames": ["f"] }),
                allowed(sdk, "auto", std::slice::from_ref(&f)),
            ),
            (
                allowed(sdk, "auto", &[f.clone(), hosted.clone(), g.clone()]),
                json!({ "mode": "ANY", "allowedFunctionNames": ["g"] }),
                allowed(sdk, "required", &[g.clone(), hosted.clone()]),
            ),
            (json!("auto"), json!({}), json!("auto")),
        ] {
            let mut base = json!({ "tools": [f, look, 1], "tool_choice": choice });
            let changed = from_stable_tool_config(sdk, &object(&given), Some(&object(&base)));
            base["tool_choice"] = expected;
            assert_eq!(value(&changed.unwrap().value), base, "{sdk}: {choice} with {given}");
        }
    }
}

#[test]
fn a_mode_that_the_sdk_does_not_know_is_ignored() {
    for sdk in APIS {
        let base = object(&json!({ "tool_choice": "auto" }));
        let given = object(&json!({ "mode": "VALIDATED" }));
        let changed = from_stable_tool_config(sdk, &given, Some(&base)).unwrap();
        assert_eq!(changed.value, base);
        assert_eq!(warnings(&changed), ["field `mode`: not a mode of this sdk; it is ignored"]);
    }
}

#[test]
fn a_request_without_tools_gets_no_choice_which_the_api_would_refuse() {
    for sdk in APIS {
        for given in [json!({ "mode": "NONE" }), json!({ "allowedFunctionNames": ["f"] })] {
            let base = object(&json!({ "model": "m", "messages": [], "input": [] }));
            let change = object(&json!({ "toolConfig": given }));
            let changed = from_stable_request(sdk, &change, Some(&base)).unwrap();
            assert_eq!(changed.value, base, "{sdk}: {given}");
            assert_eq!(
                warnings(&changed),
                [
                    "field `toolConfig`: the request has no tools, and without them it takes no tool choice"
                ]
            );
            let base = object(&json!({ "model": "m", "tools": [tool(sdk, "function", "f")] }));
            let changed = from_stable_request(sdk, &change, Some(&base)).unwrap();
            assert!(changed.value.fields().get("tool_choice").is_some(), "{sdk}: {given}");
            assert!(changed.warnings.is_empty());
        }
    }
}
