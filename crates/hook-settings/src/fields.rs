//! The tables of known settings fields, used by the reader and the schema.

use super::keywords::{AuditLevel, FailBehavior};
use hook_json::field::FieldKind::{self, Integer, ListOf, Text, Unsigned};
use hook_json::fields;
use hook_protocol::event::{self, EVENT_NAME_PATTERN};

/// The priority of hooks that set none.
pub const DEFAULT_PRIORITY: i32 = 100;

/// The longest timeout, in milliseconds: a day.
pub(super) const MAX_TIMEOUT_MILLISECONDS: u64 = 86_400_000;

/// The largest absolute value of a priority.
pub(super) const MAX_PRIORITY: i32 = 1_000_000;

const PRIORITY: FieldKind = Integer(-(MAX_PRIORITY as i64), MAX_PRIORITY as i64);

const MILLISECONDS: FieldKind = Unsigned(1, Some(MAX_TIMEOUT_MILLISECONDS));

const TEXTS: FieldKind = ListOf(&Text);

fields! {
    /// The top-level fields of a file.
    pub(crate) TOP_LEVEL:
    "$schema" Any, optional, "The schema of this file, for editors; not read.";
    "hooksConfig" Closed(&CONFIG_FIELDS), optional, "What holds for all hooks of this file.";
    "hooks" Defined("events"), optional, "The hooks, by the event they listen to.";
}

fields! {
    /// The fields of `hooksConfig`.
    pub CONFIG_FIELDS:
    "enabled" Bool, = "true", "Whether the hooks of this file run at all.";
    "disabled" TEXTS, = "[]",
        "Names (or commands, of hooks without a name) of hooks that do not run.";
    "defaultTimeout" MILLISECONDS, = "60000",
        "The timeout of hooks that set none, in milliseconds.";
    "failBehavior" OneOf(&FailBehavior::NAMES), = "\"continue\"",
        "What the failure of a hook means that does not say it itself: `block` makes it a denial.";
    "maxConcurrent" Unsigned(0, None), = "0",
        "How many processes of this file's hooks may run at once; 0 leaves it to the engine.";
    "environment" Closed(&ENVIRONMENT_FIELDS), optional,
        "Which variables of the host's environment hooks get. A name may end in `*`.";
    "events" Map(EVENT_NAME_PATTERN, &event::DEFINITION_FIELDS), optional,
        "Events beside the built-in ones, by name, with what their hooks' answers mean.";
    "agents" ListOf(&NonEmpty(None)), = "[]",
        "Agents whose own hooks run as well, as those agents would run them.";
    "modules" TEXTS, = "[]",
        "Modules that are loaded beside those that stand in `hooks` and those that are found, by their \
         paths.";
    "registration" Closed(&REGISTRATION_FIELDS), optional,
        "What holds for hooks that clients register at run time. Of no effect in a project's file.";
    "server" OneOf(&["off", "auto"]), = "\"off\"",
        "`auto`: `hook bridge` starts a server for its project where none runs. Of no effect in a \
         project's file.";
    "log" OneOf(&["calls", "off"]), = "\"calls\"",
        "`off`: what agents ask `hook bridge` is not written down for `hook log`. Of no effect in a \
         project's file.";
    "upstream" Closed(&UPSTREAM_FIELDS), optional,
        "A fleet of engines that is asked behind the hooks here. Of no effect in a project's file.";
    "auditLevel" OneOf(&AuditLevel::NAMES), = "\"info\"",
        "How much an audit tells. Of no effect in a project's file.";
    "redact" Closed(&REDACT_FIELDS), optional,
        "What is replaced by `[redacted]` in audits and recordings. Of no effect in a project's file.";
}

