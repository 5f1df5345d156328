//! Variables that hooks set for the later hooks of their session.

use super::finished::PipelineOutcome;
use crate::plan::Plan;
use hook_run::SessionEnv;

/// Returns the variables that the plan's hooks set; `None` if the event's answers have no `env`.
/// Variables that cannot be set become warnings of the outcome.
pub fn session_env(plan: &Plan, outcome: &mut PipelineOutcome) -> Option<SessionEnv> {
    if !plan.event.row().answers.contains(&"env") {
        return None;
    }
    let mut env = SessionEnv::default();
    let mut warnings = Vec::new();
    for result in outcome.hooks.iter().filter(|result| result.success) {
        let given = result.output.as_ref().and_then(|output| output.specific_object("env"));
        let planned =
            plan.hooks.iter().find(|candidate| candidate.hook.identity.is_same_hook(&result.hook));
        let (Some(given), Some(planned)) = (given, planned) else { continue };
        let given = given.fields();
        let given = given.iter().map(|(name, value)| (name.to_owned(), value.to_text()));
        let problems = env.add(planned.hook.source.trust_rank(), given);
        warnings.extend(problems.iter().map(|problem| result.hook.format_warning(problem)));
    }
    outcome.processed.warn(warnings);
    Some(env)
}
