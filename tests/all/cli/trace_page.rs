//! The page of `hook trace --format html`: as a file, and as a browser has it.

use std::path::{Path, PathBuf};
use std::process::Command;

use hook_tests::{Hook, Project};
use serde_json::{Value, json};

use super::recorded::{Recorded, hook, session};
use super::trace::{sample, traced};

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

/// Whether there is a browser; says loudly what to install where there is none.
fn browser_or_skip() -> Option<PathBuf> {
    let browser = browser();
    if browser.is_none() {
        hook_tests::skipped(
            "the page of `hook trace`: it is not looked at in a browser; install chromium (Debian: apt-get \
             install chromium)",
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
