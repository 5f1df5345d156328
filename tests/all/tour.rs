//! The pages, pasted into bash: every command runs, and says what the page says that it says.

use std::path::Path;

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
    bash.env("TMPDIR", project.home());
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
fn the_guide_works_when_pasted() {
    let page = std::fs::read_to_string(workspace().join("docs/guide.md")).unwrap();
    check(&blocks(&page));
}

#[test]
fn the_hook_of_the_readme_and_its_test_work_when_pasted() {
    let page = std::fs::read_to_string(workspace().join("README.md")).unwrap();
    let (_, part) = page.split_once("## Write a hook\n").unwrap();
    let (part, _) = part.split_once("\n## Works with").unwrap();
    let blocks = blocks(part);
    assert_eq!(blocks.len(), 2, "a hook and its test: {blocks:?}");
    check(&blocks);
}

/// Copies a package as an installer does, without what it needs to be built.
fn copy_package(package: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(package).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true if entry.file_name() == "node_modules" => {}
            true => copy_package(&entry.path(), &target),
            false => drop(std::fs::copy(entry.path(), target).unwrap()),
        }
    }
}

/// What the last of a part's blocks of commands says where the part is pasted by somebody who agrees to what
/// is shown, and the text that stands behind it.
fn pasted_part(page: &str, (begin, end): (&str, &str), expected: &str) {
    let text = std::fs::read_to_string(workspace().join(page)).unwrap();
    let (_, part) = text.split_once(&format!("\n{begin}\n")).unwrap();
    let (part, _) = part.split_once(&format!("\n{end}")).unwrap();
    let commands = part.split("```sh\n").skip(1);
    let commands = commands.map(|rest| rest.split("```").next().unwrap()).map(|commands| Block {
        commands: commands.replace("hook trust\n", "hook trust --yes\n"),
        output: None,
    });
    let (_, said) = paste(&commands.collect::<Vec<_>>(), false);
    let last = said.iter().rev().nth(1).unwrap();
    assert!(part.contains(expected), "{page}: {expected}");
    assert!(last.contains(expected), "{page}: {said:#?}");
}

#[test]
fn the_modules_of_the_pages_work_when_pasted() {
    if !crate::modules_js::has_node() {
        return;
    }
    let refused =
        |reason: &str| format!("block  BeforeTool run_shell_command\n  reason: {reason}\n");
    let part = ("## From an empty file to a guard that asks", "The event comes in the words");
    pasted_part("docs/modules.md", part, &refused("rm -rf is not for agents"));
    let said = "greet  Greets somebody  .hooks/modules/greet.mjs\nHello, you there!\n";
    pasted_part(
        "docs/cli/command.md",
        ("A module with a command, in an empty folder:", "If two commands share a name"),
        said,
    );
}

#[test]
fn the_page_about_events_and_priorities_works_when_pasted() {
    let page = std::fs::read_to_string(workspace().join("docs/events.md")).unwrap();
    check_in(&blocks(&page), true);
}

#[cfg(unix)]
mod workers {
    //! The workers of the pages, with the settings beside them.

    use std::path::Path;

    use hook_tests::{Project, hook_binary, path_with_hook, workspace};

    use super::copy_package;

    use crate::{sdk_python, sdk_typescript};

    const SETTINGS: &str = ".hooks/settings.json";

    /// A part of a page, from one heading to the next.
    fn part(page: &str, heading: &str) -> String {
        let page = std::fs::read_to_string(workspace().join(page)).unwrap();
        let (_, part) = page.split_once(&format!("\n{heading}\n")).unwrap();
        part.split("\n## ").next().unwrap().to_owned()
    }

