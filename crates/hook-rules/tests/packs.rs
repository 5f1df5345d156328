//! The tests of the packs that are part of the engine.

use hook_rules::packs::PACKS;
use hook_rules::{Call, Directories, RuleFile, Rules, TestKind};

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
        if tests.len() < 20 {
            failures.push(format!("{} has {} tests", pack.name, tests.len()));
        }
        let rules = Rules::new([file]);
        for test in tests {
            let subject = test.subject.as_str();
            let call = match test.kind {
                TestKind::Shell => Call::shell(subject),
                TestKind::Read => Call::read(subject),
                _ => Call::write(subject),
            };
            let decision = rules.decide(&call, &directories);
            if !test.expect.is_met_by(decision.effect()) {
                failures.push(format!(
                    "{}:{}: `{subject}` {:?}, found {:?}",
                    pack.name, test.line, test.expect, decision.matches
                ));
            }
        }
    }
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}
