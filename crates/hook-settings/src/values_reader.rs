//! The reading of values: each field is checked by its row in the table, and problems are reported.

use super::document::{Field, Node};
use super::fields::MAX_TIMEOUT_MILLISECONDS;
use super::file::Reader;
use super::keywords::FailBehavior;
use super::rule::Rule;
use super::values::{
    FAIL_BEHAVIOR, MAX_IN_MATCHER, Treatment, Value, Values, language_help, means_fail_behavior,
};
use hook_json::field::{self, FieldKind};
use hook_json::text::shortened;

impl Reader<'_> {
    /// Reads an object by its table; reports any other value.
    pub(super) fn values(
        &mut self,
        node: &Node,
        table: &'static [field::Field],
        treatment: Treatment,
    ) -> Values {
        let Some(fields) = self.document.fields(node) else {
            let problem = self.wrong_type(node, "an object", treatment);
            let problem = treatment.strict.map(|_| problem);
            let mut values = Values::none(table);
            values.problem = problem;
            return values;
        };
        let mut values = self.values_of(fields, table, treatment);
        let Some(rule) = treatment.strict else { return values };
        for spec in table.iter().filter(|spec| spec.required) {
            if values.field(spec.name).is_none() {
                let problem = format!("`{}` is missing", spec.name);
                self.report_strict(rule, node, &problem, treatment);
                values.problem.get_or_insert(problem);
            }
        }
        values
    }

    /// Reads the fields of an object by their table.
    pub(super) fn values_of(
        &mut self,
        fields: Vec<Field>,
        table: &'static [field::Field],
        treatment: Treatment,
    ) -> Values {
        let mut values = Values::none(table);
        for field in fields {
            let spec = table.iter().find(|spec| spec.name == field.name);
            let value = match spec {
                Some(spec) => self.value(&field, spec, treatment),
                None => self.unknown_field(&field, table, treatment),
            };
            if let Err(problem) = &value
                && treatment.strict.is_some()
            {
                values.problem.get_or_insert_with(|| match spec {
                    Some(spec) => format!("`{}`: {problem}", spec.name),
                    None => problem.clone(),
                });
            }
            values.fields.push((field, value.ok()));
        }
        values
    }

    /// Reports an unknown field, unless it is taken for a `failBehavior`.
    fn unknown_field(
        &mut self,
        field: &Field,
        table: &'static [field::Field],
        treatment: Treatment,
    ) -> Result<Value, String> {
        let name = shortened(&field.name);
        let known = table.iter().map(|spec| spec.name);
        if treatment.strict.is_none() && means_fail_behavior(field, table) {
            let message = format!(
                "`{name}` is not known, and taken for `failBehavior`; \"block\" is used, the \
                 stricter one"
            );
            self.document.unknown_name(Rule::InvalidFailBehavior, field, message, known);
            return Ok(Value::FailBehavior(FailBehavior::Block));
        }
        let problem = format!("unknown key `{name}`");
        let message = format!("{problem}; {}", treatment.consequence);
        let rule = treatment.strict.unwrap_or(Rule::UnknownKey);
        self.document.unknown_name(rule, field, message, known);
        Err(problem)
    }

    /// Reads the value of a field; reports an invalid one, and returns the problem.
    fn value(
        &mut self,
        field: &Field,
        spec: &field::Field,
        treatment: Treatment,
    ) -> Result<Value, String> {
        if spec.name == FAIL_BEHAVIOR {
            return Ok(Value::FailBehavior(self.fail_behavior(field)));
        }
        let node = &field.value;
        let value = &node.value;
        match spec.kind {
            FieldKind::Bool => {
                let bool = value.to_bool().map(Value::Bool);
                bool.ok_or_else(|| self.wrong_type(node, "true or false", treatment))
            }
            FieldKind::Unsigned(..) | FieldKind::Integer(..) => {
                Ok(self.number(node, spec, treatment))
            }
            FieldKind::Text | FieldKind::NotBlank => {
                // A blank name, command or path is reported with its hook.
                let may_be_blank =
                    treatment.strict.is_none() || matches!(spec.kind, FieldKind::Text);
                let text = value.to_text().filter(|text| may_be_blank || !text.trim().is_empty());
                let expected = if may_be_blank { "a string" } else { "a string that is not blank" };
                text.map(Value::Text).ok_or_else(|| self.wrong_type(node, expected, treatment))
            }
            FieldKind::OneOf(names) => {
                match value.to_text().filter(|text| names.contains(&&**text)) {
                    Some(text) => Ok(Value::Text(text)),
                    None => Ok(self.unknown_keyword(node, spec, names)),
                }
            }
            FieldKind::OneOrMore => match value.to_text() {
                Some(text) => Ok(Value::Texts(vec![(text, value.range())])),
                None => self.texts(
                    node,
                    "a string or an array of strings",
                    Some(MAX_IN_MATCHER),
                    treatment,
                ),
            },
            FieldKind::ListOf(FieldKind::Text) => {
                self.texts(node, "an array of strings", None, treatment)
            }
            FieldKind::ListOf(FieldKind::NonEmpty(None)) => self.agents(node, treatment),
            _ => Ok(Value::Other),
        }
    }

    /// Reads a number; reports any other value, in place of which the default is used.
    fn number(&mut self, node: &Node, spec: &field::Field, treatment: Treatment) -> Value {
        let (range, rule, expected) = match spec.kind {
            FieldKind::Unsigned(1, Some(MAX_TIMEOUT_MILLISECONDS)) => (
                1..=MAX_TIMEOUT_MILLISECONDS as i64,
                Rule::InvalidTimeout,
                format!("whole milliseconds from 1 to {MAX_TIMEOUT_MILLISECONDS}"),
            ),
            FieldKind::Integer(min, max) => {
                (min..=max, Rule::InvalidNumber, format!("a whole number from {min} to {max}"))
            }
            _ => (0..=i64::MAX, Rule::InvalidNumber, "a whole number".to_owned()),
        };
        match node.value.to_i64().filter(|number| range.contains(number)) {
            Some(number) => Value::Number(number),
            None => {
                let found = shortened(node.value.as_str());
                let default = match spec.name {
                    "priority" => treatment.priority.to_string(),
                    _ => "the default".to_owned(),
                };
                let message = format!("expected {expected}, found {found}; {default} is used");
                self.document.report(rule, node, message);
                Value::Other
            }
        }
    }

    /// Reports a value that is none of the known ones, in place of which the default is used.
    fn unknown_keyword(&mut self, node: &Node, spec: &field::Field, names: &[&str]) -> Value {
        let rule = match spec.name {
            "auditLevel" => Rule::InvalidAuditLevel,
            _ => Rule::WrongType,
        };
        let (expected, found) = (alternatives(names), shortened(node.value.as_str()));
        let message = format!("expected {expected}, found {found}; the default is used");
        self.document.report(rule, node, message);
        Value::Other
    }

    /// Reads an array of strings, of at most `max` if it may not be empty.
    fn texts(
        &mut self,
        node: &Node,
        expected: &str,
        max: Option<usize>,
        treatment: Treatment,
    ) -> Result<Value, String> {
        let Some(items) = self.document.items(node) else {
            return Err(self.wrong_type(node, expected, treatment));
        };
        if let (Some(max), Some(rule)) = (max, treatment.strict)
            && (items.is_empty() || items.len() > max)
        {
            let problem = format!("expected 1 to {max} strings, found {}", items.len());
            self.report_strict(rule, node, &problem, treatment);
            return Err(problem);
        }
        let (mut texts, mut first) = (Vec::new(), None);
        for item in &items {
            match item.value.to_text() {
                Some(text) => texts.push((text, item.value.range())),
                None => {
                    let problem = self.wrong_type(item, "a string", treatment);
                    first.get_or_insert(problem);
                }
            }
        }
        match first.filter(|_| treatment.strict.is_some()) {
            Some(problem) => Err(problem),
            None => Ok(Value::Texts(texts)),
        }
    }

    fn agents(&mut self, node: &Node, treatment: Treatment) -> Result<Value, String> {
        let value = self.texts(node, "an array of agents", None, treatment)?;
        let Value::Texts(mut agents) = value else { return Ok(value) };
        for item in self.document.items(node).unwrap_or_default() {
            let Some(name) = item.value.to_text() else { continue };
            if !self.languages.has_agent(&name) {
                let message =
                    format!("unknown agent `{}`; none of its hooks run", shortened(&name));
                let help = language_help(&name, &self.languages);
                self.document.report_with_help(Rule::UnknownAgent, &item, message, help);
            }
        }
        agents.retain(|(name, _)| self.languages.has_agent(name));
        Ok(Value::Texts(agents))
    }

    fn fail_behavior(&mut self, field: &Field) -> FailBehavior {
        let found = &field.value.value;
        let behavior = found.to_text().as_deref().and_then(FailBehavior::from_name);
        let found = match field.is_repeated {
            true => "several".to_owned(),
            false => shortened(found.as_str()),
        };
        behavior.filter(|_| !field.is_repeated).unwrap_or_else(|| {
            // For a guard with an invalid value, the stricter one is used.
            let message = format!(
                "expected {}, found {found}; \"block\" is used, the stricter one",
                alternatives(&FailBehavior::NAMES),
            );
            self.document.report(Rule::InvalidFailBehavior, &field.value, message);
            FailBehavior::Block
        })
    }

    /// Reports a value of a wrong type; returns the problem.
    fn wrong_type(&mut self, node: &Node, expected: &str, treatment: Treatment) -> String {
        let problem = format!("expected {expected}, found {}", node.value.kind());
        let message = format!("{problem}; {}", treatment.consequence);
        let help = format!("write {expected} here");
        self.document.report_with_help(treatment.wrong_type, node, message, help);
        problem
    }

    /// Reports a problem of a strict object.
    pub(super) fn report_strict(
        &mut self,
        rule: Rule,
        node: &Node,
        problem: &str,
        treatment: Treatment,
    ) {
        self.document.report(rule, node, format!("{problem}; {}", treatment.consequence));
    }

    pub(super) fn text(&mut self, node: &Node, consequence: &'static str) -> Option<String> {
        let text = node.value.to_text();
        if text.is_none() {
            self.document.wrong_kind(node, "a string", consequence);
        }
        text
    }
}

/// Returns the names for a message: `"off", "info" or "verbose"`.
fn alternatives(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}
