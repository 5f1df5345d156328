//! Manual pages.

use std::io;

use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

/// Returns the page of a built command in roff.
pub(crate) fn man_page(command: &Command) -> io::Result<String> {
    let version = env!("CARGO_PKG_VERSION");
    let man = Man::new(command.clone()).source(format!("hook {version}")).manual("hook");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.get_subcommands().next().is_some() {
        man.render_subcommands_section(&mut page)?;
    }
    if let Some(after) = command.get_after_help() {
        after_help(&after.to_string()).to_writer(&mut page)?;
    }
    let page = String::from_utf8_lossy(&page);
    // Each section begins with a preamble; the page needs only one.
    Ok(match page.split_once(".TH ") {
        Some((preamble, rest)) => format!("{preamble}.TH {}", rest.replace(preamble, "")),
        None => page.into_owned(),
    })
}

/// Returns the file name of a command's page.
pub(crate) fn man_file_name(command: &Command) -> String {
    format!("{}.1", command.get_display_name().unwrap_or_else(|| command.get_name()))
}

/// Formats the text after the options. A short line with a colon is a title; indented lines are
/// kept.
fn after_help(text: &str) -> Roff {
    let mut roff = Roff::new();
    let mut is_indented = false;
    for line in text.lines() {
        if line.starts_with(' ') != is_indented && !line.is_empty() {
            is_indented = !is_indented;
            roff.control(if is_indented { "nf" } else { "fi" }, []);
        }
        match line.strip_suffix(':').filter(|title| title.split(' ').count() <= 2) {
            Some(title) if !is_indented => {
                roff.control("SH", [title.to_uppercase().as_str()]);
            }
            _ if line.is_empty() => {
                roff.control("PP", []);
            }
            _ => {
                roff.text([roman(line)]);
            }
        }
    }
    if is_indented {
        roff.control("fi", []);
    }
    roff
}
