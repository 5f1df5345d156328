//! The tables of known settings fields, used by the reader and the schema.

use super::audit_level::AuditLevel;
use super::fail_behavior::FailBehavior;
use super::matcher_definition::{COMMAND_PATTERN, KIND, PATH_PATTERN, TOOL, TOOL_PATTERN};
use crate::language;
use hook_json::field::{Field, FieldKind};
use hook_protocol::event::{self, EVENT_NAME_PATTERN};

/// The longest timeout, in milliseconds: a day.
pub(super) const MAX_TIMEOUT_MILLISECONDS: u64 = 86_400_000;

/// The largest absolute value of a priority.
pub(super) const MAX_PRIORITY: i32 = 1_000_000;

const PRIORITY: FieldKind = FieldKind::Integer(-(MAX_PRIORITY as i64), MAX_PRIORITY as i64);

const MILLISECONDS: FieldKind = FieldKind::Unsigned(1, Some(MAX_TIMEOUT_MILLISECONDS));

/// The top-level fields of a file.
pub(crate) static TOP_LEVEL: [Field; 3] = [
    Field::optional("$schema", FieldKind::Any, "The schema of this file, for editors; not read."),
    Field::optional(
        "hooksConfig",
        FieldKind::Closed(&CONFIG_FIELDS),
        "What holds for all hooks of this file.",
    ),
    Field::optional(
        "hooks",
        FieldKind::Defined("events"),
        "The hooks, by the event they listen to.",
    ),
];

/// The fields of `hooksConfig`.
pub static CONFIG_FIELDS: [Field; 15] = [
    Field::with_default(
        "enabled",
        FieldKind::Bool,
        "true",
        "Whether the hooks of this file run at all.",
    ),
    Field::with_default(
        "disabled",
        FieldKind::ListOf(&FieldKind::Text),
        "[]",
        "Names (or commands, of hooks without a name) of hooks that do not run.",
    ),
    Field::with_default(
        "defaultTimeout",
        MILLISECONDS,
        "60000",
        "The timeout of hooks that set none, in milliseconds.",
    ),
    Field::with_default(
        "failBehavior",
        FieldKind::OneOf(&FailBehavior::NAMES),
        "\"continue\"",
        "What the failure of a hook means that does not say it itself: `block` makes it a denial.",
    ),
    Field::with_default(
        "maxConcurrent",
        FieldKind::Unsigned(0, None),
        "0",
        "How many processes of this file's hooks may run at once; 0 leaves it to the engine.",
    ),
    Field::optional(
        "environment",
        FieldKind::Closed(&ENVIRONMENT_FIELDS),
        "Which variables of the host's environment hooks get. A name may end in `*`.",
    ),
    Field::optional(
        "events",
        FieldKind::Map(EVENT_NAME_PATTERN, &event::DEFINITION_FIELDS),
        "Events beside the built-in ones, by name, with what their hooks' answers mean.",
    ),
    Field::with_default(
        "agents",
        FieldKind::ListOf(&FieldKind::OneOf(&language::NAMES)),
        "[]",
        "Agents whose own hooks run as well, as those agents would run them.",
    ),
    Field::with_default(
        "modules",
        FieldKind::ListOf(&FieldKind::Text),
        "[]",
        "Modules that are loaded beside those that stand in `hooks` and those that are found, by their \
         paths.",
    ),
    Field::optional(
        "registration",
        FieldKind::Closed(&REGISTRATION_FIELDS),
        "What holds for hooks that clients register at run time. Of no effect in a project's file.",
    ),
    Field::with_default(
        "server",
        FieldKind::OneOf(&["off", "auto"]),
        "\"off\"",
        "`auto`: `hook bridge` starts a server for its project where none runs. Of no effect in a \
         project's file.",
    ),
    Field::with_default(
        "log",
        FieldKind::OneOf(&["calls", "off"]),
        "\"calls\"",
        "`off`: what agents ask `hook bridge` is not written down for `hook log`. Of no effect in a \
         project's file.",
    ),
    Field::optional(
        "upstream",
        FieldKind::Closed(&UPSTREAM_FIELDS),
        "A fleet of engines that is asked behind the hooks here. Of no effect in a project's file.",
    ),
    Field::with_default(
        "auditLevel",
        FieldKind::OneOf(&AuditLevel::NAMES),
        "\"info\"",
        "How much an audit tells. Of no effect in a project's file.",
    ),
    Field::optional(
        "redact",
        FieldKind::Closed(&REDACT_FIELDS),
        "What is replaced by `[redacted]` in audits and recordings. Of no effect in a project's file.",
    ),
];

