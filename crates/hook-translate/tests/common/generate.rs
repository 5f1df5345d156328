//! Generated texts, messages and changes to them, whatever the SDK.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

pub(crate) fn cases(cases: u32) -> ProptestConfig {
    // A failure is printed with its input; a file of seeds beside the sources is not wanted.
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// Texts that often are equal, contain one another, or are empty.
pub(crate) fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => select(vec!["", "a", "b", "ab", "aba", "the key is 1234", "日本語", "\u{0}\"\\"])
            .prop_map(str::to_owned),
        1 => "\\PC{0,12}",
    ]
}

pub(crate) fn fields(fields: Vec<(&'static str, Vec<Value>)>) -> impl Strategy<Value = Value> {
    let field = |(name, values): (&'static str, Vec<Value>)| {
        prop::option::of(select(values)).prop_map(move |value| (name, value))
    };
    fields.into_iter().map(field).collect::<Vec<_>>().prop_map(|fields| {
        let given = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        Value::Object(given.collect())
    })
}

pub(crate) fn message() -> impl Strategy<Value = Value> {
    (select(vec!["user", "model", "system"]), text())
        .prop_map(|(role, content)| json!({ "role": role, "content": content }))
}

/// One thing that a hook does to a list.
#[derive(Debug, Clone)]
pub(crate) enum Change {
    Insert(Index, Value),
    Remove(Index),
    Edit(Index, String),
}

pub(crate) fn changes() -> impl Strategy<Value = Vec<Change>> {
    let change = prop_oneof![
        (any::<Index>(), message()).prop_map(|(at, message)| Change::Insert(at, message)),
        any::<Index>().prop_map(Change::Remove),
        (any::<Index>(), text()).prop_map(|(at, text)| Change::Edit(at, text)),
    ];
    prop::collection::vec(change, 1..5)
}

pub(crate) fn changed(messages: &[Value], changes: &[Change]) -> Vec<Value> {
    let mut messages = messages.to_vec();
    for change in changes {
        match change {
            Change::Insert(at, message) => {
                messages.insert(at.index(messages.len() + 1), message.clone());
            }
            Change::Remove(at) if !messages.is_empty() => {
                messages.remove(at.index(messages.len()));
            }
            Change::Edit(at, text) if !messages.is_empty() => {
                let at = at.index(messages.len());
                messages[at]["content"] = json!(text);
            }
            Change::Remove(_) | Change::Edit(..) => {}
        }
    }
    messages
}

/// An array's items, or the one value that stands for an array.
pub(crate) fn items(value: &Value) -> Vec<Value> {
    match value {
        Value::Null => vec![],
        Value::Array(items) => items.clone(),
        one => vec![one.clone()],
    }
}

pub(crate) fn without_empty(texts: &[Value], field: Option<&str>) -> Vec<Value> {
    let text = |value: &Value| field.map_or(value.clone(), |field| value[field].clone());
    texts.iter().filter(|value| text(value) != json!("")).cloned().collect()
}

/// JSON in which the fields of these names hold anything, these names too.
pub(crate) fn anything(names: &'static [&'static str]) -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text().prop_map(Value::from),
        select(names).prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 6, move |inner| {
        let name = select(names).prop_map(str::to_owned);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map(name, inner, 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}
