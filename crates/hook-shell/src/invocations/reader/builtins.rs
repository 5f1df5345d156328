//! Builtins that change what later commands mean.

use std::rc::Rc;
use std::sync::Arc;

use super::programs::is_name;
use super::{Outcome, Reader};
use crate::invocations::argument::{Argument, UNKNOWN};
use crate::invocations::invocation::Invocation;
use crate::invocations::paths::join;
use crate::invocations::state::{Definition, MAX_VALUES, Value};

impl Reader<'_> {
    /// Reads the text of a trap, which may run at any later time.
    pub(super) fn trap(&mut self, text: &str, by: &Invocation) {
        let before = self.state.clone();
        self.inside(by.range.clone(), |reader| reader.shell_text(text, 0..0));
        let signals = by.arguments.iter().skip_while(|argument| argument.text == "--").skip(1);
        let is_last = signals
            .map(|signal| signal.text.as_str())
            .all(|signal| matches!(signal.trim_start_matches("SIG"), "EXIT" | "0"));
        self.state.is_dead = false;
        let mut after = before.clone();
        if after.join(&self.state) && !is_last {
            self.opaque("a trap changes what later commands mean", by.range.clone());
        }
        self.state = before;
        self.outcome = None;
        if self.traps.len() < MAX_VALUES {
            self.traps.push((text.to_owned(), by.range.clone()));
        } else {
            self.opaque("it has too many traps", by.range.clone());
        }
        match &mut self.since_trap {
            Some(since) => _ = since.join(&self.state),
            None => self.since_trap = Some(self.state.clone()),
        }
    }

    /// Follows builtins that change what later commands mean.
    pub(super) fn builtin(&mut self, invocation: &Invocation) {
        let called = invocation.called.text.as_str();
        let arguments = &invocation.arguments;
        let range = invocation.range.clone();
        let operands = || arguments.iter().filter(|argument| !argument.text.starts_with('-'));
        let has_option = |letters: &[char]| {
            arguments.iter().any(|argument| {
                argument.text.strip_prefix('-').is_some_and(|option| option.contains(letters))
            })
        };
        // Subscripts are expanded again.
        const SUBSCRIPTS: [&str; 15] = [
            "[",
            "declare",
            "export",
            "getopts",
            "let",
            "local",
            "mapfile",
            "printf",
            "read",
            "readarray",
            "readonly",
            "test",
            "typeset",
            "unset",
            "wait",
        ];
        let has_subscript = |argument: &Argument| {
            argument.text.split_once('[').is_some_and(|(name, rest)| {
                !name.is_empty() && is_name(name) && rest.contains(['$', '`', UNKNOWN])
            })
        };
        if SUBSCRIPTS.contains(&called) && arguments.iter().any(has_subscript) {
            self.opaque("only running it tells what a subscript runs", range.clone());
        }
        match called {
            "let" => {
                for argument in arguments {
                    if !self.is_number(&argument.text, 0) {
                        self.opaque("only running it tells what an expression runs", range.clone());
                    }
                }
            }
            "cd" | "pushd" if called == "pushd" && has_option(&['n']) => {}
            "cd" | "pushd" => {
                let home = self.text_value("HOME");
                let target = operands().next().map_or(home, |operand| operand.text.clone());
                let is_known = !target.contains(UNKNOWN)
                    && !target.starts_with('+')
                    && (called == "cd" || operands().next().is_some())
                    && !arguments.iter().any(|argument| {
                        let option = argument.text.trim_start_matches(['-', '+']);
                        argument.text == "-"
                            || option.len() < argument.text.len()
                                && option.starts_with(|first: char| first.is_ascii_digit())
                    });
                let directory = if is_known { join(self.cwd.as_deref(), &target) } else { None };
                let directory = directory.map(Arc::from);
                let mut failure = self.state.clone();
                failure.directories = Rc::new(vec![self.cwd.clone()]);
                failure.is_dead |= self.state.ends_on_failure && self.conditions == 0;
                let mut success = self.state.clone();
                success.directories = Rc::new(vec![directory]);
                success.variables.set("OLDPWD", vec![Value::Text(UNKNOWN.to_string())]);
                success.variables.set("PWD", vec![Value::Initial]);
                self.set_outcome(Outcome { success, failure });
            }
            "popd" => self.state.directories = Rc::new(vec![None]),
            "export" | "declare" | "typeset" | "local" | "readonly" => {
                if has_option(&['n', 'i', 'l', 'u', 'c']) && called != "export" {
                    self.opaque("an attribute changes what a variable means", range);
                }
                for operand in operands() {
                    let (name, value) = match operand.text.split_once('=') {
                        Some((name, value)) => (name, Some(value)),
                        None => (operand.text.as_str(), None),
                    };
                    self.must_be_known(name, invocation);
                    let adds = name.ends_with('+');
                    let name = name.strip_suffix('+').unwrap_or(name);
                    let is_array = has_option(&['a', 'A']) || name.contains('[');
                    let name = name.split('[').next().unwrap_or_default().to_owned();
                    if called == "export" && !has_option(&['n']) {
                        Rc::make_mut(&mut self.state.exported).insert(name.clone());
                    }
                    if called != "export" && called != "readonly" && !self.calls.is_empty() {
                        let values = self.state.variables.get(&name).to_vec();
                        self.locals.push((name.clone(), values));
                    }
                    match value {
                        // It fails outside of functions.
                        Some(value) if called == "local" && self.calls.is_empty() => {
                            self.state.variables.add(&name, Value::Text(value.to_owned()));
                        }
                        Some(value) if !adds && !is_array && !value.starts_with('(') => {
                            self.assign(&name, vec![Value::Text(value.to_owned())]);
                        }
                        Some(_) => self.forget(&name),
                        // A new local variable has no value.
                        None if called == "local"
                            || !self.calls.is_empty() && called != "export" =>
                        {
                            self.state.variables.add(&name, Value::Unset);
                        }
                        None => {}
                    }
                    if called == "readonly" || has_option(&['r']) {
                        self.constants.insert(name);
                    }
                }
            }
            "read" | "mapfile" | "readarray" | "getopts" => {
                for name in operands() {
                    self.must_be_known(&name.text, invocation);
                    self.forget(name.text.split('[').next().unwrap_or_default());
                }
                for name in ["REPLY", "MAPFILE", "OPTARG"] {
                    self.forget(name);
                }
            }
            "printf"
                if arguments.first().is_some_and(|argument| argument.text.starts_with("-v")) =>
            {
                let attached = arguments.first().and_then(|option| option.text.strip_prefix("-v"));
                let name = match attached.filter(|name| !name.is_empty()) {
                    Some(name) => Some(name.to_owned()),
                    None => arguments.get(1).map(|name| name.text.clone()),
                };
                if let Some(name) = name {
                    self.must_be_known(&name, invocation);
                    self.forget(name.split('[').next().unwrap_or_default());
                }
            }
            "unset" => {
                let only_functions = has_option(&['f']);
                for name in operands() {
                    if name.has_unknown() || has_option(&['n']) {
                        self.opaque(
                            "only running it tells which variable it unsets",
                            range.clone(),
                        );
                    }
                    let name = name.text.as_str();
                    match only_functions {
                        true => self.state.functions.set(name, vec![Definition::Program]),
                        false => {
                            self.state.functions.add(name, Definition::Program);
                            let name = name.split('[').next().unwrap_or_default();
                            // What a function made local is as it was.
                            match self.calls.is_empty() {
                                true => self.assign(name, vec![Value::Unset]),
                                false => self.forget(name),
                            }
                        }
                    }
                }
            }
            "shift" => {
                let count = match arguments.first() {
                    None => Some(1),
                    Some(argument) => argument.text.parse::<usize>().ok(),
                };
                let parameters = self.parameters().filter(|_| count.is_some());
                let parameters = parameters.map(|parameters| {
                    let count = count.unwrap_or_default();
                    match count <= parameters.len() {
                        true => parameters.into_iter().skip(count).collect(),
                        false => parameters,
                    }
                });
                self.state.parameters = Rc::new(vec![parameters]);
            }
            "set" => self.set_builtin(invocation),
            "alias" => {
                for operand in operands() {
                    if let Some((name, value)) = operand.text.split_once('=') {
                        self.state.aliases.set(name, vec![Some(value.to_owned())]);
                    }
                }
            }
            "enable" | "hash"
                if has_option(&['p', 'f', 'n', 'd'])
                    || arguments.iter().any(Argument::has_unknown) =>
            {
                self.opaque("it changes what names of programs mean", range);
            }
            "shopt"
                if arguments.iter().any(|argument| {
                    argument.has_unknown()
                        || matches!(
                            argument.text.as_str(),
                            "lastpipe" | "extdebug" | "localvar_inherit"
                        )
                }) =>
            {
                self.opaque("an option changes what later commands mean", range)
            }
            "exit" | "return" | "break" | "continue" => {
                let is_plain = match arguments.as_slice() {
                    [] => true,
                    [only] => {
                        let is_number = only.text.bytes().all(|byte| byte.is_ascii_digit());
                        let is_zero = only.text.bytes().all(|byte| byte == b'0');
                        is_number && !is_zero
                            || matches!((called, only.text.as_str()), ("exit" | "return", "0"))
                    }
                    _ => false,
                };
                let leaves = match called {
                    "exit" => true,
                    "return" => !self.calls.is_empty(),
                    _ => self.loops > 0,
                };
                if called != "exit" {
                    self.leave(Some(self.state.clone()));
                }
                self.state.is_dead |= is_plain && leaves;
            }
            _ => {}
        }
    }

    /// Marks the name of a variable that is set if only running it tells which one that is.
    fn must_be_known(&mut self, name: &str, invocation: &Invocation) {
        if name.contains(UNKNOWN) {
            let reason = "only running it tells which variable it sets";
            self.opaque(reason, invocation.range.clone());
        }
    }

    fn set_builtin(&mut self, invocation: &Invocation) {
        let arguments = &invocation.arguments;
        let mut at = 0;
        while let Some(argument) = arguments.get(at) {
            let text = argument.text.as_str();
            if argument.has_unknown() {
                self.state.parameters = Rc::new(vec![None]);
                self.state.ends_on_failure = false;
                return;
            }
            let sets = text.starts_with('-');
            match text.strip_prefix(['-', '+']) {
                Some("-") => {
                    at += 1;
                    break;
                }
                Some("") if sets && at + 1 >= arguments.len() => return,
                Some("") => {
                    at += 1;
                    break;
                }
                Some(letters) => {
                    if letters.contains('e') {
                        self.state.ends_on_failure = sets;
                    }
                    if letters.contains('k') {
                        self.opaque(
                            "an option changes what later commands mean",
                            invocation.range.clone(),
                        );
                    }
                    if letters.contains('o') {
                        at += 1;
                        match arguments.get(at).map(|argument| argument.text.as_str()) {
                            Some("errexit") => self.state.ends_on_failure = sets,
                            Some("keyword") => self.opaque(
                                "an option changes what later commands mean",
                                invocation.range.clone(),
                            ),
                            _ => {}
                        }
                    }
                    at += 1;
                    if at >= arguments.len() {
                        return;
                    }
                }
                None => break,
            }
        }
        if at == 0 && arguments.is_empty() {
            return;
        }
        self.state.parameters = Rc::new(vec![Some(arguments.iter().skip(at).cloned().collect())]);
    }
}