/// The fields of `hooksConfig.upstream`.
pub(crate) static UPSTREAM_FIELDS: [Field; 8] = [
    Field::required(
        "nats",
        FieldKind::NotBlank,
        "The NATS server of the fleet: `tls://HOST:PORT`, or `nats://` on this machine.",
    ),
    Field::required(
        "events",
        FieldKind::ListOf(&FieldKind::Text),
        "The events that it is asked about.",
    ),
    Field::optional(
        "credentials",
        FieldKind::NotBlank,
        "Who one is there: a file of mode 600, from the folder of this file on.",
    ),
    Field::optional(
        "certificateAuthority",
        FieldKind::NotBlank,
        "A file with certificates that are believed beside those that the system believes (PEM).",
    ),
    Field::with_default(
        "subject",
        FieldKind::NotBlank,
        "\"hooks\"",
        "What the subjects of the fleet begin with.",
    ),
    Field::optional(
        "expectSettings",
        FieldKind::NotBlank,
        "The `settingsHash` of the engines that may answer; no other does.",
    ),
    Field::with_default(
        "failBehavior",
        FieldKind::OneOf(&FailBehavior::NAMES),
        "\"block\"",
        "What it means that no engine answered.",
    ),
    Field::with_default(
        "timeout",
        MILLISECONDS,
        "60000",
        "How long it may take until an engine has answered, in milliseconds.",
    ),
];

/// The fields of `hooksConfig.registration`.
pub(crate) static REGISTRATION_FIELDS: [Field; 4] = [
    Field::with_default(
        "maxPerEvent",
        FieldKind::Unsigned(0, None),
        "10",
        "How many hooks of one event clients may register.",
    ),
    Field::with_default(
        "maxTotal",
        FieldKind::Unsigned(0, None),
        "50",
        "How many hooks clients may register altogether.",
    ),
    Field::with_default(
        "defaultTimeout",
        MILLISECONDS,
        "5000",
        "The timeout of those that set none, in milliseconds.",
    ),
    Field::with_default(
        "failBehavior",
        FieldKind::OneOf(&FailBehavior::NAMES),
        "\"continue\"",
        "What the failure of one means that does not say it itself: `block` makes it a denial.",
    ),
];

/// The fields of `hooksConfig.redact`.
pub(crate) static REDACT_FIELDS: [Field; 2] = [
    Field::with_default(
        "patterns",
        FieldKind::ListOf(&FieldKind::Text),
        "[]",
        "Regular expressions, as in matchers: what they match in a text is replaced.",
    ),
    Field::with_default(
        "fields",
        FieldKind::ListOf(&FieldKind::Text),
        "[]",
        "Names of fields, in any case: their values are replaced, at any depth.",
    ),
];

/// The fields of `hooksConfig.environment`.
pub(crate) static ENVIRONMENT_FIELDS: [Field; 2] = [
    Field::with_default(
        "allow",
        FieldKind::ListOf(&FieldKind::Text),
        "[]",
        "Variables that hooks get although `deny`, or the engine, removes them.",
    ),
    Field::with_default(
        "deny",
        FieldKind::ListOf(&FieldKind::Text),
        "[]",
        "Variables of the host that hooks do not get.",
    ),
];

/// The fields of a definition.
pub static DEFINITION_FIELDS: [Field; 5] = [
    Field::optional(
        "matcher",
        FieldKind::TextOr(&MATCHER_FIELDS),
        "Which tools it is for: a regular expression that is looked for in the tool's name. Without \
         one, or with `*`, for all. Or an object, all of whose fields must hold.",
    ),
    Field::with_default(
        "priority",
        PRIORITY,
        "100",
        "The priority of its hooks that set none: lower ones run earlier, equal ones together.",
    ),
    Field::with_default(
        "sequential",
        FieldKind::Bool,
        "false",
        "Whether hooks of the same priority run one after the other, each with what the one before \
         changed.",
    ),
    Field::optional(
        "language",
        FieldKind::OneOf(&language::NAMES),
        "The agent in whose words the definition is written, as it is in that agent's own settings, under \
         that agent's name for the event. Its hooks do here what they do there.",
    ),
    Field::required("hooks", FieldKind::ListOf(&FieldKind::Defined("hook")), "The hooks."),
];

