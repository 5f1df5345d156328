//! Answers that node gives, and texts that must not panic.

use super::*;
use fancy_regex::Regex;
use proptest::prelude::*;

fn answers(source: &str, subject: &str) -> bool {
    let translated = to_rust_pattern(source).unwrap_or_else(|error| panic!("{source:?}: {error}"));
    let pattern = translated.pattern;
    let regex = Regex::new(&pattern).unwrap_or_else(|error| panic!("{pattern:?}: {error}"));
    regex.is_match(subject).unwrap_or_else(|error| panic!("{pattern:?}: {error}"))
}

/// The expected answers are those of V8 (node 20).
#[test]
fn answers_are_those_of_javascript() {
    let cases: &[(&str, &[&str], &[&str])] = &[
        (r"Edit|Write", &["MultiEdit"], &["Read"]),
        (r"^(?:Edit|Write)$", &["Edit"], &["MultiEdit"]),
        (r"^(?!mcp__)", &["Edit"], &["mcp__git"]),
        (r"mcp__(\w+)__.*", &["mcp__git__log"], &["mcp__git"]),
        (r"edit", &[], &["Edit"]),
        (r"[a-z]+_?[a-z]+", &["a_b"], &["a"]),
        (r"^\w+-?\w+$", &["ab", "a-b"], &["a"]),
        (r"^(?:a+)b?(?:a+)$", &["aa"], &["a"]),
        (r"^a+(?:b?)a+$", &["aa"], &["a"]),
        (r"^a+(?:(?:b*))(?:a+)$", &["aba"], &["a"]),
        (r"^[^]$", &["\n"], &["ab"]),
        (r"[]", &[], &["a", ""]),
        (r"a[]|b", &["b"], &["a"]),
        (r"^[^]*$", &[""], &[]),
        (r"^.$", &["a", "\u{85}"], &["\n", "\r", "\u{2028}", "\u{2029}"]),
        (r"\d", &["7"], &["٣"]),
        (r"\D", &["٣"], &["7"]),
        (r"[\d]", &[], &["٣"]),
        (r"[^\d]", &["٣"], &["7"]),
        (r"\w", &["_"], &["é"]),
        (r"\W", &["é"], &["a"]),
        (r"[\W]", &["é"], &["a"]),
        (r"[^\W]", &["a"], &["é"]),
        (r"^[^\W_]+$", &["a1"], &["a_"]),
        (
            r"^\s+$",
            &[
                "\t\n\u{b}\u{c}\r \u{a0}\u{1680}\u{2000}\u{200a}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}\u{feff}",
            ],
            &["\u{85}", "\u{200b}", "\u{1c}"],
        ),
        (r"^[\s]$", &["\u{feff}"], &["\u{85}"]),
        (r"\S", &["\u{85}"], &["\u{feff}"]),
        (r"[^\S]", &[" "], &["a"]),
        (r"[\s\S]", &["a"], &[""]),
        (r"\bEdit\b", &["Edit", "mcp.Edit"], &["MultiEdit"]),
        (r"\bé", &["aé"], &["é"]),
        (r"a\b", &["aé"], &["ab"]),
        (r"\B", &["", "ab"], &["a"]),
        (r"a\Bé", &[], &["aé"]),
        (r"é\B", &["é"], &[]),
        (r"^[\b]$", &["\u{8}"], &["b"]),
        (r"^[\B]$", &["B"], &[]),
        (r"^\x41\u0042$", &["AB"], &[]),
        (r"^\x4$", &["x4"], &[]),
        (r"^\xg$", &["xg"], &[]),
        (r"^\u004$", &["u004"], &[]),
        (r"^\u{2}$", &["uu"], &["\u{2}"]),
        (r"^[\u{61}]+$", &["u{16}"], &["a"]),
        (r"^😀$", &["😀"], &[]),
        (r"[\u0080-\uffff]", &["é"], &["a"]),
        (r"[^\x00-\x7f]", &["😀"], &["a"]),
        (r"[\ud800-\udfff]", &["😀"], &["é"]),
        (r"^\f\n\r\t\v$", &["\u{c}\n\r\t\u{b}"], &[]),
        (r"^\a\e\g\h\i\j\l\m\o\p\q\y\z$", &["aeghijlmopqyz"], &[]),
        (r"^\A\C\E\F\G\H\I\J\K\L\M\N\O\P\Q\R\T\U\V\X\Y\Z$", &["ACEFGHIJKLMNOPQRTUVXYZ"], &[]),
        (
            "^\\-\\/\\ \\<\\>\\#\\!\\\"\\%\\&\\'\\,\\:\\;\\=\\@\\_\\`\\~\\é$",
            &["-/ <>#!\"%&',:;=@_`~é"],
            &[],
        ),
        ("^\\\n$", &["\n"], &[]),
        (r"^[\a\e\h\A\z]+$", &["aehAz"], &["\u{7}"]),
        (r"^\p{L}$", &["p{L}"], &["a"]),
        (r"^[\p{L}]+$", &["{L}p"], &["a"]),
        (r"^\P$", &["P"], &[]),
        (r"\pN", &["pN"], &[]),
        (r"(?<n>a)|b", &["b"], &[]),
        (r"^(?<año>a)(?<$_1>b)$", &["ab"], &["a"]),
        (r"^(?<tool>read|write)_file$", &["read_file"], &["file"]),
        (r"^((a)|b)+$", &["ab"], &[]),
        (r"a(?=b)", &["ab"], &["ac"]),
        (r"a(?!b)", &["ac"], &["ab"]),
        (r"(?<=a)b", &["ab"], &["cb"]),
        (r"(?<!a)b", &["cb"], &["ab"]),
        (r"(?<=a+)b", &["aab"], &["b"]),
        (r"(?<=^\w*)-", &["ab-"], &[".-"]),
        (r"(?<!\bfoo)x", &["afoox"], &["foox"]),
        (r"(?<=foo|ba)x", &["bax"], &["ax"]),
        (r"^(?=a)*b$", &["b"], &[]),
        (r"^(?=a)+ab$", &["ab"], &["b"]),
        (r"^(?!a){0}a$", &["a"], &[]),
        (r"^(?=a){2,3}a$", &["a"], &[]),
        (r"^(?:(?=a))*b$", &["b"], &[]),
        (r"^(?:)*a(?:)+$", &["a"], &[]),
        (r"^(?:(?:))+?$", &[""], &[]),
        (r"^()*$", &[""], &[]),
        (r"(?:^)*a", &["ba"], &[]),
        (r"^a{$", &["a{"], &[]),
        (r"^a{,2}$", &["a{,2}"], &["aa"]),
        (r"^a{1$", &["a{1"], &[]),
        (r"^a{1,2$", &["a{1,2"], &[]),
        (r"^a{ 1}$", &["a{ 1}"], &[]),
        (r"^}]$", &["}]"], &[]),
        (r"^{a}$", &["{a}"], &[]),
        (r"^a{2}$", &["aa"], &["a"]),
        (r"^a{2,}$", &["aaa"], &["a"]),
        (r"^a{1,2}?$", &["aa"], &["aaa"]),
        (r"^a{0}$", &[""], &[]),
        (r"^a{0,99999999999999999999}$", &["aa"], &[]),
        (r"^x{1}{$", &["x{"], &[]),
        (r"^a*?$", &["aa"], &[]),
        (r"^a??b+?$", &["abb"], &[]),
        (r"^[a&&b]+$", &["&&ab"], &[]),
        (r"^[a+--b]+$", &["+,-ab"], &[]),
        (r"^[+--]+$", &["+,-"], &[]),
        (r"^[~~]$", &["~"], &[]),
        (r"^[[a]$", &["[", "a"], &[]),
        (r"^[[a]]$", &["a]"], &["a"]),
        (r"^[[:alpha:]]$", &["a]"], &["b"]),
        (r"^[^[a]$", &["b"], &["["]),
        (r"^[a-]+$", &["a-"], &[]),
        (r"^[-a]+$", &["-a"], &[]),
        (r"^[\w-z]+$", &["a-z"], &[]),
        (r"^[a-\d]+$", &["a-1"], &["b"]),
        (r"^[\d-a]+$", &["a-1"], &[]),
        (r"^[\]\\^]+$", &["]\\^"], &[]),
        (r"^[^^]$", &["a"], &["^"]),
        (r"^[.*+?(){}|$]+$", &[".*+?(){}|$"], &[]),
        (r"^[ #]+$", &[" #"], &[]),
        (r"^[a-\x63\u0064]+$", &["abcd"], &[]),
        (r"^[\-\/]+$", &["-/"], &[]),
        (r"^a b#c$", &["a b#c"], &[]),
        ("^a\nb$", &["a\nb"], &[]),
        (r"a$", &["a"], &["a\n"]),
        (r"^a", &[], &["b\na"]),
        (r"$a", &[], &[""]),
        (r"^<a>!=:,$", &["<a>!=:,"], &[]),
        (r"^(?:a|)$", &[""], &["b"]),
        (r"|", &["x"], &[]),
        (r"", &["x"], &[]),
        (r"^(?:a|b|)+c$", &["abc"], &[]),
    ];
    for (source, matched, unmatched) in cases {
        for subject in *matched {
            assert!(answers(source, subject), "{source:?} matches {subject:?}");
        }
        for subject in *unmatched {
            assert!(!answers(source, subject), "{source:?} does not match {subject:?}");
        }
    }
}

