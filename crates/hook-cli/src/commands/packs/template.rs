//! The files that `hook pack new` writes.

use std::fs;
use std::path::{Path, PathBuf};

use hook_files::atomic::{self, NewFile};
use hook_settings::check_pack_name;

use super::candidate::MANIFEST;
use crate::error::{CommandError, Result};

const RULES: &str = r#"[[rule]]
id = "deploy"
shell = { program = "make", args = ["deploy"] }
deny = "deploys are for people"

[[rule.test]]
shell = "make deploy"
expect = "deny"

[[rule.test]]
shell = "make test"
expect = "pass"
"#;

const HOOKS: &str = r#"{
  "hooks": {
    "BeforeTool": [
      {
        "matcher": { "kind": "file_write" },
        "hooks": [
          {
            "name": "NAME-writes",
            "type": "command",
            "command": "sh \"$HOOK_DIR/scripts/writes.sh\"",
            "failBehavior": "block"
          }
        ]
      }
    ]
  }
}
"#;

const SCRIPT: &str = r#"#!/bin/sh
# Gets the event as JSON. Exit code 2 refuses, with the reason on standard error.
if grep -q 'DO NOT EDIT'; then
    echo 'this file is generated; edit what it is made from' >&2
    exit 2
fi
"#;

const SCENARIO: &str = r#"[[test]]
name = "a generated file is not written"
event = "BeforeTool"
input.tool_name = "write_file"
input.tool_input = { file_path = "a.rs", content = "// DO NOT EDIT" }
expect = { decision = "block", reason = "/generated/" }
"#;

/// Writes a pack with this name into a new folder below `parent`.
pub(super) fn write(name: &str, parent: &Path) -> Result<PathBuf> {
    check_pack_name(name).map_err(CommandError::Usage)?;
    let folder = parent.join(name);
    fs::create_dir(&folder).map_err(CommandError::write("the folder", &folder))?;
    let manifest = format!(
        "{{\n  \"name\": \"{name}\",\n  \"version\": \"0.1.0\",\n  \"description\": \"\",\n  \"engines\": {{ \"hook\": \
         \">={}\" }}\n}}\n",
        env!("CARGO_PKG_VERSION")
    );
    let readme = format!("# {name}\n\nWhat it refuses, what not, and known false alarms.\n");
    let rules = format!("rules/{name}.toml");
    for (path, content) in [
        (MANIFEST, manifest),
        ("README.md", readme),
        (&rules, RULES.to_owned()),
        ("hooks/hooks.json", HOOKS.replace("NAME", name)),
        ("scripts/writes.sh", SCRIPT.to_owned()),
        ("tests/writes.toml", SCENARIO.to_owned()),
    ] {
        let path = folder.join(path);
        let failed = CommandError::write("a file of the pack", &path);
        fs::create_dir_all(path.parent().unwrap_or(&folder)).map_err(&failed)?;
        let kind = if content.starts_with("#!") { NewFile::Executable } else { NewFile::Ordinary };
        atomic::create(&path, content.as_bytes(), kind).map_err(failed)?;
    }
    Ok(folder)
}