/// The fields of an object matcher.
pub static MATCHER_FIELDS: [Field; 5] = [
    Field::optional(
        KIND,
        FieldKind::OneOrMore,
        "What the tool does, whatever it is called: `shell`, `file_read`, `file_write`, `web`, `mcp`, \
         `agent` or `other`; or several, of which it does one.",
    ),
    Field::optional(
        TOOL,
        FieldKind::OneOrMore,
        "The tool's name in any agent, so that `Bash` is also `run_shell_command`; or several, of which \
         it has one.",
    ),
    Field::optional(
        TOOL_PATTERN,
        FieldKind::Text,
        "A regular expression that is looked for in each of the tool's names.",
    ),
    Field::optional(
        PATH_PATTERN,
        FieldKind::OneOrMore,
        "A glob that a path of the input matches; or several, of which one must. Relative globs \
         begin at `cwd`, one without `/` is compared with the last component, and one that begins \
         with `!` excludes paths.",
    ),
    Field::optional(
        COMMAND_PATTERN,
        FieldKind::Text,
        "A regular expression that is looked for in a command of the input.",
    ),
];

/// The fields of a hook.
pub static HOOK_FIELDS: [Field; 15] = [
    Field::required(
        "type",
        FieldKind::OneOf(&["command", "worker", "module"]),
        "What the hook is: a command that is run for each event; a worker: a command that stays alive \
         and answers calls; or a module: a file of JavaScript or TypeScript.",
    ),
    Field::optional(
        "command",
        FieldKind::NotBlank,
        "Of a command and a worker, which need it: the shell command that is run. The event's input comes on its standard input; exit code 2 \
         denies, and standard error says why. A worker gets calls there, and answers on standard output.",
    ),
    Field::optional(
        "path",
        FieldKind::NotBlank,
        "Of a module, which needs it: its file. A relative path begins at the project, or at the folder of a \
         settings file that is no project's.",
    ),
    Field::optional(
        "name",
        FieldKind::NotBlank,
        "What the hook is shown as and switched off by; without one, its command or path is.",
    ),
    Field::optional("description", FieldKind::Text, "What the hook is for."),
    Field::optional(
        "timeout",
        MILLISECONDS,
        "How long it may run, in milliseconds; `defaultTimeout` by default.",
    ),
    Field::optional(
        "failBehavior",
        FieldKind::OneOf(&FailBehavior::NAMES),
        "What its failure means: `block` makes it a denial. That of the file by default.",
    ),
    Field::optional(
        "priority",
        PRIORITY,
        "Its place among the event's hooks: lower ones run earlier, equal ones together; later ones \
         see what earlier ones changed, and do not start once one has blocked. That of the definition \
         by default.",
    ),
    Field::with_default(
        "async",
        FieldKind::Bool,
        "false",
        "`true`: the event goes on without waiting for the hook, and its answer counts for nothing.",
    ),
    Field::optional(
        "env",
        FieldKind::Variables,
        "Variables that are added to its environment, over all others.",
    ),
    Field::with_default(
        "data",
        FieldKind::ListOf(&FieldKind::Text),
        "[]",
        "Files of the project that the command only reads as data, as patterns such as `docs/**`: \
         a change to them needs no new trust.",
    ),
    Field::with_default(
        "start",
        FieldKind::OneOf(&["lazy", "eager"]),
        "\"lazy\"",
        "Of a worker: whether it is started at its first call, or when the settings are read.",
    ),
    Field::with_default(
        "startTimeout",
        MILLISECONDS,
        "10000",
        "Of a worker: how long it may take until it says that it is ready, in milliseconds.",
    ),
    Field::optional(
        "idleTimeout",
        MILLISECONDS,
        "Of a worker: how long it is kept while nobody calls it, in milliseconds; for ever by default.",
    ),
    Field::optional(
        "language",
        FieldKind::OneOf(&language::NAMES),
        "The agent in whose words the hook is written, where that is not said of the definition.",
    ),
];