    /// The first block in a language.
    fn block<'a>(part: &'a str, language: &str) -> &'a str {
        let (_, block) = part.split_once(&format!("```{language}\n")).unwrap();
        let (block, _) = block.split_once("```").unwrap();
        block
    }

    /// The worker refuses one command, and nothing else.
    fn assert_guards(project: &Project) {
        for (command, exit_code, said) in [
            ("ls", 0, "proceed  BeforeTool run_shell_command\n"),
            ("rm -rf build", 2, "  reason: name single files, or ask the user\n"),
        ] {
            let input = serde_json::json!({"tool_input": {"command": command}}).to_string();
            let mut fire = project.command(hook_binary());
            fire.args(["fire", "BeforeTool", "--settings", SETTINGS]);
            fire.args(["--tool", "run_shell_command", "--input", &input]);
            fire.env("PYTHONDONTWRITEBYTECODE", "1");
            let output = fire.output().unwrap();
            let stdout = String::from_utf8_lossy(&output.stdout);
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert!(stdout.contains(said), "{command}: {stdout}{stderr}");
            assert_eq!(output.status.code(), Some(exit_code), "{command}: {stdout}{stderr}");
            assert!(!stdout.contains("warning"), "{command}: {stdout}");
        }
    }

    #[test]
    fn the_python_worker_of_the_page_guards_when_pasted() {
        if let Err(why) = sdk_python::version() {
            return sdk_python::skipped(&why);
        }
        let part = part("docs/sdks.md", "## A worker");
        let worker = block(&part, "python");
        assert!(worker.lines().count() <= 10, "{worker}");
        let project = Project::new();
        project.write(".hooks/guard.py", worker);
        project.write(SETTINGS, block(&part, "json"));
        let package = workspace().join("sdks/python/src");
        install_for_user(&project, &package);
        assert_guards(&project);
        assert_asks(&project, ("python", "python3"));
    }

    /// Installs the package as `pip install --user` does.
    fn install_for_user(project: &Project, package: &Path) {
        let mut asked = project.command("python3");
        let asked = asked.args(["-c", "import site; print(site.getusersitepackages())"]).output();
        let folder = String::from_utf8(asked.unwrap().stdout).unwrap();
        let folder = Path::new(folder.trim());
        std::fs::create_dir_all(folder).unwrap();
        std::os::unix::fs::symlink(package.join("hook_sdk"), folder.join("hook_sdk")).unwrap();
    }

    /// Asks as the page does, in a project with the worker of the page, which refuses that.
    fn assert_asks(project: &Project, program: (&str, &str)) {
        let asking = part("docs/sdks.md", "## Asking");
        let (language, interpreter) = program;
        let file = if language == "js" { "ask.mjs" } else { "ask.py" };
        project.write(file, block(&asking, language));
        let trusted = project.command(hook_binary()).args(["trust", "--yes"]).output().unwrap();
        assert!(trusted.status.success(), "{trusted:?}");
        let mut ask = project.command(interpreter);
        ask.arg(file).env("PATH", path_with_hook());
        ask.env("PYTHONDONTWRITEBYTECODE", "1");
        let asked = ask.output().unwrap();
        assert_eq!(String::from_utf8_lossy(&asked.stdout), block(&asking, "text"), "{asked:?}");
    }

    #[test]
    fn the_javascript_worker_of_the_page_guards_when_pasted() {
        let package = match sdk_typescript::built() {
            Ok(package) => package,
            Err(why) => return sdk_typescript::skipped(why),
        };
        let part = part("docs/sdks.md", "## A worker");
        let project = Project::new();
        let command = "node $HOOK_PROJECT_DIR/.hooks/guard.mjs";
        assert!(part.contains(&format!("`{command}`")));
        let settings = block(&part, "json");
        let python = "python3 $HOOK_PROJECT_DIR/.hooks/guard.py";
        project.write(SETTINGS, &settings.replace(python, command));
        project.write(".hooks/guard.mjs", block(&part, "js"));
        for folder in ["", ".hooks/"] {
            std::fs::create_dir(project.path().join(format!("{folder}node_modules"))).unwrap();
            let link = project.path().join(format!("{folder}node_modules/hook-sdk"));
            copy_package(package, &link);
        }
        project.write(".hooks/package-lock.json", "{}");
        assert_guards(&project);
        assert_asks(&project, ("js", "node"));
    }
}
