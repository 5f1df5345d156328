//! Who switches hooks off: settings, and the host at run time.

use std::fmt;
use std::path::PathBuf;

use crate::settings::HookSource;

/// Who switched a hook off, and where that is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SwitchedOff {
    /// How.
    pub switch: Switch,
    /// Whose setting it is.
    pub source: HookSource,
    /// The file it stands in; absent for what the host said at run time.
    pub file: Option<PathBuf>,
}

/// How a hook is switched off.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Switch {
    /// `hooksConfig.enabled` of its own file is false.
    Enabled,
    /// `hooksConfig.disabled` of its own file, or of one that is trusted more, names it.
    Disabled,
    /// The host did it at run time.
    Host,
    /// Another hook that stands for the same runs in its place.
    Shadowed,
}

impl Switch {
    /// The JSON path of the setting; the host's word is none.
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
