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

#[test]
fn whatever_node_loads_is_covered_or_the_module_is_opaque() {
    if !has_node() {
        return;
    }
    for Small { module, text, files, links } in ALL {
        let project = Project::new();
        let path = project.path().join(".hooks/modules").join(module);
        if !text.is_empty() {
            project.write(&format!(".hooks/modules/{module}"), text);
        }
        for (path, text) in *files {
            project.write(path, text);
        }
        for (target, link) in *links {
            let link = project.path().join(link);
            std::fs::create_dir_all(link.parent().unwrap()).unwrap();
            symlink(target, link).unwrap();
        }
        let trusted = run(&project, &["trust", "--yes"]);
        let is_opaque = trusted.status != 0 && trusted.stderr.contains("--opaque")
            || trusted.stdout.contains("--opaque");
        if is_opaque {
            continue;
        }
        assert_eq!(trusted.status, 0, "{text}: {trusted:?}");
        let recorder = Project::new();
        let script = recorder.write("recorder.cjs", RECORDER);
        let log = recorder.path().join("loaded");
        let mut node = Command::new("node");
        node.arg("--require").arg(&script).arg(&path).env("LOADED", &log);
        let ran = node.output().unwrap();
        let loaded = std::fs::read_to_string(&log).unwrap_or_default();
        let root = project.path().canonicalize().unwrap();
        let loaded: BTreeSet<&str> = loaded
            .lines()
            .filter_map(|line| line.strip_prefix(root.to_str().unwrap())?.strip_prefix('/'))
            .collect();
        assert!(!loaded.is_empty(), "{text}: {ran:?}");
        for file in loaded {
            let is_covered = trusted.stdout.contains(file);
            assert!(is_covered, "{text}: {file} is loaded and not covered: {}", trusted.stdout);
        }
        let package = ".hooks/modules/package.json";
        if project.path().join(package).exists() {
            assert!(trusted.stdout.contains(package), "{text}: {}", trusted.stdout);
        }
    }
}

#[test]
fn what_is_beyond_the_bound_is_opaque_and_soon() {
    if !has_node() {
        return;
    }
    let project = Project::new();
    let many: String = (0..30_000).map(|at| format!("import './{at}'; './';\n")).collect();
    project.write(".hooks/modules/m.mjs", &format!("{many}export default () => {{}}"));
    let begun = std::time::Instant::now();
    let trusted = run(&project, &["trust", "--yes"]);
    let said = format!("{}{}", trusted.stdout, trusted.stderr);
    assert!(trusted.status != 0 && said.contains("paths and names of imports"), "{said}");
    assert!(begun.elapsed() < std::time::Duration::from_secs(20), "{:?}", begun.elapsed());
}
