//! Variables that SessionStart hooks set for later hooks of the session (reference/answers.md).

use std::sync::Arc;

use hook_json::{JsonObject, RawJson};
use hook_shell::loaders::is_forbidden_in_project;

/// The number of variables that one hook may set.
const MAX_VARIABLES: usize = 64;

/// The maximum length of a name and its value together, in bytes.
const MAX_VARIABLE: usize = 4 * 1024;

/// The engine's own variables, which hooks may not set, either.
const ENGINE_VARIABLES: &str = "HOOK_";

/// The variables that hooks set for a session. A clone is a handle.
#[derive(Debug, Clone, Default)]
pub struct SessionEnv {
    /// In plan order; later hooks override earlier ones.
    entries: Arc<Vec<HookVariables>>,
}

#[derive(Debug, Clone)]
struct HookVariables {
    rank: u8,
    variables: Vec<(String, String)>,
}

impl SessionEnv {
    /// Returns `true` if no variable is set.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the variables as JSON, for a later process of the session.
    pub fn to_json(&self) -> RawJson {
        let entries = self.entries.iter().map(|entry| {
            let variables = entry.variables.iter();
            let variables: JsonObject =
                variables.map(|(name, value)| (name.clone(), RawJson::from_text(value))).collect();
            let mut object = JsonObject::new();
            object.insert("rank", RawJson::from_u64(entry.rank.into()));
            object.insert("variables", variables.to_raw());
            RawJson::from(object.to_raw())
        });
        RawJson::from_items(&entries.collect::<Vec<_>>())
    }

    /// Reads the output of [`to_json`](Self::to_json); anything else is left out.
    pub fn from_json(json: &RawJson) -> Self {
        let mut env = Self::default();
        for entry in json.to_items().unwrap_or_default() {
            let fields = entry.to_object().unwrap_or_default();
            let rank = fields.get("rank").and_then(RawJson::to_u64);
            let variables = fields.get("variables").and_then(|value| value.to_object().ok());
            if let (Some(rank), Some(variables)) =
                (rank.and_then(|number| u8::try_from(number).ok()), variables)
            {
                let candidates =
                    variables.iter().map(|(name, value)| (name.to_owned(), value.to_text()));
                // Variables that hooks may not set are left out here, too.
                let _ = env.add(rank, candidates);
            }
        }
        env
    }

    /// Adds the variables of a hook of that [rank](hook_settings::HookSource::trust_rank). Returns the
    /// problems of those that cannot be set; they are left out.
    pub fn add(
        &mut self,
        rank: u8,
        candidates: impl IntoIterator<Item = (String, Option<String>)>,
    ) -> Vec<String> {
        let mut problems = Vec::new();
        let mut variables: Vec<(String, String)> = Vec::new();
        for (name, value) in candidates {
            let problem = match &value {
                None => Some("its value is no string"),
                Some(value) => problem(&name, value),
            };
            match (problem, value) {
                (None, Some(value)) if variables.len() < MAX_VARIABLES => {
                    variables.push((name, value));
                }
                (None, _) => problems.push(format!(
                    "env: {MAX_VARIABLES} variables are set, and the others are not"
                )),
                (Some(why), _) => {
                    let name = hook_json::text::shortened(&name);
                    problems.push(format!("env.{name} was not set: {why}"));
                }
            }
        }
        problems.dedup();
        problems.truncate(MAX_VARIABLES);
        if !variables.is_empty() {
            Arc::make_mut(&mut self.entries).push(HookVariables { rank, variables });
        }
        problems
    }

    /// Returns the variables for a hook of that rank: those of hooks with the same rank or more.
    pub(super) fn of_rank(&self, rank: u8) -> impl Iterator<Item = (&str, &str)> {
        let entries = self.entries.iter().filter(move |entry| rank <= entry.rank);
        entries.flat_map(|entry| entry.variables.iter()).map(|(name, value)| (&**name, &**value))
    }
}

/// Returns the reason why a variable cannot be set.
fn problem(name: &str, value: &str) -> Option<&'static str> {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let begins = name.bytes().next().is_some_and(|first| !first.is_ascii_digit());
    let upper = name.to_ascii_uppercase();
    let is_reserved = || {
        [name, &upper].into_iter().any(is_forbidden_in_project)
            || upper.starts_with(ENGINE_VARIABLES)
    };
    match () {
        () if !begins || !name.bytes().all(is_name) => Some("that is no name of a variable"),
        () if is_reserved() => Some("hooks may not set it for one another"),
        () if value.contains('\0') => Some("its value has a NUL"),
        () if name.len() + value.len() > MAX_VARIABLE => Some("it is longer than 4 KiB"),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_hook_gets_was_set_by_those_that_are_trusted_no_less() {
        let mut env = SessionEnv::default();
        let set = |name: &str, value: &str| (name.to_owned(), Some(value.to_owned()));
        assert_eq!(env.add(0, [set("A", "project")]), [""; 0]);
        assert_eq!(env.add(2, [set("A", "user"), set("B", "user")]), [""; 0]);
        let of = |rank| env.of_rank(rank).collect::<Vec<_>>();
        assert_eq!(of(0), [("A", "project"), ("A", "user"), ("B", "user")]);
        assert_eq!(of(2), [("A", "user"), ("B", "user")]);
        assert_eq!(of(3), []);
    }

    #[test]
    fn what_decides_how_programs_run_is_not_set() {
        for name in [
            "PATH",
            "Path",
            "BASH_ENV",
            "ENV",
            "LD_PRELOAD",
            "DYLD_X",
            "NODE_OPTIONS",
            "PYTHONPATH",
            "HOOK_RUN_TOKEN",
            "SHELLOPTS",
            "PERL5OPT",
            "RUBYLIB",
            "JAVA_TOOL_OPTIONS",
            "_JAVA_OPTIONS",
            "node_path",
            "LUA_INIT_5_4",
            "PHPRC",
            "GCONV_PATH",
            "GLIBC_TUNABLES",
            "OPENSSL_CONF",
            "CURL_HOME",
            "GIT_DIR",
            "HOME",
            "XDG_CONFIG_HOME",
            "CDPATH",
            "GEM_PATH",
            "MAKEFILES",
            "DOTNET_STARTUP_HOOKS",
            "PROMPT_COMMAND",
            "",
            "1A",
            "A-B",
            "A=B",
            "é",
        ] {
            let mut env = SessionEnv::default();
            let problems = env.add(0, [(name.to_owned(), Some("x".to_owned()))]);
            assert_eq!((problems.len(), env.is_empty()), (1, true), "{name}");
        }
        let mut env = SessionEnv::default();
        let long = "x".repeat(MAX_VARIABLE);
        for value in [None, Some("\0".to_owned()), Some(long)] {
            assert_eq!(env.add(0, [("A".to_owned(), value)]).len(), 1);
        }
        let many = (0..100).map(|it| (format!("A{it}"), Some(String::new())));
        assert_eq!(env.add(0, many).len(), 1);
        assert_eq!(env.of_rank(0).count(), MAX_VARIABLES);
    }
}
