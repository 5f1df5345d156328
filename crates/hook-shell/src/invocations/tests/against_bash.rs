//! Compares what is read of generated texts with what a real bash starts for them.

use std::os::unix::fs::PermissionsExt;

use super::*;

/// Texts of bash, in which `p1` to `p3` are programs and `{}` is another text.
const TEMPLATES: [&str; 41] = [
    "p1 a 'b c'",
    "p1 $(p2 x)",
    "x=v; p1 $x",
    "p1 \"$(p2 'q')\"",
    "if p1; then {}; fi",
    "for i in a b; do p1 $i; done",
    "p1 <<E\n$(p2 z)\nE\n",
    "sh -c 'p1 a'",
    "env A=1 p1 a",
    "p1 | p2",
    "f() { p1 \"$1\"; }; f x",
    "p1 {a,b}c",
    "case a in a) {};; esac",
    "eval p1 a",
    "echo `p1 k`",
    "! p1",
    "({}; p2)",
    "{ {}; }",
    "p1 && {} || p3",
    "while p1; do {}; break; done",
    "$'p\\x31' a",
    "p\\1 a",
    "'p1' b",
    "x=p1; $x a",
    "echo 'a b' | xargs p1",
    "p1 > /dev/null",
    "[[ -n $(p1) ]]",
    "echo $((1+$(p2;echo 1)))",
    "nice p1 n",
    "timeout 5 p1 t",
    "command p1 c",
    "p1 # p2",
    "p1 \\\n a",
    "${x_unset:-p1} a",
    "bash <<'E'\np1 q\nE\n",
    "echo p1 s | sh",
    "{}\n{}",
    "{}; {}",
    "x=$({}); p1",
    "set -- u v; p1 \"$1\" \"$@\"",
    "p1 \"a\"'b'\\ c$''",
];

fn text() -> impl Strategy<Value = String> {
    let leaf =
        prop::sample::select(&TEMPLATES[..]).prop_filter("no slot", |text| !text.contains("{}"));
    leaf.prop_map(str::to_owned).prop_recursive(3, 12, 2, |inner| {
        (prop::sample::select(&TEMPLATES[..]), inner.clone(), inner).prop_map(
            |(template, one, two)| template.replacen("{}", &one, 1).replacen("{}", &two, 1),
        )
    })
}

/// Returns `true` if a read word may be a real one.
fn may_be(read: &str, real: &str) -> bool {
    match read.split_once(UNKNOWN) {
        None => read == real,
        Some((before, rest)) => {
            real.starts_with(before) && rest.split(UNKNOWN).all(|part| real.contains(part))
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever bash starts for a text is among what was read, or the text is opaque.
    #[test]
    fn what_bash_starts_was_read(text in text()) {
        let folder = std::env::temp_dir().join(format!("hook-shell-{}-{:?}", std::process::id(), std::thread::current().id()));
        std::fs::create_dir_all(&folder).unwrap();
        let log = folder.join("log");
        std::fs::write(&log, "").unwrap();
        for name in ["p1", "p2", "p3"] {
            let stub = folder.join(name);
            std::fs::write(&stub, "#!/bin/sh\nIFS=$(printf '\\037')\nprintf '%s\\n' \"${0##*/}$IFS$*\" >> \"$LOG\"\n").unwrap();
            std::fs::set_permissions(&stub, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let path = format!("{}:/usr/bin:/bin", folder.display());
        let status = std::process::Command::new("bash")
            .args(["--norc", "--noprofile", "-c", &text])
            .env_clear().env("PATH", path).env("LOG", &log)
            .stdin(std::process::Stdio::null()).stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null())
            .current_dir(&folder).status().unwrap();
        let _ = status;
        let ran = std::fs::read_to_string(&log).unwrap();
        let reading = read(&text, &directories());
        if !reading.opaque.is_empty() {
            return Ok(());
        }
        for line in ran.lines() {
            let words: Vec<&str> = line.split('\u{1f}').filter(|word| !word.is_empty()).collect();
            let is_read = reading.invocations.iter().any(|invocation| {
                let given: Vec<&str> = std::iter::once(invocation.program())
                    .chain(invocation.arguments.iter().map(|argument| argument.text.as_str()))
                    .filter(|word| !word.is_empty())
                    .collect();
                let has_list = given.contains(&"\u{fffc}");
                (given.len() == words.len() && given.iter().zip(&words).all(|(given, word)| may_be(given, word)))
                    || (has_list && given.first() == words.first())
            });
            prop_assert!(is_read, "bash ran {words:?} of {text:?}; read: {:?}", started(&text));
        }
    }
}
