//! The reader of `hooksConfig.upstream`.

use std::path::PathBuf;
use std::sync::Arc;

use super::definition::HookEntry;
use super::document::Node;
use super::fields::UPSTREAM_FIELDS;
use super::file::Reader;
use super::keywords::{FailBehavior, TimeoutOrigin};
use super::rule::Rule;
use super::upstream::UpstreamRules;
use super::values::{LENIENT, Treatment, Values};
use hook_json::text::{nearest, shortened};
use hook_protocol::event::HookEventName;

/// The priority of upstream hooks: after all others.
const LAST: i32 = i32::MAX;

/// The name of upstream hooks.
const NAME: &str = "upstream";

/// The treatment of problems: the fleet that might forbid the events cannot be called.
const UPSTREAM: Treatment = Treatment {
    strict: Some(Rule::InvalidUpstream),
    wrong_type: Rule::InvalidUpstream,
    consequence: "the events that it was to be asked about are blocked",
    ..LENIENT
};

impl Reader<'_> {
    /// Reads the object as one hook for each of its events. If it has errors, these events are
    /// blocked.
    pub(super) fn read_upstream(&mut self, node: &Node) {
        self.file.spans.upstream = Some(node.value.range());
        let mut values = self.values(node, &UPSTREAM_FIELDS, UPSTREAM);
        let repeated: Vec<(String, Node)> = UPSTREAM_FIELDS
            .iter()
            .filter_map(|spec| values.field(spec.name).filter(|field| field.is_repeated))
            .map(|field| (field.name.clone(), field.value.clone()))
            .collect();
        for (name, node) in repeated {
            self.report_upstream(&node, &mut values, format!("`{name}` is there several times"));
        }
        let text = |name: &str| values.text(name).map(str::to_owned);
        let mut rules = UpstreamRules {
            nats: text("nats").unwrap_or_default(),
            credentials: text("credentials").map(|path| self.resolve_path(&path)),
            certificate_authority: text("certificateAuthority")
                .map(|path| self.resolve_path(&path)),
            subject: text("subject"),
            expected_settings: text("expectSettings"),
        };
        if let Some((_, host)) = rules.nats.rsplit_once('@') {
            // The URL is shown in lists and error messages.
            rules.nats = format!("…@{host}");
            let problem = "`nats` has a name or a password in it, which others can see; write \
                           `credentials` instead";
            let node = values.node("nats").unwrap_or(node).clone();
            self.report_upstream(&node, &mut values, problem.to_owned());
        }
        // Without them, the intended events are unknown.
        let events =
            self.upstream_events(&mut values).unwrap_or_else(|| self.events.all().collect());
        let fail_behavior = match values.problem {
            Some(_) => FailBehavior::Block,
            None => values.fail_behavior().unwrap_or(FailBehavior::Block),
        };
        let timeout = values.duration("timeout");
        let (rules, error) = (Arc::new(rules), values.problem.map(Arc::from));
        for event in events {
            let entry = HookEntry {
                priority: LAST,
                sequential: true,
                name: Some(NAME.to_owned()),
                command: rules.nats.clone(),
                timeout,
                timeout_origin: match timeout {
                    Some(_) => TimeoutOrigin::Hook,
                    None => TimeoutOrigin::Engine,
                },
                fail_behavior,
                upstream: Some(Arc::clone(&rules)),
                unreadable: error.clone(),
                ..HookEntry::of_file(event, &self.file.config, self.document.location(node))
            };
            self.file.hooks.push(entry);
        }
    }

    /// Returns the events for the fleet; `None` if they cannot be read.
    fn upstream_events(&mut self, values: &mut Values) -> Option<Vec<HookEventName>> {
        let field = values.field("events").filter(|field| !field.is_repeated)?;
        let items = self.document.items(&field.value);
        values.located_texts("events")?;
        let names = values.texts("events");
        let mut events = Vec::new();
        for (name, item) in names.iter().zip(items.unwrap_or_default()) {
            match self.events.from_name(name) {
                Some(event) if !events.contains(&event) => events.push(event),
                Some(_) => {}
                None => {
                    let names: Vec<&str> = self.events.all().map(HookEventName::as_str).collect();
                    let suggestion = nearest(name, names.iter().copied());
                    let suggestion = suggestion.map(|near| format!("; did you mean `{near}`?"));
                    let problem = format!(
                        "`events`: there is no event `{}`{}",
                        shortened(name),
                        suggestion.unwrap_or_default()
                    );
                    self.report_upstream(&item, values, problem);
                    return None;
                }
            }
        }
        Some(events)
    }

    /// Resolves a path relative to the settings file's folder.
    fn resolve_path(&self, text: &str) -> PathBuf {
        match self.file.path.as_deref().and_then(std::path::Path::parent) {
            Some(folder) => folder.join(text),
            None => PathBuf::from(text),
        }
    }

    fn report_upstream(&mut self, node: &Node, values: &mut Values, problem: String) {
        self.report_strict(Rule::InvalidUpstream, node, &problem, UPSTREAM);
        values.problem.get_or_insert(problem);
    }
}
