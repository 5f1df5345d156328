//! The nearest known name to a misspelt one.

/// A name longer than this is no misspelling of a known one.
const LONGEST_MISSPELLING: usize = 64;

/// The candidate most like `name`, if any is like it at all.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > LONGEST_MISSPELLING {
        return None;
    }
    let folded = name.to_lowercase();
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(&folded, &candidate.to_lowercase()), candidate))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|(one, first), (other, second)| {
            // Of two that differ in case alone, the one written like it.
            let in_case = |candidate| strsim::jaro_winkler(name, candidate);
            one.total_cmp(other).then_with(|| in_case(first).total_cmp(&in_case(second)))
        })
        .map(|(_, candidate)| candidate)
}
