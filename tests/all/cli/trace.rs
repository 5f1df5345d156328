//! `hook trace`: a recording as text, as trace events, as JSON lines and as a page.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use hook_tests::{Hook, Project, workspace};
use serde_json::{Value, json};

use super::recorded::{Recorded, hook, session};

/// The recording of docs/examples/agent-session.
fn sample() -> PathBuf {
    workspace().join("docs/examples/agent-session/session.hookrec")
}

fn traced(recording: &Recorded, arguments: &[&str]) -> (Project, hook_tests::Finished) {
    let project = Project::new();
    project.write("session.hookrec", &recording.text());
    let all = [&["trace", "session.hookrec"], arguments].concat();
    let finished = Hook::new(&project, &all).env("COLUMNS", "100").run();
    (project, finished)
}

#[test]
fn text_is_a_waterfall_with_a_summary() {
    let (_, finished) = traced(&session(), &[]);
    assert_eq!(finished.status, 0, "{}", finished.stderr);
    insta::assert_snapshot!(finished.stdout, @r"
    2026-03-14T09:26:53.589Z  /home/ada/thing  hook 0.1.0
                                                            0────────────────────────────────────+1.00 s
      +0.000 s  SessionStart startup ✓ proceed      900 µs  ─
      +0.100 s  BeforeTool shell     ✗ block         41 ms      ───
                    no shell today
                  guard              ✗ block         40 ms      ▐█▏
                  audit              ! exit 1        12 ms      ▐
                    Hook exited with code 1
      +0.200 s  AfterTool read       ✓ proceed      501 ms          ───────────────────────
                  slow               ! timed out    500 ms          ▕█████████████████████▉
                    Hook timed out after 500ms
      +0.250 s  BeforeTool read      ✓ proceed      400 µs             ─
                  hasty              ✓ exit 0       300 µs             ▏
      +0.300 s  3 messages missed
      +0.710 s  not a request        ! failed         0 µs                                 ─
                    expected a request
      +0.800 s  BeforeAgent          … unfinished                                              ─
                  endless            … unfinished                                              █████████

    Slowest hooks
        500 ms  slow                      +0.200 s AfterTool read
         40 ms  guard                     +0.100 s BeforeTool shell
         12 ms  audit                     +0.100 s BeforeTool shell
        300 µs  hasty                     +0.250 s BeforeTool read

    Event         requests  held up  hooks  failed   in hooks    longest
    SessionStart         1        0      0       0          -          -
    BeforeTool           2        1      3       1      53 ms      40 ms
    AfterTool            1        0      1       1     500 ms     500 ms
    ?                    1        0      0       0          -          -
    BeforeAgent          1        0      1       0       0 µs       0 µs

    6 requests, 5 hooks, 2 failed; 1.00 s recorded, hooks ran in 540 ms of it
    ");
    insta::assert_snapshot!(finished.stderr, @r"
    warning: session.hookrec: 2 lines mean nothing to this version of hook and are left out
    warning: session.hookrec: the recorder fell behind and missed 3 messages; requests and hooks around there may be incomplete
    ");
}

#[test]
fn each_request_can_have_a_scale_of_its_own() {
    let (_, finished) = traced(&session(), &["--per-request"]);
    let lines: Vec<&str> = finished.stdout.lines().skip(2).take(5).collect();
    insta::assert_snapshot!(lines.join("\n"), @r"
    +0.100 s  BeforeTool shell     ✗ block         41 ms  ────────────────────────────────────────────
                  no shell today
                guard              ✗ block         40 ms  ▐██████████████████████████████████████████▌
                audit              ! exit 1        12 ms   █████████████▌
                  Hook exited with code 1
    ");
}

#[test]
fn text_fits_the_terminal_however_narrow_it_is() {
    let wide = "宽".repeat(40);
    let recording = session()
        .request(1_000_000, 7, "BeforeTool", &json!({"tool_name": wide, "tool_input": {}}))
        .decided(
            1_000_100,
            7,
            "BeforeTool",
            ("ask", json!("a\u{1b}[31m\n\treason ".repeat(20))),
            &[hook(&"name".repeat(30), 0, 0.1, "")],
        );
    let project = Project::new();
    project.write("session.hookrec", &recording.text());
    for columns in [60_usize, 80, 100, 240] {
        let finished = Hook::new(&project, &["trace", "session.hookrec"])
            .env("COLUMNS", &columns.to_string())
            .run();
        assert!(!finished.stdout.contains('\u{1b}'), "{}", finished.stdout);
        // The tables of the summary have a width of their own.
        let waterfall = finished.stdout.split("\n\n").next().unwrap();
        for line in waterfall.lines().skip(1) {
            let width =
                line.chars().map(|letter| if letter == '宽' { 2 } else { 1 }).sum::<usize>();
            assert!(width <= columns, "{width} of {columns}: {line}");
        }
    }
}

#[test]
fn colours_are_for_terminals_unless_they_are_asked_for() {
    let (_, coloured) = traced(&session(), &["--color", "always"]);
    assert!(coloured.stdout.contains("\u{1b}[1m\u{1b}[31m✗ block"), "{}", coloured.stdout);
    let (project, written) = traced(&session(), &["--output", "trace.txt"]);
    assert_eq!(written.stdout, "");
    assert!(!project.read("trace.txt").contains('\u{1b}'));
    assert!(project.read("trace.txt").contains("✗ block"));
}

#[test]
fn json_is_one_line_for_each_request() {
    let (_, finished) = traced(&session(), &["--json"]);
    let lines = finished.lines();
    assert_eq!(lines.len(), 6);
    insta::assert_snapshot!(serde_json::to_string_pretty(&lines[1]).unwrap(), @r#"
    {
      "request": 2,
      "correlationId": "c-2",
      "eventName": "BeforeTool",
      "subject": "shell",
      "outcome": "block",
      "start": 100000,
      "end": 141000,
      "reason": "no shell today",
      "input": {
        "tool_name": "shell",
        "tool_input": {
          "path": "a.txt"
        }
      },
      "hooks": [
        {
          "name": "guard",
          "type": "command",
          "source": "project",
          "outcome": "block",
          "start": 100500,
          "end": 140500,
          "success": true,
          "exitCode": 0,
          "duration": 40.0,
          "queued": 0.01,
          "warnings": [],
          "stdout": "{\"decision\":\"deny\",\"reason\":\"no shell today\"}",
          "stderr": ""
        },
        {
          "name": "audit",
          "type": "command",
          "source": "project",
          "outcome": "failed",
          "start": 101000,
          "end": 113500,
          "success": false,
          "exitCode": 1,
          "duration": 12.5,
          "queued": 0.01,
          "warnings": [],
          "stdout": "",
          "stderr": "",
          "error": "Hook exited with code 1"
        }
      ]
    }
    "#);
    let outcomes: Vec<_> = lines.iter().map(|line| line["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["proceed", "block", "proceed", "proceed", "failed", "unfinished"]);
    // What the recorder missed of a hook is reckoned from its result.
    let hasty = &lines[3]["hooks"][0];
    assert_eq!(
        (&hasty["estimated"], &hasty["start"], &hasty["end"]),
        (&json!(true), &json!(250_100), &json!(250_400))
    );
    assert_eq!(lines[5].get("end"), None);
    assert_eq!(lines[5]["hooks"][0]["outcome"], "unfinished");
}

#[test]
fn trace_events_have_the_shape_that_perfetto_reads() {
    let (_, finished) = traced(&session(), &["--format", "chrome"]);
    let trace: Value = serde_json::from_str(&finished.stdout).unwrap();
    assert_eq!(trace["displayTimeUnit"], "ms");
    assert_eq!(trace["otherData"]["project"], "/home/ada/thing");
    let mut lanes: BTreeMap<u64, Vec<(u64, u64)>> = BTreeMap::new();
    let mut named = BTreeSet::new();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for event in trace["traceEvents"].as_array().unwrap() {
        assert!(event["name"].is_string() && event["pid"].is_u64(), "{event}");
        let phase = event["ph"].as_str().unwrap();
        *counts.entry(event["cat"].as_str().unwrap_or(phase)).or_default() += 1;
        match phase {
            "M" => {
                assert!(event["args"]["name"].is_string(), "{event}");
                named.extend(event["tid"].as_u64());
            }
            "X" => {
                let (start, length) =
                    (event["ts"].as_u64().unwrap(), event["dur"].as_u64().unwrap());
                assert!(length > 0, "{event}");
                assert!(event["args"]["decision"].is_string(), "{event}");
                let lane = lanes.entry(event["tid"].as_u64().unwrap()).or_default();
                lane.push((start, start + length));
            }
            "i" => assert_eq!(event["args"]["missed"], 3),
            other => panic!("nobody asked for {other}: {event}"),
        }
    }
    assert_eq!(counts, BTreeMap::from([("M", 5), ("hook", 5), ("i", 1), ("request", 6)]));
    for (lane, spans) in &mut lanes {
        assert!(named.contains(lane), "lane {lane} has no name");
        spans.sort_unstable();
        assert!(spans.windows(2).all(|two| two[0].1 <= two[1].0), "lane {lane}: {spans:?}");
    }
    let denied = trace["traceEvents"].as_array().unwrap().iter();
    let denied = denied.filter(|event| event["cat"] == "request");
    let denied: Vec<_> = denied.filter(|event| event["args"]["decision"] == "block").collect();
    assert_eq!(
        (&denied[0]["name"], &denied[0]["ts"], &denied[0]["dur"], &denied[0]["args"]["reason"]),
        (&json!("BeforeTool shell"), &json!(100_000), &json!(41_000), &json!("no shell today"))
    );
}

/// Text that tries to leave the place where it is put.
const HOSTILE: &str = "</script><img id=escaped src=x onerror=\"document.title='escaped'\"><!--<script>{{SCRIPT}}\u{2028}\u{0}";

/// A recording in which everything that comes from outside is hostile.
fn hostile() -> Recorded {
    let mut loud = hook(HOSTILE, 0, 5.0, HOSTILE);
    loud["stderr"] = json!(HOSTILE);
    loud["warnings"] = json!([HOSTILE]);
    loud["error"] = json!(HOSTILE);
    Recorded::new()
        .request(
            1_000,
            1,
            "BeforeTool",
            &json!({"tool_name": HOSTILE, "tool_input": {HOSTILE: HOSTILE}}),
        )
        .decided(9_000, 1, "BeforeTool", ("block", json!(HOSTILE)), &[loud])
        .request(10_000, 2, HOSTILE, &json!({"prompt": HOSTILE}))
}

#[test]
fn the_page_needs_nothing_else_and_holds_what_hooks_wrote_as_data() {
    let (_, finished) = traced(&hostile(), &["--format", "html"]);
    let page = finished.stdout;
    for reference in ["http:", "https:", "//cdn", " src=", " href=", "@import", "url("] {
        let outside_data = page.split("id=\"data\">").next().unwrap();
        assert!(!outside_data.contains(reference), "{reference}");
    }
    assert!(page.contains("default-src 'none'; script-src 'sha256-"), "{page}");
    assert_eq!(page.matches("</script>").count(), 2, "the data's and the script's own");
    assert!(!page.contains("<img"));
    assert!(page.ends_with("</html>\n"));
    let (_, data) = page.split_once("<script type=\"application/json\" id=\"data\">").unwrap();
    let (data, _) = data.split_once("</script>").unwrap();
    let data: Value = serde_json::from_str(data).unwrap();
    assert_eq!(data["requests"][0]["hooks"][0]["stdout"], HOSTILE);
    assert_eq!(data["requests"][0]["subject"], HOSTILE);
}

#[test]
fn the_page_keeps_only_the_beginning_of_long_texts() {
    let long = "é".repeat(40_000);
    let recording = Recorded::new().request(0, 1, "BeforeAgent", &json!({"prompt": long})).decided(
        9,
        1,
        "BeforeAgent",
        ("proceed", Value::Null),
        &[hook("h", 0, 1.0, &long)],
    );
    let (_, finished) = traced(&recording, &["--format", "html"]);
    let (_, data) = finished.stdout.split_once("id=\"data\">").unwrap();
    let data: Value = serde_json::from_str(data.split_once("</script>").unwrap().0).unwrap();
    let request = &data["requests"][0];
    assert_eq!(request["hooks"][0]["stdout"].as_str().unwrap().len(), 16 * 1024);
    assert_eq!(request["hooks"][0]["stdoutCut"], 80_000 - 16 * 1024);
    assert!(request["input"].as_str().unwrap().starts_with("{\"prompt\":\"é"));
    assert!(request["inputCut"].as_u64().unwrap() > 10_000);
    // As JSON, nothing is cut.
    let (_, lines) = traced(&recording, &["--json"]);
    assert_eq!(lines.lines()[0]["input"]["prompt"], long);
}

/// The first browser of the Chromium family that is there.
fn browser() -> Option<PathBuf> {
    let folders: Vec<PathBuf> =
        std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect();
    ["chromium", "chromium-browser", "google-chrome"]
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)))
        .find(|path| path.is_file())
}

/// The document that a page becomes in a browser, once its script has run.
fn document(browser: &Path, page: &Path, hash: &str, flags: &[&str]) -> String {
    let profile = tempfile::tempdir().unwrap();
    let output = Command::new("timeout")
        .arg("120")
        .arg(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--window-size=1400,1600", "--virtual-time-budget=10000", "--dump-dom"])
        .args(flags)
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("file://{}{hash}", page.display()))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{browser:?} failed: {said}");
    String::from_utf8(output.stdout).unwrap()
}

/// How often a text is in the document's body, where the data is not.
fn count(document: &str, text: &str) -> usize {
    let (before, after) = document.split_once("<script type=\"application/json\"").unwrap();
    before.matches(text).count()
        + after.split("</script>").skip(2).map(|it| it.matches(text).count()).sum::<usize>()
}

fn page_of(project: &Project, recording: &str) -> PathBuf {
    project.write("session.hookrec", recording);
    let arguments = ["trace", "session.hookrec", "--format", "html", "--output", "trace.html"];
    let finished = Hook::new(project, &arguments).run();
    assert_eq!(finished.status, 0, "{}", finished.stderr);
    project.path().join("trace.html")
}

/// Whether there is a browser; says loudly what to install where there is none. (The macros that
/// print are kept back while a test passes.)
fn browser_or_skip() -> Option<PathBuf> {
    let browser = browser();
    if browser.is_none() {
        let _ = writeln!(
            std::io::stderr(),
            "SKIPPED: the page of `hook trace` is not looked at in a browser; install chromium \
             (Debian: apt-get install chromium)"
        );
    }
    browser
}

#[test]
fn the_page_shows_every_request_and_hook_in_a_browser() {
    let Some(browser) = browser_or_skip() else { return };
    let project = Project::new();
    let page = page_of(&project, &session().text());
    let shown = document(&browser, &page, "", &[]);
    assert!(shown.contains("data-ready=\"true\""), "the script ended early: {shown}");
    // Six requests, five hooks, one gap.
    assert!(shown.contains("data-rows=\"12\""), "{shown}");
    for (class, times) in
        [("class=\"row request\"", 6), ("class=\"row hook\"", 5), ("class=\"row gap\"", 1)]
    {
        assert_eq!(count(&shown, class), times, "{class}");
    }
    for (outcome, times) in
        [("proceed", 4), ("block", 2), ("failed", 3), ("unfinished", 2), ("ask", 0), ("stop", 0)]
    {
        // Of each row, the sign in front of the word; and one in the legend.
        let legend = usize::from(times > 0);
        let signs = count(&shown, &format!("class=\"sign {outcome}\""));
        assert_eq!(signs, times + legend, "{outcome}");
    }
    assert!(shown.contains("<aside id=\"details\" aria-label=\"Details\" hidden=\"\">"));
    assert!(shown.contains("6 requests, 5 hooks"));

    let sampled = page_of(&project, &std::fs::read_to_string(sample()).unwrap());
    let shown = document(&browser, &sampled, "", &[]);
    assert!(shown.contains("data-rows=\"50\""), "{shown}");
    assert_eq!(
        (count(&shown, "class=\"row request\""), count(&shown, "class=\"row hook\"")),
        (24, 26)
    );
}

#[test]
fn a_click_shows_details_in_a_browser() {
    let Some(browser) = browser_or_skip() else { return };
    let project = Project::new();
    let page = page_of(&project, &session().text());
    // The address names what a click chose.
    let hook = document(&browser, &page, "#request=2&hook=0", &[]);
    assert!(hook.contains("<aside id=\"details\" aria-label=\"Details\">"), "{hook}");
    let (_, details) = hook.split_once("<aside id=\"details\"").unwrap();
    let (details, _) = details.split_once("</aside>").unwrap();
    for said in [
        "<h2>guard</h2>",
        "<h3>stdout</h3><pre>{\"decision\":\"deny\",\"reason\":\"no shell today\"}</pre>",
        "<dt>Took</dt><dd>40 ms</dd>",
        "\"tool_name\": \"shell\"",
        "BeforeTool shell",
    ] {
        assert!(details.contains(said), "{said}\nis not in\n{details}");
    }
    let request = document(&browser, &page, "#request=2", &[]);
    let (_, details) = request.split_once("<aside id=\"details\"").unwrap();
    let (details, _) = details.split_once("</aside>").unwrap();
    assert!(details.contains("<p class=\"said block\">no shell today</p>"), "{details}");
    assert_eq!(details.matches("class=\"link\"").count(), 2, "{details}");
    assert_eq!(count(&request, "aria-selected=\"true\""), 1);
}

/// What somebody does with the page, step by step, and what it shows then.
const VISIT: &str = r##"
(async () => {
  const said = [];
  const $ = (id) => document.getElementById(id);
  const drawn = async () => { for (let i = 0; i < 3; i += 1) await new Promise((done) => requestAnimationFrame(done)); };
  const rows = () => [...document.querySelectorAll(".row .what")].map((it) => it.firstChild.textContent).join(" ");
  const bar = () => { const it = document.querySelectorAll(".row.hook .bar")[0]; return it ? it.getBoundingClientRect().width : 0; };
  const key = (target, name) => target.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true }));
  const set = (id, value, event) => { $(id).value = value; $(id).dispatchEvent(new Event(event)); };
  const note = (name, value) => said.push(name + ": " + value);
  const details = () => $("details").hidden ? "none" : $("details").querySelector("h2").textContent;

  const row = document.querySelectorAll(".row")[2];
  row.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true, button: 0, clientX: 50 }));
  row.dispatchEvent(new PointerEvent("pointerup", { bubbles: true, button: 0, clientX: 50 }));
  await drawn();
  note("a click", details() + " " + location.hash);
  key($("rows"), "ArrowUp"); await drawn();
  note("up", details() + " " + location.hash);
  document.querySelector(".link:last-of-type").click(); await drawn();
  note("a hook's link", details());
  key(document, "Escape"); await drawn();
  note("escape", details() + " " + (location.hash || "no hash") + ", focus on " + document.activeElement.id);
  key($("rows"), "End"); key($("rows"), "Enter"); await drawn();
  note("end and enter", details());
  key(document, "Escape"); await drawn();

  const part = () => $("window").hidden ? "all" : parseFloat($("window").style.width).toFixed(1) + "%";
  key(document, "+"); await drawn();
  note("zoom by key", part());
  key(document, "0"); await drawn();
  note("all", part());
  const box = document.querySelector(".row.hook .bar").getBoundingClientRect();
  $("rows").dispatchEvent(new WheelEvent("wheel", { deltaY: -50, ctrlKey: true, clientX: box.left, bubbles: true, cancelable: true })); await drawn();
  note("zoom by wheel", part());
  $("zoom-in").click(); $("zoom-out").click(); await drawn();
  note("in and out by button", part());
  $("rows").focus(); key($("rows"), "Home"); key($("rows"), "ArrowDown"); key($("rows"), "ArrowDown"); key(document, "z"); await drawn();
  note("the row's bar", Math.round(bar() / $("axis").clientWidth * 100) + "% of the width");
  $("zoom-all").click(); await drawn();

  set("search", "NO shell", "input"); await new Promise((done) => setTimeout(done, 200)); await drawn();
  note("search", rows() + " (" + $("status").textContent + ")");
  set("search", "nowhere", "input"); await new Promise((done) => setTimeout(done, 200)); await drawn();
  note("nothing", $("empty").hidden ? "rows" : $("empty").firstChild.textContent.trim());
  $("clear").click(); await drawn();
  set("event", "=BeforeTool", "change"); await drawn();
  note("event", rows());
  set("event", "", "change"); set("hook", "=slow", "change"); await drawn();
  note("hook", rows());
  set("hook", "", "change");
  for (const it of $("outcomes").children) if (!it.textContent.includes("failed")) it.click();
  await drawn();
  note("failed", rows());
  document.body.dataset.said = said.join("; ");
})().catch((error) => { document.body.dataset.said = "failed: " + error.stack; });
"##;

