//! The nearest known name to a misspelt one.

/// The length beyond which a name is not matched against known names.
const MAX_NAME_LEN: usize = 64;

/// Returns the most similar candidate, if any is similar enough.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > MAX_NAME_LEN {
        return None;
    }
    let lowercase = name.to_lowercase();
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(&lowercase, &candidate.to_lowercase()), candidate))
        .filter(|(similarity, _)| *similarity > 0.8)
        .max_by(|(one, first), (other, second)| {
            // Prefers the candidate with the same case.
            let case_sensitive = |candidate| strsim::jaro_winkler(name, candidate);
            one.total_cmp(other)
                .then_with(|| case_sensitive(first).total_cmp(&case_sensitive(second)))
        })
        .map(|(_, candidate)| candidate)
}
