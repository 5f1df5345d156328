//! The consent that an agent requires before it runs entries, added to its files and removed again.
//!
//! The text itself holds all state: a tab after a value marks it as added here, since no one else
//! writes one. If the agent reformats the file, the value counts as the agent's, and stays.

use std::ops::Range;
use std::path::Path;

use hook_json::{JsonKind, JsonObject, RawJson};

use super::edit_error::{ForeignEditError, wrong_type};
use super::entry;
use super::table::{Agent, Consent, ConsentForm};

/// The mark after an added value.
const MARK: &str = "\t";

/// The text of a new file without values.
const EMPTY: &str = "{}\t\n";

/// The state of a consent in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConsentStatus {
    /// Given.
    Granted,
    /// Refused by the user.
    Refused,
    /// Not recorded.
    Unset,
}

impl Agent {
    /// Returns the consent that the agent requires before it runs entries, if it can be written.
    pub fn consent(&self) -> Option<&Consent> {
        self.entry.as_ref()?.consent.as_ref()
    }
}

impl Consent {
    /// Returns the state of the consent for a folder.
    ///
    /// # Errors
    /// Returns an error if the text is not JSON, or another value is in the way.
    pub fn status(
        &self,
        text: Option<&str>,
        folder: &Path,
    ) -> Result<ConsentStatus, ForeignEditError> {
        let Some(text) = text.filter(|text| !text.trim().is_empty()) else {
            return Ok(ConsentStatus::Unset);
        };
        let fields = entry::object(
            &entry::root_of(text.split_at(leading_comments_len(text)).1)?,
            "settings",
        )?;
        Ok(match self.form {
            ConsentForm::ArrayItem(name) => {
                let folders = fields.get(name).and_then(RawJson::to_items).unwrap_or_default();
                let known = folders.iter().filter_map(RawJson::to_text);
                let is_in = known.into_iter().any(|known| folder.starts_with(known));
                if is_in { ConsentStatus::Granted } else { ConsentStatus::Unset }
            }
            ConsentForm::MemberValue(granted) => {
                let trust_value =
                    |folder: &Path| fields.get(folder.to_str()?).and_then(RawJson::to_text);
                match trust_value(folder) {
                    Some(direct) if direct == granted || direct == "TRUST_PARENT" => {
                        ConsentStatus::Granted
                    }
                    Some(_) => ConsentStatus::Refused,
                    None if folder
                        .ancestors()
                        .skip(1)
                        .any(|ancestor| trust_value(ancestor).as_deref() == Some(granted)) =>
                    {
                        ConsentStatus::Granted
                    }
                    None => ConsentStatus::Unset,
                }
            }
            ConsentForm::Switch(object, name) => {
                let object = fields.get(object).and_then(|value| value.to_object().ok());
                match object.and_then(|members| members.get(name).cloned()) {
                    Some(value) if value.to_bool() == Some(true) => ConsentStatus::Granted,
                    Some(_) => ConsentStatus::Refused,
                    None => ConsentStatus::Unset,
                }
            }
        })
    }

    /// Returns the text with the consent added; every other byte stays.
    ///
    /// # Errors
    /// Returns an error if the text is not JSON, or another value is in the way.
    pub fn grant(&self, text: Option<&str>, folder: &Path) -> Result<String, ForeignEditError> {
        let text = text.filter(|text| !text.trim().is_empty()).unwrap_or(EMPTY);
        if self.status(Some(text), folder)? != ConsentStatus::Unset {
            return Ok(text.to_owned());
        }
        let (head, text) = text.split_at(leading_comments_len(text));
        let root = entry::root_of(text)?;
        let fields = entry::object(&root, "settings")?;
        let folder = folder.to_str().ok_or_else(|| ForeignEditError {
            at: 0..0,
            message: "the folder's name is no UTF-8 text".to_owned(),
        })?;
        let quoted = |text: &str| RawJson::from_text(text).as_str().to_owned();
        let edited = match self.form {
            ConsentForm::MemberValue(granted) => {
                insert(text, &root, &ends(&fields), &member(folder, &quoted(granted)))
            }
            ConsentForm::ArrayItem(name) => match fields.get(name) {
                Some(list) => {
                    let items = list.to_items();
                    let items = items.ok_or_else(|| wrong_type(list, name, "an array"))?;
                    let ends: Vec<usize> = items.iter().map(|item| item.range().end).collect();
                    insert(text, list, &ends, &quoted(folder))
                }
                None => {
                    let list = format!("[{}{MARK}]", quoted(folder));
                    insert(text, &root, &ends(&fields), &member(name, &list))
                }
            },
            ConsentForm::Switch(object, name) => match fields.get(object) {
                Some(container) => {
                    let known = entry::object(container, object)?;
                    insert(text, container, &ends(&known), &member(name, "true"))
                }
                None => {
                    let container = format!("{{{}{MARK}}}", member(name, "true"));
                    insert(text, &root, &ends(&fields), &member(object, &container))
                }
            },
        };
        Ok(head.to_owned() + &edited)
    }

