//! The reader of `hooksConfig.upstream`.

use std::path::PathBuf;
use std::sync::Arc;

use super::definition::{HookEntry, TimeoutOrigin};
use super::document::{Field, Node};
use super::fail_behavior::FailBehavior;
use super::fields::UPSTREAM_FIELDS;
use super::file::Reader;
use super::rule::Rule;
use super::upstream::UpstreamRules;
use hook_json::field;
use hook_json::text::{nearest, shortened};
use hook_protocol::event::HookEventName;

/// The priority of upstream hooks: after all others.
const LAST: i32 = i32::MAX;

/// The name of upstream hooks.
const NAME: &str = "upstream";

/// The fields read so far.
#[derive(Default)]
struct UpstreamFields {
    nats: Option<String>,
    events: Option<Vec<HookEventName>>,
    credentials: Option<PathBuf>,
    certificate_authority: Option<PathBuf>,
    subject: Option<String>,
    expected_settings: Option<String>,
    timeout: Option<std::time::Duration>,
    fail_behavior: Option<FailBehavior>,
    /// The first problem.
    problem: Option<String>,
}

impl Reader<'_> {
    /// Reads the object as one hook for each of its events. If it has errors, these events are
    /// blocked, since the fleet that might forbid them cannot be called.
    pub(super) fn read_upstream(&mut self, node: &Node) {
        self.spans.upstream = Some(node.value.range());
        let mut read = UpstreamFields::default();
        match self.document.fields(node) {
            Some(fields) => {
                for field in &fields {
                    self.read_upstream_field(field, &mut read);
                }
                for name in ["nats", "events"] {
                    if fields.iter().all(|field| field.name != name) {
                        self.report_invalid_upstream(
                            node,
                            &mut read,
                            format!("`{name}` is missing"),
                        );
                    }
                }
            }
            None => self.report_invalid_upstream(node, &mut read, "expected an object".to_owned()),
        }
        let events = match read.events.take() {
            Some(events) => events,
            // The intended events are unknown.
            None => self.events.all().collect(),
        };
        let rules = UpstreamRules {
            nats: read.nats.unwrap_or_default(),
            credentials: read.credentials,
            certificate_authority: read.certificate_authority,
            subject: read.subject,
            expected_settings: read.expected_settings,
        };
        let fail_behavior = match read.problem {
            Some(_) => FailBehavior::Block,
            None => read.fail_behavior.unwrap_or(FailBehavior::Block),
        };
        let (rules, error) = (Arc::new(rules), read.problem.map(Arc::from));
        for event in events {
            let entry = HookEntry {
                priority: LAST,
                sequential: true,
                name: Some(NAME.to_owned()),
                command: rules.nats.clone(),
                timeout: read.timeout,
                timeout_origin: match read.timeout {
                    Some(_) => TimeoutOrigin::Hook,
                    None => TimeoutOrigin::Engine,
                },
                fail_behavior,
                upstream: Some(Arc::clone(&rules)),
                unreadable: error.clone(),
                ..HookEntry::of_file(event, &self.config, self.document.location(node))
            };
            self.hooks.push(entry);
        }
    }

    fn read_upstream_field(&mut self, field: &Field, read: &mut UpstreamFields) {
        let value = &field.value;
        if !field::has_field(&UPSTREAM_FIELDS, &field.name) {
            let problem = format!("unknown key `{}`", shortened(&field.name));
            return self.report_invalid_upstream(value, read, problem);
        }
        if field.is_repeated {
            let problem = format!("`{}` is there several times", field.name);
            return self.report_invalid_upstream(value, read, problem);
        }
        match field.name.as_str() {
            "events" => read.events = self.upstream_events(value, read),
            "timeout" => read.timeout = self.timeout(value),
            "failBehavior" => read.fail_behavior = Some(self.fail_behavior(field)),
            name => {
                let Some(text) = value.value.to_text().filter(|text| !text.is_empty()) else {
                    return self.report_invalid_upstream(
                        value,
                        read,
                        format!("`{name}`: expected a string"),
                    );
                };
                match name {
                    // The URL is shown in lists and error messages.
                    "nats" if text.contains('@') => {
                        let rest = text.rsplit('@').next().unwrap_or_default();
                        read.nats = Some(format!("…@{rest}"));
                        let problem = "`nats` has a name or a password in it, which others can see; write \
                                    `credentials` instead";
                        self.report_invalid_upstream(value, read, problem.to_owned());
                    }
                    "nats" => read.nats = Some(text),
                    "subject" => read.subject = Some(text),
                    "expectSettings" => read.expected_settings = Some(text),
                    "credentials" => read.credentials = Some(self.resolve_path(&text)),
                    _ => read.certificate_authority = Some(self.resolve_path(&text)),
                }
            }
        }
    }

    /// Returns the events for the fleet; `None` if they cannot be read.
    fn upstream_events(
        &mut self,
        node: &Node,
        read: &mut UpstreamFields,
    ) -> Option<Vec<HookEventName>> {
        let Some(items) = self.document.items(node) else {
            self.report_invalid_upstream(
                node,
                read,
                "`events`: expected an array of events".to_owned(),
            );
            return None;
        };
        let mut events = Vec::new();
        for item in &items {
            let name = item.value.to_text().unwrap_or_default();
            match self.events.from_name(&name) {
                Some(event) if !events.contains(&event) => events.push(event),
                Some(_) => {}
                None => {
                    let names: Vec<&str> = self.events.all().map(HookEventName::as_str).collect();
                    let suggestion = nearest(&name, names.iter().copied());
                    let suggestion = suggestion.map(|near| format!("; did you mean `{near}`?"));
                    let problem = format!(
                        "`events`: there is no event `{}`{}",
                        shortened(&name),
                        suggestion.unwrap_or_default()
                    );
                    self.report_invalid_upstream(item, read, problem);
                    return None;
                }
            }
        }
        Some(events)
    }

    /// Resolves a path relative to the settings file's folder.
    fn resolve_path(&self, text: &str) -> PathBuf {
        match self.path.as_deref().and_then(std::path::Path::parent) {
            Some(folder) => folder.join(text),
            None => PathBuf::from(text),
        }
    }

    fn report_invalid_upstream(&mut self, node: &Node, read: &mut UpstreamFields, problem: String) {
        let message = format!("{problem}; the events that it was to be asked about are blocked");
        self.document.report(Rule::InvalidUpstream, node, message);
        read.problem.get_or_insert(problem);
    }
}
