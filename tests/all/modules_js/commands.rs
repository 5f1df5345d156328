//! Commands of modules, and what they render.

use std::sync::{Arc, Mutex};

use hook_bus::module::{
    CommandError, HookModule, ModuleApi, RenderOptions, StyledLine, StyledText,
};
use hook_json::RawObject;
use hook_protocol::{HookEventName, HookOutput};
use hook_run::HandlerError;
use hook_run::HandlerHook;
use hook_tests::{Hook, Project};
use serde_json::json;

use super::{has_node, project, run};

const COMMANDS: &str = r#"
export default function (pi) {
  pi.registerCommand("greet", {
    description: "Greets somebody",
    handler: async (args, ctx) => {
      const { stdout } = await pi.exec("echo", ["hello", args]);
      return stdout.trim() + ", " + ctx.sessionManager.getEntries().length;
    },
  });
  pi.registerCommand("fails", { handler: () => { throw new Error("it went\n  wrong"); } });
  pi.registerCommand("quiet", { handler: () => {} });
  pi.registerMessageRenderer("note", (message, options, theme) => [
    theme.bold("Note") + ": " + theme.fg("error", message.content),
    "plain",
  ]);
}
"#;

#[test]
fn commands_are_listed_and_run_and_the_first_of_a_name_is_the_one() {
    if !has_node() {
        return;
    }
    let second = "import { writeFileSync } from 'node:fs';
        export default (pi) => {
          for (const name of ['greet', 'fails', 'quiet', 'quiet']) {
            pi.registerCommand(name, {handler: () => { writeFileSync(name, ''); return 'second'; }});
          }
        }";
    let project = project(&[("one.mjs", COMMANDS, json!({})), ("two.mjs", second, json!({}))]);
    let command = |more: &[&str]| {
        run(&project, &[&["command", "--settings", "settings.json"], more].concat())
    };
    let listed = command(&["--json"]).lines();
    let names: Vec<_> = listed.iter().map(|it| (&it["name"], &it["module"])).collect();
    assert_eq!(
        names,
        [
            (&json!("greet"), &json!("one.mjs")),
            (&json!("fails"), &json!("one.mjs")),
            (&json!("quiet"), &json!("one.mjs")),
            (&json!("greet"), &json!("two.mjs")),
            (&json!("fails"), &json!("two.mjs")),
            // None is dropped.
            (&json!("quiet"), &json!("two.mjs")),
            (&json!("quiet"), &json!("two.mjs")),
        ]
    );
    assert_eq!(listed[0]["description"], "Greets somebody");
    assert!(command(&[]).stdout.contains("Greets somebody"));
    let greeted = command(&["greet", "you", "all"]);
    assert_eq!((greeted.status, greeted.stdout.as_str()), (0, "hello you all, 0\n"), "{greeted:?}");
    let failed = command(&["fails"]);
    assert_eq!(failed.status, 1);
    // Once, and as it was said.
    assert_eq!(failed.stderr, "error: it failed, and says: it went\n  wrong\n", "{failed:?}");
    let quiet = command(&["quiet"]);
    assert_eq!((quiet.status, quiet.stdout.as_str()), (0, ""), "{quiet:?}");
    // None of the other module's was run.
    for name in ["greet", "fails", "quiet"] {
        assert!(!project.path().join(name).exists(), "{name}");
    }
    let unknown = command(&["gret"]);
    assert_eq!(unknown.status, 64);
    assert!(unknown.stderr.contains("did you mean `greet`?"), "{unknown:?}");
}

#[test]
fn of_two_commands_of_one_name_the_first_is_run_whoever_trusts_them() {
    if !has_node() {
        return;
    }
    let module = |whose: &str| {
        format!(
            "import {{ writeFileSync }} from 'node:fs';
            export default (pi) => pi.registerCommand('deploy', {{ handler: () => {{
              writeFileSync('{whose}', '');
              throw new Error('{whose}');
            }} }});"
        )
    };
    let project = Project::new();
    project.write(".hooks/modules/a.mjs", &module("project"));
    let users = project.home().join(".config/hooks/modules");
    std::fs::create_dir_all(&users).unwrap();
    std::fs::write(users.join("a.mjs"), module("user")).unwrap();
    assert_eq!(run(&project, &["trust", "--yes"]).status, 0);
    assert_eq!(run(&project, &["command", "--json"]).lines().len(), 2);
    assert_eq!(run(&project, &["command", "deploy"]).status, 1);
    let ran = ["project", "user"].map(|name| project.path().join(name).exists());
    assert_eq!(ran, [true, false]);
}

