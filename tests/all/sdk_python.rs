//! The Python SDK's own tests, run by pytest in a virtual environment of their own: the package is
//! installed as its users install it, and asks the binary of this build.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use hook_tests::{hook_binary, workspace};

/// What the tests need beside the package; `hatchling` builds it.
const NEEDS: [&str; 5] =
    ["hatchling", "pytest>=8", "mypy>=1.10", "grpcio>=1.63", "protobuf>=5.26,<8"];

#[test]
fn the_python_sdk_passes_its_own_tests() {
    let python = match environment() {
        Ok(python) => python,
        Err(why) => {
            eprintln!("SKIPPED the Python SDK: {why}");
            return;
        }
    };
    let package = workspace().join("sdks/python");
    // A new one each time, so that a file that is missing in the package is missed here.
    let mut install = pip(&python);
    install.args(["--no-index", "--no-deps", "--no-build-isolation", "--force-reinstall"]);
    passed("pip", &install.arg(&package).output().unwrap());

    let mut tests = Command::new(&python);
    tests.args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir"]);
    tests.arg(&package).arg(package.join("tests")).env("HOOK_BINARY", hook_binary());
    tests.env("PYTHONDONTWRITEBYTECODE", "1").current_dir(env!("CARGO_TARGET_TMPDIR"));
    let output = tests.output().unwrap();
    passed("pytest", &output);
    for skipped in String::from_utf8_lossy(&output.stdout).lines() {
        if skipped.starts_with("SKIPPED") {
            eprintln!("{skipped}");
        }
    }

    let mut types = Command::new(&python);
    types.args(["-m", "mypy", "--no-incremental"]).current_dir(&package);
    passed("mypy", &types.output().unwrap());
}

/// The Python of an environment with what the tests need; why there is none.
fn environment() -> Result<PathBuf, String> {
    let asked = "import sys; print(sys.version); sys.exit(sys.version_info < (3, 10))";
    let found = Command::new("python3").args(["-c", asked]).output();
    let found = found.map_err(|error| format!("python3 cannot be run: {error}"))?;
    let version = String::from_utf8_lossy(&found.stdout).into_owned();
    if !found.status.success() {
        return Err(format!("it needs Python 3.10, and python3 is {}", version.trim()));
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sdk-python");
    let (python, stamp) = (folder.join("bin/python"), folder.join("made-for"));
    let made_for = format!("{version}{NEEDS:?}");
    if std::fs::read_to_string(&stamp).is_ok_and(|made| made == made_for) {
        return Ok(python);
    }
    let venv = Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder).output();
    worked(&venv.map_err(|error| error.to_string())?)?;
    let install = pip(&python).args(NEEDS).output().map_err(|error| error.to_string())?;
    worked(&install)?;
    std::fs::write(stamp, made_for).map_err(|error| error.to_string())?;
    Ok(python)
}

fn pip(python: &Path) -> Command {
    let mut pip = Command::new(python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
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
