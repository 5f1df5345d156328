//! `hook enable` and `hook disable`.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use hook_tests::{Hook, Project};
use serde_json::{Value, json};

const SETTINGS: &str = ".hooks/settings.json";

/// A project with two hooks, and a user with one of the same name and one of its own.
fn project() -> Project {
    let project = Project::new();
    project.write(
        SETTINGS,
        "{\n  \"hooks\": {\n    \"BeforeTool\": [{\"hooks\": [\n      {\"type\": \"command\", \"name\": \"guard\", \
         \"command\": \"true\"},\n      {\"type\": \"command\", \"command\": \"./lint.sh --fast\"},\n      \
         {\"type\": \"command\", \"name\": \"both\", \"command\": \"true\"}\n    ]}]\n  }\n}\n",
    );
    user_settings(
        &project,
        &json!({"hooks": {"AfterTool": [{"hooks": [
            {"type": "command", "name": "both", "command": "true"},
            {"type": "command", "name": "log", "command": "true"},
        ]}]}}),
    );
    project
}

fn user_settings(project: &Project, settings: &Value) {
    let folder = project.home().join(".config/hooks");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("settings.json"), settings.to_string()).unwrap();
}

fn user_file(project: &Project) -> String {
    fs::read_to_string(project.home().join(".config/hooks/settings.json")).unwrap()
}

fn shown(project: &Project, arguments: &[&str]) -> String {
    Hook::new(project, arguments).run().shown(project)
}

fn disabled(settings: &str) -> Value {
    serde_json::from_str::<Value>(settings).unwrap()["hooksConfig"]["disabled"].take()
}