fields! {
    /// The fields of `hooksConfig.upstream`.
    pub(crate) UPSTREAM_FIELDS:
    "nats" NotBlank, required,
        "The NATS server of the fleet: `tls://HOST:PORT`, or `nats://` on this machine.";
    "events" TEXTS, required, "The events that it is asked about.";
    "credentials" NotBlank, optional,
        "Who one is there: a file of mode 600, from the folder of this file on.";
    "certificateAuthority" NotBlank, optional,
        "A file with certificates that are believed beside those that the system believes (PEM).";
    "subject" NotBlank, = "\"hooks\"", "What the subjects of the fleet begin with.";
    "expectSettings" NotBlank, optional,
        "The `settingsHash` of the engines that may answer; no other does.";
    "failBehavior" OneOf(&FailBehavior::NAMES), = "\"block\"",
        "What it means that no engine answered.";
    "timeout" MILLISECONDS, = "60000",
        "How long it may take until an engine has answered, in milliseconds.";
}

fields! {
    /// The fields of `hooksConfig.registration`.
    pub(crate) REGISTRATION_FIELDS:
    "maxPerEvent" Unsigned(0, None), = "10", "How many hooks of one event clients may register.";
    "maxTotal" Unsigned(0, None), = "50", "How many hooks clients may register altogether.";
    "defaultTimeout" MILLISECONDS, = "5000", "The timeout of those that set none, in milliseconds.";
    "failBehavior" OneOf(&FailBehavior::NAMES), = "\"continue\"",
        "What the failure of one means that does not say it itself: `block` makes it a denial.";
}

fields! {
    /// The fields of `hooksConfig.redact`.
    pub(crate) REDACT_FIELDS:
    "patterns" TEXTS, = "[]",
        "Regular expressions, as in matchers: what they match in a text is replaced.";
    "fields" TEXTS, = "[]",
        "Names of fields, in any case: their values are replaced, at any depth.";
}

fields! {
    /// The fields of `hooksConfig.environment`.
    pub(crate) ENVIRONMENT_FIELDS:
    "allow" TEXTS, = "[]", "Variables that hooks get although `deny`, or the engine, removes them.";
    "deny" TEXTS, = "[]", "Variables of the host that hooks do not get.";
}

fields! {
    /// The fields of a definition.
    pub DEFINITION_FIELDS:
    "matcher" TextOr(&MATCHER_FIELDS), optional,
        "Which tools it is for: a regular expression that is looked for in the tool's name. Without \
         one, or with `*`, for all. Or an object, all of whose fields must hold.";
    "priority" PRIORITY, = "100",
        "The priority of its hooks that set none: lower ones run earlier, equal ones together.";
    "sequential" Bool, = "false",
        "Whether hooks of the same priority run one after the other, each with what the one before \
         changed.";
    "language" NonEmpty(None), optional,
        "The agent in whose words the definition is written, as it is in that agent's own settings, \
         under that agent's name for the event. Its hooks do here what they do there.";
    "hooks" ListOf(&Defined("hook")), required, "The hooks.";
}

fields! {
    /// The fields of an object matcher.
    pub MATCHER_FIELDS:
    "kind" OneOrMore, optional,
        "What the tool does, whatever it is called: `shell`, `file_read`, `file_write`, `web`, `mcp`, \
         `agent` or `other`; or several, of which it does one.";
    "tool" OneOrMore, optional,
        "The tool's name in any agent, so that `Bash` is also `run_shell_command`; or several, of \
         which it has one.";
    "toolPattern" Text, optional,
        "A regular expression that is looked for in each of the tool's names.";
    "pathPattern" OneOrMore, optional,
        "A glob that a path of the input matches; or several, of which one must. Relative globs begin \
         at `cwd`, one without `/` is compared with the last component, and one that begins with `!` \
         excludes paths.";
    "commandPattern" Text, optional,
        "A regular expression that is looked for in a command of the input.";
    "agent" OneOrMore, optional,
        "The agent that calls, such as `claude`; or several, of which it is one. In these four, `*` \
         stands for any text, and a caller that does not say it counts as a match.";
    "subagent" OneOrMore, optional,
        "The type of the sub-agent that calls, or several; an empty text is the agent itself.";
    "permissionMode" OneOrMore, optional,
        "The permission mode of the agent, in its own words, or several.";
    "model" OneOrMore, optional,
        "The model that the agent uses, in its own words, or several.";
}