#[test]
fn what_javascript_refuses_is_refused() {
    for source in [
        r"(",
        r"a(",
        r"(?:",
        r"(a",
        r")",
        r"a)",
        r"())",
        r"[",
        r"[a",
        r"[^",
        r"[]a]b[",
        r"[\]",
        r"*",
        r"+",
        r"?",
        r"a**",
        r"a+*",
        r"a++",
        r"a?+",
        r"a*+",
        r"a???",
        r"a{1}{2}",
        r"a{1}*",
        r"{1}",
        r"{1,}",
        r"{1,2}",
        r"a|*",
        r"(*)",
        r"(?:+)",
        r"^*",
        r"^{1}",
        r"$+",
        r"\b*",
        r"\B{2}",
        r"(?<=a)*",
        r"(?<!a)+",
        r"(?<=a){1}",
        r"a{2,1}",
        r"a{3,1}?",
        r"(?)",
        r"(?a)",
        r"(?i)a",
        r"(?i:a)",
        r"(?-i:a)",
        r"(?m)",
        r"(?#c)",
        r"(?>a)",
        r"(?P<n>a)",
        r"(?P=n)",
        r"(?P>n)",
        r"(?|a)",
        r"(?~a)",
        r"(?R)",
        r"(?1)",
        r"(?(1)a)",
        r"(?'n'a)",
        r"(?<",
        r"(?<>a)",
        r"(?<1>a)",
        r"(?<n",
        r"(?<n a)",
        r"(?<n-m>a)",
        r"[b-a]",
        r"[a--b]",
        r"x[z-y]",
        r"[a-\x60]",
        r"[😀-😎]",
        r"\",
        r"a\",
        r"[\",
        r"(\",
        r"(?",
        r"a{1}?+",
    ] {
        let refused = to_rust_pattern(source).map_err(|error| error.construct);
        let construct = refused.expect_err(source);
        assert!(!construct.starts_with("unsupported"), "{source:?}: {construct}");
    }
}

