//! Whatever Node really loads of a project is covered by the decision about the module, or the module is
//! opaque.

use std::collections::BTreeSet;
use std::os::unix::fs::symlink;
use std::process::Command;

use hook_tests::Project;

use super::{has_node, run};

/// Says each file that Node loads.
const RECORDER: &str = r#"
const { appendFileSync } = require("node:fs");
const Module = require("node:module");
const say = (path) => appendFileSync(process.env.LOADED, path + "\n");
for (const [name, load] of Object.entries(Module._extensions)) {
  Module._extensions[name] = function (module, path) { say(path); return load.apply(this, arguments); };
}
const hooks = `import { appendFileSync } from "node:fs";
export async function load(url, context, next) {
  if (url.startsWith("file:")) appendFileSync(process.env.LOADED, new URL(url).pathname + "\\n");
  return next(url, context);
}`;
Module.register("data:text/javascript," + encodeURIComponent(hooks));
"#;

/// What the module of a small project is, and what is in it beside that.
struct Small {
    module: &'static str,
    text: &'static str,
    files: &'static [(&'static str, &'static str)],
    links: &'static [(&'static str, &'static str)],
}

const OTHER: (&str, &str) = (".hooks/modules/lib/o.mjs", "export const x = 1;");
const OTHER_CJS: (&str, &str) = (".hooks/modules/lib/o.cjs", "exports.x = 1;");
const TYPE: (&str, &str) = (
    ".hooks/modules/package.json",
    r##"{"type": "commonjs", "name": "me",
    "exports": {"./o": "./lib/o.mjs"}, "imports": {"#o": "./lib/o.mjs"}}"##,
);

const fn small(text: &'static str) -> Small {
    Small { module: "m.mjs", text, files: &[OTHER, OTHER_CJS, TYPE], links: &[] }
}

const fn cjs(text: &'static str) -> Small {
    Small { module: "m.js", text, files: &[OTHER, OTHER_CJS, TYPE], links: &[] }
}

