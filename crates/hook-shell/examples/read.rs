//! Prints what a shell text starts.
fn main() {
    use std::io::Read;
    let mut text = String::new();
    if let Some(argument) = std::env::args().nth(1) {
        text = argument
    } else {
        std::io::stdin().read_to_string(&mut text).unwrap();
    }
    let s = hook_shell::invocations::Surroundings {
        cwd: "/home/dev/project",
        project: "/home/dev/project",
        home: "/home/dev",
    };
    let r = hook_shell::invocations::read(&text, &s);
    for i in &r.invocations {
        println!(
            "{:?} {:?} by {:?} files {:?} input {:?} {:?}",
            i.called.text,
            i.arguments.iter().map(|a| &a.text).collect::<Vec<_>>(),
            i.started_by,
            i.files,
            i.input,
            &text[i.range.clone()]
        );
    }
    for o in &r.opaque {
        println!("OPAQUE {} {:?}", o.reason, &text.get(o.range.clone()));
    }
}
