//! The installation that this binary belongs to, judged by its path: how to update it, and the path
//! by which agents call it.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use hook_files::{private_folder, program};
use hook_settings::data_home;

/// Version, commit and date of this build.
pub(crate) const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), env!("HOOK_BUILD"));

/// The copy that agents call if this binary's own path does not last, below the user's data folder.
const COPY: &str = "hook/bin";

/// The ways to install.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    /// A file without traces of an installer.
    Archive,
    Build,
    Cargo,
    CargoClone,
    Copy,
    Homebrew,
    Nix,
    Npm,
    Npx,
    Pip,
    Pipx,
    Uv,
    Uvx,
    Winget,
}

/// What is known about a way to install.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Facts {
    /// The words behind "installed".
    pub(crate) by: &'static str,
    pub(crate) update: &'static str,
    /// The command that removes it, unless it is a file to be removed.
    pub(crate) remove: Option<&'static str>,
    /// The installer keeps the binary at one path until it is removed.
    lasts: bool,
}

impl Method {
    pub(crate) fn facts(self) -> Facts {
        let facts = |by, update, remove, lasts| Facts { by, update, remove, lasts };
        match self {
            Self::Archive => {
                facts("from an archive", "run install.sh of the newer version", None, true)
            }
            Self::Build => {
                facts("nowhere: it is in cargo's build folder", "cargo build", None, false)
            }
            Self::Cargo => {
                facts("by cargo", "cargo install hook-cli", Some("cargo uninstall hook-cli"), true)
            }
            Self::CargoClone => facts(
                "by cargo from a clone",
                "git pull, then cargo install --path crates/hook-cli there",
                Some("cargo uninstall hook-cli"),
                true,
            ),
            Self::Copy => facts(
                "as a copy by `hook connect`",
                "update the `hook` that you call, then hook connect again",
                None,
                true,
            ),
            Self::Homebrew => facts(
                "by Homebrew",
                "brew upgrade hook-engine",
                Some("brew uninstall hook-engine"),
                false,
            ),
            Self::Nix => facts(
                "by Nix",
                "nix profile upgrade hook-engine",
                Some("nix profile remove hook-engine"),
                false,
            ),
            Self::Npm => facts(
                "by npm",
                "npm install --global hook-engine@latest",
                Some("npm uninstall --global hook-engine"),
                false,
            ),
            Self::Npx => facts("for one call by npx", "npx hook-engine@latest", None, false),
            Self::Pip => facts(
                "by pip",
                "pip install --upgrade hook-engine",
                Some("pip uninstall hook-engine"),
                false,
            ),
            Self::Pipx => facts(
                "by pipx",
                "pipx upgrade hook-engine",
                Some("pipx uninstall hook-engine"),
                true,
            ),
            Self::Uv => facts(
                "by uv",
                "uv tool upgrade hook-engine",
                Some("uv tool uninstall hook-engine"),
                true,
            ),
            Self::Uvx => facts("for one call by uvx", "uvx hook-engine@latest", None, false),
            Self::Winget => facts(
                "by winget",
                "winget upgrade hook-engine",
                Some("winget uninstall hook-engine"),
                true,
            ),
        }
    }

