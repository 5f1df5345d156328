//! What surrounds a hook is missing, exhausted, broken or hostile.

use hook_bus::HookSystem;
use hook_settings::SettingsSource;
use hook_tests::{Hook, Project, Served, hook_binary, request};
use hook_trust::{TrustPolicy, TrustStore};
use rustix::process::getuid;
use serde_json::{Value, json};

use super::{answer, failure, project, project_with, prompt, prompt_with};

#[tokio::test]
async fn fault_11_a_command_that_is_not_found_warns_in_the_words_of_the_shell() {
    for command in ["no-such-program --flag", "no-such-program --flag; exit $?", "./no/such/file"] {
        let project = project(command);
        let response = prompt(&project.system()).await;
        let result = &response.hooks[0];
        assert_eq!((result.process.exit_code, result.success), (Some(127), false), "{command}");
        let message = response.processed.system_message.as_deref().unwrap_or_default();
        assert!(message.starts_with("Warning: "), "{message}");
        assert!(message.contains("not found") || message.contains("No such file"), "{message}");
        assert!(!response.processed.is_blocking_decision());
    }
}

#[tokio::test]
async fn fault_12_without_its_directory_a_hook_runs_in_the_project_and_then_fails_by_name() {
    for command in ["pwd", "/bin/pwd"] {
        let project = project(command);
        let system = project.system();
        let folder = project.path().display().to_string();
        std::os::unix::fs::symlink("loop", project.path().join("loop")).unwrap();
        project.write("file", "");
        for lost in ["lost", "loop", "file", &"x".repeat(300)] {
            let lost = json!({"cwd": project.path().join(lost)});
            let response = prompt_with(&system, lost).await;
            assert_eq!(response.processed.system_message.as_deref(), Some(&*folder));
            let warning = &response.hooks[0].warnings[0];
            assert!(warning.contains("cannot be entered"), "{warning}");
        }
        let lost = json!({"cwd": project.path().join("lost")});

        std::fs::remove_dir_all(project.path()).unwrap();
        let response = prompt_with(&system, lost).await;
        assert!(failure(&response.hooks[0]).contains(&folder), "{}", failure(&response.hooks[0]));
    }
}

/// Sets a limit of a running process, as a system does that runs out of something. Only who owns
/// the process may raise it again.
async fn limit(served: &Served, user: Option<u32>, limit: &str) {
    let mut prlimit = tokio::process::Command::new("prlimit");
    prlimit.arg(format!("--pid={}", served.id())).arg(limit);
    if let Some(user) = user {
        prlimit.uid(user).gid(user);
    }
    assert!(prlimit.status().await.unwrap().success());
}

async fn assert_fails_and_recovers(
    served: &mut Served,
    user: Option<u32>,
    exhausted: &str,
    lifted: &str,
) {
    let ask = request("BeforeAgent", &json!({"prompt": "p"}), "id");
    let before = served.ask(&ask).await;
    assert_eq!(before["processed"]["systemMessage"], "ran", "{before}");

    limit(served, user, exhausted).await;
    for _ in 0..3 {
        let starved = served.ask(&ask).await;
        assert_eq!(starved["correlationId"], "id");
        let error = starved["hooks"][0]["error"].as_str().unwrap_or_default();
        assert!(error.starts_with("failed to start"), "{starved}");
    }
    limit(served, user, lifted).await;
    let after = served.ask(&ask).await;
    assert_eq!(after["processed"]["systemMessage"], "ran", "{after}");
}

const RAN: &str = r#"echo '{"systemMessage":"ran"}'; exit 0"#;

#[tokio::test]
async fn fault_26_without_descriptors_hooks_fail_and_the_engine_recovers() {
    let project = project_with(&[json!({"command": RAN})]);
    let mut served = Served::start(&project).await;
    served.ask(&request("SessionEnd", &json!({"reason": "exit"}), "warm")).await;
    // Fewer than a hook's pipes take.
    let exhausted = format!("--nofile={}:", served.holdings().descriptors + 1);
    assert_fails_and_recovers(&mut served, None, &exhausted, "--nofile=256:").await;
}

#[tokio::test]
async fn fault_26_without_processes_hooks_fail_and_the_engine_recovers() {
    let project = project_with(&[json!({"command": RAN})]);
    // The limit does not hold for root. Another user, who has no other processes, cannot come by
    // the binary where it was built.
    let user = getuid().is_root().then_some(54_321);
    let binary = project.path().join("hook");
    // By another process: what was open for writing in this one may not be executed at once.
    let copied = std::process::Command::new("cp").arg(hook_binary()).arg(&binary).status();
    assert!(copied.unwrap().success());
    for folder in [project.path().parent().unwrap(), &project.path()] {
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(folder, open).unwrap();
    }
    let mut served = Served::start_as(&project, &binary, user).await;
    assert_fails_and_recovers(&mut served, user, "--nproc=1:", "--nproc=4096:").await;
}

