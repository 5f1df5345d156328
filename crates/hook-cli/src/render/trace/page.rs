//! A recording as one self-contained page: no network, no other file.
//!
//! The text of hooks and agents is only data in the page. The data is JSON with every `<` escaped,
//! the script makes text nodes of it, and the page's own policy permits no other script.

use hook_json::ObjectWriter;
use hook_record::recording::Recording;
use sha2::{Digest, Sha256};

use super::json::{self, Texts};
use super::microseconds;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
/// The parts of one script; the first line makes it strict.
const SCRIPT: &str = concat!(
    "\n\"use strict\";\n",
    include_str!("page/recording.js"),
    include_str!("page/scale.js"),
    include_str!("page/rows.js"),
    include_str!("page/details.js"),
    include_str!("page/start.js"),
);

/// The maximum size of each stream and value in the page, and of each kind in total, in bytes.
/// Browsers keep all of it in memory.
const MAX_STREAM: usize = 16 * 1024;
const MAX_VALUE: usize = 64 * 1024;
const MAX_TOTAL: usize = 32 * 1024 * 1024;
/// The minimum size of each, however many there are.
const MIN_TEXT: usize = 512;

/// Formats a recording with this name.
pub(crate) fn trace_page(recording: &Recording, name: &str) -> String {
    let parts = [
        ("STYLE-HASH", hash(STYLE)),
        ("SCRIPT-HASH", hash(SCRIPT)),
        ("STYLE", STYLE.to_owned()),
        ("SCRIPT", SCRIPT.to_owned()),
        ("DATA", data(recording, name)),
    ];
    let mut page = String::new();
    // Placeholders are searched in the template alone, never in an inserted part.
    let mut rest = PAGE;
    while let Some((before, after)) = rest.split_once("{{") {
        let (key, after) = after.split_once("}}").unwrap_or((after, ""));
        page.push_str(before);
        if let Some((_, part)) = parts.iter().find(|(known, _)| *known == key) {
            page.push_str(part);
        }
        rest = after;
    }
    page.push_str(rest);
    page
}

fn data(recording: &Recording, name: &str) -> String {
    let hooks: usize = recording.requests.iter().map(|request| request.hooks.len()).sum();
    let share = |count: usize, max: usize| (MAX_TOTAL / count.max(1)).clamp(MIN_TEXT, max);
    let texts = Texts::Cut {
        stream: share(2 * hooks, MAX_STREAM),
        value: share(2 * recording.requests.len(), MAX_VALUE),
    };
    let header = &recording.header;
    let out = ObjectWriter::line(|object| {
        object.text("file", name);
        object.text("engine", &header.engine);
        object.text("startedAt", &header.started_at);
        object.text("project", &header.project);
        object.integer("duration", microseconds(recording.duration));
        object.bool("truncated", recording.truncated);
        object.objects("gaps", &recording.gaps, |out, gap| {
            out.integer("at", microseconds(gap.at));
            out.integer("missed", gap.missed.into());
        });
        object.objects("requests", &recording.requests, |out, request| {
            json::request(out, request, texts);
        });
    });
    // In JSON, `<` only occurs in strings.
    String::from_utf8_lossy(&out).replace('<', "\\u003c")
}

/// Returns the hash by which the page's policy permits a script or style.
fn hash(text: &str) -> String {
    format!("sha256-{}", base64(&Sha256::digest(text.as_bytes())))
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let group = chunk.iter().fold(0_u32, |group, byte| group << 8 | u32::from(*byte));
        let group = group << (8 * (3 - chunk.len()));
        for index in 0..4 {
            let letter = (group >> (18 - 6 * index)) & 63;
            let letter = LETTERS.get(letter as usize).copied().unwrap_or(b'=');
            out.push(if index > chunk.len() { '=' } else { letter.into() });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_as_its_standard_says() {
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn what_is_included_cannot_end_its_element() {
        // The hash covers the text between the tags, so the text must be there unchanged.
        assert!(!SCRIPT.contains("</script") && !SCRIPT.contains("<!--"));
        assert!(!STYLE.contains("</style"));
        assert!(PAGE.contains("<style>{{STYLE}}</style>"));
        assert!(PAGE.contains("<script>{{SCRIPT}}</script>"));
    }
}
