//! Sets `HOOK_BUILD`, the commit and date that `hook --version` shows behind the version, and how the command is linked.

use std::path::Path;
use std::process::Command;

/// Set by those who build without git, such as packagers.
const VARIABLE: &str = "HOOK_COMMIT";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={VARIABLE}");
    let commit = std::env::var(VARIABLE).ok().filter(|commit| is_shown(commit));
    let build = commit.or_else(packaged).or_else(checked_out);
    let build = build.map(|build| format!(" ({build})")).unwrap_or_default();
    println!("cargo::rustc-env=HOOK_BUILD={build}");
    link_at_fixed_addresses();
}

/// Spares each start the relocation of 23,000 pointers, a fifth of its time (docs/dev/performance.md).
fn link_at_fixed_addresses() {
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|found| found == value);
    let features = std::env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
    // A static one would be linked with the start of a movable program, and fail at once.
    let is_static = features.split(',').any(|feature| feature == "crt-static");
    if !is_static
        && is("PROFILE", "release")
        && is("CARGO_CFG_TARGET_OS", "linux")
        && is("CARGO_CFG_TARGET_ENV", "gnu")
    {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}

/// Checks that a text fits into one line of output.
fn is_shown(text: &str) -> bool {
    !text.is_empty() && text.len() < 80 && text.chars().all(|it| it.is_ascii_graphic() || it == ' ')
}

/// Returns the commit that `cargo package` notes in a package.
fn packaged() -> Option<String> {
    let noted = std::fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let (_, rest) = noted.split_once("\"sha1\"")?;
    let hash = rest.split('"').nth(1)?;
    hash.get(..8).filter(|hash| is_shown(hash)).map(str::to_owned)
}

/// Returns commit and date of a clone. Only builds that are kept ask git, so that those of
/// development are not repeated after each commit.
fn checked_out() -> Option<String> {
    let is_kept = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    if !is_kept || !Path::new("../../.git").exists() {
        return None;
    }
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    if Path::new(&log).exists() {
        println!("cargo::rerun-if-changed={log}");
    }
    git(&["show", "--no-patch", "--abbrev=8", "--format=%h %cs", "HEAD"])
        .filter(|text| is_shown(text))
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
