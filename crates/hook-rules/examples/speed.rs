//! The time of a decision over all packs, by turns with one regular expression over the same text.
//!
//! `cargo run --release -p hook-rules --example speed`; a number behind it is that of rounds, for tools that count
//! instructions.

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

/// The number of rules.
const RULES: usize = 500;

/// The paths that the files of the command have, and those around them: each may be a link.
const PATHS: [&str; 12] = [
    "/home",
    "/home/dev",
    "/home/dev/project",
    "/home/dev/project/web",
    "/home/dev/project/web/dist",
    "/home/dev/project/web/dist/index.html",
    "/home/dev/project/server",
    "/home/dev/project/server/public",
    "/home/dev/project/server/public/dist",
    "/home/dev/project/server/public/dist/index.html",
    "/home/dev/project/server/public/index.html",
    "/home/dev/project/package.json",
];

/// Returns so many rules of a team, about subcommands of programs.
fn of_team(count: usize) -> String {
    let programs = ["git", "npm", "cargo", "docker", "kubectl", "aws", "make", "cp", "psql"];
    let rule = |(index, program): (usize, &&str)| {
        format!(
            "[[rule]]\nid = \"r{index}\"\nshell = {{ program = \"{program}\", \
             args = [\"task-{index}\", {{ any = [\"--force\", \"-f\"] }}] }}\nask = \"sure?\"\n"
        )
    };
    programs.iter().cycle().enumerate().take(count).map(rule).collect()
}

fn main() {
    let load = |parse: fn(&str, &str) -> RuleFile| {
        let start = Instant::now();
        let files: Vec<_> = PACKS.iter().map(|pack| parse(pack.name, pack.rules)).collect();
        (files, start.elapsed())
    };
    let ((_, whole), (mut files, deferred)) =
        (load(RuleFile::parse), load(RuleFile::parse_deferred));
    let of_packs: usize = files.iter().map(RuleFile::len).sum();
    files.push(RuleFile::parse("team.toml", &of_team(RULES - of_packs)));
    let rules = Rules::new(files);
    let directories = test_directories();
    let regex = Regex::new(PATTERN).unwrap_or_else(|error| panic!("{error}"));
    let decide = || {
        let call = Call::shell(black_box(COMMAND));
        let commands = Commands::read(&call, &directories);
        black_box(rules.decide_read(&call, &commands, &directories, &|_| None));
    };
    let read = || drop(black_box(Commands::read(&Call::shell(black_box(COMMAND)), &directories)));
    let links = || PATHS.iter().for_each(|path| drop(black_box(std::fs::read_link(path))));
    let search = || _ = black_box(regex.is_match(black_box(COMMAND)));
    let runs: [(&str, &dyn Fn()); 4] = [
        ("decision", &decide),
        ("of it reading the command", &read),
        ("of it 12 looks for links", &links),
        ("regular expression", &search),
    ];
    let rounds = std::env::args().nth(1).and_then(|rounds| rounds.parse().ok()).unwrap_or(300);
    let mut times = [(); 4].map(|()| Vec::new());
    for _ in 0..rounds {
        runs.iter().zip(&mut times).for_each(|((_, run), times)| times.push(time(run)));
    }
    println!("{RULES} rules, {of_packs} of packs; a command of {} characters", COMMAND.len());
    println!("loading the packs: {deferred:?}, all at once {whole:?}");
    for ((name, _), mut times) in runs.into_iter().zip(times) {
        times.sort();
        println!("{name:<26} {:?} (median), {:?} (best)", times[times.len() / 2], times[0]);
    }
}

fn time(run: impl Fn()) -> Duration {
    let start = Instant::now();
    for _ in 0..10 {
        run();
    }
    start.elapsed() / 10
}
