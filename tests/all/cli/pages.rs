//! The examples of the pages in docs/cli, pasted line by line.

use hook_tests::{Project, path_with_hook, workspace};

/// The first block of commands on a page.
fn commands(page: &str) -> String {
    let text = std::fs::read_to_string(workspace().join("docs/cli").join(page)).unwrap();
    text.split("```sh\n").nth(1).unwrap().split("```").next().unwrap().to_owned()
}

/// How each line of a page's first block ends, in an empty project.
fn pasted(page: &str) -> String {
    let script: String = commands(page)
        .lines()
        .map(|line| format!("{line}\necho \"$? \" >> \"$HOME/codes\"\n"))
        .collect();
    let project = Project::new();
    let output = project
        .command("bash")
        .args(["--norc", "-c", &script])
        .env("TMPDIR", project.home())
        .env("PATH", path_with_hook())
        .output()
        .unwrap();
    let codes = std::fs::read_to_string(project.home().join("codes")).unwrap_or_default();
    codes.split_whitespace().collect::<Vec<_>>().join(" ")
        + &String::from_utf8_lossy(&output.stderr).lines().filter(is_problem).collect::<String>()
}

fn is_problem(line: &&str) -> bool {
    !line.starts_with("note: ")
}

#[test]
fn the_examples_of_fire_and_init_can_be_pasted() {
    assert_eq!(pasted("fire.md"), "0 0 0 0 0 0");
    // The last one is blocked.
    assert_eq!(pasted("init.md"), "0 0 2");
}