#[test]
fn what_is_not_supported_is_refused() {
    for (source, position) in [
        (r"^(a)\1$", 4),
        (r"a\0", 1),
        (r"\012", 0),
        (r"^[\8]$", 1),
        (r"^(?<n>a)\k<n>$", 8),
        (r"\k", 0),
        (r"[\k]", 0),
        (r"\cA", 0),
        (r"[\c_]", 0),
        (r"^\ud83d\ude00$", 1),
        (r"(?<=a+\b)c", 8),
        (r"(?<!b|(?=a)a*)c", 13),
        (r"\ud83d", 0),
        (r"a\ude00", 1),
        (r"\ud83d[\ude00-\ude4f]", 0),
        (r"[\ud800-\udbff]", 0),
        (r"a{10001}", 1),
        (r"a{99999999999999999999}", 1),
        (r"(?<=(?:a{100}){1000}b?)c", 14),
    ] {
        let refused = to_rust_pattern(source).expect_err(source);
        assert!(refused.construct.starts_with("unsupported"), "{source:?}: {refused}");
        assert_eq!(refused.position, position, "{source:?}: {refused}");
    }
}

#[test]
fn errors_name_position_and_construct() {
    let message = |source: &str| to_rust_pattern(source).expect_err(source).to_string();
    assert_eq!(message("é(a"), "unclosed group at position 4");
    assert_eq!(message("a|*"), "nothing to repeat at position 2");
    assert_eq!(message("ab[z-a]"), "class range out of order at position 2");
}

