//! The command of a shell call, under any argument name.

use super::arguments::{Arguments, COMMAND, DESCRIPTION, OPERANDS, PROGRAM};
use super::call::ToolCall;
use super::kind::ToolKind;
use hook_json::{RawJson, RawObject};

/// The command of a shell call.
#[derive(Debug, PartialEq, Eq)]
pub struct ShellCommand {
    /// The command as one text, also if it consists of words or of several commands.
    pub text: String,
    /// The arguments that hold it; none if it was composed.
    arguments: Vec<&'static str>,
}

impl ShellCommand {
    /// Returns the command of a call, or `None` if the tool is not a shell.
    ///
    /// # Errors
    /// If the command is unknown; the error is the reason.
    pub fn from_call(call: &ToolCall<'_>) -> Result<Option<Self>, String> {
        if call.kind != ToolKind::Shell && !Self::has_command_argument(call) {
            return Ok(None);
        }
        let fields = Arguments::from_call(call.arguments);
        let mut arguments = fields.present(&COMMAND);
        if arguments.is_empty() {
            arguments = fields.present(&PROGRAM);
        }
        if arguments.is_empty() {
            // The argument has an unknown name.
            let text = fields.texts().filter(|(name, _)| !DESCRIPTION.contains(name));
            let text = text.map(|(_, text)| text).collect::<Vec<_>>().join("\n");
            return Ok(Some(Self { text, arguments }));
        }
        let mut found: Option<(&str, String)> = None;
        for name in &arguments {
            let text =
                fields.joined_text(name).ok_or_else(|| format!("its `{name}` is no command"))?;
            match &found {
                Some((other, previous)) if *previous != text => {
                    return Err(format!("it has both `{other}` and `{name}`, and they differ"));
                }
                _ => found = Some((name, text)),
            }
        }
        let operands = operands(&fields)?;
        let is_text = operands.is_empty() && arguments.iter().all(|name| fields.has_text(name));
        let text = found.map(|(_, text)| text).unwrap_or_default() + &operands;
        Ok(Some(Self { text, arguments: if is_text { arguments } else { Vec::new() } }))
    }

    /// Returns the command as a shell text: a list of words is quoted, so that they stay words.
    pub fn quoted(self, call: &ToolCall<'_>) -> String {
        if !self.arguments.is_empty() {
            return self.text;
        }
        let fields = Arguments::from_call(call.arguments);
        let words = fields
            .present(&COMMAND)
            .into_iter()
            .find_map(|name| quoted(&fields.list(&[name]).filter(|_| name != "commands")?));
        let operands = operands(&fields).unwrap_or_default();
        words.map_or(self.text, |words| words + &operands)
    }

    /// Returns `true` if an MCP tool or an unknown tool has a command argument: it may be a shell.
    pub fn has_command_argument(call: &ToolCall<'_>) -> bool {
        let is_other = matches!(call.kind, ToolKind::Mcp | ToolKind::Other);
        let has = |names: &[&'static str]| {
            !Arguments::from_call(call.arguments).present(names).is_empty()
        };
        is_other && (has(&COMMAND[..3]) || has(&PROGRAM) && has(&OPERANDS))
    }

    /// Returns `true` if the command is in the native argument alone.
    pub fn is_native(&self) -> bool {
        self.arguments == COMMAND[..1]
    }

    /// Returns the call's arguments with the command under its native name alone.
    pub fn with_native_name(&self, original: &RawObject) -> RawObject {
        let mut fields = original.fields();
        for name in COMMAND {
            fields.remove(name);
        }
        fields.insert(COMMAND[0], hook_json::RawJson::from_text(&self.text));
        fields.to_raw()
    }

    /// Returns the arguments of the whole call with the changes of the renamed ones, or `None` if
    /// the command cannot be written back.
    pub fn merge_changes(&self, original: &RawObject, changed: &RawObject) -> Option<RawObject> {
        let mut fields = original.fields();
        let mut changed = changed.fields();
        let command = changed.remove(COMMAND[0])?;
        if command.to_text().as_ref() != Some(&self.text) {
            if self.arguments.is_empty() {
                return None;
            }
            for name in &self.arguments {
                fields.insert(*name, command.clone());
            }
        }
        fields.merge(&changed);
        Some(fields.to_raw())
    }
}