const ALL: &[Small] = &[
    small("import './lib/o.mjs'; export default () => {};"),
    small("export { x } from './lib/o.mjs'; export default () => {};"),
    small(
        "export default async () => { await import(/* x */ `./lib/o.mjs`); }; await import('./lib/o.mjs');",
    ),
    small("import './lib/%6f.mjs'; export default () => {};"),
    small("import '.\\\\lib\\\\o.mjs'; export default () => {};"),
    small("import './l\\x69b/o.mjs'; export default () => {};"),
    small("import './lib/o.mjs?a'; export default () => {};"),
    small("import 'me/o'; export default () => {};"),
    small("import '#o'; export default () => {};"),
    small("await import\u{feff}('./lib/' + 'o.mjs'); export default () => {};"),
    small("await (0, eval)(\"import('./lib/o.mjs')\").catch(() => {}); export default () => {};"),
    small(
        "new (() => {}).constructor('return 1')(); import './lib/o.cjs'; export default () => {};",
    ),
    small("process.mainModule?.require('./lib/o.cjs'); export default () => {};"),
    small(
        "import { createRequire as c } from 'node:module'; c(import.meta.url)('./lib/o.cjs'); export default () => {};",
    ),
    small(
        "import { Worker as W } from 'node:worker_threads'; new W(new URL('./lib/o.mjs', import.meta.url)); export default () => {};",
    ),
    small(
        "import vm from 'node:vm'; vm.runInThisContext('1'); import './lib/o.mjs'; export default () => {};",
    ),
    small(
        "if (1) /\"/.test('a'); await import('./lib/' + 'o.mjs'); /\"/; export default () => {};",
    ),
    cjs("require('./lib/o.cjs'); module.exports = () => {};"),
    cjs("require('./lib/o'); module.exports = () => {};"),
    cjs("const r = require; r('./lib/o.cjs'); module.exports = () => {};"),
    cjs("module.require('./lib/' + 'o.cjs'); module.exports = () => {};"),
    cjs("arguments[1]('./lib/' + 'o.cjs'); module.exports = () => {};"),
    cjs("require('./lib/\\x6f.cjs'); module.exports = () => {};"),
    cjs("module['constructor']._load(__dirname + '/lib/o.cjs'); module.exports = () => {};"),
    Small {
        module: "m.js",
        text: "require('./dir'); module.exports = () => {};",
        files: &[
            TYPE,
            (".hooks/modules/dir/package.json", r#"{"main": "../lib/hidden.cjs"}"#),
            (".hooks/modules/lib/hidden.cjs", ""),
            (".hooks/modules/dir/index.js", ""),
        ],
        links: &[],
    },
    Small {
        module: "m.js",
        text: "require('./dir'); module.exports = () => {};",
        files: &[
            TYPE,
            (".hooks/modules/dir/index.js", "require('../lib/o');"),
            (".hooks/modules/lib/o.json", "1"),
        ],
        links: &[],
    },
    // Node resolves from where a file really is.
    Small {
        module: "m.mjs",
        text: "",
        files: &[
            ("far/real.mjs", "import './beside.mjs'; export default () => {};"),
            ("far/beside.mjs", "import './more.cjs';"),
            ("far/more.cjs", "require('./data.json');"),
            ("far/data.json", "{}"),
            ("far/package.json", "{}"),
            (".hooks/modules/beside.mjs", ""),
        ],
        links: &[("../../far/real.mjs", ".hooks/modules/m.mjs")],
    },
    Small {
        module: "m.mjs",
        text: "import './linked/a.mjs'; export default () => {};",
        files: &[
            ("far/a.mjs", "import '../near/b.mjs';"),
            ("near/b.mjs", ""),
            (".hooks/modules/near/b.mjs", ""),
        ],
        links: &[("../../far", ".hooks/modules/linked")],
    },
    Small {
        module: "m.mjs",
        text: "import 'left'; export default () => {};",
        files: &[
            ("node_modules/left/package.json", r#"{"main": "x.js"}"#),
            ("node_modules/left/x.js", ""),
        ],
        links: &[],
    },
];

/// Whether the module of a project is covered with all that Node loads for it; `false` where it is opaque.
fn is_covered(project: &Project, module: &str, shown: &str) -> bool {
    let trusted = run(project, &["trust", "--yes"]);
    if trusted.status != 0 && format!("{}{}", trusted.stdout, trusted.stderr).contains("--opaque") {
        return false;
    }
    assert_eq!(trusted.status, 0, "{shown}: {trusted:?}");
    let recorder = Project::new();
    let script = recorder.write("recorder.cjs", RECORDER);
    let log = recorder.path().join("loaded");
    let mut node = Command::new("node");
    node.arg("--require").arg(&script).arg(project.path().join(module)).env("LOADED", &log);
    let ran = node.output().unwrap();
    let loaded = std::fs::read_to_string(&log).unwrap_or_default();
    let root = project.path().canonicalize().unwrap();
    let loaded: BTreeSet<&str> = loaded
        .lines()
        .filter_map(|line| line.strip_prefix(root.to_str().unwrap())?.strip_prefix('/'))
        .collect();
    assert!(!loaded.is_empty(), "{shown}: {ran:?}");
    for file in loaded {
        let is_shown = trusted.stdout.contains(file);
        assert!(is_shown, "{shown}: {file} is loaded and not covered: {}", trusted.stdout);
    }
    true
}

#[test]
fn whatever_node_loads_is_covered_or_the_module_is_opaque() {
    if !has_node() {
        return;
    }
    let mut covered = Vec::new();
    for (at, Small { module, text, files, links }) in ALL.iter().enumerate() {
        let project = Project::new();
        let path = format!(".hooks/modules/{module}");
        if !text.is_empty() {
            project.write(&path, text);
        }
        for (path, text) in *files {
            project.write(path, text);
        }
        for (target, link) in *links {
            let link = project.path().join(link);
            std::fs::create_dir_all(link.parent().unwrap()).unwrap();
            symlink(target, link).unwrap();
        }
        if is_covered(&project, &path, text) {
            covered.push(at);
        }
    }
    // What is written down plainly.
    assert_eq!(covered, [0, 1, 2, 17, 18, 25, 26, 27]);
}

/// Numbers that look as if they were thrown; the same ones in each run.
struct Dice(u64);

impl Dice {
    fn of<'t, T>(&mut self, all: &'t [T]) -> &'t T {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let at = usize::try_from(self.0 >> 33).unwrap() % all.len();
        &all[at]
    }
}

