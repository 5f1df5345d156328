//! Comparison of two lists: kept, edited, removed and inserted entries.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Range;

/// The weight of a kept entry, equal to that of about ten edited ones.
const KEPT: u32 = 1_000;

/// The maximum number of pairs of entries that are weighed one by one. It bounds the work on lists
/// without common entries; else only the spans between common entries count.
const MAX_PAIRS: usize = 1 << 18;

/// The number of bytes at each end of two texts that are compared for their likeness.
const COMPARED_BYTES: usize = 128;

/// A step from an old list to a new one, as indices into both.
///
/// Over all steps, the old indices cover the old list in ascending order; so do the new ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// The entry stayed as it was.
    Keep { old: usize, new: usize },
    /// The entry was edited.
    Edit { old: usize, new: usize },
    /// The entry is new. It precedes an entry that was removed at the same position.
    Insert { new: usize },
    /// The entry was removed.
    Remove { old: usize },
}

/// Returns the steps from `old` to `new`.
///
/// `likeness` returns the likeness of an old and a new entry, about 1 to 100, or `None` if the one
/// cannot be an edit of the other. The work is linear in common entries and bounded for others:
/// lists that differ in thousands of positions are paired by position.
pub(crate) fn align<K: Eq + Hash>(
    old: &[K],
    new: &[K],
    likeness: impl Fn(usize, usize) -> Option<u32>,
) -> Vec<Step> {
    // Most lists share their beginning and end. Equal entries there need not be hashed.
    let shorter = old.len().min(new.len());
    let start = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let ends = old.iter().rev().zip(new.iter().rev());
    let end = ends.take(shorter - start).take_while(|(old, new)| old == new).count();
    let (old_end, new_end) = (old.len() - end, new.len() - end);

    let mut steps: Vec<Step> = (0..start).map(|both| Step::Keep { old: both, new: both }).collect();
    let mut numbers = HashMap::new();
    let mut numbered = |entries| number(entries, &mut numbers);
    let (old, new) = (numbered(&old[start..old_end]), numbered(&new[start..new_end]));
    let likeness = |old: usize, new: usize| likeness(start + old, start + new);
    let mut aligner = Aligner { old: &old, new: &new, likeness, steps: Vec::new() };
    aligner.difference(0..old.len(), 0..new.len(), true);
    steps.extend(aligner.steps.into_iter().map(|step| step.moved(start)));
    steps.extend((0..end).map(|both| Step::Keep { old: old_end + both, new: new_end + both }));
    steps
}

impl Step {
    /// Returns the same step, moved by `places` in both lists.
    fn moved(self, offset: usize) -> Self {
        match self {
            Self::Keep { old, new } => Self::Keep { old: old + offset, new: new + offset },
            Self::Edit { old, new } => Self::Edit { old: old + offset, new: new + offset },
            Self::Insert { new } => Self::Insert { new: new + offset },
            Self::Remove { old } => Self::Remove { old: old + offset },
        }
    }
}

/// Returns the likeness of two texts, from 1 to 101.
pub(crate) fn likeness(old: &str, new: &str) -> u32 {
    let (old, new) = (old.as_bytes(), new.as_bytes());
    let shorter = old.len().min(new.len());
    let start = shared(old.iter().zip(new), shorter);
    let end = shared(old.iter().rev().zip(new.iter().rev()), shorter - start);
    let longer = old.len().max(new.len()).clamp(1, 2 * COMPARED_BYTES);
    1 + u32::try_from(100 * (start + end) / longer).unwrap_or(100).min(100)
}

fn shared<'t>(pairs: impl Iterator<Item = (&'t u8, &'t u8)>, at_most: usize) -> usize {
    pairs.take(at_most.min(COMPARED_BYTES)).take_while(|(old, new)| old == new).count()
}

/// Gives equal entries equal numbers, so that each is hashed only once.
fn number<'e, K: Eq + Hash>(entries: &'e [K], numbers: &mut HashMap<&'e K, usize>) -> Vec<usize> {
    let mut number = |entry| {
        let next = numbers.len();
        *numbers.entry(entry).or_insert(next)
    };
    entries.iter().map(&mut number).collect()
}

struct Aligner<'l, F> {
    old: &'l [usize],
    new: &'l [usize],
    likeness: F,
    steps: Vec<Step>,
}

