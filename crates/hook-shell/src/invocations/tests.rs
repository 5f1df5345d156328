use super::*;
use proptest::prelude::*;

#[cfg(unix)]
mod against_bash;

fn directories() -> Surroundings<'static> {
    Surroundings { cwd: "/code/thing", project: "/code/thing", home: "/home/me" }
}

/// Returns what a text starts, as words joined by blanks; `…` for what is not known.
fn started(text: &str) -> Vec<String> {
    let reading = read(text, &directories());
    let words = |invocation: &Invocation| {
        let words = std::iter::once(&invocation.called).chain(&invocation.arguments);
        words.map(|word| word.text.replace(UNKNOWN, "…")).collect::<Vec<_>>().join(" ")
    };
    let mut all: Vec<String> =
        reading.invocations.iter().map(words).filter(|words| !words.is_empty()).collect();
    all.extend(reading.opaque.iter().map(|opaque| format!("? {}", opaque.reason)));
    all
}

#[test]
fn what_reads_commands_from_its_input_starts_them() {
    for (by, runs) in [
        ("ssh host", true),
        ("ssh -T -p 22 me@host", true),
        ("ssh host true", false),
        ("sudo -s", true),
        ("sudo -iu me", true),
        ("sudo -S -v", false),
        ("sudo tee x", false),
        ("su - me", true),
        ("su me -c id", false),
        ("fish", true),
        ("fish x.fish", false),
        ("sudo chroot /mnt", true),
        ("chroot /mnt id", false),
    ] {
        for text in [format!("{by} <<'E'\nrm x\nE"), format!("echo 'rm x' | {by}")] {
            let started = started(&text);
            assert_eq!(started.contains(&"rm x".to_owned()), runs, "{text}: {started:?}");
        }
        let unknown = started(&format!("x | {by}"));
        assert_eq!(unknown.iter().any(|it| it.starts_with('?')), runs, "{by}: {unknown:?}");
    }
}

/// Paths in programs of other languages are evaluated as far as they are known, and what is not known
/// is asked about where a file is written.
#[test]
fn paths_that_programs_compute_are_followed() {
    for (program, path) in [
        ("open(os.path.join('/x', 'y'), 'w')", "w /x/y"),
        ("open('/x/' + 'y' + '.z', 'w')", "w /x/y.z"),
        ("open('/x/%s.z' % n, 'w')", "w /x/….z"),
        ("open(f'/x/{n}.z', 'w')", "w /x/….z"),
        ("open('/x/{}.z'.format(n), 'w')", "w /x/….z"),
        ("(Path('/x') / 'y').open('w')\nPath('/x').joinpath('z')", "w /x"),
        ("p = '/x'\nq = p + '/y'\nos.remove(q)", "w /x/y"),
        ("for f in ['/x', '/y']: os.remove(f)", "w /y"),
        ("for r, d, fs in os.walk('/x'):\n  for f in fs: os.remove(os.path.join(r, f))", "w /x/…"),
        ("[os.remove(f) for f in glob.glob('/x/*.o')]", "w /x/….o"),
        ("shutil.rmtree(os.path.expanduser('~/x'))", "w /home/me/x"),
        ("os.remove(os.environ['HOME'] + '/x')", "w /home/me/x"),
        ("shutil.rmtree(Path.home() / 'x')", "w /home/me/x"),
        ("open('x' + n).read()", "r /code/thing/x…"),
        ("print(open(os.environ['A']).read())", "r …"),
        ("open(n, 'w')", "?"),
        ("open(n + '/x', 'w')", "?"),
        ("p = '/x'\np += n\nopen(p, 'w')", "?"),
        ("def f(p='/x'): os.remove(p)\nf(n)", "?"),
        ("a = ['/x']\na.append(n)\nfor p in a: os.remove(p)", "?"),
        ("for p in os.listdir('/x'): os.remove(p)", "?"),
        ("subprocess.run([sys.executable, '-c', n])", "?"),
        ("subprocess.run([n, 'x'])", "?"),
        ("os.system('rm ' + n)", "?"),
    ] {
        let reading = read(&format!("python3 - <<'E'\n{program}\nE"), &directories());
        let files = reading.invocations.iter().flat_map(|invocation| &invocation.files);
        let mut files = files.map(|file| {
            let access = match file.access {
                Access::Read => "r",
                Access::Write => "w",
                Access::Unknown => "?",
            };
            format!("{access} {}", file.path.replace(UNKNOWN, "…"))
        });
        let is_found = match path {
            "?" => !reading.opaque.is_empty(),
            path => files.any(|file| file == path) && reading.opaque.is_empty(),
        };
        assert!(is_found, "{program}: {reading:?}");
    }
    let words = |program: &str| started(&format!("python3 -c \"{program}\""));
    assert_eq!(words("import os, sqlite3; c.execute('select 1')").len(), 1);
    assert!(words("subprocess.run(['git', 'log', n])").contains(&"git log …".to_owned()));
    assert!(
        words("subprocess.run([sys.executable, '-m', 'x'])").contains(&"python3 -m x".to_owned())
    );
}