#[test]
fn a_hook_is_switched_off_and_on_in_the_file_where_it_stands() {
    let project = project();
    let before = project.read(SETTINGS);
    let preview = shown(&project, &["disable", "guard", "--dry-run"]);
    insta::assert_snapshot!(preview, @r#"
    status: 0
    ----- stdout -----
    --- [PROJECT]/.hooks/settings.json
    +++ [PROJECT]/.hooks/settings.json
    @@ -1,4 +1,7 @@
     {
    +  "hooksConfig": {
    +    "disabled": ["guard"]
    +  },
       "hooks": {
         "BeforeTool": [{"hooks": [
           {"type": "command", "name": "guard", "command": "true"},
    ----- stderr -----
    note: the project's settings are shared: this counts for everyone who works on the project; `hook disable guard --user` is for you alone
    "#);
    assert_eq!(project.read(SETTINGS), before, "a dry run writes nothing");
    insta::assert_snapshot!(shown(&project, &["disable", "guard"]), @r"
    status: 0
    ----- stdout -----
    disabled guard in [PROJECT]/.hooks/settings.json (project)
    ----- stderr -----
    note: the project's settings are shared: this counts for everyone who works on the project; `hook disable guard --user` is for you alone
    ");
    let off = project.read(SETTINGS);
    assert_eq!(
        off,
        before.replacen("{\n", "{\n  \"hooksConfig\": {\n    \"disabled\": [\"guard\"]\n  },\n", 1)
    );
    insta::assert_snapshot!(shown(&project, &["disable", "guard"]), @r"
    status: 0
    ----- stdout -----
    guard is already disabled in [PROJECT]/.hooks/settings.json (project)
    ----- stderr -----
    ");
    insta::assert_snapshot!(shown(&project, &["disable", "./lint.sh --fast"]), @r"
    status: 0
    ----- stdout -----
    disabled ./lint.sh --fast in [PROJECT]/.hooks/settings.json (project)
    ----- stderr -----
    note: the project's settings are shared: this counts for everyone who works on the project; `hook disable './lint.sh --fast' --user` is for you alone
    ");
    assert_eq!(disabled(&project.read(SETTINGS)), json!(["guard", "./lint.sh --fast"]));
    insta::assert_snapshot!(shown(&project, &["enable", "./lint.sh --fast"]), @"
    status: 0
    ----- stdout -----
    enabled ./lint.sh --fast in [PROJECT]/.hooks/settings.json (project)
    ----- stderr -----
    note: the project's settings are shared: this counts for everyone who works on the project
    ");
    assert_eq!(project.read(SETTINGS), off, "on after off gives back the same bytes");
    let folder = fs::read_dir(project.path().join(".hooks")).unwrap().count();
    assert_eq!(folder, 1, "no lock and no half of a file is left");
}

#[test]
fn a_name_in_several_sources_is_switched_off_only_in_the_chosen_one() {
    let project = project();
    let before = (project.read(SETTINGS), user_file(&project));
    insta::assert_snapshot!(shown(&project, &["disable", "both"]), @r"
    status: 64
    ----- stdout -----
    ----- stderr -----
    error: several hooks are named `both`, in [PROJECT]/.hooks/settings.json (project) and [HOME]/.config/hooks/settings.json (user); nothing was changed; choose with --shared (the project's settings) or --user (your own, which switch it off for you in every project)
    ");
    assert_eq!((project.read(SETTINGS), user_file(&project)), before, "nothing was changed");
    insta::assert_snapshot!(shown(&project, &["disable", "both", "--shared"]), @r"
    status: 0
    ----- stdout -----
    disabled both in [PROJECT]/.hooks/settings.json (project)
    ----- stderr -----
    note: the project's settings are shared: this counts for everyone who works on the project; `hook disable both --user` is for you alone
    ");
    assert_eq!(disabled(&project.read(SETTINGS)), json!(["both"]));
    assert_eq!(user_file(&project), before.1);
    let user = shown(&project, &["disable", "both", "--user"]);
    assert!(user.starts_with("status: 0\n"), "{user}");
    assert_eq!(disabled(&user_file(&project)), json!(["both"]));
    insta::assert_snapshot!(shown(&project, &["enable", "both"]), @"
    status: 0
    ----- stdout -----
    enabled both in [PROJECT]/.hooks/settings.json (project)
    enabled both in [HOME]/.config/hooks/settings.json (user)
    ----- stderr -----
    note: the project's settings are shared: this counts for everyone who works on the project
    ");
    assert_eq!(disabled(&user_file(&project)), json!([]));
    insta::assert_snapshot!(shown(&project, &["enable", "both"]), @r"
    status: 0
    ----- stdout -----
    both is already enabled
    ----- stderr -----
    ");
    let user_only = Hook::new(&project, &["disable", "log", "--shared"]).run();
    assert_eq!(user_only.status, 64, "{user_only:?}");
    let both = Hook::new(&project, &["disable", "both", "--shared", "--user"]).run();
    assert_eq!(both.status, 64, "{both:?}");
}

#[test]
fn a_user_switches_a_project_s_hook_off_for_themselves() {
    let project = project();
    let before = project.read(SETTINGS);
    insta::assert_snapshot!(shown(&project, &["disable", "guard", "--user"]), @r"
    status: 0
    ----- stdout -----
    disabled guard in [HOME]/.config/hooks/settings.json (user)
    ----- stderr -----
    note: this counts for every hook that is named `guard`, in all your projects
    ");
    assert_eq!(project.read(SETTINGS), before);
    let listed = Hook::new(&project, &["list", "--json"]).run().lines();
    assert_eq!(listed[0]["disabledBy"], "`disabled` in the user settings");
    // Off twice: one is not enough to switch it on.
    shown(&project, &["disable", "guard"]);
    insta::assert_snapshot!(shown(&project, &["enable", "guard", "--user"]), @r"
    status: 1
    ----- stdout -----
    enabled guard in [HOME]/.config/hooks/settings.json (user)
    ----- stderr -----
    warning: `guard` is still off: it is on the `disabled` list of the project settings [PROJECT]/.hooks/settings.json
    ");
    shown(&project, &["enable", "guard"]);
    assert_eq!(disabled(&project.read(SETTINGS)), json!([]));
    // A user without settings gets some.
    fs::remove_file(project.home().join(".config/hooks/settings.json")).unwrap();
    shown(&project, &["disable", "guard", "--user"]);
    assert_eq!(
        user_file(&project),
        "{\n  \"hooksConfig\": {\n    \"disabled\": [\"guard\"]\n  }\n}\n"
    );
    for other in ["--no-user", "--settings=.hooks/settings.json"] {
        let finished = Hook::new(&project, &["disable", "guard", "--user", other]).run();
        assert_eq!(finished.status, 64, "{finished:?}");
    }
}

#[test]
fn what_the_hook_is_not_because_of_is_said() {
    let project = project();
    let settings = project.read(SETTINGS);
    project.write(SETTINGS, &settings.replacen('{', "{\"hooksConfig\": {\"enabled\": false},", 1));
    insta::assert_snapshot!(shown(&project, &["enable", "guard"]), @r"
    status: 1
    ----- stdout -----
    ----- stderr -----
    warning: `guard` is still off: `hooksConfig.enabled` is false in the project settings [PROJECT]/.hooks/settings.json, which switches off all hooks of that file; change it there
    ");
    // A list may still have the name of a hook that is gone.
    project.write(SETTINGS, r#"{"hooksConfig":{"disabled":["gone","guard"]}}"#);
    insta::assert_snapshot!(shown(&project, &["enable", "gone"]), @"
    status: 0
    ----- stdout -----
    enabled gone in [PROJECT]/.hooks/settings.json (project)
    ----- stderr -----
    warning: no hook is named `gone` now
    note: the project's settings are shared: this counts for everyone who works on the project
    ");
    assert_eq!(project.read(SETTINGS), r#"{"hooksConfig":{"disabled":["guard"]}}"#);
}

#[test]
fn an_unknown_name_is_an_error_with_the_nearest_one() {
    let project = project();
    insta::assert_snapshot!(shown(&project, &["disable", "gaurd"]), @r"
    status: 1
    ----- stdout -----
    ----- stderr -----
    error: no hook is named `gaurd`; did you mean `guard`?
      there are:
        ./lint.sh --fast
        both
        guard
        log
    ");
    insta::assert_snapshot!(shown(&Project::new(), &["enable", "guard"]), @r"
    status: 1
    ----- stdout -----
    ----- stderr -----
    error: no hook is named `guard`; there are none
    ");
    let project = Project::with_hook("BeforeTool", "true");
    let finished = Hook::new(&project, &["disable", "x", "--settings=no-such-file.json"]).run();
    assert_eq!(finished.status, 1, "{finished:?}");
}

#[test]
fn what_is_not_json_is_refused_and_stays() {
    let project = project();
    for (text, problem) in [
        (
            "{\n  # everything that runs\n  \"hooks\": {}\n}\n",
            ":2:3: it is not JSON: key must be a string;",
        ),
        (
            "{\"hooksConfig\": {\"disabled\": \"guard\"}}",
            ":1:30: hooksConfig.disabled: expected an array of strings, found a string;",
        ),
        ("", ":1:1: it is not JSON: EOF while parsing a value;"),
    ] {
        let path = project.home().join(".config/hooks/settings.json");
        fs::write(&path, text).unwrap();
        let shown = shown(&project, &["disable", "guard", "--user"]);
        let said = shown.lines().last().unwrap();
        assert!(
            said.starts_with("error: failed to edit [HOME]/.config/hooks/settings.json:"),
            "{shown}"
        );
        assert!(said.ends_with("; fix that first; nothing was written"), "{shown}");
        assert!(said.contains(problem), "{shown}");
        assert_eq!(fs::read_to_string(path).unwrap(), text);
    }
    // A hook that stands in a broken file has no name; the file is named.
    project.write(SETTINGS, "{\"hooks\": {,}}");
    insta::assert_snapshot!(shown(&project, &["disable", "guard"]), @r"
    status: 1
    ----- stdout -----
    ----- stderr -----
    [PROJECT]/.hooks/settings.json:1:12: error: the file is not JSON: key must be a string; none of its hooks run until this is fixed
    [HOME]/.config/hooks/settings.json:1:1: error: the file is not JSON: EOF while parsing a value; none of its hooks run until this is fixed
    error: no hook is named `guard`; there are none
    ");
}

#[test]
fn a_named_file_is_edited_and_laid_out_as_before() {
    let project = Project::new();
    let odd = "\u{feff}{\r\n   \"mine\" : 1e400,\r\n\t\"hooks\":{\"SessionEnd\":[{\"hooks\":[{\"type\":\"command\",\
               \"command\":\"true\",\"name\":\"n\"}]}]}, \"hooksConfig\":\r\n {\"disabled\":[\r\n\t\t\"a\"\r\n\t]}}";
    let path = project.write("odd.json", odd);
    let finished = Hook::new(&project, &["disable", "n", "--settings=odd.json"]).run();
    assert_eq!(finished.stdout, "disabled n in odd.json (explicit)\n");
    let expected = odd.replace("\"a\"", "\"a\",\r\n\t\t\"n\"");
    assert_eq!(fs::read_to_string(&path).unwrap(), expected);
    let twice = ["enable", "n", "--settings=odd.json", "--settings=odd.json"];
    let finished = Hook::new(&project, &twice).run();
    assert_eq!(finished.stdout, "enabled n in odd.json (explicit)\n");
    assert_eq!(finished.status, 0);
    // No server of the project runs that would have to be told.
    assert_eq!(finished.stderr, "");
    assert_eq!(fs::read_to_string(&path).unwrap(), odd);
}

#[test]
fn permissions_and_links_are_kept() {
    let project = project();
    let real = project.write("dotfiles/hooks.json", &project.read(SETTINGS));
    let link = project.path().join(SETTINGS);
    fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink("../dotfiles/hooks.json", &link).unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    let finished = Hook::new(&project, &["disable", "guard"]).run();
    assert_eq!(finished.status, 0, "{finished:?}");
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert_eq!(disabled(&project.read("dotfiles/hooks.json")), json!(["guard"]));
    assert_eq!(real.metadata().unwrap().mode() & 0o777, 0o640);
    // A link that leads nowhere is not replaced by a file either.
    fs::remove_file(&real).unwrap();
    user_settings(&project, &json!({}));
    let user = project.home().join(".config/hooks/settings.json");
    fs::remove_file(&user).unwrap();
    std::os::unix::fs::symlink("nowhere.json", &user).unwrap();
    fs::remove_file(&link).unwrap();
    project.write(
        SETTINGS,
        r#"{"hooks":{"SessionEnd":[{"hooks":[{"type":"command","command":"x"}]}]}}"#,
    );
    insta::assert_snapshot!(shown(&project, &["disable", "x", "--user"]), @r"
    status: 1
    ----- stdout -----
    ----- stderr -----
    error: failed to follow the link to the settings file [HOME]/.config/hooks/settings.json: No such file or directory (os error 2)
    ");
}

#[test]
fn many_at_once_lose_nothing() {
    const COUNT: usize = 20;
    let project = Project::new();
    let hooks: Vec<Value> = (0..COUNT)
        .map(|number| json!({"type": "command", "name": format!("n{number}"), "command": "true"}))
        .collect();
    let settings = json!({"hooks": {"SessionEnd": [{"hooks": hooks}]}});
    project.write(SETTINGS, &settings.to_string());
    hook_tests::hook_binary();
    std::thread::scope(|scope| {
        let run = |number: usize| {
            let project = &project;
            scope.spawn(move || Hook::new(project, &["disable", &format!("n{number}")]).run())
        };
        for call in (0..COUNT).map(run).collect::<Vec<_>>() {
            let finished = call.join().unwrap();
            assert_eq!(finished.status, 0, "{finished:?}");
        }
    });
    let list = disabled(&project.read(SETTINGS));
    let mut names: Vec<&str> =
        list.as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    names.sort_unstable_by_key(|name| name[1..].parse::<usize>().unwrap());
    let expected: Vec<String> = (0..COUNT).map(|number| format!("n{number}")).collect();
    assert_eq!(names, expected);
}

#[test]
fn json_says_what_was_asked_what_changed_and_what_remains() {
    let project = project();
    let run = |arguments: &[&str]| {
        let finished = Hook::new(&project, &[arguments, &["--json"]].concat()).run();
        let lines = finished.lines();
        assert_eq!(lines.len(), 1);
        (finished.status, lines[0].clone())
    };
    let file = project.path().join(SETTINGS);
    let (status, said) = run(&["disable", "guard"]);
    assert_eq!(status, 0);
    assert_eq!(
        said,
        json!({"name": "guard", "enabled": false, "dryRun": false,
            "files": [{"file": file, "source": "project", "changed": true}], "remaining": []})
    );
    let (status, said) = run(&["enable", "guard", "--user", "--dry-run"]);
    assert_eq!(status, 1);
    assert_eq!(said["dryRun"], true);
    assert_eq!(said["files"][0]["source"], "user");
    assert_eq!(said["files"][0]["changed"], false);
    assert_eq!(said["files"][0]["diff"], "");
    assert_eq!(
        said["remaining"],
        json!([{"file": file, "source": "project", "because": "disabled"}])
    );
}

/// A settings file with comments and trailing commas, before and behind everything.
const COMMENTED: &str = r#"// Who guards what.
{
  /* « "é" » */ "hooksConfig": {
    "disabled": [
      "old", // until it is fixed: "guard", "both"
    ],
  },
  "hooks": { // "BeforeTool": nothing else
    "BeforeTool": [{ "hooks": [
      { "type": "command", "name": "guard", "command": "exit 2", "failBehavior": "block", "typo": 1 /* , */ },
    ] }],
  },
}
// the end
"#;

#[test]
fn comments_and_trailing_commas_are_read_and_stay() {
    let project = Project::new();
    project.write("s.json", COMMENTED);
    let run = |arguments: &[&str]| {
        Hook::new(&project, &[arguments, &["--settings=s.json"]].concat()).run()
    };
    let fire = ["fire", "BeforeTool", "--input", r#"{"tool_name":"x","tool_input":{}}"#, "--json"];
    let blocked = run(&fire);
    assert_eq!(blocked.status, 2, "{blocked:?}");
    // Positions are those of the text with its comments.
    let warnings = Hook::new(&project, &["check", "s.json", "--json"]).run().lines();
    assert_eq!(warnings[1]["path"], "hooks.BeforeTool[0].hooks[0].typo", "{warnings:?}");
    assert_eq!((&warnings[1]["line"], &warnings[1]["column"]), (&json!(10), &json!(91)));

    assert_eq!(run(&["disable", "guard"]).status, 0);
    let off = COMMENTED.replace("\"both\"\n    ]", "\"both\"\n      \"guard\",\n    ]");
    assert_eq!(project.read("s.json"), off);
    assert_eq!(run(&fire).status, 0);
    assert_eq!(run(&["enable", "guard"]).status, 0);
    assert_eq!(project.read("s.json"), COMMENTED);

    // What is no comment is still said, where it is.
    project.write("s.json", &COMMENTED.replace("// the end", "the end"));
    let broken = Hook::new(&project, &["check", "s.json"]).run();
    assert!(broken.stdout.contains("trailing characters"), "{broken:?}");
    assert!(broken.stdout.contains("s.json:14:1"), "{broken:?}");
}
