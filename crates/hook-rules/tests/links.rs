//! Links on disk, and those of a command itself.
#![cfg(unix)]

use std::os::unix::fs::symlink;

use hook_rules::packs::PACKS;
use hook_rules::{Call, Directories, Effect, RuleFile, Rules};

#[test]
fn files_are_judged_by_what_links_lead_to() {
    let folder = tempfile::tempdir().unwrap();
    // The folder of the home directory is reached through a link, too.
    let root = std::fs::canonicalize(folder.path()).unwrap();
    std::fs::create_dir_all(root.join("disk/project/src")).unwrap();
    std::fs::create_dir_all(root.join("disk/.config/hooks")).unwrap();
    symlink(root.join("disk"), root.join("home")).unwrap();
    let home = root.join("home").display().to_string();
    let project = root.join("disk/project");
    symlink("../.config/hooks", project.join("h")).unwrap();
    symlink(root.join("disk"), project.join("u")).unwrap();
    symlink(".env", project.join("config.txt")).unwrap();
    symlink("src", project.join("lib")).unwrap();
    symlink("loop", project.join("loop")).unwrap();
    symlink("src/../turn/x", project.join("turn")).unwrap();
    let directory = format!("{home}/project");
    let directories = Directories::new(&directory, &directory, &home);
    let files = PACKS.iter().map(|pack| RuleFile::parse(pack.name, pack.rules));
    let rules = Rules::new(files);
    for (call, expected) in [
        (Call::shell("echo {} > h/packs.lock"), Some(Effect::Deny)),
        (Call::shell("echo {} > h/../hooks/packs.lock"), Some(Effect::Deny)),
        (Call::shell("cd h && echo {} > ../hooks/packs.lock"), Some(Effect::Deny)),
        (Call::write("h/packs.lock"), Some(Effect::Deny)),
        (Call::write("lib/a.rs"), None),
        (Call::write("loop/a.rs"), None),
        (Call::write("turn"), Some(Effect::Ask)),
        (Call::shell("rm -rf u/Documents"), Some(Effect::Deny)),
        (Call::shell("rm u"), None),
        (Call::shell("cat config.txt"), Some(Effect::Ask)),
        (Call::read("config.txt"), Some(Effect::Ask)),
        (Call::shell("cat lib/a.rs"), None),
        (Call::shell("ln -s ~ x && rm -rf x/Documents"), Some(Effect::Deny)),
        (Call::shell("ln -s .. x; ln -s x y; rm -rf y/Documents"), Some(Effect::Deny)),
        (Call::shell("ln .env x && cat x"), Some(Effect::Ask)),
        (Call::shell("cp -s ~/.config/hooks x; echo {} > x/packs.lock"), Some(Effect::Deny)),
        (Call::shell("ln -s src x && rm -rf x/old"), None),
        (Call::shell("cargo test > out.txt; rm -rf src/old"), None),
    ] {
        let decision = rules.decide(&call, &directories);
        let effect = decision.effect().filter(|effect| *effect >= Effect::Ask);
        assert_eq!(effect, expected, "{call:?}: {:?}", decision.matches);
    }
}
