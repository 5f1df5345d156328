//! What a script says it loads, and what of it may load something else.
//!
//! Of names by which code is loaded or made only the plain forms are known: `import` and `export` with a text,
//! `import("…")` and `require("…")`. Any other mention of one is a reason not to know.

use std::collections::BTreeSet;

use super::tokens::{Token, tokens};

/// How long a script may be that is looked into, in bytes.
const MAX_SCRIPT: usize = 4 << 20;

/// What a script loads.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Loads<'t> {
    /// By these names.
    pub(super) named: BTreeSet<&'t str>,
    /// All its texts that begin as a path does.
    pub(super) paths: BTreeSet<&'t str>,
    /// Why there may be more.
    pub(super) unknown: BTreeSet<String>,
}

/// Names by which code is loaded, made or reached, however they are used.
const NEVER: [&str; 32] = [
    "Function",
    "GeneratorFunction",
    "AsyncFunction",
    "Reflect",
    "ShadowRealm",
    "WebAssembly",
    "Worker",
    "__defineGetter__",
    "__lookupGetter__",
    "__proto__",
    "_compile",
    "_extensions",
    "_linkedBinding",
    "_load",
    "binding",
    "createRequire",
    "dlopen",
    "eval",
    "getBuiltinModule",
    "getOwnPropertyDescriptor",
    "getOwnPropertyDescriptors",
    "getOwnPropertyNames",
    "getPrototypeOf",
    "importScripts",
    "jiti",
    "jitiESMResolve",
    "jitiImport",
    "mainModule",
    "ownKeys",
    "registerHooks",
    "runInThisContext",
    "setPrototypeOf",
];

/// Objects by whose properties code is loaded: only ones that are named.
const HOLDERS: [&str; 3] = ["global", "globalThis", "process"];

/// What is known of `import.meta`.
const META: [&str; 6] = ["dirname", "env", "filename", "main", "resolve", "url"];

impl<'t> Loads<'t> {
    /// Looks into a script.
    pub(super) fn of(text: &'t str) -> Self {
        let mut loads = Self::default();
        if text.len() > MAX_SCRIPT {
            loads.unknown.insert("it is too long to be looked into".to_owned());
            return loads;
        }
        match tokens(text) {
            Ok(tokens) => (0..tokens.len()).for_each(|at| loads.look_at(&tokens, at)),
            Err(why) => {
                loads.unknown.insert(why.to_owned());
            }
        }
        loads
    }