fields! {
    /// The fields of a hook.
    pub HOOK_FIELDS:
    "type" OneOf(&["command", "worker", "module"]), required,
        "What the hook is: a command that is run for each event; a worker: a command that stays alive \
         and answers calls; or a module: a file of JavaScript or TypeScript.";
    "command" NotBlank, optional,
        "Of a command and a worker, which need it: the shell command that is run. The event's input \
         comes on its standard input; exit code 2 denies, and standard error says why. A worker gets \
         calls there, and answers on standard output.";
    "path" NotBlank, optional,
        "Of a module, which needs it: its file. A relative path begins at the project, or at the \
         folder of a settings file that is no project's.";
    "name" NotBlank, optional,
        "What the hook is shown as and switched off by; without one, its command or path is.";
    "description" Text, optional, "What the hook is for.";
    "timeout" MILLISECONDS, optional,
        "How long it may run, in milliseconds; `defaultTimeout` by default.";
    "failBehavior" OneOf(&FailBehavior::NAMES), optional,
        "What its failure means: `block` makes it a denial. That of the file by default.";
    "priority" PRIORITY, optional,
        "Its place among the event's hooks: lower ones run earlier, equal ones together; later ones \
         see what earlier ones changed, and do not start once one has blocked. That of the definition \
         by default.";
    "async" Bool, = "false",
        "`true`: the event goes on without waiting for the hook, and its answer counts for nothing.";
    "env" Variables, optional, "Variables that are added to its environment, over all others.";
    "data" TEXTS, = "[]",
        "Files of the project that the command only reads as data, as patterns such as `docs/**`: a \
         change to them needs no new trust.";
    "start" OneOf(&["lazy", "eager"]), = "\"lazy\"",
        "Of a worker: whether it is started at its first call, or when the settings are read.";
    "startTimeout" MILLISECONDS, = "10000",
        "Of a worker: how long it may take until it says that it is ready, in milliseconds.";
    "idleTimeout" MILLISECONDS, optional,
        "Of a worker: how long it is kept while nobody calls it, in milliseconds; for ever by \
         default.";
    "language" NonEmpty(None), optional,
        "The agent in whose words the hook is written, where that is not said of the definition.";
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HooksConfig, RegistrationLimits, WorkerRules};
    use hook_json::field::Field;

    #[test]
    fn defaults_are_those_of_the_engine() {
        let default = |fields: &[Field], name: &str| {
            fields.iter().find(|field| field.name == name).unwrap().default.unwrap().to_owned()
        };
        let limits = RegistrationLimits::default();
        let start_timeout = WorkerRules::default().start_timeout;
        for (fields, name, engine) in [
            (&HOOK_FIELDS[..], "startTimeout", start_timeout.as_millis().to_string()),
            (&DEFINITION_FIELDS, "priority", DEFAULT_PRIORITY.to_string()),
            (&REGISTRATION_FIELDS, "maxPerEvent", limits.max_per_event.to_string()),
            (&REGISTRATION_FIELDS, "maxTotal", limits.max_total.to_string()),
            (
                &REGISTRATION_FIELDS,
                "defaultTimeout",
                limits.default_timeout.as_millis().to_string(),
            ),
            (&CONFIG_FIELDS, "enabled", HooksConfig::default().enabled.to_string()),
            (&CONFIG_FIELDS, "auditLevel", format!("{:?}", AuditLevel::default().as_str())),
            (&CONFIG_FIELDS, "failBehavior", format!("{:?}", FailBehavior::default().as_str())),
        ] {
            assert_eq!(default(fields, name), engine, "{name}");
        }
    }
}
