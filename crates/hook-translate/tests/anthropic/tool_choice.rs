//! Which tools the model may call.

use hook_translate::{from_stable_request, from_stable_tool_config, to_stable_tool_config};
use serde_json::{Value, json};

use crate::json::{object, value};
use crate::{ANTHROPIC, warnings};

#[test]
fn a_choice_is_shown_as_a_tool_config() {
    for (choice, expected) in [
        (json!({ "type": "auto", "disable_parallel_tool_use": true }), json!({ "mode": "AUTO" })),
        (json!({ "type": "any" }), json!({ "mode": "ANY" })),
        (json!({ "type": "none" }), json!({ "mode": "NONE" })),
        (
            json!({ "type": "tool", "name": "a" }),
            json!({ "mode": "ANY", "allowedFunctionNames": ["a"] }),
        ),
        (json!({ "type": "later" }), json!({ "mode": "later" })),
        (json!({}), json!({})),
    ] {
        let base = object(&choice);
        let shown = to_stable_tool_config(ANTHROPIC, &base).unwrap().value;
        assert_eq!(value(&shown), expected);
        let same = from_stable_tool_config(ANTHROPIC, &shown, Some(&base)).unwrap();
        assert_eq!((same.value, same.warnings), (base, vec![]));
    }
}

#[test]
fn a_tool_config_is_laid_over_the_choice() {
    let any = json!({ "type": "any", "disable_parallel_tool_use": true });
    let one = json!({ "type": "tool", "name": "a", "x": 1 });
    // What a hook gave, over what, and how many warnings it gets.
    for (base, given, expected, said) in [
        (
            &any,
            json!({ "mode": "AUTO" }),
            json!({ "type": "auto", "disable_parallel_tool_use": true }),
            0,
        ),
        (
            &any,
            json!({ "mode": "NONE", "allowedFunctionNames": ["b"] }),
            json!({ "type": "none" }),
            0,
        ),
        (
            &any,
            json!({ "allowedFunctionNames": ["b"] }),
            json!({ "type": "tool", "disable_parallel_tool_use": true, "name": "b" }),
            0,
        ),
        (&any, json!({ "mode": "ANY", "allowedFunctionNames": ["b", "c"] }), any.clone(), 1),
        (&any, json!({ "allowedFunctionNames": [] }), any.clone(), 1),
        // Several names must not widen a choice of one of them.
        (&one, json!({ "allowedFunctionNames": ["b", "a"] }), one.clone(), 0),
        (&one, json!({ "allowedFunctionNames": ["b", "c"] }), json!({ "type": "any", "x": 1 }), 1),
        (
            &one,
            json!({ "allowedFunctionNames": ["b"] }),
            json!({ "type": "tool", "name": "b", "x": 1 }),
            0,
        ),
        (&one, json!({ "mode": "ANY" }), one.clone(), 0),
        (&one, json!({ "mode": "AUTO" }), json!({ "type": "auto", "x": 1 }), 1),
        (&one, json!({ "mode": "NONE" }), json!({ "type": "none", "x": 1 }), 0),
        (&one, json!({ "mode": "later" }), json!({ "type": "later", "x": 1 }), 2),
    ] {
        let changed =
            from_stable_tool_config(ANTHROPIC, &object(&given), Some(&object(base))).unwrap();
        assert_eq!(value(&changed.value), expected, "{given} over {base}");
        assert_eq!(changed.warnings.len(), said, "{given} over {base}: {:?}", changed.warnings);
    }
    let alone = |given: Value| {
        value(&from_stable_tool_config(ANTHROPIC, &object(&given), None).unwrap().value)
    };
    assert_eq!(alone(json!({})), json!({ "type": "auto" }));
    assert_eq!(
        alone(json!({ "mode": "ANY", "allowedFunctionNames": ["a"] })),
        json!({ "type": "tool", "name": "a" }),
    );
}

#[test]
fn names_that_are_not_carried_over_are_said() {
    let given = json!({ "toolConfig": { "mode": "ANY", "allowedFunctionNames": ["a", "b"] } });
    let base = json!({ "messages": [], "tools": [{ "name": "a" }] });
    let changed = from_stable_request(ANTHROPIC, &object(&given), Some(&object(&base))).unwrap();
    assert_eq!(value(&changed.value)["tool_choice"], json!({ "type": "any" }));
    assert_eq!(
        warnings(&changed),
        ["field `toolConfig.allowedFunctionNames`: the sdk's tool choice holds one name at most; \
             these are not carried over, and any tool may be called"],
    );
}

#[test]
fn a_request_without_tools_gets_no_choice() {
    let base = object(&json!({ "messages": [] }));
    let given = object(&json!({ "toolConfig": { "mode": "NONE" } }));
    let changed = from_stable_request(ANTHROPIC, &given, Some(&base)).unwrap();
    assert_eq!(changed.value, base);
    assert_eq!(changed.warnings.len(), 1);
}
