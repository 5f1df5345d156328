//! The nearest known name to a misspelt one.

/// The length beyond which a name is not matched against known names.
const LONGEST_MISSPELLING: usize = 64;

/// Returns the most similar candidate, if any is similar enough.
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
            // Prefers the candidate with the same case.
            let in_case = |candidate| strsim::jaro_winkler(name, candidate);
            one.total_cmp(other).then_with(|| in_case(first).total_cmp(&in_case(second)))
        })
        .map(|(_, candidate)| candidate)
}