impl<F: Fn(usize, usize) -> Option<u32>> Aligner<'_, F> {
    fn span(&mut self, mut old: Range<usize>, mut new: Range<usize>, divisible: bool) {
        while !old.is_empty() && !new.is_empty() && self.same(old.start, new.start) {
            self.steps.push(Step::Keep { old: old.start, new: new.start });
            old.start += 1;
            new.start += 1;
        }
        let (old_end, new_end) = (old.end, new.end);
        while !old.is_empty() && !new.is_empty() && self.same(old.end - 1, new.end - 1) {
            old.end -= 1;
            new.end -= 1;
        }
        let tail = (old.end..old_end).zip(new.end..new_end);
        self.difference(old, new, divisible);
        self.steps.extend(tail.map(|(old, new)| Step::Keep { old, new }));
    }

    fn difference(&mut self, mut old: Range<usize>, mut new: Range<usize>, divisible: bool) {
        if (old.len() + 1).saturating_mul(new.len() + 1) <= MAX_PAIRS {
            return self.pair_by_likeness(old, new);
        }
        let anchors = if divisible { self.anchors(&old, &new) } else { Vec::new() };
        if anchors.is_empty() {
            return self.pair_by_position(old, new);
        }
        for (old_anchor, new_anchor) in anchors {
            self.span(old.start..old_anchor, new.start..new_anchor, false);
            self.steps.push(Step::Keep { old: old_anchor, new: new_anchor });
            old.start = old_anchor + 1;
            new.start = new_anchor + 1;
        }
        self.span(old, new, false);
    }

    fn same(&self, old: usize, new: usize) -> bool {
        self.old[old] == self.new[new]
    }

    /// Returns the step from `old` to `new` and its weight.
    fn pair(&self, old: usize, new: usize) -> Option<(Step, u32)> {
        if self.same(old, new) {
            return Some((Step::Keep { old, new }, KEPT));
        }
        (self.likeness)(old, new).map(|count| (Step::Edit { old, new }, count))
    }

    /// Chooses the pairs with the greatest total weight.
    fn pair_by_likeness(&mut self, old: Range<usize>, new: Range<usize>) {
        let width = new.len() + 1;
        let at = |i: usize, j: usize| (i - old.start) * width + (j - new.start);
        // The greatest weight of the rest of both lists, for each pair of positions.
        let mut best = vec![0_u32; (old.len() + 1) * width];
        for i in old.clone().rev() {
            for j in new.clone().rev() {
                let unpaired_weight = best[at(i + 1, j)].max(best[at(i, j + 1)]);
                let paired_weight =
                    self.pair(i, j).map_or(0, |(_, count)| count + best[at(i + 1, j + 1)]);
                best[at(i, j)] = unpaired_weight.max(paired_weight);
            }
        }
        let (mut i, mut j) = (old.start, new.start);
        while i < old.end && j < new.end {
            let current_weight = best[at(i, j)];
            match self.pair(i, j) {
                Some((step, count)) if count + best[at(i + 1, j + 1)] == current_weight => {
                    self.steps.push(step);
                    i += 1;
                    j += 1;
                }
                _ if best[at(i, j + 1)] == current_weight => {
                    self.steps.push(Step::Insert { new: j });
                    j += 1;
                }
                _ => {
                    self.steps.push(Step::Remove { old: i });
                    i += 1;
                }
            }
        }
        self.unpaired(i..old.end, j..new.end);
    }

    fn pair_by_position(&mut self, old: Range<usize>, new: Range<usize>) {
        let paired = old.len().min(new.len());
        for (i, j) in old.clone().zip(new.clone()) {
            match self.pair(i, j) {
                Some((step, _)) => self.steps.push(step),
                None => self.unpaired(i..i + 1, j..j + 1),
            }
        }
        self.unpaired(old.start + paired..old.end, new.start + paired..new.end);
    }

    fn unpaired(&mut self, old: Range<usize>, new: Range<usize>) {
        self.steps.extend(new.map(|new| Step::Insert { new }));
        self.steps.extend(old.map(|old| Step::Remove { old }));
    }

    /// Returns the entries that occur exactly once in both lists, as many as have the same order.
    fn anchors(&self, old: &Range<usize>, new: &Range<usize>) -> Vec<(usize, usize)> {
        let once_in_old = unique_positions(self.old, old);
        let once_in_new = unique_positions(self.new, new);
        let candidates: Vec<(usize, usize)> = old
            .clone()
            .filter(|&i| once_in_old.get(&self.old[i]) == Some(&Some(i)))
            .filter_map(|i| Some((i, (*once_in_new.get(&self.old[i])?)?)))
            .collect();
        longest_ascent(&candidates)
    }
}

