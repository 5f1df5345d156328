//! Decides about calls, one JSON object a line: `{"kind": "shell", "command": …}`.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a tool for measuring packs by a corpus; it ends at the first mistake"
)]

use hook_rules::{Call, Directories, Effect, RuleFile, Rules};
use std::io::{BufRead, Write};

fn main() {
    let files = std::env::args().skip(1).map(|path| {
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.rsplit('/').next().unwrap().to_owned();
        let file = RuleFile::parse(&name, &text);
        for problem in &file.problems {
            eprintln!("{name}:{}: {}", problem.line, problem.message);
        }
        file
    });
    let rules = Rules::new(files);
    let verbose = std::env::var("VERBOSE").is_ok();
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let case: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
        let text = |key: &str| case[key].as_str().unwrap_or_default().to_owned();
        let (command, path) = (text("command"), text("path"));
        let cwd = if text("cwd").is_empty() { "/home/dev/project".to_owned() } else { text("cwd") };
        let home = if text("home").is_empty() { "/home/dev".to_owned() } else { text("home") };
        let directories = Directories::new(cwd.clone(), cwd, home);
        let call = match text("kind").as_str() {
            "shell" => Call::shell(&command),
            "file_read" => Call::read(&path),
            _ => Call::write(&path),
        };
        let decision = rules.decide(&call, &directories);
        let denied = decision.effect().is_some_and(|effect| effect >= Effect::Ask);
        if verbose {
            writeln!(
                out,
                "{} {:?} {:?}",
                if denied { "deny" } else { "pass" },
                command,
                decision.matches
            )
            .unwrap();
        } else {
            writeln!(out, "{}", if denied { "deny" } else { "pass" }).unwrap();
        }
        out.flush().unwrap();
    }
}
