//! The functions of an agent's family and of its matchers.

use hook_json::JsonObject;
use hook_settings::language::{ForeignAnswer, ForeignHook, ProcessOutput};

use super::edit_error::ForeignEditError;
use super::table::{Agent, AgentEvent, Family, MatcherRule};
use super::verdict::{AgentResponse, Verdict};
use super::{
    a3s, claude, codex, codex_file, copilot, cursor, gemini, llxprt, matching, pi, qwen, templates,
    vscode,
};

impl Agent {
    /// Reads the answer of one of the agent's own hooks.
    pub(super) fn read(&self, event: &AgentEvent, process: &ProcessOutput<'_>) -> ForeignAnswer {
        match self.family {
            Family::A3s => a3s::read_answer(event, process),
            Family::Claude => claude::read_answer(event, process),
            Family::Codex => codex::read_answer(event, process),
            Family::Copilot => copilot::read_answer(event, process),
            Family::Cursor => cursor::read_answer(event, process),
            Family::Gemini => gemini::read_answer(event, process),
            Family::Llxprt => llxprt::read_answer(event, process),
            Family::Pi => pi::read_answer(event, process),
            Family::Qwen => qwen::read_answer(event, process),
            Family::Vscode => vscode::read_answer(event, process),
            Family::Templates => templates::read_answer(event, process),
        }
    }

    /// Returns the mistake for which the agent itself refuses a settings file, given as JSON.
    pub(super) fn mistake(&self, text: &str, is_toml: bool) -> Option<ForeignEditError> {
        match (self.family, is_toml) {
            (Family::Codex, true) => codex_file::mistake_in_toml(text),
            (Family::Codex, false) => codex_file::mistake_in_json(text),
            _ => None,
        }
    }

    /// Renders the response to one of the agent's events.
    pub(super) fn render(&self, event: &AgentEvent, verdict: &Verdict<'_>) -> AgentResponse {
        match self.family {
            Family::A3s => a3s::render(event, verdict),
            Family::Claude => claude::render(event, verdict),
            Family::Codex => codex::render(event, verdict),
            Family::Copilot => copilot::render(event, verdict),
            Family::Cursor => cursor::render(event, verdict),
            Family::Gemini => gemini::render(event, verdict),
            Family::Llxprt => llxprt::render(event, verdict),
            Family::Pi => pi::render(event, verdict),
            Family::Qwen => qwen::render(event, verdict),
            Family::Vscode => vscode::render(event, verdict),
            Family::Templates => templates::render(event, verdict),
        }
    }

    /// Checks whether a hook's matcher accepts an input of the agent's event.
    pub(super) fn compare(
        &self,
        event: &AgentEvent,
        hook: &ForeignHook,
        input: &JsonObject,
    ) -> bool {
        match self.matcher {
            MatcherRule::All => true,
            MatcherRule::Claude => matching::matches_claude(event, hook, input),
            MatcherRule::Codex => matching::matches_codex(event, hook, input),
            MatcherRule::Copilot => copilot::matches(event, hook, input),
            MatcherRule::Cursor => cursor::matches(event, hook, input),
            MatcherRule::Gemini => matching::matches_gemini(event, hook, input),
            MatcherRule::Qwen => qwen::matches(event, hook, input),
            MatcherRule::Expression => {
                matching::matches_raw(event, hook, input, |pattern, subject| {
                    matching::is_match(pattern, subject)
                })
            }
            MatcherRule::WholeExpression => {
                matching::matches_raw(event, hook, input, |pattern, subject| {
                    // A text of several lines ends with a line's end, which is none of the matcher's.
                    let pattern = pattern.trim();
                    pattern.is_empty() || matching::is_full_match(pattern, subject)
                })
            }
            MatcherRule::ExactOrExpression => {
                matching::matches_raw(event, hook, input, |pattern, subject| {
                    pattern == "*"
                        || pattern == subject
                        || matching::is_full_match(pattern, subject)
                })
            }
            MatcherRule::Glob => matching::matches_raw(event, hook, input, |pattern, subject| {
                let last_part = subject.rsplit('.').next().unwrap_or_default();
                [subject, last_part].iter().any(|name| matching::is_glob_match(pattern, name))
            }),
        }
    }
}