    /// Judges the path of a binary, in which no part is a link.
    fn of(path: &Path) -> Self {
        let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
        let has = |name: &str| parts.iter().any(|part| part == name);
        let follows = |parent: &str, name: &str| {
            parts.windows(2).any(|pair| pair[0] == parent && pair[1] == name)
        };
        let folder = path.parent().unwrap_or(Path::new("/"));
        let root = folder.parent().unwrap_or(Path::new("/"));
        let is_cached = has(".cache") || has("archive-v0") || follows("uv", "cache");
        if copied_path().and_then(|copy| copy.canonicalize().ok()).is_some_and(|copy| copy == path)
        {
            return Self::Copy;
        }
        if folder.join(".cargo-lock").exists() {
            return Self::Build;
        }
        if has("node_modules") {
            let is_kept = !is_cached && !["_npx", "dlx"].iter().any(|name| has(name));
            return if is_kept { Self::Npm } else { Self::Npx };
        }
        if follows("nix", "store") {
            return Self::Nix;
        }
        if has("Cellar") {
            return Self::Homebrew;
        }
        if has("WinGet") {
            return Self::Winget;
        }
        match root.join("pyvenv.cfg").exists() {
            true if is_cached => return Self::Uvx,
            true if follows("uv", "tools") => return Self::Uv,
            true if follows("pipx", "venvs") => return Self::Pipx,
            true => return Self::Pip,
            // uv runs what it unpacked without an environment around it.
            false if is_cached => return Self::Uvx,
            false => {}
        }
        match fs::read_to_string(root.join(".crates.toml")) {
            Ok(crates) if crates.contains("\"hook-cli ") => {
                let is_clone = crates
                    .lines()
                    .any(|line| line.starts_with("\"hook-cli ") && line.contains("(path+"));
                if is_clone { Self::CargoClone } else { Self::Cargo }
            }
            _ if is_of_pip(root) => Self::Pip,
            _ => Self::Archive,
        }
    }
}

/// Checks whether a Python without an environment has the package: `pip install --user`.
fn is_of_pip(root: &Path) -> bool {
    let entries = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten();
    let pythons = entries(&root.join("lib"))
        .filter(|it| it.file_name().to_string_lossy().starts_with("python3"));
    pythons
        .flat_map(|python| ["site-packages", "dist-packages"].map(|name| python.path().join(name)))
        .any(|packages| {
            entries(&packages)
                .any(|it| it.file_name().to_string_lossy().starts_with("hook_engine-"))
        })
}

/// This binary: its path, and how it came there.
#[derive(Debug)]
pub(crate) struct Installation {
    pub(crate) path: PathBuf,
    pub(crate) method: Method,
}

impl Installation {
    /// Looks at the running binary.
    ///
    /// # Errors
    /// If the system does not say what runs.
    pub(crate) fn current() -> io::Result<Self> {
        let path = std::env::current_exe()?;
        let method = Method::of(&path.canonicalize()?);
        Ok(Self { path, method })
    }

    /// Returns the path by which agents call it: one that does not change with an update or the
    /// next cleaning of a cache. It may be that of a copy that is not there yet.
    pub(crate) fn lasting_path(&self) -> Option<PathBuf> {
        if self.method.facts().lasts {
            return Some(self.path.clone());
        }
        if matches!(self.method, Method::Homebrew | Method::Nix) {
            // These link the version in use to a path that stays.
            let real = self.path.canonicalize().ok()?;
            let in_path = std::env::var_os("PATH").and_then(|path| program::find(&path, NAME));
            let link = [Some(self.path.clone()), in_path].into_iter().flatten().find(|path| {
                path != &real && path.canonicalize().is_ok_and(|target| target == real)
            });
            if link.is_some() {
                return link;
            }
        }
        copied_path()
    }

    /// Returns `true` if the lasting path leads to this binary, or to an equal copy.
    pub(crate) fn is_at(&self, lasting_path: &Path) -> bool {
        lasting_path == self.path || same_content(&self.path, lasting_path).unwrap_or(false)
    }

    /// Puts a copy at the lasting path.
    ///
    /// # Errors
    /// If it cannot be written.
    pub(crate) fn copy_to(&self, lasting_path: &Path) -> io::Result<()> {
        let folder = lasting_path.parent().unwrap_or(Path::new("/"));
        private_folder::make(folder)?;
        let mut copy = tempfile::Builder::new().prefix(".hook-").tempfile_in(folder)?;
        let mut original = File::open(&self.path)?;
        io::copy(&mut original, &mut copy)?;
        copy.as_file().set_permissions(original.metadata()?.permissions())?;
        copy.as_file().sync_all()?;
        copy.persist(lasting_path)?;
        Ok(())
    }
}

/// The binary's file name.
pub(crate) const NAME: &str = if cfg!(windows) { "hook.exe" } else { "hook" };