    fn look_at(&mut self, tokens: &[Token<'t>], at: usize) {
        let behind = |by: usize| tokens.get(at + by).copied();
        let before = |by: usize| at.checked_sub(by).and_then(|it| tokens.get(it)).copied();
        let word = match tokens.get(at) {
            Some(Token::Word(word)) => *word,
            Some(Token::Text(text)) => {
                if text.starts_with(['.', '/']) {
                    self.paths.insert(text);
                }
                if NEVER.contains(text) || matches!(*text, "constructor" | "require") {
                    self.mentions(text);
                }
                return;
            }
            Some(Token::Sign('['))
                if is_of_call(tokens, at) && !is_plain_index(behind(1), behind(2)) =>
            {
                self.unknown.insert("`(…)[…]` may lead to what loads code".to_owned());
                return;
            }
            _ => return,
        };
        // Not what `...` spreads.
        let dot = Some(Token::Sign('.'));
        let is_property = before(1) == dot && before(2) != dot;
        match word {
            "import" => match (behind(1), behind(2), behind(3)) {
                _ if before(1) == dot => self.mentions("import"),
                (Some(Token::Sign('(')), name, end) => self.call("import(…)", name, end),
                (Some(Token::Text(name)), _, _) => {
                    self.named.insert(name);
                }
                (Some(Token::MadeText), _, _) => self.mentions("import"),
                (Some(Token::Sign('.')), Some(Token::Word("meta")), then) => {
                    let is_known = matches!(behind(4), Some(Token::Word(it)) if META.contains(&it));
                    if then != Some(Token::Sign('.')) || !is_known {
                        self.mentions("import.meta");
                    }
                }
                (Some(Token::Sign('.')), _, _) => self.mentions("import"),
                _ => {}
            },
            "from" => match behind(1) {
                Some(Token::Text(name)) => {
                    self.named.insert(name);
                }
                Some(Token::MadeText) => self.mentions("from"),
                _ => {}
            },
            "require" => match (behind(1), behind(2), behind(3)) {
                (Some(Token::Sign('(')), name, end) => self.call("require(…)", name, end),
                _ => self.mentions("require"),
            },
            // Of CommonJS; another use of it is a way to what loads files.
            "module" if !is_property => {
                let plain = [Some(Token::Sign('.')), Some(Token::Word("exports"))];
                if [behind(1), behind(2)] != plain {
                    self.mentions("module");
                }
            }
            "constructor" => {
                let is_declared = behind(1) == Some(Token::Sign('('))
                    && matches!(before(1), Some(Token::Sign('{' | '}' | ';') | Token::Word(_)));
                if !is_declared {
                    self.mentions("constructor");
                }
            }
            "arguments" => {
                let is_key = matches!(
                    (behind(1), behind(2)),
                    (Some(Token::Sign(':')), _) | (Some(Token::Sign('?')), Some(Token::Sign(':')))
                ) && matches!(before(1), Some(Token::Sign('{' | '}' | ',' | ';')));
                if !is_key && !is_property {
                    self.mentions("arguments");
                }
            }
            "with" if behind(1) == Some(Token::Sign('(')) => self.mentions("with (…)"),
            _ if HOLDERS.contains(&word) && !is_property => {
                let is_named = behind(1) == Some(Token::Sign('.'))
                    || matches!(
                        (behind(1), behind(2), behind(3)),
                        (Some(Token::Sign('?')), Some(Token::Sign('.')), Some(Token::Word(_)))
                    );
                // `import process from "node:process"`, and a name in `{…}`, as a type or a key.
                let is_imported = behind(1) == Some(Token::Word("from"));
                if !is_named && !is_imported {
                    self.mentions(word);
                }
            }
            _ if NEVER.contains(&word) => self.mentions(word),
            _ => {}
        }
    }

    /// A call that loads something.
    fn call(&mut self, shown: &str, name: Option<Token<'t>>, end: Option<Token<'t>>) {
        match (name, end) {
            (Some(Token::Text(name)), Some(Token::Sign(')' | ','))) => {
                self.named.insert(name);
            }
            _ => {
                self.unknown.insert(format!("`{shown}` names what only running it can tell"));
            }
        }
    }

    fn mentions(&mut self, word: &str) {
        self.unknown
            .insert(format!("by `{word}` it may load or make code that is not written down"));
    }
}

/// Whether what is before a `[` is the end of a call, or of something in parentheses but the type of a name.
fn is_of_call(tokens: &[Token<'_>], at: usize) -> bool {
    const LONGEST: usize = 32;
    let before = tokens.get(at.saturating_sub(LONGEST)..at).unwrap_or_default();
    let open = before.iter().rposition(|it| *it == Token::Sign('('));
    let is_type = open.is_some_and(|open| before.get(open + 1) == Some(&Token::Word("typeof")));
    before.last() == Some(&Token::Sign(')')) && !is_type
}

fn is_plain_index(index: Option<Token<'_>>, end: Option<Token<'_>>) -> bool {
    matches!(index, Some(Token::Number | Token::Text(_))) && end == Some(Token::Sign(']'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_forms_are_known() {
        for (text, named) in [
            ("import x from './a'", "./a"),
            ("import{x}from\"b\"", "b"),
            ("export * from /* y */ 'c'", "c"),
            ("import './d'", "./d"),
            ("await import(`./e`)", "./e"),
            ("await import /* x */ (\u{feff}'./f', {with: {type: 'json'}})", "./f"),
            ("const x = require('g')", "g"),
            ("module.exports = require('g').x", "g"),
            ("class A { constructor(x) {} }\nimport './d'", "./d"),
            ("import process from 'node:process'; process.env.X", "node:process"),
        ] {
            let loads = Loads::of(text);
            assert!(loads.named.contains(named) && loads.unknown.is_empty(), "{text}: {loads:?}");
        }
        for text in [
            "// we require a lock, and import from them; eval(x)",
            "important(1); fromage('x'); a.evaluate()",
            "new URL('x', import.meta.url)",
            "a[b].c(d)[0].e",
            "let a: (typeof b.c)[number]",
            "`a from ${from}: ${b}`",
            "a.arguments; f({arguments: 1}); type A = {b: 1; arguments?: c}",
        ] {
            let loads = Loads::of(text);
            assert!(loads.named.is_empty() && loads.unknown.is_empty(), "{text}: {loads:?}");
        }
    }

    #[test]
    fn every_other_form_is_a_reason_not_to_know() {
        for text in [
            "import(name)",
            "import('./' + name)",
            "import(`./${name}`)",
            "import('./\\x61')",
            "import '\\x2e/a'",
            "export {a} from './\\u0061'",
            "import.source('x')",
            "import.meta[x]",
            "x = import.meta",
            "require('./\\x61')",
            "const load = require;",
            "[require][0]('./a')",
            "require?.('./a')",
            "require.call(null, './a')",
            "f({require})",
            "module.require('./a')",
            "module.constructor._load('./a')",
            "module['require']('./a')",
            "arguments[1]('./a')",
            "a ? arguments : b",
            "f(...arguments)",
            "f({...process})",
            "f(...module)",
            "eval(text)",
            "(0, eval)(text)",
            "eval?.(text)",
            "const e = eval",
            "globalThis['ev' + 'al'](text)",
            "const g = globalThis",
            "Reflect.construct(Function, ['x'])",
            "new Function('x')",
            "(() => {}).constructor('x')()",
            "(() => {})['constructor']('x')()",
            "(() => {})['constr' + 'uctor']('x')()",
            "(() => {})[name]('x')()",
            "const {constructor: F} = () => {}",
            "process.getBuiltinModule('vm')",
            "process['getBuiltinModule']('vm')",
            "process[name]('vm')",
            "process.mainModule.require('./a')",
            "process.binding('x')",
            "process.dlopen({}, './a')",
            "createRequire(x)",
            "\\u0065val(text)",
            "with (x) { y }",
            "WebAssembly.compile(x)",
        ] {
            assert!(!Loads::of(text).unknown.is_empty(), "{text}");
        }
    }
}