/// Behind every bound is a reason to ask, or what is there is read all the same.
#[test]
fn nothing_is_left_out_behind_many_others() {
    let many = |count: usize, each: &dyn Fn(usize) -> String| {
        (0..count).map(each).collect::<Vec<_>>().join(" ")
    };
    let quoted = many(600, &|index| format!("'a{index}',"));
    for text in [
        format!("find {} /x -exec rm {{}} \\;", many(70, &|index| format!("d{index}"))),
        format!("find a {} -exec rm {{}} \\;", many(70, &|index| format!("-o -name n{index}"))),
        format!("bwrap {} -- rm /x", many(70, &|index| format!("--bind /a{index} /b{index}"))),
        format!("cat {}{{/x,y}}", "{a}".repeat(70)),
        format!("perl -e \"unlink({quoted} '/x')\""),
        format!(
            "python3 -c \"import os; p = 'a'; {} p = input(); os.remove(p)\"",
            "print(p);".repeat(250)
        ),
        format!("python3 -c \"import os; [os.remove(p) for p in [{quoted} '/x']]\""),
        format!("git apply <<'E'\n{}\n+++ /x\nE", many(300, &|index| format!("+++ b/a{index}\n"))),
        format!("parallel rm ::: {} /x", many(70, &|index| format!("a{index}"))),
        format!("echo {} /x | xargs -n1 rm", many(70, &|index| format!("a{index}"))),
    ] {
        let reading = read(&text, &directories());
        let mut files = reading.invocations.iter().flat_map(|invocation| &invocation.files);
        let is_seen = files.any(|file| file.path == "/x" || file.path.contains(UNKNOWN))
            || !reading.opaque.is_empty();
        assert!(is_seen, "{text}");
    }
}

#[test]
fn programs_are_found_wherever_they_start() {
    for (text, expected) in [
        ("a b; c && d || e | f &", vec!["a b", "c", "d", "e", "f"]),
        ("if a; then b; elif c; then d; else e; fi", vec!["a", "b", "c", "d", "e"]),
        ("while a; do b; done; until c; do d; done", vec!["a", "b", "c", "d"]),
        ("for x in 1 2; do a $x; done", vec!["a 1", "a 2"]),
        ("case $x in a|b) c;; *) d;; esac", vec!["c", "d"]),
        ("(a; { b; })", vec!["a", "b"]),
        ("f() { a \"$1\"; }; f x", vec!["a x"]),
        ("a \"$(b `c`)\"", vec!["c", "b …", "a …"]),
        ("cat <<E\n$(a)\nE\nb", vec!["a", "cat", "b"]),
        ("cat <<'E'\n$(a)\nE\nb", vec!["cat", "b"]),
        ("x=a; $x b; \"$x\"", vec!["a b", "a"]),
        ("a {b,c}d", vec!["a bd cd"]),
        ("a # b\nc", vec!["a", "c"]),
        ("$'\\x61' 'b'\"c\"\\d", vec!["a bcd"]),
        (
            "sudo -u me env A=1 nice -n 5 a b",
            vec![
                "sudo -u me env A=1 nice -n 5 a b",
                "env A=1 nice -n 5 a b",
                "nice -n 5 a b",
                "a b",
            ],
        ),
        ("sh -c 'a; b'", vec!["sh -c a; b", "a", "b"]),
        ("echo 'a b' | sh", vec!["echo a b", "sh", "a b"]),
        ("find . -exec a {} \\;", vec!["find . -exec a {} ;", "a ./…"]),
        ("echo b c | xargs a", vec!["echo b c", "xargs a", "a b c"]),
        ("[[ $(a) == b ]] && c", vec!["a", "c"]),
        ("echo \"$((1 + $(a | wc -l)))\"", vec!["a", "wc -l", "echo …"]),
        ("a=(x $(b)); c", vec!["b", "c"]),
        ("! time -p a", vec!["a"]),
        (
            r#"awk 'BEGIN { system("a b"); "c" | getline; print | "d"; x = "e" || "f" }'"#,
            vec![
                r#"awk BEGIN { system("a b"); "c" | getline; print | "d"; x = "e" || "f" }"#,
                "a b",
                "c",
                "d",
            ],
        ),
    ] {
        assert_eq!(started(text), expected, "{text}");
    }
}

