//! Whatever Node really loads for a trusted module is in its copy, and nothing of the project is.

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

/// Whether Node loads nothing of the project for its trusted module; `false` where that is opaque.
fn is_covered(project: &Project, module: &str, shown: &str) -> bool {
    let trusted = run(project, &["trust", "--yes"]);
    if trusted.status != 0 && format!("{}{}", trusted.stdout, trusted.stderr).contains("--opaque") {
        return false;
    }
    assert_eq!(trusted.status, 0, "{shown}: {trusted:?}");
    let digest = run(project, &["trust", "--list", "--json"]).lines()[0]["digest"].clone();
    let copy = project.home().join(".local/share/hook/trusted").join(digest.as_str().unwrap());
    let recorder = Project::new();
    let script = recorder.write("recorder.cjs", RECORDER);
    let log = recorder.path().join("loaded");
    let mut node = Command::new("node");
    node.arg("--require").arg(&script).arg(copy.join(module)).env("LOADED", &log);
    let ran = node.current_dir(project.path()).output().unwrap();
    let loaded = std::fs::read_to_string(&log).unwrap_or_default();
    assert!(loaded.lines().any(|line| line.ends_with(module)), "{shown}: {ran:?}");
    let root = project.path().canonicalize().unwrap();
    let planted = loaded.lines().find(|line| line.starts_with(root.to_str().unwrap()));
    assert_eq!(planted, None, "{shown} loads it");
    true
}

#[test]
fn fault_82_whatever_node_loads_for_a_trusted_module_is_in_its_copy() {
    if !has_node() {
        return;
    }
    let mut opaque = 0;
    for small in ALL {
        let project = Project::new();
        let module = format!(".hooks/modules/{}", small.module);
        if small.links.iter().all(|(_, link)| *link != module) {
            project.write(&module, small.text);
        }
        for (path, text) in small.files {
            project.write(path, text);
        }
        for (target, link) in small.links {
            let link = project.path().join(link);
            std::fs::create_dir_all(link.parent().unwrap()).unwrap();
            symlink(target, link).unwrap();
        }
        opaque += usize::from(!is_covered(&project, &module, small.text));
    }
    // Those with links out of the folder.
    assert_eq!(opaque, ALL.iter().filter(|small| !small.links.is_empty()).count());
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
fn fault_82_the_same_of_projects_that_are_thrown_together() {
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
        symlink("t0.mjs", project.path().join(folder).join("link.mjs")).unwrap();
        let package = *dice.of(PACKAGES);
        project.write(&format!("{folder}/package.json"), package);
        if *dice.of(&[false, false, true]) {
            project.write(&format!("{folder}/sub/package.json"), r#"{"main": "in.cjs"}"#);
        }
        covered += usize::from(is_covered(&project, &format!("{folder}/m.mjs"), &module));
    }
    assert_eq!(covered, 48, "none is opaque");
}