#[test]
fn nesting_is_limited_and_what_is_within_the_limit_compiles() {
    for (open, close, levels) in
        [("(", ")", 60), ("(?:", ")+", 60), ("(?=(", "))?", 20), ("(?<!", "\\b)", 30)]
    {
        let nested = |levels: usize| open.repeat(levels) + "a" + &close.repeat(levels);
        answers(&nested(levels), "a");
        for levels in [levels + 1, 100_000] {
            let refused = to_rust_pattern(&nested(levels)).expect_err(open);
            assert_eq!(refused.construct, "unsupported deeply nested group");
        }
    }
}

const TOKENS: &[&str] = &[
    "a", "b", "(", ")", "(?:", "(?=", "(?!", "(?<=", "(?<!", "(?<n>", "(?", "|", "*", "+", "?",
    "{2}", "{1,}", "{0,3}", "{", "}", "[", "]", "[^", "-", "&&", "^", "$", ".", "\\d", "\\W",
    "\\b", "\\1", "\\2", "\\k<n>", "\\k", "\\c", "\\x4", "\\u00e9", "\\ud83d", "\\ude00", "\\0",
    "\\", "#", " ", "\n", "é", "😀",
];

proptest! {
    #[test]
    fn no_text_panics(source in any::<String>()) {
        _ = to_rust_pattern(&source);
    }

    #[test]
    fn every_translation_compiles(tokens in prop::collection::vec(prop::sample::select(TOKENS), 0..16)) {
        if let Ok(Translation { pattern, .. }) = to_rust_pattern(&tokens.concat()) {
            prop_assert!(Regex::new(&pattern).is_ok(), "{pattern:?}");
        }
    }

    #[test]
    fn literal_text_matches_itself(text in any::<String>()) {
        let special = |letter: char| r"\^$.*+?()[]{}|/".contains(letter);
        let escape = |letter| if special(letter) { format!("\\{letter}") } else { letter.into() };
        let source: String = text.chars().map(escape).collect();
        let matched = answers(&format!("^{source}$"), &text);
        prop_assert!(matched);
    }
}

#[test]
fn a_name_stands_twice_only_where_one_of_the_groups_takes_part() {
    for source in ["(?<n>a)|(?<n>b)", "(?:(?<n>a)|(?<n>b))c", "(?:x|(?<n>a))(?<m>b)|(?<n>c)"] {
        assert!(to_rust_pattern(source).is_ok(), "{source}");
    }
    for source in [
        "(?<n>edit)(?<n>x)",
        "(?<n>a(?<n>b))",
        "(?:(?<n>a)|b)(?<n>c)",
        "(?<n>a)(?:b|(?<n>c))",
        "(?=(?<n>a))(?<n>b)",
        "x|(?<n>a)(?<n>b)",
    ] {
        let error = to_rust_pattern(source).unwrap_err().to_string();
        assert!(error.starts_with("duplicate group name"), "{source}: {error}");
    }
}
