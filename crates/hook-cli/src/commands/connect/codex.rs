//! Codex's consent: hashes of hooks in its user's `config.toml`, which only Codex can compute.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use hook_agents::Agent;
use hook_files::regular_file;
use hook_json::text::PathText;
use hook_settings::edit::AbsentFile;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::Command;

use super::connection::Connection;
use super::entries::{self, file_of, user_folder};
use super::{edit_file, not_editable, show};
use crate::error::Result;
use crate::output::Printer;
use crate::search_path::search_path;

/// The time limit for Codex to list the hooks that it knows.
const TIMEOUT: Duration = Duration::from_secs(20);

/// The maximum size of its answer, in bytes.
const MAX_LENGTH: u64 = 8 << 20;

/// The line above each decision that `hook` wrote.
const MARK: &str = "# Written by `hook connect codex`.\n";

/// An entry of `hook connect` that Codex knows.
#[derive(Debug)]
struct KnownHook {
    key: String,
    hash: String,
    is_trusted: bool,
}

/// Returns the path of the user's configuration.
pub(super) fn config(agent: &Agent) -> Result<PathBuf> {
    Ok(user_folder(agent)?.join("config.toml"))
}

/// Writes the hashes of the entries, if the user agrees. Returns `true` if Codex runs all of them.
pub(super) async fn settle(connection: Connection<'_>, printer: &mut Printer) -> Result<bool> {
    let Connection { agent, scope, context, yes } = connection;
    // No one could agree, so Codex need not be asked.
    let can_ask = std::io::IsTerminal::is_terminal(&std::io::stdin()) && printer.is_interactive();
    if !yes && (!can_ask || context.json()) {
        return Ok(false);
    }
    let file = file_of(agent, scope, context)?;
    let file = file.canonicalize().unwrap_or(file);
    let commands = entries::of(agent, scope, context).commands;
    let response = match tokio::time::timeout(TIMEOUT, query_hooks(&connection.folder())).await {
        Ok(found) => found,
        Err(_) => Err("it did not answer".to_owned()),
    };
    let known = match response {
        Ok(list) => known_entries(&list, &file, &commands),
        Err(why) => {
            printer.warning(&format!("Codex could not be asked which hooks it knows: {why}"));
            return Ok(false);
        }
    };
    if known.len() < commands.len() {
        printer.warning(&format!(
            "Codex knows {} of the {} entries: it reads those of a project only where it trusts the project",
            known.len(),
            commands.len()
        ));
    }
    let untrusted: Vec<&KnownHook> = known.iter().filter(|hook| !hook.is_trusted).collect();
    if untrusted.is_empty() {
        return Ok(known.len() >= commands.len());
    }
    let path = config(agent)?;
    if !connection.confirms(&question_text(untrusted.len(), &path), printer).await? {
        return Ok(false);
    }
    let edit = |text: Option<&str>| {
        let changed = with_trusted(text, &untrusted);
        // Whatever the file already says about an entry is the user's own.
        match changed.parse::<toml_edit::DocumentMut>() {
            Ok(_) => Ok(changed),
            Err(error) => {
                let message = format!("the hashes do not fit into it: {}", error.message());
                let parse_error = hook_agents::ForeignEditError { at: 0..0, message };
                Err(not_editable(text, parse_error))
            }
        }
    };
    let change = edit_file(&path, false, AbsentFile::Create, &edit)?;
    show(agent, &change, "agreed for", false, printer).await?;
    Ok(known.len() >= commands.len())
}

fn question_text(entries: usize, path: &Path) -> String {
    format!("Let Codex CLI run these {entries} entries, by their hashes in {}?", path.shown())
}

/// Returns the question for this many entries that do not exist yet, or `None` if that many
/// decisions are written already.
pub(super) fn question(connection: Connection<'_>, entries: usize) -> Result<Option<String>> {
    let Connection { agent, scope, context, .. } = connection;
    let path = config(agent)?;
    let file = file_of(agent, scope, context)?;
    let bytes = regular_file::read(&path, MAX_LENGTH).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let known = text.matches(MARK).count() - without_trusted(&text, &file).matches(MARK).count();
    Ok((known < entries).then(|| question_text(entries, &path)))
}