/// Returns a list of words as a shell text; `None` if one is no text.
fn quoted(words: &[RawJson]) -> Option<String> {
    let quoted = |word: &RawJson| word.to_text().map(|text| hook_shell::quote(&text));
    words.iter().map(quoted).collect::<Option<Vec<String>>>().map(|words| words.join(" "))
}

/// Returns the words that stand apart from the command, each behind a blank.
fn operands(fields: &Arguments) -> Result<String, String> {
    let mut operands = String::new();
    // An object is none of a program.
    let is_object = |name: &&str| fields.is_object(name);
    for name in fields.present(&OPERANDS).into_iter().filter(|name| !is_object(name)) {
        let words = match fields.list(&[name]) {
            Some(words) => quoted(&words),
            None => fields.joined_text(name),
        };
        let words = words.ok_or_else(|| format!("its `{name}` are no arguments"))?;
        if !words.is_empty() {
            operands.push(' ');
            operands.push_str(&words);
        }
    }
    Ok(operands)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(arguments: &str) -> Result<String, String> {
        let arguments = RawObject::parse(arguments).unwrap();
        let command = ShellCommand::from_call(&ToolCall::new("Bash", &arguments))?;
        Ok(command.unwrap().text)
    }

    #[test]
    fn the_command_is_found_under_any_name() {
        for (arguments, expected) in [
            (r#"{"command":"a b","description":"d"}"#, Ok("a b")),
            (r#"{"command":["a","b c"]}"#, Ok("a b c")),
            (r#"{"commands":["a","b"]}"#, Ok("a\nb")),
            (r#"{"cmd":"a","command":"a"}"#, Ok("a")),
            (r#"{"command":null,"chars":"a\n"}"#, Ok("a\n")),
            (r#"{"line":"a","description":"d"}"#, Ok("a")),
            (r#"{"id":7}"#, Ok("")),
            (r#"{"command":"rm","args":["-rf","a b"]}"#, Ok("rm -rf 'a b'")),
            (r#"{"program":"rm","args":"-rf /"}"#, Ok("rm -rf /")),
            (r#"{"command":"rm","args":[{}]}"#, Err("no arguments")),
            (r#"{"cmd":"a","command":"b"}"#, Err("they differ")),
            (r#"{"command":7}"#, Err("no command")),
        ] {
            match (command(arguments), expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{arguments}"),
                (Err(found), Err(expected)) => assert!(found.contains(expected), "{found}"),
                (found, _) => panic!("{arguments} {found:?}"),
            }
        }
    }

    #[test]
    fn a_changed_command_takes_the_place_of_the_other() {
        let put_back = |whole: &str, changed: &str| {
            let whole = RawObject::parse(whole).unwrap();
            let command = ShellCommand::from_call(&ToolCall::new("Bash", &whole)).unwrap().unwrap();
            let changed = RawObject::parse(changed).unwrap();
            command.merge_changes(&whole, &changed).map(|it| it.as_str().to_owned())
        };
        let safe = r#"{"command":"safe","timeout":1}"#;
        assert_eq!(
            put_back(r#"{"cmd":"rm","x":1}"#, safe).as_deref(),
            Some(r#"{"cmd":"safe","x":1,"timeout":1}"#)
        );
        assert_eq!(
            put_back(r#"{"cmd":"rm","command":"rm"}"#, safe).as_deref(),
            Some(r#"{"cmd":"safe","command":"safe","timeout":1}"#)
        );
        assert_eq!(put_back(r#"{"command":["rm","x"]}"#, safe), None);
        let same = r#"{"command":"rm x","timeout":1}"#;
        assert_eq!(
            put_back(r#"{"command":["rm","x"]}"#, same).as_deref(),
            Some(r#"{"command":["rm","x"],"timeout":1}"#)
        );
    }
}