    /// Returns the text without what `given` added, for one folder or all.
    ///
    /// # Errors
    /// Returns an error if the text is not JSON, or another value is in the way.
    pub fn revoke(&self, text: &str, folder: Option<&Path>) -> Result<String, ForeignEditError> {
        if text.trim().is_empty() {
            return Ok(text.to_owned());
        }
        let (head, rest) = text.split_at(leading_comments_len(text));
        let mut text = rest.to_owned();
        // One at a time: each removal moves the text after it.
        while let Some(removal) = self.next_removal(&text, folder)? {
            text.replace_range(removal, "");
        }
        Ok(head.to_owned() + &text)
    }

    /// Returns `true` if this is a file that was created here and is empty again.
    pub fn is_created_file(&self, text: &str) -> bool {
        text == EMPTY
    }

    fn next_removal(
        &self,
        text: &str,
        folder: Option<&Path>,
    ) -> Result<Option<Range<usize>>, ForeignEditError> {
        let root = entry::root_of(text)?;
        let fields = entry::object(&root, "settings")?;
        let is_requested_folder = |name: &str| {
            folder.is_none_or(|folder| folder.to_str().is_some_and(|path| path == name))
        };
        let container_name = match self.form {
            ConsentForm::MemberValue(granted) => {
                let is_granted = |name: &str, value: &RawJson| {
                    is_requested_folder(name) && value.to_text().as_deref() == Some(granted)
                };
                return Ok(removal_range(text, &root, &members(&fields), &is_granted));
            }
            ConsentForm::ArrayItem(name) | ConsentForm::Switch(name, _) => name,
        };
        let Some(container) = fields.get(container_name) else { return Ok(None) };
        let inner = match self.form {
            ConsentForm::Switch(_, switch) => {
                let known = entry::object(container, container_name)?;
                let is_granted =
                    |name: &str, value: &RawJson| name == switch && value.to_bool() == Some(true);
                removal_range(text, container, &members(&known), &is_granted)
            }
            _ => {
                let items = container.to_items().unwrap_or_default();
                let items: Vec<(String, RawJson)> = items
                    .into_iter()
                    .map(|item| (item.to_text().unwrap_or_default(), item))
                    .collect();
                removal_range(text, container, &items, &|name: &str, _: &RawJson| {
                    is_requested_folder(name)
                })
            }
        };
        // Remove a container that was created for the value.
        let is_empty = match container.kind() {
            JsonKind::Array => container.to_items().is_some_and(|items| items.is_empty()),
            _ => container.to_object().is_ok_and(|known| known.is_empty()),
        };
        let is_container = |name: &str, _: &RawJson| is_empty && name == container_name;
        Ok(inner.or_else(|| removal_range(text, &root, &members(&fields), &is_container)))
    }
}

/// Returns the length of the comment lines before the JSON, as some agents write them.
fn leading_comments_len(text: &str) -> usize {
    let mut offset = 0;
    while let Some(rest) = text.get(offset..) {
        let is_comment = rest.trim_start().starts_with("//");
        match rest.find('\n').filter(|_| is_comment) {
            Some(end) => offset += end + 1,
            None => break,
        }
    }
    offset
}

fn member(name: &str, value: &str) -> String {
    format!("{}: {value}", RawJson::from_text(name).as_str())
}

fn members(fields: &JsonObject) -> Vec<(String, RawJson)> {
    let mut members: Vec<(String, RawJson)> =
        fields.iter().map(|(name, value)| (name.to_owned(), value.clone())).collect();
    members.sort_by_key(|(_, value)| value.range().start);
    members
}

fn ends(fields: &JsonObject) -> Vec<usize> {
    fields.iter().map(|(_, value)| value.range().end).collect()
}

/// Returns the end of a value and its mark.
fn end_of_marked(text: &str, end: usize) -> usize {
    let is_marked = text.get(end..).is_some_and(|rest| rest.starts_with(MARK));
    if is_marked { end + MARK.len() } else { end }
}

/// Appends an item to an object or array, formatted like the others.
fn insert(text: &str, container: &RawJson, ends: &[usize], item: &str) -> String {
    let start = container.range().start + 1;
    let mut edited = text.to_owned();
    match ends.iter().max() {
        Some(last) => {
            let inside = text.get(start..).unwrap_or_default();
            let gap = inside.len() - inside.trim_start().len();
            let gap = inside.get(..gap).unwrap_or_default();
            edited.insert_str(end_of_marked(text, *last), &format!(",{gap}{item}{MARK}"));
        }
        // Text between the brackets stays after the new item.
        None => edited.insert_str(start, &format!("{item}{MARK}")),
    }
    edited
}