#[test]
fn what_is_possible_at_a_point_is_read() {
    let paths = |text: &str| -> Vec<String> {
        let reading = read(text, &directories());
        let files = reading.invocations.iter().flat_map(|invocation| &invocation.files);
        files.map(|file| file.path.replace(UNKNOWN, "…")).collect()
    };
    for (text, path) in [
        ("rm -f x; (rm() { :; }); rm ~/x", "/home/me/x"),
        ("a && rm() { :; }; rm ~/x", "/home/me/x"),
        ("rm() { :; }; unset -f rm; rm ~/x", "/home/me/x"),
        ("if a; then f() { rm ~/x; }; else f() { :; }; fi; f", "/home/me/x"),
        ("a=(1 # '\n) ; rm ~/x ; b=(2 # '\n)", "/home/me/x"),
        ("[[ -e <(rm ~/x) ]]", "/home/me/x"),
        ("rm $'\\x{2f}x'", "/x"),
        ("rm $HOME/x; HOME=/tmp", "/home/me/x"),
        ("x=b; x=/a; for f in $x; do rm $f; done", "/a"),
        ("x=b; x=/a; { a; } > $x", "/a"),
        ("f() { shift; \"$@\"; }; f x rm /a", "/a"),
        ("set -- b /a; while a; do rm $1; shift; done", "/a"),
        ("x=; rm ${x:-/a}", "/a"),
        ("x=a; unset x; rm ${x-/a}", "/a"),
        ("x=b; x=/a eval 'rm $x'", "/a"),
        ("x=b; env x=/a bash -c 'rm $x'", "/a"),
        ("cd ~; b && cd /tmp; rm x", "/home/me/x"),
        ("trap 'rm x' EXIT; cd ~", "/home/me/x"),
        ("cd ~; cd /tmp || exit > a; rm x", "/home/me/x"),
        ("exit() { :; }; cd ~; cd /tmp || exit; rm x", "/home/me/x"),
        ("cd ~; cd /tmp/nope; rm x", "/home/me/x"),
        ("cd ~; if ! cd /tmp; then rm x; fi", "/home/me/x"),
        ("cd ~; cd /tmp & rm x", "/home/me/x"),
        ("cd ~; env cd /tmp; rm x", "/home/me/x"),
        ("cd ~; pushd -n /tmp; rm x", "/home/me/x"),
        ("for i in 1 2; do rm x; cd ~; done", "/home/me/x"),
        ("while a; do cd ~; break; cd /tmp; done; rm x", "/home/me/x"),
        ("until cd ~; do cd /tmp; done; rm x", "/home/me/x"),
        ("case a in a) cd ~;; *) cd /tmp;; esac; rm x", "/home/me/x"),
        ("x=(rm ~/x); \"${x[@]}\"", "/home/me/x"),
        ("IFS=:; x=/a:/b; rm $x", "/b"),
        (": ${x:=/a}; rm $x", "/a"),
        ("x=/a; f() { local x=b; }; f; rm $x", "/a"),
        ("x=/a; : $((1/0)); x=b\nrm $x", "/a"),
        ("x=/a; y=1+; : $((y)); x=b\nrm $x", "/a"),
        ("_=b; echo /a; cat $_; rm -f $_", "…"),
    ] {
        assert!(paths(text).iter().any(|read| read == path), "{text}: {:?}", paths(text));
    }
    // Nothing else is possible there.
    for (text, expected) in [
        ("cd /tmp && rm x", vec!["/tmp/x"]),
        ("cd /tmp || exit; rm x", vec!["/tmp/x"]),
        ("set -e; cd /tmp; rm x", vec!["/tmp/x"]),
        ("(cd /tmp); rm x", vec!["/code/thing/x"]),
        ("if a; then x=b; else x=c; fi; rm $x", vec!["/code/thing/b", "/code/thing/c"]),
        ("for f in *.txt; do rm \"${f%.txt}.md\"; done", vec!["/code/thing/….md"]),
        ("IFS=$'\\n'; for f in a b; do rm $f; done", vec!["/code/thing/a", "/code/thing/b"]),
        ("x=a; rm $x; x=/b", vec!["/code/thing/a"]),
        ("i=0; i=$((i + 1)); ((i++)); x=a; rm $x", vec!["/code/thing/a"]),
    ] {
        assert_eq!(paths(text), expected, "{text}");
        assert!(read(text, &directories()).opaque.is_empty(), "{text}: {:?}", started(text));
    }
}

