//! The consent that an agent requires before it runs entries, added to its files and removed again.
//!
//! The text itself holds all state: a tab after a value marks it as added here, since no one else
//! writes one. If the agent reformats the file, the value counts as the agent's, and stays.

use std::ops::Range;
use std::path::Path;

use hook_json::{JsonKind, JsonObject, RawJson};

use super::entry::{self, NotEditable};
use super::table::{Agent, Consent, Form};

/// The mark after an added value.
const MARK: &str = "\t";

/// The text of a new file without values.
const EMPTY: &str = "{}\t\n";

/// The state of a consent in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agreed {
    /// Given.
    Yes,
    /// Refused by the user.
    No,
    /// Not recorded.
    Open,
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
    pub fn standing(&self, text: Option<&str>, folder: &Path) -> Result<Agreed, NotEditable> {
        let Some(text) = text.filter(|text| !text.trim().is_empty()) else {
            return Ok(Agreed::Open);
        };
        let fields = entry::object(&entry::root_of(text.split_at(comments(text)).1)?, "settings")?;
        Ok(match self.form {
            Form::In(name) => {
                let folders = fields.get(name).and_then(RawJson::to_items).unwrap_or_default();
                let known = folders.iter().filter_map(RawJson::to_text);
                let is_in = known.into_iter().any(|known| folder.starts_with(known));
                if is_in { Agreed::Yes } else { Agreed::Open }
            }
            Form::Is(word) => {
                let said = |folder: &Path| fields.get(folder.to_str()?).and_then(RawJson::to_text);
                match said(folder) {
                    Some(own) if own == word || own == "TRUST_PARENT" => Agreed::Yes,
                    Some(_) => Agreed::No,
                    None if folder
                        .ancestors()
                        .skip(1)
                        .any(|it| said(it).as_deref() == Some(word)) =>
                    {
                        Agreed::Yes
                    }
                    None => Agreed::Open,
                }
            }
            Form::On(object, name) => {
                let object = fields.get(object).and_then(|it| it.to_object().ok());
                match object.and_then(|it| it.get(name).cloned()) {
                    Some(value) if value.to_bool() == Some(true) => Agreed::Yes,
                    Some(_) => Agreed::No,
                    None => Agreed::Open,
                }
            }
        })
    }

    /// Returns the text with the consent added; every other byte stays.
    ///
    /// # Errors
    /// Returns an error if the text is not JSON, or another value is in the way.
    pub fn given(&self, text: Option<&str>, folder: &Path) -> Result<String, NotEditable> {
        let text = text.filter(|text| !text.trim().is_empty()).unwrap_or(EMPTY);
        if self.standing(Some(text), folder)? != Agreed::Open {
            return Ok(text.to_owned());
        }
        let (head, text) = text.split_at(comments(text));
        let root = entry::root_of(text)?;
        let fields = entry::object(&root, "settings")?;
        let folder = folder.to_str().ok_or_else(|| NotEditable {
            at: 0..0,
            message: "the folder's name is no UTF-8 text".to_owned(),
        })?;
        let quoted = |text: &str| RawJson::from_text(text).as_str().to_owned();
        let edited = match self.form {
            Form::Is(word) => put(text, &root, &ends(&fields), &member(folder, &quoted(word))),
            Form::In(name) => match fields.get(name) {
                Some(list) => {
                    let items = list.to_items();
                    let items = items.ok_or_else(|| entry::wrong(list, name, "an array"))?;
                    let ends: Vec<usize> = items.iter().map(|item| item.range().end).collect();
                    put(text, list, &ends, &quoted(folder))
                }
                None => {
                    let list = format!("[{}{MARK}]", quoted(folder));
                    put(text, &root, &ends(&fields), &member(name, &list))
                }
            },
            Form::On(object, name) => match fields.get(object) {
                Some(within) => {
                    let known = entry::object(within, object)?;
                    put(text, within, &ends(&known), &member(name, "true"))
                }
                None => {
                    let within = format!("{{{}{MARK}}}", member(name, "true"));
                    put(text, &root, &ends(&fields), &member(object, &within))
                }
            },
        };
        Ok(head.to_owned() + &edited)
    }

    /// Returns the text without what [`given`](Self::given) added, for one folder or all.
    ///
    /// # Errors
    /// Returns an error if the text is not JSON, or another value is in the way.
    pub fn taken_back(&self, text: &str, folder: Option<&Path>) -> Result<String, NotEditable> {
        if text.trim().is_empty() {
            return Ok(text.to_owned());
        }
        let (head, rest) = text.split_at(comments(text));
        let mut text = rest.to_owned();
        // One at a time: each removal moves the text after it.
        while let Some(cut) = self.first_cut(&text, folder)? {
            text.replace_range(cut, "");
        }
        Ok(head.to_owned() + &text)
    }

    /// Returns `true` if this is a file that was created here and is empty again.
    pub fn is_made_here(&self, text: &str) -> bool {
        text == EMPTY
    }

    fn first_cut(
        &self,
        text: &str,
        folder: Option<&Path>,
    ) -> Result<Option<Range<usize>>, NotEditable> {
        let root = entry::root_of(text)?;
        let fields = entry::object(&root, "settings")?;
        let is_wanted =
            |name: &str| folder.is_none_or(|folder| folder.to_str().is_some_and(|it| it == name));
        let container = match self.form {
            Form::Is(word) => {
                let is_ours = |name: &str, value: &RawJson| {
                    is_wanted(name) && value.to_text().as_deref() == Some(word)
                };
                return Ok(cut(text, &root, &members(&fields), &is_ours));
            }
            Form::In(name) | Form::On(name, _) => name,
        };
        let Some(within) = fields.get(container) else { return Ok(None) };
        let inner = match self.form {
            Form::On(_, switch) => {
                let known = entry::object(within, container)?;
                let is_ours =
                    |name: &str, value: &RawJson| name == switch && value.to_bool() == Some(true);
                cut(text, within, &members(&known), &is_ours)
            }
            _ => {
                let items = within.to_items().unwrap_or_default();
                let items: Vec<(String, RawJson)> = items
                    .into_iter()
                    .map(|item| (item.to_text().unwrap_or_default(), item))
                    .collect();
                cut(text, within, &items, &|name: &str, _: &RawJson| is_wanted(name))
            }
        };
        // Remove a container that was created for the value.
        let is_empty = match within.kind() {
            JsonKind::Array => within.to_items().is_some_and(|items| items.is_empty()),
            _ => within.to_object().is_ok_and(|known| known.is_empty()),
        };
        let is_container = |name: &str, _: &RawJson| is_empty && name == container;
        Ok(inner.or_else(|| cut(text, &root, &members(&fields), &is_container)))
    }
}

