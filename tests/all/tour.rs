//! The tours, pasted into bash: every command runs, and says what the page says that it says.

use hook_tests::{Project, path_with_hook, stable, workspace};

/// What stands between the output of one block and the next.
const MARK: &str = "\u{1}next block\u{1}";

/// Commands to paste, and what they print if the page says so.
#[derive(Debug)]
struct Block {
    commands: String,
    output: Option<String>,
}

/// The blocks of a page that are to be pasted, each with the text block that follows it.
fn blocks(page: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some(language) = line.strip_prefix("```") else { continue };
        let text: String = lines
            .by_ref()
            .take_while(|line| *line != "```")
            .flat_map(|line| [line, "\n"])
            .collect();
        match (language, blocks.last_mut()) {
            ("sh", _) => blocks.push(Block { commands: text, output: None }),
            ("text", Some(block)) if block.output.is_none() => block.output = Some(text),
            ("json", _) => {}
            _ => panic!("a block of a tour is `sh`, or `text` or `json` after it: {line}"),
        }
    }
    blocks
}

/// Pastes the blocks one after the other into one shell, in an empty project.
fn paste(blocks: &[Block], at_home: bool) -> (Project, Vec<String>) {
    let project = Project::new();
    let mut script = String::from("exec 2>&1\n");
    for block in blocks {
        script.push_str(&block.commands);
        script.push_str(&format!("printf '%s' '{MARK}'\n"));
    }
    let script = {
        let file = project.home().join("tour.sh");
        std::fs::write(&file, script).unwrap();
        file
    };
    let mut bash = project.command("bash");
    if at_home {
        bash.env("HOME", project.path());
    }
    let output = bash.arg(script).env("PATH", path_with_hook()).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let said = said.split(MARK).map(str::to_owned).collect();
    (project, said)
}

/// A text without what differs from run to run, and without the blanks that make room for it.
fn comparable(text: &str, project: &Project) -> String {
    // A machine that is busy makes hooks wait for a place.
    let text = stable(text, project).replace(", waited [TIME]", "");
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    text.trim_end().lines().map(words).collect::<Vec<_>>().join("\n")
}

fn check(blocks: &[Block]) {
    check_in(blocks, false);
}

/// `at_home`: the page begins in a home, in which settings are written.
fn check_in(blocks: &[Block], at_home: bool) {
    let (project, said) = paste(blocks, at_home);
    assert_eq!(said.len(), blocks.len() + 1, "the shell came to its end: {said:#?}");
    for (block, said) in blocks.iter().zip(&said) {
        if let Some(output) = &block.output {
            // On the page the project is somebody's home.
            let output = output.replace("/home/me", &project.path().display().to_string());
            let (expected, said) = (comparable(&output, &project), comparable(said, &project));
            assert_eq!(said, expected, "of {}", block.commands);
        } else {
            assert!(!said.contains("command not found"), "{}: {said}", block.commands);
        }
    }
}

#[test]
fn the_tour_works_when_pasted() {
    let page = std::fs::read_to_string(workspace().join("docs/tour.md")).unwrap();
    check(&blocks(&page));
}

#[test]
fn the_tour_of_the_readme_works_when_pasted() {
    let page = std::fs::read_to_string(workspace().join("README.md")).unwrap();
    let (_, tour) = page.split_once("## A tour\n").unwrap();
    let (tour, _) = tour.split_once("\n## ").unwrap();
    let blocks = blocks(tour);
    let (built, rest) = blocks.split_first().unwrap();
    assert!(built.commands.starts_with("cargo build -q -p hook-cli\n"), "{built:?}");
    check(rest);
}

#[test]
fn the_page_about_events_and_priorities_works_when_pasted() {
    let page = std::fs::read_to_string(workspace().join("docs/events.md")).unwrap();
    check_in(&blocks(&page), true);
}
