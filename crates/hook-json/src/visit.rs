//! Visiting every value at any depth, without recursion.

use super::read::{plain_string, read_string};
use super::scan::Scanner;
use super::{JsonSlice, RawJson};

/// The position of a value in its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Position<'n> {
    /// A field of an object.
    Field(&'n str),
    /// An element of an array, or the value that the visit began with.
    Item,
}

/// A value during a visit.
#[derive(Debug, Clone, Copy)]
pub enum Visited<'v> {
    /// A value without children.
    Leaf(JsonSlice<'v>),
    /// An object, whose fields come next.
    Object,
    /// An array, whose elements come next.
    Array,
}

/// Visits a value and all values inside it, in order. `visit` gets the context that it returned for
/// the parent, and returns the context for the children; `None` ends the visit. Takes time linear
/// in the text, and memory linear in its depth.
pub fn visit_all<C: Copy>(
    whole: &RawJson,
    context: C,
    mut visit: impl FnMut(C, Position<'_>, Visited<'_>) -> Option<C>,
) {
    let text = whole.as_str();
    let mut scanner = Scanner::at_value(text, 0);
    let mut open: Vec<(bool, C)> = Vec::new();
    let mut key = None;
    loop {
        let context = open.last().map_or(context, |(_, inherited)| *inherited);
        let decoded;
        let position = match key.take() {
            None => Position::Item,
            Some(range) => {
                let written = text.get(range).unwrap_or_default();
                Position::Field(match plain_string(written) {
                    Some(name) => name,
                    None => {
                        decoded = read_string(written);
                        &decoded
                    }
                })
            }
        };
        match scanner.peek() {
            Some(bracket @ (b'{' | b'[')) => {
                let is_object = bracket == b'{';
                let visited = if is_object { Visited::Object } else { Visited::Array };
                let Some(child_context) = visit(context, position, visited) else { return };
                scanner.enter();
                open.push((is_object, child_context));
            }
            _ => {
                let Some(range) = scanner.value() else { return };
                let leaf = Visited::Leaf(JsonSlice::new(whole, range));
                if visit(context, position, leaf).is_none() {
                    return;
                }
            }
        }
        loop {
            let Some((is_object, _)) = open.last() else { return };
            let has_next = match is_object {
                true => {
                    key = scanner.next_key();
                    key.is_some()
                }
                false => scanner.skip_to_entry().is_some(),
            };
            if has_next {
                break;
            }
            scanner.leave();
            open.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    /// Returns each leaf with its depth and its field.
    fn leaves(value: &RawJson) -> Vec<(usize, String, String)> {
        let mut found = Vec::new();
        visit_all(value, 0, |depth, standing, visited| {
            let Visited::Leaf(leaf) = visited else { return Some(depth + 1) };
            let name = match standing {
                Position::Field(name) => name,
                Position::Item => "",
            };
            found.push((depth, name.to_owned(), leaf.as_str().to_owned()));
            Some(depth)
        });
        found
    }

    fn leaves_of_tree(
        value: &Value,
        depth: usize,
        name: &str,
        found: &mut Vec<(usize, String, String)>,
    ) {
        match value {
            Value::Array(items) => {
                items.iter().for_each(|item| leaves_of_tree(item, depth + 1, "", found));
            }
            Value::Object(fields) => {
                fields.iter().for_each(|(name, it)| leaves_of_tree(it, depth + 1, name, found));
            }
            leaf => found.push((depth, name.to_owned(), leaf.to_string())),
        }
    }

    fn tree() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "[a\"\\\\{}\\[\\]:, é]{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 40, 4, |inner| {
            let fields = prop::collection::btree_map("[a\"é]{0,3}", inner.clone(), 0..4);
            prop_oneof![
                prop::collection::vec(inner, 0..4).prop_map(Value::from),
                fields.prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    #[test]
    fn a_hundred_thousand_levels_are_visited() {
        let deep = format!("{}{{\"a\":7}}{}", "[".repeat(100_000), "]".repeat(100_000));
        let found = leaves(&RawJson::parse(deep).unwrap());
        assert_eq!(found, [(100_001, "a".to_owned(), "7".to_owned())]);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn every_leaf_is_visited_once_and_in_order(tree in tree(), pretty in any::<bool>()) {
            let text = match pretty {
                true => serde_json::to_string_pretty(&tree).unwrap(),
                false => tree.to_string(),
            };
            let mut expected = Vec::new();
            leaves_of_tree(&tree, 0, "", &mut expected);
            prop_assert_eq!(leaves(&RawJson::parse(text).unwrap()), expected);
        }
    }
}
