//! Suggestions for unknown words.

/// Returns "did you mean `...`? " with the nearest candidate, or an empty text.
pub(crate) fn hint(given: &str, candidates: &[&str]) -> String {
    match nearest(given, candidates.iter().copied()) {
        Some(word) => format!("did you mean `{word}`? "),
        None => String::new(),
    }
}

/// Returns the candidate with the fewest edits from `given`; the first of several. Returns None if
/// the edits would replace most of it.
pub(crate) fn nearest<'a>(
    given: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let (edits, nearest) = candidates
        .map(|candidate| (edits(given, candidate), candidate))
        .min_by_key(|(edits, _)| *edits)?;
    (edits <= given.chars().count() / 2).then_some(nearest)
}

/// Returns the number of insertions, deletions and replacements that turn one text into the other
/// (Levenshtein).
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j].min(diagonal) + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_hinted_at() {
        assert_eq!(hint("unifrom", &["zipf", "uniform"]), "did you mean `uniform`? ");
        assert_eq!(hint("theta", &["span", "size"]), "");
        assert_eq!(hint("x", &[]), "");
        assert_eq!((edits("", "ab"), edits("abc", "abc"), edits("kitten", "sitting")), (2, 0, 3));
    }
}