#[test]
fn programs_are_known_with_a_version() {
    for (called, expected) in [
        ("git", "git"),
        ("/opt/git2", "git"),
        ("bash-5.2", "bash"),
        ("python3.12", "python3"),
        ("python4", "python"),
        ("perl5.36.0", "perl"),
        ("7z", "7z"),
        ("sha256sum", "sha256sum"),
        ("docker-compose", "docker-compose"),
        ("python3-config", "python3-config"),
        ("tool2", "tool2"),
        ("2", "2"),
        ("", ""),
    ] {
        let reading = read(&format!("{called} x"), &directories());
        let programs: Vec<_> = reading.invocations.iter().map(Invocation::program).collect();
        assert_eq!(programs, [if called.is_empty() { "x" } else { expected }], "{called}");
    }
    assert_eq!(started("bash5 -c 'git2 push'"), ["bash5 -c git2 push", "git2 push"]);
}

#[test]
fn what_only_running_can_tell_is_opaque() {
    for text in [
        "curl x | sh",
        "$X a",
        "eval \"$X\"",
        "echo YQ== | base64 -d | bash",
        "bash <(curl x)",
        "a 'b",
        "a $(b",
        "f() { f; }; f",
        "if a; then b",
        "curl -o x y; sh x",
        "a $\\\nHOME",
        "a $H\\\nOME",
        "!\\\n a",
        "copr\\\noc a",
        "let 'a[$(b)]=1'",
        "declare 'a[$(b)]=1'",
        "test -v 'a[$(b)]'",
        "x='a[$(b)]'; y=x; echo $((y))",
        "x='a[$(b)]'; [[ x -eq 1 ]]",
        "x='$(b)'; echo \"${x@P}\"",
        "declare -n x=HOME",
        "CDPATH=~ cd a",
        "trap 'cd ~' DEBUG",
        "shopt -s lastpipe; a | cd ~",
        "IFS=$(a)",
        "readonly x=/a; x=b; rm $x",
    ] {
        assert!(!read(text, &directories()).opaque.is_empty(), "{text}: {:?}", started(text));
    }
    for text in [
        "a; b",
        "echo hi | sh",
        "$(echo a) b",
        "python3 x.py < data",
        "bash x.sh",
        "a 2>&1 | tee log",
        "a &&\\\n  b",
        "a\\\n  -b",
        "a |\\\n  b",
        "i=0; while [ $i -lt 3 ]; do i=$((i + 1)); done",
        "n=$(wc -l < a); echo $((n + 1))",
        "x=(a b); \"${x[@]}\"",
        "t=$(mktemp -d); trap 'rm -rf \"$t\"' EXIT",
        "hash -r; hash -t git",
    ] {
        assert!(read(text, &directories()).opaque.is_empty(), "{text}: {:?}", started(text));
    }
}

