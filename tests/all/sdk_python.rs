//! The Python SDK's own tests, run by pytest in a virtual environment of their own: the package is
//! installed as its users install it, and asks the binary of this build. What depends on nothing
//! but the package's files is done again only when they have changed.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use hook_tests::{hook_binary, workspace};

/// What the tests need beside the package; `hatchling` builds it.
const NEEDS: [&str; 3] = ["hatchling", "pytest>=8", "mypy>=1.10"];

/// The tests that start programs, and wait for them most of the time; the others run beside them.
const WITH_PROGRAMS: [&str; 3] = ["test_examples.py", "test_engine.py", "test_shared_server.py"];

#[test]
fn the_python_sdk_passes_its_own_tests() {
    let sdk = match installed() {
        Ok(sdk) => sdk,
        Err(why) => return skipped(why),
    };
    let tests = sdk.package.join("tests");
    let of_programs = WITH_PROGRAMS.map(|file| tests.join(file));
    let mut beside = sdk.pytest();
    for file in &of_programs {
        beside.arg("--ignore").arg(file);
    }
    let beside = beside.arg(tests).spawn().unwrap();
    let with_programs = sdk.pytest().args(of_programs).output().unwrap();
    let beside = beside.wait_with_output().unwrap();
    for output in [with_programs, beside] {
        passed("pytest", &output);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        for line in said.lines() {
            line.strip_prefix("SKIPPED").into_iter().for_each(|what| skipped(what.trim_start()));
        }
    }

    if !sdk.is_checked {
        let mut types = Command::new(&sdk.python);
        types.args(["-m", "mypy", "--no-incremental"]).current_dir(&sdk.package);
        passed("mypy", &types.output().unwrap());
        fs::write(&sdk.stamp, &sdk.fingerprint).unwrap();
    }
}

/// Runs some of the package's own tests, by their names; without what they need it says so.
pub(crate) fn passes(file: &str, tests: &[&str]) {
    let sdk = match installed() {
        Ok(sdk) => sdk,
        Err(why) => return skipped(why),
    };
    let file = sdk.package.join("tests").join(file).display().to_string();
    let tests = tests.iter().map(|test| format!("{file}::{test}"));
    passed("pytest", &sdk.pytest().args(tests).output().unwrap());
}

/// The package, installed in an environment for its tests. Other runs of these tests wait for it.
struct Installed {
    python: PathBuf,
    package: PathBuf,
    fingerprint: String,
    /// Says for which files everything was done that depends on nothing else.
    stamp: PathBuf,
    is_checked: bool,
    _lock: File,
}

/// The package, which is installed, or tried to be, only once; why it cannot be.
fn installed() -> Result<&'static Installed, &'static str> {
    static INSTALLED: OnceLock<Result<Installed, String>> = OnceLock::new();
    INSTALLED.get_or_init(install).as_ref().map_err(String::as_str)
}

fn install() -> Result<Installed, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sdk-python");
    fs::create_dir_all(&folder).unwrap();
    // Other runs of these tests have the same environment.
    let lock = File::create(folder.with_extension("lock")).unwrap();
    lock.lock().unwrap();
    let python = environment(&folder)?;
    let package = workspace().join("sdks/python");
    let fingerprint = format!("{:x}", fingerprint(&package));
    let stamp = folder.join("installed");
    let is_checked = fs::read_to_string(&stamp).is_ok_and(|before| before == fingerprint);
    if !is_checked {
        let _ = fs::remove_file(&stamp);
        // A new one each time, so that a file that is missing in the package is missed here.
        let mut pip = pip(&python);
        pip.args(["--no-index", "--no-deps", "--no-build-isolation", "--force-reinstall"]);
        passed("pip", &pip.arg(&package).output().unwrap());
    }
    Ok(Installed { python, package, fingerprint, stamp, is_checked, _lock: lock })
}

impl Installed {
    fn pytest(&self) -> Command {
        pytest(&self.python, &self.package)
    }
}

fn pytest(python: &Path, package: &Path) -> Command {
    let mut tests = Command::new(python);
    tests.args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir"]).arg(package);
    tests.env("HOOK_BINARY", hook_binary()).env("PYTHONDONTWRITEBYTECODE", "1");
    tests.current_dir(env!("CARGO_TARGET_TMPDIR")).stdout(Stdio::piped()).stderr(Stdio::piped());
    tests
}

/// What tells the package's files from others.
fn fingerprint(package: &Path) -> u64 {
    let mut hasher = DefaultHasher::new();
    let mut folders = vec![package.join("src")];
    let mut files = vec![package.join("pyproject.toml"), package.join("README.md")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("__pycache__") {
                folders.push(path);
            } else if path.is_file() {
                files.push(path);
            }
        }
    }
    files.sort();
    for file in files {
        file.strip_prefix(package).unwrap().hash(&mut hasher);
        fs::read(file).unwrap().hash(&mut hasher);
    }
    hasher.finish()
}

/// The version of a `python3` that the package runs with; why there is none.
pub(crate) fn version() -> Result<String, String> {
    let asked = "import sys; print(sys.version); sys.exit(sys.version_info < (3, 10))";
    let found = Command::new("python3").args(["-c", asked]).output();
    let found = found.map_err(|error| format!("python3 cannot be run: {error}"))?;
    let version = String::from_utf8_lossy(&found.stdout).into_owned();
    if found.status.success() {
        return Ok(version);
    }
    Err(format!("it needs Python 3.10, and python3 is {}", version.trim()))
}

pub(crate) fn skipped(why: &str) {
    hook_tests::skipped(&format!("the Python SDK: {why}"));
}

/// The Python of an environment with what the tests need; why there is none.
fn environment(folder: &Path) -> Result<PathBuf, String> {
    let version = version()?;
    let (python, stamp) = (folder.join("bin/python"), folder.join("made-for"));
    let made_for = format!("{version}{NEEDS:?}");
    if fs::read_to_string(&stamp).is_ok_and(|made| made == made_for) {
        return Ok(python);
    }
    let venv = Command::new("python3").args(["-m", "venv", "--clear"]).arg(folder).output();
    worked(&venv.map_err(|error| error.to_string())?)?;
    let install = pip(&python).args(NEEDS).output().map_err(|error| error.to_string())?;
    worked(&install)?;
    fs::write(stamp, made_for).map_err(|error| error.to_string())?;
    Ok(python)
}

fn pip(python: &Path) -> Command {
    let mut pip = Command::new(python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    // Where nothing answers it gives up soon: by itself, or by settings of the machine, much later.
    pip.args(["--timeout=20", "--retries=1"]);
    pip
}

fn worked(output: &Output) -> Result<(), String> {
    let said = || String::from_utf8_lossy(&output.stderr).trim().to_owned();
    if output.status.success() { Ok(()) } else { Err(said()) }
}

fn passed(what: &str, output: &Output) {
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{what}: {said}\n{errors}");
}