/// Returns the range of the first matching item that was added here.
fn removal_range(
    text: &str,
    container: &RawJson,
    members: &[(String, RawJson)],
    is_granted: &dyn Fn(&str, &RawJson) -> bool,
) -> Option<Range<usize>> {
    let is_marked = |value: &RawJson| end_of_marked(text, value.range().end) > value.range().end;
    let index =
        members.iter().position(|(name, value)| is_marked(value) && is_granted(name, value))?;
    let end = end_of_marked(text, members.get(index)?.1.range().end);
    if let Some((_, before)) = index.checked_sub(1).and_then(|before| members.get(before)) {
        return Some(end_of_marked(text, before.range().end)..end);
    }
    let start = container.range().start + 1;
    if members.len() == 1 {
        return Some(start..end);
    }
    // The blanks before the first item stay for the next one.
    let rest = text.get(end..)?;
    let comma = end + rest.find(',')? + 1;
    let next = text.get(comma..)?;
    let inside = text.get(start..)?;
    let gap = inside.len() - inside.trim_start().len();
    Some(start + gap..comma + next.len() - next.trim_start().len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents;

    #[test]
    fn what_is_given_is_taken_back_to_the_byte() {
        let (first, second) = (Path::new("/p"), Path::new("/other \"q\""));
        for consent in agents().iter().filter_map(|agent| agent.consent()) {
            for text in [
                "{}",
                "{ }\n",
                "{\n}\n",
                "{ \"a\": 1 }",
                "{\n  \"a\": [1, 2]\n}\n",
                "{\r\n\t\"a\": {}\r\n}\r\n",
                "// written by the agent\n{\"a\": 1}\n",
                "{\n  \"/x\": \"TRUST_FOLDER\",\n  \"trustedFolders\": [\n    \"/x\"\n  ],\n  \"hooksConfig\": {\n    \"b\": 1\n  }\n}\n",
                "{\"trustedFolders\": [], \"hooksConfig\": {}, \"z\": 0}",
            ] {
                assert_eq!(consent.status(Some(text), first), Ok(ConsentStatus::Unset), "{text}");
                let one = consent.grant(Some(text), first).unwrap();
                assert_eq!(consent.status(Some(&one), first), Ok(ConsentStatus::Granted), "{one}");
                assert_eq!(consent.grant(Some(&one), first).as_ref(), Ok(&one));
                assert_eq!(consent.revoke(&one, Some(first)).unwrap(), text, "{one}");
                let two = consent.grant(Some(&one), second).unwrap();
                assert_eq!(consent.revoke(&two, None).unwrap(), text, "{two}");
                if consent.file.is_some() {
                    assert_eq!(consent.revoke(&two, Some(second)).unwrap(), one);
                    let other = consent.revoke(&two, Some(first)).unwrap();
                    assert_eq!(
                        consent.status(Some(&other), second),
                        Ok(ConsentStatus::Granted),
                        "{other}"
                    );
                    assert_eq!(consent.revoke(&other, None).unwrap(), text, "{two}\n{other}");
                }
                // Values that the agent wrote or reformatted are the agent's.
                let own = one.replace(MARK, "");
                if !text.contains(MARK) {
                    assert_eq!(consent.revoke(&own, None).unwrap(), own);
                }
            }
            let made = consent.grant(None, first).unwrap();
            assert!(consent.is_created_file(&consent.revoke(&made, None).unwrap()), "{made}");
            for text in ["[]", "{\"trustedFolders\": 1, \"hooksConfig\": 1", "{\"a\": 1, \"a\": 2}"]
            {
                assert!(consent.grant(Some(text), first).is_err(), "{text}");
            }
        }
    }

    #[test]
    fn what_the_user_has_said_stays() {
        let consent = |name: &str| crate::agent(name).unwrap().consent().unwrap();
        let folder = Path::new("/home/me/p");
        for (agent, text, expected) in [
            ("gemini", r#"{"/home/me/p": "DO_NOT_TRUST"}"#, ConsentStatus::Refused),
            ("gemini", r#"{"/home/me": "TRUST_FOLDER"}"#, ConsentStatus::Granted),
            ("gemini", r#"{"/home/m": "TRUST_FOLDER"}"#, ConsentStatus::Unset),
            ("copilot", r#"{"trustedFolders": ["/home/me/p"]}"#, ConsentStatus::Granted),
            ("llxprt", r#"{"hooksConfig": {"enabled": false}}"#, ConsentStatus::Refused),
        ] {
            assert_eq!(consent(agent).status(Some(text), folder), Ok(expected), "{text}");
            if expected != ConsentStatus::Unset {
                assert_eq!(consent(agent).grant(Some(text), folder).unwrap(), text);
            }
        }
    }
}
