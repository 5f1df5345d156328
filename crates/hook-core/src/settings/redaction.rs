//! `hooksConfig.redact`: what is left out of what is written down.

/// What one file wants to be left out of audits and recordings.
#[doc(hidden)]
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RedactionRules {
    /// Regular expressions: what they match in a text is replaced.
    pub patterns: Vec<String>,
    /// Names of fields whose values are replaced.
    pub fields: Vec<String>,
    /// Why the rules are not all of what was meant, if they are not.
    pub problem: Option<String>,
}
