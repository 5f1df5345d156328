//! The output of a stream without its final event, joined from the other events.

use std::collections::BTreeMap;

use hook_json::shape::{FieldReader, ShapeError};
use hook_json::{JsonKind, JsonObject, RawJson, RawObject};

/// A text that grows.
struct Growth {
    /// The prefix of its events, which end with `.delta` and `.done`.
    event: &'static str,
    /// The item's list whose element has the text, and the event's field with the index there;
    /// `None` if the item itself has it.
    list: Option<(&'static str, &'static str)>,
    /// The field that grows.
    field: &'static str,
}

const CONTENT: (&str, &str) = ("content", "content_index");
const SUMMARY: (&str, &str) = ("summary", "summary_index");

const GROWTHS: [Growth; 8] = [
    Growth { event: "response.output_text", list: Some(CONTENT), field: "text" },
    Growth { event: "response.refusal", list: Some(CONTENT), field: "refusal" },
    Growth { event: "response.reasoning_text", list: Some(CONTENT), field: "text" },
    Growth { event: "response.reasoning_summary_text", list: Some(SUMMARY), field: "text" },
    Growth { event: "response.function_call_arguments", list: None, field: "arguments" },
    Growth { event: "response.mcp_call_arguments", list: None, field: "arguments" },
    Growth { event: "response.custom_tool_call_input", list: None, field: "input" },
    Growth { event: "response.code_interpreter_call_code", list: None, field: "code" },
];

/// Events with a whole element of a list, at its start or its end.
const ELEMENTS: [(&str, (&str, &str)); 2] =
    [("response.content_part", CONTENT), ("response.reasoning_summary_part", SUMMARY)];

/// The items of an output, by index.
#[derive(Debug, Default)]
pub(super) struct Output {
    items: BTreeMap<u64, Item>,
}

#[derive(Debug, Default)]
struct Item {
    object: PartialObject,
    lists: BTreeMap<&'static str, BTreeMap<u64, PartialObject>>,
}

/// An object of an event, and the text that arrived later.
#[derive(Debug, Default)]
struct PartialObject {
    fields: JsonObject,
    text: Option<(&'static str, String)>,
}

impl Output {
    /// Adds the content of an event of that kind.
    pub(super) fn add(&mut self, kind: &str, mut event: FieldReader) -> Result<(), ShapeError> {
        let is_last = kind.ends_with(".done");
        let Some(subject) = kind.strip_suffix(".delta").or(kind.strip_suffix(".done")) else {
            return self.add_start(kind, &mut event);
        };
        if subject == "response.output_item" {
            return self.set_item(&mut event);
        }
        if let Some((_, list)) = ELEMENTS.iter().find(|(event, _)| *event == subject) {
            return self.set_element(*list, &mut event);
        }
        let Some(growth) = GROWTHS.iter().find(|growth| growth.event == subject) else {
            return Ok(());
        };
        let text = event.text(if is_last { growth.field } else { "delta" })?;
        let position = read_index(&mut event, "output_index")?;
        let item = self.items.entry(position).or_default();
        let target = match growth.list {
            None => &mut item.object,
            Some((list, index)) => {
                let index = self::read_index(&mut event, index)?;
                item.lists.entry(list).or_default().entry(index).or_default()
            }
        };
        let Some(text) = text else { return Ok(()) };
        match &mut target.text {
            Some((field, joined)) if !is_last && *field == growth.field => joined.push_str(&text),
            joined => *joined = Some((growth.field, text)),
        }
        Ok(())
    }

    fn add_start(&mut self, kind: &str, event: &mut FieldReader) -> Result<(), ShapeError> {
        match kind.strip_suffix(".added") {
            Some("response.output_item") => self.set_item(event),
            subject => match ELEMENTS.iter().find(|(event, _)| Some(*event) == subject) {
                Some((_, list)) => self.set_element(*list, event),
                None => Ok(()),
            },
        }
    }

    /// Sets an item, which replaces its earlier content.
    fn set_item(&mut self, event: &mut FieldReader) -> Result<(), ShapeError> {
        if let Some(item) = event.object("item")? {
            let position = read_index(event, "output_index")?;
            self.items
                .insert(position, Item { object: PartialObject::whole(&item), ..Item::default() });
        }
        Ok(())
    }

    fn set_element(
        &mut self,
        (list, index): (&'static str, &str),
        event: &mut FieldReader,
    ) -> Result<(), ShapeError> {
        if let Some(element) = event.object("part")? {
            let item = self.items.entry(read_index(event, "output_index")?).or_default();
            let elements = item.lists.entry(list).or_default();
            elements.insert(read_index(event, index)?, PartialObject::whole(&element));
        }
        Ok(())
    }

    /// Returns the joined output.
    pub(super) fn joined(self) -> RawJson {
        let items = self.items.into_values().map(Item::joined);
        RawJson::from_items(&items.collect::<Vec<_>>())
    }
}

impl Item {
    fn joined(self) -> RawJson {
        let mut fields = self.object.joined();
        for (list, elements) in self.lists {
            let elements: Vec<RawJson> =
                elements.into_values().map(|element| element.joined().to_raw().into()).collect();
            fields.insert(list, RawJson::from_items(&elements));
        }
        fields.to_raw().into()
    }
}

impl PartialObject {
    fn whole(object: &RawObject) -> Self {
        Self { fields: object.fields(), text: None }
    }

    fn joined(self) -> JsonObject {
        let mut fields = self.fields;
        if let Some((field, text)) = self.text {
            fields.insert(field, RawJson::from_text(&text));
        }
        fields
    }
}

/// Reads an index in an event.
fn read_index(event: &mut FieldReader, name: &str) -> Result<u64, ShapeError> {
    const EXPECTED: &str = "a whole number";
    let Some(number) = event.of_kind(name, JsonKind::Number, EXPECTED)? else { return Ok(0) };
    number.to_u64().ok_or_else(|| ShapeError::new(name, EXPECTED, number.as_str()))
}
