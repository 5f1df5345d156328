//! `hook packs`: packs with their origin and age, and how often each refused or asked.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use hook_json::RawJson;
use hook_json::text::one_line;
use hook_rules::packs::PACKS;
use hook_settings::LockedPack;
use serde_json::{Value, json};

use super::owner::Owner;
use super::source::BUILT_IN;
use crate::commands::log::for_each_call;
use crate::context::Context;
use crate::error::Result;
use crate::exit_code;
use crate::output::{Printer, Tone};
use crate::render::plural;

/// A pack that was added.
struct Added {
    /// `you` or `project`.
    owner: &'static str,
    locked: LockedPack,
    state: &'static str,
    is_complete: bool,
}

impl Added {
    fn json(&self) -> Value {
        let locked = &self.locked;
        json!({"owner": self.owner, "source": locked.source, "commit": locked.commit,
            "version": locked.version, "digest": locked.digest, "added": locked.added,
            "complete": self.is_complete})
    }

    fn text(&self) -> String {
        let Self { owner, locked, state, .. } = self;
        let day = one_line(locked.added.get(..10).unwrap_or_default());
        let origin = match &*locked.source {
            BUILT_IN => "part of hook",
            source => source,
        };
        let version = one_line(locked.version.as_deref().unwrap_or_default());
        format!("{owner}: {state}, {day}, {} {version}", one_line(origin)).trim_end().to_owned()
    }
}

/// The calls that rules of a pack refused or asked about.
#[derive(Default)]
struct Refusals {
    count: usize,
    /// The time of the last one.
    last: String,
}

pub(crate) async fn list(context: &Context, printer: &mut Printer) -> Result {
    let mut added: BTreeMap<String, Vec<Added>> = BTreeMap::new();
    for shared in [false, true] {
        let Ok(owner) = Owner::of(context, shared) else { continue };
        for (name, locked) in owner.lock()?.packs {
            let is_complete = owner.is_complete(&name, &locked)?;
            let state = match is_complete {
                true => "added",
                false if shared => "does not run for you: `hook add` adds it",
                false => "changed or gone, `hook add` restores it",
            };
            let owner = if shared { "project" } else { "you" };
            added.entry(name).or_default().push(Added { owner, locked, state, is_complete });
        }
    }
    let refusals = refusals()?;
    let names = PACKS.iter().map(|pack| pack.name).chain(added.keys().map(String::as_str));
    let names: BTreeSet<&str> = names.collect();
    let about = |name: &str| PACKS.iter().find(|pack| pack.name == name).map(|pack| pack.about);
    let packs = |name: &str| added.get(name).map(Vec::as_slice).unwrap_or_default();
    let object = |name: &&str| {
        let states: Vec<_> = packs(name).iter().map(Added::json).collect();
        let refused = refusals.get(*name);
        json!({"pack": name, "about": about(name), "added": states,
            "refusals": refused.map_or(0, |refused| refused.count),
            "lastRefusal": refused.map(|refused| &refused.last)})
    };
    let objects: Vec<_> = names.iter().map(object).collect();
    let view = (json!({"packs": objects}), |printer: &Printer| {
        let mut out = String::new();
        for name in &names {
            let mark = match packs(name) {
                [] => "-",
                packs if packs.iter().all(|pack| pack.is_complete) => "✓",
                _ => "!",
            };
            let _ = writeln!(out, "{mark} {name:<15} {}", about(name).unwrap_or_default());
            let refused = refusals.get(*name).map(|Refusals { count, last }| {
                let day = one_line(last.get(..10).unwrap_or_default()).into_owned();
                format!("refused or asked {}, last on {day}", plural(*count, "time", "times"))
            });
            for line in packs(name).iter().map(Added::text).chain(refused) {
                let _ = writeln!(out, "  {:<15} {}", "", printer.paint(Tone::Quiet, &line));
            }
        }
        out + "\n`hook add NAME` adds one for all your projects.\n"
    });
    printer.show(&view).await?;
    Ok(exit_code::PROCEED)
}

/// Counts the refusals by pack: the reasons in the log of calls name the rules.
fn refusals() -> Result<BTreeMap<String, Refusals>> {
    let mut found: BTreeMap<String, Refusals> = BTreeMap::new();
    for_each_call(|call| {
        let text = |name: &str| call.get(name).and_then(RawJson::to_text).unwrap_or_default();
        if text("decision") == "proceed" {
            return;
        }
        let reason = text("reason");
        let packs: BTreeSet<&str> = reason.split("(rule ").skip(1).filter_map(pack_of).collect();
        for pack in packs {
            let refusals = found.entry(pack.to_owned()).or_default();
            refusals.count += 1;
            refusals.last = text("at");
        }
    })?;
    Ok(found)
}

/// Returns the pack of a rule, `PACK.toml:id` or `PACK/FILE.toml:id`.
fn pack_of(rule: &str) -> Option<&str> {
    let (file, _) = rule.split_once(':')?;
    file.split_once('/').map(|(pack, _)| pack).or_else(|| file.strip_suffix(".toml"))
}