/// Returns the index of each number in that range, or `None` for one that occurs more than once.
fn unique_positions(numbers: &[usize], range: &Range<usize>) -> HashMap<usize, Option<usize>> {
    let mut positions = HashMap::new();
    for position in range.clone() {
        positions
            .entry(numbers[position])
            .and_modify(|single| *single = None)
            .or_insert(Some(position));
    }
    positions
}

/// The longest subsequence of pairs whose second numbers ascend.
fn longest_ascent(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // For each length, the pair that ends the lowest such sequence; for each pair, its predecessor.
    let mut ends: Vec<usize> = Vec::new();
    let mut predecessors: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (index, pair) in pairs.iter().enumerate() {
        let length = ends.partition_point(|&end| pairs[end].1 < pair.1);
        predecessors.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        match ends.get_mut(length) {
            Some(end) => *end = index,
            None => ends.push(index),
        }
    }
    let mut ascent = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(index) = next {
        ascent.push(pairs[index]);
        next = predecessors[index];
    }
    ascent.reverse();
    ascent
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(old: &[&str], new: &[&str]) -> String {
        let likeness = |i: usize, j: usize| Some(likeness(old[i], new[j]));
        let letter = |step: &Step| match step {
            Step::Keep { .. } => 'k',
            Step::Edit { .. } => 'e',
            Step::Insert { .. } => 'i',
            Step::Remove { .. } => 'r',
        };
        align(old, new, likeness).iter().map(letter).collect()
    }

    #[test]
    fn what_stayed_is_found() {
        for (old, new, expected) in [
            ("a b c", "a b c", "kkk"),
            ("a b c", "a x c", "kek"),
            ("a b c", "a c", "krk"),
            ("a c", "a b c", "kik"),
            ("a b", "a b c", "kki"),
            ("a b", "", "rr"),
            ("", "a", "i"),
            ("a a a", "a a", "kkr"),
            ("hello1 world2", "hello3 world4", "ee"),
        ] {
            let (old, new): (Vec<_>, Vec<_>) =
                (old.split_whitespace().collect(), new.split_whitespace().collect());
            assert_eq!(steps(&old, &new), expected, "{old:?} to {new:?}");
        }
    }

    #[test]
    fn an_edited_entry_is_found_by_its_likeness() {
        let old = ["first question", "second question", "third question"];
        assert_eq!(steps(&old, &["third question!"]), "rre");
        assert_eq!(steps(&old, &["second question?", "third question"]), "rek");
    }

    #[test]
    fn entries_that_may_not_stand_for_one_another_are_not_paired() {
        let steps = align(&["a", "b"], &["x", "b"], |_, _| None);
        assert_eq!(steps[..2], [Step::Insert { new: 0 }, Step::Remove { old: 0 }]);
    }

    #[test]
    fn long_lists_are_divided_where_they_agree() {
        let old: Vec<String> = (0..20_000).map(|number| format!("message {number}")).collect();
        let mut new = old.clone();
        new[1] = "edited".to_owned();
        new.remove(10_000);
        new[19_990] = "edited".to_owned();
        let steps = align(&old, &new, |_, _| Some(1));
        let kept = steps.iter().filter(|step| matches!(step, Step::Keep { .. })).count();
        let edited = steps.iter().filter(|step| matches!(step, Step::Edit { .. })).count();
        assert_eq!((kept, edited, steps.len()), (19_997, 2, 20_000));
    }

    #[test]
    fn long_lists_without_agreement_are_paired_by_position() {
        let old: Vec<usize> = (0..30_000).map(|number| number % 2).collect();
        let new: Vec<usize> = (0..20_000).map(|number| 2 + number % 2).collect();
        let steps = align(&old, &new, |_, _| Some(1));
        assert_eq!(steps.len(), 30_000);
        assert_eq!(steps[19_999], Step::Edit { old: 19_999, new: 19_999 });
        assert_eq!(steps[20_000], Step::Remove { old: 20_000 });
    }
}
