//! Filters against inputs, and in good time.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;
use crate::matcher::{HostDirectories, MatchInput};
use hook_json::{JsonObject, RawJson, RawObject};
use hook_protocol::event::input::{
    BeforeToolInput, HostContext, NotificationInput, RequestInput, ToolName,
};

fn filter(globs: &[&str], command: Option<&str>) -> Filter {
    let globs: Vec<String> = globs.iter().map(|glob| (*glob).to_owned()).collect();
    Filter {
        kinds: Vec::new(),
        callers: Vec::new(),
        paths: (!globs.is_empty()).then(|| PathGlobs::compile(&globs).unwrap()),
        command: command.map(|pattern| CommandPattern::compile(pattern).unwrap()),
    }
}

fn ask_in(filter: &Filter, tool_input: &str, cwd: &str) -> FilterOutcome {
    let input = RequestInput::from(BeforeToolInput::new(
        ToolName::new("any_tool").unwrap(),
        RawObject::parse(tool_input).unwrap(),
    ));
    let host = HostContext { session_id: "s".into(), cwd: cwd.into(), transcript_path: "".into() };
    let input = MatchInput::of(&input, &host);
    let surroundings = HostDirectories::new("/project".as_ref(), Some("/home/me".as_ref()));
    filter.check(&Facts::of(&input, &surroundings), None)
}

fn ask(filter: &Filter, tool_input: &str) -> FilterOutcome {
    ask_in(filter, tool_input, "/project")
}

fn gave_up(outcome: &FilterOutcome, why: &str) -> bool {
    matches!(outcome, FilterOutcome::GaveUp(said) if said.contains(why))
}

