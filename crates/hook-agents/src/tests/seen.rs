//! The tables beside what real agents sent and did: `agents/seen/*.jsonl`, a line for each input
//! of a hook, and for each answer of a hook with what the agent did.

use std::fs;
use std::path::Path;

use hook_json::{JsonObject, RawJson, RawObject};
use hook_protocol::HookEventName;
use hook_protocol::event::output::Decision;
use hook_settings::language::ProcessOutput;

use super::claude::parse_object;
use super::table::{Agent, AgentEvent};
use super::template::{Forms, Template, Value};
use super::{UPDATED_INPUT, agent};

/// Answers that end the run of the agent, which hooks here cannot.
const ENDS_THE_RUN: [(&str, &str); 1] = [("droid", "exit3")];

/// The answer of a hook, and what the agent did.
struct Seen {
    event: &'static AgentEvent,
    code: i32,
    stdout: String,
    stderr: String,
    did: String,
    scenario: String,
}

fn agents() -> impl Iterator<Item = (&'static Agent, Vec<JsonObject>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("agents/seen");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().map(|path| {
        let agent = agent(path.file_stem().unwrap().to_str().unwrap()).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let lines = text.lines().map(|line| RawJson::parse(line).unwrap().to_object().unwrap());
        (agent, lines.collect())
    })
}

fn answers(agent: &'static Agent, lines: &[JsonObject]) -> Vec<Seen> {
    let answers = lines.iter().filter(|line| line.get("did").is_some());
    let seen = answers.map(|line| {
        let text = |name: &str| line.get(name).unwrap().to_text().unwrap();
        Seen {
            event: agent.event(&text("event")).unwrap_or_else(|| panic!("{}", text("event"))),
            code: i32::try_from(line.get("code").unwrap().to_u64().unwrap()).unwrap(),
            stdout: text("stdout"),
            stderr: text("stderr"),
            did: text("did"),
            scenario: text("scenario"),
        }
    });
    seen.collect()
}

#[test]
fn what_agents_send_is_read() {
    for (agent, lines) in agents() {
        for line in lines.iter().filter(|line| line.get("input").is_some()) {
            let event = line.get("event").unwrap().to_text().unwrap();
            let input = RawObject::try_from(line.get("input").unwrap().clone()).unwrap();
            let request = agent.parse_request(Some(&event), &input);
            let request = request.unwrap_or_else(|error| panic!("{} {event}: {error}", agent.name));
            assert!(!request.is_other_form(), "{} {event}", agent.name);
            let Some(native) = HookEventName::from_name(request.event_name()) else { continue };
            let read = request.request(native);
            let read = read.unwrap_or_else(|error| panic!("{} {event}: {error}", agent.name));
            let base = (&read.base.session_id, &read.base.cwd);
            assert!(!format!("{base:?}").contains("None"), "{} {event}", agent.name);
        }
    }
}

#[test]
fn answers_mean_here_what_they_did_there() {
    for (agent, lines) in agents() {
        for seen in answers(agent, &lines) {
            let name = (agent.name, seen.scenario.as_str());
            if ENDS_THE_RUN.contains(&name) {
                continue;
            }
            let (stdout, stderr) = (seen.stdout.as_str(), seen.stderr.as_str());
            let process = ProcessOutput { code: Some(seen.code), stdout, stderr };
            let output = agent.read(seen.event, &process).output.unwrap_or_default();
            let denies = matches!(output.decision, Some(Decision::Deny | Decision::Block))
                || output.should_continue == Some(false);
            let told =
                output.specific("additionalContext").is_some() || output.system_message.is_some();
            let changes = output.specific(UPDATED_INPUT).is_some();
            let found = (denies, told, changes);
            let is_as_seen = match seen.did.as_str() {
                "denied" | "continued" => denies,
                "told" => denies || told,
                "changed" => changes,
                _ => found == (false, false, false) && output.decision != Some(Decision::Ask),
            };
            assert!(is_as_seen, "{name:?} {}: {found:?}", seen.did);
        }
    }
}

/// Each form that a table writes was seen to be obeyed, where the event's answers were tried.
#[test]
fn what_is_written_was_obeyed() {
    for (agent, lines) in agents() {
        let seen = answers(agent, &lines);
        for event in agent.events {
            let forms = &event.answers;
            for (part, form, value, effects) in [
                ("deny", forms.deny, Value::Reason, &["denied", "continued", "told"][..]),
                ("input", forms.input, Value::Input, &["changed"]),
                ("context", forms.context, Value::Context, &["told"]),
            ] {
                let tried: Vec<&Seen> = seen
                    .iter()
                    .filter(|seen| seen.event.name == event.name)
                    .filter(|seen| effects.contains(&seen.did.as_str()))
                    .collect();
                let Some(form) = form.first() else {
                    let has_other = |seen: &&Seen| !obeys_another_form(event, seen);
                    let missing = tried.iter().copied().find(has_other).filter(|_| part != "deny");
                    let missing = missing.map(|seen| &seen.scenario);
                    assert!(missing.is_none(), "{} {}: {part} {missing:?}", agent.name, event.name);
                    continue;
                };
                let is_form = |seen: &&&Seen| is_form(form, value, seen);
                let is_tried = seen.iter().any(|seen| seen.event.name == event.name);
                assert!(
                    !is_tried || tried.iter().any(|seen| is_form(&seen)),
                    "{} {}: {part} was never obeyed",
                    agent.name,
                    event.name
                );
            }
        }
    }
}

/// Checks whether an answer had its effect by a form that the table has.
fn obeys_another_form(event: &AgentEvent, seen: &Seen) -> bool {
    let forms = &event.answers;
    let has = |forms: Forms, value| forms.iter().any(|form| is_form(form, value, seen));
    seen.code == 2
        || has(forms.deny, Value::Reason)
        || has(forms.context, Value::Context)
        || event.text_is_context
}

fn is_form(form: &Template, value: Value, seen: &Seen) -> bool {
    let fields = parse_object(&seen.stdout).unwrap_or_default();
    let has_value =
        form.captured(value, &fields).is_some() || form.captured(Value::Context, &fields).is_some();
    i32::from(form.code) == seen.code
        && (form.is_text || form.fields.is_empty() || has_value)
        && (!form.is_readable() || form.is_in(&fields))
}
