//! The positions in a conversation at which nothing may be inserted.
//!
//! The API rejects a tool call that its result does not follow, and a reasoning item without the
//! item that follows it.

use std::collections::HashMap;

/// The relation of an entry to the entries around it.
#[derive(Debug)]
pub(super) enum Relation {
    /// None.
    Free,
    /// It calls tools, with these ids.
    Calls(Vec<String>),
    /// It is the result of the call with that id.
    ToolResult(Option<String>),
    /// It refers to an entry stored by the server, which may be a call.
    Reference,
    /// It must precede the next entry.
    RequiresNext,
}

/// The indices of a conversation at which a message may be inserted.
#[derive(Debug)]
pub(super) struct OpenPositions {
    /// For each index, and for the end, the next index that is open.
    next_open: Vec<usize>,
}

impl OpenPositions {
    /// Finds the open indices between entries with these relations.
    pub(super) fn of(relations: impl Iterator<Item = Relation>) -> Self {
        let relations: Vec<Relation> = relations.collect();
        let end = relations.len();
        // The number of inseparable spans that begin and end at each index.
        let (mut begins, mut ends) = (vec![0_usize; end + 1], vec![0_usize; end + 1]);
        let mut close = |first: usize, last: usize| {
            begins[first] += 1;
            ends[last] += 1;
        };
        let mut callers: HashMap<&str, usize> = HashMap::new();
        let mut latest_caller = None;
        for (index, relation) in relations.iter().enumerate() {
            match relation {
                Relation::Free => {}
                Relation::Calls(ids) => {
                    latest_caller = Some(index);
                    callers.extend(ids.iter().map(|id| (id.as_str(), index)));
                }
                Relation::Reference => {
                    let continues_run =
                        index > 0 && matches!(relations[index - 1], Relation::Reference);
                    latest_caller = latest_caller.filter(|_| continues_run).or(Some(index));
                }
                Relation::ToolResult(id) => {
                    let caller = id.as_ref().and_then(|id| callers.get(id.as_str()).copied());
                    // The call may be in a part of the conversation that this request does not
                    // contain, so nothing may precede its results.
                    let first = caller.or(latest_caller).map_or(0, |caller| caller + 1);
                    close(first, index);
                }
                Relation::RequiresNext if index + 1 < end => close(index + 1, index + 1),
                Relation::RequiresNext => {}
            }
        }
        let mut spans = 0;
        let mut is_open = vec![true; end + 1];
        for position in 0..=end {
            spans += begins[position];
            is_open[position] = spans == 0;
            spans -= ends[position];
        }
        let mut next_open = vec![end; end + 1];
        for position in (0..end).rev() {
            next_open[position] =
                if is_open[position] { position } else { next_open[position + 1] };
        }
        Self { next_open }
    }

    /// Returns the index of a new message between the messages of two entries: the first open one
    /// without a message before, the end without one after, else as late as possible before the
    /// next message. If all of these are closed, the next open one.
    pub(super) fn between(&self, before: Option<usize>, after: Option<usize>) -> usize {
        let end = self.next_open.len().saturating_sub(1);
        let open = |position: usize| self.next_open.get(position).copied().unwrap_or(end);
        match (before, after) {
            (_, None) => end,
            (None, Some(_)) => open(0),
            (Some(before), Some(after)) => (before + 1..=after)
                .rev()
                .find(|&position| open(position) == position)
                .unwrap_or_else(|| open(after)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `c1` calls, `a1` answers, `r` refers, `l` leads, anything else is free.
    fn open_positions_of(written: &str) -> Vec<usize> {
        let tie = |entry: &str| match entry.split_at(1) {
            ("c", ids) => Relation::Calls(ids.chars().map(String::from).collect()),
            ("a", id) => Relation::ToolResult((!id.is_empty()).then(|| id.to_owned())),
            ("r", _) => Relation::Reference,
            ("l", _) => Relation::RequiresNext,
            _ => Relation::Free,
        };
        let positions = OpenPositions::of(written.split_whitespace().map(tie));
        (0..positions.next_open.len())
            .filter(|&place| positions.next_open[place] == place)
            .collect()
    }

    #[test]
    fn a_call_and_its_result_are_one() {
        for (written, expected) in [
            ("", vec![0]),
            ("m m", vec![0, 1, 2]),
            ("m c1 a1 m", vec![0, 1, 3, 4]),
            ("c12 a1 a2 m", vec![0, 3, 4]),
            ("c1 c2 a2 a1", vec![0, 4]),
            ("c1 m a1", vec![0, 3]),
            ("c1 a1 c1 a1", vec![0, 2, 4]),
            ("c1 m m", vec![0, 1, 2, 3]),
            ("c a m", vec![0, 2, 3]),
            ("a1 m", vec![1, 2]),
            ("m r r a1 a2 m", vec![0, 1, 5, 6]),
            ("l m l", vec![0, 2, 3]),
        ] {
            assert_eq!(open_positions_of(written), expected, "{written}");
        }
    }
}
