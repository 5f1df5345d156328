//! Times loading and deciding.
use hook_rules::{Call, Place, RuleFile, Rules, packs::PACKS};
use std::time::Instant;
fn main() {
    let t = Instant::now();
    let mut files = vec![];
    for p in PACKS {
        let t = Instant::now();
        let f = RuleFile::parse(p.name, p.rules);
        println!("{} {:?} {} rules", p.name, t.elapsed(), f.len());
        files.push(f);
    }
    let rules = Rules::new(files);
    println!("load {:?}", t.elapsed());
    let place = Place::new("/code/thing", "/code/thing", "/home/me");
    let commands = [
        "cargo test --workspace --no-fail-fast 2>&1 | tail -40 && git add -A && git commit -m 'Fix the parser of here-documents; see issue 42' && git push origin topic/heredocs -u",
        "ls",
        "cd src && grep -rn 'fn main' --include='*.rs' . | head -20; for f in *.rs; do wc -l \"$f\"; done; npm run build -- --mode production > build.log 2>&1 || cat build.log",
    ];
    for c in commands {
        let call = Call::shell(c);
        rules.decide(&call, &place);
        let t = Instant::now();
        for _ in 0..2000 {
            std::hint::black_box(rules.decide(std::hint::black_box(&call), &place));
        }
        println!("{:?} per decision, {} characters", t.elapsed() / 2000, c.len());
    }
}