#[test]
fn a_command_that_another_hook_skips_was_not_run() {
    if !has_node() {
        return;
    }
    let project = project(&[("one.mjs", COMMANDS, json!({}))]);
    let skips = json!({"type": "command", "name": "skips", "priority": 1,
        "command": "echo '{\"skipRemaining\": true}'"});
    let settings = json!({"hooks": {"*": [{"hooks": [{"type": "module", "path": "one.mjs"}]}],
        "Command": [{"hooks": [skips]}]}});
    project.write("settings.json", &settings.to_string());
    for more in [&[][..], &["--json"]] {
        let arguments = [&["command", "--settings", "settings.json"], more, &["greet"]].concat();
        let skipped = run(&project, &arguments);
        let said = "the command greet was not run: hook skips skipped what comes after it";
        assert!(skipped.status == 1 && skipped.stderr.contains(said), "{skipped:?}");
    }
}

#[tokio::test]
async fn a_message_is_rendered_as_lines_of_styled_text() {
    if !has_node() {
        return;
    }
    let project = project(&[("one.mjs", COMMANDS, json!({}))]);
    let system = project.system();
    system.initialize().await.unwrap();
    system.load_modules().await.unwrap();
    let message = RawObject::parse(r#"{"customType": "note", "content": "hot"}"#).unwrap();
    let options = RenderOptions::new(80, false);
    let lines = system.render_message("note", &message, options).await.unwrap().unwrap();
    let pieces: Vec<Vec<_>> = lines
        .iter()
        .map(|line| {
            line.pieces
                .iter()
                .map(|it| (it.text.as_str(), it.color.as_deref(), it.styles.clone()))
                .collect()
        })
        .collect();
    assert_eq!(
        pieces,
        [
            vec![("Note", None, vec!["bold"]), (": ", None, vec![]), ("hot", Some("red"), vec![])],
            vec![("plain", None, vec![])],
        ]
    );
    assert!(system.render_message("other", &message, options).await.unwrap().is_none());
    system.shutdown(std::time::Duration::ZERO).await;
}

#[test]
fn a_command_may_ask_the_user() {
    if !has_node() {
        return;
    }
    const ASKS: &str = "export default (pi) => pi.registerCommand('sure', {
        handler: async (_, ctx) => String(ctx.hasUI && await ctx.ui.confirm('Sure', 'Really?'))});";
    let project = project(&[("asks.mjs", ASKS, json!({}))]);
    let sure = |more: &[&str]| {
        let arguments = [&["command", "--settings", "settings.json"], more, &["sure"]].concat();
        Hook::new(&project, &arguments).env("NO_COLOR", "1").on_terminal()
    };
    let mut asked = sure(&[]);
    asked.wait_for("[y/N] ");
    asked.types("y");
    let (status, shown) = asked.finish();
    assert!(status == 0 && shown.contains("true"), "{shown}");
    let (_, shown) = sure(&["--no-ui"]).finish();
    assert!(shown.contains("false") && !shown.contains("[y/N]"), "{shown}");
}

/// A module in Rust beside those in files.
struct Beside;

impl HookModule for Beside {
    fn path(&self) -> &str {
        "beside"
    }

    fn register(&self, api: &mut ModuleApi) {
        api.register_command("greet", "The first", |arguments, _ctx| async move {
            Ok(Some(format!("beside {arguments}")))
        });
        api.register_message_renderer("note", |_message, options| {
            let head = StyledText::plain("beside").color("red").bold();
            let rest = if options.expanded { "all" } else { "some" };
            vec![StyledLine::of([head]), rest.into()]
        });
    }
}

