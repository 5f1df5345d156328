//! Switches that disable hooks: settings, and the host at run time.

use std::fmt;
use std::path::PathBuf;

use hook_settings::HookSource;

/// A disabled hook's switch, with its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SwitchedOff {
    /// The kind of switch.
    pub switch: Switch,
    /// The source of the setting.
    pub source: HookSource,
    /// The file of the setting; `None` for the host's run-time switch.
    pub file: Option<PathBuf>,
}

/// The kind of a switch that disables a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Switch {
    /// `hooksConfig.enabled` is false in its own file.
    Enabled,
    /// `hooksConfig.disabled` names it, in its own file or a more trusted one.
    Disabled,
    /// The host disabled it at run time.
    Host,
    /// An equivalent hook runs in its place.
    Shadowed,
}

impl Switch {
    /// Returns the JSON path of the setting; `None` if no setting disables the hook.
    pub fn setting(self) -> Option<&'static str> {
        match self {
            Self::Enabled => Some("hooksConfig.enabled"),
            Self::Disabled => Some("hooksConfig.disabled"),
            Self::Host | Self::Shadowed => None,
        }
    }
}

impl fmt::Display for SwitchedOff {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.switch {
            Switch::Enabled => {
                write!(formatter, "`enabled: false` in the {} settings", self.source)
            }
            Switch::Disabled => write!(formatter, "`disabled` in the {} settings", self.source),
            Switch::Host => formatter.write_str("the host, at run time"),
            Switch::Shadowed => write!(formatter, "a hook of the {} for the same", self.source),
        }
    }
}