#[test]
fn all_parts_must_hold_and_the_first_that_does_not_is_named() {
    let both = filter(&["*.env"], Some(r"rm\s+-rf"));
    for (input, expected) in [
        (r#"{"path":".env","command":"rm -rf ."}"#, FilterOutcome::Yes),
        (r#"{"path":"a","command":"rm -rf ."}"#, FilterOutcome::No(Unmatched::Path)),
        (r#"{"path":".env","command":"ls"}"#, FilterOutcome::No(Unmatched::Command)),
        (r#"{"path":".env"}"#, FilterOutcome::No(Unmatched::Command)),
        (r#"{"command":"rm -rf ."}"#, FilterOutcome::No(Unmatched::Path)),
        ("{}", FilterOutcome::No(Unmatched::Path)),
    ] {
        assert_eq!(ask(&both, input), expected, "{input}");
    }
}

#[test]
fn one_glob_must_match_one_path_and_none_may_exclude_it() {
    for (globs, input, expected) in [
        (&["*.env", "*.key"][..], r#"{"paths":["a","b.key"]}"#, true),
        (&["*.env", "*.key"], r#"{"paths":["a","b"]}"#, false),
        (&["src/**", "!src/gen/**"], r#"{"path":"src/a"}"#, true),
        (&["src/**", "!src/gen/**"], r#"{"path":"src/gen/a"}"#, false),
        (&["src/**", "!src/gen/**"], r#"{"path":"src/gen/../a"}"#, true),
        (&["!src/**", "!docs/**"], r#"{"path":"docs/a"}"#, false),
        (&["!src/**", "!docs/**"], r#"{"paths":["docs/a","a"]}"#, true),
        (&["!src/**"], r#"{"content":"a"}"#, false),
    ] {
        let matched = ask(&filter(globs, None), input) == FilterOutcome::Yes;
        assert_eq!(matched, expected, "{globs:?} {input}");
    }
}

#[test]
fn what_cannot_be_compared_counts_as_a_match_and_is_said() {
    let paths = filter(&["src/**"], None);
    let command = filter(&[], Some("rm"));
    assert!(gave_up(&ask(&paths, r#"{"path":7}"#), "`path` of the input is not a string"));
    assert!(gave_up(&ask(&paths, r#"{"path":"~you/x"}"#), "home directory"));
    assert!(gave_up(&ask(&paths, "{\"path\":\"a\\u0000b\"}"), "NUL"));
    assert!(gave_up(&ask(&command, r#"{"command":{}}"#), "`command` of the input is not a string"));
    assert_eq!(
        ask(&filter(&["*.env"], None), r#"{"path":"~you/x"}"#),
        FilterOutcome::No(Unmatched::Path)
    );
    let many = format!(r#"{{"paths":[{}]}}"#, vec![r#""a""#; 100_000].join(","));
    assert!(gave_up(&ask(&paths, &many), "more paths"));
    let many = format!(r#"{{"list":[{}]}}"#, vec![r#"{"cmd":"a"}"#; 100_000].join(","));
    assert!(gave_up(&ask(&command, &many), "counts as a match"));
    let long = format!(r#"{{"command":"{}"}}"#, "x".repeat(MAX_COMMANDS + 1));
    assert!(gave_up(&ask(&command, &long), "longer than"));
    let hard = filter(&[], Some("^(?:(?!b)a|a)*$"));
    let input = format!(r#"{{"command":"{}b"}}"#, "a".repeat(60));
    assert!(gave_up(&ask(&hard, &input), "too many steps"));
}

#[test]
fn a_home_directory_is_what_the_tilde_may_stand_for() {
    let secrets = filter(&["/home/me/.ssh/**"], None);
    assert_eq!(ask(&secrets, r#"{"path":"~/.ssh/id"}"#), FilterOutcome::Yes);
    let outside = filter(&["!./**"], None);
    assert_eq!(ask(&outside, r#"{"path":"~/.ssh/id"}"#), FilterOutcome::Yes);
    // A file may have that name, too.
    assert_eq!(ask(&filter(&["\\~/a"], None), r#"{"path":"~/a"}"#), FilterOutcome::Yes);
}

#[test]
fn a_working_directory_that_is_not_absolute_is_one_of_the_project() {
    let sources = filter(&["src/**"], None);
    let not = FilterOutcome::No(Unmatched::Path);
    for (cwd, path, expected) in [
        ("", "src/a", FilterOutcome::Yes),
        ("", "/project/src/a", FilterOutcome::Yes),
        ("sub", "/project/sub/src/a", FilterOutcome::Yes),
        // Also where the agent works in a folder of the project.
        ("sub", "/project/src/a", FilterOutcome::Yes),
        ("./sub/..", "/project/src/a", FilterOutcome::Yes),
        ("/other/./x/..", "/other/src/a", FilterOutcome::Yes),
        ("/other", "/project/src/a", FilterOutcome::Yes),
        ("/other", "/project/x/src/a", not.clone()),
    ] {
        let input = format!(r#"{{"path":"{path}"}}"#);
        assert_eq!(ask_in(&sources, &input, cwd), expected, "{path} from {cwd:?}");
    }
}

#[test]
fn an_event_without_tool_input_is_looked_at_as_a_whole() {
    let fields = |json: &str| RawJson::parse(json).unwrap().to_object().unwrap();
    let notification =
        NotificationInput::try_from(fields(r#"{"message":"m","details":{"file_path":"a.env"}}"#));
    let mut input = RequestInput::from(notification.unwrap());
    let host = HostContext { session_id: "s".into(), cwd: "/p".into(), transcript_path: "".into() };
    let surroundings = HostDirectories::new("/p".as_ref(), None);
    let outcome = |input: &RequestInput, glob: &str| {
        let input = MatchInput::of(input, &host);
        filter(&[glob], None).check(&Facts::of(&input, &surroundings), None) == FilterOutcome::Yes
    };
    assert!(outcome(&input, "*.env"));
    assert!(!outcome(&input, "*.key"));
    let extra: JsonObject = fields(r#"{"path":"b.key"}"#);
    input.extra = extra;
    assert!(outcome(&input, "*.key"));
}

#[test]
fn patterns_of_commands_are_in_the_flavour_of_javascript() {
    for (pattern, command, expected) in [
        (r"\brm\b", "ls; rm x", true),
        (r"\brm\b", "ls; érm x", true),
        (r"\brm\b", "alarm", false),
        (r"\Brm", "alarm", true),
        (r"^\d+$", "١٢", false),
        (r"^git (?!push)", "git pull", true),
        (r"^git (?!push)", "git push", false),
        ("a.b", "a\nb", false),
        ("", "", true),
    ] {
        let compiled = CommandPattern::compile(pattern).unwrap();
        assert_eq!(compiled.is_match(command), Some(expected), "{pattern} {command}");
    }
    for source in [r"\brm\s+-rf\b", "curl .*[|] *sh", r"a\Bb"] {
        let compiled = CommandPattern::compile(source).unwrap();
        assert!(matches!(compiled.engine, Engine::Linear(_)), "{source}");
    }
    assert!(CommandPattern::compile("[").is_err());
}

#[test]
fn an_input_of_a_megabyte_is_asked_in_good_time() {
    let length = 1 << 20;
    let deep = format!("{}a", "../a/".repeat(length / 5));
    let many = |item: &str| vec![item; length / (item.len() + 1)].join(",");
    let globs = filter(&["**/a*b*c*d/**/x", "{a,b}*/**/c[!d]/?", "!/etc/**"], None);
    let commands = filter(&[], Some(r"(a|b)*c.*d\b"));
    let hard = filter(&[], Some("(?=.*x)(?!.*b).*(.)(?<=y)z"));
    for input in [
        format!(r#"{{"path":"{deep}"}}"#),
        format!(r#"{{"list":[{}]}}"#, many(r#"{"path":"../aabbccdd/x"}"#)),
        format!(r#"{{"paths":["{}"]}}"#, "../a/".repeat(200_000)),
        format!(r#"{{"command":"{}"}}"#, "ab".repeat(120_000)),
        format!(r#"{{"command":"{}"}}"#, "ab".repeat(4_000)),
        format!(r#"{{"list":[{}]}}"#, many(r#"{"cmd":"ab"}"#)),
        format!(r#"{{"content":"{}"}}"#, "ab".repeat(length / 2)),
    ] {
        for filter in [&globs, &commands, &hard] {
            let begun = Instant::now();
            ask(filter, &input);
            let took = begun.elapsed();
            assert!(took < Duration::from_secs(10), "{took:?}: {}…", &input[..40]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_linear_pattern_answers_as_one_that_backtracks(
        pattern in "(a|b|\\\\b|\\\\B|\\.|\\*|\\(|\\)|\\||\\^|\\$|\\\\w|\\[ab\\]|é){0,8}", text in "[ab é_\n]{0,12}",
    ) {
        let (Ok(compiled), Ok(translated)) =
            (CommandPattern::compile(&pattern), javascript::to_rust_pattern(&pattern))
        else {
            return Ok(());
        };
        let regex = Regex::new(&translated.pattern).unwrap();
        prop_assert_eq!(compiled.is_match(&text), regex.is_match(&text).ok(), "{}", pattern);
    }
}
