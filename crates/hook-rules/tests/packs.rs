//! The tests of the packs that are part of the engine.

use hook_rules::packs::PACKS;
use hook_rules::{Call, Directories, Effect, RuleFile, Rules};

#[test]
fn each_pack_passes_its_own_tests_and_has_at_least_twenty() {
    let directories = Directories::new("/home/dev/project", "/home/dev/project", "/home/dev");
    let mut failures = Vec::new();
    for pack in PACKS {
        let mut file = RuleFile::parse(pack.name, pack.rules);
        file.check();
        failures.extend(
            file.problems
                .iter()
                .map(|problem| format!("{}:{}: {}", pack.name, problem.line, problem.message)),
        );
        let tests = file.tests.clone();
        // What runs something is tested in tests/all/packs.rs.
        if tests.len() < 20 && pack.others.is_empty() {
            failures.push(format!("{} has {} tests", pack.name, tests.len()));
        }
        let rules = Rules::new([file]);
        for test in tests {
            let subject = &test.subject;
            let decision = test.decide(&rules, &directories);
            if decision.effect() != test.expect.effect() {
                failures.push(format!(
                    "{}:{}: `{subject}` {:?}, found {:?}",
                    pack.name, test.line, test.expect, decision.matches
                ));
            }
        }
    }
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn a_program_with_a_version_is_the_program_and_may_be_named() {
    let text = |program: &str| {
        format!(
            "[[rule]]\nid = \"a\"\nshell = {{ program = \"{program}\", args = [\"push\"] }}\ndeny = \"no\"\n"
        )
    };
    let directories = Directories::new("/home/dev/project", "/home/dev/project", "/home/dev");
    for (program, command, denies) in [
        ("git", "/opt/git2 push", true),
        ("git2", "git2 push", true),
        ("git2", "git push", false),
        ("git3", "git2 push", false),
        ("tool", "tool2 push", false),
    ] {
        for parse in [RuleFile::parse, RuleFile::parse_deferred] {
            let rules = Rules::new([parse("a.toml", &text(program))]);
            let decision = rules.decide(&Call::shell(command), &directories);
            assert_eq!(decision.effect().is_some(), denies, "{program}: {command}");
        }
    }
}

/// Commands, separated by lines of `%%`.
fn commands(text: &str) -> impl Iterator<Item = &str> {
    text.split("\n%%\n").map(|command| command.trim_end_matches('\n'))
}

fn all() -> (Rules, Directories) {
    let files = PACKS.iter().map(|pack| RuleFile::parse(pack.name, pack.rules));
    (Rules::new(files), Directories::new("/home/dev/project", "/home/dev/project", "/home/dev"))
}

#[test]
fn what_is_hidden_in_a_command_is_refused_or_asked_about() {
    let (rules, directories) = all();
    let passes = |command: &&str| {
        rules
            .decide(&Call::shell(command), &directories)
            .effect()
            .is_none_or(|effect| effect < Effect::Ask)
    };
    let passed: Vec<&str> = commands(include_str!("data/hidden.txt")).filter(passes).collect();
    assert!(passed.is_empty(), "{passed:#?}");
}

#[test]
fn ordinary_work_is_left_alone() {
    let (rules, directories) = all();
    let stopped: Vec<_> = commands(include_str!("data/ordinary.txt"))
        .map(|command| (command, rules.decide(&Call::shell(command), &directories)))
        .filter(|(_, decision)| decision.effect().is_some_and(|effect| effect >= Effect::Ask))
        .collect();
    assert!(stopped.is_empty(), "{stopped:#?}");
}

#[test]
fn hostile_commands_end_in_time() {
    let (rules, directories) = all();
    for piece in ["rm -rf a ", "{a,b}", "$x$x ", "find a ", "system('", "x=$x$x;"] {
        let command = format!(
            "x=1; python3 -c \"{}\"; {}",
            piece.replace('"', ""),
            piece.repeat(1_000_000 / piece.len())
        );
        let began = std::time::Instant::now();
        let decision = rules.decide(&Call::shell(&command), &directories);
        assert!(
            began.elapsed() < std::time::Duration::from_secs(10),
            "{piece}: {:?}",
            began.elapsed()
        );
        assert!(decision.effect() >= Some(Effect::Ask), "{piece}");
    }
}

/// Expressions of programs are followed within bounds of memory and time.
#[test]
fn hostile_programs_end_in_time() {
    let (rules, directories) = all();
    let sum = |name: &str| vec![name; 180].join("+");
    let sums = format!(
        "open(Q,'w');Q={};W={};X={};Y={};Z='zzzzzzzzzz'",
        sum("W"),
        sum("X"),
        sum("Y"),
        sum("Z")
    );
    for program in [
        sums,
        format!("p='a';open(p,'w');{}", "pp ".repeat(30_000)),
        format!("{}{}", "run(1);".repeat(5_000), "require('a');".repeat(5_000)),
        "Path(".repeat(20_000),
        format!("{}'{}'", "open(".repeat(5_000), "a".repeat(60_000)),
        (0..5_000).map(|it| format!("open(n{it},'w');")).collect(),
        format!("open({},'w')", "[".repeat(50_000)),
        format!("open('{}','w')", "{".repeat(90_000)),
        format!("for {}", "open(Path.parent),".repeat(5_000)),
        "'*'\n".repeat(40_000),
        format!("{}O_RDONLY", "open('a',b;".repeat(10_000)),
        "a.read();".repeat(25_000),
        (0..25_000).map(|it| format!("a{it}.read();")).collect(),
        format!("print('{}')", "{f(a)}".repeat(30_000)),
    ] {
        let command = format!("python3 - <<'E'\n{program}\nE\nrm -rf /home");
        let began = std::time::Instant::now();
        let decision = rules.decide(&Call::shell(&command), &directories);
        let begins = program.get(..40);
        assert!(began.elapsed() < std::time::Duration::from_secs(10), "{begins:?}");
        assert!(decision.effect() >= Some(Effect::Ask), "{begins:?}");
    }
}

/// The table of docs/packs.md: `HOOK_GENERATE=1 cargo test -p hook-rules` writes it.
#[test]
fn the_page_of_packs_lists_all_of_them() {
    const BEGIN: &str = "<!-- packs: generated -->\n";
    const END: &str = "<!-- packs: end -->\n";
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/packs.md");
    let text = std::fs::read_to_string(path).unwrap();
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (table, after) = rest.split_once(END).unwrap();
    let mut made =
        "| pack | refuses or asks about, or does | rules | tests |\n| --- | --- | --- | --- |\n"
            .to_owned();
    for pack in PACKS {
        let file = RuleFile::parse(pack.name, pack.rules);
        let count = |number: usize| if number == 0 { "-".to_owned() } else { number.to_string() };
        made += &format!(
            "| [{name}](../crates/hook-rules/packs/{name}/README.md) | {} | {} | {} |\n",
            pack.about,
            count(file.len()),
            count(file.tests.len()),
            name = pack.name
        );
    }
    if std::env::var_os("HOOK_GENERATE").is_some() {
        std::fs::write(path, format!("{before}{BEGIN}{made}{END}{after}")).unwrap();
    } else {
        assert!(table == made, "rewrite it with HOOK_GENERATE=1 cargo test -p hook-rules");
    }
}