/// Returns the path of the copy, whether or not it exists.
pub(crate) fn copied_path() -> Option<PathBuf> {
    Some(data_home()?.join(COPY).join(NAME))
}

/// Compares two files.
fn same_content(one: &Path, other: &Path) -> io::Result<bool> {
    let (one, other) = (File::open(one)?, File::open(other)?);
    if one.metadata()?.len() != other.metadata()?.len() {
        return Ok(false);
    }
    let [mut one, mut other] = [one, other].map(|file| BufReader::with_capacity(1 << 16, file));
    loop {
        let (left, right) = (one.fill_buf()?, other.fill_buf()?);
        let length = left.len().min(right.len());
        if left[..length] != right[..length] {
            return Ok(false);
        }
        if length == 0 {
            return Ok(left.len() == right.len());
        }
        one.consume(length);
        other.consume(length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_of_installing_is_seen_by_the_path() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        for (path, beside, expected) in [
            (".local/bin/hook", None, Method::Archive),
            ("target/debug/hook", Some(("target/debug/.cargo-lock", "")), Method::Build),
            (
                "c/bin/hook",
                Some(("c/.crates.toml", "\"hook-cli 0.1.0 (registry+x)\" = [\"hook\"]\n")),
                Method::Cargo,
            ),
            (
                "d/bin/hook",
                Some(("d/.crates.toml", "\"hook-cli 0.1.0 (path+file:///x)\" = [\"hook\"]\n")),
                Method::CargoClone,
            ),
            ("e/bin/hook", Some(("e/.crates.toml", "\"other 0.1.0 ()\" = []\n")), Method::Archive),
            ("lib/node_modules/@hook-engine/linux-x64/bin/hook", None, Method::Npm),
            (".npm/_npx/1a/node_modules/@hook-engine/linux-x64/bin/hook", None, Method::Npx),
            (".cache/pnpm/dlx/1a/node_modules/@hook-engine/linux-x64/bin/hook", None, Method::Npx),
            (".cache/uv/archive-v0/1a/bin/hook", None, Method::Uvx),
            (
                ".cache/uv/environments-v2/1a/bin/hook",
                Some((".cache/uv/environments-v2/1a/pyvenv.cfg", "")),
                Method::Uvx,
            ),
            (
                "share/uv/tools/hook-engine/bin/hook",
                Some(("share/uv/tools/hook-engine/pyvenv.cfg", "")),
                Method::Uv,
            ),
            (
                "pipx/venvs/hook-engine/bin/hook",
                Some(("pipx/venvs/hook-engine/pyvenv.cfg", "")),
                Method::Pipx,
            ),
            (".venv/bin/hook", Some((".venv/pyvenv.cfg", "")), Method::Pip),
            (
                "u/bin/hook",
                Some(("u/lib/python3.11/site-packages/hook_engine-0.1.0.dist-info/RECORD", "")),
                Method::Pip,
            ),
            ("opt/Cellar/hook-engine/0.1.0/bin/hook", None, Method::Homebrew),
            ("nix/store/abc-hook-engine-0.1.0/bin/hook", None, Method::Nix),
        ] {
            if let Some((file, text)) = beside {
                fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
                fs::write(root.join(file), text).unwrap();
            }
            assert_eq!(Method::of(&root.join(path)), expected, "{path}");
        }
    }

    #[test]
    fn files_are_compared_to_the_last_byte() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            fs::write(&path, bytes).unwrap();
            path
        };
        let bytes = vec![7; (1 << 16) + 3];
        let mut changed = bytes.clone();
        changed[(1 << 16) + 2] = 8;
        let one = file("one", &bytes);
        assert!(same_content(&one, &file("same", &bytes)).unwrap());
        assert!(!same_content(&one, &file("changed", &changed)).unwrap());
        assert!(!same_content(&one, &file("shorter", &bytes[1..])).unwrap());
        assert!(same_content(&one, &folder.path().join("none")).is_err());
    }
}
