//! What docs/fleet.md has to paste, played in an empty folder; with a port of its own, since 4222
//! may be somebody's.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use super::broker::{Broker, skipped};
use super::{accounts, hook};

/// How the commands end, whatever became of them.
const END: &str = "trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT";

fn page(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::read_to_string(folder.join(name)).unwrap()
}

/// The blocks of a part of a page, each with its language.
fn blocks(part: &str) -> Vec<(&str, &str)> {
    let pieces = part.split("\n```").skip(1).step_by(2);
    pieces.map(|piece| piece.split_once('\n').unwrap()).collect()
}

/// What is said between that heading and that other text.
fn part<'p>(page: &'p str, from: &str, to: &str) -> &'p str {
    let (_, part) = page.split_once(from).unwrap();
    part.split_once(to).unwrap().0
}

/// Plays commands with this `hook` in a folder, and gives all that they say.
fn play(folder: &Path, commands: &str) -> String {
    // Nobody has it at the moment.
    let port = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
    let commands = commands.replace("nats-server ", &format!("nats-server -p {port} "));
    let commands = commands.replace("//127.0.0.1", &format!("//127.0.0.1:{port}"));
    let commands = commands.replace("//localhost", &format!("//localhost:{port}"));
    let built = commands.lines().filter(|line| !line.starts_with("cargo build"));
    let built = built.filter(|line| !line.starts_with("PATH=")).collect::<Vec<_>>().join("\n");
    let script = folder.join("script.sh");
    fs::write(&script, format!("exec 2>&1\n{END}\n{built}\n")).unwrap();
    let binary = Path::new(env!("CARGO_BIN_EXE_hook")).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let mut bash = Command::new("bash");
    bash.envs(hook(folder).get_envs().filter_map(|(name, value)| Some((name, value?))));
    bash.env("PATH", format!("{}:{path}:/usr/sbin", binary.display()));
    let output = bash.arg(script).current_dir(folder).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn assert_says(said: &str, expected: &[&str]) {
    for expected in expected {
        assert!(said.contains(expected), "{expected}: {said}");
    }
}

#[test]
fn what_the_page_of_the_fleet_has_to_paste_works_as_it_stands_there() {
    if Broker::start().is_none() {
        return;
    }
    if Command::new("openssl").arg("version").output().is_err() {
        return skipped("the page of the fleet: openssl is not installed");
    }
    let page = page("docs/fleet.md");
    let folder = tempfile::tempdir().unwrap();
    let (_, commands) = blocks(part(&page, "# A fleet of engines\n", "\n## Engines"))[0];
    let said = play(folder.path(), commands);
    assert_says(&said, &["proceed", "not that", "Engines of the fleet"]);

    // `nk` makes the keys there.
    accounts::keyed(folder.path());
    fs::write(folder.path().join("fleet.conf"), self::page("docs/examples/fleet/fleet.conf"))
        .unwrap();
    let mut commands = String::new();
    for (language, block) in blocks(part(&page, "\n## Security\n", "\n## Watching it")) {
        match (language, block) {
            ("sh", block) if block.contains("cargo install nkeys") => {}
            ("sh", block) => commands.push_str(block),
            ("nats", block) => {
                commands.push_str(&format!(
                    "{{ cat <<'EOF'\n{block}\nEOF\ncat fleet.conf; }} >new.conf\n"
                ));
                commands.push_str("mv new.conf fleet.conf; echo with TLS\n");
            }
            _ => panic!("{language}"),
        }
        commands.push('\n');
    }
    let said = play(folder.path(), &commands);
    let (plain, encrypted) = said.split_once("with TLS\n").unwrap();
    assert_says(
        plain,
        &[
            "serving acme.hooks.request.*",
            "Engines of the fleet",
            "does not let this asker ask: Permissions Violation for Publish to \"acme.hooks.engines\"",
            "does not let this engine take requests",
            "does not let this asker ask: Permissions Violation for Publish to \"acme.hooks.request",
        ],
    );
    assert_says(encrypted, &["at tls://localhost", "Engines of the fleet", "UnknownIssuer"]);
}
