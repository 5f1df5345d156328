//! How the command ends (docs/exit-codes.md).

/// An exit status of the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Status(u8);

/// Things may go on.
pub(crate) const PROCEED: Status = Status(0);

/// The engine could not do its job, a test of `hook test` failed, or `hook replay` found a
/// change.
pub(crate) const FAILURE: Status = Status(1);

/// A hook blocked or stopped, or asked and nobody answered.
pub(crate) const BLOCKED: Status = Status(2);

/// The command line is wrong (`EX_USAGE`).
pub(crate) const USAGE: Status = Status(64);

/// A row of the table of exit codes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    /// The code; `None` for those of signals.
    status: Option<Status>,
    /// What it means, in a few words.
    pub(crate) meaning: &'static str,
    /// What belongs to it.
    detail: &'static str,
}

/// All exit codes: what `hook help exit-codes`, `hook --help` and docs/exit-codes.md show.
pub(crate) const TABLE: [Row; 5] = [
    Row { status: Some(PROCEED), meaning: "things may go on; the work was done", detail: "" },
    Row {
        status: Some(FAILURE),
        meaning: "the engine could not do its job, or a test failed",
        detail: "",
    },
    Row {
        status: Some(BLOCKED),
        meaning: "a hook blocked or stopped, or asked and nobody answered",
        detail: "",
    },
    Row {
        status: Some(USAGE),
        meaning: "wrong usage",
        detail: "an unknown command, flag, event filter or help topic, a missing argument, \
                 `--input` that is not JSON, `--project` that is a file (1 if there is nothing)",
    },
    Row {
        status: None,
        meaning: "ended by signal n",
        detail: "129 for SIGHUP, 130 for SIGINT, 131 for SIGQUIT, 143 for SIGTERM",
    },
];

impl Row {
    /// The code as people write it.
    pub(crate) fn code(&self) -> String {
        match self.status {
            Some(status) => status.0.to_string(),
            None => "128 + n".to_owned(),
        }
    }

    /// All that is to be said of it.
    pub(crate) fn text(&self) -> String {
        match self.detail {
            "" => self.meaning.to_owned(),
            detail => format!("{}: {detail}", self.meaning),
        }
    }
}

/// The table in short, for the end of `hook --help`.
pub(crate) fn summary() -> String {
    let row = |row: &Row| format!("\n  {:<8} {}", row.code(), row.meaning);
    format!("Exit codes:{}", TABLE.iter().map(row).collect::<String>())
}

/// Ended by the signal of that number, as shells say it.
pub(crate) fn signalled(number: i32) -> Status {
    Status(128 + u8::try_from(number & 0x7f).unwrap_or_default())
}

impl From<Status> for std::process::ExitCode {
    fn from(status: Status) -> Self {
        status.0.into()
    }
}

impl Status {
    /// Ends the process at once.
    pub(crate) fn exit(self) -> ! {
        std::process::exit(self.0.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_table_is_this_one() {
        const HEAD: &str = "| code | meaning |\n| --- | --- |\n";
        let row = |row: &Row| format!("| {} | {} |\n", row.code(), row.text());
        let table: String = TABLE.iter().map(row).collect();
        crate::generated::part_is_up_to_date("docs/exit-codes.md", HEAD, &table);
    }
}
