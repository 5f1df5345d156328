//! The time of a decision over all packs, by turns with one regular expression over the same text.
//!
//! `cargo run --release -p hook-rules --example speed`

#![allow(clippy::print_stdout, clippy::panic, reason = "showing times is what it is for")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use hook_rules::packs::PACKS;
use hook_rules::{Call, Commands, RuleFile, Rules, test_directories};
use regex_automata::meta::Regex;

const COMMAND: &str = "cd web && npm ci && NODE_ENV=production npm run build -- --mode release && \
    cp -r dist/. ../server/public/ && git add -A && git commit -m 'release: build of the web part, \
    never rm -rf /' && git push origin release";

/// Alternatives as a guard of regular expressions has them.
const PATTERN: &str = r"(?i)\brm\s+(-[a-z]*r[a-z]*f|-[a-z]*f[a-z]*r)\s+(/|~|\$HOME)|\bgit\s+push\s+.*(--force|-f\b)|\bdd\s+.*of=/dev/|\bmkfs(\.\w+)?\b|\bterraform\s+destroy\b|\bkubectl\s+delete\b|\bdrop\s+(table|database)\b|\bchmod\s+-R\s+777\b|\bcurl\b.*\|\s*(ba)?sh\b|\bnpm\s+publish\b";

fn main() {
    let load = |parse: fn(&str, &str) -> RuleFile| {
        let start = Instant::now();
        let files: Vec<_> = PACKS.iter().map(|pack| parse(pack.name, pack.rules)).collect();
        (files, start.elapsed())
    };
    let ((_, whole), (files, deferred)) = (load(RuleFile::parse), load(RuleFile::parse_deferred));
    let count: usize = files.iter().map(RuleFile::len).sum();
    let sets: Vec<Rules> = files.into_iter().map(|file| Rules::new([file])).collect();
    let directories = test_directories();
    let regex = Regex::new(PATTERN).unwrap_or_else(|error| panic!("{error}"));
    let (mut rules, mut read, mut expression) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..300 {
        rules.push(time(|| {
            let call = Call::shell(black_box(COMMAND));
            let commands = Commands::read(&call, &directories);
            for set in &sets {
                black_box(set.decide_read(&call, &commands, &directories, &|_| None));
            }
        }));
        read.push(time(|| {
            black_box(Commands::read(&Call::shell(black_box(COMMAND)), &directories));
        }));
        expression.push(time(|| {
            black_box(regex.is_match(black_box(COMMAND)));
        }));
    }
    println!("{count} rules of {} files, a command of {} characters", sets.len(), COMMAND.len());
    println!("loading       {deferred:?}, all at once {whole:?}");
    for (name, mut times) in
        [("decision", rules), ("of it reading", read), ("expression", expression)]
    {
        times.sort();
        println!("{name:<13} {:?} (median), {:?} (best)", times[times.len() / 2], times[0]);
    }
}

fn time(run: impl Fn()) -> Duration {
    let start = Instant::now();
    for _ in 0..10 {
        run();
    }
    start.elapsed() / 10
}