/// Returns the length of the comment lines before the JSON, as some agents write them.
fn comments(text: &str) -> usize {
    let mut at = 0;
    while let Some(rest) = text.get(at..) {
        let is_comment = rest.trim_start().starts_with("//");
        match rest.find('\n').filter(|_| is_comment) {
            Some(end) => at += end + 1,
            None => break,
        }
    }
    at
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
fn behind(text: &str, end: usize) -> usize {
    let is_marked = text.get(end..).is_some_and(|rest| rest.starts_with(MARK));
    if is_marked { end + MARK.len() } else { end }
}

/// Appends an item to an object or array, formatted like the others.
fn put(text: &str, container: &RawJson, ends: &[usize], added: &str) -> String {
    let start = container.range().start + 1;
    let mut out = text.to_owned();
    match ends.iter().max() {
        Some(last) => {
            let inside = text.get(start..).unwrap_or_default();
            let gap = inside.len() - inside.trim_start().len();
            let gap = inside.get(..gap).unwrap_or_default();
            out.insert_str(behind(text, *last), &format!(",{gap}{added}{MARK}"));
        }
        // Text between the brackets stays after the new item.
        None => out.insert_str(start, &format!("{added}{MARK}")),
    }
    out
}

/// Returns the range of the first matching item that was added here.
fn cut(
    text: &str,
    container: &RawJson,
    members: &[(String, RawJson)],
    is_ours: &dyn Fn(&str, &RawJson) -> bool,
) -> Option<Range<usize>> {
    let is_marked = |value: &RawJson| behind(text, value.range().end) > value.range().end;
    let at = members.iter().position(|(name, value)| is_marked(value) && is_ours(name, value))?;
    let end = behind(text, members.get(at)?.1.range().end);
    if let Some((_, before)) = at.checked_sub(1).and_then(|before| members.get(before)) {
        return Some(behind(text, before.range().end)..end);
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
    use crate::AGENTS;

    #[test]
    fn what_is_given_is_taken_back_to_the_byte() {
        let (first, second) = (Path::new("/p"), Path::new("/other \"q\""));
        for consent in AGENTS.into_iter().filter_map(Agent::consent) {
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
                assert_eq!(consent.standing(Some(text), first), Ok(Agreed::Open), "{text}");
                let one = consent.given(Some(text), first).unwrap();
                assert_eq!(consent.standing(Some(&one), first), Ok(Agreed::Yes), "{one}");
                assert_eq!(consent.given(Some(&one), first).as_ref(), Ok(&one));
                assert_eq!(consent.taken_back(&one, Some(first)).unwrap(), text, "{one}");
                let two = consent.given(Some(&one), second).unwrap();
                assert_eq!(consent.taken_back(&two, None).unwrap(), text, "{two}");
                if consent.file.is_some() {
                    assert_eq!(consent.taken_back(&two, Some(second)).unwrap(), one);
                    let other = consent.taken_back(&two, Some(first)).unwrap();
                    assert_eq!(consent.standing(Some(&other), second), Ok(Agreed::Yes), "{other}");
                    assert_eq!(consent.taken_back(&other, None).unwrap(), text, "{two}\n{other}");
                }
                // Values that the agent wrote or reformatted are the agent's.
                let own = one.replace(MARK, "");
                if !text.contains(MARK) {
                    assert_eq!(consent.taken_back(&own, None).unwrap(), own);
                }
            }
            let made = consent.given(None, first).unwrap();
            assert!(consent.is_made_here(&consent.taken_back(&made, None).unwrap()), "{made}");
            for text in ["[]", "{\"trustedFolders\": 1, \"hooksConfig\": 1", "{\"a\": 1, \"a\": 2}"]
            {
                assert!(consent.given(Some(text), first).is_err(), "{text}");
            }
        }
    }

    #[test]
    fn what_the_user_has_said_stays() {
        let consent = |name: &str| crate::agent(name).unwrap().consent().unwrap();
        let folder = Path::new("/home/me/p");
        for (agent, text, expected) in [
            ("gemini", r#"{"/home/me/p": "DO_NOT_TRUST"}"#, Agreed::No),
            ("gemini", r#"{"/home/me": "TRUST_FOLDER"}"#, Agreed::Yes),
            ("gemini", r#"{"/home/m": "TRUST_FOLDER"}"#, Agreed::Open),
            ("copilot", r#"{"trustedFolders": ["/home/me/p"]}"#, Agreed::Yes),
            ("llxprt", r#"{"hooksConfig": {"enabled": false}}"#, Agreed::No),
        ] {
            assert_eq!(consent(agent).standing(Some(text), folder), Ok(expected), "{text}");
            if expected != Agreed::Open {
                assert_eq!(consent(agent).given(Some(text), folder).unwrap(), text);
            }
        }
    }
}
