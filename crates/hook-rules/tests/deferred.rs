//! Rules that are parsed when their programs are called decide as those that are parsed at once.

use hook_rules::packs::PACKS;
use hook_rules::{Call, Effect, RuleFile, Rules, test_directories};
use proptest::prelude::*;

/// Returns what rules say of a call: of each the effect, and the part that it is about.
fn decide(rules: &Rules, call: &Call<'_>) -> Vec<(String, Effect, String)> {
    let decision = rules.decide(call, &test_directories());
    let said = decision.matches.into_iter().map(|found| (found.rule, found.effect, found.subject));
    let mut said: Vec<_> = said.collect();
    said.sort();
    said
}

/// Returns the call of a shell command, or one that writes a file.
fn call(subject: &str) -> Call<'_> {
    match subject.starts_with('/') {
        true => Call::write(subject),
        false => Call::shell(subject),
    }
}

#[test]
fn packs_decide_the_same() {
    let commands = include_str!("data/hidden.txt").split("\n%%\n");
    let commands = commands.chain(include_str!("data/ordinary.txt").split("\n%%\n"));
    let commands: Vec<&str> = commands.collect();
    for pack in PACKS {
        let file = RuleFile::parse(pack.name, pack.rules);
        let deferred = RuleFile::parse_deferred(pack.name, pack.rules);
        let tests = file.tests.iter().map(|test| test.subject.as_str());
        let [at_once, later] = [&file, &deferred].map(|file| Rules::new([file.clone()]));
        for subject in tests.chain(commands.iter().copied()) {
            let expected = decide(&at_once, &call(subject));
            assert_eq!(decide(&later, &call(subject)), expected, "{}: {subject}", pack.name);
        }
        assert_eq!(deferred.is_about_tools(), file.is_about_tools(), "{}", pack.name);
        assert_eq!(deferred.is_about_prompts(), file.is_about_prompts(), "{}", pack.name);
        assert_eq!(deferred.is_about_outputs(), file.is_about_outputs(), "{}", pack.name);
        assert_eq!(deferred.whole().tests, file.tests, "{}", pack.name);
        assert_eq!(deferred.len(), file.len(), "{}", pack.name);
    }
}

#[test]
fn a_rule_that_cannot_be_read_denies_its_program_and_no_other() {
    let text = "[[rule]]\nid = \"a\"\nshell = { program = \"git\", args = 1 }\nask = \"a\"\n";
    let file = RuleFile::parse_deferred("team.toml", text);
    assert_eq!(file.whole().problems.len(), 1);
    let rules = Rules::new([file]);
    let said = decide(&rules, &Call::shell("git status"));
    let is_denied =
        matches!(&said[..], [(rule, Effect::Deny, _)] if rule == "team.toml:unreadable");
    assert!(is_denied, "{said:?}");
    assert_eq!(decide(&rules, &Call::shell("ls")), []);
}

/// Values of `shell`, in the ways in which people write them.
const SHELLS: [&str; 12] = [
    r#"{ program = "git", args = ["push", { any = ["-f", "--force"] }] }"#,
    r#"{ program = 'git', args = ['push'] }"#,
    "[\n  { program = [\"git\", \"hg\"], args = [\"push\"] }, # } of both\n  { program = \"rm\" },\n]",
    r#"{ args = ["push"], program = [ "g*" , "rm" ] }"#,
    r#"{ program = "\u0067it" }"#,
    r#"{ program = """git""" }"#,
    r#"{ program = "{git,hg}" }"#,
    r#"{ text = '''rm "[x] '' {''' }"#,
    r#"{ program = "rm", text = "a\"]}" }"#,
    r#"[{ program = "rm", writes = ["**/x"] }, { files = "**/y" }]"#,
    r#"{ program = [] , text = "y" }"#,
    r#"{ program = "git", env = { X = "1" } }"#,
];

const OTHERS: [&str; 6] = [
    "",
    "write = [\"**/x\"]\n",
    "# shell = {\n",
    "agent = [\n  \"claude\", # ]\n]\n",
    "when = { \"tool_input.x\" = \"1\" }\n",
    "[rule.when]\nx = \"1\"\n",
];

const BETWEEN: [&str; 6] = [
    "\n",
    "[[rule.test]]\nshell = \"git push [[rule]]\"\nexpect = \"pass\"\n",
    "[[test]]\nshell = '[[rule]]'\nexpect = \"deny\" # '\n",
    "# [[rule]]\n",
    "\t# \"\n\n",
    "[[rule.test]]\r\nshell = '''\n[[rule]]\n'''\r\nexpect = \"ask\"\r\n",
];

const COMMANDS: [&str; 9] = [
    "git push -f",
    "git push; rm x",
    "hg push",
    "rm 'a\"]}'",
    "X=1 git status",
    "tee y",
    "go push",
    "$unknown push",
    "/home/dev/project/x",
];

prop_compose! {
    fn rule()(
        shell in 0..SHELLS.len(),
        other in 0..OTHERS.len(),
        between in 0..BETWEEN.len(),
        id in 0..1_000,
        effect in 0..4_usize,
        is_first: bool,
    ) -> String {
        let effect = ["deny", "ask", "warn", "context"][effect];
        let shell = format!("shell = {}\n", SHELLS[shell]);
        let effect = format!("{effect} = 'it is {id}'\n");
        let (first, second) = if is_first { (&shell, &effect) } else { (&effect, &shell) };
        format!("[[rule]]\nid = \"r{id}\"\n{first}{second}{}{}", OTHERS[other], BETWEEN[between])
    }
}

prop_compose! {
    fn file()(opaque in 0..4_usize, rules in prop::collection::vec(rule(), 1..5)) -> String {
        let opaque = ["", "opaque = \"deny\"\n", "# none\n", "opaque = 'pass' # \"\n"][opaque];
        format!("{opaque}{}", rules.concat())
    }
}

/// Compares the decisions about all commands, if the file has no mistake.
fn compare(text: &str) -> Result<(), TestCaseError> {
    let file = RuleFile::parse("f.toml", text);
    let deferred = RuleFile::parse_deferred("f.toml", text);
    let has_mistakes = !file.problems.is_empty();
    let [at_once, later] = [file, deferred].map(|file| Rules::new([file]));
    for command in COMMANDS.iter().filter(|_| !has_mistakes) {
        let expected = decide(&at_once, &call(command));
        prop_assert_eq!(decide(&later, &call(command)), expected, "{}", command);
    }
    Ok(())
}

proptest! {
    #[test]
    fn files_decide_the_same(text in file()) {
        compare(&text)?;
    }

    #[test]
    fn files_with_random_changes_decide_the_same(
        text in file(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0..8_usize), 1..4),
    ) {
        let mut characters: Vec<char> = text.chars().collect();
        for (index, new) in changes {
            let at = index.index(characters.len());
            characters[at] = ['"', '\'', '[', '}', '\\', '\n', '#', ' '][new];
        }
        compare(&String::from_iter(characters))?;
    }
}
