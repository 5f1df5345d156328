//! `hook man`.

use hook_tests::{Hook, Project};

#[test]
fn a_page_is_roff_with_examples_line_by_line() {
    let project = Project::new();
    let list = Hook::new(&project, &["man", "completions"]).run();
    let (head, examples) = list.stdout.split_once(".SH EXAMPLES").unwrap();
    assert!(head.contains("hook\\-completions \\- Print a script"), "{head}");
    assert_eq!(head.matches(".ds Aq").count(), 2, "one preamble: {head}");
    insta::assert_snapshot!(examples, @r"
    .nf
      hook completions bash > ~/.local/share/bash\-completion/completions/hook
      hook completions zsh > ~/.zfunc/_hook       # with ~/.zfunc in fpath
      hook completions fish > ~/.config/fish/completions/hook.fish
      hook completions elvish >> ~/.config/elvish/rc.elv
      hook completions powershell >> $PROFILE
    .PP
    .fi
    The shell asks `hook` itself: commands, options, events, and the hooks of the
    project.
    ");
    let hook = Hook::new(&project, &["man"]).run();
    assert_eq!((hook.status, hook.stderr.as_str()), (0, ""));
    assert!(hook.stdout.contains(".TH hook 1") && hook.stdout.contains(".SH \"EXIT CODES\""));
}

#[test]
fn all_pages_go_into_a_folder() {
    let project = Project::new();
    let written = Hook::new(&project, &["man", "--output", "man/man1"]).run();
    assert_eq!(written.status, 0, "{written:?}");
    for path in written.stdout.lines() {
        let page = project.read(path);
        assert!(page.contains(".SH NAME"), "{path}: {page}");
    }
    for name in ["hook", "hook-fire", "hook-test", "hook-help"] {
        assert!(written.stdout.contains(&format!("man/man1/{name}.1\n")), "{written:?}");
    }
    let one = Hook::new(&project, &["man", "fire", "--output", "one", "--json"]).run();
    assert_eq!(one.stdout, "{\"file\":\"one/hook-fire.1\"}\n");
    assert!(project.read("one/hook-fire.1").contains("hook-fire"));
}

#[test]
fn what_has_no_page_is_said() {
    let project = Project::new();
    let unknown = Hook::new(&project, &["man", "fir"]).run();
    insta::assert_snapshot!(unknown.shown(&project), @r#"
    status: 64
    ----- stdout -----
    ----- stderr -----
    error: there is no command "fir"; did you mean fire?
    "#);
    project.write("file", "");
    let blocked = Hook::new(&project, &["man", "--output", "file"]).run();
    insta::assert_snapshot!(blocked.shown(&project), @r"
    status: 1
    ----- stdout -----
    ----- stderr -----
    error: failed to write the page file/hook.1: File exists (os error 17)
    ");
}