/// Returns the configuration with decisions about these hooks.
fn with_trusted(text: Option<&str>, hooks: &[&KnownHook]) -> String {
    let mut out = text.unwrap_or_default().to_owned();
    for hook in hooks {
        out = without_blocks(&out, |key| key == hook.key);
        // A new file begins with the first line.
        if text.is_some() || !out.is_empty() {
            out.push('\n');
        }
        let (key, hash) = (json!(hook.key), json!(hook.hash));
        out.push_str(&format!("{MARK}[hooks.state.{key}]\ntrusted_hash = {hash}\n"));
    }
    out
}

/// Returns a configuration with the decisions that the user's own has about the hooks of a file, moved to another file,
/// and with its switch for hooks.
pub(super) fn with_trust_of(config: &str, user: &str, from: &Path, to: &Path) -> String {
    let parse = |text: &str| text.parse::<toml_edit::DocumentMut>().ok();
    let (Some(mut config), Some(user)) = (parse(config), parse(user)) else {
        return config.to_owned();
    };
    if let Some(switch) = user.get("features").and_then(|features| features.get("hooks")) {
        config["features"]["hooks"] = switch.clone();
    }
    let files = [from.to_path_buf(), from.canonicalize().unwrap_or_default()];
    let to = to.canonicalize().unwrap_or_else(|_| to.to_path_buf());
    let state = user.get("hooks").and_then(|hooks| hooks.get("state"));
    for (key, decision) in
        state.and_then(toml_edit::Item::as_table_like).iter().flat_map(|it| it.iter())
    {
        let position = files.iter().find_map(|file| key.strip_prefix(file.to_str()?));
        if let Some(position) = position.filter(|position| position.starts_with(':')) {
            let key = format!("{}{position}", to.to_string_lossy());
            config["hooks"]["state"][&key] = decision.clone();
        }
    }
    config.to_string()
}

/// Returns the configuration without `hook`'s decisions about the hooks of a file.
pub(super) fn without_trusted(text: &str, file: &Path) -> String {
    let files = [file.to_path_buf(), file.canonicalize().unwrap_or_default()];
    let prefixes = files.map(|file| format!("{}:", file.shown()));
    without_blocks(text, |key| {
        prefixes.iter().any(|prefix| prefix != ":" && key.starts_with(prefix))
    })
}

fn without_blocks(text: &str, is_removed: impl Fn(&str) -> bool) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(index) = rest.find(MARK) {
        let (before, block) = rest.split_at(index);
        let end = block_of(block).filter(|(key, _)| is_removed(key)).map(|(_, end)| end);
        let is_line = before.ends_with('\n') || (before.is_empty() && out.is_empty());
        match end.filter(|_| is_line) {
            Some(end) => {
                out.push_str(before.strip_suffix('\n').unwrap_or(before));
                rest = block.get(end..).unwrap_or_default();
            }
            None => {
                let (mark, after) = block.split_at(MARK.len());
                out.push_str(before);
                out.push_str(mark);
                rest = after;
            }
        }
    }
    out + rest
}

/// Parses a decision as written here, without further keys. Returns its key and its length.
fn block_of(block: &str) -> Option<(String, usize)> {
    let rest = block.strip_prefix(MARK)?;
    let (header, rest) = rest.split_once('\n')?;
    let key = header.strip_prefix("[hooks.state.")?.strip_suffix(']')?;
    let key = serde_json::from_str(key).ok()?;
    let (hash, rest) = rest.split_once('\n')?;
    hash.strip_prefix("trusted_hash = \"")?;
    let is_end = rest.is_empty() || rest.starts_with(['\n', '[', '#']);
    is_end.then(|| (key, block.len() - rest.len()))
}