#[test]
fn files_are_those_that_programs_read_and_write() {
    let files = |text: &str| -> Vec<String> {
        let of = |file: &FileAccess| match file.access {
            Access::Read => format!("r {}", file.path),
            Access::Write => format!("w {}", file.path),
            Access::Unknown => format!("? {}", file.path),
        };
        read(text, &directories())
            .invocations
            .iter()
            .flat_map(|invocation| invocation.files.iter().map(of))
            .collect()
    };
    for (text, expected) in [
        ("cat a ../b > c", vec!["w /code/thing/c", "r /code/thing/a", "r /code/b"]),
        ("cp a b", vec!["r /code/thing/a", "w /code/thing/b"]),
        ("cd /x && rm y", vec!["w /x/y"]),
        ("sed -i s/a/b/ f", vec!["w /code/thing/f"]),
        ("grep x f < g", vec!["r /code/thing/g", "r /code/thing/f"]),
        ("tee ~/x 2> /dev/null", vec!["w /home/me/x"]),
        ("dd if=a of=/dev/sda", vec!["r /code/thing/a", "w /dev/sda"]),
        ("echo .env; ls .env", vec![]),
        // Each string of a program may be the name of a file.
        (
            "python3 -c \"open('p', 'w')\"",
            vec!["w /code/thing/p", "? /code/thing/p", "? /code/thing/w"],
        ),
        ("some-tool a", vec!["? /code/thing/a"]),
        (
            "ln -s ../a b/c",
            vec![
                "? /code/thing/a",
                "w /code/thing/b/c",
                "? /code/thing/b/a",
                "w /code/thing/b/c/a",
            ],
        ),
        (
            "docker cp web:/etc/x a; podman container cp -a b web:/x; kubectl cp /c d",
            vec!["w /code/thing/a", "r /code/thing/b", "r /c", "w /code/thing/d"],
        ),
        ("rsync -avt a b", vec!["r /code/thing/a", "w /code/thing/b"]),
        ("cp -t a b", vec!["w /code/thing/a", "r /code/thing/b", "w /code/thing/a/b"]),
        ("curl http://x/a; cat http://x/a", vec!["r /code/thing/http:/x/a"]),
        ("curl file:///a%62", vec!["r /ab"]),
        ("sed 's/w/b/;w c' d", vec!["r /code/thing/d", "w /code/thing/c"]),
        ("f=.env; cat \"$f\"", vec!["r /code/thing/.env"]),
    ] {
        assert_eq!(files(text), expected, "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_in_bounds(text in "(\\PC|[ab \n'\"\\\\$({})`<>|&;#=!*]|if |then |fi|for |in |do |done|case |esac|<<E|sh -c |eval |\\[\\[ ){0,60}") {
        let reading = read(&text, &directories());
        for invocation in &reading.invocations {
            prop_assert!(invocation.range.end <= text.len());
        }
    }
}

#[test]
fn what_a_text_expands_to_is_bounded() {
    let text = format!("a={}\n{}", "a/".repeat(30_000), "cat $a $a $a\n".repeat(3_000));
    let reading = read(&text, &directories());
    let length = |invocation: &Invocation| -> usize {
        let files = invocation.files.iter().map(|file| file.path.len());
        let words = invocation.arguments.iter().map(|argument| argument.text.len());
        files.chain(words).sum()
    };
    let total: usize = reading.invocations.iter().map(length).sum();
    assert!(total < 4 << 20, "{total}");
    assert!(!reading.opaque.is_empty());
}

#[test]
fn hostile_texts_take_linear_time() {
    for piece in [
        "$(",
        "((",
        "`",
        "{a,",
        "\"$(",
        "a <<E\n",
        "if ",
        "[[ ",
        "x=$x$x ",
        "f(){ f;};",
        "sh -c ",
        "<(",
        "$((",
        "${a:-",
        "case a in a) ",
        "a|",
        "a&&",
        "a&",
        "! ",
        "a;",
        "$'\\",
        "sudo ",
        "x=$x$x\n",
        "for x in $x b; do ",
        "while cd a; do ",
        "x() { x=$x; ",
        "if cd a; then x=$x; fi;",
    ] {
        let short = piece.repeat(20_000 / piece.len());
        let began = std::time::Instant::now();
        read(&short, &directories());
        assert!(
            began.elapsed() < std::time::Duration::from_secs(5),
            "{piece}: {:?}",
            began.elapsed()
        );
    }
}