#[tokio::test]
async fn a_host_has_one_door_to_the_commands_and_renderers_of_all_its_modules() {
    if !has_node() {
        return;
    }
    let rest = "export default (pi) => {
        pi.registerCommand('greet', {handler: () => 'never'});
        pi.registerCommand('shout', {handler: (args) => args.toUpperCase()});
        pi.registerCommand('throws', {handler: () => { throw new Error('no luck'); }});
        pi.registerMessageRenderer('note', () => ['never']);
        pi.registerMessageRenderer('own', (message, options) => [String(options.expanded)]);
    }";
    let project = project(&[("rest.mjs", rest, json!({}))]);
    let system = project.builder().module(Beside).unwrap().build().unwrap();
    let all = system.commands().await.unwrap();
    let listed: Vec<_> = all.iter().map(|it| (&*it.name, &*it.module)).collect();
    let expected =
        [("greet", "beside"), ("greet", "rest.mjs"), ("shout", "rest.mjs"), ("throws", "rest.mjs")];
    assert_eq!(listed, expected);
    let run = async |name: &str| system.run_command(name, "you").await;
    assert_eq!(run("greet").await.unwrap().text.as_deref(), Some("beside you"));
    assert_eq!(run("shout").await.unwrap().text.as_deref(), Some("YOU"));
    let error = run("throws").await.unwrap_err();
    assert!(error.to_string().ends_with("says: no luck"), "{error}");
    let error = run("shou").await.unwrap_err();
    assert!(matches!(&error, CommandError::Unknown { known, .. } if known.len() == 4), "{error}");

    // Hooks of others hear of it, and what they say is theirs.
    let hook = |name: &str, run: fn() -> Result<Option<HookOutput>, HandlerError>| {
        HandlerHook::inline(HookEventName::Command, name, move |_input| run()).priority(10)
    };
    let fails = system.register(hook("audit", || Err("full".into()))).unwrap();
    let output = run("shout").await.unwrap();
    assert_eq!(output.text.as_deref(), Some("YOU"));
    assert!(output.warnings.join(" ").contains("hook audit: "), "{output:?}");
    drop(fails);
    let _stops = system.register(hook("stops", || Ok(Some(HookOutput::stop("enough"))))).unwrap();
    let error = run("shout").await.unwrap_err();
    assert!(
        matches!(&error, CommandError::NotRun { reason, .. } if reason == "hook stops stopped the agent: enough"),
        "{error}"
    );

    let options = RenderOptions::new(80, true);
    let empty = RawObject::empty();
    let lines = system.render_message("note", &empty, options).await.unwrap().unwrap();
    let head = StyledText::plain("beside").color("red").bold();
    assert_eq!(lines, [StyledLine::of([head]), "all".into()]);
    let lines = system.render_message("own", &empty, options).await.unwrap().unwrap();
    assert_eq!(lines, ["true".into()]);
    system.shutdown(std::time::Duration::ZERO).await;
}

#[tokio::test]
async fn who_listens_for_errors_hears_of_handlers_that_throw_where_that_blocks_nothing() {
    if !has_node() {
        return;
    }
    let throws = "export default (pi) => {
        for (const event of ['tool_call', 'tool_result', 'agent_start']) {
            pi.on(event, () => { throw new Error('at ' + event); });
        }
    }";
    let project = project(&[("throws.mjs", throws, json!({}))]);
    let system = project.system();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hears = Arc::clone(&heard);
    let _listener =
        system.modules().on_error(move |fault| hears.lock().unwrap().push(fault.clone()));
    for event in ["tool_call", "tool_result", "agent_start"] {
        let (ours, input) = crate::modules::rules::input(event);
        crate::modules::fire(&system, ours, input).await;
    }
    let path = project.path().join("throws.mjs");
    let path = path.to_str().unwrap();
    let heard: Vec<_> = std::mem::take(&mut *heard.lock().unwrap());
    let said: Vec<_> = heard.iter().map(|it| (&*it.hook_path, &*it.event, &*it.error)).collect();
    // Before a tool it is the reason of a block.
    let expected =
        [(path, "tool_result", "at tool_result"), (path, "agent_start", "at agent_start")];
    assert_eq!(said, expected);
    system.shutdown(std::time::Duration::ZERO).await;
}
