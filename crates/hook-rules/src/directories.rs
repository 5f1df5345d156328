//! The directories in which calls are made.

use hook_shell::invocations::Surroundings;

/// The directories in which a call is made. All are absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Directories {
    cwd: String,
    project: String,
    home: String,
    temp: Vec<String>,
}

impl Directories {
    /// Creates directories from the working directory, the project and the home directory.
    pub fn new(
        cwd: impl Into<String>,
        project: impl Into<String>,
        home: impl Into<String>,
    ) -> Self {
        let temp =
            ["/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp"].map(str::to_owned).to_vec();
        Self { cwd: cwd.into(), project: project.into(), home: home.into(), temp }
    }

    pub(crate) fn home(&self) -> &str {
        &self.home
    }

    /// Returns the project.
    pub fn project(&self) -> &str {
        &self.project
    }

    pub(crate) fn temp(&self) -> &[String] {
        &self.temp
    }

    pub(crate) fn cwd(&self) -> &str {
        &self.cwd
    }

    /// Returns the place in which commands are read.
    pub fn surroundings(&self) -> Surroundings<'_> {
        Surroundings { cwd: &self.cwd, project: &self.project, home: &self.home }
    }
}

/// Returns the directories in which the tests of packs are played, so that they have one outcome
/// everywhere: the project is `/home/dev/project`.
pub fn test_directories() -> Directories {
    Directories::new("/home/dev/project", "/home/dev/project", "/home/dev")
}