const STATEMENTS: &[&str] = &[
    "await import('@').catch(() => {});",
    "await import(/* ( */ `@`, {}).catch(() => {});",
    "await import('@' + '').catch(() => {});",
    "try { require('@'); } catch {}",
    "try { require /* ' */ ('@'); } catch {}",
    "try { (require)('@'); } catch {}",
    "try { module.require('@'); } catch {}",
    "const half = (2 + 4) / 2; await import('@').catch(() => {});",
    "/[/'\"]/.test('a'); await import('@').catch(() => {});",
    "const text = `${`'${1}`} '`; await import('@').catch(() => {});",
    "// it's `\ntry { require('@'); } catch {}",
];

const NAMES: &[&str] = &[
    "./t0.mjs",
    "./t1.cjs",
    "./t1",
    "./t2",
    "./sub",
    "./sub/",
    "./sub/in.cjs",
    "./sub/../t3.json",
    "./t3",
    "./t%30.mjs",
    "./\\x740.mjs",
    ".\\\\t0.mjs",
    "own/t",
    "#t",
    "./t0.mjs?x",
    "./link.mjs",
    "./far/a.mjs",
    "node:fs",
    "fs",
];

const PACKAGES: &[&str] = &[
    "{}",
    r##"{"name": "own", "exports": {"./t": "./t4.mjs"}, "imports": {"#t": "./t4.mjs"}}"##,
    r##"{"type": "module", "name": "own", "exports": {"./t": "./t4.mjs"}}"##,
    r##"{"type": "commonjs"}"##,
];

#[test]
fn the_same_of_projects_that_are_thrown_together() {
    if !has_node() {
        return;
    }
    let mut dice = Dice(7);
    let mut covered = 0;
    for _ in 0..48 {
        let project = Project::new();
        let folder = ".hooks/modules";
        let mut text = |most: usize| {
            let count = *dice.of(&(0..=most).collect::<Vec<_>>());
            let one = |_| {
                let statement = *dice.of(STATEMENTS);
                let name = *dice.of(NAMES);
                statement.replace('@', name) + "\n"
            };
            (0..count).map(one).collect::<String>()
        };
        let module = format!("{}export default () => {{}};\n", text(3));
        project.write(&format!("{folder}/m.mjs"), &module);
        project.write(&format!("{folder}/t0.mjs"), &text(1));
        let script = |text: String| text.replace("await import", "import");
        project.write(&format!("{folder}/t1.cjs"), &script(text(1)));
        project.write(&format!("{folder}/t2.js"), &script(text(1)));
        project.write(&format!("{folder}/t3.json"), "{}");
        project.write(&format!("{folder}/t4.mjs"), "");
        project.write(&format!("{folder}/sub/in.cjs"), &script(text(1)));
        project.write(&format!("{folder}/sub/index.js"), "");
        project.write("away/real.mjs", &text(1));
        project.write("away/t0.mjs", "");
        project.write("away/a.mjs", "import './t0.mjs';");
        symlink("../../away/real.mjs", project.path().join(folder).join("link.mjs")).unwrap();
        symlink("../../away", project.path().join(folder).join("far")).unwrap();
        let package = *dice.of(PACKAGES);
        project.write(&format!("{folder}/package.json"), package);
        if *dice.of(&[false, false, true]) {
            project.write(&format!("{folder}/sub/package.json"), r#"{"main": "in.cjs"}"#);
        }
        covered += usize::from(is_covered(&project, &format!("{folder}/m.mjs"), &module));
    }
    assert!(covered >= 8, "only {covered} of them are not opaque");
}

#[test]
fn what_is_beyond_the_bound_is_opaque_and_soon() {
    if !has_node() {
        return;
    }
    let project = Project::new();
    let many: String = (0..30_000).map(|at| format!("import './{at}'; './';\n")).collect();
    project.write(".hooks/modules/m.mjs", &format!("{many}export default () => {{}}"));
    // The program is built by then.
    run(&project, &["--version"]);
    let begun = std::time::Instant::now();
    let trusted = run(&project, &["trust", "--yes"]);
    let said = format!("{}{}", trusted.stdout, trusted.stderr);
    assert!(trusted.status != 0 && said.contains("paths and names of imports"), "{said}");
    assert!(begun.elapsed() < std::time::Duration::from_secs(20), "{:?}", begun.elapsed());
}
