//! `hooksConfig.redact`: the redaction rules for audits and recordings.

/// The redaction rules of one file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RedactionRules {
    /// Regular expressions whose matches in texts are replaced.
    pub patterns: Vec<String>,
    /// Names of fields whose values are replaced.
    pub fields: Vec<String>,
    /// The reason why the rules are incomplete, if they are.
    pub problem: Option<String>,
}