#[test]
fn the_page_answers_mouse_and_keys_in_a_browser() {
    let Some(browser) = browser_or_skip() else { return };
    let project = Project::new();
    let page = std::fs::read_to_string(page_of(&project, &session().text())).unwrap();
    // The page's own policy would keep the visitor's script out.
    let (before, after) = page.split_once("<meta http-equiv=\"Content-Security-Policy\"").unwrap();
    let (_, after) = after.split_once('>').unwrap();
    // Without a screen, no frame is ever due.
    let frames = "<script>requestAnimationFrame = (draw) => setTimeout(draw, 10);</script><style>";
    let visitor = format!("<script>{VISIT}</script></body>");
    let visited = format!("{before}{after}").replacen("<style>", frames, 1);
    let visited = visited.replace("</body>", &visitor);
    let visited = project.write("visited.html", &visited);
    let shown = document(&browser, &visited, "", &[]);
    let (_, said) = shown
        .split_once("data-said=\"")
        .unwrap_or_else(|| panic!("the visit ended early: {shown}"));
    let said = said.split_once('"').unwrap().0.replace("; ", "\n");
    insta::assert_snapshot!(said, @r"
    a click: guard #request=2&amp;hook=0
    up: BeforeTool shell #request=2
    a hook's link: audit
    escape: none no hash, focus on rows
    end and enter: endless
    zoom by key: 50.0%
    all: all
    zoom by wheel: 60.7%
    in and out by button: 60.7%
    the row's bar: 83% of the width
    search: BeforeTool guard audit (1 of 6 requests, 2 of 5 hooks)
    nothing: Nothing matches.
    event: BeforeTool guard audit BeforeTool hasty
    hook: AfterTool slow
    failed: BeforeTool guard audit AfterTool slow not a request
    ");
    // And it does keep it out.
    let stranger = "<script>document.body.dataset.said = 'stranger'</script></body>";
    let strict = project.write("strict.html", &page.replace("</body>", stranger));
    assert!(!document(&browser, &strict, "", &[]).contains("data-said"));
}

#[test]
fn what_hooks_wrote_does_not_become_part_of_the_page_in_a_browser() {
    let Some(browser) = browser_or_skip() else { return };
    let project = Project::new();
    let page = page_of(&project, &hostile().text());
    for hash in ["#request=1&hook=0", "#request=1"] {
        let shown = document(&browser, &page, hash, &[]);
        assert!(shown.contains("data-ready=\"true\""), "the script ended early: {shown}");
        assert!(!shown.contains("<img"), "{hash}: {shown}");
        assert!(!shown.contains("<title>escaped"), "{hash}");
        assert!(count(&shown, "&lt;/script&gt;&lt;img id=escaped") > 0, "{hash}");
    }
}

#[test]
fn ten_thousand_hooks_are_rows_without_being_elements_in_a_browser() {
    let Some(browser) = browser_or_skip() else { return };
    let mut recording = Recorded::new();
    for request in 0..5_000 {
        let at = request * 1_000;
        let hooks = [hook("one", 0, 0.3, "{}"), hook("other", 2, 0.2, "")];
        recording = recording
            .request(at, request, "SessionEnd", &json!({"reason": "exit"}))
            .decided(at + 400, request, "SessionEnd", ("block", json!("no")), &hooks);
    }
    let project = Project::new();
    let page = page_of(&project, &recording.text());
    let shown = document(&browser, &page, "#request=4321&hook=1", &[]);
    assert!(shown.contains("data-rows=\"15000\""), "the script ended early");
    let drawn = count(&shown, "class=\"row ");
    assert!((10..200).contains(&drawn), "{drawn} rows are elements");
    // The row that the address names is among them, and chosen.
    assert!(shown.contains("id=\"row-12965\""), "{drawn} rows, and not that one");
    assert_eq!(count(&shown, "aria-selected=\"true\""), 1);
}

#[test]
fn the_sample_of_the_docs_is_traced_in_every_form() {
    let project = Project::new();
    let sample = sample();
    let sample = sample.to_str().unwrap();
    let text = Hook::new(&project, &["trace", sample]).run();
    assert_eq!((text.status, text.stderr.as_str()), (0, ""));
    assert!(text.stdout.contains("24 requests, 26 hooks, 1 failed"), "{}", text.stdout);
    assert!(text.stdout.lines().any(|line| line.contains("■ stop")), "{}", text.stdout);
    assert_eq!(Hook::new(&project, &["trace", sample, "--json"]).run().lines().len(), 24);
    for format in ["chrome", "html"] {
        let finished = Hook::new(&project, &["trace", sample, "--format", format]).run();
        assert_eq!((finished.status, finished.stderr.as_str()), (0, ""), "{format}");
    }
}

#[test]
fn what_is_no_recording_is_refused_with_its_line() {
    let project = Project::new();
    let header = Recorded::new().text();
    for (text, said) in [
        (
            String::new(),
            "line 1: this is no recording: the file is empty; `hook serve --record FILE` makes one",
        ),
        ("nonsense".to_owned(), "line 1: this is no recording: expected ident"),
        (
            "{\"type\":\"hook-execution-request\"}".to_owned(),
            "line 1: this is no recording: field `type`: expected \"hook-recording\", found hook-execution-request",
        ),
        (
            header.replace("\"version\":1", "\"version\":2"),
            "line 1: the recording has version 2 of the format, and this hook reads version 1",
        ),
        (
            format!("{header}nonsense\n{{\"at\":1,\"missed\":1}}\n"),
            "line 2: expected one JSON object: expected ident",
        ),
        (
            format!("{header}\n{{\"at\":-1,\"request\":1,\"message\":{{}}}}\n"),
            "line 3: field `at`: expected a whole number, found -1",
        ),
        (
            format!("{header}{{\"request\":1,\"message\":{{}}}}\n"),
            "line 2: field `at`: expected a whole number, found nothing",
        ),
        (
            format!("{header}{{\"at\":1,\"message\":{{}}}}\n"),
            "line 2: field `request`: expected a whole number, found nothing",
        ),
        (
            format!("{header}{{\"at\":1,\"request\":1,\"message\":7}}\n"),
            "line 2: field `message`: expected an object, found a number",
        ),
    ] {
        project.write("broken.hookrec", &text);
        for command in ["trace", "replay"] {
            let finished = Hook::new(&project, &[command, "broken.hookrec"]).run();
            assert_eq!((finished.status, finished.stdout.as_str()), (1, ""), "{text}");
            let expected = format!("error: broken.hookrec: {said}");
            assert!(finished.stderr.starts_with(&expected), "{expected}\n{}", finished.stderr);
        }
    }
    for (arguments, status, said) in [
        (vec!["trace", "no-such-file"], 1, "failed to read the recording no-such-file"),
        (vec!["trace", "broken.hookrec", "--format", "svg"], 64, "text, chrome, html"),
        (vec!["trace", "broken.hookrec", "--json", "--format", "html"], 64, "cannot be used"),
        (vec!["trace", "broken.hookrec", "--json", "--per-request"], 64, "--per-request"),
        (vec!["trace", "broken.hookrec", "--format", "html", "--per-request"], 64, "--per-request"),
    ] {
        let finished = Hook::new(&project, &arguments).run();
        assert_eq!(finished.status, status, "{arguments:?}: {}", finished.stderr);
        assert!(finished.stderr.contains(said), "{said}: {}", finished.stderr);
    }
    project.write("session.hookrec", &header);
    let unwritable = ["trace", "session.hookrec", "--output", "no/such/folder/trace.txt"];
    let finished = Hook::new(&project, &unwritable).run();
    assert_eq!(finished.status, 1);
    assert!(
        finished
            .stderr
            .starts_with("error: failed to write the trace to no/such/folder/trace.txt: "),
        "{}",
        finished.stderr
    );
}

#[test]
fn a_recording_whose_end_is_cut_off_is_read_up_to_there() {
    let whole = session().text();
    let (_, complete) = traced(&session(), &["--json"]);
    let project = Project::new();
    let last = whole.trim_end().rfind('\n').unwrap() + 1;
    project.write("cut.hookrec", &whole[..last + 10]);
    let finished = Hook::new(&project, &["trace", "cut.hookrec", "--json"]).run();
    assert_eq!((finished.status, &finished.stdout), (0, &complete.stdout));
    assert!(
        finished.stderr.contains("warning: cut.hookrec: the last line is cut off and left out"),
        "{}",
        finished.stderr
    );
    // A last line that only lacks its end is a line.
    project.write("whole.hookrec", whole.trim_end());
    let finished = Hook::new(&project, &["trace", "whole.hookrec", "--json"]).run();
    assert_eq!(finished.stdout, complete.stdout);
    assert!(!finished.stderr.contains("cut off"), "{}", finished.stderr);
}

#[test]
fn times_and_values_that_nobody_measured_are_traced_too() {
    let recording = Recorded::new()
        .line(r#"{"at":18446744073709551615,"request":18446744073709551615,"message":{"type":"hook-started","hook":{}}}"#)
        .line(r#"{"at":5,"request":0,"message":{"type":"hook-finished","hook":{"name":7,"duration":1e308,"exitCode":1e400}}}"#)
        .line(r#"{"at":4,"request":0,"message":{"type":"hook-execution-response","hooks":[{"duration":-1},7,{"duration":"x","exitCode":-5}],"processed":[]}}"#)
        .line(r#"{"at":3,"request":0,"message":{"type":"hook-execution-response","hooks":7}}"#)
        .line(r#"{"at":18446744073709551615,"missed":18446744073709551615}"#)
        .line(r#"{"at":1,"missed":18446744073709551615}"#);
    for arguments in [
        &["--format=text"],
        &["--per-request"],
        &["--json"],
        &["--format=chrome"],
        &["--format=html"],
    ] {
        let (_, finished) = traced(&recording, arguments);
        assert_eq!(finished.status, 0, "{arguments:?}: {}", finished.stderr);
    }
}

/// The lines of a page's shell examples that begin with `hook`.
fn examples(page: &str) -> Vec<String> {
    let text = std::fs::read_to_string(workspace().join(page)).unwrap();
    let blocks = text.split("```sh\n").skip(1).filter_map(|block| block.split("```").next());
    blocks.flat_map(str::lines).map(str::to_owned).collect()
}

#[test]
fn what_the_docs_say_can_be_pasted() {
    let project = Project::new();
    let folder = "docs/examples/agent-session";
    let copied = Command::new("sh")
        .args(["-c", "mkdir -p \"$2/docs/examples\" && cp -R \"$1\" \"$2/docs/examples\"", "sh"])
        .args([workspace().join(folder), project.path()])
        .status();
    assert!(copied.unwrap().success());
    for (page, count) in [("docs/cli/trace.md", 5), ("docs/cli/replay.md", 1)] {
        let lines = examples(page);
        assert_eq!(lines.len(), count, "{page}");
        for line in lines {
            let arguments: Vec<&str> = line.strip_prefix("hook ").unwrap().split(' ').collect();
            let finished = Hook::new(&project, &arguments).run();
            // What the hooks say of the repository they are in is another.
            let expected = if arguments[0] == "replay" { 0..=1 } else { 0..=0 };
            assert!(expected.contains(&finished.status), "{line}: {finished:?}");
            assert_eq!(finished.stderr, "", "{line}");
        }
    }
    assert!(project.read("trace.html").ends_with("</html>\n"));
    assert!(project.read("trace.json").starts_with("{\"displayTimeUnit\""));
}
