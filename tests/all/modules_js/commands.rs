//! Commands of modules, and what they render.

use hook_core::RawJson;
use hook_tests::Hook;
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
  pi.registerCommand("fails", { handler: () => { throw new Error("it went\nwrong"); } });
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
    assert_eq!(failed.stderr, "error: it failed, and says: it went\nwrong\n", "{failed:?}");
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

#[tokio::test]
async fn a_message_is_rendered_as_lines_of_styled_text() {
    if !has_node() {
        return;
    }
    let project = project(&[("one.mjs", COMMANDS, json!({}))]);
    let system = project.system();
    system.initialize().await.unwrap();
    system.load_modules().await.unwrap();
    let message = RawJson::parse(r#"{"customType": "note", "content": "hot"}"#).unwrap();
    let lines = system.render_message("note", &message, 80).await.unwrap().unwrap();
    let pieces: Vec<Vec<_>> = lines
        .iter()
        .map(|line| {
            line.iter()
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
    assert!(system.render_message("other", &message, 80).await.unwrap().is_none());
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