#[tokio::test]
async fn fault_27_garbage_in_one_settings_file_costs_no_guard_of_another() {
    let project = project(r#"echo '{"decision":"deny","reason":"guarded"}'"#);
    for garbage in ["", "{", "\u{0}\u{1}", "[1]", r#"{"hooks": 7}"#, "{{{{", "\u{feff}{}x"] {
        let broken = project.write("broken.json", garbage);
        let system = HookSystem::builder(project.path())
            .settings(SettingsSource::explicit(&broken))
            .settings(SettingsSource::explicit(project.settings()))
            .build()
            .unwrap();
        let response = prompt(&system).await;
        assert_eq!(answer(&response), (true, Some("guarded"), None), "{garbage:?}");
        if !garbage.is_empty() {
            let warnings = &response.processed.warnings;
            assert!(
                warnings.iter().any(|it| it.contains("broken.json")),
                "{garbage:?} {warnings:?}"
            );
        }
    }
}

#[tokio::test]
async fn fault_27_a_damaged_trust_store_costs_no_guard_and_is_set_aside() {
    let project = project(r#"echo '{"decision":"deny","reason":"guarded"}'"#);
    project.write(
        ".hooks/settings.json",
        r#"{"hooks":{"BeforeAgent":[{"hooks":[{"type":"command","command":"touch untrusted"}]}]}}"#,
    );
    let foreign = r#"{"version":1,"projects":["somebody else's"]}"#;
    for (number, damaged) in ["{\"version\":1,\"proj", foreign, "", "\u{0}"].iter().enumerate() {
        let store = project.write("trust.json", damaged);
        let system = project
            .builder()
            .native_settings(None)
            .trust(TrustPolicy::Store(TrustStore::new(&store)))
            .build()
            .unwrap();
        let response = prompt(&system).await;
        assert_eq!(answer(&response), (true, Some("guarded"), None), "{damaged:?}");
        let aside = format!("trust.damaged-{}.json", number + 1);
        assert!(
            response.processed.warnings.iter().any(|it| it.contains(&aside)),
            "{:?}",
            response.processed.warnings
        );
        assert!(!project.path().join(&aside).exists(), "who reads writes nothing");
        assert_eq!(project.read("trust.json"), *damaged);
        TrustStore::new(&store).revoke(&project.path()).unwrap();
        assert_eq!(project.read(&aside), *damaged, "what was in it is not lost");
        assert!(!project.path().join("untrusted").exists());
    }
}

#[test]
fn fault_30_what_a_hostile_host_tells_bash_has_no_effect() {
    let project = Project::with_settings(&json!({"hooks": {"BeforeAgent": [{"hooks": [
        {"type": "command", "command": "cat >/dev/null; true; echo '{\"systemMessage\":\"mine\"}'"},
        {"type": "command", "command": "cat said"}]}]}}));
    project.write("said", r#"{"additionalContext":"direct"}"#);
    let evil = project.write("evil.sh", "echo EVIL; exit 2");
    let evil = evil.display().to_string();
    let fired = ["fire", "BeforeAgent", "--settings=settings.json", "--json", "--input"];
    let fired = [&fired[..], &[r#"{"prompt":"p"}"#]].concat();
    std::fs::write(project.home().join(".bashrc"), "echo EVIL; exit 2").unwrap();
    let quiet = Hook::new(&project, &fired).run();
    let mut hostile = Hook::new(&project, &fired);
    for (name, value) in [
        ("BASH_ENV", evil.as_str()),
        ("ENV", &evil),
        ("SHELLOPTS", "xtrace:noexec"),
        ("BASHOPTS", "extdebug"),
        ("PS4", "EVIL $(touch evil) "),
        // What comes over ssh gets the user's own files from some builds of bash.
        ("SSH_CLIENT", "::1 1 2"),
        ("SHLVL", "0"),
        ("BASH_FUNC_cat%%", "() { echo EVIL; exit 2; }"),
        ("BASH_FUNC_echo%%", "() { printf EVIL; }"),
    ] {
        hostile = hostile.env(name, value);
    }
    let hostile = hostile.run();
    assert_eq!((hostile.status, quiet.status), (0, 0));
    let answers = |finished: &hook_tests::Finished| -> Vec<Value> {
        let response = &finished.lines()[0];
        let hooks = response["hooks"].as_array().unwrap();
        hooks.iter().flat_map(|hook| [hook["output"].clone(), hook["warnings"].clone()]).collect()
    };
    assert_eq!(answers(&hostile), answers(&quiet));
    assert!(!hostile.stdout.contains("EVIL") && !project.path().join("evil").exists());
}

#[test]
fn a_host_that_ignores_its_children_is_told_so_before_it_runs_hooks() {
    let project = project("exit 2");
    let ignoring = format!(
        "import os, signal; signal.signal(signal.SIGCHLD, signal.SIG_IGN); \
         os.execv('{hook}', ['hook', 'fire', 'BeforeAgent', '--settings=settings.json', \
         '--input={{\"prompt\":\"p\"}}'])",
        hook = hook_binary().display()
    );
    let host = project.command("python3").args(["-c", &ignoring]).output().unwrap();
    let said = String::from_utf8_lossy(&host.stderr);
    assert_eq!(host.status.code(), Some(1), "{said}");
    assert!(said.contains("SIGCHLD is ignored"), "{said}");
}
