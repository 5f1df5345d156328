//! Links that programs make.

use super::argument::UNKNOWN;
use super::invocation::Invocation;
use super::paths::join;

/// Returns the links that an invocation makes, as its words name them: each target, and the link.
pub(super) fn named_links(invocation: &Invocation) -> Vec<(String, String)> {
    let operands: Vec<&str> = invocation.operands().map(|operand| operand.text.as_str()).collect();
    let is_symbolic = invocation.has_option(&["-s", "--symbolic"]);
    let folder = invocation.option_values(&["-t", "--target-directory"]);
    let (targets, folder) = match (folder.first(), operands.split_last()) {
        (Some(folder), _) => (operands.as_slice(), *folder),
        (None, Some((_, []))) => (operands.as_slice(), "."),
        (None, Some((last, targets))) => (targets, *last),
        (None, None) => return Vec::new(),
    };
    let is_pair = targets.len() == 1 && operands.len() == 2;
    let mut found = Vec::new();
    for target in targets {
        let name = target.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        // The last operand is the link, or the folder that it is made in.
        let itself = Some(folder.to_owned()).filter(|_| is_pair);
        for link in itself.into_iter().chain([format!("{folder}/{name}")]) {
            // A relative target begins in the folder of the link.
            let parent = link.rsplit_once('/').map(|(parent, _)| parent);
            let target = match parent.filter(|_| is_symbolic && !target.starts_with('/')) {
                Some(parent) => format!("{parent}/{target}"),
                None => (*target).to_owned(),
            };
            found.push((target, link));
        }
    }
    found
}

/// Returns the links that an invocation makes: the absolute paths of each link and its target.
pub fn made_links(invocation: &Invocation) -> Vec<(String, String)> {
    let makes_links = match invocation.program() {
        "ln" | "link" => true,
        "cp" => invocation.has_option(&["-s", "--symbolic-link", "-l", "--link"]),
        _ => false,
    };
    if !makes_links {
        return Vec::new();
    }
    let absolute = |path: &str| join(invocation.cwd.as_deref(), path);
    let links = named_links(invocation).into_iter().filter_map(|(target, link)| {
        Some((absolute(&link)?, absolute(&target).unwrap_or_else(|| UNKNOWN.to_string())))
    });
    links.collect()
}