/// Returns the entries of a file that Codex knows, from its answer.
fn known_entries(list: &Value, file: &Path, commands: &[(String, String)]) -> Vec<KnownHook> {
    let folders = list["data"].as_array().into_iter().flatten();
    let hooks = folders.flat_map(|folder| folder["hooks"].as_array().into_iter().flatten());
    let known_hook = |hook: &Value| {
        let text = |name: &str| hook[name].as_str();
        let source = Path::new(text("sourcePath")?);
        let is_here = source == file || source.canonicalize().is_ok_and(|source| source == file);
        let command = text("command")?;
        let (key, hash) = (text("key")?, text("currentHash")?);
        let is_entry = commands.iter().any(|(_, known)| known == command);
        let is_key =
            key.strip_prefix(text("sourcePath")?).is_some_and(|rest| rest.starts_with(':'));
        (is_here && is_entry && is_key).then(|| KnownHook {
            key: key.to_owned(),
            hash: hash.to_owned(),
            is_trusted: matches!(text("trustStatus"), Some("trusted" | "managed")),
        })
    };
    hooks.filter_map(known_hook).collect()
}

/// Asks Codex's app server for the hooks that Codex knows in a folder.
async fn query_hooks(folder: &Path) -> Result<Value, String> {
    let mut server = Command::new("codex")
        .env("PATH", search_path("codex"))
        .args(["-c", "features.plugins=false", "app-server"])
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| format!("`codex` does not start: {error}"))?;
    let (Some(mut input), Some(output)) = (server.stdin.take(), server.stdout.take()) else {
        return Err("it has no standard streams".to_owned());
    };
    let client = json!({"name": "hook", "title": "hook", "version": env!("CARGO_PKG_VERSION")});
    let requests = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"clientInfo": client}}),
        json!({"jsonrpc": "2.0", "method": "initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "hooks/list", "params": {"cwds": [folder]}}),
    ];
    let mut answers = BufReader::new(output.take(MAX_LENGTH)).lines();
    let mut answer = Value::Null;
    for message in requests {
        let line = format!("{message}\n");
        input.write_all(line.as_bytes()).await.map_err(|error| error.to_string())?;
        let id = &message["id"];
        while !id.is_null() {
            let line = answers.next_line().await.map_err(|error| error.to_string())?;
            let line = line.ok_or("it ended without an answer")?;
            let read: Value = serde_json::from_str(&line).unwrap_or_default();
            if read["id"] == *id {
                answer = read;
                break;
            }
        }
    }
    // The server ends by itself once its input is closed.
    drop(input);
    let _ = tokio::time::timeout(Duration::from_secs(2), server.wait()).await;
    match answer.get_mut("result") {
        Some(result) => Ok(result.take()),
        None => {
            Err(format!("it said {}", hook_json::text::shortened(&answer["error"].to_string())))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(key: &str) -> KnownHook {
        KnownHook { key: key.to_owned(), hash: "sha256:0".to_owned(), is_trusted: false }
    }

    #[test]
    fn hashes_are_taken_out_again_to_the_byte() {
        let (one, two) = (known("/h/hooks.json:stop:0:0"), known("/h/hooks.json:pre_tool_use:1:0"));
        let other = known("/p/.codex/hooks.json:stop:0:0");
        let file = Path::new("/h/hooks.json");
        for text in [
            "",
            "model = \"x\"",
            "model = \"x\"\n",
            "[a]\nb = 1\n\n\n",
            "# Written\n[a]\r\nb = 1\r\n",
        ] {
            let written = with_trusted(Some(text), &[&one, &two]);
            assert!(written.parse::<toml_edit::DocumentMut>().is_ok(), "{written}");
            assert_eq!(without_trusted(&written, file), text, "{written}");
            // A changed hash replaces the first one.
            let again = with_trusted(Some(&written), &[&one, &two]);
            assert_eq!(without_trusted(&again, file), text, "{again}");
            assert_eq!(again.matches("stop:0:0").count(), 1);
            let both = with_trusted(Some(&written), &[&other]);
            assert_eq!(without_trusted(&both, file), with_trusted(Some(text), &[&other]));
        }
        assert_eq!(without_trusted(&with_trusted(None, &[&one, &two]), file), "");
        // Keys and text of the user stay.
        let mine = with_trusted(Some(""), &[&one]) + "enabled = false\n";
        assert_eq!(without_trusted(&mine, file), mine);
        let mine = with_trusted(Some(""), &[&one]).replace(MARK, "");
        assert_eq!(without_trusted(&mine, file), mine);
    }
}
